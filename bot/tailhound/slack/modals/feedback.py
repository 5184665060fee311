"""The form *What was it really?*: how good the diagnosis was, and what the cause was. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from tailhound.model import Feedback, Incident, Rating, candidates, telling
from tailhound.model.names import capital, cause_name
from tailhound.model.names import listed as listed_names
from tailhound.rules.runbook import Runbook
from tailhound.slack import escape
from tailhound.slack.actions import CAUSE, FEEDBACK_FORM, NOTE, RATING
from tailhound.slack.deeds import Word
from tailhound.slack.escape import clean
from tailhound.slack.kit import Block, context, plain, section
from tailhound.slack.limits import OPTION_VALUE, SELECT_OPTIONS
from tailhound.slack.modals import sheet
from tailhound.slack.modals.sheet import Frame, Note, View

TITLE: Final = "What was it really?"
CHANGED: Final = (
    "*Not saved yet.* The diagnosis has changed since you opened this. Look again. It says now: "
)
LOADING: Final = "Reading the incident…"
NOTE_LENGTH: Final = 500
_EVERYONE: Final = "one sentence; no prompts, no secrets: everyone in the channel sees it"
_COUNTS: Final = (
    "Counts towards precision and recall of the runbook. You can change it for 30 days."
)
_BEFORE: Final = "This is what you said before; what you save now takes its place. "
NOT_IN_LIST: Final = "-"
_CHOOSE: Final = "Choose one of these."
_RATINGS: Final = {
    "right": (Rating.RIGHT, "Right"),
    "partly": (Rating.PARTLY, "Right, but not the whole story"),
    "wrong": (Rating.WRONG, "Wrong"),
    "unsure": (Rating.UNSURE, "I can't tell"),
}


def frame(note: Note, submit: str = "") -> Frame:
    """What stands around it."""
    return Frame(title=TITLE, callback=FEEDBACK_FORM, note=note, submit=submit)


def form(
    incident: Incident,
    runbooks: Sequence[Runbook],
    note: Note,
    *,
    person: str = "",
    changed: bool = False,
) -> View:
    """The form for one incident. Nothing in it is chosen beforehand, but what the `person` with
    this id has said before. `changed`: somebody sent it, and had read another diagnosis.
    """
    mine = next((one for one in incident.feedback if person and one.person == person), None)
    ratings = [sheet.option(text, id) for id, (_, text) in _RATINGS.items()]
    shown = listed(incident, runbooks)
    causes = [sheet.option(_title(one), one.id) for one in shown]
    cut = f"The nearest {len(shown)} of {len(runbooks)} runbooks: name another one below."
    hint = {"hint": plain(cut)} if len(shown) < len(runbooks) else {}
    none = "not in this list" if names_a_cause(incident) else "none of these"
    causes.append(sheet.option(none, NOT_IN_LIST))
    rated = _chosen(ratings, _rating_id(mine)) if mine else None
    named = _chosen(causes, _cause_id(mine)) if mine else None
    text = sheet.text_field(NOTE, NOTE_LENGTH, _EVERYONE, mine.note[:NOTE_LENGTH] if mine else "")
    asked = [
        sheet.field("The diagnosis was", sheet.radio(RATING, ratings, rated)),
        sheet.field("The cause was", sheet.select(CAUSE, causes, named), optional=True, **hint),
        sheet.field("How do you know? (optional)", text, optional=True),
    ]
    if not names_a_cause(incident):
        asked = [
            sheet.field("What was it?", sheet.select(CAUSE, causes, named), **hint),
            sheet.field("None of these: what was it? (optional)", text, optional=True),
        ]
    return sheet.view(
        frame(replace(note, seen=_mark(incident)), "Save"),
        [
            section("changed", f"{CHANGED}{_headline(incident)}.") if changed else None,
            *asked,
            context("small", f"{_BEFORE if mine else ''}{_COUNTS}"),
        ],
    )


def names_a_cause(incident: Incident) -> bool:
    """Whether a cause is named that can be right or wrong; else the form asks what it was."""
    return bool(telling.headline_causes(incident.diagnosis))


def first_field(sent: Mapping[str, Any]) -> str:
    """The field of a sent form under which trouble is told that belongs to none."""
    blocks = sent.get("blocks")
    ids = [one.get("block_id") for one in blocks or () if isinstance(one, Mapping)]
    return RATING if RATING in ids else CAUSE


def _rating_id(mine: Feedback) -> str:
    return next(id for id, (rating, _) in _RATINGS.items() if rating is mine.rating)


def _cause_id(mine: Feedback) -> str:
    """The choice of somebody who named a cause; who said "wrong" without one said "not in this
    list", others may have said nothing.
    """
    return mine.cause or (NOT_IN_LIST if mine.rating is Rating.WRONG else "")


def _chosen(options: Sequence[Block], value: str) -> Block | None:
    return next((one for one in options if one["value"] == value), None)


def is_stale(incident: Incident, note: Note) -> bool:
    """Whether another diagnosis stands than the one that the form was opened with."""
    return note.seen != _mark(incident)


def _mark(incident: Incident) -> str:
    return incident.diagnosis.mark if incident.diagnosis else "none"


def _headline(incident: Incident) -> str:
    """What the message says now, in short."""
    named = [telling.title(cause) for cause in telling.headline_causes(incident.diagnosis)]
    outlook = incident.diagnosis.outlook.value if incident.diagnosis else "being checked"
    return f"{outlook}: {escape.value(listed_names(named, 2), 160)}" if named else outlook


def listed(incident: Incident, runbooks: Sequence[Runbook]) -> tuple[Runbook, ...]:
    """The runbooks to choose from: what was confirmed, what was nearest, the others by id."""
    known = {one.id: one for one in runbooks if len(one.id) <= OPTION_VALUE}
    diagnosis = incident.diagnosis
    first = [cause.runbook for cause in telling.headline_causes(diagnosis)]
    first += list(diagnosis.chain) if diagnosis else []
    first += [cause.runbook for cause in candidates.nearest(diagnosis)]
    ordered = dict.fromkeys([*(id for id in first if id in known), *sorted(known)])
    return tuple(known[id] for id in list(ordered)[: SELECT_OPTIONS - 1])


def _title(runbook: Runbook) -> str:
    return f"{capital(cause_name(runbook.id))}: {runbook.cause}"


def word(sent: View, incident: Incident, runbooks: Sequence[Runbook]) -> Word | dict[str, str]:
    """What a sent form says; what is wrong with it, by field, otherwise."""
    note = clean(sheet.chosen(sent, NOTE))[:NOTE_LENGTH]
    cause = sheet.chosen(sent, CAUSE)
    given, cause = bool(cause), "" if cause == NOT_IN_LIST else cause
    if cause and all(one.id != cause for one in listed(incident, runbooks)):
        return {CAUSE: _CHOOSE}
    if not names_a_cause(incident):
        return Word(rating=Rating.WRONG, cause=cause, note=note) if given else {CAUSE: _CHOOSE}
    found = _RATINGS.get(sheet.chosen(sent, RATING))
    if found is None:
        return {RATING: _CHOOSE}
    rating = found[0]
    named = [one.runbook for one in telling.headline_causes(incident.diagnosis)]
    if rating is Rating.WRONG and named == [cause]:
        return {CAUSE: "This is the cause that was named. Choose another one, or Right above."}
    if rating is Rating.WRONG and not given:
        return {CAUSE: "Choose what it was, or “not in this list” where nobody knows."}
    return Word(rating=rating, cause=cause, note=note)
