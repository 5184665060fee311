"""One investigation, a wave at a time: resolve, collect, deepen, decide. No database, no engine.

`tailhound diagnose` runs it on a plain event loop; the workflow runs each wave as a durable step,
so what a wave returns is plain JSON.
"""

import asyncio
import dataclasses
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

from tailhound.diagnosis.before import CHANGES
from tailhound.diagnosis.diagnose import Case, Circumstances, diagnose, sketch, values_for
from tailhound.diagnosis.group import nodes_of, workload_key
from tailhound.diagnosis.named import named_by
from tailhound.diagnosis.plan import Plan, Planned, plan
from tailhound.diagnosis.resolve import Resolved
from tailhound.durable.gather import Ask, OnCount, gather
from tailhound.durable.investigating import OnProgress, Plain, Record
from tailhound.durable.memo import Memo
from tailhound.durable.one_first import OneFirst
from tailhound.durable.subject import RESOLVED, SUBJECT, Resolving, about, inputs_of, usual_of
from tailhound.flow import Collector, Transport, Turn
from tailhound.model import Diagnosis, Evidence, Incident, Progress
from tailhound.model.incident import ASKED_AGAIN_SECONDS
from tailhound.model.symptomless import LATENCY
from tailhound.model.unanswered import down, spared
from tailhound.rules.loading import Compiled, Site
from tailhound.settings import Settings
from tailhound.store.codec import evidence_from_plain, evidence_to_plain

ALWAYS = (LATENCY, CHANGES)
"""The collectors that every incident asks, whatever its runbooks want."""

MEMOS_AT_MOST = 200

RESOLVING_AGAIN, RESOLVING_SECONDS = 0.3, 6.0
"""The part of a late run's time in which the subject is looked for again, and its most seconds."""


