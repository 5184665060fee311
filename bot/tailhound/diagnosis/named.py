"""Which latency or share of failures an alert is about, by words of ours in its texts. Pure.

Those texts are hostile: nothing of them is taken over, they only choose between names of ours.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from tailhound.model import Alert

_LOOKED_AT = 200
"""Characters of each text."""

_TELLING = ("slo", "sli", "sloth_slo", "metric", "signal", "symptom")
"""Labels that say what is measured; any other may be somebody's name, such as a queue's."""

_WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")

_FAILED = (
    r"\b(error|failure) (rate|ratio|share|percent)|\b5 ?xx\b|\b(failed|failing) requests\b"
    r"|\b(request|http|server|service|response)s? (errors|failures)\b|\brequests fail"
)


@dataclass(frozen=True, slots=True)
class Named:
    """What an alert is about. `kinds` are those of the latency rows, "errors" are the failures;
    none = it names none. `title` is how people call it, "" where its words fit several.
    """

    kinds: frozenset[str] = frozenset()
    title: str = ""


NOTHING = Named()

_ANY_LATENCY = Named(frozenset({"e2e", "handling"}))

_NAMES = (
    (re.compile(r"\bttft\b|\bfirst token\b"), Named(frozenset({"ttft"}), "first token")),
    (
        re.compile(r"\bitl\b|\btpot\b|\binter token\b|\btime per (output )?token\b"),
        Named(frozenset({"itl", "pace"}), "inter-token"),
    ),
    (
        re.compile(r"\be ?2 ?e\b|\bend to end\b"),
        Named(frozenset({"e2e", "handling"}), "end to end"),
    ),
    (re.compile(r"\bqueue(s|d|ing)?\b"), Named(frozenset({"queue"}), "queue wait")),
    (re.compile(_FAILED), Named(frozenset({"errors"}), "error share")),
)
_LATENCY = re.compile(r"\blatency\b|\blatencies\b|\bduration\b|\bresponse time\b")


def named_by(alert: Alert | None) -> Named:
    """What its name says; else a label that is about that, else its summary."""
    texts = [_words(text) for text in _texts(alert)] if alert else []
    exact = next((found for text in texts if (found := _first(text))), None)
    if exact is not None:
        return exact
    return _ANY_LATENCY if any(_LATENCY.search(text) for text in texts) else NOTHING


def _texts(alert: Alert) -> Iterable[str]:
    yield alert.name
    yield from (alert.labels[key] for key in _TELLING if key in alert.labels)
    notes = alert.annotations
    yield notes.get("summary") or notes.get("description") or ""


def _words(text: str) -> str:
    """`high ttft` of `HighTTFT`, `inter token` of `inter-token`."""
    return " ".join(_WORD.findall(text[:_LOOKED_AT])).lower()


def _first(text: str) -> Named | None:
    """What is named first in a text."""
    found = [(match.start(), named) for words, named in _NAMES if (match := words.search(text))]
    return min(found, key=lambda one: one[0])[1] if found else None
