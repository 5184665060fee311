"""A sample of the variants of scenarios; `make accuracy` runs all."""

import random

import pytest

from tests.accuracy.measuring import DROPPED, measured, names
from tests.accuracy.perturb import PERTURBATIONS
from tests.accuracy.running import one_apiserver
from tests.lab.conftest import Needs

pytestmark = [pytest.mark.lab, pytest.mark.timeout(120)]

_PREFIXES = ("apiserver-clear", "batching-clear", "cold-start-scale", "cpu-clear", "kv-clear")


def _sample() -> list[tuple[str, str]]:
    """One variant of the clear case of each of five causes; the same in every run."""
    dice = random.Random("a sample of variants")  # noqa: S311 - nothing secret
    folders = [name for prefix in _PREFIXES for name in names(prefix)]
    return list(zip(folders, dice.sample([*PERTURBATIONS, DROPPED], len(folders)), strict=True))


@pytest.mark.parametrize(("name", "variant"), _sample())
def test_a_variant_keeps_every_verdict(name: str, variant: str, needs: Needs) -> None:
    needs("prometheus")
    with one_apiserver() as apiserver:
        found = measured(name, apiserver, [variant])
    assert found.score.misses == ()
    for score in found.variants:
        assert score.misses == ()
        assert score.false_confirmations == ()
