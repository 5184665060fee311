"""What people in Slack set in motion, on the real thing, called from other threads."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

import pytest
import sqlalchemy as sa

from tailhound.actions.silence import Matcher
from tailhound.app import collectors, compiled
from tailhound.app.deeds import Given, ServerDeeds
from tailhound.durable.acts import Click, Person
from tailhound.durable.investigation import Investigator
from tailhound.durable.storm import HELD
from tailhound.durable.switch import Seen
from tailhound.errors import SettingsError
from tailhound.model import Missing, Rating
from tailhound.settings import Settings
from tailhound.slack.deeds import Open, Part, Word
from tailhound.store import records
from tailhound.store.tables import outbox
from tailhound.transports.alertmanager import AlertmanagerClient
from tests.unit.durable.kit import Lab, alert, body, lab, run, until

pytestmark = pytest.mark.sqlite
T = TypeVar("T")
ANA = Person("U1", "ana")
WHOLE = compiled(Settings())


@dataclass(frozen=True)
class Office:
    """A running tailhound and its deeds."""

    here: Lab
    deeds: ServerDeeds

    async def do(self, deed: Callable[[ServerDeeds], T]) -> T:
        """As a thread of Slack's does it."""
        return await asyncio.to_thread(deed, self.deeds)

    async def diagnosed(self) -> str:
        id = await self.here.accepted(body(alert()))
        await self.here.diagnosed(id)
        return id

    def is_sent(self) -> bool:
        """Whether every message tells what is newest."""
        late = sa.select(outbox.c.message).where(outbox.c.sent_revision < outbox.c.wanted_revision)
        with self.here.database.reading() as connection:
            return not connection.execute(late).all()


@asynccontextmanager
async def office(folder: Path, **more: Any) -> AsyncIterator[Office]:
    settings = Settings.model_validate(more)
    async with lab(folder) as here:
        wanted = settings.alertmanager
        silencer = AlertmanagerClient(wanted) if wanted.url else None
        given = Given(
            settings=settings,
            compiled=WHOLE,
            durable=here.durable,
            database=here.database,
            make=lambda kept: Investigator(kept, collectors(), (), settings),
            silencer=silencer,
            channels=lambda _incident: ["C1"],
            parts=lambda: [Part("Prometheus", "answers", True)],
            link=lambda channel, message: f"https://x.slack.com/{channel}/{message}",
            clock=lambda: datetime.now(UTC),
        )
        yield Office(here, ServerDeeds(given))
        if silencer is not None:
            silencer.close()


def click(incident: str, envelope: str = "e1") -> Click:
    return Click(incident, ANA, envelope)


def test_clicks_are_stored_once_and_shown(tmp_path: Path) -> None:
    async def story() -> None:
        async with office(tmp_path) as made:
            id = await made.diagnosed()
            assert await made.do(lambda deeds: deeds.on_it(click(id)))
            assert not await made.do(lambda deeds: deeds.on_it(click(id)))
            word = Word(rating=Rating.RIGHT, note="seen before")
            assert await made.do(lambda deeds: deeds.rate(click(id, "e2"), word))
            incident = await made.do(lambda deeds: deeds.incident(id))
            assert incident is not None
            assert incident.on_it is not None
            assert incident.on_it.by == "ana"
            assert incident.feedback[0].note == "seen before"
            assert [one.id for one in (await made.do(lambda deeds: deeds.open())).listed] == [id]
            assert await made.do(lambda deeds: deeds.off_it(click(id, "e3")))
            given_back = await made.do(lambda deeds: deeds.incident(id))
            assert given_back is not None
            assert given_back.on_it is None

    run(story())


def test_a_re_check_investigates_again(tmp_path: Path) -> None:
    async def story() -> None:
        async with office(tmp_path) as made:
            id = await made.diagnosed()
            assert await made.do(lambda deeds: deeds.recheck(click(id)))
            assert (await made.here.diagnosed(id, 2)).n == 2

    run(story())


