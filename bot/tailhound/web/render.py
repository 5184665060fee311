"""Templates to HTML and Markdown. What is put in is escaped; no template comes from outside."""

from collections.abc import Callable
from datetime import datetime
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from jinja2 import FileSystemLoader, StrictUndefined
from jinja2.sandbox import ImmutableSandboxedEnvironment

from tailhound import __version__
from tailhound.model import (
    aftermath,
    by_hand,
    candidates,
    claims,
    gaps,
    may_change,
    names,
    neighbours,
    next_look,
    stages,
    steps,
    telling,
    unusual,
    wording,
)
from tailhound.settings import Settings
from tailhound.shipped import shipped
from tailhound.web import headline, live, markdown, people, rows, runbook, story, words
from tailhound.web.assets import Assets


class Renderer:
    """The templates of `templates/web`, with the words that they use."""

    def __init__(self, settings: Settings, assets: Assets, pages: dict[str, str]) -> None:
        folder = shipped("templates") / "web"
        self._templates = _environment(folder)
        self._markdown = _markdown_environment(folder)
        self._always = {
            "asset": assets.url,
            "settings": settings,
            "pages": pages,
            "version": __version__,
        }

    def render(self, template: str, *, now: datetime, **values: Any) -> str:
        """The page as HTML; `now` is what relative times count from."""
        found = self._templates.get_template(f"{template}.html.j2")
        return found.render(now=now, **self._always, **values)

    def markdown(self, template: str, *, now: datetime, **values: Any) -> str:
        """A Markdown file; what is put in can be neither markup nor HTML."""
        found = self._markdown.get_template(f"{template}.md.j2")
        return found.render(now=now, **self._always, **values)


@cache
def _environment(folder: Path) -> ImmutableSandboxedEnvironment:
    return _with_words(ImmutableSandboxedEnvironment(autoescape=True, **_given(folder)))


@cache
def _markdown_environment(folder: Path) -> ImmutableSandboxedEnvironment:
    environment = ImmutableSandboxedEnvironment(
        autoescape=False, finalize=markdown.escaped, keep_trailing_newline=True, **_given(folder)
    )
    environment.filters.update(code=markdown.code, fence=markdown.fence)
    return _with_words(environment)


def _given(folder: Path) -> dict[str, Any]:
    return {
        "loader": FileSystemLoader(folder),
        "undefined": StrictUndefined,
        "trim_blocks": True,
        "lstrip_blocks": True,
        "auto_reload": False,
    }


def _with_words(environment: ImmutableSandboxedEnvironment) -> ImmutableSandboxedEnvironment:
    environment.filters.update(
        seen=headline.seen,
        small=names.small,
        number=wording.number,
        with_usual=wording.with_usual,
        duration=wording.duration,
        clock=wording.clock,
        day_clock=wording.day_clock,
        plural=names.plural,
        ago=words.ago,
        iso=words.iso,
        capital=names.capital,
        size=_size,
        part=live.part,
    )
    environment.globals["words"] = SimpleNamespace(**{one.__name__: one for one in _WORDS})
    return environment


_WORDS: tuple[Callable[..., Any], ...] = (
    headline.headline,
    headline.where,
    headline.name,
    headline.backend,
    headline.cause_of,
    headline.is_old,
    telling.headline_causes,
    telling.chain,
    telling.effect,
    telling.since,
    telling.link,
    telling.ended,
    telling.less_sure_because,
    telling.rechecked,
    telling.shape,
    telling.counts,
    candidates.opened,
    candidates.by_name,
    candidates.without_sign,
    neighbours.facts,
    neighbours.ruled_out,
    next_look.next_look,
    aftermath.aftermath,
    unusual.unusual,
    unusual.is_beyond,
    candidates.would_tell_apart,
    stages.explains,
    gaps.left_open,
    gaps.next_gap,
    telling.answered,
    telling.more_offers,
    telling.no_symptom,
    telling.blind,
    telling.doctor,
    telling.slow,
    telling.also,
    telling.thin,
    telling.named,
    names.grave,
    words.groups,
    words.offers,
    words.to_do,
    words.warnings,
    words.price,
    words.bars,
    words.growth,
    words.pasted,
    by_hand.by_hand,
    by_hand.to_check,
    words.against,
    words.anchors,
    words.labels_of,
    words.summary,
    words.state_of,
    claims.mark,
    claims.says,
    claims.values,
    claims.told,
    claims.sentence_of,
    claims.words_against,
    words.risk,
    words.tally,
    steps.steps,
    story.span_of,
    story.symptom_of,
    story.story,
    story.blind_spots,
    rows.rows,
    people.sayings,
    people.verdict_on,
    people.what_it_was,
    people.silenced,
    people.of_all,
    people.rate,
    may_change.changes_stand,
    runbook.conditions,
    runbook.passed,
    runbook.value,
)
"""What templates call as `words.NAME`; nothing else of ours is in their reach."""


def _size(amount: int) -> str:
    return wording.number(amount, "bytes")
