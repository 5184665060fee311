"""Style, script and icon: read once, from the package, served under names that hold their hash."""

import hashlib
from pathlib import Path

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from tailhound.charts.svg import STYLE

_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}


_MORE = {"tailhound.css": STYLE}
"""What is written behind a file: charts bring their own colours."""


class Assets:
    """The files of the folder `static`."""

    def __init__(self, folder: Path = Path(__file__).parent / "static") -> None:
        self._files: dict[str, tuple[bytes, str]] = {}
        self._names: dict[str, str] = {}
        for path in sorted(folder.iterdir()):
            if path.suffix in _TYPES:
                self._add(path)

    def _add(self, path: Path) -> None:
        content = path.read_bytes() + _MORE.get(path.name, "").encode()
        digest = hashlib.sha256(content).hexdigest()[:12]
        hashed = f"{path.stem}-{digest}{path.suffix}"
        self._files[hashed] = (content, _TYPES[path.suffix])
        self._names[path.name] = f"/static/{hashed}"

    def url(self, name: str) -> str:
        """The address of a file; KeyError for one that is not shipped."""
        return self._names[name]

    async def get(self, request: Request) -> Response:
        """The endpoint: what stands under a hash never changes."""
        found = self._files.get(request.path_params["name"])
        if found is None:
            raise HTTPException(404)
        content, kind = found
        return Response(
            content,
            media_type=kind,
            headers={"cache-control": "public, max-age=31536000, immutable"},
        )
