"""The Status bodies of an API server, in the shape of tests/recorded/k8s-status."""

import json
from typing import Any

from tests.lab.cluster import Kind

USER = "tailhound-reader"
VERBS = {"POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}


class ApiError(Exception):
    """An answer that is not 200."""

    def __init__(self, code: int, body: bytes, content_type: str = "application/json") -> None:
        super().__init__(body.decode())
        self.code, self.body, self.content_type = code, body, content_type


def _status(code: int, reason: str, message: str, details: dict[str, str] | None) -> ApiError:
    body: dict[str, Any] = {"kind": "Status", "apiVersion": "v1", "metadata": {}}
    body |= {"status": "Failure", "message": message}
    if reason:
        body["reason"] = reason
    if details is not None:
        body["details"] = details
    body["code"] = code
    return ApiError(code, json.dumps(body, separators=(",", ":")).encode() + b"\n")


def unauthorized() -> ApiError:
    """No token, or an unknown one."""
    return _status(401, "Unauthorized", "Unauthorized", None)


def forbidden(verb: str, kind: Kind, namespace: str, name: str, sub: str) -> ApiError:
    """The role of the token does not hold this verb."""
    what = f'{kind.qualified} "{name}"' if name else kind.qualified
    resource = f"{kind.resource}/{sub}" if sub else kind.resource
    where = f'in the namespace "{namespace}"' if namespace else "at the cluster scope"
    message = (
        f'{what} is forbidden: User "{USER}" cannot {verb} resource "{resource}" '
        f'in API group "{kind.group}" {where}'
    )
    return _status(403, "Forbidden", message, _details(kind, name))


def forbidden_path(method: str, path: str) -> ApiError:
    """A path that names no resource, and that everybody may not ask for."""
    message = f'forbidden: User "{USER}" cannot {method.lower()} path "{path}"'
    return _status(403, "Forbidden", message, {})


def not_found(kind: Kind, name: str) -> ApiError:
    """There is no such object."""
    return _status(404, "NotFound", f'{kind.qualified} "{name}" not found', _details(kind, name))


def no_such_resource() -> ApiError:
    """The group is served, but not this resource."""
    message = "the server could not find the requested resource"
    return _status(404, "NotFound", message, {})


def no_such_path() -> ApiError:
    """Nothing is served here: plain text, as the real server answers."""
    return ApiError(404, b"404 page not found\n", "text/plain; charset=utf-8")


def bad_request(message: str) -> ApiError:
    """The query can't be understood."""
    return _status(400, "BadRequest", message, None)


def no_kubelet() -> ApiError:
    """A log was asked of a pod whose node has no kubelet."""
    return _status(500, "", "no preferred addresses found; known addresses: []", None)


def _details(kind: Kind, name: str) -> dict[str, str]:
    named = {"name": name} if name else {}
    group = {"group": kind.group} if kind.group else {}
    return {**named, **group, "kind": kind.resource}
