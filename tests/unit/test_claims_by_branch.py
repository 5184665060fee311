"""A claim with an `or` that holds is told by what holds; a value beside a claim answers it."""

from dataclasses import replace

import pytest

from tailhound.cli.text import terminal
from tailhound.diagnosis.report import as_json
from tailhound.model import Bound, Check, Incident, Part, Seen, claims
from tailhound.slack import thread
from tailhound.slack.blocks import message
from tailhound.truth import Truth
from tests.samples.incidents import CONFIRMED
from tests.samples.story import NOW
from tests.unit.test_claims import plainly
from tests.unit.web.test_incident_page import text_of

LINK = "A link is down or slower, loses packets, or is held up"


def fact(name: str, value: float, unit: str, collector: str) -> Seen:
    return Seen(name=name, value=value, unit=unit, collector=collector)


def holding(claim: str, seen: Seen, needed: float, comparison: str = ">") -> Check:
    bound = Bound(
        fact=seen.name, comparison=comparison, value=needed, unit=seen.unit, alternative=2
    )
    return Check(
        claim=claim,
        condition="a or b",
        part=Part.CONFIRM,
        truth=Truth.TRUE,
        seen=(seen,),
        needs=(bound,),
    )


SLOW = fact("wire.per_byte_times", 8036.0, "times", "prometheus.kv_transfer")
HELD_UP = holding(LINK, SLOW, 20.0)
WAITING = fact("replicas.waited_meanwhile_count", 3, "count", "prometheus.replicas")
BY_NAME = fact("own.oddness_count", 3, "count", "own")
STUCK = fact("agent.held_up_count", 2, "count", "prometheus.node_agents")


def of(*checks: Check) -> Incident:
    """An incident whose cause has these claims."""
    assert CONFIRMED.diagnosis is not None
    primary = CONFIRMED.diagnosis.primary
    causes = tuple(
        replace(cause, checks=checks) if cause.runbook == primary else cause
        for cause in CONFIRMED.diagnosis.causes
    )
    return replace(CONFIRMED, diagnosis=replace(CONFIRMED.diagnosis, causes=causes))


def surfaces(incident: Incident) -> dict[str, str]:
    blocks = message(incident, page_url="", now=NOW).blocks
    rows = str([one.blocks for one in thread.evidence(incident, NOW)])
    return {
        "message": str(blocks).replace("\\xa0", " "),
        "thread": rows.replace("\\xa0", " "),
        "terminal": " ".join(plainly("\n".join(terminal(incident, NOW))).split()),
    }


def test_message_thread_and_terminal_tell_it_by_what_holds() -> None:
    incident = of(HELD_UP)
    for name, text in surfaces(incident).items():
        assert "Held up: x8,036 the usual time for a byte" in text, name
        assert LINK not in text, name


def test_the_page_and_the_json_keep_the_whole_sentence() -> None:
    incident = of(HELD_UP)
    page = plainly(text_of(incident))
    assert LINK in page
    assert "held up: x8,036 the usual time for a byte (needs x20)" in page
    assert LINK in str(as_json(incident))


@pytest.mark.parametrize(
    ("claim", "seen", "needed", "comparison", "text"),
    [
        ("Slow or stuck", STUCK, 0, ">", "2 workloads can't start on its node"),
        (
            "It is nearly full, or gets no TRIM",
            fact("disk.discards_count", 0, "count", "prometheus.disk_io"),
            0,
            "==",
            "no trims",
        ),
        (
            "Reads or writes are slow",
            fact("disk.read_seconds_ratio", 5.6, "times", "prometheus.disk_io"),
            5,
            ">",
            "x5.6 the usual time to read (needs x5)",
        ),
    ],
)
def test_the_branch_is_told_so_that_it_stands_alone(
    claim: str, seen: Seen, needed: float, comparison: str, text: str
) -> None:
    check = holding(claim, seen, needed, comparison)
    assert claims.is_by_branch(check)
    assert plainly(claims.told(check)) == text
    assert plainly(claims.claimed(check)) == text


@pytest.mark.parametrize(
    "check",
    [
        holding("It is odd, or new", BY_NAME, 1),
        holding("They are missing, or were", WAITING, 1),
        holding("Transfers suffer", SLOW, 20.0),
        replace(HELD_UP, truth=Truth.UNKNOWN),
        replace(HELD_UP, truth=Truth.FALSE),
        replace(HELD_UP, seen=()),
        replace(HELD_UP, needs=(replace(HELD_UP.needs[0], alternative=0),)),
        replace(HELD_UP, part=Part.REFUTE, otherwise="the link is bad"),
    ],
)
def test_what_no_branch_tells_by_itself_keeps_its_sentence(check: Check) -> None:
    assert not claims.is_by_branch(check)


def test_two_claims_that_hold_by_the_same_branch_are_one_line() -> None:
    again = replace(HELD_UP, claim="It counts losses, or is down", part=Part.OPTIONAL)
    assert [one.claim for one, _ in claims.block((HELD_UP, again))] == [LINK]


def test_which_case_it_is_answers_only_a_claim_that_names_the_cases() -> None:
    limit = holding("A CPU limit is set", STUCK, 0)
    assert claims.told(limit) == "yes"
    assert claims.told(replace(limit, truth=Truth.FALSE)) == "no"
    assert "held up" not in surfaces(of(limit))["thread"]


def test_a_value_that_is_as_needed_does_not_tell_why_a_claim_fails() -> None:
    down = fact("nic.down_ports_count", 0, "count", "prometheus.rdma")
    waits = fact("nic.wait_times", 9.0, "times", "prometheus.rdma")
    check = Check(
        claim="The ports carry what they usually carry",
        condition="a and b",
        part=Part.REFUTE,
        truth=Truth.FALSE,
        seen=(down, waits),
        needs=(
            Bound(fact=down.name, comparison="==", value=0, unit="count"),
            Bound(fact=waits.name, comparison="<", value=1.2, unit="times"),
        ),
    )
    text = "x9 the usual waiting to send (refuted under x1.2)"
    assert plainly(claims.told(check)) == text
    assert plainly(claims.told(replace(check, truth=Truth.TRUE))).startswith("no ports down, ")
    assert text in surfaces(of(check))["thread"]
    assert claims.told(replace(check, seen=(down,))) == "no"


def test_of_what_does_not_hold_the_value_with_a_number_that_is_needed_is_told() -> None:
    stage = fact("latency.cpu_stage_ratio", 1.0, "times", "prometheus.request_latency")
    none = replace(STUCK, value=0)
    check = replace(
        holding("A stage got slower, or its node starts nothing", none, 0),
        truth=Truth.FALSE,
        otherwise="no stage got much slower",
        seen=(none, stage),
    )
    bound = Bound(fact=stage.name, comparison=">", value=1.5, unit="times", alternative=1)
    told = claims.told(replace(check, needs=(*check.needs, bound)))
    assert plainly(told) == "x1 its usual time (needs x1.5)"
