"""Which posts a change of an incident asks for: each once, with a mention where one is due."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from tailhound.durable.acts import Acts, Click, Person
from tailhound.durable.asking import Destination, Place, open_parts
from tailhound.durable.boot import Boot
from tailhound.durable.desk import Desk as Office
from tailhound.model import Cause, Confidence, Diagnosis, Incident, Outlook, Verdict
from tailhound.notifiers import PARTS
from tailhound.store import records
from tailhound.store.records import Record
from tailhound.store.tables import outbox
from tests.unit.durable import kit
from tests.unit.durable.kit import CHANNEL, alert

pytestmark = pytest.mark.usefixtures("each_database")

GROUP = "S0ONCALL"


def settings(group: str = GROUP) -> dict[str, Any]:
    """Terms with threads, and a group that the channel's messages mention."""
    to = Destination(place=CHANNEL, mention=group)
    return {"parts": {"chat": PARTS}, "destinations": lambda _incident: [to]}


def diagnosis(primary: str = "cpu-throttling") -> Diagnosis:
    return Diagnosis(
        outlook=Outlook.CAUSE_FOUND if primary else Outlook.NONE_CONFIRMED,
        primary=primary or None,
        chain=(primary,) if primary else (),
        confidence=Confidence.HIGH if primary else None,
        causes=(Cause(runbook=primary, title=primary, verdict=Verdict.CONFIRMED, because="x"),)
        if primary
        else (),
        evidence=(),
    )


class Scene:
    """Intake with one incident, its outbox rows, and a hand that marks them as posted."""

    def __init__(self, desk: kit.Desk, terms: dict[str, Any]) -> None:
        self.desk, self._terms = desk, terms
        self.id = ""

    async def fires(self, **labels: str) -> None:
        """An alert of the incident fires; another severity is another alert."""
        severity = labels.get("severity", "critical")
        accepted = await self.desk.accept(alert(fingerprint=severity, labels=labels))
        (self.id,) = accepted.incidents

    async def ends(self, **labels: str) -> None:
        """The alert ends."""
        severity = labels.get("severity", "critical")
        now = self.desk.clock.now.isoformat()
        await self.desk.accept(alert(fingerprint=severity, ends_at=now, labels=labels))

    def posted(self, *parts: str) -> None:
        """These parts stand now, in the channel and in its thread."""
        with self.desk.database.writing() as connection:
            record = records.read(connection, self.id)
            assert record is not None
            open_parts(connection, record, {"chat": PARTS})
            mine = sa.update(outbox).where(outbox.c.part.in_(parts))
            now = self.desk.clock.now.timestamp()
            connection.execute(mine.values(message="m", posted_at=now, state="sent"))

    def decided(self, verdict: Diagnosis) -> None:
        """A verdict is written, whatever stood before."""

        def edit(record: Record) -> Record:
            return replace(record, done=record.incident.n).edited(diagnosis=verdict)

        with self.desk.database.writing() as connection:
            self._office.change(connection, self.id, edit, urgent=True)

    def is_on_it(self, person: str) -> None:
        """Somebody presses *I'm on it*."""
        pressed = Click(self.id, Person(person, person), f"{person} {self.desk.clock.now}")
        Acts(self._office).on_it(pressed)

    async def flaps(self, times: int, *, every: float = 600) -> None:
        """The alert ends and fires again, so often; what was asked for is posted in between."""
        for _ in range(times):
            self.desk.clock.advance(every / 2)
            await self.ends()
            self.desk.clock.advance(every / 2)
            await self.fires()
            self.all_posted()

    def all_posted(self) -> None:
        """Everything that was asked for stands now."""
        now = self.desk.clock.now.timestamp()
        with self.desk.database.writing() as connection:
            waiting = sa.update(outbox).where(outbox.c.message == "")
            connection.execute(waiting.values(message="m", posted_at=now, state="sent"))

    def timeline(self) -> list[str]:
        """What the timeline says."""
        return [line.what for line in self.desk.only().timeline]

    def rows(self) -> dict[tuple[str, str], str]:
        """The mention of each row by place and part."""
        with self.desk.database.reading() as connection:
            found = connection.execute(sa.select(outbox.c.place, outbox.c.part, outbox.c.mention))
            return {(row.place, row.part): row.mention for row in found}

    @property
    def _office(self) -> Office:
        return Office(
            self.desk.database,
            lambda: kit.terms(**self._terms),
            lambda _connection, *_tasks: None,
            Boot(clock=self.desk.clock),
        )

    def asked(self) -> dict[str, str]:
        """The posts that were asked for beside the usual ones, each with its mention."""
        with self.desk.database.reading() as connection:
            rows = connection.execute(sa.select(outbox.c.part, outbox.c.mention)).all()
        return {row.part: row.mention for row in rows if row.part and row.part not in PARTS}


