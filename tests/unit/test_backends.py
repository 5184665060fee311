"""The health page's lines about backends, about what came in, and about tailhound itself."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from tailhound import __version__
from tailhound.app.arrivals import Arrivals
from tailhound.app.backends import HOSTS_SHOWN, Needs, backend_lines, kind_of
from tailhound.app.board import Mood, Standing
from tailhound.app.health import own_lines, replica_lines
from tailhound.durable.replicas import Peer
from tailhound.model import AlertGroup, AlertStatus, State
from tailhound.model.wording import NBSP
from tailhound.settings import Secret, Settings
from tailhound.web.parts import Counts, HealthLine, Stop
from tests.samples.story import alert
from tests.unit.test_board import Clock
from tests.unit.web.shelf import Books

NOW = datetime(2026, 11, 30, 3, 0, tzinfo=UTC)
NEEDS = Needs(14, {"prometheus": 11, "kubernetes": 5, "ssh": 2})
ALL = Settings.model_validate(
    {
        "prometheus": {"url": "http://prometheus.example:9090"},
        "kubernetes": {"in_cluster": True},
        "ssh": {"key": Secret(env="KEY"), "hosts": {"db-1": {}}},
    }
)


def at(backend: str, mood: Mood = Mood.ANSWERS, **changes: object) -> Standing:
    """A backend that was asked five seconds ago."""
    values = {"since": NOW - timedelta(hours=1), "at": NOW - timedelta(seconds=5)}
    return Standing(backend=backend, mood=mood, **(values | changes))  # type: ignore[arg-type]


def plain(found: Iterable[HealthLine]) -> list[HealthLine]:
    """The lines with plain spaces between numbers and units."""
    return [
        replace(line, state=line.state.replace(NBSP, " "), detail=line.detail.replace(NBSP, " "))
        for line in found
    ]


def lines(*standings: Standing, settings: Settings = ALL) -> dict[str, HealthLine]:
    return {line.name: line for line in plain(backend_lines(standings, settings, NEEDS, NOW))}


def test_one_that_answers_tells_how_fast_and_when_it_was_asked() -> None:
    line = lines(at("prometheus", seconds=0.041))["Prometheus"]
    assert (line.state, line.works) == ("answers", True)
    assert line.detail == "41 ms, asked 5 s ago"
    assert (line.effect, line.fix) == ("", "")


def test_one_that_is_silent_tells_what_is_lost_and_what_to_do() -> None:
    silent = at("prometheus", Mood.SILENT, detail="prometheus:9090 sent nothing for 10 s.")
    line = lines(silent)["Prometheus"]
    assert (line.state, line.works) == ("does not answer in time", False)
    assert line.detail == "prometheus:9090 sent nothing for 10 s; asked 5 s ago"
    assert line.effect == "11 of 14 causes can't be checked"
    assert line.fix.startswith("check that it is up")
    assert line.since == NOW - timedelta(hours=1)


def test_the_fix_that_a_backend_names_comes_before_ours() -> None:
    told = "may not list events in prod. Fix: kubectl apply -f deploy/rbac/read.yaml"
    line = lines(at("kubernetes", refused=(told,)))["Kubernetes"]
    assert (line.state, line.works) == ("answers, and refuses some questions", False)
    assert line.effect == "what it refused stays unknown: may not list events in prod"
    assert line.fix == "kubectl apply -f deploy/rbac/read.yaml"


def test_what_is_not_configured_and_what_nobody_asked_is_neither_good_nor_bad() -> None:
    nothing = lines(settings=Settings())
    assert [line.state for line in nothing.values()] == ["not configured"] * 3
    assert [line.works for line in nothing.values()] == [None] * 3
    assert nothing["Prometheus"].fix == "set prometheus.url"
    assert nothing["Kubernetes"].effect == "5 of 14 causes can't be checked"
    asked = lines()
    assert [line.state for line in asked.values()] == ["not asked yet"] * 3


def test_hosts_are_one_line_and_those_in_trouble_one_each_up_to_a_few() -> None:
    ill = [at(f"ssh h-{n:02}", Mood.GONE, detail="no route") for n in range(20)]
    found = backend_lines([at("ssh db-1"), *ill], ALL, NEEDS, NOW)[2:]
    assert (found[0].state, found[0].works) == ("1 of 21 hosts answers", False)
    assert found[0].effect == "2 of 14 causes can't be checked on the others"
    assert len(found) == 1 + HOSTS_SHOWN + 1
    assert found[1].name == "SSH to h-00"
    assert found[-1].state == "+ 12 more hosts in trouble"
    well = backend_lines([at("ssh db-1")], ALL, NEEDS, NOW)[2:]
    assert [(line.state, line.works) for line in well] == [("1 of 1 host answers", True)]


def test_needs_are_counted_over_the_runbooks_that_are_active() -> None:
    found = Needs.of(Books().runbooks)
    assert found.by_backend["prometheus"] == found.causes
    assert 0 < found.by_backend["ssh"] < found.causes
    assert kind_of("promql cold-start.queue") == "prometheus"
    assert kind_of("kubernetes.container") == "kubernetes"


def group(*names: str, status: AlertStatus = AlertStatus.FIRING) -> AlertGroup:
    alerts = tuple(replace(alert(alertname=name), status=status) for name in names)
    return AlertGroup(group_key="g", receiver="tailhound", alerts=alerts)


def test_the_dead_mans_switch_is_unknown_at_first_then_seen_then_missed() -> None:
    clock = Clock(NOW)
    arrivals = Arrivals(clock)
    last, watchdog = plain(arrivals.lines())
    assert (last.works, watchdog.works) == (None, None)
    assert watchdog.state == "no Watchdog yet"
    arrivals.note(group("LLMDHighTTFT"))
    clock.forward(seconds=22)
    last, watchdog = plain(arrivals.lines())
    assert (last.works, last.state) == (True, "22 s ago")
    assert watchdog.works is None
    arrivals.note(group("Watchdog"))
    clock.forward(minutes=5)
    assert plain(arrivals.lines())[1].state == "Watchdog seen 5 min ago"
    clock.forward(minutes=35)
    arrivals.heard_anywhere(arrivals.switch_seen)
    _, watchdog = plain(arrivals.lines())
    assert (watchdog.works, watchdog.state) == (False, "no Watchdog for 40 min")
    assert watchdog.fix.startswith("route the alert Watchdog")


def test_a_watchdog_that_never_came_is_told_after_a_while_as_not_known() -> None:
    clock = Clock(NOW)
    arrivals = Arrivals(clock)
    clock.forward(minutes=20)
    arrivals.note(group("Watchdog", status=AlertStatus.RESOLVED))
    arrivals.heard_anywhere(None)
    _, watchdog = plain(arrivals.lines())
    assert (watchdog.works, watchdog.state) == (None, "no Watchdog for 20 min")
    assert watchdog.effect


def test_a_watchdog_that_another_replica_sees_works() -> None:
    clock = Clock(NOW)
    arrivals = Arrivals(clock)
    arrivals.note(group("Watchdog"))
    clock.forward(minutes=40)
    arrivals.heard_anywhere(clock() - timedelta(minutes=4))
    _, watchdog = plain(arrivals.lines())
    assert (watchdog.works, watchdog.state) == (True, "Watchdog seen 4 min ago")
    assert watchdog.detail == "not by this process"


def test_while_the_database_does_not_tell_nobody_knows_whether_a_watchdog_comes() -> None:
    clock = Clock(NOW)
    arrivals = Arrivals(clock)
    arrivals.note(group("Watchdog"))
    arrivals.heard_anywhere(NOW)
    clock.forward(minutes=40)
    _, watchdog = plain(arrivals.lines())
    assert (watchdog.works, watchdog.state) == (None, "no Watchdog for 40 min")
    assert "the database does not tell" in watchdog.detail
    assert watchdog.fix == ""


def test_after_a_restart_a_watchdog_of_long_ago_is_given_the_time_of_a_repeat() -> None:
    clock = Clock(NOW)
    arrivals = Arrivals(clock)
    arrivals.heard_anywhere(NOW - timedelta(hours=2))
    _, watchdog = plain(arrivals.lines())
    assert (watchdog.works, watchdog.state) == (None, "Watchdog seen 2 h ago")
    assert watchdog.detail.startswith("not by this process, which runs since ")
    clock.forward(minutes=16)
    arrivals.heard_anywhere(NOW - timedelta(hours=2))
    assert plain(arrivals.lines())[1].works is False


def test_in_the_first_minutes_a_database_that_says_nothing_is_told_as_such() -> None:
    clock = Clock(NOW)
    arrivals = Arrivals(clock)
    _, watchdog = plain(arrivals.lines())
    assert (watchdog.works, watchdog.state) == (None, "no Watchdog yet")
    assert "the database does not tell" in watchdog.detail
    arrivals.heard_anywhere(None)
    _, watchdog = plain(arrivals.lines())
    assert "database" not in watchdog.detail


def test_what_is_read_is_noted_and_what_cannot_be_read_is_not() -> None:
    arrivals = Arrivals(Clock(NOW))
    read = arrivals.noting(lambda _body: group("Watchdog"))
    assert read(b"{}").alerts[0].name == "Watchdog"
    assert plain(arrivals.lines())[1].works is True


def own(counts: Counts, stop: Stop | None = None, mode: str = "observe") -> list[HealthLine]:
    return plain(own_lines(counts, mode, stop, NOW))


def test_queues_tell_what_waits_and_since_when() -> None:
    counts = Counts(
        incidents={State.INVESTIGATING: 2, State.DEFERRED: 27, State.FAILED: 1},
        outbox_waiting=3,
        outbox_oldest_seconds=75.0,
    )
    incidents, messages, _ = own(counts)
    assert incidents.state == "2 being checked, 27 waiting their turn"
    assert (incidents.works, incidents.effect) == (False, "1 incident failed; their alerts stand")
    assert (messages.works, messages.state) == (False, "3 waiting messages")
    assert messages.detail == "the oldest for 75 s"
    assert messages.effect == "people see things late"


def test_a_body_that_cannot_be_read_is_no_failure_of_tailhound() -> None:
    counts = Counts(incidents={State.FAILED: 3}, unreadable=3)
    incidents, unreadable, *_ = own(counts)
    assert (incidents.works, incidents.effect) == (True, "")
    assert (unreadable.name, unreadable.works) == ("Unreadable notifications", None)
    assert unreadable.state == "3 kept as they came"


def test_an_idle_tailhound_has_nothing_to_tell() -> None:
    incidents, messages, changes = own(Counts())
    assert (incidents.works, messages.works, changes.works) == (True, True, True)
    assert messages.state == "none wait"
    assert changes.state == "off (observe mode)"
    assert own(Counts(), mode="one-click")[2].state.startswith("off (one-click")


def test_the_stop_switch_tells_who_when_and_why_as_far_as_known() -> None:
    stopped = own(Counts(), Stop(by="ana", at=NOW, why="game day"))[2]
    assert (stopped.state, stopped.detail) == ("stopped by ana since 03:00 UTC", "game day")
    unreadable = own(Counts(), Stop(why="the stop switch can't be read"))[2]
    assert (unreadable.state, unreadable.detail) == ("stopped", "the stop switch can't be read")


def test_replicas_are_told_the_gone_ones_too() -> None:
    (alone,) = replica_lines("bot.db", ())
    told = f"tailhound {__version__}, database bot.db"
    assert (alone.state, alone.detail) == ("the only one", told)
    this, alive, gone = plain(replica_lines("pg", (Peer("a-1", 7.0), Peer("a-2", -90.0))))
    assert (this.state, this.detail) == (f"tailhound {__version__}", "database pg")
    assert (alive.state, alive.works) == ("runs", True)
    assert (gone.state, gone.works) == ("gone for 90 s", False)
