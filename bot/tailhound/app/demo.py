"""`tailhound demo`: a server on an embedded database that asks a recording instead of a cluster.

Everything between the alert and the page is the real thing: webhook, engine, collectors, rules,
the Slack client. Two ends are simulated, and the demo says so: the backends answer from a bundled
recording, and Slack is a stand-in in this process whose channel is a local page.
"""

import asyncio
import json
import socket
import tempfile
import time
import urllib.request
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from starlette.routing import Mount

from tailhound.app.office import recorded
from tailhound.app.serving import Extras, Server
from tailhound.model.facts import Sample
from tailhound.requests import Ranged
from tailhound.settings import Settings
from tailhound.shipped import shipped
from tailhound.slack.local import LocalSlack
from tailhound.slack.local_app import LocalApp
from tailhound.transports.recording import Answer, Recording
from tailhound.transports.replay import ReplayTransport
from tailhound.web.server import bind

CHANNEL = "C0DEMO"
RECORDING = "cpu-throttling.json"
PACE_SECONDS = 0.5
"""The longest that a recorded answer takes again, so that the investigation can be watched."""

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Wishes:
    """`port` 0 = any free one. `once` stops when the incident is diagnosed and shown."""

    port: int
    once: bool
    say: Say


async def demo(wishes: Wishes) -> int:
    """Run the demo until Ctrl-C; exit code 0, or 1 when `once` saw no diagnosis."""
    recording = moved_to(recorded(shipped("demo") / RECORDING), datetime.now(UTC))
    listening = bind("127.0.0.1", wishes.port)
    address = f"http://127.0.0.1:{listening.getsockname()[1]}"
    with tempfile.TemporaryDirectory(prefix="tailhound-demo-") as folder:
        return await _Demo(recording, listening, address, wishes).run(Path(folder))


class _Demo:
    def __init__(
        self, recording: Recording, listening: socket.socket, address: str, wishes: Wishes
    ) -> None:
        self._recording = recording
        self._listening = listening
        self._address = address
        self._wishes = wishes
        self._slack = LocalSlack(time.time)
        self._slack.add_channel(CHANNEL, "oncall-inference")
        self._channel = LocalApp(self._slack, self._click, base=f"{address}/slack")
        self._server: Server | None = None
        self._started = asyncio.Event()

    async def run(self, folder: Path) -> int:
        extras = Extras(
            listening=self._listening,
            transports=(ReplayTransport(self._recording, pace=PACE_SECONDS),),
            routes=(Mount("/slack", app=self._channel.asgi),),
            started=lambda _address: self._started.set(),
            say=self._wishes.say,
        )
        self._server = Server(_settings(folder, self._address, self._channel.api_url), extras)
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

    async def _show(self, serving: "asyncio.Task[None]") -> bool:
        """Send the alert, wait for its diagnosis, and say where to look."""
        body = json.dumps(self._recording.alert).encode()
        sending = asyncio.create_task(self._until_diagnosed(body))
        await asyncio.wait({sending, serving}, return_when=asyncio.FIRST_COMPLETED)
        if not sending.done():
            await serving
            return False
        incident = sending.result()
        for line in _guide(self._address, incident):
            self._wishes.say(line)
        return bool(incident["state"] == "diagnosed")

    async def _until_diagnosed(self, body: bytes) -> dict[str, Any]:
        """The incident as JSON, once its verdict stands in the channel (at most a minute)."""
        await self._started.wait()
        hook = f"{self._address}/webhook/alertmanager"
        accepted = await asyncio.to_thread(_json, hook, body)
        page = f"{self._address}/api/incidents/{accepted['incidents'][0]}"
        async with asyncio.timeout(60):
            while not self._posted():
                await asyncio.sleep(0.05)
        return await asyncio.to_thread(_json, page)

    def _posted(self) -> bool:
        """Whether the channel shows a verdict: any message beyond the first, progress aside."""
        texts = [str(message.get("text")) for message in self._slack.messages(CHANNEL)]
        return any(not text.startswith("Investigating") for text in texts)


def moved_to(recording: Recording, now: datetime) -> Recording:
    """The recording as if it had been made now: samples and alerts move by the same time."""
    by = now - recording.as_of
    return replace(
        recording,
        as_of=now,
        alert=_moved_alert(recording.alert, by),
        answers=tuple(
            Answer(answer.request, _moved_reply(answer.reply, by.total_seconds()), answer.took)
            for answer in recording.answers
        ),
    )


def _moved_reply(reply: Any, seconds: float) -> Any:
    if isinstance(reply, tuple) and reply and isinstance(reply[0], Ranged):
        return tuple(
            Ranged(one.labels, tuple(Sample(s.at + seconds, s.value) for s in one.samples))
            for one in reply
        )
    return reply


def _moved_alert(body: Any, by: timedelta) -> Any:
    alerts = [
        {**alert, "startsAt": (datetime.fromisoformat(alert["startsAt"]) + by).isoformat()}
        for alert in body["alerts"]
    ]
    return {**body, "alerts": alerts}


def _settings(folder: Path, address: str, api_url: str) -> Settings:
    token = folder / "slack-token"
    token.write_text("xoxb-local", encoding="utf-8")
    return Settings.model_validate(
        {
            "store": {"url": f"sqlite:///{folder}/tailhound.db"},
            "listen": {"public_url": address},
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


def _guide(address: str, incident: Mapping[str, Any]) -> tuple[str, ...]:
    return (
        "",
        f"Diagnosed: {incident['primary']} ({incident['confidence']} confidence).",
        f"  the incident   {address}/incidents/{incident['incident']}",
        f"  all incidents  {address}/incidents",
        f"  the channel    {address}/slack/",
        f"  as JSON        {address}/api/incidents/{incident['incident']}",
        "Simulated: the cluster answers from a recording, and Slack is a page of this process.",
        "Ctrl-C ends it; nothing is kept.",
    )