def test_where_an_incident_stands_is_known_by_its_message_and_its_channel(tmp_path: Path) -> None:
    async def story() -> None:
        pages = {"listen": {"public_url": "https://tailhound.example"}}
        async with office(tmp_path, **pages) as made:
            id = await made.diagnosed()
            await until(made.is_sent)
            whole = made.here.incident(id)
            stands = made.deeds.whereabouts
            page = {id: f"https://tailhound.example/incidents/{id}"}
            assert await made.do(lambda _: stands.links([whole])) == page
            with made.here.database.writing() as connection:
                mine = {"notifier": "slack", "place": "C1", "message": "17.5"}
                connection.execute(sa.update(outbox).where(outbox.c.part == "").values(mine))
            message = {id: "https://x.slack.com/C1/17.5"}
            assert await made.do(lambda _: stands.links([whole])) == message
            assert (await made.do(lambda deeds: deeds.open())).links == message
            assert await made.do(lambda _: stands.at("C1", "17.5")) == id
            assert await made.do(lambda _: stands.at("C2", "17.5")) == ""
            assert [one.id for one in await made.do(lambda _: stands.here("C1"))] == [id]
            assert await made.do(lambda _: stands.here("C2")) == ()
            assert [one.id for one in await made.do(lambda _: stands.lately())] == [id]

    run(story())


def test_of_one_that_has_joined_another_that_one_is_told_as_long_as_it_is_there(
    tmp_path: Path,
) -> None:
    async def story() -> None:
        async with office(tmp_path) as made:
            id = await made.diagnosed()
            other = await made.here.accepted(body(alert("other", fingerprint="f2")))
            await made.here.diagnosed(other)
            for into, told in ((id, id), ("GONE", other), (other, other)):
                _join(made, other, into)
                found = await made.do(lambda deeds: deeds.incident(other))
                assert found is not None
                assert found.id == told

    run(story())


def _join(made: Office, id: str, into: str) -> None:
    with made.here.database.writing() as connection:
        records.change(
            connection, id, lambda record: record.edited(joined_into=into), datetime.now(UTC)
        )


@pytest.mark.parametrize(
    "deed",
    [
        lambda deeds: deeds.on_it(click("ZZZZ")),
        lambda deeds: deeds.recheck(click("ZZZZ")),
        lambda deeds: deeds.check_now("ZZZZ"),
        lambda deeds: deeds.rate(click("ZZZZ"), Word(rating=Rating.RIGHT)),
    ],
    ids=["on it", "recheck", "check now", "rate"],
)
def test_an_unknown_incident_is_told_as_such(
    tmp_path: Path, deed: Callable[[ServerDeeds], object]
) -> None:
    async def story() -> None:
        async with office(tmp_path) as made:
            with pytest.raises(LookupError) as caught:
                await made.do(deed)
            assert type(caught.value) is LookupError

    run(story())


def test_a_diagnosis_that_is_asked_for_runs_and_is_shown(tmp_path: Path) -> None:
    async def story() -> None:
        async with office(tmp_path) as made:
            labels = {"namespace": "prod", "deployment": "llm-70b"}
            begun = await made.do(lambda deeds: deeds.diagnose(ANA, labels))
            assert (begun.joined, begun.channels, begun.seconds) == (False, ("C1",), 30.0)
            incident = await made.here.diagnosed(begun.incident)
            assert incident.alerts[0].annotations["summary"] == "ana asked for this check"
            again = await made.do(lambda deeds: deeds.diagnose(ANA, labels))
            assert (again.joined, again.incident) == (True, begun.incident)
            assert len((await made.here.diagnosed(begun.incident)).alerts) == 1

    run(story())


def test_who_asks_for_what_a_storm_holds_gets_its_message(tmp_path: Path) -> None:
    async def story() -> None:
        async with office(tmp_path) as made:
            labels = {"namespace": "prod", "deployment": "llm-70b"}
            begun = await made.do(lambda deeds: deeds.diagnose(ANA, labels))
            await made.here.diagnosed(begun.incident)
            with made.here.database.writing() as connection:
                connection.execute(sa.update(outbox).values(state=HELD))
            again = await made.do(lambda deeds: deeds.diagnose(ANA, labels))
            assert again.joined
            with made.here.database.reading() as connection:
                assert HELD not in connection.execute(sa.select(outbox.c.state)).scalars().all()

    run(story())


def test_a_run_that_finds_no_place_free_is_refused_beforehand_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tailhound.app.deeds.RUNS_AT_ONCE", 0)

    async def story() -> None:
        async with office(tmp_path) as made:
            labels = {"namespace": "prod", "deployment": "llm-70b"}
            assert "run already" in await made.do(lambda deeds: deeds.why_no_run(labels))
            with pytest.raises(SettingsError, match="run already"):
                await made.do(lambda deeds: deeds.run("cpu-throttling", labels))

    run(story())


