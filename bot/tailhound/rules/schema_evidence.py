"""What may stand under `evidence:`."""

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Discriminator, Field, Tag, WithJsonSchema

from tailhound.rules.schema_parts import DURATION_PATTERN, Duration, Literal_, Name, Part, Unit


def _way(value: Any) -> str:
    keyed = "key" in value if isinstance(value, dict) else isinstance(value, KeyFact)
    return "key" if keyed else "json"


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
    WithJsonSchema({"anyOf": [{"const": True}, {"type": "string", "pattern": DURATION_PATTERN}]}),
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
    ] = Field(default={})
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
