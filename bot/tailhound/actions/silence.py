"""Silencing alerts: which choices an incident offers, what each would mute, what is written. Pure.

The matchers are Alertmanager's. They are built from labels, which are hostile: values are compared
as they are, and names that become a regular expression are escaped for it.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from tailhound.model import Alert, Incident

HOURS = (0.5, 1.0, 2.0, 4.0, 8.0)
"""How long a silence may last; more is not offered."""

REASONS = ("Known, being fixed", "Planned work", "False alarm", "Other")
_PASSING = frozenset({"prometheus", "prometheus_replica", "replica", "__replica__", "severity"})
"""Labels that tell who measured, or how bad it is, not what it is about."""

_WARNINGS = frozenset({"warning", "warn"})
_LABEL_NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]{0,200}")
_SPECIAL = re.compile(r"([\\.+*?()|\[\]{}^$])")


@dataclass(frozen=True, slots=True)
class Matcher:
    """One matcher of Alertmanager: the label is this value, or matches this whole expression."""

    name: str
    value: str
    is_regex: bool = False

    def holds(self, labels: Mapping[str, str]) -> bool:
        """Whether it holds for an alert; a label that is missing is the empty text."""
        seen = labels.get(self.name, "")
        return re.fullmatch(self.value, seen) is not None if self.is_regex else seen == self.value

    @property
    def text(self) -> str:
        """`namespace="llm"`, as Alertmanager writes it."""
        value = self.value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
        return f'{self.name}{"=~" if self.is_regex else "="}"{value}"'


@dataclass(frozen=True, slots=True)
class Scope:
    """One choice of what to mute: an id for the form, words for people, matchers."""

    id: str
    title: str
    matchers: tuple[Matcher, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Silence:
    """A silence to be set. `id` is ours; it stands in the comment, so that it can be found."""

    id: str
    matchers: tuple[Matcher, ...]
    starts: datetime
    ends: datetime
    by: str
    why: str

    @property
    def comment(self) -> str:
        """What Alertmanager shows."""
        return f"{self.why} (tailhound {self.id})"


@dataclass(frozen=True, slots=True)
class Muted:
    """What matchers mute: how many alerts, and how many of them are pages, and warnings."""

    alerts: int
    pages: int
    warnings: int = 0


def scopes(incident: Incident) -> tuple[Scope, ...]:
    """The choices, the narrowest first; those that mute the same are one. None without an alert."""
    alerts = incident.firing or incident.alerts
    if not alerts:
        return ()
    names = tuple(dict.fromkeys(alert.name for alert in alerts))
    about = _about(incident, alerts)
    where = _where(incident)
    found = [Scope("these", _these(incident, alerts), _named(names) + _common(alerts))]
    if about:
        which = names[0] if len(names) == 1 else f"{len(names)} alert names"
        found.append(Scope("names", f"{which} of {where}", _named(names) + about))
        found.append(Scope("all", f"Everything of {where}", about))
    return _distinct(found)


def _where(incident: Incident) -> str:
    """What `_about` pins down, in people's words."""
    subject = incident.subject
    return subject.where if subject.workload_label else replace(subject, workload="").where


def muted(matchers: Sequence[Matcher], alerts: Iterable[Alert]) -> Muted:
    """How many of these alerts the matchers mute."""
    found = [a for a in alerts if all(matcher.holds(a.labels) for matcher in matchers)]
    pages = sum(alert.is_page for alert in found)
    warnings = sum(alert.rated.lower() in _WARNINGS for alert in found)
    return Muted(alerts=len(found), pages=pages, warnings=warnings)


def _about(incident: Incident, alerts: Sequence[Alert]) -> tuple[Matcher, ...]:
    """What the incident is about, by the labels that all its alerts share; () when they don't pin
    it down: its namespace alone would mute its neighbours too.
    """
    subject = incident.subject
    named = {subject.workload_label: subject.workload} if subject.workload_label else (
        {"pod": subject.pod} if subject.pod else {"node": subject.node}
    )  # fmt: skip
    wanted = {"namespace": subject.namespace, **named}
    common = _common(alerts)
    shared = {matcher.name: matcher for matcher in common}
    found = [
        shared[name] if name in shared and shared[name].value == value else None
        for name, value in wanted.items()
        if value
    ]
    clusters = [m for m in common if "cluster" in m.name and m.value == subject.cluster]
    pinned = [matcher for matcher in found if matcher is not None]
    return (*clusters, *pinned) if pinned and len(pinned) == len(found) else ()


def _these(incident: Incident, alerts: Sequence[Alert]) -> str:
    """The words for the narrowest choice: alerts that share little mute others beside them."""
    if len(alerts) == 1 or _about(incident, alerts):
        return "Only these alerts"
    shared = {matcher.name: matcher.value for matcher in _common(alerts)}
    where = shared.get("namespace", "")
    return f"These alert names in all of {where}" if where else "These alert names, wherever"


def _common(alerts: Sequence[Alert]) -> tuple[Matcher, ...]:
    """The labels that all alerts share, but for those that tell who measured."""
    first, *others = (alert.labels for alert in alerts)
    return tuple(
        Matcher(name, value)
        for name, value in sorted(first.items())
        if _LABEL_NAME.fullmatch(name)
        and name not in _PASSING
        and name != "alertname"
        and value
        and all(labels.get(name) == value for labels in others)
    )


def _named(names: Sequence[str]) -> tuple[Matcher, ...]:
    if len(names) == 1:
        return (Matcher("alertname", names[0]),)
    return (Matcher("alertname", "|".join(_SPECIAL.sub(r"\\\1", n) for n in names), True),)


def _distinct(found: Sequence[Scope]) -> tuple[Scope, ...]:
    seen: dict[frozenset[Matcher], Scope] = {}
    for scope in found:
        seen.setdefault(frozenset(scope.matchers), scope)
    return tuple(seen.values())
