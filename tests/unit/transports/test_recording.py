"""Recordings: round trip, strictness, redaction, replay."""

import asyncio
import json
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tailhound.durable.gather import Ask, gather
from tailhound.errors import RecordingUnreadable
from tailhound.flow import Reading, Request, Turn, read
from tailhound.model import Missing, Reason
from tailhound.model.facts import Sample
from tailhound.requests import (
    GetObject,
    Labelled,
    ListObjects,
    Output,
    Query,
    Ranged,
    RangeQuery,
    RunOnHost,
)
from tailhound.transports.recording import Answer, Recorder, Recording, load, parsed, save, written
from tailhound.transports.replay import ReplayTransport
from tests.unit.durable.gather_kit import Answers, By, Facts

NOW = datetime(2026, 11, 30, 3, 0, tzinfo=UTC)
LABELS = (("namespace", "prod"), ("pod", "llm-0"))
ALERT = {"version": "4", "alerts": [{"labels": {"alertname": "X"}}]}

EVERYTHING = Recording(
    as_of=NOW,
    alert=ALERT,
    answers=(
        Answer(GetObject(api="v1", resource="pods", name="a", namespace="b", exact=True), {"x": 1}),
        Answer(ListObjects(api="apps/v1", resource="deployments", label_selector="a=b"), ()),
        Answer(ListObjects(api="v1", resource="pods"), ({"metadata": {"name": "é\u202e"}},), 0.5),
        Answer(Query(promql='up{a="b\n"}', ago=60), (Labelled(LABELS, 0.25), Labelled((), 1.0))),
        Answer(
            RangeQuery(promql="up", start_ago=60.5),
            (Ranged(LABELS, (Sample(1.5, 2.0), Sample(16.5, 1e-12))),),
        ),
        Answer(
            RunOnHost(host="n", argv=("cat", "/proc/loadavg"), twice=True),
            Output("a\x00b", "", 1, Output("c", "d", -1), 10.0),
        ),
        Answer(Query(promql="nothing"), Missing(Reason.EMPTY, "no such series in Prometheus")),
    ),
)


def test_everything_comes_back_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "recording.json"
    save(EVERYTHING, path)
    assert load(path) == EVERYTHING


def test_every_kind_of_question_can_be_recorded() -> None:
    assert {type(answer.request) for answer in EVERYTHING.answers} == set(ReplayTransport.handles)


def test_the_file_says_what_it_is_and_reads_well() -> None:
    text = written(EVERYTHING)
    assert text.startswith('{\n "tailhound_recording": 1,\n "as_of": "2026-11-30T03:00:00+00:00"')
    assert '"promql": "nothing"' in text


labelled = st.builds(
    Labelled,
    st.dictionaries(st.text(max_size=8), st.text(max_size=8), max_size=3).map(
        lambda labels: tuple(sorted(labels.items()))
    ),
    st.floats(allow_nan=False, allow_infinity=False),
)


@settings(max_examples=50, deadline=None)
@given(st.text(max_size=20), st.lists(labelled, max_size=4), st.text(max_size=30))
def test_any_vector_and_text_comes_back_as_it_was(
    promql: str, items: list[Labelled], detail: str
) -> None:
    recording = Recording(
        as_of=NOW,
        alert=detail,
        answers=(
            Answer(Query(promql=promql), tuple(items)),
            Answer(Query(promql=promql, ago=1), Missing(Reason.TIMEOUT, detail)),
        ),
    )
    assert parsed(written(recording)) == recording


def _changed(change: Any) -> str:
    body = json.loads(written(EVERYTHING))
    change(body)
    return json.dumps(body)


