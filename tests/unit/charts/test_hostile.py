"""Any incident at all: planning never fails, and what it plans can be drawn as text and as SVG."""

from dataclasses import replace
from typing import Any
from xml.etree import ElementTree

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tailhound.charts.alt import table
from tailhound.charts.axes import scale_of
from tailhound.charts.chart import charts_from_json, charts_to_json
from tailhound.charts.plan import MOST, charts_of
from tailhound.charts.svg import svg
from tailhound.model import Evidence, Incident
from tests.samples.anything import diagnoses
from tests.unit.charts.samples import NOW, cpu, incident, latency

ODD = st.one_of(st.none(), st.booleans(), st.text(max_size=20), st.floats(), st.integers())
SAMPLE = st.fixed_dictionaries({"at": ODD, "value": ODD})
TIMES = st.floats(min_value=NOW.timestamp() - 9000, max_value=NOW.timestamp() + 900)
GOOD = st.fixed_dictionaries({"at": TIMES, "value": st.floats(-1e12, 1e12)})
SERIES = st.lists(st.one_of(GOOD, SAMPLE), max_size=30).map(tuple)
TEXT = st.text(max_size=300)


@st.composite
def anything(draw: st.DrawFn) -> Incident:
    facts: dict[str, Any] = {
        "pod": draw(TEXT),
        "throttled_ratio": draw(ODD),
        "throttled_ratio_usual": draw(ODD),
        "throttled_ratio_series": draw(SERIES),
        "throttled_ratio_usual_series": draw(SERIES),
        "throttled_ratio_clipped": draw(ODD),
        "throttled_ratio_by_pod": draw(
            st.lists(st.fixed_dictionaries({"pod": TEXT, "series": SERIES}), max_size=8).map(tuple)
        ),
    }
    rows = latency(title=draw(TEXT), series=draw(SERIES), usual_series=draw(SERIES))
    return incident(evidence=(cpu(**facts), rows))


def checked(found: Incident) -> None:
    charts = charts_of(found, NOW)
    assert len(charts) <= MOST
    assert len({chart.id for chart in charts}) == len(charts)
    assert charts_from_json(charts_to_json(charts)) == charts
    for chart in charts:
        assert chart.start < chart.end
        assert len(chart.alt) <= 400
        assert len(chart.title) <= 160
        assert "\n" not in chart.title + chart.alt
        assert 1 <= len(chart.panels) <= 2
        for panel in chart.panels:
            assert 1 <= len(panel.lines) <= 5
            assert scale_of(panel).high > scale_of(panel).low
        rows = table(chart)
        assert all(len(row) == len(rows.head) for row in rows.rows)
        markup = svg(chart)
        assert len(markup.encode()) <= 40 * 1024
        ElementTree.fromstring(markup)  # noqa: S314 - our own text


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None, max_examples=40)
@given(anything())
def test_whatever_a_series_holds_the_chart_is_whole(found: Incident) -> None:
    checked(found)


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None, max_examples=20)
@given(diagnoses(), anything())
def test_any_verdict_with_any_evidence_has_whole_charts(found: Any, other: Incident) -> None:
    evidence: tuple[Evidence, ...] = (*found.evidence, *other.diagnosis.evidence)  # type: ignore[union-attr]  # it has one
    names = tuple(item.name for item in evidence)
    causes = tuple(replace(cause, evidence=names) for cause in found.causes)
    checked(replace(other, diagnosis=replace(found, evidence=evidence, causes=causes)))
