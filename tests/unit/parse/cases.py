"""The recorded outputs: 66 of many machines with what must be extracted, and verbatim captures."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tailhound.model import Missing
from tailhound.requests import Output
from tailhound_collectors.parse import Tool, parse, tool_named

RECORDED = Path(__file__).parents[2] / "recorded"
HOST_CASES = RECORDED / "host_cases"
CAPTURES = RECORDED / "captures"


@dataclass(frozen=True, slots=True)
class Case:
    """One line of the index."""

    file: str
    must_extract: tuple[str, ...]
    exit_code: int
    on_stderr: bool

    @property
    def tool(self) -> Tool:
        """The tool that the file is named after: nvme-list-subsys of nvme-list-subsys-02.txt."""
        found = tool_named(self.file.rpartition("-")[0])
        assert found is not None, self.file
        return found

    @property
    def text(self) -> str:
        """What the tool printed."""
        return (HOST_CASES / self.file).read_bytes().decode("utf-8", errors="replace")

    @property
    def output(self) -> Output:
        """The output; the index says where the text is what the tool wrote to stderr."""
        streams = ("", self.text) if self.on_stderr else (self.text, "")
        return Output(*streams, self.exit_code)

    def parsed(self) -> Any:
        """The facts, or why there are none."""
        return parse(self.tool, self.output)


def cases() -> list[Case]:
    """All 66, in the order of the index."""
    lines = (HOST_CASES / "INDEX.tsv").read_text().splitlines()[1:]
    rows = [line.split("\t") for line in lines]
    return [
        Case(
            row[0],
            tuple(row[3].split("; ")),
            1 if row[6] == "nonzero" else int(row[6]),
            "(stderr)" in row[7],
        )
        for row in rows
    ]


def case(file: str) -> Case:
    """The case of this file."""
    return next(one for one in cases() if one.file == file)


def captured(folder: str, name: str) -> Output:
    """A verbatim capture: both streams and the exit code of its index."""
    rows = [line.split("\t") for line in (CAPTURES / folder / "INDEX.tsv").read_text().splitlines()]
    code = next(row[1] for row in rows if row[0] == name)
    out, err = ((CAPTURES / folder / f"{name}.{end}") for end in ("out", "err"))
    return Output(
        stdout=out.read_text(),
        stderr=err.read_text() if err.exists() else "",
        exit_code=int(code.removeprefix("rc=")),
    )


def read(tool: str, stdout: str, stderr: str = "", exit_code: int = 0) -> Any:
    """Parse a text."""
    found = tool_named(tool)
    assert found is not None, tool
    return parse(found, Output(stdout, stderr, exit_code))


def missing(tool: str, stdout: str, stderr: str = "", exit_code: int = 0) -> Missing:
    """Parse a text that must not give facts."""
    found = read(tool, stdout, stderr, exit_code)
    assert isinstance(found, Missing), found
    return found
