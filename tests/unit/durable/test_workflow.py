"""From an accepted body to a verdict that people see."""

from pathlib import Path

from tailhound.model import Outlook, State
from tests.unit.durable import kit


def test_an_alert_ends_in_one_message_with_a_verdict(tmp_path: Path) -> None:
    async def scene() -> None:
        async with kit.lab(tmp_path) as lab:
            id = await lab.accepted(kit.body(kit.alert()))
            incident = await lab.diagnosed(id)
            assert incident.state is State.DIAGNOSED
            assert incident.diagnosis is not None
            assert incident.diagnosis.outlook is Outlook.CAUSE_FOUND
            assert [item.name for item in incident.diagnosis.evidence] == ["cpu", "spec"]
            await kit.until(lambda: (shown := lab.chat.last(id)) and shown.diagnosis)
            assert len(lab.chat.posts(id)) == 1
            assert lab.detective.calls == ["resolve", "collect", "deepen", "decide"]
            assert [raw.text for raw in lab.reader.raw(id)] == ["{...}"]

    kit.run(scene())
