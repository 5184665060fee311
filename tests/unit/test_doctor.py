"""`tailhound doctor`: each thing once, what breaks without it, and what to do."""

import asyncio
import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml

from tailhound import app
from tailhound.app import probes
from tailhound.app.backends import Needs
from tailhound.app.probes import ENGINES, READS, SERIES, Asker, Line, Mood
from tailhound.cli.doctor import code_of, told
from tailhound.flow import Request, Turn
from tailhound.model import Missing, Reason
from tailhound.requests import GetObject, ListObjects, Output, Query, RunOnHost
from tailhound.settings import Settings
from tailhound.slack.checkup import SCOPES, Point, checkup
from tailhound.store.database import open_database
from tailhound_collectors.families import SGLANG, TF_SERVING, TGI, TORCHSERVE, TRITON, vllm
from tests.driving import EMPTY, vector
from tests.standins.slack import SlackStandin
from tests.unit.test_cli import Terminal, terminal

__all__ = ["terminal"]

ROOT = Path(__file__).parents[2]
NOW = datetime(2026, 11, 30, 3, tzinfo=UTC)
NEEDS = Needs.of(app.compiled(Settings()).runbooks)
Reply = Callable[[Any], Any]


class Backend:
    """Answers by a function, and keeps what was asked."""

    handles: tuple[type[Request[Any]], ...] = (Query, GetObject, ListObjects, RunOnHost)

    def __init__(self, reply: Reply) -> None:
        self._reply = reply
        self.asked: list[Any] = []

    async def ask(self, request: Any, turn: Turn) -> Any:
        self.asked.append(request)
        return self._reply(request)

    def close(self) -> None:
        """Nothing is open."""


def settings(**more: Any) -> Settings:
    return Settings.model_validate(more)


PROMETHEUS = settings(prometheus={"url": "http://p:9090"})
KUBERNETES = settings(kubernetes={"server": "https://k"})
SSH = settings(ssh={"key": {"env": "KEY"}, "hosts": {"db-1": {}, "db-2": {}}})


def lines(probe: Any, at: Settings, reply: Reply, *more: Any) -> list[Line]:
    return asyncio.run(probe(Asker([Backend(reply)], NOW), at, NEEDS, *more))


def one() -> Any:
    return vector(({}, 1.0))


# --- Prometheus


def test_a_prometheus_that_has_everything_is_one_line() -> None:
    (line,) = lines(probes.prometheus, PROMETHEUS, lambda _: one())
    assert line.mood is Mood.OK
    assert line.told.endswith("; history: 1 h, 1 d, 7 d")


def test_every_series_that_is_not_there_is_told_with_what_breaks() -> None:
    known = lambda asked: one() if asked.promql in ("vector(1)", "group(up)") else EMPTY  # noqa: E731
    first, *rest = lines(probes.prometheus, PROMETHEUS, known)
    assert first.mood is Mood.OK
    assert len(rest) == len(SERIES) + 1
    assert all(line.mood is Mood.WARN and line.breaks and line.fix for line in rest)
    assert rest[0].told == "no series container_cpu_cfs_periods_total"
    assert "model server" in rest[-1].told
    assert code_of([first, *rest]) == 1


def test_a_young_prometheus_says_that_nothing_has_a_usual_value_yet() -> None:
    def reply(asked: Query) -> Any:
        return EMPTY if asked.ago else one()

    first, young = lines(probes.prometheus, PROMETHEUS, reply)
    assert first.told.endswith("history: less than 1 h")
    assert (young.mood, young.told) == (Mood.WARN, "no sample is an hour old")
    assert "usual value" in young.breaks


def test_a_prometheus_that_does_not_answer_is_asked_nothing_more() -> None:
    gone = Missing(Reason.UNREACHABLE, "no connection to p:9090. Fix: start it")
    backend = Backend(lambda _: gone)
    found = asyncio.run(probes.prometheus(Asker([backend], NOW), PROMETHEUS, NEEDS))
    assert [line.told for line in found] == ["no connection to p:9090"]
    assert found[0].breaks == "7 of 7 causes can't be checked"
    assert found[0].fix == "start it"
    assert len(backend.asked) == 1
    assert code_of(found) == 3


