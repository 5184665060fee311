"""Whatever the evidence is, no limit of Slack is exceeded, and nothing can be injected."""

import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tailhound.model import Cause, Incident, Subject, SubjectKind, Verdict
from tailhound.model.verdict import Changed
from tailhound.notifiers import Like, Storm
from tailhound.slack import blocks, limits, validate
from tailhound.slack.blocks import SlackMessage, lines, message
from tailhound.slack.buttons import Offers
from tailhound.slack.storm_view import storm_message
from tests.samples.anything import NASTY, incidents, moment, text
from tests.samples.incidents import CONFIRMED, STATES, WITH_PEOPLE
from tests.samples.story import NOW, SYMPTOM

PAGE = "https://tailhound.example/incidents/8R5W"
OURS = re.compile(r"<https://tailhound\.example/incidents/8R5W\|[^<>|]*>")
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


CC = re.compile(r"(?:^|\n)cc <!subteam\^S0ONCALL>$")
offers = st.builds(Offers, interactive=st.booleans(), can_silence=st.booleans())
pages = st.sampled_from(["", PAGE, "https://x.example/" + "y" * 4_000])


@QUICK
@given(
    incident=incidents,
    page=pages,
    mention=st.one_of(st.just("S0ONCALL"), text),
    late=st.sampled_from([0.0, 1.0, 1e9, 2e9, -1.0]),
    why_late=st.one_of(st.just(""), st.just("ratelimited"), text),
    can=offers,
    like=st.one_of(st.none(), st.builds(Like, id=text, at=moment, cause=text)),
)
def test_any_incident_makes_a_message_that_slack_takes(
    incident: Incident, page: str, mention: str, **more: Any
) -> None:
    shown = message(
        incident,
        page_url=page,
        now=NOW,
        mention=mention,
        posted_at=more["late"],
        delayed_by=more["why_late"],
        offers=more["can"],
        like=more["like"],
    )

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
        _is_harmless(CC.sub("", told) if mention == "S0ONCALL" else told)
    _fits_a_thumb(shown)


def _fits_a_thumb(shown: SlackMessage) -> None:
    """What matters is on the first screen of a phone; labels are short, rows are, too."""
    height = 0
    for block in shown.blocks:
        slot = block["block_id"][0]
        if block["type"] == "actions":
            labels = [element["text"]["text"] for element in block["elements"]]
            assert len(labels) <= 4
            assert all(0 < len(label) <= 30 for label in labels)
            height += len(labels) if slot == "A" else 0
        elif slot in "HSWD":
            height += lines(block["text"]["text"])
    assert height <= limits.PHONE_LINES


@settings(QUICK, max_examples=20)
@given(incident=incidents)
def test_whatever_is_left_out_is_counted(incident: Incident) -> None:
    shown = message(incident, page_url=PAGE, now=NOW)
    slots = {block["block_id"][0]: block for block in shown.blocks}
    told = slots["N"]["text"]["text"] if "N" in slots else ""
    out = [
        cause
        for cause in (incident.diagnosis.causes if incident.diagnosis else ())
        if cause.verdict is Verdict.REFUTED
    ]
    if told and out:
        assert re.search(rf"\*Ruled out(?: \({len(out)}\):\*|:\* {len(out)}, )", told)
    verdict = slots["W"]["text"]["text"] if "W" in slots else ""
    words = "\n".join((verdict, slots["D"]["text"]["text"] if "D" in slots else ""))
    said = words.count(" says:* ")
    if said:
        left = len(incident.feedback) - said
        assert left == 0 or f"+ {left} more on the page" in words


@settings(QUICK, max_examples=20)
@given(incident=incidents)
def test_a_verdict_says_how_sure_it_is(incident: Incident) -> None:
    shown = message(incident, page_url=PAGE, now=NOW)
    verdict = next((b["text"]["text"] for b in shown.blocks if b["block_id"][0] == "W"), "")
    if shown.text.startswith(("Cause found", "Two causes fit")):
        assert re.match(r"\*(High|Medium|Low) confidence", verdict)
    elif shown.text.startswith("No cause confirmed"):
        assert "0 confirmed" in verdict or "can't be named as the cause" in verdict


STORMS = st.builds(
    Storm,
    since=moment,
    incidents=st.integers(0, 10**7),
    held=st.integers(0, 10**7),
    worst=st.lists(incidents, max_size=7).map(tuple),
)


@settings(QUICK, max_examples=8)
@given(storm=STORMS, page=pages, can=offers, limit=st.tuples(st.integers(1, 1000), st.just(600.0)))
def test_any_storm_makes_a_message_that_slack_takes(
    storm: Storm, page: str, can: Offers, limit: tuple[int, float]
) -> None:
    shown = storm_message(storm, list_url=page, now=NOW, channel_limit=limit, offers=can)

    assert validate.faults(list(shown.blocks)) == []
    assert len(shown.blocks) <= limits.OUR_BLOCKS
    assert shown.bytes <= limits.OUR_BYTES
    assert 0 < len(shown.text) <= limits.BUDGETS["T"]
    for told in texts_of(shown):
        _is_harmless(told)
    opened = [block["accessory"] for block in shown.blocks if "accessory" in block]
    assert len(opened) == (min(5, len(storm.worst)) if can.interactive else 0)
    assert all(len(button["text"]["text"]) <= 30 for button in opened)


def _is_harmless(told: str) -> None:
    rest = OURS.sub("", DATE.sub("", told))
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


