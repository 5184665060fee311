"""Prints constraints.txt: the exact versions of all that pyproject.toml asks for, and what that asks for.

Run in an environment that has `.[dev,postgres]`: `make constraints` does.
"""

import re
import sys
from importlib.metadata import PackageNotFoundError, distribution

from packaging.requirements import Requirement

OWN = "tailhound"
EXTRAS = ("dev", "postgres")


def pins() -> dict[str, str]:
    """Version by normalised name, of everything that the project needs."""
    found: dict[str, str] = {}
    seen: set[tuple[str, str]] = set()
    waiting = [(OWN, extra) for extra in ("", *EXTRAS)]
    while waiting:
        name, extra = waiting.pop()
        if (name, extra) in seen:
            continue
        seen.add((name, extra))
        for text in distribution(name).requires or ():
            requirement = Requirement(text)
            if requirement.marker and not requirement.marker.evaluate({"extra": extra}):
                continue
            needed = normalised(requirement.name)
            found[needed] = distribution(needed).version
            waiting += [(needed, wanted) for wanted in ("", *requirement.extras)]
    return found


def normalised(name: str) -> str:
    """A name as package indexes write it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def main() -> int:
    """Print the pins; 1 when one of them is not installed here."""
    try:
        found = pins()
    except PackageNotFoundError as error:
        sys.stderr.write(f"{error.name} is not installed: pip install -e '.[dev,postgres]'\n")
        return 1
    sys.stdout.write("# Tested versions; `make constraints` writes this file.\n")
    for name, version in sorted(found.items()):
        sys.stdout.write(f"{name}=={version}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
