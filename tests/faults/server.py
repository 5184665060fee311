"""`tailhound serve` as a child process: started, asked, killed, and started again on its database.

    with Bot(folder, settings) as bot:
        bot.start()
        answer = bot.post(body)
        bot.kill()
        bot.start()

All its lives share one folder: database, log, secrets. The folder outlives it, so a test can look
at what a killed process left behind.
"""

import http.client
import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any
from urllib.parse import urlsplit

import yaml

from tailhound.slack.local import SCOPES
from tests.lab.bot import merged
from tests.lab.notification import fingerprint, group_key
from tests.standins.slack import SlackStandin

CHANNEL = "C0ALERTS"
HOOK_TOKEN = "hook-token-of-the-test"
WITH_HISTORY = SCOPES | {"channels:history"}
UP_SECONDS = 40.0


@dataclass(frozen=True, slots=True)
class Answer:
    """One HTTP answer; status 0 when the connection broke before there was one."""

    status: int
    body: bytes = b""

    @property
    def json(self) -> Any:
        """The body as JSON."""
        return json.loads(self.body)


class Bot:
    """One server and its folder. `values` is the configuration; listen and store are added."""

    def __init__(self, folder: Path, values: Mapping[str, Any]) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self.database = folder / "bot.db"
        self.config = folder / "tailhound.yaml"
        self._log = folder / "serve.log"
        self._token = folder / "hook-token"
        self._token.write_text(HOOK_TOKEN, encoding="utf-8")
        own = {
            "store": {"url": f"sqlite:///{self.database}"},
            "listen": {"port": 0, "bearer": {"file": str(self._token)}},
        }
        self.config.write_text(yaml.safe_dump(merged(own, values)), encoding="utf-8")
        self._process: subprocess.Popen[bytes] | None = None
        self._read_from = 0
        self._address = ""

    def __enter__(self) -> "Bot":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.kill()

    def start(self, *, wait: bool = True) -> "Bot":
        """Start a life; with `wait`, until it serves."""
        assert self._process is None, "it lives already"
        self._address = ""
        self._read_from = self._log.stat().st_size if self._log.exists() else 0
        with self._log.open("ab") as out:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tailhound", "serve", "--config", str(self.config)],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                cwd=self.folder,
            )
        if wait:
            self.wait_up()
        return self

    def wait_up(self) -> None:
        """Until this life serves."""
        until(lambda: self.is_up, "tailhound to serve", UP_SECONDS, self.said)

    @property
    def is_up(self) -> bool:
        """Whether this life has said where it serves; AssertionError when it ended instead."""
        assert self._process is not None
        code = self._process.poll()
        assert code is None, f"tailhound serve ended with {code}: {self.said()}"
        if not self._address:
            marked = [line for line in self.said().splitlines() if "tailhound serves http" in line]
            self._address = marked[0].partition("serves ")[2].split()[0] if marked else ""
        return bool(self._address)

    @property
    def pid(self) -> int:
        """Its process id."""
        assert self._process is not None
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether this life still runs."""
        return self._process is not None and self._process.poll() is None

    def kill(self) -> None:
        """SIGKILL; nothing is said, nothing is written."""
        if self._process is not None:
            self._process.kill()
            self._process.wait(timeout=10)
            self._process = None

    def stop(self, seconds: float = 15.0) -> float:
        """SIGTERM; how many seconds the process took to end. It must end by itself, with 0."""
        assert self._process is not None
        began = time.monotonic()
        self._process.send_signal(signal.SIGTERM)
        code = self._process.wait(timeout=seconds)
        took = time.monotonic() - began
        self._process = None
        assert code == 0, f"it ended with {code}: {self.said()}"
        return took

    def said(self) -> str:
        """What this life printed."""
        with self._log.open("rb") as log:
            log.seek(self._read_from)
            return log.read().decode(errors="replace")

    def log(self) -> str:
        """What all lives printed."""
        return self._log.read_text(encoding="utf-8", errors="replace")

    def post(self, body: bytes, *, token: str | None = HOOK_TOKEN, timeout: float = 30.0) -> Answer:
        """Send a body to the webhook, as Alertmanager does."""
        headers = {"Content-Type": "application/json"}
        if token is not None:
            headers["Authorization"] = f"Bearer {token}"
        return self.ask("POST", "/webhook/alertmanager", body, headers, timeout)

    def get(self, path: str, timeout: float = 30.0) -> Answer:
        """Get a page."""
        return self.ask("GET", path, None, {}, timeout)

    def ask(
        self,
        method: str,
        path: str,
        body: bytes | None,
        headers: Mapping[str, str],
        timeout: float = 30.0,
    ) -> Answer:
        """One request on a connection of its own."""
        connection = http.client.HTTPConnection(*self.where, timeout=timeout)
        try:
            connection.request(method, path, body, dict(headers))
            answer = connection.getresponse()
            return Answer(answer.status, answer.read())
        except (OSError, http.client.HTTPException):
            return Answer(0)
        finally:
            connection.close()

    @property
    def where(self) -> tuple[str, int]:
        """Host and port."""
        parts = urlsplit(self._address)
        assert parts.hostname is not None
        assert parts.port is not None
        return parts.hostname, parts.port

    def incidents(self) -> list[dict[str, Any]]:
        """The lines of all incidents."""
        found: list[dict[str, Any]] = []
        page: str | None = "limit=200"
        while page:
            answer = self.get(f"/api/incidents?{page}")
            assert answer.status == 200, answer
            found += answer.json["incidents"]
            page = (answer.json["next"] or "").lstrip("?") or None
        return found

    def incident(self, id: str) -> dict[str, Any]:
        """One incident in the form of the published schema."""
        answer = self.get(f"/api/incidents/{id}")
        assert answer.status == 200, answer
        found: dict[str, Any] = answer.json
        return found

    def diagnosed(self, id: str, seconds: float = 30.0) -> dict[str, Any]:
        """The incident, once it has its verdict."""
        until(
            lambda: self.incident(id)["state"] == "diagnosed",
            f"the verdict of {id}",
            seconds,
            self.said,
        )
        return self.incident(id)

    def metric(self, name: str, **labels: str) -> float:
        """One sample of /metrics; 0 when there is none."""
        text = self.get("/metrics").body.decode()
        inner = ",".join(f'{key}="{value}"' for key, value in labels.items())
        head = f"{name}{{{inner}}} " if inner else f"{name} "
        values = [line.removeprefix(head) for line in text.splitlines() if line.startswith(head)]
        return float(values[0]) if values else 0.0

    def threads(self) -> int:
        """How many threads it has now."""
        return int(self._status("Threads").split()[0])

    def peak_mebibytes(self) -> float:
        """The most resident memory that it ever had."""
        return int(self._status("VmHWM").split()[0]) / 1024

    def _status(self, key: str) -> str:
        lines = Path(f"/proc/{self.pid}/status").read_text(encoding="ascii").splitlines()
        return next(line.partition(":")[2].strip() for line in lines if line.startswith(key + ":"))


def until(
    happened: Callable[[], bool],
    what: str,
    seconds: float = 20.0,
    more: Callable[[], str] = lambda: "",
) -> None:
    """Look every 10 ms until it happened; AssertionError after `seconds`."""
    end = time.monotonic() + seconds
    while not happened():
        late = time.monotonic() > end
        assert not late, f"waited {seconds:g} s for {what}; {more()[-3000:]}"
        time.sleep(0.01)


def with_slack(folder: Path, slack: SlackStandin, *, socket: bool = False) -> dict[str, Any]:
    """The settings of Slack: the stand-in, its token in a file, its channel."""
    folder.mkdir(parents=True, exist_ok=True)
    bot_token, app_token = folder / "slack-token", folder / "slack-app-token"
    bot_token.write_text("xoxb-local", encoding="utf-8")
    app_token.write_text("xapp-local", encoding="utf-8")
    section: dict[str, Any] = {
        "bot_token": {"file": str(bot_token)},
        "channel": CHANNEL,
        "api_url": slack.api_url,
    }
    if socket:
        section["app_token"] = {"file": str(app_token)}
    return {"slack": section}


def alert(name: str = "InferenceSlow", **labels: str) -> dict[str, Any]:
    """One firing alert that began just now."""
    named = {"alertname": name, "namespace": "prod", **labels}
    return {
        "status": "firing",
        "labels": named,
        "annotations": {"summary": "slow"},
        "startsAt": datetime.now(UTC).isoformat(),
        "endsAt": "0001-01-01T00:00:00Z",
        "generatorURL": "http://prometheus.example/graph",
        "fingerprint": fingerprint(named),
    }


def body(*alerts: Mapping[str, Any]) -> bytes:
    """Alertmanager's notification of these alerts."""
    labels = dict(alerts[0]["labels"]) if alerts else {}
    group = {key: labels[key] for key in ("alertname", "namespace") if key in labels}
    whole = {
        "receiver": "tailhound",
        "status": "firing",
        "alerts": list(alerts),
        "groupLabels": group,
        "commonLabels": labels,
        "commonAnnotations": {},
        "externalURL": "http://alertmanager.example",
        "version": "4",
        "groupKey": group_key(group),
        "truncatedAlerts": 0,
    }
    return json.dumps(whole).encode()