@QUICK
@given(incident=incidents, cluster=text)
def test_the_first_hundred_characters_of_a_verdict_say_how_bad_it_is(
    incident: Incident, cluster: str
) -> None:
    """Whatever the cause is called, and wherever it runs."""
    subject = Subject(kind=SubjectKind.POD, cluster=cluster, namespace="llm", pod="chat-1")
    found = incident.diagnosis
    measured = replace(found, symptom=SYMPTOM) if found is not None else None
    said = message(replace(incident, subject=subject, diagnosis=measured), page_url=PAGE, now=NOW)
    if said.text.startswith(("Cause found", "Revised", "Two causes fit", "No cause", "Resolved")):
        over_before = said.text.startswith("Resolved") and not incident.verdict_stands
        assert measured is None or over_before or "80\xa0ms" in said.text[:100], said.text


@pytest.mark.parametrize("nasty", [text for text in NASTY if text.strip("\x00\x01\r\n\u2028")])
def test_a_hostile_label_is_shown_and_does_nothing(nasty: str) -> None:
    alert = replace(
        CONFIRMED.alerts[0], name=nasty, annotations={"summary": nasty}, labels={"severity": nasty}
    )
    subject = Subject(kind=SubjectKind.WORKLOAD, namespace=nasty, workload=nasty)
    said = tuple(
        replace(one, note=nasty, by=nasty, person=nasty) for one in WITH_PEOPLE["doubted"].feedback
    )
    assert CONFIRMED.diagnosis is not None
    change = Changed(at=NOW, kind="rollout", what=nasty, by=nasty)
    changed = replace(CONFIRMED, diagnosis=replace(CONFIRMED.diagnosis, changed=(change,)))
    people = replace(WITH_PEOPLE["taken"], feedback=said)
    for incident in (*STATES.values(), people, changed):
        shown = message(replace(incident, alerts=(alert,), subject=subject), page_url=PAGE, now=NOW)
        assert validate.faults(list(shown.blocks)) == []
        for told in texts_of(shown):
            _is_harmless(told)


def test_a_long_story_leaves_room_on_the_phone_for_what_to_do() -> None:
    """A chain of eight with long sentences, a wordy symptom, people who say much."""
    assert CONFIRMED.diagnosis is not None
    first, *others = CONFIRMED.diagnosis.causes
    says = "The pods wait for something that takes much longer than usual; others wait too. " * 4
    links = tuple(replace(first, runbook=f"cause-{n}", says=says) for n in range(8))
    wordy = replace(
        CONFIRMED,
        feedback=WITH_PEOPLE["resolved-two-said"].feedback,
        diagnosis=replace(
            CONFIRMED.diagnosis,
            causes=(*links, *others),
            primary="cause-7",
            chain=tuple(link.runbook for link in links),
            scope="2 of 4 pods, on gpu-node-3 and gpu-node-4 in the same rack",
            changed=(Changed(at=NOW, kind="node", what="node x " * 20),) * 9,
            symptom=replace(SYMPTOM, name="time to first token p99 of all requests " * 4),
        ),
    )
    for extra in ("", "S0ONCALL"):
        shown = message(wordy, page_url=PAGE, now=NOW, mention=extra)
        _fits_a_thumb(shown)
        told = {block["block_id"][0]: block["text"]["text"] for block in shown.blocks[:4]}
        assert lines(told["S"]) <= limits.SYMPTOM_LINES + bool(extra)
        assert "1. Raise the CPU limit by half. Medium risk" in told["D"]


def test_four_byte_letters_everywhere_stay_under_the_hard_stop() -> None:
    wide, page = "𝕏" * 400, f"{PAGE}{'/x' * 160}"
    checks = tuple(
        replace(item, claim=f"{wide}{n}", seen=(replace(item.seen[0], value=0.2 + n / 100),))
        for n in range(40)
        for item in CONFIRMED.diagnosis.causes[0].checks[:1]  # type: ignore[union-attr]
    )
    assert CONFIRMED.diagnosis is not None
    first = replace(CONFIRMED.diagnosis.causes[0], owner="")
    offers = tuple(
        replace(first.mitigations[0], id=str(n), title=wide, helps=wide) for n in range(9)
    )
    out = tuple(
        Cause(runbook=f"r{n}{wide}", title=wide, verdict=Verdict.REFUTED, because=wide)
        for n in range(60)
    )
    taken = WITH_PEOPLE["taken"]
    assert taken.on_it is not None
    big = replace(
        CONFIRMED,
        on_it=replace(taken.on_it, by=wide),
        subject=replace(CONFIRMED.subject, workload=wide, cluster=wide),
        silences=tuple(replace(one, by=wide) for one in taken.silences),
        diagnosis=replace(
            CONFIRMED.diagnosis,
            causes=(
                replace(
                    first, title=wide, says=wide, beware=wide, owner=wide, checks=checks,
                    mitigations=offers,
                ),
                    *out, *(replace(one, verdict=Verdict.UNKNOWN) for one in out),
                    *(replace(one, verdict=Verdict.NOT_APPLICABLE) for one in out)),
            scope=wide,
            symptom=replace(SYMPTOM, name=wide),
        ),
    )  # fmt: skip
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "OUR_BYTES", 10**9)
        assert message(big, page_url=page, now=NOW).bytes > limits.OUR_BYTES
    shown = message(big, page_url=page, now=NOW)
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
