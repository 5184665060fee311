"""Which posts a change of an incident asks for: each once, with a mention where one is due."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tailhound.durable.asking import Destination
from tailhound.notifiers import PARTS
from tests.unit.durable.kit import CHANNEL
from tests.unit.durable.notices_kit import GROUP, Scene, diagnosis, play

pytestmark = pytest.mark.usefixtures("each_database")


def test_an_incident_that_is_back_is_told_once_and_mentions_nobody_within_the_hour(
    tmp_path: Path,
) -> None:
    async def act(at: Scene) -> None:
        await at.fires()
        at.posted("")
        at.desk.clock.advance(120)
        await at.ends()
        at.desk.clock.advance(120)
        await at.fires()
        await at.fires()
        assert at.asked() == {"event:reopened:2": ""}

    play(tmp_path, act)


def test_an_incident_that_is_back_after_an_hour_mentions_the_group_again(tmp_path: Path) -> None:
    async def act(at: Scene) -> None:
        await at.fires()
        at.posted("")
        at.desk.clock.advance(3700)
        await at.ends()
        at.desk.clock.advance(120)
        await at.fires()
        assert at.asked() == {"event:reopened:2": GROUP}

    play(tmp_path, act)


def test_a_mention_that_waits_to_be_posted_is_not_made_twice(tmp_path: Path) -> None:
    async def act(at: Scene) -> None:
        await at.fires()
        at.desk.clock.advance(3700)
        await at.ends()
        at.desk.clock.advance(120)
        await at.fires()
        assert at.asked() == {"event:reopened:2": ""}

    play(tmp_path, act)


def test_an_alert_that_pages_among_others_that_do_not_is_told_once(tmp_path: Path) -> None:
    async def act(at: Scene) -> None:
        await at.fires(severity="warning")
        assert at.asked() == {}
        await at.fires(severity="critical")
        await at.fires(severity="page")
        assert list(at.asked()) == ["event:paged:1"]

    play(tmp_path, act)


def test_a_page_mentions_the_group_that_the_configuration_names_for_it_now(
    tmp_path: Path,
) -> None:
    def destinations(incident: Any) -> list[Destination]:
        pages = any(one.labels["severity"] == "critical" for one in incident.alerts)
        return [Destination(place=CHANNEL, mention=GROUP if pages else "")]

    async def act(at: Scene) -> None:
        await at.fires(severity="warning")
        at.posted("")
        await at.fires(severity="critical")
        assert at.asked() == {"event:paged:1": GROUP}

    play(tmp_path, act, parts={"chat": PARTS}, destinations=destinations)


def test_without_threads_nothing_is_asked_for(tmp_path: Path) -> None:
    async def act(at: Scene) -> None:
        await at.fires()
        await at.ends()
        await at.fires()
        assert at.asked() == {}

    play(tmp_path, act, parts={})


def test_a_resolved_incident_gets_its_file_once_more_where_it_had_one(tmp_path: Path) -> None:
    async def act(at: Scene) -> None:
        await at.fires()
        at.posted("", "file")
        await at.ends()
        assert at.asked() == {"file:resolved:1": ""}

    play(tmp_path, act)


def test_an_incident_that_is_resolved_before_its_file_was_posted_gets_no_second_one(
    tmp_path: Path,
) -> None:
    async def act(at: Scene) -> None:
        await at.fires()
        at.posted("")
        await at.ends()
        assert at.asked() == {}

    play(tmp_path, act)


def test_another_cause_is_told_and_gets_charts_of_its_own(tmp_path: Path) -> None:
    async def act(at: Scene) -> None:
        await at.fires()
        at.decided(diagnosis("cpu-throttling"))
        at.posted("", *PARTS)
        at.decided(diagnosis("kv-preemption"))
        event, charts = sorted(at.asked(), reverse=True)
        assert event.startswith("event:overturned:1.")
        assert charts.startswith("charts:1.")

    play(tmp_path, act)


def test_charts_that_were_not_posted_yet_show_the_new_cause_anyway(tmp_path: Path) -> None:
    async def act(at: Scene) -> None:
        await at.fires()
        at.decided(diagnosis(""))
        at.posted("")
        at.decided(diagnosis("kv-preemption"))
        (event,) = at.asked()
        assert event.startswith("event:revised:1.")

    play(tmp_path, act)


def test_the_same_cause_again_is_told_to_nobody(tmp_path: Path) -> None:
    async def act(at: Scene) -> None:
        await at.fires()
        at.decided(diagnosis())
        at.posted("", *PARTS)
        at.decided(diagnosis())
        assert at.asked() == {}

    play(tmp_path, act)


def test_a_verdict_of_a_page_that_took_over_a_minute_is_told(tmp_path: Path) -> None:
    async def act(at: Scene) -> None:
        await at.fires()
        late = at.desk.clock.now.replace(minute=at.desk.clock.now.minute + 2)
        at.decided(replace(diagnosis(), decided_at=late))
        assert at.asked() == {"event:verdict:1": ""}

    play(tmp_path, act)
