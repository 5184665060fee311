"""A real PostgreSQL: a server of our own in a folder of its own, gone when its owner is.

`Postgres` is one server, for a test that breaks it. `shared` is the one of a test run, which all
workers of the run use; each test gets a database of its own, copied from a template.

    python -m tests.lab.postgres FOLDER OWNER   # the shared server's keeper: ends when OWNER does
"""

import fcntl
import os
import pwd
import select
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from uuid import uuid4

import psycopg

from tests.lab.process import LabError, Server, free_port, wait_until

ACCOUNT = "postgres"
"""The account that the server runs as when we are root, which it refuses to be."""

_PLACES = Path("/usr/lib/postgresql")
_OPTIONS = (
    "listen_addresses=127.0.0.1",
    "max_connections=300",
    "shared_buffers=32MB",
    "autovacuum=off",  # nothing here lives long enough
    "log_checkpoints=off",
)
_IN_A_HURRY = ("fsync=off", "full_page_writes=off")
"""What a crash of the machine would need. A crash of the server loses nothing without it."""


def binaries() -> Path | None:
    """Where the newest server of this machine lies; None = there is none that we may run."""
    if os.geteuid() == 0 and not _is_account():
        return None
    found = sorted(_PLACES.glob("*/bin/postgres"), key=lambda path: float(path.parts[-3]))
    if found:
        return found[-1].parent
    onpath = shutil.which("initdb")
    return Path(onpath).resolve().parent if onpath else None


