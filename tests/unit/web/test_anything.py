"""Any incident at all, hostile to the last letter: every page stands, and holds only our markup."""

import pytest
from hypothesis import HealthCheck, given, settings

from tailhound.model import Incident
from tests.samples.anything import incidents
from tests.unit.web.shelf import Shelf, parts
from tests.unit.web.test_exports import kinds
from tests.unit.web.test_pages import Page, get

OURS = {
    "html", "head", "meta", "title", "link", "script", "body", "a", "header", "nav", "p", "strong",
    "main", "article", "section", "div", "span", "h1", "h2", "h3", "h4", "ul", "ol", "li", "table",
    "caption", "thead", "tbody", "tr", "th", "td", "code", "pre", "samp", "kbd", "s", "em",
    "details", "summary", "time", "figure", "figcaption", "footer", "dl", "dt", "dd", "form",
    "label", "input", "select", "option", "svg", "desc", "g", "rect", "line", "path", "polyline",
    "polygon", "text", "circle",
}  # fmt: skip
pytestmark = pytest.mark.timeout(180)
SCRIPTS = 1
PATHS = ("incidents?state=all", "incidents/{id}", "incidents/{id}/postmortem")
FILES = ("incidents/{id}/export.md", "incidents/{id}/postmortem.md")
LARGEST = 3 * 1024 * 1024
ANY = settings(
    max_examples=10,
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


@given(incidents)
@ANY
def test_every_page_of_any_incident_stands_and_holds_only_our_markup(incident: Incident) -> None:
    given_parts = parts(Shelf((incident,)))
    for path in PATHS:
        answer = get(f"/{path.format(id=incident.id)}", given_parts)
        assert answer.status == 200, path
        assert len(answer.body) < LARGEST, path
        page = Page(answer.text)
        assert set(page.tags) <= OURS, path
        assert page.tags.count("script") == SCRIPTS
        assert page.tags.count("h1") == 1
        names = {name for name, _ in page.attributes}
        assert not {name for name in names if name.startswith("on")}
        assert "style" not in names
        links = [link for link in page.all_of("href") if not link.startswith(("/", "#"))]
        assert links == []


@given(incidents)
@ANY
def test_every_file_of_any_incident_is_text_without_html_or_links(incident: Incident) -> None:
    given_parts = parts(Shelf((incident,)))
    for path in FILES:
        answer = get(f"/{path.format(id=incident.id)}", given_parts)
        assert answer.status == 200, path
        made = kinds(answer.text)
        assert not made & {"html_block", "html_inline", "link_open", "image"}, path
