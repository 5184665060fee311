"""The bot's configuration for a running lab, and running the bot on it."""

import json
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tailhound.durable.casefile import incidents_in
from tailhound.model import Incident
from tailhound.transports.recording import load

VERDICT_SECONDS = 10.0
GAP_SECONDS = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoints:
    """Where the parts of a lab are reached. Empty = the scenario has no such part."""

    prometheus: str = ""
    kubernetes: str = ""
    kubernetes_ca: str = ""
    kubernetes_token_file: str = ""
    ssh_user: str = ""
    ssh_key: str = ""
    ssh_known_hosts: str = ""
    hosts: Mapping[str, tuple[str, int]]
    alertmanager: str = ""


def settings(at: Endpoints, extra: Mapping[str, Any]) -> dict[str, Any]:
    """The bot's settings: the lab's addresses, short deadlines, and the scenario's own wishes."""
    values: dict[str, Any] = {"deadlines": {"verdict": VERDICT_SECONDS, "late": 0}}
    if at.prometheus:
        values["prometheus"] = {"url": at.prometheus, "timeout_seconds": 4}
    if at.kubernetes:
        values["kubernetes"] = {
            "server": at.kubernetes,
            "ca_file": at.kubernetes_ca,
            "token": {"file": at.kubernetes_token_file},
            "timeout_seconds": 1.5,
        }
    if at.hosts:
        values["ssh"] = {
            "user": at.ssh_user,
            "key": {"file": at.ssh_key},
            "known_hosts": at.ssh_known_hosts,
            "hosts": {
                name: {"address": address, "port": port}
                for name, (address, port) in at.hosts.items()
            },
            "timeout_seconds": 3,
            "gap_seconds": GAP_SECONDS,
        }
    return merged(values, extra)


def merged(base: Mapping[str, Any], extra: Mapping[str, Any]) -> dict[str, Any]:
    """`extra` over `base`, mapping by mapping."""
    both = dict(base)
    for key, value in extra.items():
        inner = both.get(key)
        both[key] = (
            merged(inner, value)
            if isinstance(inner, Mapping) and isinstance(value, Mapping)
            else value
        )
    return both


@dataclass(frozen=True, slots=True)
class Diagnosed:
    """What one run of `tailhound diagnose` gave."""

    exit_code: int
    result: Mapping[str, Any]
    errors: str
    incidents: tuple[Incident, ...] = ()


def _incidents(case: Path) -> tuple[Incident, ...]:
    """What the run has recorded; nothing when it got no diagnosis."""
    return incidents_in(load(case)) if case.is_file() else ()


def diagnose(body: bytes, values: Mapping[str, Any], folder: Path) -> Diagnosed:
    """Run `tailhound diagnose --format json` in a process of its own."""
    config, alert = folder / "tailhound.yaml", folder / "alert.json"
    config.write_text(yaml.safe_dump(dict(values)), encoding="utf-8")
    alert.write_bytes(body)
    argv = [sys.executable, "-m", "tailhound", "diagnose"]
    case = folder / "case.json"
    argv += ["--alert", str(alert), "--config", str(config), "--format", "json"]
    argv += ["--record", str(case)]
    done = subprocess.run(argv, capture_output=True, timeout=120, check=False, cwd=folder)
    errors = done.stderr.decode(errors="replace")
    try:
        result = json.loads(done.stdout)
    except ValueError:
        result = {}
        errors += f"\nstandard output is no JSON: {done.stdout[:500]!r}"
    return Diagnosed(done.returncode, result, errors, _incidents(case))
