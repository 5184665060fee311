"""The line before the writer: in order, bounded by bytes, and one body always gets in."""

import pytest

from tailhound.durable.arrivals import Arrival
from tailhound.durable.line import Line
from tailhound.errors import StoreUnavailable
from tests.samples.story import NOW


def body(size: int) -> Arrival:
    """One of so many bytes that nobody can read."""
    return Arrival(body=b"x" * size, at=NOW, unreadable="no JSON")


def sizes(line: Line, most: int = 200) -> tuple[list[int], bool]:
    """What comes out."""
    found, is_last = line.batch(most, 0.001)
    return [len(arrival.body) for arrival, _ in found], is_last


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
    line.end()
    assert sizes(line, 1) == ([1], False)
    assert sizes(line, 1) == ([], True)


def test_while_the_database_hangs_no_more_wait_than_there_is_room_for() -> None:
    line = Line(most=100)
    answers = [line.join(body(60)), line.join(body(40))]
    answers[0].cancel()  # who gave up has left its body, and it is written all the same
    with pytest.raises(StoreUnavailable, match="100 bytes wait to be written already"):
        line.join(body(1))
    assert sizes(line) == ([60, 40], False)
    line.join(body(100))


def test_one_body_larger_than_the_room_gets_in_when_nothing_waits() -> None:
    line = Line(most=10)
    line.join(body(11))
    assert sizes(line) == ([11], False)
