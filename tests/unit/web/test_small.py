"""No page is over 70 kB as it is, and a reader that asks again gets only what changed."""

import re
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from tailhound.model import Asked, EvidenceStatus, Incident, Seen
from tailhound.model.incident import Happened
from tailhound.web.app import create_app
from tailhound.web.live import HAVE, had
from tailhound.web.paged import ROOM, paged
from tests.samples.incidents import CONFIRMED, LISTED
from tests.samples.recorded import NAMES, recorded
from tests.samples.story import NOW
from tests.unit.charts.samples import incident as charted
from tests.unit.web.asgi import request
from tests.unit.web.shelf import Shelf, parts
from tests.unit.web.walking import AT_MOST, over, pages_of

PODS = 10_000


def huge() -> Incident:
    """An incident of 10,000 pods, of which everything is as long as the product lets it be."""
    diagnosis = CONFIRMED.diagnosis
    assert diagnosis is not None
    long = 'sum by (pod) (rate(x{pod=~"' + "|".join(f"chat-{n:05}-<&>" for n in range(400)) + '"}))'
    asked = tuple(
        Asked(
            question=f"{n} {long}"[:4000],
            backend="prometheus",
            status=EvidenceStatus.COLLECTED,
            answer="<&>" * 130,
            detail="",
        )
        for n in range(500)
    )
    seen = tuple(
        Seen(name=f"cpu.x_{n}", value=float(n), unit="count", of="p" * 60) for n in range(PODS)
    )
    cause = diagnosis.causes[1]
    causes = tuple(
        replace(
            cause,
            runbook=f"cause-{n}",
            checks=tuple(replace(check, seen=seen[:200]) for check in cause.checks),
        )
        for n in range(60)
    )
    alert = CONFIRMED.alerts[0]
    alerts = tuple(
        replace(
            alert,
            fingerprint=str(n),
            labels={**alert.labels, "pod": f"chat-{n}"} | {f"l{k}": "<" * 300 for k in range(60)},
        )
        for n in range(PODS)
    )
    return replace(
        CONFIRMED,
        alerts=alerts[:40],
        timeline=tuple(
            Happened(at=NOW - timedelta(seconds=n), what=f"{n} " + "<" * 90) for n in range(200)
        ),
        diagnosis=replace(
            diagnosis,
            scope=f"{PODS} of {PODS} pods",
            causes=(*diagnosis.causes, *causes),
            evidence=(replace(diagnosis.evidence[0], asked=asked), *diagnosis.evidence[1:]),
        ),
    )


@pytest.mark.parametrize("name", NAMES)
def test_no_page_of_a_recorded_incident_is_over_70_kb(name: str) -> None:
    incident = recorded(name)
    found = pages_of(incident)
    assert len(found) > len(incident.diagnosis.causes if incident.diagnosis else ()) + 3
    assert over(found) == {}


@pytest.mark.parametrize("incident", [*LISTED, charted()], ids=lambda incident: incident.id)
def test_no_page_of_any_state_is_over_70_kb(incident: Incident) -> None:
    for path, html in pages_of(incident).items():
        assert len(html.encode()) < AT_MOST, path


def test_no_page_of_ten_thousand_pods_is_over_70_kb_and_no_question_or_alert_is_lost() -> None:
    incident = huge()
    found = pages_of(incident)
    assert over(found) == {}
    told = "".join(html for path, html in found.items() if "/evidence/cpu" in path)
    assert {int(n) for n in re.findall(r"<code>(\d+) sum by", told)} == set(range(500))
    listed = "".join(html for path, html in found.items() if "/alerts" in path)
    assert set(re.findall(r'id="alert-(\d+)"', listed)) == {str(n + 1) for n in range(40)}


