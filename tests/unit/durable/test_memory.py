"""What intake remembers is bounded by alerts, for one body may hold thousands of them."""

from pathlib import Path

import pytest

from tailhound.durable import intake
from tests.unit.durable import kit
from tests.unit.durable.kit import alert

pytestmark = pytest.mark.usefixtures("each_database")


@pytest.mark.sqlite
def test_the_bodies_that_are_remembered_say_of_a_bounded_number_of_alerts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(intake, "REMEMBERED", 100)

    async def scene() -> None:
        async with kit.intake_alone(tmp_path) as desk:
            firing = [alert(fingerprint=f"f{n}") for n in range(60)]
            for grown in range(40, 61):  # each notification of a group lists all that fires
                content = kit.body(*firing[:grown])
                await desk.intake.accept(content)
                assert len(desk.intake._memory.said_in(content)) == grown
            held = sum(len(said) for said in desk.intake._memory._bodies.values())
            assert held <= 100
            (id,) = (
                await desk.accept(*firing[:40])
            ).incidents  # forgotten, and a repeat all the same
            assert id == desk.only().id
            assert len(desk.rows("SELECT 1 FROM th_alert")) == 60

    kit.run(scene())
