"""Whatever the evidence is, no limit of Slack is exceeded, and nothing can be injected."""

import re
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tailhound.model import Cause, Incident, Subject, SubjectKind, Verdict
from tailhound.slack import limits, validate
from tailhound.slack.blocks import SlackMessage, message
from tests.samples.anything import NASTY, incidents
from tests.samples.incidents import CONFIRMED, STATES
from tests.samples.story import NOW

PAGE = "https://tailhound.example/incidents/8R5W"
DATE = re.compile(r"<!date\^\d+\^\{ago\}\|\d\d:\d\d UTC> \(\d\d:\d\d UTC\)")
WORDS = (
    "Investigating",
    "Back again",
    "Cause found",
    "Revised to",
    "Two causes fit",
    "No cause confirmed",
    "Cannot see",
    "Resolved",
    "Waiting its turn",
    "Joined incident",
    "tailhound itself failed",
    "Unreadable alert",
)


def texts_of(shown: SlackMessage) -> list[str]:
    """Every text that Slack parses."""
    texts = [shown.text]
    for block in shown.blocks:
        texts += [block["text"]["text"]] if "text" in block else []
        for element in block.get("elements", ()):
            inner = element["text"]
            texts.append(inner if isinstance(inner, str) else inner["text"])
    return texts


QUICK = settings(
    max_examples=40,
    deadline=None,
    derandomize=True,
    database=None,
    phases=(Phase.explicit, Phase.generate, Phase.shrink),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


@QUICK
@given(incident=incidents, page=st.sampled_from(["", PAGE, "https://x.example/" + "y" * 4_000]))
def test_any_incident_makes_a_message_that_slack_takes(incident: Incident, page: str) -> None:
    shown = message(incident, page_url=page, now=NOW)

    assert validate.faults(list(shown.blocks)) == []
    assert len(shown.blocks) <= limits.OUR_BLOCKS
    assert shown.bytes <= limits.OUR_BYTES
    assert 0 < len(shown.text) <= limits.BUDGETS["T"]
    assert shown.text.startswith(WORDS), shown.text
    slots = [block["block_id"].partition(":")[0] for block in shown.blocks]
    assert slots == [slot for slot in "HSWDAENLF" if slot in slots]
    for block in shown.blocks:
        slot = block["block_id"][0]
        if "text" in block:
            assert len(block["text"]["text"]) <= limits.BUDGETS[slot]
    for told in texts_of(shown):
        _is_harmless(told)


def _is_harmless(told: str) -> None:
    rest = DATE.sub("", told)
    assert "<" not in rest
    assert ">" not in rest
    assert re.sub("&(amp|lt|gt);", "", rest).count("&") == 0
    assert told.count("`") % 2 == 0
    assert "```" not in told
    outside = re.sub(r"`[^`]*`", "", rest)
    assert not re.search(r":[a-z0-9_+'-]*[a-z][a-z0-9_+'-]*:", outside)
    assert all(letter == "\n" or letter.isprintable() or letter == "\xa0" for letter in told)
    told.encode("utf-8")


@QUICK
@given(incident=incidents)
def test_the_first_hundred_characters_say_what_and_where(incident: Incident) -> None:
    named = replace(incident, subject=Subject(kind=SubjectKind.POD, namespace="llm", pod="chat-1"))
    assert "llm/chat-1" in message(named, page_url=PAGE, now=NOW).text[:100]


@pytest.mark.parametrize("nasty", [text for text in NASTY if text.strip("\x00\x01\r\n\u2028")])
def test_a_hostile_label_is_shown_and_does_nothing(nasty: str) -> None:
    alert = replace(
        CONFIRMED.alerts[0], name=nasty, annotations={"summary": nasty}, labels={"severity": nasty}
    )
    subject = Subject(kind=SubjectKind.WORKLOAD, namespace=nasty, workload=nasty)
    for incident in STATES.values():
        shown = message(replace(incident, alerts=(alert,), subject=subject), page_url=PAGE, now=NOW)
        assert validate.faults(list(shown.blocks)) == []
        for told in texts_of(shown):
            _is_harmless(told)


def test_four_byte_letters_everywhere_stay_under_the_hard_stop() -> None:
    wide = "𝕏" * 400
    checks = tuple(
        replace(item, claim=f"{wide}{n}")
        for n in range(40)
        for item in CONFIRMED.diagnosis.causes[0].checks[:1]  # type: ignore[union-attr]
    )
    assert CONFIRMED.diagnosis is not None
    first = CONFIRMED.diagnosis.causes[0]
    offers = tuple(
        replace(first.mitigations[0], id=str(n), title=wide, helps=wide) for n in range(9)
    )
    out = tuple(
        Cause(runbook=f"r{n}{wide}", title=wide, verdict=Verdict.REFUTED, because=wide)
        for n in range(60)
    )
    big = replace(
        CONFIRMED,
        diagnosis=replace(
            CONFIRMED.diagnosis,
            causes=(replace(first, title=wide, checks=checks, mitigations=offers), *out),
        ),
    )
    shown = message(big, page_url=PAGE, now=NOW)
    assert shown.bytes <= limits.OUR_BYTES
    kept = {block["block_id"][0] for block in shown.blocks}
    assert set("HSWDAENLF") == kept


def test_what_is_shortened_says_so_and_says_where_the_rest_is() -> None:
    assert CONFIRMED.diagnosis is not None
    out = tuple(
        Cause(runbook=f"cause-{n}", title="t", verdict=Verdict.REFUTED, because="as usual")
        for n in range(60)
    )
    many = replace(
        CONFIRMED,
        diagnosis=replace(CONFIRMED.diagnosis, causes=(CONFIRMED.diagnosis.causes[0], *out)),
    )
    gaps = next(b for b in message(many, page_url=PAGE, now=NOW).blocks if b["block_id"][0] == "N")
    assert "*Ruled out (60):*" in gaps["text"]["text"]
    assert "+ 57 more on the page" in gaps["text"]["text"]


@pytest.mark.parametrize("state", STATES)
def test_every_mrkdwn_text_keeps_slack_from_linking_by_itself(state: str) -> None:
    for block in message(STATES[state], page_url=PAGE, now=NOW).blocks:
        for part in [block.get("text"), *block.get("elements", ())]:
            if part and part.get("type") == "mrkdwn":
                assert part["verbatim"] is True