def test_one_runbook_runs_without_an_incident(tmp_path: Path) -> None:
    async def story() -> None:
        async with office(tmp_path) as made:
            labels = {"namespace": "prod", "deployment": "llm-70b"}
            found = await made.do(lambda deeds: deeds.run("cpu-throttling", labels))
            assert found.diagnosis is not None
            assert [one.runbook for one in found.diagnosis.causes] == ["cpu-throttling"]
            assert found.subject.where == "prod/llm-70b"
            assert await made.do(lambda deeds: deeds.open()) == Open((), 0)
            with pytest.raises(SettingsError, match="no such runbook"):
                await made.do(lambda deeds: deeds.run("nothing", labels))

    run(story())


def test_the_switch_is_moved_and_read(tmp_path: Path) -> None:
    async def story() -> None:
        async with office(tmp_path) as made:
            assert await made.do(lambda deeds: deeds.stopped()) is None
            stands = (await made.do(lambda deeds: deeds.stop(ANA, "game day", "e1"))).now
            assert stands is not None
            assert (stands.by, stands.why) == ("ana", "game day")
            overview = await made.do(lambda deeds: deeds.overview())
            assert overview.stopped == await made.do(lambda deeds: deeds.stopped())
            again = await made.do(lambda deeds: deeds.resume("e2", Seen(stands)))
            assert (again.before, again.now) == (overview.stopped, None)
            assert (await made.do(lambda deeds: deeds.resume("e2", Seen(stands)))).known

    run(story())


def test_the_overview_counts_the_month(tmp_path: Path) -> None:
    async def story() -> None:
        async with office(tmp_path) as made:
            id = await made.diagnosed()
            await made.do(lambda deeds: deeds.rate(click(id), Word(rating=Rating.RIGHT)))
            found = await made.do(lambda deeds: deeds.overview())
            assert [one.id for one in found.open.listed] == [id]
            assert (found.month.incidents, found.month.right) == (1, 1)
            assert found.parts == [Part("Prometheus", "answers", True)]

    run(story())


def test_without_an_alertmanager_what_is_muted_is_unknown(tmp_path: Path) -> None:
    async def story() -> None:
        async with office(tmp_path) as made:
            assert not made.deeds.can_silence
            found = await made.do(lambda deeds: deeds.firing((Matcher("namespace", "prod"),)))
            assert isinstance(found, Missing)
            id = await made.diagnosed()
            prod = (Matcher("namespace", "prod"),)
            assert (await made.do(lambda deeds: deeds.past(prod, "ANOTHER"))).alerts == 1
            assert (await made.do(lambda deeds: deeds.past(prod, id))).alerts == 0

    run(story())


def test_an_alertmanager_that_is_gone_is_unknown(tmp_path: Path) -> None:
    async def story() -> None:
        async with office(tmp_path, alertmanager={"url": "http://127.0.0.1:9"}) as made:
            assert made.deeds.can_silence
            found = await made.do(lambda deeds: deeds.firing((Matcher("namespace", "prod"),)))
            assert isinstance(found, Missing)

    run(story())


def test_nobody_ends_a_silence_of_another_incident(tmp_path: Path) -> None:
    async def story() -> None:
        async with office(tmp_path) as made:
            id = await made.diagnosed()
            with pytest.raises(LookupError, match="no silence remote-1"):
                await made.do(lambda deeds: deeds.end_silence(click(id), "remote-1"))

    run(story())


def test_the_page_is_where_people_reach_it(tmp_path: Path) -> None:
    async def story() -> None:
        async with office(tmp_path) as made:
            assert made.deeds.page == ""
            assert made.deeds.mode == "observe"
            assert "cpu-throttling" in [one.id for one in made.deeds.runbooks]
        async with office(tmp_path, listen={"public_url": "https://x.example/"}) as made:
            assert made.deeds.page == "https://x.example/incidents"

    run(story())


@pytest.mark.parametrize("name", ["severity", "priority", "team", "tailhound_thread"])
def test_nobody_types_a_label_that_chooses_a_channel_or_a_mention(
    tmp_path: Path, name: str
) -> None:
    async def story() -> None:
        async with office(tmp_path, incidents={"severity_label": "priority"}) as made:
            labels = {"namespace": "prod", "deployment": "llm-9", name: "critical"}
            begun = await made.do(lambda deeds: deeds.diagnose(ANA, labels))
            assert begun.incident == ""
            assert begun.why_not.startswith(f"{name} names nothing that could be checked; namespa")
            why_no_run = await made.do(lambda deeds: deeds.why_no_run(labels))
            assert why_no_run.startswith(f"{name} names nothing")
            with pytest.raises(SettingsError, match=f"^{name} names nothing"):
                await made.do(lambda deeds: deeds.run("cpu-throttling", labels))
            assert await made.do(lambda deeds: deeds.open()) == Open((), 0)

    run(story())
