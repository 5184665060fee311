"""What may stand in a runbook file. Unknown keys are refused: a typo must not look like a default.

The models say the shape only; whether a name means something is checked in `rules.compiling`.
`json_schema()` is what editors use; the committed copy is docs/authors/runbook.schema.json.
"""

from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    Discriminator,
    Field,
    Tag,
    WithJsonSchema,
    model_validator,
)

from tailhound.model.stages import StageName
from tailhound.rules.bounds import unfit
from tailhound.rules.inputs import PHRASES
from tailhound.rules.schema_evidence import Evidence
from tailhound.rules.schema_parts import (
    Claim,
    Duration,
    Fact_,
    Id,
    Literal_,
    Name,
    Onset,
    Part,
    Sentence,
    Text,
    Unit,
)


def _known_phrase(value: str) -> str:
    if value not in PHRASES:
        options = ", ".join(f"`{phrase}`" for phrase in PHRASES)
        raise ValueError(f"must be `{{from_label: ..}}` or one of {options}")
    return value


def _shape(value: Any) -> str:
    return "mapping" if isinstance(value, dict | BaseModel) else "text"


Phrase = Annotated[
    str,
    AfterValidator(_known_phrase),
    WithJsonSchema({"type": "string", "enum": sorted(PHRASES)}),
]


class Trigger(Part):
    """Which alerts start it first, and how a person does. Whatever applies runs anyway."""

    alerts: list[Annotated[str, Field(min_length=1, max_length=200)]] = Field(default=[])
    where: dict[str, Annotated[str, Field(max_length=200)]] = Field(default={})
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

    @model_validator(mode="after")
    def _can_be(self) -> "Threshold":
        if wrong := unfit(self.value, self.unit):
            raise ValueError(wrong)
        return self


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
    risk_of: Annotated[str, Field(max_length=90)] = ""
    helps: Annotated[str, Field(max_length=300)] = ""
    ttft: Annotated[str, Field(max_length=200)] = ""
    cost: Annotated[str, Field(max_length=200)] = ""
    complexity: Annotated[str, Field(max_length=200)] = ""
    when: Annotated[str, Field(max_length=300)] = ""
    of: Annotated[str, Field(max_length=500)] = ""
    while_it_lasts: bool = False
    steps: list[Annotated[str, Field(min_length=1, max_length=600)]] = Field(default=[])
    guard: list[Claim] = Field(default=[])
    approval: Approval | None = None
    limit: Limit | None = None
    do: Do | None = None
    verify: Verify | None = None
    undo: Do | None = None


class Look(Part):
    """What stands out and what to look at, where its first claim holds and it is not confirmed."""

    stands_out: Annotated[str, Field(min_length=1, max_length=800)]
    at: Annotated[str, Field(min_length=1, max_length=400)]
    command: Annotated[str, Field(max_length=300)] = ""


class Unseen(Part):
    """How a person sees what decides, where none of `unless_known` was measured."""

    unless_known: Annotated[list[str], Field(min_length=1, max_length=8)]
    what: Annotated[str, Field(min_length=1, max_length=120)]
    at: Annotated[str, Field(min_length=1, max_length=200)]
    command: Annotated[str, Field(max_length=300)] = ""


class Test(Part):
    """One case: what differs from the baseline, and what must come out."""

    name: Sentence
    given: dict[
        str,
        Annotated[
            Annotated[dict[str, Fact_], Tag("mapping")] | Annotated[str, Tag("text")],
            Discriminator(_shape),
        ],
    ] = Field(default={})
    expect: Literal["confirmed", "refuted", "unknown", "not-applicable"]
    offers: list[Id] | None = None
    missing: list[str] | None = None
    says: str | None = None
    title: str | None = None
    look: str | None = None
    confidence: Literal["high", "medium", "low"] | None = None


class RunbookFile(Part):
    """A whole file: one cause."""

    runbook: Id
    cause: Annotated[str, Field(min_length=1, max_length=120)]
    was: Annotated[str, Field(max_length=120)] = ""
    headline: Text = ""
    owner: Annotated[str, Field(max_length=80)] = ""
    docs: Annotated[str, Field(max_length=300)] = ""
    summary: Text = ""
    trigger: Trigger = Trigger()
    inputs: dict[Name, Input] = Field(default={})
    applies: list[Claim] = Field(default=[])
    thresholds: dict[Name, Threshold] = Field(default={})
    evidence: Annotated[dict[Name, Evidence], Field(min_length=1)]
    onset: Onset | None = None
    confirm: Annotated[list[Claim], Field(min_length=1, max_length=20)]
    optional: Annotated[list[Claim], Field(max_length=20)] = Field(default=[])
    otherwise: dict[str, Sentence] = Field(default={})
    refute: Annotated[list[Claim], Field(max_length=20)] = Field(default=[])
    leads_to: list[Id] = Field(default=[])
    explained_by: list[Id] = Field(default=[])
    slows: list[StageName] = Field(default=[])
    confidence: AtMost | None = None
    says: Text = ""
    beware: Annotated[str, Field(max_length=400)] = ""
    look: Look | None = None
    unseen: Unseen | None = None
    mitigations: dict[Id, Mitigation] = Field(default={})
    status: Literal["active", "draft"] = "active"
    baseline: dict[str, dict[str, Fact_]] = Field(default={})
    tests: list[Test] = Field(default=[])


def json_schema() -> dict[str, Any]:
    """The JSON schema of a runbook file, for editors."""
    schema = RunbookFile.model_json_schema(by_alias=True)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **schema,
        "title": "tailhound runbook",
    }
