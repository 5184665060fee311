"""Whether what people read without a confirmed cause agrees: the message, the page, the facts."""

import re
from datetime import datetime
from typing import Final

from tailhound.model import Incident, Outlook, by_hand, candidates, neighbours, telling, unusual
from tailhound.model.names import cause_name
from tailhound.slack.blocks import message
from tailhound.slack.buttons import Offers
from tailhound.slack.escape import sentence
from tests.unit.web.test_incident_page import text_of

PAGE: Final = "https://tailhound.example/incidents/X"
_MORE: Final = re.compile(r"\+ (\d+) more on the page")
_GUESSES: Final = ("likely", "probabl", "suspect")


def wrongs(incident: Incident, now: datetime) -> list[str]:
    """What is wrong with the message, and with the page beside it; empty elsewhere than where no
    cause is confirmed.
    """
    diagnosis = incident.diagnosis
    if diagnosis is None or diagnosis.outlook is not Outlook.NONE_CONFIRMED:
        return []
    slots = _slots(incident, now)
    verdict, todo = slots.get("W", ""), slots.get("D", "")
    page = _plain(text_of(incident))
    return [
        *_left_out(incident, verdict),
        *_miscounted(incident, verdict, todo, page),
        *_elsewhere(incident, todo),
        *(f"the verdict guesses: {word}" for word in _GUESSES if word in verdict.lower()),
    ]


def _slots(incident: Incident, now: datetime) -> dict[str, str]:
    told = message(incident, page_url=PAGE, now=now, offers=Offers(can_silence=True))
    return {
        block["block_id"].partition(":")[0]: _plain(block["text"]["text"])
        for block in told.blocks
        if "text" in block
    }


def _plain(text: str) -> str:
    return " ".join(text.replace("\u00a0", " ").split())


def _left_out(incident: Incident, verdict: str) -> list[str]:
    """What must be in the message itself: measured facts, and the names of what is unknown."""
    diagnosis = incident.diagnosis
    facts = [one.text for one in neighbours.neighbours(diagnosis)]
    names = [cause_name(cause.runbook) for cause in candidates.without_sign(diagnosis)[:3]]
    found = unusual.unusual(diagnosis)
    points = [one.point[:40] for one in found[:1]]
    wanted = [_plain(sentence(text, 200)) for text in (*facts, *names, *points)]
    return [f"not in the message: {text}" for text in wanted if text.lower() not in verdict.lower()]


def _miscounted(incident: Incident, verdict: str, todo: str, page: str) -> list[str]:
    """Each thing that the message leaves to the page must stand there."""
    diagnosis = incident.diagnosis
    asked = by_hand.by_hand(diagnosis)
    wrong = [
        f"not on the page: {one.question}"
        for one in (*asked, *by_hand.to_check(diagnosis))
        if len(one.question) <= 1000 and _plain(one.question) not in page
    ]
    for one in candidates.not_known(diagnosis):
        wrong += [f"not on the page: {claim}" for claim in one.claims if claim[1:] not in page]
    wrong += [
        f"not on the page: {one.point}"
        for one in unusual.unusual(diagnosis)
        if _plain(one.point[1:]) not in page
    ]
    if asked and "ask by hand" in todo:
        shown = todo.count("`") // 2
        left = sum(map(int, _MORE.findall(todo)))
        stand = re.search(r"(\d+) questions? stands? on the page", todo)
        counted = int(stand[1]) if stand else shown + left
        if counted != len(asked):
            wrong.append(f"{counted} questions by the message, {len(asked)} on the page")
    if "on the page" in verdict and not telling.counts(diagnosis):
        wrong.append("the message leads to a page that has nothing")
    return wrong


def _elsewhere(incident: Incident, todo: str) -> list[str]:
    """No host is to be asked that is not slow, where one that is slow can be asked."""
    diagnosis = incident.diagnosis
    if diagnosis is None or not diagnosis.slow_nodes:
        return []
    named = re.findall(r"SSH to ([^:\s]+):", todo)
    asked = {one.backend for item in diagnosis.evidence for one in item.asked}
    if not any(f"ssh {node}" in asked for node in diagnosis.slow_nodes):
        return []
    return [f"asks {host}, which is not slow" for host in named if host not in diagnosis.slow_nodes]
