"""The form *What was it really?*: how good the diagnosis was, and what the cause was. Pure."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from tailhound.model import Incident, Rating, candidates, telling
from tailhound.model.names import capital, cause_name
from tailhound.model.names import listed as listed_names
from tailhound.rules.runbook import Runbook
from tailhound.slack import escape
from tailhound.slack.actions import CAUSE, FEEDBACK_FORM, NOTE, RATING
from tailhound.slack.deeds import Word
from tailhound.slack.escape import clean
from tailhound.slack.kit import context, plain, section
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
NOT_IN_LIST: Final = "-"
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
    incident: Incident, runbooks: Sequence[Runbook], note: Note, *, changed: bool = False
) -> View:
    """The form for one incident; `changed`: somebody sent it, and had read another diagnosis."""
    ratings = [sheet.option(text, id) for id, (_, text) in _RATINGS.items()]
    shown = listed(incident, runbooks)
    causes = [sheet.option(_title(one), one.id) for one in shown]
    cut = f"The nearest {len(shown)} of {len(runbooks)} runbooks: name another one below."
    hint = {"hint": plain(cut)} if len(shown) < len(runbooks) else {}
    causes.append(sheet.option("not in this list", NOT_IN_LIST))
    return sheet.view(
        frame(replace(note, seen=_mark(incident)), "Save"),
        [
            section("changed", f"{CHANGED}{_headline(incident)}.") if changed else None,
            sheet.field("The diagnosis was", sheet.radio(RATING, ratings)),
            sheet.field("The cause was", sheet.select(CAUSE, causes), optional=True, **hint),
            sheet.field(
                "How do you know? (optional)",
                sheet.text_field(NOTE, NOTE_LENGTH, _EVERYONE),
                optional=True,
            ),
            context(
                "small",
                "Counts towards precision and recall of the runbook. "
                "You can change it for 30 days.",
            ),
        ],
    )


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
    found = _RATINGS.get(sheet.chosen(sent, RATING))
    if found is None:
        return {RATING: "Choose one of these."}
    rating, cause = found[0], sheet.chosen(sent, CAUSE)
    cause = "" if cause == NOT_IN_LIST else cause
    if cause and all(one.id != cause for one in listed(incident, runbooks)):
        return {CAUSE: "Choose one of these."}
    named = [one.runbook for one in telling.headline_causes(incident.diagnosis)]
    if rating is Rating.WRONG and named == [cause]:
        return {CAUSE: "This is the cause that was named. Choose another one, or Right above."}
    if rating is Rating.WRONG and not sheet.chosen(sent, CAUSE):
        return {CAUSE: "Choose what it was, or “not in this list” where nobody knows."}
    note = clean(sheet.chosen(sent, NOTE))[:NOTE_LENGTH]
    return Word(rating=rating, cause=cause, note=note)
