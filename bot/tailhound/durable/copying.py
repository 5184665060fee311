"""Many workflows of one kind, queued at once: the first row is the engine's, the others its copies.

The engine's own way costs two statements and most of a millisecond for each. A test holds the
copies against rows that were queued one by one.
"""

import functools
from collections.abc import Sequence
from dataclasses import dataclass

import sqlalchemy as sa


@dataclass(frozen=True, slots=True)
class Alike:
    """What differs in a copy. `inputs` is as the engine writes it."""

    id: str
    priority: int
    inputs: str


class Rows:
    """The engine's own tables in a schema: "dbos." or "" """

    def __init__(self, schema: str) -> None:
        self._status = f"{schema}workflow_status"
        self._find = sa.text(f"SELECT * FROM {self._status} WHERE workflow_uuid = :id")  # noqa: S608
        self._put_input = sa.text(
            f"INSERT INTO {schema}workflow_input (workflow_uuid, inputs) "  # noqa: S608
            "VALUES (:id, :inputs) ON CONFLICT DO NOTHING"
        )

    def copy(self, connection: sa.Connection, first: str, others: Sequence[Alike]) -> bool:
        """Queue more like the first one; known ids are passed over.

        False when the first was known before, and is not waiting any more: nothing was done.
        """
        found = connection.execute(self._find, {"id": first}).mappings().one()
        if found["status"] != "ENQUEUED":
            return False
        rows = [{**found, "workflow_uuid": one.id, "priority": one.priority} for one in others]
        connection.execute(_inserting(self._status, tuple(found)), rows)
        connection.execute(self._put_input, [{"id": o.id, "inputs": o.inputs} for o in others])
        return True


@functools.cache
def _inserting(table: str, columns: tuple[str, ...]) -> sa.TextClause:
    values = ", ".join(f":{column}" for column in columns)
    return sa.text(
        f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({values}) "  # noqa: S608
        "ON CONFLICT DO NOTHING"
    )
