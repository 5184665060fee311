"""The small parts that runbook files are made of: names, durations, units, claims."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema

from tailhound.model.facts import UNITS
from tailhound.rules.condition.typed import meant

NAME_PATTERN = r"^[a-z][a-z0-9_]{0,59}$"
ID_PATTERN = r"^[a-z][a-z0-9-]{0,59}$"
DURATION_PATTERN = r"^[0-9]{1,5}(s|m|h|d)$"

PATTERNS: Mapping[str, str] = {
    NAME_PATTERN: "a name begins with a small letter and holds small letters, digits and `_`",
    ID_PATTERN: "an id begins with a small letter and holds small letters, digits and `-`",
    DURATION_PATTERN: "a duration is a whole number with s, m, h or d: `10m`",
}
"""What a pattern asks for, in words."""

Name = Annotated[str, Field(pattern=NAME_PATTERN)]
Id = Annotated[str, Field(pattern=ID_PATTERN)]
Duration = Annotated[str, Field(pattern=DURATION_PATTERN)]
Sentence = Annotated[str, Field(min_length=1, max_length=160)]
Text = Annotated[str, Field(max_length=2000)]


def _known_unit(value: str) -> str:
    if value not in UNITS:
        raise ValueError(f"no unit named {value!r}{meant(value, UNITS)}")
    return value


Unit = Annotated[
    str, AfterValidator(_known_unit), WithJsonSchema({"type": "string", "enum": sorted(UNITS)})
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


def _listed(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


Onset = Annotated[
    list[Annotated[str, Field(max_length=120)]],
    BeforeValidator(_listed),
    Field(min_length=1, max_length=5),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "string"},
                {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 5},
            ],
            "description": "the fact whose series shows when the mechanism began, or several",
        }
    ),
]
"""`fact`, or a list of facts."""

Literal_ = str | int | float | bool | list[str]
Fact_ = Annotated[Any, WithJsonSchema({})]


class Part(BaseModel):
    """A mapping of the file."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)