def test_a_query_that_fails_is_no_missing_series() -> None:
    def reply(asked: Query) -> Any:
        slow = Missing(Reason.TIMEOUT, "did not answer within 10 s")
        return slow if "kube_pod_info" in asked.promql else one()

    _, failed = lines(probes.prometheus, PROMETHEUS, reply)
    assert (failed.mood, failed.told) == (Mood.FAIL, "did not answer within 10 s")
    assert code_of([failed]) == 1


def test_the_series_of_every_family_of_servers_are_looked_for() -> None:
    servers = (vllm("vllm:"), SGLANG, TGI, TRITON, TORCHSERVE, TF_SERVING)
    for family in servers:
        counts = {timing.count for timings in family.timings.values() for timing in timings}
        assert {*counts, *family.of("running")} & {*ENGINES.split("|")}, family.engine


# --- Kubernetes


def test_each_right_of_the_role_is_tried_once() -> None:
    documents = yaml.safe_load_all((ROOT / "deploy/rbac/read.yaml").read_text(encoding="utf-8"))
    granted = {
        (group, resource, verb)
        for document in documents
        for rule in document.get("rules", ())
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
    }
    tried = {
        (
            read.api.rpartition("/")[0],
            read.resource,
            "list" if isinstance(read, ListObjects) else "get",
        )
        for read in READS
    }
    assert tried == granted
    assert all(read.bounded for read in READS if isinstance(read, ListObjects))


def test_objects_that_are_not_there_are_answers() -> None:
    (line,) = lines(probes.kubernetes, KUBERNETES, lambda a: () if a in READS[:1] else EMPTY)
    assert line.mood is Mood.OK
    assert line.told.endswith("; may read all")


def test_what_is_forbidden_is_named_with_the_verb_and_what_to_apply() -> None:
    def reply(asked: Any) -> Any:
        refused = asked.resource == "events"
        return Missing(Reason.FORBIDDEN, "may not list events") if refused else EMPTY

    (line,) = lines(probes.kubernetes, KUBERNETES, reply)
    assert (line.mood, line.told) == (Mood.FAIL, "forbidden: list events")
    assert line.fix == "kubectl apply -f deploy/rbac/read.yaml"
    assert code_of([line]) == 1


def test_an_api_server_that_is_gone_fails_but_is_not_required() -> None:
    gone = Missing(Reason.UNREACHABLE, "no connection to k")
    (line,) = lines(probes.kubernetes, KUBERNETES, lambda _: gone)
    assert (line.mood, line.breaks) == (Mood.FAIL, "5 of 7 causes can't be checked")
    assert code_of([line]) == 1


# --- hosts


def test_each_host_that_refuses_has_its_line_and_the_others_are_counted() -> None:
    def reply(asked: RunOnHost) -> Any:
        bad = Missing(Reason.FORBIDDEN, "key refused. Fix: add it to authorized_keys")
        return bad if asked.host == "db-1" else Output("6.1", "", 0)

    (line,) = lines(probes.ssh, SSH, reply)
    assert (line.mood, line.told) == (Mood.FAIL, "db-1: key refused (1 of 2 hosts ok)")
    assert line.fix == "add it to authorized_keys"
    assert line.breaks.startswith("on db-1: ")


def test_a_host_that_is_named_is_asked_alone_with_an_allowed_command() -> None:
    backend = Backend(lambda _: Output("", "", 0))
    at = settings(ssh={"key": {"env": "KEY"}, "allow": [["cat", "<path:/sys/**>"], ["nproc"]]})
    (line,) = asyncio.run(probes.ssh(Asker([backend], NOW), at, NEEDS, "gpu-7"))
    assert (line.mood, line.told) == (Mood.OK, "1 of 1 hosts ok")
    assert [(asked.host, asked.argv) for asked in backend.asked] == [("gpu-7", ("nproc",))]


# --- Slack


@pytest.fixture
def tokens(monkeypatch: pytest.MonkeyPatch) -> Mapping[str, Any]:
    monkeypatch.setenv("BOT", "xoxb-local")
    monkeypatch.setenv("APP", "xapp-local")
    return {"bot_token": {"env": "BOT"}, "app_token": {"env": "APP"}}


