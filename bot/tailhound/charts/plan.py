"""Which charts an incident gets, and what is on them. Pure.

One to three, one question each: for every confirmed cause of the chain its mechanism above the
symptom; without a confirmed cause the nearest two. Where none of them has a series, the symptom
alone; where that has none either, no chart.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime

from tailhound.charts.alt import alt_text
from tailhound.charts.chart import Change, Chart, Panel
from tailhound.charts.mechanism import Mechanism, mechanisms_of
from tailhound.charts.panels import mean_of, mechanism_panel, safe, symptom_panel, symptom_row
from tailhound.charts.series import Span, points_of
from tailhound.charts.words import title_of, words_of
from tailhound.model import Cause, Diagnosis, Incident, Outlook, Verdict, candidates, telling
from tailhound.model.names import capital
from tailhound.model.wording import cut, with_usual

MOST = 3
"""Images in one post."""

MOST_CHANGES = 2
_CHANGE = 36
"""Changes on one chart, and characters of each: the timeline has them all, and whole."""

BEFORE_SECONDS = 1800.0
"""A chart shows this much before the earliest onset."""

LEAST_SECONDS = 2700.0
"""A chart shows at least this much."""

STALE_SECONDS = 300.0
"""Samples end a little before the verdict, as they were asked before it; longer is a gap."""

TITLE, MOST_TITLE = 110, 160
"""Characters of a title, two lines of the image; more only where a value is absurdly long."""


def charts_of(incident: Incident, now: datetime) -> tuple[Chart, ...]:
    """At most three charts; empty before a verdict, or where no evidence has a series."""
    diagnosis = incident.diagnosis
    if diagnosis is None:
        return ()
    found = _found(diagnosis)
    span = _span(diagnosis, [one for _, _, one in found], now)
    charts = [
        chart
        for cause, mark, one in found
        if (chart := _chart(diagnosis, cause, one, (mark, span))) is not None
    ]
    changes = _changes(diagnosis, span)
    shown = tuple(charts[:MOST]) or _symptom_alone(diagnosis, span)
    return tuple(_titled(replace(chart, changes=changes)) for chart in shown)


def _changes(diagnosis: Diagnosis, span: Span) -> tuple[Change, ...]:
    """The last changes within the time that is shown."""
    start, end = span
    found = [(one.at.timestamp(), one) for one in diagnosis.changed if one.at is not None]
    shown = [(at, one) for at, one in found if start <= at <= end][-MOST_CHANGES:]
    return tuple(Change(at=at, what=safe(one.what.rstrip("."), _CHANGE)) for at, one in shown)


def _found(diagnosis: Diagnosis) -> list[tuple[Cause, str, Mechanism]]:
    """What there is to show: the mechanism of each cause, then what else its claims speak of."""
    evidence = {item.name: item for item in diagnosis.evidence}
    series = [(cause, mark, mechanisms_of(cause, evidence)) for cause, mark in _causes(diagnosis)]
    first = [(cause, mark, many[0]) for cause, mark, many in series if many]
    more = [
        (cause, mark, one)
        for cause, mark, many in series
        for one in many[1:]
        if cause.verdict is Verdict.CONFIRMED
    ]
    return [*first, *more]


def _causes(diagnosis: Diagnosis) -> list[tuple[Cause, str]]:
    """The causes that get a chart, each with its mark in the message."""
    if diagnosis.outlook is Outlook.TWO_FIT:
        return list(zip(telling.headline_causes(diagnosis), "AB", strict=False))
    chain = telling.chain(diagnosis)
    if chain:
        return [(cause, str(at)) for at, cause in enumerate(chain, 1)]
    return [(cause, "") for cause in candidates.nearest(diagnosis)]


def _symptom_mark(diagnosis: Diagnosis) -> str:
    """The symptom stands behind the last cause of the chain."""
    chain = telling.chain(diagnosis)
    return str(len(chain) + 1) if chain and diagnosis.outlook is not Outlook.TWO_FIT else ""


def _span(diagnosis: Diagnosis, found: Sequence[Mechanism], now: datetime) -> Span:
    """From half an hour before the earliest onset, but never before the first sample, to now."""
    row = symptom_row(diagnosis)
    every = [one.points for one in found]
    every += [points_of(row.get("series"))] if row else []
    times = [at for points in every for at, _ in points]
    end = min(diagnosis.decided_at or now, now).timestamp()
    last = max((at for at in times if at <= end), default=end)
    end = last if end - last <= STALE_SECONDS else end
    onsets = [at.timestamp() for at in _onsets(diagnosis) if at.timestamp() <= end]
    wanted = min([end - LEAST_SECONDS, *(at - BEFORE_SECONDS for at in onsets)])
    start = max(wanted, min([end - LEAST_SECONDS, *times]))
    return 300.0 * (start // 300.0), end


def _onsets(diagnosis: Diagnosis) -> Iterable[datetime]:
    for cause, _ in _causes(diagnosis):
        if cause.onset is not None:
            yield cause.onset
    if diagnosis.symptom and diagnosis.symptom.onset:
        yield diagnosis.symptom.onset


def _chart(
    diagnosis: Diagnosis, cause: Cause, found: Mechanism, place: tuple[str, Span]
) -> Chart | None:
    mark, span = place
    above = mechanism_panel(found, mark, span)
    if above is None:
        return None
    below = symptom_panel(diagnosis, _symptom_mark(diagnosis), span)
    panels = (above, below) if below and not _same(above, below) else (above,)
    return _of(f"{cause.runbook}-{found.fact}", _title(found), panels, span)


def _same(above: Panel, below: Panel) -> bool:
    """Whether the mechanism is the symptom itself, as with a drive's own waits."""
    return above.lines[0].runs == below.lines[0].runs


