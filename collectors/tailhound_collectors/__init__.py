"""The shipped collectors: one explicit tuple."""

from typing import Any

from tailhound.flow import Collector

COLLECTORS: tuple[Collector[Any, Any], ...] = ()
