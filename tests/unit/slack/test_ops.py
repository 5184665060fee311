"""Trouble of tailhound itself, as the ops channel reads it."""

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta

import pytest

from tailhound.durable.ops import Notice, OwnTrouble
from tailhound.notifiers import Later, Posted, Refusal
from tailhound.slack.ops import ops_message
from tests.samples.story import NOW
from tests.standins.slack import SlackStandin
from tests.unit.slack.test_notifier import World

OPS = "C0OPS"
DOWN = Notice(
    trouble=OwnTrouble(
        kind="backend Prometheus",
        what="Prometheus does not answer in time",
        since=NOW - timedelta(minutes=4),
        effect="11 of 14 causes can't be checked",
        fix="check that it is up",
    ),
    over=None,
    message="",
    posted_at=0.0,
)


@pytest.fixture
def world() -> Iterator[World]:
    with SlackStandin() as slack:
        slack.add_channel(OPS)
        yield World(slack)
        assert slack.unknown_calls == []
        assert slack.core.invalid == []


def test_it_says_what_since_when_what_is_lost_and_what_to_do() -> None:
    told = ops_message(DOWN, NOW).text
    first, fix, end = told.splitlines()
    assert first.startswith(
        "⚠️ Trouble of tailhound itself: Prometheus does not answer in time, since"
    )
    assert first.endswith(" UTC. Meanwhile: 11 of 14 causes can't be checked.")
    assert (fix, end) == ("Fix: check that it is up.", "This message changes when it is over.")


def test_once_it_is_over_it_says_since_when_and_for_how_long() -> None:
    told = ops_message(replace(DOWN, over=NOW), NOW).text
    assert ", after 4\u00a0min: Prometheus does not answer in time, since " in told
    assert told.startswith("✅ Over ")
    assert "Fix" not in told


def test_nothing_of_it_is_markup() -> None:
    evil = replace(DOWN, trouble=replace(DOWN.trouble, what="<!channel> *x*", fix="<http://a|b>"))
    shown = ops_message(evil, NOW)
    for text in (shown.text, shown.blocks[0]["text"]["text"]):
        assert "<!" not in text
        assert "<http" not in text


def test_it_is_one_message_that_is_edited(world: World) -> None:
    posted = asyncio.run(world.notifier.notice(OPS, DOWN, is_new=True))
    assert isinstance(posted, Posted)
    over = replace(DOWN, over=NOW, message=posted.message)
    world.clock.at += 10
    assert asyncio.run(world.notifier.notice(OPS, over, is_new=False)) == posted
    (message,) = world.slack.messages(OPS)
    assert message["text"].startswith("✅ Over ")


def test_a_channel_without_the_app_refuses_with_what_to_do(world: World) -> None:
    refused = asyncio.run(world.notifier.notice("C0NOWHERE", DOWN, is_new=True))
    assert isinstance(refused, Refusal)
    assert "/invite @tailhound" in refused.why


def test_a_message_too_many_waits_and_is_not_sent(world: World) -> None:
    for _ in range(2):
        assert isinstance(asyncio.run(world.notifier.notice(OPS, DOWN, is_new=True)), Posted)
    waits = asyncio.run(world.notifier.notice(OPS, DOWN, is_new=True))
    assert isinstance(waits, Later)
    assert not waits.unsure
    assert len(world.slack.messages(OPS)) == 2
