"""The lab: everything that a scenario names, started, and the bot's configuration for it.

with Lab(scenario.load(folder)) as lab:
    diagnosed = lab.diagnose()
"""

import shutil
import tempfile
import time
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any

from tests.lab import bot, notification
from tests.lab.alertmanager import Alertmanager, Receiver, rule_file, wait_for_discovery
from tests.lab.apiserver import ApiServer
from tests.lab.cluster import Cluster
from tests.lab.hosts import Hosts
from tests.lab.kube.choice import an_apiserver
from tests.lab.process import BlackHole
from tests.lab.prometheus import Prometheus
from tests.lab.scenario import Scenario

WEBHOOK_TOKEN = "lab-webhook-token"


class Lab:
    """One scenario, running. Everything is stopped and removed when the context ends.

    `apiserver` is a server that is already there (the caller stops it); None starts one. `webhook`
    is where a full-chain scenario's notification goes; "" = a receiver of the lab's own, from which
    `body` takes it. `remarks` say what of the scenario's objects no real API server would take.
    """

    def __init__(
        self, scenario: Scenario, *, apiserver: ApiServer | None = None, webhook: str = ""
    ) -> None:
        self.scenario = scenario
        self.now = float(int(time.time()))
        self.folder = Path(tempfile.mkdtemp(prefix="tailhound-lab-"))
        self._apiserver, self._webhook = apiserver, webhook
        self._stack = ExitStack()
        self._stack.callback(shutil.rmtree, self.folder, ignore_errors=True)
        self._receiver: Receiver | None = None
        self._ends: dict[str, Any] = {"hosts": {}}
        self.prometheus: Prometheus | None = None
        self.hosts: Hosts | None = None
        self.remarks: tuple[str, ...] = ()

    def __enter__(self) -> "Lab":
        with ExitStack() as undo:
            undo.callback(self._stack.close)
            self._start_hosts()
            self._start_kubernetes()
            self._start_prometheus()
            undo.pop_all()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stack.close()

    @property
    def endpoints(self) -> bot.Endpoints:
        """Where everything is reached."""
        return bot.Endpoints(**self._ends)

    @property
    def settings(self) -> dict[str, Any]:
        """The bot's settings; the caller adds Slack, store and listen."""
        return bot.settings(self.endpoints, self.scenario.config)

    @property
    def body(self) -> bytes:
        """The notification: from the real Alertmanager in a full-chain scenario, else written."""
        if self._receiver:
            return self._receiver.body()
        generator = self._ends.get("prometheus") or "http://prometheus.example"
        external = self._ends.get("alertmanager") or "http://alertmanager.example"
        return notification.body(self.scenario.alert, self.now, generator, external)

    def go_on(self) -> None:
        """Keep the scenario's last state fresh, scrape by scrape, until interrupted."""
        step = self.scenario.step
        scrapes = 0
        while True:
            scrapes += 1
            time.sleep(max(self.now + scrapes * step - time.time(), 0))
            if self.prometheus:
                self.prometheus.go_on(self.scenario, self.now, scrapes)

    def diagnose(self, extra: Mapping[str, Any] | None = None) -> bot.Diagnosed:
        """Run `tailhound diagnose` on the notification, with `extra` settings."""
        return bot.diagnose(self.body, bot.merged(self.settings, extra or {}), self.folder)

    def _start_prometheus(self) -> None:
        if "prometheus" in self.scenario.unreachable:
            self._ends["prometheus"] = f"http://{self._black_hole()}"
        elif self.scenario.full_chain:
            self._start_chain()
        elif self.scenario.series:
            self._prometheus_with("", "")

    def _prometheus_with(self, rules: str, alertmanager: str) -> None:
        self.prometheus = Prometheus(self.folder / "prometheus").start(rules, alertmanager)
        self._stack.callback(self.prometheus.stop)
        self.prometheus.backfill(self.scenario, self.now)
        self._ends["prometheus"] = self.prometheus.url

    def _start_chain(self) -> None:
        webhook = self._webhook
        if not webhook:
            self._receiver = Receiver(WEBHOOK_TOKEN)
            self._stack.callback(self._receiver.stop)
            webhook = self._receiver.url
        manager = Alertmanager(self.folder / "alertmanager").start(webhook, WEBHOOK_TOKEN)
        self._stack.callback(manager.stop)
        self._ends["alertmanager"] = manager.url
        self._prometheus_with(rule_file(self.scenario.alert), manager.address)
        wait_for_discovery(self._ends["prometheus"])

    def _start_kubernetes(self) -> None:
        spec = self.scenario.kubernetes
        if "kubernetes" in self.scenario.unreachable:
            self._reached_at(f"https://{self._black_hole()}", "", "never-read")
        elif spec is not None:
            api = self._apiserver or self._own_apiserver()
            logs = {name: self._log(log.text, log.text_file) for name, log in spec.logs.items()}
            api.load(Cluster(spec.objects, self.now), frozenset(spec.forbidden), logs)
            self.remarks = tuple(api.remarks)
            self._reached_at(api.server, str(api.ca_file), api.token)

    def _reached_at(self, server: str, ca_file: str, token: str) -> None:
        path = self.folder / "kubernetes-token"
        path.write_text(token, encoding="utf-8")
        self._ends |= {
            "kubernetes": server,
            "kubernetes_ca": ca_file,
            "kubernetes_token_file": str(path),
        }

    def _own_apiserver(self) -> ApiServer:
        started = an_apiserver(self.folder / "apiserver")
        self._stack.callback(started.stop)
        return started

    def _log(self, text: str, file: str) -> str:
        return (self.scenario.folder / file).read_text(encoding="utf-8") if file else text

    def _start_hosts(self) -> None:
        if not self.scenario.hosts:
            return
        self.hosts = Hosts(self.scenario, self.now, bot.GAP_SECONDS)
        self._stack.callback(self.hosts.stop)
        self._ends |= {
            "ssh_user": self.hosts.user,
            "ssh_key": str(self.hosts.key),
            "ssh_known_hosts": str(self.hosts.known_hosts),
            "hosts": {
                name: (place.address, place.port) for name, place in self.hosts.inventory.items()
            },
        }

    def _black_hole(self) -> str:
        hole = BlackHole()
        self._stack.callback(hole.stop)
        return f"{hole.host}:{hole.port}"
