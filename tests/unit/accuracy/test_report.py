"""What `python -m tests.accuracy` prints and writes."""

import json

from tests.accuracy.__main__ import as_plain, matrix
from tests.accuracy.scoring import Score, Totals


def _score(expected: str, got: str, variant: str = "") -> Score:
    return Score(
        name=f"{expected} {got}",
        expected_primary="any",
        primary=None,
        primary_right=None,
        misses=(),
        false_confirmations=(),
        matrix=(("cpu-throttling", expected, got),),
        variant=variant,
    )


def test_the_matrix_counts_what_was_expected_against_what_came() -> None:
    totals = Totals(scores=[_score("refuted", "unknown")] * 3 + [_score("confirmed", "confirmed")])
    lines = [line.split() for line in matrix(totals)]
    assert ["cpu-throttling", "confirmed", "1", ".", ".", "."] in lines
    assert ["cpu-throttling", "refuted", ".", ".", "3", "."] in lines


def test_variants_do_not_count_in_the_matrix() -> None:
    totals = Totals(scores=[], variants=[_score("refuted", "refuted", "other names")])
    assert len(matrix(totals)) == 1


def test_a_run_is_written_as_json() -> None:
    totals = Totals(scores=[_score("refuted", "unknown")])
    plain = json.loads(json.dumps(as_plain(totals)))
    assert plain["confusion"] == [
        {"cause": "cpu-throttling", "expected": "refuted", "got": "unknown", "times": 1}
    ]
    assert plain["scenarios"][0]["name"] == "refuted unknown"
