"""A server that refuses most requests is asked one question now and then, and all when it can."""

import threading
from dataclasses import dataclass, field

import pytest

from tailhound.model import Missing, Reason
from tailhound.transports.gate import Gate
from tailhound.transports.pool import Pool
from tailhound.transports.sparing import Sent, Sparing

REFUSED, ANSWERED, SAYS_NOTHING = False, True, None


@dataclass
class Server:
    """What was sent to a server, by a clock that goes on a tenth of a second with each request."""

    now: list[float] = field(default_factory=lambda: [1000.0])
    sparing: Sparing = field(init=False)

    def __post_init__(self) -> None:
        self.sparing = Sparing(lambda: self.now[0])

    def after(self, seconds: float) -> "Server":
        """The same, later."""
        self.now[0] += seconds
        return self

    def sent(self, *outcomes: bool | None, is_needed: bool = False) -> "Server":
        """These requests, one after the other; each must be let through."""
        for outcome in outcomes:
            sent = self.sparing.begin(is_needed=is_needed)
            assert isinstance(sent, Sent)
            self.now[0] += 0.1
            self.sparing.end(sent, outcome)
        return self

    @property
    def is_spared(self) -> bool:
        return self.sparing.refusal is not None


@pytest.fixture
def server() -> Server:
    return Server()


@pytest.fixture
def spared() -> Server:
    """A server that has refused five requests just now."""
    return Server().sent(*[REFUSED] * 5)


def test_four_refusals_are_too_few_to_tell_and_five_are_enough(server: Server) -> None:
    assert not server.sent(*[REFUSED] * 4).is_spared
    assert server.sent(REFUSED).is_spared


@pytest.mark.parametrize(
    ("outcomes", "is_spared"),
    [("ARRRR", False), ("ARRRRR", True), ("ARRRRARRRR", False), ("ARRRRARRRRR", True)],
)
def test_four_in_five_are_not_most_and_what_is_over_that_is(
    outcomes: str, is_spared: bool, server: Server
) -> None:
    server.sent(*[one == "A" for one in outcomes])
    assert server.is_spared is is_spared


def test_many_answers_of_before_do_not_hide_a_server_that_refuses_now(server: Server) -> None:
    assert server.sent(*[ANSWERED] * 200, *[REFUSED] * 9).is_spared


@pytest.mark.parametrize(("later", "is_spared"), [(29.5, True), (30.5, False)])
def test_what_is_older_than_half_a_minute_counts_no_more(
    later: float, is_spared: bool, server: Server
) -> None:
    server.sent(*[REFUSED] * 4).after(later - 0.4).sent(REFUSED)
    assert server.is_spared is is_spared


def test_what_tells_nothing_about_the_server_is_neither_a_refusal_nor_an_answer(
    server: Server, spared: Server
) -> None:
    assert not server.sent(*[SAYS_NOTHING] * 20).is_spared
    assert server.sent(*[REFUSED] * 5).is_spared
    assert spared.after(10).sent(SAYS_NOTHING).is_spared


def test_what_is_told_names_the_share_and_when_it_is_asked_again(spared: Server) -> None:
    assert spared.sparing.why_not() == Missing(
        Reason.SKIPPED,
        "not asked: the API server refuses most requests (5 of the last 5). "
        "Fix: it is asked again when it answers",
    )


def test_a_share_of_many_is_told_of_the_last_ten(server: Server) -> None:
    told = server.sent(*[ANSWERED] * 50, *[REFUSED] * 9).sparing.why_not()
    assert told is not None
    assert "(9 of the last 10)" in told.detail


def test_one_request_in_ten_seconds_finds_out_and_the_others_wait_for_it(spared: Server) -> None:
    spared.after(9.9)
    assert spared.sparing.why_not() is not None
    assert isinstance(spared.sparing.begin(), Missing)
    spared.after(0.1)
    assert spared.sparing.why_not() is None
    probe = spared.sparing.begin()
    assert isinstance(probe, Sent)
    assert probe.is_probe
    assert spared.sparing.why_not() is None, "the outcome is worth waiting for"
    assert isinstance(spared.sparing.begin(), Missing), "and nothing is sent meanwhile"
    spared.sparing.end(probe, REFUSED)
    told = spared.sparing.why_not()
    assert told is not None
    assert "(6 of the last 6)" in told.detail


def test_a_probe_that_takes_longer_than_ten_seconds_is_the_only_one(spared: Server) -> None:
    probe = spared.after(10).sparing.begin()
    assert isinstance(probe, Sent)
    assert isinstance(spared.after(60).sparing.begin(), Missing)
    spared.sparing.end(probe, REFUSED)
    assert isinstance(spared.sparing.begin(), Sent), "the next one is long due"