BAD = [
    (lambda b: b.update(tailhound_recording=2), "version 2"),
    (lambda b: b.pop("tailhound_recording"), "is no recording"),
    (lambda b: b.update(extra=1), "unknown 'extra'"),
    (lambda b: b.update(as_of="yesterday"), "as_of"),
    (lambda b: b.update(as_of="2026-11-30T03:00:00"), "needs a time zone"),
    (lambda b: b.update(answers={}), "answers: can't be dict"),
    (lambda b: b["answers"].append(7), "answers[7]: can't be int"),
    (lambda b: b["answers"][0]["ask"].update(type="DeleteObject"), "answers[0].ask.type"),
    (lambda b: b["answers"][0]["ask"].pop("type"), "answers[0].ask.type"),
    (lambda b: b["answers"][0]["ask"].update(namespace="../x"), "answers[0].ask"),
    (lambda b: b["answers"][0]["ask"].update(surprise=1), "unknown 'surprise'"),
    (lambda b: b["answers"][0]["ask"].pop("name"), "answers[0].ask"),
    (lambda b: b["answers"][0].update(reply=[1]), "no answer to a GetObject"),
    (lambda b: b["answers"][0].update(missing={}), "either a reply or a missing"),
    (lambda b: b["answers"][0].pop("reply"), "either a reply or a missing"),
    (lambda b: b["answers"][2]["reply"].append("x"), "no answer to a ListObjects"),
    (lambda b: b["answers"][3]["ask"].update(ago="1m"), "answers[3].ask.ago"),
    (lambda b: b["answers"][3].update(took=None), "answers[3].took"),
    (lambda b: b["answers"][3]["reply"][0].update(value="1"), "no answer to a Query"),
    (lambda b: b["answers"][3]["reply"][0].update(value=float("nan")), "no answer to a Query"),
    (lambda b: b["answers"][3]["reply"][0]["labels"].update(a=1), "no answer to a Query"),
    (lambda b: b["answers"][4]["reply"][0].update(samples=[[1]]), "no answer to a RangeQuery"),
    (lambda b: b["answers"][5]["ask"].update(argv="cat x"), "answers[5].ask.argv"),
    (lambda b: b["answers"][5]["ask"].update(argv=["cat", 1]), "answers[5].ask.argv"),
    (lambda b: b["answers"][5]["reply"].pop("stdout"), "no answer to a RunOnHost"),
    (lambda b: b["answers"][6]["missing"].update(reason="lazy"), "answers[6].missing.reason"),
    (lambda b: b["answers"][6]["missing"].pop("detail"), "answers[6].missing.detail"),
]


@pytest.mark.parametrize(("change", "words"), BAD)
def test_what_is_not_understood_is_refused_with_its_place(change: Any, words: str) -> None:
    with pytest.raises(RecordingUnreadable) as raised:
        parsed(_changed(change))
    assert words in str(raised.value)


@pytest.mark.parametrize("text", ["", "{", "[]", "7", "[" * 100_000, '"\\ud800"'])
def test_what_is_no_recording_is_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text(text)
    with pytest.raises(RecordingUnreadable, match=r"x\.json"):
        load(path)


def test_a_missing_file_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(RecordingUnreadable, match="no-such"):
        load(tmp_path / "no-such.json")
    binary = tmp_path / "binary"
    binary.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(RecordingUnreadable, match="binary"):
        load(binary)


def ask(transport: ReplayTransport, request: Request[Any]) -> Any:
    return asyncio.run(transport.ask(request, Turn(time.monotonic() + 5, NOW)))


def test_a_replay_answers_each_question_as_recorded_and_no_other() -> None:
    transport = ReplayTransport(parsed(written(EVERYTHING)))
    for answer in EVERYTHING.answers:
        assert ask(transport, answer.request) == answer.reply
    unknown = ask(transport, Query(promql="up", ago=1))
    assert unknown.reason is Reason.SKIPPED
    assert "a recording has no answer to this" in unknown.detail
    transport.close()


