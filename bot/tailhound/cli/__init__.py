"""`tailhound`: the commands. The module of a command is imported when it runs, to start fast.

Exit codes: 0 done (a diagnosis was printed, all-unknown included), 1 findings, 2 usage or
configuration, 3 no backend at all answered.
"""

import argparse
import contextlib
import gc
import importlib
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from tailhound import __version__
from tailhound.errors import SettingsError, StoreUnavailable

DONE, FINDINGS, USAGE, NO_BACKEND = 0, 1, 2, 3

_VERBOSE = "tell of each unknown cause what is missing"

_MODULES = {
    "diagnose": "diagnose",
    "serve": "serve",
    "demo": "demo",
    "check": "check",
    "test": "check",
    "incidents": "incidents",
    "parse": "parse",
    "replay": "replay",
    "record": "record",
    "collect": "collect",
    "doctor": "doctor",
    "runbooks": "runbooks",
    "stop": "switch",
    "resume": "switch",
    "db": "db",
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; the exit code."""
    parser = _parser()
    args = parser.parse_args(argv)
    if args.command is None:
        parser.print_help()
        return USAGE
    try:
        return _run(args)
    except (SettingsError, StoreUnavailable) as error:
        sys.stderr.write(f"{error}\n")
        return USAGE
    except BrokenPipeError:
        sys.stderr.close()
        return DONE
    except KeyboardInterrupt:
        return 130


def _run(args: argparse.Namespace) -> int:
    """Dispatch: the module of the command is imported only now."""
    if args.command == "version":
        sys.stdout.write(f"tailhound {__version__}\n")
        return DONE
    with growing():
        module = importlib.import_module(f"tailhound.cli.{_MODULES[args.command]}")
    code: int = module.run(args)
    return code


@contextlib.contextmanager
def growing() -> Iterator[None]:
    """Without looking for garbage while there is next to none: that is a sixth of the start."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="tailhound",
        description="Finds out why the tail latency of a model-serving system has grown.",
    )
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    _add_diagnose(commands)
    _add_serving(commands)
    _add_runbooks(commands)
    incidents = commands.add_parser("incidents", help="list incidents, or show one")
    incidents.add_argument("id", nargs="?", help="the incident's id, such as 7F3K")
    _config(incidents)
    incidents.add_argument("--format", choices=("text", "json", "md"), default="text")
    incidents.add_argument("--verbose", action="store_true", help=_VERBOSE)
    incidents.add_argument("--limit", type=int, default=20)
    _add_parse(commands)
    _add_cases(commands)
    _add_collect(commands)
    _add_doctor(commands)
    _add_keeping(commands)
    commands.add_parser("version", help="print the version")
    return parser


