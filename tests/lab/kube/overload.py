"""An API server that has one seat for the bot, and that seat is taken: 429, and Retry-After.

Priority and fairness gives the reader's requests a level of their own. A read that waits for a
revision that never comes holds its seat for 3 s, again and again.
"""

import contextlib
import http.client
import threading
from collections.abc import Iterator
from typing import Any

from tests.lab.apiserver import TOKEN
from tests.lab.kube.plane import ControlPlane
from tests.lab.process import wait_until
from tests.lab.statuses import USER

NAME = "lab-overload"
_API = "flowcontrol.apiserver.k8s.io/v1"
_LEVELS = f"/apis/{_API}/prioritylevelconfigurations"
_SCHEMAS = f"/apis/{_API}/flowschemas"
_NEVER = "/api/v1/pods?resourceVersion=1000000000&resourceVersionMatch=NotOlderThan"


@contextlib.contextmanager
def overloaded(plane: ControlPlane) -> Iterator[None]:
    """While this lasts, nearly every read of the bot is rejected."""
    plane.asked("POST", _LEVELS, level())
    plane.asked("POST", _SCHEMAS, schema(USER))
    over = threading.Event()
    sitter = threading.Thread(target=_sit, args=(plane, over), name="lab-overload")
    sitter.start()
    try:
        wait_until(lambda: _code(plane) == 429, "the reader's requests to be rejected")
        yield
    finally:
        over.set()
        plane.asked("DELETE", f"{_SCHEMAS}/{NAME}")
        plane.asked("DELETE", f"{_LEVELS}/{NAME}")
        sitter.join()
        wait_until(lambda: _code(plane) != 429, "the reader to be heard again")


def _sit(plane: ControlPlane, over: threading.Event) -> None:
    while not over.wait(0.001):
        connection = plane.connection()
        try:
            connection.request("GET", _NEVER, headers={"Authorization": f"Bearer {TOKEN}"})
            connection.getresponse().read()
        except (OSError, http.client.HTTPException):
            return  # the server is gone
        finally:
            connection.close()


def _code(plane: ControlPlane) -> int:
    path = "/api/v1/namespaces/default/pods"
    return plane.ask("GET", path, Authorization=f"Bearer {TOKEN}").code


def level() -> dict[str, Any]:
    """A priority level without a seat of its own, which can't borrow one, and does not queue."""
    limited = {
        "nominalConcurrencyShares": 0,
        "borrowingLimitPercent": 0,
        "lendablePercent": 0,
        "limitResponse": {"type": "Reject"},
    }
    spec = {"type": "Limited", "limited": limited}
    return _named("PriorityLevelConfiguration") | {"spec": spec}


def schema(user: str) -> dict[str, Any]:
    """What puts every request of a user into that level."""
    rule = {
        "subjects": [{"kind": "User", "user": {"name": user}}],
        "resourceRules": [
            {
                "verbs": ["*"],
                "apiGroups": ["*"],
                "resources": ["*"],
                "clusterScope": True,
                "namespaces": ["*"],
            }
        ],
    }
    spec = {
        "priorityLevelConfiguration": {"name": NAME},
        "matchingPrecedence": 2,
        "distinguisherMethod": {"type": "ByUser"},
        "rules": [rule],
    }
    return _named("FlowSchema") | {"spec": spec}


def _named(kind: str) -> dict[str, Any]:
    return {"apiVersion": _API, "kind": kind, "metadata": {"name": NAME}}
