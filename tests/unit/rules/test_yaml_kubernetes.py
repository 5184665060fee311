"""Kubernetes evidence that YAML defines."""
# ruff: noqa: E501 - a table reads better with one line a case

import pytest

from tailhound.errors import Refused
from tailhound.model import Missing, Reason
from tailhound.requests import GetObject, ListObjects
from tests.driving import EMPTY, TIMEOUT
from tests.unit.rules.yaml_evidence_kit import ask, asked, made, told

PROBE = """\
kubernetes:
  get: pods
  namespace: $namespace
  name: $pod
  facts:
    timeout_seconds: {jmespath: 'spec.containers[0].readinessProbe.timeoutSeconds', unit: seconds, default: 1}
    cores: {jmespath: 'spec.containers[0].resources.limits.cpu', unit: cores}
    node: {jmespath: spec.nodeName, kind: text}
    host: {jmespath: spec.hostNetwork, default: false}
"""


POD = {
    "spec": {
        "nodeName": "n1",
        "containers": [
            {"readinessProbe": {"timeoutSeconds": 5}, "resources": {"limits": {"cpu": "1500m"}}}
        ],
    }
}


def test_an_object_gives_typed_facts_and_defaults_for_what_it_does_not_say() -> None:
    collector = made(PROBE)
    assert asked(collector, namespace="prod", pod="llm-0") == [
        GetObject(api="v1", resource="pods", namespace="prod", name="llm-0")
    ]
    found = ask(collector, POD, namespace="prod", pod="llm-0")
    assert found == {"timeout_seconds": 5.0, "cores": 1.5, "node": "n1", "host": False}
    bare = ask(collector, {"spec": {}}, namespace="prod", pod="llm-0")
    assert bare == {"timeout_seconds": 1.0, "cores": None, "node": None, "host": False}


def test_without_an_answer_no_default_is_taken() -> None:
    for missing in (EMPTY, TIMEOUT, Missing(Reason.FORBIDDEN, "may not get pods")):
        found = ask(made(PROBE), missing, namespace="prod", pod="llm-0")
        assert set(found.values()) == {None}


def test_a_value_of_another_kind_is_not_measured() -> None:
    odd = {"spec": {"nodeName": 7, "hostNetwork": "yes", "containers": [{"readinessProbe": "x"}]}}
    found = ask(made(PROBE), odd, namespace="prod", pod="llm-0")
    assert (found["node"], found["host"]) == (None, None)


def test_a_list_is_one_document() -> None:
    collector = made(
        "kubernetes:\n  list: pods\n  namespace: $namespace\n  label_selector: app=llm\n"
        "  facts: {running: {jmespath: \"length([?status.phase=='Running'])\", unit: count}}\n"
    )
    (request,) = asked(collector, namespace="prod")
    assert request == ListObjects(
        api="v1", resource="pods", namespace="prod", label_selector="app=llm"
    )
    pods = ({"status": {"phase": "Running"}}, {"status": {"phase": "Pending"}})
    assert ask(collector, pods, namespace="prod") == {"running": 1.0}
    assert ask(collector, (), namespace="prod") == {"running": 0.0}


def test_a_hostile_name_is_refused_before_anything_is_sent() -> None:
    with pytest.raises(Refused):
        asked(made(PROBE), namespace="prod", pod="../../secrets")


@pytest.mark.parametrize(
    ("old", "new", "wrong"),
    [
        ("get: pods", "get: secrets", "secrets are never read"),
        ("get: pods", "get: pod", "no resource named 'pod'; did you mean 'pods'?"),
        ("get: pods", "list: pods", "`list` takes no `name:`"),
        ("  get: pods\n", "", "give either `get: <resource>` or `list: <resource>`"),
        ("  name: $pod\n", "", "`get` needs `name:`"),
        ("  namespace: $namespace\n", "", "`get: pods` needs `namespace:`"),
        ("name: $pod", "name: $pods", "$pods is a set; one value is needed here"),
        ("name: $pod", "name: x-$pod", "`$name` stands only as one whole parameter"),
        ("name: $pod", "name: $pdo", "no input named 'pdo'; did you mean 'pod'?"),
        ("spec.nodeName", "spec..nodeName", "not JMESPath"),
        ("spec.nodeName", "'to_string(@)'", "not allowed in JMESPath here: to_string()"),
        ("spec.nodeName", "'[@,@]|[@,@]|[@,@]|[@,@]'", "not allowed in JMESPath here: more than"),
        (
            "spec.nodeName, kind: text",
            "spec.nodeName",
            "say `unit:` for a number, else `kind: text`",
        ),
        ("default: false", "unit: count, default: false", "the default must be a number"),
        ("    host:", "    class:", "'class' can't be a fact's name"),
    ],
)
def test_wrong_kubernetes_evidence_is_refused(old: str, new: str, wrong: str) -> None:
    assert old in PROBE
    assert wrong in told(PROBE.replace(old, new, 1))
