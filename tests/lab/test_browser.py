"""The pages in a real Chromium: phone and desktop, light and dark, live and without JavaScript."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Dialog, Page, expect, sync_playwright

from tailhound.model import Incident, State
from tailhound.web.stream import Room
from tests.samples.causes import MAYBE_DRAINED
from tests.samples.hostile import hostile
from tests.samples.incidents import CONFIRMED, INVESTIGATING, LISTED, NO_SHELL
from tests.samples.story import NOW
from tests.unit.charts.samples import incident as charted
from tests.unit.web.running import Running, running
from tests.unit.web.shelf import Shelf, parts

ARTIFACTS = Path(__file__).parents[2] / ".artifacts"
PHONE = {"width": 360, "height": 780}
NARROW = {"width": 320, "height": 640}
DESKTOP = {"width": 1280, "height": 900}
PATHS = (
    "incidents?state=all",
    *(f"incidents/{incident.id}" for incident in LISTED),
    "incidents/BAD1",
    "incidents/C4A7",
    "incidents/8R5W/postmortem",
    "incidents/8R5W/causes/ingress-path",
    "incidents/8R5W/evidence/cpu",
    "incidents/8R5W/alerts",
    "runbooks",
    *(f"runbooks/{id}" for id in ("cpu-throttling", "ssd-garbage-collection")),
    "accuracy",
    "health",
)
SHOWN = {
    "incidents?state=all": "incidents",
    "incidents/8R5W": "incident",
    "incidents/C4A7": "incident-charts",
    "incidents/8R5W/postmortem": "postmortem",
    "incidents/8R5W/causes/ingress-path": "cause",
    "incidents/8R5W/evidence/cpu": "evidence",
    "runbooks": "runbooks",
    "runbooks/cpu-throttling": "runbook",
    "accuracy": "accuracy",
    "health": "health",
}
"""The pages of which a picture is kept, by what it is called."""
CHARTED = replace(
    charted(), id="C4A7", key="workload:prod/charted", received_at=NOW - timedelta(days=9)
)
pytestmark = pytest.mark.lab

CONTRAST = """() => {
  const part = (c) => { c /= 255; return c <= .03928 ? c / 12.92 : ((c + .055) / 1.055) ** 2.4; };
  const light = ([r, g, b]) => .2126 * part(r) + .7152 * part(g) + .0722 * part(b);
  const colour = (text) => text.match(/[\\d.]+/g).map(Number);
  const behind = (e) => {
    for (; e; e = e.parentElement) {
      const c = colour(getComputedStyle(e).backgroundColor);
      if (c.length < 4 || c[3] > 0) return c;
    }
    return [255, 255, 255];
  };
  const bad = [];
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const e = walk.currentNode.parentElement;
    if (!walk.currentNode.data.trim() || !e.checkVisibility()) continue;
    const pair = [light(colour(getComputedStyle(e).color)), light(behind(e))].sort((a, b) => b - a);
    const ratio = (pair[0] + .05) / (pair[1] + .05);
    if (ratio < 4.5) bad.push(`${ratio.toFixed(1)}: ${walk.currentNode.data.trim().slice(0, 40)}`);
  }
  return bad;
}"""
SMALL_TARGETS = """() => [...document.querySelectorAll(
    ".top a, .pills a, .filters input:not([type=hidden]), .filters select, summary, .more a")]
  .filter((e) => e.checkVisibility() && e.getBoundingClientRect().height < 43.5)
  .map((e) => e.outerHTML.slice(0, 80))"""


@dataclass(slots=True)
class Tab:
    """A page and what went wrong on it."""

    page: Page
    server: Running
    trouble: list[str] = field(default_factory=list)

    def go(self, path: str) -> None:
        """Open a path and wait until it is live or at least loaded."""
        answer = self.page.goto(f"http://127.0.0.1:{self.server.port}/{path}")
        assert answer is not None
        assert answer.status == 200

    def live(self) -> None:
        """Wait until the page says that it is live."""
        expect(self.page.locator("#live")).to_have_text("live", timeout=10_000)


@pytest.fixture(scope="module")
def browser(needs: Callable[..., None]) -> Iterator[Browser]:
    needs("chromium")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(
            executable_path="/usr/bin/chromium",
            args=["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"],
        )
        yield started
        started.close()


@pytest.fixture(scope="module")
def server() -> Iterator[Running]:
    with running(parts(Shelf((*LISTED, CHARTED, hostile())))) as started:
        yield started


@contextmanager
def tab(browser: Browser, server: Running, **options: Any) -> Iterator[Tab]:
    """A tab that notes console errors, dialogs and every request that leaves the server."""
    context = browser.new_context(**({"viewport": DESKTOP} | options))
    opened = Tab(context.new_page(), server)
    page, trouble = opened.page, opened.trouble

    def shown(dialog: Dialog) -> None:
        trouble.append(dialog.message)
        dialog.dismiss()

    home = f"http://127.0.0.1:{server.port}/"
    page.on("console", lambda m: trouble.append(m.text) if m.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: trouble.append(str(error)))
    page.on("dialog", shown)
    page.on("request", lambda r: trouble.append(r.url) if not r.url.startswith(home) else None)
    try:
        yield opened
    finally:
        context.close()


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("phone", {"viewport": PHONE, "is_mobile": True, "has_touch": True}),
        ("phone-dark", {"viewport": PHONE, "is_mobile": True, "color_scheme": "dark"}),
        ("narrow", {"viewport": NARROW, "is_mobile": True}),
        ("desktop", {"viewport": DESKTOP}),
        ("desktop-dark", {"viewport": DESKTOP, "color_scheme": "dark"}),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
@pytest.mark.timeout(240)
def test_every_page_fits_reads_well_and_asks_nobody_else(
    browser: Browser, server: Running, name: str, options: dict[str, Any]
) -> None:
    ARTIFACTS.mkdir(exist_ok=True)
    with tab(browser, server, **options) as opened:
        page = opened.page
        for path in PATHS if name in ("phone", "desktop") else (*SHOWN, "incidents/BAD1"):
            opened.go(path)
            if path in SHOWN:
                page.screenshot(path=ARTIFACTS / f"web-{SHOWN[path]}-{name}-fold.png")
            for details in page.query_selector_all("details"):
                details.evaluate("d => d.open = true")
            width = page.evaluate("document.documentElement.scrollWidth")
            assert width <= options["viewport"]["width"], f"{path} scrolls sideways"
            assert page.evaluate(CONTRAST) == [], path
            assert page.evaluate(SMALL_TARGETS) == [], path
            if path in SHOWN:
                page.screenshot(path=ARTIFACTS / f"web-{SHOWN[path]}-{name}.png", full_page=True)
        assert opened.trouble == []


def test_what_to_do_stands_on_the_first_screen_of_a_phone(
    browser: Browser, server: Running
) -> None:
    """In front of a verdict without a cause; as a link to the steps where one is named."""
    small = {"width": 360, "height": 740}
    bottom = "e => e.getBoundingClientRect().bottom"
    with tab(browser, server, viewport=small, is_mobile=True) as opened:
        page = opened.page
        opened.go("incidents/2H8D")
        assert page.locator("#do-title + *").evaluate(bottom) < small["height"]
        assert page.locator(".jump").count() == 0
        opened.go("incidents/8R5W")
        jump = page.locator(".jump a")
        assert jump.inner_text().startswith("You can: ")
        assert jump.evaluate(bottom) < small["height"]
        jump.click()
        assert -1 <= page.locator("#do-title").evaluate("e => e.getBoundingClientRect().top") < 100
        assert opened.trouble == []


def test_how_to_check_what_shows_no_sign_is_opened_by_its_link(browser: Browser) -> None:
    assert NO_SHELL.diagnosis is not None
    seen = tuple(
        replace(one, facts={"evictions_count": 2}) if one.name in MAYBE_DRAINED.evidence else one
        for one in NO_SHELL.diagnosis.evidence
    )
    it = replace(NO_SHELL, diagnosis=replace(NO_SHELL.diagnosis, evidence=seen))
    shelf = Shelf((it, CONFIRMED))
    with running(parts(shelf)) as server, tab(browser, server, viewport=PHONE) as opened:
        opened.go("incidents/2H8D")
        assert not opened.page.locator("#check pre").is_visible()
        opened.go("incidents/8R5W")
        opened.go("incidents/2H8D#check")
        expect(opened.page.locator("#check pre").first).to_be_visible()


def test_another_verdict_comes_in_while_someone_reads(browser: Browser) -> None:
    shelf = Shelf((replace(CONFIRMED, state=State.INVESTIGATING),))
    with running(parts(shelf)) as server, tab(browser, server, viewport=PHONE) as opened:
        opened.go("incidents/8R5W")
        opened.live()
        page = opened.page
        page.locator("#ingress-path > summary").click()
        page.locator("#dns-resolution > summary").focus()
        page.evaluate("window.kept = document.getElementById('word')")
        before = page.evaluate(
            "document.getElementById('dns-resolution').getBoundingClientRect().top"
        )
        assert page.evaluate("window.scrollY") > 0

        assert CONFIRMED.diagnosis is not None
        later = replace(CONFIRMED.diagnosis, causes=CONFIRMED.diagnosis.causes[:-1], stages=())
        shelf.incidents = (replace(CONFIRMED, diagnosis=later),)
        shelf.at = 42
        expect(page.locator("#nvmeof-queue")).to_have_count(0, timeout=10_000)
        expect(page.locator("#word")).to_have_text("Cause found")
        after = page.evaluate(
            "document.getElementById('dns-resolution').getBoundingClientRect().top"
        )
        assert abs(after - before) < 3
        assert page.evaluate("document.getElementById('ingress-path').open") is True
        assert page.evaluate("document.activeElement.parentElement.id") == "dns-resolution"
        assert page.evaluate("window.kept === document.getElementById('word')") is True
        assert page.title().startswith("Cause found: ")
        assert opened.trouble == []


def test_only_what_changed_is_loaded_and_an_opened_row_keeps_what_it_holds(
    browser: Browser,
) -> None:
    shelf = Shelf((CONFIRMED,))
    with running(parts(shelf)) as server, tab(browser, server) as opened:
        page = opened.page
        opened.go("incidents/8R5W")
        opened.live()
        page.locator("#ingress-path > summary").click()
        expect(page.locator("#ingress-path .claim").first).to_be_visible()
        with page.expect_response(re.compile(r"/incidents/8R5W$")) as answered:
            shelf.incidents = (replace(CONFIRMED, alerts=CONFIRMED.alerts[:1]),)
            shelf.at = 42
        assert len(answered.value.body()) < 9_000
        expect(page.locator("#alerts-title")).to_have_text("Alerts (1)")
        assert page.evaluate("document.getElementById('ingress-path').open") is True
        with page.expect_response(re.compile(r"/causes/ingress-path$")):
            found = CONFIRMED.diagnosis
            assert found is not None
            causes = tuple(
                replace(cause, title="Told anew") if cause.runbook == "ingress-path" else cause
                for cause in found.causes
            )
            shelf.incidents = (replace(CONFIRMED, diagnosis=replace(found, causes=causes)),)
            shelf.at = 43
        expect(page.locator("#ingress-path > .inside")).to_contain_text("Told anew")
        expect(page.locator("#ingress-path .claim").first).to_be_visible()
        assert opened.trouble == []


def _seen_behind(value: float) -> Incident:
    """The confirmed incident with another value behind a row, and nothing else that changed."""
    found = CONFIRMED.diagnosis
    assert found is not None
    causes = tuple(
        replace(cause, checks=tuple(
            replace(check, seen=tuple(replace(one, value=value) for one in check.seen))
            for check in cause.checks
        )) if cause.runbook == "ingress-path" else cause
        for cause in found.causes
    )  # fmt: skip
    return replace(CONFIRMED, diagnosis=replace(found, causes=causes))


def test_a_row_shows_no_old_values_without_saying_so(browser: Browser) -> None:
    shelf = Shelf((_seen_behind(0.03),))
    with running(parts(shelf)) as server, tab(browser, server) as opened:
        page = opened.page
        opened.go("incidents/8R5W")
        opened.live()
        row, head = page.locator("#ingress-path"), page.locator("#ingress-path > summary")
        head.click()
        expect(row.locator(".seen").first).to_contain_text("3")
        shelf.incidents, shelf.at = (_seen_behind(0.45),), 42
        expect(row.locator(".seen").first).to_contain_text("45", timeout=10_000)
        head.click()
        with page.expect_response(re.compile(r"/incidents/8R5W$")):
            shelf.incidents, shelf.at = (_seen_behind(0.62),), 43
        head.click()
        expect(row.locator(".seen").first).to_contain_text("62", timeout=10_000)
        page.route("**/causes/ingress-path", lambda route: route.abort())
        shelf.incidents, shelf.at = (_seen_behind(0.87),), 44
        expect(row.locator(".stale")).to_contain_text("may be old", timeout=10_000)
        page.unroute("**/causes/ingress-path")
        shelf.at = 45
        expect(row.locator(".seen").first).to_contain_text("87", timeout=10_000)
        expect(row.locator(".stale")).to_have_count(0)


def test_a_link_to_a_claim_of_a_closed_cause_loads_it(browser: Browser, server: Running) -> None:
    with tab(browser, server) as opened:
        opened.go("incidents/8R5W#ingress-path.confirm-1")
        opened.page.locator("[id='ingress-path.confirm-1']").wait_for(state="visible")
        assert opened.trouble == []


def test_a_page_that_gains_sections_gains_them_live(browser: Browser) -> None:
    shelf = Shelf((INVESTIGATING,))
    with running(parts(shelf)) as server, tab(browser, server) as opened:
        opened.go("incidents/7F3K")
        opened.live()
        shelf.incidents = (replace(CONFIRMED, id="7F3K"),)
        shelf.at = 42
        opened.page.wait_for_selector("#causes")
        shelf.incidents = (replace(CONFIRMED, id="7F3K", state=State.RESOLVED, resolved_at=NOW),)
        shelf.at = 43
        expect(opened.page.locator("#word")).to_contain_text("Resolved", timeout=10_000)
        opened.live()
        assert opened.trouble == []


def test_the_list_gains_a_row_live(browser: Browser) -> None:
    shelf = Shelf((CONFIRMED,))
    with running(parts(shelf)) as server, tab(browser, server) as opened:
        opened.go("incidents")
        opened.live()
        shelf.incidents = (CONFIRMED, INVESTIGATING)
        shelf.at = 42
        opened.page.wait_for_selector("#i-7F3K")
        assert opened.page.locator("#open").text_content() == "2 open"
        assert opened.trouble == []


def test_a_lost_server_is_said_and_found_again(browser: Browser) -> None:
    server = Running(parts())
    server.start()
    try:
        with tab(browser, server) as opened:
            opened.go("incidents/8R5W")
            opened.live()
            server.stop()
            said = re.compile(r"^Not live since \d\d:\d\d UTC, reconnecting$")
            expect(opened.page.locator("#live")).to_have_text(said, timeout=10_000)
            server.start()
            opened.live()
    finally:
        server.stop()


def test_one_page_too_many_says_why_it_is_not_live(browser: Browser) -> None:
    with running(parts()) as server, tab(browser, server) as opened:
        held = [server.connect() for _ in range(Room().one)]
        for one in held:
            one.sendall(b"GET /api/stream HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert b"200 OK" in one.recv(4096)
        opened.go("incidents")
        told = f"Not live: {Room().one} pages of your address are live already; reload"
        expect(opened.page.locator("#live")).to_contain_text(told, timeout=10_000)
        for one in held:
            one.close()
        assert opened.trouble == []


def test_all_of_it_works_without_javascript(browser: Browser, server: Running) -> None:
    with tab(browser, server, java_script_enabled=False, viewport=PHONE) as opened:
        page = opened.page
        opened.go("incidents?state=all")
        page.fill("#search", "db-1")
        page.press("#search", "Enter")
        page.wait_for_url("**text=db-1*")
        assert page.locator("tbody tr").count() == 1
        page.locator("tbody a").click()
        page.wait_for_url("**/incidents/2H8D")
        link = page.locator("#rdma-fabric a")
        assert not link.is_visible()
        page.locator("#rdma-fabric > summary").click()
        assert page.locator("#live").text_content() == ""
        link.click()
        page.wait_for_url("**/incidents/2H8D/causes/rdma-fabric")
        assert page.locator(".claim").first.is_visible()
        page.locator("details.evidence summary").first.click()
        page.locator("details.evidence a").first.click()
        page.wait_for_url("**/incidents/2H8D/evidence/*")
        assert page.locator("pre.question").first.is_visible()
        assert opened.trouble == []


def test_a_link_to_a_claim_opens_its_cause(browser: Browser, server: Running) -> None:
    with tab(browser, server) as opened:
        opened.go("incidents/8R5W#cpu-throttling.confirm-2")
        claim = opened.page.locator("[id='cpu-throttling.confirm-2']")
        claim.wait_for(state="visible")
        assert "Loses real time" in (claim.text_content() or "")


def test_keys_reach_the_search_and_walk_the_list(browser: Browser, server: Running) -> None:
    with tab(browser, server) as opened:
        page = opened.page
        opened.go("incidents?state=all")
        page.keyboard.press("/")
        assert page.evaluate("document.activeElement.id") == "search"
        page.keyboard.press("Escape")
        page.evaluate("document.activeElement.blur()")
        page.keyboard.press("j")
        page.keyboard.press("j")
        assert page.evaluate("document.activeElement.id") == "i-8R5W"
        page.keyboard.press("k")
        page.keyboard.press("Enter")
        page.wait_for_url("**/incidents/7F3K")


def test_the_way_from_the_list_to_the_rule_behind_a_claim_and_back(
    browser: Browser, server: Running
) -> None:
    with tab(browser, server, viewport=PHONE, is_mobile=True, has_touch=True) as opened:
        page = opened.page
        opened.go("incidents")
        opened.live()
        page.locator("#i-8R5W").tap()
        page.wait_for_url("**/incidents/8R5W")
        page.locator(".chain .primary a").tap()
        assert page.evaluate("location.hash") == "#cpu-throttling"
        expect(page.locator("#cpu-throttling .claim").first).to_be_visible()
        page.locator("#cpu-throttling a", has_text="Its runbook").tap()
        page.wait_for_url("**/runbooks/cpu-throttling")
        page.locator("#evidence-cpu summary").tap()
        expect(page.locator("#evidence-cpu pre").first).to_be_visible()
        page.locator(".more a").tap()
        page.wait_for_url("**/incidents?state=all&cause=cpu-throttling")
        assert page.locator("#cause").input_value() == "cpu-throttling"
        assert page.locator("#i-2H8D").count() == 0
        page.locator(".clear").tap()
        page.wait_for_url("**/incidents")
        for name in ("Accuracy", "Health", "Runbooks", "Incidents"):
            page.locator(".top nav a", has_text=name).tap()
            page.wait_for_url(f"**/{name.lower()}")
        assert opened.trouble == []


def test_a_choice_filters_by_itself_and_leaves_the_phone_its_room(
    browser: Browser, server: Running
) -> None:
    with tab(browser, server, viewport=PHONE, is_mobile=True) as opened:
        opened.go("incidents?state=all")
        page = opened.page
        assert not page.locator("#cause").is_visible()
        page.locator("#filters summary").click()
        page.locator("#cause").select_option("cpu-throttling")
        page.wait_for_url("**cause=cpu-throttling**")
        assert page.locator("#cause").is_visible()
        assert page.locator("#i-8R5W").is_visible()
        assert opened.trouble == []


def test_filters_work_without_javascript(browser: Browser, server: Running) -> None:
    with tab(browser, server, java_script_enabled=False) as opened:
        page = opened.page
        opened.go("incidents?state=all")
        page.locator("#workload").fill("db-1")
        page.locator("input[type=submit]").click()
        page.wait_for_url("**workload=db-1**")
        assert page.locator("tbody tr").count() == 1
        assert opened.trouble == []


def test_a_question_can_be_copied_to_be_asked_by_hand(browser: Browser, server: Running) -> None:
    home = f"http://127.0.0.1:{server.port}"
    with tab(browser, server) as opened:
        page = opened.page
        page.context.grant_permissions(["clipboard-read", "clipboard-write"], origin=home)
        opened.go("incidents/8R5W")
        page.locator("#cpu-throttling > summary").first.click()
        evidence = page.locator("[id='cpu-throttling.cpu']")
        evidence.locator("summary").click()
        block = evidence.locator("pre").first
        evidence.locator(".copy").first.click()
        expect(evidence.locator(".copy").first).to_have_text("Copied")
        assert page.evaluate("navigator.clipboard.readText()") == block.text_content()
        assert opened.trouble == []


def test_the_yaml_of_a_runbook_can_be_copied(browser: Browser, server: Running) -> None:
    home = f"http://127.0.0.1:{server.port}"
    with tab(browser, server) as opened:
        page = opened.page
        page.context.grant_permissions(["clipboard-read", "clipboard-write"], origin=home)
        opened.go("runbooks/cpu-throttling")
        page.get_by_role("button", name="Copy YAML").click()
        expect(page.locator(".facts .copy")).to_have_text("Copied")
        copied = page.evaluate("navigator.clipboard.readText()")
        assert copied.startswith("runbook: cpu-throttling\n")
        assert opened.trouble == []


def test_a_chart_is_told_to_those_who_cannot_see_it(browser: Browser, server: Running) -> None:
    with tab(browser, server, viewport=NARROW, is_mobile=True) as opened:
        opened.go("incidents/C4A7")
        page = opened.page
        drawing = page.get_by_role("img").first
        name = drawing.evaluate(
            "e => e.getAttribute('aria-labelledby').split(' ')"
            ".map((id) => document.getElementById(id).textContent).join(' ')"
        )
        assert "UTC" in name
        page.locator("figure summary").first.click()
        assert page.locator("figure tbody th[scope=row]").count() > 5
        assert opened.trouble == []


def test_a_question_mark_opens_the_list_of_keys(browser: Browser, server: Running) -> None:
    with tab(browser, server) as opened:
        opened.go("incidents")
        opened.page.keyboard.press("?")
        expect(opened.page.locator("#keys dl")).to_be_visible()
        opened.page.keyboard.press("?")
        expect(opened.page.locator("#keys dl")).not_to_be_visible()


def test_hostile_labels_run_nothing(browser: Browser, server: Running) -> None:
    with tab(browser, server) as opened:
        for path in ("incidents", "incidents/BAD1"):
            opened.go(path)
            opened.live()
            assert opened.page.locator("main script, main img").count() == 0
        assert opened.trouble == []


def test_the_checks_of_contrast_and_targets_see_what_is_wrong(
    browser: Browser, server: Running
) -> None:
    with tab(browser, server) as opened:
        opened.go("incidents")
        opened.page.evaluate("document.querySelector('h1').style.color = '#999'")
        opened.page.evaluate("document.querySelector('.brand').style.minHeight = '20px'")
        assert len(opened.page.evaluate(CONTRAST)) == 1
        assert len(opened.page.evaluate(SMALL_TARGETS)) == 1
