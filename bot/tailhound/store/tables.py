"""Our tables. All are prefixed `th_`: on SQLite the engine owns names such as `queues`.

Times are Unix seconds (UTC). What people see of an incident lies in `th_incident` as JSON of
`model.Incident`; the columns beside it are only what SQL looks at.
"""

import sqlalchemy as sa

METADATA = sa.MetaData()
PREFIX = "th_"
UNREADABLE = "unreadable:"
"""How the key of an incident begins that stands for a body that can't be read."""

_ID = sa.String(40)
_NO = sa.text("false")
_ROWID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")

counter = sa.Table(
    "th_counter",
    METADATA,
    sa.Column("name", sa.String(40), primary_key=True),
    sa.Column("value", sa.BigInteger, nullable=False),
)
"""`revision`: grows with every change of what people see."""

meta = sa.Table(
    "th_meta",
    METADATA,
    sa.Column("name", sa.String(80), primary_key=True),
    sa.Column("value", sa.Text, nullable=False),
)

body = sa.Table(
    "th_body",
    METADATA,
    sa.Column("sha", sa.String(64), primary_key=True),
    sa.Column("received_at", sa.Float, nullable=False),
    sa.Column("size", sa.Integer, nullable=False),
    sa.Column("content", sa.LargeBinary, nullable=False),
)
"""Webhook bodies that brought something new, compressed by zlib."""

incident = sa.Table(
    "th_incident",
    METADATA,
    sa.Column("id", _ID, primary_key=True),
    sa.Column("key", sa.String(400), nullable=False),
    sa.Column("ordinal", sa.Integer, nullable=False),
    sa.Column("is_open", sa.Boolean, nullable=False),
    sa.Column("resolved_key", sa.String(400), nullable=False, server_default=""),
    sa.Column("state", sa.String(20), nullable=False),
    sa.Column("severity", sa.String(40), nullable=False, server_default=""),
    sa.Column("episode", sa.Integer, nullable=False),
    sa.Column("n", sa.Integer, nullable=False),
    sa.Column("done", sa.Integer, nullable=False),
    sa.Column("waiting", sa.String(200), nullable=False, server_default=""),
    sa.Column("joined_into", _ID, nullable=False, server_default=""),
    sa.Column("received_at", sa.Float, nullable=False),
    sa.Column("changed_at", sa.Float, nullable=False),
    sa.Column("resolved_at", sa.Float),
    sa.Column("revision", sa.BigInteger, nullable=False),
    sa.Column("repeats", sa.Integer, nullable=False, server_default="0"),
    sa.Column("heard_at", sa.Float, nullable=False, server_default="0"),
    sa.Column("search", sa.Text, nullable=False),
    sa.Column("snapshot", sa.Text, nullable=False),
    sa.Column("diagnosis", sa.Text),
    sa.Column("evidence", sa.Text),
    sa.UniqueConstraint("key", "ordinal", name="th_incident_key_ordinal"),
)
"""`n` counts the investigations asked for, `done` those that ended: at most one runs.
`waiting` says why one more is wanted. `heard_at` is when one of its alerts was delivered last, also
as a repeat. `diagnosis` is without its evidence, which lies beside it."""

incident_open = sa.Index(
    "th_incident_open",
    incident.c.key,
    unique=True,
    sqlite_where=incident.c.is_open,
    postgresql_where=incident.c.is_open,
)
sa.Index(
    "th_incident_heard",
    incident.c.heard_at,
    sqlite_where=incident.c.is_open,
    postgresql_where=incident.c.is_open,
)
sa.Index("th_incident_received", incident.c.received_at)
sa.Index("th_incident_revision", incident.c.revision)
sa.Index("th_incident_resolved_key", incident.c.resolved_key)
sa.Index(
    "th_incident_joined",
    incident.c.joined_into,
    sqlite_where=incident.c.joined_into != "",
    postgresql_where=incident.c.joined_into != "",
)
incident_active = sa.Index(
    "th_incident_active",
    incident.c.changed_at,
    sqlite_where=incident.c.done < incident.c.n,
    postgresql_where=incident.c.done < incident.c.n,
)

alert = sa.Table(
    "th_alert",
    METADATA,
    sa.Column("ident", sa.String(32), primary_key=True),
    sa.Column("incident_id", _ID, sa.ForeignKey("th_incident.id"), nullable=False),
    sa.Column("name", sa.String(200), nullable=False),
    sa.Column("fingerprint", sa.String(200), nullable=False),
    sa.Column("status", sa.String(10), nullable=False),
    sa.Column("starts_at", sa.Float, nullable=False),
    sa.Column("ends_at", sa.Float),
    sa.Column("changed_at", sa.Float, nullable=False),
    sa.Column("body_sha", sa.String(64), nullable=False, server_default=""),
)
"""`ident` = hash of (incident key, fingerprint, starts_at): what makes a delivery a repeat."""
sa.Index("th_alert_incident", alert.c.incident_id, alert.c.status)
sa.Index("th_alert_same", alert.c.incident_id, alert.c.fingerprint)
sa.Index("th_alert_changed", alert.c.changed_at)
sa.Index(
    "th_alert_firing",
    alert.c.starts_at,
    sqlite_where=alert.c.status == "firing",
    postgresql_where=alert.c.status == "firing",
)

