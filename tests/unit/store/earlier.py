"""Rows as an earlier version wrote them: only columns that were always there."""

import sqlalchemy as sa

INCIDENT_ROW = {
    "id": "7F3K",
    "key": "workload:/prod/llm",
    "ordinal": 0,
    "is_open": True,
    "state": "diagnosed",
    "episode": 1,
    "n": 1,
    "done": 1,
    "received_at": 1.0,
    "changed_at": 1.0,
    "revision": 4,
    "search": "",
    "snapshot": "{}",
}
MESSAGE_ROW = {
    "incident_id": "7F3K",
    "notifier": "slack",
    "place": "C1",
    "wanted_revision": 4,
    "sent_revision": 4,
    "message": "1700000000.000100",
    "state": "sent",
}


def insert(table: str, row: dict[str, object]) -> sa.TextClause:
    """The statement that puts a row into a table, whatever its columns are by now."""
    names = ", ".join(row)
    values = ", ".join(f":{name}" for name in row)
    return sa.text(f"INSERT INTO {table} ({names}) VALUES ({values})").bindparams(**row)  # noqa: S608
