"""Markdown and the postmortem draft: complete, and hostile text stays text in them."""

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from tailhound.model import Feedback, Incident, OnIt, Rating, Silenced, State
from tailhound.settings import Settings
from tailhound.web.markdown import Ready, code, escaped, fence
from tests.samples.anything import NASTY
from tests.samples.hostile import hostile
from tests.samples.incidents import BACK, CONFIRMED, LISTED, RESOLVED, TWO_FIT, UNKNOWN
from tests.samples.story import NOW
from tests.unit.web.shelf import Shelf, parts
from tests.unit.web.test_pages import Page, get

NBSP = "\u00a0"
FILES = ("export.md", "postmortem.md")
RATED = replace(
    RESOLVED,
    feedback=(
        Feedback(rating=Rating.RIGHT, cause="", note="", by="ana", at=NOW),
        Feedback(
            rating=Rating.WRONG,
            cause="node-drain",
            note="the node was drained by hand",
            by="ben",
            at=NOW + timedelta(minutes=1),
            said_primary="cpu-throttling",
        ),
    ),
)


def file(name: str, incident: Incident) -> str:
    answer = get(f"/incidents/{incident.id}/{name}", parts(Shelf((incident,))))
    assert answer.status == 200
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    return answer.text.replace(NBSP, " ")


def rendered(text: str) -> list[Token]:
    """Every token that Markdown makes of it, those inside of lines too."""
    blocks = MarkdownIt("commonmark", {"html": True}).enable(["table"]).parse(text)
    return [one for block in blocks for one in (block, *(block.children or ()))]


def kinds(text: str) -> set[str]:
    return {token.type for token in rendered(text)}


def test_the_export_says_what_the_page_says() -> None:
    text = file("export.md", CONFIRMED)
    for said in (
        "# Cause found: the CPU limit stops the engine",
        "**High confidence.** llm / chat-json, severity page, owner sre-platform, since 03:00 UTC,",
        "- Inter-token p50 80 ms, usually 8 ms (x10), 3 of 3 pods, rose in one step",
        "- Stage decode: 4.1 s, usually 0.41 s (x10)",
        "2. 02:59 UTC **CPU throttling** (primary): chat-json-2 was stopped in 100 %",
        "- **Raise the CPU limit by half**: medium risk",
        "### CPU throttling: confirmed",
        "### NVMe-oF queue: not applicable",
        "| Stopped in more than a tenth of its periods | holds | 100 % (needs 10 %) |",
        "## Could not check",
        "## Timeline (UTC)",
        "Prometheus, answered, ",
    ):
        assert said in text, said


@pytest.mark.parametrize("incident", LISTED, ids=lambda incident: incident.id)
@pytest.mark.parametrize("name", [*FILES, "postmortem"])
def test_every_state_can_be_exported(name: str, incident: Incident) -> None:
    answer = get(f"/incidents/{incident.id}/{name}", parts(Shelf(LISTED)))
    assert answer.status == 200
    text = answer.text if name == "postmortem" else "".join(
        token.content for token in rendered(answer.text)
    )  # fmt: skip
    assert "None" not in text.replace("None of the same", "")
    assert "nan" not in text


def test_a_file_is_named_after_its_incident_and_its_address_is_the_public_one() -> None:
    given = Settings.model_validate({"listen": {"public_url": "https://hound.example/"}})
    for name, saved in (("export.md", "8R5W.md"), ("postmortem.md", "8R5W-postmortem.md")):
        answer = get(f"/incidents/8R5W/{name}", parts(settings=given))
        assert answer.headers["content-disposition"] == f'inline; filename="{saved}"'
        assert "`https://hound.example/incidents/8R5W`" in answer.text


def test_the_draft_tells_how_long_what_people_said_and_what_to_fill_in() -> None:
    text = file("postmortem.md", RATED)
    assert "From 03:00 UTC to 03:38 UTC (38 min)" in text
    assert "- ben says: wrong: it was Node drain: the node was drained by hand" in text
    assert "- ana says: right" in text
    assert text.count("*Fill in:") == 3
    page = Page(get("/incidents/5B2M/postmortem", parts(Shelf((replace(RATED, id="5B2M"),)))).text)
    assert "ben says: wrong: it was Node drain: “the node was drained by hand”" in page.text
    assert page.text.count("Fill in:") == 3


