"""The pages that people read. Read-only: nothing here changes anything."""

from collections.abc import Sequence
from http import HTTPStatus
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response

from tailhound.model import Incident
from tailhound.model.redaction import redacted
from tailhound.web.api import ID
from tailhound.web.guard import HEADERS
from tailhound.web.headline import OPEN_STATES, seen
from tailhound.web.parts import Parts, RawOutput
from tailhound.web.pool import Pool
from tailhound.web.query import ListQuery, WrongQuery
from tailhound.web.render import Renderer


class Pages:
    """Routes that answer with HTML."""

    def __init__(self, parts: Parts, pool: Pool, renderer: Renderer) -> None:
        self._parts = parts
        self._pool = pool
        self._renderer = renderer

    async def root(self, _request: Request) -> Response:
        """GET /: the list."""
        return RedirectResponse("/incidents", 302)

    async def incidents(self, request: Request) -> Response:
        """GET /incidents: open ones unless asked otherwise."""
        try:
            query = ListQuery.of(request.query_params, state="open")
        except WrongQuery as error:
            return self._page("error", 400, title="Not understood", detail=str(error))
        revision = await self._pool.run(self._parts.reader.revision)
        found = await self._pool.run(
            self._parts.reader.list,
            limit=query.limit + 1,
            states=query.states,
            text=query.text,
            before=query.before,
            after=query.after,
        )
        any_at_all = found or await self._pool.run(self._parts.reader.list, limit=1)
        page = found[: query.limit]
        return self._page(
            "incidents",
            incidents=page,
            query=query,
            older=query.page_after(page[-1]) if len(found) > query.limit else "",
            open=await self._open(),
            ever=bool(any_at_all),
            revision=revision,
        )

    async def _open(self) -> str:
        """`2 open`; "" when nobody counts."""
        if self._parts.counts is None:
            return ""
        counts = await self._pool.run(self._parts.counts)
        return f"{sum(counts.incidents.get(state, 0) for state in OPEN_STATES)} open"

    async def incident(self, request: Request) -> Response:
        """GET /incidents/{id}."""
        revision = await self._pool.run(self._parts.reader.revision)
        incident = await self._found(request)
        raw = await self._pool.run(self._parts.reader.raw, incident.id)
        return self._page(
            "incident",
            incident=incident,
            outputs=_by_question(raw),
            slack=self._parts.slack_link(incident),
            revision=revision,
        )

    async def raw(self, request: Request) -> Response:
        """GET /incidents/{id}/raw/{n}: one raw output as plain text, `n` from 1."""
        incident = await self._found(request)
        outputs = await self._pool.run(self._parts.reader.raw, incident.id)
        n = request.path_params["n"]
        if not 1 <= n <= len(outputs):
            raise HTTPException(404)
        output = outputs[n - 1]
        cut = "\n[more came than is kept]\n" if output.truncated else ""
        text = f"# {redacted(output.question)}\n\n{redacted(output.text)}{cut}"
        return Response(
            text.encode("utf-8", "replace"), headers={"content-type": "text/plain; charset=utf-8"}
        )

    async def runbooks(self, _request: Request) -> Response:
        """GET /runbooks: the catalogue."""
        if self._parts.runbooks is None:
            raise HTTPException(404)
        lines = await self._pool.run(self._parts.runbooks)
        return self._page("runbooks", runbooks=lines)

    async def health(self, _request: Request) -> Response:
        """GET /health: a line a backend."""
        if self._parts.health is None:
            raise HTTPException(404)
        lines = await self._pool.run(self._parts.health)
        return self._page("health", lines=lines)

    async def _found(self, request: Request) -> Incident:
        id = request.path_params["id"]
        if not ID.fullmatch(id):
            raise HTTPException(404)
        incident = await self._pool.run(self._parts.reader.get, id)
        if incident is None:
            raise HTTPException(404)
        return incident

    async def refused(self, request: Request, error: Exception) -> Response:
        """What an unknown address or method gets."""
        status = error.status_code if isinstance(error, HTTPException) else 500
        headers = error.headers if isinstance(error, HTTPException) else HEADERS
        phrase = HTTPStatus(status).phrase
        if _wants_json(request):
            return JSONResponse({"error": phrase.lower()}, status, headers=headers)
        if status == 404:
            wanted = seen(request.path_params.get("id", ""), 40)
            return self._page("missing", 404, wanted=wanted)
        page = self._page("error", status, title=phrase, detail="")
        page.headers.update(headers or {})
        return page

    async def store_down(self, request: Request, error: Exception) -> Response:
        """What people get while the database gives no answer."""
        if _wants_json(request):
            return JSONResponse({"error": str(error)}, 503)
        return self._page("error", 503, title="The database does not answer", detail=str(error))

    def _page(self, template: str, status: int = 200, **values: Any) -> Response:
        html = self._renderer.render(template, now=self._parts.clock(), **values)
        return HTMLResponse(html, status)


def _wants_json(request: Request) -> bool:
    return request.url.path.startswith(("/api/", "/webhook/"))


def _by_question(raw: Sequence[RawOutput]) -> dict[str, tuple[int, RawOutput]]:
    """The newest raw output of each question, with the number of its page."""
    return {output.question: (n, output) for n, output in enumerate(raw, 1)}
