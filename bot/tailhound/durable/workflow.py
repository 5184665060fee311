"""The workflows: `inv:{incident}:{n}` in at most four steps, and `late:{incident}:{n}` in two for
each time that answers come in.

The order of steps is a pure function of the steps' results; clock, settings and randomness are
looked at inside steps only. Whatever happens, the incident ends with a verdict or with FAILED.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime

from tailhound.durable import verdicts
from tailhound.durable.again import Again
from tailhound.durable.asking import Terms
from tailhound.durable.blocking import Blocking
from tailhound.durable.boot import Boot
from tailhound.durable.cases import Case, Cases, again
from tailhound.durable.deadlines import (
    COLLECT_SHARE,
    RESOLVE_SHARE,
    Clockwork,
    Progressing,
    within,
)
from tailhound.durable.engine import Engine
from tailhound.durable.investigating import Investigating, InvestigatorFor, Plain, Sketch
from tailhound.durable.joins import Joining
from tailhound.durable.keeping import Notebook
from tailhound.errors import StoreUnavailable
from tailhound.flow import Turn
from tailhound.model import Diagnosis
from tailhound.store import codec


@dataclass(frozen=True, slots=True, kw_only=True)
class Workshop:
    """What every run works with. `tell` is called on the event loop when there is news to show."""

    cases: Cases
    joining: Joining
    terms: Callable[[], Terms]
    investigator_for: InvestigatorFor
    boot: Boot
    tell: Callable[[], None]
    blocking: Blocking = field(default_factory=lambda: Blocking("cases", 2))


class Investigations:
    """The bodies of the workflows."""

    def __init__(self, engine: Engine, shop: Workshop) -> None:
        self._engine = engine
        self._shop = shop

    async def investigate(self, id: str, n: int, sha: str) -> str:
        """Workflow: resolve, collect, deepen, decide."""
        run = _Run(self._shop, id, n, sha)
        step = self._engine.step
        try:
            resolved = await step("resolve", run.resolve)
            if resolved["joined"]:
                return f"joined {resolved['joined']}"
            collected = await step("collect", run.collect, resolved["resolved"])
            deepened = await step("deepen", run.deepen, resolved["resolved"], collected)
            return await step("decide", run.decide, resolved["resolved"], collected, deepened)
        except Exception as error:  # noqa: BLE001 (every accepted alert ends in a visible outcome)
            return await step("fail", run.fail, f"{type(error).__name__}: {error}"[:400])

    async def late(self, id: str, n: int, sha: str) -> str:
        """Workflow: ask again what ran out of time, and revise the verdict when that changes it.

        When it fails, the engine's own record says why; the verdict stands, and says what is
        missing.
        """
        run = _Run(self._shop, id, n, sha)
        step = self._engine.step
        answers: Plain = {}
        while True:
            answers = await step("again", run.again, answers)
            outcome = await step("revise", run.revise, answers)
            if not answers.get("late"):
                return outcome


class _Run:
    """One execution of a workflow in this process: its steps, and the deadline they share."""

    def __init__(self, shop: Workshop, id: str, n: int, sha: str) -> None:
        self._shop = shop
        self._id = id
        self._n = n
        self._sha = sha
        self._clockwork: Clockwork | None = None
        self._notebook = Notebook()
        self._who: Investigating | None = None

    async def _investigator(self) -> Investigating:
        """Who investigates by the set of this run: read and compiled beside the event loop."""
        if self._who is None:
            find = self._shop.investigator_for
            self._who = await self._shop.blocking.insist(find, self._sha)
        return self._who

    async def resolve(self) -> Plain:
        case, work = await self._begin(self._shop.cases.start)
        turn = work.turn(RESOLVE_SHARE, case.as_of(self._now()))
        investigator = await self._investigator()
        asking = investigator.resolve(case.incident, turn, record=self._notebook.hear)
        resolved, _ = await within(turn, asking)
        await self._keep("resolve", turn)
        self._shop.boot.hook("after_resolve")
        key = str(resolved.get("key") or "")
        joined = await self._shop.blocking.insist(self._shop.joining.join, self._id, key)
        if joined:
            self._shop.tell()
        return {"resolved": resolved, "joined": joined}

    async def collect(self, resolved: Plain) -> Plain:
        case, work = await self._begin()
        turn = work.turn(COLLECT_SHARE, case.as_of(self._now()))
        progressing = Progressing(self._show, work.quiet_from)
        investigator = await self._investigator()
        asking = investigator.collect(
            case.incident, resolved, turn, progressing, record=self._notebook.hear
        )
        try:
            collected, cut = await within(turn, asking)
        finally:
            await progressing.finish()
        return await self._collected("collect", turn, collected, cut)

    async def deepen(self, resolved: Plain, collected: Plain) -> Plain:
        case, work = await self._begin()
        turn = work.turn(1.0, case.as_of(self._now()))
        investigator = await self._investigator()
        asking = investigator.deepen(
            case.incident, resolved, collected, turn, record=self._notebook.hear
        )
        deepened, cut = await within(turn, asking)
        return await self._collected("deepen", turn, deepened, cut)

    async def decide(self, resolved: Plain, collected: Plain, deepened: Plain) -> str:
        case, _ = await self._begin()
        evidence = verdicts.merged(
            codec.evidence_from_plain(collected["evidence"]),
            codec.evidence_from_plain(deepened["evidence"]),
        )
        now = self._now()
        diagnosis = await self._shop.blocking.run(
            (await self._investigator()).decide,
            case.incident,
            resolved,
            evidence,
            decided_at=now,
            at_deadline=bool(collected["cut"] or deepened["cut"]),
            took_seconds=(now - case.requested_at).total_seconds(),
        )
        await self._shop.blocking.insist(
            self._shop.cases.decide, self._id, self._n, diagnosis, resolved
        )
        self._shop.tell()
        return verdicts.headline(diagnosis)

    async def fail(self, why: str) -> str:
        await self._shop.blocking.insist(self._shop.cases.fail, self._id, self._n, why)
        self._shop.tell()
        return f"failed: {why}"

    async def again(self, before: Plain) -> Plain:
        case, now, seconds = await self._read(), self._now(), self._shop.terms().late_seconds
        by = verdicts.late_by(case.verdict_by, self._shop.terms())
        if not case.late or now >= by or case.is_over:
            return {"evidence": []}
        turn = Clockwork(by, now, 0.0, seconds).turn(1.0, now)
        investigator = await self._investigator()
        again = Again(investigator, case, before, self._notebook.hear, self._is_over)
        answers, cut = await within(turn, again.ask(turn))
        return await self._collected("again", turn, answers, cut)

    async def revise(self, answers: Plain) -> str:
        case = await self._read()
        new = codec.evidence_from_plain(answers["evidence"])
        old = case.incident.diagnosis
        if old is None or not verdicts.answered_late(new):
            await self._late_is_over()
            return "nothing new"
        now = self._now()
        evidence = new if answers.get("is_all") else again(case.incident, new)
        diagnosis: Diagnosis = await self._shop.blocking.run(
            (await self._investigator()).decide,
            case.incident,
            answers.get("about") or case.resolved,
            evidence,
            decided_at=now,
            at_deadline=verdicts.ran_out_of_time(evidence),
            took_seconds=(now - case.requested_at).total_seconds(),
        )
        why = verdicts.why_late(old.evidence, new, case.requested_at, now)
        await self._shop.blocking.insist(
            self._shop.cases.revise, self._id, self._n, old, diagnosis, why
        )
        if not answers.get("late"):
            await self._late_is_over()
        self._shop.tell()
        return verdicts.headline(diagnosis)

    async def _is_over(self) -> bool:
        return (await self._read()).is_over

    async def _late_is_over(self) -> None:
        await self._shop.blocking.insist(self._shop.cases.late_is_over, self._id, self._n)
        self._shop.tell()

    async def _begin(
        self, read: Callable[[str, int], Case] | None = None
    ) -> tuple[Case, Clockwork]:
        case = await self._shop.blocking.insist(read or self._shop.cases.read, self._id, self._n)
        if self._clockwork is None:
            most = self._shop.terms().verdict_seconds
            self._clockwork = Clockwork(case.verdict_by, self._now(), max(most / 3, 0.5), most)
        return case, self._clockwork

    async def _read(self) -> Case:
        return await self._shop.blocking.insist(self._shop.cases.read, self._id, self._n)

    async def _collected(self, part: str, turn: Turn, answers: Plain, cut: bool) -> Plain:
        """What a step hands on; the answers themselves are stored beside it."""
        await self._keep(part, turn)
        self._shop.boot.hook("after_collect")
        return {**verdicts.fitted(answers), "cut": cut}

    async def _keep(self, part: str, turn: Turn) -> None:
        """Store what this step heard, under its own name: when it runs again, it is replaced."""
        heard = self._notebook.taken()
        await self._shop.blocking.insist(
            self._shop.cases.keep, (self._id, self._n), part, heard, turn.as_of
        )

    async def _show(self, sketch: Sketch) -> None:
        with suppress(StoreUnavailable):  # the verdict will say more than this
            progress = await self._shop.blocking.run(sketch)
            await self._shop.blocking.run(self._shop.cases.progress, self._id, self._n, progress)
            self._shop.tell()

    def _now(self) -> datetime:
        return self._shop.boot.clock()
