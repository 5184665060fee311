"""How the parts of tailhound stand, in the few words that a line in Slack has room for. Pure."""

from collections.abc import Iterator, Sequence
from datetime import datetime

from tailhound.durable.standings import Standing
from tailhound.model.wording import day_clock, duration
from tailhound.slack.deeds import Part
from tailhound.web.parts import HealthLine


def brief(line: HealthLine, now: datetime) -> Part:
    """`Prometheus 40 ms`, `Kubernetes can't be reached since 01:10 UTC`."""
    if line.works and line.seconds is not None:
        return Part(line.name, duration(line.seconds), line.works)
    since = f" since {day_clock(line.since, now)}" if line.works is False and line.since else ""
    return Part(line.name, f"{line.state}{since}", line.works)


def in_queue(standings: Sequence[Standing], notifier: str) -> Iterator[Part]:
    """`Slack queue 0`: what waits for all places of a notifier; nothing where it has none."""
    places = [at for at in standings if at.place.notifier == notifier]
    if places:
        works = not any(at.late or at.refused for at in places)
        yield Part("Slack queue", str(sum(at.waiting for at in places)), works)
