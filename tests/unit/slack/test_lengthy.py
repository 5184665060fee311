"""Long answers: nothing is torn, nothing is left out unsaid."""

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from tailhound.slack import escape
from tailhound.slack.lengthy import BYTES, sections
from tailhound.slack.limits import SECTION_TEXT

QUICK = settings(max_examples=60, deadline=None, derandomize=True, database=None)
LINES = st.lists(st.text(max_size=900).map(lambda text: escape.code(text, 900)), max_size=40)


def test_a_short_answer_is_one_paragraph_as_it_is() -> None:
    assert sections("a\nb `c` &amp;") == ["a\nb `c` &amp;"]
    assert sections("") == [""]


def test_what_is_left_out_is_counted() -> None:
    text = "\n".join(f"line {n} {'x' * 500}" for n in range(40))
    (*_, last) = "\n".join(sections(text)).splitlines()
    shown = sum(line.startswith("line ") for line in "\n".join(sections(text)).splitlines())
    assert last == f"+ {40 - shown} more lines, which Slack has no room for"
    assert shown > 15


def test_a_line_without_end_is_cut_where_no_entity_and_no_code_is_torn() -> None:
    for length in range(990, 1_010):
        (told,) = sections(f"`{'&amp;' * length}`")
        assert re.fullmatch(r"`(&amp;)+`…", told)


@QUICK
@given(LINES)
def test_any_answer_fits_and_keeps_its_code_closed(lines: list[str]) -> None:
    found = sections("\n".join(lines))
    assert all(len(one) <= SECTION_TEXT for one in found)
    assert sum(len(one.encode()) for one in found) <= BYTES + len(found) + 3_100
    for line in "\n".join(found).splitlines():
        assert line.count("`") % 2 == 0
        assert not re.search(r"&(?!amp;|lt;|gt;)", line)
