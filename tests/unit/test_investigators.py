"""Who investigates by which compiled set: found once, on any thread, and few are held."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tailhound.app.investigators import KNOWN_AT_MOST, Investigators
from tailhound.rules.loading import Compiled
from tailhound.settings import Settings
from tailhound.store.database import open_database
from tailhound.store.outputs import keep_compiled

NOW = datetime(2026, 11, 30, 3, 0, tzinfo=UTC)
EMPTY = Compiled(runbooks=())


def test_sets_are_made_once_also_when_many_threads_ask_and_few_are_held(tmp_path: Path) -> None:
    made: list[str] = []

    def make(kept: Compiled) -> Any:
        made.append(kept.sha)
        return kept

    database = open_database(f"sqlite:///{tmp_path}/bot.db")
    sets = [replace(EMPTY, templates={"a": str(n)}) for n in range(KNOWN_AT_MOST + 2)]
    with database.writing() as connection:
        shas = [keep_compiled(connection, one.to_json().encode(), NOW) for one in sets]
    find = Investigators(EMPTY, database, Settings(), make)
    with ThreadPoolExecutor(8) as pool:
        found: list[Any] = list(pool.map(find, shas[:3] * 20))
    assert [one.sha for one in found] == shas[:3] * 20
    assert sorted(made) == sorted([EMPTY.sha, *shas[:3]])
    for sha in shas:
        find(sha)
    assert len(find._known) == KNOWN_AT_MOST
    assert find(EMPTY.sha) is find._known[EMPTY.sha]
    with pytest.raises(KeyError):
        find("0" * 64)
    database.close()
