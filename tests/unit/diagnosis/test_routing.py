"""Which channels an incident goes to: only what the configuration names, whatever labels say."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tailhound.diagnosis.routing import Routed, channels, routed, why_no_thread
from tailhound.model import (
    Alert,
    AlertStatus,
    Cause,
    Confidence,
    Diagnosis,
    Incident,
    Outlook,
    State,
    Subject,
    SubjectKind,
    Verdict,
)
from tailhound.settings import Slack

NOW = datetime(2026, 11, 30, 2, 53, tzinfo=UTC)


def incident(*, thread: str = "", severity: str = "", **labels: str) -> Incident:
    alert = Alert(
        fingerprint="f",
        name="LLMDHighTTFT",
        labels=labels,
        annotations={"tailhound_thread": thread} if thread else {},
        status=AlertStatus.FIRING,
        starts_at=NOW,
        severity=severity,
    )
    return Incident(
        id="7F3K",
        key="k",
        subject=Subject(kind=SubjectKind.GROUP),
        state=State.INVESTIGATING,
        alerts=(alert,),
        received_at=NOW,
    )


def slack(*routes: dict[str, object], **more: object) -> Slack:
    return Slack.model_validate({"channel": "C0", "routes": routes, **more})


def test_without_routes_everything_goes_to_the_channel() -> None:
    assert routed(incident(namespace="prod"), slack()) == (Routed(channel="C0"),)


def test_the_first_route_that_matches_is_taken() -> None:
    found = slack(
        {"match": {"namespace": "dev"}, "channel": "C1"},
        {"match": {"namespace": "prod"}, "channel": "C2"},
        {"match": {}, "channel": "C3"},
    )
    assert [to.channel for to in routed(incident(namespace="prod"), found)] == ["C2"]
    assert [to.channel for to in routed(incident(namespace="test"), found)] == ["C3"]


def test_a_route_that_continues_adds_a_channel_once() -> None:
    found = slack(
        {"match": {"namespace": "prod"}, "channel": "C1", "continue": True},
        {"match_re": {"team": "infer.*"}, "channel": "C2", "continue": True},
        {"match": {}, "channel": "C1"},
    )
    both = routed(incident(namespace="prod", team="inference"), found)
    assert [to.channel for to in both] == ["C1", "C2"]


def test_a_regular_expression_matches_the_whole_value() -> None:
    found = slack({"match_re": {"namespace": "prod"}, "channel": "C1"})
    assert [to.channel for to in routed(incident(namespace="prod-2"), found)] == ["C0"]


def test_a_label_that_is_not_there_is_the_empty_text() -> None:
    found = slack({"match": {"team": ""}, "channel": "C1"})
    assert [to.channel for to in routed(incident(), found)] == ["C1"]


@pytest.mark.parametrize(
    ("severity", "mentioned"), [("critical", "S0ONCALL"), ("Page", "S0ONCALL"), ("warning", "")]
)
def test_only_the_severities_that_the_route_names_are_mentioned(
    severity: str, mentioned: str
) -> None:
    found = slack({"match": {}, "mention": "S0ONCALL"})
    (to,) = routed(incident(severity=severity), found)
    assert (to.channel, to.mention) == ("C0", mentioned)


def test_what_the_severity_map_says_is_what_routes_see() -> None:
    found = slack({"match": {"severity": "critical"}, "channel": "C1"})
    (to,) = routed(incident(priority="P1", severity="critical"), found)
    assert to.channel == "C1"


@pytest.mark.parametrize(
    "thread",
    [
        "C0AAA/1700000000.000100",
        "https://acme.slack.com/archives/C0AAA/p1700000000000100",
        "https://acme.slack.com/archives/C0AAA/p1700000000000100?thread_ts=1.2&cid=C0AAA",
    ],
)
def test_an_annotation_may_name_a_thread_of_a_channel_that_we_know(thread: str) -> None:
    (to,) = routed(incident(thread=thread), slack(channel="C0AAA"))
    assert (to.channel, to.thread) == ("C0AAA", "1700000000.000100")


@pytest.mark.parametrize(
    "thread",
    [
        "C0OTHER/1700000000.000100",
        "https://evil.example/x/archives/C0/p1",
        "C0AAA/latest",
        "C0AAA/1700000000.000100\n<!channel>",
    ],
)
def test_any_other_thread_is_not_followed(thread: str) -> None:
    found = slack(channel="C0AAA")
    (to,) = routed(incident(thread=thread), found)
    assert (to.channel, to.thread) == ("C0AAA", "")


def test_all_channels_of_the_configuration_are_known() -> None:
    found = slack({"match": {}, "channel": "C1"}, {"match": {}}, fallback_channel="C9")
    assert channels(found) == ("C0", "C1", "C9")


@given(
    labels=st.dictionaries(st.text(max_size=20), st.text(max_size=60), max_size=5),
    thread=st.text(max_size=120),
)
def test_no_label_and_no_annotation_chooses_a_channel_or_a_mention_of_its_own(
    labels: dict[str, str], thread: str
) -> None:
    found = slack(
        {"match": {"a": "b"}, "channel": "C1", "mention": "S0ONCALL"}, {"match_re": {"c": "d.*"}}
    )
    told = incident(thread=thread)
    it = replace(told, alerts=(replace(told.alerts[0], labels=labels),))
    for to in routed(it, found):
        assert to.channel in ("C0", "C1")
        assert to.mention in ("", "S0ONCALL")


def test_a_broken_expression_is_told_with_its_place() -> None:
    with pytest.raises(ValueError, match=r"match_re.team: not a regular expression"):
        slack({"match_re": {"team": "("}})


# --- the worst alert decides


def group(*alerts: Alert) -> Incident:
    return replace(incident(), alerts=alerts)


def labelled(severity: str, minute: int = 0, **labels: str) -> Alert:
    (made,) = incident(severity=severity, **labels).alerts
    starts_at = NOW.replace(minute=minute)
    return replace(
        made, fingerprint=f"{severity}{labels}", name=f"A{severity}", starts_at=starts_at
    )


ONCALL: dict[str, object] = {
    "match": {"severity": "critical"},
    "channel": "C1",
    "mention": "S0ONCALL",
}


def test_the_worst_alert_chooses_channel_and_mention_wherever_it_stands() -> None:
    warning, critical = labelled("warning"), labelled("critical", 3)
    for order in ((warning, critical), (critical, warning)):
        (to,) = routed(group(*order), slack(ONCALL))
        assert (to.channel, to.mention) == ("C1", "S0ONCALL")
        assert (group(*order).severity, group(*order).name) == ("critical", "Acritical")


def test_an_alert_that_fires_counts_before_a_worse_one_that_is_over() -> None:
    over = replace(labelled("critical"), status=AlertStatus.RESOLVED, ends_at=NOW)
    it = group(over, labelled("warning", 3))
    assert (it.severity, it.is_page) == ("warning", False)
    assert [to.channel for to in routed(it, slack(ONCALL))] == ["C0"]
    assert group(over).is_page


def test_among_equals_the_one_that_began_first_decides() -> None:
    first, second = labelled("page", 1, team="a"), labelled("critical", 2, team="b")
    found = slack({"match": {"team": "a"}, "channel": "C1"})
    for order in ((first, second), (second, first)):
        assert [to.channel for to in routed(group(*order), found)] == ["C1"]


def test_a_severity_that_nobody_knows_is_better_than_all_that_are_known() -> None:
    assert group(labelled("banana"), labelled("info")).severity == "info"
    assert group(labelled(""), labelled("banana")).severity == "banana"


# --- owners


def found_by(owner: str) -> Diagnosis:
    cause = Cause(
        runbook="cpu-throttling", title="x", verdict=Verdict.CONFIRMED, because="", owner=owner
    )
    other = replace(cause, runbook="dns-resolution", owner="net")
    return Diagnosis(
        outlook=Outlook.CAUSE_FOUND,
        primary="cpu-throttling",
        chain=("cpu-throttling",),
        confidence=Confidence.HIGH,
        causes=(cause, other),
        evidence=(),
    )


def test_owners_are_whom_the_labels_name_and_who_keeps_the_primary_runbook() -> None:
    it = group(replace(labelled("warning"), owner="serving"))
    assert it.owners == ("serving",)
    assert replace(it, diagnosis=found_by("sre-platform")).owners == ("serving", "sre-platform")
    assert replace(it, diagnosis=found_by("serving")).owners == ("serving",)
    assert replace(group(labelled("warning")), diagnosis=found_by("")).owners == ()


def test_only_an_alert_that_is_as_bad_as_the_worst_names_the_owner() -> None:
    owned = replace(labelled("warning"), owner="serving")
    assert group(owned, labelled("critical")).owners == ()
    worse = replace(labelled("critical"), owner="storage")
    assert group(owned, worse).owners == ("storage",)
    as_bad = replace(labelled("page", 3), owner="serving")
    assert group(labelled("critical"), as_bad).owners == ("serving",)


def test_a_lesser_alert_does_not_take_a_page_to_its_owner() -> None:
    noise = replace(labelled("info"), owner="other")
    found = slack({"owner": "other", "channel": "C0OTHER"}, ONCALL)
    for order in ((noise, labelled("critical", 3)), (labelled("critical", 3), noise)):
        assert routed(group(*order), found) == (Routed(channel="C1", mention="S0ONCALL"),)
    assert [to.channel for to in routed(group(noise), found)] == ["C0OTHER"]


def test_a_route_may_ask_for_an_owner() -> None:
    found = slack({"owner": "sre-platform", "channel": "C1", "later": "mention"})
    it = incident()
    assert [to.channel for to in routed(it, found)] == ["C0"]
    (to,) = routed(replace(it, diagnosis=found_by("sre-platform")), found)
    assert (to.channel, to.later) == ("C1", "mention")


# --- threads


def test_a_thread_in_a_channel_of_another_route_is_not_joined_and_the_reason_is_told() -> None:
    found = slack(
        {"match": {"team": "other"}, "channel": "C0OTHER"}, channel="C0AAA", fallback_channel="C0F"
    )
    for channel in ("C0OTHER", "C0F"):
        it = incident(thread=f"{channel}/1700000000.000100")
        assert routed(it, found) == (Routed(channel="C0AAA"),)
        assert why_no_thread(it, found).endswith(f"{channel}, where this incident does not go")


def test_what_names_no_message_is_told_and_what_is_joined_is_not() -> None:
    found = slack(channel="C0AAA")
    assert "names no message" in why_no_thread(incident(thread="C0AAA/latest"), found)
    assert why_no_thread(incident(thread="C0AAA/1700000000.000100"), found) == ""
    assert why_no_thread(incident(), found) == ""


def test_a_lesser_alert_names_no_thread_and_one_that_is_as_bad_does() -> None:
    names = {"tailhound_thread": "C0AAA/1700000000.000100"}
    noise = replace(labelled("info"), annotations=names)
    found = slack(channel="C0AAA")
    it = group(noise, labelled("critical", 3))
    assert routed(it, found) == (Routed(channel="C0AAA"),)
    assert why_no_thread(it, found) == ""
    for severity in ("critical", "page"):
        as_bad = replace(labelled(severity, 4), annotations=names)
        (to,) = routed(group(labelled("critical", 3), as_bad), found)
        assert to.thread == "1700000000.000100"


def test_only_the_channel_of_the_thread_changes() -> None:
    found = slack(
        {"channel": "C0AAA", "mention": "S0ONCALL", "continue": True},
        {"channel": "C0BBB"},
    )
    it = incident(thread="C0BBB/1700000000.000100", severity="critical")
    assert routed(it, found) == (
        Routed(channel="C0AAA", mention="S0ONCALL"),
        Routed(channel="C0BBB", thread="1700000000.000100"),
    )


def test_the_link_of_a_reply_is_taken_for_its_thread() -> None:
    link = "https://acme.slack.com/archives/C0AAA/p1700000009000900?thread_ts=1700000000.000100"
    (to,) = routed(incident(thread=f"{link}&cid=C0AAA"), slack(channel="C0AAA"))
    assert to.thread == "1700000000.000100"
