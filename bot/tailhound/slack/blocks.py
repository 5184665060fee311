"""An incident as one Slack message: slots H S W D A E N L F, each within its budget. Pure.

The slots never move; one that has nothing to say is left out. What matters at night (H to A) is
written so tight that it fits on a phone's screen as far as it can.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from tailhound.model import Incident, State
from tailhound.model.incident import CLOSED_STATES
from tailhound.notifiers import Like
from tailhound.slack.buttons import Offers, to_do, to_look
from tailhound.slack.ink import IN_THREAD, INKS, ON_PAGE, ROOMY, Ink
from tailhound.slack.kit import Block, actions, context, header, section
from tailhound.slack.limits import (
    BUDGETS,
    OUR_BYTES,
    PHONE_LINES,
    PHONE_WIDTH,
    SHORTER,
    SYMPTOM_LINES,
    TODO_LINES,
    URL,
)
from tailhound.slack.texts import fitted, render, roomiest
from tailhound.slack.view import View

AT_ONCE: Final = 100
"""Characters of a text that a push notification shows."""

_SAID: Final = (None, INKS[3], INKS[8], INKS[-1])
"""The room for what people say: that of the verdict, else less and less."""

_EXPANDED: Final = frozenset({"S", "W", "E"})
_DATE: Final = re.compile(r"<!date\^\d+\^\{ago\}\|[^>]*>")
_ENTITY: Final = re.compile("&(?:amp|lt|gt);")
_LINK: Final = re.compile(r"<https?://[^|>]*\|([^>]*)>")
_GROUP: Final = re.compile(r"S[A-Z0-9]{1,40}")


@dataclass(frozen=True, slots=True)
class SlackMessage:
    """What is sent: `text` for notifications and screen readers, `blocks` for the eyes."""

    text: str
    blocks: tuple[Block, ...]

    @property
    def bytes(self) -> int:
        """The size of the blocks as JSON, in UTF-8."""
        return len(json.dumps(self.blocks, ensure_ascii=False, separators=(",", ":")).encode())


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sheet:
    """What a message is written from: the incident, and what the place it goes to allows."""

    incident: Incident
    now: datetime
    page_url: str
    offers: Offers
    mention: str
    posted_at: float
    delayed_by: str
    notes: tuple[str, ...]
    like: Like | None

    def view(self, ink: Ink) -> View:
        """What a template may ask, with this much room."""
        return View(
            incident=self.incident,
            now=self.now,
            ink=replace(ink, rest=ON_PAGE if self.page_url else IN_THREAD),
            page=bool(self.page_url),
            asks=self.offers.interactive,
            posted_at=self.posted_at,
            delayed_by=self.delayed_by,
            notes=self.notes,
            like=self.like,
            page_url=self.page_url,
        )

    @property
    def rows(self) -> dict[str, tuple[Block, ...]]:
        """The buttons of rows A and L."""
        given = (self.incident, self.page_url, self.offers)
        return {"A": to_do(*given), "L": to_look(*given)}


def message(  # noqa: PLR0913 - each is the place's, and told by its name
    incident: Incident,
    *,
    page_url: str,
    now: datetime,
    mention: str = "",
    posted_at: float = 0.0,
    delayed_by: str = "",
    notes: Sequence[str] = (),
    like: Like | None = None,
    offers: Offers = Offers(),  # noqa: B008 - frozen
) -> SlackMessage:
    """The message of an incident as it stands; `page_url` is "" where the page has no address.

    `mention` is the id of the user group to call, from the configuration; anything else is left
    out. `posted_at` is the Unix time of the first post, 0 before it, `delayed_by` what kept it
    back. `notes` end the last line.
    `like` is an earlier incident of the same cause.
    """
    sheet = _Sheet(
        incident=incident,
        now=now,
        page_url=page_url if len(page_url) <= URL - len("/postmortem") else "",
        offers=offers,
        mention=f"cc <!subteam^{mention}>" if _GROUP.fullmatch(mention) else "",
        posted_at=posted_at,
        delayed_by=delayed_by,
        notes=tuple(notes),
        like=like,
    )
    texts = _texts(sheet)
    result = _message(texts, sheet)
    for slot, budget in SHORTER:
        if result.bytes <= OUR_BYTES:
            break
        texts[slot] = _shorter(slot, sheet.view, budget)
        result = _message(texts, sheet)
    return result


def whole_texts(incident: Incident, slots: str, *, page_url: str, now: datetime) -> dict[str, str]:
    """Slots' texts for who asked for them: with the room of an answer, not of a message."""
    view = View(
        incident=incident,
        now=now,
        ink=replace(ROOMY, rest=ON_PAGE if page_url else IN_THREAD),
        page=bool(page_url),
        asks=False,
        page_url=page_url,
    )
    return {slot: text for slot in slots if (text := render(slot, view))}


