"""The JSON routes, the probes and the metrics."""

import json
import math

import pytest

from tailhound.diagnosis.report import as_json
from tailhound.errors import StoreUnavailable
from tailhound.model import State
from tailhound.web.app import create_app
from tailhound.web.parts import Parts
from tests.samples.hostile import HOSTILE, hostile
from tests.samples.incidents import CONFIRMED, FAILED, LISTED
from tests.unit.web.asgi import Response, request
from tests.unit.web.shelf import Shelf, parts


def get(path: str, given: Parts | None = None) -> Response:
    return request(create_app(given or parts()), path)


def test_one_incident_is_exactly_the_report() -> None:
    answer = get("/api/incidents/8R5W")
    assert answer.status == 200
    assert answer.headers["content-type"] == "application/json"
    assert json.loads(answer.text) == json.loads(json.dumps(as_json(CONFIRMED)))


def test_a_number_that_json_has_no_word_for_is_null() -> None:
    given = parts(as_json=lambda _incident: {"seen": [math.nan, {"x": math.inf}], "ok": 1.5})
    assert json.loads(get("/api/incidents/8R5W", given).text) == {
        "seen": [None, {"x": None}],
        "ok": 1.5,
    }


@pytest.mark.parametrize("id", ["XXXX", "..%2f..%2fetc", "a" * 99, "%00", "<script>"])
def test_an_unknown_incident_is_404_in_json(id: str) -> None:
    answer = get(f"/api/incidents/{id}")
    assert answer.status == 404
    assert "error" in json.loads(answer.text)


def test_the_list_has_all_states_newest_first() -> None:
    listed = json.loads(get("/api/incidents").text)
    assert listed["next"] is None
    assert [line["incident"] for line in listed["incidents"]][:2] == ["7F3K", "8R5W"]
    found = listed["incidents"][1]
    assert found["headline"] == "Cause found: the CPU limit stops the engine"
    assert found["primary"] == "cpu-throttling"
    assert found["confidence"] == "high"
    assert found["since"] == "2026-11-30T03:00:00Z"
    assert found["url"] == "/incidents/8R5W"


def test_the_list_is_filtered_by_state_and_text() -> None:
    listed = json.loads(get("/api/incidents?state=diagnosed&text=DB-1").text)
    assert [line["incident"] for line in listed["incidents"]] == ["2H8D"]


def test_pages_follow_each_other_without_a_gap() -> None:
    seen: list[str] = []
    query = "limit=3"
    while query:
        page = json.loads(get(f"/api/incidents?{query}").text)
        seen += [line["incident"] for line in page["incidents"]]
        query = page["next"]
    assert len(seen) == len(LISTED)
    assert set(seen) == {incident.id for incident in LISTED}


@pytest.mark.parametrize(
    "query",
    ["state=happy", "limit=x", "limit=-1", "limit=%C2%B2", "before=yesterday", "before=2026-11-30"],
)
def test_a_parameter_that_is_not_understood_is_400_and_says_what_may_be(query: str) -> None:
    answer = get(f"/api/incidents?{query}")
    assert answer.status == 400
    assert query.split("=", maxsplit=1)[0] in json.loads(answer.text)["error"]


def test_a_limit_is_capped() -> None:
    assert get("/api/incidents?limit=99999").status == 200


def test_while_the_database_is_gone_the_api_says_503() -> None:
    for path in ("/api/incidents", "/api/incidents/8R5W", "/api/stream"):
        answer = get(path, parts(Shelf(down=True)))
        assert answer.status == 503
        assert json.loads(answer.text) == {"error": "tailhound.db is locked"}


def test_unknown_api_paths_and_methods_answer_in_json() -> None:
    assert json.loads(get("/api/nothing").text) == {"error": "not found"}
    answer = request(create_app(parts()), "/api/incidents", method="DELETE")
    assert answer.status == 405
    assert answer.headers["allow"]


def test_healthz_answers_while_the_database_is_gone() -> None:
    assert get("/healthz", parts(Shelf(down=True))).status == 200


def test_readyz_lists_why_it_is_not_ready() -> None:
    assert get("/readyz").text == "ready\n"
    answer = get("/readyz", parts(not_ready=lambda: ["the engine has not started"]))
    assert (answer.status, answer.text) == (503, "the engine has not started\n")


def test_readyz_is_503_when_its_question_is_not_answered() -> None:
    def refuse() -> list[str]:
        raise StoreUnavailable("tailhound.db is locked")

    answer = get("/readyz", parts(not_ready=refuse))
    assert (answer.status, answer.text) == (503, "tailhound.db is locked\n")


def test_readyz_reads_the_database() -> None:
    answer = get("/readyz", parts(Shelf(down=True)))
    assert (answer.status, answer.text) == (503, "tailhound.db is locked\n")


def test_metrics_tell_verdicts_evidence_queues_and_the_process() -> None:
    given = parts()
    given.metrics.decided(CONFIRMED)
    given.metrics.decided(FAILED)
    given.metrics.first_post(0.08)
    given.metrics.unreadable()
    answer = get("/metrics", given)
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    lines = answer.text.splitlines()
    assert 'tailhound_verdicts_total{outcome="cause found"} 1.0' in lines
    assert 'tailhound_verdicts_total{outcome="failed"} 1.0' in lines
    assert 'tailhound_evidence_total{status="empty"} 2.0' in lines
    assert "tailhound_diagnosis_seconds_sum 7.8" in lines
    assert "tailhound_first_post_seconds_count 1.0" in lines
    assert "tailhound_bodies_unreadable_total 1.0" in lines
    assert 'tailhound_incidents{state="diagnosed"} 4.0' in lines
    assert "tailhound_outbox_waiting 3.0" in lines
    assert "tailhound_store_up 1.0" in lines
    assert any(line.startswith("process_resident_memory_bytes ") for line in lines)


def test_a_database_that_is_gone_shows_as_such_and_old_gauges_are_not_repeated() -> None:
    shelf = Shelf()
    app = create_app(parts(shelf))
    assert "tailhound_store_up 1.0" in request(app, "/metrics").text
    shelf.down = True
    lines = request(app, "/metrics").text.splitlines()
    assert "tailhound_store_up 0.0" in lines
    assert "tailhound_outbox_waiting NaN" in lines
    assert not any(line.startswith("tailhound_incidents{") for line in lines)


def test_every_answer_carries_the_security_headers() -> None:
    app = create_app(parts())
    for path in (
        "/incidents",
        "/incidents/8R5W",
        "/api/incidents",
        "/healthz",
        "/nope",
        "/metrics",
    ):
        headers = request(app, path).headers
        assert headers["content-security-policy"].startswith("default-src 'none'; style-src 'self'")
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["cache-control"] == "no-store"


def test_hostile_text_stays_text_in_json() -> None:
    listed = json.loads(get("/api/incidents", parts(Shelf((hostile(),)))).text)
    assert "\u202e" not in listed["incidents"][0]["subject"]
    one = get("/api/incidents/BAD1", parts(Shelf((hostile(),))))
    assert HOSTILE in json.loads(one.text)["alerts"][0]["labels"].values()
    assert one.headers["content-type"] == "application/json"


def test_counts_of_all_states_are_known_to_the_gauges() -> None:
    text = get("/metrics").text
    assert all(f'tailhound_incidents{{state="{state.value}"}}' in text for state in State)
