"""The live stream: one poller for all clients, no news lost, an end when the database is gone."""

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any

import pytest
from starlette.requests import Request
from starlette.responses import StreamingResponse

from tailhound.errors import StoreUnavailable
from tailhound.web.stream import Room, Stream
from tailhound.web.visitor import Visitors

ASKED = Request({"type": "http", "method": "GET", "headers": []})


@dataclass(slots=True)
class Database:
    """A revision that tests turn; it counts how often it was asked."""

    at: int = 7
    down: bool = False
    asked: int = 0
    polled: asyncio.Event = field(default_factory=asyncio.Event)

    async def revision(self) -> int:
        self.asked += 1
        self.polled.set()
        if self.down:
            raise StoreUnavailable("gone")
        return self.at


class Client:
    """Reads one stream."""

    def __init__(self, answer: Any) -> None:
        assert isinstance(answer, StreamingResponse)
        self.events: Any = answer.body_iterator

    async def next(self) -> str:
        text: bytes = await asyncio.wait_for(anext(self.events), 5)
        return text.decode()

    async def end(self) -> bool:
        try:
            await asyncio.wait_for(anext(self.events), 5)
        except StopAsyncIteration:
            return True
        return False


def run(test: Callable[[], Coroutine[Any, Any, None]]) -> None:
    asyncio.run(test())


def pollers() -> int:
    """How many tasks poll the database."""
    return sum("Stream._poll" in repr(task.get_coro()) for task in asyncio.all_tasks())


def quick(database: Database, **keys: Any) -> Stream:
    return Stream(database.revision, **({"poll_seconds": 0.001} | keys))


def test_a_client_gets_the_revision_at_once_and_each_newer_one() -> None:
    async def test() -> None:
        database = Database()
        client = Client(await quick(database).get(ASKED))
        assert await client.next() == "retry: 3000\n\nevent: revision\ndata: 7\n\n"
        database.at = 8
        assert await client.next() == "event: revision\ndata: 8\n\n"

    run(test)


def test_all_clients_share_one_poller() -> None:
    async def test() -> None:
        database = Database()
        stream = quick(database, poll_seconds=60)
        clients = [Client(await stream.get(ASKED)) for _ in range(20)]
        for client in clients:
            await client.next()
        assert stream.clients == 20
        assert pollers() == 1

    run(test)


def test_nobody_is_polled_for_when_the_last_client_has_left() -> None:
    async def test() -> None:
        database = Database()
        stream = quick(database)
        client = Client(await stream.get(ASKED))
        await client.next()
        await client.events.aclose()
        assert stream.clients == 0
        again = Client(await stream.get(ASKED))
        await again.next()
        database.at = 9
        assert "data: 9" in await again.next()
        await again.events.aclose()
        await asyncio.sleep(0)
        assert pollers() == 0

    run(test)


def test_a_slow_client_gets_the_newest_revision_only() -> None:
    async def test() -> None:
        database = Database()
        client = Client(await quick(database).get(ASKED))
        await client.next()
        for revision in (8, 9, 10):
            database.at = revision
            for _ in range(2):  # the poller has read it and asks again: it was handed out
                database.polled.clear()
                await asyncio.wait_for(database.polled.wait(), 5)
        assert "data: 10" in await client.next()

    run(test)


def test_a_quiet_stream_shows_that_it_is_alive() -> None:
    async def test() -> None:
        client = Client(await quick(Database(), heartbeat_seconds=0.001).get(ASKED))
        await client.next()
        assert await client.next() == ": still here\n\n"

    run(test)


def test_when_the_database_goes_all_streams_end_and_new_ones_are_refused() -> None:
    async def test() -> None:
        database = Database()
        stream = quick(database)
        clients = [Client(await stream.get(ASKED)) for _ in range(3)]
        for client in clients:
            await client.next()
        database.down = True
        assert [await client.end() for client in clients] == [True] * 3
        database.down = False
        again = Client(await stream.get(ASKED))
        assert "data: 7" in await again.next()

    run(test)


def asked_by(host: str, **headers: str) -> Request:
    given = [(name.replace("_", "-").encode(), text.encode()) for name, text in headers.items()]
    return Request({"type": "http", "method": "GET", "headers": given, "client": (host, 5)})