def test_a_refused_probe_waits_another_ten_seconds(spared: Server) -> None:
    spared.after(10).sent(REFUSED)
    assert isinstance(spared.after(9.8).sparing.begin(), Missing)
    assert isinstance(spared.after(0.2).sparing.begin(), Sent)


def test_nobody_finds_out_while_the_server_asks_to_be_left_alone(spared: Server) -> None:
    spared.after(20)
    assert spared.sparing.why_not(must_wait=True) is not None
    assert isinstance(spared.sparing.begin(must_wait=True), Missing)
    assert isinstance(spared.sparing.begin(), Sent)


def test_one_answer_ends_it_and_old_refusals_are_forgotten(spared: Server) -> None:
    spared.after(10).sent(ANSWERED)
    assert not spared.is_spared
    assert not spared.sent(*[REFUSED] * 4).is_spared
    assert spared.sent(REFUSED).is_spared


def test_a_server_that_nobody_asked_for_an_hour_is_asked_one_question_first(spared: Server) -> None:
    spared.after(3600)
    probe = spared.sparing.begin()
    assert isinstance(probe, Sent)
    assert probe.is_probe
    spared.sparing.end(probe, REFUSED)
    assert isinstance(spared.sparing.begin(), Missing)


def test_what_is_needed_is_sent_in_any_case_and_its_answer_counts(spared: Server) -> None:
    assert spared.sent(REFUSED, REFUSED, is_needed=True).is_spared
    assert not spared.sent(ANSWERED, is_needed=True).is_spared


def test_what_is_needed_does_not_end_the_probe_of_another(spared: Server) -> None:
    probe = spared.after(10).sparing.begin()
    assert isinstance(probe, Sent)
    spared.sent(REFUSED, is_needed=True).after(20)
    assert isinstance(spared.sparing.begin(), Missing)


def test_what_was_sent_before_does_not_tell_how_the_server_does_since(server: Server) -> None:
    early = [server.sparing.begin() for _ in range(8)]
    server.after(0.1).sent(*[REFUSED] * 5)
    for sent in early[:2]:
        assert isinstance(sent, Sent)
        server.sparing.end(sent, ANSWERED)
    assert server.is_spared
    server.after(10).sent(ANSWERED)
    for sent in early[2:]:
        assert isinstance(sent, Sent)
        server.sparing.end(sent, REFUSED)
    assert not server.is_spared


@pytest.mark.parametrize("leap", [-900.0, 900.0])
def test_after_a_leap_of_the_clock_one_request_finds_out(leap: float, spared: Server) -> None:
    spared.after(leap)
    assert spared.sparing.why_not() is None
    assert spared.sent(REFUSED).is_spared
    assert isinstance(spared.sparing.begin(), Missing)
    assert not spared.after(10).sent(ANSWERED).is_spared


@pytest.mark.parametrize("leap", [-900.0, 900.0])
def test_what_failed_before_a_leap_of_the_clock_counts_no_more(leap: float, server: Server) -> None:
    server.sent(*[REFUSED] * 4).after(leap)
    assert not server.sent(*[REFUSED] * 4).is_spared
    assert server.sent(REFUSED).is_spared


def test_of_many_threads_at_once_one_finds_out(spared: Server) -> None:
    spared.after(10)
    together = threading.Barrier(16)
    let: list[Sent | Missing] = []

    def come() -> None:
        together.wait(5)
        let.append(spared.sparing.begin())

    threads = [threading.Thread(target=come) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(isinstance(one, Sent) for one in let) == [False] * 15 + [True]


@pytest.mark.parametrize("took", [0.1, 5.0])
def test_a_spared_server_has_one_slot_and_gets_the_others_back_one_by_one(took: float) -> None:
    now = [1000.0]
    pool = Pool("x", 8)
    gate = Gate(pool, lambda: now[0])
    flying = [gate.begin() for _ in range(8)]
    now[0] += took
    for sent in flying:
        assert isinstance(sent, Sent)
        gate.end(sent, answered=False)
    assert pool.limit == 1
    limits = []
    now[0] += 10
    for _ in range(7):
        sent = gate.begin()
        assert isinstance(sent, Sent)
        gate.end(sent)
        limits.append(pool.limit)
    assert limits == [2, 2, 3, 3, 3, 4, 4]


def test_what_was_under_way_when_it_began_gives_no_slot_back() -> None:
    now = [0.0]
    pool = Pool("x", 8)
    gate = Gate(pool, lambda: now[0])
    flying = [gate.begin() for _ in range(8)]
    now[0] += 0.1
    for index, sent in enumerate(flying):
        assert isinstance(sent, Sent)
        gate.end(sent, answered=index > 4)
    assert gate.refusal is not None
    assert pool.limit == 1
