"""How alembic runs our migrations: on the connection that it is given, on `th_` tables only."""

from typing import Any

from alembic import context

from tailhound.store.migrations import VERSION_TABLE
from tailhound.store.tables import METADATA, PREFIX


def _is_ours(name: str | None, kind: str, _parents: Any) -> bool:
    return kind != "table" or (name or "").startswith(PREFIX)


context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=METADATA,
    version_table=VERSION_TABLE,
    include_name=_is_ours,
)
with context.begin_transaction():
    context.run_migrations()
