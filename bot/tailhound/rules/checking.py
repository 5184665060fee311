"""`tailhound check` and `tailhound test` as functions from texts to data, and the data as text."""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace

from tailhound.errors import Finding, RunbookErrors
from tailhound.model import Check, Part, claims
from tailhound.rules import parsing, places
from tailhound.rules.compiling import Collectors
from tailhound.rules.lint import lint
from tailhound.rules.loading import Sources, compile_files
from tailhound.rules.mutate import survivors
from tailhound.rules.runbook import Runbook
from tailhound.rules.selftest import Result, run_tests
from tailhound.rules.yaml_evidence import Allows
from tailhound.truth import Truth

_MARKS = {Truth.TRUE: "yes", Truth.FALSE: "no ", Truth.UNKNOWN: "?  "}
_LONGEST = 200
_SAID_SO = frozenset({"unchecked"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """What `check` found in how many files; `tests` is how many tests ran."""

    findings: tuple[Finding, ...]
    files: int
    tests: int = 0

    def with_file(self, findings: tuple[Finding, ...]) -> "Checked":
        """The same with one more file, and what is wrong in it."""
        return replace(self, findings=(*findings, *self.findings), files=self.files + 1)

    @property
    def unsettled(self) -> bool:
        """Whether a finding asks for a change of the file: mistakes and omissions alike.

        A query marked `promql: unchecked` is told every time and asks for none: its author said so.
        """
        return any(finding.rule not in _SAID_SO for finding in self.findings)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tested:
    """The tests of one runbook."""

    path: str
    runbook: str
    results: tuple[Result, ...]


def check_files(
    sources: Sources, collectors: Collectors, allow: Allows, *, mutate: bool = False
) -> Checked:
    """Load, lint and self-test all files; with `mutate`, also what no test notices."""
    runbooks, findings = compile_files(sources, collectors, allow)
    found, tests = list(findings), 0
    for runbook in runbooks:
        results = run_tests(runbook)
        tests += len(results)
        found += [*lint(runbook), *_failures(results)]
        if mutate and all(result.passed for result in results):
            found += survivors(runbook)
    order = {path: index for index, path in enumerate(sources)}
    found.sort(key=lambda f: (order.get(f.path, -1), f.line, f.column, f.message))
    return Checked(findings=tuple(found), files=len(sources), tests=tests)


def _failures(results: Iterable[Result]) -> Iterable[Finding]:
    for result in results:
        for problem in result.problems:
            message = f"{result.name}: {problem}"
            if result.nowhere:
                message += f"; {', '.join(result.nowhere)} neither in `given` nor in `baseline`"
            yield result.place.finding(message, "test", "error")


def test_files(sources: Sources, collectors: Collectors, allow: Allows) -> tuple[Tested, ...]:
    """Run the tests of all files; RunbookErrors when one does not load."""
    runbooks, findings = compile_files(sources, collectors, allow)
    if findings:
        raise RunbookErrors(findings)
    return tuple(_tested(runbook) for runbook in runbooks)


def _tested(runbook: Runbook) -> Tested:
    return Tested(path=runbook.path, runbook=runbook.id, results=run_tests(runbook))


# --- findings as text


def findings_text(findings: Iterable[Finding], sources: Sources) -> str:
    """Each finding on one line, below it the line of the file with the mistake underlined."""
    texts: dict[str, list[str]] = {}
    blocks = []
    for finding in findings:
        if finding.path in sources and finding.path not in texts:
            texts[finding.path] = _lines(sources[finding.path])
        blocks.append(_block(finding, texts.get(finding.path, [])))
    return "\n".join(blocks)


def _lines(source: str | bytes) -> list[str]:
    text = source.decode("utf-8", "replace") if isinstance(source, bytes) else source
    if len(text) > parsing.MAX_BYTES:
        return []
    return places.lines(text.removeprefix("\ufeff"))


def _block(finding: Finding, lines: list[str]) -> str:
    word = "warning: " if finding.severity == "warning" else ""
    head = f"{finding.path}:{finding.line}:{finding.column}: {word}{finding.message}"
    if not 1 <= finding.line <= len(lines):
        return head
    line = "".join(sign if sign.isprintable() else " " for sign in lines[finding.line - 1])
    if not line.strip() or finding.column > _LONGEST:
        return head
    length = max(1, min(finding.length, len(line) - finding.column + 1, _LONGEST))
    shown = line if len(line) <= _LONGEST else line[: _LONGEST - 1] + "…"
    gap = " " * (finding.column - 1)
    return f"{head}\n{finding.line:5} | {shown}\n      | {gap}{'^' * length}"


def summary(checked: Checked, seconds: float) -> str:
    """`2 findings in 1 of 39 files, 1.1 s`."""
    wrong = len({finding.path for finding in checked.findings})
    files = f"{checked.files} file{'' if checked.files == 1 else 's'}"
    count = len(checked.findings)
    if not count:
        return f"no findings in {files}, {checked.tests} tests passed, {seconds:.2g} s"
    return f"{count} finding{'' if count == 1 else 's'} in {wrong} of {files}, {seconds:.2g} s"


def findings_json(checked: Checked) -> str:
    """The findings for scripts."""
    told = {"files": checked.files, "tests": checked.tests}
    return json.dumps({**told, "findings": [asdict(one) for one in checked.findings]}, indent=2)


def findings_github(findings: Iterable[Finding]) -> str:
    """The findings as annotations of a pull request."""
    return "\n".join(_annotation(finding) for finding in findings)


def _annotation(finding: Finding) -> str:
    level = "warning" if finding.severity == "warning" else "error"
    path = _escaped(finding.path).replace(",", "%2C").replace(":", "%3A")
    place = f"file={path},line={finding.line},col={finding.column}"
    return f"::{level} {place},title={finding.rule}::{_escaped(finding.message)}"


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


# --- tests as text


def results_text(tested: Iterable[Tested], *, all_checks: bool = False) -> str:
    """One line a test; below a failed one why, and the claims that did not decide as expected."""
    blocks = []
    for one in tested:
        for result in one.results:
            blocks.append(_test_block(result, all_checks=all_checks))
    return "\n".join(blocks)


def _test_block(result: Result, *, all_checks: bool) -> str:
    name = result.name if len(result.name) <= 44 else result.name[:43] + "…"
    if result.passed and not all_checks:
        return f"ok    {name:<44} {result.judged.verdict.value}"
    word = "ok   " if result.passed else "FAIL "
    first = result.problems[0] if result.problems else result.judged.verdict.value
    rows = [f"{word} {name:<44} {first}"]
    rows += [f"{'':6}{'':44} {problem}" for problem in result.problems[1:]]
    rows += [_check_row(check) for check in _telling(result, all_checks=all_checks)]
    if result.nowhere:
        rows.append(f"{'':11}(neither in `given` nor in `baseline`: {', '.join(result.nowhere)})")
    return "\n".join(rows)


def _telling(result: Result, *, all_checks: bool) -> list[Check]:
    """The claims that explain the verdict: unknown ones, those that fail, those that refute."""
    if all_checks:
        return list(result.judged.checks)
    wanted = Truth.TRUE
    return [
        check
        for check in result.judged.checks
        if check.counts is Truth.UNKNOWN or (check.counts is wanted) is (check.part is Part.REFUTE)
    ]


def _check_row(check: Check) -> str:
    claim = check.claim if len(check.claim) <= 39 else check.claim[:38] + "…"
    seen = claims.sentence(check)
    told = f"missing {', '.join(check.missing)}" if check.missing else seen
    return f"{'':8}{_MARKS[check.truth]}{claim:<39} {told}".rstrip()


def results_summary(tested: Iterable[Tested], seconds: float) -> str:
    """`6 of 7 passed in 0.02 s`."""
    results = [result for one in tested for result in one.results]
    passed = sum(result.passed for result in results)
    return f"{passed} of {len(results)} passed in {seconds:.2g} s"
