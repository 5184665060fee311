"""The stand-in of Slack and npm's `emulate` agree on every call that both have.

Two programs by different people, from the same documentation: where one test passes on both, the
stand-in says what others read there too. What only one of them does (limits, blocks, sockets) is
tested elsewhere; `emulate` takes any unknown token and cuts a text that is too long.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Protocol

import pytest
from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError

from tailhound.slack.local import Person
from tests.lab.process import wait_until
from tests.standins import emulate
from tests.standins.slack import SlackStandin
from tests.unit.slack.local_world import PNG, field, home, modal, note, section

pytestmark = pytest.mark.lab


class Place(Protocol):
    """One of the two: clients with a full and a narrow token, ids, and what people do."""

    web: WebClient
    narrow: WebClient
    channel: str
    user: str

    def says(self, text: str) -> str:
        """The ts of a message of the person."""

    def trigger(self, view: str = "") -> str:
        """A new trigger id of the person, from a click in a view or elsewhere."""


class Ours:
    """The stand-in."""

    def __init__(self, slack: SlackStandin) -> None:
        self._slack = slack
        self.channel, self.user = "C0ALERTS", "U0ALICE"
        slack.add_channel(self.channel)
        slack.core.add_person(Person(self.user, emulate.USER))
        slack.core.channels[self.channel].members.add(self.user)
        self.web = _client("xoxb-local", slack.api_url)
        self.narrow = _client("xoxb-local", slack.api_url)
        self.narrow.api_call = self._narrowly(self.narrow.api_call)  # type: ignore[method-assign]

    def _narrowly(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def asked(*args: Any, **kwargs: Any) -> Any:
            scopes = self._slack.core.scopes
            self._slack.core.scopes = frozenset({"channels:read"})
            try:
                return call(*args, **kwargs)
            finally:
                self._slack.core.scopes = scopes

        return asked

    def says(self, text: str) -> str:
        ts = self._slack.core.world.next_ts()
        message = {"type": "message", "ts": ts, "user": self.user, "text": text}
        self._slack.core.channels[self.channel].messages[ts] = message
        return ts

    def trigger(self, view: str = "") -> str:
        payload = self._slack.core.command("x", self.channel, self.user)
        id = str(payload["trigger_id"])
        self._slack.core.world.triggers[id].view = view
        return id


class Theirs:
    """npm's emulate."""

    def __init__(self, server: emulate.Emulate) -> None:
        api = f"{server.url}/api/"
        self.web, self.narrow = _client(emulate.BOT_TOKEN, api), _client(emulate.NARROW_TOKEN, api)
        self._alice = _client(emulate.ALICE_TOKEN, api)
        named = {c["name"]: c["id"] for c in self.web.conversations_list()["channels"]}
        self.channel = str(named[emulate.CHANNEL])
        self.user = str(self._alice.auth_test()["user_id"])

    def says(self, text: str) -> str:
        return str(self._alice.chat_postMessage(channel=self.channel, text=text)["ts"])

    def trigger(self, view: str = "") -> str:
        asked = {"user_id": self.user, **({"view_id": view} if view else {})}
        return str(self.web.api_call("views.generateTriggerId", json=asked)["trigger_id"])


def _client(token: str, api: str) -> WebClient:
    return WebClient(token, base_url=api, timeout=5, retry_handlers=[])


@pytest.fixture(scope="module")
def ours() -> Iterator[Place]:
    with SlackStandin(scopes=frozenset(emulate.SCOPES)) as slack:
        yield Ours(slack)
        assert slack.unknown_calls == []


