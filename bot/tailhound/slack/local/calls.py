"""A call of the Web API, as it comes in and as it is answered."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tailhound.slack.local.world import Json, Refused

_JSON = ("blocks", "metadata", "view")
_UNREADABLE = {"view": "invalid_arguments"}


@dataclass(frozen=True, slots=True)
class Reply:
    """An HTTP answer: status, headers, JSON body."""

    body: Json
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)


def parsed(arguments: Json) -> dict[str, Any]:
    """Arguments with `blocks`, `metadata`, `view` as JSON values: forms carry them as text."""
    result = dict(arguments)
    for key in _JSON:
        if isinstance(result.get(key), str):
            try:
                result[key] = json.loads(result[key])
            except ValueError:
                raise Refused(_UNREADABLE.get(key, f"invalid_{key}_format")) from None
    return result
