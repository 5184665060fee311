"""The first tables."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create them all."""
    _intake()
    _incidents()
    _surroundings()


def _intake() -> None:
    op.create_table(
        "th_counter",
        sa.Column("name", sa.String(length=40), nullable=False),
        sa.Column("value", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("name"),
    )
    op.create_table(
        "th_meta",
        sa.Column("name", sa.String(length=80), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("name"),
    )
    op.create_table(
        "th_body",
        sa.Column("sha", sa.String(length=64), nullable=False),
        sa.Column("received_at", sa.Float(), nullable=False),
        sa.Column("size", sa.Integer(), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("sha"),
    )
    op.create_table(
        "th_compiled",
        sa.Column("sha", sa.String(length=64), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.Column("kept_at", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("sha"),
    )


def _incidents() -> None:
    op.create_table(
        "th_incident",
        sa.Column("id", sa.String(length=40), nullable=False),
        sa.Column("key", sa.String(length=400), nullable=False),
        sa.Column("ordinal", sa.Integer(), nullable=False),
        sa.Column("is_open", sa.Boolean(), nullable=False),
        sa.Column("resolved_key", sa.String(length=400), server_default="", nullable=False),
        sa.Column("state", sa.String(length=20), nullable=False),
        sa.Column("severity", sa.String(length=40), server_default="", nullable=False),
        sa.Column("episode", sa.Integer(), nullable=False),
        sa.Column("n", sa.Integer(), nullable=False),
        sa.Column("done", sa.Integer(), nullable=False),
        sa.Column("waiting", sa.String(length=200), server_default="", nullable=False),
        sa.Column("joined_into", sa.String(length=40), server_default="", nullable=False),
        sa.Column("received_at", sa.Float(), nullable=False),
        sa.Column("changed_at", sa.Float(), nullable=False),
        sa.Column("resolved_at", sa.Float(), nullable=True),
        sa.Column("revision", sa.BigInteger(), nullable=False),
        sa.Column("repeats", sa.Integer(), server_default="0", nullable=False),
        sa.Column("search", sa.Text(), nullable=False),
        sa.Column("snapshot", sa.Text(), nullable=False),
        sa.Column("diagnosis", sa.Text(), nullable=True),
        sa.Column("evidence", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("key", "ordinal", name="th_incident_key_ordinal"),
    )
    op.create_index(
        "th_incident_active",
        "th_incident",
        ["changed_at"],
        unique=False,
        sqlite_where=sa.text("done < n"),
        postgresql_where=sa.text("done < n"),
    )
    op.create_index(
        "th_incident_open",
        "th_incident",
        ["key"],
        unique=True,
        sqlite_where=sa.text("is_open"),
        postgresql_where=sa.text("is_open"),
    )
    op.create_index("th_incident_received", "th_incident", ["received_at"], unique=False)
    op.create_index("th_incident_resolved_key", "th_incident", ["resolved_key"], unique=False)
    op.create_index("th_incident_revision", "th_incident", ["revision"], unique=False)
    op.create_table(
        "th_alert",
        sa.Column("ident", sa.String(length=32), nullable=False),
        sa.Column("incident_id", sa.String(length=40), nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("fingerprint", sa.String(length=200), nullable=False),
        sa.Column("status", sa.String(length=10), nullable=False),
        sa.Column("starts_at", sa.Float(), nullable=False),
        sa.Column("ends_at", sa.Float(), nullable=True),
        sa.Column("changed_at", sa.Float(), nullable=False),
        sa.Column("body_sha", sa.String(length=64), server_default="", nullable=False),
        sa.ForeignKeyConstraint(["incident_id"], ["th_incident.id"]),
        sa.PrimaryKeyConstraint("ident"),
    )
    op.create_index("th_alert_incident", "th_alert", ["incident_id", "status"], unique=False)
    op.create_table(
        "th_investigation",
        sa.Column("incident_id", sa.String(length=40), nullable=False),
        sa.Column("n", sa.Integer(), nullable=False),
        sa.Column("sha", sa.String(length=64), nullable=False),
        sa.Column("reason", sa.String(length=200), nullable=False),
        sa.Column("requested_at", sa.Float(), nullable=False),
        sa.Column("verdict_by", sa.Float(), nullable=False),
        sa.Column("resolved", sa.Text(), nullable=True),
        sa.Column("finished_at", sa.Float(), nullable=True),
        sa.Column("outcome", sa.String(length=400), server_default="", nullable=False),
        sa.ForeignKeyConstraint(["incident_id"], ["th_incident.id"]),
        sa.PrimaryKeyConstraint("incident_id", "n"),
    )


def _surroundings() -> None:
    op.create_table(
        "th_outbox",
        sa.Column(
            "id",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            autoincrement=True,
            nullable=False,
        ),
        sa.Column("incident_id", sa.String(length=40), nullable=False),
        sa.Column("notifier", sa.String(length=40), nullable=False),
        sa.Column("place", sa.String(length=200), nullable=False),
        sa.Column("wanted_revision", sa.BigInteger(), nullable=False),
        sa.Column("sent_revision", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("message", sa.String(length=200), server_default="", nullable=False),
        sa.Column("state", sa.String(length=10), nullable=False),
        sa.Column("urgent", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("boot", sa.String(length=40), server_default="", nullable=False),
        sa.Column("attempt", sa.Integer(), server_default="0", nullable=False),
        sa.Column("not_before", sa.Float(), server_default="0", nullable=False),
        sa.Column("unsure", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("lost", sa.Integer(), server_default="0", nullable=False),
        sa.Column("error", sa.Text(), server_default="", nullable=False),
        sa.ForeignKeyConstraint(["incident_id"], ["th_incident.id"]),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("incident_id", "notifier", "place", name="th_outbox_place"),
    )
    op.create_index(
        "th_outbox_due", "th_outbox", ["notifier", "place", "state", "not_before"], unique=False
    )
    op.create_table(
        "th_output",
        sa.Column(
            "id",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            autoincrement=True,
            nullable=False,
        ),
        sa.Column("incident_id", sa.String(length=40), nullable=False),
        sa.Column("n", sa.Integer(), nullable=False),
        sa.Column("question", sa.Text(), nullable=False),
        sa.Column("backend", sa.String(length=300), nullable=False),
        sa.Column("asked_at", sa.Float(), nullable=False),
        sa.Column("size", sa.Integer(), nullable=False),
        sa.Column("truncated", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["incident_id"], ["th_incident.id"]),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("th_output_incident", "th_output", ["incident_id"], unique=False)
    op.create_table(
        "th_click",
        sa.Column("envelope_id", sa.String(length=200), nullable=False),
        sa.Column("incident_id", sa.String(length=40), nullable=False),
        sa.Column("action", sa.String(length=80), nullable=False),
        sa.Column("by", sa.String(length=200), nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(["incident_id"], ["th_incident.id"]),
        sa.PrimaryKeyConstraint("envelope_id"),
    )
