"""One scenario with all its variants, measured; many of them, in several processes."""

import dataclasses
import random
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

from tests.accuracy import perturb
from tests.accuracy.running import Ran, asks_for, one_apiserver, ran
from tests.accuracy.scoring import Score, expected_of, kept, score
from tests.lab import scenario
from tests.lab.apiserver import ApiServer
from tests.lab.expectations import known_runbooks
from tests.lab.scenario import Scenario

SCENARIOS = Path(__file__).parents[1] / "scenarios"
OPEN = Path(__file__).parent / "open"
"""Cases that the product is known to miss: they count as every other, and fail no test."""
DROPPED = "without one family"


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """A scenario's score, and those of its variants."""

    score: Score
    variants: tuple[Score, ...]


def names(only: str = "") -> tuple[str, ...]:
    """All scenario folders whose name holds this text."""
    found = _folders()
    return tuple(sorted(name for name in found if only in name))


def _folders() -> dict[str, Path]:
    paths = (path for place in (SCENARIOS, OPEN) for path in place.glob("*/scenario.yaml"))
    return {path.parent.name: path for path in paths}


def measured(name: str, apiserver: ApiServer, variants: Sequence[str]) -> Measured:
    """Run one scenario and these variants of it."""
    given = scenario.load(_folders()[name].parent)
    base = ran(given, apiserver)
    first = score(name, base, given.expect, known_runbooks(given.folder))
    more = tuple(
        found
        for variant in variants
        if (found := variant_score(name, variant, given, (base, apiserver))) is not None
    )
    return Measured(score=first, variants=more)


def variant_score(
    name: str, variant: str, given: Scenario, run: tuple[Ran, ApiServer]
) -> Score | None:
    """The score of one variant against the verdicts of the scenario itself."""
    base, apiserver = run
    told = variant
    if variant == DROPPED:
        family = one_family(name, given, base)
        changed = perturb.without([family])(perturb.straight(given)) if family else None
        told = f"{variant}: {family}"
    else:
        changed = perturb.variant(variant, given)
    if changed is None:
        return None
    after = ran(changed, apiserver)
    of_interest = _named(base, given) if variant == DROPPED else ()
    lost = kept(base, after, given.expect, of_interest)
    plain = score(f"{name}, {told}", after, given.expect, known_runbooks(given.folder))
    return dataclasses.replace(plain, variant=variant, misses=lost)


def one_family(name: str, given: Scenario, base: Ran) -> str | None:
    """A family that no runbook asks for of which the scenario expects something; by seed."""
    named = _named(base, given)
    if not named:
        return None
    questions = {question for book in named for question in base.asked[book]}
    found = perturb.droppable(given, questions, asks_for)
    return random.Random(name).choice(found) if found else None  # noqa: S311 - the same each run


def _named(base: Ran, given: Scenario) -> tuple[str, ...]:
    """The runbooks of which the scenario expects a verdict, and those that are confirmed."""
    wanted = ("confirmed", "refuted", "unknown")
    return tuple(
        book
        for book in base.asked
        if expected_of(book, given.expect) in wanted or base.verdicts.get(book) == "confirmed"
    )


def all_measured(folders: Sequence[str], variants: Sequence[str], jobs: int) -> Iterator[Measured]:
    """All scenarios, as they are done; each has one API server, for itself and its variants."""
    with ProcessPoolExecutor(jobs) as pool:
        pieces = [pool.submit(_one, name, variants) for name in folders]
        for done in as_completed(pieces):
            yield done.result()


def _one(name: str, variants: Sequence[str]) -> Measured:
    with one_apiserver() as apiserver:
        return measured(name, apiserver, variants)
