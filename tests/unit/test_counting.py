"""What is counted on the way to people, and what is told about a body that was refused."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tailhound.app.counting import OVERSIZED, Counting, counting
from tailhound.errors import AlertUnreadable
from tailhound.model import Incident, State
from tailhound.notifiers import Delivery, Later, Posted
from tailhound.sources.alertmanager import read_group
from tailhound.web.metrics import Metrics
from tests.samples import incidents as made
from tests.unit.diagnosis.test_report import DIAGNOSIS, incident

NOW = datetime(2026, 11, 29, 3, 0, 1, tzinfo=UTC)


class Place:
    name = "place"

    def __init__(self, answer: Posted | Later) -> None:
        self.answer = answer

    async def deliver(self, delivery: Delivery) -> Posted | Later:
        return self.answer


def delivered(
    metrics: Metrics,
    seen: list[tuple[Incident, str]],
    answer: Posted | Later,
    *,
    posts: bool = True,
) -> str:
    counting_place = Counting(Place(answer), metrics, lambda: NOW, posts=posts, verdicts=True)
    for shown, message in seen:
        letter = Delivery(id=1, incident=shown, place="C", message=message)
        asyncio.run(counting_place.deliver(letter))
    return metrics.text().decode()


OPEN = incident(state=State.INVESTIGATING, received_at=NOW - timedelta(seconds=0.5))
DONE = replace(OPEN, state=State.DIAGNOSED, diagnosis=DIAGNOSIS)


def test_the_first_post_is_timed_and_a_verdict_counts_once() -> None:
    text = delivered(Metrics(), [(OPEN, ""), (DONE, "1.0"), (DONE, "1.0")], Posted("C", "1.0"))
    assert "tailhound_first_post_seconds_count 1.0" in text
    assert "tailhound_first_post_seconds_sum 0.5" in text
    assert 'tailhound_verdicts_total{outcome="cause found"} 1.0' in text


def test_a_notifier_beside_the_one_that_counts_posts_counts_none() -> None:
    text = delivered(Metrics(), [(OPEN, "")], Posted("C", "1.0"), posts=False)
    assert "tailhound_first_post_seconds_count 0.0" in text


def test_what_was_not_delivered_is_not_counted() -> None:
    text = delivered(Metrics(), [(DONE, "")], Later(1.0, "rate limit"))
    assert "tailhound_first_post_seconds_count 0.0" in text
    assert 'tailhound_verdicts_total{outcome="cause found"} 0.0' in text


def test_an_incident_has_one_first_post_whichever_channel_takes_it() -> None:
    text = delivered(Metrics(), [(OPEN, ""), (OPEN, "")], Posted("C", "1.0"))
    assert "tailhound_first_post_seconds_count 1.0" in text


@pytest.mark.parametrize("other", [{"part": "timeline"}, {"unsure": True}, {"message": "1.0"}])
def test_what_is_no_first_post_is_not_timed(other: dict[str, Any]) -> None:
    metrics = Metrics()
    made_here = Counting(
        Place(Posted("C", "1.0")), metrics, lambda: NOW, posts=True, verdicts=False
    )
    asyncio.run(made_here.deliver(Delivery(id=1, incident=OPEN, place="C", **other)))
    assert "tailhound_first_post_seconds_count 0.0" in metrics.text().decode()


def test_a_new_investigation_counts_anew() -> None:
    text = delivered(Metrics(), [(DONE, "1"), (replace(DONE, n=2), "1")], Posted("C", "1"))
    assert 'tailhound_verdicts_total{outcome="cause found"} 2.0' in text


def test_bodies_that_cannot_be_read_are_counted_and_still_refused() -> None:
    metrics = Metrics()
    with pytest.raises(AlertUnreadable):
        counting(read_group, metrics)(b"not JSON")
    assert "tailhound_bodies_unreadable_total 1.0" in metrics.text().decode()


def test_a_body_that_cannot_be_read_is_no_verdict() -> None:
    text = delivered(Metrics(), [(made.UNREADABLE, "")], Posted("C", "1.0"))
    assert 'tailhound_verdicts_total{outcome="failed"} 0.0' in text
    assert "tailhound_first_post_seconds_count 1.0" in text


def test_a_failure_is_counted_as_one() -> None:
    text = delivered(Metrics(), [(made.FAILED, "")], Posted("C", "1.0"))
    assert 'tailhound_verdicts_total{outcome="failed"} 1.0' in text


def test_the_notice_of_a_refused_body_says_what_to_do() -> None:
    with pytest.raises(AlertUnreadable, match=r"40000000 bytes was refused.*max_alerts"):
        counting(read_group, Metrics())(OVERSIZED + b"40000000 bytes")