class Investigator:
    """Asks and judges for one compiled set of runbooks."""

    def __init__(
        self,
        compiled: Compiled,
        collectors: Mapping[str, Collector[Any, Any]],
        transports: Sequence[Transport],
        settings: Settings,
    ) -> None:
        self._compiled = compiled
        self._runbooks = compiled.runbooks
        self._always = tuple(collectors[name] for name in ALWAYS if name in collectors)
        self._transports = tuple(transports)
        self._settings = settings
        self._memos: OrderedDict[tuple[str, int], Memo] = OrderedDict()

    def transports_for(self, _incident: Incident) -> Sequence[Transport]:
        """Who is asked about an incident: here, the same for all."""
        return self._transports

    async def resolve(self, incident: Incident, turn: Turn, *, record: Record) -> Plain:
        """Which pods, nodes and workload the incident is about, and what was asked to know it."""
        return await self._resolve(_Course(incident, turn, record, self.transports_for(incident)))

    async def _resolve(self, course: "_Course") -> Plain:
        incident, turn = course.incident, course.turn
        site = self._site(incident, Resolved())
        nodes = nodes_of(incident, self._settings.incidents)
        start = Resolved(
            metric_prefix=site.metric_prefix,
            usual=usual_of(incident, turn.as_of),
            nodes=nodes[: self._settings.incidents.subjects_at_most],
            nodes_count=len(nodes),
        )
        collector = Resolving(incident, start)
        ask = Ask(SUBJECT, collector, start)
        found = await gather(
            [ask],
            course.transports,
            turn,
            record=course.record,
            memo=self._memo(incident),
        )
        resolved = collector.resolved
        return {
            "resolved": RESOLVED.dump_python(resolved, mode="json"),
            "evidence": evidence_to_plain(found),
            "key": workload_key(resolved.cluster, resolved.namespace, resolved.workload),
        }

    async def collect(
        self,
        incident: Incident,
        resolved: Plain,
        turn: Turn,
        on_progress: OnProgress,
        *,
        record: Record,
    ) -> Plain:
        """Ask all first questions at once."""
        wanted = self._plan(resolved).first
        course = _Course(incident, turn, record, self.transports_for(incident))

        def tell(counts: Progress, collected: tuple[Evidence, ...]) -> None:
            on_progress(counts, partial(self._sketch, incident, resolved, counts, collected))

        found = await self._ask(wanted, course, tell)
        return {"evidence": evidence_to_plain(found)}

    def _sketch(
        self, incident: Incident, resolved: Plain, counts: Progress, evidence: Sequence[Evidence]
    ) -> Progress:
        """The counts with the symptom and what is ruled out, on the evidence so far; pure."""
        found = sketch(self._case(incident, resolved), evidence)
        return dataclasses.replace(
            counts,
            symptom=found.symptom,
            stages=found.stages,
            scope=found.scope,
            ruled_out=found.ruled_out,
        )

    async def deepen(
        self, incident: Incident, resolved: Plain, collected: Plain, turn: Turn, *, record: Record
    ) -> Plain:
        """Ask the conditional questions; only the new evidence comes back."""
        evidence = evidence_from_plain(collected["evidence"])
        wanted = self._second(self._plan(resolved), incident, resolved, evidence)
        course = _Course(incident, turn, record, self.transports_for(incident))
        found = await self._ask(wanted, course)
        return {"evidence": evidence_to_plain(found)}

    def _second(
        self, made: Plan, incident: Incident, resolved: Plain, evidence: Sequence[Evidence]
    ) -> list[Planned]:
        """The conditional questions that this evidence asks for, and that it does not answer."""
        site = self._site(incident, inputs_of(resolved))
        facts = {book.id: made.facts_of(book, evidence) for book in self._runbooks}
        values = {book.id: values_for(book, site) for book in self._runbooks}
        known = {item.name for item in evidence}
        return [item for item in made.second(facts, values) if item.name not in known]

    async def again(
        self,
        incident: Incident,
        resolved: Plain,
        names: Sequence[str],
        turn: Turn,
        *,
        record: Record,
    ) -> Plain:
        """Ask these questions, by the names of their evidence, once more.

        When the subject turns out to be another one now, everything is asked, about that one, and
        `resolved` is in the answer.
        """
        self._memos.pop((incident.id, incident.n), None)
        course = _Course(incident, turn, record, self._one_first(incident))
        other: Plain | None = None
        subject: tuple[Evidence, ...] = ()
        if SUBJECT in names:
            other, subject = await self._subject_again(resolved, course)
        made = self._plan(other or resolved)
        old = () if other else _kept(incident, names)
        first = [item for item in made.first if other or item.name in names]
        found = await self._ask(first, course)
        second = self._second(made, incident, other or resolved, (*old, *found))
        found += await self._ask(second, course)
        answer = {"evidence": evidence_to_plain((*subject, *found))}
        return answer | ({"resolved": other} if other else {})

    def _one_first(self, incident: Incident) -> tuple[Transport, ...]:
        """Who is asked again, one question first where nothing was answered or most refused."""
        evidence = incident.diagnosis.evidence if incident.diagnosis else ()
        refusing = spared(evidence)
        silent = {*down(evidence), *refusing}
        return tuple(
            OneFirst(one, silent, ASKED_AGAIN_SECONDS, refusing)
            for one in self.transports_for(incident)
        )

    async def _subject_again(
        self, resolved: Plain, course: "_Course"
    ) -> tuple[Plain | None, tuple[Evidence, ...]]:
        """The subject, looked for once more, None when it is the same; and how it was found."""
        now = asyncio.get_running_loop().time()
        part = now + min(RESOLVING_AGAIN * (course.turn.deadline - now), RESOLVING_SECONDS)
        turn = dataclasses.replace(course.turn, deadline=part)
        found = await self._resolve(dataclasses.replace(course, turn=turn))
        same = about(found) == about(resolved) or not found["resolved"]["pods"]
        return None if same else found, evidence_from_plain(found["evidence"])

    def decide(  # noqa: PLR0913 - what the workflow hands over, all by name
        self,
        incident: Incident,
        resolved: Plain,
        evidence: Sequence[Evidence],
        *,
        decided_at: datetime,
        at_deadline: bool,
        took_seconds: float,
    ) -> Diagnosis:
        """The verdict on what is there; pure."""
        self._memos.pop((incident.id, incident.n), None)
        subject = evidence_from_plain(resolved.get("evidence", []))
        known = {item.name for item in evidence}
        return diagnose(
            self._case(incident, resolved),
            (*(item for item in subject if item.name not in known), *evidence),
            Circumstances(
                decided_at=decided_at,
                at_deadline=at_deadline,
                took_seconds=took_seconds,
                mode=self._settings.mode,
                since=incident.since,
            ),
        )

    async def _ask(
        self,
        wanted: Sequence[Planned],
        course: "_Course",
        on_progress: OnCount | None = None,
    ) -> tuple[Evidence, ...]:
        asks = [Ask(item.name, item.collector, item.params) for item in wanted if not item.why_not]
        found = await gather(
            asks,
            course.transports,
            course.turn,
            on_progress=on_progress,
            record=course.record,
            memo=self._memo(course.incident),
        )
        return (*found, *(item.unasked for item in wanted if item.why_not))

    def _case(self, incident: Incident, resolved: Plain) -> Case:
        inputs = inputs_of(resolved)
        return Case(
            runbooks=self._runbooks,
            plan=self._plan(resolved),
            resolved=inputs,
            site=self._site(incident, inputs),
            named=named_by(incident.worst),
        )

    def _plan(self, resolved: Plain) -> Plan:
        return plan(self._runbooks, inputs_of(resolved), self._always)

    def _site(self, incident: Incident, resolved: Resolved) -> Site:
        subject = incident.subject
        labels = {
            **(incident.worst.labels if incident.worst else {}),
            "cluster": subject.cluster,
            "namespace": resolved.namespace or subject.namespace,
            "workload": resolved.workload or subject.workload,
        }
        return self._compiled.site(labels)

    def _memo(self, incident: Incident) -> Memo:
        """The answers of this investigation, shared by its waves while the process lives."""
        key = (incident.id, incident.n)
        self._memos[key] = memo = self._memos.pop(key, None) or Memo()
        while len(self._memos) > MEMOS_AT_MOST:
            self._memos.popitem(last=False)
        return memo


@dataclass(frozen=True, slots=True)
class _Course:
    """One wave of questions: about which incident, until when, who hears of it, who is asked."""

    incident: Incident
    turn: Turn
    record: Record
    transports: Sequence[Transport]


def _kept(incident: Incident, names: Sequence[str]) -> tuple[Evidence, ...]:
    """What the verdict rests on, without the evidence of these names."""
    old = incident.diagnosis.evidence if incident.diagnosis else ()
    return tuple(item for item in old if item.name not in names)
