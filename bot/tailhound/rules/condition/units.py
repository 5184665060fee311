"""How units combine: what may be compared, added, multiplied."""

ANY = ""
"""The unit of a number written in a condition: it takes the unit of what it stands beside."""

_SHARES = frozenset({"ratio", "times"})
_PLAIN = frozenset({"none", "count"})
_DIMENSIONLESS = _SHARES | _PLAIN | {ANY}


def same(left: str, right: str) -> bool:
    """Whether two numbers may be compared, added or subtracted."""
    return (
        left == right or ANY in (left, right) or {left, right} <= _SHARES or {left, right} <= _PLAIN
    )


def joined(left: str, right: str) -> str:
    """The unit of two numbers of the same unit."""
    return right if left == ANY else left


def product(left: str, right: str) -> str:
    """The unit of `left * right`: a plain number, ratio or count keeps the other's unit."""
    if left in _SHARES | {ANY, "none"}:
        return right
    if right in _DIMENSIONLESS:
        return left
    return right if left in _DIMENSIONLESS else "none"


def quotient(left: str, right: str) -> str:
    """The unit of `left / right`: the same units give a ratio, a plain number changes nothing."""
    if right == ANY:
        return left
    if left != ANY and same(left, right):
        return "ratio"
    if left in _DIMENSIONLESS and right in _DIMENSIONLESS:
        return "ratio"
    return left if right in _DIMENSIONLESS else "none"
