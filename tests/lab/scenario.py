"""A scenario folder, read and checked: what happened, what can be seen of it, what must be said.

The format is fixed (tests/scenarios/README.md describes it), so that anybody can add one.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import Field, TypeAdapter, ValidationError, model_validator

from tests.lab.series import Past, Series, Span, Strict, replaced


class ScenarioError(Exception):
    """The scenario can't be used: the text names file, key and what is wrong, all at once."""


class Rule(Strict):
    """The alerting rule of a scenario that runs the full chain."""

    expr: str = "vector(1)"
    wait: Annotated[Span, Field(alias="for")] = 0.0


class AlertSpec(Strict):
    """The alert as Alertmanager sends it. `rule` is used by `full_chain: true` alone.

    `padding` fills an annotation up to that many characters.
    """

    labels: Mapping[str, str]
    annotations: Mapping[str, str] = {}
    padding: Mapping[str, Annotated[int, Field(ge=0, le=4_000_000)]] = {}
    since: Past = 0.0
    rule: Rule = Rule()

    @model_validator(mode="after")
    def _named(self) -> "AlertSpec":
        if not self.labels.get("alertname"):
            raise ValueError("labels need an alertname")
        return self

    @property
    def all_annotations(self) -> dict[str, str]:
        """The annotations, padded."""
        padded = {
            name: self.annotations.get(name, "").ljust(n, "x") for name, n in self.padding.items()
        }
        return {**self.annotations, **padded}


class LogText(Strict):
    """The log of one container."""

    text: str = ""
    text_file: str = ""


class KubernetesSpec(Strict):
    """Objects of the cluster. `forbidden` names resources that the bot may not read (403)."""

    objects: tuple[Mapping[str, Any], ...] = ()
    logs: Mapping[str, LogText] = {}
    forbidden: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _identified(self) -> "KubernetesSpec":
        for index, found in enumerate(self.objects):
            missing = [key for key in ("apiVersion", "kind") if not found.get(key)]
            if missing or not (found.get("metadata") or {}).get("name"):
                raise ValueError(f"objects[{index}] needs apiVersion, kind and metadata.name")
        return self


class Answer(Strict):
    """What a tool prints. `then` replaces parts of it from the second reading on."""

    words: tuple[str, ...] = ()
    stdout: str | None = None
    stdout_file: str | None = None
    csv: tuple[Mapping[str, Any], ...] | None = None
    stderr: str = ""
    exit: Annotated[int, Field(ge=0, le=255)] = 0
    delay: Span = 0.0
    then: "Answer | None" = None


class FileText(Strict):
    """What a file of the host says; `then` from the second reading on."""

    text: str
    then: str | None = None


class HostSpec(Strict):
    """A host: its tools on the PATH, and what its own files say."""

    tools: Mapping[str, tuple[Answer, ...]] = {}
    files: Mapping[str, FileText | Literal["absent"]] = {}


class Expect(Strict):
    """What a right diagnosis says. `primary` null: no cause may be confirmed; a list: any of them.

    Without the key `primary` (`primary_given` false) any primary is right.
    """

    primary: str | tuple[str, ...] | None = None
    confirmed: tuple[str, ...] = ()
    refuted: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    never_confirmed: tuple[str, ...] = ()

    @property
    def primary_given(self) -> bool:
        """Whether the scenario says anything about the primary cause."""
        return "primary" in self.model_fields_set

    @property
    def primaries(self) -> tuple[str, ...]:
        """The primary causes that are right."""
        if self.primary is None:
            return ()
        return (self.primary,) if isinstance(self.primary, str) else self.primary


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """One scenario, checked. `step` is the scrape interval in seconds.

    In `config`, `@folder@` is replaced by the scenario's folder.
    """

    folder: Path
    name: str
    alert: AlertSpec
    step: float
    series: tuple[Series, ...]
    kubernetes: KubernetesSpec | None
    hosts: Mapping[str, HostSpec]
    unreachable: frozenset[str]
    full_chain: bool
    config: Mapping[str, Any]
    expect: Expect


