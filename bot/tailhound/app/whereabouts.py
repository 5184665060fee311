"""Where incidents stand in Slack, and which one stands there: for whoever types a command."""

from collections.abc import Callable, Mapping, Sequence

from tailhound.model import OPEN_STATES, Incident
from tailhound.slack.notifier import SlackNotifier
from tailhound.store.incidents import IncidentReader

LATELY = 60
"""So many of the newest incidents are looked through for what somebody may have meant."""


class Whereabouts:
    """`link` is the address of a message in a channel, `page` that of an incident's page by its id;
    "" where there is none.
    """

    def __init__(
        self,
        reader: IncidentReader,
        link: Callable[[str, str], str],
        page: Callable[[str], str],
    ) -> None:
        self._reader, self._link, self._page = reader, link, page

    def links(self, incidents: Sequence[Incident]) -> Mapping[str, str]:
        """The address of each, by id: of its message where that is known, else of its page."""
        stand = self._reader.standing([one.id for one in incidents], SlackNotifier.name)
        found = {
            one.id: (self._link(*stand[one.id]) if one.id in stand else "") or self._page(one.id)
            for one in incidents
        }
        return {id: address for id, address in found.items() if address}

    def page(self, id: str) -> str:
        """The address of an incident's page."""
        return self._page(id)

    def at(self, channel: str, message: str) -> str:
        """The id of the incident whose message, or post in its thread, this is; "" for none."""
        return self._reader.of_message(SlackNotifier.name, channel, message)

    def here(self, channel: str) -> Sequence[Incident]:
        """The open incidents whose message stands in a channel, the newest first."""
        return self._reader.shown_in(SlackNotifier.name, channel, OPEN_STATES)

    def lately(self) -> Sequence[Incident]:
        """The newest incidents, those that are open before the others."""
        open_ = self._reader.list(states=OPEN_STATES, limit=LATELY)
        known = {one.id for one in open_}
        newest = self._reader.list(limit=LATELY)
        return [*open_, *(one for one in newest if one.id not in known)]
