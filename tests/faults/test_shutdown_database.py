"""SIGTERM ends the process in five seconds, also while PostgreSQL hangs in the middle of writes."""

import os
import signal
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.databases import the_server
from tests.faults.server import Bot, alert, body, until
from tests.lab.postgres import Postgres

pytestmark = [
    pytest.mark.postgres,
    pytest.mark.timeout(180),  # each start of the server takes seconds on a busy machine
]


@contextmanager
def hanging(server: Postgres) -> Iterator[None]:
    """Stop all processes of a database server, which keeps its connections and says nothing."""
    found = subprocess.run(
        ["pgrep", "-P", str(server.pid)],
        capture_output=True,
        text=True,
        check=True,
    )
    stopped = [server.pid, *map(int, found.stdout.split())]
    for pid in stopped:
        os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        for pid in stopped:
            os.kill(pid, signal.SIGCONT)


def test_it_ends_while_its_database_hangs_and_goes_on_in_the_next_life(tmp_path: Path) -> None:
    the_server()  # says what is missing
    with Postgres() as server:
        values = {"store": {"url": server.create("tailhound")}}
        with Bot(tmp_path / "bot", values) as bot:
            bot.start()
            content = body(alert(deployment="w"))
            with hanging(server):
                sending = threading.Thread(target=bot.post, args=(content,))
                sending.start()
                assert bot.stop(30) < 5
                sending.join(10)
                assert not sending.is_alive()
            bot.start()
            until(lambda: bot.post(content).status == 200, "it to be accepted", 30, bot.said)
            (line,) = bot.incidents()
            bot.diagnosed(line["incident"])
            assert bot.stop() < 5
