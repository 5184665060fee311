"""A notification of very many alerts in the line: taken out in parts, and others between them."""

from collections.abc import Sequence

import pytest

from tailhound.durable.arrivals import Arrival, read_arrival
from tailhound.durable.entries import Part
from tailhound.durable.known import Accepted
from tailhound.durable.line import Line
from tailhound.errors import StoreUnavailable
from tailhound.settings import Incidents
from tailhound.sources.alertmanager import read_group
from tests.samples.story import NOW
from tests.unit.durable import kit


def told(*workloads: str) -> Arrival:
    """A notification with one alert for each of these names."""
    alerts = (kit.alert(name, fingerprint=f"f{n}") for n, name in enumerate(workloads))
    return read_arrival(kit.body(*alerts), NOW, Incidents(), read_group)


def taken(line: Line) -> tuple[Sequence[Part], list[str]]:
    """What is taken out, and the workloads of each."""
    parts, _ = line.batch(200, 0.001)
    names = (
        (item.alert.labels.get("deployment", "") for item in part.arrival.items) for part in parts
    )
    return parts, ["".join(some) for some in names]


def write(parts: Sequence[Part]) -> None:
    """All of it is on disk."""
    for part in parts:
        items = part.arrival.items
        part.tell(Accepted(tuple(item.key for item in items), len(items), 0))


def test_others_get_their_turn_between_the_parts_of_a_large_one() -> None:
    line = Line(alerts=2)
    large = line.join(told(*"abcde"))
    smalls = [line.join(told(name)) for name in "xyz"]
    parts, names = taken(line)
    assert names == ["ab", "x", "y"]
    write(parts)
    assert [small.done() for small in smalls] == [True, True, False]
    parts, names = taken(line)
    assert names == ["cd", "z"]
    write(parts)
    assert not large.done()
    parts, names = taken(line)
    assert names == ["e"]
    write(parts)
    assert (large.result().new, len(large.result().incidents)) == (5, 5)
    assert taken(line)[1] == []


def test_what_tells_of_an_incident_that_still_waits_stays_behind_it_in_its_order() -> None:
    line = Line(alerts=2)
    for workloads in ("abcde", "e", "x", "ey", "y"):
        line.join(told(*workloads))
    assert [taken(line)[1] for _ in range(4)] == [["ab", "x"], ["cd"], ["e", "e"], ["ey"]]
    assert taken(line)[1] == ["y"]


def test_alerts_of_one_incident_are_taken_together_where_they_have_room() -> None:
    line = Line(alerts=3)
    line.join(told(*"abacbadd"))
    assert [taken(line)[1] for _ in range(3)] == [["aaa"], ["bbc"], ["dd"]]


def test_more_alerts_of_one_incident_than_there_is_room_for_are_taken_in_parts() -> None:
    line = Line(alerts=3)
    line.join(told(*"aaaaaaab"))
    assert [taken(line)[1] for _ in range(3)] == [["aaa"], ["aaa"], ["ab"]]


def test_large_ones_are_taken_one_after_the_other() -> None:
    line = Line(alerts=1)
    for workloads in ("abc", "de", "x"):
        line.join(told(*workloads))
    assert taken(line)[1] == ["a", "x"]
    assert [taken(line)[1] for _ in range(3)] == [["b"], ["c", "d"], ["e"]]


def test_small_ones_are_written_together_only_up_to_so_many_alerts() -> None:
    line = Line(alerts=3)
    for workloads in ("ab", "cd", "e", "f"):
        line.join(told(*workloads))
    assert [taken(line)[1] for _ in range(2)] == [["ab"], ["cd", "e"]]
    assert taken(line)[1] == ["f"]


def test_a_part_that_cannot_be_stored_has_the_whole_sent_again_and_gives_its_room() -> None:
    line = Line(most=1, alerts=1)
    large = line.join(told(*"abc"))
    write(taken(line)[0])
    (part,) = taken(line)[0]
    part.refuse(StoreUnavailable("the database does not answer"))
    with pytest.raises(StoreUnavailable, match="does not answer"):
        large.result()
    assert taken(line)[1] == []
    line.join(told("x"))
    assert taken(line)[1] == ["x"]


def test_a_stop_waits_for_small_ones_and_leaves_the_rest_of_a_large_one_to_be_sent_again() -> None:
    line = Line(alerts=1)
    large, small = line.join(told(*"abc")), line.join(told("x"))
    line.end()
    parts, is_last = line.batch(200, 0.001)
    write(parts)
    assert (len(parts), is_last) == (1, True)
    assert small.result().new == 1
    with pytest.raises(StoreUnavailable, match="stopping"):
        large.result()
    with pytest.raises(StoreUnavailable, match="stopping"):
        line.join(told("y"))


def test_alerts_that_were_dropped_are_counted_once() -> None:
    line = Line(alerts=1)
    names = ["LLMDHighTTFT", "Watchdog", "LLMDHighTTFT"]
    alerts = (kit.alert(f"w{n}", name=name, fingerprint=f"f{n}") for n, name in enumerate(names))
    large = line.join(read_arrival(kit.body(*alerts), NOW, Incidents(), read_group))
    for _ in range(2):
        (part,), _ = line.batch(200, 0.001)
        part.tell(Accepted((), 1, 0, part.arrival.dropped))
    assert sum(large.result().dropped.values()) == 1