investigation = sa.Table(
    "th_investigation",
    METADATA,
    sa.Column("incident_id", _ID, sa.ForeignKey("th_incident.id"), primary_key=True),
    sa.Column("n", sa.Integer, primary_key=True),
    sa.Column("sha", sa.String(64), nullable=False),
    sa.Column("reason", sa.String(200), nullable=False),
    sa.Column("requested_at", sa.Float, nullable=False),
    sa.Column("verdict_by", sa.Float, nullable=False),
    sa.Column("resolved", sa.Text),
    sa.Column("finished_at", sa.Float),
    sa.Column("outcome", sa.String(400), nullable=False, server_default=""),
)

compiled = sa.Table(
    "th_compiled",
    METADATA,
    sa.Column("sha", sa.String(64), primary_key=True),
    sa.Column("content", sa.LargeBinary, nullable=False),
    sa.Column("kept_at", sa.Float, nullable=False),
)
"""Compiled runbook sets, insert-only: an investigation names the one that it runs by."""

output = sa.Table(
    "th_output",
    METADATA,
    sa.Column("id", _ROWID, primary_key=True, autoincrement=True),
    sa.Column("incident_id", _ID, sa.ForeignKey("th_incident.id"), nullable=False),
    sa.Column("n", sa.Integer, nullable=False),
    sa.Column("question", sa.Text, nullable=False),
    sa.Column("backend", sa.String(300), nullable=False),
    sa.Column("asked_at", sa.Float, nullable=False),
    sa.Column("size", sa.Integer, nullable=False),
    sa.Column("truncated", sa.Boolean, nullable=False, server_default=_NO),
    sa.Column("content", sa.LargeBinary, nullable=False),
)
"""Raw answers, compressed by zlib; `size` is the size before."""
sa.Index("th_output_incident", output.c.incident_id)

recording = sa.Table(
    "th_recording",
    METADATA,
    sa.Column("incident_id", _ID, sa.ForeignKey("th_incident.id"), primary_key=True),
    sa.Column("n", sa.Integer, primary_key=True),
    sa.Column("part", sa.String(20), primary_key=True),
    sa.Column("asked_at", sa.Float, nullable=False),
    sa.Column("size", sa.Integer, nullable=False),
    sa.Column("content", sa.LargeBinary),
)
"""What investigation `n` asked and what came back, a part for each of its steps: a recording as its
file would hold it, redacted, compressed by zlib. `content` is null when it was too large to keep;
`size` is the compressed size in any case."""

outbox = sa.Table(
    "th_outbox",
    METADATA,
    sa.Column("id", _ROWID, primary_key=True, autoincrement=True),
    sa.Column("incident_id", _ID, sa.ForeignKey("th_incident.id"), nullable=False),
    sa.Column("notifier", sa.String(40), nullable=False),
    sa.Column("place", sa.String(200), nullable=False),
    sa.Column("wanted_revision", sa.BigInteger, nullable=False),
    sa.Column("sent_revision", sa.BigInteger, nullable=False, server_default="0"),
    sa.Column("message", sa.String(200), nullable=False, server_default=""),
    sa.Column("state", sa.String(10), nullable=False),
    sa.Column("urgent", sa.Boolean, nullable=False, server_default=_NO),
    sa.Column("boot", sa.String(40), nullable=False, server_default=""),
    sa.Column("attempt", sa.Integer, nullable=False, server_default="0"),
    sa.Column("not_before", sa.Float, nullable=False, server_default="0"),
    sa.Column("unsure", sa.Boolean, nullable=False, server_default=_NO),
    sa.Column("lost", sa.Integer, nullable=False, server_default="0"),
    sa.Column("error", sa.Text, nullable=False, server_default=""),
    sa.Column("part", sa.String(40), nullable=False, server_default=""),
    sa.Column("thread", sa.String(40), nullable=False, server_default=""),
    sa.Column("mention", sa.String(80), nullable=False, server_default=""),
    sa.Column("seen", sa.String(64), nullable=False, server_default=""),
    sa.Column("posted_at", sa.Float, nullable=False, server_default="0"),
    sa.Column("delayed_by", sa.String(200), nullable=False, server_default=""),
    sa.UniqueConstraint("incident_id", "notifier", "place", "part", name="th_outbox_place"),
)
"""A row per message: `part` "" is the incident's own, others are posts in its thread and wait until
that one stands. `thread` is set where the own message goes into a thread that was there before.
`delayed_by` is what kept it from being posted, as far as it was told."""
sa.Index("th_outbox_due", outbox.c.notifier, outbox.c.place, outbox.c.state, outbox.c.not_before)
sa.Index("th_outbox_posted", outbox.c.notifier, outbox.c.place, outbox.c.posted_at)
sa.Index(
    "th_outbox_sending",
    outbox.c.boot,
    sqlite_where=outbox.c.state == "sending",
    postgresql_where=outbox.c.state == "sending",
)
sa.Index("th_output_asked", output.c.asked_at)
sa.Index("th_recording_asked", recording.c.asked_at)
sa.Index("th_body_received", body.c.received_at)
sa.Index("th_outbox_part", outbox.c.notifier, outbox.c.place, outbox.c.part)

