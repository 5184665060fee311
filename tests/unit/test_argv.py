"""Which commands may run on a host: the refuse list, the typed holes, and the allow-list."""

import shlex
import string
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tailhound.errors import SettingsError
from tailhound.requests.argv import SHIPPED, AllowList, Entry, needs_root, refused
from tailhound.requests.argv_holes import HOLES, Word
from tailhound.requests.argv_readers import READERS
from tailhound.requests.argv_refused import RUNNERS, WRITERS

COMMANDS = Path(__file__).parents[1] / "samples" / "commands"
REFUSED = (COMMANDS / "refused.txt").read_text().strip().splitlines()


@pytest.mark.parametrize("line", REFUSED)
def test_what_writes_resets_blocks_floods_or_runs_a_program_is_refused(line: str) -> None:
    assert refused(line.split())


READ_ONLY = (COMMANDS / "read_only.txt").read_text().strip().splitlines()


@pytest.mark.parametrize("line", READ_ONLY)
def test_what_only_reads_is_not_refused(line: str) -> None:
    assert refused(line.split()) is None


@pytest.mark.parametrize("argv", [[], [""], ["true\n"], ["cat", "/proc/up\x00time"], ["a\x1b[0m"]])
def test_an_empty_or_unprintable_command_is_refused(argv: list[str]) -> None:
    assert refused(argv)


def test_no_program_is_both_a_reader_and_refused() -> None:
    assert not set(READERS) & (RUNNERS | WRITERS)


def test_every_shipped_command_is_unrefused_and_allows_its_own_example() -> None:
    assert len(SHIPPED.entries) > 100
    for entry in SHIPPED.entries:
        assert SHIPPED.why_not(entry.example) is None, entry.texts


def test_shipped_commands_hold_no_duplicate() -> None:
    texts = [entry.texts for entry in SHIPPED.entries]
    assert len(texts) == len(set(texts))


HOLED = [entry for entry in SHIPPED.entries if any(word.varies for word in entry.words)]
SNEAKY = [
    *("", " ", "-rf", "--clear", "a b", "a\nb", "a\x00b", "$(id)", "`id`", ";id", "|id", "&", ">x"),
    *("<x", "*", "?", "[a]", "{a,b}", "~", "#", "!", "'", '"', "\\", "../x", "/dev/nvme0;id"),
    *("/dev/nvme0\n", "/dev/../etc/shadow", "/sys/class/net/../../x", "$HOME", "%s", "é", "１"),
]
HOSTILE = st.text(max_size=30).map(lambda text: f"{text}$(id)") | st.sampled_from(SNEAKY)


@given(entry=st.sampled_from(HOLED), value=HOSTILE)
def test_no_hole_lets_a_metacharacter_through(entry: Entry, value: str) -> None:
    argv = tuple(value if word.varies else word.text for word in entry.words)
    assert SHIPPED.why_not(argv)


PLAIN = set(string.ascii_letters + string.digits + "/._:@+,-")


@given(kind=st.sampled_from([*HOLES, "path:/sys/class/net/"]), data=st.data())
def test_what_fills_a_hole_needs_no_quoting(kind: str, data: st.DataObject) -> None:
    word = Word.of(f"<{kind}>")
    value = data.draw(st.from_regex(word.pattern, fullmatch=True))
    assert set(value) <= PLAIN
    assert not value.startswith("-")
    assert shlex.quote(value) == value
    assert ".." not in value.split("/")


@given(line=st.sampled_from(REFUSED))
def test_refuse_beats_allow(line: str) -> None:
    argv = line.split()
    literal = Entry(tuple(Word(text, (text,), Word.of("x").pattern) for text in argv))
    everything = AllowList((literal, Entry(tuple(map(_anything, argv)))))
    assert str(everything.why_not(argv)).startswith("refused: ")
    assert str(everything.why_no_template([*argv[:-1], "$x"] if argv[1:] else argv))
    with pytest.raises(SettingsError):
        AllowList.of([argv])


def _anything(text: str) -> Word:
    return Word(text, (text,), Word.of("<name>").pattern)


