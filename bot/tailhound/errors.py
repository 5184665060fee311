"""Every exception of ours.

TailhoundError
+-- RunbookErrors      a runbook, profile or template is wrong; holds all findings of the file
+-- SettingsError      the configuration is wrong; says where and what to write instead
+-- AlertUnreadable    the bytes that arrived are not an Alertmanager v4 body
+-- RecordingUnreadable   a file is no recording, or one of another version; says where
+-- Refused            a request breaks a rule of ours (argv not allowed, a write among reads)
+-- StoreUnavailable   the database can't be read or written now; trying again later may help

A question that got no answer is no exception: it is a `Missing` (see `model.evidence`), a value
that the rules carry through.
"""

from dataclasses import dataclass


class TailhoundError(Exception):
    """Root of our errors: its text says what, where and what to do."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing wrong in a file: where, what, and what to write instead.

    `length` is how many characters the mistake is long, to underline it.
    """

    path: str
    line: int
    column: int
    message: str
    rule: str = "error"
    severity: str = "error"
    length: int = 1

    def __str__(self) -> str:
        return f"{self.path}:{self.line}:{self.column}: {self.message}"


class RunbookErrors(TailhoundError):
    """One or more files are wrong; `findings` lists everything at once, in file order."""

    def __init__(self, findings: tuple[Finding, ...]) -> None:
        super().__init__("\n".join(str(finding) for finding in findings))
        self.findings = findings


class SettingsError(TailhoundError):
    """The configuration can't be used; the text names the file or variable, the key and the fix."""


class AlertUnreadable(TailhoundError):
    """The body is no Alertmanager v4 notification; the text says what is wrong with it."""


class RecordingUnreadable(TailhoundError):
    """The file is no recording that this version can read; the text says where and why."""


class Refused(TailhoundError):
    """A request that is never sent, because it breaks a rule; the text says which."""


class StoreUnavailable(TailhoundError):
    """The database gave no answer; nothing was changed, and the caller may try again."""
