"""The composition root: the only place that names concrete classes, and what `diagnose` needs."""

from collections.abc import Collection, Iterable, Mapping
from pathlib import Path

from tailhound.app.plugins import collectors
from tailhound.errors import Finding, RunbookErrors, SettingsError
from tailhound.flow import Transport
from tailhound.model.names import plural
from tailhound.requests.argv import SHIPPED, AllowList
from tailhound.rules.loading import Compiled, compile_files, load_runbooks, profile_mistakes
from tailhound.rules.reading import read_file
from tailhound.rules.runbook import Runbook
from tailhound.settings import Settings
from tailhound.shipped import shipped


def allow_list(settings: Settings) -> AllowList:
    """Which commands may run on hosts here."""
    if settings.ssh.allow is None:
        return SHIPPED
    try:
        return AllowList.of(settings.ssh.allow)
    except SettingsError as error:
        raise SettingsError(f"{settings.at('ssh', 'allow')}: {error}") from error


def runbook_files(settings: Settings) -> dict[str, str | bytes]:
    """The runbook files of all configured folders, by path; "shipped" is the shipped folder."""
    files: dict[str, str | bytes] = {}
    for name in settings.runbooks:
        folder = shipped("runbooks") if name == "shipped" else Path(name)
        if not folder.is_dir():
            raise SettingsError(f"{settings.at('runbooks')}: runbooks: {folder}: no such folder")
        for path in sorted(folder.glob("*.yaml")):
            files[f"{name}/{path.name}"] = path.read_bytes()
    return files


def templates() -> dict[str, str]:
    """All shipped templates by name."""
    folder = shipped("templates")
    return {
        str(path.relative_to(folder)): path.read_text(encoding="utf-8")
        for path in sorted(folder.rglob("*.j2"))
    }


def edited_over(files: Mapping[str, str | bytes], folder: Path) -> dict[str, str | bytes]:
    """The files with those of a folder in place of the runbooks of the same id, and beside them."""
    edited = {str(path): _bytes(path) for path in sorted(folder.glob("*.yaml"))}
    if not edited:
        raise SettingsError(f"{folder}: no *.yaml file in it")
    return _in_place_of(files, edited)


def _in_place_of(
    files: Mapping[str, str | bytes], others: Mapping[str, str | bytes]
) -> dict[str, str | bytes]:
    """The files without those whose ids others have, and the others."""
    ids = {_id(path, source) for path, source in others.items()}
    kept = {path: source for path, source in files.items() if _id(path, source) not in ids}
    return {**kept, **others}


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise SettingsError(f"{path}: can't be read: {error.strerror}") from error


def _id(path: str, source: str | bytes) -> str:
    """The id of a runbook file; of one that can't be read, its path."""
    found, _ = read_file(path, source)
    return found.file.runbook if found else path


def profile_findings(
    runbooks: Iterable[Runbook], settings: Settings, broken: Collection[str] = ()
) -> tuple[Finding, ...]:
    """What is wrong with the profiles of a configuration, at their places in it."""
    found = []
    for where, why in profile_mistakes(runbooks, settings.profiles, broken):
        path, line, column = settings.place(*where)
        message = f"{'.'.join(map(str, where))}: {why}"
        length = len(str(where[-1]))
        found.append(Finding(path, line, column, message, "profile", length=length))
    return tuple(found)


def findings_of_profiles(
    files: Mapping[str, str | bytes], settings: Settings
) -> tuple[Finding, ...]:
    """What is wrong with the profiles, against these runbooks and the other configured ones."""
    if not any(profile.thresholds for profile in settings.profiles):
        return ()
    every = _in_place_of(runbook_files(settings), files)
    runbooks, findings = compile_files(every, collectors(), allow_list(settings))
    wrong = {finding.path for finding in findings}
    broken = {_id(path, source) for path, source in every.items() if path in wrong}
    return profile_findings(runbooks, settings, broken)


def compiled(settings: Settings, edited: Path | None = None) -> Compiled:
    """Everything that decides verdicts and texts; SettingsError lists all that is wrong.

    `edited` is a folder of runbooks that stand in for the configured ones of the same id.
    """
    files = runbook_files(settings)
    files = edited_over(files, edited) if edited else files
    try:
        runbooks = load_runbooks(files, collectors(), allow_list(settings))
        findings = profile_findings(runbooks, settings)
        if findings:
            raise RunbookErrors(findings)
        return Compiled(
            runbooks=runbooks,
            profiles=settings.profiles,
            slo=settings.slo,
            templates=templates(),
        )
    except RunbookErrors as error:
        raise SettingsError(str(error)) from error


def counted(found: Compiled) -> str:
    """`39 runbooks, 2 of them drafts`."""
    drafts = sum(not runbook.active for runbook in found.runbooks)
    told = f", {drafts} of them {'a draft' if drafts == 1 else 'drafts'}" if drafts else ""
    return f"{plural(len(found.runbooks), 'runbook')}{told}"


def transports(settings: Settings) -> tuple[Transport, ...]:
    """A transport for each backend that is configured."""
    made: list[Transport] = []
    if settings.prometheus.url:
        from tailhound.transports.prometheus import PrometheusTransport  # noqa: PLC0415

        made.append(PrometheusTransport(settings.prometheus))
    if settings.kubernetes.configured:
        from tailhound.transports.kubernetes import KubernetesTransport  # noqa: PLC0415

        made.append(KubernetesTransport(settings.kubernetes))
    if settings.ssh.key is not None:
        from tailhound.transports.ssh import SshTransport  # noqa: PLC0415

        made.append(SshTransport(settings.ssh))
    return tuple(made)
