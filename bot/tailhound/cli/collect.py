"""`tailhound collect NAME --input name=value ...`: one collector, once, and what it found."""

import argparse
import asyncio
import dataclasses
import difflib
import json
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, get_origin, get_type_hints

from pydantic import TypeAdapter, ValidationError

from tailhound import app
from tailhound.durable.gather import Ask, gather
from tailhound.errors import SettingsError
from tailhound.flow import Collector, Transport, Turn
from tailhound.model import ANSWERED, Asked, Evidence, FactValue, telling
from tailhound.model.facts import Fact, Kind, schema_of
from tailhound.model.redaction import plain, redacted
from tailhound.model.wording import cut, fact
from tailhound.settings import Settings, load
from tailhound.transports.recording import Recorder
from tailhound.transports.replay import ReplayTransport

DONE, BROKEN, NO_BACKEND = 0, 1, 3
RECORDS_SHOWN = 20
"""Records of a set, and samples of a series, that the text shows; JSON has all."""


def run(args: argparse.Namespace) -> int:
    """Print facts and questions; exit code 3 when nobody answered what was asked, 1 when the
    collector broke.
    """
    known = app.collectors()
    if args.list:
        sys.stdout.write("".join(map(_listed, known.values())))
        return DONE
    if not args.name:
        raise SettingsError("collect: name a collector, or --list for all of them")
    collector = _named(args.name, known)
    params = _params(collector, args.input)
    settings = load(args.config)
    replay = app.recorded(args.replay) if args.replay else None
    now = replay.as_of if replay else datetime.now(UTC)
    recorder = Recorder(now, None)
    transports = (ReplayTransport(replay),) if replay else app.transports(settings)
    ask = Ask(collector.name, collector, params)
    found = asyncio.run(_collected(ask, transports, settings, recorder, now))
    if args.record:
        app.save(recorder.recording(), args.record)
    schema = schema_of(collector.facts)
    if args.format == "json":
        json.dump(_as_json(found, schema), sys.stdout, indent=2, ensure_ascii=False)
        sys.stdout.write("\n")
    else:
        sys.stdout.write("\n".join(_lines(found, schema)) + "\n")
    if not found.facts:  # one that came to its end declares each fact, if only as not measured
        return BROKEN
    answered = any(one.status in ANSWERED for one in found.asked)
    return DONE if answered or not found.asked else NO_BACKEND


async def _collected(
    ask: Ask, transports: Sequence[Transport], settings: Settings, recorder: Recorder, now: datetime
) -> Evidence:
    deadline = asyncio.get_running_loop().time() + settings.deadlines.verdict
    turn = Turn(deadline=deadline, as_of=now)
    try:
        (found,) = await gather([ask], transports, turn, record=recorder.record)
    finally:
        for transport in transports:
            transport.close()
    return found


def _named(name: str, known: Mapping[str, Collector[Any, Any]]) -> Collector[Any, Any]:
    if name not in known:
        near = difflib.get_close_matches(name, known, n=1)
        hint = f"; did you mean {near[0]}?" if near else ""
        raise SettingsError(f"collect: no collector named {name!r}{hint} (--list names all)")
    return known[name]


def _params(collector: Collector[Any, Any], inputs: Sequence[str]) -> Any:
    """The collector's parameters; SettingsError names what is unknown, missing or wrong."""
    hints = get_type_hints(collector.params)
    given: dict[str, Any] = {}
    for text in inputs:
        name, equals, value = text.partition("=")
        if not equals or name not in hints:
            takes = ", ".join(hints)
            raise SettingsError(f"--input {text}: write NAME=VALUE; {collector.name} takes {takes}")
        if get_origin(hints[name]) is tuple:
            given[name] = [*given.get(name, []), *(part for part in value.split(",") if part)]
        else:
            given[name] = value
    required = [f for f in dataclasses.fields(collector.params) if _is_required(f)]
    missing = [field.name for field in required if not given.get(field.name)]
    if missing:
        wanted = " ".join(f"--input {name}=..." for name in missing)
        raise SettingsError(f"{collector.name} also needs {wanted}")
    try:
        return TypeAdapter(collector.params).validate_python(given)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise SettingsError(f"--input {where}: {first['msg']}") from error


def _is_required(field: "dataclasses.Field[Any]") -> bool:
    return field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING


def _listed(collector: Collector[Any, Any]) -> str:
    """Its name, its inputs (those in brackets may be left out), its facts with their units."""
    inputs = " ".join(
        field.name if _is_required(field) else f"[{field.name}]"
        for field in dataclasses.fields(collector.params)
    )
    facts = ", ".join(_declared(name, it) for name, it in schema_of(collector.facts).items())
    return f"{collector.name}\n    inputs  {inputs or 'none'}\n    facts   {facts}\n"


def _declared(name: str, declared: Fact) -> str:
    if declared.kind in (Kind.SET, Kind.SERIES):
        return f"{name} ({declared.kind.value})"
    return name if declared.unit == "none" else f"{name} ({declared.unit})"


def _as_json(found: Evidence, schema: Mapping[str, Fact]) -> dict[str, Any]:
    return {
        "collector": found.collector,
        "status": found.status.value,
        "reason": found.reason,
        "took_seconds": found.took_seconds,
        "facts": {
            name: {"value": found.facts.get(name), "unit": declared.unit}
            for name, declared in schema.items()
        },
        "asked": [
            {
                "question": one.question,
                "backend": one.backend,
                "status": one.status.value,
                "detail": one.detail,
                "took_seconds": round(one.took_seconds, 3),
            }
            for one in found.asked
        ],
    }


def _lines(found: Evidence, schema: Mapping[str, Fact]) -> list[str]:
    told = [f"{found.collector}   {found.status.value}   {found.took_seconds:.2f} s"]
    if found.reason:
        told.append(f"  why  {cut(plain(redacted(found.reason), 1000), 600)}")
    for name, declared in schema.items():
        told += _fact(name, found.facts.get(name), declared)
    told.append(telling.tally(one.status for one in found.asked) or "nothing was asked")
    return told + [line for one in found.asked for line in _question(one)]


def _fact(name: str, value: FactValue, declared: Fact) -> list[str]:
    """One line a fact; a set has one more for each of its records."""
    if not isinstance(value, tuple):
        shown = cut(plain(fact(value, declared.unit), 400), 200)
        return [f"  {name:<36} {shown}"]
    if declared.kind is Kind.SERIES:
        last = f", last {fact(value[-1].get('value'), declared.unit)}" if value else ""
        return [f"  {name:<36} {len(value)} samples{last}"]
    told = [f"  {name:<36} {len(value)} records"]
    for record in value[:RECORDS_SHOWN]:
        units = {field: it.unit for field, it in declared.fields.items()}
        parts = (f"{key} {_inner(inner, units.get(key, 'none'))}" for key, inner in record.items())
        told.append(f"    {cut(plain('   '.join(parts), 2000), 200)}")
    more = len(value) - RECORDS_SHOWN
    return [*told, f"    and {more} more: --format json"] if more > 0 else told


def _inner(value: FactValue, unit: str) -> str:
    return f"{len(value)} records" if isinstance(value, tuple) else fact(value, unit)


def _question(one: Asked) -> list[str]:
    told = f"  {one.status.value:<14} {one.took_seconds:6.2f} s  {one.backend:<12} "
    told += cut(plain(redacted(one.question), 4000).replace("\n", " "), 160)
    detail = f"      {cut(plain(redacted(one.detail), 400), 300)}"
    return [told, detail] if one.detail else [told]
