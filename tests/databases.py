"""Both databases for the same tests: `each_database` makes a test run once on each.

    from tests.databases import each_database, pytest_generate_tests   # in a conftest

    pytestmark = pytest.mark.usefixtures("each_database")
    ... open_database(url_of(tmp_path)) ...

The run on PostgreSQL has the marker `postgres`. A test about SQLite itself has the marker `sqlite`
and runs once. What is missing on this machine is said; with CI=true it is a failure.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tailhound.durable.engine import Engine
from tailhound.store.database import open_database
from tests.lab import postgres
from tests.lab.requirements import PARTS

__all__ = ["each_database", "pytest_generate_tests", "url_of"]

SQLITE, POSTGRES = "sqlite", "postgres"
_NOTE = "postgres-url"


def url_of(folder: Path) -> str:
    """The database of a test that has this folder."""
    note = folder / _NOTE
    if note.exists():
        return note.read_text(encoding="ascii")
    return f"sqlite:///{folder / 'bot.db'}"


def on_postgres(folder: Path, url: str) -> None:
    """Let the database of this folder be this one."""
    (folder / _NOTE).write_text(url, encoding="ascii")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run tests that ask for `each_database` on both, but those about SQLite once."""
    if "each_database" not in metafunc.fixturenames:
        return
    both = [SQLITE, pytest.param(POSTGRES, marks=pytest.mark.postgres)]
    only_one = metafunc.definition.get_closest_marker(SQLITE) is not None
    metafunc.parametrize("each_database", both[:1] if only_one else both, indirect=True)


@pytest.fixture
def each_database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The name of the database that `url_of(tmp_path)` leads to: with PostgreSQL, a fresh one."""
    if request.param == SQLITE:
        yield SQLITE
        return
    server = the_server()
    url = server.copied()
    on_postgres(tmp_path, url)
    yield POSTGRES
    server.drop(url)


def the_server() -> postgres.Shared:
    """The PostgreSQL of this test run; where there is none, the test is skipped, or fails in CI."""
    part = PARTS["postgres"]
    if not part.present:
        end = pytest.fail if os.environ.get("CI") == "true" else pytest.skip
        end(part.advice)
    return postgres.shared(_make_template)


def _make_template(url: str) -> None:
    """All tables, ours and the engine's."""
    database = open_database(url)
    Engine(database).prepare(())
    database.close()
