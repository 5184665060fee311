"""Collectors of third parties: the documented plugin works, and each mistake names its owner."""

import re
import sys
import tomllib
import types
from collections.abc import Iterator
from dataclasses import dataclass, make_dataclass
from pathlib import Path
from typing import Any

import pytest

from tailhound import app
from tailhound.app.plugins import why_not
from tailhound.cli import main
from tailhound.errors import SettingsError
from tailhound.flow import Reading
from tailhound.model.facts import Kind, schema_of
from tailhound.requests.argv import SHIPPED
from tailhound.rules import compile_files

PAGE = Path(__file__).parents[2] / "docs" / "authors" / "plugins.md"
PLUGIN, TEST = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text("utf-8"), re.M | re.S)
(PROJECT,) = re.findall(r"^```toml\n(.*?)^```$", PAGE.read_text("utf-8"), re.M | re.S)


class Site:
    """A folder of installed distributions in front of the others."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def install(self, source: str, target: str = "router_cache:COLLECTORS") -> None:
        """A distribution as pip would leave it: its module, its metadata, its entry point."""
        (self.folder / "router_cache.py").write_text(source, encoding="utf-8")
        info = self.folder / "acme_tailhound-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(
            "Metadata-Version: 2.1\nName: acme-tailhound\nVersion: 1.0\n"
        )
        (info / "entry_points.txt").write_text(f"[tailhound.collectors]\nacme = {target}\n")


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    monkeypatch.syspath_prepend(str(tmp_path))
    yield Site(tmp_path)
    sys.modules.pop("router_cache", None)


def test_the_documented_plugin_is_found_and_has_the_units_of_its_names(site: Site) -> None:
    site.install(PLUGIN)
    facts = schema_of(app.collectors()["prometheus.router_cache"].facts)
    assert (facts["hit_ratio"].unit, facts["hit_times"].unit) == ("ratio", "times")
    assert facts["hit_ratio_series"].kind is Kind.SERIES


def test_the_documented_entry_point_is_the_one_that_is_looked_for() -> None:
    project = tomllib.loads(PROJECT)["project"]
    assert project["entry-points"] == {"tailhound.collectors": {"acme": "router_cache:COLLECTORS"}}


def test_the_documented_test_of_the_plugin_passes() -> None:
    module = types.ModuleType("router_cache_test")
    sys.modules["router_cache_test"] = module  # dataclasses look their module up
    try:
        exec(compile(PLUGIN + TEST, str(PAGE), "exec"), module.__dict__)  # noqa: S102 - our page
        module.test_the_hit_ratio_is_compared_with_its_usual_one()
    finally:
        del sys.modules["router_cache_test"]


RUNBOOK = """\
runbook: cold-router
cause: The router's cache is cold
inputs: {namespace: the namespace, pods: all pods of the workload}
thresholds: {low: {value: 0.5, unit: ratio, source: our own default}}
evidence: {cache: {collect: prometheus.router_cache, with: {window: 10m}}}
onset: cache.hit_ratio
confirm:
  - Few lookups are hits: cache.hit_ratio < low