def test_the_draft_names_earlier_incidents_with_what_people_said() -> None:
    earlier = replace(RATED, id="5B2M", received_at=CONFIRMED.received_at - timedelta(days=2))
    given = parts(Shelf((CONFIRMED, earlier)))
    text = get("/incidents/8R5W/postmortem.md", given).text
    assert "- `5B2M`, 03:00 UTC, llm / chat-json: CPU throttling; people say: wrong: it" in text


def test_the_export_tells_two_that_fit_and_a_verdict_of_before_from_a_chain() -> None:
    assert "## Two causes fit, neither leads to the other" in file("export.md", TWO_FIT)
    assert "Being checked again: what follows is from the last time." in file("export.md", BACK)
    assert "## What led to what" in file("export.md", BACK)


def test_the_files_of_what_was_over_before_a_verdict_tell_that_it_is_of_the_last_time() -> None:
    over = replace(BACK, state=State.RESOLVED, resolved_at=BACK.received_at)
    assert "*Over before there was a verdict of this time: what" in file("export.md", over)
    assert "There was no verdict of this time." in file("postmortem.md", over)
    page = get("/incidents/5B2M/postmortem", parts(Shelf((replace(over, id="5B2M"),)))).text
    assert "There was no verdict of this time." in page
    assert "no verdict of this time" not in file("postmortem.md", RATED)


def test_the_story_is_told_in_the_order_of_time() -> None:
    lines = [line for line in file("postmortem.md", CONFIRMED).splitlines() if " UTC: " in line]
    times = [line.split(" UTC")[0] for line in lines]
    assert times == sorted(times)
    assert lines[0] == "- 02:58:00 UTC: CPU oversubscription begins"


def test_what_could_not_be_seen_is_told_with_its_fix() -> None:
    text = file("postmortem.md", replace(UNKNOWN, state=State.DIAGNOSED))
    assert "Fix: " in text
    assert "## What could not be seen" in text


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("text", NASTY, ids=lambda text: repr(text[:12]))
def test_hostile_text_makes_no_markup_html_or_link(name: str, text: str) -> None:
    bad = replace(
        hostile(text),
        on_it=OnIt(by=text, since=NOW),
        silences=(Silenced(id="1", by=text, until=NOW + timedelta(hours=1), alerts=1),),
        feedback=(Feedback(rating=Rating.WRONG, cause=text, note=text, by=text, at=NOW),),
    )
    fine = replace(hostile("x"), feedback=bad.feedback and (bad.feedback[0],))
    made = kinds(get(f"/incidents/BAD1/{name}", parts(Shelf((bad,)))).text)
    usual = kinds(get(f"/incidents/BAD1/{name}", parts(Shelf((fine,)))).text)
    assert not made & {"html_block", "html_inline", "link_open", "image", "hr", "blockquote_open"}
    assert made - usual <= {"softbreak", "hardbreak"}


LINE = st.text(alphabet=st.sampled_from("\\`*_[]()<>#|~!&-+.:/@ \n\t1a\u00a0"), max_size=40)


@given(LINE)
@settings(max_examples=200, deadline=None, derandomize=True, database=None)
def test_whatever_is_put_in_is_text_of_one_line(text: str) -> None:
    out = escaped(text)
    tokens = rendered(f"x {out}")
    assert {token.type for token in tokens} <= {
        "paragraph_open", "inline", "text", "text_special", "paragraph_close", "softbreak",
    }  # fmt: skip


@given(LINE)
@settings(max_examples=200, deadline=None, derandomize=True, database=None)
def test_a_code_span_holds_whatever_it_is_given(text: str) -> None:
    tokens = rendered(f"x {code(text)} y")
    assert [token.type for token in tokens if token.type.startswith("code")] == ["code_inline"]
    assert "html_inline" not in {token.type for token in tokens}


@given(LINE)
@settings(max_examples=200, deadline=None, derandomize=True, database=None)
def test_a_fence_holds_whatever_it_is_given(text: str) -> None:
    (block,) = rendered(fence(text))
    assert block.type == "fence"
    assert isinstance(fence(text), Ready)
