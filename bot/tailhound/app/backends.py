"""The lines of the health page about backends: what works, what is lost where it does not."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from tailhound.app.board import Mood, Standing
from tailhound.model.names import backend_name, plural
from tailhound.model.wording import duration
from tailhound.rules.runbook import Runbook
from tailhound.settings import Settings
from tailhound.web.parts import HealthLine

HOSTS_SHOWN = 8
NOT_ASKED = "not asked: "
"""How a transport begins when the settings leave it nobody to ask."""
_KINDS = ("prometheus", "kubernetes", "ssh")
SETTINGS = {
    "prometheus": "prometheus.url",
    "kubernetes": "kubernetes.in_cluster, kubernetes.kubeconfig or kubernetes.server",
    "ssh": "ssh.key and ssh.hosts",
}
_YAML = {"promql": "prometheus"}
_FIXES = {
    Mood.REFUSES: "give the reading account of tailhound the right to it",
    Mood.SWAMPED: "see who asks it so much; it is asked again when it answers",
    Mood.SILENT: "check that it is up and not overloaded",
    Mood.GONE: "check address, network, certificate and keys",
}


def fix_of(mood: Mood) -> str:
    """What to do about a backend that names no fix of its own; "" for one that answers."""
    return _FIXES.get(mood, "")


@dataclass(frozen=True, slots=True)
class Needs:
    """How many causes there are, and how many of them can't be checked without a backend."""

    causes: int
    by_backend: Mapping[str, int]

    @classmethod
    def of(cls, runbooks: Sequence[Runbook]) -> "Needs":
        """Counted over what the verdicts of these runbooks may need."""
        wanted = [_backends(runbook) for runbook in runbooks]
        counted = {kind: sum(kind in one for one in wanted) for kind in _KINDS}
        return cls(len(runbooks), counted)

    def lost(self, kind: str) -> str:
        """`11 of 14 causes can't be checked`; "" when none needs it."""
        amount = self.by_backend.get(kind, 0)
        return f"{amount} of {plural(self.causes, 'cause')} can't be checked" if amount else ""


def _backends(runbook: Runbook) -> set[str]:
    """Who is asked for the evidence that a verdict of it needs."""
    return {
        kind_of(item.collector.name)
        for name, item in runbook.evidence.items()
        if name in runbook.required
    }


def kind_of(collector: str) -> str:
    """`prometheus` of `prometheus.container_cpu`, and of `promql cold-start.queue`."""
    kind = collector.replace(".", " ").partition(" ")[0]
    return _YAML.get(kind, kind)


def backend_lines(
    standings: Sequence[Standing], settings: Settings, needs: Needs, now: datetime
) -> tuple[HealthLine, ...]:
    """A line for each backend, configured or not; of hosts one for all, and those in trouble."""
    known = {standing.backend: standing for standing in standings}
    lines: list[HealthLine] = []
    for kind in ("prometheus", "kubernetes"):
        line = _line(known[kind], needs.lost(kind), now) if kind in known else None
        lines.append(line or _unasked(kind, settings, needs))
    hosts = [standing for standing in standings if standing.backend.startswith("ssh ")]
    if not hosts:
        return (*lines, _unasked("ssh", settings, needs))
    return (*lines, *_hosts(hosts, needs, now))


def _configured(kind: str, settings: Settings) -> bool:
    return {
        "prometheus": bool(settings.prometheus.url),
        "kubernetes": settings.kubernetes.configured,
        "ssh": settings.ssh.key is not None,
    }[kind]


def _unasked(kind: str, settings: Settings, needs: Needs) -> HealthLine:
    name = "SSH" if kind == "ssh" else backend_name(kind)
    if _configured(kind, settings):
        detail = "since this process started"
        return HealthLine(name=name, state="not asked yet", works=None, detail=detail)
    return HealthLine(
        name=name,
        state="not configured",
        works=None,
        effect=needs.lost(kind),
        fix=f"set {SETTINGS[kind]}",
    )


def _line(at: Standing, lost: str, now: datetime) -> HealthLine:
    name = backend_name(at.backend)
    if at.mood is Mood.ANSWERS and at.refused:
        return HealthLine(
            name=name,
            state="answers, and refuses some questions",
            works=False,
            detail=_told(at, now),
            effect=f"what it refused stays unknown: {_reason(at.refused)}",
            fix=_fix(at.refused) or fix_of(Mood.REFUSES),
            since=at.since,
            partly=True,
        )
    if at.mood is Mood.ANSWERS:
        return HealthLine(
            name=name,
            state=at.mood.value,
            works=True,
            detail=_told(at, now),
            since=at.since,
            seconds=at.seconds,
        )
    return _ill(at, lost, now)


def _ill(at: Standing, lost: str, now: datetime) -> HealthLine:
    """The line of one that does not answer."""
    asked = not at.detail.startswith(NOT_ASKED)
    why = _reason([at.detail.removeprefix(NOT_ASKED)])
    mend = "mend that; the configuration is read again at the next start"
    return HealthLine(
        name=backend_name(at.backend),
        state=at.mood.value if asked else "can't be asked",
        works=False,
        detail=f"{why}; {_age(at, now)}".removeprefix("; ") if asked else why,
        effect=lost,
        fix=(_fix([at.detail]) or fix_of(at.mood)) if asked else mend,
        since=at.since,
    )


def _hosts(hosts: Sequence[Standing], needs: Needs, now: datetime) -> Iterable[HealthLine]:
    well = [host for host in hosts if host.mood is Mood.ANSWERS and not host.refused]
    every = len(well) == len(hosts)
    yield HealthLine(
        name="SSH",
        state=f"{len(well)} of {plural(len(hosts), 'host')} answer{'s' if len(well) == 1 else ''}",
        works=every,
        effect="" if every else needs.lost("ssh").replace("checked", "checked on the others"),
    )
    ill = [host for host in hosts if host not in well]
    for host in ill[:HOSTS_SHOWN]:
        yield _line(host, "", now)
    if len(ill) > HOSTS_SHOWN:
        left = plural(len(ill) - HOSTS_SHOWN, "more host")
        yield HealthLine(name="SSH", state=f"+ {left} in trouble", works=False)


def _told(at: Standing, now: datetime) -> str:
    """`41 ms, asked 3 min ago`."""
    took = f"{duration(at.seconds)}, " if at.seconds is not None else ""
    return f"{took}{_age(at, now)}"


def _age(at: Standing, now: datetime) -> str:
    seconds = max(0.0, (now - at.at).total_seconds())
    return "asked now" if seconds < 2 else f"asked {duration(float(round(seconds)))} ago"


def _reason(details: Sequence[str]) -> str:
    return "; ".join(detail.partition("Fix:")[0].strip().rstrip(".") for detail in details)


def _fix(details: Sequence[str]) -> str:
    return next((d.partition("Fix:")[2].strip() for d in details if "Fix:" in d), "")
