"""The pages: what they say in each state, and that nothing from outside becomes markup."""

import re
import time
from dataclasses import replace
from datetime import timedelta
from html.parser import HTMLParser

import pytest

from tailhound import __version__
from tailhound.model import EvidenceStatus, Incident, Revised, State
from tailhound.settings import Settings
from tailhound.web.app import create_app
from tailhound.web.pages import ROWS
from tailhound.web.parts import Parts
from tests.samples.hostile import HOSTILE, hostile
from tests.samples.incidents import BLIND, CONFIRMED, LISTED, STATES
from tests.samples.story import INGRESS_SERIES, NOW, QUERY
from tests.unit.web.asgi import Response, request
from tests.unit.web.shelf import Books, Output, Shelf, parts

NBSP = "\u00a0"


class Page(HTMLParser):
    """What a browser would make of the page: tags, texts, links, ids, headings."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.said: list[str] = []
        self.feed(html)
        self.text = " ".join(" ".join(self.said).split(" ")).replace("\n", " ")

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data: str) -> None:
        if data.strip():
            self.said.append(data.strip())

    def all_of(self, attribute: str) -> list[str]:
        return [value or "" for name, value in self.attributes if name == attribute]


def get(path: str, given: Parts | None = None) -> Response:
    return request(create_app(given or parts()), path)


def page(path: str, *incidents: Incident) -> Page:
    answer = get(path, parts(Shelf(incidents)) if incidents else parts())
    assert answer.status == 200
    return Page(answer.text)


def test_the_root_leads_to_the_list() -> None:
    answer = get("/")
    assert (answer.status, answer.headers["location"]) == (302, "/incidents")


def test_the_list_shows_open_incidents_first_unless_asked() -> None:
    text = page("/incidents").text
    assert "8 open" in text
    assert "Investigating prod / llm-70b severity page LLMDHighTTFT" in text
    assert "Cause found llm / chat-json severity page CPU throttling high 03:00 UTC" in text
    assert "Resolved after" not in text
    assert f"Resolved after 38{NBSP}min" in page("/incidents?state=all").text


@pytest.mark.parametrize(
    ("id", "says"),
    [
        ("7F3K", "Investigating|LLMDHighTTFT on prod / llm-70b"),
        ("7F3K", "14 causes are being checked. Verdict by 03:04:51 UTC"),
        ("7F3K", "31 of 47 questions answered, 15 waiting, 1 failed."),
        ("8R5W", "Cause found|high confidence|The CPU limit stops the engine"),
        ("8R5W", f"Inter-token p50|80{NBSP}ms|usually 8{NBSP}ms (x10) · SLO 20{NBSP}ms"),
        ("8R5W", "rose in one step, load as usual"),
        ("8R5W", f"Where the time goes: decode +3.69{NBSP}s"),
        (
            "8R5W",
            "Could not check (2)|ingress path (in part), DNS resolution|: no such series in "
            "Prometheus",
        ),
        ("8R5W", "Fix: check that its series are scraped."),
        ("2H8D", "Could not check (2)|RDMA fabric|: gpu-node-7 did not answer SSH within 5 s."),
        ("2H8D", "Fix: tailhound doctor ssh gpu-node-7."),
        ("8R5W", "Confirmed (2)"),
        ("8R5W", "Ruled out (8)"),
        ("8R5W", "Not applicable (1)|NVMe-oF queue"),
        ("8R5W", f"100{NBSP}%|(needs 25{NBSP}%) ·|holds|, optional"),
        ("8R5W", "Nothing speaks against it (2 of 2 checked)."),
        ("8R5W", "Suggestions only (observe mode)."),
        ("9C1Q", "Not now: no changing account is configured."),
        ("8R5W", "3 alerts, 2 more left out by Alertmanager"),
        ("2H8D", "No cause confirmed|Slow write wait on storage / db-1"),
        ("2H8D", "11 causes checked: 8 ruled out, 2 unknown, 1 not applicable, 0 confirmed."),
        ("2H8D", "Unknown (2):|Not measured: RDMA fabric, node drain."),
        ("2H8D", "Why nothing more was measured of the unknown causes: see|Could not check"),
        ("2H8D", "at the deadline"),
        ("4T6V", "Cannot see|Prometheus does not answer"),
        ("4T6V", "neither good nor bad"),
        ("9C1Q", "Two causes fit|medium confidence|CPU throttling, Node drain"),
        ("5B2M", f"Resolved after 38{NBSP}min|The CPU limit stops"),
        ("5B2M", "What could be done"),
        ("1Q9X", "Waiting its turn"),
        ("3M7N", "Joined|Handled in incident 8R5W"),
        ("6K0B", "tailhound itself failed|LLMDHighTTFT on prod / llm-70b; the alert stands"),
        ("6K0B", "the database was full"),
        ("0A0A", "Unreadable alert"),
        ("0A0A", "this is no notification of Alertmanager, version 4"),
    ],
)
def test_each_state_says_what_it_is(id: str, says: str) -> None:
    text = page(f"/incidents/{id}").text
    place = 0
    for piece in says.split("|"):
        found = text.find(piece, place)
        assert found >= 0, f"{piece!r} is not behind {text[:place][-60:]!r} in {text}"
        place = found + len(piece)


def test_a_revised_verdict_keeps_the_old_one_struck_through() -> None:
    revised = Revised(
        at=NOW, was_at=NOW - timedelta(minutes=1), was="no cause confirmed", why="SSH answered late"
    )
    answer = get("/incidents/8R5W", parts(Shelf((replace(CONFIRMED, revised=revised),))))
    assert "<s>03:03:30 UTC no cause confirmed</s>" in answer.text
    assert "SSH answered late" in answer.text


def test_a_confirmed_cause_without_a_symptom_is_told_and_not_named_as_the_cause() -> None:
    text = page("/incidents/8R5W", STATES["no-symptom"]).text
    assert "No cause confirmed" in text
    assert "so this can't be named as the cause: CPU throttling : chat-json-2 was stopped" in text


def test_that_no_known_cause_is_left_is_said() -> None:
    text = page("/incidents/8R5W", STATES["nothing-left"]).text
    assert "The cause is none of those that tailhound knows, or it has passed." in text


def test_back_again_and_one_click_mode_are_said() -> None:
    again = replace(LISTED[0], episode=2)
    assert "Back again" in page("/incidents/7F3K", again).text
    given = parts(settings=Settings(mode="one-click"))
    assert (
        "changes: off (one-click mode, but this version has none)"
        in Page(get("/incidents", given).text).text
    )


def test_each_claim_has_an_anchor_and_no_id_is_given_twice() -> None:
    ids = page("/incidents/8R5W").all_of("id")
    assert "cpu-throttling.confirm-1" in ids
    assert "cpu-throttling.refute-1" in ids
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize("id", [incident.id for incident in LISTED])
def test_every_page_is_read_only_with_one_headline_and_scoped_heads(id: str) -> None:
    found = page(f"/incidents/{id}")
    assert found.tags.count("h1") == 1
    assert "button" not in found.tags
    assert "form" not in found.tags
    assert found.tags.count("th") == len(found.all_of("scope"))
    assert "style" not in found.tags
    assert found.all_of("style") == []
    assert "Read-only: act in Slack" in found.text


def test_the_slack_message_is_linked_when_there_is_one() -> None:
    given = parts(slack_link=lambda _incident: "https://example.slack.com/archives/C1/p2")
    assert 'href="https://example.slack.com/archives/C1/p2"' in get("/incidents/8R5W", given).text


def test_what_is_not_configured_is_not_told_to_be_asked_again() -> None:
    assert CONFIRMED.diagnosis is not None
    why = "not asked: Prometheus is not configured: set prometheus.url"
    skipped = replace(INGRESS_SERIES.asked[0], status=EvidenceStatus.SKIPPED, detail=why)
    evidence = replace(INGRESS_SERIES, asked=(skipped,))
    html = get(
        "/incidents/8R5W",
        parts(
            Shelf(
                (replace(CONFIRMED, diagnosis=replace(CONFIRMED.diagnosis, evidence=(evidence,))),)
            )
        ),
    ).text
    assert f"ingress path (in part)</strong>: {why}.</li>" in html


def test_an_unreadable_body_that_failed_is_told_once() -> None:
    bad = replace(LISTED[-1], state=State.FAILED, failed_because="what arrived can't be read")
    text = page("/incidents/0A0A", bad).text
    assert "Unreadable alert" in text
    assert "No verdict" not in text


def test_labels_that_people_look_for_come_first() -> None:
    text = page("/incidents/8R5W").text
    text = text[text.index("alertname") :]
    order = [text.index(label) for label in ("alertname", "severity page", "cluster eu-1")]
    assert order == sorted(order)
    assert order[-1] < text.index("prometheus monitoring/k8s")


def test_a_secret_in_a_label_or_output_is_never_shown() -> None:
    secret = "ghp_" + "a1B2" * 9
    alert = CONFIRMED.alerts[0]
    hot = replace(alert, labels=dict(alert.labels) | {"url": f"https://u:{secret}@git.example"})
    shelf = Shelf(
        (replace(CONFIRMED, alerts=(hot,)),),
        outputs=(Output(question=QUERY, text=f"token={secret}", size=40),),
    )
    assert secret not in get("/incidents/8R5W", parts(shelf)).text
    assert secret not in get("/incidents/8R5W/raw/1", parts(shelf)).text


@pytest.mark.parametrize("path", ["/incidents?state=all", "/incidents/BAD1"])
def test_hostile_text_never_becomes_markup(path: str) -> None:
    answer = get(path, parts(Shelf((hostile(),))))
    found = Page(answer.text)
    assert found.tags.count("script") == 1
    assert "img" not in found.tags
    assert not [name for name, _ in found.attributes if name.startswith("on")]
    assert "{{ 7*7 }}" in found.text
    assert "49" not in re.sub(r"[0-9a-f]{12}", "", found.text)
    assert "\u202e" not in answer.text
    assert "\x1b" not in answer.text


def test_values_of_a_megabyte_make_no_megabyte_of_page() -> None:
    answer = get("/incidents/BAD1", parts(Shelf((hostile(HOSTILE + "x" * 1024 * 1024),))))
    assert answer.status == 200
    assert len(answer.body) < 70_000
    assert "characters" in answer.text


def test_the_empty_list_says_how_to_send_an_alert() -> None:
    text = Page(get("/incidents", parts(Shelf(()))).text).text
    assert "No incidents yet. Send one: tailhound diagnose --alert sample.json" in text
    assert "a webhook_configs url of" in text
    assert "/webhook/alertmanager" in text


def test_without_counts_nothing_is_said_of_how_many_are_open() -> None:
    html = get("/incidents", parts(counts=None)).text
    assert "<title>Incidents - tailhound</title>" in html
    assert " open<" not in html
    metrics = get("/metrics", parts(counts=None)).text
    assert "tailhound_outbox_waiting NaN" in metrics


def test_the_other_empty_states_say_what_is_empty() -> None:
    assert "Nothing matches." in page("/incidents?text=zebra").text
    assert "Nothing is open." in page("/incidents", replace(CONFIRMED, state=State.RESOLVED)).text
    assert "No older incidents." in page("/incidents?before=2020-01-01T00:00:00%2B00:00").text
    given = parts(catalogue=Books(runbooks=()), health=tuple)
    assert "No runbooks are loaded." in Page(get("/runbooks", given).text).text
    assert "No backend is configured." in Page(get("/health", given).text).text


def test_older_incidents_are_one_link_away_and_filters_stay() -> None:
    html = get("/incidents?state=all&text=chat&limit=2").text
    link = re.search(r'href="/incidents\?(?P<query>[^"]+)">Older', html)
    assert link
    query = link["query"].replace("&amp;", "&")
    assert "state=all" in query
    assert "text=chat" in query
    assert get(f"/incidents?{query}").status == 200


def test_a_filter_keeps_the_search_and_escapes_it() -> None:
    html = get('/incidents?state=all&text="><script>').text
    assert "<script>" not in html.replace('<script src="', "")
    assert "text=%22%3E%3Cscript%3E" in html


def test_an_unknown_id_is_404_with_the_search_filled_in() -> None:
    answer = get("/incidents/XYZ9")
    assert answer.status == 404
    assert "No incident XYZ9" in answer.text
    assert 'value="XYZ9"' in answer.text


@pytest.mark.parametrize("path", ["/nope", "/incidents/8R5W/causes/nope",
                                  "/incidents/8R5W/evidence/nope",
                                  "/incidents/7F3K/causes/cpu-throttling", "/incidents/nope/alerts",
                                  "/incidents/8R5W/raw/2", "/incidents/8R5W/raw/0",
                                  "/static/..%2fapp.py", "/incidents/%3Cscript%3E"])  # fmt: skip
def test_other_unknown_addresses_are_404_in_words(path: str) -> None:
    answer = get(path)
    assert answer.status == 404
    assert "<script>" not in answer.text.replace('<script src="', "")


def test_a_filter_that_is_not_understood_is_400_in_words() -> None:
    answer = get("/incidents?state=happy")
    assert answer.status == 400
    assert "State must be one of open, all" in Page(answer.text).text


def test_a_raw_output_is_plain_text() -> None:
    shelf = Shelf(outputs=(Output(question=QUERY, text=HOSTILE, size=9, truncated=True),))
    answer = get("/incidents/8R5W/raw/1", parts(shelf))
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    assert answer.text.startswith("# sum by (pod)")
    assert answer.text.endswith("[more came than is kept]\n")


def test_a_database_that_is_gone_is_said_in_words() -> None:
    for path in ("/incidents", "/incidents/8R5W"):
        answer = get(path, parts(Shelf(down=True)))
        assert answer.status == 503
        assert "The database does not answer" in Page(answer.text).text


def test_pages_that_nobody_feeds_do_not_exist() -> None:
    given = parts(catalogue=None, accuracy=None, health=None)
    for path in ("/runbooks", "/runbooks/cpu-throttling", "/runbooks/cpu-throttling.yaml",
                 "/accuracy", "/health"):  # fmt: skip
        assert get(path, given).status == 404
    assert "Runbooks" not in Page(get("/incidents", given).text).text


def test_the_catalogue_and_the_health_page_name_what_is_wrong() -> None:
    assert "Not active: cpu-throttling.yaml:25:52" in page("/runbooks").text
    assert "SSH to gpu-node-7 times out" in page("/health").text
    assert "1 of 2 do not work" in page("/health").text


def test_style_and_script_are_served_under_their_hash_for_ever() -> None:
    app = create_app(parts())
    html = request(app, "/incidents").text
    for path in re.findall(r'(?:href|src)="(/static/[^"]+)"', html):
        answer = request(app, path)
        assert answer.status == 200
        assert "immutable" in answer.headers["cache-control"]
        assert len(answer.body) < 40_000


def test_nothing_is_asked_of_the_outside() -> None:
    html = get("/incidents/8R5W").text + get("/incidents").text
    assert "http://" not in html
    assert "https://" not in html


def test_a_full_page_of_a_list_renders_in_under_100_ms() -> None:
    many = tuple(
        replace(CONFIRMED, id=f"N{n}", received_at=NOW - timedelta(seconds=n)) for n in range(500)
    )
    app = create_app(parts(Shelf(many)))
    request(app, "/incidents?limit=500")  # templates are compiled once per process
    started = time.process_time()
    answer = request(app, "/incidents?limit=500")
    took = time.process_time() - started
    assert answer.text.count("<tr class") == ROWS == 100
    assert took < 0.1


def test_a_blind_diagnosis_names_the_backend_even_when_it_is_hostile() -> None:
    assert BLIND.diagnosis is not None
    bad = replace(BLIND, diagnosis=replace(BLIND.diagnosis, blind=HOSTILE))
    found = page("/incidents/8R5W", bad)
    assert "img" not in found.tags


def test_every_page_says_which_version_made_it_and_whether_a_recording_answers() -> None:
    for path in ("/incidents", "/incidents/8R5W", "/runbooks", "/health", "/nowhere"):
        plain = request(create_app(parts()), path).text
        assert f"tailhound {__version__}" in plain
        assert "no cluster is asked" not in plain
        assert "no cluster is asked" in request(create_app(parts(recorded=True)), path).text
