"""What is said of a confirmed cause: Jinja, cut down to values, filters, `if` and one flat `for`.

Templates come from runbook files. What they are filled with (facts, inputs) are values and never
templates. A clause with a value that nobody measured is left out; where no other is left, the value
is written "not measured". A line (a headline, a name) with such a value is not said at all.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from jinja2 import StrictUndefined, TemplateSyntaxError, meta
from jinja2.environment import Template
from jinja2.sandbox import ImmutableSandboxedEnvironment

from tailhound.errors import Finding
from tailhound.model import wording
from tailhound.model.facts import Fact, Kind, Schema, number_of
from tailhound.model.names import capital
from tailhound.rules import places
from tailhound.rules.condition.terms import CLEAN, Facts, clean_set
from tailhound.rules.condition.typed import Vocabulary
from tailhound.rules.places import Place, Scalar
from tailhound.rules.says_checking import Reader, mistakes
from tailhound.rules.says_filters import (
    FILTERS,
    MOST,
    UNKNOWN,
    UNMEASURED,
    Compared,
    finalized,
)

MAX_RENDERED = 1500
OVER = "over"
"""What a headline may ask: whether the incident is over."""

_VALUES_AT_MOST = (60, 40, 30, 20, 12)
"""Characters of the values of a line: the most with which it fits."""

_SENTENCES = re.compile(r"(?<=\.) (?=\S)")
_BLANKS = re.compile(r"[ \n]+")
_TWO_STOPS = re.compile(r"(?<!\.)\.\.(?= |$)")
"""The full stop of a value, and that of the sentence which it ends."""


def _environment() -> ImmutableSandboxedEnvironment:
    made = ImmutableSandboxedEnvironment(
        undefined=StrictUndefined, finalize=finalized, autoescape=False, keep_trailing_newline=False
    )
    made.filters.clear()
    made.filters.update(FILTERS)
    made.globals.clear()
    made.tests.clear()
    return made


_ENVIRONMENT = _environment()


@dataclass(frozen=True, slots=True, eq=False)
class Says:
    """One checked paragraph; `names` are what it is filled with: evidence, inputs, thresholds."""

    text: str
    names: frozenset[str]
    _template: Template
    _evidence: Mapping[str, Schema]
    _inputs: tuple[str, ...]

    def render(
        self, inputs: Mapping[str, Any], facts: Facts, thresholds: Mapping[str, float]
    ) -> str:
        """The paragraph on one line, at most 1,500 characters."""
        values = self._values(inputs, facts, thresholds)
        return wording.cut(_known(self._written(values)), MAX_RENDERED)

    def line(
        self,
        inputs: Mapping[str, Any],
        facts: Facts,
        thresholds: Mapping[str, float],
        *,
        most: int,
        over: bool = False,
    ) -> str:
        """All of it in `most` characters, long values cut inside; "" where a value of it is not
        known, or it can't be so short.
        """
        values = {**self._values(inputs, facts, thresholds), OVER: over}
        for longest in _VALUES_AT_MOST:
            text = self._written({**values, MOST: longest}).rstrip(".")
            if UNKNOWN in text:
                return ""
            if len(text) <= most:
                return text
        return ""

    def _values(
        self, inputs: Mapping[str, Any], facts: Facts, thresholds: Mapping[str, float]
    ) -> dict[str, Any]:
        values: dict[str, Any] = {
            **{name: inputs.get(name) or UNMEASURED for name in self._inputs},
            **thresholds,
        }
        for name, schema in self._evidence.items():
            values[name] = _namespace(schema, facts.get(name))
        return values

    def _written(self, values: Mapping[str, Any]) -> str:
        text = " ".join(_BLANKS.split(self._template.render(values))).strip()
        return _TWO_STOPS.sub(".", text)


def _known(text: str) -> str:
    """The clauses without a value that nobody measured, as sentences of their own."""
    if UNKNOWN not in text:
        return text
    kept = [told for sentence in _SENTENCES.split(text) if (told := _known_of(sentence))]
    return " ".join(kept) if kept else text.replace(UNKNOWN, wording.NOT_MEASURED)


def _known_of(sentence: str) -> str:
    """One sentence of the clauses that are known; "" where none is."""
    clauses = sentence.removesuffix(".").split("; ")
    kept = [clause for clause in clauses if UNKNOWN not in clause]
    if not kept:
        return ""
    told = "; ".join(kept) + "." * sentence.endswith(".")
    return told if kept[0] is clauses[0] else capital(told)


def _namespace(schema: Schema, found: Any) -> SimpleNamespace:
    """The declared fields and no others; what is not there is not measured."""
    known = found if isinstance(found, Mapping) else {}
    values = {name: _value(told, known.get(name)) for name, told in schema.items()}
    return SimpleNamespace(
        **{name: _compared(name, value, schema, values) for name, value in values.items()}
    )


def _compared(name: str, value: Any, schema: Schema, values: Mapping[str, Any]) -> Any:
    """The value, with its usual one where its fact has one."""
    if value is None:
        return UNMEASURED
    number = number_of(value)
    if number is None or f"{name}_usual" not in schema:
        return value
    compared = Compared(number)
    compared.unit, compared.usual = schema[name].unit, number_of(values[f"{name}_usual"])
    return compared


def _value(told: Fact, value: Any) -> Any:
    if told.kind is not Kind.SET:
        return CLEAN[told.kind](value) if told.kind in CLEAN else None
    return [_namespace(told.fields, record) for record in clean_set(value) or ()]


def compile_says(
    source: Scalar,
    vocabulary: Vocabulary,
    inputs: tuple[str, ...],
    file: str = "",
    key: str = "says",
) -> tuple[Says | None, tuple[Finding, ...]]:
    """The checked template under `key:`, or what is wrong with it. `file` is the text around it,
    `inputs` are all names that stand alone but the thresholds.
    """
    try:
        tree = _ENVIRONMENT.parse(source.text)
        scalars = (*inputs, *vocabulary.thresholds)
        found = list(mistakes(tree, Reader(vocabulary, scalars)))
        if not found:
            template = _ENVIRONMENT.from_string(source.text)
    except (TemplateSyntaxError, RecursionError) as error:
        found = [f"not a template: {str(error)[:200]}"]
    if found:
        return None, tuple(
            _place(source.place, text, file).finding(f"{key}: {text}")
            for text in dict.fromkeys(found)
        )
    names = frozenset(meta.find_undeclared_variables(tree))
    return Says(source.text, names, template, vocabulary.evidence, inputs), ()


_FIELD = re.compile(r"no field on (\w+) named '(\w+)'")
_NAME = re.compile(r"named '(\w+)'|filter '(\w+)'|`(\w+)` alone|`(\w+\.\w+)` is")
_PARAGRAPH = 80
"""Lines below `says:` in which a mistake is looked for."""


def _place(start: Place, mistake: str, file: str) -> Place:
    """Where the name that a mistake tells stands in the paragraph; its start where that is unclear.

    A folded paragraph (`>`) does not run in step with the file, so the name is looked for.
    """
    field, name = _FIELD.search(mistake), _NAME.search(mistake)
    groups = (f"{field[1]}.{field[2]}",) if field else name.groups() if name else ()
    wanted = next(filter(None, groups), "")
    if not wanted:
        return start
    no_dot = "." if "` alone" in mistake else ""
    word = re.compile(rf"(?<![\w.]){re.escape(wanted)}(?![\w{no_dot}])")
    for at, line in enumerate(places.lines(file)[start.line - 1 :][:_PARAGRAPH]):
        found = word.search(line, start.column - 1 if at == 0 else 0)
        if found:
            return Place(start.path, start.line + at, found.start() + 1, len(wanted))
    return start
