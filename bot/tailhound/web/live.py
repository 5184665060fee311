"""The parts of a page that change while somebody reads it, and which of them a reader has already.

A template writes a part as one element with an id, inside `{% filter part %}`. The server marks it
with a short digest of what it says; a reader that asks again names the digests that it has, and
gets those parts empty.
"""

import hashlib
import re
from collections.abc import Mapping

from jinja2 import pass_context
from jinja2.runtime import Context
from markupsafe import Markup

HAVE = "x-have"
"""The header that names what a reader has: `head=1b2c3d4e story=5f6a7b8c`."""
_AT_MOST = 40
"""Parts of a page; what a header names beyond that is not looked at."""
_OPENING = re.compile(r"\s*<(?P<tag>[a-z]+)(?P<rest>[^>]* id=\"(?P<id>[a-z-]+)\"[^>]*|[^>]*)>")
_AGO = re.compile(r"(<time [^>]*data-ago>)[^<]*")
"""How long ago something was changes by itself: the page counts that on its own."""


def had(header: str) -> Mapping[str, str]:
    """The digests that a reader has, by the id of the part; anything unreadable is left out."""
    pairs = (word.partition("=") for word in header.split()[:_AT_MOST])
    return {id: digest for id, equals, digest in pairs if equals}


@pass_context
def part(context: Context, html: str) -> Markup:
    """The element marked with its digest; empty when the reader has it, as `have` tells.

    ValueError when it does not begin with an element that has an id: a mistake in a template.
    """
    text = str(html).strip()  # Markup would escape what is put before it
    opening = _OPENING.match(text)
    if opening is None or opening["id"] is None:
        raise ValueError(f"a live part needs an element with an id: {text[:60]}")
    digest = hashlib.sha256(_AGO.sub(r"\1", text).encode("utf-8", "replace")).hexdigest()[:12]
    marked = f'<{opening["tag"]}{opening["rest"]} data-live="{digest}">'
    have: Mapping[str, str] = context.get("have") or {}
    if have.get(opening["id"]) == digest:
        return Markup(f"{marked}</{opening['tag']}>")  # noqa: S704 - from the template itself
    return Markup(marked + text[opening.end() :])  # noqa: S704 - escaped when it was rendered
