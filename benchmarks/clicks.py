"""From a press in Slack to its acknowledgement, over a real WebSocket, one press at a time.

`python -m benchmarks.clicks --api-url URL --database FILE` is the probe: the smallest app that
hears a click in Socket Mode, commits it to SQLite, and acknowledges it.
"""

import argparse
import signal
import sqlite3
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

from slack_sdk import WebClient
from slack_sdk.socket_mode.builtin.client import SocketModeClient
from slack_sdk.socket_mode.client import BaseSocketModeClient
from slack_sdk.socket_mode.request import SocketModeRequest
from slack_sdk.socket_mode.response import SocketModeResponse

from benchmarks.bodies import LOADS
from benchmarks.first_post import CHANNEL, slack_section
from benchmarks.load import PATH
from benchmarks.processes import BenchmarkFailed, wait_until
from benchmarks.rows import Row
from benchmarks.site import fetched, site
from benchmarks.sizes import Sizes
from benchmarks.stats import percentile
from tests.standins.slack import SlackStandin

APP_TOKEN = "xapp-local"
ACTION = "on_it"
_LOAD = LOADS["each its own incident"]
_HOW = "press of *I'm on it* to its acknowledgement over the socket, one at a time"
_PROBE = "probe: a bare app that commits the press, then acknowledges it"


def run(sizes: Sizes) -> Iterator[Row]:
    """The median and the 95th percentile."""
    with SlackStandin() as slack:
        took = _tailhound(slack, sizes.clicks)
    with SlackStandin() as slack:
        bare = _bare(slack, sizes.clicks)
    for what, share in (("p50", 0.50), ("p95", 0.95)):
        yield Row(
            benchmark="click",
            name=what,
            value=percentile(took, share),
            unit="ms",
            probe=percentile(bare, share),
            better="less",
            how=f"{_HOW}, {len(took)} times; {_PROBE}",
        )


def _tailhound(slack: SlackStandin, clicks: int) -> list[float]:
    with site() as made:
        token = made.file("app-token", APP_TOKEN)
        made.configure(slack=slack_section(made, slack, app_token={"file": str(token)}))
        with made.tailhound() as server:
            fetched(f"{server.address()}{PATH}", _LOAD.body(0))
            slack.wait_connected(timeout=20)
            wait_until(lambda: _shows(slack), "a message with the button")
            wait_until(lambda: made.unsent() == 0, "an idle queue")
            return _pressed(slack, clicks)


def _shows(slack: SlackStandin) -> bool:
    """Whether the incident's message stands, with its button."""
    return any(f"'action_id': '{ACTION}'" in str(one) for one in slack.messages(CHANNEL))


def _bare(slack: SlackStandin, clicks: int) -> list[float]:
    slack.add_channel(CHANNEL)
    button = {"type": "button", "action_id": ACTION, "value": "7F3K:1",
              "text": {"type": "plain_text", "text": "I'm on it"}}  # fmt: skip
    post = {"channel": CHANNEL, "text": "x", "blocks": [{"type": "actions", "elements": [button]}]}
    slack.core.call("chat.postMessage", slack.core.bot_token, post)
    with site() as made:
        where = ("--api-url", slack.api_url, "--database", str(made.folder / "bare.db"))
        with made.child("-m", "benchmarks.clicks", *where):
            slack.wait_connected(timeout=20)
            return _pressed(slack, clicks)


def _pressed(slack: SlackStandin, clicks: int) -> list[float]:
    """Milliseconds of each press; the first one warms up. Each is by somebody else."""
    took = [
        slack.click(ACTION, channel=CHANNEL, user=f"U0BENCH{serial}").seconds * 1000
        for serial in range(clicks + 1)
    ]
    if slack.late_acks:
        raise BenchmarkFailed(f"not acknowledged within 3 s: {slack.late_acks}")
    return took[1:]


def _hear(database: Path) -> Callable[[BaseSocketModeClient, SocketModeRequest], None]:
    connection = sqlite3.connect(database, isolation_level=None, check_same_thread=False)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute("CREATE TABLE click (id TEXT PRIMARY KEY, who TEXT)")
    lock = threading.Lock()

    def hear(client: BaseSocketModeClient, request: SocketModeRequest) -> None:
        with lock:
            row = (request.envelope_id, str(request.payload["user"]["id"]))
            connection.execute("INSERT INTO click VALUES (?, ?)", row)
        client.send_socket_mode_response(SocketModeResponse(envelope_id=request.envelope_id))

    return hear


def main() -> None:
    """The probe; it hears clicks until it is told to end."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--api-url", required=True)
    parser.add_argument("--database", type=Path, required=True)
    options = parser.parse_args()
    done = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: done.set())
    web = WebClient(base_url=options.api_url)
    client = SocketModeClient(app_token=APP_TOKEN, web_client=web)
    client.socket_mode_request_listeners.append(_hear(options.database))
    client.connect()
    done.wait()
    client.close()


if __name__ == "__main__":
    main()
