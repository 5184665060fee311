"""Flows that run side by side ask in the same round."""

from typing import Any

from tailhound.flow import Read, Reading, Together, read, together
from tailhound.model import Missing
from tailhound.requests import Query, Vector
from tailhound_collectors.reading import (
    NOT_ASKED,
    history,
    named,
    side_by_side,
    usually,
)
from tests.driving import EMPTY, drive, vector


def ask(*texts: str) -> Reading[tuple[Vector | Missing, ...]]:
    replies: list[Vector | Missing] = []
    for text in texts:
        replies.append((yield from read(Query(promql=text))))
    return tuple(replies)


def ask_at_once(*texts: str) -> Reading[tuple[Vector | Missing, ...]]:
    return (yield from together(Query(promql=text) for text in texts))


def nothing() -> Reading[tuple[Vector | Missing, ...]]:
    return ()
    yield


def rounds_of(flow: Reading[Any]) -> tuple[list[list[str]], Any]:
    """The questions of each round, and the result; each question is answered with its text."""
    rounds: list[list[str]] = []
    reply: Any = None
    while True:
        try:
            request = flow.send(reply)
        except StopIteration as end:
            return rounds, end.value
        assert isinstance(request, Together)
        rounds.append([inner.shown for inner in request.requests])
        reply = tuple(inner.shown for inner in request.requests)


def test_flows_of_different_length_get_their_own_replies() -> None:
    rounds, result = rounds_of(
        side_by_side([ask("a", "b", "c"), ask_at_once("d", "e"), nothing(), ask("f")])
    )
    assert rounds == [["a", "d", "e", "f"], ["b"], ["c"]]
    assert result == (("a", "b", "c"), ("d", "e"), (), ("f",))


def test_no_flow_asks_nothing() -> None:
    assert rounds_of(side_by_side([])) == ([], ())


def test_a_query_that_a_server_has_no_series_for_is_not_asked() -> None:
    def answer(request: Read[Any]) -> Any:
        assert request.shown == "up"
        return vector(({}, 1.0))

    found = drive(named({"up": "up", "swapped": ""}), answer)
    assert found == {"up": vector(({}, 1.0)), "swapped": NOT_ASKED}
    assert drive(usually("", (3600.0,)), lambda _: EMPTY) == (None, None)
    assert drive(history("", (3600.0,)), lambda _: EMPTY) == (None, None)
