"""`runbooks`, `stop`, `resume` and `db`: what is kept, read and moved beside a running serve."""

import re
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import timedelta

import pytest

from tailhound import app
from tailhound.cli.runbook_text import WIDTH, Shown, shown
from tailhound.durable.switch import stopped
from tailhound.model import State
from tailhound.rules.selftest import run_tests
from tailhound.settings import Settings
from tailhound.store import records, sqlite
from tailhound.store.accuracy import Record
from tailhound.store.database import Database, open_database
from tailhound.store.migrations import KNOWN, upgrade
from tailhound.web.runbook import page_of
from tests.samples import incidents
from tests.unit.test_cli import Terminal, terminal

__all__ = ["terminal"]
ALL = app.compiled(Settings()).runbooks
LISTED = [
    "demo",
    "serve",
    "diagnose",
    "check",
    "test",
    "record",
    "replay",
    "parse",
    "collect",
    "doctor",
    "runbooks",
    "incidents",
    "stop",
    "resume",
    "db",
    "version",
]


def url(terminal: Terminal) -> str:
    return f"sqlite:///{terminal.folder / 'tailhound.db'}"


@pytest.fixture
def serving(terminal: Terminal) -> Iterator[Database]:
    """The database as a running serve holds it: open, and locked."""
    with closing(open_database(url(terminal))) as database:
        yield database


def test_every_command_that_stays_stable_is_there(terminal: Terminal) -> None:
    told = terminal.run("--help").out
    assert [word for word in LISTED if not re.search(rf"^ +{word}\s", told, re.MULTILINE)] == []


# --- runbooks


def test_runbooks_are_listed_and_those_with_a_word_found(terminal: Terminal) -> None:
    lines = terminal.run("runbooks").out.splitlines()
    assert [line.split()[0] for line in lines[:-1]] == [one.id for one in ALL]
    assert lines[-1].startswith(f"{len(ALL)} runbooks. Show one: ")
    found = terminal.run("runbooks", "LIMIT")
    assert found.out.startswith("cpu-throttling   The CPU limit stops the engine\n")


def test_one_runbook_is_shown_with_claims_thresholds_tests_and_changes(terminal: Terminal) -> None:
    lines = terminal.run("runbooks", "show", "cpu-throttling").out.splitlines()
    assert lines[0] == "cpu-throttling   The CPU limit stops the engine"
    assert re.fullmatch(r"owner sre-platform   cpu-throttling.yaml, active   tests (\d+) of \1",
                        lines[1])  # fmt: skip
    at = lines.index("confirms when all hold                   ruled out when one holds")
    assert lines[at + 1].split("  ")[1] == "stopped in more than a tenth of its"
    assert lines[at + 2].strip().startswith("periods (needs 10\u00a0%)")
    assert "asks Prometheus (4), Kubernetes (1)" in lines
    assert any(
        line.startswith(
            "changes   raise-limit (suggested, medium risk: neighbours get less CPU, and it"
        )
        for line in lines
    )
    assert any(line.startswith("30 days   not known: there is no database") for line in lines)


@pytest.mark.parametrize("runbook", ALL, ids=lambda one: one.id)
def test_no_line_of_a_runbook_is_wider_than_the_terminal(runbook: object) -> None:
    one = next(each for each in ALL if each is runbook)
    wild = replace(one, owner="\x1b[31mme\n" * 9, cause="<!here> " * 40)
    for each in (one, wild):
        page = page_of(each, ALL, run_tests(one)[:1], None)
        text = "\n".join(shown(Shown(page=page, record=None, why_not="no database " * 20)))
        assert [line for line in text.splitlines() if len(line) > WIDTH] == []
        assert "\x1b" not in text


def test_thirty_days_are_counted_beside_a_running_serve(
    terminal: Terminal, serving: Database
) -> None:
    last = terminal.run("runbooks", "show", "cpu-throttling").out.splitlines()[-1]
    assert last == "30 days   confirmed 0 times; no feedback yet"


def test_what_people_said_is_told() -> None:
    page = page_of(ALL[0], ALL, (), None)
    record = Record(runbook="x", confirmed=9, right=6, partly=1, wrong=1, missed=2)
    lines = shown(Shown(page=page, record=record))
    assert " ".join(" ".join(lines).split()).endswith(
        "30 days confirmed 9 times; feedback 7: 6 right (1 of them not the whole story), 1 wrong; "
        "missed 2 times"
    )
    assert any("no tests" in line for line in lines)


@pytest.mark.parametrize(
    ("argv", "code", "says"),
    [
        (("cpu-throtling",), 1, "Did you mean cpu-throttling?"),
        (("show", "cpu"), 1, "no runbook 'cpu'"),
        (("show",), 2, "write `runbooks`, `runbooks WORD` or `runbooks show ID`"),
        (("a", "b"), 2, "write `runbooks`"),
    ],
)
def test_what_is_no_runbook_is_told(
    terminal: Terminal, argv: tuple[str, ...], code: int, says: str
) -> None:
    found = terminal.run("runbooks", *argv)
    assert (found.code, found.out) == (code, "")
    assert says in found.err


