"""The pages on the real thing: what people do in Slack stands on them, and in what is counted."""

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest
from starlette.applications import Starlette

from tailhound.app import compiled
from tailhound.app.site import Site
from tailhound.durable.acts import Click, Person
from tailhound.model import Rating
from tailhound.settings import Secret, Settings
from tailhound.slack.deeds import Part
from tailhound.web.app import create_app
from tailhound.web.metrics import Metrics
from tests.unit.durable.kit import Lab, alert, body, lab, run
from tests.unit.web.asgi import ask
from tests.unit.web.test_pages import Page

pytestmark = pytest.mark.sqlite
ANA = Person("U1", "ana")
WHOLE = compiled(Settings())


@dataclass(slots=True)
class Pages:
    """The application of a running tailhound."""

    here: Lab
    app: Starlette

    @classmethod
    def of(cls, here: Lab, settings: Settings | None = None) -> "Pages":
        site = Site(settings or Settings(), WHOLE, Metrics(), lambda: datetime.now(UTC))
        return cls(here, create_app(site.parts(here.durable, here.database, here.reader)))

    async def text(self, path: str) -> str:
        answer = await ask(self.app, path)
        assert answer.status == 200, path
        return Page(answer.text).text.replace("\u00a0", " ")


def click(incident: str, envelope: str) -> Click:
    return Click(incident=incident, person=ANA, envelope=envelope)


def test_what_a_person_does_stands_on_the_pages_and_counts(tmp_path: Path) -> None:
    async def story() -> None:
        async with lab(tmp_path) as here:
            pages = Pages.of(here)
            assert "No feedback yet." in await pages.text("/accuracy")
            id = await here.accepted(body(alert()))
            await here.diagnosed(id)
            assert "The CPU limit stops the engine" in await pages.text(f"/incidents/{id}")

            await here.durable.act(lambda acts: acts.on_it(click(id, "e1")))
            assert "ana is on it" in await pages.text(f"/incidents/{id}")
            assert "ana is on it" in await pages.text("/incidents?cause=cpu-throttling")

            wrong = click(id, "e2")
            await here.durable.act(
                lambda acts: acts.feedback(wrong, Rating.WRONG, "node-drain", "the drain was first")
            )
            told = await pages.text(f"/incidents/{id}")
            assert "wrong: it was Node drain “the drain was first”" in told
            counted = await pages.text("/accuracy")
            assert "1 incident, 1 with feedback" in counted
            assert "CPU throttling 1 1 0 1 0 too few to say (0 of 1)" in counted
            assert "Node drain 0 0 0 0 1" in counted
            listed = await pages.text("/runbooks")
            assert "confirmed 1, right 0 of 1" in listed

    run(story())


def test_the_stop_switch_shows_on_every_page_until_it_is_released(tmp_path: Path) -> None:
    async def story() -> None:
        async with lab(tmp_path) as here:
            pages = Pages.of(here)
            await here.durable.switch(lambda switch: switch.stop(ANA, "game day"))
            assert "changes: stopped by ana" in await pages.text("/incidents")
            health = await pages.text("/health")
            assert "Changes stopped by ana" in health
            assert "game day" in health
            await here.durable.switch(lambda switch: switch.resume())
            assert "changes: off (observe mode)" in await pages.text("/incidents")

    run(story())


def test_health_tells_of_backends_messages_work_and_replicas(tmp_path: Path) -> None:
    async def story() -> None:
        async with lab(tmp_path) as here:
            id = await here.accepted(body(alert()))
            await here.diagnosed(id)
            text = await Pages.of(here).text("/health")
            for said in (
                "Prometheus not configured",
                "Fix: set prometheus.url",
                "Last notification none since",
                "chat C1 takes messages",
                "Incidents 0 being checked, 0 waiting their turn",
                "Messages to send",
                "This process the only one",
            ):
                assert said in text, said

    run(story())


def test_slack_is_told_how_the_backends_stand_as_the_pages_are(tmp_path: Path) -> None:
    async def story() -> None:
        async with lab(tmp_path) as here:
            site = Site(Settings(), WHOLE, Metrics(), lambda: datetime.now(UTC))
            found = site.parts_of_health(here.durable, recorded=False)
            assert found[0] == Part("Prometheus", "not configured", None)
            shown = site.parts_of_health(here.durable, recorded=True)
            assert shown[0] == Part("Prometheus", "answers from a recording", True)
            site.board.note("prometheus", (), 0.04)
            (first, *_) = site.parts_of_health(here.durable, recorded=False)
            assert first == Part("Prometheus", "40\u00a0ms", True)

    run(story())


def test_there_is_no_link_to_a_slack_that_is_none(tmp_path: Path) -> None:
    settings = Settings.model_validate(
        {
            "slack": {
                "bot_token": Secret(env="NONE"),
                "channel": "C1",
                "api_url": "http://127.0.0.1:1/api/",
            }
        }
    )

    async def story() -> None:
        async with lab(tmp_path) as here:
            id = await here.accepted(body(alert()))
            answer = await ask(Pages.of(here, settings).app, f"/incidents/{id}")
            assert answer.status == 200
            assert "also in Slack" not in answer.text

    run(story())
