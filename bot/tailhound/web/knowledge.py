"""The pages about tailhound itself: runbooks, how often they are right, what works."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from tailhound.model import Incident
from tailhound.store.accuracy import Accuracy
from tailhound.store.finding import Wanted
from tailhound.web.near import Near, nearly_crossed
from tailhound.web.parts import Catalogue, HealthLine
from tailhound.web.runbook import RunbookPage, page_of
from tailhound.web.screen import Screen

DAYS = 30
"""How far back the catalogue counts."""
SPANS = (30, 90, 365)
"""How far back the page of accuracy may count, in days; the second unless asked."""
LOOKED_AT = 50
"""Incidents whose claims are looked at for values that came close to a threshold."""


class Knowledge:
    """Routes that answer with what is known about the bot."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._parts = screen.parts

    async def runbooks(self, _request: Request) -> Response:
        """GET /runbooks: the catalogue."""
        catalogue = self._catalogue()
        tests = {
            runbook.id: await self._screen.read(catalogue.tests, runbook.id)
            for runbook in catalogue.runbooks
        }
        return await self._screen.page(
            "runbooks",
            runbooks=catalogue.runbooks,
            tests=tests,
            troubles=await self._screen.read(catalogue.troubles),
            record=await self._record(DAYS),
            days=DAYS,
        )

    async def runbook(self, request: Request) -> Response:
        """GET /runbooks/{id}."""
        found = await self._screen.read(self._page_of, request.path_params["id"])
        recent = await self._screen.read(
            self._parts.reader.search, Wanted(cause=found.runbook.id, limit=10)
        )
        return await self._screen.page(
            "runbook", it=found, recent=recent, record=await self._record(DAYS), days=DAYS
        )

    async def source(self, request: Request) -> Response:
        """GET /runbooks/{id}.yaml: the file that is active, as it was read."""
        wanted = request.path_params["id"]
        for runbook in self._catalogue().runbooks:
            if runbook.id == wanted:
                return self._screen.plain(runbook.source)
        raise HTTPException(404)

    async def accuracy(self, request: Request) -> Response:
        """GET /accuracy: how often each cause was right, by what people said."""
        if self._parts.accuracy is None:
            raise HTTPException(404)
        given = request.query_params.get("days", "")
        days = int(given) if given in map(str, SPANS) else SPANS[1]
        catalogue = self._parts.catalogue
        return await self._screen.page(
            "accuracy",
            record=await self._record(days),
            near=await self._screen.read(self._near, days),
            known=[runbook.id for runbook in catalogue.runbooks] if catalogue else [],
            days=days,
            spans=SPANS,
        )

    async def health(self, _request: Request) -> Response:
        """GET /health: a line for each thing that works or does not."""
        if self._parts.health is None:
            raise HTTPException(404)
        await self._parts.look()
        lines = await self._screen.read(self._parts.health)
        if self._parts.recorded:
            lines = [from_recording(line) for line in lines]
        return await self._screen.page("health", lines=lines, sections=_sections(lines))

    def _catalogue(self) -> Catalogue:
        if self._parts.catalogue is None:
            raise HTTPException(404)
        return self._parts.catalogue

    async def _record(self, days: int) -> Accuracy:
        """The accuracy of so many days; empty where nobody counts."""
        if self._parts.accuracy is None:
            return Accuracy()
        since = self._parts.clock() - timedelta(days=days)
        return await self._screen.read(self._parts.accuracy, since)

    def _page_of(self, id: str) -> RunbookPage:
        catalogue = self._catalogue()
        for runbook in catalogue.runbooks:
            if runbook.id == id:
                tests = catalogue.tests(id)
                return page_of(runbook, catalogue.runbooks, tests, self._newest())
        raise HTTPException(404)

    def _newest(self) -> Incident | None:
        """The newest incident that has a diagnosis, whole: its questions are real ones."""
        reader = self._parts.reader
        for incident in reader.search(Wanted(limit=20)):
            if incident.diagnosis is not None:
                return reader.get(incident.id)
        return None

    def _near(self, days: int) -> tuple[Near, ...]:
        since = self._parts.clock() - timedelta(days=days)
        return nearly_crossed(self._parts.reader.search(Wanted(since=since, limit=LOOKED_AT)))


def from_recording(line: HealthLine) -> HealthLine:
    """A backend of the demo: nobody is asked, and nothing is lost by that."""
    if line.section != "Backends" or line.state != "not configured":
        return line
    return replace(line, state="answers from a recording", works=True, effect="", fix="")


def _sections(lines: Sequence[HealthLine]) -> dict[str, list[HealthLine]]:
    found: dict[str, list[HealthLine]] = {}
    for line in lines:
        found.setdefault(line.section, []).append(line)
    return found
