"""The workspace's own address, and of a message in it: for links from the pages into Slack."""

import threading
import time
from collections.abc import Callable

from slack_sdk import WebClient

from tailhound.slack.calls import Said, outcome_of

AGAIN_SECONDS = 300.0
"""How long Slack is left alone after it did not tell; meanwhile there is no link."""


class Home:
    """Asks Slack once, when somebody wants the first link. Each call may block."""

    def __init__(
        self, client: Callable[[], WebClient], monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._client = client
        self._monotonic = monotonic
        self._lock = threading.Lock()
        self._address = ""
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
        """`https://example.slack.com/`; "" when Slack does not tell."""
        with self._lock:
            if not self._address and self._monotonic() >= self._not_before:
                self._address = self._asked()
                self._not_before = self._monotonic() + AGAIN_SECONDS
            return self._address

    def _asked(self) -> str:
        found = outcome_of(lambda web: web.auth_test(), self._client())
        told = str(found.data.get("url") or "") if isinstance(found, Said) else ""
        return told if told.startswith("https://") and told.endswith("/") else ""
