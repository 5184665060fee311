"""Fixtures of the tests that break the running thing."""

from tests.lab.conftest import needs

__all__ = ["needs"]
