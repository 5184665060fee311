"""What `tailhound doctor` finds out about Slack: tokens, channels, and what each allows."""

from dataclasses import dataclass

from slack_sdk import WebClient

from tailhound.errors import SettingsError
from tailhound.settings import Slack
from tailhound.slack.calls import Lost, No, Outcome, Said, client, outcome_of
from tailhound.slack.refusals import todo

SECONDS = 5.0
_DEAF = "buttons and commands do nothing"


@dataclass(frozen=True, slots=True)
class Point:
    """One thing that was looked at. `works` None = it works, with something lost."""

    works: bool | None
    told: str
    breaks: str = ""
    fix: str = ""


_NO_SOCKET = Point(None, "no app_token", _DEAF, "set slack.app_token (xapp-...)")


def checkup(slack: Slack, *, brief: bool = False) -> tuple[Point, ...]:
    """The bot's token, each channel that is configured, the app's token. Blocks.

    `brief` asks one question, about the bot's token, and tells the rest as it is configured.
    """
    if slack.bot_token is None:
        return (Point(None, "not configured", "nobody is told in Slack; the pages are complete",
                      "set slack.bot_token and slack.channel"),)  # fmt: skip
    try:
        web = client(slack.bot_token.token(), slack.api_url, SECONDS)
        app = slack.app_token.token() if slack.app_token else ""
    except SettingsError as error:
        return (Point(False, str(error), "nothing is posted", "set it"),)
    who = outcome_of(lambda web: web.auth_test(), web)
    if not isinstance(who, Said):
        return (_lost(who, "no message is posted", "slack.bot_token"),)
    team, user = who.data.get("team", "?"), who.data.get("user", "?")
    channels = dict.fromkeys(
        [slack.channel, slack.fallback_channel, *(route.channel for route in slack.routes)]
    )
    named = [channel for channel in channels if channel]
    if brief:
        told = Point(True, f"{user} in {team}, posts to {', '.join(named)}")
        return (told,) if app else (told, _NO_SOCKET)
    return (
        Point(True, f"{user} in {team}"),
        *(_channel(web, channel) for channel in named),
        _socket(web, app) if app else _NO_SOCKET,
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
    found = outcome_of(lambda web: web.apps_connections_open(app_token=app), web)
    if isinstance(found, Said):
        return Point(True, "Socket Mode")
    return _lost(found, _DEAF, "slack.app_token")


def _lost(found: Outcome, breaks: str, what: str) -> Point:
    if isinstance(found, No):
        told, _, fix = todo(found, what).partition(": ")
        return Point(False, told, breaks, fix)
    why = found.why if isinstance(found, Lost) else "no answer"
    return Point(False, why, breaks, "check the network and the proxy to slack.com")
