"""A link to a message: the workspace is asked once, and left alone when it does not tell."""

from collections.abc import Mapping
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
        return Home(self.client, lambda: self.now)


def test_a_message_is_linked_by_channel_and_time() -> None:
    home = Slack().home()
    assert home.link("C1", "1700000000.000100") == (
        "https://example.slack.com/archives/C1/p1700000000000100"
    )


def test_the_workspace_is_asked_once() -> None:
    slack = Slack()
    home = slack.home()
    assert [home.link("C1", "1.1"), home.link("C2", "2.2")] != ["", ""]
    slack.now = 10 * AGAIN_SECONDS
    home.link("C1", "1.1")
    assert slack.asked == 1


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
    assert home.link("C1", "1.1") == ""
    assert slack.asked == 1
    slack.told = {"url": "https://example.slack.com/"}
    slack.now = AGAIN_SECONDS
    assert home.link("C1", "1.1").startswith("https://example.slack.com/archives/")
