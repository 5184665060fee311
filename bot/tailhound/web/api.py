"""The JSON routes and the probes."""

import json
import math
import re
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response

from tailhound.errors import StoreUnavailable
from tailhound.model import Incident
from tailhound.web.headline import headline, seen
from tailhound.web.metrics import CONTENT_TYPE
from tailhound.web.parts import Counts, Parts
from tailhound.web.pool import OneAtATime, Pool
from tailhound.web.query import ListQuery, WrongQuery

ID = re.compile(r"[0-9A-Za-z-]{1,40}")


class Api:
    """Routes that answer with JSON or with the exposition format."""

    def __init__(self, parts: Parts, pool: Pool, probing: Pool) -> None:
        self._parts = parts
        self._pool = pool
        self._probing = probing
        self._reasons = OneAtATime(self._read_reasons)

    async def incidents(self, request: Request) -> Response:
        """GET /api/incidents: newest first; `next` is the next page's query, null at the end."""
        try:
            query = ListQuery.of(request.query_params, state="all")
        except WrongQuery as error:
            return JSONResponse({"error": str(error)}, 400)
        wanted = query.wanted(self._parts.clock())
        found = await self._pool.run(self._parts.reader.search, wanted)
        page = found[: query.limit]
        more = len(found) > query.limit
        return _json(
            {
                "incidents": [_line(incident) for incident in page],
                "next": query.page_after(page[-1]) if more else None,
            }
        )

    async def incident(self, request: Request) -> Response:
        """GET /api/incidents/{id}."""
        id = request.path_params["id"]
        found = None
        if ID.fullmatch(id):
            found = await self._pool.run(self._parts.reader.get, id)
        if found is None:
            return JSONResponse({"error": f"no incident {seen(id, 40)}"}, 404)
        return _json(self._parts.as_json(found))

    async def healthz(self, _request: Request) -> Response:
        """GET /healthz: the process answers."""
        return PlainTextResponse("ok\n")

    async def readyz(self, _request: Request) -> Response:
        """GET /readyz: 503 with the reasons when it should get no traffic. Reads the database.

        Readers of pages don't stand before a probe, and who asks while one is looked at has its
        answer: no crowd can make this server look unready.
        """
        reasons = await self._reasons.answer()
        if reasons:
            return PlainTextResponse("".join(f"{reason}\n" for reason in reasons), 503)
        return PlainTextResponse("ready\n")

    async def _read_reasons(self) -> Sequence[str]:
        try:
            await self._probing.run(self._parts.reader.revision)
            return tuple(await self._probing.run(self._parts.not_ready))
        except StoreUnavailable as error:
            return (str(error),)

    async def metrics(self, _request: Request) -> Response:
        """GET /metrics."""
        if self._parts.counts is not None:
            await self._gauge(self._parts.counts)
        text = self._parts.metrics.text()
        return Response(text, headers={"content-type": CONTENT_TYPE})

    async def _gauge(self, ask: Callable[[], Counts]) -> None:
        metrics = self._parts.metrics
        try:
            counts = await self._pool.run(ask)
            metrics.queued(
                counts.by_state,
                counts.outbox_waiting,
                counts.outbox_oldest_seconds,
                counts.outbox_refused,
            )
        except StoreUnavailable:
            metrics.unanswered()


def _line(incident: Incident) -> dict[str, Any]:
    head = headline(incident)
    diagnosis = incident.diagnosis
    return {
        "incident": incident.id,
        "state": incident.state.value,
        "headline": f"{head.word}: {head.text}",
        "subject": seen(incident.subject.where),
        "severity": seen(incident.severity, 40),
        "alerts": len(incident.alerts),
        "since": _time(incident.since),
        "received_at": _time(incident.received_at),
        "primary": diagnosis.primary if diagnosis else None,
        "confidence": diagnosis.confidence.value if diagnosis and diagnosis.confidence else None,
        "url": f"/incidents/{incident.id}",
    }


def _time(at: datetime) -> str:
    return at.isoformat(timespec="seconds").replace("+00:00", "Z")


def _json(value: dict[str, Any]) -> Response:
    """JSON; a number that JSON has no word for (NaN) is null, as anything unknown."""
    try:
        text = json.dumps(value, ensure_ascii=True, allow_nan=False)
    except ValueError:
        text = json.dumps(_finite(value), ensure_ascii=True, allow_nan=False)
    return Response(text, media_type="application/json")


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(inner) for inner in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
