"""Where incidents go in Slack, by what their labels and their diagnosis say."""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import ConfigDict, Field, model_validator

from tailhound.settings_forms import Channel
from tailhound.settings_patterns import why_not
from tailhound.settings_secrets import Section

Belated = Literal["post", "mention", "nothing"]
"""What becomes of a route that matches only once an incident has its first post, because its
verdict names an owner or a worse alert has come. The message that stands does not move.
"""


class Route(Section):
    """Incidents whose labels match go to `channel` (empty = the default one).

    `match` wants a label to be equal, `match_re` to match a whole regular expression (a value over
    300 characters matches none), `owner` one of the owners to be this one. The first route that
    matches is taken; `continue: true` looks on. `mention` is the id of a Slack user group that the
    first post notifies when the severity is among `mention_for`. `later`: see there.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)

    match: Mapping[str, str] = {}
    match_re: Mapping[str, str] = {}
    owner: str = ""
    channel: Channel = ""
    mention: Annotated[str, Field(pattern=r"^(S[A-Z0-9]{2,20})?$")] = ""
    mention_for: tuple[str, ...] = ("critical", "page")
    continue_: Annotated[bool, Field(alias="continue")] = False
    later: Belated = "post"

    @property
    def picks(self) -> bool:
        """Whether some incidents do not match it."""
        return bool(self.match or self.match_re or self.owner)

    @model_validator(mode="after")
    def _can_be_matched(self) -> "Route":
        for name, pattern in self.match_re.items():
            if why := why_not(pattern):
                raise ValueError(f"match_re.{name}: {why}")
        return self
