"""Which changes are worth a notification: as few as possible."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from tailhound.diagnosis.noise import events_of, is_loud, may_route_anew, untold
from tailhound.model import (
    Alert,
    AlertStatus,
    Confidence,
    Diagnosis,
    Incident,
    OnIt,
    Outlook,
    State,
    Subject,
    SubjectKind,
)

NOW = datetime(2026, 11, 30, 2, 53, tzinfo=UTC)


def alert(severity: str) -> Alert:
    return Alert(
        fingerprint=severity,
        name="LLMDHighTTFT",
        labels={"severity": severity},
        annotations={},
        status=AlertStatus.FIRING,
        starts_at=NOW,
    )


def diagnosis(primary: str | None, after: float = 8.0) -> Diagnosis:
    return Diagnosis(
        outlook=Outlook.CAUSE_FOUND if primary else Outlook.NONE_CONFIRMED,
        primary=primary,
        chain=(primary,) if primary else (),
        confidence=Confidence.HIGH if primary else None,
        causes=(),
        evidence=(),
        decided_at=NOW + timedelta(seconds=after),
    )


def incident(*severities: str, **more: object) -> Incident:
    made = Incident(
        id="7F3K",
        key="k",
        subject=Subject(kind=SubjectKind.GROUP),
        state=State.INVESTIGATING,
        alerts=tuple(alert(severity) for severity in severities),
        received_at=NOW,
        n=1,
        revision=7,
    )
    return replace(made, **more)  # type: ignore[arg-type]


PAGE, WARNING = incident("page"), incident("warning")


def test_a_quick_verdict_is_a_silent_edit() -> None:
    assert events_of(PAGE, replace(PAGE, diagnosis=diagnosis("cpu-throttling"))) == ()


@pytest.mark.parametrize(("seconds", "events"), [(60.0, ()), (61.0, ("verdict:1",))])
def test_a_page_whose_verdict_took_over_a_minute_is_told(
    seconds: float, events: tuple[str, ...]
) -> None:
    after = replace(PAGE, diagnosis=diagnosis("cpu-throttling", seconds))
    assert events_of(PAGE, after) == events


def test_a_late_verdict_of_a_warning_is_not_told() -> None:
    assert events_of(WARNING, replace(WARNING, diagnosis=diagnosis("cpu-throttling", 90))) == ()


def test_another_cause_than_the_one_that_was_told_is_an_event() -> None:
    before = replace(PAGE, diagnosis=diagnosis("cpu-throttling"))
    after = replace(PAGE, diagnosis=diagnosis("kv-preemption"))
    assert events_of(before, after) == ("overturned:1.7",)
    assert events_of(before, replace(PAGE, diagnosis=diagnosis(None))) == ("overturned:1.7",)


def test_a_cause_where_none_was_told_is_an_event_that_stays_in_the_thread() -> None:
    before = replace(PAGE, diagnosis=diagnosis(None))
    after = replace(PAGE, diagnosis=diagnosis("cpu-throttling"))
    assert events_of(before, after) == ("revised:1.7",)


def test_a_verdict_that_still_names_no_cause_is_a_silent_edit() -> None:
    before = replace(PAGE, diagnosis=replace(diagnosis(None), outlook=Outlook.BLIND))
    assert events_of(before, replace(PAGE, diagnosis=diagnosis(None))) == ()


def test_the_same_cause_with_other_confidence_is_a_silent_edit() -> None:
    told = diagnosis("cpu-throttling")
    after = replace(PAGE, diagnosis=replace(told, confidence=Confidence.MEDIUM))
    assert events_of(replace(PAGE, diagnosis=told), after) == ()


def test_an_incident_that_is_back_again_is_an_event_and_its_new_verdict_none() -> None:
    before = replace(WARNING, diagnosis=diagnosis("cpu-throttling"), state=State.RESOLVED)
    again = replace(before, episode=2, state=State.INVESTIGATING)
    assert events_of(before, again) == ("reopened:2",)


def test_an_alert_that_becomes_a_page_is_an_event_once() -> None:
    both = incident("warning", "critical")
    assert events_of(WARNING, both) == ("paged:1",)
    assert events_of(both, incident("warning", "critical", "page")) == ()


def test_what_people_do_is_no_event() -> None:
    after = replace(PAGE, on_it=OnIt(by="ana", since=NOW), repeats=3)
    assert events_of(PAGE, after) == ()


def test_only_a_cause_where_none_was_told_stays_in_the_thread() -> None:
    kinds = ("verdict", "revised", "overturned", "reopened", "paged")
    assert {name for name in kinds if not is_loud(f"{name}:1")} == {"revised"}


def test_routes_are_looked_at_again_where_it_got_worse_or_somebody_else_owns_it() -> None:
    warning, page = incident("warning"), incident("warning", "critical")
    assert may_route_anew(warning, page)
    assert not may_route_anew(page, warning)
    assert not may_route_anew(page, incident("critical", "page"))
    assert not may_route_anew(warning, replace(page, state=State.JOINED))
    owned = replace(warning, alerts=(replace(warning.alerts[0], owner="sre"),))
    assert may_route_anew(warning, owned)
    assert not may_route_anew(owned, warning)


def test_what_is_not_told_is_named() -> None:
    assert untold("reopened:3").startswith("That it is back is not told in the channel: nobody")
    assert untold("called:1.7").startswith("Its owner's group is not mentioned: nobody")