class _Top(Strict):
    name: str
    source: str = ""
    alert: AlertSpec
    prometheus: Mapping[str, Any] | None = None
    kubernetes: KubernetesSpec | None = None
    hosts: Mapping[str, HostSpec] = {}
    unreachable: tuple[str, ...] = ()
    full_chain: bool = False
    config: Mapping[str, Any] = {}
    expect: Expect


class _Prometheus(Strict):
    scrape: Annotated[Span, Field(gt=0)] = 15.0
    let: Mapping[str, str] = {}
    series: tuple[Mapping[str, Any], ...] = ()


def load(folder: Path) -> Scenario:
    """The scenario of a folder (or of its scenario.yaml); ScenarioError lists all that is wrong."""
    path = folder if folder.suffix == ".yaml" else folder / "scenario.yaml"
    try:
        raw = yaml.load(path.read_text(encoding="utf-8"), Loader=_Strict)  # noqa: S506 - a SafeLoader
    except OSError as error:
        raise ScenarioError(f"{path}: can't be read: {error.strerror}") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ScenarioError(f"{path}: not YAML: {error}") from error
    try:
        top = _Top.model_validate(raw)
        data = _Prometheus.model_validate(top.prometheus or {})
    except ValidationError as error:
        raise ScenarioError(_explained(path, "", error)) from error
    _check_names(path, top)
    return Scenario(
        folder=path.parent,
        name=top.name,
        alert=top.alert,
        step=data.scrape,
        series=_series(path, data),
        kubernetes=top.kubernetes,
        hosts=top.hosts,
        unreachable=frozenset(top.unreachable),
        full_chain=top.full_chain,
        config=_placed(top.config, str(path.parent.resolve())),
        expect=top.expect,
    )


def _check_names(path: Path, top: _Top) -> None:
    known = {"prometheus", "kubernetes", *top.hosts}
    strange = sorted(set(top.unreachable) - known)
    if strange:
        raise ScenarioError(f"{path}: unreachable: {strange[0]!r} is none of {sorted(known)}")
    answers = [
        answer for host in top.hosts.values() for tool in host.tools.values() for answer in tool
    ]
    answers += [answer.then for answer in answers if answer.then]
    for answer in answers:
        if answer.stdout_file and not (path.parent / answer.stdout_file).is_file():
            raise ScenarioError(f"{path}: stdout_file: there is no {answer.stdout_file} beside it")


def _placed(value: Any, folder: str) -> Any:
    if isinstance(value, Mapping):
        return {key: _placed(inner, folder) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_placed(inner, folder) for inner in value]
    return value.replace("@folder@", folder) if isinstance(value, str) else value


_SERIES = TypeAdapter(Series)


def _series(path: Path, data: _Prometheus) -> tuple[Series, ...]:
    found, wrong, seen = [], [], set()
    for index, raw in enumerate(data.series):
        where = f"prometheus.series[{index}]"
        try:
            series = _SERIES.validate_python(replaced(dict(raw), data.let))
        except ValidationError as error:
            wrong.append(_explained(path, where, error))
            continue
        except ValueError as error:
            wrong.append(f"{path}: {where}: {error}")
            continue
        if series.text in seen:
            wrong.append(f"{path}: {where}: {series.text} stands twice")
        seen.add(series.text)
        found.append(series)
    if wrong:
        raise ScenarioError("\n".join(wrong))
    return tuple(found)


def _explained(path: Path, where: str, error: ValidationError) -> str:
    def line(item: Any) -> str:
        key = ".".join([where, *map(str, item["loc"])]).strip(".")
        return f"{path}: {key}: {item['msg'].removeprefix('Value error, ')}"

    return "\n".join(line(item) for item in error.errors())


class _Strict(yaml.CSafeLoader):
    """Duplicate keys are errors."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen = set()
        for key, _ in node.value:
            if key.tag != "tag:yaml.org,2002:merge" and key.value in seen:
                mark = key.start_mark
                raise yaml.constructor.ConstructorError(
                    None, None, f"{key.value!r} stands twice", mark
                )
            seen.add(key.value)
        return super().construct_mapping(node, deep)
