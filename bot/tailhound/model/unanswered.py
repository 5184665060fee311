"""Which questions without an answer are worth asking by hand, and which only follow from others."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from tailhound.model.evidence import ANSWERED, Asked, Evidence, EvidenceStatus

_SILENT = (EvidenceStatus.TIMEOUT, EvidenceStatus.UNREACHABLE)
SPARED = "not asked: the API server refuses most requests"
"""How the detail of a question begins that was kept from an API server in trouble."""
KNOWN_HERE = "known for this incident"
"""How the detail of a question ends, or goes on, that was not asked: `no namespace is ..`."""

_TOLD_BEFORE = "not asked: nobody could tell"
"""How an older version told it; records keep that."""

_COMMENT = "  # "
"""What stands between a query of Prometheus and the time at which it was asked."""


def was_spared(asked: Asked) -> bool:
    """Whether a question was kept from an API server that refuses most: it is asked again."""
    return asked.status is EvidenceStatus.SKIPPED and asked.detail.startswith(SPARED)


def lacks_its_subject(detail: str) -> bool:
    """Whether a question was not asked because nothing says of what: asking again can't help."""
    return KNOWN_HERE in detail or detail.startswith(_TOLD_BEFORE)


def down(evidence: Iterable[Evidence]) -> Mapping[str, Asked]:
    """The backends that answered nothing at all, each with a question that shows how."""
    asked = [one for item in evidence for one in item.asked]
    alive = {one.backend for one in asked if one.status in ANSWERED}
    silent = [one for one in asked if one.status in _SILENT and one.backend not in alive]
    return {one.backend: one for one in reversed(silent)}


def hosts_down(evidence: Iterable[Evidence]) -> tuple[str, ...]:
    """The hosts that gave no answer to anything over SSH, by name."""
    ssh = (name.partition(" ") for name in down(evidence))
    return tuple(host for kind, _, host in ssh if kind == "ssh" and host)


def spared(evidence: Iterable[Evidence]) -> Mapping[str, str]:
    """The backends that refused most, each with why it was not asked."""
    asked = [one for item in evidence for one in item.asked]
    return {one.backend: one.detail for one in asked if was_spared(one)}


def origin(asked: Asked, trouble: Mapping[str, Asked]) -> Asked:
    """The question whose failure explains this one: a backend that answers nothing at all is one
    problem, however long each question waited for it, and whatever was not asked because of it.
    """
    if asked.status is EvidenceStatus.SKIPPED or asked.status in _SILENT:
        return trouble.get(asked.backend, asked)
    return asked


def worth_asking(found: Iterable[Asked], trouble: Mapping[str, Asked]) -> tuple[Asked, ...]:
    """The questions that a person may get answered, each once, whenever it was asked for.

    Nobody gets an answer from a backend that is down.
    """
    wanted: dict[tuple[str, str], Asked] = {}
    for asked in found:
        question = asked.question.partition(_COMMENT)[0].strip()
        if question and asked.backend not in trouble:
            wanted.setdefault((asked.backend, question), replace(asked, question=question))
    return tuple(wanted.values())
