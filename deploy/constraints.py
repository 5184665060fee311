"""Prints constraints.txt: exact versions of all that pyproject.toml asks for, directly or not.

Run in an environment that has `.[dev,postgres]`: `make constraints` does.
"""

import re
import sys
from collections.abc import Sequence
from importlib.metadata import Distribution, PackageNotFoundError, distribution

from packaging.requirements import Requirement

OWN = "tailhound"
EXTRAS = ("dev", "postgres")


def needed(own: Distribution, extras: Sequence[str] = ()) -> dict[str, str]:
    """Version by normalised name, of everything that a distribution needs on this machine.

    PackageNotFoundError when one of them is not installed here.
    """
    found: dict[str, str] = {}
    seen: set[tuple[str, str]] = set()
    waiting = [(own, extra) for extra in ("", *extras)]
    while waiting:
        at, extra = waiting.pop()
        if (at.metadata["Name"], extra) in seen:
            continue
        seen.add((at.metadata["Name"], extra))
        for text in at.requires or ():
            requirement = Requirement(text)
            if requirement.marker and not requirement.marker.evaluate({"extra": extra}):
                continue
            other = distribution(requirement.name)
            found[normalised(requirement.name)] = other.version
            waiting += [(other, wanted) for wanted in ("", *requirement.extras)]
    return found


def normalised(name: str) -> str:
    """A name as package indexes write it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def main() -> int:
    """Print the pins; 1 when one of them is not installed here."""
    try:
        found = needed(distribution(OWN), EXTRAS)
    except PackageNotFoundError as error:
        sys.stderr.write(f"{error.name} is not installed: pip install -e '.[dev,postgres]'\n")
        return 1
    sys.stdout.write("# Tested versions; `make constraints` writes this file.\n")
    for name, version in sorted(found.items()):
        sys.stdout.write(f"{name}=={version}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
