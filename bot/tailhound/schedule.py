"""The schedule: APScheduler says when, the engine does the work.

Every replica keeps the same jobs in memory and hands each due run time over under an id made of the
job and that time; the engine runs an id once, so replicas don't do things twice. Ticks while no
replica lives are skipped: jobs look at how things are, not at what happened since.
"""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime

from apscheduler.executors.base import BaseExecutor
from apscheduler.job import Job
from apscheduler.schedulers.asyncio import AsyncIOScheduler
from apscheduler.triggers.base import BaseTrigger
from apscheduler.triggers.cron import CronTrigger

GRACE_SECONDS = 600
"""How late a tick may still be handed over: more than clock skew and any pause of ours."""

TIDY = "tidy"
JOBS: Mapping[str, BaseTrigger] = {TIDY: CronTrigger(hour=3, minute=17, timezone=UTC)}
"""Daily at a quiet hour: old workflows and raw answers are deleted."""

Tick = Callable[[str, datetime], None]
"""job, run time -> handed over; must not block."""


class Schedule:
    """Hands over due ticks on the event loop that `start` is called from."""

    def __init__(self, tick: Tick, jobs: Mapping[str, BaseTrigger] = JOBS) -> None:
        self._scheduler = AsyncIOScheduler(timezone=UTC)
        self._scheduler.add_executor(_HandingOver(tick))
        for name, trigger in jobs.items():
            self._scheduler.add_job(
                _done_elsewhere,
                trigger,
                id=name,
                coalesce=False,
                misfire_grace_time=GRACE_SECONDS,
                max_instances=1,
            )

    def start(self) -> None:
        """Begin to watch the clock."""
        self._scheduler.start()

    def stop(self) -> None:
        """Hand over nothing more."""
        if self._scheduler.running:
            self._scheduler.shutdown(wait=False)


class _HandingOver(BaseExecutor):  # type: ignore[misc]  # the library has no types
    """An executor that runs nothing: it hands each run time over, and reports success."""

    def __init__(self, tick: Tick) -> None:
        super().__init__()
        self._tick = tick

    def _do_submit_job(self, job: Job, run_times: list[datetime]) -> None:
        for due in run_times:
            self._tick(job.id, due.astimezone(UTC))
        self._run_job_success(job.id, [])


def _done_elsewhere() -> None:
    """What APScheduler believes to run; the work itself is a workflow."""
