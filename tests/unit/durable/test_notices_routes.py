"""Notices to the channels and groups of routes that match only later."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tailhound.durable.asking import Destination, Place
from tailhound.model import Diagnosis, Incident
from tailhound.notifiers import PARTS
from tests.unit.durable.kit import CHANNEL
from tests.unit.durable.notices_kit import GROUP, Scene, diagnosis, play

pytestmark = pytest.mark.usefixtures("each_database")


ONCALL = Place("chat", "C2")


def routes(later: str, owner: str = "") -> dict[str, Any]:
    """Pages, or what an owner looks after, go to another channel."""

    def destinations(incident: Incident) -> list[Destination]:
        matches = owner in incident.owners if owner else incident.is_page
        to = Destination(place=ONCALL, mention=GROUP, later=later)  # type: ignore[arg-type]
        return [to if matches else Destination(place=CHANNEL)]

    return {"parts": {"chat": PARTS}, "destinations": destinations}


def test_a_page_that_joins_is_shown_in_the_channel_of_its_route_and_mentions_its_group(
    tmp_path: Path,
) -> None:
    async def act(at: Scene) -> None:
        await at.fires(severity="warning")
        at.all_posted()
        await at.fires(severity="critical")
        await at.fires(severity="page")
        assert at.rows() == {("C1", ""): "", ("C1", "event:paged:1"): "", ("C2", ""): GROUP}
        assert "Shown in the channel C2 too: its route matches now" in at.timeline()

    play(tmp_path, act, **routes("post"))


def owned(by: str) -> Diagnosis:
    found = diagnosis()
    return replace(found, causes=tuple(replace(one, owner=by) for one in found.causes))


def test_an_owner_whom_the_verdict_names_gets_the_message_with_its_thread(tmp_path: Path) -> None:
    async def act(at: Scene) -> None:
        await at.fires()
        at.all_posted()
        at.decided(owned("storage"))
        assert ("C2", "") not in at.rows()
        at.decided(owned("sre"))
        at.decided(owned("sre"))
        there = {part: mention for (place, part), mention in at.rows().items() if place == "C2"}
        assert there == {"": GROUP} | dict.fromkeys(PARTS, "")

    play(tmp_path, act, **routes("post", "sre"))


def test_an_owner_may_be_mentioned_below_the_message_that_stands_instead(tmp_path: Path) -> None:
    async def act(at: Scene) -> None:
        await at.fires()
        at.all_posted()
        at.decided(owned("sre"))
        ((part, mention),) = at.asked().items()
        assert (part.partition(":")[0:2], mention) == (("event", ":"), GROUP)
        assert part.startswith("event:called:1:")
        assert {place for place, _ in at.rows()} == {"C1"}
        assert any(line.startswith("The group of the channel C2 is") for line in at.timeline())

    play(tmp_path, act, **routes("mention", "sre"))


def test_an_owner_is_mentioned_once_however_often_its_route_comes_to_match(tmp_path: Path) -> None:
    async def act(at: Scene) -> None:
        await at.fires(severity="warning")
        at.all_posted()
        at.decided(owned("sre"))
        at.all_posted()
        at.is_on_it("ana")
        for seconds in (60, 3600):
            at.desk.clock.advance(seconds)
            await at.fires(severity="critical" if seconds == 60 else "page")
            at.all_posted()
        called = [part for part in at.asked() if part.startswith("event:called:")]
        assert len(called) == 1
        assert list(at.asked().values()).count(GROUP) == 1

    play(tmp_path, act, **routes("mention", "sre"))


def test_within_the_hour_a_group_is_not_mentioned_again_in_another_episode(tmp_path: Path) -> None:
    async def act(at: Scene) -> None:
        await at.fires(severity="warning")
        at.decided(owned("sre"))
        at.all_posted()
        at.is_on_it("ana")
        await at.flaps(1, every=300)
        await at.ends(severity="warning")
        await at.fires(severity="warning")
        at.decided(diagnosis())
        at.decided(owned("sre"))
        assert list(at.asked().values()).count(GROUP) == 1

    play(tmp_path, act, **routes("mention", "sre"))


def test_an_owner_is_left_alone_where_the_route_says_so(tmp_path: Path) -> None:
    async def act(at: Scene) -> None:
        await at.fires()
        at.decided(owned("sre"))
        assert set(at.rows()) == {("C1", "")}

    play(tmp_path, act, **routes("nothing", "sre"))


def test_what_gets_better_goes_nowhere_else(tmp_path: Path) -> None:
    def destinations(incident: Incident) -> list[Destination]:
        return [Destination(place=CHANNEL if incident.is_page else ONCALL)]

    async def act(at: Scene) -> None:
        await at.fires(severity="critical")
        await at.fires(severity="warning")
        await at.ends(severity="critical")
        assert at.desk.only().severity == "warning"
        assert {place for place, _ in at.rows()} == {"C1"}

    play(tmp_path, act, parts={"chat": PARTS}, destinations=destinations)
