"""The templates under `templates/slack`, rendered: one text per slot of the message.

A template speaks about the properties of `view.View`, as `v`. What it prints is escaped for Slack
unless it is escaped already (`Mrkdwn`), so a value that nobody thought of can't do harm. A name
that the view does not have is an error, never an empty text.
"""

from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

from jinja2 import FileSystemLoader, StrictUndefined, Template
from jinja2.sandbox import ImmutableSandboxedEnvironment

from tailhound.model.names import small
from tailhound.shipped import shipped
from tailhound.slack import escape
from tailhound.slack.escape import Mrkdwn
from tailhound.slack.ink import INKS, LADDERS, Ink
from tailhound.slack.view import View

SLOTS = {
    "T": "text",
    "H": "header",
    "S": "symptom",
    "W": "verdict",
    "D": "todo",
    "E": "evidence",
    "N": "gaps",
    "F": "footer",
    "R": "storm_row",
    "RT": "storm_text",
    "timeline": "thread_timeline",
    "timeline text": "thread_timeline_text",
    "evidence": "thread_evidence",
    "evidence text": "thread_evidence_text",
    "charts": "thread_charts",
    "charts text": "thread_charts_text",
    "event": "thread_event",
}
"""The template of each slot; of a storm's message, a row and the worst in words; of the posts in a
thread, what is shown and what is read out."""


def fitted(
    slot: str,
    view: Callable[[Ink], View],
    budget: int,
    fits: Callable[[str, View], bool] | None = None,
) -> str:
    """The slot's text with the most room that keeps `budget` characters; "" for no such slot.

    `fits` may refuse a text for another reason. The tightest ink is taken as it is: what it writes
    is short, whatever the values are, and says where the rest is.
    """
    seen = view(roomiest(slot, view, budget, fits))
    text = render(slot, seen)
    return text if len(text) <= budget else f"It is too long to show here, and stands {seen.rest}."


def roomiest(
    slot: str,
    view: Callable[[Ink], View],
    budget: int,
    fits: Callable[[str, View], bool] | None = None,
) -> Ink:
    """The ink of `fitted`: that with the most room, else the tightest."""
    *inks, tightest = LADDERS.get(slot, INKS)
    for ink in inks:
        seen = view(ink)
        text = render(slot, seen)
        if len(text) <= budget and (fits is None or fits(text, seen)):
            return ink
    return tightest


def render(slot: str, view: View) -> str:
    """One slot's text, without empty lines."""
    text = _template(SLOTS[slot]).render(v=view)
    return "\n".join(line.rstrip() for line in text.splitlines() if line.strip())


def written(name: str, **values: Any) -> str:
    """A text that is not about one incident alone (forms, home tab, commands), without empty lines.

    `values` are escaped unless they are escaped already.
    """
    text = _template(name).render(values)
    return "\n".join(line.rstrip() for line in text.splitlines() if line.strip())


@cache
def _template(name: str) -> Template:
    return _environment().get_template(f"{name}.j2")


@cache
def _environment() -> ImmutableSandboxedEnvironment:
    environment = ImmutableSandboxedEnvironment(
        loader=FileSystemLoader(shipped("templates") / "slack"),
        undefined=StrictUndefined,
        autoescape=False,
        finalize=_finalized,
        keep_trailing_newline=False,
    )
    environment.filters["each"] = _each
    environment.filters["small"] = _small
    environment.filters["before_ratio"] = _before_ratio
    return environment


def _finalized(value: Any) -> Any:
    """What a template prints: escaped once, and never the word None."""
    if isinstance(value, Mrkdwn):
        return value
    if value is None:
        return "not measured"
    return escape.escaped(value) if isinstance(value, str) else value


def _each(lines: Iterable[str], between: str) -> Mrkdwn:
    """Lines joined; those that are not escaped yet are escaped."""
    return Mrkdwn(between.join(_finalized(line) for line in lines))


def _small(text: str) -> str:
    return type(text)(small(text))


def _before_ratio(text: str) -> str:
    """`usually 8 ms (x10)` without the ratio."""
    return text.partition(" (")[0]
