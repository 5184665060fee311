"""A name in an alert that nothing in Kubernetes can have: said first, and asked for no more."""

from dataclasses import replace

import pytest

from tailhound.cli.text import rows
from tailhound.model import Asked, Evidence, EvidenceStatus, Incident, by_hand
from tailhound.model.gaps import left_open
from tailhound.model.impossible import Impossible, impossible
from tailhound.slack.blocks import message
from tests.samples.hostile import HOSTILE
from tests.samples.incidents import UNKNOWN
from tests.samples.story import NOW
from tests.unit.web.test_incident_page import html_of, text_of

BAD = 'chat-1"}) or vector(1)'
POD = Impossible("pod", BAD)


@pytest.mark.parametrize(
    "labels",
    [
        {},
        {"pod": "chat-6d9f7c5b8-4kq9z", "namespace": "prod", "node": "gpu-node-1"},
        {"node": "IP-10-0-0-1.ec2.internal:9100", "job": "no name at all!"},
        {"deployment": "chat.v2", "pod": "x" * 253},
    ],
)
def test_what_kubernetes_can_name_is_possible(labels: dict[str, str]) -> None:
    assert impossible(labels) is None


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("pod", BAD),
        ("pod", "Chat-1"),
        ("pod", "x" * 254),
        ("pod", "../../secrets"),
        ("namespace", "prod.eu"),
        ("namespace", "x" * 64),
        ("deployment", "chat_1"),
        ("node", "gpu node"),
    ],
)
def test_what_it_can_not_is_told_by_its_kind(kind: str, name: str) -> None:
    found = impossible({"namespace": "prod", kind: name})
    assert found == Impossible(kind, name)
    assert found.told.startswith(f"the alert names a {kind} that can't exist (")


def asked(status: EvidenceStatus, question: str, detail: str) -> Evidence:
    one = Asked(question=question, backend="prometheus", status=status, detail=detail)
    return Evidence(name=question, collector="p.q", status=status, asked=(one,))


EMPTY, SKIPPED = EvidenceStatus.EMPTY, EvidenceStatus.SKIPPED
OF_IT = asked(EMPTY, f'up{{pod="{BAD}"}}', "no such series in Prometheus")
OF_OTHERS = asked(EMPTY, "apiserver_up", "no such series in Prometheus")
REFUSED = asked(SKIPPED, "", f"'{BAD}' can't be part of a Kubernetes API path")
SILENT = asked(EvidenceStatus.TIMEOUT, f'rate{{pod="{BAD}"}}', "did not answer within 5 s")


def incident(name: str = BAD) -> Incident:
    assert UNKNOWN.diagnosis is not None
    evidence = (OF_IT, OF_OTHERS, REFUSED, SILENT)
    found = replace(
        UNKNOWN.diagnosis, impossible=Impossible("pod", name), evidence=evidence, causes=()
    )
    return replace(UNKNOWN, diagnosis=found)


def test_what_fails_because_of_it_has_that_reason_and_no_fix() -> None:
    diagnosis = incident().diagnosis
    assert diagnosis is not None
    told = {gap.reason: (gap.fix, names) for gap, names in left_open(diagnosis).evidence.items()}
    fix, names = told.pop("the alert names a pod that can't exist")
    assert (fix, len(names)) == ("", 2)
    assert set(told) == {"no such series in Prometheus", "did not answer within 5 s"}, "not of it"
    assert by_hand.by_hand(diagnosis) == ()
    assert by_hand.to_check(diagnosis) == ()


def test_every_surface_says_it_first() -> None:
    wanted = "alert names a pod that can't exist"
    it = incident()
    shown = message(it, page_url="https://bot/i/1", now=NOW)
    (verdict,) = (b["text"]["text"] for b in shown.blocks if b["block_id"][0] == "W")
    assert verdict.startswith(f"*The {wanted}* (`")
    assert "Look at the rule or sender that made this label." in verdict
    lines = "\n".join(rows(it, NOW))
    assert lines.index(wanted) < lines.index("NO CAUSE CONFIRMED")
    page = text_of(it)
    assert page.index(wanted) < page.index("causes checked")


@pytest.mark.parametrize(
    "name", [HOSTILE, "<!channel> <@U123> *x* _y_ `z`", "a\u202eb\x1b[31m\x00", "x" * 5_000]
)
def test_a_hostile_name_stays_text(name: str) -> None:
    it = incident(name)
    shown = str(message(it, page_url="https://bot/i/1", now=NOW).blocks)
    for raw in ("<!channel>", "<@U", "<script", name):
        assert raw not in shown
    told = html_of(it).partition("can't exist")[2] or html_of(it).partition("can&#39;t exist")[2]
    assert "<script" not in told.partition("</p>")[0]
    for letter in "\u202e\x1b\x00":
        assert letter not in "".join(rows(it, NOW))
        assert letter not in html_of(it)