@asynccontextmanager
async def scene(folder: Path, **terms: Any) -> AsyncIterator[Scene]:
    terms = terms or settings()
    async with kit.intake_alone(folder, **terms) as desk:
        yield Scene(desk, terms)


def play(folder: Path, act: Callable[[Scene], Awaitable[None]], **terms: Any) -> None:
    async def run() -> None:
        async with scene(folder, **terms) as at:
            await act(at)

    kit.run(run())


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


# --- how often


UNTOLD = "That it is back is not told in the channel: nobody has acted on the notifications before"


def test_an_incident_that_flaps_notifies_twice_until_somebody_acts_and_says_so(
    tmp_path: Path,
) -> None:
    async def act(at: Scene) -> None:
        await at.fires()
        at.all_posted()
        await at.flaps(5)
        assert list(at.asked()) == ["event:reopened:2"]
        assert at.timeline().count(UNTOLD) == 4
        at.is_on_it("ana")
        await at.flaps(4)
        assert sorted(at.asked()) == ["event:reopened:2", "event:reopened:7", "event:reopened:8"]
        assert at.timeline().count(UNTOLD) == 6

    play(tmp_path, act)


def test_a_post_that_a_storm_holds_is_no_notification(tmp_path: Path) -> None:
    async def act(at: Scene) -> None:
        await at.fires()
        with at.desk.database.writing() as connection:
            own = sa.update(outbox).where(outbox.c.part == "")
            connection.execute(own.values(state="held"))
        for _ in range(2):
            at.desk.clock.advance(300)
            await at.ends()
            at.desk.clock.advance(300)
            await at.fires()
        assert list(at.asked()) == ["event:reopened:2", "event:reopened:3"]
        assert UNTOLD not in at.timeline()

    play(tmp_path, act)


def test_a_click_on_an_incident_that_has_joined_counts_too(tmp_path: Path) -> None:
    async def act(at: Scene) -> None:
        await at.fires()
        at.all_posted()
        await at.flaps(1)
        home = at.id
        (other,) = (await at.desk.accept(alert("other", fingerprint="o"))).incidents
        with at.desk.database.writing() as connection:
            records.change(
                connection, other, lambda r: r.edited(joined_into=home), at.desk.clock.now
            )
        at.id = other
        at.desk.clock.advance(1)
        at.is_on_it("ana")
        at.id = home
        await at.flaps(1)
        assert sorted(at.asked()) == ["event:reopened:2", "event:reopened:3"]

    play(tmp_path, act)


def test_that_it_pages_is_told_however_often_it_was_told_before_it_did_but_once(
    tmp_path: Path,
) -> None:
    async def act(at: Scene) -> None:
        await at.fires(severity="warning")
        at.all_posted()
        for _ in range(2):
            at.desk.clock.advance(300)
            await at.ends(severity="warning")
            at.desk.clock.advance(300)
            await at.fires(severity="warning")
            at.all_posted()
        await at.fires(severity="critical")
        at.all_posted()
        assert at.asked() == {"event:reopened:2": "", "event:paged:3": GROUP}
        at.desk.clock.advance(300)
        await at.ends(severity="critical")
        await at.ends(severity="warning")
        at.desk.clock.advance(300)
        await at.fires(severity="warning")
        await at.fires(severity="critical")
        assert len(at.asked()) == 2
        assert any(line.startswith("That it pages is not told") for line in at.timeline())

    def destinations(incident: Incident) -> list[Destination]:
        return [Destination(place=CHANNEL, mention=GROUP if incident.is_page else "")]

    play(tmp_path, act, parts={"chat": PARTS}, destinations=destinations)


def test_another_cause_that_nobody_is_notified_of_gets_its_charts_all_the_same(
    tmp_path: Path,
) -> None:
    async def act(at: Scene) -> None:
        await at.fires()
        at.all_posted()
        await at.flaps(1)
        at.decided(diagnosis("cpu-throttling"))
        at.posted("", *PARTS)
        at.decided(diagnosis("kv-preemption"))
        assert {part.partition(":")[0] for part in at.asked()} == {"event", "charts"}
        assert any(line.startswith("The other verdict is not told") for line in at.timeline())

    play(tmp_path, act)


# --- routes that match only later


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