def test_no_page_about_tailhound_itself_is_over_70_kb() -> None:
    many = tuple(
        replace(CONFIRMED, id=f"N{n}", received_at=NOW - timedelta(seconds=n)) for n in range(500)
    )
    app = create_app(parts(Shelf(many)))
    paths = ["/incidents?state=all&limit=500", "/runbooks", "/accuracy", "/health"]
    paths += [
        link for link in re.findall(r'href="(/runbooks/[^"]+)"', request(app, "/runbooks").text)
    ]
    assert len(paths) > 10
    sizes = {path: len(request(app, path).body) for path in paths}
    assert {path: size for path, size in sizes.items() if size > AT_MOST} == {}


def test_a_list_gives_at_least_one_item_however_large_and_tells_what_is_left() -> None:
    page = paged(["a" * 9 * ROOM, "b", "c"], 0, len)
    assert (page.items, page.left, page.next) == (["a" * 9 * ROOM], 2, 1)
    assert paged(["a", "b", "c"], 1, len).items == ["b", "c"]
    assert paged(["a"], 7, len).items == []


def asked_again(incident: Incident, shown: str, **changes: Any) -> str:
    """The page for somebody who holds the parts of `shown`."""
    have = " ".join(
        f"{id}={digest}"
        for id, digest in re.findall(r'id="([a-z-]+)"[^>]* data-live="(\w+)"', shown)
    )
    app = create_app(parts(Shelf((incident,)), **changes))
    return request(app, f"/incidents/{incident.id}", headers={HAVE: have}).text


def html_of(incident: Incident) -> str:
    return request(create_app(parts(Shelf((incident,)))), f"/incidents/{incident.id}").text


def test_who_has_a_part_gets_it_empty_and_only_what_changed_is_sent() -> None:
    before = html_of(CONFIRMED)
    same = asked_again(CONFIRMED, before)
    assert len(same) < 6_000 < len(before)
    assert re.search(r'<section id="timeline"[^>]*></section>', same)
    more = replace(CONFIRMED, timeline=(*CONFIRMED.timeline, Happened(at=NOW, what="a new line")))
    after = asked_again(more, before)
    assert "a new line" in after
    assert re.search(r'<section id="causes"[^>]*></section>', after)
    assert re.search(r'<div id="story"[^>]*></div>', after)


def test_that_time_passes_changes_no_part() -> None:
    later = asked_again(CONFIRMED, html_of(CONFIRMED), clock=lambda: NOW + timedelta(seconds=90))
    assert re.search(r'<header[^>]* id="head"[^>]*></header>', later)


@pytest.mark.parametrize(
    "header", ["", "=", "head", "head=<script>", "x=" * 9000, "causes=00 " * 99]
)
def test_a_header_that_is_no_such_list_gets_the_whole_page(header: str) -> None:
    app = create_app(parts(Shelf((CONFIRMED,))))
    answer = request(app, "/incidents/8R5W", headers={HAVE: header})
    assert answer.text == html_of(CONFIRMED)
    assert len(had(header)) <= 40


@pytest.mark.parametrize("start", ["-1", "1e3", "x", "9" * 30, "\u0663", "99999999"])
def test_a_place_that_is_none_shows_a_page_all_the_same(start: str) -> None:
    app = create_app(parts(Shelf((CONFIRMED,))))
    for address in ("alerts", "evidence/cpu"):
        assert request(app, f"/incidents/8R5W/{address}?from={start.encode().hex()}").status == 200
        assert request(app, f"/incidents/8R5W/{address}?from={start}").status == 200


def test_no_status_stands_on_a_page_as_the_program_calls_it() -> None:
    said = {status.word for status in EvidenceStatus}
    assert not said & {"skipped", "empty", "not-applicable", "unparsable", "collected"}
    for name in NAMES:
        for path, html in pages_of(recorded(name)).items():
            text = re.sub(r"<(code|samp)>.*?</\1>|<[^>]*>", " ", html, flags=re.S)
            assert not re.search(r"\b(skipped|unparsable|not-applicable|collected)\b", text), path
