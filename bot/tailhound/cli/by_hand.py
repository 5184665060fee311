"""`--runbook ID --input name=value ...`: what a person says, in place of an alert."""

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tailhound.diagnosis.group import telling_labels
from tailhound.errors import SettingsError
from tailhound.rules.runbook import Runbook
from tailhound.settings import Incidents

_LABEL_OF = {"pods": "pod", "nodes": "node", "workload": "deployment", "model_name": "model_name"}
"""The label that an input which is not one itself is looked for by."""


@dataclass(frozen=True, slots=True)
class ByHand:
    """`labels` are those of the alert that stands for the inputs; `given` is what was told of the
    subject itself, by the names of `diagnosis.resolved.Resolved`: it is believed.
    """

    labels: Mapping[str, str]
    given: Mapping[str, Any]


def by_hand(runbook: Runbook, inputs: Sequence[str], rules: Incidents) -> ByHand:
    """The inputs of a runbook, or labels of an alert; SettingsError names what it takes."""
    takes = _takes(runbook, rules)
    if not inputs:
        raise SettingsError(f"--runbook {runbook.id} needs --input NAME=VALUE: {takes}")
    labels: dict[str, str] = {}
    given: dict[str, Any] = {}
    for text in inputs:
        name, equals, value = text.partition("=")
        if not equals or not name or not value:
            raise SettingsError(f"--input {text}: write NAME=VALUE, as in --input namespace=prod")
        if name in runbook.inputs:
            _fill(runbook, name, value, labels, given)
        elif name in _labels(runbook, rules):
            labels[name] = value
        else:
            known = [*runbook.inputs, *_labels(runbook, rules)]
            near = difflib.get_close_matches(name, known, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise SettingsError(f"--input {text}: no input named {name!r}{hint} {takes}")
    if "pods" in given:
        given |= {"pods_count": len(given["pods"]), "found_by": "--input"}
    return ByHand({"alertname": f"by hand: {runbook.id}", **labels}, given)


def _fill(
    runbook: Runbook, name: str, value: str, labels: dict[str, str], given: dict[str, Any]
) -> None:
    """One input of the runbook: a label, or a part of the subject with a label to look for it."""
    wanted = runbook.inputs[name]
    if wanted.from_label:
        labels[wanted.from_label] = value
        return
    values = [part for part in value.split(",") if part] if wanted.is_set else [value]
    if not values:
        raise SettingsError(f"--input {name}={value}: write at least one name, as in {name}=a,b")
    attribute = wanted.attribute
    labels.setdefault(_LABEL_OF.get(attribute, attribute), values[0])
    several = list(dict.fromkeys([*given.get(attribute, []), *values]))
    given[attribute] = several if wanted.is_set else value


def _labels(runbook: Runbook, rules: Incidents) -> tuple[str, ...]:
    """The labels of an alert that say something here."""
    own = (item.from_label for item in runbook.inputs.values() if item.from_label)
    return tuple(dict.fromkeys((*telling_labels(rules), *own)))


def _takes(runbook: Runbook, rules: Incidents) -> str:
    others = [name for name in _labels(runbook, rules) if name not in runbook.inputs]
    return (
        f"{runbook.id} takes {', '.join(runbook.inputs)}; "
        f"the labels of an alert count too: {', '.join(others)}"
    )
