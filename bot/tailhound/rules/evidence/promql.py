"""PromQL evidence: `fact: {query, unit, each}`, with usual values and the series of the onset."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

import promql_parser

from tailhound.flow import Read, Reading, together
from tailhound.model import Missing, Reason
from tailhound.model.facts import Fact, Kind, Sample, Schema, Series
from tailhound.requests import Query, RangeQuery
from tailhound.rules.condition.typed import Mistake, usable
from tailhound.rules.evidence.common import (
    USUAL,
    Workshop,
    facts_class,
    params_class,
    record_class,
)
from tailhound.rules.evidence.promql_places import mistake_of
from tailhound.rules.evidence.template import PREFIX, Template, template
from tailhound.rules.schema_evidence import PromqlFact

SERIES_WINDOW = 45 * 60.0
SERIES_STEP = 15.0
USUAL_SPAN = 600.0
"""Seconds of samples that end at each usual moment; together they make an onset's usual band."""

_MAX_NESTING = 60
_AT = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class _Asked:
    """One fact's query."""

    name: str
    query: Template
    each: str


class PromqlCollector:
    """Asks all queries of one evidence at the same time.

    A query that gives several series where one number is wanted, or several of the same label
    value, tells nothing: its fact is not measured.
    """

    def __init__(self, name: str, shop: Workshop, asked: Sequence[_Asked], schema: Schema) -> None:
        self.name = name
        self.schema = schema
        self._asked = tuple(asked)
        self._usual = any(fact.endswith("_usual") for fact in self._added())
        self._onset = next((one for one in self._asked if f"{one.name}_series" in schema), None)
        self._prefixed = any(one.query.prefixed for one in asked)
        extra: list[tuple[str, Any, Any]] = []
        compares = self._usual or self._onset is not None
        extra += [("usual", tuple[float, ...], USUAL)] if compares else []
        extra += [("metric_prefix", str, "")] if self._prefixed else []
        self.params: type[Any] = params_class(shop, extra)
        self.facts: type[Any] = facts_class(schema)

    def _added(self) -> list[str]:
        named = {asked.name for asked in self._asked}
        within = [name for fact in self.schema.values() for name in fact.fields]
        return [name for name in [*self.schema, *within] if name not in named]

    def collect(self, params: Any) -> Reading[Any]:
        """Every query now and, where asked for, at each of the usual times; the onset's over time.

        What is usual for the onset's series are the ten minutes before each usual moment.
        """
        values = {name: _filling(getattr(params, name)) for name in params.__dataclass_fields__}
        offsets = (0.0, *(params.usual if self._usual else ()))
        prefix = (params.metric_prefix if self._prefixed else "") or PREFIX
        texts = [asked.query.filled(values, prefix) for asked in self._asked]
        requests: list[Read[Any]] = [
            Query(promql=text, ago=ago) for text in texts for ago in offsets
        ]
        if self._onset is not None:
            text = texts[self._asked.index(self._onset)]
            requests += _over_time(text, params.usual)
        replies = yield from together(requests)
        return self._facts(replies, len(offsets))

    def _facts(self, replies: Sequence[Any], times: int) -> Any:
        found: dict[str, Any] = {}
        for index, asked in enumerate(self._asked):
            now, *before = replies[index * times : (index + 1) * times]
            if asked.each:
                found[asked.name] = self._set(asked, now, before)
            else:
                usual = _middle([_one(reply) for reply in before])
                found |= _kept(self.schema, asked.name, _one(now), usual)
        if self._onset is not None:
            now, *before = replies[len(self._asked) * times :]
            found[f"{self._onset.name}_series"] = _samples(now)
            found[f"{self._onset.name}_usual_series"] = _joined(map(_samples, before))
        return self.facts(**found)

    def _set(self, asked: _Asked, now: Any, before: Sequence[Any]) -> tuple[Any, ...] | None:
        """A record for each label value; () when the backend answered that there is none."""
        values = _by_label(now, asked.each)
        if values is None:
            return None
        earlier = [_by_label(reply, asked.each) or {} for reply in before]
        record = record_class(self.facts, asked.name)
        fields = self.schema[asked.name].fields
        return tuple(
            record(
                **{asked.each: label},
                **_kept(fields, "value", value, _middle([one.get(label) for one in earlier])),
            )
            for label, value in sorted(values.items())
        )


def _over_time(promql: str, usual: Sequence[float]) -> list[Read[Any]]:
    """The last 45 minutes of a query, then the span that ends at each usual moment."""
    return [
        RangeQuery(promql=promql, start_ago=SERIES_WINDOW, step=SERIES_STEP),
        *(
            RangeQuery(promql=promql, start_ago=ago + USUAL_SPAN, end_ago=ago, step=SERIES_STEP)
            for ago in usual
        ),
    ]


def _filling(value: Any) -> "str | tuple[str, ...]":
    """A parameter as what a query is filled with."""
    if isinstance(value, tuple | list):
        return tuple(str(item) for item in value)
    return str(value)


