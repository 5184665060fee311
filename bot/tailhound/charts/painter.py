"""Drawing in a process of its own, so that the server never holds matplotlib.

One process at a time draws all charts of one incident and ends. It gets five seconds, the wait for
the one before it included, and is killed after that: the text goes without charts, never late.
"""

import asyncio
import base64
import binascii
import json
import os
import shutil
import sys
import tempfile
import weakref
from collections.abc import Sequence

from tailhound.charts.chart import Chart, charts_to_json
from tailhound.model import Missing, Reason
from tailhound.model.redaction import plain

SECONDS = 5.0
_MOST_BYTES = 8 * 1024 * 1024
_PROGRAM = (sys.executable, "-m", "tailhound.charts.draw")


class Painter:
    """Draws charts. `program` reads what `charts_to_json` writes, and answers as `draw` does."""

    def __init__(self, *, seconds: float = SECONDS, program: Sequence[str] = _PROGRAM) -> None:
        self._seconds = seconds
        self._program = tuple(program)
        self._turn = asyncio.Semaphore(1)
        self._home = ""

    async def images(self, charts: Sequence[Chart]) -> tuple[bytes, ...] | Missing:
        """The PNG of each chart, in their order; or why there is none."""
        if not charts:
            return ()
        try:
            async with asyncio.timeout(self._seconds), self._turn:
                return _read(*await self._asked(charts_to_json(charts).encode()), len(charts))
        except TimeoutError:
            return Missing(Reason.TIMEOUT, f"charts were not drawn within {self._seconds:g} s")
        except OSError as error:
            return Missing(Reason.UNREACHABLE, f"charts can't be drawn: {error}")

    async def _asked(self, text: bytes) -> tuple[int, bytes, bytes]:
        """How the program ended, and what it wrote. It does not outlive the question."""
        process = await asyncio.create_subprocess_exec(
            *self._program,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=self._environment(),
            start_new_session=True,
        )
        try:
            out, err = await process.communicate(text)
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
        return process.returncode or 0, out, err

    def _environment(self) -> dict[str, str]:
        """What the program needs, and no secret of the server.

        matplotlib reads its settings from a home and keeps its list of fonts there: an empty one of
        its own makes images the same everywhere, also where no home can be written.
        """
        if not self._home:
            self._home = tempfile.mkdtemp(prefix="tailhound-charts-")
            weakref.finalize(self, shutil.rmtree, self._home, ignore_errors=True)
        kept = {name: os.environ[name] for name in ("PATH", "PYTHONPATH") if name in os.environ}
        return {**kept, "HOME": self._home, "MPLCONFIGDIR": self._home, "PYTHONUTF8": "1"}


def _read(code: int, out: bytes, err: bytes, count: int) -> tuple[bytes, ...] | Missing:
    if code != 0:
        said = plain(err.decode(errors="replace").strip().rpartition("\n")[2], 200)
        return Missing(Reason.UNPARSABLE, f"charts were not drawn (exit status {code}): {said}")
    try:
        images = tuple(base64.b64decode(one, validate=True) for one in json.loads(out))
    except (ValueError, TypeError, binascii.Error):
        images = ()
    if len(images) != count or len(out) > _MOST_BYTES:
        return Missing(Reason.UNPARSABLE, "charts were not drawn: no images came back")
    return images
