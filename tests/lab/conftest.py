"""Fixtures of the tests that use real components."""

import os
from collections.abc import Callable, Iterator

import pytest

from tests.lab.apiserver import ApiServer
from tests.lab.kube import binaries
from tests.lab.kube.choice import an_apiserver
from tests.lab.requirements import PARTS

Needs = Callable[..., None]


@pytest.fixture(scope="session")
def apiserver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ApiServer]:
    """One API server for all tests: a real one where it is at hand, which it must be in CI."""
    if os.environ.get("CI") == "true" and binaries.at_hand() is None:
        parts = (PARTS["etcd"], PARTS["kube-apiserver"])
        pytest.fail("; ".join(part.advice for part in parts if not part.present))
    started = an_apiserver(tmp_path_factory.mktemp("apiserver"))
    yield started
    started.stop()


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
