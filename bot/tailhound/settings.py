"""The configuration: one YAML file, overridden by TAILHOUND_* variables. Secrets by reference only.

A secret is `{env: NAME}` or `{file: PATH}`, never a value in the file. Every key has a default
except the addresses of backends: a backend without an address is not asked, and its evidence says
so.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

from pydantic import (
    AfterValidator,
    Field,
    PrivateAttr,
    ValidationError,
    model_validator,
)

from tailhound.errors import SettingsError
from tailhound.settings_backends import Alertmanager, Basic, Host, Kubernetes, Prometheus, Ssh
from tailhound.settings_fallback import Fallback, Webhook
from tailhound.settings_forms import Address, Channel, DatabaseUrl, Days, objective
from tailhound.settings_people import Role
from tailhound.settings_places import Origin, explained, place, where
from tailhound.settings_reading import read
from tailhound.settings_routes import Belated, Route
from tailhound.settings_secrets import Secret, Section, secrets

__all__ = [
    "Alertmanager", "Basic", "Belated", "Deadlines", "Fallback", "Host", "Incidents", "Kubernetes",
    "Listen", "Profile", "Prometheus", "Role", "Route", "Secret", "Section", "Settings", "Slack",
    "Ssh", "Store", "Webhook", "load",
]  # fmt: skip


def _objectives(value: Mapping[str, float]) -> Mapping[str, float]:
    wrong = [why for name, seconds in value.items() if (why := objective(name, seconds))]
    if wrong:
        raise ValueError("; ".join(wrong))
    return value


Objectives = Annotated[Mapping[str, float], AfterValidator(_objectives)]
"""Seconds by symptom and quantile: `ttft_p99_seconds`."""


class Listen(Section):
    """Where serve listens. A public address needs webhook credentials.

    `client_header` is the header in which a proxy in front of it writes whom it serves.
    """

    host: str = "127.0.0.1"
    port: Annotated[int, Field(ge=0, le=65535)] = 8080
    public_url: Address = ""
    client_header: Annotated[str, Field(pattern=r"^([A-Za-z0-9-]{1,100})?$")] = ""
    bearer: Secret | None = None
    basic: Basic | None = None

    def page_of(self, incident: str) -> str:
        """The address of an incident's page by its id; "" without `public_url`."""
        base = self.public_url.rstrip("/")
        return f"{base}/incidents/{incident}" if base else ""


class Store(Section):
    """The database: an SQLite file, or PostgreSQL, whose password may be given apart."""

    url: DatabaseUrl = "sqlite:///tailhound.db"
    password: Secret | None = None

    @property
    def file(self) -> Path | None:
        """The SQLite file; None = PostgreSQL."""
        path = self.url.removeprefix("sqlite:///")
        return Path(path).absolute() if path != self.url else None

    def secret(self) -> str:
        """The password, "" when there is none; SettingsError when it can't be read."""
        return "" if self.password is None else self.password.read()


class Slack(Section):
    """Slack in Socket Mode. `bot_token` None = not configured. `channel` is a channel id.

    `fallback_channel` takes over where a channel refuses for good, `ops_channel` is told of the
    bot's own trouble (empty = the fallback channel). A channel gets at most
    `messages_at_most` new messages in `storm_minutes`; further incidents become rows of one
    message.
    """

    bot_token: Secret | None = None
    app_token: Secret | None = None
    channel: Channel = ""
    routes: tuple[Route, ...] = ()
    fallback_channel: Channel = ""
    ops_channel: Channel = ""
    threads: bool = True
    messages_at_most: Annotated[int, Field(ge=1, le=1000)] = 12
    storm_minutes: Annotated[float, Field(gt=0, le=1440)] = 10.0
    api_url: Address = "https://slack.com/api/"

    @model_validator(mode="after")
    def _has_a_channel(self) -> "Slack":
        everywhere = any(r.channel and not r.picks for r in self.routes)
        if self.bot_token is not None and not self.channel and not everywhere:
            raise ValueError("with bot_token set, also say where to post: channel: C0123456789")
        return self


class Deadlines(Section):
    """Seconds: the verdict comes at `verdict`, late answers count until `late`."""

    verdict: Annotated[float, Field(gt=0, le=600)] = 30.0
    late: Annotated[float, Field(ge=0, le=1800)] = 120.0


