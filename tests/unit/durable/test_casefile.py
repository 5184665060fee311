"""Case files: parts become one recording again, and nothing of a person or a secret is in them."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from tailhound.durable.casefile import body_of, incidents_in, stored, with_incidents
from tailhound.durable.keeping import Heard, Notebook, raw_outputs, typed
from tailhound.errors import RecordingUnreadable
from tailhound.model import Happened, Incident, Missing, Reason
from tailhound.requests import Labelled, Output, Query, RunOnHost
from tailhound.sources.alertmanager import read_group
from tailhound.store.recordings import Part
from tailhound.transports.recording import Recording, parsed, written
from tests.samples.incidents import EVERY_FIELD as INCIDENT

NOW = datetime(2026, 11, 30, 2, 53, tzinfo=UTC)
UP = Query(promql="up")
HOST = RunOnHost(host="n", argv=("cat", "/proc/loadavg"))
SECRET = "ghp_" + "a1B2c3D4e5F6" * 3
TIMEOUT = Missing(Reason.TIMEOUT, "no answer")


def vector(value: float) -> tuple[Labelled, ...]:
    return (Labelled((), value),)


def part(name: str, *heard: Heard, after: float = 0.0) -> Part:
    at = NOW + timedelta(seconds=after)
    content = typed(heard, at)
    return Part(n=1, part=name, asked_at=at, size=len(content), content=content)


def test_a_late_answer_takes_the_place_of_the_one_that_failed() -> None:
    first = part("collect", Heard(UP, TIMEOUT, 5.0), Heard(HOST, TIMEOUT, 5.0))
    late = part("again", Heard(UP, vector(1.0), 0.1), Heard(HOST, TIMEOUT, 9.0), after=40)
    recording = stored(INCIDENT, (first, late))
    assert {a.request: a.reply for a in recording.answers} == {UP: vector(1.0), HOST: TIMEOUT}
    assert recording.as_of == NOW, "the moment of the first question is now"


def test_a_failure_that_came_later_does_not_hide_an_answer() -> None:
    first = part("collect", Heard(UP, vector(1.0), 0.1))
    again = part("again", Heard(UP, TIMEOUT, 5.0), after=40)
    (answer,) = stored(INCIDENT, (first, again)).answers
    assert answer.reply == vector(1.0)


def test_nothing_kept_and_too_much_say_why() -> None:
    with pytest.raises(RecordingUnreadable, match="not kept"):
        stored(INCIDENT, ())
    large = replace(part("collect", Heard(UP, TIMEOUT, 0.0)), content=None, size=5 * 1024 * 1024)
    with pytest.raises(RecordingUnreadable, match=r"takes 5\.0 MiB, more than the 4 MiB"):
        stored(INCIDENT, (large,))


def test_the_body_of_a_stored_incident_can_be_read_like_any_other() -> None:
    group = read_group(json.dumps(body_of(INCIDENT)).encode())
    assert [alert.labels for alert in group.alerts] == [alert.labels for alert in INCIDENT.alerts]
    assert [a.starts_at for a in group.alerts] == [a.starts_at for a in INCIDENT.alerts]
    assert [a.ends_at for a in group.alerts] == [a.ends_at for a in INCIDENT.alerts]


def _round(incident: Incident) -> tuple[Incident, str]:
    bare = Recording(as_of=NOW, alert=None, answers=())
    text = written(with_incidents(bare, [incident]))
    (found,) = incidents_in(parsed(text))
    return found, text


def test_the_verdict_comes_back_and_the_evidence_and_the_timeline_stay_behind() -> None:
    said = replace(INCIDENT, timeline=(Happened(at=NOW, what="Re-check, asked by anna"),))
    found, text = _round(said)
    assert "anna" not in text
    assert found.diagnosis is not None
    assert INCIDENT.diagnosis is not None
    assert found.diagnosis == replace(INCIDENT.diagnosis, evidence=())
    assert (found.id, found.key, found.subject) == (INCIDENT.id, INCIDENT.key, INCIDENT.subject)


def test_a_secret_in_an_alert_is_in_no_case_file() -> None:
    alert = replace(INCIDENT.alerts[0], annotations={"summary": f"token {SECRET}"})
    _, text = _round(replace(INCIDENT, alerts=(alert,)))
    assert SECRET not in text


def test_what_is_kept_is_redacted_in_both_forms() -> None:
    heard = (Heard(HOST, Output(f"token={SECRET}", "", 0), 0.1),)
    (raw,) = raw_outputs(heard, NOW, 1)
    assert SECRET not in raw.text
    assert SECRET.encode() not in typed(heard, NOW)


def test_a_failed_question_has_no_text_and_keeps_its_reason() -> None:
    heard = (Heard(UP, TIMEOUT, 5.0),)
    assert raw_outputs(heard, NOW, 1) == []
    (answer,) = parsed(typed(heard, NOW).decode()).answers
    assert answer.reply == TIMEOUT


def test_a_notebook_gives_each_answer_to_one_step_only() -> None:
    notebook = Notebook()
    notebook.hear(UP, TIMEOUT, 1.0)
    assert [one.request for one in notebook.taken()] == [UP]
    assert notebook.taken() == ()


def test_a_case_file_of_wrong_incidents_is_refused() -> None:
    wrong = Recording(as_of=NOW, alert=None, answers=(), incidents=({"id": 7},))
    with pytest.raises(RecordingUnreadable, match="incidents: "):
        incidents_in(wrong)
