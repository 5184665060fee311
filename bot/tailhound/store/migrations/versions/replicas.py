"""The processes that share a PostgreSQL, each with its lease."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the table."""
    op.create_table(
        "th_replica",
        sa.Column("id", sa.String(length=40), nullable=False),
        sa.Column("until", sa.Float(), nullable=False),
        sa.Column("started_at", sa.Float(), nullable=False),
        sa.Column("host", sa.String(length=200), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
