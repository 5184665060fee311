"""When an incident was heard of last, and the rows of one alert by its fingerprint."""

import time

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column and the indexes. When a repeat came last was not kept: what is open was heard
    of now, as far as anybody knows, and what is over when it changed last.
    """
    op.add_column(
        "th_incident", sa.Column("heard_at", sa.Float(), nullable=False, server_default="0")
    )
    op.execute(sa.text("UPDATE th_incident SET heard_at = changed_at"))
    heard = sa.text("UPDATE th_incident SET heard_at = :now WHERE is_open")
    op.execute(heard.bindparams(now=time.time()))
    op.create_index(
        "th_incident_heard",
        "th_incident",
        ["heard_at"],
        unique=False,
        sqlite_where=sa.text("is_open"),
        postgresql_where=sa.text("is_open"),
    )
    op.create_index("th_alert_same", "th_alert", ["incident_id", "fingerprint"], unique=False)
