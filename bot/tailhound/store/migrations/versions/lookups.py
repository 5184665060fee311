"""Indexes for what is looked up again and again, or deleted by its age."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the indexes."""
    is_sending = sa.text("state = 'sending'")
    op.create_index(
        "th_outbox_sending",
        "th_outbox",
        ["boot"],
        sqlite_where=is_sending,
        postgresql_where=is_sending,
    )
    op.create_index("th_output_asked", "th_output", ["asked_at"])
    op.create_index("th_recording_asked", "th_recording", ["asked_at"])
    op.create_index("th_body_received", "th_body", ["received_at"])
