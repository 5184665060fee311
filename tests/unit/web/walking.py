"""Every page of an incident, by walking its links as a reader without a script would."""

import re
from collections.abc import Mapping
from html import unescape

from tailhound.model import Incident
from tailhound.web.app import create_app
from tests.unit.web.asgi import request
from tests.unit.web.shelf import Shelf, parts

AT_MOST = 70_000
"""Bytes of a page as it is."""


def pages_of(incident: Incident) -> dict[str, str]:
    """Every page of an incident that its pages lead to, by address."""
    app = create_app(parts(Shelf((incident,))))
    found: dict[str, str] = {}
    waiting = [f"/incidents/{incident.id}"]
    while waiting:
        path = waiting.pop()
        answer = request(app, path)
        assert answer.status == 200, path
        found[path] = answer.text
        led = re.findall(r'(?:href|data-from)="([^"#]+)', answer.text)
        waiting += {
            link
            for link in map(unescape, led)
            if link.startswith(f"/incidents/{incident.id}/")
            and "/raw/" not in link
            and not link.endswith(".md")
            and link not in found
            and link not in waiting
        }
    return found


def over(pages: Mapping[str, str]) -> dict[str, int]:
    """The pages that are too large, with their sizes."""
    sizes = {path: len(html.encode()) for path, html in pages.items()}
    return {path: size for path, size in sizes.items() if size > AT_MOST}
