"""The configuration: what is wrong is told with its place and with what to write instead."""

from pathlib import Path

import pytest

from tailhound.errors import SettingsError
from tailhound.settings import Settings, load


class Desk:
    """Writes a configuration, and loads it."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "bot.yaml"

    def load(self, text: str, **environ: str) -> Settings:
        self.path.write_text(text, encoding="utf-8")
        return load(self.path, environ)

    def told(self, text: str, **environ: str) -> str:
        with pytest.raises(SettingsError) as caught:
            self.load(text, **environ)
        return str(caught.value)


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


DATABASE = "write sqlite:////path/to/file (four slashes: an absolute path) or postgresql://user@"


@pytest.mark.parametrize(
    "url",
    [
        "/tmp/x.db",  # noqa: S108 - the mistake itself
        "x.db",
        "sqlite://x.db",
        "sqlite:///",
        "sqlite:///:memory:",
        "postgres://u@h/db",
        "postgresql://u@h",
        "postgresql://u@h/",
        "mysql://x/y",
        "",
    ],
)
def test_what_is_no_database_is_told_at_its_place(desk: Desk, url: str) -> None:
    told = desk.told(f"mode: observe\nstore:\n  url: {url!r}\n")
    assert told.startswith(f"{desk.path}:3:3: store.url: {DATABASE}")


def test_a_database_that_a_variable_names_is_told_by_the_variable(desk: Desk) -> None:
    told = desk.told("mode: observe\n", TAILHOUND_STORE__URL="mysql://root:hunter2@h/db")
    assert told.startswith(f"TAILHOUND_STORE__URL: store.url: {DATABASE}")
    assert "hunter2" not in told


@pytest.mark.parametrize(
    "url",
    [
        "sqlite:///tailhound.db",
        "sqlite:////var/lib/tailhound/bot.db",
        "postgresql://user@host:5432/db",
        "postgresql+psycopg://user:secret@/db?host=/run/postgresql",
    ],
)
def test_a_database_is_taken(desk: Desk, url: str) -> None:
    assert desk.load(f"store: {{url: {url!r}}}\n").store.url == url


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ("127.0.0.1:19190", "in front of the host: http://127.0.0.1:19190?"),
        ("prometheus.monitoring:9090/prom", "http://prometheus.monitoring:9090/prom?"),
        ("localhost", "in front of the host: http://localhost?"),
        ("ftp://h", "write http:// or https:// in front of the host"),
        ("http://", "no host stands in it"),
        ("http://:9090", "no host stands in it"),
        ("http://h:port", "write http://HOST:PORT or https://HOST:PORT, the port a number"),
        ("http://h:99999", "the port a number"),
        ("http://admin:hunter2@h", "name and password don't stand in an address: use `basic:`"),
        ("http://h?x=1", "without `?` and `#`"),
    ],
)
@pytest.mark.parametrize(
    "key",
    ["prometheus.url", "alertmanager.url", "kubernetes.server", "listen.public_url",
     "slack.api_url"],
)  # fmt: skip
def test_what_is_no_address_is_told_with_what_to_write(
    desk: Desk, key: str, value: str, says: str
) -> None:
    section, name = key.split(".")
    told = desk.told(f"{section}:\n  {name}: {value!r}\n")
    assert told.startswith(f"{desk.path}:2:3: {key}: ")
    assert says in told
    assert "hunter2" not in told


@pytest.mark.parametrize(
    "url", ["http://p", "https://p.example.com:9090/prefix/", "http://[::1]:9090", ""]
)
def test_an_address_is_taken(desk: Desk, url: str) -> None:
    assert desk.load(f"prometheus: {{url: {url!r}}}\n").prometheus.url == url


TOKENS = "slack:\n  bot_token: {env: SLACK_BOT_TOKEN}\n"


def test_a_bot_token_without_a_channel_is_told(desk: Desk) -> None:
    told = desk.told(TOKENS)
    assert told == (
        f"{desk.path}:1:1: slack: with bot_token set, also say where to post: channel: C0123456789"
    )
    assert desk.load(TOKENS + "  channel: C012\n").slack.channel == "C012"
    assert desk.load(TOKENS + "  routes: [{match: {}, channel: C1}]\n").slack.routes
    assert "say where to post" in desk.told(
        TOKENS + "  routes: [{match: {team: a}, channel: C1}]\n"
    )


@pytest.mark.parametrize("name", ["oncall", "#oncall", "c0123", "@someone", "C0123 ", "U012345"])
@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("slack: {{channel: {}}}\n", "slack.channel"),
        ("slack: {{fallback_channel: {}}}\n", "slack.fallback_channel"),
        ("slack: {{routes: [{{channel: {}}}]}}\n", "slack.routes.0.channel"),
    ],
)
def test_the_name_of_a_channel_is_not_its_id(desk: Desk, name: str, text: str, key: str) -> None:
    told = desk.told(text.format(repr(name)))
    assert f": {key}: write the channel's id (C0123456789), not its name" in told


@pytest.mark.parametrize("name", ["sre-oncall", "@sre", "U0123", "S0123 ", ""])
def test_the_name_of_a_user_group_is_not_its_id(desk: Desk, name: str) -> None:
    told = desk.told(f"approvals: {{sre: {{groups: [{name!r}]}}}}\n")
    assert ": approvals.sre.groups.0: write the user group's id (S0123456789)" in told


@pytest.mark.parametrize("name", ["ana", "@ana", "S0123", "u0123"])
def test_the_name_of_a_member_is_not_an_id(desk: Desk, name: str) -> None:
    told = desk.told(f"approvals: {{sre: {{users: [{name!r}]}}}}\n")
    assert ": approvals.sre.users.0: write the member's id (U0123456789)" in told


def test_the_stop_file_stands_beside_the_database_unless_it_is_named(desk: Desk) -> None:
    beside = desk.load("store: {url: 'sqlite:////var/lib/t/bot.db'}\n").stops
    assert beside == Path("/var/lib/t/bot.db.stop")
    assert desk.load("store: {url: 'postgresql://h/d'}\n").stops is None
    named = "store: {url: 'postgresql://h/d'}\nstop_file: /run/t/stop\n"
    assert desk.load(named).stops == Path("/run/t/stop")


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("prometheus:\n  bearer: sekret\n", "prometheus.bearer"),
        ("listen:\n  bearer: 12345\n", "listen.bearer"),
        ("ssh:\n  key: [sekret]\n", "ssh.key"),
        ("store:\n  password: sekret\n", "store.password"),
    ],
)
def test_a_secret_that_is_written_out_is_refused_and_not_repeated(
    desk: Desk, text: str, key: str
) -> None:
    told = desk.told(text)
    says = "a secret never stands here: write {env: NAME} or {file: PATH}"
    assert told == f"{desk.path}:2:3: {key}: {says}"


def test_a_secret_that_is_not_there_is_told_with_the_key_that_wants_it(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NO_SUCH_TOKEN", raising=False)
    binary = tmp_path / "binary"
    binary.write_bytes(b"\xff\xfe")
    found = desk.load(
        "prometheus:\n"
        "  bearer: {env: NO_SUCH_TOKEN}\n"
        "ssh:\n"
        f"  key: {{file: {tmp_path}/absent}}\n"
        "alertmanager:\n"
        f"  basic: {{username: a, password: {{file: {binary}}}}}\n"
    )
    told = []
    for secret in found.secrets():
        with pytest.raises(SettingsError) as caught:
            secret.read()
        told.append(str(caught.value))
    assert told == [
        f"{desk.path}:2:3: prometheus.bearer: the environment variable NO_SUCH_TOKEN is not set",
        f"{desk.path}:6:24: alertmanager.basic.password: can't read the secret file {binary}: "
        "is not UTF-8 text",
        f"{desk.path}:4:3: ssh.key: can't read the secret file {tmp_path}/absent: "
        "No such file or directory",
    ]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("prometheus: http://p\n", "prometheus: must be a section: `key: value` lines"),
        ("runbooks: shipped\n", "runbooks: must be a list: [a, b]"),
        ("slo: {ttft_p99: 2}\n", "slo: ttft_p99: write a symptom and its quantile, as in ttft_p99"),
        ("slo: {ttft_p99_seconds: 0}\n", "slo: ttft_p99_seconds: an objective is a number of sec"),
        ("slo: {ttft_p99_seconds: .inf}\n", "slo: ttft_p99_seconds: an objective is a number of s"),
        ("incidents: {unheard_hours: .inf}\n", "incidents.unheard_hours: "),
        ("incidents: {unheard_hours: .nan}\n", "incidents.unheard_hours: "),
        ("incidents: {unheard_hours: 8761}\n", "incidents.unheard_hours: "),
        ("incidents: {reopen_minutes: .inf}\n", "incidents.reopen_minutes: "),
        ("incidents: {reopen_minutes: 1.0e+11}\n", "incidents.reopen_minutes: "),
        ("prometheus: {max_bytes: 1000000000000000000000}\n", "prometheus.max_bytes: "),
        ("profiles: [{slo: {x: 1}}]\n", "profiles.0.slo: x: write a symptom and its quantile"),
    ],
)
def test_a_value_of_a_wrong_shape_is_told_in_words(desk: Desk, text: str, says: str) -> None:
    assert says in desk.told(text)


def test_a_key_knows_its_place_or_its_variable(desk: Desk) -> None:
    text = "profiles:\n  - match: {a: b}\n    thresholds: {x: {y: 1}}\n"
    found = desk.load(text, TAILHOUND_LISTEN__PORT="1")
    name = str(desk.path)
    assert found.place("profiles", 0, "thresholds", "x", "y") == (name, 3, 22)
    assert found.place("profiles", 0, "thresholds", "z") == (name, 3, 5)
    assert found.place("listen", "port") == ("TAILHOUND_LISTEN__PORT", 1, 1)
    assert Settings().place("mode") == ("configuration", 1, 1)


@pytest.mark.parametrize(
    ("headers", "says"),
    [
        ("X-Scope-OrgID: 12", 'must be text, in quotes ("12")'),
        ("X-Scope-OrgID: {envi: A}", "a secret is {env: NAME} or {file: PATH}"),
        ("Authorization: Bearer x", "Authorization: use `bearer:` or `basic:`"),
        ("Host: x", "Host: tailhound sets this one itself"),
        ("X-Api-Key: s3cret", "X-Api-Key: a secret never stands here"),
        ('X-Tenant: "a\\nb"', "X-Tenant: must be one line of plain characters"),
        ('X-Tenant: ""', "X-Tenant: must be one line of plain characters"),
        ("X Tenant: a", "a name of a header is letters, digits and hyphens"),
        ("X-Tenant: a, x-tenant: b", "a header stands there twice"),
    ],
)
@pytest.mark.parametrize("section", ["prometheus", "alertmanager"])
def test_a_header_that_can_not_be_sent_is_told(
    desk: Desk, section: str, headers: str, says: str
) -> None:
    told = desk.told(f"{section}:\n  headers: {{{headers}}}\n")
    assert told.startswith(f"{desk.path}:2:")
    assert f"{section}.headers" in told
    assert says in told
    assert "s3cret" not in told
    assert "\n" not in told


def test_a_header_may_be_a_secret_and_its_key_is_told(desk: Desk) -> None:
    settings = desk.load("prometheus:\n  headers:\n    X-Api-Key: {env: NOT_SET_HERE}\n")
    (secret,) = settings.secrets()
    with pytest.raises(SettingsError, match=r":3:5: prometheus.headers.X-Api-Key: .*NOT_SET_HERE"):
        secret.read()
