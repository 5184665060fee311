"""Alerts as Alertmanager sends them, and what an incident is about."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import Enum

PAGES = frozenset({"critical", "page"})
"""The severities, in small letters, that page somebody."""

_BADNESS = {"critical": 0, "page": 0, "error": 1, "warning": 2, "ticket": 2, "info": 3}
_UNHEARD_OF, _UNRATED = 4, 5


def badness(severity: str) -> int:
    """How bad a severity is, 0 = it pages; one that nobody knows is better than all that are known,
    and worse than none.
    """
    return _BADNESS.get(severity.lower(), _UNHEARD_OF) if severity else _UNRATED


BY_HAND = "by-hand-"
"""How the fingerprints of the alerts begin that stand for what a person asked. Alertmanager makes
its own fingerprints: no label can look so."""


class AlertStatus(Enum):
    """Alertmanager's two words."""

    FIRING = "firing"
    RESOLVED = "resolved"


@dataclass(frozen=True, slots=True, kw_only=True)
class Alert:
    """One alert. Every string of it is hostile: it may hold quotes, markup, control characters.

    `ends_at` is None while the alert fires. Times are aware, UTC. `severity` is what the label
    means at this site, "" = it stands for itself. `owner` is whom its labels name, "" = nobody.
    """

    fingerprint: str
    name: str
    labels: Mapping[str, str]
    annotations: Mapping[str, str]
    status: AlertStatus
    starts_at: datetime
    ends_at: datetime | None = None
    severity: str = ""
    owner: str = ""

    @property
    def is_by_hand(self) -> bool:
        """Whether it stands for what a person asked. Such an alert has no severity."""
        return self.fingerprint.startswith(BY_HAND)

    @property
    def rated(self) -> str:
        """How bad it is: what the site makes of the label, else the label itself; "" without."""
        if self.is_by_hand:
            return ""
        return self.severity or self.labels.get("severity", "")

    @property
    def is_page(self) -> bool:
        """Whether it pages somebody."""
        return self.rated.lower() in PAGES


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertGroup:
    """One notification of Alertmanager: the alerts of one group, all read or nothing."""

    group_key: str
    receiver: str
    alerts: tuple[Alert, ...]
    truncated_alerts: int = 0
    external_url: str = ""


class SubjectKind(Enum):
    """What kind of thing an incident is about."""

    WORKLOAD = "workload"
    POD = "pod"
    NODE = "node"
    GROUP = "group"


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """What an incident is about, from labels alone. Empty text = the labels don't say."""

    kind: SubjectKind
    cluster: str = ""
    namespace: str = ""
    workload: str = ""
    workload_label: str = ""  # which label named it: deployment, service, model_name, ...
    pod: str = ""
    container: str = ""
    node: str = ""

    @property
    def where(self) -> str:
        """The short name that people read: `prod/llm-70b`, `gpu-node-7`, or `all services`."""
        name = self.workload or self.pod
        if name:
            return f"{self.namespace}/{name}" if self.namespace else name
        return self.node or self.namespace or "all services"
