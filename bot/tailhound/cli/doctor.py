"""`tailhound doctor [prometheus | kubernetes | ssh HOST | slack]`: what works, what is lost."""

import argparse
import asyncio
import sys
import textwrap
import time
from collections.abc import Sequence
from datetime import UTC, datetime

from tailhound.app.doctor import doctor
from tailhound.app.probes import Line, Mood
from tailhound.cli.text import safe
from tailhound.errors import SettingsError
from tailhound.settings import load

DONE, FINDINGS, NO_BACKEND = 0, 1, 3
WIDTH = 80


def run(args: argparse.Namespace) -> int:
    """Look at each thing once; exit code 1 on findings, 3 when Prometheus gives no answer."""
    if args.host and args.what != "ssh":
        raise SettingsError(f"doctor {args.what}: only `doctor ssh` takes a HOST")
    started = time.perf_counter()
    settings = load(args.config)
    lines = asyncio.run(
        doctor(settings, lambda: datetime.now(UTC), args.what or "", args.host or "")
    )
    sys.stdout.write("\n".join(told(lines, time.perf_counter() - started)) + "\n")
    return code_of(lines)


def code_of(lines: Sequence[Line]) -> int:
    """0 all is well, 1 something is lost, 3 a required backend is unreachable."""
    if any(line.gone and line.name == "prometheus" for line in lines):
        return NO_BACKEND
    return DONE if all(line.mood is Mood.OK for line in lines) else FINDINGS


def told(lines: Sequence[Line], seconds: float) -> list[str]:
    """Each line, below it what breaks and what to do; the count of each kind."""
    out = []
    for line in lines:
        out.append(f"{line.mood.value:<5} {line.name:<12} {safe(line.told, 300)}")
        out += _below("breaks", line.breaks) + _below("fix", line.fix)
    counts = {mood: sum(line.mood is mood for line in lines) for mood in Mood}
    failed, warned = counts[Mood.FAIL], counts[Mood.WARN]
    plural = "" if warned == 1 else "s"
    return [*out, f"{failed} failed, {warned} warning{plural}, {counts[Mood.OK]} ok in "
            f"{seconds:.1f} s"]  # fmt: skip


def _below(word: str, text: str) -> list[str]:
    """`        breaks: ..`, wrapped below itself."""
    if not text:
        return []
    head = f"        {word + ':':<8}"
    wrapped = textwrap.wrap(safe(text, 600), WIDTH - len(head), break_on_hyphens=False)
    return [f"{head if at == 0 else ' ' * len(head)}{row}" for at, row in enumerate(wrapped)]
