"""Webhook bodies as intake sees them: read, bounded, and known by a short identity. Pure."""

import hashlib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from types import MappingProxyType

from tailhound.diagnosis import group as grouping
from tailhound.errors import AlertUnreadable
from tailhound.model import Alert, AlertGroup, AlertStatus, Subject, SubjectKind
from tailhound.settings import Incidents
from tailhound.store.tables import UNREADABLE

ReadGroup = Callable[[bytes], AlertGroup]

LABEL_AT_MOST = 2_000
ANNOTATION_AT_MOST = 8_000
FIELDS_AT_MOST = 200
_NO_TEXT = re.compile("[\x00\ud800-\udfff]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One alert of a body: the incident key that it belongs to, and what makes it a repeat."""

    ident: str
    key: str
    subject: Subject
    alert: Alert


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrival:
    """One webhook body, read. `unreadable` is the reason when it is no Alertmanager body.

    `dropped` counts alerts that start nothing, by reason. `sha` is the sha256 of the body, made
    once, for each alert's row names it.
    """

    body: bytes
    at: datetime
    items: tuple[Item, ...] = ()
    unreadable: str = ""
    truncated_alerts: int = 0
    dropped: MappingProxyType[str, int] = field(default_factory=lambda: MappingProxyType({}))
    sha: str = ""

    def __post_init__(self) -> None:
        if not self.sha:
            object.__setattr__(self, "sha", hashlib.sha256(self.body).hexdigest())

    @property
    def is_nothing(self) -> bool:
        """Whether it was read and starts nothing."""
        return not self.items and not self.unreadable


def read_arrival(
    body: bytes,
    at: datetime,
    settings: Incidents,
    read_group: ReadGroup,
    by_hand: bool = False,
) -> Arrival:
    """Read a body. It never fails: what can't be read is an arrival too, with its reason.

    Only where it is made `by_hand`, in this process, may its alerts call themselves so.
    """
    try:
        group = read_group(body)
        alerts = group.alerts if by_hand else map(_from_outside, group.alerts)
        return _read(replace(group, alerts=tuple(alerts)), body, at, settings)
    except AlertUnreadable as error:
        why = str(error)
    except Exception as error:  # noqa: BLE001 (a bug of our reader must not lose the body)
        why = f"tailhound failed to read it: {type(error).__name__}: {error}"
    return Arrival(body=body, at=at, unreadable=clean(why)[:400] or "no reason given")


def _read(group: AlertGroup, body: bytes, at: datetime, settings: Incidents) -> Arrival:
    items: list[Item] = []
    dropped: dict[str, int] = {}
    for alert in group.alerts:
        reason = grouping.why_ignored(alert, settings)
        if reason is None:
            items.append(_item(grouping.at_site(bounded(alert), settings), group, settings))
        else:
            dropped[reason] = dropped.get(reason, 0) + 1
    return Arrival(
        body=body,
        at=at,
        items=tuple(items),
        truncated_alerts=group.truncated_alerts,
        dropped=MappingProxyType(dropped),
    )


def unreadable_item(arrival: Arrival) -> Item:
    """What stands for a body that can't be read: one per content."""
    ident = _ident("unreadable", arrival.sha, "")
    nobody = Subject(kind=SubjectKind.GROUP)
    nothing = Alert(
        fingerprint="",
        name="unreadable alert",
        labels={},
        annotations={},
        status=AlertStatus.FIRING,
        starts_at=arrival.at,
    )
    return Item(ident=ident, key=f"{UNREADABLE}{arrival.sha}", subject=nobody, alert=nothing)


def bounded(alert: Alert) -> Alert:
    """The alert with texts that can be stored and shown: no NUL, no lone surrogate, not long."""
    return replace(
        alert,
        name=_cut(alert.name, LABEL_AT_MOST),
        fingerprint=_cut(alert.fingerprint, 200),
        labels=_bounded_texts(alert.labels, LABEL_AT_MOST),
        annotations=_bounded_texts(alert.annotations, ANNOTATION_AT_MOST),
    )


def clean(text: str) -> str:
    """The text with characters replaced that no database and no UTF-8 can hold."""
    return _NO_TEXT.sub("\ufffd", text)


def _from_outside(alert: Alert) -> Alert:
    """An alert whose fingerprint says that it was made by hand says so no more."""
    return replace(alert, fingerprint=f"no-{alert.fingerprint}") if alert.is_by_hand else alert


def _item(alert: Alert, group: AlertGroup, settings: Incidents) -> Item:
    subject = grouping.subject_of(alert, settings)
    key = grouping.key_of(subject, group)
    ident = _ident(key, alert.fingerprint, alert.starts_at.isoformat())
    return Item(ident=ident, key=key, subject=subject, alert=alert)


def _ident(*parts: str) -> str:
    joined = "\0".join(parts).encode("utf-8", "replace")
    return hashlib.blake2b(joined, digest_size=16).hexdigest()


def _bounded_texts(texts: Mapping[str, str], limit: int) -> Mapping[str, str]:
    """The texts themselves where they are short and plain, as nearly all are."""
    if len(texts) <= FIELDS_AT_MOST and all(
        len(name) <= 200 and len(value) <= limit and _is_plain(name) and _is_plain(value)
        for name, value in texts.items()
    ):
        return texts
    pairs = list(texts.items())[:FIELDS_AT_MOST]
    return {_cut(name, 200): _cut(value, limit) for name, value in pairs}


def _is_plain(text: str) -> bool:
    return text.isascii() and "\0" not in text


def _cut(text: str, limit: int) -> str:
    text = text if _is_plain(text) else clean(text)
    if len(text) <= limit:
        return text
    return f"{text[:limit]}… ({len(text):,} characters)"
