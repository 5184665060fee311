"""A runbook damaged at random: findings or a runbook that works, never another exception."""

import random

from hypothesis import given, settings
from hypothesis import strategies as st

from tailhound.requests.argv import SHIPPED
from tailhound.rules import checking, compile_files

from .kit import COLLECTORS, RUNBOOK

PIECES = ("[", "{", "}", ":", "- ", "null", "true", "7", "''", "x", "$pods", "\n", "    ", "#", "é")


def damaged(seed: int) -> str:
    draw = random.Random(seed)  # noqa: S311 - a test's dice
    lines = RUNBOOK.splitlines()
    for _ in range(draw.randrange(1, 4)):
        at = draw.randrange(len(lines))
        what = draw.randrange(5)
        if what == 0:
            del lines[at]
        elif what == 1:
            lines.insert(at, lines[draw.randrange(len(lines))])
        elif what == 2:
            key, colon, _ = lines[at].partition(":")
            lines[at] = f"{key}{colon} {draw.choice(PIECES)}"
        else:
            column = draw.randrange(len(lines[at]) + 1)
            keep = column + draw.randrange(3)
            lines[at] = lines[at][:column] + draw.choice(PIECES) + lines[at][keep:]
    return "\n".join(lines) + "\n"


@settings(max_examples=40, deadline=None)
@given(st.integers(min_value=0, max_value=2**48))
def test_a_damaged_file_is_findings_or_a_runbook(seed: int) -> None:
    text = damaged(seed)
    runbooks, found = compile_files({"r.yaml": text}, COLLECTORS, SHIPPED)
    assert len(runbooks) == (0 if found else 1)
    last = text.count("\n") + 1
    assert all(1 <= finding.line <= last and finding.column >= 1 for finding in found)
    checked = checking.check_files({"r.yaml": text}, COLLECTORS, SHIPPED)
    assert checking.findings_text(checked.findings, {"r.yaml": text}).count("\n") < 600
