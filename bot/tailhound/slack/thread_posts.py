"""Delivering what hangs in an incident's thread: each post its own way of being made and sent."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any, Final

from tailhound.charts.chart import Chart
from tailhound.charts.painter import Painter
from tailhound.charts.plan import charts_of
from tailhound.diagnosis.noise import is_loud
from tailhound.durable.blocking import Blocking
from tailhound.model import Incident, Missing
from tailhound.notifiers import (
    CHARTS,
    EVENT,
    EVIDENCE,
    FILE,
    TIMELINE,
    Delivery,
    Later,
    Posted,
    Refusal,
    uncalled,
)
from tailhound.slack import thread
from tailhound.slack.calls import Lost, No, Said
from tailhound.slack.draft import Draft, key_of
from tailhound.slack.pace import COMPLETE, FILE_INFO, UPLOAD_URL, Rank
from tailhound.slack.preparing import SOON_SECONDS, Preparing
from tailhound.slack.sender import Result, Sender
from tailhound.slack.thread import Wordings
from tailhound.slack.uploads import Upload, Uploads

UPLOAD_SECONDS: Final = 5.0
"""Charts that are not at Slack by then are left to the page."""

Written = Callable[[Incident], str]
"""The whole evidence of an incident as Markdown; it may block."""


@dataclass(frozen=True, slots=True)
class _Pictures:
    """Charts, and the ids of their images at Slack; no ids where those did not get there."""

    drawn: Sequence[Chart]
    files: Sequence[str] = ()


class ThreadPosts:
    """Makes and sends the posts in threads. `painter` draws, `written` tells all evidence; `clock`
    is monotonic. `page`: pages have an address, to which posts may point.
    """

    def __init__(  # noqa: PLR0913 - each is told by its name
        self,
        sender: Sender,
        uploads: Uploads,
        *,
        painter: Painter,
        written: Written | None,
        now: Callable[[], datetime],
        clock: Callable[[], float],
        page: bool = True,
    ) -> None:
        self._sender, self._uploads = sender, uploads
        self._painter, self._written, self._now = painter, written, now
        self._preparing, self._page = Preparing(clock), page
        self._blocking = Blocking("slack-files", 1)

    def close(self) -> None:
        """End what is being made."""
        self._preparing.close()
        self._blocking.close()

    async def deliver(self, delivery: Delivery) -> Result:
        """Post, or edit, one part of a thread."""
        kind = delivery.part.partition(":")[0]
        if kind == TIMELINE:
            return await self._told(delivery, partial(thread.timeline, page=self._page))
        if kind == EVIDENCE:
            return await self._told(delivery, thread.evidence)
        if delivery.message:
            return uncalled(delivery)
        if kind == CHARTS:
            return await self._charts(delivery)
        if kind == FILE:
            return await self._file(delivery)
        return await self._event(delivery)

    async def _told(
        self, delivery: Delivery, wordings: Callable[[Incident, datetime], Wordings]
    ) -> Result:
        diagnosed = delivery.incident.diagnosis is not None
        told = wordings(delivery.incident, self._now()) if diagnosed else ()
        if not told:
            return uncalled(delivery)
        return await self._sender.send(Draft(delivery, told))

    async def _event(self, delivery: Delivery) -> Result:
        name = delivery.part.removeprefix(EVENT)
        told = thread.event(delivery.incident, name, self._now(), delivery.mention)
        return await self._sender.send(Draft(delivery, told, broadcast=is_loud(name)))

    # --- charts

    async def _charts(self, delivery: Delivery) -> Result:
        incident, now = delivery.incident, self._now()
        if incident.diagnosis is None:
            return uncalled(delivery, "", "")
        key, at = key_of(delivery), incident.diagnosis.decided_at
        pictures = await self._preparing.ready(key, at, lambda: self._pictures(incident, now))
        if pictures is None:
            return _soon(delivery)
        if not pictures.drawn:
            self._preparing.forget(key)
            return uncalled(delivery, "", "")
        told = thread.charts(incident, now, pictures.drawn, pictures.files, page=self._page)
        result = await self._sender.send(Draft(delivery, told))
        if not isinstance(result, Later) or not pictures.files:
            self._preparing.forget(key)
        return result

    async def _pictures(self, incident: Incident, now: datetime) -> _Pictures:
        """The charts, drawn and at Slack; without their images where that takes too long."""
        drawn = charts_of(incident, now)
        images = await self._painter.images(drawn) if drawn else ()
        if isinstance(images, Missing) or not images:
            return _Pictures(drawn)
        try:
            async with asyncio.timeout(UPLOAD_SECONDS):
                return _Pictures(drawn, await self._uploaded(incident, drawn, images))
        except TimeoutError:
            return _Pictures(drawn)

    async def _uploaded(
        self, incident: Incident, drawn: Sequence[Chart], images: Sequence[bytes]
    ) -> Sequence[str]:
        files: list[tuple[str, str]] = []
        for chart, image in zip(drawn, images, strict=True):
            name = f"{incident.id}-{chart.id}.png"
            sent = await self._uploads.send(Upload(name=name, content=image, alt=chart.alt))
            if not isinstance(sent, str):
                return ()
            files.append((sent, name))
        if not isinstance(await self._uploads.complete(files), Said):
            return ()
        seen = [await self._uploads.looked_at(id) for id, _ in files]
        return [id for id, _ in files] if all(seen) else ()

    # --- the file

    async def _file(self, delivery: Delivery) -> Result:
        """Send the bytes ahead, then share them: only that is seen, and must happen once.

        It comes behind the charts.
        """
        incident, key = delivery.incident, key_of(delivery)
        written = self._written
        if incident.diagnosis is None or written is None:
            return uncalled(delivery, "", "")
        held = self._uploads.held()
        if held > 0:
            return _soon(delivery, held)
        sender, name = self._sender, _file_name(delivery)

        async def sent() -> str | No | Lost:
            text = await self._blocking.run(written, incident)
            return await self._uploads.send(Upload(name=name, content=text.encode()))

        prepared = await self._preparing.ready(key, None, sent)
        charts = (delivery.place, incident.id, CHARTS)
        if prepared is None or self._preparing.holds(charts):
            return _soon(delivery)
        if not isinstance(prepared, str):
            self._preparing.forget(key)
            return sender.settled(prepared, UPLOAD_URL, delivery)
        if sender.lost.of(delivery):
            known = await self._known(delivery, prepared, name)
            if known is not None:
                return known
        return await self._shared(delivery, prepared, name)

    async def _known(self, delivery: Delivery, file: str, name: str) -> Result | None:
        """What is known of a file whose sharing nobody answered; None = share it once more."""
        sender = self._sender
        told = await self._uploads.info(file)
        if isinstance(told, Said):
            return self._stands(delivery, file)
        if isinstance(told, Lost):
            return sender.later(told, FILE_INFO, delivery)
        found = await sender.find(delivery, lambda message: name in _files_of(message))
        if isinstance(found, Later | Refusal):
            return found
        if found:
            return self._stands(delivery, found)
        return sender.lost.no_third(delivery) if found is None else None

    async def _shared(self, delivery: Delivery, file: str, name: str) -> Result:
        wait = self._sender.before_post(delivery, Rank.PART)
        if wait is not None:
            return wait
        outcome = await self._uploads.complete(
            [(file, name)], channel=delivery.place, thread=delivery.thread
        )
        if isinstance(outcome, Said):
            return self._stands(delivery, file)
        if isinstance(outcome, Lost) and outcome.sent:
            self._sender.lost.add(delivery)
        elif isinstance(outcome, No) and outcome.error != "ratelimited":
            self._preparing.forget(key_of(delivery))
        return self._sender.settled(outcome, COMPLETE, delivery)

    def _stands(self, delivery: Delivery, message: str) -> Posted:
        self._sender.lost.forget(delivery)
        self._preparing.forget(key_of(delivery))
        return Posted(delivery.place, message, _file_name(delivery)[:64])


def _soon(delivery: Delivery, seconds: float = SOON_SECONDS) -> Later:
    """It is being made, or must wait; nothing is wrong, and nobody else waits for it."""
    return Later(seconds, "", delivery.unsure, only_this=True, lost_posts=delivery.lost_posts)


def _file_name(delivery: Delivery) -> str:
    """`7F3K-evidence.md`, and once it is over `7F3K-evidence-resolved.md`, once for each time."""
    _, _, which = delivery.part.partition(":")
    state, _, episode = which.partition(":")
    later = f"-{episode}" if episode not in ("", "1") else ""
    return f"{delivery.incident.id}-evidence{f'-{state}' if state else ''}{later}.md"


def _files_of(message: Any) -> list[str]:
    return [str(file.get("name", "")) for file in message.get("files") or ()]
