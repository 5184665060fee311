"""What single commands of `/tailhound` take and say. Pure; values are escaped."""

import difflib
import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final

from tailhound.durable.switch import Moved, Stopped
from tailhound.model import Cause, EvidenceStatus, Incident, Verdict
from tailhound.model.may_change import Pen, resumed_told, stopped_told
from tailhound.model.names import plural
from tailhound.model.wording import clock, day_clock, duration
from tailhound.rules.runbook import Runbook
from tailhound.slack import escape
from tailhound.slack.claims import claim_lines
from tailhound.slack.deeds import Begun
from tailhound.slack.ink import Ink

_LENGTH: Final = 2_900
_RUNBOOKS: Final = 40
_CLAIMS: Final = 99
"""Lines of claims: all of a runbook's, for nothing is stored and no page has the rest."""
_NAME: Final = r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,251}[A-Za-z0-9])?"
_SLASHED: Final = re.compile(rf"({_NAME})/(?:(?P<kind>[a-z_]{{1,40}})/)?(?P<name>{_NAME})")
_LABELLED: Final = re.compile(rf"(?P<label>[a-z_]{{1,40}})=(?P<value>{_NAME})")
_ALONE: Final = re.compile(_NAME)


def subject_labels(words: Sequence[str]) -> dict[str, str] | str:
    """The labels of an alert about what somebody typed; what to type instead, otherwise.

    `prod/llm-70b` is a workload, `prod/statefulset/db` of that kind; `prod llm-70b-x2k4q` is a pod;
    `node=gpu-node-7` and the like stand for themselves.
    """
    labels: dict[str, str] = {}
    bare = []
    for word in words:
        slashed, labelled = _SLASHED.fullmatch(word), _LABELLED.fullmatch(word)
        if labelled:
            labels[labelled["label"]] = labelled["value"]
        elif slashed:
            labels["namespace"] = slashed[1]
            labels[slashed["kind"] or "deployment"] = slashed["name"]
        elif _ALONE.fullmatch(word):
            bare.append(word)
        else:
            return f"{escape.code(word)} names nothing that could be checked."
    if len(bare) == 2 and not labels:
        labels = {"namespace": bare[0], "pod": bare[1]}
    elif bare:
        return f"{escape.code(' '.join(bare))} is not enough."
    labels.pop("alertname", None)
    return labels or "Something is missing."


def diagnose_help(why: str) -> str:
    """What `diagnose` takes."""
    return f"{why} Write `/tailhound diagnose NAMESPACE/WORKLOAD`, as in `prod/llm-70b`."


def run_help(why: str) -> str:
    """What `run` takes."""
    usage = "`/tailhound run RUNBOOK NAMESPACE/WORKLOAD`"
    return f"{why} Write {usage}; `/tailhound runbooks` lists them."


def where_text(labels: Mapping[str, str]) -> str:
    """What was typed, as it is understood."""
    space = labels.get("namespace", "")
    named = [value for name, value in labels.items() if name != "namespace"]
    name = ", ".join(named)
    return escape.value(f"{space}/{name}" if space and name else space or name)


_PEN: Final = Pen(value=escape.value, code=escape.code, resume="`/tailhound resume`")


def begun_text(begun: Begun, labels: Mapping[str, str], channel: str) -> str:
    """`Checking prod/llm-70b (7F3K). The diagnosis appears in this channel in up to 30 s.`"""
    where, id = where_text(labels), escape.value(begun.incident)
    if not begun.incident:
        return f"{where} is not checked: {escape.sentence(begun.why_not)}."
    places = "this channel" if channel in begun.channels else _channels(begun.channels)
    if begun.joined:
        return (
            f"{where} is incident {id} already, in {places}. *Re-check* under its message looks "
            "again."
        )
    return (
        f"Checking {where} ({id}). The diagnosis appears in {places} in up to "
        f"{duration(begun.seconds)}."
    )


def _channels(places: Sequence[str]) -> str:
    """The first three as links, and how many more."""
    left = len(places) - 3
    return ", ".join([f"<#{place}>" for place in places[:3]] + [f"+ {left} more"] * (left > 0))


def runbooks_text(runbooks: Sequence[Runbook], words: Sequence[str]) -> str:
    """All runbooks, those that match, or the one that is meant."""
    wanted = words[0].lower() if words else ""
    exact = [one for one in runbooks if one.id == wanted]
    found = exact or [one for one in runbooks if wanted in one.id or wanted in one.cause.lower()]
    if len(found) == 1:
        return _one_runbook(found[0])
    if not found:
        near = difflib.get_close_matches(wanted, [one.id for one in runbooks], n=1, cutoff=0.6)
        hint = f" Did you mean {escape.code(near[0])}?" if near else ""
        return f"No runbook {escape.code(wanted)}.{hint} `/tailhound runbooks` lists all."
    shown = [f"{escape.code(one.id)}  {escape.said(one.cause, 100)}" for one in found[:_RUNBOOKS]]
    while len("\n".join(shown)) > _LENGTH - 200:
        shown.pop()
    left = len(found) - len(shown)
    more = [f"+ {left} more: `/tailhound runbooks WORD` lists those with a word"] if left else []
    return "\n".join([*shown, *more, f"Show one: `/tailhound runbooks {found[0].id}`"])


