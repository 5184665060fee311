"""The tables' history. Alembic looks at `th_` tables only, and runs before the engine starts."""

from pathlib import Path

import sqlalchemy as sa

from tailhound.errors import SettingsError

VERSION_TABLE = "th_version"
KNOWN = ("0001", "0002", "0003", "0004", "0005", "0006", "0007", "0008", "0009", "0010")
"""All revisions in their order; the last is what this code works with."""


def upgrade(connection: sa.Connection, name: str, to: str = KNOWN[-1]) -> None:
    """Bring the tables to a version, the newest, within the caller's transaction.

    SettingsError when they were made by a newer tailhound: they are left alone.
    """
    found = version(connection)
    if found == to:
        return
    if found is not None and found not in KNOWN:
        raise SettingsError(
            f"the database {name} was written by a newer tailhound (tables {found}, this one "
            f"knows {KNOWN[-1]}): install that version again, or restore an older backup"
        )
    from alembic import command  # noqa: PLC0415 (a tenth of a second that most starts don't need)
    from alembic.config import Config  # noqa: PLC0415

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent))
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    command.upgrade(config, to)


def version(connection: sa.Connection) -> str | None:
    """The version of the tables; None = there are none yet."""
    if not sa.inspect(connection).has_table(VERSION_TABLE):
        return None
    row = connection.exec_driver_sql(f"SELECT version_num FROM {VERSION_TABLE}").first()  # noqa: S608 (a constant)
    return str(row[0]) if row else None
