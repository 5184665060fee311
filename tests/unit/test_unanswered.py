"""Which questions are offered to be asked by hand, and which failures are told as consequences."""

from dataclasses import replace

import pytest

from tailhound.model import (
    Asked,
    Cause,
    Check,
    Diagnosis,
    Evidence,
    EvidenceStatus,
    FactValue,
    Outlook,
    Part,
    Verdict,
    gaps,
)
from tailhound.model.by_hand import by_hand as questions
from tailhound.model.unanswered import KNOWN_HERE
from tailhound.slack.ink import INKS, Ink
from tailhound.slack.todo import by_hand, known
from tailhound.transports.replay import UNKNOWN
from tailhound.truth import Truth
from tests.samples.causes import DIAGNOSIS

DEAD = "Prometheus did not answer within 5 s"
BUSY = "not asked: all 32 slots of Prometheus were busy for 20 s"


def asked(question: str, status: EvidenceStatus, detail: str = "", to: str = "prometheus") -> Asked:
    return Asked(question=question, backend=to, status=status, detail=detail)


def evidence(name: str, *questions: Asked) -> Evidence:
    status = questions[0].status
    return Evidence(name=name, collector=f"prometheus.{name}", status=status, asked=questions)


def unknown(name: str) -> Cause:
    return Cause(
        runbook=f"of-{name}",
        title="It is slow",
        verdict=Verdict.UNKNOWN,
        because="Evidence is missing",
        evidence=(name,),
        slows=("decode",),
    )


def diagnosis(*found: Evidence) -> Diagnosis:
    return replace(
        DIAGNOSIS,
        outlook=Outlook.NONE_CONFIRMED,
        primary=None,
        chain=(),
        causes=tuple(unknown(item.name) for item in found),
        evidence=found,
    )


def test_nothing_is_asked_by_hand_of_a_backend_that_is_down() -> None:
    found = diagnosis(
        evidence("a", asked("up", EvidenceStatus.TIMEOUT, DEAD)),
        evidence("b", asked("get pods", EvidenceStatus.FORBIDDEN, "no", to="kubernetes")),
    )
    assert [one.question for one in questions(found)] == ["get pods"]


def test_a_query_that_timed_out_of_a_backend_that_answers_others_is_asked_by_hand() -> None:
    found = diagnosis(
        evidence("a", asked("slow", EvidenceStatus.TIMEOUT, DEAD)),
        evidence("b", asked("up", EvidenceStatus.EMPTY)),
    )
    assert "slow" in [one.question for one in questions(found)]


def test_a_question_that_was_asked_for_several_times_is_told_once_and_can_be_pasted() -> None:
    refused = EvidenceStatus.FORBIDDEN
    found = diagnosis(
        evidence("a", asked("up", refused), asked("up  # 3600 s ago", refused)),
        evidence("b", asked("up  # from 3600 s ago, every 60 s", refused)),
    )
    assert [one.question for one in questions(found)] == ["up"]


def test_a_question_to_kubernetes_is_asked_by_hand_with_kubectl() -> None:
    def pasted(path: str) -> str:
        refused = asked(f"GET {path}", EvidenceStatus.FORBIDDEN, "no", to="kubernetes")
        return questions(diagnosis(evidence("a", refused)))[0].question

    path = "/api/v1/namespaces/prod/pods?labelSelector=app%3Dchat"
    assert pasted(path) == f"kubectl get --raw '{path}'"
    assert pasted("/api/v1/'; reboot #") == "GET /api/v1/'; reboot #"


def test_what_was_answered_with_nothing_is_not_to_be_asked_by_hand() -> None:
    found = diagnosis(
        evidence("a", asked("up", EvidenceStatus.EMPTY)),
        evidence("b", asked("no", EvidenceStatus.NOT_APPLICABLE)),
    )
    assert questions(found) == ()


def test_a_backend_that_answers_nothing_is_one_problem_however_long_each_question_waited() -> None:
    found = diagnosis(
        evidence("a", asked("up", EvidenceStatus.TIMEOUT, DEAD)),
        evidence("b", asked("down", EvidenceStatus.TIMEOUT, f"{DEAD}, for 4 s")),
        evidence("c", asked("other", EvidenceStatus.UNREACHABLE, "no connection")),
    )
    (told,) = gaps.left_open(found).causes.items()
    assert told == (gaps.Gap(DEAD, told[0].fix), ("of a", "of b", "of c"))


def test_who_did_not_answer_is_told_before_a_series_that_is_not_there() -> None:
    two = diagnosis(
        evidence("a", asked("up", EvidenceStatus.EMPTY, "no such series")),
        evidence("b", asked("slow", EvidenceStatus.TIMEOUT, DEAD)),
    )
    found = replace(two, causes=(replace(unknown("a"), evidence=("a", "b")),))
    assert [gap.reason for gap in gaps.left_open(found).causes] == [DEAD]


def test_what_is_not_there_at_all_is_told_before_a_series_that_some_evidence_lacks() -> None:
    partly = replace(
        evidence("a", asked("rate", EvidenceStatus.EMPTY, "no such series")),
        status=EvidenceStatus.COLLECTED,
    )
    host = evidence("b", asked("nvme", EvidenceStatus.EMPTY, "nvme: exit 1", to="ssh db-1"))
    for order in ((partly, host), (host, partly)):
        two = diagnosis(*order)
        found = replace(two, causes=(replace(unknown("a"), evidence=("a", "b")),))
        assert [gap.reason for gap in gaps.left_open(found).causes] == ["nvme: exit 1"]


