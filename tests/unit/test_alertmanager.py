"""Reading Alertmanager's webhook body: recorded ones, hostile ones, and any bytes at all."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tailhound.errors import AlertUnreadable
from tailhound.model import AlertGroup, AlertStatus
from tailhound.sources.alertmanager import (
    UNNAMED,
    VALUE_CHARACTERS,
    fingerprint_of,
    read_group,
)

RECORDED = Path(__file__).parents[1] / "recorded" / "alertmanager"
MEBIBYTE = 1024 * 1024


def recorded(name: str) -> bytes:
    return (RECORDED / name).read_bytes()


def body(**changes: Any) -> bytes:
    """The recorded firing body with other top-level values; `...` removes the key."""
    document = json.loads(recorded("v4-firing.json")) | changes
    return json.dumps({k: v for k, v in document.items() if v is not ...}).encode()


def with_alert(**changes: Any) -> bytes:
    """The recorded firing body whose only alert has other values."""
    alert = json.loads(recorded("v4-firing.json"))["alerts"][0] | changes
    return body(alerts=[{k: v for k, v in alert.items() if v is not ...}])


def why_unreadable(text: bytes) -> str:
    with pytest.raises(AlertUnreadable) as caught:
        read_group(text)
    return str(caught.value)


def test_a_recorded_firing_alert_is_read_whole() -> None:
    group = read_group(recorded("v4-firing.json"))
    assert group.group_key == '{}:{alertname="NvmeMediaErrors", cluster="demo"}'
    assert group.receiver == "hook"
    assert group.external_url == "http://vm:19093"
    assert group.truncated_alerts == 0
    (alert,) = group.alerts
    assert (alert.name, alert.fingerprint) == ("NvmeMediaErrors", "e2a2b0e91ed220fa")
    assert alert.labels["instance"] == "gpu03:9100"
    assert alert.annotations["summary"] == "NVMe media errors on gpu03:9100"
    assert alert.status is AlertStatus.FIRING
    assert alert.ends_at is None
    assert alert.starts_at == datetime(2026, 11, 30, 5, 15, 39, 568000, UTC)


def test_a_recorded_resolved_alert_has_its_end() -> None:
    (alert,) = read_group(recorded("v4-resolved.json")).alerts
    assert alert.status is AlertStatus.RESOLVED
    assert alert.ends_at == datetime(2026, 11, 30, 5, 15, 42, 568000, UTC)


def test_all_alerts_of_a_group_are_read_in_order() -> None:
    group = read_group(recorded("v4-firing-3-alerts.json"))
    assert [alert.labels["instance"] for alert in group.alerts] == ["gpu00", "gpu01", "gpu02"]


def test_keys_that_nobody_knows_are_passed_over() -> None:
    group = read_group(body(notificationReason="repeat", later={"deep": [1, {"x": None}]}))
    assert len(group.alerts) == 1


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("2026-11-30T05:16:59.779938464Z", datetime(2026, 11, 30, 5, 16, 59, 779938, UTC)),
        ("2026-11-30T10:46:59.5+05:30", datetime(2026, 11, 30, 5, 16, 59, 500000, UTC)),
        ("2026-11-29T21:16:59-08:00", datetime(2026, 11, 30, 5, 16, 59, 0, UTC)),
        ("2026-11-30 05:16:59z", datetime(2026, 11, 30, 5, 16, 59, 0, UTC)),
    ],
)
def test_a_time_is_read_with_any_offset_and_with_nanoseconds(written: str, read: datetime) -> None:
    (alert,) = read_group(with_alert(startsAt=written)).alerts
    assert alert.starts_at == read


@pytest.mark.parametrize("zero", ["0001-01-01T00:00:00Z", "0001-01-01T00:00:00+02:00", "", None])
def test_the_zero_time_means_still_firing(zero: str | None) -> None:
    (alert,) = read_group(with_alert(endsAt=zero)).alerts
    assert alert.ends_at is None


def test_a_firing_alert_never_has_an_end_whatever_its_sender_expects() -> None:
    (alert,) = read_group(with_alert(endsAt="2026-11-30T06:00:00Z")).alerts
    assert alert.ends_at is None


def test_a_resolved_alert_without_an_end_still_counts_as_ended() -> None:
    (alert,) = read_group(with_alert(status="resolved", endsAt=...)).alerts
    assert alert.ends_at == alert.starts_at


@pytest.mark.parametrize("given", [..., "", None, "not a hash at all", "x" * 65])
def test_a_missing_fingerprint_is_made_from_the_sorted_labels(given: Any) -> None:
    labels = {"b": "2", "a": "1"}
    (alert,) = read_group(with_alert(fingerprint=given, labels=labels)).alerts
    assert alert.fingerprint == fingerprint_of({"a": "1", "b": "2"})
    assert len(alert.fingerprint) == 16


def test_made_fingerprints_of_different_labels_differ() -> None:
    assert fingerprint_of({"a": "1,b=2"}) != fingerprint_of({"a": "1", "b": "2"})


def test_an_alert_that_stands_twice_is_read_once_in_its_last_form() -> None:
    one = json.loads(recorded("v4-resolved.json"))["alerts"][0]
    (alert,) = read_group(body(alerts=[one, one | {"annotations": {"summary": "later"}}])).alerts
    assert alert.annotations == {"summary": "later"}


def test_two_alerts_that_claim_one_fingerprint_are_both_kept() -> None:
    one = json.loads(recorded("v4-firing.json"))["alerts"][0]
    other = one | {"labels": {"alertname": "Other"}}
    alerts = read_group(body(alerts=[one, other])).alerts
    assert [alert.name for alert in alerts] == ["NvmeMediaErrors", "Other"]
    assert len({alert.fingerprint for alert in alerts}) == 2


def test_the_last_of_two_equal_keys_counts() -> None:
    text = recorded("v4-firing.json").replace(b'"job":"push"', b'"job":"push","job":"pull"')
    (alert,) = read_group(text).alerts
    assert alert.labels["job"] == "pull"


def test_an_alert_without_a_name_gets_words_that_say_so() -> None:
    (alert,) = read_group(with_alert(labels={"pod": "llm-0"})).alerts
    assert alert.name == UNNAMED


def test_truncated_alerts_are_counted() -> None:
    assert read_group(body(truncatedAlerts=112)).truncated_alerts == 112


def test_nul_and_lone_surrogates_become_visible_and_can_be_stored() -> None:
    text = recorded("v4-firing.json").replace(b"gpu03:9100", b"a\\u0000b\\ud800c\\ud83d\\ude00")
    (alert,) = read_group(text).alerts
    assert alert.labels["instance"] == "a\ufffdb\ufffdc\U0001f600"
    assert alert.labels["instance"].encode()


def test_bytes_that_are_not_utf8_become_visible() -> None:
    (alert,) = read_group(recorded("v4-firing.json").replace(b"gpu03", b"gpu\xff\xfe")).alerts
    assert alert.labels["instance"].startswith("gpu\ufffd\ufffd")


@pytest.mark.parametrize(
    "hostile",
    ["<!channel>", "<script>alert(1)</script>", '"} or up', "`id`", "$(reboot)", "{{ 7*7 }}", "\n"],
)
def test_hostile_text_arrives_as_itself(hostile: str) -> None:
    (alert,) = read_group(with_alert(labels={"alertname": hostile, hostile: hostile})).alerts
    assert alert.name == hostile
    assert alert.labels[hostile] == hostile


def test_a_value_of_64_kib_is_kept_whole() -> None:
    value = "x" * VALUE_CHARACTERS
    (alert,) = read_group(with_alert(labels={"alertname": "A", "big": value})).alerts
    assert alert.labels["big"] == value


def test_a_value_of_a_megabyte_keeps_head_and_tail_around_a_mark() -> None:
    value = "head" + "x" * MEBIBYTE + "tail"
    (alert,) = read_group(with_alert(annotations={"log": value})).alerts
    kept = alert.annotations["log"]
    assert kept.startswith("headxxx")
    assert kept.endswith("xxxtail")
    assert "983,048 characters cut" in kept
    assert len(kept) < VALUE_CHARACTERS + 100


def test_cut_values_and_group_keys_that_differ_in_the_middle_still_differ() -> None:
    keys = [f"{'x' * MEBIBYTE}{middle}{'x' * MEBIBYTE}" for middle in "ab"]
    first, second = (read_group(body(groupKey=key)).group_key for key in keys)
    assert first != second


@pytest.mark.parametrize(
    ("scalar", "text"), [(443, "443"), (0.5, "0.5"), (True, "true"), (None, "")]
)
def test_a_scalar_label_is_read_as_its_text(scalar: Any, text: str) -> None:
    (alert,) = read_group(with_alert(labels={"alertname": "A", "port": scalar})).alerts
    assert alert.labels["port"] == text


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (b"", "the body is empty"),
        (b" \n", "the body is empty"),
        (b"hello", "not JSON: Expecting value: line 1 column 1"),
        (recorded("v4-firing.json")[:500], "not JSON: "),
        (b"[1]", "must be a JSON object, but is a list"),
        (b'"x"', "must be a JSON object, but is text"),
        (b"null", "must be a JSON object, but is null"),
        (b'{"version": NaN}', "NaN is no JSON value"),
        (b'{"version": ' + b"9" * 5000 + b"}", "not JSON that can be read"),
        (b"[" * 100_000, "nested too deep"),
        (b"{}", "version: is missing"),
        (
            body(version="3"),
            "version: must be the text \"4\" of Alertmanager's webhook, but is '3'",
        ),
        (body(version=4), "but is a number"),
        (body(groupKey=...), "groupKey: field required"),
        (body(groupKey=""), "groupKey: "),
        (body(groupKey=["x"]), "groupKey: must be text, but is a list"),
        (body(alerts=...), "alerts: field required"),
        (body(alerts={}), "alerts: "),
        (body(alerts=[]), "alerts: "),
        (body(alerts=["x"]), "alerts[0]: must be an object, but is text"),
        (body(truncatedAlerts=-1), "truncatedAlerts: "),
        (body(truncatedAlerts=True), "truncatedAlerts: "),
        (body(truncatedAlerts=2**60), "truncatedAlerts: "),
        (with_alert(status="pending"), "alerts[0].status: "),
        (with_alert(status=...), "alerts[0].status: field required"),
        (with_alert(labels=...), "alerts[0].labels: field required"),
        (with_alert(labels=None), "alerts[0].labels: must be an object of text, but is null"),
        (with_alert(labels={"a": ["b"]}), "alerts[0].labels: 'a': must be text, but is a list"),
        (with_alert(startsAt=...), "alerts[0].startsAt: field required"),
        (
            with_alert(startsAt=1),
            "must be a time such as 2026-11-30T05:16:59.568Z, but is a number",
        ),
        (with_alert(startsAt="yesterday"), "but is 'yesterday'"),
        (with_alert(startsAt="2026-11-30T05:16:59"), "must be a time such as"),
        (with_alert(startsAt="2026-13-30T05:16:59Z"), "is no time of the calendar"),
        (with_alert(startsAt="9999-12-31T23:59:59-10:00"), "is no time of the calendar"),
        (with_alert(startsAt="0001-01-01T00:00:00Z"), "is the zero time"),
        (with_alert(endsAt="soon"), "alerts[0].endsAt: must be a time"),
    ],
)
def test_what_is_no_v4_body_is_refused_with_the_place_and_the_reason(text: bytes, why: str) -> None:
    assert why in why_unreadable(text)


def test_a_refusal_is_short_whatever_was_sent() -> None:
    assert len(why_unreadable(body(version="x" * MEBIBYTE))) < 300
    assert len(why_unreadable(with_alert(startsAt="x" * MEBIBYTE))) < 300
    assert len(why_unreadable(with_alert(labels={"x" * MEBIBYTE: []}))) < 300


@given(st.binary(max_size=400))
def test_any_bytes_are_a_group_or_unreadable(text: bytes) -> None:
    outcome(text)


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["status", "labels", "startsAt", "endsAt", "x"]), inner, max_size=4
        )
    ),
    max_leaves=8,
)


@given(
    st.sampled_from(
        ["version", "groupKey", "alerts", "receiver", "truncatedAlerts", "externalURL"]
    ),
    _JSON,
)
def test_any_value_of_any_key_is_a_group_or_unreadable(key: str, value: Any) -> None:
    outcome(body(**{key: value}))


@given(
    st.sampled_from(["status", "labels", "annotations", "startsAt", "endsAt", "fingerprint"]), _JSON
)
def test_any_value_of_any_key_of_an_alert_is_a_group_or_unreadable(key: str, value: Any) -> None:
    outcome(with_alert(**{key: value}))


@settings(max_examples=300)
@given(st.integers(0, 1026), st.binary(max_size=3))
def test_a_recorded_body_with_damage_anywhere_is_a_group_or_unreadable(
    at: int, damage: bytes
) -> None:
    text = recorded("v4-firing.json")
    outcome(text[:at] + damage + text[at + len(damage) :])


@given(st.text())
def test_any_time_is_read_or_refused(text: str) -> None:
    outcome(with_alert(startsAt=text, endsAt=text))


def outcome(text: bytes) -> AlertGroup | AlertUnreadable:
    """What becomes of the bytes; any other exception fails the test.

    Everything that was read can be stored as UTF-8 without NUL.
    """
    try:
        group = read_group(text)
    except AlertUnreadable as error:
        return error
    assert group.alerts
    for alert in group.alerts:
        stored = json.dumps([alert.name, dict(alert.labels), dict(alert.annotations)])
        assert "\\u0000" not in stored
        assert json.dumps([dict(alert.labels)], ensure_ascii=False).encode()
        assert alert.starts_at.tzinfo is UTC
        assert (alert.ends_at is None) == (alert.status is AlertStatus.FIRING)
    return group
