"""The late questions: asked again and again until who was silent answers, or the time is over."""

import asyncio
from dataclasses import replace

from tailhound.durable import verdicts
from tailhound.durable.cases import Case
from tailhound.durable.investigating import Investigating, Plain, Record
from tailhound.flow import Turn
from tailhound.model import Evidence, Incident
from tailhound.store import codec

PAUSE_SECONDS = 5.0
"""Between two passes that brought nothing."""


class Again:
    """One late run: what is still asked, of which subject, and what has been answered so far."""

    def __init__(self, investigator: Investigating, case: Case, record: Record) -> None:
        self._investigator = investigator
        self._incident = case.incident
        self._resolved = case.resolved
        self._names = case.late
        self._record = record
        self._found: tuple[Evidence, ...] = ()
        self._is_other = False

    async def ask(self, turn: Turn) -> Plain:
        """Ask until all is answered, until answers stop coming, or until the turn is over.

        The evidence that was asked for, and `resolved` when the subject turned out to be another.
        """
        clock = asyncio.get_running_loop().time
        gained = False
        while True:
            new = await self._pass(turn)
            if gained and not new:
                break
            gained = gained or new
            if not self._names or clock() >= turn.deadline:
                break
            if not new:
                await asyncio.sleep(min(PAUSE_SECONDS, max(0.0, turn.deadline - clock())))
        answers = {"evidence": codec.evidence_to_plain(self._found)}
        return answers | ({"resolved": self._resolved} if self._is_other else {})

    async def _pass(self, turn: Turn) -> bool:
        """Ask what is open; whether any of it is answered now."""
        answers = await self._investigator.again(
            self._incident, self._resolved, self._names, turn, record=self._record
        )
        new = codec.evidence_from_plain(answers["evidence"])
        if "resolved" in answers:
            self._resolved, self._is_other = answers["resolved"], True
            self._found, self._incident = (), _resting_on(self._incident, ())
        self._found = verdicts.merged(self._found, new)
        whole = [item for item in new if verdicts.is_whole(item)]
        asked = self._names if not self._is_other else [item.name for item in self._found]
        done = {item.name for item in self._found if verdicts.is_whole(item)}
        self._names = tuple(name for name in asked if name not in done)
        self._incident = _resting_on(self._incident, self._found)
        return bool(whole)


def _resting_on(incident: Incident, evidence: tuple[Evidence, ...]) -> Incident:
    """The incident with this evidence under its verdict, over or in place of the old."""
    diagnosis = incident.diagnosis
    if diagnosis is None:
        return incident
    merged = verdicts.merged(diagnosis.evidence, evidence) if evidence else ()
    return replace(incident, diagnosis=replace(diagnosis, evidence=merged))
