"""The pages on a real database with five hundred incidents: filtered there, small, and fast."""

import re
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from starlette.applications import Starlette

from tailhound.store import records
from tailhound.store.accuracy import accuracy
from tailhound.store.counts import count
from tailhound.store.database import Database, open_database
from tailhound.store.incidents import IncidentReader
from tailhound.web.app import create_app
from tailhound.web.parts import Counts
from tests.samples.incidents import CONFIRMED, RESOLVED, UNKNOWN
from tests.samples.story import NOW
from tests.unit.web.asgi import Response, request
from tests.unit.web.shelf import parts

MANY = 500
IDS = re.compile(r'id="i-(\w+)"')


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Starlette]:
    database = open_database(f"sqlite:///{tmp_path_factory.mktemp('pages') / 'bot.db'}")
    fill(database)

    def counts() -> Counts:
        return Counts(incidents=count(database, NOW).incidents)

    given: dict[str, Any] = {
        "reader": IncidentReader.of(database),
        "counts": counts,
        "accuracy": lambda since: accuracy(database, since),
    }
    yield create_app(parts(**given))
    database.close()


def fill(database: Database) -> None:
    """One incident a minute, back from now; every third resolved, every third without a cause."""
    told = [
        replace(
            (CONFIRMED, UNKNOWN, RESOLVED)[n % 3],
            id=f"N{n:03}",
            key=f"workload:eu-1/llm/w-{n}",
            received_at=NOW - timedelta(minutes=n),
        )
        for n in range(MANY)
    ]
    with database.writing() as writing:
        plain = [records.Record(incident=replace(one, diagnosis=None)) for one in told]
        records.insert(writing, plain, NOW)
        for one in told:
            if one.diagnosis is not None:
                records.write_diagnosis(writing, one.id, one.diagnosis)


def get(app: Starlette, path: str) -> Response:
    answer = request(app, path, headers={"accept-encoding": "gzip"})
    assert answer.status == 200
    return answer


def shown(app: Starlette, path: str) -> list[str]:
    return IDS.findall(request(app, path).text)


def every(app: Starlette, path: str) -> list[str]:
    """The ids of a list and of all the pages behind it."""
    seen = []
    while path:
        html = request(app, path).text
        seen += IDS.findall(html)
        link = re.search(r'href="(/incidents\?[^"]+)">Older', html)
        path = link[1].replace("&amp;", "&") if link else ""
    return seen


def test_the_list_pages_through_all_of_them_and_loses_none(app: Starlette) -> None:
    assert every(app, "/incidents?state=all&limit=200") == [f"N{n:03}" for n in range(MANY)]


@pytest.mark.parametrize(
    ("query", "amount"),
    [
        ("state=open&limit=500", 334),
        ("state=resolved&limit=500", 166),
        ("state=all&cause=cpu-throttling&limit=500", 333),
        ("state=all&cause=gc-pause", 0),
        ("state=all&span=1h&limit=500", 61),
        ("state=all&workload=w-499", 1),
        ("state=all&workload=llm/w-49&limit=500", 11),
        ("state=open&span=1h&cause=cpu-throttling&limit=500", 21),
    ],
)
def test_every_filter_is_answered_by_the_database(app: Starlette, query: str, amount: int) -> None:
    assert len(every(app, f"/incidents?{query}")) == amount


@pytest.mark.parametrize(
    "path",
    [
        "/incidents",
        "/incidents?state=all&limit=500",
        "/incidents?state=all&cause=cpu-throttling&workload=w-4&span=30d",
        "/incidents/N300",
        "/incidents/N300/postmortem",
        "/runbooks/cpu-throttling",
        "/accuracy?days=365",
    ],
)
def test_a_page_over_five_hundred_incidents_is_small_and_takes_no_second(
    app: Starlette, path: str
) -> None:
    get(app, path)  # templates are compiled once per process
    started = time.process_time()
    answer = request(app, path)
    assert time.process_time() - started < 1.0
    assert answer.status == 200
    assert len(answer.body) < 70_000, "as it is, not only compressed"


def test_accuracy_and_the_last_incidents_of_a_runbook_come_from_the_database(
    app: Starlette,
) -> None:
    text = request(app, "/accuracy?days=365").text
    assert "500 incidents, 0 with feedback, in 365 days" in text
    assert re.search(r"CPU throttling</a></td>\s*<td[^>]*>333<", text)
    assert shown(app, "/runbooks/cpu-throttling") == [
        "N000", "N002", "N003", "N005", "N006", "N008", "N009", "N011", "N012", "N014",
    ]  # fmt: skip


def test_earlier_incidents_of_the_same_cause_are_found(app: Starlette) -> None:
    html = request(app, "/incidents/N300").text
    earlier = html[html.index('id="alike"') :]
    assert IDS.findall(earlier) == ["N302", "N303", "N305", "N306", "N308"]


def test_the_api_filters_as_the_page_does(app: Starlette) -> None:
    answer = get(app, "/api/incidents?cause=cpu-throttling&span=1h&limit=500")
    assert answer.headers["content-type"] == "application/json"
    assert request(app, "/api/incidents?span=1y").status == 400
