"""Block Kit as HTML: what Slack would draw, and nothing that a value could add."""

from datetime import timedelta
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tailhound.slack import escape
from tailhound.slack.blocks import message
from tailhound.slack.render_html import message_html, mrkdwn_html
from tests.samples.incidents import CONFIRMED, STATES
from tests.samples.story import NOW, SINCE

ALLOWED = {"h2", "p", "div", "strong", "s", "code", "time", "a", "br", "form", "input", "button",
           "span", "hr"}  # fmt: skip


class Tags(HTMLParser):
    """Which elements and attributes a browser would see."""

    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.attributes: set[str] = set()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.add(tag)
        self.attributes |= {name for name, _ in attrs}
        if tag not in ("br", "input", "hr"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def parsed(html: str) -> Tags:
    tags = Tags()
    tags.feed(html)
    tags.close()
    assert tags.open == []
    return tags


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("*bold* and ~gone~", "<strong>bold</strong> and <s>gone</s>"),
        ("a `*code*` b", "a <code>*code*</code> b"),
        ("2 * 3 * 4", "2 * 3 * 4"),
        ("&lt;!channel&gt; &amp;amp;", "&lt;!channel&gt; &amp;amp;"),
        ("<script>alert(1)</script>", "&lt;script&gt;alert(1)&lt;/script&gt;"),
        ("<javascript:alert(1)|x>", "&lt;javascript:alert(1)|x&gt;"),
        ("one\ntwo", "one<br>\ntwo"),
        (
            "<!date^1796007600^{ago}|03:00 UTC>",
            '<time class="ago" datetime="2026-11-30T03:00:00Z">03:00 UTC</time>',
        ),
        (
            '<https://x.example/a"b|label>',
            '<a href="https://x.example/a&quot;b" rel="noopener noreferrer">label</a>',
        ),
        ("\ue0000\ue001", "0"),
    ],
)
def test_mrkdwn_is_drawn_as_slack_draws_it(text: str, html: str) -> None:
    assert mrkdwn_html(text) == html


@pytest.mark.parametrize("state", STATES)
def test_every_state_is_whole_html_of_few_elements(state: str) -> None:
    shown = message(STATES[state], page_url="https://x.example/1", now=NOW)
    drawn = {"text": shown.text, "blocks": list(shown.blocks)}
    html = message_html(drawn, click='<input type="hidden" name="ts" value="1">')
    tags = parsed(html)
    assert tags.names <= ALLOWED
    assert tags.attributes <= {
        "class",
        "datetime",
        "href",
        "rel",
        "method",
        "type",
        "name",
        "value",
    }


@pytest.mark.parametrize(
    ("minutes", "told"), [(0.5, "moments"), (4.9, "4~min"), (130, "2~h~10~min")]
)
def test_with_the_time_at_hand_a_date_is_told_as_slack_tells_it(minutes: float, told: str) -> None:
    drawn = {"text": "started <!date^1796007600^{ago}|03:00 UTC> (03:00 UTC)"}
    html = message_html(drawn, now=SINCE + timedelta(minutes=minutes))
    assert f">{told} ago</time> (03:00 UTC)".replace("~", "\u00a0") in html


def test_a_button_is_a_form_only_where_clicks_are_taken() -> None:
    shown = message(CONFIRMED, page_url="", now=NOW)
    drawn = {"text": shown.text, "blocks": list(shown.blocks)}
    assert "<form" not in message_html(drawn)
    assert 'name="action_id" value="recheck"' in message_html(drawn, click="<input>")


def test_a_button_beside_a_text_says_which_text() -> None:
    """Buttons of several rows may share an action id: the row tells them apart."""
    button = {"type": "button", "text": {"type": "plain_text", "text": "Open"}, "action_id": "o"}
    text = {"type": "plain_text", "text": "one"}
    row = {"type": "section", "block_id": '1:"x', "text": text, "accessory": button}
    drawn = message_html({"blocks": [row]}, click="<input>")
    assert '<input><input type="hidden" name="block_id" value="1:&quot;x"><button' in drawn
    assert "<input" not in message_html({"blocks": [row]})


def test_a_group_that_is_called_is_drawn_by_its_id() -> None:
    assert mrkdwn_html("cc <!subteam^S0ONCALL>") == 'cc <span class="group">@S0ONCALL</span>'
    assert mrkdwn_html("cc <!channel>") == "cc &lt;!channel&gt;"


def test_a_message_without_blocks_is_drawn_from_its_text() -> None:
    assert message_html({"text": "*hi*"}) == '<p class="section"><strong>hi</strong></p>'


@settings(max_examples=300, deadline=None, derandomize=True, database=None)
@given(text=st.one_of(st.text(max_size=60), st.text(alphabet="<>&\"'`*~|!^ab\n:/", max_size=60)))
def test_any_text_is_whole_html_without_a_new_element(text: str) -> None:
    for raw in (text, str(escape.value(text)), str(escape.code(text))):
        assert parsed(mrkdwn_html(raw)).names <= {"strong", "s", "code", "time", "a", "br"}
