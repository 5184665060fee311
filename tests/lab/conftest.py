"""Fixtures of the tests that use real components."""

import os
from collections.abc import Callable

import pytest

from tests.lab.requirements import PARTS

Needs = Callable[..., None]


@pytest.fixture(scope="session")
def needs() -> Needs:
    """`needs("prometheus")` skips and says what is missing; with CI=true it fails instead."""

    def check(*programs: str) -> None:
        absent = [PARTS[name].advice for name in programs if not PARTS[name].present]
        if absent and os.environ.get("CI") == "true":
            pytest.fail("; ".join(absent))
        if absent:
            pytest.skip("; ".join(absent))

    return check
