"""Many files at once: every finding of every file, and what only shows across them."""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from typing import Any

from tailhound.errors import Finding, RunbookErrors
from tailhound.rules.bounds import unfit
from tailhound.rules.causes import CAUSES
from tailhound.rules.compiling import Collectors, compile_runbook
from tailhound.rules.condition.typed import meant
from tailhound.rules.places import follow
from tailhound.rules.runbook import Runbook
from tailhound.rules.yaml_evidence import Allows
from tailhound.settings import Profile

Sources = Mapping[str, str | bytes]
"""The text (or bytes) of each file by its name."""


def compile_files(
    sources: Sources, collectors: Collectors, allow: Allows
) -> tuple[tuple[Runbook, ...], tuple[Finding, ...]]:
    """The runbooks of the files that are right, and all findings over all files, in file order."""
    read: list[Runbook] = []
    findings: list[Finding] = []
    for path, source in sources.items():
        runbook, found = compile_runbook(path, source, collectors, allow)
        findings.extend(found)
        if runbook is not None:
            read.append(runbook)
    findings.extend(_across(read))
    order = {path: index for index, path in enumerate(sources)}
    findings.sort(key=lambda f: (order.get(f.path, 0), f.line, f.column))
    wrong = {finding.path for finding in findings}
    return tuple(runbook for runbook in read if runbook.path not in wrong), tuple(findings)


def load_runbooks(sources: Sources, collectors: Collectors, allow: Allows) -> tuple[Runbook, ...]:
    """All runbooks; RunbookErrors with everything that is wrong in any of the files."""
    runbooks, findings = compile_files(sources, collectors, allow)
    if findings:
        raise RunbookErrors(findings)
    return runbooks


def _across(runbooks: Iterable[Runbook]) -> Iterable[Finding]:
    """One id, one file; `leads_to` and `explained_by` name causes that exist."""
    first: dict[str, Runbook] = {}
    for runbook in runbooks:
        if earlier := first.get(runbook.id):
            place = follow(runbook.root, ("runbook",)).place
            yield place.finding(f"{runbook.id!r} is already the id of {earlier.path}")
        first.setdefault(runbook.id, runbook)
    known = (*CAUSES, *first)
    for runbook in first.values():
        for key, ids in (("leads_to", runbook.leads_to), ("explained_by", runbook.explained_by)):
            for index, id in enumerate(ids):
                if id not in known:
                    place = follow(runbook.root, (key, index)).place
                    yield place.finding(f"no cause named {id!r}{meant(id, known)}")


@dataclass(frozen=True, slots=False, kw_only=True)
class Compiled:
    """Everything that decides verdicts and texts: runbooks, profiles, templates. Kept by its sha.

    The runbooks are kept in the order of their ids. `slo` are the configured objectives, before any
    profile. `templates` are texts by name.
    """

    runbooks: tuple[Runbook, ...]
    profiles: tuple[Profile, ...] = ()
    slo: Mapping[str, float] = field(default_factory=dict)
    templates: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        in_order = tuple(sorted(self.runbooks, key=lambda runbook: runbook.id))
        object.__setattr__(self, "runbooks", in_order)
        findings = tuple(_profile_findings(self.runbooks, self.profiles))
        if findings:
            raise RunbookErrors(findings)

    @cached_property
    def sha(self) -> str:
        """The sha256 of all texts and numbers; equal sets have equal ones."""
        return sha256(self.to_json().encode("utf-8", "surrogatepass")).hexdigest()

    @cached_property
    def by_id(self) -> Mapping[str, Runbook]:
        """The runbooks by id."""
        return {runbook.id: runbook for runbook in self.runbooks}

    def to_json(self) -> str:
        """The texts that it was compiled from, in canonical JSON."""
        told: dict[str, Any] = {
            "runbooks": {runbook.path: runbook.source for runbook in self.runbooks},
            "profiles": [profile.model_dump(mode="json") for profile in self.profiles],
            "slo": dict(self.slo),
            "templates": dict(self.templates),
        }
        return json.dumps(told, sort_keys=True, separators=(",", ":"))

    @staticmethod
    def from_json(text: str, collectors: Collectors, allow: Allows) -> "Compiled":
        """Compile it again; RunbookErrors when today's collectors or allow-list don't fit."""
        told = json.loads(text)
        return Compiled(
            runbooks=load_runbooks(told["runbooks"], collectors, allow),
            profiles=tuple(Profile.model_validate(profile) for profile in told["profiles"]),
            slo=told["slo"],
            templates=told["templates"],
        )

    def site(self, labels: Mapping[str, str]) -> "Site":
        """What the profiles that match these labels change; a later one wins."""
        thresholds: dict[str, dict[str, float]] = {}
        slo, prefix = dict(self.slo), ""
        for profile in self.profiles:
            if all(labels.get(label) == value for label, value in profile.match.items()):
                for id, values in profile.thresholds.items():
                    thresholds.setdefault(id, {}).update(values)
                slo.update(profile.slo)
                prefix = profile.metric_prefix or prefix
        return Site(thresholds=thresholds, slo=slo, metric_prefix=prefix)


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """What is special where an incident is: thresholds by runbook id, objectives, metric prefix."""

    thresholds: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    slo: Mapping[str, float] = field(default_factory=dict)
    metric_prefix: str = ""


def profile_mistakes(
    runbooks: Iterable[Runbook], profiles: tuple[Profile, ...], broken: Collection[str] = ()
) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """What is wrong with the thresholds of profiles: the key in the configuration, and why.

    `broken` are ids of runbooks that don't load: nothing can be said about their thresholds.
    """
    by_id = {runbook.id: runbook for runbook in runbooks}
    for index, profile in enumerate(profiles):
        for id, values in profile.thresholds.items():
            where = ("profiles", index, "thresholds", id)
            if id in broken:
                continue
            if id not in by_id:
                yield where, f"no runbook named {id!r}{meant(id, by_id)}"
                continue
            known = by_id[id].thresholds
            for name, value in values.items():
                if name not in known:
                    yield (*where, name), f"no threshold named {name!r}{meant(name, known)}"
                elif wrong := unfit(value, known[name].unit):
                    yield (*where, name), wrong


def _profile_findings(
    runbooks: tuple[Runbook, ...], profiles: tuple[Profile, ...]
) -> Iterator[Finding]:
    for where, why in profile_mistakes(runbooks, profiles):
        yield Finding("configuration", 1, 1, f"{'.'.join(map(str, where))}: {why}")
