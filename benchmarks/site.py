"""What a benchmark needs of a site: a folder with a configuration, its database, its processes."""

import json
import sqlite3
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import yaml

from benchmarks.processes import Child, wait_until


class Site:
    """A folder of one benchmark. Everything that it starts logs there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._children = 0
        self._settings: dict[str, Any] = {
            "store": {"url": f"sqlite:///{folder}/tailhound.db"},
            "listen": {"port": 0},
        }

    @property
    def config(self) -> Path:
        """The configuration file."""
        return self.folder / "tailhound.yaml"

    @property
    def database(self) -> Path:
        """The bot's database; there after its first start."""
        return self.folder / "tailhound.db"

    def configure(self, **sections: Any) -> None:
        """Write the configuration with these sections."""
        self._settings |= sections
        self.config.write_text(yaml.safe_dump(self._settings), encoding="utf-8")

    def file(self, name: str, text: str) -> Path:
        """Write a file of the site."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def child(self, *arguments: str) -> Child:
        """`python ARGUMENTS...`, not started yet."""
        self._children += 1
        return Child(arguments, self.folder / f"child-{self._children}.log")

    def tailhound(self) -> Child:
        """`tailhound serve`, not started yet."""
        return self.child("-m", "tailhound", "serve", "--config", str(self.config))

    def states(self) -> dict[str, int]:
        """How many incidents are in which state, read beside the running bot."""
        return _grouped(self.database, "state", "th_incident")

    def unsent(self) -> int:
        """How many messages wait, or are on their way."""
        found = _grouped(self.database, "state", "th_outbox")
        return sum(count for state, count in found.items() if state != "sent")

    def alerts(self) -> int:
        """How many alerts are on record."""
        return rows_in(self.database, "th_alert")

    def wait_for_verdicts(self, incidents: int, seconds: float) -> None:
        """Until so many incidents are diagnosed."""
        wait_until(
            lambda: self.states().get("diagnosed", 0) >= incidents,
            f"{incidents} diagnosed incidents",
            seconds,
        )


def rows_in(database: Path, table: str) -> int:
    """How many rows a table has."""
    return _grouped(database, "''", table).get("", 0)


def _grouped(database: Path, column: str, table: str) -> dict[str, int]:
    sql = f"SELECT {column}, count(*) FROM {table} GROUP BY 1"  # noqa: S608 - names of our own
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True, timeout=30)) as connection:
        return dict(connection.execute(sql).fetchall())


@contextmanager
def site() -> Iterator[Site]:
    """A new site that asks no backend; its folder is removed afterwards."""
    with TemporaryDirectory(prefix="tailhound-benchmark-") as name:
        made = Site(Path(name))
        made.configure()
        yield made


def fetched(url: str, body: bytes | None = None) -> Mapping[str, Any]:
    """The JSON at an address of ours; with a body, what a POST answers."""
    headers = {"Content-Type": "application/json"}
    asked = urllib.request.Request(url, data=body, headers=headers)  # noqa: S310 - loopback, ours
    with urllib.request.urlopen(asked, timeout=30) as answer:  # noqa: S310 - as above
        found: Mapping[str, Any] = json.load(answer)
    return found
