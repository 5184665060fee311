"""The parts of the benchmarks. tests/lab/test_benchmarks.py runs those that start servers."""

import json
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from benchmarks import __main__ as command
from benchmarks import questions, rules, storm
from benchmarks.bodies import LOADS
from benchmarks.load import Order, send
from benchmarks.processes import BenchmarkFailed, Child, wait_until
from benchmarks.rows import Row, as_json, machine, number, show
from benchmarks.site import rows_in, site
from benchmarks.sizes import FULL, QUICK, Sizes
from benchmarks.stats import percentile
from benchmarks.wire import Incoming, answer, request
from tailhound import app
from tailhound.rules.judge import judge
from tailhound.settings import Settings
from tailhound.shipped import shipped
from tailhound.sources.alertmanager import read_group

TINY = Sizes(judged=2)


def row(value: float = 500.0, probe: float = 1000.0, better: str = "more") -> Row:
    return Row(
        benchmark="intake",
        name="repeats",
        value=value,
        unit="requests/s",
        probe=probe,
        better="less" if better == "less" else "more",
        how="as described",
    )


def test_the_share_of_the_probe_is_one_when_both_are_as_good() -> None:
    assert row(500, 1000).share == 0.5
    assert row(10, 5, "less").share == 0.5
    assert row(1000, 1000).share == row(7, 7, "less").share == 1.0
    assert row(0, 5, "less").share is None
    assert row(5, 0).share is None


def test_numbers_keep_three_digits() -> None:
    shown = [number(value) for value in (0.0, 0.00177, 1.306, 38.14, 2412.4, 12303.0)]
    assert shown == ["0", "0.00177", "1.31", "38.1", "2,412", "12,303"]


def test_the_table_shows_the_value_beside_its_probe() -> None:
    out = StringIO()
    show([row()], machine(), Console(file=out, width=140))
    for text in (
        f"{machine()['cores']} cores",
        "intake: repeats",
        "500",
        "1,000",
        "0.50",
        "requests/s",
        "as described",
    ):
        assert text in out.getvalue()


def test_json_has_every_field_and_the_machine() -> None:
    said = json.loads(as_json([row()], machine()))
    assert set(said["machine"]) == {"cores", "load", "python", "sqlite"}
    assert said["rows"][0]["share"] == 0.5
    assert said["rows"][0]["probe"] == 1000.0


def test_a_percentile_is_one_of_the_values() -> None:
    values = [5.0, 1.0, 4.0, 2.0, 3.0]
    assert [percentile(values, share) for share in (0.0, 0.5, 0.95, 1.0)] == [1.0, 3.0, 5.0, 5.0]
    with pytest.raises(ValueError, match="no value"):
        percentile([], 0.5)


@pytest.mark.parametrize("name", LOADS)
def test_a_load_makes_the_incidents_that_its_name_says(name: str) -> None:
    load = LOADS[name]
    groups = [read_group(load.body(serial)) for serial in range(32)]
    alerts = [alert for group in groups for alert in group.alerts]
    workloads = {alert.labels["deployment"] for alert in alerts}
    assert len(alerts) == 32
    assert len({alert.fingerprint for alert in alerts}) == (32 if load.alerts_per_incident else 8)
    assert len(workloads) == (32 // load.alerts_per_incident if load.alerts_per_incident else 1)


def test_messages_are_whole_however_the_bytes_come() -> None:
    sent = request("POST", "/webhook", b'{"a": 1}') + answer(b"{}", "503 Busy")
    incoming = Incoming()
    found = [message for byte in sent for message in incoming.feed(bytes([byte]))]
    assert [message.body for message in found] == [b'{"a": 1}', b"{}"]
    assert found[0].path == "/webhook"
    assert found[1].status == 503
    assert Incoming().feed(sent) == found


def test_the_bare_server_has_each_new_body_on_disk_and_a_repeat_once(tmp_path: Path) -> None:
    database = tmp_path / "bare.db"
    with Child(["-m", "benchmarks.bare", str(database)], tmp_path / "log") as bare:
        address = bare.address()
        repeats = send(address, Order(load="repeats", count=40))
        assert (repeats.sent, repeats.failed) == (40, 0)
        known = rows_in(database, "body")
        assert 8 <= known <= 16  # two connections may bring the same body at once
        send(address, Order(load="each its own incident", first=100, count=40))
        assert rows_in(database, "body") == known + 40


def test_a_paced_load_takes_its_time(tmp_path: Path) -> None:
    with Child(["-m", "benchmarks.bare", str(tmp_path / "bare.db")], tmp_path / "log") as bare:
        order = Order(load="repeats", count=20, per_second=50)
        assert send(bare.address(), order).seconds >= 19 / 50


def test_a_child_that_fails_is_told_with_what_it_printed(tmp_path: Path) -> None:
    with (
        Child(["-c", "raise SystemExit('no such thing')"], tmp_path / "log") as child,
        pytest.raises(BenchmarkFailed, match="no such thing"),
    ):
        child.address()
    with pytest.raises(BenchmarkFailed, match="the moon: not within"):
        wait_until(lambda: False, "the moon", 0.01)


def test_no_child_outlives_its_benchmark(tmp_path: Path) -> None:
    with Child(["-m", "benchmarks.backends"], tmp_path / "log") as child:
        child.address()
        assert child.memory() > 1
        pid = child.pid
    assert not Path(f"/proc/{pid}").exists()


def test_the_rules_are_measured_beside_plain_comparisons() -> None:
    rows = list(rules.run(TINY))
    assert all(one.value > one.probe > 0 for one in rows)
    assert "cpu-throttling" in rows[0].details


def test_the_plain_comparisons_find_what_the_rules_find_where_all_was_measured() -> None:
    whole = app.compiled(Settings())
    had = rules.collected(app.recorded(shipped("demo") / rules.RECORDING), whole)
    decided = [
        (check.claim, check.truth.value == "true", bool(value))
        for book in whole.runbooks
        for check, value in zip(
            judge(book, had.facts[book.id]).checks, rules.plainly(book, had)(), strict=True
        )
        if check.truth.value != "unknown" and value is not None
    ]
    assert len(decided) >= 7  # those of cpu-throttling, which the recording is about
    assert [one for one in decided if one[1] is not one[2]] == []


def test_an_incident_asks_twenty_questions_in_the_groups_that_the_probe_waits_for() -> None:
    groups = questions.waves()
    assert sum(groups) == questions.READS
    assert len(groups) >= 2


def test_quick_leaves_the_storm_out() -> None:
    assert list(storm.run(QUICK)) == []
    assert (FULL.storm_alerts, FULL.storm_seconds) == (10_000, 60.0)


def test_the_command_prints_json_and_fails_when_a_benchmark_fails(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_sizes: Sizes) -> list[Row]:
        raise BenchmarkFailed("the disk is full")

    def defective(_sizes: Sizes) -> list[Row]:
        return [row(value=float("no number"))]

    found = {"defective": defective, "bad": broken, "good": lambda _sizes: [row()]}
    monkeypatch.setattr(command, "BENCHMARKS", found)
    assert command.main(["--json", "good"]) == 0
    assert json.loads(capsys.readouterr().out)["rows"][0]["value"] == 500.0
    assert command.main(["--width", "120"]) == 1
    said = capsys.readouterr()
    assert "intake: repeats" in said.out
    assert "bad: the disk is full" in said.err
    assert "could not convert string to float" in said.err


def test_every_site_has_a_folder_of_its_own_that_goes_away() -> None:
    with site() as one, site() as other:
        assert one.folder != other.folder
        assert one.config.is_file()
    assert not one.folder.exists()
