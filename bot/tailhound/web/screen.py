"""What all pages share: reading off the event loop, rendering, and what a wrong address gets."""

import re
from collections.abc import Callable
from http import HTTPStatus
from typing import Any, TypeVar

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response

from tailhound.model import Incident
from tailhound.web.api import ID
from tailhound.web.guard import HEADERS
from tailhound.web.headline import seen
from tailhound.web.parts import Parts
from tailhound.web.pool import Pool
from tailhound.web.render import Renderer

T = TypeVar("T")
_PLAIN = {"content-type": "text/plain; charset=utf-8"}
_NAME = re.compile(r"[^0-9A-Za-z.-]+")


class Screen:
    """Answers people."""

    def __init__(self, parts: Parts, pool: Pool, renderer: Renderer) -> None:
        self.parts = parts
        self._pool = pool
        self._renderer = renderer

    async def read(self, ask: Callable[..., T], *args: Any, **named: Any) -> T:
        """The result of a call that blocks; StoreUnavailable when it takes too long."""
        return await self._pool.run(ask, *args, **named)

    async def found(self, request: Request) -> Incident:
        """The incident of the address, whole; 404 without it."""
        id = request.path_params["id"]
        incident = await self.read(self.parts.reader.get, id) if ID.fullmatch(id) else None
        if incident is None:
            raise HTTPException(404)
        return incident

    async def page(self, template: str, **values: Any) -> Response:
        """A page of a template of `templates/web`."""
        stopped = await self.read(self.parts.stopped)
        return self._page(template, 200, stopped=stopped, **values)

    def told(self, status: int, title: str, detail: str) -> Response:
        """A page that says why there is no other; it reads nothing."""
        return self._page("error", status, title=title, detail=detail)

    def text(self, template: str, name: str, **values: Any) -> Response:
        """A Markdown file of a template, to be read in the browser or saved under `name`."""
        text = self._renderer.markdown(template, now=self.parts.clock(), **values)
        safe = _NAME.sub("-", name)
        headers = _PLAIN | {"content-disposition": f'inline; filename="{safe}"'}
        return Response(text.encode("utf-8", "replace"), headers=headers)

    @staticmethod
    def plain(text: str) -> Response:
        """Text as it is; what is no Unicode becomes `?`."""
        return Response(text.encode("utf-8", "replace"), headers=_PLAIN)

    async def refused(self, request: Request, error: Exception) -> Response:
        """What an unknown address or method gets."""
        status = error.status_code if isinstance(error, HTTPException) else 500
        headers = error.headers if isinstance(error, HTTPException) else HEADERS
        phrase = HTTPStatus(status).phrase
        if _wants_json(request):
            return JSONResponse({"error": phrase.lower()}, status, headers=headers)
        if status == 404:
            kind = request.url.path.split("/")[1]
            wanted = seen(request.path_params.get("id", ""), 40)
            return self._page("missing", 404, wanted=wanted, kind=kind)
        page = self.told(status, phrase, "")
        page.headers.update(headers or {})
        return page

    async def store_down(self, request: Request, error: Exception) -> Response:
        """What people get while the database gives no answer."""
        if _wants_json(request):
            return JSONResponse({"error": str(error)}, 503)
        return self.told(503, "The database does not answer", str(error))

    def _page(self, template: str, status: int, **values: Any) -> Response:
        html = self._renderer.render(
            template,
            now=self.parts.clock(),
            recorded=self.parts.recorded,
            **({"stopped": None} | values),
        )
        return HTMLResponse(html, status)


def _wants_json(request: Request) -> bool:
    return request.url.path.startswith(("/api/", "/webhook/"))
