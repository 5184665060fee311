"""Where the shipped runbooks, templates and demo lie: in the wheel, or beside the source."""

from pathlib import Path
from typing import Literal

Kind = Literal["runbooks", "templates", "demo"]

_HERE = Path(__file__).resolve().parent


def shipped(kind: Kind) -> Path:
    """The folder of shipped files of that kind; FileNotFoundError where it is not installed."""
    inside = _HERE / kind
    if inside.is_dir():
        return inside
    beside = _HERE.parents[1] / kind
    if beside.is_dir():
        return beside
    raise FileNotFoundError(
        f"no {kind} folder at {inside} or {beside}: this installation is incomplete, "
        "install the wheel again or run from a whole checkout"
    )
