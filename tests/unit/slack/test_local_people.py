"""Who people are, in which group, and how often Slack may be asked."""

import pytest

from tailhound.slack.local import Person
from tests.unit.slack.local_world import ANA, BEN, CHANNEL, Slack

GROUP = "S0ONCALL"


def test_a_group_names_its_members() -> None:
    slack = Slack()
    group = slack.core.add_group(GROUP, "sre-oncall", [ANA, BEN])
    assert slack.ask("usergroups.users.list", usergroup=GROUP)["users"] == [ANA, BEN]
    group.disabled = True
    assert slack.ask("usergroups.users.list", usergroup=GROUP)["users"] == []
    assert slack.error("usergroups.users.list", usergroup="S0NONE") == "no_such_subteam"


def test_people_may_be_guests_strangers_or_gone() -> None:
    slack = Slack()
    slack.core.add_person(Person(ANA, "ana", is_restricted=True))
    slack.core.add_person(Person(BEN, "ben", deleted=True, team="T0OTHER", is_stranger=True))
    ana, ben = (slack.ask("users.info", user=user)["user"] for user in (ANA, BEN))
    assert (ana["name"], ana["is_restricted"], ana["deleted"]) == ("ana", True, False)
    assert (ben["team_id"], ben["is_stranger"], ben["deleted"]) == ("T0OTHER", True, True)
    assert slack.error("users.info", user="U0NOBODY") == "user_not_found"


@pytest.mark.parametrize(
    ("method", "scope"),
    [
        ("usergroups.users.list", "usergroups:read"),
        ("users.info", "users:read"),
        ("files.info", "files:read"),
        ("files.getUploadURLExternal", "files:write"),
        ("chat.postMessage", "chat:write"),
    ],
)
def test_a_scope_that_was_taken_away_is_named(method: str, scope: str) -> None:
    slack = Slack()
    slack.core.scopes = slack.core.scopes - {scope}
    answer = slack.ask(method, channel=CHANNEL, text="x", user=ANA, usergroup=GROUP)
    assert (answer["error"], answer["needed"]) == ("missing_scope", scope)
    assert scope not in answer["provided"].split(",")


def test_a_conversation_is_described_to_who_may_read_it() -> None:
    slack = Slack("channels:read")
    slack.core.command("help", CHANNEL, ANA)
    shown = slack.ask("conversations.info", channel=CHANNEL)["channel"]
    assert (shown["name"], shown["is_member"], shown["is_private"]) == ("alerts", True, False)
    members = slack.ask("conversations.members", channel=CHANNEL)["members"]
    assert members == ["U0ANA", "U0TAILHOUND"]
    assert slack.error("conversations.info", channel="C0NONE") == "channel_not_found"
    assert Slack().error("conversations.info", channel=CHANNEL) == "missing_scope"


def test_direct_messages_are_opened_once_and_take_posts() -> None:
    slack = Slack("im:write", "mpim:write")
    for user in (ANA, BEN):
        slack.core.add_person(Person(user, user.lower()))
    opened = slack.ask("conversations.open", users=ANA)["channel"]["id"]
    assert slack.ask("conversations.open", users=ANA)["channel"]["id"] == opened
    assert slack.ask("conversations.open", users=f"{ANA},{BEN}")["channel"]["id"] != opened
    assert slack.ask("chat.postMessage", channel=ANA, text="x")["channel"] == opened


@pytest.mark.parametrize(
    ("users", "error"),
    [
        ("", "users_list_not_supplied"),
        (",".join(f"U{n}" for n in range(9)), "too_many_users"),
        ("U0NOBODY", "user_not_found"),
        (BEN, "user_disabled"),
        (ANA, "missing_scope"),
    ],
)
def test_direct_messages_with_nobody_are_refused(users: str, error: str) -> None:
    slack = Slack()
    slack.core.add_person(Person(ANA, "ana"))
    slack.core.add_person(Person(BEN, "ben", deleted=True))
    assert slack.error("conversations.open", users=users) == error


def test_a_channel_takes_a_short_burst_and_then_a_message_a_second() -> None:
    slack = Slack(rates=True)
    slack.core.add_channel("C0OTHER", "other")

    def posted(channel: str = CHANNEL) -> bool:
        asked = {"channel": channel, "text": "x"}
        reply = slack.core.call("chat.postMessage", slack.core.bot_token, asked)
        assert reply.status in (200, 429)
        assert reply.status == 200 or reply.headers == {"Retry-After": "1"}
        return reply.status == 200

    assert [posted() for _ in range(7)] == [True] * 5 + [False] * 2
    assert posted("C0OTHER") is True
    slack.later(1.0)
    assert [posted(), posted()] == [True, False]


def test_a_method_of_tier_three_takes_fifty_calls_a_minute_and_says_when_to_come_back() -> None:
    slack = Slack(rates=True)
    ts = slack.post()
    edit = {"channel": CHANNEL, "ts": ts, "text": "y"}
    for _ in range(50):
        assert slack.error("chat.update", **edit) == ""
    slack.later(10.4)
    reply = slack.core.call("chat.update", slack.core.bot_token, edit)
    assert reply.body == {"ok": False, "error": "ratelimited"}
    assert (reply.status, reply.headers) == (429, {"Retry-After": "50"})
    assert slack.error("auth.test") == ""
    slack.later(49.6)
    assert slack.error("chat.update", **edit) == ""


def test_without_rates_nothing_is_limited() -> None:
    slack = Slack()
    assert [slack.error("chat.postMessage", channel=CHANNEL, text="x") for _ in range(200)] == [
        ""
    ] * 200


def test_a_ticket_opens_one_socket_within_half_a_minute() -> None:
    slack = Slack()
    assert slack.core.call("apps.connections.open", "xapp-local", {}).body["error"] == (
        "internal_error"
    )
    slack.core.socket_url = "ws://127.0.0.1:1/link"

    def ticket() -> str:
        body = slack.core.call("apps.connections.open", "xapp-local", {}).body
        return str(body["url"]).partition("?ticket=")[2]

    first, second = ticket(), ticket()
    assert slack.core.socket_opened(first) is True
    assert slack.core.socket_opened(first) is False
    slack.later(31)
    assert slack.core.socket_opened(second) is False
    assert slack.core.socket_opened("guessed") is False