async def told(stream: Stream, request: Request) -> tuple[str, Client]:
    client = Client(await stream.get(request))
    return await client.next(), client


def test_too_many_clients_are_turned_away_with_the_reason() -> None:
    async def test() -> None:
        stream = quick(Database(), room=Room(everybody=1))
        first, client = await told(stream, asked_by("10.0.0.1"))
        assert "event: revision" in first
        second, refused = await told(stream, asked_by("10.0.0.2"))
        assert second == (
            "retry: 60000\n\nevent: full\ndata: 1 pages are live already, of everybody together\n\n"
        )
        assert await refused.end()
        assert stream.clients == 1
        await client.events.aclose()

    run(test)


def test_one_visitor_leaves_room_for_the_others_and_gets_it_back_by_leaving() -> None:
    async def test() -> None:
        stream = quick(Database(), room=Room(one=2))
        held = [await told(stream, asked_by("10.0.0.1")) for _ in range(2)]
        full, _ = await told(stream, asked_by("10.0.0.1"))
        assert "event: full\ndata: 2 pages of your address are live already" in full
        other, _ = await told(stream, asked_by("10.0.0.2"))
        assert "event: revision" in other
        await held[0][1].events.aclose()
        again, _ = await told(stream, asked_by("10.0.0.1"))
        assert "event: revision" in again

    run(test)


@pytest.mark.parametrize(
    ("header", "host", "headers", "who"),
    [
        ("", "10.0.0.1", {"x_forwarded_for": "6.6.6.6"}, "10.0.0.1"),
        ("x-forwarded-for", "10.0.0.1", {"x_forwarded_for": "6.6.6.6, 7.7.7.7"}, "7.7.7.7"),
        ("X-Forwarded-For", "10.0.0.1", {"x_forwarded_for": "7.7.7.7"}, "7.7.7.7"),
        ("x-real-ip", "10.0.0.1", {"x_forwarded_for": "6.6.6.6"}, "10.0.0.1"),
        ("x-real-ip", "10.0.0.1", {"x_real_ip": "<script>"}, "10.0.0.1"),
        ("", "2001:db8:1:2:3::4", {}, "2001:db8:1:2::/64"),
        ("", "::ffff:10.0.0.1", {}, "10.0.0.1"),
        ("", "unix", {}, "unix"),
    ],
)
def test_a_visitor_is_the_address_and_only_a_configured_header_is_believed(
    header: str, host: str, headers: dict[str, str], who: str
) -> None:
    assert Visitors(header).who(asked_by(host, **headers)) == who


def test_closing_ends_streams_and_takes_no_new_ones() -> None:
    async def test() -> None:
        stream = quick(Database())
        client = Client(await stream.get(ASKED))
        await client.next()
        stream.close()
        assert await client.end()
        assert (await stream.get(ASKED)).status_code == 503

    run(test)


def test_many_that_come_at_one_moment_do_not_get_past_the_limit() -> None:
    async def test() -> None:
        stream = Stream(Database().revision, room=Room(everybody=3))
        answers = await asyncio.gather(*(stream.get(ASKED) for _ in range(20)))
        clients = [Client(answer) for answer in answers if isinstance(answer, StreamingResponse)]
        first = [await client.next() for client in clients]
        assert sum("event: revision" in text for text in first) == 3
        assert sum("event: full" in text for text in first) == 17
        ended = [await client.end() for client in clients if "full" in first[clients.index(client)]]
        assert ended == [True] * 17
        assert stream.clients == 3
        stream.close()

    run(test)


def test_many_who_come_at_once_ask_the_database_once() -> None:
    async def test() -> None:
        database = Database()
        stream = quick(database, poll_seconds=60)
        answers = await asyncio.gather(*(stream.get(ASKED) for _ in range(19)))
        firsts = await asyncio.gather(*(Client(answer).next() for answer in answers))
        assert all("data: 7" in first for first in firsts)
        assert database.asked <= 2
        assert pollers() == 1
        late = Client(await stream.get(ASKED))
        assert "data: 7" in await late.next()
        assert database.asked <= 2

    run(test)
