"""Names as people write them: of causes, of backends, of how many there are of what."""

import re
from collections.abc import Sequence

from tailhound.model.facts import SUFFIX_UNITS
from tailhound.model.wording import count

_UPPER = frozenset(
    [
        "api", "cpu", "dns", "gc", "gpu", "hpa", "jit", "kv", "numa", "rdma", "ssd", "ssh",
        "tcp", "tls",
    ]
)  # fmt: skip
_WRITTEN = {"nvme": "NVMe", "nvmeof": "NVMe-oF", "pcie": "PCIe", "apiserver": "API server"}
_GRADES = frozenset({"critical", "warning", "info", "major", "minor"})
"""Severities that nobody takes for anything else."""

PLAIN_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9_.-]{0,251}[A-Za-z0-9])?")
"""A name that is no more than a name: a shell does nothing with it."""

KUBERNETES_NAME = re.compile(r"[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?")
"""A name that Kubernetes gives."""

_TIMES = re.compile(r"x\d+(?:\.\d+)?")
_UNITS = tuple(suffix for suffix, _ in SUFFIX_UNITS if suffix.startswith("_"))
_BACKENDS = {"prometheus": "Prometheus", "kubernetes": "Kubernetes"}
_PROPER = frozenset([*_BACKENDS.values(), "Alertmanager", "Slack", "Triton", "Helm", "Grafana"])


def cause_name(runbook: str) -> str:
    """A runbook's id as people say it, in the middle of a sentence: `CPU throttling`, `node drain`.

    The id may come from outside (a newer version's record), so the result is to be escaped.
    """
    words = runbook.replace("_", "-").split("-")
    return " ".join(w.upper() if w in _UPPER else _WRITTEN.get(w, w) for w in words)


def fact_name(name: str) -> str:
    """`replicas.from_zero_count` as people say it: `from zero`; "" for what is no plain fact."""
    words = name.rpartition(".")[2]
    if not words.replace("_", "").isalnum() or " " in name:
        return ""
    for _ in range(2):
        words = next((words[: -len(x)] for x in _UNITS if words.endswith(x)), words)
    return "" if f"_{words}" in _UNITS else cause_name(words)


def backend_name(backend: str) -> str:
    """A backend as people write it: `Prometheus`, `SSH to db-1`; others as they are."""
    kind, _, host = backend.partition(" ")
    return f"SSH to {host}" if kind == "ssh" and host else _BACKENDS.get(kind, backend)


def grave(severity: str) -> str:
    """`critical`, `severity page`: a severity that could be read as another word says what it is:
    a page of the web, a confidence. From outside, so to be escaped; "" without one.
    """
    return severity if severity.lower() in _GRADES or not severity else f"severity {severity}"


def capital(text: str) -> str:
    """The first letter as a capital one, unless the first word is a name: it must stay as it is,
    so that it can be copied (`llm-0`, `chat-json-predictor`, `vllm:num_requests`, `vLLM`); or a
    number (`x3`).
    """
    first = text.split(" ", 1)[0].rstrip(",.;:!?)")
    return text if _is_name(first) or _TIMES.fullmatch(first) else text[:1].upper() + text[1:]


def _is_name(word: str) -> bool:
    """Whether a word looks like the name of an object, a metric, a host or a path."""
    if word[1:].lower() != word[1:] or any(sign in word for sign in "_/:@=."):
        return True
    return word.count("-") > 1 or ("-" in word and any(sign.isdigit() for sign in word))


def small(text: str) -> str:
    """The first letter small, unless the first word is an abbreviation, a name or a code span."""
    first = text.split(" ", 1)[0]
    named = first[1:].lower() != first[1:] or first.rstrip(",:;.") in _PROPER
    return text if named else text[:1].lower() + text[1:]


def plural(amount: int, noun: str) -> str:
    """`1 cause`, `2 causes`, `12k causes`."""
    return f"{count(amount)} {noun}" if amount == 1 else f"{count(amount)} {noun}s"


def listed(names: Sequence[str], most: int = 3) -> str:
    """`a, b, c + 2 more`: names in a sentence; the rest is counted."""
    left = len(names) - most
    return ", ".join(names[:most]) + (f" + {left} more" if left > 0 else "")
