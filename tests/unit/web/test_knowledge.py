"""The pages about tailhound itself: runbooks, accuracy, health."""

import re
from dataclasses import replace
from datetime import timedelta

import pytest

from tailhound.model import Bound, Incident, Seen
from tailhound.rules.selftest import Result, run_tests
from tailhound.store.accuracy import Accuracy, Record
from tailhound.truth import Truth
from tailhound.web.near import nearly_crossed
from tailhound.web.parts import HealthLine, Stop
from tailhound.web.questions import questions
from tailhound.web.runbook import page_of
from tests.samples.causes import THROTTLING
from tests.samples.incidents import CONFIRMED, LISTED
from tests.samples.story import NOW, QUERY
from tests.unit.web.shelf import Books, Shelf, parts
from tests.unit.web.test_pages import Page, get, page

RUNBOOKS = Books().runbooks
IDS = [runbook.id for runbook in RUNBOOKS]


# --- the catalogue


def test_the_catalogue_tells_owner_alerts_tests_and_the_last_30_days() -> None:
    text = page("/runbooks").text
    assert f"{len(IDS)} causes" in text
    assert "CPU throttling The CPU limit stops the engine sre-platform CPUThrottlingHigh" in text
    assert re.search(r"CPUThrottlingHigh \S+ \+ \d+ more (\d+) of \1", text)
    assert "confirmed 31, right 24 of 26, missed 1" in text
    assert "KV preemption" in text


def test_every_runbook_of_the_catalogue_has_a_page() -> None:
    links = [link for link in page("/runbooks").all_of("href") if link.startswith("/runbooks/")]
    assert links == [f"/runbooks/{id}" for id in IDS]
    for link in links:
        assert get(link).status == 200


def test_a_failing_test_is_named_with_what_came_out() -> None:
    class Failing(Books):
        def tests(self, runbook: str) -> tuple[Result, ...]:
            first, *rest = run_tests(next(one for one in self.runbooks if one.id == runbook))
            return (replace(first, problems=("expected refuted, got unknown",)), *rest)

    html = get("/runbooks/cpu-throttling", parts(catalogue=Failing())).text
    tests = len(run_tests(next(one for one in RUNBOOKS if one.id == "cpu-throttling")))
    assert f"Tests ({tests - 1} of {tests} passed)" in html
    assert "expected refuted, got unknown" in html


# --- one runbook


def test_confirms_and_refutes_stand_side_by_side_with_thresholds_and_their_source() -> None:
    text = page("/runbooks/cpu-throttling").text.replace("\u00a0", " ")
    confirms, refutes = text.index("Confirms when all hold"), text.index("Rules out when one holds")
    assert confirms < text.index("Stopped in more than a tenth of its periods") < refutes
    assert "needs 10 %" in text[confirms:refutes]
    assert "suspect 10 %: document 003: the latency budget is lost above 10 %" in text
    assert "refuted under 5 %" in text[refutes:]
    assert "strong 25 %: kubernetes-mixin CPUThrottlingHigh" in text


def test_no_threshold_of_a_shipped_runbook_is_left_out() -> None:
    for runbook in RUNBOOKS:
        told = page_of(runbook, RUNBOOKS, (), None)
        lines = (*told.confirms, *told.optional, *told.refutes, *told.applies)
        shown = {threshold.name for line in lines for threshold in line.thresholds}
        used = {name for _, claim in runbook.claims for name in claim.condition.used}
        assert shown == used
        assert len(lines) == len(runbook.claims)


def test_a_runbook_says_how_it_stands_to_others_what_can_be_done_and_where_it_was_seen() -> None:
    text = page("/runbooks/cpu-throttling").text
    assert "Leads to Probe failure" in text
    assert "What can be done (3)" in text
    assert "Raise the CPU limit by half suggested" in text
    risk = "neighbours get less CPU, and it may restart"
    assert f"Medium risk: {risk}. Cost none while the node has idle CPU" in text
    assert "Cause found llm / chat-json severity page CPU throttling" in text
    assert "All incidents of this cause" in text


def test_led_to_by_is_the_other_end_of_leads_to() -> None:
    first, second = RUNBOOKS[:2]
    leading = replace(first, leads_to=(second.id,))
    assert page_of(second, (leading, second), (), None).led_to_by == (first.id,)


def test_a_runbook_that_was_never_confirmed_names_its_alerts() -> None:
    text = page("/runbooks/rdma-fabric").text
    assert "Never triggered. Its alerts: RDMALinkDown, InfiniBandPortDown" in text


