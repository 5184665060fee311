"""What may stand in a runbook file. Unknown keys are refused: a typo must not look like a default.

The models say the shape only; whether a name means something is checked in `rules.runbook`.
`json_schema()` is what editors use; the committed copy is docs/authors/runbook.schema.json.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    WithJsonSchema,
)

from tailhound.model.facts import UNITS
from tailhound.rules.condition.typed import meant
from tailhound.rules.inputs import PHRASES

_NAME = r"^[a-z][a-z0-9_]{0,59}$"
_ID = r"^[a-z][a-z0-9-]{0,59}$"
_DURATION = r"^[0-9]{1,5}(s|m|h|d)$"

PATTERNS: Mapping[str, str] = {
    _NAME: "a name begins with a small letter and holds small letters, digits and `_`",
    _ID: "an id begins with a small letter and holds small letters, digits and `-`",
    _DURATION: "a duration is a whole number with s, m, h or d: `10m`",
}
"""What a pattern asks for, in words."""

Name = Annotated[str, Field(pattern=_NAME)]
Id = Annotated[str, Field(pattern=_ID)]
Duration = Annotated[str, Field(pattern=_DURATION)]
Sentence = Annotated[str, Field(min_length=1, max_length=160)]
Text = Annotated[str, Field(max_length=2000)]


def _known_unit(value: str) -> str:
    if value not in UNITS:
        raise ValueError(f"no unit named {value!r}{meant(value, UNITS)}")
    return value


def _known_phrase(value: str) -> str:
    if value not in PHRASES:
        options = ", ".join(f"`{phrase}`" for phrase in PHRASES)
        raise ValueError(f"must be `{{from_label: ..}}` or one of {options}")
    return value


def _shape(value: Any) -> str:
    return "mapping" if isinstance(value, dict | BaseModel) else "text"


def _way(value: Any) -> str:
    keyed = "key" in value if isinstance(value, dict) else isinstance(value, KeyFact)
    return "key" if keyed else "json"


Unit = Annotated[
    str, AfterValidator(_known_unit), WithJsonSchema({"type": "string", "enum": sorted(UNITS)})
]
Phrase = Annotated[
    str,
    AfterValidator(_known_phrase),
    WithJsonSchema({"type": "string", "enum": sorted(PHRASES)}),
]


def _one_claim(value: Any) -> Any:
    if not isinstance(value, dict) or len(value) != 1:
        raise ValueError("a claim is one `sentence: condition`")
    ((sentence, condition),) = value.items()
    if isinstance(condition, dict | list) or condition is None:
        raise ValueError(
            "behind the sentence stands a condition, such as `cpu.throttled_ratio > strong`"
        )
    if not 1 <= len(sentence) <= 120:
        raise ValueError("the sentence of a claim has 1 to 120 characters")
    return value


Claim = Annotated[
    Mapping[str, Any],
    BeforeValidator(_one_claim),
    WithJsonSchema(
        {
            "type": "object",
            "minProperties": 1,
            "maxProperties": 1,
            "additionalProperties": {"type": ["string", "boolean", "number"]},
            "description": "sentence: condition",
        }
    ),
]
Literal_ = str | int | float | bool | list[str]
Fact_ = Annotated[Any, WithJsonSchema({})]


class Part(BaseModel):
    """A mapping of the file."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Trigger(Part):
    """Which alerts start it first, and how a person does. Whatever applies runs anyway."""

    alerts: list[Annotated[str, Field(min_length=1, max_length=200)]] = []
    where: dict[str, Annotated[str, Field(max_length=200)]] = {}
    command: Annotated[str, Field(max_length=120)] = ""


class FromLabel(Part):
    """An input that is bound from a label of the alert."""

    from_label: Annotated[str, Field(pattern=r"^[a-zA-Z_][a-zA-Z0-9_]*$")]
    default: str | int | float | None = None


Input = Annotated[
    Annotated[FromLabel, Tag("mapping")] | Annotated[Phrase, Tag("text")], Discriminator(_shape)
]


class Threshold(Part):
    """A number with its unit, and where it comes from."""

    value: Annotated[float, Field(allow_inf_nan=False)]
    unit: Unit
    source: Annotated[str, Field(min_length=1, max_length=300)]


class PromqlFact(Part):
    """One query; with `each`, one value per label value."""

    query: Annotated[str, Field(min_length=1, max_length=4000)]
    unit: Unit
    each: Annotated[str, Field(pattern=r"^[a-zA-Z_][a-zA-Z0-9_]*$")] | None = None
    promql: Literal["unchecked"] | None = None


class JsonFact(Part):
    """One value taken out of JSON by a JMESPath expression."""

    jmespath: Annotated[str, Field(min_length=1, max_length=300)]
    unit: Unit | None = None
    kind: Literal["number", "text", "yes/no"] | None = None
    default: str | int | float | bool | None = None


class KeyFact(Part):
    """One number out of `key: value` lines (/proc/meminfo)."""

    key: Annotated[str, Field(min_length=1, max_length=100)]
    unit: Unit


class KubernetesEvidence(Part):
    """One object, or the objects of a list."""

    get: str | None = None
    list: str | None = None
    api: str | None = None
    namespace: str | None = None
    name: str | None = None
    label_selector: str | None = None
    field_selector: str | None = None
    facts: Annotated[dict[Name, JsonFact], Field(min_length=1)]


