"""The charts of an incident as a page shows them: the drawing, and the same as a table."""

from dataclasses import dataclass
from datetime import datetime

from markupsafe import Markup

from tailhound.charts.alt import Table, table
from tailhound.charts.plan import charts_of
from tailhound.charts.svg import svg
from tailhound.model import Incident


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """One chart. `drawing` is an `<svg>` element whose texts are escaped."""

    id: str
    title: str
    drawing: Markup
    table: Table


def drawn(incident: Incident, now: datetime) -> tuple[Drawn, ...]:
    """At most three charts; none before a verdict."""
    return tuple(
        Drawn(
            id=chart.id,
            title=chart.title,
            drawing=Markup(svg(chart)),  # noqa: S704 - made by an XML library, which escapes
            table=table(chart),
        )
        for chart in charts_of(incident, now)
    )
