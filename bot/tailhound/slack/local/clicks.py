"""The payloads that Slack sends when people do something: clicks, choices, forms, commands."""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tailhound.slack import limits
from tailhound.slack.local import forms
from tailhound.slack.local.world import (
    APP_ID,
    HOME,
    TEAM,
    Channel,
    Json,
    ResponseUrl,
    Trigger,
    View,
    World,
)

Payload = dict[str, Any]


@dataclass(frozen=True, slots=True)
class At:
    """Who acts on which message of which channel; `block_id` where its buttons share an id."""

    channel: Channel
    ts: str
    user: str
    block_id: str = ""


def block_action(message: Json, channel: Channel, action_id: str, user: str) -> Payload:
    """The payload of a click on a button of a message; LookupError when it has no such button."""
    return _on_message(message, At(channel, "", user), action_id, None)


def press(world: World, at: At, action_id: str, put: forms.Put | None = None) -> Payload:
    """A person of the channel uses an element of a message: presses it, or chooses `put`."""
    world.person(at.user)
    at.channel.members.add(at.user)
    message = at.channel.shown_to(at.user, at.ts)
    if message is None:
        raise LookupError(f"there is no message {at.ts!r} in {at.channel.id}")
    payload = _on_message(message, at, action_id, put)
    payload["trigger_id"] = trigger(world, at.user)
    payload["response_url"] = response_url(world, at.channel.id, at.user, at.ts)
    return payload


def _on_message(message: Json, at: At, action_id: str, put: forms.Put | None) -> Payload:
    try:
        block, element = forms.found(message.get("blocks", ()), action_id, at.block_id)
    except LookupError:
        ts = message.get("ts")
        raise LookupError(f"the message {ts} has no button {action_id!r}") from None
    container = {
        "type": "message",
        "message_ts": message["ts"],
        "channel_id": at.channel.id,
        "is_ephemeral": bool(message.get("is_ephemeral")),
    }
    if "thread_ts" in message:
        container["thread_ts"] = message["thread_ts"]
    return {
        **_from(at.user, "block_actions"),
        "container": container,
        "channel": {"id": at.channel.id, "name": at.channel.name},
        **({} if container["is_ephemeral"] else {"message": dict(message)}),
        "state": {"values": {}},
        "actions": [_action(block, element, put, message["ts"])],
    }


def use(world: World, view: View, action_id: str, put: forms.Put | None = None) -> Payload | None:
    """A person uses an element of a view. None where Slack tells the app nothing of it."""
    block, element = forms.found(view.body["blocks"], action_id)
    if element["type"] != "button":
        if put is None:
            raise LookupError(f"{action_id} is no button: say what is put in")
        view.values[block["block_id"]][action_id] = forms.chosen(element, put)
    world.touch()
    if block["type"] == "input" and not block.get("dispatch_action"):
        return None
    return {
        **_from(view.user, "block_actions"),
        "trigger_id": trigger(world, view.user, view.id),
        "container": {"type": "view", "view_id": view.id},
        "view": view.shown(),
        "actions": [_action(block, element, put, world.next_ts())],
    }


def submit(world: World, view: View) -> Payload:
    """The person sends the form; NotFilled when Slack's client does not let it go."""
    if "submit" not in view.body:
        raise LookupError("this view has nothing to submit")
    errors = forms.missing(view.body, view.values)
    if errors:
        raise forms.NotFilled(errors)
    return {
        **_from(view.user, "view_submission"),
        "trigger_id": trigger(world, view.user, view.id),
        "view": view.shown(),
        "response_urls": [],
    }


def closed(view: View, *, cleared: bool) -> Payload | None:
    """The person closes a view; None where the app did not ask to be told."""
    if not view.body.get("notify_on_close"):
        return None
    return {**_from(view.user, "view_closed"), "view": view.shown(), "is_cleared": cleared}


def command(world: World, text: str, channel: Channel, user: str) -> Payload:
    """A person types `/tailhound text` in a channel."""
    person = world.person(user)
    channel.members.add(user)
    return {
        "command": "/tailhound",
        "text": text,
        "user_id": user,
        "user_name": person.name,
        "channel_id": channel.id,
        "channel_name": channel.name,
        "team_id": TEAM,
        "team_domain": "local",
        "api_app_id": APP_ID,
        "is_enterprise_install": "false",
        "trigger_id": trigger(world, user),
        "response_url": response_url(world, channel.id, user, ""),
    }


def home_opened(world: World, user: str) -> Payload:
    """The event that somebody looks at the app's home tab."""
    world.person(user)
    event: Payload = {
        "type": "app_home_opened",
        "user": user,
        "channel": world.direct((user,)).id,
        "tab": "home",
        "event_ts": world.next_ts(),
    }
    if user in world.homes:
        event["view"] = world.homes[user].shown()
    return {
        "type": "event_callback",
        "team_id": TEAM,
        "api_app_id": APP_ID,
        "event": event,
        "event_id": f"Ev{uuid.uuid4().hex[:10].upper()}",
        "event_time": int(world.clock()),
        "authorizations": [{"team_id": TEAM, "user_id": user, "is_bot": False}],
    }


def trigger(world: World, user: str, view: str = "") -> str:
    """A new trigger id: good for one view within three seconds."""
    id = f"{len(world.triggers) + 1}.{int(world.clock())}.{uuid.uuid4().hex}"
    world.triggers[id] = Trigger(user, world.clock() + limits.TRIGGER_SECONDS, view)
    return id


def response_key(world: World, channel: str, user: str, ts: str = "") -> str:
    """A new key of a `response_url`: good for five answers within 30 minutes."""
    key = f"{len(world.response_urls) + 1}/{uuid.uuid4().hex}"
    until = world.clock() + limits.RESPONSE_SECONDS
    world.response_urls[key] = ResponseUrl(channel, user, until, ts)
    return key


def response_url(world: World, channel: str, user: str, ts: str) -> str:
    """The address of a new key."""
    base = world.base if world.base != HOME else "https://hooks.example"
    return f"{base}/response/{response_key(world, channel, user, ts)}"


def _from(user: str, kind: str) -> Payload:
    return {
        "type": kind,
        "team": {"id": TEAM, "domain": "local"},
        "user": {"id": user, "username": user.lower(), "name": user.lower(), "team_id": TEAM},
        "api_app_id": APP_ID,
        "is_enterprise_install": False,
    }


def _action(block: Json, element: Json, put: forms.Put | None, ts: str) -> Payload:
    common: Mapping[str, Any] = {
        "type": element["type"],
        "action_id": element["action_id"],
        "block_id": block.get("block_id", ""),
        "action_ts": ts,
    }
    if element["type"] != "button":
        if put is None:
            raise LookupError(f"{element['action_id']} is no button: say what is chosen")
        return {**common, **forms.chosen(element, put)}
    return {**common, "text": element["text"], "value": element.get("value", "")}
