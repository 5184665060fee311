"""The local stand-in of Slack as a web application: its API, and its channels as pages.

For the demo: the real client talks to it, and its buttons deliver the envelopes that Slack would
deliver over the socket. It listens on loopback only, and takes a click only from its own page.
"""

import asyncio
import contextlib
import json
import secrets
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from tailhound.shipped import shipped
from tailhound.slack.form_html import home_html, modal_html
from tailhound.slack.local import Channel, LocalSlack
from tailhound.slack.local_api import LocalApi, body_of
from tailhound.slack.local_hands import Deliver, Hands
from tailhound.slack.modals import feedback, silence
from tailhound.slack.render_html import message_html

Form = Mapping[str, Sequence[str]]

YOU: Final = "U0YOU"
"""Who sits before the demo's channel."""

_LOOPBACK: Final = frozenset({"127.0.0.1", "localhost", "::1"})
_HOME_SECONDS: Final = 2.0
_POLICY: Final = {
    "Content-Security-Policy": "default-src 'none'; img-src 'self'; style-src 'self'; "
    "script-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
}
_FILES: Final = {
    "channel.css": "text/css",
    "channel.js": "text/javascript",
    "icon.svg": "image/svg+xml",
}


class LocalApp:
    """The routes over a `LocalSlack`. `deliver` gets each click; it may take a second.

    `base` is the address at which it is reached from outside, mounted or not
    ("http://127.0.0.1:8080/slack"). `about` is one more sentence on what is simulated.
    """

    def __init__(
        self,
        slack: LocalSlack,
        deliver: Deliver,
        *,
        base: str,
        user: str = YOU,
        about: str = "",
    ) -> None:
        self._slack = slack
        self._hands = Hands(slack, deliver, user)
        self._about = about
        self._base = base.rstrip("/")
        self._path = urlsplit(self._base).path
        self._key = secrets.token_urlsafe(24)
        slack.serve_at(self._base)
        folder = shipped("templates") / "slack"
        self._folder: Path = folder
        self._pages = Environment(
            loader=FileSystemLoader(folder), autoescape=True, undefined=StrictUndefined
        )
        self.asgi = Starlette(
            routes=[
                Route("/", self._home),
                Route("/channel/{id}", self._channel),
                Route("/channel/{id}", self._click, methods=["POST"]),
                Route("/channel/{id}/messages", self._messages),
                *LocalApi(slack).routes(),
                Route("/channel/{id}/command", self._command, methods=["POST"]),
                Route("/modal", self._modal),
                Route("/modal", self._use_modal, methods=["POST"]),
                Route("/home", self._home_tab),
                Route("/home", self._use_home, methods=["POST"]),
                Route("/file/{id}", self._upload_shown),
                Route("/{name}", self._file),
            ]
        )

    @property
    def api_url(self) -> str:
        """What slack_sdk's client takes as its base address."""
        return f"{self._base}/api/"

    async def _home(self, request: Request) -> Response:
        first = next(iter(self._slack.channels), "")
        return RedirectResponse(f"{self._path}/channel/{first}", status_code=303)

    async def _channel(self, request: Request) -> Response:
        channel = self._known(request)
        return self._page("channel.html.j2", channel)

    async def _messages(self, request: Request) -> Response:
        channel = self._known(request)
        if request.headers.get("if-none-match") == str(self._slack.changed):
            return Response(status_code=304)
        return self._page("messages.html.j2", channel)

    def _page(self, template: str, channel: Channel) -> Response:
        changed = self._slack.changed
        text = self._pages.get_template(template).render(
            base=self._path,
            about=self._about,
            changed=changed,
            channel=channel,
            key=self._key,
            modal=self._slack.modal(self._hands.user),
            messages=[self._with_replies(channel.id, m) for m in self._slack.messages(channel.id)],
            whispers=[self._shown(whisper)["html"] for whisper in channel.whispers[-1:]],
        )
        return HTMLResponse(text, headers={**_POLICY, "ETag": str(changed)})

    def _shown(self, message: Mapping[str, Any]) -> dict[str, Any]:
        click = f'<input type="hidden" name="ts" value="{escape(message["ts"])}">{self._hidden()}'
        files = f"{self._path}/file"
        drawn = message_html(message, click=click, now=self._slack.now, files=files)
        body = Markup(drawn)  # noqa: S704  escaped there
        return {"ts": message["ts"], "edited": "edited" in message, "html": body}

    def _with_replies(self, channel: str, message: Mapping[str, Any]) -> dict[str, Any]:
        replies = self._slack.thread(channel, message["ts"])[1:] if "thread_ts" in message else []
        return {**self._shown(message), "replies": [self._shown(reply) for reply in replies]}

    async def _click(self, request: Request) -> Response:
        form = await self._own_form(request)
        channel = self._known(request)
        which = (_one(form, "ts"), _one(form, "action_id"), _one(form, "block_id"))
        try:
            await asyncio.to_thread(self._hands.press, channel.id, *which)
        except LookupError as error:
            raise HTTPException(404, "that message has no such button any more") from error
        return self._to(f"/channel/{channel.id}")

    async def _command(self, request: Request) -> Response:
        form = await self._own_form(request)
        channel = self._known(request)
        text = _one(form, "text").removeprefix("/tailhound").strip()
        await asyncio.to_thread(self._hands.type, channel.id, text)
        return self._to(f"/channel/{channel.id}")

    async def _modal(self, request: Request) -> Response:
        return self._shown_modal({})

    def _shown_modal(self, errors: Mapping[str, str]) -> Response:
        view = self._slack.modal(self._hands.user)
        if view is None:
            return self._to("/")
        form = modal_html(view, errors, hidden=self._hidden(), files=f"{self._path}/file")
        told = json.dumps(view.body["blocks"], ensure_ascii=False)
        waits = any(words in told for words in (feedback.LOADING, silence.LOADING))
        return self._form("modal", form, errors.get("", ""), waits=waits)

    async def _use_modal(self, request: Request) -> Response:
        form = await self._own_form(request)
        try:
            errors = await asyncio.to_thread(self._act, form)
        except LookupError:
            return self._to("/modal")  # the app has changed the form meanwhile: look at it again
        return self._shown_modal(errors) if errors else self._to("/modal")

    def _act(self, form: Form) -> Mapping[str, str]:
        """Fill in the modal, then do what was pressed; what is wrong, by block id."""
        if "close" in form:
            self._hands.close()
            return {}
        self._hands.fill(form)
        if "use" in form:
            self._hands.use(_one(form, "use"))
        return self._hands.submit() if "submit" in form else {}

    async def _home_tab(self, request: Request) -> Response:
        user = self._hands.user
        old = self._slack.home(user)
        seen = old.hash if old else ""
        await asyncio.to_thread(self._hands.look_home)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_HOME_SECONDS):
                while (view := self._slack.home(user)) is None or view.hash == seen:
                    await asyncio.sleep(0.02)
        view = self._slack.home(user)
        if view is None:
            return self._form("home", "<p>The app has drawn no home tab.</p>", "")
        drawn = home_html(view, hidden=self._hidden(), files=f"{self._path}/file")
        return self._form("home", drawn, "")

    async def _use_home(self, request: Request) -> Response:
        form = await self._own_form(request)
        try:
            await asyncio.to_thread(lambda: self._hands.use(_one(form, "use"), home=True))
        except LookupError as error:
            raise HTTPException(404, "the home tab has no such button any more") from error
        return self._to("/")

    async def _upload_shown(self, request: Request) -> Response:
        file = self._slack.file(request.path_params["id"])
        if file is None or file.content is None:
            raise HTTPException(404, "there is no such file")
        kind = "image/png" if file.content.startswith(b"\x89PNG") else "text/plain; charset=utf-8"
        return Response(file.content, media_type=kind, headers=_POLICY)

    async def _own_form(self, request: Request) -> Form:
        """The fields of a form that this application served, and nobody else."""
        self._own_page_only(request)
        form = parse_qs((await body_of(request)).decode("utf-8", "replace"))
        if not secrets.compare_digest(_one(form, "key").encode(), self._key.encode()):
            raise HTTPException(403, "this click does not come from the page that was served")
        return form

    def _to(self, path: str) -> Response:
        return RedirectResponse(f"{self._path}{path}", status_code=303)

    def _hidden(self) -> str:
        return f'<input type="hidden" name="key" value="{escape(self._key)}">'

    def _form(self, kind: str, form: str, trouble: str, *, waits: bool = False) -> Response:
        """A page with a form; one that waits for its content looks again by itself."""
        text = self._pages.get_template("form.html.j2").render(
            about=self._about,
            base=self._path,
            kind=kind,
            waits=waits,
            form=Markup(form),  # noqa: S704  escaped there
            trouble=trouble,
        )
        return HTMLResponse(text, headers=_POLICY)

    def _own_page_only(self, request: Request) -> None:
        """A click counts only on loopback, and only from the page itself."""
        host = urlsplit(f"//{request.headers.get('host', '')}").hostname or ""
        origin = urlsplit(request.headers.get("origin", ""))
        if host not in _LOOPBACK or (origin.hostname or "") not in _LOOPBACK:
            raise HTTPException(403, "clicks are taken on this machine only")
        if origin.netloc != request.headers.get("host", ""):
            raise HTTPException(403, "this click comes from another page")

    async def _file(self, request: Request) -> Response:
        name = request.path_params["name"]
        if name not in _FILES:
            raise HTTPException(404)
        text = (self._folder / name).read_text(encoding="utf-8")
        return Response(text, media_type=_FILES[name], headers=_POLICY)

    def _known(self, request: Request) -> Channel:
        channel = self._slack.channels.get(request.path_params["id"])
        if channel is None:
            raise HTTPException(404, "there is no such channel")
        return channel


def _one(form: Form, name: str) -> str:
    return next(iter(form.get(name, ())), "")
