"""What a Status of the API server means: the typed reason, and the fix it calls for."""

import json
import re
from collections.abc import Mapping
from typing import Any, TypeAlias

from tailhound.model import Reason
from tailhound.requests import GetObject, ListObjects
from tailhound.transports.http import NoAnswer, said

Asked: TypeAlias = GetObject | ListObjects
RBAC_FIX = "kubectl apply -f deploy/rbac/read.yaml"

_CANNOT = re.compile(
    r'User "(?P<user>[^"]{0,300})" cannot (?P<verb>\w{1,20}) resource "(?P<resource>[^"]{1,200})" '
    r'in API group "(?P<group>[^"]{0,200})" '
    r'(?:in the namespace "(?P<namespace>[^"]{1,200})"|at the cluster scope)'
)


class Expired(Exception):
    """410: the list that is being paged has changed too much since its first page."""


class AskedToWait(NoAnswer):
    """429: the server wants to be left alone for `seconds`."""

    def __init__(self, seconds: float, told: str) -> None:
        super().__init__(
            Reason.SKIPPED,
            f"the API server asked to wait {seconds:g} s (too many requests{told}); our calls are "
            "slowed down",
        )
        self.seconds = seconds


def refusal(status: int, headers: Mapping[str, str], body: bytes, asked: Asked) -> Exception:
    """Why an answer other than 200 is none; Expired for 410."""
    found = _status_of(body)
    text = said(found.get("message", "")) if found else said(body[:300].decode("utf-8", "replace"))
    told = f": {text}" if text else ""
    if status == 410:
        return Expired(text)
    if status == 429:
        return AskedToWait(_seconds(headers.get("Retry-After", "")), told)
    if status == 403:
        return NoAnswer(Reason.FORBIDDEN, _forbidden(text, asked))
    if status == 404:
        return _not_found(found, body, asked, told)
    if found.get("reason") in ("Timeout", "ServerTimeout") or status == 504:
        return NoAnswer(Reason.TIMEOUT, f"the API server gave up on the request{told}")
    reason, meaning = _MEANING.get(status, (Reason.UNREACHABLE, "the API server does not work"))
    return NoAnswer(reason, f"HTTP {status}: {meaning}{told}")


_MEANING: dict[int, tuple[Reason, str]] = {
    400: (Reason.UNPARSABLE, "the API server can't read the request"),
    401: (
        Reason.FORBIDDEN,
        "the API server does not accept our token: renew it (kubernetes.token or kubeconfig)",
    ),
    406: (Reason.UNPARSABLE, "the API server can't answer in JSON"),
    422: (Reason.UNPARSABLE, "the API server can't read the request"),
    503: (Reason.UNREACHABLE, "the API server, or one behind it, is not there"),
} | {
    code: (Reason.UNREACHABLE, "redirected, not followed: set kubernetes.server to the API server")
    for code in (301, 302, 303, 307, 308)
}


def _status_of(body: bytes) -> dict[str, Any]:
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) and found.get("kind") == "Status" else {}


def _forbidden(text: str, asked: Asked) -> str:
    """ "may not list pods in prod", and how to grant it."""
    match = _CANNOT.search(text)
    if match:
        what, where = f"{match['verb']} {match['resource']}", match["namespace"]
        whom = match["user"]
        group = match["group"]
    else:
        verb = "get" if isinstance(asked, GetObject) else "list"
        what, where, whom = f"{verb} {asked.resource}", asked.namespace, "our account"
        group = asked.api.rpartition("/")[0]
    return (
        f"may not {what}{f'.{group}' if group else ''} in "
        f"{where or 'the whole cluster'} as {whom}: {RBAC_FIX}"
    )


def _not_found(found: dict[str, Any], body: bytes, asked: Asked, told: str) -> NoAnswer:
    """No such object, or a cluster without such a kind, or no API server at all."""
    details = found.get("details")
    name = details.get("name") if isinstance(details, dict) else None
    if isinstance(asked, GetObject) and name == asked.name:
        where = f"{asked.namespace}/{asked.name}" if asked.namespace else asked.name
        return NoAnswer(Reason.EMPTY, f"no {asked.resource} {where} in the cluster")
    if found or body.strip() == b"404 page not found":
        return NoAnswer(
            Reason.NOT_APPLICABLE, f"this cluster has no {asked.resource} of {asked.api}"
        )
    return NoAnswer(
        Reason.UNREACHABLE, f"there is no Kubernetes API at this address (HTTP 404{told})"
    )


def _seconds(text: str) -> float:
    return float(text) if re.fullmatch(r"\d{1,5}", text) else 1.0