class Incidents(Section):
    """How alerts become incidents. `cluster` names the cluster of alerts whose labels don't.

    `severity_label` is the label that tells the severity, and `severities` what its values mean
    here: `{P1: critical, P2: warning}`. A value that is not in the map stands for itself.
    `owner_labels` are the labels that tell whose it is (the first that is there counts), and
    `owners` what their values mean here.
    Those that are over are deleted after `keep_days`; 0 = never. One of which nothing was heard for
    `unheard_hours` counts as over; 0 = none does.
    """

    keep_days: Days = 90
    reopen_minutes: Annotated[float, Field(ge=0, le=10_080)] = 30.0
    unheard_hours: Annotated[float, Field(ge=0, le=8760)] = 72.0
    subjects_at_most: Annotated[int, Field(ge=1, le=1000)] = 20
    ignore: tuple[str, ...] = ("Watchdog", "InfoInhibitor")
    concurrency: Annotated[int, Field(ge=1, le=500)] = 50
    severity_label: str = "severity"
    severities: Mapping[str, str] = {}
    owner_labels: tuple[str, ...] = ("owner", "team")
    owners: Mapping[str, str] = {}
    cluster: str = ""
    cluster_labels: tuple[str, ...] = ("cluster",)
    workload_labels: tuple[str, ...] = (
        "deployment",
        "statefulset",
        "inferencepool",
        "service",
        "model_name",
    )


class Profile(Section):
    """What differs at this site: for the incidents whose labels match, other thresholds and SLOs.

    `thresholds` maps a runbook's id to new values by threshold name. `metric_prefix` replaces the
    engine's prefix ("vllm:" -> "ray_vllm_"), in collectors and in the queries of runbooks.
    """

    match: Mapping[str, str] = {}
    thresholds: Mapping[str, Mapping[str, float]] = {}
    slo: Objectives = Field(default={})
    metric_prefix: Annotated[str, Field(pattern=r"^([A-Za-z_:][A-Za-z0-9_:]*)?$")] = ""


class Settings(Section):
    """The whole configuration.

    While `stop_file` exists all changes are stopped; empty = a file beside an SQLite database.
    `approvals` says by role who may approve changes, and end a stop.
    """

    mode: Literal["observe", "shadow", "one-click"] = "observe"
    stop_file: str = ""
    approvals: Mapping[str, Role] = {}
    store: Store = Store()
    listen: Listen = Listen()
    runbooks: tuple[str, ...] = ("shipped",)
    prometheus: Prometheus = Prometheus()
    alertmanager: Alertmanager = Alertmanager()
    kubernetes: Kubernetes = Kubernetes()
    ssh: Ssh = Ssh()
    slack: Slack = Slack()
    fallback: Fallback = Fallback()
    deadlines: Deadlines = Deadlines()
    incidents: Incidents = Incidents()
    profiles: tuple[Profile, ...] = ()
    slo: Objectives = Field(default={})
    _origin: Origin = PrivateAttr(default_factory=Origin)

    def place(self, *loc: str | int) -> tuple[str, int, int]:
        """Where a key stands: the file (or variable), line and column."""
        return place(loc, self._origin)

    def at(self, *loc: str | int) -> str:
        """Where a key stands, for the beginning of a sentence: `bot.yaml:3:7`."""
        return where(loc, self._origin)

    @property
    def name(self) -> str:
        """The file that this came from; "configuration" without one."""
        return self._origin.name

    @property
    def overrides(self) -> int:
        """How many keys variables have set."""
        return len(self._origin.variables)

    @property
    def stops(self) -> Path | None:
        """The file that stops all changes while it exists; None = there is none."""
        if self.stop_file:
            return Path(self.stop_file).absolute()
        file = self.store.file
        return None if file is None else file.with_name(f"{file.name}.stop")

    def secrets(self) -> tuple[Secret, ...]:
        """All secrets that are referred to."""
        return tuple(secret for _, secret in secrets(self, ()))


def load(path: Path | None, environ: Mapping[str, str] | None = None) -> Settings:
    """The settings of a file (None = all defaults), overridden by the environment.

    `TAILHOUND_PROMETHEUS__URL` overrides `prometheus.url`: two underscores go one level down.
    SettingsError names the file, the place and what may stand there.
    """
    values, origin = read(path, environ if environ is not None else os.environ)
    try:
        found = Settings.model_validate(values)
    except ValidationError as error:
        raise SettingsError(explained(error, origin, Settings)) from error
    found._origin = origin
    for loc, secret in secrets(found, ()):
        secret._where = f"{where(loc, origin)}: {'.'.join(map(str, loc))}: "
    return found
