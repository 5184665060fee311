"""Runbooks as lines of a terminal, 80 columns wide. Pure."""

import textwrap
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

from tailhound.app.backends import kind_of
from tailhound.cli.safely import safe
from tailhound.model import telling
from tailhound.model.names import backend_name, plural, small
from tailhound.rules.runbook import Mitigation, Runbook
from tailhound.store.accuracy import Record
from tailhound.web.runbook import ClaimLine, RunbookPage, passed

WIDTH = 80
DAYS = 30
"""How far back `show` counts."""

_COLUMN = 39
_ID = 24


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """One runbook with its tests; what came of it lately, or why nobody knows."""

    page: RunbookPage
    record: Record | None
    why_not: str = ""


def table(runbooks: Sequence[Runbook]) -> Iterator[str]:
    """A line each: id, cause, whether it is a draft."""
    for one in runbooks:
        draft = "" if one.active else "draft: "
        yield _wrapped(f"{safe(one.id, 40):<{_ID}}", f"{draft}{safe(one.cause, 200)}")


def shown(it: Shown) -> list[str]:
    """All of one: what confirms and what rules out side by side, then what it leads to."""
    runbook = it.page.runbook
    return [
        _wrapped(f"{safe(runbook.id, 40)}   ", safe(runbook.cause, 200)),
        *_about(it.page),
        *_wholly("applies when", it.page.applies),
        *_beside(it.page),
        *_wholly("surer when", it.page.optional),
        *_related(it.page),
        *_changes(runbook.mitigations),
        _wrapped(f"{DAYS} days   ", _lately(it)),
    ]


def _about(page: RunbookPage) -> Iterator[str]:
    runbook = page.runbook
    owner = f"owner {safe(runbook.owner, 40)}" if runbook.owner else "owner: nobody named"
    state = "active" if runbook.active else "draft"
    tests = f"tests {passed(page.tests)}" if page.tests else "no tests"
    told = [owner, f"{safe(Path(runbook.path).name, 60)}, {state}", tests]
    yield from textwrap.wrap("   ".join(told), WIDTH, break_on_hyphens=False)


def _wholly(head: str, claims: Sequence[ClaimLine]) -> Iterator[str]:
    if claims:
        yield head
        for claim in claims:
            yield _wrapped("  ", _told(claim), "    ")


def _beside(page: RunbookPage) -> Iterator[str]:
    """Two columns: the claims that confirm, and those that rule out."""
    left = _column("confirms when all hold", page.confirms)
    right = _column("ruled out when one holds", page.refutes)
    for one, other in zip_longest(left, right, fillvalue=""):
        yield f"{one:<{_COLUMN + 2}}{other}".rstrip()


def _column(head: str, claims: Sequence[ClaimLine]) -> Iterator[str]:
    yield head
    for claim in claims:
        yield from textwrap.wrap(
            _told(claim),
            _COLUMN,
            initial_indent="  ",
            subsequent_indent="    ",
            break_on_hyphens=False,
        )


def _told(claim: ClaimLine) -> str:
    needs = f" ({safe(claim.needs, 100)})" if claim.needs else ""
    return f"{safe(small(claim.sentence), 200)}{needs}"


def _related(page: RunbookPage) -> Iterator[str]:
    runbook = page.runbook
    kinds = Counter(kind_of(item.collector.name) for item in runbook.evidence.values())
    asked = [f"{_name(kind)} ({amount})" for kind, amount in kinds.most_common()]
    for head, names in (
        ("led to by ", page.led_to_by),
        ("leads to  ", runbook.leads_to),
        ("explained by ", runbook.explained_by),
        ("asks ", asked),
    ):
        if names:
            yield _wrapped(head, ", ".join(safe(name, 60) for name in names))


def _name(kind: str) -> str:
    return "hosts by SSH" if kind in ("ssh", "host") else backend_name(kind)


def _changes(changes: Sequence[Mitigation]) -> Iterator[str]:
    for at, one in enumerate(changes):
        risk = telling.risk(one.risk, one.risk_of)
        mode = f"{one.mode}{f', {risk}' if risk else ''}"
        told = f"{safe(one.id, 40)} ({safe(mode, 140)}): {safe(small(one.title), 120)}"
        yield _wrapped("changes   " if at == 0 else "          ", told)


def _lately(it: Shown) -> str:
    record = it.record
    if record is None:
        return f"not known: {safe(it.why_not, 200)}"
    told = [f"confirmed {plural(record.confirmed, 'time')}"]
    if record.rated:
        incomplete = f" ({record.partly} of them not the whole story)" if record.partly else ""
        wrong = f", {record.wrong} wrong" if record.wrong else ""
        told.append(f"feedback {record.rated}: {record.right} right{incomplete}{wrong}")
    else:
        told.append("no feedback yet")
    if record.missed:
        told.append(f"missed {plural(record.missed, 'time')}")
    return "; ".join(told)


def _wrapped(head: str, text: str, below: str = "") -> str:
    """A text behind its head, wrapped below itself."""
    lines = textwrap.wrap(
        text,
        WIDTH,
        initial_indent=head,
        subsequent_indent=below or " " * len(head),
        break_on_hyphens=False,
    )
    return "\n".join(lines) if lines else head.rstrip()