def test_tokens_and_channels_are_looked_at(tokens: Mapping[str, Any]) -> None:
    with SlackStandin() as slack:
        slack.add_channel("C1", "alerts")
        at = {**tokens, "channel": "C1", "fallback_channel": "C9", "api_url": slack.api_url}
        who, unseen, _, socket = checkup(settings(slack=at).slack)
        slack.core.scopes = slack.core.scopes | {"channels:read"}
        _, seen, lost, _ = checkup(settings(slack=at).slack)
    assert (who.works, socket.works, socket.told) == (True, True, "Socket Mode")
    assert unseen.works is None
    assert unseen.told == "C1: not known whether the app may post there"
    assert "channels:read" in unseen.fix
    assert seen == Point(True, "C1 (#alerts)")
    assert lost.works is False
    assert "C9" in lost.told
    assert lost.breaks == "nothing is posted to C9"
    assert "invite" in lost.fix


def test_every_channel_that_is_configured_is_looked_at(tokens: Mapping[str, Any]) -> None:
    with SlackStandin() as slack:
        at = {
            **tokens,
            "channel": "C1",
            "routes": [{"match": {"team": "a"}, "channel": "C2"}],
            "fallback_channel": "C3",
            "ops_channel": "C4",
            "api_url": slack.api_url,
        }
        (brief, *_) = checkup(settings(slack=at).slack, brief=True)
    assert brief.told.endswith("posts to C1, C2, C3, C4")


def test_a_token_that_slack_refuses_ends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BOT", "xoxb-wrong")
    with SlackStandin() as slack:
        at = {"bot_token": {"env": "BOT"}, "channel": "C1", "api_url": slack.api_url}
        (point,) = checkup(settings(slack=at).slack)
    assert point.works is False
    assert "invalid_auth" in point.told
    assert "slack.bot_token" in point.fix


def test_a_scope_that_is_missing_is_told_with_what_breaks(tokens: Mapping[str, Any]) -> None:
    with SlackStandin() as slack:
        slack.add_channel("C1", "alerts")
        at = settings(slack={**tokens, "channel": "C1", "api_url": slack.api_url})
        slack.core.scopes = slack.core.scopes - {"usergroups:read", "chat:write"}
        _, post, groups, *_ = checkup(at.slack)
        slack.core.scopes = frozenset()
        _, unknown, *_ = checkup(at.slack)
    assert (groups.works, groups.told) == (None, "scope usergroups:read missing")
    assert "resume is refused" in groups.breaks
    assert groups.fix == "add the scope in the app's settings, reinstall the app"
    assert (post.works, post.told) == (False, "scope chat:write missing")
    assert (unknown.works, unknown.fix) == (None, "compare them with deploy/slack-manifest.yaml")


def test_every_scope_of_the_manifest_is_looked_for() -> None:
    manifest = yaml.safe_load((ROOT / "deploy/slack-manifest.yaml").read_text(encoding="utf-8"))
    assert set(SCOPES) == set(manifest["oauth_config"]["scopes"]["bot"])
    assert all(SCOPES.values())


def test_each_role_of_approvers_is_asked_for(tokens: Mapping[str, Any]) -> None:
    with SlackStandin() as slack:
        slack.add_channel("C1", "alerts")
        slack.core.add_group("S0ON", "sre", ["U0A", "U0B"])
        slack.core.add_group("S0NONE", "none", [])
        at = settings(
            slack={**tokens, "channel": "C1", "api_url": slack.api_url},
            approvals={
                "sre": {"groups": ["S0ON"], "users": ["U0B", "U0C"]},
                "none": {"groups": ["S0NONE"]},
                "gone": {"groups": ["S0GONE"]},
            },
        )
        _, sre, none, gone, *_ = checkup(at.slack, at.approvals)
    assert sre == Point(True, "approvals.sre: 3 members")
    assert (none.works, none.told) == (None, "approvals.none: nobody is in it")
    assert gone.works is None
    assert gone.told == "approvals.gone: Slack does not tell who is in S0GONE (no_such_subteam)"


