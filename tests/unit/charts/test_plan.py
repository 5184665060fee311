"""Which charts an incident gets, and what is on them."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tailhound.charts.chart import Chart, Role
from tailhound.charts.plan import charts_of
from tailhound.model import Cause, Check, Evidence, Incident, Outlook, Verdict
from tailhound.model.names import capital
from tailhound.model.verdict import Changed
from tailhound.truth import Truth
from tests.unit.charts.samples import (
    DIAGNOSIS,
    END,
    LATER,
    NOW,
    STOPPED,
    SYMPTOM,
    THROTTLING,
    check,
    cpu,
    evidence,
    incident,
    latency,
    recorded,
    samples,
    usual,
)


def only(found: Incident) -> Chart:
    charts = charts_of(found, LATER)
    assert len(charts) == 1
    return charts[0]


def another(name: str, **changes: Any) -> tuple[Evidence, Cause]:
    """A further cause with a series of its own."""
    item = evidence(
        name,
        "acme.fans",
        {"stall_ratio_series": samples(0.1, 0.9), "stall_ratio_usual_series": usual(0.1)},
    )
    said = check(f"{name}.stall_ratio", "Fans stand still", 0.9, 0.5)
    cause = replace(THROTTLING, runbook=name, evidence=(name,), checks=(said,), **changes)
    return item, cause


def test_a_mechanism_stands_above_the_symptom_on_one_axis_of_time() -> None:
    above, below = only(incident()).panels
    assert (above.role, below.role) == (Role.MECHANISM, Role.SYMPTOM)
    assert above.words == "CPU periods in which it was stopped"
    assert [line.name for line in above.lines] == ["chat-json-2"]
    assert below.words == "inter-token, mean"


def test_the_title_says_what_happens_with_its_value() -> None:
    assert only(incident()).title == ("Stopped in 100\u00a0% of its CPU periods, usually 2\u00a0%")


def test_what_the_claim_needs_and_the_objective_are_limits() -> None:
    above, below = only(incident()).panels
    assert [(one.label, one.objective) for one in above.limits] == [("needs 25\u00a0%", False)]
    assert [(one.label, one.objective) for one in below.limits] == [
        ("SLO 20\u00a0ms for p50", True)
    ]


def test_onsets_bear_their_number_in_the_chain() -> None:
    above, below = only(incident()).panels
    assert above.onset is not None
    assert below.onset is not None
    assert (above.onset.at, above.onset.mark) == (END - 300, "1")
    assert (below.onset.at, below.onset.mark) == (END - 240, "2")


def test_two_causes_that_fit_bear_letters_and_the_symptom_no_number() -> None:
    item, cause = another("fans")
    found = incident(
        outlook=Outlook.TWO_FIT, causes=(THROTTLING, cause), evidence=(cpu(), latency(), item)
    )
    charts = charts_of(found, NOW)
    assert [one.panels[0].onset.mark for one in charts if one.panels[0].onset] == ["A", "B"]
    assert [one.panels[1].onset.mark for one in charts if one.panels[1].onset] == ["", ""]


def test_the_usual_band_runs_from_the_lowest_to_the_highest_usual_value() -> None:
    hour = tuple({**one, "at": one["at"] + 82800, "value": 0.06} for one in usual(0.02))
    item = cpu(throttled_ratio_usual_series=(*usual(0.02), *hour))
    assert only(incident(evidence=(item, latency()))).panels[0].usual == (0.02, 0.06)


def test_there_is_no_usual_band_where_no_usual_value_is_known() -> None:
    item = cpu(throttled_ratio_usual_series=None, throttled_ratio_usual=None)
    shown = only(incident(evidence=(item, latency())))
    assert shown.panels[0].usual is None
    assert shown.panels[0].onset is None
    assert shown.title.endswith("no usual value yet")


def test_a_chart_shows_at_least_45_minutes_up_to_the_last_sample() -> None:
    shown = only(incident())
    assert shown.end == END
    assert 2700 <= shown.end - shown.start < 3000
    assert shown.start % 300 == 0


def test_a_longer_history_is_shown_from_half_an_hour_before_the_onset() -> None:
    began = 5000.0
    long = tuple(
        {"at": END - 15.0 * ago, "value": 1.0 if 15.0 * ago <= began else 0.02}
        for ago in reversed(range(900))
    )
    onset = datetime.fromtimestamp(END - 4995, UTC)
    found = incident(
        evidence=(cpu(throttled_ratio_series=long), latency()),
        causes=(replace(THROTTLING, onset=onset),),
    )
    shown = only(found)
    assert END - began - 1800 - 300 <= shown.start <= END - began - 1800 + 300


def test_a_page_that_is_read_later_shows_what_was_seen_then() -> None:
    later = charts_of(incident(), NOW + timedelta(hours=5))
    assert later == charts_of(incident(), NOW)


def test_samples_that_are_missing_are_a_gap_and_never_joined() -> None:
    broken = samples(0.02, 1.0, missing=[(1500, 900)])
    above = only(incident(evidence=(cpu(throttled_ratio_series=broken), latency()))).panels[0]
    assert above.gaps == ((END - 1515, END - 885),)
    assert len(above.lines[0].runs) == 2


def test_samples_that_end_long_before_the_verdict_leave_a_gap_at_the_end() -> None:
    ended = samples(0.02, 1.0, began=1200, missing=[(600, 0)])
    above = only(incident(evidence=(cpu(throttled_ratio_series=ended), latency()))).panels[0]
    assert above.gaps[-1] == (END - 615, END)


def test_a_fact_that_is_no_number_is_no_sample() -> None:
    odd = (*samples(0.02, 1.0), {"at": END, "value": float("nan")}, {"at": None, "value": 1.0})
    above = only(incident(evidence=(cpu(throttled_ratio_series=odd), latency()))).panels[0]
    assert all(value == value for run in above.lines[0].runs for _, value in run)  # noqa: PLR0124


def test_five_pods_are_drawn_by_name_and_the_others_as_one() -> None:
    pods = tuple({"pod": f"pod-{at}", "series": samples(0.02, 1.0 - 0.05 * at)} for at in range(12))
    above = only(incident(evidence=(cpu(throttled_ratio_by_pod=pods), latency()))).panels[0]
    assert [line.name for line in above.lines] == [f"pod-{at}" for at in range(5)]
    assert above.envelope is not None
    assert above.envelope.name == "7 others"
    assert above.envelope.runs[0][-1][1:] == pytest.approx((0.45, 0.75))


def test_without_a_confirmed_cause_the_nearest_two_are_shown_and_named_by_no_verdict() -> None:
    doubted: Check = replace(STOPPED, truth=Truth.UNKNOWN)
    item, fans = another("fans", verdict=Verdict.UNKNOWN)
    third, far = another("dust", verdict=Verdict.UNKNOWN)
    near = replace(THROTTLING, verdict=Verdict.UNKNOWN, checks=(STOPPED, STOPPED, doubted))
    found = incident(
        outlook=Outlook.NONE_CONFIRMED,
        primary=None,
        chain=(),
        causes=(near, fans, replace(far, checks=(replace(far.checks[0], truth=Truth.UNKNOWN),))),
        evidence=(cpu(), latency(), item, third),
    )
    charts = charts_of(found, NOW)
    assert [one.id for one in charts] == ["cpu-throttling-throttled-ratio", "fans-stall-ratio"]
    assert all(panel.onset is None or panel.onset.mark == "" for panel in charts[0].panels)


def test_a_cause_without_a_series_gets_no_chart_and_the_symptom_stands_alone() -> None:
    found = incident(evidence=(evidence("cpu", "prometheus.container_cpu", {}), latency()))
    shown = only(found)
    assert shown.id == "symptom"
    assert shown.title == "Inter-token, mean: 80\u00a0ms, usually 8\u00a0ms"
    assert [panel.role for panel in shown.panels] == [Role.SYMPTOM]


@pytest.mark.parametrize("name", ["inter-token p99", "inter-token p90"])
def test_the_title_above_means_tells_the_mean_whatever_quantile_the_headline_tells(
    name: str,
) -> None:
    told = replace(SYMPTOM, name=name, value=4.87, usual=0.5, at_least=True)
    shown = only(incident(symptom=told, evidence=(latency(),)))
    assert shown.title == "Inter-token, mean: 80\u00a0ms, usually 8\u00a0ms"
    assert shown.title.startswith(capital(shown.panels[0].words))


def test_the_title_of_what_is_no_quantile_is_the_symptoms_own() -> None:
    peaks = replace(SYMPTOM, name="inter-token mean at its peaks", value=0.9)
    shown = only(incident(symptom=peaks, evidence=(latency(),)))
    assert shown.title == "Inter-token mean at its peaks: 900\u00a0ms, usually 8\u00a0ms"


def test_a_cause_is_shown_alone_where_there_is_no_symptom() -> None:
    shown = only(incident(symptom=None, evidence=(cpu(),)))
    assert [panel.role for panel in shown.panels] == [Role.MECHANISM]


@pytest.mark.parametrize(
    "found",
    [
        incident(None),
        incident(evidence=()),
        incident(symptom=None, causes=(), chain=(), primary=None),
    ],
    ids=["before a verdict", "no evidence", "nothing found"],
)
def test_where_nothing_has_a_series_there_is_no_chart(found: Incident) -> None:
    assert charts_of(found, NOW) == ()


def test_there_are_three_charts_at_most() -> None:
    more = [another(f"fans{at}") for at in range(5)]
    found = incident(
        causes=(THROTTLING, *(cause for _, cause in more)),
        chain=("cpu-throttling", *(cause.runbook for _, cause in more)),
        evidence=(cpu(), latency(), *(item for item, _ in more)),
    )
    charts = charts_of(found, NOW)
    assert [one.panels[0].onset.mark for one in charts if one.panels[0].onset] == ["1", "2", "3"]


def test_somebody_elses_evidence_is_told_by_the_claim_that_holds() -> None:
    item, cause = another("fans")
    shown = only(
        incident(causes=(cause,), chain=("fans",), primary="fans", evidence=(item, latency()))
    )
    assert shown.title == "Fans stand still: 90\u00a0%, usually 10\u00a0%"
    assert shown.panels[0].words == "stall"


def test_a_clipped_quantile_is_an_open_band_and_told_as_at_least() -> None:
    found = incident(
        evidence=(cpu(throttled_ratio_clipped=True), latency()),
        symptom=replace(SYMPTOM, at_least=True, name="inter-token p99", value=0.25),
    )
    shown = only(found)
    above, below = shown.panels
    assert above.open is not None
    assert below.open is not None
    assert (above.open.low, above.open.label) == (1.0, "at least 100\u00a0%")
    assert below.open.label == "p99 at least 250\u00a0ms"
    assert below.open.start == END - 300
    assert "at least" in shown.title


def test_a_list_below_the_last_bound_of_the_api_servers_histogram_is_not_clipped() -> None:
    shown = only(recorded("apiserver-saturation"))
    assert shown.panels[0].open is None


def test_what_came_and_went_is_told_by_its_highest_value() -> None:
    shown = only(recorded("cold-start"))
    assert shown.title == "Replicas wanted and missing: up to 1, usually 0"


def test_a_bound_in_another_unit_is_no_limit_of_the_panel() -> None:
    times = replace(STOPPED, needs=(replace(STOPPED.needs[0], unit="times", value=1.5),))
    shown = only(incident(causes=(replace(THROTTLING, checks=(times,)),)))
    assert shown.panels[0].limits == ()


def test_the_series_that_left_its_band_at_the_onset_is_the_mechanism() -> None:
    item = evidence(
        "disk",
        "prometheus.disk_io",
        {
            "early_series": samples(1.0, 5.0, began=900),
            "early_usual_series": usual(1.0),
            "slow_seconds_series": samples(0.001, 0.01),
            "slow_seconds_usual_series": usual(0.001),
        },
    )
    cause = replace(THROTTLING, checks=(), evidence=("disk",))
    shown = only(incident(causes=(cause,), evidence=(item, latency())))
    assert shown.id == "cpu-throttling-slow-seconds"


def test_without_onset_and_claim_two_series_leave_it_open_which_is_the_mechanism() -> None:
    item = evidence(
        "disk", "acme.disk", {"one_series": samples(1.0, 5.0), "two_series": samples(1.0, 9.0)}
    )
    cause = replace(THROTTLING, checks=(), evidence=("disk",), onset=None)
    assert only(incident(causes=(cause,), evidence=(item, latency()))).id == "symptom"


def test_the_evidence_that_the_runbook_calls_otherwise_is_found() -> None:
    item = replace(cpu(), name="cpu-throttling.cpu")
    cause = replace(THROTTLING, evidence=("cpu-throttling.cpu",), onset=None)
    shown = only(incident(causes=(cause,), evidence=(item, latency())))
    assert [one.label for one in shown.panels[0].limits] == ["needs 25\u00a0%"]


def test_a_mechanism_that_is_the_symptom_itself_is_drawn_once() -> None:
    same = samples(0.008, 0.08, began=240)
    item = cpu(throttled_ratio_series=same)
    cause = replace(THROTTLING, onset=None)
    assert len(only(incident(causes=(cause,), evidence=(item, latency()))).panels) == 1


def test_secrets_and_control_characters_of_names_are_not_shown() -> None:
    item = cpu(pod="a\nb\x1b[31mc password=hunter22 <script>")
    name = only(incident(evidence=(item, latency()))).panels[0].lines[0].name
    assert "\n" not in name
    assert "\x1b" not in name
    assert "hunter22" not in name


def test_planning_changes_nothing_and_is_the_same_every_time() -> None:
    assert charts_of(incident(DIAGNOSIS), NOW) == charts_of(incident(DIAGNOSIS), NOW)


def test_a_change_within_the_time_that_is_shown_stands_on_every_chart() -> None:
    changed = tuple(
        Changed(at=datetime.fromtimestamp(END - before, UTC), kind="rollout", what=what)
        for before, what in ((86_400, "long ago"), (900, "one."), (600, "two"), (360, "x" * 80))
    )
    nobody_knows = Changed(at=None, kind="node", what="gpu-1 is cordoned")
    shown = only(incident(changed=(*changed, nobody_knows)))
    assert [one.at for one in shown.changes] == [END - 600, END - 360]
    assert shown.changes[0].what == "two"
    assert len(shown.changes[1].what) == 36
    assert "Changed at" in shown.alt
    assert only(incident()).changes == ()
