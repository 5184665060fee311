"""How a drive behaves against its usual, by node_exporter's counters."""

from collections.abc import Mapping
from typing import Any

import pytest

from tailhound.flow import Read
from tailhound.model.facts import Sample
from tailhound.requests import Query, Ranged, RangeQuery
from tailhound_collectors.disk_io import DiskIo, DiskIoCollector, DiskParams
from tailhound_collectors.disk_rates import COUNTERS, DiskRow, device_of, worst
from tests.driving import EMPTY, TIMEOUT, drive, vector

Device = tuple[str, str]
Rates = Mapping[str, float]

USUAL: Rates = {
    "reads": 900,
    "read_time": 0.09,
    "read_bytes": 9e6,
    "writes": 20000,
    "write_time": 20.0,
    "written_bytes": 2e8,
    "queue": 20.09,
    "busy": 0.9,
    "discards": 0,
}
SLOW: Rates = {**USUAL, "writes": 10000, "write_time": 40.0, "queue": 40.1}
NVME, OTHER = ("db-1", "nvme0n1"), ("db-1", "sda")


def rates(devices: Mapping[Device, Rates]) -> Any:
    return vector(
        *(
            ({"nodename": node, "device": device, "what": what}, value)
            for (node, device), values in devices.items()
            for what, value in values.items()
        )
    )


class Prometheus:
    """Answers as a Prometheus would that holds these devices now and in the past."""

    def __init__(
        self,
        now: Mapping[Device, Rates],
        past: Mapping[Device, Rates] | None = None,
        around: Mapping[str, float] | None = None,
    ) -> None:
        self.now = now
        self.past = now if past is None else past
        self.around = around or {}
        self.asked: list[Read[Any]] = []

    def __call__(self, request: Read[Any]) -> Any:
        self.asked.append(request)
        if isinstance(request, RangeQuery):
            level = 0.004 if request.end_ago == 0 else 0.001
            return (Ranged((), (Sample(1.0, level), Sample(2.0, level))),)
        assert isinstance(request, Query)
        if "label_replace" in request.promql:
            devices = self.past if request.ago else self.now
            return rates(devices) if devices else EMPTY
        for part, value in self.around.items():
            if part in request.promql and bool(request.ago) == part.startswith("(node_disk"):
                return vector(({}, value))
        return EMPTY


def collected(prometheus: Any, device: str = "", nodes: tuple[str, ...] = ("db-1",)) -> DiskIo:
    return drive(DiskIoCollector().collect(DiskParams(nodes=nodes, device=device)), prometheus)


def test_the_drive_that_slowed_down_most_is_compared_with_its_usual() -> None:
    facts = collected(Prometheus({NVME: SLOW, OTHER: USUAL}, {NVME: USUAL, OTHER: USUAL}))
    assert (facts.node, facts.device, facts.named_by_alert) == ("db-1", "nvme0n1", False)
    assert (facts.write_seconds, facts.write_seconds_usual) == (0.004, 0.001)
    assert facts.write_seconds_ratio == pytest.approx(4.0)
    assert facts.read_seconds_ratio == pytest.approx(1.0)
    assert (facts.slow_kind, facts.slow_seconds) == ("write", 0.004)
    assert facts.slow_seconds_ratio == pytest.approx(4.0)
    assert facts.requests_ratio == pytest.approx(10900 / 20900)
    assert facts.bytes_ratio == 1.0
    assert facts.queue_ratio == pytest.approx(40.1 / 20.09)
    assert (facts.drives_count, facts.slow_drives_count) == (2, 1)
    assert facts.trim_seconds_per_second == 0.0


def test_the_slow_wait_is_a_symptom_with_its_history_and_the_other_is_none() -> None:
    facts = collected(Prometheus({NVME: SLOW}, {NVME: USUAL}))
    assert facts.symptoms is not None
    assert [(row.symptom, row.title) for row in facts.symptoms] == [("disk_write", "write wait")]
    assert facts.symptoms[0].series == (Sample(1.0, 0.004), Sample(2.0, 0.004))
    assert facts.slow_seconds_series == facts.symptoms[0].series
    assert facts.slow_seconds_usual_series is not None
    assert {sample.value for sample in facts.slow_seconds_usual_series} == {0.001}


