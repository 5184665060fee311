"""PostgreSQL: how it is reached, and the lock that lets one transaction write at a time.

One at a time holds for all replicas together, as a file lock makes it hold on SQLite: who writes
sees what all earlier writers left, revisions grow in the order of the commits, and no two
transactions can wait for each other.
"""

import sqlalchemy as sa

from tailhound.errors import SettingsError

WRITERS = 0x7461696C
"""The advisory lock that a writing transaction holds; it is one of this database alone."""

CONNECT_SECONDS = 5
SILENT_SECONDS = 10
"""How long a server that is gone without a word is waited for."""

IDLE_SECONDS = 5
"""A process that was stopped within a transaction loses it then, and all others go on."""

STATEMENT_SECONDS = 30
"""Of intake and readers, who are waited for. Tidying may take longer."""

_LOCK = sa.select(sa.func.pg_advisory_xact_lock(WRITERS))


def address(url: str, password: str = "") -> sa.URL:
    """The address for SQLAlchemy; SettingsError when it can't be one."""
    try:
        parsed = sa.make_url(url)
    except (sa.exc.ArgumentError, ValueError) as error:
        raise SettingsError("store.url: write postgresql://user@host:5432/database") from error
    if parsed.get_backend_name() != "postgresql":
        raise SettingsError(
            f"store.url: {parsed.drivername} is no database that tailhound uses: "
            "write sqlite:////path/to/file or postgresql://user@host:5432/database"
        )
    if not parsed.database:
        raise SettingsError("store.url: name the database: postgresql://user@host:5432/database")
    if password:
        parsed = parsed.set(password=password)
    return parsed.set(drivername="postgresql+psycopg")


def engine(
    url: sa.URL,
    *,
    size: int,
    wait_seconds: float,
    readonly: bool = False,
    statement_seconds: int = 0,
) -> sa.Engine:
    """At most `size` connections, each looked at before it is used; none is opened yet."""
    chosen = {"idle_in_transaction_session_timeout": f"{IDLE_SECONDS}s"}
    if readonly:
        chosen["default_transaction_read_only"] = "on"
    if statement_seconds:
        chosen["statement_timeout"] = f"{statement_seconds}s"
    options = " ".join(f"-c {name}={value}" for name, value in chosen.items())
    try:
        return sa.create_engine(
            _with_options(url, options),
            pool_size=size,
            max_overflow=0,
            pool_timeout=wait_seconds,
            pool_pre_ping=True,
            isolation_level="AUTOCOMMIT" if readonly else "READ COMMITTED",
        )
    except ImportError as error:
        raise SettingsError(
            f"store.url: PostgreSQL needs a package that is not there ({error}): "
            "pip install 'tailhound[postgres]'"
        ) from error


def begin_writing(connection: sa.Connection) -> None:
    """Wait until no other transaction writes, in any replica; until the end of this one."""
    connection.execute(_LOCK)


def _with_options(url: sa.URL, options: str) -> sa.URL:
    """The address with our settings; what the site's own address says comes last, and wins."""
    ours: dict[str, str] = {
        "application_name": "tailhound",
        "connect_timeout": str(CONNECT_SECONDS),
        "keepalives_idle": str(SILENT_SECONDS // 2),
        "keepalives_interval": "2",
        "keepalives_count": "3",
        "tcp_user_timeout": str(SILENT_SECONDS * 1000),
    }
    theirs = url.query.get("options", "")
    said = theirs if isinstance(theirs, str) else " ".join(theirs)
    return url.set(query={**ours, **url.query, "options": f"{options} {said}".strip()})