class Postgres:
    """One server. `durable` = it waits for the disk, as in production; `settings` are NAME=VALUE.

    Accounts: `postgres` is let in without a password, `guarded` only with the password `sesame`.
    """

    def __init__(
        self, folder: Path | None = None, *, durable: bool = False, settings: tuple[str, ...] = ()
    ) -> None:
        place = binaries()
        if place is None:
            raise LabError("there is no PostgreSQL on this machine")
        self._place = place
        self.folder = folder or Path(tempfile.mkdtemp(prefix="tailhound-pg-"))
        self.folder.mkdir(exist_ok=True)
        self.folder.chmod(0o755)
        self.data = self.folder / "data"
        self.port = free_port()
        self._settings = (*_OPTIONS, *(() if durable else _IN_A_HURRY), *settings)
        self._server: Server | None = None

    def __enter__(self) -> "Postgres":
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.remove()

    @property
    def pid(self) -> int:
        """The process id of the server."""
        assert self._server is not None
        return self._server.pid

    def start(self) -> "Postgres":
        """Start it, on the same port and data as before, and wait until it takes connections."""
        if not self.data.exists():
            self._make()
        options = [part for setting in self._settings for part in ("-c", setting)]
        argv = [
            "postgres",
            "-D",
            str(self.data),
            "-p",
            str(self.port),
            "-k",
            str(self.folder),
            *options,
        ]
        server = Server(self._as_account(argv), self.folder / "log")
        try:
            server.ready(self._answers, 30)
        except LabError:
            server.kill()
            raise
        self._server = server
        return self

    def stop(self) -> None:
        """Stop it, ending all sessions."""
        self._end(signal.SIGINT)

    def crash(self) -> None:
        """Stop it without a checkpoint, as `pg_ctl -m immediate` does: the next start recovers."""
        self._end(signal.SIGQUIT)

    def remove(self) -> None:
        """Stop it and delete everything."""
        self._end(signal.SIGQUIT)
        shutil.rmtree(self.folder, ignore_errors=True)

    def url(self, database: str, user: str = ACCOUNT, password: str = "") -> str:
        """The address of one of its databases."""
        who = f"{user}:{password}" if password else user
        return f"postgresql://{who}@127.0.0.1:{self.port}/{database}"

    def create(self, name: str, template: str = "template1") -> str:
        """Make a database; its address."""
        self.run(f'CREATE DATABASE "{name}" TEMPLATE "{template}"')
        return self.url(name)

    def drop(self, name: str) -> None:
        """Delete a database, whoever uses it."""
        self.run(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')

    def run(self, statement: str, database: str = "postgres") -> list[tuple[object, ...]]:
        """Run one statement; the rows that it gives."""
        with psycopg.connect(self.url(database), autocommit=True) as connection:
            cursor = connection.execute(statement.encode())
            return cursor.fetchall() if cursor.description else []

    def _make(self) -> None:
        if os.geteuid() == 0:
            shutil.chown(self.folder, ACCOUNT, ACCOUNT)
        argv = ["initdb", "-D", str(self.data), "-A", "trust", "-U", ACCOUNT, "--no-sync"]
        made = subprocess.run(
            self._as_account([*argv, "-E", "UTF8", "--locale=C.UTF-8"]),
            capture_output=True,
            text=True,
            check=False,
        )
        if made.returncode:
            raise LabError(f"initdb failed: {made.stdout}{made.stderr}")
        access = self.data / "pg_hba.conf"
        guard = "host all guarded 127.0.0.1/32 scram-sha-256\n"
        access.write_text(guard + access.read_text(encoding="utf-8"), encoding="utf-8")

    def _as_account(self, argv: list[str]) -> list[str]:
        argv = [str(self._place / argv[0]), *argv[1:]]
        if os.geteuid() != 0:
            return argv
        who = pwd.getpwnam(ACCOUNT)
        groups = [f"--reuid={who.pw_uid}", f"--regid={who.pw_gid}", "--clear-groups"]
        return ["setpriv", *groups, "--", *argv]

    def _answers(self) -> bool:
        try:
            psycopg.connect(self.url("postgres"), connect_timeout=5).close()
        except psycopg.OperationalError:
            return False
        return True

    def _end(self, how: signal.Signals) -> None:
        server, self._server = self._server, None
        if server is None:
            return
        with suppress(ProcessLookupError):
            os.kill(server.pid, how)
        server.ended(15)


def _is_account() -> bool:
    try:
        pwd.getpwnam(ACCOUNT)
    except KeyError:
        return False
    return True


# --- the server of a test run ---


def shared(make_template: Callable[[str], None]) -> "Shared":
    """The server of this test run, started by whoever needs it first.

    `make_template` gets the address of an empty database once, and fills it.
    """
    run = os.environ.get("PYTEST_XDIST_TESTRUNUID") or str(os.getpid())
    owner = os.getppid() if "PYTEST_XDIST_WORKER" in os.environ else os.getpid()
    folder = Path(tempfile.gettempdir()) / f"tailhound-pg-{run[:16]}"
    with _alone(folder.with_suffix(".lock")):
        ready = folder / "ready"
        if not ready.exists():
            _keep(folder, owner)
            made = Shared(folder)
            make_template(made.empty(TEMPLATE))
            ready.touch()
    return Shared(folder)


TEMPLATE = "tailhound_template"


class Shared:
    """The databases of the run's server, as one worker sees it."""

    def __init__(self, folder: Path) -> None:
        self._port = int((folder / "port").read_text(encoding="ascii"))

    def copied(self) -> str:
        """The address of a new database with all tables."""
        return self._create(TEMPLATE)

    def empty(self, name: str = "") -> str:
        """The address of a new database without any table."""
        return self._create("template1", name)

    def drop(self, url: str) -> None:
        """Delete a database, whoever uses it."""
        name = url.rpartition("/")[2]
        self.run(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')

    def run(self, statement: str) -> None:
        """Run one statement as the owner of everything."""
        with psycopg.connect(self._url("postgres"), autocommit=True) as connection:
            connection.execute(statement.encode())

    def _create(self, template: str, name: str = "") -> str:
        name = name or f"t{uuid4().hex[:16]}"
        self.run(f'CREATE DATABASE "{name}" TEMPLATE "{template}"')
        return self._url(name)

    def _url(self, database: str) -> str:
        return f"postgresql://{ACCOUNT}@127.0.0.1:{self._port}/{database}"


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    with path.open("a", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _keep(folder: Path, owner: int) -> None:
    """Start the keeper of the shared server, and wait until it serves."""
    folder.mkdir(exist_ok=True)
    log = folder / "keeper.log"
    with log.open("wb") as out:
        # spawned, so that nobody here thinks that it must end before this process does
        keeper = os.posix_spawn(
            sys.executable,
            [sys.executable, "-m", "tests.lab.postgres", str(folder), str(owner)],
            os.environ,
            setsid=True,
            file_actions=[
                (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
                (os.POSIX_SPAWN_DUP2, out.fileno(), 1),
                (os.POSIX_SPAWN_DUP2, out.fileno(), 2),
            ],
        )

    def is_up() -> bool:
        if os.waitpid(keeper, os.WNOHANG) != (0, 0):
            raise LabError(f"the keeper of PostgreSQL ended: {log.read_text(encoding='utf-8')}")
        return (folder / "port").exists()

    wait_until(is_up, "PostgreSQL to be ready", 40)


def keep(folder: Path, owner: int) -> None:
    """Serve until the owner's process ends, then leave nothing behind."""
    # the search path lets tests look at the engine's tables by the names that SQLite gives them
    server = Postgres(folder, settings=("search_path=public,dbos",))
    waiting = os.pidfd_open(owner)
    try:
        server.start()
        server.run("CREATE ROLE guarded LOGIN PASSWORD 'sesame'")
        written = folder / "port.new"
        written.write_text(str(server.port), encoding="ascii")
        written.rename(folder / "port")
        select.select([waiting], [], [])
    finally:
        server.remove()
        folder.with_suffix(".lock").unlink(missing_ok=True)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    keep(Path(sys.argv[1]), int(sys.argv[2]))
