"""Who somebody is: asked once, remembered for a while, and nobody where Slack does not tell."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError

from tailhound.durable.acts import Person
from tailhound.slack.people import (
    KNOWN_SECONDS,
    NAME_LENGTH,
    NO_ANSWER_SECONDS,
    STRANGER,
    People,
    named,
    user_of,
)

QUICK = settings(max_examples=60, deadline=None, derandomize=True, database=None)
MEMBER = {"id": "U1", "team_id": "T1", "name": "ana", "is_restricted": False}


@dataclass
class Slack:
    """A workspace that tells who people are, or does not."""

    user: Mapping[str, Any] | Exception = field(default_factory=lambda: dict(MEMBER))
    organisation: str | None = None
    auth: list[Mapping[str, Any] | Exception] = field(default_factory=list)
    asked: int = 0
    now: float = 1.0

    def people(self) -> People:
        slack = self

        class Answering(WebClient):
            def auth_test(self, **_: object) -> Any:
                usual = {"team_id": "T1", "enterprise_id": slack.organisation}
                answer = slack.auth.pop(0) if slack.auth else usual
                if isinstance(answer, Exception):
                    raise answer
                return _Answer(answer)

            def users_info(self, **_: object) -> Any:
                slack.asked += 1
                if isinstance(slack.user, Exception):
                    raise slack.user
                return _Answer({"user": slack.user})

        return People(Answering, lambda: self.now)


@dataclass
class _Answer:
    data: Mapping[str, Any]
    headers: Mapping[str, Any] = field(default_factory=dict)


@dataclass
class _Refusal(_Answer):
    status_code: int = 200
    headers: Mapping[str, Any] = field(default_factory=dict)


ANA = Person("U1", "ana")


def test_a_full_member_is_asked_about_once_and_again_after_a_while() -> None:
    slack = Slack()
    people = slack.people()
    assert [people.why_no_member(ANA) for _ in range(3)] == ["", "", ""]
    assert slack.asked == 1
    slack.now += KNOWN_SECONDS + 1
    slack.user = {**MEMBER, "is_restricted": True}
    assert "full members" in people.why_no_member(ANA)


@pytest.mark.parametrize(
    "user",
    [
        {},
        {"id": "U1"},
        {**MEMBER, "is_restricted": None},
        {**MEMBER, "is_restricted": True},
        {**MEMBER, "is_ultra_restricted": True},
        {**MEMBER, "is_stranger": True},
        {**MEMBER, "is_bot": True},
        {**MEMBER, "deleted": True},
        {**MEMBER, "team_id": "T2"},
        {**MEMBER, "team_id": "T2", "enterprise_user": {"teams": ["T3"]}},
    ],
    ids=str,
)
def test_who_is_not_certainly_a_full_member_is_none(user: Mapping[str, Any]) -> None:
    assert "full members" in Slack(user).people().why_no_member(ANA)


def test_a_member_of_an_organisation_is_one_of_its_workspaces() -> None:
    user = {**MEMBER, "team_id": "T2", "enterprise_user": {"teams": ["T1", "T2"]}}
    assert Slack(user).people().why_no_member(ANA) == ""


def test_no_answer_makes_nobody_a_member_and_is_not_remembered() -> None:
    slack = Slack(TimeoutError("slow"))
    people = slack.people()
    assert "Slack did not tell who you are" in people.why_no_member(ANA)
    slack.user = dict(MEMBER)
    assert people.why_no_member(ANA) == ""


@pytest.mark.parametrize(
    ("payload", "why"),
    [
        ({"team": {"id": "T1"}, "user": {"id": "U1", "team_id": "T1"}}, ""),
        ({"team": {"id": "T1"}, "user": {"id": "U1", "team_id": "T2"}}, STRANGER),
        ({"team": {"id": "T2"}, "user": {"id": "U1", "team_id": "T2"}}, STRANGER),
        ({"team_id": "T1", "user_id": "U1"}, ""),
        ({"team_id": "T2", "user_id": "U1"}, STRANGER),
        ({}, ""),
    ],
)
def test_strangers_are_known_by_their_workspace(payload: Mapping[str, Any], why: str) -> None:
    slack = Slack()
    assert slack.people().why_stranger(payload) == why
    assert slack.asked == 0


@pytest.mark.parametrize(
    ("user", "why"),
    [
        ({"team_id": "T2", "enterprise_user": {"teams": ["T1", "T2"]}}, ""),
        ({"team_id": "T2", "enterprise_user": {"teams": ["T1"]}, "is_restricted": True}, ""),
        ({"team_id": "T2", "enterprise_user": {"teams": ["T2"]}}, STRANGER),
        ({"team_id": "T2", "enterprise_user": {"teams": "T1"}}, STRANGER),
        ({"team_id": "T2"}, STRANGER),
        ({"team_id": "T1", "is_stranger": True}, STRANGER),
        ({"team_id": "T1", "deleted": True}, STRANGER),
    ],
    ids=str,
)
def test_in_an_organisation_who_comes_from_another_workspace_is_looked_up(
    user: Mapping[str, Any], why: str
) -> None:
    slack = Slack({**MEMBER, **user}, organisation="E1")
    people = slack.people()
    payload = {"team": {"id": "T1"}, "user": {"id": "U1", "team_id": "T2"}}
    assert [people.why_stranger(payload) for _ in range(2)] == [why, why]
    assert slack.asked == 1


def test_in_an_organisation_nobody_is_from_here_whom_slack_does_not_tell() -> None:
    people = Slack(TimeoutError("slow"), organisation="E1").people()
    payload = {"team": {"id": "T1"}, "user": {"id": "U1", "team_id": "T2"}}
    assert "Slack did not tell who you are (no answer)" in people.why_stranger(payload)


def test_a_name_is_looked_up_only_where_the_payload_holds_none() -> None:
    slack = Slack({**MEMBER, "profile": {"display_name": "Ana A."}})
    people = slack.people()
    assert people.person({"user": {"id": "U1", "name": "ana"}}) == ANA
    assert people.person({"user_id": "U1", "user_name": "ana"}) == ANA
    assert slack.asked == 0
    assert people.person({"user": {"id": "U1"}}) == Person("U1", "Ana A.")
    assert slack.asked == 1


def test_who_has_no_name_at_all_has_their_id() -> None:
    assert Slack(TimeoutError()).people().person({"user": {"id": "U1"}}) == Person("U1", "U1")


@QUICK
@given(st.text())
def test_any_name_is_short_and_on_one_line(name: str) -> None:
    found = named(name)
    assert len(found) <= NAME_LENGTH
    assert "\n" not in found


_NAMES = st.sampled_from(["user", "id", "user_id", "event", "team", "team_id", "name"])
_LEAVES = st.none() | st.integers() | st.text(max_size=8)


@QUICK
@given(st.dictionaries(_NAMES, st.recursive(_LEAVES, lambda x: st.dictionaries(_NAMES, x))))
def test_any_payload_names_somebody_or_nobody(payload: Any) -> None:
    found = user_of(payload)
    assert found == "" or found.isalnum()
    assert Slack().people().why_stranger(payload) in ("", STRANGER)


@pytest.mark.parametrize("team", ["T1", "T2"])
def test_until_slack_tells_which_workspace_this_is_nobody_counts_as_one_of_it(team: str) -> None:
    slack = Slack(auth=[TimeoutError("slow"), {}, {"team_id": "T1"}])
    people = slack.people()
    payload = {"team": {"id": team}, "user": {"id": "U1", "team_id": team}}
    people.learn()
    told = "Slack did not tell tailhound which workspace this is (no answer)"
    assert told in people.why_stranger(payload)
    assert len(slack.auth) == 2  # it is spared for a moment
    slack.now += NO_ANSWER_SECONDS
    assert "(an answer without a workspace)" in people.why_stranger(payload)
    slack.now += NO_ANSWER_SECONDS
    assert people.why_stranger(payload) == ("" if team == "T1" else STRANGER)


@pytest.mark.parametrize(("theirs", "may"), [("T1", True), ("", True), ("T2", False)])
def test_until_then_who_does_what_is_safe_is_believed(theirs: str, may: bool) -> None:
    people = Slack(auth=[TimeoutError("slow")]).people()
    payload = {"team": {"id": "T1"}, "user": {"id": "U1", "team_id": theirs}}
    assert (people.why_stranger(payload, safe=True) == "") is may
    assert people.why_stranger(payload) != ""


def test_what_slack_says_of_a_failure_is_no_markup() -> None:
    refusal = _Refusal({"ok": False, "error": "<!here> *x*"})
    refused = SlackApiError("no", refusal)  # type: ignore[no-untyped-call]
    people = Slack(auth=[refused]).people()
    assert "(&lt;!here&gt; ∗x∗)" in people.why_stranger({})
