"""The pages of incidents: the list, one incident, its raw outputs, its exports."""

from collections.abc import Sequence
from dataclasses import dataclass

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from tailhound.model import OPEN_STATES, Incident
from tailhound.model.redaction import redacted
from tailhound.store.finding import Wanted
from tailhound.web.drawn import drawn
from tailhound.web.live import HAVE, had
from tailhound.web.query import SPANS, ListQuery, WrongQuery
from tailhound.web.screen import Screen

ROWS = 100
"""The most rows of one page; the JSON gives more at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Listed:
    """What a list shows: a page of incidents, and whether there are more, or any at all."""

    incidents: Sequence[Incident]
    more: bool
    ever: bool
    open: str
    revision: int


class Pages:
    """Routes that answer with HTML or Markdown about incidents."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._parts = screen.parts

    async def root(self, _request: Request) -> Response:
        """GET /: the list."""
        return RedirectResponse("/incidents", 302)

    async def incidents(self, request: Request) -> Response:
        """GET /incidents: open ones unless asked otherwise."""
        try:
            query = ListQuery.of(request.query_params, state="open").at_most(ROWS)
        except WrongQuery as error:
            return self._screen.told(400, "Not understood", str(error))
        listed = await self._screen.read(self._list, query)
        return await self._screen.page(
            "incidents",
            incidents=listed.incidents,
            query=query,
            older=query.page_after(listed.incidents[-1]) if listed.more else "",
            open=listed.open,
            ever=listed.ever,
            causes=self._causes(query.cause),
            spans=tuple(SPANS),
            slack=await self._screen.read(self._parts.slack_home),
            have=had(request.headers.get(HAVE, "")),
            revision=listed.revision,
        )

    def _list(self, query: ListQuery) -> _Listed:
        reader = self._parts.reader
        revision = reader.revision()  # before the rows: what changes meanwhile is asked for again
        found = reader.search(query.wanted(self._parts.clock()))
        return _Listed(
            incidents=found[: query.limit],
            more=len(found) > query.limit,
            ever=bool(found or reader.search(Wanted(limit=1))),
            open=self._open(),
            revision=revision,
        )

    def _open(self) -> str:
        """`2 open`; "" when nobody counts."""
        if self._parts.counts is None:
            return ""
        counted = self._parts.counts().incidents
        return f"{sum(counted.get(state, 0) for state in OPEN_STATES)} open"

    def _causes(self, chosen: str) -> tuple[str, ...]:
        """The causes to choose from: those of the runbooks, and the one that is chosen."""
        catalogue = self._parts.catalogue
        known = [runbook.id for runbook in catalogue.runbooks] if catalogue else []
        return tuple(sorted({*known, *([chosen] if chosen else ())}))

    async def incident(self, request: Request) -> Response:
        """GET /incidents/{id}."""
        reader = self._parts.reader
        revision = await self._screen.read(reader.revision)
        incident = await self._screen.found(request)
        alike = await self._screen.read(reader.alike, incident)
        return await self._screen.page(
            "incident",
            incident=incident,
            charts=await self._screen.read(drawn, incident, self._parts.clock()),
            alike=alike,
            known=self._causes(""),
            have=had(request.headers.get(HAVE, "")),
            slack=await self._screen.read(self._parts.slack_link, incident),
            revision=revision,
        )

    async def raw(self, request: Request) -> Response:
        """GET /incidents/{id}/raw/{n}: one raw output as plain text, `n` from 1."""
        incident = await self._screen.found(request)
        outputs = await self._screen.read(self._parts.reader.raw, incident.id)
        n = request.path_params["n"]
        if not 1 <= n <= len(outputs):
            raise HTTPException(404)
        output = outputs[n - 1]
        cut = "\n[more came than is kept]\n" if output.truncated else ""
        text = f"# {redacted(output.question)}\n\n{redacted(output.text)}{cut}"
        return self._screen.plain(text)

    async def markdown(self, request: Request) -> Response:
        """GET /incidents/{id}/export.md: everything that the page says, to keep or to pass on."""
        incident = await self._screen.found(request)
        name = f"{incident.id}.md"
        return self._screen.text("export", name, incident=incident, page=self._address(incident))

    async def postmortem(self, request: Request) -> Response:
        """GET /incidents/{id}/postmortem: the draft, to read and to copy."""
        incident = await self._screen.found(request)
        alike = await self._screen.read(self._parts.reader.alike, incident)
        return await self._screen.page("postmortem", incident=incident, alike=alike)

    async def postmortem_file(self, request: Request) -> Response:
        """GET /incidents/{id}/postmortem.md: the same as Markdown."""
        incident = await self._screen.found(request)
        alike = await self._screen.read(self._parts.reader.alike, incident)
        name = f"{incident.id}-postmortem.md"
        page = self._address(incident)
        return self._screen.text("postmortem", name, incident=incident, alike=alike, page=page)

    def _address(self, incident: Incident) -> str:
        return self._parts.settings.listen.page_of(incident.id)