def _add_diagnose(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    diagnose = commands.add_parser(
        "diagnose", help="diagnose one alert, or a whole Alertmanager body, and print it"
    )
    what = diagnose.add_mutually_exclusive_group(required=True)
    what.add_argument("--alert", metavar="FILE|-", help="one alert or an Alertmanager v4 body")
    what.add_argument("--runbook", metavar="ID", help="run one runbook, with --input")
    diagnose.add_argument(
        "--input", action="append", default=[], metavar="NAME=VALUE", help="with --runbook"
    )
    _config(diagnose)
    diagnose.add_argument("--format", choices=("text", "json", "md"), default="text")
    diagnose.add_argument("--verbose", action="store_true", help=_VERBOSE)
    diagnose.add_argument("--color", choices=("auto", "always", "never"), default="auto")
    diagnose.add_argument("--replay", type=Path, metavar="RECORDING", help="ask a recording only")
    diagnose.add_argument("--record", type=Path, metavar="FILE", help="keep what was asked")


def _add_serving(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    serve = commands.add_parser("serve", help="receive alerts, post diagnoses, show pages")
    _config(serve)
    demo = commands.add_parser("demo", help="show the whole loop on a recorded incident")
    demo.add_argument("--port", type=int, default=0, help="0 = any free port")
    demo.add_argument("--once", action="store_true", help="stop when the diagnosis stands")


def _add_runbooks(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    check = commands.add_parser(
        "check", help="load, lint and self-test runbooks; look at a configuration"
    )
    test = commands.add_parser("test", help="run the tests that runbooks carry")
    check.add_argument("paths", nargs="*", type=Path, metavar="PATH")
    test.add_argument("paths", nargs="+", type=Path, metavar="PATH")
    for command in (check, test):
        _config(command)
    check.add_argument("--format", choices=("text", "json", "github"), default="text")
    check.add_argument(
        "--schema", action="store_true", help="print the JSON schema of runbooks, for editors"
    )
    check.add_argument("--mutate", action="store_true", help="also: is each threshold tested?")


def _add_parse(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parse = commands.add_parser("parse", help="turn a host tool's saved output into facts")
    parse.add_argument("tool", nargs="?", metavar="TOOL", help="such as nvme-smart-log")
    parse.add_argument("file", nargs="?", type=Path, metavar="FILE", help="else standard input")
    parse.add_argument("--exit-code", type=int, default=0, metavar="N", help="how the tool ended")
    parse.add_argument("--stderr", type=Path, metavar="FILE", help="what it wrote to stderr")
    parse.add_argument("--list", action="store_true", help="all tools, their commands and facts")


def _add_cases(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    record = commands.add_parser("record", help="write a redacted case file, to be replayed")
    record.add_argument("incident", nargs="?", metavar="INCIDENT", help="a stored incident's id")
    record.add_argument("--alert", metavar="FILE|-", help="diagnose this now, and record it")
    record.add_argument("--out", type=Path, required=True, metavar="FILE", help="the case file")
    _config(record)
    replay = commands.add_parser(
        "replay", help="the same evidence through today's rules, and what changed"
    )
    replay.add_argument("what", metavar="INCIDENT|FILE", help="a stored incident, or a case file")
    replay.add_argument(
        "--runbooks",
        type=Path,
        metavar="DIR",
        help="edited runbooks, in place of those of their id",
    )
    _config(replay)
    replay.add_argument("--format", choices=("text", "json"), default="text")


def _add_collect(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    collect = commands.add_parser("collect", help="run one collector once and print its facts")
    collect.add_argument("name", nargs="?", metavar="NAME", help="such as prometheus.node_cpu")
    collect.add_argument(
        "--input", action="append", default=[], metavar="NAME=VALUE", help="a list: a,b or twice"
    )
    _config(collect)
    collect.add_argument("--format", choices=("text", "json"), default="text")
    collect.add_argument("--replay", type=Path, metavar="RECORDING", help="ask a recording only")
    collect.add_argument("--record", type=Path, metavar="FILE", help="keep what was asked")
    collect.add_argument("--list", action="store_true", help="all collectors, inputs and facts")


def _add_doctor(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    doctor = commands.add_parser(
        "doctor", help="look at each backend once: what works, what is lost, what to do"
    )
    doctor.add_argument("what", nargs="?", choices=("prometheus", "kubernetes", "ssh", "slack"))
    doctor.add_argument("host", nargs="?", metavar="HOST", help="with ssh: this host alone")
    _config(doctor)


def _add_keeping(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    runbooks = commands.add_parser("runbooks", help="list the causes that are known, or show one")
    runbooks.add_argument(
        "words", nargs="*", metavar="WORD", help="those with this word; or: show ID"
    )
    does = "stop all changes (this version makes none); diagnoses go on"
    stop = commands.add_parser("stop", help=does)
    stop.add_argument("why", nargs="*", metavar="WHY", help="shown to everybody, as in: game day")
    resume = commands.add_parser("resume", help="end that stop; it turns nothing on")
    database = commands.add_parser(
        "db", help="how the database stands; bring its tables up to date while no serve runs"
    )
    database.add_argument("what", choices=("status", "upgrade"))
    for command in (runbooks, stop, resume, database):
        _config(command)


def _config(command: argparse.ArgumentParser) -> None:
    command.add_argument("--config", type=Path, metavar="FILE", help="the configuration file")


if __name__ == "__main__":
    sys.exit(main())