def _kept(schema: Schema, name: str, now: float | None, usual: float | None) -> dict[str, Any]:
    """The value, and beside it its usual value and ratio where the schema has them."""
    ratio = now / usual if now is not None and usual is not None and usual > 0 else None
    found = {name: now, f"{name}_usual": usual, f"{name}_ratio": ratio}
    return {key: value for key, value in found.items() if key in schema}


def _middle(values: Sequence[float | None]) -> float | None:
    """The median of what was measured."""
    measured = [value for value in values if value is not None]
    return median(measured) if measured else None


def _one(reply: Any) -> float | None:
    if isinstance(reply, Missing) or len(reply) != 1:
        return None
    return float(reply[0].value)


def _by_label(reply: Any, label: str) -> Mapping[str, float] | None:
    if isinstance(reply, Missing):
        return {} if reply.reason is Reason.EMPTY else None
    found = {element.label(label): float(element.value) for element in reply}
    return found if len(found) == len(reply) else None


def _samples(reply: Any) -> Series | None:
    if isinstance(reply, Missing) or len(reply) != 1:
        return None
    samples: Series = reply[0].samples
    return samples


def _joined(parts: Iterable[Series | None]) -> Series | None:
    """All samples of several series; None when none of them has any."""
    samples: list[Sample] = [sample for part in parts if part for sample in part]
    return tuple(samples) if samples else None


def compile_promql(
    name: str, shop: Workshop, facts: Mapping[str, PromqlFact], *, usual: bool, onset: str
) -> PromqlCollector | None:
    """The collector; None, with findings in the shop, when a query is wrong."""
    asked = [_asked(shop, fact, told) for fact, told in facts.items()]
    schema: dict[str, Fact] = {}
    for fact, told in facts.items():
        schema |= _schema(fact, told, usual=usual)
    if onset in facts:
        if facts[onset].each:
            message = f"an onset needs one number; {onset!r} is a set (`each: {facts[onset].each}`)"
            shop.wrong(("promql", onset, "each"), message)
        schema |= dict.fromkeys((f"{onset}_series", f"{onset}_usual_series"), Fact(Kind.SERIES))
    doubled = sum(len(_schema(fact, told, usual=usual)) for fact, told in facts.items())
    if len(schema) < doubled + 2 * (onset in facts):
        shop.wrong(("promql",), "a fact has the name of another's usual value, ratio or series")
    if shop.findings:
        return None
    return PromqlCollector(name, shop, asked, schema)


def _schema(fact: str, told: PromqlFact, *, usual: bool) -> dict[str, Fact]:
    if told.each:
        fields = {told.each: Fact(Kind.TEXT), **_numbers("value", told.unit, usual=usual)}
        return {fact: Fact(Kind.SET, fields=fields)}
    return _numbers(fact, told.unit, usual=usual)


def _numbers(name: str, unit: str, *, usual: bool) -> dict[str, Fact]:
    number = Fact(Kind.NUMBER, unit)
    if not usual:
        return {name: number}
    return {name: number, f"{name}_usual": number, f"{name}_ratio": Fact(Kind.NUMBER, "times")}


def _asked(shop: Workshop, fact: str, told: PromqlFact) -> _Asked:
    steps = ("promql", fact, "query")
    shop.fact_name(fact, ("promql", fact))
    each = told.each or ""
    if each and (not usable(each) or each.startswith("value")):
        shop.wrong(("promql", fact, "each"), f"{each!r} can't be the name of a record's field")
    query, mistakes = template(told.query)
    for mistake in mistakes:
        shop.wrong(steps, mistake.message, mistake)
    for hole in query.holes:
        mistake = Mistake(hole.offset, len(hole.name) + 1, "")
        if shop.use(hole.name, steps, mistake) and shop.used[hole.name] and not hole.regex:
            shop.wrong(steps, f"${hole.name} is a set; match it with `=~`", mistake)
    if not mistakes and told.promql != "unchecked":
        dummies = dict.fromkeys((hole.name for hole in query.holes), "x")
        if trouble := why_no_query(query.filled(dummies)):
            shop.wrong(steps, trouble, mistake_of(told.query, trouble))
    return _Asked(fact, query, each)


def why_no_query(text: str) -> str | None:
    """Why this is no PromQL that gives an instant vector; None when it is."""
    if _depth(text) > _MAX_NESTING:
        return "not PromQL: nested too deeply"
    try:
        tree = promql_parser.parse(text)
    except ValueError as error:
        said = _AT.sub(" ", str(error)).strip()[:300]
        return f"not PromQL: {said} (`promql: unchecked` if Prometheus knows better)"
    if isinstance(tree, promql_parser.MatrixSelector | promql_parser.SubqueryExpr):
        return "gives a range of samples; wrap it, as in `rate(..)` or `max_over_time(..)`"
    if isinstance(tree, promql_parser.StringLiteral):
        return "gives a text, not a number"
    return None


def _depth(text: str) -> int:
    deepest = depth = 0
    for sign in text:
        depth += {"(": 1, ")": -1}.get(sign, 0)
        deepest = max(deepest, depth)
    return deepest
