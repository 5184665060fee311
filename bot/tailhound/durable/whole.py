"""An answer as people would have seen it had they asked themselves: whole, for the page."""

import json
from collections.abc import Mapping
from typing import Any

from tailhound.requests import Labelled, Output, Ranged


def whole(reply: Any) -> str:
    """The text of a redacted reply. Output of a host keeps its streams apart."""
    if isinstance(reply, Output):
        return _output(reply)
    if isinstance(reply, tuple) and reply and isinstance(reply[0], Labelled | Ranged):
        return "\n".join(_series(one) for one in reply)
    return json.dumps(reply, indent=1, ensure_ascii=False, default=_plain)


def _output(reply: Output) -> str:
    parts = [f"exit {reply.exit_code}", reply.stdout]
    if reply.stderr:
        parts += ["standard error:", reply.stderr]
    if reply.second is not None:
        parts += [f"{reply.gap_seconds:g} s later:", _output(reply.second)]
    return "\n".join(parts)


def _series(one: Labelled | Ranged) -> str:
    labels = ", ".join(f"{name}={json.dumps(value)}" for name, value in one.labels)
    if isinstance(one, Labelled):
        return f"{{{labels}}} {one.value!r}"
    samples = "\n".join(f"  {sample.at:.3f} {sample.value!r}" for sample in one.samples)
    return f"{{{labels}}}\n{samples}"


def _plain(value: Any) -> Any:
    return dict(value) if isinstance(value, Mapping) else str(value)