def test_an_unknown_runbook_is_404_in_words() -> None:
    for path in ("/runbooks/none", "/runbooks/none.yaml", "/runbooks/%3Cscript%3E"):
        answer = get(path)
        assert answer.status == 404
        assert "No runbook" in answer.text
        assert "<script>" not in answer.text.replace('<script src="', "")


def test_the_yaml_is_the_file_that_is_active_as_it_was_read() -> None:
    answer = get("/runbooks/cpu-throttling.yaml")
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    assert answer.text == next(one for one in RUNBOOKS if one.id == "cpu-throttling").source


def test_every_evidence_of_a_shipped_runbook_tells_a_question_with_stand_in_names() -> None:
    for runbook in RUNBOOKS:
        asked = questions(runbook)
        assert set(asked) == set(runbook.evidence)
        assert all(asked.values()), runbook.id
        texts = [one.text for found in asked.values() for one in found]
        assert not [text for text in texts if re.search(r"# \d+ s ago$", text)]
        assert all(len(found) == len(set(found)) for found in asked.values())


def test_questions_are_real_ones_where_an_incident_asked_them() -> None:
    diagnosis = CONFIRMED.diagnosis
    assert diagnosis is not None
    cpu = replace(diagnosis.evidence[0], collector="prometheus.container_cpu")
    shelf = Shelf((replace(CONFIRMED, diagnosis=replace(diagnosis, evidence=(cpu,))),))
    html = get("/runbooks/cpu-throttling", parts(shelf)).text
    assert 'Questions as they were asked in <a href="/incidents/8R5W">incident 8R5W</a>' in html
    assert QUERY[:40] in html.replace("&#34;", '"')
    none = get("/runbooks/cpu-throttling", parts(Shelf(()))).text
    assert "Questions as they were asked" not in none
    assert "<code>my-pod</code> stand in for real ones" in none


@pytest.mark.parametrize("id", IDS)
def test_a_runbooks_page_is_well_formed_and_has_no_id_twice(id: str) -> None:
    found = page(f"/runbooks/{id}")
    ids = found.all_of("id")
    assert len(ids) == len(set(ids))
    assert found.tags.count("h1") == 1
    assert found.tags.count("th") == len(found.all_of("scope"))
    assert "button" not in found.tags
    assert found.all_of("style") == []


# --- accuracy


def test_accuracy_has_a_row_a_cause_with_precision_and_recall_as_counts() -> None:
    text = page("/accuracy").text
    assert "41 incidents, 32 with feedback, in 90 days" in text
    assert "CPU throttling 31 26 24 1 not the whole story 2 1 24 of 26 24 of 25" in text
    assert "Cold start 4 3 3 0 0 too few to say (3 of 3)" in text
    assert "GC pause 0 0 0 0 2 too few to say too few to say (0 of 2)" in text
    assert "1 incident had a cause that no runbook knows." in text
    assert "Neither confirmed nor missed: API server saturation" in text


def test_accuracy_without_feedback_says_how_it_comes() -> None:
    text = Page(get("/accuracy", parts(accuracy=lambda _since: Accuracy())).text).text
    assert "No feedback yet. People answer Was this the cause?" in text
    assert "under a resolved incident." in text


@pytest.mark.parametrize(("asked", "days"), [("30", 30), ("365", 365), ("", 90), ("7; drop", 90)])
def test_how_far_back_accuracy_counts_is_one_of_three(asked: str, days: int) -> None:
    since = []

    def count(moment: object) -> Accuracy:
        since.append(moment)
        return Accuracy()

    get(f"/accuracy?days={asked.replace(' ', '%20')}", parts(accuracy=count))
    assert since == [NOW - timedelta(days=days)]


def test_a_cause_that_no_runbook_has_any_more_leads_to_its_incidents() -> None:
    hostile = '"><script>'
    record = Accuracy(causes={hostile: Record(runbook=hostile, missed=1)}, incidents=1, rated=1)
    html = get("/accuracy", parts(accuracy=lambda _since: record)).text
    assert "<script>" not in html.replace('<script src="', "")
    assert "cause=%22%3E%3Cscript%3E" in html


