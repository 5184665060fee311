"""What stands behind an incident's page, each under its own address: a cause, evidence, alerts.

The page fetches these when somebody opens a row; without a script they are pages to go to.
"""

from collections.abc import Sequence
from typing import Any

from markupsafe import escape
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from tailhound.model import Alert, Asked, Cause, Diagnosis, Incident, telling
from tailhound.model.names import capital
from tailhound.web.headline import seen
from tailhound.web.paged import Paged, paged
from tailhound.web.parts import RawOutput
from tailhound.web.screen import Screen

_FRAME = 400
"""Bytes of markup around one item."""
_LABELS = 40_000
"""Bytes that the labels and annotations of one alert take at most: half each, in the template."""
_LAST = 100_000
"""The highest place that a page may begin at; there is nothing behind it."""


class Behind:
    """Routes below `/incidents/{id}/`."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._reader = screen.parts.reader

    async def cause(self, request: Request) -> Response:
        """GET /incidents/{id}/causes/{runbook}: the claims of one cause, with their values."""
        incident, diagnosis = await self._diagnosed(request)
        runbook = request.path_params["runbook"]
        cause = next((one for one in diagnosis.causes if one.runbook == runbook), None)
        if cause is None:
            raise HTTPException(404)
        return await self._page(
            "cause",
            incident,
            place=f"#{cause.runbook}",
            cause=cause,
            diagnosis=diagnosis,
            word=_word(cause),
            known=self._known(),
        )

    async def evidence(self, request: Request) -> Response:
        """GET /incidents/{id}/evidence/{name}: its questions and answers; `from` counts from 0."""
        incident, diagnosis = await self._diagnosed(request)
        name = request.path_params["name"]
        items = [item for item in diagnosis.evidence if item.name == name]
        if not items:
            raise HTTPException(404)
        asked = [one for item in items for one in item.asked]
        known = {one.detail for one in asked}
        shown = paged(asked, _start(request), _weight_of_question)
        return await self._page(
            "evidence",
            incident,
            place="#causes",
            name=name,
            asked_in_all=len(asked),
            reasons=[item.reason for item in items if item.reason and item.reason not in known],
            outputs=_by_question(await self._screen.read(self._reader.raw, incident.id)),
            **_part(shown, f"/incidents/{incident.id}/evidence/{name}"),
        )

    async def alerts(self, request: Request) -> Response:
        """GET /incidents/{id}/alerts: all of them with their labels; `from` counts from 0."""
        incident = await self._screen.found(request)
        shown = paged(incident.alerts, _start(request), _weight_of_alert)
        return await self._page(
            "alerts",
            incident,
            place="#alerts",
            start=shown.start,
            **_part(shown, f"/incidents/{incident.id}/alerts"),
        )

    async def _diagnosed(self, request: Request) -> tuple[Incident, Diagnosis]:
        incident = await self._screen.found(request)
        if incident.diagnosis is None:
            raise HTTPException(404)
        return incident, incident.diagnosis

    async def _page(self, template: str, incident: Incident, **values: Any) -> Response:
        whole: dict[str, Any] = {"next": "", "left": 0} | values
        return await self._screen.page(template, incident=incident, **whole)

    def _known(self) -> frozenset[str]:
        catalogue = self._screen.parts.catalogue
        return frozenset(runbook.id for runbook in catalogue.runbooks) if catalogue else frozenset()


def _word(cause: Cause) -> str:
    return capital(dict(telling.GROUPS)[cause.verdict])


def _start(request: Request) -> int:
    text = request.query_params.get("from", "0")
    return min(int(text), _LAST) if text.isascii() and text.isdigit() and len(text) < 9 else 0


def _part(shown: Paged[Any], address: str) -> dict[str, Any]:
    following = f"{address}?from={shown.next}" if shown.left else ""
    return {"shown": shown.items, "left": shown.left, "next": following}


def _by_question(raw: Sequence[RawOutput]) -> dict[str, tuple[int, RawOutput]]:
    """The newest raw output of each question, with the number of its page."""
    return {output.question: (n, output) for n, output in enumerate(raw, 1)}


def _weight_of_question(asked: Asked) -> int:
    texts = (seen(asked.question, 4000), seen(asked.detail, 600), seen(asked.answer, 400))
    return _FRAME + sum(map(_bytes, texts))


def _weight_of_alert(alert: Alert) -> int:
    pairs = [*alert.labels.items(), *alert.annotations.items()]
    whole = sum(60 + _bytes(name) + _bytes(text) for name, text in pairs)
    return 2 * _FRAME + min(whole, _LABELS)


def _bytes(text: str) -> int:
    return len(escape(text).encode("utf-8", "replace"))
