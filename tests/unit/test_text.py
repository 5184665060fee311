"""The words of the terminal."""

from dataclasses import replace

import pytest

from tailhound.cli.text import terminal
from tests.samples.causes import DIAGNOSIS
from tests.samples.incidents import CONFIRMED
from tests.samples.story import NOW


@pytest.mark.parametrize("length", [10, 40, 46, 47, 60, 120])
def test_a_title_of_any_length_stays_apart_from_the_confidence(length: int) -> None:
    found = DIAGNOSIS
    title = "x" * length
    causes = tuple(
        replace(one, title=title) if one.runbook == found.primary else one for one in found.causes
    )
    told = terminal(replace(CONFIRMED, diagnosis=replace(found, causes=causes)), NOW)
    assert f"{title}  " in told[1]
    assert told[1].endswith(("  high confidence", "  medium confidence", "  low confidence"))
