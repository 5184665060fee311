"""A recording: what one investigation asked and what came back, redacted, as one JSON file.

It is made by a `Recorder` (the `record` callback of `durable.gather`), replayed by
`transports.replay`, and is what demos, tests and bundles are made of. The format is versioned;
reading is strict: what it does not know, it refuses, with the place.
"""

import gzip
import json
import re
import zlib
from dataclasses import dataclass, fields, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from tailhound.errors import RecordingUnreadable, Refused
from tailhound.flow import Request
from tailhound.model import Missing, Reason
from tailhound.model.redaction import scrubbed
from tailhound.transports.recording_answers import (
    CODECS,
    REQUESTS,
    finite,
    known_only,
    missing_of,
    request_of,
    typed,
)

VERSION = 1
BYTES_AT_MOST = 256 << 20
"""Of a recording, unpacked: a small file must not fill the memory."""

VALUES_AT_MOST = 4_000_000
"""JSON values in a recording: each takes up to thirty times its bytes, once it is read."""

_GZIP = b"\x1f\x8b"
_STRINGS = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)', re.DOTALL)


@dataclass(frozen=True, slots=True)
class Answer:
    """One question, its reply (or Missing), and the seconds it took."""

    request: Request[Any]
    reply: Any
    took: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """`as_of` is the moment that was "now"; `alert` is the body as Alertmanager sent it.

    `incidents` are what was made of it, with their verdicts, as plain JSON; () when nobody decided.
    """

    as_of: datetime
    alert: Any
    answers: tuple[Answer, ...]
    incidents: tuple[Any, ...] = ()


class Recorder:
    """Collects answers; `record` fits the callback of `gather`. One per investigation.

    A question that was asked again (late evidence) keeps its last real answer.
    """

    def __init__(self, as_of: datetime, alert: Any) -> None:
        self._as_of = as_of
        self._alert = alert
        self._answers: dict[Request[Any], Answer] = {}

    def record(self, request: Request[Any], reply: Any, took: float) -> None:
        """Keep one answer, redacted."""
        key = without_secrets(request)
        if isinstance(reply, Missing) and key in self._answers:
            return
        self._answers[key] = Answer(key, scrubbed(reply), round(took, 3))

    def recording(self) -> Recording:
        """What was recorded so far, in an order that does not depend on who answered first."""
        answers = sorted(self._answers.values(), key=lambda answer: _sorting(answer.request))
        return Recording(as_of=self._as_of, alert=scrubbed(self._alert), answers=tuple(answers))


def without_secrets(request: Request[Any]) -> Request[Any]:
    """The question as recordings hold it: a secret that came in by a label is not kept."""
    try:
        clean: Request[Any] = scrubbed(request)
    except Refused:  # the mark can't be part of a name; then the name held no secret either
        return request
    return clean


def _sorting(request: Request[Any]) -> tuple[str, str, str]:
    return type(request).__name__, request.backend, request.shown


def written(recording: Recording, *, indent: int | None = 1) -> str:
    """The recording as the text of its file.

    A number that JSON can't hold (1e999) makes its answer one that can't be read.
    """
    try:
        return _text_of(recording, indent)
    except ValueError:
        answers = tuple(map(_finite, recording.answers))
        return _text_of(replace(recording, answers=answers), indent)


def _finite(answer: Answer) -> Answer:
    try:
        json.dumps(_written(answer), allow_nan=False)
    except ValueError:
        why = "the answer holds a number that is not finite"
        return replace(answer, reply=Missing(Reason.UNPARSABLE, why))
    return answer


def _text_of(recording: Recording, indent: int | None) -> str:
    body = {
        "tailhound_recording": VERSION,
        "as_of": recording.as_of.isoformat(),
        "alert": recording.alert,
        **({"incidents": list(recording.incidents)} if recording.incidents else {}),
        "answers": [_written(answer) for answer in recording.answers],
    }
    return json.dumps(body, indent=indent, ensure_ascii=False, allow_nan=False) + "\n"


def save(recording: Recording, path: Path) -> None:
    """Write the file, compressed when its name ends in `.gz`."""
    content = written(recording).encode()
    is_small = path.suffix == ".gz"
    path.write_bytes(gzip.compress(content, mtime=0) if is_small else content)