def own_posts(slack: SlackStandin, id: str = "") -> list[str]:
    """The ts of every message that was ever posted as an incident's own, of all or of one."""
    return [
        str(call.answer["ts"])
        for call in slack.done
        if call.method == "chat.postMessage"
        and (told := payload_of(call.answer["message"]))
        and "part" not in told
        and id in ("", told["incident"])
    ]


def thread_posts(slack: SlackStandin, id: str) -> Counter[str]:
    """How often each post of an incident's threads was ever made: by part, files by their name."""
    posted = [
        str(told["part"])
        for call in slack.done
        if call.method == "chat.postMessage"
        and (told := payload_of(call.answer["message"])).get("incident") == id
        and "part" in told
    ]
    files = [
        str(file["name"])
        for root in slack.messages(CHANNEL)
        for reply in slack.thread(CHANNEL, root["ts"])
        for file in reply.get("files") or ()
        if str(file["name"]).startswith(f"{id}-")
    ]
    return Counter([*posted, *files])


def payload_of(message: Mapping[str, Any]) -> dict[str, Any]:
    """What a message says of itself: incident, revision, part."""
    told: dict[str, Any] = (message.get("metadata") or {}).get("event_payload") or {}
    return told


def free_environment() -> dict[str, str]:
    """This environment without what would change the settings."""
    return {key: value for key, value in os.environ.items() if not key.startswith("TAILHOUND_")}
