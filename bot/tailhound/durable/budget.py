"""The evidence of one wave must fit into a checkpoint: 256 KiB as JSON.

What is cut is cut in this order, and each cut is told in the evidence's reason: the renderings of
answers; series thinned, also those inside sets (every second sample, again and again; the first,
the newest, the lowest, the highest and those at its onset stay); the ends of long questions; sets,
largest first, which then count as not measured, because a condition over a part of a set could
answer wrongly; the questions.

A thinned series is there to be drawn. What the diagnosis reads from it, as its onset, is noted
beside it while it is whole (`diagnosis.course`), so that room never moves an onset.
"""

import dataclasses
import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from tailhound.diagnosis.course import noted, turns
from tailhound.model import Asked, Evidence, EvidenceStatus, FactValue
from tailhound.model.facts import number_of

LIMIT = 240 * 1024
"""Bytes: the checkpoint's 256 KiB, with room for what its codec adds."""
SHORT_ANSWER = 80
FEW_SAMPLES = 60
FEW_QUESTIONS = 10
SHORT_QUESTION = 300

A_MOMENT = 0.001
"""Seconds: moments this close are one. A note holds them to the microsecond."""

Wave = tuple[Evidence, ...]
Samples = tuple[Mapping[str, FactValue], ...]


def bytes_of(evidence: Evidence) -> int:
    """Its size as JSON, with every character beyond ASCII escaped."""
    return len(json.dumps(evidence, default=_jsonable, separators=(",", ":")))


def fitted(wave: Wave, limit: int = LIMIT) -> Wave:
    """The wave, cut where it must be to stay within `limit` bytes. A small one is unchanged."""
    for cut in (_short_answers, _no_answers):
        if _bytes(wave) <= limit:
            return wave
        wave = tuple(cut(one) for one in wave)
    wave = _while_too_big(wave, limit, _longest_series, _thinned)
    if _bytes(wave) > limit:
        wave = tuple(_short_questions(one) for one in wave)
    wave = _while_too_big(wave, limit, _largest_set, _without)
    if _bytes(wave) > limit:
        wave = tuple(_few_questions(one) for one in wave)
    return _while_too_big(wave, limit, _anything, _nothing_left)


def _bytes(wave: Wave) -> int:
    return sum(map(bytes_of, wave)) + len(wave) + 1