def _twice(value: Any) -> Any:
    if value is True:
        return "10s"
    if not isinstance(value, str):
        raise ValueError("must be true, or the gap: `10s`")
    return value


Twice = Annotated[
    Duration,
    BeforeValidator(_twice),
    WithJsonSchema({"anyOf": [{"const": True}, {"type": "string", "pattern": _DURATION}]}),
]


class SshEvidence(Part):
    """One command on one host, or on each host of a set."""

    on: str
    run: Annotated[list[str | int], Field(min_length=1, max_length=40)]
    parse: Literal["number", "json", "lines", "text", "key_value"]
    fact: Name | None = None
    unit: Unit | None = None
    facts: dict[
        Name,
        Annotated[
            Annotated[JsonFact, Tag("json")] | Annotated[KeyFact, Tag("key")], Discriminator(_way)
        ],
    ] = {}
    twice: Twice | None = None


class Evidence(Part):
    """Exactly one of `collect`, `promql`, `kubernetes`, `ssh`."""

    collect: str | None = None
    with_: dict[str, Literal_] = Field(default={}, alias="with")
    when: Annotated[str, Field(max_length=400)] | None = None
    promql: Annotated[dict[Name, PromqlFact], Field(min_length=1)] | None = None
    compare_to: Literal["usual"] | None = None
    kubernetes: KubernetesEvidence | None = None
    ssh: SshEvidence | None = None


class AtMost(Part):
    """The highest confidence that this runbook can have, and why."""

    at_most: Literal["low", "medium", "high"]
    because: Sentence


class Approval(Part):
    """Who may approve, how many of them, and for how long."""

    by: Annotated[str, Field(min_length=1, max_length=80)]
    count: Annotated[int, Field(ge=1, le=5)] = 1
    expires: Duration = "30m"


class Limit(Part):
    """At most so many per input value and window, counted over all runbooks."""

    at_most: Annotated[int, Field(ge=1, le=100)]
    per: Name
    window: Duration


class Do(Part):
    """An action with its literal parameters."""

    action: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*\.[a-z][a-z0-9_]*$")]
    with_: dict[str, Literal_] = Field(default={}, alias="with")


class Verify(Part):
    """Wait, collect again; everything must hold before `within` is over."""

    after: Duration
    within: Duration
    collect: Annotated[list[Name], Field(min_length=1)]
    expect: Annotated[list[Claim], Field(min_length=1)]


class Mitigation(Part):
    """What can be done: steps to read, or one click."""

    title: Sentence
    mode: Literal["suggested", "one-click"]
    risk: Literal["low", "medium", "high"]
    helps: Annotated[str, Field(max_length=300)] = ""
    ttft: Annotated[str, Field(max_length=200)] = ""
    cost: Annotated[str, Field(max_length=200)] = ""
    complexity: Annotated[str, Field(max_length=200)] = ""
    when: Annotated[str, Field(max_length=300)] = ""
    steps: list[Annotated[str, Field(min_length=1, max_length=600)]] = []
    guard: list[Claim] = []
    approval: Approval | None = None
    limit: Limit | None = None
    do: Do | None = None
    verify: Verify | None = None
    undo: Do | None = None


class Test(Part):
    """One case: what differs from the baseline, and what must come out."""

    name: Sentence
    given: dict[
        str,
        Annotated[
            Annotated[dict[str, Fact_], Tag("mapping")] | Annotated[str, Tag("text")],
            Discriminator(_shape),
        ],
    ] = {}
    expect: Literal["confirmed", "refuted", "unknown", "not-applicable"]
    offers: list[Id] | None = None
    missing: list[str] | None = None
    says: str | None = None
    confidence: Literal["high", "medium", "low"] | None = None


class RunbookFile(Part):
    """A whole file: one cause."""

    runbook: Id
    cause: Annotated[str, Field(min_length=1, max_length=120)]
    owner: Annotated[str, Field(max_length=80)] = ""
    docs: Annotated[str, Field(max_length=300)] = ""
    summary: Text = ""
    trigger: Trigger = Trigger()
    inputs: dict[Name, Input] = {}
    applies: list[Claim] = []
    thresholds: dict[Name, Threshold] = {}
    evidence: Annotated[dict[Name, Evidence], Field(min_length=1)]
    onset: str | None = None
    confirm: Annotated[list[Claim], Field(min_length=1, max_length=20)]
    optional: Annotated[list[Claim], Field(max_length=20)] = []
    refute: Annotated[list[Claim], Field(max_length=20)] = []
    leads_to: list[Id] = []
    explained_by: list[Id] = []
    confidence: AtMost | None = None
    says: Text = ""
    mitigations: dict[Id, Mitigation] = {}
    status: Literal["active", "draft"] = "active"
    baseline: dict[str, dict[str, Fact_]] = {}
    tests: list[Test] = []


def json_schema() -> dict[str, Any]:
    """The JSON schema of a runbook file, for editors."""
    schema = RunbookFile.model_json_schema(by_alias=True)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **schema,
        "title": "tailhound runbook",
    }
