"""Stand-ins of the durable part's neighbours: an investigator and a chat service."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial

from tailhound.durable.investigating import OnProgress, Plain, Record
from tailhound.flow import Turn
from tailhound.model import (
    Asked,
    Cause,
    Confidence,
    Diagnosis,
    Evidence,
    EvidenceStatus,
    Incident,
    Outlook,
    Progress,
    Verdict,
)
from tailhound.notifiers import Delivery, Later, Posted, Refusal
from tailhound.requests import Labelled, Query
from tailhound.store import codec

QUESTION = Query(promql="rate(x[5m])")


def evidence(
    name: str, status: EvidenceStatus = EvidenceStatus.COLLECTED, value: float = 0.62
) -> Evidence:
    """Evidence with one fact and one question."""
    collected = status is EvidenceStatus.COLLECTED
    return Evidence(
        name=name,
        collector="prometheus.container_cpu",
        status=status,
        facts={"throttled_ratio": value} if collected else {},
        reason="" if collected else f"no answer: {status.value}",
        asked=(Asked(question=f"q({name})", backend="prometheus", status=status),),
    )


@dataclass
class Detective:
    """An investigator with a script: which evidence is slow, what goes wrong, what it is about.

    It confirms the cause when the evidence `cpu` is there, like a runbook of one line.
    """

    key: str = ""
    slow: tuple[str, ...] = ()
    unreachable: tuple[str, ...] = ()
    breaks_at: str = ""
    hangs_at: str = ""
    conditional: tuple[str, ...] = ()
    reports: int = 0
    gate: asyncio.Event | None = None
    calls: list[str] = field(default_factory=list)

    async def resolve(self, incident: Incident, turn: Turn, *, record: Record) -> Plain:
        await self._at("resolve")
        return {"namespace": "prod", "pods": ["llm-0"], "key": self.key}

    async def collect(
        self,
        incident: Incident,
        resolved: Plain,
        turn: Turn,
        on_progress: OnProgress,
        *,
        record: Record,
    ) -> Plain:
        assert resolved["pods"] == ["llm-0"]
        await self._at("collect")
        if self.gate is not None:
            await self.gate.wait()
        for i in range(self.reports):
            counts = Progress(answered=i, waiting=self.reports - i, failed=0)
            on_progress(counts, partial(replace, counts, ruled_out=("gpu-clocks",)))
            await asyncio.sleep(0.05)
        record(QUESTION, (Labelled((("pod", "llm-0"),), 0.62),), 0.1)
        found = [
            evidence(n, EvidenceStatus.TIMEOUT if n in self.slow else self._reached(n))
            for n in ("cpu", "spec")
        ]
        return {"evidence": codec.evidence_to_plain(tuple(found))}

    async def deepen(
        self, incident: Incident, resolved: Plain, collected: Plain, turn: Turn, *, record: Record
    ) -> Plain:
        await self._at("deepen")
        found = tuple(evidence(name) for name in self.conditional)
        return {"evidence": codec.evidence_to_plain(found)}

    async def again(
        self,
        incident: Incident,
        resolved: Plain,
        names: Sequence[str],
        turn: Turn,
        *,
        record: Record,
    ) -> Plain:
        await self._at("again")
        assert resolved["pods"] == ["llm-0"]
        found = tuple(evidence(name, self._reached(name)) for name in names)
        return {"evidence": codec.evidence_to_plain(found)}

    def decide(
        self,
        incident: Incident,
        resolved: Plain,
        found: Sequence[Evidence],
        *,
        decided_at: datetime,
        at_deadline: bool,
        took_seconds: float,
    ) -> Diagnosis:
        self.calls.append("decide")
        if self.breaks_at == "decide":
            raise ZeroDivisionError("the rules broke")
        seen = {item.name: item for item in found}
        confirmed = seen["cpu"].status is EvidenceStatus.COLLECTED
        cause = Cause(
            runbook="cpu-throttling",
            title="the CPU limit stops the engine",
            verdict=Verdict.CONFIRMED if confirmed else Verdict.UNKNOWN,
            because="stopped in 62 % of its periods" if confirmed else "evidence is missing",
        )
        return Diagnosis(
            outlook=Outlook.CAUSE_FOUND if confirmed else Outlook.NONE_CONFIRMED,
            primary="cpu-throttling" if confirmed else None,
            chain=("cpu-throttling",) if confirmed else (),
            confidence=Confidence.HIGH if confirmed else None,
            causes=(cause,),
            evidence=tuple(found),
            decided_at=decided_at,
            at_deadline=at_deadline,
            took_seconds=took_seconds,
        )

    def _reached(self, name: str) -> EvidenceStatus:
        is_lost = name in self.unreachable
        return EvidenceStatus.UNREACHABLE if is_lost else EvidenceStatus.COLLECTED

    async def _at(self, step: str) -> None:
        self.calls.append(step)
        if self.breaks_at == step:
            raise ZeroDivisionError(f"{step} broke")
        if self.hangs_at == step:
            await asyncio.Event().wait()


@dataclass
class Chat:
    """A chat service that counts what people would see: `messages` by their id, every edit.

    `answers` scripts the next calls: "ok", "lost" (it takes effect, the answer does not arrive),
    "later", "refuse", "hang", "raise". When it is empty every call is fine.
    """

    name: str = "chat"
    answers: list[str] = field(default_factory=list)
    messages: dict[str, list[Delivery]] = field(default_factory=dict)
    looked: int = 0
    delay: float = 0.0
    sent: list[str] = field(default_factory=list)
    seen: str = ""

    async def deliver(self, delivery: Delivery) -> Posted | Later | Refusal:
        answer = self.answers.pop(0) if self.answers else "ok"
        if self.delay:
            await asyncio.sleep(self.delay)
        if answer == "later":
            return Later(0.05, "ratelimited")
        if answer == "refuse":
            return Refusal("the channel is archived: choose another one")
        if answer == "raise":
            raise RuntimeError("a bug of the notifier")
        if answer == "hang":
            await asyncio.Event().wait()
        message = delivery.message or self._found(delivery) or f"m{len(self.messages) + 1}"
        self.messages.setdefault(message, []).append(delivery)
        self.sent.append(delivery.incident.id)
        if answer == "lost":
            return Later(0.05, "the answer was lost", unsure=True)
        return Posted(delivery.place, message, self.seen)

    def posts(self, incident: str) -> list[str]:
        """The ids of the messages that show this incident."""
        shown = self.messages.items()
        return [id for id, seen in shown if seen[0].incident.id == incident]

    def last(self, incident: str) -> Incident | None:
        """The incident as it was shown last."""
        seen = [d for d in self._all() if d.incident.id == incident]
        return seen[-1].incident if seen else None

    def _all(self) -> list[Delivery]:
        return [delivery for seen in self.messages.values() for delivery in seen]

    def _found(self, delivery: Delivery) -> str:
        if not delivery.unsure:
            return ""
        self.looked += 1
        return next(iter(self.posts(delivery.incident.id)), "")