def test_a_replay_may_take_a_moment_but_no_longer_than_told() -> None:
    recording = Recording(as_of=NOW, alert=None, answers=(Answer(Query(promql="up"), (), 60.0),))
    start = time.monotonic()
    ask(ReplayTransport(recording), Query(promql="up"))
    assert time.monotonic() - start < 0.05
    ask(ReplayTransport(recording, pace=0.1), Query(promql="up"))
    assert 0.1 <= time.monotonic() - start < 1


def flow(params: Any) -> Reading[Facts]:
    first = yield from read(Query(promql="up"))
    second = yield from read(Query(promql="down"))
    output = yield from read(RunOnHost(host="n", argv=("cat", "/proc/loadavg")))
    assert not isinstance(first, Missing)
    assert not isinstance(output, Missing)
    return Facts(first[0].value, None if isinstance(second, Missing) else 1.0, output.stdout)


def test_what_gather_records_replays_to_the_same_evidence() -> None:
    live = Answers(
        {
            "up": (Labelled(LABELS, 3.0),),
            "down": Missing(Reason.EMPTY, "no such series in Prometheus"),
            "cat /proc/loadavg": Output("password=hunter2", "", 0),
        }
    )

    async def gathered(transport: Any, **options: Any) -> Any:
        turn = Turn(asyncio.get_running_loop().time() + 5, NOW)
        (found,) = await gather([Ask("e", By(flow), None)], (transport,), turn, **options)
        return found

    recorder = Recorder(NOW, {"labels": {"api_key": "abc"}})
    before = asyncio.run(gathered(live, record=recorder.record))
    text = written(recorder.recording())
    assert "hunter2" not in text
    assert "abc" not in text
    after = asyncio.run(gathered(ReplayTransport(parsed(text))))
    assert after.facts == before.facts
    assert after.status is before.status
    assert [asked.question for asked in after.asked] == [asked.question for asked in before.asked]


def test_the_order_of_answers_does_not_show_in_a_recording() -> None:
    forwards, backwards = Recorder(NOW, ALERT), Recorder(NOW, ALERT)
    for answer in EVERYTHING.answers:
        forwards.record(answer.request, answer.reply, answer.took)
    for answer in reversed(EVERYTHING.answers):
        backwards.record(answer.request, answer.reply, answer.took)
    assert forwards.recording() == backwards.recording()
    assert len(forwards.recording().answers) == len(EVERYTHING.answers)


def test_a_late_answer_replaces_a_missing_one_and_not_the_other_way_round() -> None:
    recorder = Recorder(NOW, ALERT)
    up = Query(promql="up")
    recorder.record(up, Missing(Reason.TIMEOUT, "late"), 5.0)
    recorder.record(up, (Labelled((), 1.0),), 47.0)
    recorder.record(up, Missing(Reason.TIMEOUT, "late"), 5.0)
    (answer,) = recorder.recording().answers
    assert answer.reply == (Labelled((), 1.0),)


def test_a_secret_in_a_question_is_not_kept_and_the_question_is_still_found() -> None:
    recorder = Recorder(NOW, ALERT)
    asked = Query(promql='up{x="password=hunter2"}')
    recorder.record(asked, (Labelled((), 1.0),), 0.0)
    text = written(recorder.recording())
    assert "hunter2" not in text
    assert ask(ReplayTransport(parsed(text)), asked) == (Labelled((), 1.0),)


def test_a_number_that_json_cant_hold_costs_its_own_answer_only() -> None:
    pod = GetObject(api="v1", resource="pods", name="llm-0", namespace="prod")
    recorder = Recorder(EVERYTHING.as_of, None)
    recorder.record(pod, {"metadata": {"annotations": {"x": float("inf")}}}, 0.1)
    recorder.record(Query(promql="up"), (Labelled((), 1.0),), 0.1)
    found = {type(one.request): one.reply for one in parsed(written(recorder.recording())).answers}
    assert found[Query] == (Labelled((), 1.0),)
    assert found[GetObject].reason is Reason.UNPARSABLE
    assert "not finite" in found[GetObject].detail