"""


def test_a_runbook_can_use_it_with_its_onset(site: Site) -> None:
    site.install(PLUGIN)
    runbooks, findings = compile_files({"r.yaml": RUNBOOK}, app.collectors(), SHIPPED)
    assert findings == ()
    assert runbooks[0].onset == ("cache.hit_ratio",)


def test_without_a_backend_collect_says_so(site: Site, capsys: pytest.CaptureFixture[str]) -> None:
    site.install(PLUGIN)
    inputs = ("--input", "namespace=prod", "--input", "pods=llm-0")
    assert main(["collect", "prometheus.router_cache", *inputs]) == 3
    assert "Prometheus is not configured: set prometheus.url" in capsys.readouterr().out


BROKEN = PLUGIN.replace(
    "        here = matchers(", '        yield Query("up")\n        here = matchers('
)
BROKEN = BROKEN.replace("import matchers\n", "import Query, matchers\n")


def test_a_collector_that_raises_says_why_and_does_not_end_with_0(
    site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    site.install(BROKEN)
    inputs = ("--input", "namespace=prod", "--input", "pods=llm-0")
    assert main(["collect", "prometheus.router_cache", *inputs]) == 1
    told = capsys.readouterr().out
    assert "  why  a bug in the collector prometheus.router_cache" in told
    assert "TypeError" in told
    assert "positional argument" in told


@pytest.mark.parametrize(
    ("source", "target", "says"),
    [
        ("import acme_router_client\n", "router_cache:COLLECTORS", "can't be imported: ModuleNot"),
        ("raise RuntimeError('no licence')\n", "router_cache:COLLECTORS", "RuntimeError: no licen"),
        (PLUGIN, "router_cache:COLLECTOR", "can't be imported: AttributeError"),
        (PLUGIN, "router_cache:RouterCache", "must be a tuple of collectors, but is type"),
        (
            PLUGIN.replace("(RouterCache(),)", "(RouterCache,)"),
            "router_cache:COLLECTORS",
            "RouterCache is a class: register an instance, RouterCache()",
        ),
        (
            PLUGIN.replace("params = Params", 'params = ("namespace",)'),
            "router_cache:COLLECTORS",
            "prometheus.router_cache: `params` must be a dataclass, the class itself, but is ('n",
        ),
        (
            PLUGIN.replace("prometheus.router_cache", "prometheus.container_cpu"),
            "router_cache:COLLECTORS",
            "'prometheus.container_cpu' is already the name of a collector of tailhound",
        ),
    ],
)
def test_every_mistake_names_the_distribution_and_ends_with_2(
    site: Site, capsys: pytest.CaptureFixture[str], source: str, target: str, says: str
) -> None:
    site.install(source, target)
    assert main(["collect", "--list"]) == 2
    told = capsys.readouterr().err
    assert told.startswith("the collectors of acme-tailhound (acme = router_cache:")
    assert says in told
    assert "Traceback" not in told
    with pytest.raises(SettingsError):
        app.collectors()


# --- one object at a time


@dataclass(frozen=True)
class Params:
    namespace: str


@dataclass(frozen=True)
class Facts:
    hit_ratio: float | None = None


def made(**more: Any) -> Any:
    def collect(self: Any, params: Params) -> Reading[Facts]:
        yield from ()
        return Facts()

    parts = {"name": "acme.cache", "params": Params, "facts": Facts, "collect": collect, **more}
    return type("Cache", (), {key: value for key, value in parts.items() if value is not None})()


async def waits(self: Any, params: Params) -> Facts:
    return Facts()


@pytest.mark.parametrize(
    ("parts", "says"),
    [
        ({}, ""),
        ({"name": None}, "Cache.name is None: write a text such as"),
        ({"name": "Cache"}, "Cache.name is 'Cache'"),
        ({"params": None}, "`params` must be a dataclass, the class itself; it has none"),
        ({"params": make_dataclass("P", ["x"])}, "write @dataclass(frozen=True) on P"),
        ({"params": Params("a")}, "`params` must be a dataclass, the class itself, but is Params("),
        (
            {"params": make_dataclass("P", [("x", "Nowhere")], frozen=True)},
            "`params`: a type of P can't be read: name 'Nowhere' is not defined",
        ),
        ({"facts": dict}, "`facts` must be a dataclass"),
        ({"facts": make_dataclass("F", [], frozen=True)}, "`facts` holds no fact"),
        (
            {"facts": make_dataclass("F", [("x", dict[str, int])], frozen=True)},
            "x: dict[str, int] can't be a fact; write float, int, str, bool",
        ),
        ({"collect": None}, "it has no method `collect(self, params)`"),
        ({"collect": lambda self: None}, "`def collect(self, params)`"),
        ({"collect": waits}, "must be a plain generator (`yield from`), not async"),
    ],
)
def test_each_part_of_a_collector_is_looked_at(parts: dict[str, Any], says: str) -> None:
    told = why_not(made(**parts))
    assert says in told
    assert bool(told) is bool(says)
