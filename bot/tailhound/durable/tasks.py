"""What the engine is asked to run, and what becomes of it."""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

RECOVERIES_AT_MOST = 5
"""How often a workflow is taken up again before it counts as one that kills its process."""

Workflow = Callable[[str, int, str], Awaitable[str]]
"""Takes an incident's id, the number of the investigation, and the sha256 of the compiled set."""


@dataclass(frozen=True, slots=True)
class Queue:
    """A queue of the engine: how many run at once, and how often it is looked at."""

    name: str
    concurrency: int
    poll_seconds: float


@dataclass(frozen=True, slots=True)
class Task:
    """One workflow to run. Its id makes a second enqueue a no-op, also after it has ended."""

    workflow: str
    id: str
    queue: str
    args: tuple[str, int, str]
    priority: int = 20


class Fate(Enum):
    """What became of a workflow."""

    WAITING = "waiting"
    RUNNING = "running"
    ENDED = "ended"
    GIVEN_UP = "given up"


@dataclass(frozen=True, slots=True)
class WorkflowSeen:
    """A workflow as the engine's tables show it. `why` is set when it was given up."""

    id: str
    fate: Fate
    why: str = ""


_FATES = {
    "ENQUEUED": Fate.WAITING,
    "DELAYED": Fate.WAITING,
    "PENDING": Fate.RUNNING,
    "SUCCESS": Fate.ENDED,
    "ERROR": Fate.GIVEN_UP,
    "CANCELLED": Fate.GIVEN_UP,
    "MAX_RECOVERY_ATTEMPTS_EXCEEDED": Fate.GIVEN_UP,
}

ENDED_STATUSES = [status for status, fate in _FATES.items() if fate in (Fate.ENDED, Fate.GIVEN_UP)]
"""The statuses of dbos that are final, a result or none."""

GIVEN_UP_STATUSES = [status for status, fate in _FATES.items() if fate is Fate.GIVEN_UP]
"""The statuses of dbos that are final without a result."""


def workflow_seen(item: Any) -> WorkflowSeen:
    """What a workflow's status, as dbos lists it, says."""
    fate = _FATES.get(item.status, Fate.WAITING)
    if fate is not Fate.GIVEN_UP:
        return WorkflowSeen(item.workflow_id, fate)
    if item.status == "MAX_RECOVERY_ATTEMPTS_EXCEEDED":
        why = f"it took the process down with it {RECOVERIES_AT_MOST + 1} times"
    elif item.error is not None:
        why = f"{type(item.error).__name__}: {item.error}"
    else:
        why = item.status.lower()
    return WorkflowSeen(item.workflow_id, fate, why)


def grouped(tasks: Sequence[Task]) -> Iterable[list[Task]]:
    """The tasks by workflow and queue, in their order."""
    groups: dict[tuple[str, str], list[Task]] = {}
    for task in tasks:
        groups.setdefault((task.workflow, task.queue), []).append(task)
    return groups.values()
