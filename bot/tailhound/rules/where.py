"""Label matchers of a trigger: anchored regular expressions that can't run away."""

import re
from dataclasses import dataclass

_MAX_VALUE = 256
_MAX_REPEATS = 3
_REPEATED_GROUP = re.compile(r"\)[*+?{]")


@dataclass(frozen=True, slots=True)
class Where:
    """One matcher. A value longer than 256 characters never fits."""

    text: str
    _pattern: re.Pattern[str]

    def fits(self, value: str) -> bool:
        """Whether the whole value matches, as in Prometheus."""
        return len(value) <= _MAX_VALUE and self._pattern.fullmatch(value) is not None


def where(text: str) -> "Where | str":
    """The matcher, or what is wrong with the expression."""
    if _REPEATED_GROUP.search(text) or sum(text.count(sign) for sign in "*+?{") > _MAX_REPEATS:
        return f"at most {_MAX_REPEATS} of `*`, `+`, `?`, `{{}}`, and none behind a group"
    if "\\" in re.sub(r"\\[.\-|()\[\]{}+*?^$\\]", "", text):
        return "only `.`, `-` and signs may be escaped"
    try:
        return Where(text, re.compile(text, re.DOTALL))
    except (re.error, OverflowError, RecursionError) as error:
        return f"not a regular expression: {error}"
