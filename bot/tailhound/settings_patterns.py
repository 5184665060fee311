"""Regular expressions of a configuration, which meet labels that anybody may have written."""

import re

_TOKENS = re.compile(
    r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]"  # an escape, a set
    r"|(?P<open>\((?:\?(?:P<\w+>|P=\w+|<?[=!]|[aiLmsux-]*:|>))?)|(?P<close>\))"
    r"|(?P<many>[*+]|\{\d+(?:,\d*)?\}|\{,\d+\})|(?P<some>[?|])|.",
    re.DOTALL,
)


def why_not(pattern: str) -> str:
    """Why this is no expression that is ever matched; "" when it is one.

    A repetition of what itself repeats or branches takes for ever on a text made for it.
    """
    try:
        re.compile(pattern)
    except re.error as error:
        return f"not a regular expression: {error}"
    if _is_endless(pattern):
        return (
            "repeats something that itself repeats or branches, as in (a+)+ or (a|b)*: a label "
            "made for it would take for ever; write it without one of the two"
        )
    return ""


def _is_endless(pattern: str) -> bool:
    varies = [False]  # per open group: whether it can match in more than one way
    closed = False  # whether what stands just before is a group that can
    for token in _TOKENS.finditer(pattern):
        kind = token.lastgroup
        if kind == "many" and closed:
            return True
        closed = False
        if kind == "open":
            varies.append(False)
        elif kind == "close" and len(varies) > 1:
            closed = varies.pop()
            varies[-1] = varies[-1] or closed
        elif kind in ("many", "some"):
            varies[-1] = True
    return False