def test_a_drive_as_fast_as_usual_is_no_symptom() -> None:
    facts = collected(Prometheus({NVME: USUAL}))
    assert facts.symptoms is None
    assert facts.slow_seconds_ratio == 1.0
    assert facts.slow_drives_count == 0


def test_both_waits_are_symptoms_the_one_that_grew_most_first() -> None:
    both = {**SLOW, "read_time": 0.9}
    facts = collected(Prometheus({NVME: both}, {NVME: USUAL}))
    assert facts.symptoms is not None
    assert [row.symptom for row in facts.symptoms] == ["disk_read", "disk_write"]
    assert facts.slow_kind == "read"


@pytest.mark.parametrize("label", ["sda", "/dev/sda", "/dev/sda2", " sda "])
def test_the_device_that_the_alert_names_is_taken_even_when_another_is_slower(label: str) -> None:
    prometheus = Prometheus({NVME: SLOW, OTHER: USUAL}, {NVME: USUAL, OTHER: USUAL})
    facts = collected(prometheus, label)
    assert (facts.device, facts.named_by_alert) == ("sda", True)
    assert facts.slow_drives_count == 1


def test_a_named_device_is_looked_at_on_the_node_where_it_slowed_down() -> None:
    now = {("db-2", "nvme0n1"): SLOW, NVME: USUAL}
    past = {("db-2", "nvme0n1"): USUAL, NVME: USUAL}
    facts = collected(Prometheus(now, past), "nvme0n1", ("db-1", "db-2"))
    assert facts.node == "db-2"


def test_slow_drives_are_counted_on_the_same_node_only() -> None:
    now = {("db-2", "nvme0n1"): SLOW, NVME: SLOW}
    past = {("db-2", "nvme0n1"): USUAL, NVME: USUAL}
    assert collected(Prometheus(now, past), "", ("db-1", "db-2")).slow_drives_count == 1


def test_a_device_that_nobody_knows_is_not_measured() -> None:
    assert collected(Prometheus({NVME: SLOW}), "nvme9n1") == DiskIo()


def test_a_hostile_device_label_is_taken_for_none_and_never_gets_into_a_query() -> None:
    prometheus = Prometheus({NVME: SLOW}, {NVME: USUAL})
    facts = collected(prometheus, 'x"} or up{job=~".*')
    assert facts.named_by_alert is False
    assert all("up{" not in request.shown for request in prometheus.asked)


def test_a_device_name_is_quoted_in_every_query() -> None:
    prometheus = Prometheus({("db-1", "dm-0"): SLOW}, {("db-1", "dm-0"): USUAL})
    assert collected(prometheus, "dm-0").device == "dm-0"
    assert any("|dm-0" in request.shown for request in prometheus.asked)


def test_below_a_request_a_second_a_mean_says_nothing() -> None:
    quiet = {**USUAL, "reads": 0.4, "read_time": 0.2}
    facts = collected(Prometheus({NVME: quiet}, {NVME: USUAL}))
    assert facts.read_seconds is None
    assert facts.read_seconds_ratio is None


def test_a_drive_without_a_past_has_no_growth() -> None:
    facts = collected(Prometheus({NVME: SLOW}, {}))
    assert facts.write_seconds == 0.004
    assert facts.write_seconds_ratio is None
    assert (facts.slow_seconds_ratio, facts.slow_kind, facts.slow_drives_count) == (
        None,
        None,
        None,
    )


def test_what_is_written_is_compared_by_itself() -> None:
    written = {**SLOW, "written_bytes": 1e8, "read_bytes": 1.09e8}
    facts = collected(Prometheus({NVME: written}, {NVME: USUAL}))
    assert facts.bytes_ratio == 1.0
    assert facts.written_bytes_per_second_usual == 2e8
    assert facts.written_bytes_ratio == 0.5


