"""Leases of replicas: who lives, who leads, and who is gone."""

import pytest

from tailhound.durable.engine import Engine
from tailhound.durable.replicas import Pulse, Replicas
from tailhound.store.database import Database
from tests.unit.durable import kit
from tests.unit.durable.replicas.kit import Tick, expire, replica

pytestmark = pytest.mark.postgres


def test_a_lease_holds_until_it_runs_out_and_again_once_it_is_renewed(database: Database) -> None:
    async def scene() -> None:
        tick = Tick()
        one = replica(database, "one", tick)
        assert not one.holds()
        await one.join()
        tick.now += 9.9
        assert one.holds()
        tick.now += 0.2
        assert not one.holds()
        await one.join()
        assert one.holds()
        await one.leave()
        assert not one.holds()

    kit.run(scene())


def test_a_lease_counts_from_before_it_was_asked_for(database: Database) -> None:
    async def scene() -> None:
        tick = Tick()

        def slow() -> float:
            tick.now += 3.0  # each look at the clock: the database took its time
            return tick.now

        one = Replicas(database, Engine(database, "one"), Pulse(), slow)
        await one.join()
        assert one._holds_until == 1013.0

    kit.run(scene())


def test_the_oldest_that_lives_leads_and_when_it_is_gone_the_next(database: Database) -> None:
    async def scene() -> None:
        one, two = replica(database, "one"), replica(database, "two")
        await one.join()
        await two.join()
        assert (one.leads(), two.leads()) == (True, False)
        expire(database, "one")
        assert (one.leads(), two.leads()) == (False, True)

    kit.run(scene())


def test_people_see_who_lives_and_who_is_gone(database: Database) -> None:
    async def scene() -> None:
        one, two = replica(database, "one"), replica(database, "two")
        await one.join()
        await two.join()
        expire(database, "one")
        gone, living = one.peers()
        assert gone.left_seconds < 0 < living.left_seconds <= 10
        await two.leave()
        assert len(one.peers()) == 1

    kit.run(scene())
