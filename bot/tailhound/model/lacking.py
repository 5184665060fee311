"""Evidence and facts by names that people can read: whose they are, and why they are not there."""

from collections.abc import Iterable, Mapping

from tailhound.model.evidence import Evidence, EvidenceStatus, FactValue
from tailhound.model.names import cause_name, plural
from tailhound.model.verdict import Cause, Check

NO_USUAL = "no usual value yet: nothing 1 h, 1 d or 7 d ago"
_COMPARED = ("_ratio", "_times", "_usual")
_SUBJECT = "subject"


def evidence_name(item: Evidence, causes: Iterable[Cause]) -> str:
    """`container CPU (CPU throttling)`: what was collected, and which cause it is for.

    What several causes ask for names the first and counts the others.
    """
    if item.name == _SUBJECT:
        return "the pods and nodes that it is about"
    words = collected(item.collector) or cause_name(item.name)
    owners = [cause_name(cause.runbook) for cause in causes if item.name in cause.evidence]
    if not owners:
        return words
    others = f" + {plural(len(owners) - 1, 'other cause')}" if owners[1:] else ""
    return f"{words} ({owners[0]}{others})"


def collected(collector: str) -> str:
    """`container CPU` of `prometheus.container_cpu`: what a collector asks for; "" for no name."""
    kind, _, what = collector.replace(" ", ".", 1).partition(".")
    return cause_name(what.rpartition(".")[2] if kind in ("promql", "ssh") else what)


def item_of(cause: Cause, name: str, evidence: Iterable[Evidence]) -> Evidence | None:
    """The evidence that a fact of a cause's claim is from, by the name that the plan gave it."""
    alias = name.partition(".")[0]
    names = (f"{cause.runbook}.{alias}", alias)
    own = (one for one in evidence if one.name in names and one.name in cause.evidence)
    return next(own, None)


def lacking(cause: Cause, check: Check, evidence: Iterable[Evidence]) -> str:
    """`queue.wait_ratio (no usual value yet: ..)`: the facts that would decide. "" without any.

    Why a question had no answer is told once for all claims (`gaps.left_open`); that a value was
    measured and has nothing to be compared with is told here.
    """
    young = has_no_usual(cause, check, evidence)
    others = [fact for fact in check.missing if fact not in young]
    told = [f"{', '.join(young)} ({NO_USUAL})"] if young else []
    return ", ".join([*told, *others])


def has_no_usual(cause: Cause, check: Check, evidence: Iterable[Evidence]) -> list[str]:
    """The missing facts of a claim whose value is there, and has nothing to be compared with."""
    items = {item.name: item for item in evidence if item.name in cause.evidence}
    return [fact for fact in check.missing if _is_uncompared(cause, fact, items)]


def _is_uncompared(cause: Cause, fact: str, items: Mapping[str, Evidence]) -> bool:
    alias, _, name = fact.partition(".")
    item = items.get(f"{cause.runbook}.{alias}") or items.get(alias)
    return (
        item is not None and item.status is EvidenceStatus.COLLECTED and _is_young(name, item.facts)
    )


def _is_young(name: str, facts: Mapping[str, FactValue]) -> bool:
    """Whether a fact lacks only its usual value: what is compared with it is measured."""
    if not name.endswith(_COMPARED):
        return False
    stem = name.rpartition("_")[0]
    bases = [
        key.removesuffix("_usual")
        for key, value in facts.items()
        if key.endswith("_usual") and value is None and key.startswith(stem)
    ]
    return any(facts.get(base) is not None for base in bases) or _are_young(facts)


def _are_young(facts: Mapping[str, FactValue]) -> bool:
    """Whether there are records with values, and none of them has a usual one."""
    pairs = [
        (record.get(key.removeprefix("usual_")), value)
        for records in facts.values()
        if isinstance(records, tuple | list)
        for record in records
        for key, value in record.items()
        if key.startswith("usual_") and not isinstance(value, tuple | list)
    ]
    measured = [usual for value, usual in pairs if isinstance(value, int | float)]
    return bool(measured) and all(usual is None for usual in measured)
