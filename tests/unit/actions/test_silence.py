"""What a silence would mute: choices from labels, which are hostile."""

import re
from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from tailhound.actions.silence import Matcher, Muted, muted, scopes
from tailhound.model import Alert, AlertStatus, Incident, State, Subject, SubjectKind

NOW = datetime(2026, 11, 30, 2, 53, tzinfo=UTC)


def alert(name: str, **labels: str) -> Alert:
    return Alert(
        fingerprint=name,
        name=name,
        labels={"alertname": name, **labels},
        annotations={},
        status=AlertStatus.FIRING,
        starts_at=NOW,
    )


def incident(*alerts: Alert) -> Incident:
    return Incident(
        id="8R5W",
        key="k",
        subject=Subject(
            kind=SubjectKind.WORKLOAD,
            namespace="llm",
            workload="chat-json",
            workload_label="service",
        ),
        state=State.DIAGNOSED,
        alerts=alerts,
        received_at=NOW,
    )


ITL = alert("ITLHigh", namespace="llm", service="chat-json", pod="chat-0", severity="page")
ITL_1 = alert("ITLHigh", namespace="llm", service="chat-json", pod="chat-1", severity="warning")
ERRORS = alert("ErrorRateHigh", namespace="llm", service="chat-json", severity="warning")
OTHER = alert("ITLHigh", namespace="prod", service="llm-70b", severity="page")


def test_the_choices_go_from_these_alerts_to_everything_of_the_workload() -> None:
    found = scopes(incident(ITL, ITL_1))
    assert [(scope.id, scope.title) for scope in found] == [
        ("these", "Only these alerts"),
        ("all", "Everything of llm/chat-json"),
    ]
    assert [matcher.text for matcher in found[0].matchers] == [
        'alertname="ITLHigh"',
        'namespace="llm"',
        'service="chat-json"',
    ]


def test_each_choice_mutes_what_it_says() -> None:
    firing = [ITL, ITL_1, ERRORS, OTHER]
    only_one = scopes(incident(ITL))
    assert [(scope.id, muted(scope.matchers, firing)) for scope in only_one] == [
        ("these", Muted(alerts=1, pages=1)),
        ("names", Muted(alerts=2, pages=1, warnings=1)),
        ("all", Muted(alerts=3, pages=1, warnings=2)),
    ]


def test_several_names_become_one_expression_that_matches_them_alone() -> None:
    found = scopes(incident(ITL, alert("A.b", namespace="llm", service="chat-json")))
    (named,) = [m for m in found[0].matchers if m.name == "alertname"]
    assert named.text == 'alertname=~"ITLHigh|A\\\\.b"'
    assert named.holds({"alertname": "A.b"})
    assert not named.holds({"alertname": "AXb"})


def test_without_alerts_there_is_nothing_to_mute() -> None:
    assert scopes(incident()) == ()


def test_a_value_with_quotes_stays_a_value() -> None:
    assert Matcher("a", 'x"}\\\n{b="').text == 'a="x\\"}\\\\\\n{b=\\""'


@given(
    st.lists(
        st.tuples(
            st.text(min_size=1, max_size=20), st.dictionaries(st.text(max_size=10), st.text())
        ),
        min_size=1,
        max_size=4,
    )
)
def test_whatever_the_labels_each_choice_mutes_the_alerts_of_the_incident(
    told: list[tuple[str, dict[str, str]]],
) -> None:
    alerts = [alert(name, namespace="llm") for name, _ in told]
    shaped = [
        Alert(
            fingerprint="f",
            name=name,
            labels={**labels, "alertname": name},
            annotations={},
            status=AlertStatus.FIRING,
            starts_at=NOW,
        )
        for name, labels in told
    ]
    for group in (alerts, shaped):
        for scope in scopes(incident(*group)):
            assert scope.matchers
            assert muted(scope.matchers, group).alerts == len(group)
            for matcher in scope.matchers:
                assert re.fullmatch(r"[a-zA-Z_][a-zA-Z0-9_]*", matcher.name)
