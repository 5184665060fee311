"""A link to a message: the workspace is asked once, and no page waits for what it tells."""

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.client import BadStatusLine, IncompleteRead

import pytest
from slack_sdk import WebClient
from slack_sdk.errors import SlackRequestError
from slack_sdk.web import SlackResponse

from tailhound.slack.home import AGAIN_SECONDS, Home


@dataclass(slots=True)
class Slack:
    """A workspace that tells its address, or does not."""

    told: Mapping[str, object] | Exception = field(
        default_factory=lambda: {"url": "https://example.slack.com/"}
    )
    asked: int = 0
    now: float = 0.0
    waiting: list[Callable[[], None]] = field(default_factory=list)

    def client(self) -> WebClient:
        slack = self

        class Answering(WebClient):
            def auth_test(self, **_: object) -> SlackResponse:
                slack.asked += 1
                if isinstance(slack.told, Exception):
                    raise slack.told
                return SlackResponse(
                    client=self, http_verb="POST", api_url="", req_args={},
                    data=dict(slack.told), headers={}, status_code=200,
                )  # fmt: skip

        return Answering()

    def home(self) -> Home:
        return Home(self.client, lambda: self.now, self.waiting.append)

    def answer(self) -> None:
        """Answer what was asked behind the pages so far."""
        while self.waiting:
            self.waiting.pop(0)()


def test_a_message_is_linked_by_channel_and_time() -> None:
    slack = Slack()
    home = slack.home()
    home.link("C1", "1700000000.000100")
    slack.answer()
    assert home.link("C1", "1700000000.000100") == (
        "https://example.slack.com/archives/C1/p1700000000000100"
    )


def test_the_workspace_is_asked_once() -> None:
    slack = Slack()
    home = slack.home()
    assert [home.link("C1", "1.1"), home.link("C2", "2.2")] == ["", ""]
    slack.answer()
    slack.now = 10 * AGAIN_SECONDS
    assert home.link("C1", "1.1")
    slack.answer()
    assert slack.asked == 1


def test_nobody_waits_for_a_slack_that_does_not_answer() -> None:
    ends = threading.Event()
    asked: list[str] = []

    class Silent(WebClient):
        def auth_test(self, **_: object) -> SlackResponse:
            asked.append(threading.current_thread().name)
            assert ends.wait(5)
            raise OSError("name resolution")

    home = Home(Silent)
    try:
        assert [home.address() for _ in range(5)] == [""] * 5
    finally:
        ends.set()
    for thread in threading.enumerate():
        if thread.name == "slack-home":
            thread.join()
    assert asked == ["slack-home"]


@pytest.mark.parametrize(
    "told",
    [
        SlackRequestError("no"),
        TimeoutError(),
        BadStatusLine("garbage"),
        IncompleteRead(b""),
        {},
        {"url": None},
        {"url": "javascript:alert(1)/"},
    ],
    ids=repr,
)
def test_without_an_address_there_is_no_link_and_slack_is_left_alone_for_a_while(
    told: Mapping[str, object] | Exception,
) -> None:
    slack = Slack(told)
    home = slack.home()
    assert home.link("C1", "1.1") == ""
    slack.answer()
    assert home.link("C1", "1.1") == ""
    slack.answer()
    assert slack.asked == 1
    slack.told = {"url": "https://example.slack.com/"}
    slack.now = AGAIN_SECONDS
    home.link("C1", "1.1")
    slack.answer()
    assert home.link("C1", "1.1").startswith("https://example.slack.com/archives/")