# --- stop, resume


def test_stop_and_resume_move_the_switch_of_a_running_serve(
    terminal: Terminal, serving: Database
) -> None:
    found = terminal.run("stop", "game", "day")
    assert found.code == 0
    assert re.match(r"\S+ stopped all changes \d\d:\d\d UTC: “game day”\. ", found.out)
    assert "It holds nothing back now, for no changes exist in this version" in found.out
    assert found.out.endswith(". Diagnoses go on. End: tailhound resume\n")
    with serving.reading() as connection:
        stands = stopped(connection)
    assert stands is not None
    assert stands.why == "game day"
    again = terminal.run("stop", "me", "too").out
    assert again.startswith("Already stopped. ")
    assert "game day" in again
    ended = terminal.run("resume")
    assert ended.code == 0
    assert re.match(r"Changes are no longer stopped \(\S+, \d\d:\d\d UTC; stopped for ", ended.out)
    with serving.reading() as connection:
        assert stopped(connection) is None
    assert terminal.run("resume").out == "Nothing was stopped.\n"


def test_resume_does_not_end_what_a_file_stops(terminal: Terminal, serving: Database) -> None:
    file = terminal.folder / "tailhound.db.stop"
    file.touch()
    found = terminal.run("resume")
    assert (found.code, found.out) == (1, "")
    assert f"{file} stops all changes as long as it exists" in found.err
    file.unlink()
    assert terminal.run("resume").code == 0


def test_a_stop_that_cant_be_stored_names_what_does_the_same(terminal: Terminal) -> None:
    found = terminal.run("stop")
    assert found.code == 2
    assert found.err.startswith("not stopped: there is no database at ")
    assert "`touch " in found.err
    assert "tailhound.db.stop` stops all changes too" in found.err


def test_tables_of_another_version_are_left_alone(terminal: Terminal) -> None:
    older(terminal)
    found = terminal.run("resume")
    assert found.code == 2
    assert f"tables {KNOWN[-2]}, this tailhound works with {KNOWN[-1]}" in found.err


# --- db


def older(terminal: Terminal) -> None:
    """A database of the version before."""
    engine = sqlite.engine(terminal.folder / "tailhound.db", size=1, wait_seconds=1)
    with engine.begin() as connection:
        upgrade(connection, "tailhound.db", KNOWN[-2])
    engine.dispose()


def test_the_status_tells_where_how_large_and_how_much(
    terminal: Terminal, serving: Database
) -> None:
    open_ = replace(incidents.FIRST, id="7F3K", key="k1")
    over = replace(incidents.RESOLVED, id="8R5W", key="k2", state=State.RESOLVED,
                   received_at=open_.received_at - timedelta(hours=1))  # fmt: skip
    with serving.writing() as connection:
        rows = [records.Record(incident=one) for one in (open_, over)]
        records.insert(connection, rows, open_.received_at)
    found = terminal.run("db", "status")
    assert found.code == 0
    where, tables, amount = found.out.splitlines()
    assert re.fullmatch(r"database     SQLite, \S+/tailhound.db, \S+ KiB, \S+ GiB free",
                        where.replace("\u00a0", " "))  # fmt: skip
    assert tables == f"tables       {KNOWN[-1]}, up to date"
    assert amount.startswith("incidents    2, 1 open; the newest ")


def test_older_tables_are_told_and_upgraded(terminal: Terminal) -> None:
    older(terminal)
    found = terminal.run("db", "status")
    assert found.code == 1
    assert f"{KNOWN[-2]}, this version works with {KNOWN[-1]}: `tailhound db upgrade`" in found.out
    assert terminal.run("db", "upgrade").out == f"tables       {KNOWN[-2]} -> {KNOWN[-1]}\n"
    assert terminal.run("db", "upgrade").out == f"tables       {KNOWN[-1]}, nothing to do\n"
    assert terminal.run("db", "status").code == 0


def test_a_database_is_not_upgraded_under_a_running_serve(
    terminal: Terminal, serving: Database
) -> None:
    found = terminal.run("db", "upgrade")
    assert found.code == 2
    assert "is in use by another tailhound" in found.err


def test_a_newer_database_is_told_as_such(terminal: Terminal) -> None:
    open_database(url(terminal)).close()
    engine = sqlite.engine(terminal.folder / "tailhound.db", size=1, wait_seconds=1)
    with engine.begin() as connection:
        connection.exec_driver_sql("UPDATE th_version SET version_num = '9999'")
    engine.dispose()
    found = terminal.run("db", "status")
    assert found.code == 1
    assert "9999, of a newer tailhound" in found.out


def test_without_a_database_there_is_nothing_to_tell(terminal: Terminal) -> None:
    assert terminal.run("db", "status").code == 2
    assert terminal.run("db").code == 2
