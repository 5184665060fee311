"""Alertmanager's webhook body, version 4: bytes in, typed alerts out. Every string is hostile.

Strict about what carries meaning (version, group key, status, times, labels), tolerant of what
others add. Nothing is dropped: a value over 64 KiB keeps its head and tail around a visible mark
that names what was cut; two alerts that claim one fingerprint keep one each.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic.types import FailFast

from tailhound.errors import AlertUnreadable
from tailhound.model import Alert, AlertGroup, AlertStatus

VALUE_CHARACTERS = 64 * 1024
"""A label, annotation or key longer than this is cut in the middle."""

VALUES_AT_MOST = 4_000_000
"""JSON values in one body, twice what 32 MiB of real alerts hold; more would need gigabytes."""

UNNAMED = "unnamed alert"
"""The name of an alert without the label `alertname`."""

_UNSAFE = re.compile("[\x00\ud800-\udfff]")  # no database keeps NUL, no UTF-8 has lone surrogates
_STRINGS = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)', re.DOTALL)
_BIG_BODY = 1024 * 1024
_FINGERPRINT = re.compile(r"[0-9A-Za-z_-]{1,64}")
_TIME = re.compile(
    # 2026-11-30T05:16:59.779938464Z    0001-01-01T00:00:00Z    2026-11-30 05:16:59+05:30
    r"(?P<date>[0-9]{4}-[0-9]{2}-[0-9]{2})[Tt ](?P<clock>[0-9]{2}:[0-9]{2}:[0-9]{2})"
    r"(?:[.,](?P<fraction>[0-9]{1,30}))?(?P<zone>[Zz]|[+-][0-9]{2}:[0-9]{2})"
)
_KINDS = {dict: "an object", list: "a list", str: "text", bool: "yes/no", type(None): "null"}
_NOT_SENT = ""


def read_group(body: bytes) -> AlertGroup:
    """The alerts of one notification; AlertUnreadable says what is wrong and where.

    Takes time linear in the size of the body; raises nothing else, whatever the bytes are. When a
    key stands twice in an object the last one counts, as in Alertmanager's own language. An alert
    that stands twice (same fingerprint, same labels) is read once, in its last form.
    """
    document = _parsed(body)
    try:
        notification = _Notification.model_validate(document)
    except ValidationError as error:
        raise AlertUnreadable(_explained(error)) from error
    document.clear()
    return AlertGroup(
        group_key=notification.groupKey,
        receiver=notification.receiver,
        alerts=_distinct(_read_in_turn(notification.alerts)),
        truncated_alerts=notification.truncatedAlerts,
        external_url=notification.externalURL,
    )


def _read_in_turn(alerts: list[Any]) -> Iterator[Alert]:
    """The alerts, each checked and read by itself: what stands for it in JSON goes before the next
    one comes, for all of them together take many times their bytes.
    """
    for index, found in enumerate(alerts):
        alerts[index] = None
        try:
            alert = _Alert.model_validate(found)
        except ValidationError as error:
            raise AlertUnreadable(_explained(error, ("alerts", index))) from error
        yield alert.read()


def _text(value: object) -> str:
    """Text that every store can hold; plain scalars are written as JSON writes them."""
    if type(value) is str and value.isascii() and len(value) <= 1000 and "\0" not in value:
        return value  # nearly every value ends here
    if value is None or isinstance(value, bool | int | float):
        value = "" if value is None else json.dumps(value)
    if not isinstance(value, str):
        raise ValueError(f"must be text, but is {_kind(value)}")
    return _shortened(_UNSAFE.sub("\ufffd", value))


def _shortened(text: str) -> str:
    if len(text) <= VALUE_CHARACTERS:
        return text
    digest = hashlib.sha256(text.encode()).hexdigest()[:12]
    half = VALUE_CHARACTERS // 2
    cut = len(text) - 2 * half
    return f"{text[:half]}…[{cut:,} characters cut, sha256 {digest}]…{text[-half:]}"


def _labels(value: object) -> dict[str, str]:
    if not isinstance(value, dict):
        raise ValueError(f"must be an object of text, but is {_kind(value)}")
    read: dict[str, str] = {}
    for name, content in value.items():
        try:
            read[_text(name)] = _text(content)
        except ValueError as error:
            raise ValueError(f"{_text(name)[:60]!r}: {error}") from error
    return read


def _time(value: object) -> datetime | None:
    """An RFC 3339 time as aware UTC, cut to microseconds; None for Go's zero time (year 1)."""
    match = _TIME.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        shown = f"{value[:60]!r}" if isinstance(value, str) else _kind(value)
        raise ValueError(f"must be a time such as 2026-11-30T05:16:59.568Z, but is {shown}")
    try:
        naive = datetime.fromisoformat(f"{match['date']}T{match['clock']}")
        if naive.year == 1:
            return None
        micros = int((match["fraction"] or "0")[:6].ljust(6, "0"))
        return naive.replace(microsecond=micros, tzinfo=UTC) - _offset(match["zone"])
    except (ValueError, OverflowError) as error:
        raise ValueError(f"{value!r} is no time of the calendar") from error


def _offset(zone: str) -> timedelta:
    if zone in "Zz":
        return timedelta()
    minutes = int(zone[1:3]) * 60 + int(zone[4:6])
    return timedelta(minutes=-minutes if zone[0] == "-" else minutes)


