"""Threads of messages, and what people say and silence."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Widen the outbox, create the tables."""
    for column in (_text("part", 40), _text("thread", 40), _text("mention", 80), _text("seen", 64)):
        op.add_column("th_outbox", column)
    op.add_column(
        "th_outbox", sa.Column("posted_at", sa.Float(), server_default="0", nullable=False)
    )
    with op.batch_alter_table("th_outbox") as outbox:
        outbox.drop_constraint("th_outbox_place", type_="unique")
        outbox.create_unique_constraint(
            "th_outbox_place", ["incident_id", "notifier", "place", "part"]
        )
    op.create_index("th_alert_changed", "th_alert", ["changed_at"])
    op.create_index("th_outbox_posted", "th_outbox", ["notifier", "place", "posted_at"])
    op.create_index("th_outbox_part", "th_outbox", ["notifier", "place", "part"])
    _feedback()
    _silence()


def _text(name: str, length: int) -> sa.Column[str]:
    return sa.Column(name, sa.String(length=length), server_default="", nullable=False)


def _feedback() -> None:
    op.create_table(
        "th_feedback",
        sa.Column("incident_id", sa.String(length=40), nullable=False),
        sa.Column("person", sa.String(length=80), nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("rating", sa.String(length=40), nullable=False),
        _text("cause", 200),
        sa.Column("note", sa.Text(), server_default="", nullable=False),
        _text("said_primary", 200),
        sa.Column("at", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(["incident_id"], ["th_incident.id"]),
        sa.PrimaryKeyConstraint("incident_id", "person"),
    )


def _silence() -> None:
    op.create_table(
        "th_silence",
        sa.Column("id", sa.String(length=40), nullable=False),
        sa.Column("incident_id", sa.String(length=40), nullable=False),
        sa.Column("person", sa.String(length=80), nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("matchers", sa.Text(), nullable=False),
        sa.Column("comment", sa.Text(), nullable=False),
        sa.Column("alerts", sa.Integer(), nullable=False),
        sa.Column("asked_at", sa.Float(), nullable=False),
        sa.Column("until", sa.Float(), nullable=False),
        sa.Column("state", sa.String(length=20), nullable=False),
        sa.Column("claimed_at", sa.Float(), server_default="0", nullable=False),
        _text("remote_id", 80),
        sa.Column("error", sa.Text(), server_default="", nullable=False),
        sa.ForeignKeyConstraint(["incident_id"], ["th_incident.id"]),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("th_silence_incident", "th_silence", ["incident_id"], unique=False)
    op.create_index("th_silence_state", "th_silence", ["state"], unique=False)
