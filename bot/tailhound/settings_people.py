"""Who counts as one of a role, by the ids that Slack gives: names change, ids don't."""

import re
from typing import Annotated

from pydantic import AfterValidator

from tailhound.settings_secrets import Section

_GROUP = re.compile(r"S[A-Z0-9]{2,40}")
_USER = re.compile(r"[UW][A-Z0-9]{2,40}")


def _group(value: str) -> str:
    if _GROUP.fullmatch(value):
        return value
    raise ValueError(
        "write the user group's id (S0123456789), not its name: in Slack, open the group under "
        "`User groups`; the id is the last part of its address"
    )


def _user(value: str) -> str:
    if _USER.fullmatch(value):
        return value
    raise ValueError(
        "write the member's id (U0123456789), not a name: in Slack, open the profile, the three "
        "dots, `Copy member ID`"
    )


class Role(Section):
    """Members of Slack user groups, and single people. Nobody named means nobody at all."""

    groups: tuple[Annotated[str, AfterValidator(_group)], ...] = ()
    users: tuple[Annotated[str, AfterValidator(_user)], ...] = ()
