"""Answers in full, for the page."""

from tailhound.durable.whole import whole
from tailhound.model.facts import Sample
from tailhound.requests import Labelled, Output, Ranged


def test_the_streams_of_a_host_are_kept_apart() -> None:
    reply = Output("out\n", "err\n", 1, Output("more\n", "", 0), 10.0)
    text = whole(reply)
    assert text.splitlines() == [
        "exit 1", "out", "", "standard error:", "err", "", "10 s later:", "exit 0", "more",
    ]  # fmt: skip


def test_a_vector_has_a_line_for_each_series() -> None:
    reply = (Labelled((("pod", 'a"b'),), 0.5), Labelled((), 1.0))
    assert whole(reply) == '{pod="a\\"b"} 0.5\n{} 1.0'


def test_a_range_has_a_line_for_each_sample() -> None:
    assert whole((Ranged((), (Sample(1.0, 2.0),)),)) == "{}\n  1.000 2.0"


def test_objects_are_json() -> None:
    assert whole(({"kind": "Pod"},)) == '[\n {\n  "kind": "Pod"\n }\n]'
