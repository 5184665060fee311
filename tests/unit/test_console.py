"""One line per change of state."""

import asyncio
from dataclasses import replace

from tailhound.model import Incident
from tailhound.notifiers import Delivery, Posted
from tailhound.notifiers.console import ConsoleNotifier, line
from tests.samples import incidents as made
from tests.samples.story import ALERTS


def told(*incidents: Incident) -> list[str]:
    """The lines that these states write, in this order."""
    lines: list[str] = []
    notifier = ConsoleNotifier(lines.append)
    for incident in incidents:
        delivery = Delivery(id=1, incident=incident, place="console")
        assert asyncio.run(notifier.deliver(delivery)) == Posted("console", incident.id)
    return lines


def test_each_change_of_state_is_one_line() -> None:
    assert told(made.FIRST, made.COLLECTING, made.CONFIRMED, made.RESOLVED) == [
        "8R5W  investigating  llm/chat-json  InferenceInterTokenLatencyHigh, since 03:00 UTC",
        "8R5W  cause found  llm/chat-json  the CPU limit stops the engine, high confidence, "
        "inter-token p50 80 ms, usually 8 ms (x10)",
        "8R5W  resolved  llm/chat-json  after 38 min: the CPU limit stops the engine, "
        "high confidence",
    ]


def test_the_same_state_again_is_no_line() -> None:
    assert len(told(made.CONFIRMED, replace(made.CONFIRMED, revision=99, repeats=4))) == 1


def test_every_state_has_its_word() -> None:
    words = {name: line(incident).split("  ")[1] for name, incident in made.STATES.items()}
    assert words["two-fit"] == "two causes fit"
    assert words["unknown"] == "no cause confirmed"
    assert words["blind"] == "cannot see"
    assert words["back"] == "back again"
    assert words["deferred"] == "waiting its turn"
    assert words["joined"] == "joined"
    assert words["failed"] == "failed"
    assert words["unreadable"] == "unreadable alert"


def test_a_backend_that_is_blind_and_a_failure_say_why() -> None:
    assert line(made.BLIND).endswith("Prometheus does not answer")
    assert line(made.FAILED).endswith("the database was full for 10 min; the alert stands")
    assert line(made.JOINED).endswith("goes on as incident 7F3K")
    assert line(made.RESOLVED_EARLY).endswith("after 3 min: before a verdict")


def test_what_nobody_heard_of_is_not_called_resolved_and_its_time_has_a_date() -> None:
    unheard = line(replace(made.RESOLVED_EARLY, unheard=True))
    since = f"since 30 Nov 2026 03:03 UTC: {made.RESOLVED_EARLY.name}"
    assert unheard == f"8R5W  not heard of  llm/chat-json  {since}"


def test_a_body_that_cannot_be_read_is_about_nothing() -> None:
    assert line(made.UNREADABLE).startswith("8R5W  unreadable alert  `alerts` is missing")


def test_a_hostile_name_stays_on_its_line() -> None:
    alert = replace(ALERTS[0], name="x\n\x1b[2J8R5W  resolved" + "y" * 5_000)
    (shown,) = told(replace(made.FIRST, alerts=(alert,)))
    assert shown.isprintable()
    assert len(shown) == 200
    assert shown.endswith("…")
