"""What a silence means in words: what it mutes, now and in the last days. Pure."""

from typing import Final

from tailhound.actions.silence import Muted, Scope
from tailhound.model.names import listed, plural
from tailhound.model.wording import cut
from tailhound.slack import escape
from tailhound.slack.escape import clean
from tailhound.store.history import Past

_MATCHERS_SHOWN: Final = 12


def matchers(scope: Scope) -> str:
    """A line each, what tells most first; how many more there are."""
    wide_first = sorted(scope.matchers, key=lambda matcher: matcher.name == "alertname")
    shown = [cut(clean(matcher.text), 120) for matcher in wide_first[:_MATCHERS_SHOWN]]
    left = len(scope.matchers) - len(shown)
    return "\n".join([*shown, *([f"+ {left} more"] if left > 0 else [])])


def effect(found: Muted) -> str:
    """`3 firing alerts (1 page, 2 warnings)`."""
    kinds = (
        (found.pages, "page"),
        (found.warnings, "warning"),
        (found.alerts - found.pages - found.warnings, "other"),
    )
    told = ", ".join(plural(amount, kind) for amount, kind in kinds if amount)
    return f"{plural(found.alerts, 'firing alert')}{f' ({told})' if told else ''}"


def lately(past: Past) -> str:
    """`14 other alerts, among them pages of 2 real incidents: 5B2M, 1Q9X`.

    That a page was none is never said: of an incident without a cause nobody knows it.
    """
    if not past.alerts:
        return "nothing else" if past.whole else "nothing else among the newest incidents"
    least = "" if past.whole else "at least "
    told = f"{least}{plural(past.alerts, 'other alert')}"
    pages = []
    if past.real:
        real = plural(len(past.real), "real incident")
        pages.append(f"{real}: {escape.value(listed(past.real, 5), 80)}")
    if past.untold:
        were = "it was" if past.untold == 1 else "they were"
        untold = f"{plural(past.untold, 'incident')} of which nobody has said whether {were} real"
        pages.append(untold)
    return f"{told}, among them pages of {'; and of '.join(pages)}" if pages else f"{told}, no page"
