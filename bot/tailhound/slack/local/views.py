"""Modals and home tabs: `views.*`, and what the answers to a submission do."""

from typing import Any

from tailhound.slack import limits, validate
from tailhound.slack.local import forms, messages
from tailhound.slack.local.world import Json, Refused, Trigger, View, World


def open_view(world: World, arguments: Json) -> Json:
    """`views.open`: a modal for whoever clicked within the last three seconds, once per click."""
    body = _body(world, arguments.get("view"), "modal")
    trigger = _exchange(world, arguments)
    view = _added(world, trigger.user, body)
    return {"ok": True, "view": view.shown()}


def push(world: World, arguments: Json) -> Json:
    """`views.push`: one more on top of the modal in which the click was; three at most."""
    body = _body(world, arguments.get("view"), "modal")
    trigger = _exchange(world, arguments)
    if world.view(trigger.view) is None:
        raise Refused("not_found")
    if len(world.stacks.get(trigger.user, [])) >= limits.VIEWS_STACKED:
        raise Refused("push_limit_reached")
    return {"ok": True, "view": _added(world, trigger.user, body, on_top=True).shown()}


def update(world: World, arguments: Json) -> Json:
    """`views.update`, by `view_id` or `external_id`; with a `hash`, only that state of it."""
    view = world.view(str(arguments.get("view_id") or ""), str(arguments.get("external_id") or ""))
    if view is None:
        raise Refused("not_found")
    _same(view, arguments)
    replace(world, view, _body(world, arguments.get("view"), view.kind, keep=view.id))
    return {"ok": True, "view": view.shown()}


def publish(world: World, arguments: Json) -> Json:
    """`views.publish`: the home tab of one user."""
    user = str(arguments.get("user_id") or "")
    if user not in world.people:
        raise Refused("user_not_found")
    if not world.home_enabled:
        raise Refused("not_enabled")
    view = world.homes.get(user)
    if view is not None:
        _same(view, arguments)
    body = _body(world, arguments.get("view"), "home", keep=view.id if view else "")
    if view is None:
        id = world.next_id("V")
        view = world.homes[user] = View(id, user, body, world.next_hash(), root=id)
    replace(world, view, body)
    return {"ok": True, "view": view.shown()}


def replace(world: World, view: View, body: dict[str, Any]) -> None:
    """Show another content; what was put in stays where block and action are still there."""
    old = view.values
    view.body, view.hash = body, world.next_hash()
    view.values = forms.preset(body)
    for block, actions in view.values.items():
        actions.update({k: v for k, v in old.get(block, {}).items() if k in actions})
    world.touch()


def answered(world: World, view: View, answer: Json) -> Json:
    """What the acknowledgement of a submission does; the errors that it shows, by block id.

    Refused is what Slack answers with "We had some trouble connecting": the app's mistake.
    """
    action = answer.get("response_action")
    if action == "errors":
        return _errors(view, answer)
    if action in ("update", "push"):
        body = _body(world, answer.get("view"), "modal", keep=view.id if action == "update" else "")
        if action == "update":
            replace(world, view, body)
            return {}
        if len(world.stacks[view.user]) >= limits.VIEWS_STACKED:
            raise Refused("push_limit_reached")
        _added(world, view.user, body, on_top=True)
        return {}
    if action not in (None, "clear"):
        raise Refused("invalid_response_action")
    close(world, view, everything=action == "clear")
    return {}


def close(world: World, view: View, *, everything: bool = False) -> None:
    """Take the topmost view away, or the whole stack."""
    stack = world.stacks.get(view.user, [])
    del stack[0 if everything else stack.index(view) :]
    world.touch()


def _errors(view: View, answer: Json) -> Json:
    errors = answer.get("errors")
    inputs = {block.get("block_id") for block in view.body["blocks"] if block["type"] == "input"}
    if not isinstance(errors, dict) or not errors or not set(errors) <= inputs:
        raise Refused("invalid_errors")
    if not all(isinstance(text, str) and text for text in errors.values()):
        raise Refused("invalid_errors")
    return dict(errors)


def _added(world: World, user: str, body: dict[str, Any], *, on_top: bool = False) -> View:
    stack = world.stacks.setdefault(user, [])
    if not on_top:
        stack.clear()
    id = world.next_id("V")
    view = View(id, user, body, world.next_hash(), root=stack[0].id if stack else id)
    view.previous = stack[-1].id if stack else ""
    view.values = forms.preset(body)
    stack.append(view)
    world.touch()
    return view


def _exchange(world: World, arguments: Json) -> Trigger:
    trigger = world.triggers.get(str(arguments.get("trigger_id") or ""))
    if trigger is None:
        raise Refused("invalid_trigger_id")
    if trigger.used:
        raise Refused("exchanged_trigger_id")
    if world.clock() > trigger.until:
        raise Refused("expired_trigger_id")
    trigger.used = True
    return trigger


def _same(view: View, arguments: Json) -> None:
    if arguments.get("hash") and arguments["hash"] != view.hash:
        raise Refused("hash_conflict")


def _body(world: World, body: Any, kind: str, *, keep: str = "") -> dict[str, Any]:
    """A view that Slack takes, of the kind that belongs there."""
    faults = validate.view_faults(body)
    if not faults and body["type"] != kind:
        faults = [validate.fault("/view/type", f"must be {kind}")]
    faults = faults or messages.bad_files(world, body["blocks"], "/view/blocks")
    if faults:
        world.invalid += faults
        raise Refused.for_faults("invalid_arguments", faults)
    if validate.too_large(body):
        raise Refused("view_too_large")
    other = world.view(external_id=str(body.get("external_id") or ""))
    if other is not None and other.id != keep:
        raise Refused("duplicate_external_id")
    return _with_ids(world, dict(body))


def _with_ids(world: World, body: dict[str, Any]) -> dict[str, Any]:
    """Slack gives an id to each block that has none."""
    named = [{"block_id": world.next_id("b"), **block} for block in body["blocks"]]
    return {**body, "blocks": named}
