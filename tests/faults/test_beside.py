"""Commands typed beside a running serve, on both databases: another process, the same store."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.databases import the_server
from tests.faults.server import Bot, until

pytestmark = [
    pytest.mark.xdist_group("faults-beside"),
    pytest.mark.timeout(240),  # each command is a process of its own, on a busy machine
]
DATABASES = ["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)]


def typed(bot: Bot, *argv: str) -> tuple[int, str]:
    """What a command in its folder printed, and its exit code."""
    done = subprocess.run(
        [sys.executable, "-m", "tailhound", *argv, "--config", str(bot.config)],
        capture_output=True,
        text=True,
        timeout=100,
        cwd=bot.folder,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


@contextmanager
def serving(folder: Path, database: str, **values: Any) -> Iterator[Bot]:
    server = the_server() if database == "postgres" else None
    url = server.empty() if server else ""
    with Bot(folder / "bot", {**values, **({"store": {"url": url}} if url else {})}) as bot:
        bot.start()
        try:
            yield bot
        finally:
            bot.kill()
            if server:
                server.drop(url)


def shows(bot: Bot, told: str) -> None:
    """Once the top of the page says so of changes."""

    def header() -> str:
        page = bot.get("/incidents").body.decode()
        return page.partition('<p class="mode">')[2].partition("</p>")[0]

    until(lambda: told in header(), f"changes {told}", 30, bot.said)


@pytest.mark.parametrize("database", DATABASES)
def test_the_switch_is_moved_from_a_terminal(tmp_path: Path, database: str) -> None:
    with serving(tmp_path, database) as bot:
        shows(bot, "off (observe mode)")
        code, told = typed(bot, "stop", "game", "day")
        assert (code, "stopped all changes" in told, "game day" in told) == (0, True, True)
        shows(bot, "stopped by")
        code, told = typed(bot, "db", "status")
        assert (code, "up to date" in told) == (0, True)
        code, told = typed(bot, "resume")
        assert (code, told.startswith("Changes are no longer stopped")) == (0, True)
        shows(bot, "off (observe mode)")
        assert bot.alive


def test_a_file_stops_a_running_serve_and_resume_names_it(tmp_path: Path) -> None:
    file = tmp_path / "halt"
    with serving(tmp_path, "sqlite", stop_file=str(file)) as bot:
        file.write_text("the network is being moved\n", encoding="utf-8")
        shows(bot, "stopped by the file halt since")
        assert "the network is being moved" in bot.get("/health").body.decode()
        code, told = typed(bot, "resume")
        assert (code, str(file) in told) == (1, True)
        file.unlink()
        shows(bot, "off (observe mode)")
        code, told = typed(bot, "db", "upgrade")
        assert (code, "in use by another tailhound" in told) == (2, True)
