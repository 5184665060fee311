"""PostgreSQL: opened by several at once, one writer at a time, and clear words when it fails."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext

from tailhound.errors import SettingsError, StoreUnavailable
from tailhound.store import migrations, postgres
from tailhound.store.database import Database, open_database, open_readers
from tailhound.store.failures import is_outage, meaning, passes
from tailhound.store.records import raise_revision
from tailhound.store.tables import METADATA
from tests.databases import the_server
from tests.lab.postgres import Shared
from tests.lab.process import free_port

pytestmark = pytest.mark.postgres


@pytest.fixture
def server() -> Shared:
    return the_server()


@pytest.fixture
def empty(server: Shared) -> Iterator[str]:
    url = server.empty()
    yield url
    server.drop(url)


@pytest.fixture
def database(server: Shared) -> Iterator[Database]:
    url = server.copied()
    opened = open_database(url)
    yield opened
    opened.close()
    server.drop(url)


def test_a_new_database_has_the_tables_that_the_code_describes(empty: str) -> None:
    database = open_database(empty)
    with database.reading() as connection:
        context = MigrationContext.configure(
            connection,
            opts={"include_name": lambda name, kind, _: kind != "table" or name != "th_version"},
        )
        assert compare_metadata(context, METADATA) == []
    database.close()


def test_replicas_that_start_at_once_on_an_empty_database_all_come_up(empty: str) -> None:
    together = threading.Barrier(4)

    def start() -> str:
        together.wait()
        database = open_database(empty)
        with database.reading() as connection:
            found = connection.exec_driver_sql("SELECT version_num FROM th_version").scalars().one()
        database.close()
        return str(found)

    with ThreadPoolExecutor(4) as pool:
        started = [pool.submit(start) for _ in range(4)]
        assert [one.result() for one in started] == [migrations.KNOWN[-1]] * 4


def test_a_second_writer_waits_until_the_first_has_committed(database: Database) -> None:
    begun, order = threading.Event(), []

    def second() -> None:
        begun.set()
        with database.writing() as connection:
            order.append(raise_revision(connection))

    with database.accepting() as connection:
        waiting = threading.Thread(target=second)
        waiting.start()
        begun.wait()
        assert _waits(database)
        order.append(raise_revision(connection))
    waiting.join(10)
    assert order == [1, 2]


def _waits(database: Database) -> bool:
    """Wait until somebody waits for the writers' lock."""
    asked = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
    for _ in range(500):
        with database.reading() as connection:
            if connection.exec_driver_sql(asked).scalar():
                return True
        threading.Event().wait(0.01)
    return False


def test_a_lease_does_not_wait_for_a_writer(database: Database) -> None:
    with database.writing(), database.pulsing() as connection:
        assert connection.exec_driver_sql("SELECT 1").scalar() == 1


def test_readers_cant_write(database: Database) -> None:
    readers = open_readers(database.url)
    with readers.connect() as connection:
        with pytest.raises(sa.exc.InternalError, match="read-only") as caught:
            connection.exec_driver_sql("DELETE FROM th_incident")
        assert is_outage(caught.value), "after a fail-over every write is refused like this"
        assert "primary" in meaning(caught.value)
    readers.dispose()


def test_a_process_that_was_stopped_within_a_transaction_keeps_nobody_waiting(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres, "IDLE_SECONDS", 1)
    stopped = open_database(database.url)
    with pytest.raises(StoreUnavailable):
        _write_around(stopped, database)
    with stopped.writing() as connection:
        assert raise_revision(connection) == 2
    stopped.close()


def _write_around(stopped: Database, other: Database) -> None:
    """Begin, let the other one write, which gets the lock after a second, and go on."""
    with stopped.writing() as held:
        raise_revision(held)
        with other.writing() as connection:
            assert raise_revision(connection) == 1
        raise_revision(held)


def test_lost_connections_are_an_outage_and_the_next_try_works(
    database: Database, server: Shared
) -> None:
    with database.writing() as connection:
        raise_revision(connection)
    with pytest.raises(StoreUnavailable, match="terminat"):
        _write_without_a_session(database)
    with database.writing() as connection:
        assert raise_revision(connection) == 2


def _write_without_a_session(database: Database) -> None:
    with database.writing() as connection:
        _end_sessions(database)
        raise_revision(connection)


def _end_sessions(database: Database) -> None:
    ended = (
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
        "WHERE datname = %s AND pid <> pg_backend_pid()"
    )
    name = sa.make_url(database.url).database
    with psycopg.connect(database.url.replace("+psycopg", ""), autocommit=True) as connection:
        connection.execute(ended, (name,))


def test_nobody_answers_there() -> None:
    with pytest.raises(StoreUnavailable, match="is PostgreSQL running") as caught:
        open_database(f"postgresql://th:sesame@127.0.0.1:{free_port()}/tailhound")
    assert "sesame" not in str(caught.value)


@pytest.mark.parametrize(
    ("change", "advice"),
    [
        ({"database": "nowhere"}, "no such database"),
        ({"username": "nobody-here"}, "no such account"),
        ({"username": "guarded", "password": "wrong"}, "password is wrong"),
        ({"username": "guarded"}, "set store.password"),
    ],
)
def test_what_a_person_must_mend_is_named(
    database: Database, change: dict[str, str], advice: str
) -> None:
    url = sa.make_url(database.url).set(**change)  # type: ignore[arg-type]
    with pytest.raises(SettingsError, match=advice):
        open_database(url.render_as_string(hide_password=False))


def test_the_password_may_be_given_apart_and_is_never_in_the_name(empty: str) -> None:
    guarded = sa.make_url(empty).set(username="guarded").render_as_string()
    with pytest.raises(SettingsError, match="let it own the database"):
        open_database(guarded, "sesame")
    url = sa.make_url(empty)
    with psycopg.connect(empty, autocommit=True) as connection:
        connection.execute(f'ALTER DATABASE "{url.database}" OWNER TO guarded'.encode())
    database = open_database(guarded, "sesame")
    assert "sesame" not in database.name
    database.close()
    with psycopg.connect(empty, autocommit=True) as connection:
        connection.execute(f'ALTER DATABASE "{url.database}" OWNER TO postgres'.encode())
        connection.execute(b"DROP OWNED BY guarded")


@pytest.mark.parametrize(
    ("url", "advice"),
    [
        ("mysql://me@there/x", "mysql is no database"),
        ("postgresql://me@there", "name the database"),
        ("nonsense", "write postgresql://"),
        ("postgresql://me@there:port/x", "write postgresql://"),
    ],
)
def test_an_address_that_is_none_is_refused_with_how_to_write_it(url: str, advice: str) -> None:
    with pytest.raises(SettingsError, match=advice):
        open_database(url)


def test_the_sites_own_options_come_last() -> None:
    url = postgres.address("postgresql://a@b/c?options=-c%20lock_timeout%3D1s&connect_timeout=9")
    query = postgres.engine(url, size=1, wait_seconds=1, readonly=True).url.query
    assert query["connect_timeout"] == "9"
    assert str(query["options"]).endswith("default_transaction_read_only=on -c lock_timeout=1s")


@pytest.mark.parametrize(
    "text",
    [
        "connection failed: FATAL:  the database system is starting up",
        "connection timeout expired",
        "FATAL:  sorry, too many clients already",
        "failed to resolve host 'db': Name or service not known",
    ],
)
def test_what_may_pass_by_itself_is_known(text: str) -> None:
    error = psycopg.OperationalError(text)
    assert passes(error)
    assert meaning(error) != text
