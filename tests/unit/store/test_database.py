"""Opening the database: the lock, the tables, and clear words when it can't be."""

import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory

from tailhound.errors import SettingsError, StoreUnavailable
from tailhound.store import migrations
from tailhound.store.database import Database, open_database, open_readers
from tailhound.store.failures import meaning
from tailhound.store.records import raise_revision
from tailhound.store.tables import METADATA, PREFIX


def _url(folder: Path) -> str:
    return f"sqlite:///{folder / 'bot.db'}"


def test_a_new_database_has_the_tables_that_the_code_describes(tmp_path: Path) -> None:
    database = open_database(_url(tmp_path))
    with database.reading() as connection:
        context = MigrationContext.configure(
            connection,
            opts={"include_name": lambda name, kind, _: kind != "table" or name != "th_version"},
        )
        assert compare_metadata(context, METADATA) == []
    database.close()


def test_all_tables_have_the_prefix() -> None:
    assert all(name.startswith(PREFIX) for name in METADATA.tables)


def test_the_list_of_revisions_is_what_alembic_finds() -> None:
    config = Config()
    config.set_main_option("script_location", str(Path(migrations.__file__).parent))
    config.set_main_option("path_separator", "os")
    script = ScriptDirectory.from_config(config)
    found = [revision.revision for revision in script.walk_revisions()]
    assert tuple(reversed(found)) == migrations.KNOWN


def test_opening_it_again_changes_nothing_and_other_tables_are_left_alone(tmp_path: Path) -> None:
    open_database(_url(tmp_path)).close()
    with sqlite3.connect(tmp_path / "bot.db") as connection:
        connection.execute("CREATE TABLE notifications (x)")
        connection.execute("INSERT INTO notifications VALUES (1)")
    database = open_database(_url(tmp_path))
    with database.reading() as connection:
        assert connection.exec_driver_sql("SELECT x FROM notifications").scalars().all() == [1]
    database.close()


def test_it_is_durable_and_others_may_read_meanwhile(tmp_path: Path) -> None:
    database = open_database(_url(tmp_path))
    with database.writing() as connection:
        assert connection.exec_driver_sql("PRAGMA journal_mode").scalar() == "wal"
        assert connection.exec_driver_sql("PRAGMA synchronous").scalar() == 2  # FULL
        assert connection.exec_driver_sql("PRAGMA foreign_keys").scalar() == 1
        raise_revision(connection)
        with database.reading() as reader:
            assert reader.exec_driver_sql("SELECT count(*) FROM th_counter").scalar() == 0
    database.close()


def test_a_second_process_is_told_who_has_it(tmp_path: Path) -> None:
    database = open_database(_url(tmp_path))
    code = (
        "from tailhound.store.database import open_database\n"
        "from tailhound.errors import SettingsError\n"
        f"try: open_database({_url(tmp_path)!r})\n"
        "except SettingsError as error: print(error)\n"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert f"in use by another tailhound (process {os.getpid()})" in said.stdout
    database.close()
    again = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert again.stdout == ""


def test_readers_need_no_lock_and_cant_write(tmp_path: Path) -> None:
    database = open_database(_url(tmp_path))
    readers = open_readers(_url(tmp_path))
    with readers.connect() as connection:
        assert connection.exec_driver_sql("SELECT count(*) FROM th_incident").scalar() == 0
        with pytest.raises(sa.exc.OperationalError, match="readonly"):
            connection.exec_driver_sql("DELETE FROM th_incident")
    readers.dispose()
    database.close()
    readers = open_readers(_url(tmp_path))
    with readers.connect() as connection:
        assert connection.exec_driver_sql("SELECT count(*) FROM th_incident").scalar() == 0
    readers.dispose()


def test_readers_of_a_database_that_is_not_there_say_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="start `tailhound serve` first"):
        open_readers(_url(tmp_path))
    assert list(tmp_path.iterdir()) == []


def test_names_with_odd_characters_work(tmp_path: Path) -> None:
    odd = tmp_path / "a b#c &d"
    odd.mkdir()
    database = open_database(_url(odd))
    with database.reading() as connection:
        assert connection.exec_driver_sql("SELECT count(*) FROM th_incident").scalar() == 0
    database.close()


@pytest.mark.parametrize("url", ["sqlite://", "sqlite:///:memory:"])
def test_a_database_in_memory_is_refused(url: str) -> None:
    with pytest.raises(SettingsError, match="name a file"):
        open_database(url)


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="create the directory"):
        open_database(f"sqlite:///{tmp_path / 'missing' / 'bot.db'}")


