"""What an investigation does to its incident, as pure edits."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from tailhound.durable import episodes, verdicts
from tailhound.model import (
    Asked,
    Cause,
    Diagnosis,
    Evidence,
    EvidenceStatus,
    FactValue,
    Incident,
    Outlook,
    Progress,
    Recheck,
    State,
    Subject,
    SubjectKind,
    Verdict,
)
from tailhound.model.verdict import Changed
from tailhound.store import codec
from tailhound.store.records import Record
from tests.unit.durable.fakes import evidence

NOW = datetime(2026, 11, 30, 2, 53, tzinfo=UTC)
ASKED = verdicts.AskedFor(sha="", requested_at=NOW, verdict_by=NOW + timedelta(seconds=30))


def _record(state: State = State.INVESTIGATING, n: int = 1, done: int = 0) -> Record:
    incident = Incident(
        id="7F3K",
        key="k",
        subject=Subject(kind=SubjectKind.POD),
        state=state,
        alerts=(),
        received_at=NOW,
        n=n,
    )
    return Record(incident=incident, done=done)


def _diagnosis(primary: str | None = "cpu", *found: Evidence) -> Diagnosis:
    cause = Cause(runbook="cpu", title="the CPU limit", verdict=Verdict.CONFIRMED, because="b")
    return Diagnosis(
        outlook=Outlook.CAUSE_FOUND if primary else Outlook.NONE_CONFIRMED,
        primary=primary,
        chain=(primary,) if primary else (),
        confidence=None,
        causes=(cause,),
        evidence=found,
        decided_at=NOW,
    )


def test_a_verdict_ends_its_investigation_once() -> None:
    after = verdicts.diagnosed(_record(), 1, _diagnosis(), NOW, ASKED)
    assert after is not None
    assert after.done == 1
    assert after.incident.state is State.DIAGNOSED
    assert after.incident.timeline[-1].what == "Verdict: cause found: the CPU limit"
    assert verdicts.diagnosed(after, 1, _diagnosis(), NOW, ASKED) is None
    assert verdicts.failed(after, 1, "late", NOW) is None


def test_a_verdict_does_not_open_what_is_resolved_joined_or_being_mended() -> None:
    for state in (State.RESOLVED, State.JOINED, State.MITIGATING):
        after = verdicts.diagnosed(_record(state), 1, _diagnosis(), NOW, ASKED)
        assert after is not None
        assert after.incident.state is state
        broken = verdicts.failed(_record(state), 1, "why", NOW)
        assert broken is not None
        assert broken.incident.state is state
        assert broken.incident.failed_because == "why"


def test_progress_of_an_investigation_that_is_over_is_not_shown() -> None:
    progress = Progress(answered=1, waiting=2, failed=0)
    assert verdicts.progressed(_record(), 1, progress) is not None
    assert verdicts.progressed(_record(done=1), 1, progress) is None
    assert verdicts.progressed(_record(n=2, done=1), 1, progress) is None
    assert verdicts.progressed(_record(State.RESOLVED), 1, progress) is None


def test_a_revision_names_the_old_verdict_only_when_it_is_another_one() -> None:
    record = _record(State.DIAGNOSED, done=1)
    same = verdicts.revised(record, _diagnosis(), _diagnosis(), "why", NOW)
    assert same is not None
    assert same.incident.revised is None
    other = verdicts.revised(record, _diagnosis(None), _diagnosis(), "why", NOW)
    assert other is not None
    assert other.incident.revised is not None
    assert other.incident.revised.was == "no cause confirmed"
    assert other.incident.revised.was_at == NOW


def test_a_revision_that_is_written_twice_is_told_once() -> None:
    record, later = _record(State.DIAGNOSED, done=1), NOW + timedelta(seconds=2)
    once = verdicts.revised(record, _diagnosis(None), _diagnosis(), "why", NOW)
    assert once is not None
    assert verdicts.revised(once, _diagnosis(None), _diagnosis(), "why", later) is None


def _checked_again(old: Diagnosis | None, new: Diagnosis) -> Incident:
    """An incident whose verdict ana asked for again, after the answer."""
    check = Recheck(n=2, since=NOW, by="ana")
    record = _record(n=2, done=1).edited(recheck=check)
    after = verdicts.diagnosed(record, 2, new, NOW, replace(ASKED, old=old))
    assert after is not None
    return after.incident


def test_a_check_of_a_verdict_says_that_the_answer_is_the_same() -> None:
    same = _checked_again(_diagnosis(), _diagnosis())
    assert same.recheck == Recheck(n=2, since=NOW, by="ana", ended_at=NOW, same=True)
    assert same.revised is None
    told = "Checked again, same answer: cause found: the CPU limit"
    assert same.timeline[-1].what == told


def test_a_check_of_a_verdict_names_the_one_that_it_replaces_and_who_asked() -> None:
    other = _checked_again(_diagnosis(None), _diagnosis())
    assert other.revised is not None
    assert other.revised.was == "no cause confirmed"
    assert other.revised.why == "checked again, asked by ana"
    assert other.recheck is not None
    assert (other.recheck.ended_at, other.recheck.same) == (NOW, False)


def test_a_check_that_ends_while_another_one_waits_is_not_told_by_the_name_of_that_one() -> None:
    record = _record(n=2, done=1).edited(recheck=Recheck(n=3, since=NOW, by="ben"))
    asked = replace(ASKED, old=_diagnosis(None))
    after = verdicts.diagnosed(record, 2, _diagnosis(), NOW, asked)
    assert after is not None
    assert after.incident.revised is not None
    assert after.incident.revised.why == "checked again"


def test_the_first_verdict_of_an_episode_replaces_none() -> None:
    first = _checked_again(None, _diagnosis())
    assert first.recheck is None
    assert first.revised is None


def test_a_check_that_waits_behind_another_one_goes_on() -> None:
    check = Recheck(n=3, since=NOW, by="ben")
    record = _record(n=2, done=1).edited(recheck=check)
    after = verdicts.diagnosed(record, 2, _diagnosis(), NOW, replace(ASKED, old=_diagnosis()))
    broken = verdicts.failed(record, 2, "why", NOW)
    assert after is not None
    assert broken is not None
    assert after.incident.recheck == broken.incident.recheck == check


def test_a_check_that_will_never_begin_is_not_promised() -> None:
    waits = _record(n=1, done=0).edited(recheck=Recheck(n=2, since=NOW, by="ana"))
    runs = _record(n=1, done=0).edited(recheck=Recheck(n=1, since=NOW, by="ana"))
    for end in (episodes.resolved_now, episodes.unheard_now):
        assert end(waits, NOW).incident.recheck is None
        assert end(runs, NOW).incident.recheck == runs.incident.recheck
    assert episodes.reopened(runs, NOW).incident.recheck is None


def test_late_evidence_that_revises_a_check_is_what_is_told() -> None:
    same = Recheck(n=2, since=NOW, ended_at=NOW, same=True)
    record = _record(State.DIAGNOSED, n=2, done=2).edited(recheck=same)
    other = verdicts.revised(record, _diagnosis(None), _diagnosis(), "why", NOW)
    assert other is not None
    assert other.incident.recheck is None


def test_a_verdict_long_after_its_time_says_so_and_about_which_moment() -> None:
    late = NOW + timedelta(hours=8)
    after = verdicts.diagnosed(_record(), 1, _diagnosis(), late, ASKED)
    assert after is not None
    assert [line.what.replace("\u00a0", " ") for line in after.incident.timeline] == [
        "tailhound came to look 8 h after it was asked for",
        "Verdict: cause found: the CPU limit",
    ]
    ended = _record(State.RESOLVED).edited(resolved_at=NOW + timedelta(minutes=4))
    over = verdicts.diagnosed(ended, 1, _diagnosis(), late, replace(ASKED, until=late))
    assert over is not None
    assert "Prometheus was asked about 02:53 UTC" in over.incident.timeline[0].what
    assert over.incident.asked_until is None


def test_newer_evidence_takes_the_place_of_the_older_of_its_name() -> None:
    old = (evidence("a"), evidence("b", EvidenceStatus.TIMEOUT), evidence("c"))
    new = (evidence("b"), evidence("d"))
    merged = verdicts.merged(old, new)
    assert [item.name for item in merged] == ["a", "b", "c", "d"]
    assert merged[1].status is EvidenceStatus.COLLECTED


def test_what_timed_out_again_does_not_replace_anything() -> None:
    late = (evidence("b", EvidenceStatus.TIMEOUT), evidence("c", EvidenceStatus.FORBIDDEN))
    assert [item.name for item in verdicts.answered_late(late)] == ["c"]


def test_evidence_with_one_question_out_of_time_is_asked_again() -> None:
    half = replace(
        evidence("a"),
        asked=(
            Asked(question="q", backend="ssh db-1", status=EvidenceStatus.TIMEOUT),
            Asked(question="p", backend="ssh db-1", status=EvidenceStatus.COLLECTED),
        ),
    )
    assert verdicts.unanswered((half, evidence("b"))) == ("a",)


def test_what_was_not_asked_is_asked_with_what_ran_out_of_time_but_not_without() -> None:
    skipped = evidence("a", EvidenceStatus.SKIPPED)
    assert verdicts.unanswered((skipped, evidence("b"))) == ()
    late = evidence("c", EvidenceStatus.TIMEOUT)
    assert verdicts.unanswered((skipped, evidence("b"), late)) == ("a", "c")


SPARED = Asked(
    question="GET /api/v1/pods",
    backend="kubernetes",
    status=EvidenceStatus.SKIPPED,
    detail="not asked: the API server refuses most requests (9 of the last 10). Fix: wait",
)


def test_what_an_api_server_in_trouble_was_spared_is_asked_again() -> None:
    spared = replace(evidence("a", EvidenceStatus.SKIPPED), asked=(SPARED,))
    busy = replace(SPARED, detail="not asked: all 6 slots of the API server were busy for 5 s")
    assert verdicts.unanswered((spared, evidence("b"))) == ("a",)
    assert verdicts.unanswered((replace(spared, asked=(busy,)), evidence("b"))) == ()
    assert verdicts.answered_late((spared, evidence("b"))) == (evidence("b"),)
    answered = replace(SPARED, status=EvidenceStatus.COLLECTED, detail="")
    new = replace(evidence("a"), asked=(answered,))
    why = verdicts.why_late((spared,), (new,), NOW, NOW + timedelta(seconds=40))
    assert why.replace("\u00a0", " ") == "kubernetes answered after 40 s"


def test_it_says_who_answered_late() -> None:
    late = replace(
        evidence("a"),
        asked=(Asked(question="q", backend="ssh db-1", status=EvidenceStatus.COLLECTED),),
    )
    open_ended = replace(late, asked=(replace(late.asked[0], status=EvidenceStatus.TIMEOUT),))
    why = verdicts.why_late((open_ended,), (late,), NOW, NOW + timedelta(seconds=47))
    assert why.replace("\u00a0", " ") == "ssh db-1 answered after 47 s"
    silent = verdicts.why_late((), (evidence("a", EvidenceStatus.EMPTY),), NOW, NOW)
    assert silent.startswith("the late questions answered")


def _size(plain: object) -> int:
    return len(codec.evidence_to_json(codec.evidence_from_plain(plain)).encode())


def _plain(*items: Evidence) -> dict[str, object]:
    return {"evidence": codec.evidence_to_plain(items), "other": 1}


def test_what_fits_a_checkpoint_passes_unchanged() -> None:
    plain = _plain(evidence("a"), evidence("b"))
    assert verdicts.fitted(plain) == plain


def test_evidence_too_large_for_a_checkpoint_is_unknown_and_says_so() -> None:
    tasks: tuple[dict[str, FactValue], ...] = tuple(
        {"name": f"task-{i}", "value": 1.0} for i in range(20_000)
    )
    large = replace(evidence("large"), facts={"tasks": tasks})
    fitted = verdicts.fitted(_plain(evidence("small"), large))
    assert _size(fitted["evidence"]) <= verdicts.CHECKPOINT_AT_MOST
    assert fitted["other"] == 1
    small, cut = codec.evidence_from_plain(fitted["evidence"])
    assert small == evidence("small")
    assert cut.status is EvidenceStatus.TRUNCATED
    assert cut.facts == {"tasks": None}
    assert "20,000 records, too many to keep" in cut.reason


def test_of_many_passes_together_each_evidence_keeps_its_name() -> None:
    asked = tuple(
        Asked(question="q" * 2_000, backend=f"ssh h{i}", status=EvidenceStatus.COLLECTED)
        for i in range(500)
    )
    many = [replace(evidence(f"e{i}"), asked=asked) for i in range(8)]
    fitted = verdicts.fitted(_plain(*many))
    kept = codec.evidence_from_plain(fitted["evidence"])
    assert [item.name for item in kept] == [f"e{i}" for i in range(8)]
    assert _size(fitted["evidence"]) <= verdicts.CHECKPOINT_AT_MOST


ROLLED = Changed(at=NOW - timedelta(minutes=20), kind="rollout", what="rollout of chat", by="argo")


def test_what_changed_before_stands_in_the_timeline_at_its_time_and_once() -> None:
    changed = replace(_diagnosis(), changed=(ROLLED,))
    after = verdicts.diagnosed(_record(), 1, changed, NOW, ASKED)
    assert after is not None
    lines = [line.what for line in after.incident.timeline]
    assert lines == ["rollout of chat (by argo)", "Verdict: cause found: the CPU limit"]
    assert after.incident.timeline[0].at == ROLLED.at
    nameless = replace(ROLLED, by="", what="node a joined", at=NOW - timedelta(minutes=30))
    late = replace(changed, changed=(nameless, ROLLED))
    again = verdicts.revised(after, changed, late, "ssh answered", NOW + timedelta(minutes=1))
    assert again is not None
    assert [line.what for line in again.incident.timeline] == ["node a joined", *lines]


def test_changes_survive_the_store() -> None:
    changed = replace(_diagnosis(), changed=(ROLLED,))
    assert codec.diagnosis_from_json(codec.diagnosis_to_json(changed)) == changed
    old = (
        codec.diagnosis_to_json(_diagnosis())
        .replace('"changed":[],', "")
        .replace(',"changed":[]', "")
    )
    assert "changed" not in old
    assert codec.diagnosis_from_json(old).changed == ()
