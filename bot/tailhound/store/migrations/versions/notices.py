"""Trouble of the bot's own, and what was told of it."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the table."""
    op.create_table(
        "th_notice",
        sa.Column("kind", sa.String(length=40), nullable=False),
        sa.Column("what", sa.Text(), nullable=False),
        sa.Column("effect", sa.Text(), server_default="", nullable=False),
        sa.Column("fix", sa.Text(), server_default="", nullable=False),
        sa.Column("since", sa.Float(), nullable=False),
        sa.Column("over_at", sa.Float(), nullable=True),
        sa.Column("message", sa.String(length=200), server_default="", nullable=False),
        sa.Column("posted_at", sa.Float(), server_default="0", nullable=False),
        sa.Column("told", sa.Text(), server_default="", nullable=False),
        sa.PrimaryKeyConstraint("kind"),
    )
