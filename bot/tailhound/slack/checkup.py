"""What `tailhound doctor` finds out about Slack: tokens, channels, and what each allows."""

from dataclasses import dataclass

from slack_sdk import WebClient

from tailhound.errors import SettingsError
from tailhound.settings import Slack
from tailhound.slack.calls import Lost, No, Outcome, Said, client, outcome_of
from tailhound.slack.refusals import todo

SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Point:
    """One thing that was looked at. `works` None = it works, with something lost."""

    works: bool | None
    told: str
    breaks: str = ""
    fix: str = ""


def checkup(slack: Slack, *, opens: bool = True) -> tuple[Point, ...]:
    """The bot's token, each channel that is configured, the app's token. Blocks.

    The app's token can be tried only by opening a socket, which `opens` allows.
    """
    if slack.bot_token is None:
        return (Point(None, "not configured", "nobody is told in Slack; the pages are complete",
                      "set slack.bot_token and slack.channel"),)  # fmt: skip
    try:
        web = client(slack.bot_token.read(), slack.api_url, SECONDS)
        app = slack.app_token.read() if slack.app_token else ""
    except SettingsError as error:
        return (Point(False, str(error), "nothing is posted", "set it"),)
    who = outcome_of(lambda web: web.auth_test(), web)
    if not isinstance(who, Said):
        return (_lost(who, "no message is posted", "slack.bot_token"),)
    team, user = who.data.get("team", "?"), who.data.get("user", "?")
    channels = dict.fromkeys(
        [slack.channel, slack.fallback_channel, *(route.channel for route in slack.routes)]
    )
    return (
        Point(True, f"{user} in {team}"),
        *(_channel(web, channel) for channel in channels if channel),
        *([_socket(web, app)] if opens or not app else []),
    )


def _channel(web: WebClient, channel: str) -> Point:
    found = outcome_of(lambda web: web.conversations_info(channel=channel), web)
    if isinstance(found, No) and found.error == "missing_scope":
        return Point(True, f"{channel}: not looked at (that takes the scope channels:read)")
    if not isinstance(found, Said):
        return _lost(found, f"nothing is posted to {channel}", channel)
    told = found.data.get("channel", {})
    name = f"{channel} (#{told.get('name', '?')})"
    if told.get("is_archived"):
        return Point(False, f"{name}: archived", f"nothing is posted to {channel}",
                     "unarchive it, or configure another one")  # fmt: skip
    if told.get("is_member") is False:
        return Point(False, f"{name}: the app is no member", f"nothing is posted to {channel}",
                     "in the channel: /invite @tailhound")  # fmt: skip
    return Point(True, name)


def _socket(web: WebClient, app: str) -> Point:
    """Whether clicks could come in: the app's token opens a socket."""
    breaks = "buttons and commands do nothing"
    if not app:
        return Point(None, "no app_token", breaks, "set slack.app_token (xapp-...)")
    found = outcome_of(lambda web: web.apps_connections_open(app_token=app), web)
    if isinstance(found, Said):
        return Point(True, "Socket Mode")
    return _lost(found, breaks, "slack.app_token")


def _lost(found: Outcome, breaks: str, what: str) -> Point:
    if isinstance(found, No):
        told, _, fix = todo(found, what).partition(": ")
        return Point(False, told, breaks, fix)
    why = found.why if isinstance(found, Lost) else "no answer"
    return Point(False, why, breaks, "check the network and the proxy to slack.com")