def _jsonable(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {item.name: getattr(value, item.name) for item in dataclasses.fields(value)}
    if isinstance(value, EvidenceStatus):
        return value.value
    return dict(value)


Place = tuple[int, str]
"""Which evidence of the wave, and which fact of it."""


def _while_too_big(
    wave: Wave,
    limit: int,
    pick: Callable[[Wave], Place | None],
    cut: Callable[[Evidence, str], Evidence],
) -> Wave:
    sizes = [bytes_of(one) for one in wave]
    found = list(wave)
    while sum(sizes) + len(sizes) + 1 > limit and (place := pick(tuple(found))) is not None:
        index, fact = place
        found[index] = cut(found[index], fact)
        sizes[index] = bytes_of(found[index])
    return tuple(found)


def _short_answers(one: Evidence) -> Evidence:
    return dataclasses.replace(one, asked=tuple(_cut(a, SHORT_ANSWER) for a in one.asked))


def _no_answers(one: Evidence) -> Evidence:
    return dataclasses.replace(one, asked=tuple(_cut(a, 0) for a in one.asked))


def _cut(asked: Asked, length: int) -> Asked:
    if len(asked.answer) <= length:
        return asked
    return dataclasses.replace(asked, answer=asked.answer[: max(0, length - 1)] + "…"[:length])


def _is_series(value: FactValue) -> bool:
    return isinstance(value, tuple) and bool(value) and value[0].keys() == {"at", "value"}


def _longest_series(wave: Wave) -> Place | None:
    return _largest(wave, _samples, FEW_SAMPLES)


def _largest_set(wave: Wave) -> Place | None:
    return _largest(wave, _length, 0)


def _largest(wave: Wave, size: Callable[[FactValue], int], above: int) -> Place | None:
    places = [
        (size(value), index, name)
        for index, one in enumerate(wave)
        for name, value in one.facts.items()
        if size(value) > above
    ]
    if not places:
        return None
    _, index, name = max(places, key=lambda place: (place[0], -place[1], place[2]))
    return index, name


def _length(value: FactValue) -> int:
    return len(value) if isinstance(value, tuple) else 0


def _samples(value: FactValue) -> int:
    """The length of a series, or of the longest one in the records of a set."""
    if _is_series(value):
        return _length(value)
    records = value if isinstance(value, tuple) else ()
    return max(
        (_length(inner) for one in records for inner in one.values() if _is_series(inner)),
        default=0,
    )


def _thinned(one: Evidence, fact: str) -> Evidence:
    """Half of a series; of a set, of its long series. Beside each, what the whole one told."""
    value = one.facts[fact]
    assert isinstance(value, tuple)  # noqa: S101 - only series, and sets that hold one, are picked
    changed = (
        _halved(one.facts, [fact])
        if _is_series(value)
        else {fact: tuple({**record, **_halved(record, record)} for record in value)}
    )
    return _with(one, changed, f"{fact} was thinned to {_samples(changed[fact])} samples")


def _halved(facts: Mapping[str, FactValue], names: Iterable[str]) -> dict[str, FactValue]:
    """What changes where the long series of these names are thinned, and what is noted of them."""
    found: dict[str, FactValue] = {}
    for name in names:
        value = facts[name]
        if isinstance(value, tuple) and _is_series(value) and len(value) > FEW_SAMPLES:
            found |= noted({**facts, **found}, name)
            found[name] = _half(value, turns({**facts, **found}, name))
    return found


def _half(samples: Samples, turns: Iterable[float]) -> FactValue:
    """Every second sample, counted from the newest; beside them those that must be seen: the first,
    the lowest, the highest, and the steps at which it turned.
    """
    kept = {0, *range((len(samples) + 1) % 2, len(samples), 2)}
    values = [number_of(sample["value"]) for sample in samples]
    measured = [(value, at) for at, value in enumerate(values) if value is not None]
    if measured:
        kept |= {min(measured)[1], max(measured)[1]}
    for turn in turns:
        after = next((at for at, sample in enumerate(samples) if _is_since(sample, turn)), 0)
        kept |= {max(0, after - 1), after}
    return tuple(samples[at] for at in sorted(kept))


def _is_since(sample: Mapping[str, FactValue], moment: float) -> bool:
    at = number_of(sample["at"])
    return at is not None and at > moment - A_MOMENT


def _without(one: Evidence, fact: str) -> Evidence:
    count = _length(one.facts[fact])
    note = f"{fact} held {count:,} records, too many to keep, and counts as not measured"
    return _with(one, {fact: None}, note)


def _with(one: Evidence, changed: Mapping[str, FactValue], told: str) -> Evidence:
    facts = {**one.facts, **changed}
    kept = one.reason.split("; ") if one.reason else []
    fact = told.split(" ", 1)[0]
    reason = "; ".join(
        [*(part for part in kept if not part.startswith(f"{fact} was thinned")), told]
    )
    has_facts = any(value is not None for value in facts.values())
    status = (
        one.status
        if has_facts or one.status is not EvidenceStatus.COLLECTED
        else (EvidenceStatus.TRUNCATED)
    )
    return dataclasses.replace(one, facts=facts, reason=reason[:1000], status=status)


def _short_questions(one: Evidence) -> Evidence:
    asked = tuple(dataclasses.replace(a, question=a.question[:SHORT_QUESTION]) for a in one.asked)
    return dataclasses.replace(one, asked=asked)


def _few_questions(one: Evidence) -> Evidence:
    """The first few questions, shortened; how many are left out is told."""
    kept = tuple(
        dataclasses.replace(
            asked, question=asked.question[:SHORT_QUESTION], detail=asked.detail[:200]
        )
        for asked in one.asked[:FEW_QUESTIONS]
    )
    left_out = len(one.asked) - len(kept)
    note = f"{left_out} questions are not listed" if left_out else ""
    reason = "; ".join(part for part in (one.reason, note) if part)
    return dataclasses.replace(one, asked=kept, reason=reason[:1000])


def _anything(wave: Wave) -> Place | None:
    places = [(bytes_of(one), -index) for index, one in enumerate(wave) if one.facts or one.asked]
    return (-max(places)[1], "") if places else None


def _nothing_left(one: Evidence, _: str) -> Evidence:
    return dataclasses.replace(
        one,
        facts={},
        asked=(),
        status=EvidenceStatus.TRUNCATED,
        reason="the evidence of this wave is over 256 KiB, and this part was not kept",
    )
