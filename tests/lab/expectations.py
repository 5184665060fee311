"""Whether a diagnosis says what the scenario says it must."""

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from tests.lab.scenario import Expect

RUNBOOKS = Path(__file__).parents[2] / "runbooks"


def known_runbooks(scenario: Path | None = None) -> frozenset[str]:
    """The ids of the shipped runbooks, and of those in the scenario's own folder."""
    own = (scenario / "runbooks").glob("*.yaml") if scenario else ()
    return frozenset(
        str(yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)["runbook"])
        for path in (*RUNBOOKS.glob("*.yaml"), *own)
    )


def unchecked(expect: Expect, known: Collection[str]) -> tuple[str, ...]:
    """The ids that the scenario names, but no runbook answers for yet."""
    named = {*expect.primaries, *expect.confirmed, *expect.refuted, *expect.unknown}
    return tuple(sorted((named | {*expect.never_confirmed}) - set(known)))


def check_expectations(
    result: Mapping[str, Any], expect: Expect, known: Collection[str]
) -> tuple[str, ...]:
    """What the result (DESIGN section 8's JSON) misses, one sentence each; () = all is right.

    Only ids in `known` are checked: a cause without a runbook can't be confirmed. Not-applicable
    counts as refuted.
    """
    verdicts = {str(cause["runbook"]): str(cause["verdict"]) for cause in result.get("causes", ())}
    if not verdicts:
        return ("the result holds no causes",)
    lists = (
        (expect.confirmed, {"confirmed"}),
        (expect.refuted, {"refuted", "not-applicable"}),
        (expect.unknown, {"unknown"}),
    )
    wrong = [
        f"{name} must be {' or '.join(sorted(right))}, is {verdicts.get(name, 'not there')}"
        for names, right in lists
        for name in names
        if name in known and verdicts.get(name) not in right
    ]
    wrong += [
        f"{name} must never be confirmed here"
        for name in expect.never_confirmed
        if verdicts.get(name) == "confirmed"
    ]
    return (*wrong, *_primary(result.get("primary"), verdicts, expect, known))


def _primary(
    primary: str | None, verdicts: Mapping[str, str], expect: Expect, known: Collection[str]
) -> Iterator[str]:
    if not expect.primary_given:
        return
    if not expect.primaries:
        confirmed = sorted(name for name, verdict in verdicts.items() if verdict == "confirmed")
        if confirmed or primary is not None:
            yield f"no cause may be confirmed, but primary is {primary}, confirmed are {confirmed}"
    elif set(expect.primaries) & set(known) and primary not in expect.primaries:
        yield f"primary must be {' or '.join(expect.primaries)}, is {primary}"
