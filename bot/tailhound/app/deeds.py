"""What people in Slack set in motion, done with the real thing: `slack.deeds`, filled.

Slack's handlers run in threads; the durable part lives on the event loop. A call hands its work to
the loop and waits for it.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TypeVar

from tailhound.actions.silence import Matcher
from tailhound.app.investigators import Make
from tailhound.app.office import only
from tailhound.app.whereabouts import Whereabouts
from tailhound.diagnosis.group import at_site, key_of, subject_of, telling_labels
from tailhound.durable.acts import Click, Person
from tailhound.durable.by_hand import body_of
from tailhound.durable.names import short_name
from tailhound.durable.offline import Terms, investigate
from tailhound.durable.service import Durable
from tailhound.durable.silences import Wish
from tailhound.durable.switch import Moved, Seen, Stopped
from tailhound.errors import SettingsError
from tailhound.model import OPEN_STATES, Alert, Incident, Missing, Reason, State
from tailhound.rules.loading import Compiled
from tailhound.rules.runbook import Runbook
from tailhound.settings import Role, Settings
from tailhound.slack.deeds import Begun, Open, Overview, Part, Word
from tailhound.sources.alertmanager import read_group
from tailhound.store import history
from tailhound.store.database import Database
from tailhound.store.incidents import IncidentReader
from tailhound.transports.alertmanager import AlertmanagerClient

LISTED = 20
"""Open incidents that a list in Slack names; their number is counted apart."""

LOOKED_AT = 200
ALERTMANAGER_SECONDS = 5.0
RUNS_AT_ONCE = 4
_BUSY = f"{RUNS_AT_ONCE} such checks run already; try in a minute"
LOOKED_BACK = timedelta(days=7)
MONTH = timedelta(days=30)

R = TypeVar("R")


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """What the deeds are done with. `make` makes an investigator of a set of runbooks, `channels`
    tells where an incident is shown, `parts` how the backends stand, `link` the address of a
    message in a channel, "" where nobody knows it.
    """

    settings: Settings
    compiled: Compiled
    durable: Durable
    database: Database
    make: Make
    silencer: AlertmanagerClient | None
    channels: Callable[[Incident], Sequence[str]]
    parts: Callable[[], Sequence[Part]]
    link: Callable[[str, str], str]
    clock: Callable[[], datetime]


class ServerDeeds:
    """Made on the event loop that the durable part runs on; called from other threads."""

    def __init__(self, given: Given) -> None:
        self._given = given
        self._reader = IncidentReader.of(given.database)
        self.whereabouts = Whereabouts(self._reader, given.link, given.settings.listen.page_of)
        self._loop = asyncio.get_running_loop()
        self._runs = asyncio.Semaphore(RUNS_AT_ONCE)

    @property
    def mode(self) -> str:
        """As configured."""
        return str(self._given.settings.mode)

    @property
    def page(self) -> str:
        """As configured."""
        address = self._given.settings.listen.public_url.rstrip("/")
        return f"{address}/incidents" if address else ""

    @property
    def can_silence(self) -> bool:
        """Whether there is an Alertmanager."""
        return self._given.silencer is not None

    @property
    def approvals(self) -> Mapping[str, Role]:
        """As configured."""
        return self._given.settings.approvals

    @property
    def runbooks(self) -> Sequence[Runbook]:
        """The active ones, by id."""
        return sorted(self._given.compiled.runbooks, key=lambda one: one.id)

    def on_it(self, pressed: Click) -> bool:
        """See `durable.acts`."""
        return self._done(self._given.durable.act(lambda acts: acts.on_it(pressed)))

    def off_it(self, pressed: Click) -> bool:
        """See `durable.acts`."""
        return self._done(self._given.durable.act(lambda acts: acts.off_it(pressed)))

    def recheck(self, pressed: Click) -> bool | str:
        """See `durable.service`."""
        durable = self._given.durable
        return self._done(durable.recheck(pressed.incident, pressed.person.name, pressed.envelope))

    def rate(self, pressed: Click, word: Word) -> bool:
        """See `durable.acts`."""
        said = (pressed, word.rating, word.cause, word.note)
        return self._done(self._given.durable.act(lambda acts: acts.feedback(*said)))

    def agree(self, pressed: Click, shown: str) -> bool | None:
        """See `durable.acts`."""
        return self._done(self._given.durable.act(lambda acts: acts.agree(pressed, shown)))

    def check_now(self, incident: str) -> bool:
        """See `durable.service`."""
        return self._done(self._given.durable.check_now(incident))

    def silence(self, pressed: Click, wish: Wish) -> bool:
        """See `durable.service`."""
        return self._done(self._given.durable.silence(pressed, wish))

    def end_silence(self, pressed: Click, remote_id: str) -> bool:
        """See `durable.service`."""
        return self._done(self._given.durable.end_silence(pressed, remote_id))

    def stop(self, person: Person, why: str, envelope: str) -> Moved:
        """See `durable.switch`."""
        durable = self._given.durable
        return self._done(durable.switch(lambda switch: switch.stop(person, why, envelope)))

    def resume(self, envelope: str, seen: Seen) -> Moved:
        """See `durable.switch`."""
        durable = self._given.durable
        return self._done(durable.switch(lambda switch: switch.resume(envelope, seen)))

    def stopped(self) -> Stopped | None:
        """See `durable.switch`."""
        return self._done(self._given.durable.switch(lambda switch: switch.state()))

    def incident(self, id: str) -> Incident | None:
        """With its evidence; of one that has joined another, that one, if it is there."""
        found, seen = self._reader.get(id), {id}
        while found is not None and found.joined_into and found.joined_into not in seen:
            seen.add(found.joined_into)
            into = self._reader.get(found.joined_into)
            if into is None:
                break
            found = into
        return found

    def open(self) -> Open:
        """The newest first."""
        listed = self._reader.list(states=OPEN_STATES, limit=LISTED)
        links = self.whereabouts.links(listed)
        return Open(listed, self._reader.amount(OPEN_STATES), links)

    def parts(self) -> Sequence[Part]:
        """How the backends stand."""
        return self._given.parts()

    def overview(self) -> Overview:
        """What the home tab shows."""
        given = self._given
        last = self._reader.list(states=(State.RESOLVED,), limit=1)
        open_ = self.open()
        links = {**open_.links, **self.whereabouts.links(last)}
        return Overview(
            open=replace(open_, links=links),
            last=last[0] if last else None,
            month=history.month(given.database, given.clock() - MONTH),
            parts=self.parts(),
            stopped=self.stopped(),
        )

    def past(self, matchers: Sequence[Matcher], but: str) -> history.Past:
        """The last week, without the incident that is asked about."""
        since = self._given.clock() - LOOKED_BACK
        return history.past(self._given.database, matchers, since, but)

    def firing(self, matchers: Sequence[Matcher]) -> tuple[Alert, ...] | Missing:
        """With the severities of this site."""
        silencer, incidents = self._given.silencer, self._given.settings.incidents
        if silencer is None:
            return Missing(Reason.EMPTY, "no Alertmanager is configured: set alertmanager.url")
        deadline = time.monotonic() + ALERTMANAGER_SECONDS
        found = self._done(silencer.firing(matchers, deadline))
        if isinstance(found, Missing):
            return found
        return tuple(at_site(alert, incidents) for alert in found)

    def diagnose(self, person: Person, labels: Mapping[str, str]) -> Begun:
        """An open incident about it is enough; otherwise an alert of our own makes one."""
        given = self._given
        if stray := self._stray(labels):
            return Begun(incident="", why_not=stray)
        body = body_of(labels, person.name, given.clock())
        asked = _incident(body, given)
        about = self._reader.list(states=OPEN_STATES, text=asked.subject.workload, limit=LOOKED_AT)
        same = next((one for one in about if one.key == asked.key), None)
        seconds = float(given.settings.deadlines.verdict)
        if same is not None:
            self._done(given.durable.check_now(same.id))  # a storm may have held its message
            return Begun(incident=same.id, joined=True, channels=self._channels(same))
        accepted = self._done(given.durable.ask(body))
        if not accepted.incidents:
            return Begun(incident="", why_not=next(iter(accepted.dropped), "it starts nothing"))
        made = self._reader.get(accepted.incidents[0]) or asked
        return Begun(incident=accepted.incidents[0], channels=self._channels(made), seconds=seconds)

    def why_no_run(self, labels: Mapping[str, str]) -> str:
        """Labels that name nothing, or no place free; by the time of `run` there may be none."""
        return self._stray(labels) or (_BUSY if self._runs.locked() else "")

    def run(self, runbook: str, labels: Mapping[str, str]) -> Incident:
        """One cause, by the backends as they are now."""
        given = self._given
        if why_not := self._stray(labels):
            raise SettingsError(why_not)
        incident = _incident(body_of(labels, "somebody", given.clock()), given)
        made = given.make(only(given.compiled, runbook))
        terms = Terms(as_of=given.clock(), seconds=given.settings.deadlines.verdict)

        async def ran() -> Incident:
            if self._runs.locked():
                raise SettingsError(_BUSY)
            async with self._runs:
                return await investigate(made, incident, terms)

        return self._done(ran())

    def _stray(self, labels: Mapping[str, str]) -> str:
        """Why these labels are no subject; "" when they are. Routes go by labels, and mentions by
        the severity: nobody types those that name no workload, pod, node or cluster.
        """
        known = telling_labels(self._given.settings.incidents)
        stray = next((name for name in labels if name not in known), "")
        return (
            f"{stray} names nothing that could be checked; {', '.join(known)} do" if stray else ""
        )

    def _channels(self, incident: Incident) -> tuple[str, ...]:
        return tuple(self._given.channels(incident))

    def _done(self, work: Awaitable[R]) -> R:
        async def awaited() -> R:
            return await work

        return asyncio.run_coroutine_threadsafe(awaited(), self._loop).result()


def _incident(body: bytes, given: Given) -> Incident:
    """What a body is about, as an incident that nobody stores."""
    rules = given.settings.incidents
    group = read_group(body)
    alert = at_site(group.alerts[0], rules)
    subject = subject_of(alert, rules)
    key = key_of(subject, group)
    return Incident(
        id=short_name(key, 0, lambda _name: False),
        key=key,
        subject=subject,
        state=State.INVESTIGATING,
        alerts=(alert,),
        received_at=given.clock(),
        mode=str(given.settings.mode),
    )
