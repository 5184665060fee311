"""What `tailhound doctor` finds out about Slack: tokens, channels, and what each allows."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType

from slack_sdk import WebClient
from slack_sdk.web import SlackResponse

from tailhound.errors import SettingsError
from tailhound.model.names import plural
from tailhound.settings import Role, Slack
from tailhound.slack.calls import Lost, No, Outcome, Said, client, outcome_of
from tailhound.slack.refusals import todo

SECONDS = 5.0
NOBODY: Mapping[str, Role] = MappingProxyType({})
_DEAF = "buttons and commands do nothing"


@dataclass(frozen=True, slots=True)
class Point:
    """One thing that was looked at. `works` None = it works, with something lost."""

    works: bool | None
    told: str
    breaks: str = ""
    fix: str = ""


SCOPES: Mapping[str, str] = {
    "chat:write": "no message is posted",
    "commands": "/tailhound does nothing",
    "files:write": "no charts and no evidence file stand in the thread",
    "files:read": "charts do not stand in the thread",
    "usergroups:read": "nobody counts as an approver of a user group: resume is refused",
    "users:read": "nobody counts as a full member: silencing and resume are refused",
}
"""The scopes of the manifest, and what breaks without each."""

_NO_SOCKET = Point(None, "no app_token", _DEAF, "set slack.app_token (xapp-...)")


def checkup(
    slack: Slack, approvals: Mapping[str, Role] = NOBODY, *, brief: bool = False
) -> tuple[Point, ...]:
    """The bot's token and scopes, each channel and each approvers' group that is configured, the
    app's token. Blocks.

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
        [
            slack.channel,
            *(route.channel for route in slack.routes),
            slack.fallback_channel,
            slack.ops_channel,
        ]
    )
    named = [channel for channel in channels if channel]
    if brief:
        told = Point(True, f"{user} in {team}, posts to {', '.join(named)}")
        return (told,) if app else (told, _NO_SOCKET)
    return (
        Point(True, f"{user} in {team}"),
        *_scopes(who.scopes),
        *(point for name, role in approvals.items() for point in _role(web, name, role)),
        *(_channel(web, channel) for channel in named),
        _socket(web, app) if app else _NO_SOCKET,
    )


def _scopes(held: frozenset[str]) -> tuple[Point, ...]:
    """Those that are missing; or that Slack does not tell which there are."""
    if not held:
        return (Point(None, "Slack does not tell which scopes the app has", "",
                      "compare them with deploy/slack-manifest.yaml"),)  # fmt: skip
    fix = "add the scope in the app's settings, reinstall the app"
    return tuple(
        Point(False if scope == "chat:write" else None, f"scope {scope} missing", breaks, fix)
        for scope, breaks in SCOPES.items()
        if scope not in held
    )


def _role(web: WebClient, name: str, role: Role) -> tuple[Point, ...]:
    """Who is in a role: how many, or why that can't be told."""
    key = f"approvals.{name}"
    found: set[str] = set(role.users)
    for group in role.groups:
        told = outcome_of(partial(_members, group), web)
        users = told.data.get("users") if isinstance(told, Said) else None
        if not isinstance(users, list):
            why = told.error if isinstance(told, No) else "no answer"
            return (Point(None, f"{key}: Slack does not tell who is in {group} ({why})",
                          "nobody counts as a member of it",
                          "write the id of a user group that exists"),)  # fmt: skip
        found |= set(map(str, users))
    if found:
        return (Point(True, f"{key}: {plural(len(found), 'member')}"),)
    return (Point(None, f"{key}: nobody is in it", "nobody of it ends a stop",
                  "put somebody into the group, or under users"),)  # fmt: skip


def _members(group: str, web: WebClient) -> SlackResponse:
    return web.usergroups_users_list(usergroup=group)


def _channel(web: WebClient, channel: str) -> Point:
    found = outcome_of(lambda web: web.conversations_info(channel=channel), web)
    if isinstance(found, No) and found.error == "missing_scope":
        return Point(None, f"{channel}: not known whether the app may post there",
                     "a channel that it is not in takes no message",
                     "give it the scope channels:read, or: /invite @tailhound")  # fmt: skip
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