@given(argv=st.lists(st.text(max_size=12), max_size=6))
def test_any_argv_gets_an_answer_and_only_listed_ones_pass(argv: list[str]) -> None:
    why = SHIPPED.why_not(argv)
    assert (why is None) == any(entry.fits(argv) for entry in SHIPPED.entries)
    assert isinstance(SHIPPED.why_no_template(argv), str) or why is None


def test_one_argument_more_or_less_is_not_allowed() -> None:
    assert SHIPPED.why_not(["uname", "-r"]) is None
    assert SHIPPED.why_not(["uname", "-r", "-a"])
    assert SHIPPED.why_not(["uname"])


def test_a_refusal_names_the_nearest_command_and_where_to_add_one() -> None:
    why = str(SHIPPED.why_not(["nvme", "smart-log", "-o", "json", "/dev/nvme0"]))
    assert "`/usr/sbin/nvme smart-log -o json <nvme>`" in why
    assert "ssh.allow" in why
    assert "no allowed command calls `vendor-report`" in str(SHIPPED.why_not(["vendor-report"]))


def test_a_template_variable_stands_only_where_the_command_has_a_hole() -> None:
    smart = ["/usr/sbin/nvme", "smart-log", "-o", "json"]
    assert SHIPPED.why_no_template([*smart, "$device"]) is None
    assert SHIPPED.why_no_template(["/usr/sbin/nvme", "$verb", "-o", "json", "/dev/nvme0"])
    assert SHIPPED.why_no_template([*smart, "/dev/$device"])
    assert SHIPPED.why_no_template(["$tool", "-r"])
    assert SHIPPED.why_no_template(["cat", "$path"]) is None
    assert "refused" in str(SHIPPED.why_no_template(["nvme", "format", "$device"]))


def test_a_template_without_variables_is_checked_like_an_argv() -> None:
    assert SHIPPED.why_no_template(["uname", "-r"]) is None
    assert SHIPPED.why_no_template(["uname", "-x"])


def test_a_site_extends_the_shipped_list_or_replaces_it() -> None:
    own = AllowList.of([["site-report", "<int>"]])
    assert own.why_not(["site-report", "5"]) is None
    assert own.why_not(["site-report", "5;id"])
    assert own.why_not(["uname", "-r"])
    both = AllowList.of([["shipped"], ["site-report", "<int>"]])
    assert both.why_not(["uname", "-r"]) is None
    assert both.why_not(["site-report", "5"]) is None


@pytest.mark.parametrize(
    ("entry", "says"),
    [
        ([], "empty"),
        (["cat", "<pathological>"], "there is no hole <pathological>"),
        (["cat", "<path:/sys>"], "begins and ends with /"),
        (["cat", "<path:/sys/../>"], "plain names"),
        (["<name>", "x"], "must be a literal"),
        (["nvme", "format", "<nvme>"], "never runs"),
        (["cat", "<path:/root/>"], "never runs"),
    ],
)
def test_a_wrong_entry_is_an_error_that_names_it(entry: list[str], says: str) -> None:
    with pytest.raises(SettingsError, match=r"ssh\.allow"):
        AllowList.of([entry])
    with pytest.raises(SettingsError, match=says):
        AllowList.of([entry])


def test_a_path_hole_keeps_to_its_folder() -> None:
    allow = AllowList.of([["cat", "<path:/sys/class/net/>"]])
    assert allow.why_not(["cat", "/sys/class/net/eth0/statistics/rx_bytes"]) is None
    for path in (
        "/sys/class/net/",
        "/sys/class/net",
        "/sys/class/network/x",
        "/sys/class/net/../x",
        "/sys/class/net/./x",
        "/sys/class/net/eth0//x",
        "/sys/class/net/eth0/",
        "/sys/class/net/eth0/device/vpd",
    ):
        assert allow.why_not(["cat", path]), path


def test_an_absolute_path_runs_as_root_and_a_bare_name_does_not() -> None:
    assert needs_root(["/usr/sbin/nvme", "list"])
    assert not needs_root(["cat", "/proc/uptime"])
    assert not needs_root([])


def test_a_very_long_command_is_refused_at_once() -> None:
    assert "longer" in str(refused(["cat", "/proc/" + "a" * 10_000]))
