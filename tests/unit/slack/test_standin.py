"""The stand-in of Slack, as a test or another process uses it."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from slack_sdk import WebClient
from slack_sdk.web import SlackResponse

from tailhound.slack.calls import Lost, No, Said, client, outcome_of
from tests.standins.slack import SlackStandin

ROOT = Path(__file__).parents[3]


def posting(channel: str) -> Callable[[WebClient], SlackResponse]:
    return lambda web: web.chat_postMessage(channel=channel, text="x")


def test_a_stand_in_of_another_process_keeps_a_line_for_each_call(tmp_path: Path) -> None:
    log = tmp_path / "calls.jsonl"
    command = [sys.executable, "-m", "tests.standins.slack", "--port", "0", "--log", str(log)]
    source = os.pathsep.join([str(ROOT / "bot"), str(ROOT)])
    process = subprocess.Popen(
        command,
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": source},
    )
    try:
        assert process.stdout is not None
        web = client("xoxb-local", process.stdout.readline().strip(), 5)
        for text in ("one", "two"):
            web.chat_postMessage(channel="C0ALERTS", text=text)
        lines = [json.loads(line) for line in log.read_text().splitlines()]
        assert [line["method"] for line in lines] == ["chat.postMessage"] * 2
        assert [line["arguments"]["text"] for line in lines] == ["one", "two"]
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=10)
    assert process.returncode == 0


def test_a_call_that_tailhound_has_no_business_making_is_kept() -> None:
    with SlackStandin() as slack:
        web = client("xoxb-local", slack.api_url, 2)
        outcome = outcome_of(lambda web: web.pins_add(channel="C1", timestamp="1.1"), web)
        assert isinstance(outcome, No)
        assert outcome.error == "unknown_method"
        assert slack.unknown_calls == ["pins.add"]


def test_one_message_a_second_is_all_that_a_channel_takes() -> None:
    with SlackStandin() as slack:
        slack.add_channel("C1")
        slack.add_channel("C2")
        slack.faults.one_a_second = True
        web = client("xoxb-local", slack.api_url, 2)
        ends = [outcome_of(posting(channel), web) for channel in ("C1", "C1", "C2")]
        assert isinstance(ends[0], Said)
        assert isinstance(ends[1], No)
        assert (ends[1].error, ends[1].retry_after) == ("ratelimited", 1.0)
        assert isinstance(ends[2], Said)


@pytest.mark.parametrize(("fault", "stands"), [("lose_answers", 1), ("lose_calls", 0)])
def test_a_lost_answer_and_a_lost_call_look_the_same(fault: str, stands: int) -> None:
    with SlackStandin() as slack:
        slack.add_channel("C1")
        setattr(slack.faults, fault, 1)
        web = client("xoxb-local", slack.api_url, 2)
        outcome = outcome_of(lambda web: web.chat_postMessage(channel="C1", text="x"), web)
        assert isinstance(outcome, Lost)
        assert outcome.sent is True
        assert len(slack.messages("C1")) == stands


def test_a_click_without_a_socket_is_lost() -> None:
    with SlackStandin() as slack:
        slack.add_channel("C1")
        web = client("xoxb-local", slack.api_url, 2)
        label = {"type": "plain_text", "text": "Go"}
        button = {"type": "button", "action_id": "go", "text": label}
        web.chat_postMessage(
            channel="C1",
            text="x",
            blocks=[{"type": "actions", "block_id": "L", "elements": [button]}],
        )
        with pytest.raises(ConnectionError, match="no socket open"):
            slack.click("go", channel="C1")
        with pytest.raises(LookupError, match="has no button 'stop'"):
            slack.click("stop", channel="C1")


def test_it_is_gone_at_once_even_while_a_call_hangs() -> None:
    with SlackStandin() as slack:
        slack.add_channel("C1")
        slack.faults.hang = 1
        web = client("xoxb-local", slack.api_url, 1)
        outcome = outcome_of(lambda web: web.chat_postMessage(channel="C1", text="x"), web)
        assert isinstance(outcome, Lost)
        begun = time.monotonic()
    assert time.monotonic() - begun < 2.0