# --- the command


@pytest.fixture(autouse=True)
def no_server(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever listens on this machine is not asked."""
    monkeypatch.setenv("TAILHOUND_LISTEN__PORT", "0")


def test_the_stop_switch_is_told_of_a_database_and_of_a_file(terminal: Terminal) -> None:
    def changes() -> str:
        (row,) = [r for r in terminal.run("doctor").out.splitlines() if " changes " in r]
        return row

    nobody = "nobody ends a stop from Slack: approvals is empty"
    assert changes() == f"ok    changes      off (observe mode); {nobody}"
    open_database(f"sqlite:///{terminal.folder / 'tailhound.db'}").close()
    terminal.run("stop", "game day")
    assert re.match(r"ok    changes      stopped by \S+ since \d\d:\d\d UTC; nobody", changes())
    terminal.run("resume")
    (terminal.folder / "tailhound.db.stop").touch()
    assert changes().startswith("ok    changes      stopped by the file tailhound.db.stop since ")


def test_without_any_backend_it_says_what_breaks_and_ends_with_1(terminal: Terminal) -> None:
    found = terminal.run("doctor")
    assert found.code == 1
    rows = found.out.splitlines()
    assert rows[0] == "ok    config       configuration, 1 override from TAILHOUND_*"
    at = rows.index("FAIL  prometheus   not configured")
    assert rows[at + 1 : at + 3] == [
        "        breaks: 7 of 7 causes can't be checked",
        "        fix:    set prometheus.url",
    ]
    assert rows[-1].startswith("1 failed, 3 warnings, ")


def test_a_prometheus_that_is_gone_ends_it_with_3(terminal: Terminal) -> None:
    config = terminal.file("bot.yaml", "prometheus: {url: 'http://127.0.0.1:1'}\n")
    found = terminal.run("doctor", "prometheus", "--config", config)
    assert found.code == 3
    assert found.out.startswith("FAIL  prometheus   ")


def test_an_alertmanager_that_is_gone_is_told_with_what_it_is_for(terminal: Terminal) -> None:
    config = terminal.file("bot.yaml", "alertmanager: {url: 'http://127.0.0.1:1'}\n")
    rows = terminal.run("doctor", "--config", config).out.splitlines()
    at = next(i for i, row in enumerate(rows) if row.startswith("FAIL  alertmanager"))
    assert rows[at + 1] == "        breaks: no silence can be set"
    assert not [row for row in terminal.run("doctor").out.splitlines() if "alertmanager" in row]


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        (("doctor", "slack", "db-1"), "only `doctor ssh` takes a HOST"),
        (("doctor", "mysql"), "invalid choice: 'mysql'"),
    ],
)
def test_wrong_usage_ends_with_2(terminal: Terminal, argv: tuple[str, ...], says: str) -> None:
    found = terminal.run(*argv)
    assert found.code == 2
    assert says in found.err


def test_a_secret_that_is_missing_and_a_wrong_profile_are_told(terminal: Terminal) -> None:
    config = terminal.file(
        "bot.yaml",
        "prometheus: {url: 'http://127.0.0.1:1', bearer: {file: /absent}}\n"
        "profiles: [{thresholds: {cpu: {x: 1}}}]\n"
        "store: {url: 'sqlite:////absent/folder/x.db'}\n",
    )
    out = terminal.run("doctor", "--config", config).out
    assert f"FAIL  config       {config}:1:41: prometheus.bearer: can't read the secret file" in out
    assert f"FAIL  runbooks     {config}:2:26: profiles.0.thresholds.cpu: no runbook named" in out
    assert "FAIL  store        /absent/folder: can't be written" in out


def test_hostile_text_of_a_backend_stays_on_its_line() -> None:
    rows = told([Line(mood=Mood.FAIL, name="ssh", told="a\nok    b\x1b[31m", fix="c " * 90)], 1.0)
    assert rows[0].startswith("FAIL  ssh          a")
    assert "\x1b" not in "".join(rows)
    assert not any(row.startswith("ok") for row in rows)
    assert max(map(len, rows)) <= 80