def _with_value(value: float, truth: Truth = Truth.FALSE) -> Incident:
    check = replace(
        THROTTLING.checks[0],
        truth=truth,
        seen=(Seen(name="cpu.throttled_ratio", value=value, unit="ratio"),),
        needs=(Bound(fact="cpu.throttled_ratio", comparison=">", value=0.25, unit="ratio"),),
    )
    assert CONFIRMED.diagnosis is not None
    cause = replace(THROTTLING, checks=(check,))
    return replace(CONFIRMED, diagnosis=replace(CONFIRMED.diagnosis, causes=(cause,)))


def test_a_value_within_a_tenth_of_its_threshold_is_near_on_both_sides() -> None:
    incidents = [_with_value(0.24), _with_value(0.26, Truth.TRUE), _with_value(0.1)]
    (near,) = nearly_crossed(incidents)
    assert (near.runbook, near.held, near.times) == ("cpu-throttling", 1, 2)
    assert [value.replace("\u00a0", " ") for value in near.values] == ["24 %", "26 %"]
    assert nearly_crossed([_with_value(0.5), replace(CONFIRMED, diagnosis=None)]) == ()


def test_what_came_near_is_told_on_the_page_with_its_incidents() -> None:
    shelf = Shelf((_with_value(0.24),))
    html = get("/accuracy", parts(shelf)).text
    assert "(threshold 25\u00a0%), held 0 of 1 times" in html
    assert 'href="/incidents/8R5W"' in html
    assert "No value came within a tenth" in get("/accuracy", parts(Shelf(()))).text


# --- health


def test_health_has_a_line_for_each_thing_under_its_heading() -> None:
    lines = (
        HealthLine(name="Prometheus", state="answers", works=True, detail="41 ms", since=NOW),
        HealthLine(name="SSH", state="not configured", works=None, fix="set ssh.key"),
        HealthLine(name="Slack C1", state="refuses", works=False, section="Messages"),
    )
    html = get("/health", parts(health=lambda: lines)).text
    found = Page(html)
    assert "1 of 3 do not work" in found.text
    assert found.text.index("Backends") < found.text.index("SSH") < found.text.index("Messages")
    assert 'class="tone-done"' in html
    assert 'class="tone-work"' in html
    assert 'class="tone-bad"' in html
    assert "since 03:04 UTC" in found.text
    fine = get("/health", parts(health=lambda: lines[:1])).text
    assert "nothing is known to be wrong" in fine


def test_health_says_that_nothing_can_be_checked_without_a_backend() -> None:
    lines = tuple(
        HealthLine(
            name=name,
            state="not configured",
            works=None,
            effect="7 of 7 causes can't be checked",
            fix="set it",
        )
        for name in ("Prometheus", "Kubernetes", "SSH")
    )
    console = HealthLine(name="Console", state="takes messages", works=True, section="Messages")
    none = Page(get("/health", parts(health=lambda: (*lines, console))).text).text
    assert "3 backends not configured : nothing can be checked" in none
    assert "nothing is known to be wrong" not in none
    fine = HealthLine(name="Prometheus", state="answers", works=True)
    some = Page(get("/health", parts(health=lambda: (fine, *lines[1:], console))).text).text
    assert "2 backends not configured : some causes can't be checked" in some


def test_health_of_the_demo_says_that_answers_come_from_recordings() -> None:
    line = HealthLine(
        name="SSH", state="not configured", works=None, effect="7 can't be checked", fix="set it"
    )
    text = Page(get("/health", parts(health=lambda: (line,), recorded=True)).text).text
    assert "answers come from recordings" in text
    assert "SSH answers from a recording" in text
    assert "can't be checked" not in text


def test_backends_are_looked_at_before_the_page_tells() -> None:
    order: list[str] = []

    async def look() -> None:
        order.append("look")

    def tell() -> tuple[HealthLine, ...]:
        order.append("tell")
        return ()

    get("/health", parts(look=look, health=tell))
    assert order == ["look", "tell"]


def test_changes_that_are_stopped_are_told_on_every_page() -> None:
    given = parts(stopped=lambda: Stop(by="ana", at=NOW, why="game day"))
    for path in ("/incidents", "/incidents/8R5W", "/runbooks", "/accuracy", "/health"):
        assert "stopped by ana since 03:04 UTC" in Page(get(path, given).text).text


def test_a_database_that_is_gone_is_said_on_these_pages_too() -> None:
    shelf = Shelf(LISTED, down=True)
    for path in ("/runbooks/cpu-throttling", "/accuracy"):
        answer = get(path, parts(shelf))
        assert answer.status == 503
        assert "The database does not answer" in Page(answer.text).text
