"""Why an incident's message was not posted at once."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column; of messages that stand already nobody knows."""
    op.add_column(
        "th_outbox",
        sa.Column("delayed_by", sa.String(length=200), server_default="", nullable=False),
    )
