"""What a number of some unit can be at all: a threshold outside of it is a slip of the pen."""

import math

LARGEST_SHARE = 2.0
"""A share may exceed 1 where use is compared with a limit; none is twice the limit."""
ABSOLUTE_ZERO = -273.15
_SIGNED = frozenset({"none", "celsius"})


def unfit(value: float, unit: str) -> str:
    """Why no threshold of this unit has this value; "" when one may."""
    if not math.isfinite(value):
        return "must be a finite number"
    if unit == "ratio" and value > LARGEST_SHARE:
        as_percent = f"{value / 100:g} for {value:g} %" if value <= 100 else "0.6 for 60 %"
        return f"a ratio is a share of 1: write {as_percent} (for x{value:g}, use the unit `times`)"
    if unit == "celsius" and value < ABSOLUTE_ZERO:
        return "nothing is that cold"
    if value < 0 and unit not in _SIGNED:
        return f"a number of the unit {unit} is never below 0"
    return ""
