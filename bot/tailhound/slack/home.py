"""The workspace's own address, and of a message in it: for links from the pages into Slack."""

import threading
import time
from collections.abc import Callable

from slack_sdk import WebClient

from tailhound.slack.calls import Said, outcome_of

AGAIN_SECONDS = 300.0
"""How long Slack is left alone after it did not tell; meanwhile there is no link."""


def _beside(work: Callable[[], None]) -> None:
    threading.Thread(target=work, name="slack-home", daemon=True).start()


class Home:
    """Asks Slack once, behind who wants the first link: nobody waits for the answer.

    Resolving a name or an answer that trickles has no bound, so each question has a thread of its
    own (`begin`), one at a time.
    """

    def __init__(
        self,
        client: Callable[[], WebClient],
        monotonic: Callable[[], float] = time.monotonic,
        begin: Callable[[Callable[[], None]], None] = _beside,
    ) -> None:
        self._client = client
        self._monotonic = monotonic
        self._begin = begin
        self._lock = threading.Lock()
        self._address = ""
        self._asking = False
        self._not_before = 0.0

    def link(self, channel: str, message: str) -> str:
        """The address of a message by its `ts`; "" while nobody knows the workspace's."""
        home = self.address()
        return f"{home}archives/{channel}/p{message.replace('.', '')}" if home else ""

    def channel(self, channel: str) -> str:
        """The address of a channel by its id; "" while nobody knows the workspace's."""
        home = self.address()
        return f"{home}archives/{channel}" if home else ""

    def address(self) -> str:
        """`https://example.slack.com/`; "" until Slack has told."""
        with self._lock:
            due = not (self._address or self._asking) and self._monotonic() >= self._not_before
            self._asking = self._asking or due
        if due:
            self._begin(self._ask)
        return self._address

    def _ask(self) -> None:
        told = ""
        try:
            told = self._asked()
        finally:
            with self._lock:
                self._address, self._asking = told, False
                self._not_before = self._monotonic() + AGAIN_SECONDS

    def _asked(self) -> str:
        found = outcome_of(lambda web: web.auth_test(), self._client())
        told = str(found.data.get("url") or "") if isinstance(found, Said) else ""
        return told if told.startswith("https://") and told.endswith("/") else ""
