"""A local stand-in of Slack, without a network: `LocalSlack`."""

from tailhound.slack.local.calls import Reply
from tailhound.slack.local.clicks import block_action
from tailhound.slack.local.core import SCOPES, LocalSlack
from tailhound.slack.local.forms import NotFilled, Put
from tailhound.slack.local.world import (
    APP_ID,
    BOT_ID,
    BOT_USER,
    TEAM,
    Channel,
    Group,
    Person,
    Refused,
    View,
)

__all__ = [
    "APP_ID",
    "BOT_ID",
    "BOT_USER",
    "SCOPES",
    "TEAM",
    "Channel",
    "Group",
    "LocalSlack",
    "NotFilled",
    "Person",
    "Put",
    "Refused",
    "Reply",
    "View",
    "block_action",
]
