"""The line before the writer: in order, bounded by bytes, and one body always gets in."""

import gc
import tracemalloc

import pytest

from tailhound.durable.arrivals import Arrival, read_arrival
from tailhound.durable.known import Accepted
from tailhound.durable.line import Line, weight
from tailhound.errors import StoreUnavailable
from tailhound.settings import Incidents
from tailhound.sources.alertmanager import read_group
from tests.samples.story import NOW
from tests.unit.durable import kit


def body(size: int) -> Arrival:
    """One of so many bytes that nobody can read."""
    return Arrival(body=b"x" * size, at=NOW, unreadable="no JSON")


def sizes(line: Line, most: int = 200) -> tuple[list[int], bool]:
    """What comes out."""
    found, is_last = line.batch(most, 0.001)
    return [len(entry.arrival.body) for entry in found], is_last


def test_what_waits_comes_out_in_its_order_and_batches_are_bounded() -> None:
    line = Line()
    for size in (1, 2, 3):
        line.join(body(size))
    assert sizes(line, 2) == ([1, 2], False)
    assert sizes(line) == ([3], False)
    assert sizes(line) == ([], False)


def test_the_end_comes_behind_what_waits() -> None:
    line = Line()
    line.join(body(1))
    line.join(body(2))
    line.end()
    assert sizes(line, 1) == ([1], False)
    assert sizes(line, 1) == ([2], True)


def test_while_the_database_hangs_no_more_wait_than_there_is_room_for() -> None:
    line = Line(most=100)
    answers = [line.join(body(60)), line.join(body(40))]
    answers[0].cancel()  # who gave up has left its body, and it is written all the same
    with pytest.raises(StoreUnavailable, match="100 bytes wait to be written already"):
        line.join(body(1))
    assert sizes(line) == ([60, 40], False)


def test_what_is_being_written_takes_its_room_until_it_is_answered() -> None:
    line = Line(most=100)
    answers = [line.join(body(60)), line.join(body(40))]
    answers[0].cancel()
    (first, second), _ = line.batch(200, 0.001)
    with pytest.raises(StoreUnavailable):
        line.join(body(1))
    first.refuse(StoreUnavailable("the database does not answer"))
    line.join(body(60))
    with pytest.raises(StoreUnavailable):
        line.join(body(1))
    second.tell(Accepted((), 0, 0))
    second.refuse(StoreUnavailable("too late"))  # an answer is given once, and so is its room
    line.join(body(40))
    with pytest.raises(StoreUnavailable):
        line.join(body(1))


def test_while_a_large_body_is_read_it_takes_the_room_that_reading_needs() -> None:
    line = Line(most=100)
    with line.reading(b"x" * 15), pytest.raises(StoreUnavailable):
        line.join(body(11))
    line.join(body(90))
    with pytest.raises(StoreUnavailable), line.reading(b"x" * 15):
        pass


def test_a_refusal_holds_nothing_of_what_was_refused() -> None:
    line = Line()
    answer = line.join(body(1))
    (entry,), _ = line.batch(200, 0.001)
    try:
        raise StoreUnavailable("the database does not answer")
    except StoreUnavailable as error:
        entry.refuse(error)
    told = answer.exception()
    assert str(told) == "the database does not answer"
    assert told is not None
    assert told.__traceback__ is None


def test_one_body_larger_than_the_room_gets_in_when_nothing_waits() -> None:
    line = Line(most=10)
    line.join(body(11))
    assert sizes(line) == ([11], False)


@pytest.mark.parametrize(
    ("labels", "text"),
    [(1, ""), (4, "llm-70b"), (10, "x" * 100), (150, ""), (5, "\u4e2d" * 100)],
    ids=["bare", "usual", "long", "many", "wide"],
)
def test_an_arrival_weighs_about_what_it_takes_in_memory(labels: int, text: str) -> None:
    content = kit.body(
        *(
            kit.alert(
                f"w{n}",
                fingerprint=f"{n}",
                labels={f"l{i}": f"{text}{n}{i}" for i in range(labels)},
            )
            for n in range(300)
        )
    )
    read_arrival(content, NOW, Incidents(), read_group)  # what is made once is made now
    gc.collect()
    tracemalloc.start()
    try:
        arrival = read_arrival(content, NOW, Incidents(), read_group)
        gc.collect()
        taken = tracemalloc.get_traced_memory()[0] + len(content)
    finally:
        tracemalloc.stop()
    assert len(arrival.items) == 300
    assert 0.9 * taken < weight(arrival) < 2 * taken
