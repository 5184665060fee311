"""Who may end a stop: asked of Slack at the click, and nobody where that can't be told."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import pytest

from tailhound.durable.acts import Person
from tailhound.durable.switch import Stopped
from tailhound.settings import Role
from tailhound.slack.approvers import NO_COUNTS_SECONDS, Approvers
from tailhound.slack.calls import client
from tailhound.slack.local import Person as Member
from tailhound.slack.people import STRANGER, People
from tests.samples.story import NOW
from tests.standins.slack import SlackStandin
from tests.unit.slack.floor import ANA, BEN, CHANNEL, Desk, Floor, envelope, floor

ONCALL = "S0ONCALL"
ASKED = "usergroups.users.list"


@dataclass
class Gate:
    """Approvers over a stand-in of Slack, with a clock that a test moves."""

    slack: SlackStandin
    now: float = 1_000.0
    roles: Mapping[str, Role] = field(
        default_factory=lambda: {"sre-oncall": Role(groups=(ONCALL,))}
    )

    def approvers(self) -> Approvers:
        web = client("xoxb-local", self.slack.api_url, 1)
        people = People(lambda: web)
        return Approvers(lambda: web, self.roles, people, lambda: self.now)

    def asked(self) -> int:
        return sum(done.method == ASKED for done in self.slack.done)


@pytest.fixture
def gate() -> Iterator[Gate]:
    with SlackStandin() as slack:
        for id, name in ((ANA, "ana"), (BEN, "ben"), ("U0CLEO", "cleo")):
            slack.core.add_person(Member(id, name))
        slack.core.add_group(ONCALL, "sre-oncall", [ANA])
        yield Gate(slack)


def person(id: str) -> Person:
    return Person(id, id.lower())


def test_who_is_in_the_group_may_and_is_asked_about_each_time(gate: Gate) -> None:
    approvers = gate.approvers()
    assert [approvers.why_not(person(ANA)) for _ in range(3)] == ["", "", ""]
    assert gate.asked() == 3


def test_who_has_left_the_group_may_not_any_more(gate: Gate) -> None:
    approvers = gate.approvers()
    assert approvers.why_not(person(ANA)) == ""
    gate.slack.core.world.groups[ONCALL].users.remove(ANA)
    assert approvers.why_not(person(ANA)).startswith("Not changed. Only sre-oncall may end")


def test_who_is_not_in_it_is_told_who_is(gate: Gate) -> None:
    assert gate.approvers().why_not(person(BEN)) == (
        "Not changed. Only sre-oncall may end the stop: ana. Stopping is open to every full member."
    )
    gate.slack.core.world.groups[ONCALL].users += ["U0CLEO", "U0A", "U0B"]
    told = gate.approvers().why_not(person(BEN))
    assert "may end the stop: U0A, ana, U0B, + 1 more. " in told


def test_a_no_spares_slack_the_question_for_a_minute(gate: Gate) -> None:
    approvers = gate.approvers()
    for _ in range(5):
        assert approvers.why_not(person(BEN))
    assert gate.asked() == 1
    gate.slack.core.world.groups[ONCALL].users.append(BEN)
    gate.now += NO_COUNTS_SECONDS
    assert approvers.why_not(person(BEN)) == ""


def test_single_people_need_no_group(gate: Gate) -> None:
    gate.roles = {"sre-oncall": Role(groups=(ONCALL,)), "leads": Role(users=(BEN,))}
    assert gate.approvers().why_not(person(BEN)) == ""
    assert gate.asked() == 0


@pytest.mark.parametrize(
    ("roles", "names"),
    [
        ({}, "`approvals` is empty"),
        ({"sre-oncall": Role()}, "`approvals.sre-oncall` is empty"),
        ({"<!here>": Role()}, "`approvals.&lt;!here&gt;` is empty"),
    ],
)
def test_nobody_configured_means_nobody(gate: Gate, roles: Mapping[str, Role], names: str) -> None:
    gate.roles = roles
    told = gate.approvers().why_not(person(ANA))
    assert told.startswith("Not changed. Nobody may approve changes yet (")
    assert names in told
    assert "`tailhound resume`" in told


def test_where_slack_does_not_tell_nobody_counts(gate: Gate) -> None:
    gate.slack.core.scopes = gate.slack.core.scopes - {"usergroups:read"}
    assert gate.approvers().why_not(person(ANA)) == (
        "Not changed. Slack did not tell who is in sre-oncall (missing_scope), so nobody counts "
        "as a member; try again in a minute."
    )
    gate.slack.core.scopes = gate.slack.core.scopes | {"usergroups:read"}
    gate.roles = {"sre-oncall": Role(groups=("S0GONE",))}
    assert "(no_such_subteam)" in gate.approvers().why_not(person(ANA))


def test_a_group_that_slack_does_not_tell_of_takes_nothing_from_another(gate: Gate) -> None:
    gate.roles = {"gone": Role(groups=("S0GONE",)), "sre-oncall": Role(groups=(ONCALL,))}
    assert gate.approvers().why_not(person(ANA)) == ""
    assert "who is in gone" in gate.approvers().why_not(person(BEN))


def test_a_group_that_is_switched_off_has_nobody(gate: Gate) -> None:
    gate.slack.core.world.groups[ONCALL].disabled = True
    assert "nobody is one now" in gate.approvers().why_not(person(ANA))


def test_a_guest_in_the_group_is_none(gate: Gate) -> None:
    gate.slack.core.add_person(Member(ANA, "ana", is_restricted=True))
    told = gate.approvers().why_not(person(ANA))
    assert told == "Not changed. Changes are for full members of this workspace."
    assert gate.asked() == 0


def test_without_an_answer_of_slack_nobody_resumes(gate: Gate) -> None:
    gate.slack.core.scopes = gate.slack.core.scopes - {"users:read"}
    told = gate.approvers().why_not(person(ANA))
    assert told.startswith("Not done. Slack did not tell who you are (missing_scope)")


@pytest.fixture
def room() -> Iterator[Floor]:
    with floor(Desk(switch=Stopped(by="ana", at=NOW, why=""))) as made:
        yield made


def test_resume_is_refused_to_one_person_and_moves_nothing(room: Floor) -> None:
    told = room.answer("resume", user=BEN)
    assert told.startswith("Not changed. Only sre-oncall may end the stop: ")
    assert room.desk.stored == []
    assert room.slack.messages(CHANNEL) == []


def test_somebody_of_another_workspace_does_not_resume(room: Floor) -> None:
    room.type("stop")  # by now it knows its own workspace
    payload = room.slack.core.command("resume", CHANNEL, ANA)
    payload["team_id"] = "T0OTHER"
    room.deliver(envelope(), payload)
    assert STRANGER in room.told()
    assert [call[0] for call in room.desk.stored] == ["stop"]
