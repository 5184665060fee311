"""`tailhound demo` as people meet it: a process, its address, a real browser."""

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pytest
from playwright.sync_api import Browser, Page, ViewportSize, expect, sync_playwright

from tests.lab.process import Server, fetched, wait_until

ARTIFACTS = Path(".artifacts")
CAUSE = "The CPU limit throttles 2 of 2 pods"
DEMO = (sys.executable, "-m", "tailhound", "demo")
LAST = "Ctrl-C ends it"
NOT_IN_A_DEMO = {
    "tailhound_slack_sockets",
    "tailhound_slack_sockets_unknown",
    "tailhound_second_way_out_in_use",
}
"""It has no socket to Slack and no second way out; `test_socket` and `test_second_way` look there.
"""
pytestmark = [pytest.mark.lab, pytest.mark.xdist_group("demo")]


@dataclass(frozen=True, slots=True)
class Demo:
    """A demo that runs, and what it printed until the diagnosis stood."""

    said: str

    def address(self, what: str) -> str:
        """An address as the demo printed it: "the incident", "the channel"."""
        found = re.search(rf"{what} +(http://127\.0\.0\.1:\d+/\S*)", self.said)
        assert found is not None, self.said
        return found[1]

    def json(self) -> dict[str, Any]:
        """The incident as JSON."""
        body = fetched(self.address("as JSON"))
        assert body is not None
        said: dict[str, Any] = json.loads(body)
        return said


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Demo]:
    server = Server(DEMO, tmp_path_factory.mktemp("demo") / "said")
    try:
        server.ready(lambda: "as JSON" in server.tail(), seconds=60)
        early = Demo(server.tail())
        assert "Diagnosed:" not in early.said
        assert early.json()["state"] == "investigating", "there is nothing left to watch"
        server.ready(lambda: LAST in server.tail(), seconds=60)
        yield Demo(server.tail())
    finally:
        server.stop()


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


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page on which every error of the console fails the test."""
    context = browser.new_context(viewport={"width": 1100, "height": 900})
    opened = context.new_page()
    trouble: list[str] = []
    opened.on("console", lambda m: trouble.append(m.text) if m.type == "error" else None)
    opened.on("pageerror", lambda error: trouble.append(str(error)))
    yield opened
    context.close()
    assert trouble == []


def _shoot(page: Page, name: str) -> None:
    ARTIFACTS.mkdir(exist_ok=True)
    page.screenshot(path=ARTIFACTS / name, full_page=True)


def test_it_prints_what_it_found_and_where_to_look(demo: Demo) -> None:
    assert "Diagnosed: cpu-throttling (high confidence)." in demo.said
    assert "Simulated: the cluster answers from recordings" in demo.said
    said = demo.json()
    assert (said["state"], said["primary"]) == ("diagnosed", "cpu-throttling")


def test_incidents_of_other_causes_are_there_too(demo: Demo) -> None:
    body = fetched(demo.address("as JSON").rpartition("/")[0])
    assert body is not None
    listed = json.loads(body)["incidents"]
    found = {(one["primary"], one["state"]) for one in listed}
    assert found == {
        ("cpu-throttling", "diagnosed"),
        ("kv-preemption", "diagnosed"),
        ("batching-delay", "diagnosed"),
        ("cold-start", "resolved"),
        (None, "diagnosed"),
    }


def test_the_page_of_the_incident_shows_the_cause_and_the_values(demo: Demo, page: Page) -> None:
    page.goto(demo.address("the incident"))
    expect(page.locator("#word")).to_have_text("Cause found")
    expect(page.locator("main")).to_contain_text(re.compile("cpu limit throttles", re.IGNORECASE))
    expect(page.locator("main")).to_contain_text("Raise the CPU limit by half")
    _shoot(page, "demo-incident.png")


def test_the_list_leads_to_the_incident(demo: Demo, page: Page) -> None:
    page.goto(demo.address("all incidents"))
    page.locator("tbody a").first.click()
    page.wait_for_url(demo.address("the incident"))


def test_re_check_in_the_channel_looks_again_in_the_same_message(demo: Demo, page: Page) -> None:
    page.goto(demo.address("the channel"))
    message = page.locator("#messages .message").last
    expect(message).to_contain_text(re.compile("cause found", re.IGNORECASE))
    expect(message).to_contain_text(CAUSE.removeprefix("The "))
    _shoot(page, "demo-channel.png")

    posted = page.locator("#messages .message").count()
    message.get_by_role("button", name=re.compile("Re-check")).click()
    expect(message).to_contain_text(re.compile("Checking again since .*asked by|same answer"))
    expect(message).to_contain_text(re.compile("cause found", re.IGNORECASE))
    expect(message).to_contain_text(re.compile("Checked again .* same answer"), timeout=30_000)
    expect(message).to_contain_text(re.compile("cause found", re.IGNORECASE))
    assert page.locator("#messages .message").count() == posted
    assert demo.json()["state"] == "diagnosed"


@pytest.mark.parametrize("command", ["show", "why", "recheck"])
def test_an_incident_is_named_in_a_command_on_a_phone(
    demo: Demo, browser: Browser, command: str
) -> None:
    context = browser.new_context(viewport={"width": 360, "height": 780}, is_mobile=True)
    page = context.new_page()
    page.goto(demo.address("the channel"))
    page.locator("form.command input[name=text]").fill(f"{command} {demo.address('the incident')}")
    page.get_by_role("button", name="Send").click()
    id = demo.address("the incident").rpartition("/")[2]
    expect(page.locator("#messages")).to_contain_text(re.compile(f"(Incident|Recorded:) {id} "))
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    _shoot(page, f"demo-{command}-360.png")
    context.close()


def test_somebody_takes_the_incident_on(demo: Demo, page: Page) -> None:
    page.goto(demo.address("the channel"))
    message = page.locator("#messages .message").last
    message.get_by_role("button", name="I'm on it").click()
    expect(message).to_contain_text("is on it since", timeout=15_000)
    page.goto(demo.address("the incident"))
    expect(page.locator("main")).to_contain_text("is on it")


@pytest.mark.timeout(240)
def test_the_thread_holds_the_evidence_the_charts_and_the_file(demo: Demo, page: Page) -> None:
    page.goto(demo.address("the channel"))
    thread = page.locator("#messages details.thread").last
    expect(thread.locator("summary").first).to_have_text("4 replies", timeout=90_000)
    thread.locator("summary").first.click()
    expect(thread.locator("table").first).to_be_visible()
    expect(thread.locator("img").first).to_be_visible(timeout=30_000)
    expect(thread).to_contain_text("-evidence.md")
    _shoot(page, "demo-thread.png")


def test_an_alert_is_silenced_in_the_simulated_alertmanager(demo: Demo, page: Page) -> None:
    page.goto(demo.address("the channel"))
    expect(page.locator("header")).to_contain_text("Alertmanager is a stand-in too")
    message = page.locator("#messages .message").last
    message.get_by_role("button", name=re.compile("Silence")).click()
    expect(page.get_by_text("Mutes now")).to_be_visible(timeout=15_000)
    expect(page.locator("main")).to_contain_text("1 firing alert")
    _shoot(page, "demo-silence.png")
    page.locator("select").last.select_option(label="Planned work")
    page.get_by_label("I know this mutes pages").check()
    page.get_by_role("button", name="Silence for 2 h").click()
    page.goto(demo.address("the incident"))
    expect(page.locator("#head")).to_contain_text("silenced by", timeout=15_000)
    page.get_by_role("link", name=re.compile("also in Slack")).click()
    page.wait_for_url("**/slack/channel/C0DEMO#m*")
    expect(page.locator("#messages .message").last).to_contain_text("ilenced until")


def test_what_it_really_was_is_told_in_a_form_and_counted(demo: Demo, page: Page) -> None:
    page.goto(demo.address("the channel"))
    message = page.locator("#messages .message").last
    message.get_by_role("button", name=re.compile("Wrong")).click()
    expect(page.get_by_text("What was it really?")).to_be_visible(timeout=15_000)
    page.locator('input[value="wrong"]').check()
    page.locator('select[name="put:cause"]').select_option("kv-preemption")
    _shoot(page, "demo-form.png")
    page.get_by_role("button", name="Save").click()
    page.goto(demo.address("the incident"))
    expect(page.locator("main")).to_contain_text(re.compile("wrong", re.IGNORECASE))
    page.goto(demo.address("all incidents").removesuffix("/incidents") + "/accuracy")
    expect(page.locator("main")).to_contain_text("CPU throttling")
    _shoot(page, "demo-accuracy.png")


@pytest.mark.parametrize("width", [1280, 360, 320])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_channel_fits_a_desktop_and_a_phone(
    demo: Demo, browser: Browser, width: int, scheme: Literal["light", "dark"]
) -> None:
    size: ViewportSize = {"width": width, "height": 780}
    context = browser.new_context(viewport=size, color_scheme=scheme, is_mobile=width < 1000)
    page = context.new_page()
    page.goto(demo.address("the channel"))
    expect(page.locator("#messages .message").last).to_contain_text(CAUSE.removeprefix("The "))
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    _shoot(page, f"demo-channel-{width}-{scheme}.png")
    page.goto(demo.address("the incident"))
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    _shoot(page, f"demo-incident-{width}-{scheme}.png")
    context.close()


def test_its_metrics_have_the_names_that_the_documentation_uses(demo: Demo) -> None:
    address = demo.address("all incidents").removesuffix("/incidents")
    said = (fetched(f"{address}/metrics") or b"").decode()
    text = Path("docs/operators/monitoring.md").read_text(encoding="utf-8")
    named = set(re.findall(r"\btailhound_[a-z_]+", text))
    assert len(named) >= 4
    assert {name for name in named if name not in said} == NOT_IN_A_DEMO


def test_ctrl_c_ends_it_and_leaves_nothing(tmp_path: Path) -> None:
    kept, said = tmp_path / "kept", tmp_path / "said"
    kept.mkdir()
    with said.open("wb") as out:
        process = subprocess.Popen(DEMO, stdout=out, env={**os.environ, "TMPDIR": str(kept)})
    try:
        wait_until(lambda: LAST in said.read_text(encoding="utf-8"), "the diagnosis", 60)
        assert list(kept.iterdir()) != []
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=10) == 0
    finally:
        process.kill()
        process.wait()
    assert list(kept.iterdir()) == []
