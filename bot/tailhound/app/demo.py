"""`tailhound demo`: a server on an embedded database that asks a recording instead of a cluster.

Everything between the alert and the page is the real thing: webhook, engine, collectors, rules,
the Slack client, the silences. Three ends are simulated, and the demo says so: the backends answer
from bundled recordings, Slack is a stand-in in this process whose channel is a local page, and so
is Alertmanager.
"""

import asyncio
import json
import socket
import tempfile
import time
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from starlette.routing import Mount

from tailhound.app.demo_alertmanager import DemoAlertmanager
from tailhound.app.demo_cases import ENDED, QUICK, WATCHED, DemoCase, Pace, Stage, cases
from tailhound.app.greeting import Voice
from tailhound.app.lines import now
from tailhound.app.serving import Extras, Server
from tailhound.settings import Settings
from tailhound.slack.local import LocalSlack
from tailhound.slack.local_app import YOU, LocalApp
from tailhound.web.server import bind

CHANNEL = "C0DEMO"
_SIMULATED = (
    "Simulated: the cluster answers from recordings; Slack and Alertmanager are stand-ins in "
    "this process."
)
_ABOUT = "Alertmanager is a stand-in too: a silence that you set here mutes nothing outside."

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Wishes:
    """`port` 0 = any free one. `once` stops when the incident is diagnosed and shown."""

    port: int
    once: bool
    say: Say


async def demo(wishes: Wishes) -> int:
    """Run the demo until Ctrl-C; exit code 0, or 1 when `once` saw no diagnosis."""
    shown = cases(datetime.now(UTC))
    listening = bind("127.0.0.1", wishes.port)
    address = f"http://127.0.0.1:{listening.getsockname()[1]}"
    with tempfile.TemporaryDirectory(prefix="tailhound-demo-") as folder:
        return await _Demo(shown, listening, address, wishes).run(Path(folder))


class _Demo:
    def __init__(
        self, shown: Sequence[DemoCase], listening: socket.socket, address: str, wishes: Wishes
    ) -> None:
        self._cases = shown
        self._listening = listening
        self._address = address
        self._wishes = wishes
        self._slack = LocalSlack(time.time)
        self._slack.add_channel(CHANNEL, "oncall-inference")
        self._channel = LocalApp(self._slack, self._click, base=f"{address}/slack", about=_ABOUT)
        self._alertmanager = DemoAlertmanager(now)
        self._server: Server | None = None
        self._started = asyncio.Event()

    async def run(self, folder: Path) -> int:
        settings = _settings(folder, self._address, self._channel.api_url)
        extras = Extras(
            listening=self._listening,
            transports=(),
            investigator=lambda kept: Stage(kept, settings, self._cases, self._pace),
            routes=(
                Mount("/slack", app=self._channel.asgi),
                Mount("/alertmanager", app=self._alertmanager.asgi),
            ),
            slack_page=f"{self._address}/slack/",
            clicks=True,
            started=lambda _address: self._started.set(),
            voice=Voice(say=self._wishes.say, warn=self._wishes.say),
        )
        self._server = Server(settings, extras)
        serving = asyncio.create_task(self._server.run())
        try:
            shown = await self._show(serving)
            if self._wishes.once:
                self._server.stop()
            await serving
        finally:
            self._server.stop()
            await asyncio.wait([serving])
        return 0 if shown else 1

    def _click(self, envelope: str, payload: Mapping[str, Any]) -> object:
        """A press on the channel page, as Slack would deliver it."""
        if self._server is None:
            raise LookupError("the demo is still starting")
        return self._server.click(envelope, payload)

    @property
    def _pace(self) -> Pace:
        return QUICK if self._wishes.once else WATCHED

    async def _show(self, serving: "asyncio.Task[None]") -> bool:
        """Say where to look, send the alerts, and wait for the last one's diagnosis."""
        sending = asyncio.create_task(self._until_diagnosed())
        await asyncio.wait({sending, serving}, return_when=asyncio.FIRST_COMPLETED)
        if not sending.done():
            await serving
            return False
        incident = sending.result()
        self._say(f"Diagnosed: {incident['primary']} ({incident['confidence']} confidence).")
        if not self._wishes.once:
            self._say("Ctrl-C ends it; nothing is kept.")
        return bool(incident["state"] == "diagnosed")

    async def _until_diagnosed(self) -> dict[str, Any]:
        """The live incident as JSON, once its verdict stands in the channel."""
        await self._started.wait()
        *before, live = self._cases
        self._say(_SIMULATED)
        if not self._wishes.once:
            self._say(f"  all incidents  {self._address}/incidents")
            self._say(f"  the channel    {self._address}/slack/  (every button works)")
            self._say(f"{len(before)} earlier incidents first, then a new one to watch.")
        for case in before:
            id = await self._sent(case.recording.alert)
            await self._until_it_says(id, "diagnosed")
            if case.name == ENDED:
                await self._sent(case.resolved(datetime.now(UTC)))
        id = await self._sent(live.recording.alert)
        if not self._wishes.once:
            self._say("A new alert: watch its answers come in.")
            self._say(f"  the incident   {self._address}/incidents/{id}")
            self._say(f"  as JSON        {self._address}/api/incidents/{id}")
        return await self._until_it_says(id, "diagnosed")

    def _say(self, line: str) -> None:
        self._wishes.say(line)

    async def _sent(self, body: Any) -> str:
        """Send an alert as Alertmanager would; the id of its incident."""
        self._alertmanager.hold(body)
        hook = f"{self._address}/webhook/alertmanager"
        accepted = await asyncio.to_thread(_json, hook, json.dumps(body).encode())
        return str(accepted["incidents"][0])

    async def _until_it_says(self, id: str, state: str) -> dict[str, Any]:
        """The incident once it is in this state, in the channel too (at most a minute)."""
        page = f"{self._address}/api/incidents/{id}"
        async with asyncio.timeout(60):
            while True:
                told = await asyncio.to_thread(_json, page)
                if told["state"] == state and self._is_posted(id):
                    return told
                await asyncio.sleep(0.05)

    def _is_posted(self, id: str) -> bool:
        """Whether the channel shows a verdict of this incident: more than the first words."""
        return any(
            id in json.dumps(message.get("blocks", ()))
            and not str(message.get("text")).startswith("Investigating")
            for message in self._slack.messages(CHANNEL)
        )


def _settings(folder: Path, address: str, api_url: str) -> Settings:
    token = folder / "slack-token"
    token.write_text("xoxb-local", encoding="utf-8")
    return Settings.model_validate(
        {
            "store": {"url": f"sqlite:///{folder}/tailhound.db"},
            "listen": {"public_url": address},
            "approvals": {"demo": {"users": [YOU]}},
            "alertmanager": {"url": f"{address}/alertmanager"},
            "slack": {
                "bot_token": {"file": str(token)},
                "channel": CHANNEL,
                "api_url": api_url,
            },
        }
    )


def _json(url: str, body: bytes | None = None) -> dict[str, Any]:
    request = urllib.request.Request(  # noqa: S310 - the address is our own
        url, data=body, headers={"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=30) as answer:  # noqa: S310 - as above
        said: dict[str, Any] = json.load(answer)
    return said
