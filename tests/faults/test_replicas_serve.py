"""`tailhound serve` on PostgreSQL, twice: started at once, one killed, the database away."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.databases import the_server
from tests.faults.server import (
    CHANNEL,
    WITH_HISTORY,
    Bot,
    alert,
    body,
    own_posts,
    until,
    with_slack,
)
from tests.faults.test_outages import send, shows_the_verdict, until_settled
from tests.lab.bot import merged
from tests.lab.postgres import Postgres
from tests.lab.process import BlackHole
from tests.standins.slack import SlackStandin

pytestmark = [
    pytest.mark.postgres,
    pytest.mark.xdist_group("faults-replicas-serve"),
    pytest.mark.timeout(180),  # each start of the server takes seconds on a busy machine
]


@pytest.fixture
def slack() -> Iterator[SlackStandin]:
    with SlackStandin(scopes=WITH_HISTORY) as started:
        started.add_channel(CHANNEL)
        yield started


@pytest.fixture
def empty() -> Iterator[str]:
    server = the_server()
    url = server.empty()
    yield url
    server.drop(url)


@contextmanager
def two(folder: Path, url: str, slack: SlackStandin, **values: Any) -> Iterator[tuple[Bot, Bot]]:
    """Two servers on one database, started at the same time."""
    shared = merged(with_slack(folder, slack), {"store": {"url": url}, **values})
    with Bot(folder / "one", shared) as one, Bot(folder / "two", shared) as other:
        for bot in (one, other):
            bot.start(wait=False)
        for bot in (one, other):
            bot.wait_up()
        yield one, other


def test_two_servers_that_start_at_once_take_one_alert_for_one_incident(
    tmp_path: Path, empty: str, slack: SlackStandin
) -> None:
    with two(tmp_path, empty, slack) as (one, other):
        same = body(alert(deployment="w"))
        accepted = [bot.post(same).json for bot in (one, other)]
        assert accepted[0]["incidents"] == accepted[1]["incidents"]
        (id,) = accepted[0]["incidents"]
        until_settled(one, slack, [id])
        for bot in (one, other):
            assert [found["incident"] for found in bot.incidents()] == [id]
        assert one.stop() < 5
        until_settled(other, slack, [send(other, "w2")])
        assert other.stop() < 5


def owner(url: str, id: str) -> int:
    """The process that runs an incident's investigation; 0 while nobody does."""
    asked = (
        "SELECT host FROM th_replica JOIN dbos.workflow_status ON executor_id = id "
        "WHERE workflow_uuid = %s AND status = 'PENDING'"
    )
    with psycopg.connect(url, autocommit=True) as connection:
        row = connection.execute(asked, (f"inv:{id}:1",)).fetchone()
    return int(row[0].rpartition(" ")[2]) if row else 0


def test_the_verdict_of_a_server_that_is_killed_comes_from_the_other_one(
    tmp_path: Path, empty: str, slack: SlackStandin
) -> None:
    hole = BlackHole()
    silent = {"url": f"http://{hole.host}:{hole.port}"}
    with two(tmp_path, empty, slack, prometheus=silent, deadlines={"verdict": 8}) as bots:
        id = send(bots[0], "w")
        until(
            lambda: len(own_posts(slack, id)) == 1 and owner(empty, id) > 0, "it to be investigated"
        )
        killed, left = sorted(bots, key=lambda bot: bot.pid != owner(empty, id))
        killed.kill()
        until(lambda: shows_the_verdict(slack, id), "the verdict", 30, left.said)
        until_settled(left, slack, [id])
        assert owner(empty, id) in (0, left.pid)
    hole.stop()


def test_while_the_database_is_away_alerts_are_refused_and_then_all_goes_on(
    tmp_path: Path, slack: SlackStandin
) -> None:
    the_server()  # says what is missing
    with Postgres() as server:
        shared = {"store": {"url": server.create("tailhound")}}
        with Bot(tmp_path / "bot", merged(with_slack(tmp_path, slack), shared)) as bot:
            bot.start()
            first = send(bot, "w1")
            until_settled(bot, slack, [first])
            server.stop()
            refused = bot.post(body(alert(deployment="w2")))
            assert 500 <= refused.status < 600
            assert bot.get("/readyz").status == 503
            server.start()
            until(lambda: bot.get("/readyz").status == 200, "it to be ready again")
            until_settled(bot, slack, [first, send(bot, "w2")])
            server.crash()
            assert bot.stop() < 10
