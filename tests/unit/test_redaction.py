"""Redaction, tested in both directions: no secret comes through, and nothing else is touched."""

import json
import time
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tailhound.model.redaction import MARK, is_secret_name, plain, redacted, scrubbed

JWT = "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJzeXN0ZW0ifQ.c2lnbmF0dXJlLXNpZ25hdHVyZQ"
KEY = (
    "-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEAx3\nq83mFh2u==\n-----END RSA PRIVATE KEY-----"
)
SLACK = "xoxb-" + "123456789012-abcdefABCDEF"
GITHUB = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
HUGGING_FACE = "hf_" + "QwErTyUiOpAsDfGhJkLzXcVbNm12345678"
AWS = "AKIA" + "IOSFODNN7EXAMPLE"

SECRETS = [
    ("Authorization: Bearer s3cr3t-value-1", "s3cr3t-value-1"),
    ("authorization: Basic dXNlcjpodW50ZXIy", "dXNlcjpodW50ZXIy"),
    ("curl -H 'Authorization: Bearer s3cr3t1234' http://a/b", "s3cr3t1234"),
    ('Authorization: Digest username="u", response="6629fae49393a053"', "6629fae49393a053"),
    ("sent header Bearer abcdef123456", "abcdef123456"),
    ("proxy says: Basic dXNlcjpodW50ZXIy", "dXNlcjpodW50ZXIy"),
    ("Cookie: session=abcdef; theme=dark", "session=abcdef"),
    ("password=hunter2", "hunter2"),
    ("password = hunter2", "hunter2"),
    ("password=123456", "123456"),
    ("DB_PASSWORD=hunter2 ./run", "hunter2"),
    ("PGPASSWORD: 'hunter two'", "hunter two"),
    ("passphrase => hunter2", "hunter2"),
    ("token: abc123def", "abc123def"),
    ("access_token=abc123def&x=1", "abc123def"),
    ("api-key: abc123def", "abc123def"),
    ("apiKey=abc123def", "abc123def"),
    ("X-Api-Key: abc123def", "abc123def"),
    ("client_secret: abc123def", "abc123def"),
    ("aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "bPxRfiCY"),
    (f"key {AWS} used", AWS),
    ("--password hunter2 --verbose", "hunter2"),
    ("vllm serve --api-key abc123def --port 8000", "abc123def"),
    ("--hf-token=abc123def", "abc123def"),
    ("curl -u admin:hunter2 http://x/", "hunter2"),
    ("postgresql://bot:hunter2@db:5432/x", "hunter2"),
    ("redis://:hunter2@cache:6379", "hunter2"),
    ("https://0123456789abcdef0123@github.com/a/b", "0123456789abcdef0123"),
    ("https://x/y?sig=abc%2Fdef123&se=1", "abc%2Fdef123"),
    ("s3?X-Amz-Signature=fe5f80f77d5fa3beca038a248ff027", "fe5f80f77d5f"),
    (f"user {JWT} logged in", JWT),
    (f"slack {SLACK}", SLACK),
    ("https://hooks.slack.com/services/T00000000/B0000/XXXXXXXX", "B0000/XXXXXXXX"),
    (f"git clone with {GITHUB}", GITHUB),
    (f"HF {HUGGING_FACE}", HUGGING_FACE),
    ("openai sk-proj-Ab1Cd2Ef3Gh4Ij5Kl6Mn7Op8Qr9St0", "Ab1Cd2Ef3Gh4"),
    ("root:$6$saltsalt$abcDEF123abcDEF123abcDEF123:19000:0", "abcDEF123"),
    ("client-key-data: LS0tLS1CRUdJTiBSU0EgUFJJVkFURQ==", "LS0tLS1CRUdJ"),
    ("users:\n- name: a\n  user:\n    token: kubecfg-u-abc123", "kubecfg-u-abc123"),
    ("password: |\n  hunter2\nnext: 1", "hunter2"),
    ("password:\n    hunter2", "hunter2"),
    ("- name: HF_TOKEN\n  value: abc123def", "abc123def"),
    (KEY, "q83mFh2u"),
    (KEY.replace("\n", "\\n"), "q83mFh2u"),
    (KEY[:60], "MIIEow"),
    ('{"password": "hunter2"}', "hunter2"),
    ('{"env":[{"name":"HF_TOKEN","value":"abc123def"}]}', "abc123def"),
    ('{"auth": "dXNlcjpodW50ZXIy"}', "dXNlcjpodW50ZXIy"),
    (json.dumps({"a": json.dumps({"password": 'hun"ter2'})}), "ter2"),
    (json.dumps({"a": json.dumps({"b": json.dumps({"token": "abc123def"})})}), "abc123def"),
    ('password="cut off in the midd', "cut off"),
]


@pytest.mark.parametrize(("text", "secret"), SECRETS)
def test_a_secret_does_not_come_through(text: str, secret: str) -> None:
    assert secret not in redacted(text)
    assert MARK in redacted(text)


@pytest.mark.parametrize(("text", "secret"), SECRETS)
def test_redacting_twice_changes_nothing_more(text: str, secret: str) -> None:
    assert redacted(redacted(text)) == redacted(text)


@pytest.mark.parametrize(("text", "secret"), SECRETS)
def test_every_occurrence_goes_also_across_lines(text: str, secret: str) -> None:
    assert secret not in redacted(f"first\n{text}\nbetween\n{text}\nlast")


HARMLESS = [
    "HTTP 401: it wants other credentials: set prometheus.bearer or prometheus.basic",
    "syntax error: unexpected token: expected a number",
    "time to first token: 3.4 s",
    "Time to first token: p99 up",
    "the password was changed and the secret sauce is a token bucket",
    "bearer authentication is basic authentication",
    "Basic information about the host",
    "llm-7d9f8b6c5d-x2k4j",
    "sk-learn-server-7d9f8b6c5d-abcde-7d9f8b6c5d",
    "pypi-mirror-7d9f8b6c5d-abcde-7d9f8b6c5d-x2k4j",
    "registry/x@sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "uid f930f68a-7935-4d8e-8cf3-98c78f57d2a7",
    "commit 9b984a0d5c2c5a0a3b1f0e4d7c6b5a49382716f5",
    'rate(vllm:time_per_output_token_seconds_bucket{namespace="prod",pod=~"a|b"}[5m])',
    'sum by (le) (vllm:prompt_tokens_total{model_name="x"})',
    "job:time_to_first_token:p99_5m",
    'label_replace(up, "a", "$1$2$3$4$5$6$7$8", "b", "(.*)")',
    "max_tokens=4096 tokenizer=auto eos_token: </s> token_usage: 0.93",
    "cost_per_token: 0.0021",
    "http://prometheus:9090/api/v1/query?query=up",
    "http://prometheus:9090/x?mail=a@b.example",
    "secretName: tls-cert",
    "secretKeyRef: {name: db, key: password}",
    "automountServiceAccountToken: false",
    "serviceAccountToken:\n  expirationSeconds: 3607",
    "secret:\n  defaultMode: 420",
    "password: $(DB_PASSWORD)",
    "PWD=/root",
    "P_Key: 0xffff LocalKey 1",
    "nvme0: Sense Key : Illegal Request",
    "sort -u 1000:1000",
    "Failed password for root from 198.51.100.7 port 22 ssh2",
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ",
    "client-certificate-data: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURQ==",
    "[ 12.3] nvme nvme0: I/O 22 QID 3 timeout, aborting",
]


@pytest.mark.parametrize("text", HARMLESS)
def test_what_is_no_secret_is_left_alone(text: str) -> None:
    assert redacted(text) == text


def test_a_lone_surrogate_does_not_get_further() -> None:
    assert redacted("a\ud800b é") == "a\ufffdb é"


def test_json_stays_json() -> None:
    value = {"password": 'a"b\\c', "x": json.dumps({"token": "abc123def", "n": 1}), "y": [KEY]}
    assert json.loads(redacted(json.dumps(value))).keys() == value.keys()


@given(st.text(max_size=300))
def test_redaction_is_idempotent_on_any_text(text: str) -> None:
    once = redacted(text)
    assert redacted(once) == once


@given(st.text(alphabet="pasword=:tken \"'\\\n-{}[]1", max_size=60))
def test_redaction_is_idempotent_on_nearly_secrets(text: str) -> None:
    once = redacted(text)
    assert redacted(once) == once


HOSTILE = [
    "eyJ" * 350_000,
    "eyJaaaaaaaa." * 90_000,
    "-" * 1_000_000,
    "--a" * 350_000,
    "token" * 200_000,
    "token " * 170_000,
    "password" + " " * 1_000_000,
    "password=" * 110_000,
    "password='" + "\\" * 1_000_000,
    'password="' * 100_000,
    'password=\\"' * 90_000,
    "\\" * 1_000_000,
    "password:" + "\\" * 999_000 + "\n",
    "secret:a:" * 110_000,
    "secret:{" * 120_000,
    "cookie=,-u a:" * 77_000,
    "://a:" * 200_000,
    "://" + "a" * 1_000_000,
    "$1" * 500_000,
    "$1$" * 330_000,
    "$6$aaaaaaaaaaaaaaaaaaaa" * 40_000,
    "-----BEGIN PRIVATE KEY-----" * 37_000,
    "-----BEGIN " * 90_000,
    '"name":"' * 125_000,
    '"name":"TOKEN"' + " " * 1_000_000,
    "name: token\n" * 80_000,
    "authorization: " * 66_000,
    "Bearer " * 140_000,
    "Basic aaaaaaaa " * 66_000,
    "sk-" * 330_000,
    "github_pat_" * 90_000,
    "xoxb-" * 200_000,
    "-u a" * 250_000,
    "-u " + "a" * 1_000_000,
    "?sig=" * 200_000,
    "\x1b[" * 500_000,
    "\x1b]" * 500_000,
    "\x1b" * 1_000_000,
    "\u0301" * 1_000_000,
    "\u202e" * 1_000_000,
]


def test_a_hostile_megabyte_costs_little_time() -> None:
    for text in HOSTILE:
        start = time.thread_time()
        redacted(text)
        plain(text, 400)
        spent = time.thread_time() - start
        assert spent < 2.0, f"{text[:20]!r} took {spent:.1f} s"


def test_names_of_secrets_are_told_from_other_names() -> None:
    assert is_secret_name("HF_TOKEN")
    assert is_secret_name("token")
    assert is_secret_name("dbPassword")
    assert not is_secret_name("secretName")
    assert not is_secret_name("max_tokens")
    assert not is_secret_name("time_to_first_token")
    assert not is_secret_name("key")


def test_values_are_scrubbed_by_the_name_beside_them() -> None:
    pod = {
        "metadata": {"name": "llm-0", "annotations": {"last": '{"password":"hunter2"}'}},
        "spec": {
            "containers": [
                {
                    "args": ["serve", "--api-key", "abc", "--port", "80", "--hf-token=abc123def"],
                    "env": [
                        {"name": "HF_TOKEN", "value": "short"},
                        {"name": "MODE", "value": "fast"},
                        {"name": "DB", "valueFrom": {"secretKeyRef": {"key": "password"}}},
                    ],
                }
            ],
            "automountServiceAccountToken": False,
        },
    }
    clean = scrubbed(pod)
    text = json.dumps(clean)
    assert "hunter2" not in text
    assert "short" not in text
    assert scrubbed({"dbPassword": "123456", "x": {"token": "8"}}) == {
        "dbPassword": MARK,
        "x": {"token": "8"},
    }
    assert "abc" not in text
    container = clean["spec"]["containers"][0]
    assert container["env"][1] == {"name": "MODE", "value": "fast"}
    assert container["args"][:3] == ["serve", "--api-key", MARK]
    assert container["args"][3:5] == ["--port", "80"]
    assert container["env"][2] == pod["spec"]["containers"][0]["env"][2]  # type: ignore[index]
    assert clean["spec"]["automountServiceAccountToken"] is False


@dataclass(frozen=True)
class _Reply:
    stdout: str
    code: int
    inner: "_Reply | None" = None


def test_dataclasses_are_scrubbed_inside_and_untouched_ones_stay_the_same_object() -> None:
    clean = _Reply("fine", 0, _Reply("nothing", 1))
    assert scrubbed(clean) is clean
    assert scrubbed(_Reply("x", 1, _Reply("token: abc123def", 2))).inner.stdout == f"token: {MARK}"
    assert scrubbed(("a", ["password=hunter2"])) == ("a", [f"password={MARK}"])


def test_plain_text_has_no_codes_that_a_terminal_or_a_browser_obeys() -> None:
    text = "\x1b[31mred\x1b[0m \x1b]0;title\x07a\x00b\u202ec\u200bd\ufeff\r\ne\rf\x9b1mg\x1bcz"
    assert plain(text, 100) == "red abcd\ne\nfgz"


def test_plain_text_is_valid_utf_8() -> None:
    assert plain("a\ud800b", 10) == "a\ufffdb"
    assert plain("a\ud800b", 10).encode() == b"a\xef\xbf\xbdb"


def test_plain_text_is_cut_with_a_mark_that_says_how_much() -> None:
    cut = plain("x" * 5000, 100)
    assert len(cut) <= 100
    assert cut.endswith("… +4,900 characters")
    assert plain("x" * 100, 100) == "x" * 100
    assert plain("x" * 100, 5) == "xxxx…"
    assert plain("x", 0) == ""


@given(st.text(max_size=200), st.integers(min_value=0, max_value=120))
def test_plain_text_never_exceeds_its_limit(text: str, limit: int) -> None:
    cut = plain(text, limit)
    assert len(cut) <= limit
    assert "\x1b" not in cut
    cut.encode()


def test_stacked_accents_stay_within_their_line() -> None:
    assert plain("e" + "\u0301" * 500, 100) == "e" + "\u0301" * 4
