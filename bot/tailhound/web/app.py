"""The web application: webhook, JSON, probes and pages on one set of parts."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from tailhound.errors import StoreUnavailable
from tailhound.web.api import Api
from tailhound.web.assets import Assets
from tailhound.web.behind import Behind
from tailhound.web.guard import Guard
from tailhound.web.knowledge import Knowledge
from tailhound.web.own import OwnOnly
from tailhound.web.pages import Pages
from tailhound.web.parts import Parts
from tailhound.web.pool import Pool
from tailhound.web.render import Renderer
from tailhound.web.screen import Screen
from tailhound.web.share import Share
from tailhound.web.strays import HOOK, Strays
from tailhound.web.stream import Room, Stream
from tailhound.web.visitor import Visitors
from tailhound.web.webhook import Webhook


def create_app(parts: Parts, *, extra: Sequence[BaseRoute] = ()) -> Starlette:
    """The application. `extra` routes come first. SettingsError when a credential can't be read.

    `app.state.stream.close()` ends the live streams; `serve` does so before it waits for requests.
    """
    pool, probing = Pool(), Pool(threads=1)
    api, assets = Api(parts, pool, probing), Assets()
    visitors = Visitors(parts.settings.listen.client_header)
    stream = Stream(lambda: pool.run(parts.reader.revision), room=Room(visitors=visitors))
    strays = Strays(parts.metrics)
    screen = Screen(parts, pool, Renderer(parts.settings, assets, _navigation(parts)))

    async def refused(request: Request, error: Exception) -> Response:
        return strays.answer(request, error) or await screen.refused(request, error)

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        yield
        stream.close()
        pool.close()
        probing.close()

    app = Starlette(
        routes=[*extra, *_machines(parts, api, stream), *_people(screen, assets)],
        middleware=[
            Middleware(Guard),
            Middleware(OwnOnly, parts.settings.listen, parts.metrics),
            Middleware(Share, visitors),
            Middleware(GZipMiddleware, minimum_size=1000),
        ],
        exception_handlers={
            HTTPException: refused,
            StoreUnavailable: screen.store_down,
            Exception: screen.refused,
        },
        lifespan=lifespan,
    )
    app.state.stream = stream
    return app


def _navigation(parts: Parts) -> dict[str, str]:
    """The pages of the head line, by what they are called."""
    pages = {"Incidents": "/incidents"}
    if parts.catalogue is not None:
        pages["Runbooks"] = "/runbooks"
    if parts.accuracy is not None:
        pages["Accuracy"] = "/accuracy"
    if parts.health is not None:
        pages["Health"] = "/health"
    return pages


def _machines(parts: Parts, api: Api, stream: Stream) -> list[BaseRoute]:
    return [
        Route(HOOK, Webhook(parts).post, methods=["POST"]),
        Route("/api/incidents", api.incidents),
        Route("/api/incidents/{id}", api.incident),
        Route("/api/stream", stream.get),
        Route("/healthz", api.healthz),
        Route("/readyz", api.readyz),
        Route("/metrics", api.metrics),
    ]


def _people(screen: Screen, assets: Assets) -> list[BaseRoute]:
    pages, behind, knowledge = Pages(screen), Behind(screen), Knowledge(screen)
    return [
        Route("/", pages.root),
        Route("/incidents", pages.incidents),
        Route("/incidents/{id}", pages.incident),
        Route("/incidents/{id}/raw/{n:int}", pages.raw),
        Route("/incidents/{id}/causes/{runbook}", behind.cause),
        Route("/incidents/{id}/evidence/{name}", behind.evidence),
        Route("/incidents/{id}/alerts", behind.alerts),
        Route("/incidents/{id}/export.md", pages.markdown),
        Route("/incidents/{id}/postmortem", pages.postmortem),
        Route("/incidents/{id}/postmortem.md", pages.postmortem_file),
        Route("/runbooks", knowledge.runbooks),
        Route("/runbooks/{id}.yaml", knowledge.source),
        Route("/runbooks/{id}", knowledge.runbook),
        Route("/accuracy", knowledge.accuracy),
        Route("/health", knowledge.health),
        Route("/static/{name}", assets.get),
    ]