def test_a_usual_of_zero_gives_no_growth() -> None:
    idle = {**USUAL, "writes": 0.0, "write_time": 0.0, "queue": 0.0}
    facts = collected(Prometheus({NVME: SLOW}, {NVME: idle}))
    assert facts.write_seconds_ratio is None
    assert facts.queue_ratio is None


def test_what_lies_around_the_drive_is_read() -> None:
    around = {
        "(increase(node_disk_discards": 0.0,
        "(node_disk_discards": 9.0,
        "node_filesystem": 0.93,
        "node_hwmon_temp_celsius": 44.0,
        "node_hwmon_temp_max": 74.85,
        "hwmon": 0.004,
    }
    facts = collected(Prometheus({NVME: SLOW}, {NVME: USUAL}, around))
    assert facts.discards_count == 0.0
    assert facts.filesystem_used_ratio == 0.93
    assert (facts.temperature_celsius, facts.temperature_limit_celsius) == (44.0, 74.85)
    assert facts.sensor_read_seconds == 0.004


def test_without_a_discard_counter_a_week_ago_nobody_knows_about_discards() -> None:
    facts = collected(
        Prometheus({NVME: SLOW}, {NVME: USUAL}, {"(increase(node_disk_discards": 0.0})
    )
    assert facts.discards_count is None


def test_a_sensor_without_a_limit_has_none() -> None:
    around = {"node_hwmon_temp_celsius": 44.0, "node_hwmon_temp_max": 65261.85}
    assert collected(Prometheus({NVME: SLOW}, None, around)).temperature_limit_celsius is None


def test_a_trim_is_timed_and_unknown_where_the_kernel_does_not_count() -> None:
    trimming = {**SLOW, "discards": 400, "discard_time": 0.6}
    assert collected(Prometheus({NVME: trimming})).trim_seconds_per_second == 0.6
    old = {key: value for key, value in SLOW.items() if key != "discards"}
    assert collected(Prometheus({NVME: old})).trim_seconds_per_second is None


def test_a_missing_counter_is_not_zero() -> None:
    some = {key: value for key, value in SLOW.items() if key not in ("read_bytes", "queue")}
    facts = collected(Prometheus({NVME: some}, {NVME: USUAL}))
    assert (facts.bytes_per_second, facts.bytes_ratio) == (None, None)
    assert (facts.queue_count, facts.queue_ratio) == (None, None)


@pytest.mark.parametrize("silence", [EMPTY, TIMEOUT])
def test_without_an_answer_nothing_is_measured(silence: Any) -> None:
    assert collected(lambda request: silence) == DiskIo()


def test_all_counters_of_a_moment_are_one_question() -> None:
    prometheus = Prometheus({NVME: SLOW}, {NVME: USUAL})
    collected(prometheus)
    first = [request for request in prometheus.asked if "label_replace" in request.shown]
    assert len(first) == 4
    assert all(name in first[0].shown for name in COUNTERS.values())


@pytest.mark.parametrize(
    ("label", "device"),
    [
        ("nvme0n1", "nvme0n1"),
        ("/dev/nvme12n3p15", "nvme12n3"),
        ("sdb1", "sdb"),
        ("xvda1", "xvda"),
        ("dm-3", "dm-3"),
        ("md0", "md0"),
        ("", ""),
        ("/dev/mapper/vg-lv", ""),
        ("../../etc", ""),
        ("nvme0n1\n", "nvme0n1"),
        ("a" * 80, ""),
    ],
)
def test_a_label_names_a_drive_or_none(label: str, device: str) -> None:
    assert device_of(label) == device


def test_without_any_growth_the_busiest_drive_is_looked_at() -> None:
    idle = DiskRow(node="n", device="sda", requests_per_second=1.0)
    busy = DiskRow(node="n", device="sdb", requests_per_second=9.0)
    assert worst([idle, busy]) is busy
    assert worst([]) is None
