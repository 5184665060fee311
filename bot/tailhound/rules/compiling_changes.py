"""Mitigations: what a file says about them, checked."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from tailhound.rules import schema
from tailhound.rules.condition.typed import meant
from tailhound.rules.places import follow
from tailhound.rules.runbook import Approval, Do, Limit, Mitigation, Verify

if TYPE_CHECKING:
    from tailhound.rules.compiling import Bench

_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400}


def seconds(duration: str) -> float:
    """`10m` in seconds."""
    return float(duration[:-1]) * _SECONDS[duration[-1]]


class Changes:
    """Compiles the mitigations of one file."""

    def __init__(self, bench: "Bench") -> None:
        self._bench = bench

    def mitigations(self, inputs: Iterable[str]) -> tuple[Mitigation, ...]:
        """All of them, in the order of the file: best first."""
        known = frozenset(inputs)
        return tuple(
            self._mitigation(id, told, known) for id, told in self._bench.file.mitigations.items()
        )

    def _mitigation(self, id: str, told: schema.Mitigation, inputs: frozenset[str]) -> Mitigation:
        steps = ("mitigations", id)
        self._complete(id, told)
        return Mitigation(
            id=id,
            title=told.title,
            mode=told.mode,
            risk=told.risk,
            risk_of=told.risk_of,
            place=follow(self._bench.node, steps).place,
            helps=told.helps,
            ttft=told.ttft,
            cost=told.cost,
            complexity=told.complexity,
            when=told.when,
            of=self._bench.says((*steps, "of"), sorted(inputs)),
            while_it_lasts=told.while_it_lasts,
            steps=tuple(told.steps),
            guard=self._bench.claims((*steps, "guard")),
            approval=_approval(told.approval),
            limit=self._limit(id, told.limit, inputs),
            do=_do(told.do),
            verify=self._verify(id, told.verify),
            undo=_do(told.undo),
        )

    def _complete(self, id: str, told: schema.Mitigation) -> None:
        """What each mode must have, and may not have."""
        steps = ("mitigations", id)
        if told.mode == "suggested":
            if not told.steps:
                self._bench.wrong(steps, f"{id}: a suggested mitigation needs `steps:`")
            for key in ("do", "undo", "verify", "approval"):
                if getattr(told, key) is not None:
                    message = f"{id}: `{key}:` goes with `mode: one-click` only"
                    self._bench.wrong((*steps, key), message)
            return
        for key in ("do", "approval", "verify"):
            if getattr(told, key) is None:
                self._bench.wrong(steps, f"{id}: a one-click mitigation needs `{key}:`")

    def _limit(self, id: str, told: schema.Limit | None, inputs: frozenset[str]) -> Limit | None:
        if told is None:
            return None
        known = inputs | self._bench.written("inputs")
        if told.per not in known:
            message = f"no input named {told.per!r}{meant(told.per, known)}"
            self._bench.wrong(("mitigations", id, "limit", "per"), message)
        return Limit(at_most=told.at_most, per=told.per, window_seconds=seconds(told.window))

    def _verify(self, id: str, told: schema.Verify | None) -> Verify | None:
        if told is None:
            return None
        steps = ("mitigations", id, "verify")
        known = self._bench.written("evidence")
        for index, name in enumerate(told.collect):
            if name not in known:
                message = f"no evidence named {name!r}{meant(name, known)}"
                self._bench.wrong((*steps, "collect", index), message)
        if seconds(told.within) < seconds(told.after):
            self._bench.wrong((*steps, "within"), "`within:` is shorter than `after:`")
        expect = self._bench.claims((*steps, "expect"))
        for claim in expect:
            for name in claim.condition.evidence:
                if name not in told.collect:
                    message = f"{name!r} is not collected again; add it to `verify.collect:`"
                    self._bench.findings.append(claim.place.finding(message))
        return Verify(
            after_seconds=seconds(told.after),
            within_seconds=seconds(told.within),
            collect=tuple(told.collect),
            expect=expect,
        )


def _approval(told: schema.Approval | None) -> Approval | None:
    if told is None:
        return None
    return Approval(by=told.by, count=told.count, expires_seconds=seconds(told.expires))


def _do(told: schema.Do | None) -> Do | None:
    return Do(action=told.action, with_=dict(told.with_)) if told else None
