"""Each test of replicas has a PostgreSQL database of its own."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tailhound.store.database import Database, open_database
from tests.databases import on_postgres, the_server, url_of


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    server = the_server()
    url = server.copied()
    on_postgres(tmp_path, url)
    yield tmp_path
    server.drop(url)


@pytest.fixture
def database(folder: Path) -> Iterator[Database]:
    opened = open_database(url_of(folder))
    yield opened
    opened.close()
