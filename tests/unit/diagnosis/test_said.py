"""Whether a diagnosis agrees more with what people said."""

from dataclasses import replace
from datetime import timedelta

import pytest

from tailhound.diagnosis.said import Against, against, newest
from tailhound.model import Diagnosis, Feedback, Outlook, Rating, Verdict
from tests.samples.causes import DIAGNOSIS
from tests.samples.incidents import TWO_FIT
from tests.samples.story import NOW

THROTTLING, DRAIN = "cpu-throttling", "ingress-path"


def naming(primary: str) -> Diagnosis:
    """A diagnosis whose headline names this cause; "" = none."""
    causes = tuple(
        replace(
            cause,
            verdict=Verdict.CONFIRMED if cause.runbook == primary else Verdict.REFUTED,
        )
        for cause in DIAGNOSIS.causes
    )
    if not primary:
        return replace(DIAGNOSIS, causes=causes, primary=None, outlook=Outlook.NONE_CONFIRMED)
    return replace(DIAGNOSIS, causes=causes, primary=primary)


def word(rating: Rating, cause: str = "", shown: str = THROTTLING, minutes: int = 0) -> Feedback:
    at = NOW + timedelta(minutes=minutes)
    return Feedback(rating=rating, cause=cause, note="", by="ana", at=at, said_primary=shown)


RIGHT = word(Rating.RIGHT)
PARTLY = word(Rating.PARTLY, DRAIN)
WRONG = word(Rating.WRONG, DRAIN)
NOT_THAT = word(Rating.WRONG)


@pytest.mark.parametrize(
    ("said", "old", "new", "stands"),
    [
        (RIGHT, THROTTLING, "", Against.WORSE),
        (RIGHT, "", THROTTLING, Against.BETTER),
        (RIGHT, THROTTLING, THROTTLING, Against.SAME),
        (RIGHT, THROTTLING, DRAIN, Against.WORSE),
        (RIGHT, DRAIN, "", Against.BETTER),
        (PARTLY, THROTTLING, DRAIN, Against.SAME),
        (PARTLY, DRAIN, "", Against.WORSE),
        (WRONG, THROTTLING, DRAIN, Against.BETTER),
        (WRONG, THROTTLING, "", Against.BETTER),
        (WRONG, DRAIN, THROTTLING, Against.WORSE),
        (NOT_THAT, THROTTLING, "", Against.BETTER),
        (NOT_THAT, "", THROTTLING, Against.WORSE),
        (NOT_THAT, THROTTLING, DRAIN, None),
        (word(Rating.RIGHT, shown=""), "", THROTTLING, None),
        (word(Rating.WRONG, THROTTLING, shown=""), "", THROTTLING, Against.BETTER),
    ],
)
def test_a_diagnosis_is_better_when_it_names_what_it_was_and_no_longer_what_it_was_not(
    said: Feedback, old: str, new: str, stands: Against | None
) -> None:
    assert against(said, naming(old), naming(new)) is stands


def test_one_of_two_that_fit_is_enough() -> None:
    assert TWO_FIT.diagnosis is not None
    assert against(RIGHT, naming(""), TWO_FIT.diagnosis) is Against.BETTER


def test_the_newest_word_counts_and_that_nobody_can_tell_is_none() -> None:
    later, latest = word(Rating.WRONG, minutes=1), word(Rating.UNSURE, minutes=2)
    assert newest([RIGHT, latest, later]) is later
    assert newest([latest]) is None
    assert newest([]) is None
