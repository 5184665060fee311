"""Bodies of Alertmanager as large as the webhook takes them."""

import json
import time
import tracemalloc

import pytest

from tailhound.errors import AlertUnreadable
from tailhound.sources.alertmanager import VALUES_AT_MOST, read_group
from tests.unit.test_alertmanager import MEBIBYTE, body, recorded

WEBHOOK_LIMIT = 32 * MEBIBYTE


def full_of(piece: bytes, start: bytes = b"", end: bytes = b"") -> bytes:
    return start + piece * ((WEBHOOK_LIMIT - len(start) - len(end)) // len(piece)) + end


@pytest.mark.parametrize(
    "text",
    [
        full_of(b"["),
        full_of(b"[],", start=b"["),
        full_of(b'"'),
        full_of(b'\\"'),
        full_of(b'\\"', start=b'"'),
        full_of(b"x", start=b'"' * (2 * VALUES_AT_MOST - 1)),
        full_of(b"9", start=b'{"version":', end=b"}"),
        full_of(b"9" * 4000 + b",", start=b"[", end=b"1]"),
        full_of(b"\\u0000", start=b'{"version":"', end=b'"}'),
    ],
    ids=["open", "lists", "quotes", "escaped", "open text", "then text", "digits", "long", "nul"],
)
def test_a_hostile_body_of_32_mebibytes_is_refused_in_linear_time(text: bytes) -> None:
    started = time.thread_time()
    with pytest.raises(AlertUnreadable):
        read_group(text)
    assert time.thread_time() - started < 5


def test_a_real_body_close_to_the_limit_is_read_whole() -> None:
    one = json.loads(recorded("v4-firing.json"))["alerts"][0]
    many = [one | {"fingerprint": f"{n:016x}", "labels": {"n": str(n)}} for n in range(20_000)]
    group = read_group(body(alerts=many))
    assert len(group.alerts) == 20_000


def test_reading_takes_a_few_times_the_bytes_of_a_body() -> None:
    one = {"status": "firing", "startsAt": "2026-11-30T02:51:00Z"}
    text = body(alerts=[one | {"labels": {"alertname": "A", "n": str(n)}} for n in range(15_000)])
    assert len(text) > MEBIBYTE
    tracemalloc.start()
    try:
        group = read_group(text)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(group.alerts) == 15_000
    assert most < 10 * len(text)


def test_commas_in_texts_are_no_values() -> None:
    commas = "," * (VALUES_AT_MOST + 1)
    one = json.loads(recorded("v4-firing.json"))["alerts"][0]
    group = read_group(body(alerts=[one | {"annotations": {"list": commas}}]))
    assert len(group.alerts) == 1