def _title(found: Mechanism) -> str:
    """What happens, with its value: `Stopped in 100 % of its CPU periods, usually 2 %`.

    Of evidence that has no sentence of ours: the claim that holds.
    """
    item, fact = found.item, found.fact
    value = _value(found)
    words = safe(words_of(item.collector, fact, item.facts), 60)
    ours = title_of(words, value, item.collector, fact)
    if ours is not None:
        return ours
    said = found.holds.claim.rstrip(".") if found.holds else capital(words)
    return f"{safe(said, TITLE - len(value) - 2)}: {value}"


def _value(found: Mechanism) -> str:
    """The value and its usual one; of what came and went, what it was at most."""
    most = max(value for _, value in found.points)
    if found.value != found.usual or most <= found.value:
        return _beside(found.value, found.usual, found.unit, at_least=found.clipped)
    return f"up to {_beside(most, found.usual, found.unit, at_least=False)}"


def _beside(value: float, usual: float | None, unit: str, *, at_least: bool) -> str:
    """`100 %, usually 2 %`: the picture shows how many times that is."""
    return with_usual(value, usual, unit, at_least=at_least).partition(" (")[0]


def _symptom_alone(diagnosis: Diagnosis, span: Span) -> tuple[Chart, ...]:
    panel = symptom_panel(diagnosis, _symptom_mark(diagnosis), span)
    symptom = diagnosis.symptom
    if panel is None or symptom is None:
        return ()
    what, now, usual, at_least = symptom.name, symptom.value, symptom.usual, symptom.at_least
    mean = mean_of(diagnosis)
    if mean is not None:  # the headline tells a quantile, the series are means
        what, at_least, (now, usual) = panel.words, False, mean
    value = _beside(now, usual, symptom.unit, at_least=at_least)
    title = f"{safe(capital(what), TITLE - len(value) - 2)}: {value}"
    return (_of("symptom", title, (panel,), span),)


def _of(name: str, title: str, panels: tuple[Panel, ...], span: Span) -> Chart:
    identity = re.sub(r"[^a-z0-9-]+", "-", name.lower()).strip("-")[:60] or "chart"
    return Chart(
        id=identity, title=cut(title, MOST_TITLE), alt="", panels=panels, start=span[0], end=span[1]
    )


def _titled(chart: Chart) -> Chart:
    """The chart with its text for who can't see it."""
    return replace(chart, alt=alt_text(chart))