def _start(value: object) -> datetime:
    at = _time(value)
    if at is None:
        raise ValueError("must be the time at which the alert began, but is the zero time")
    return at


def _end(value: object) -> datetime | None:
    return None if value in (None, _NOT_SENT) else _time(value)


def _object(value: object) -> object:
    if not isinstance(value, dict):
        raise ValueError(f"must be an object, but is {_kind(value)}")
    return value


Text = Annotated[str, BeforeValidator(_text)]
Labels = Annotated[dict[str, str], BeforeValidator(_labels)]


class _Body(BaseModel):
    """Unknown keys are passed over: later versions of Alertmanager may add some."""

    model_config = ConfigDict(extra="ignore", frozen=True)


class _Alert(_Body):
    status: Literal["firing", "resolved"]
    labels: Labels
    annotations: Annotated[Labels, BeforeValidator(lambda value: value or {})] = {}
    startsAt: Annotated[datetime, BeforeValidator(_start)]
    endsAt: Annotated[datetime | None, BeforeValidator(_end)] = None
    fingerprint: Text = ""

    def read(self) -> Alert:
        """The alert. A resolved one without an end gets its start, so that it counts as ended."""
        status = AlertStatus(self.status)
        firing = status is AlertStatus.FIRING
        given = self.fingerprint if _FINGERPRINT.fullmatch(self.fingerprint) else ""
        return Alert(
            fingerprint=given or fingerprint_of(self.labels),
            name=self.labels.get("alertname") or UNNAMED,
            labels=self.labels,
            annotations=self.annotations,
            status=status,
            starts_at=self.startsAt,
            ends_at=None if firing else self.endsAt or self.startsAt,
        )


class _Notification(_Body):
    groupKey: Annotated[Text, Field(min_length=1)]
    alerts: Annotated[
        list[Annotated[Any, BeforeValidator(_object)]], Field(min_length=1), FailFast()
    ]
    receiver: Text = ""
    externalURL: Text = ""
    truncatedAlerts: Annotated[int, Field(ge=0, lt=2**53, strict=True)] = 0


def fingerprint_of(labels: Mapping[str, str]) -> str:
    """16 hexadecimal digits that stand for a set of labels, where the sender gave none."""
    text = json.dumps(sorted(labels.items()))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _distinct(alerts: Iterable[Alert]) -> tuple[Alert, ...]:
    """Each alert once. Where two sets of labels share a fingerprint, the later gets its own."""
    kept: dict[str, Alert] = {}
    for alert in alerts:
        other = kept.get(alert.fingerprint)
        if other is None or other.labels == alert.labels:
            kept[alert.fingerprint] = alert
        else:
            own = fingerprint_of(alert.labels)
            kept[own] = replace(alert, fingerprint=own)
    return tuple(kept.values())


def _parsed(body: bytes) -> dict[str, Any]:
    if not body.strip():
        raise AlertUnreadable("the body is empty, but must be an Alertmanager v4 notification")
    _check_size(body)
    try:
        document = json.loads(body.decode("utf-8-sig", "replace"), parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        raise AlertUnreadable(f"not JSON: {error}") from error
    except RecursionError as error:
        raise AlertUnreadable("nested too deep for an Alertmanager v4 notification") from error
    except ValueError as error:
        raise AlertUnreadable(f"not JSON that can be read: {error}") from error
    if not isinstance(document, dict):
        raise AlertUnreadable(f"must be a JSON object, but is {_kind(document)}")
    if document.get("version") != "4":
        raise AlertUnreadable(_wrong_version(document))
    return document


def _check_size(body: bytes) -> None:
    """Refuse a body whose parsed form would be far larger than its bytes (`[[],[],[],...`)."""
    if len(body) < _BIG_BODY:
        return
    values = body.count(b'"') // 2
    if values <= VALUES_AT_MOST < _separators(body):
        values = _separators(_bare(body))
    if values > VALUES_AT_MOST:
        raise AlertUnreadable(
            f"holds about {values:,} JSON values, but at most {VALUES_AT_MOST:,} are read"
        )


def _separators(text: bytes | bytearray) -> int:
    return text.count(b",") + text.count(b"[") + text.count(b"{")


def _bare(body: bytes) -> bytearray:
    """The body without its strings; made piece by piece, for all pieces together take much."""
    bare, end = bytearray(), 0
    for found in _STRINGS.finditer(body):
        bare += body[end : found.start()]
        end = found.end()
    return bare + body[end:]


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON value")


def _wrong_version(document: dict[str, Any]) -> str:
    if "version" not in document:
        return 'version: is missing; an Alertmanager notification says "version": "4"'
    given = document["version"]
    shown = repr(_text(given)[:60]) if isinstance(given, str) else _kind(given)
    return f'version: must be the text "4" of Alertmanager\'s webhook, but is {shown}'


def _kind(value: object) -> str:
    return _KINDS.get(type(value), "a number")


def _explained(error: ValidationError, within: tuple[str | int, ...] = ()) -> str:
    item = error.errors(include_url=False, include_input=False, include_context=False)[0]
    place = "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in within + item["loc"])
    said = item["msg"].removeprefix("Value error, ")
    return f"{place.removeprefix('.') or 'body'}: {said[:1].lower()}{said[1:]}"
