"""The smallest durable webhook server: the probe beside tailhound's intake.

The same server stack and the same disk writes as tailhound (one writer, commits in batches, WAL,
synchronous=FULL, known bodies from memory), and nothing else: no reading of the body, no incident,
no workflow. With `--post` each new body is followed by one HTTP call before it is answered.

`python -m benchmarks.bare DATABASE` prints its address.
"""

import argparse
import asyncio
import http.client
import queue
import signal
import sqlite3
import threading
from collections.abc import Callable, MutableMapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import uvicorn

from tailhound.web.server import bind

BATCH = 200
OK = b'{"incidents": ["AAAA"]}'

Entry = tuple[bytes, "asyncio.Future[None]"]


class Disk:
    """Commits bodies, those that wait together at once, on a thread of its own."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._waiting: queue.SimpleQueue[Entry | None] = queue.SimpleQueue()
        self._loop = asyncio.get_running_loop()
        self._thread = threading.Thread(target=self._write, name="disk", daemon=True)
        self._thread.start()

    async def keep(self, body: bytes) -> None:
        """Returns after the commit."""
        done = self._loop.create_future()
        self._waiting.put((body, done))
        await done

    def close(self) -> None:
        """Write what waits, and end."""
        self._waiting.put(None)
        self._thread.join()

    def _write(self) -> None:
        connection = sqlite3.connect(self._path, isolation_level=None)
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=FULL")
        connection.execute("CREATE TABLE body (id INTEGER PRIMARY KEY, content BLOB)")
        while batch := self._batch():
            connection.execute("BEGIN IMMEDIATE")
            rows = [(body,) for body, _ in batch]
            connection.executemany("INSERT INTO body (content) VALUES (?)", rows)
            connection.execute("COMMIT")
            self._loop.call_soon_threadsafe(tell, batch)
        connection.close()

    def _batch(self) -> list[Entry]:
        entry = self._waiting.get()
        batch: list[Entry] = []
        while entry is not None:
            batch.append(entry)
            if len(batch) == BATCH or self._waiting.empty():
                return batch
            entry = self._waiting.get()
        return batch


def tell(batch: Sequence[Entry]) -> None:
    """Let those that wait for these bodies know that they are on disk."""
    for _, done in batch:
        if not done.done():
            done.set_result(None)


class Bare:
    """The application. `after` is called, on a thread, for each body after its commit."""

    def __init__(self, disk: Disk, after: Callable[[], None] | None) -> None:
        self._disk = disk
        self._after = after
        self._known: set[bytes] = set()

    async def __call__(self, scope: MutableMapping[str, Any], receive: Any, send: Any) -> None:
        """Keep a body that is new, and answer."""
        body = b""
        more = True
        while more:
            message = await receive()
            body += message.get("body", b"")
            more = message.get("more_body", False)
        if body not in self._known:
            await self._disk.keep(body)
            self._known.add(body)
            if self._after is not None:
                await asyncio.get_running_loop().run_in_executor(None, self._after)
        headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(OK))]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": OK})


class Poster:
    """Posts the same bytes again and again over one connection."""

    def __init__(self, url: str, token: str, body: bytes) -> None:
        parts = urlsplit(url)
        assert parts.hostname
        self._connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=10)
        self._path = parts.path
        self._body = body
        self._headers = {
            "Authorization": f"Bearer {token}",
            "Content-Type": "application/json;charset=utf-8",
        }

    def __call__(self) -> None:
        """One call."""
        self._connection.request("POST", self._path, self._body, self._headers)
        self._connection.getresponse().read()


async def serve(disk: Disk, after: Callable[[], None] | None = None) -> None:
    """Serve until told to end, and print where."""
    config = uvicorn.Config(
        Bare(disk, after),
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=1,
    )
    listening = bind("127.0.0.1", 0)
    listening.listen(128)
    print(f"http://127.0.0.1:{listening.getsockname()[1]}", flush=True)
    try:
        await uvicorn.Server(config).serve(sockets=[listening])
    finally:
        disk.close()


async def _serve(database: Path, after: Callable[[], None] | None) -> None:
    await serve(Disk(database), after)


def main() -> None:
    """Serve until told to end."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("database", type=Path)
    parser.add_argument("--post", default="", metavar="URL")
    parser.add_argument("--token", default="")
    parser.add_argument("--body", type=Path, help="what is posted")
    options = parser.parse_args()
    after = Poster(options.post, options.token, options.body.read_bytes()) if options.post else None
    try:
        asyncio.run(_serve(options.database, after))
    except KeyboardInterrupt:  # uvicorn raises the signal again that ended it
        signal.signal(signal.SIGINT, signal.SIG_DFL)


if __name__ == "__main__":
    main()
