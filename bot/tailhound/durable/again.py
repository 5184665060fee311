"""The late questions: asked again and again until who was silent answers, or the time is over."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import replace

from tailhound.durable import verdicts
from tailhound.durable.cases import Case
from tailhound.durable.investigating import Investigating, Plain, Record
from tailhound.flow import Turn
from tailhound.model import ANSWERED, Asked, Evidence, EvidenceStatus, Incident
from tailhound.model.incident import ASKED_AGAIN_SECONDS
from tailhound.store import codec

EVERY_SECONDS = ASKED_AGAIN_SECONDS
"""From the beginning of one pass to that of the next, where nobody answers."""


class Again:
    """A round of a late run: what is still asked, of which subject, what has been answered so far.

    `before` is what the round before handed on; empty for the first one. `is_over` tells whether
    nobody wants to know any more: it is looked at before each pass but the first.
    """

    def __init__(
        self,
        investigator: Investigating,
        case: Case,
        before: Plain,
        record: Record,
        is_over: Callable[[], Awaitable[bool]],
    ) -> None:
        self._investigator = investigator
        self._incident = case.incident
        self._resolved = before.get("about") or case.resolved
        self._is_new_subject = "about" in before
        self._names = tuple(before.get("late") or case.late)
        self._is_first = not before
        self._record = record
        self._is_over = is_over
        self._found: tuple[Evidence, ...] = ()
        self._is_other = False

    async def ask(self, turn: Turn) -> Plain:
        """Ask until answers came in and come no more, or until the turn is over.

        The evidence that was asked for; `late`, the names of what is to be asked in another round;
        `about` when the subject has turned out to be another one, and `is_all` when it did so now:
        then the evidence is all there is about it.
        """
        await self._passes(turn)
        gained = verdicts.answered_late(self._found)
        answers: Plain = {
            "evidence": codec.evidence_to_plain(self._found),
            "late": list(self._names) if gained and self._is_worth_asking(turn) else [],
            "is_all": self._is_other,
        }
        is_new = self._is_other or self._is_new_subject
        return answers | ({"about": self._resolved} if is_new else {})

    async def _passes(self, turn: Turn) -> None:
        clock = asyncio.get_running_loop().time
        gained, due = False, clock() + (0.0 if self._is_first else EVERY_SECONDS)
        while due < turn.deadline or self._is_first:
            await asyncio.sleep(max(0.0, due - clock()))
            if not self._is_first and await self._is_over():
                self._names = ()
                return
            self._is_first = False
            begun = clock()
            new = await self._pass(turn)
            if (gained and not new) or not self._is_worth_asking(turn):
                return
            gained = gained or new
            due = begun if new else begun + EVERY_SECONDS

    def _is_worth_asking(self, turn: Turn) -> bool:
        """Whether who was silent, or was not asked although it answers others, may answer in time.

        Of a new subject all that is open is asked.
        """
        evidence = _evidence(self._incident)
        open_ = [item for item in evidence if item.name in self._names]
        alive = {one.backend for one in _asked(evidence) if one.status in ANSWERED}
        was_left = any(
            one.status is EvidenceStatus.SKIPPED and one.backend in alive for one in _asked(open_)
        )
        is_wanted = bool(verdicts.unanswered(open_)) or was_left or bool(self._is_other and open_)
        return is_wanted and asyncio.get_running_loop().time() < turn.deadline

    async def _pass(self, turn: Turn) -> bool:
        """Ask what is open; whether any of it is answered now."""
        answers = await self._investigator.again(
            self._incident, self._resolved, self._names, turn, record=self._record
        )
        new = codec.evidence_from_plain(answers["evidence"])
        if "resolved" in answers:
            self._resolved, self._is_other = answers["resolved"], True
            self._found, self._incident = (), _resting_on(self._incident, new)
        else:
            kept = verdicts.merged(_evidence(self._incident), verdicts.answered_late(new))
            self._incident = _resting_on(self._incident, kept)
        self._found = verdicts.merged(self._found, new)
        asked = self._names if not self._is_other else [item.name for item in self._found]
        done = {item.name for item in self._found if verdicts.is_whole(item)}
        self._names = tuple(name for name in asked if name not in done)
        return any(map(verdicts.is_whole, new))


def _asked(evidence: Iterable[Evidence]) -> list[Asked]:
    return [one for item in evidence for one in item.asked]


def _evidence(incident: Incident) -> tuple[Evidence, ...]:
    return incident.diagnosis.evidence if incident.diagnosis else ()


def _resting_on(incident: Incident, evidence: tuple[Evidence, ...]) -> Incident:
    """The incident with this evidence under its verdict."""
    diagnosis = incident.diagnosis
    if diagnosis is None:
        return incident
    return replace(incident, diagnosis=replace(diagnosis, evidence=evidence))
