"""Lookups that grow with the history: the newest of a cause, who joined, clicks, what fires."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

_RECEIVED = (
    "UPDATE th_confirmed SET received_at = "
    "(SELECT i.received_at FROM th_incident i WHERE i.id = th_confirmed.incident_id)"
)


def upgrade() -> None:
    """Add when an incident came in to its confirmed causes, and the indexes."""
    op.add_column(
        "th_confirmed", sa.Column("received_at", sa.Float(), nullable=False, server_default="0")
    )
    op.execute(sa.text(_RECEIVED))
    op.create_index("th_confirmed_newest", "th_confirmed", ["runbook", "named", "received_at"])
    op.create_index("th_click_incident", "th_click", ["incident_id"])
    joined, fires = sa.text("joined_into <> ''"), sa.text("status = 'firing'")
    op.create_index(
        "th_incident_joined",
        "th_incident",
        ["joined_into"],
        sqlite_where=joined,
        postgresql_where=joined,
    )
    op.create_index(
        "th_alert_firing",
        "th_alert",
        ["starts_at"],
        sqlite_where=fires,
        postgresql_where=fires,
    )
