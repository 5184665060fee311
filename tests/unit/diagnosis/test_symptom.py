"""Which latency or share of failures is the symptom of an incident."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from tailhound.diagnosis.symptom import moved
from tailhound.diagnosis.symptom import shape_and_load as shape_and_load_of_rows
from tailhound.diagnosis.symptom import symptom_of as symptom_of_rows
from tailhound.model import Evidence, EvidenceStatus, Symptom
from tailhound.model.symptomless import LATENCY

NOW = 1_000_000.0


def symptom_of(
    found: Sequence[Evidence], slo: Mapping[str, float], usual: Sequence[float]
) -> Symptom | None:
    return symptom_of_rows(moved(found), slo, usual)


def shape_and_load(found: Sequence[Evidence], symptom: Symptom | None) -> tuple[str, str]:
    return shape_and_load_of_rows(found, moved(found), symptom)


def series(*values: float, until: float = NOW) -> tuple[dict[str, float], ...]:
    first = until - 60.0 * (len(values) - 1)
    return tuple({"at": first + 60.0 * at, "value": value} for at, value in enumerate(values))


FLAT = series(1, 1, 1, 1, 1, 1)


def latency(symptom: str, title: str, *values: float) -> dict[str, Any]:
    return {
        "symptom": symptom,
        "title": title,
        "seconds": values[-1],
        "usual_seconds": 1.0,
        "series": series(*values),
        "usual_series": FLAT,
    }


def failures(*values: float) -> dict[str, Any]:
    return {
        "source": "the ingress",
        "ratio": values[-1],
        "usual_ratio": 0.0,
        "series": series(*values),
        "usual_series": series(0, 0, 0, 0),
    }


def evidence(symptoms: Any = (), errors: Any = (), **facts: Any) -> list[Evidence]:
    return [
        Evidence(
            name="latency",
            collector=LATENCY,
            status=EvidenceStatus.COLLECTED,
            facts={"symptoms": tuple(symptoms), "errors": tuple(errors), **facts},
        )
    ]


def test_the_first_latency_that_left_its_band_is_the_symptom() -> None:
    found = symptom_of(
        evidence(
            [latency("ttft", "first token", 1, 1, 1, 1), latency("itl", "inter-token", 1, 9, 9, 9)],
            [failures(0, 0.5, 0.5, 0.5)],
        ),
        {"itl_mean_seconds": 2.0},
        (3600.0,),
    )
    assert found is not None
    assert (found.name, found.unit, found.value, found.slo) == (
        "inter-token mean",
        "seconds",
        9.0,
        2.0,
    )


def test_failures_are_the_symptom_where_latency_stayed() -> None:
    found = symptom_of(
        evidence([latency("ttft", "first token", 1, 1, 1, 1)], [failures(0, 0.5, 0.5, 0.5)]),
        {},
        (86400.0,),
    )
    assert found is not None
    assert (found.name, found.unit, found.value) == ("error share at the ingress", "ratio", 0.5)
    assert found.usual == 0.0
    assert found.usual_from == ("1 d",)


def test_half_of_the_growth_is_that_of_what_grew_last() -> None:
    found = symptom_of(
        evidence(
            [
                latency("ttft", "first token", 1, 5, 5, 5, 5, 5),
                latency("itl", "inter-token", 1, 1, 1, 9, 9, 9),
            ]
        ),
        {},
        (),
    )
    assert found is not None
    assert found.onset == datetime.fromtimestamp(NOW - 240, UTC)
    assert found.half_grown == datetime.fromtimestamp(NOW - 120, UTC)


def test_what_a_trigger_slowed_a_little_and_its_mechanism_much_is_half_grown_late() -> None:
    twice = latency("ttft", "first token", 1, 2, 2, 2, 2, 90, 95, 90, 95, 93)
    found = symptom_of(evidence([twice]), {}, ())
    assert found is not None
    assert found.onset == datetime.fromtimestamp(NOW - 480, UTC)
    assert found.half_grown == datetime.fromtimestamp(NOW - 240, UTC)


def test_a_latency_that_fell_and_one_without_a_usual_value_are_no_symptom() -> None:
    fell = latency("ttft", "first token", 1, 0.1, 0.1, 0.1)
    new = {**latency("itl", "inter-token", 1, 9, 9, 9), "usual_seconds": None}
    assert symptom_of(evidence([fell, new]), {}, ()) is None
    assert symptom_of([], {}, ()) is None


def test_records_that_are_none_are_left_out() -> None:
    assert symptom_of(evidence([3, None, {"title": "x"}], [{"ratio": "high"}]), {}, ()) is None


def test_load_is_told_by_arrivals() -> None:
    assert shape_and_load(evidence(requests_ratio=2.0), None) == ("", "up")
    assert shape_and_load(evidence(requests_ratio=0.5), None) == ("", "down")
    assert shape_and_load(evidence(), None) == ("", "")


def other(*rows: Any, collector: str = "prometheus.disk_io") -> Evidence:
    return Evidence(
        name="disk",
        collector=collector,
        status=EvidenceStatus.COLLECTED,
        facts={"symptoms": tuple(rows)},
    )


def test_a_slow_drive_is_the_symptom_where_no_request_is_measured() -> None:
    slow = latency("disk_write", "write wait", 1, 3, 3, 3)
    found = symptom_of([other(slow)], {}, (3600.0,))
    assert found is not None
    assert (found.name, found.value, found.usual) == ("write wait mean", 3.0, 1.0)
    assert found.onset == datetime.fromtimestamp(NOW - 120, UTC)
    assert shape_and_load([other(slow)], found) == ("", "")


def test_requests_come_before_the_drive_however_the_evidence_is_ordered() -> None:
    drive = other(latency("disk_write", "write wait", 1, 1, 1, 9, 9, 9))
    requests = evidence([latency("ttft", "first token", 1, 5, 5, 5, 5, 5)])
    for items in ([drive, *requests], [*requests, drive]):
        found = symptom_of(items, {}, ())
        assert found is not None
        assert found.name == "first token mean"
        assert found.half_grown == datetime.fromtimestamp(NOW - 240, UTC)


def test_failures_come_before_the_drive() -> None:
    drive = other(latency("disk_write", "write wait", 1, 9, 9, 9))
    found = symptom_of([drive, *evidence([], [failures(0, 0.5, 0.5, 0.5)])], {}, ())
    assert found is not None
    assert found.name == "error share at the ingress"


def test_a_drive_counts_where_requests_stayed_as_usual_and_not_when_it_got_faster() -> None:
    usual = evidence([latency("ttft", "first token", 1, 1, 1, 1)])
    slow, fast = (other(latency("disk_read", "read wait", 1, *at)) for at in ((9,) * 3, (0.1,) * 3))
    assert symptom_of([*usual, fast], {}, ()) is None
    found = symptom_of([*usual, slow], {}, ())
    assert found is not None
    assert found.name == "read wait mean"


def test_symptoms_of_another_evidence_that_are_none_are_left_out() -> None:
    assert symptom_of([other(3, None, {"title": "x"}, {"seconds": "slow"})], {}, ()) is None


COMB = [1.0] * 10 + ([5.0] * 4 + [1.0] * 4) * 4


def test_what_comes_and_goes_is_told_by_its_peak_and_as_a_comb() -> None:
    rows = evidence([latency("ttft", "first token", *COMB)])
    found = symptom_of(rows, {"ttft_mean_seconds": 2.0}, ())
    assert found is not None
    assert (found.name, found.value, found.unit) == (
        "first token mean at its peaks",
        5.0,
        "seconds",
    )
    assert (found.usual, found.slo) == (1.0, 2.0)
    assert found.onset == datetime.fromtimestamp(NOW - 60 * 31, UTC)
    assert shape_and_load(rows, found) == ("comb", "")


def test_what_stays_up_comes_before_what_comes_and_goes() -> None:
    rows = evidence(
        [latency("ttft", "first token", *COMB), latency("itl", "inter-token", 1, 9, 9, 9)]
    )
    found = symptom_of(rows, {}, ())
    assert found is not None
    assert found.name == "inter-token mean"


def test_failures_that_come_and_go_are_told_by_their_peak() -> None:
    shares = [0.0] * 10 + ([0.5] * 4 + [0.0] * 4) * 4
    found = symptom_of(evidence([], [failures(*shares)]), {}, ())
    assert found is not None
    assert (found.name, found.value, found.unit) == ("error share at the ingress", 0.5, "ratio")


def test_what_a_node_counts_is_the_symptom_where_no_latency_moved() -> None:
    row: dict[str, Any] = {
        "symptom": "node_starts",
        "title": "container creation errors",
        "unit": "per_second",
        "value": 0.2,
        "usual_value": 0.0,
        "series": series(0, 0, 0.2, 0.2, 0.2),
        "usual_series": series(0, 0, 0, 0),
    }
    node = Evidence(
        name="agent",
        collector="prometheus.node_agents",
        status=EvidenceStatus.COLLECTED,
        facts={"symptoms": (row,)},
    )
    quiet = evidence([latency("ttft", "first token", 1, 1, 1, 1)])
    found = symptom_of([*quiet, node], {}, ())
    assert found is not None
    assert (found.name, found.value, found.unit) == ("container creation errors", 0.2, "per_second")
    slow = evidence([latency("ttft", "first token", 1, 9, 9, 9)])
    found = symptom_of([node, *slow], {}, ())
    assert found is not None
    assert found.name == "first token mean"


def test_a_quantile_of_thin_traffic_keeps_how_many_requests_there_were() -> None:
    row = latency("ttft", "first token", 1, 9, 9, 9) | {
        "quantile": "p90",
        "quantile_seconds": 12.0,
        "quantile_usual_seconds": 1.5,
        "requests_count": 43.2,
    }
    found = symptom_of(evidence([row]), {}, ())
    assert found is not None
    assert (found.name, found.thin_requests) == ("first token p90", 43.2)
    assert found.history_seconds is None
    enough = symptom_of(evidence([row | {"requests_count": None}]), {}, ())
    assert enough is not None
    assert enough.thin_requests is None


def test_a_quantile_without_a_usual_value_is_told_with_the_age_of_its_series() -> None:
    row = latency("ttft", "first token", 1, 9, 9, 9) | {
        "quantile": "p99",
        "quantile_seconds": 12.0,
        "quantile_usual_seconds": None,
    }
    found = symptom_of(evidence([row]), {}, ())
    assert found is not None
    assert (found.usual, found.history_seconds) == (None, 180.0)