@pytest.fixture(scope="module")
def theirs(needs: Callable[..., None], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    needs("emulate")
    server = emulate.Emulate(tmp_path_factory.mktemp("emulate"))
    try:
        yield Theirs(server)
    finally:
        server.stop()


@pytest.fixture(params=["ours", "theirs"])
def place(request: pytest.FixtureRequest) -> Any:
    """Each test runs against both."""
    return request.getfixturevalue(request.param)


def refusal(call: Callable[[], Any]) -> Mapping[str, Any]:
    """The answer of a call that must be refused."""
    with pytest.raises(SlackApiError) as refused:
        call()
    data = refused.value.response.data
    assert isinstance(data, dict)
    assert refused.value.response.status_code == 200
    return data


def post(place: Place, text: str = "hello", **more: Any) -> str:
    return str(place.web.chat_postMessage(channel=place.channel, text=text, **more)["ts"])


def texts(place: Place, root: str) -> list[str]:
    """What is in a thread."""
    found = place.web.conversations_replies(channel=place.channel, ts=root)["messages"]
    return [str(message["text"]) for message in found]


def opened(place: Place, view: Mapping[str, Any]) -> Mapping[str, Any]:
    """The view that a click opened."""
    found = place.web.views_open(trigger_id=place.trigger(), view=dict(view))["view"]
    assert isinstance(found, dict)
    return found


def test_auth_test_says_who_the_bot_is(place: Place) -> None:
    said = place.web.auth_test()
    assert said["ok"] is True
    assert (said["team_id"][0], said["user_id"][0], said["bot_id"][0]) == ("T", "U", "B")
    assert said["url"].startswith("https://")


def test_without_a_token_nothing_is_answered(place: Place) -> None:
    nobody = _client("", place.web.base_url)
    assert refusal(nobody.auth_test)["error"] == "not_authed"


def test_a_post_answers_its_ts_and_the_message(place: Place) -> None:
    blocks = [section("*x*", block_id="S:1")]
    said = place.web.chat_postMessage(channel=place.channel, text="x", blocks=blocks)
    whole, point, micro = said["ts"].partition(".")
    assert (len(whole), point, len(micro)) == (10, ".", 6)
    assert said["channel"] == place.channel
    assert said["message"]["ts"] == said["ts"]
    assert (said["message"]["text"], said["message"]["blocks"]) == ("x", blocks)


def test_posts_are_numbered_upwards_and_history_is_newest_first(place: Place) -> None:
    before, first, second = (post(place, text) for text in ("before", "one", "two"))
    assert float(before) < float(first) < float(second)
    found = place.web.conversations_history(channel=place.channel, limit=2)
    assert [message["ts"] for message in found["messages"]] == [second, first]
    assert found["has_more"] is True
    assert found["response_metadata"]["next_cursor"]


def test_a_reply_is_in_the_thread_and_not_in_the_history(place: Place) -> None:
    root = post(place, "root")
    reply = place.web.chat_postMessage(channel=place.channel, text="reply", thread_ts=root)
    assert reply["message"]["thread_ts"] == root
    assert texts(place, root) == ["root", "reply"]
    (newest,) = place.web.conversations_history(channel=place.channel, limit=1)["messages"]
    assert (newest["ts"], newest["reply_count"]) == (root, 1)


def test_an_edit_without_blocks_removes_them(place: Place) -> None:
    ts = post(place, "before", blocks=[section("x", block_id="a")])
    said = place.web.chat_update(channel=place.channel, ts=ts, text="after")
    assert (said["ts"], said["channel"], said["text"]) == (ts, place.channel, "after")
    (newest,) = place.web.conversations_history(channel=place.channel, limit=1)["messages"]
    assert newest["text"] == "after"
    assert not newest.get("blocks")
    assert newest["edited"]["user"] == place.web.auth_test()["user_id"]


def test_metadata_comes_back_with_the_history(place: Place) -> None:
    metadata = {"event_type": "incident", "event_payload": {"incident": "8R5W"}}
    post(place, metadata=metadata)
    found = place.web.conversations_history(
        channel=place.channel, limit=1, include_all_metadata=True
    )
    assert found["messages"][0]["metadata"] == metadata


def test_a_deleted_message_is_gone(place: Place) -> None:
    ts = post(place)
    assert place.web.chat_delete(channel=place.channel, ts=ts)["ts"] == ts
    again = refusal(lambda: place.web.chat_delete(channel=place.channel, ts=ts))
    edit = refusal(lambda: place.web.chat_update(channel=place.channel, ts=ts, text="x"))
    assert (again["error"], edit["error"]) == ("message_not_found", "message_not_found")


def test_a_message_of_somebody_else_can_not_be_changed(place: Place) -> None:
    ts = place.says("mine")
    edit = refusal(lambda: place.web.chat_update(channel=place.channel, ts=ts, text="x"))
    gone = refusal(lambda: place.web.chat_delete(channel=place.channel, ts=ts))
    assert (edit["error"], gone["error"]) == ("cant_update_message", "cant_delete_message")


@pytest.mark.parametrize("method", ["chat_postMessage", "chat_postEphemeral"])
def test_an_unknown_channel_is_not_found(place: Place, method: str) -> None:
    more = {"user": place.user} if method == "chat_postEphemeral" else {}
    call = getattr(place.web, method)
    said = refusal(lambda: call(channel="C0000NONE", text="x", **more))
    assert said["error"] == "channel_not_found"


def test_a_message_without_text_is_refused(place: Place) -> None:
    with pytest.warns(UserWarning, match="text"):
        said = refusal(lambda: place.web.chat_postMessage(channel=place.channel))
    assert said["error"] == "no_text"


def test_a_missing_scope_is_named_beside_those_that_are_there(place: Place) -> None:
    said = refusal(lambda: place.narrow.chat_postMessage(channel=place.channel, text="x"))
    assert said["error"] == "missing_scope"
    assert (said["needed"], said["provided"]) == ("chat:write", "channels:read")


def test_a_whisper_is_in_no_history(place: Place) -> None:
    before = post(place)
    said = place.web.chat_postEphemeral(channel=place.channel, user=place.user, text="only you")
    (newest,) = place.web.conversations_history(channel=place.channel, limit=1)["messages"]
    assert newest["ts"] == before
    edit = {"channel": place.channel, "ts": said["message_ts"], "text": "x"}
    assert refusal(lambda: place.web.chat_update(**edit))["error"] == "message_not_found"


def test_a_message_has_an_address(place: Place) -> None:
    ts = post(place)
    said = place.web.chat_getPermalink(channel=place.channel, message_ts=ts)
    assert said["permalink"].endswith(f"/archives/{place.channel}/p{ts.replace('.', '')}")
    wrong = refusal(
        lambda: place.web.chat_getPermalink(channel=place.channel, message_ts="1.000001")
    )
    assert wrong["error"] == "message_not_found"


def test_a_file_is_uploaded_into_a_thread(place: Place) -> None:
    root = post(place, "root")
    done = place.web.files_upload_v2(
        filename="chart.png", content=PNG, title="CPU", channel=place.channel, thread_ts=root
    )
    file = done["file"]["id"]

    def shared() -> Any:
        return place.web.files_info(file=file)["file"]["shares"].get("public")

    wait_until(lambda: bool(shared()), "the file to be shared")
    (share,) = shared()[place.channel]
    assert share["thread_ts"] == root
    found = place.web.conversations_replies(channel=place.channel, ts=root)["messages"]
    assert [message.get("subtype") for message in found] == [None, "file_share"]
    assert [(f["id"], f["title"], f["size"]) for f in found[1]["files"]] == [
        (file, "CPU", len(PNG))
    ]
    assert found[1]["ts"] == share["ts"]


def test_an_upload_is_completed_once_and_after_its_bytes(place: Place) -> None:
    asked = place.web.files_getUploadURLExternal(filename="a.md", length=5)
    files: list[dict[str, str | None]] = [{"id": str(asked["file_id"])}]
    early = refusal(lambda: place.web.files_completeUploadExternal(files=files))
    nothing = refusal(lambda: place.web.files_completeUploadExternal(files=[]))
    missing = refusal(lambda: place.web.files_info(file="F0000NONE1"))
    codes = (early["error"], nothing["error"], missing["error"])
    assert codes == ("file_not_found", "invalid_arguments", "file_not_found")


def test_a_click_opens_one_view(place: Place) -> None:
    trigger = place.trigger()
    view = modal(field(note(), "n"), callback_id="silence", private_metadata="8R5W")
    shown = place.web.views_open(trigger_id=trigger, view=view)["view"]
    assert (shown["type"], shown["callback_id"]) == ("modal", "silence")
    assert (shown["private_metadata"], shown["root_view_id"]) == ("8R5W", shown["id"])
    assert shown["hash"]
    again = refusal(lambda: place.web.views_open(trigger_id=trigger, view=view))
    strange = refusal(lambda: place.web.views_open(trigger_id="1.2.3", view=view))
    assert (again["error"], strange["error"]) == ("exchanged_trigger_id", "invalid_trigger_id")


def test_a_view_is_edited_by_id_and_only_in_the_state_that_was_seen(place: Place) -> None:
    first = opened(place, modal(section("Asking…")))
    asked = {"view_id": first["id"], "view": modal(section("3 alerts"))}
    second = place.web.views_update(hash=first["hash"], **asked)["view"]
    assert second["id"] == first["id"]
    assert second["hash"] != first["hash"]
    assert second["blocks"][0]["text"]["text"] == "3 alerts"
    stale = refusal(lambda: place.web.views_update(hash=first["hash"], **asked))
    missing = refusal(lambda: place.web.views_update(view_id="V0000NONE", view=modal()))
    assert (stale["error"], missing["error"]) == ("hash_conflict", "not_found")


def test_an_external_id_names_one_view(place: Place) -> None:
    opened(place, modal(external_id="silence-8R5W"))
    edit = modal(section("y"), external_id="silence-8R5W")
    assert place.web.views_update(external_id="silence-8R5W", view=edit)["ok"] is True


def test_three_views_can_lie_on_each_other(place: Place) -> None:
    first = top = opened(place, modal(section("1")))
    for number in ("2", "3"):
        trigger = place.trigger(str(top["id"]))
        top = place.web.views_push(trigger_id=trigger, view=modal(section(number)))["view"]
        assert top["root_view_id"] == first["id"]
    trigger = place.trigger(str(top["id"]))
    fourth = refusal(lambda: place.web.views_push(trigger_id=trigger, view=modal()))
    assert fourth["error"] == "push_limit_reached"


def test_a_home_tab_stays_the_same_view(place: Place) -> None:
    first = place.web.views_publish(user_id=place.user, view=home(section("1")))["view"]
    second = place.web.views_publish(user_id=place.user, view=home(section("2")))["view"]
    assert (second["id"], second["type"]) == (first["id"], "home")
    asked = {"user_id": place.user, "view": home(), "hash": first["hash"]}
    assert refusal(lambda: place.web.views_publish(**asked))["error"] == "hash_conflict"


def test_a_view_may_be_sent_as_text(place: Place) -> None:
    view = json.dumps(modal(section("x")))
    answer = place.web.api_call("views.open", params={"trigger_id": place.trigger(), "view": view})
    assert answer["view"]["title"]["text"] == "Silence"


def test_people_and_conversations_are_described(place: Place) -> None:
    person = place.web.users_info(user=place.user)["user"]
    assert (person["id"], person["name"], person["deleted"]) == (place.user, "alice", False)
    assert refusal(lambda: place.web.users_info(user="U0000NONE"))["error"] == "user_not_found"
    channel = place.web.conversations_info(channel=place.channel)["channel"]
    assert (channel["id"], channel["is_archived"]) == (place.channel, False)
    members = place.web.conversations_members(channel=place.channel)["members"]
    assert place.user in members


def test_direct_messages_are_opened_once(place: Place) -> None:
    first = place.web.conversations_open(users=[place.user])["channel"]["id"]
    assert place.web.conversations_open(users=[place.user])["channel"]["id"] == first
    assert first.startswith("D")
    assert place.web.chat_postMessage(channel=place.user, text="x")["channel"] == first
    nobody = refusal(lambda: place.web.conversations_open(users="U0000NONE"))
    assert nobody["error"] == "user_not_found"
