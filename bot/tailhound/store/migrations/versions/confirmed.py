"""Which causes are confirmed, for lists and counts."""

import json
from collections.abc import Iterator

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

CHUNK = 100
_READ = sa.text(
    "SELECT id, diagnosis FROM th_incident WHERE diagnosis IS NOT NULL AND id > :after "
    "ORDER BY id LIMIT :most"
)


def upgrade() -> None:
    """Create the table, and fill it from the diagnoses that are there."""
    table = op.create_table(
        "th_confirmed",
        sa.Column("incident_id", sa.String(length=40), nullable=False),
        sa.Column("runbook", sa.String(length=200), nullable=False),
        sa.Column("named", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(["incident_id"], ["th_incident.id"]),
        sa.PrimaryKeyConstraint("incident_id", "runbook"),
    )
    op.create_index("th_confirmed_runbook", "th_confirmed", ["runbook"], unique=False)
    after = ""
    while found := op.get_bind().execute(_READ, {"after": after, "most": CHUNK}).all():
        after = found[-1].id
        rows = [row for id, diagnosis in found for row in _rows(id, json.loads(diagnosis))]
        op.bulk_insert(table, rows)


def _rows(id: str, diagnosis: dict[str, object]) -> Iterator[dict[str, object]]:
    causes = diagnosis.get("causes")
    told = [one for one in causes if isinstance(one, dict)] if isinstance(causes, list) else []
    runbooks = [str(one.get("runbook")) for one in told if one.get("verdict") == "confirmed"]
    primary = diagnosis.get("primary")
    both = runbooks[:2] if diagnosis.get("outlook") == "two causes fit" else [primary]
    for runbook in dict.fromkeys(runbooks):
        yield {"incident_id": id, "runbook": runbook, "named": runbook in both}