def _one_runbook(runbook: Runbook) -> str:
    lines = [f"*{escape.said(runbook.cause, 200)}* ({escape.code(runbook.id)})"]
    if runbook.owner:
        lines.append(f"Owner: {escape.value(runbook.owner)}")
    for title, claims in (("Confirms", runbook.confirm), ("Rules out", runbook.refute)):
        for claim in claims:
            lines.append(f"{title}: {escape.said(claim.sentence, 160)}")
    return "\n".join([*lines, f"Check it: `/tailhound run {runbook.id} NAMESPACE/WORKLOAD`"])


def unknown_runbook_text(wanted: str, runbooks: Sequence[Runbook]) -> str:
    """`run` of something that is no runbook."""
    near = difflib.get_close_matches(wanted, [one.id for one in runbooks], n=1, cutoff=0.5)
    hint = f" Did you mean {escape.code(near[0])}?" if near else ""
    return run_help(f"No runbook {escape.code(wanted)}.{hint}")


def stopped_text(stopped: Stopped, *, is_new: bool, now: datetime) -> str:
    """What everybody in the channel reads when somebody stops all changes."""
    return f"⛔ {stopped_told(stopped, already=not is_new, pen=_PEN, now=now)}"


def stopping_text(moved: Moved, now: datetime) -> str:
    """What came of `stop`."""
    if moved.known or moved.now is None:
        return known_text(moved, now)
    return stopped_text(moved.now, is_new=moved.before is None, now=now)


def known_text(moved: Moved, now: datetime) -> str:
    """What is said of a command that Slack has delivered a second time."""
    stands = moved.now
    if stands is None:
        return "Done already; nothing was moved now. Changes are not stopped."
    at = f" since {day_clock(stands.at, now)}" if stands.at else ""
    by = escape.value(stands.by, 40) or "somebody"
    return f"Done already; nothing was moved now. Changes are stopped by {by}{at}."


def resumed_text(moved: Moved, by: str, now: datetime) -> str:
    """What everybody reads when changes are allowed again."""
    was = moved.before
    if moved.known:
        return known_text(moved, now)
    if was is not None and moved.newer:
        return newer_text(was)
    told = resumed_told(was, by, pen=_PEN, now=now)
    stays = was is not None and was.file
    return told if stays else f"{told} `/tailhound status` tells how things stand."


def newer_text(stands: Stopped) -> str:
    """What who resumes is told when somebody has stopped meanwhile."""
    by, at = (stands.again.by, stands.again.at) if stands.again else (stands.by, stands.at)
    when = f" {clock(at)}" if at else ""
    who = escape.value(by, 40) or "somebody"
    return (
        f"Not changed: {who} stopped all changes{when}, and that had not come in when you typed "
        "this. To end that stop too, type `/tailhound resume` again."
    )


def running_text(runbook: str, labels: Mapping[str, str]) -> str:
    """What everybody reads while it is being checked."""
    return f"Checking {escape.code(runbook)} of {where_text(labels)}. The answer comes here."


def not_checked_text(runbook: str, labels: Mapping[str, str]) -> str:
    """In place of an answer, when tailhound itself has failed."""
    return (
        f"{escape.code(runbook)} of {where_text(labels)} was not checked: tailhound itself failed, "
        "its log says why. `/tailhound diagnose` checks all causes."
    )


_WORDS: Final = {
    Verdict.CONFIRMED: "🎯 *confirmed*",
    Verdict.REFUTED: "*ruled out*",
    Verdict.UNKNOWN: "❔ *unknown*",
    Verdict.NOT_APPLICABLE: "*not applicable*",
}


def ran_text(incident: Incident, labels: Mapping[str, str]) -> str:
    """`❔ cpu-throttling of llm/chat-json: *unknown*`, its claims, how many questions, how long."""
    diagnosis = incident.diagnosis
    if diagnosis is None or not diagnosis.causes:
        return f"{where_text(labels)} was not checked: no runbook ran."
    cause = diagnosis.causes[0]
    sure = f", {cause.confidence.value} confidence" if cause.confidence else ""
    head = f"{_WORDS[cause.verdict]}{sure}: {escape.code(cause.runbook)} of {where_text(labels)}"
    asked = [one for item in diagnosis.evidence for one in item.asked]
    failed = sum(one.status is not EvidenceStatus.COLLECTED for one in asked)
    missed = f", {failed} not answered" if failed else ""
    took = duration(diagnosis.took_seconds)
    ink, evidence = Ink(60, 160, _CLAIMS), diagnosis.evidence
    lines = [head, *_because(cause), *claim_lines([("", cause)], ink, evidence=evidence)]
    lines.append(f"{plural(len(asked), 'question')}{missed}, {took}. Nothing was stored.")
    return "\n".join([*lines, f"More of it: `/tailhound runbooks {cause.runbook}`"])


def _because(cause: Cause) -> tuple[str, ...]:
    return (escape.sentence(cause.because, 240),) if cause.because else ()
