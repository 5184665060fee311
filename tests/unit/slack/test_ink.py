"""What a cause of a chain does, in the room that there is."""

import pytest

from tailhound.slack.ink import INKS, Ink

SAYS = (
    "The API servers take at least 60 s (p99) to LIST the pods of the cluster. "
    "The heartbeats of nodes take 22 s (p99). Most of the load comes through the flow schema "
    "service-accounts. Look at DaemonSet telemetry/node-telemetry first."
)


def test_whole_sentences_are_told_as_far_as_there_is_room() -> None:
    assert Ink(60, 150, 8).link(SAYS) == (
        "The API servers take at least 60 s (p99) to LIST the pods of the cluster. "
        "The heartbeats of nodes take 22 s (p99). + more"
    )
    assert Ink(60, 400, 8).link(SAYS) == SAYS.rstrip(".")
    assert Ink(60, 110, 8).link(SAYS) == (
        "The API servers take at least 60 s (p99) to LIST the pods of the cluster. + more"
    )


def test_all_of_it_is_told_without_a_mark_and_without_its_last_full_stop() -> None:
    assert Ink(60, 240, 8).link("One. Two is 1.5 s.") == "One. Two is 1.5 s"
    assert Ink(60, 240, 8).link("86 compile threads share 6 cores") == (
        "86 compile threads share 6 cores"
    )
    assert Ink(60, 240, 8).link("") == ""


@pytest.mark.parametrize("ink", INKS)
def test_a_sentence_that_is_too_long_is_cut_in_its_middle_once(ink: Ink) -> None:
    shown = ink.link(f"{'very ' * 90}long. Another one.")
    assert len(shown) <= max(ink.sentence_length, 120 if ink.lines > 1 else 0)
    assert shown.count("…") == 1


def test_a_sentence_loses_its_remarks_before_it_is_cut() -> None:
    long = "The API servers take at least 60 s (p99, usually 0.4 s) to LIST the pods of it all."
    assert Ink(60, 70, 1).link(long) == (
        "The API servers take at least 60 s to LIST the pods of it all"
    )
    assert Ink(60, 70, 1).brief(f"{long[:-1]} (usually 3 s)") == (
        "The API servers take at least 60 s to LIST the pods of it all"
    )
    assert Ink(60, 20, 1).brief(f"unknown ({'why ' * 9})").startswith("unknown (why")


def test_a_sentence_may_begin_with_the_name_of_a_pod() -> None:
    says = "2 of 4 replicas are not in service. chat-b on gpu-node-3: loading, e.g. its weights."
    assert Ink(60, 60, 1).link(says) == "2 of 4 replicas are not in service. + more"
    assert Ink(60, 48, 1).link(f"Loading, e.g. its weights. {says}") == (
        "Loading, e.g. its weights. + more"
    )


def test_what_the_sentences_quote_stays_harmless() -> None:
    assert "<!channel>" not in Ink(60, 240, 8).link("Pod <!channel> was stopped. *Now*.")
