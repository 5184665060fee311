"""The words of the terminal."""

from dataclasses import replace

import pytest

from tailhound.cli.text import needs, terminal
from tailhound.model import Bound
from tests.unit.web import samples


def bound(value: float, alternative: int = 0, comparison: str = ">") -> Bound:
    return Bound(
        fact="a.b_seconds",
        comparison=comparison,
        value=value,
        unit="seconds",
        alternative=alternative,
    )


@pytest.mark.parametrize(
    ("bounds", "text"),
    [
        ((), ""),
        ((bound(5),), "needs over 5 s"),
        ((bound(5), bound(30, comparison="<")), "needs over 5 s and under 30 s"),
        ((bound(5, 1), bound(30, 2)), "needs over 5 s or over 30 s"),
        ((bound(1), bound(5, 1), bound(30, 2)), "needs over 1 s and over 5 s or over 30 s"),
        (
            (bound(5, 1), bound(9, 1, "<"), bound(30, 2)),
            "needs over 5 s and under 9 s or over 30 s",
        ),
    ],
)
def test_alternatives_are_joined_by_or(bounds: tuple[Bound, ...], text: str) -> None:
    assert needs(bounds).strip().replace("\u00a0", " ") == text


@pytest.mark.parametrize("length", [10, 40, 46, 47, 60, 120])
def test_a_title_of_any_length_stays_apart_from_the_confidence(length: int) -> None:
    incident, found = samples.FOUND, samples.DIAGNOSIS
    title = "x" * length
    causes = tuple(
        replace(one, title=title) if one.runbook == found.primary else one for one in found.causes
    )
    told = terminal(replace(incident, diagnosis=replace(found, causes=causes)), samples.NOW)
    assert f"{title}  " in told[1]
    assert told[1].endswith(("  high confidence", "  medium confidence", "  low confidence"))