confirmed = sa.Table(
    "th_confirmed",
    METADATA,
    sa.Column("incident_id", _ID, sa.ForeignKey("th_incident.id"), primary_key=True),
    sa.Column("runbook", sa.String(200), primary_key=True),
    sa.Column("named", sa.Boolean, nullable=False),
    sa.Column("received_at", sa.Float, nullable=False, server_default="0"),
)
"""The causes that an incident's diagnosis confirms; `named` are those of its headline. What lists
and counts look at, without opening a diagnosis. `received_at` is the incident's."""
sa.Index("th_confirmed_runbook", confirmed.c.runbook)
sa.Index("th_confirmed_newest", confirmed.c.runbook, confirmed.c.named, confirmed.c.received_at)

feedback = sa.Table(
    "th_feedback",
    METADATA,
    sa.Column("incident_id", _ID, sa.ForeignKey("th_incident.id"), primary_key=True),
    sa.Column("person", sa.String(80), primary_key=True),
    sa.Column("name", sa.String(200), nullable=False),
    sa.Column("rating", sa.String(40), nullable=False),
    sa.Column("cause", sa.String(200), nullable=False, server_default=""),
    sa.Column("note", sa.Text, nullable=False, server_default=""),
    sa.Column("said_primary", sa.String(200), nullable=False, server_default=""),
    sa.Column("at", sa.Float, nullable=False),
)
"""What a person said the cause was; one row per person, so that a second word replaces the first.
"""

silence = sa.Table(
    "th_silence",
    METADATA,
    sa.Column("id", sa.String(40), primary_key=True),
    sa.Column("incident_id", _ID, sa.ForeignKey("th_incident.id"), nullable=False),
    sa.Column("person", sa.String(80), nullable=False),
    sa.Column("name", sa.String(200), nullable=False),
    sa.Column("matchers", sa.Text, nullable=False),
    sa.Column("comment", sa.Text, nullable=False),
    sa.Column("alerts", sa.Integer, nullable=False),
    sa.Column("asked_at", sa.Float, nullable=False),
    sa.Column("until", sa.Float, nullable=False),
    sa.Column("state", sa.String(20), nullable=False),
    sa.Column("claimed_at", sa.Float, nullable=False, server_default="0"),
    sa.Column("remote_id", sa.String(80), nullable=False, server_default=""),
    sa.Column("error", sa.Text, nullable=False, server_default=""),
)
"""Silences that people asked for: `asked`, `setting` (sent, no answer yet), `set`, `refused`,
`ending` (its end is asked for), `ended`. `id` stands in the silence's comment: after a lost answer
it is looked for there."""
sa.Index("th_silence_incident", silence.c.incident_id)
sa.Index("th_silence_state", silence.c.state)

replica = sa.Table(
    "th_replica",
    METADATA,
    sa.Column("id", sa.String(40), primary_key=True),
    sa.Column("until", sa.Float, nullable=False),
    sa.Column("started_at", sa.Float, nullable=False),
    sa.Column("host", sa.String(200), nullable=False),
)
"""The processes that share a PostgreSQL: a life, and until when it is taken for alive, by the clock
of the database."""

notice = sa.Table(
    "th_notice",
    METADATA,
    sa.Column("kind", sa.String(40), primary_key=True),
    sa.Column("what", sa.Text, nullable=False),
    sa.Column("effect", sa.Text, nullable=False, server_default=""),
    sa.Column("fix", sa.Text, nullable=False, server_default=""),
    sa.Column("since", sa.Float, nullable=False),
    sa.Column("over_at", sa.Float),
    sa.Column("message", sa.String(200), nullable=False, server_default=""),
    sa.Column("posted_at", sa.Float, nullable=False, server_default="0"),
    sa.Column("told", sa.Text, nullable=False, server_default=""),
)
"""Trouble of the bot's own, a row for each kind: since when, until when (null = it stands), and the
message that tells of it. `posted_at` is set before a message is sent."""

click = sa.Table(
    "th_click",
    METADATA,
    sa.Column("envelope_id", sa.String(200), primary_key=True),
    sa.Column("incident_id", _ID, sa.ForeignKey("th_incident.id"), nullable=False),
    sa.Column("action", sa.String(80), nullable=False),
    sa.Column("by", sa.String(200), nullable=False),
    sa.Column("at", sa.Float, nullable=False),
)
"""Clicks by the id of their envelope: a second delivery of the same click is a no-op."""
sa.Index("th_click_incident", click.c.incident_id)