def test_a_newer_database_is_left_alone(tmp_path: Path) -> None:
    open_database(_url(tmp_path)).close()
    with sqlite3.connect(tmp_path / "bot.db") as connection:
        connection.execute("UPDATE th_version SET version_num = '9999'")
    before = (tmp_path / "bot.db").read_bytes()
    with pytest.raises(SettingsError, match="newer tailhound") as caught:
        open_database(_url(tmp_path))
    assert "9999" in str(caught.value)
    assert (tmp_path / "bot.db").read_bytes() == before


def test_a_file_that_is_no_database_is_named_and_left_alone(tmp_path: Path) -> None:
    (tmp_path / "bot.db").write_bytes(b"these are the days of our lives " * 200)
    with pytest.raises(SettingsError, match="no SQLite database"):
        open_database(_url(tmp_path))
    assert (tmp_path / "bot.db").read_bytes().startswith(b"these are")


def test_a_damaged_database_says_restore_the_backup(tmp_path: Path) -> None:
    open_database(_url(tmp_path)).close()
    path = tmp_path / "bot.db"
    content = bytearray(path.read_bytes())
    content[4096:-4096] = b"\x00" * (len(content) - 8192)
    path.write_bytes(bytes(content))
    with pytest.raises((SettingsError, StoreUnavailable), match="restore the last backup"):
        _use(open_database(_url(tmp_path)))


def _use(database: Database) -> None:
    try:
        with database.writing() as connection:
            connection.exec_driver_sql("SELECT * FROM th_incident").all()
            connection.exec_driver_sql("SELECT * FROM th_outbox").all()
            raise_revision(connection)
    finally:
        database.close()


def test_after_a_failure_the_lock_is_free(tmp_path: Path) -> None:
    path = tmp_path / "bot.db"
    path.write_bytes(b"no database" * 500)
    with pytest.raises(SettingsError):
        open_database(_url(tmp_path))
    path.unlink()
    open_database(_url(tmp_path)).close()


def test_a_full_disk_is_an_outage_that_may_pass(tmp_path: Path) -> None:
    database = open_database(_url(tmp_path))
    with database.work.connect() as connection:
        (pages,) = connection.exec_driver_sql("PRAGMA page_count").one()
        connection.exec_driver_sql(f"PRAGMA max_page_count={pages}")
    with pytest.raises(StoreUnavailable, match="free some space") as caught:
        _fill(database)
    assert str(tmp_path) in str(caught.value)
    with database.reading() as connection:
        assert connection.exec_driver_sql("SELECT count(*) FROM th_meta").scalar() == 0
    database.close()


def _fill(database: Database) -> None:
    with database.writing() as connection:
        connection.exec_driver_sql(
            "INSERT INTO th_meta (name, value) VALUES ('big', ?)", ("x" * 1_000_000,)
        )


def test_a_wrong_statement_is_no_outage(tmp_path: Path) -> None:
    database = open_database(_url(tmp_path))
    with pytest.raises(sa.exc.IntegrityError), database.writing() as connection:
        connection.exec_driver_sql("INSERT INTO th_meta (name) VALUES ('x')")
    database.close()


def test_what_was_read_in_a_transaction_is_not_stale_when_it_is_written(tmp_path: Path) -> None:
    database = open_database(_url(tmp_path))
    with database.writing() as connection:
        connection.exec_driver_sql("SELECT 1 FROM th_incident").all()
        other = sqlite3.connect(tmp_path / "bot.db", timeout=0.05)
        with pytest.raises(sqlite3.OperationalError, match="locked"):
            other.execute("BEGIN IMMEDIATE")
        other.close()
    database.close()


def test_revisions_grow_by_what_was_reserved(tmp_path: Path) -> None:
    database = open_database(_url(tmp_path))
    with database.writing() as connection:
        assert [raise_revision(connection), raise_revision(connection, 5)] == [1, 2]
        assert raise_revision(connection) == 7
    database.close()


@pytest.mark.parametrize(
    ("text", "advice"),
    [
        ("database or disk is full", "free some space"),
        ("attempt to write a readonly database", "right to write"),
        ("unable to open database file", "directory exists"),
        ("database is locked", "fuser"),
        ("database disk image is malformed", "last backup"),
        ("disk I/O error", "kernel log"),
        ("something new\nwith a second line", "something new"),
    ],
)
def test_each_trouble_comes_with_what_to_do(text: str, advice: str) -> None:
    said = meaning(sqlite3.OperationalError(text))
    assert advice in said
    assert "\n" not in said