def _texts(sheet: _Sheet) -> dict[str, str]:
    """Each slot with the most room that keeps its budget, and the phone's lines."""
    view = sheet.view
    texts = {slot: fitted(slot, view, BUDGETS[slot]) for slot in "HENF"}
    texts["T"] = fitted("T", view, BUDGETS["T"], _tells_at_once)
    cc = f"\n{sheet.mention}" if sheet.mention else ""
    texts["S"] = f"{_symptom(sheet, BUDGETS['S'] - len(cc))}{cc}".strip()
    room = PHONE_LINES - lines(texts["H"]) - lines(texts["S"]) - len(sheet.rows["A"])
    texts["W"], is_below = _verdict(sheet, room)
    if is_below:
        texts["F"] = fitted("F", lambda ink: replace(view(ink), said_below=True), BUDGETS["F"])
    texts["D"] = fitted("D", view, BUDGETS["D"], _within(room - lines(texts["W"])))
    return texts


def _symptom(sheet: _Sheet, most: int) -> str:
    """Slot S. Who is on it, and until when it is silenced, takes nothing from what was measured:
    that is written as if nobody had done anything.
    """
    view, plain = sheet.view, replace(sheet, incident=_unsaid(sheet.incident)).view
    text = render("S", view(roomiest("S", plain, most, _within(SYMPTOM_LINES))))
    return text if len(text) <= most else fitted("S", view, most, _within(SYMPTOM_LINES))


def _verdict(sheet: _Sheet, left: int) -> tuple[str, bool]:
    """Slot W, and whether what people say has no room in it, so that the last line tells it.

    What people did takes nothing from what was measured: that is written as if nobody had done
    anything; their words, then what to do, get shorter before they go to the last line. `left` is
    how many lines there are, without that of who is on it.
    """
    view, plain = sheet.view, replace(sheet, incident=_unsaid(sheet.incident)).view
    most, room = BUDGETS["W"], left + lines(view(INKS[0]).at_hand)
    least = TODO_LINES + lines(plain(INKS[0]).warning)
    first = _within(room - least)
    todo = fitted("D", plain, BUDGETS["D"], _within(room - lines(fitted("W", plain, most, first))))
    ink = roomiest("W", plain, most, _within(room - lines(todo)))
    left -= min(least - 1, lines(todo))
    for said in _SAID:
        text = render("W", replace(view(ink), said_ink=said))
        if len(text) <= most and lines(text) <= left:
            return text, False
    text = render("W", replace(view(ink), said_below=True))
    return text if len(text) <= most else render("W", plain(ink)), True


def _unsaid(incident: Incident) -> Incident:
    """The incident as if nobody had done or said anything, or asked for another check."""
    stands = incident.verdict_stands and incident.state not in CLOSED_STATES
    return replace(
        incident,
        state=State.DIAGNOSED if stands else incident.state,
        failed_because="" if stands else incident.failed_because,
        recheck=None,
        feedback=(),
        on_it=None,
        silences=(),
    )


def _tells_at_once(text: str, view: View) -> bool:
    """The first 100 characters, which a push notification shows, say where and how bad."""
    shown = text[:AT_ONCE]
    return view.where in shown and view.told_at_once in shown


def _within(room: int) -> Callable[[str, View], bool]:
    return lambda text, _: lines(text) <= room


def lines(text: str) -> int:
    """How many lines a text takes on a phone, as it is drawn there."""
    drawn = _ENTITY.sub("&", _LINK.sub(r"\1", _DATE.sub("44 min ago", text)))
    return sum(max(1, -(-len(line) // PHONE_WIDTH)) for line in drawn.splitlines())


def _shorter(slot: str, view: Callable[[Ink], View], budget: int) -> str:
    """A slot within less room; N, when nothing else is left, as its counts alone."""
    text = fitted(slot, view, budget)
    summary = view(Ink(10, 16, 0)).gaps_summary
    return str(summary) if slot == "N" and budget < 200 and summary else text


def _message(texts: Mapping[str, str], sheet: _Sheet) -> SlackMessage:
    rows, revision = sheet.rows, sheet.incident.revision
    drawn = (
        header("H", texts["H"]),
        *(section(slot, texts[slot], expand=slot in _EXPANDED) for slot in "SWD"),
        actions("A", rows["A"]),
        *(section(slot, texts[slot], expand=slot in _EXPANDED) for slot in "EN"),
        actions("L", rows["L"]),
        context("F", texts["F"]),
    )
    blocks = tuple(
        {**block, "block_id": f"{block['block_id']}:{revision}"} for block in drawn if block
    )
    return SlackMessage(text=texts["T"], blocks=blocks)