def load(path: Path) -> Recording:
    """The recording in a file; RecordingUnreadable names the file and the place in it."""
    try:
        with path.open("rb") as file:
            return parsed(_text(file.read(BYTES_AT_MOST + 1)))
    except (OSError, UnicodeDecodeError, zlib.error) as error:
        raise RecordingUnreadable(f"{path}: can't be read: {error}") from error
    except RecordingUnreadable as error:
        raise RecordingUnreadable(f"{path}: {error}") from error


def _text(content: bytes) -> str:
    """The text of a file that may be compressed; RecordingUnreadable when it grows too large."""
    if content.startswith(_GZIP):
        content = zlib.decompressobj(31).decompress(content, BYTES_AT_MOST + 1)
    if len(content) > BYTES_AT_MOST:
        raise RecordingUnreadable(f"holds over {BYTES_AT_MOST >> 20} MiB when it is unpacked")
    return content.decode()


def _check_values(text: str) -> None:
    """RecordingUnreadable when it holds more values than the memory should."""
    if sum(text.count(mark) for mark in ",[{") <= VALUES_AT_MOST:
        return
    bare = _STRINGS.sub("", text)
    if sum(bare.count(mark) for mark in ",[{") > VALUES_AT_MOST:
        raise RecordingUnreadable(f"holds over {VALUES_AT_MOST:,} JSON values")


def parsed(text: str) -> Recording:
    """The recording in a text; RecordingUnreadable says what is wrong with it, and where."""
    _check_values(text)
    try:
        body = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise RecordingUnreadable(f"is not JSON: {error}") from error
    if not isinstance(body, dict) or "tailhound_recording" not in body:
        raise RecordingUnreadable("is no recording: `tailhound record` makes one")
    if body["tailhound_recording"] != VERSION:
        version = body["tailhound_recording"]
        raise RecordingUnreadable(f"has version {version!r}; this tailhound reads {VERSION}")
    known_only(body, {"tailhound_recording", "as_of", "alert", "incidents", "answers"}, "top level")
    answers = typed(body.get("answers"), list, "answers")
    return Recording(
        as_of=_moment(body.get("as_of")),
        alert=body.get("alert"),
        answers=tuple(_answer(item, f"answers[{at}]") for at, item in enumerate(answers)),
        incidents=tuple(typed(body.get("incidents", []), list, "incidents")),
    )


def _written(answer: Answer) -> dict[str, Any]:
    kind = type(answer.request).__name__
    if REQUESTS.get(kind) is not type(answer.request):
        raise TypeError(f"a recording can't hold a {kind}")
    asked = {item.name: getattr(answer.request, item.name) for item in fields(answer.request)}  # type: ignore[arg-type]
    told: dict[str, Any] = {"ask": {"type": kind, **asked}, "took": answer.took}
    if isinstance(answer.reply, Missing):
        return told | {
            "missing": {"reason": answer.reply.reason.value, "detail": answer.reply.detail}
        }
    return told | {"reply": CODECS[kind][0](answer.reply)}


def _answer(item: Any, at: str) -> Answer:
    known_only(typed(item, dict, at), {"ask", "took", "reply", "missing"}, at)
    if ("reply" in item) == ("missing" in item):
        raise RecordingUnreadable(f"{at}: holds either a reply or a missing")
    request = request_of(item.get("ask"), f"{at}.ask")
    took = finite(item.get("took", 0.0), f"{at}.took")
    if "missing" in item:
        return Answer(request, missing_of(item["missing"], f"{at}.missing"), took)
    decode = CODECS[type(request).__name__][1]
    try:
        return Answer(request, decode(item["reply"]), took)
    except _WRONG as error:
        kind = type(request).__name__
        raise RecordingUnreadable(f"{at}.reply: is no answer to a {kind}: {error!r}") from error


_WRONG = (TypeError, ValueError, KeyError, AttributeError, RecursionError, RecordingUnreadable)


def _moment(value: Any) -> datetime:
    try:
        moment = datetime.fromisoformat(typed(value, str, "as_of"))
    except ValueError as error:
        raise RecordingUnreadable(f"as_of: {error}") from error
    if moment.tzinfo is None:
        raise RecordingUnreadable("as_of: needs a time zone")
    return moment
