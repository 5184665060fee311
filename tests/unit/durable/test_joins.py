"""Incidents of one workload become one."""

from pathlib import Path

import pytest

from tailhound.model import State
from tests.unit.durable import kit
from tests.unit.durable.fakes import Detective
from tests.unit.durable.kit import ENDED, alert, body

pytestmark = pytest.mark.usefixtures("each_database")


def test_the_incident_of_a_pod_joins_the_open_one_of_its_workload(tmp_path: Path) -> None:
    async def scene() -> None:
        detective = Detective()
        async with kit.lab(tmp_path, detective=detective) as lab:
            first = await lab.accepted(body(alert()))
            await lab.diagnosed(first)
            detective.key = lab.incident(first).key
            second = await lab.accepted(body(alert("other", fingerprint="f2")))
            await kit.until(lambda: lab.incident(second).state is State.JOINED)
            assert lab.incident(second).joined_into == first
            assert len(lab.incident(first).alerts) == 2
            assert detective.calls.count("decide") == 1
            third = await lab.accepted(body(alert("other", fingerprint="f3")))
            assert third == first
            await lab.durable.accept(
                body(
                    alert(ends_at=ENDED),
                    alert("other", fingerprint="f2", ends_at=ENDED),
                    alert("other", fingerprint="f3", ends_at=ENDED),
                )
            )
            assert lab.incident(first).state is State.RESOLVED
            await kit.until(
                lambda: (shown := lab.chat.last(second)) and shown.state is State.JOINED
            )

    kit.run(scene())


def test_two_incidents_of_one_workload_join_the_earlier_whoever_notices(tmp_path: Path) -> None:
    async def scene() -> None:
        detective = Detective(key="workload:/prod/llm")
        async with kit.lab(tmp_path, detective=detective) as lab:
            bodies = [body(alert(f"pod-{i}", fingerprint=f"f{i}")) for i in range(6)]
            ids = [await lab.accepted(content) for content in bodies]
            await kit.until(lambda: sum(lab.incident(id).state is State.JOINED for id in ids) == 5)
            await lab.diagnosed(ids[0])
            first = lab.incident(ids[0])
            assert first.state is State.DIAGNOSED
            for id in ids[1:]:
                into = lab.incident(id)
                while into.joined_into:
                    assert lab.incident(into.joined_into).received_at <= into.received_at
                    into = lab.incident(into.joined_into)
                assert into.id == first.id
            assert len(lab.incident(ids[0]).alerts) == 6

    kit.run(scene())
