"""From the webhook to the first message in Slack, with nothing else to do."""

import json
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from benchmarks.bodies import LOADS
from benchmarks.load import PATH
from benchmarks.processes import BenchmarkFailed, wait_until
from benchmarks.rows import Row
from benchmarks.site import Site, fetched, site
from benchmarks.sizes import Sizes
from benchmarks.stats import percentile
from tests.standins.slack import Done, SlackStandin

CHANNEL = "C0BENCH"
POST = "chat.postMessage"
CHANNEL_SECONDS = 1.05
"""Slack takes one message a second in a channel, and the bot keeps to that by itself: a post that
comes sooner after the incident before is not one on an idle queue. Posts in threads come between;
no incident's message waits for them."""

_LOAD = LOADS["each its own incident"]
_HOW = "POST to the stand-in's answer, one alert at a time"
_PROBE = "probe: a bare app that commits the body, then posts the same message"


@dataclass(frozen=True, slots=True)
class Posted:
    """Milliseconds of each first post, and what the last one looked like."""

    took: tuple[float, ...]
    last: Mapping[str, Any]


def slack_section(made: Site, slack: SlackStandin, **more: Any) -> dict[str, Any]:
    """The settings that lead the bot to the stand-in."""
    token = made.file("bot-token", "xoxb-local")
    slack.add_channel(CHANNEL)
    return {
        "bot_token": {"file": str(token)},
        "channel": CHANNEL,
        "api_url": slack.api_url,
        **more,
    }


def run(sizes: Sizes) -> Iterator[Row]:
    """The median and the 95th percentile."""
    with SlackStandin() as slack:
        posted = _tailhound(slack, sizes.posts)
        bare = _bare(slack, sizes.posts, posted.last)
    for what, share in (("p50", 0.50), ("p95", 0.95)):
        yield Row(
            benchmark="first-post",
            name=what,
            value=percentile(posted.took, share),
            unit="ms",
            probe=percentile(bare.took, share),
            better="less",
            how=f"{_HOW}, {len(posted.took)} times; {_PROBE}",
        )


def _tailhound(slack: SlackStandin, posts: int) -> Posted:
    with site() as made:
        made.configure(slack=slack_section(made, slack))
        with made.tailhound() as server:
            address = server.address()
            return _timed(slack, address, posts, lambda: made.unsent() == 0)


def _bare(slack: SlackStandin, posts: int, message: Mapping[str, Any]) -> Posted:
    with site() as made:
        body = made.file("message.json", json.dumps(message))
        posting = ("--post", f"{slack.api_url}{POST}", "--token", "xoxb-local", "--body", str(body))
        with made.child("-m", "benchmarks.bare", str(made.folder / "bare.db"), *posting) as server:
            return _timed(slack, server.address(), posts, lambda: True)


def _timed(slack: SlackStandin, address: str, posts: int, is_idle: Callable[[], bool]) -> Posted:
    """The first alert warms up: connections are made, templates compiled."""
    took = []
    for serial in range(posts + 1):
        before = len(_posts(slack))
        begun = time.monotonic()
        fetched(f"{address}{PATH}", _LOAD.body(serial))
        posted = _post_after(slack, before).at
        took.append((posted - begun) * 1000)
        wait_until(is_idle, "an idle queue")
        time.sleep(max(0.0, posted + CHANNEL_SECONDS - time.monotonic()))
    if slack.refused:
        raise BenchmarkFailed(f"Slack's stand-in refused: {slack.refused}")
    return Posted(tuple(took[1:]), _posts(slack)[-1].arguments)


def _post_after(slack: SlackStandin, known: int) -> Done:
    wait_until(lambda: len(_posts(slack)) > known, "the first post")
    return _posts(slack)[known]


def _posts(slack: SlackStandin) -> list[Done]:
    return [done for done in slack.done if done.method == POST]