def test_what_was_not_asked_because_the_backend_is_down_is_no_second_problem() -> None:
    found = diagnosis(
        evidence("a", asked("up", EvidenceStatus.TIMEOUT, DEAD)),
        evidence("b", asked("down", EvidenceStatus.SKIPPED, BUSY)),
    )
    (told,) = gaps.left_open(found).causes.items()
    assert told[0].reason == DEAD
    assert told[1] == ("of a", "of b")


def test_what_was_not_asked_of_a_backend_that_answers_keeps_its_own_reason() -> None:
    found = diagnosis(
        evidence("a", asked("up", EvidenceStatus.COLLECTED)),
        evidence("b", asked("down", EvidenceStatus.SKIPPED, BUSY)),
    )
    assert BUSY in [gap.reason for gap in gaps.left_open(found).causes]


@pytest.mark.parametrize(
    ("detail", "why"),
    [
        (BUSY, BUSY),
        ("not asked: nobody could tell the namespace. Fix: name it.",
         "not asked: nobody could tell the namespace"),
        (UNKNOWN.detail, "a recording has no answer to this"),
        ("", "not asked, and nobody noted why"),
    ],
)  # fmt: skip
def test_claims_that_nobody_asked_about_say_why(detail: str, why: str) -> None:
    check = Check(
        claim="It is slow.",
        condition="x",
        part=Part.CONFIRM,
        truth=Truth.UNKNOWN,
        seen=(),
        missing=("a.slow_ratio",),
    )
    skipped = evidence("a", asked("up", EvidenceStatus.SKIPPED, detail))
    (told,) = gaps.unknown_claims(replace(unknown("a"), checks=(check,)), [skipped])
    assert told.why == why


@pytest.mark.parametrize(
    "detail",
    [UNKNOWN.detail, "not in the recording: it was not asked when this was recorded"],
    ids=["now", "as it was told before"],
)
def test_what_a_recording_does_not_hold_is_not_to_be_checked_again(detail: str) -> None:
    found = diagnosis(evidence("a", asked("up", EvidenceStatus.SKIPPED, detail)))
    (gap,) = gaps.left_open(found).causes
    assert (gap.reason, gap.fix) == (detail, "")


def test_slack_shows_a_query_whole_or_not_at_all() -> None:
    short = asked("up", EvidenceStatus.EMPTY)
    long = asked(f"rate(x{'y' * 300}[5m])", EvidenceStatus.EMPTY)
    assert by_hand((long, short), INKS[0]) == ("Prometheus: `up`", "+ 1 more on the page")
    assert by_hand((long,), INKS[0]) == ("1 question stands on the page",)
    assert by_hand((short, short), Ink(10, 1, 0)) == ("2 questions stand on the page",)
    assert by_hand((), INKS[0]) == ()


def test_what_is_known_without_a_backend_is_what_helps_and_no_debris() -> None:
    facts: dict[str, FactValue] = {
        "ready_count": 2, "read": False, "has_cpu_limit": True, "pod": "llm-0", "wait_seconds": 3.0
    }  # fmt: skip
    item = Evidence(
        name="a", collector="k.a", status=EvidenceStatus.COLLECTED, facts=facts, asked=()
    )
    assert known((item, item), INKS[0]) == "ready pods 2"
    assert known((replace(item, facts={"read": False}),), INKS[0]) == ""
    limit = replace(item, facts={"cpu_limit_cores": 6.0})
    assert known((limit,), INKS[0]) == "", "a limit alone tells nobody anything"
    own = replace(item, collector="promql dns.lookups", facts={"failing_count": 12})
    assert known((own,), INKS[0]) == "", "only its runbook knows of what they fail"
    assert known((own, item), INKS[0]) == "ready pods 2"


@pytest.mark.parametrize(
    "detail",
    [
        f"not asked: no namespace is {KNOWN_HERE}",
        f"not asked: no pods are {KNOWN_HERE}: no label of the alert names a workload",
        "not asked: nobody could tell the pods; add a label to incidents.workload_labels",
    ],
)
def test_what_the_labels_do_not_say_is_not_to_be_checked_again(detail: str) -> None:
    found = diagnosis(evidence("a", asked("up", EvidenceStatus.SKIPPED, detail)))
    assert [gap.fix for gap in gaps.left_open(found).causes] == [""]


SPARED = (
    "not asked: the API server refuses most requests (9 of the last 10). "
    "Fix: it is asked again when it answers"
)


def test_what_an_api_server_was_spared_is_unknown_and_says_why_and_when_it_is_asked() -> None:
    spared = asked("get pods", EvidenceStatus.SKIPPED, SPARED, to="kubernetes")
    found = diagnosis(evidence("a", spared), evidence("b", asked("up", EvidenceStatus.EMPTY)))
    (gap, names), *_ = gaps.left_open(found).causes.items()
    assert gap.reason == "not asked: the API server refuses most requests (9 of the last 10)"
    assert gap.fix == "it is asked again when it answers"
    assert not gap.for_later
    assert names == ("of a",)
    assert found.causes[0].verdict is Verdict.UNKNOWN
