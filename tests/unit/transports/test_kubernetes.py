"""The Kubernetes transport against a small API server that answers with recorded Status bodies."""

import asyncio
import json
import threading
import time
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from tailhound.flow import Turn
from tailhound.model import Missing, Reason
from tailhound.requests import GetObject, ListObjects
from tailhound.settings import Kubernetes, Secret
from tailhound.transports.kubernetes import KubernetesTransport
from tests.driving import until
from tests.unit.transports import servers
from tests.unit.transports.certificates import Certificates
from tests.unit.transports.servers import (
    Scripted,
    cut_short_in_tls,
    misbehaving,
    reply,
    scripted,
)
from tests.unit.transports.test_prometheus_faults import HANGS, NOW, wait_until

RECORDED = Path(__file__).parents[2] / "recorded" / "k8s-status"
POD = GetObject(api="v1", resource="pods", namespace="prod", name="llm-0")
PODS = ListObjects(api="v1", resource="pods", namespace="prod")
ALL_PODS = ListObjects(api="v1", resource="pods")


def pod(name: str, **metadata: Any) -> dict[str, Any]:
    return {"metadata": {"name": name, "namespace": "prod", **metadata}, "spec": {}}


def pods(*names: str, token: str = "") -> str:
    metadata = {"resourceVersion": "1"} | ({"continue": token} if token else {})
    items = [pod(name) for name in names]
    return json.dumps({"kind": "PodList", "apiVersion": "v1", "metadata": metadata, "items": items})


def recorded(name: str) -> str:
    return (RECORDED / f"{name}.json").read_text()


def turn(seconds: float = 5.0) -> Turn:
    return Turn(time.monotonic() + seconds, NOW)


def ask(server: Scripted, *requests: Any, **settings: Any) -> list[Any]:
    transport = KubernetesTransport(
        Kubernetes(server=f"http://127.0.0.1:{server.port}", **settings)
    )

    async def in_turn() -> list[Any]:
        return [await transport.ask(request, turn()) for request in requests]

    try:
        return asyncio.run(in_turn())
    finally:
        transport.close()


def answering(status: int, body: str, **headers: str) -> Any:
    def answer(script: Scripted, handler: BaseHTTPRequestHandler, _: bytes) -> None:
        reply(handler, status, body, **headers)

    return scripted(answer)


def test_an_object_comes_as_the_api_sends_it() -> None:
    with answering(200, json.dumps({"kind": "Pod", **pod("llm-0")})) as server:
        (got,) = ask(server, POD)
        assert server.asked == ["GET /api/v1/namespaces/prod/pods/llm-0?resourceVersion=0"]
        assert server.headers[0]["accept-encoding"] == "identity"
    assert got["metadata"]["name"] == "llm-0"


def test_a_list_of_a_namespace_is_read_from_the_cache_in_one_answer() -> None:
    with answering(200, pods("a", "b")) as server:
        (got,) = ask(server, PODS)
        assert server.asked == ["GET /api/v1/namespaces/prod/pods?resourceVersion=0"]
    assert [item["metadata"]["name"] for item in got] == ["a", "b"]


def test_an_empty_list_is_an_answer() -> None:
    with answering(200, pods()) as server:
        assert ask(server, PODS) == [()]


def paging(script: Scripted, handler: BaseHTTPRequestHandler, _: bytes) -> None:
    token = parse_qs(urlsplit(handler.path).query).get("continue", [""])[0]
    number = int(token.removeprefix("page=") or 0) if token else 0
    reply(handler, 200, pods(f"pod-{number}", token=f"page={number + 1}" if number < 3 else ""))


def test_an_unbounded_list_is_paged_by_500() -> None:
    with scripted(paging) as server:
        (got,) = ask(server, ALL_PODS)
        assert [item["metadata"]["name"] for item in got] == ["pod-0", "pod-1", "pod-2", "pod-3"]
        assert server.asked[0] == "GET /api/v1/pods?limit=500"
        assert server.asked[1] == "GET /api/v1/pods?limit=500&continue=page%3D1"
        assert len(server.asked) == 4


def test_the_cap_counts_over_all_pages() -> None:
    def two_pages(script: Scripted, handler: BaseHTTPRequestHandler, _: bytes) -> None:
        is_last = "continue" in handler.path
        reply(handler, 200, pods("a" * 1000, token="" if is_last else "more"))

    total = len(pods("a" * 1000, token="more")) + len(pods("a" * 1000))
    with scripted(two_pages) as server:
        (fits,) = ask(server, ALL_PODS, max_bytes=total)
        (over,) = ask(server, ALL_PODS, max_bytes=total - 1)
    assert len(fits) == 2
    assert over.reason is Reason.TRUNCATED


def test_pages_together_over_the_cap_are_truncated() -> None:
    def endless(script: Scripted, handler: BaseHTTPRequestHandler, _: bytes) -> None:
        reply(handler, 200, pods("p" * 200, token="more"))

    with scripted(endless) as server:
        (got,) = ask(server, ALL_PODS, max_bytes=2048)
        assert len(server.asked) < 10
    assert got.reason is Reason.TRUNCATED
    assert "over 2 KiB" in got.detail


def test_a_list_that_expires_is_read_once_more_from_the_start() -> None:
    def once(script: Scripted, handler: BaseHTTPRequestHandler, body: bytes) -> None:
        if len(script.asked) == 2:
            reply(handler, 410, recorded("410-expired-list"))
        else:
            paging(script, handler, body)

    with scripted(once) as server:
        (got,) = ask(server, ALL_PODS)
        assert len(server.asked) == 6
    assert len(got) == 4


def test_a_list_that_expires_twice_is_truncated() -> None:
    def always(script: Scripted, handler: BaseHTTPRequestHandler, body: bytes) -> None:
        if "continue" in handler.path:
            reply(handler, 410, recorded("410-expired-list"))
        else:
            paging(script, handler, body)

    with scripted(always) as server:
        (got,) = ask(server, ALL_PODS)
        assert len(server.asked) == 4
    assert got.reason is Reason.TRUNCATED
    assert "too old" in got.detail


def test_what_we_may_not_do_names_verb_resource_namespace_and_fix() -> None:
    body = recorded("403-forbidden").replace("cannot delete", "cannot list")
    with answering(403, body) as server:
        (got,) = ask(server, PODS)
    assert got == Missing(
        Reason.FORBIDDEN,
        "may not list pods in default as runbot: kubectl apply -f deploy/rbac/read.yaml",
    )


def test_a_grouped_resource_of_the_whole_cluster_is_named_as_rbac_names_it() -> None:
    message = (
        'horizontalpodautoscalers.autoscaling is forbidden: User "system:serviceaccount:t:r" '
        'cannot list resource "horizontalpodautoscalers" in API group "autoscaling" at the '
        "cluster scope"
    )
    with answering(403, json.dumps({"kind": "Status", "message": message, "code": 403})) as server:
        (got,) = ask(server, ALL_PODS)
    assert got.detail.startswith(
        "may not list horizontalpodautoscalers.autoscaling in the whole cluster as "
        "system:serviceaccount:t:r"
    )


def test_a_refusal_without_a_status_is_told_by_the_request() -> None:
    with answering(403, "<html>no</html>") as server:
        (got,) = ask(server, POD)
    assert got.detail.startswith("may not get pods in prod as our account")


def test_an_object_that_does_not_exist_is_empty() -> None:
    body = recorded("404-notfound").replace("nope", "llm-0")
    with answering(404, body) as server:
        (got,) = ask(server, POD)
    assert got == Missing(Reason.EMPTY, "no pods prod/llm-0 in the cluster")


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("404 page not found\n", Reason.NOT_APPLICABLE),
        (
            '{"kind":"Status","message":"the server could not find the requested resource"}',
            Reason.NOT_APPLICABLE,
        ),
        ("<html>nginx</html>", Reason.UNREACHABLE),
    ],
)
def test_a_kind_that_the_cluster_lacks_is_told_from_a_wrong_address(
    body: str, reason: Reason
) -> None:
    scaled = ListObjects(api="keda.sh/v1alpha1", resource="scaledobjects", namespace="prod")
    with answering(404, body) as server:
        (got,) = ask(server, scaled)
    assert got.reason is reason


@pytest.mark.parametrize(
    ("status", "body", "reason", "words"),
    [
        (401, recorded("401-unauthorized"), Reason.FORBIDDEN, "does not accept our token"),
        (500, recorded("500-log-no-kubelet"), Reason.UNREACHABLE, "no preferred addresses"),
        (503, "", Reason.UNREACHABLE, "not there"),
        (504, '{"kind":"Status","reason":"Timeout"}', Reason.TIMEOUT, "gave up"),
        (422, recorded("422-invalid"), Reason.UNPARSABLE, "Bad_Name"),
        (302, "", Reason.UNREACHABLE, "not followed"),
        (200, "<html>log in</html>", Reason.UNPARSABLE, "log in"),
        (200, "[]", Reason.UNPARSABLE, "no Kubernetes object"),
        (200, '{"metadata":{},"items":7}', Reason.UNPARSABLE, "no list"),
        (200, '{"metadata":{},"items":[7]}', Reason.UNPARSABLE, "no object"),
        (200, json.dumps({"kind": "Pod", **pod("x")}), Reason.UNPARSABLE, "no list"),
    ],
)
def test_every_answer_without_objects_has_its_reason(
    status: int, body: str, reason: Reason, words: str
) -> None:
    with answering(status, body, Location="/elsewhere") as server:
        (got,) = ask(server, PODS)
        assert len(server.asked) == 1
    assert got.reason is reason
    assert words in got.detail


def test_a_list_where_one_object_was_asked_is_not_taken_for_it() -> None:
    with answering(200, pods("a")) as server:
        (got,) = ask(server, POD)
    assert got.reason is Reason.UNPARSABLE


def test_too_many_requests_are_waited_for_as_the_server_asked() -> None:
    body = recorded("429-pdb-eviction")

    def answer(script: Scripted, handler: BaseHTTPRequestHandler, _: bytes) -> None:
        if len(script.asked) == 1:
            reply(handler, 429, body, Retry_After="1")
        else:
            reply(handler, 200, pods("a"))

    with scripted(answer) as server:
        transport = KubernetesTransport(
            Kubernetes(server=f"http://127.0.0.1:{server.port}", concurrency=4)
        )

        async def three() -> list[Any]:
            first = await transport.ask(PODS, turn())
            no_time = await transport.ask(PODS, turn(0.3))
            return [first, no_time, await transport.ask(PODS, turn())]

        start = time.monotonic()
        first, no_time, last = asyncio.run(three())
        transport.close()
        assert len(server.asked) == 2
    assert first.reason is Reason.SKIPPED
    assert "asked to wait 1 s" in first.detail
    assert no_time.reason is Reason.SKIPPED
    assert "not asked" in no_time.detail
    assert len(last) == 1
    assert time.monotonic() - start > 0.9
    assert transport.gate.slowed == 1
    assert transport.asking.pool.limit == 2


def test_a_slow_server_gets_fewer_calls_at_once() -> None:
    def slow(script: Scripted, handler: BaseHTTPRequestHandler, _: bytes) -> None:
        time.sleep(1.1)
        reply(handler, 200, pods("a"))

    with scripted(slow) as server:
        transport = KubernetesTransport(
            Kubernetes(server=f"http://127.0.0.1:{server.port}", concurrency=6)
        )

        async def several() -> list[Any]:
            return await asyncio.gather(*(transport.ask(PODS, turn()) for _ in range(6)))

        got = asyncio.run(several())
        transport.close()
    assert all(len(one) == 1 for one in got)
    assert transport.gate.calls == 6
    assert transport.gate.slowed == 1
    assert transport.asking.pool.limit == 3


class Clock:
    """What a transport spares by: `ahead` seconds ahead of the real time."""

    ahead = 0.0

    def __call__(self) -> float:
        return time.monotonic() + self.ahead


LEASE = GetObject(
    api="coordination.k8s.io/v1", resource="leases", namespace="kube-node-lease", name="n1"
)
SPARED = "not asked: the API server refuses most requests (5 of the last 5)"


def refusing(script: Scripted, handler: BaseHTTPRequestHandler, _: bytes) -> None:
    """A server that does not work."""
    reply(handler, 503, "")


def waves(port: int, *steps: Any, clock: Clock | None = None, **settings: Any) -> Any:
    """A transport, and the replies of each step: questions that are asked at once."""
    transport = KubernetesTransport(
        Kubernetes(server=f"http://127.0.0.1:{port}", **settings), clock or Clock()
    )

    async def in_turn() -> list[list[Any]]:
        return [
            list(await asyncio.gather(*(transport.ask(one, turn()) for one in step(transport))))
            for step in steps
        ]

    try:
        return transport, asyncio.run(in_turn())
    finally:
        transport.close()


def test_once_most_requests_are_refused_the_rest_of_the_wave_is_not_asked() -> None:
    with scripted(refusing) as server:
        transport, (first, second) = waves(
            server.port, lambda _: [PODS] * 20, lambda _: [POD] * 20, concurrency=1
        )
        assert len(server.asked) == 5
    assert [one.reason for one in first[:5]] == [Reason.UNREACHABLE] * 5
    assert {one.reason for one in (*first[5:], *second)} == {Reason.SKIPPED}
    fix = ". Fix: it is asked again when it answers"
    assert {one.detail for one in (*first[5:], *second)} == {SPARED + fix}
    assert transport.gate.spared == 35
    assert transport.way.resting == 1


def test_what_tells_about_the_server_itself_is_asked_while_it_refuses() -> None:
    with scripted(refusing) as server:
        _, (_, (lease, pod_)) = waves(
            server.port, lambda _: [PODS] * 6, lambda _: [LEASE, POD], concurrency=1
        )
        assert [one for one in server.asked if "leases" in one]
        assert not [one for one in server.asked if "llm-0" in one]
    assert lease.reason is Reason.UNREACHABLE
    assert pod_.reason is Reason.SKIPPED


@pytest.mark.parametrize(
    ("api", "resource", "is_about_server"),
    [
        ("coordination.k8s.io/v1", "leases", True),
        ("flowcontrol.apiserver.k8s.io/v1", "flowschemas", True),
        ("v1", "nodes", False),
        ("apps/v1", "deployments", False),
        ("leases.example.com/v1", "leases", False),
    ],
)
def test_leases_and_flow_control_tell_about_the_server_itself(
    api: str, resource: str, is_about_server: bool
) -> None:
    assert ListObjects(api=api, resource=resource).is_about_server is is_about_server
    assert GetObject(api=api, resource=resource, name="x").is_about_server is is_about_server


@pytest.mark.parametrize(
    ("status", "is_spared"),
    [
        (429, True), (500, True), (502, True), (503, True), (504, True),
        (400, False), (401, False), (403, False), (404, False), (422, False),
    ],
)  # fmt: skip
def test_refusals_for_want_of_room_count_and_refusals_for_want_of_rights_do_not(
    status: int, is_spared: bool
) -> None:
    with answering(status, "{}", Retry_After="0") as server:
        transport, _ = waves(server.port, lambda _: [PODS] * 8, concurrency=1)
        assert len(server.asked) == (5 if is_spared else 8)
    assert (transport.gate.refusal is not None) is is_spared


def test_a_server_that_hangs_is_spared_and_the_breaker_does_not_keep_that_from_people() -> None:
    def freed(transport: KubernetesTransport) -> list[Any]:
        wait_until(lambda: transport.asking.pool.busy == 0, 2)
        return [PODS] * 3

    with misbehaving(servers.accepts_and_never_answers) as port:
        transport, (first, second) = waves(
            port, lambda _: [PODS] * 8, freed, timeout_seconds=0.4, concurrency=6
        )
    assert [one.reason for one in first].count(Reason.TIMEOUT) >= 6
    assert {one.reason for one in second} == {Reason.SKIPPED}
    assert {one.detail.partition(" (")[0] for one in second} == {SPARED.partition(" (")[0]}
    assert len(transport.asking.breaker.open_targets()) == 1


def test_a_refusal_with_a_page_too_long_to_read_is_one() -> None:
    with answering(503, "x" * 200_000) as server:
        transport, (got,) = waves(server.port, lambda _: [PODS] * 6, concurrency=1)
    assert got[0].reason is Reason.UNREACHABLE
    assert "HTTP 503" in got[0].detail
    assert transport.gate.refusal is not None


def test_a_server_that_is_not_there_keeps_its_reason() -> None:
    with misbehaving(servers.sends_half_and_hangs_up) as port:
        transport, (gone,) = waves(port, lambda _: [PODS] * 12, concurrency=1)
    assert {one.reason for one in gone} == {Reason.UNREACHABLE}
    assert transport.gate.refusal is None


def test_a_question_that_had_next_to_no_time_is_no_refusal() -> None:
    with misbehaving(servers.accepts_and_never_answers) as port:
        transport = KubernetesTransport(Kubernetes(server=f"http://127.0.0.1:{port}"))

        async def hasty() -> None:
            await asyncio.gather(*(transport.ask(PODS, turn(0.1)) for _ in range(6)))

        asyncio.run(hasty())
        wait_until(lambda: transport.asking.pool.busy == 0, 2)
        transport.close()
    assert transport.gate.refusal is None


def test_a_check_after_the_server_answers_again_gets_all_answers_and_begins_one_by_one() -> None:
    at_once: list[int] = []
    under_way = [0]
    is_well = [False]

    def answer(script: Scripted, handler: BaseHTTPRequestHandler, _: bytes) -> None:
        if not is_well[0]:
            return reply(handler, 503, "")
        under_way[0] += 1
        at_once.append(under_way[0])
        time.sleep(0.02)
        under_way[0] -= 1
        return reply(handler, 200, pods("a"))

    clock = Clock()

    def later(_: KubernetesTransport) -> list[Any]:
        clock.ahead += 10
        is_well[0] = True
        return [PODS] * 12

    with scripted(answer) as server:
        transport, (early, answers) = waves(
            server.port, lambda _: [PODS] * 8, later, clock=clock, concurrency=6
        )
    assert all(isinstance(one, Missing) for one in early)
    assert [len(one) for one in answers] == [1] * 12
    assert at_once[0] == 1
    assert 1 < max(at_once) < 6
    assert transport.gate.refusal is None


def test_a_check_while_the_server_still_refuses_costs_one_request() -> None:
    clock = Clock()

    def later(_: KubernetesTransport) -> list[Any]:
        clock.ahead += 10
        return [PODS] * 12

    with scripted(refusing) as server:
        _, (_, again, and_again) = waves(
            server.port, lambda _: [PODS] * 5, later, later, clock=clock, concurrency=1
        )
        assert len(server.asked) == 7
    assert [one.reason for one in again].count(Reason.SKIPPED) == 11
    assert [one.reason for one in and_again].count(Reason.SKIPPED) == 11


def test_who_waits_as_the_server_asked_is_told_when_it_is_spared_meanwhile() -> None:
    def answer(script: Scripted, handler: BaseHTTPRequestHandler, _: bytes) -> None:
        reply(handler, 429, recorded("429-pdb-eviction"), Retry_After="4")

    with scripted(answer) as server:
        transport = KubernetesTransport(
            Kubernetes(server=f"http://127.0.0.1:{server.port}", concurrency=1), Clock()
        )

        async def late_one() -> Any:
            transport.gate.wait(4)
            waiting = asyncio.create_task(transport.ask(POD, turn(30)))
            await asyncio.sleep(0)
            for _ in range(5):
                sent = transport.gate.begin()
                assert not isinstance(sent, Missing)
                transport.gate.end(sent, answered=False)
            begun = time.monotonic()
            return await waiting, time.monotonic() - begun

        got, took = asyncio.run(late_one())
        transport.close()
        assert server.asked == []
    assert got.detail.startswith(SPARED)
    assert took < 2


def test_a_question_that_is_kept_back_tells_the_breaker_nothing() -> None:
    transport = KubernetesTransport(Kubernetes(server="http://127.0.0.1:1", concurrency=1))
    asking, gate = transport.asking, transport.gate
    asking.breaker.abandoned(asking.where)
    asking.breaker.abandoned(asking.where)

    async def kept_back() -> Any:
        blocked = asyncio.create_task(
            asking.pool.run(lambda: held_back.wait(5), time.monotonic() + 5, held_back.set)
        )
        waiting = asyncio.create_task(transport.ask(PODS, turn()))
        await until(lambda: asking.pool.waiting == 1)
        for _ in range(5):
            sent = gate.begin()
            assert not isinstance(sent, Missing)
            gate.end(sent, answered=False)
        held_back.set()
        await blocked
        return await waiting

    held_back = threading.Event()
    got = asyncio.run(kept_back())
    transport.close()
    assert got.detail.startswith(SPARED)
    asking.breaker.abandoned(asking.where)
    assert asking.breaker.open_targets() == (asking.where,)


@pytest.mark.parametrize("behaviour", HANGS)
def test_at_the_deadline_there_is_an_answer_and_the_thread_is_free(
    behaviour: servers.Behaviour,
) -> None:
    with cut_short_in_tls(), misbehaving(behaviour) as port:
        transport = KubernetesTransport(Kubernetes(server=f"https://127.0.0.1:{port}"))
        start = time.monotonic()
        got: Any = asyncio.run(transport.ask(PODS, turn(0.15)))
        took = time.monotonic() - start
        wait_until(lambda: transport.asking.pool.busy == 0, 0.5)
        transport.close()
    assert took < 0.65
    assert got.reason in (Reason.TIMEOUT, Reason.UNREACHABLE)
    assert f"127.0.0.1:{port}" in got.detail


def test_the_token_is_sent_and_read_anew_for_each_question(tmp_path: Path) -> None:
    secret = tmp_path / "token"
    secret.write_text("first\n")
    with answering(200, pods()) as server:
        transport = KubernetesTransport(
            Kubernetes(server=f"http://127.0.0.1:{server.port}/", token=Secret(file=str(secret)))
        )
        asyncio.run(transport.ask(PODS, turn()))
        secret.write_text("second")
        asyncio.run(transport.ask(PODS, turn()))
        secret.unlink()
        got: Any = asyncio.run(transport.ask(PODS, turn()))
        transport.close()
    assert [sent["authorization"] for sent in server.headers] == ["Bearer first", "Bearer second"]
    assert got.reason is Reason.FORBIDDEN


def kubeconfig(folder: Path, port: int, ca_file: str) -> str:
    path = folder / "config"
    path.write_text(
        json.dumps(
            {
                "apiVersion": "v1",
                "kind": "Config",
                "current-context": "a",
                "contexts": [{"name": "a", "context": {"cluster": "c", "user": "u"}}],
                "clusters": [
                    {
                        "name": "c",
                        "cluster": {
                            "server": f"https://127.0.0.1:{port}",
                            "certificate-authority": ca_file,
                        },
                    }
                ],
                "users": [{"name": "u", "user": {"token": "from-kubeconfig"}}],
            }
        )
    )
    return str(path)


def test_a_kubeconfig_says_where_and_who_and_whom_to_trust(
    certificates: Certificates, tmp_path: Path
) -> None:
    def answer(script: Scripted, handler: BaseHTTPRequestHandler, _: bytes) -> None:
        reply(handler, 200, pods("a"))

    def asked(**settings: Any) -> Any:
        transport = KubernetesTransport(Kubernetes(**settings))
        try:
            return asyncio.run(transport.ask(PODS, turn()))
        finally:
            transport.close()

    with scripted(answer, wrap=certificates.wrap) as server:
        path = kubeconfig(tmp_path, server.port, certificates.ca_file)
        assert len(asked(kubeconfig=path)) == 1
        assert server.headers[0]["authorization"] == "Bearer from-kubeconfig"
        wrong = asked(kubeconfig=path, ca_file=certificates.other_ca_file)
        absent = asked(kubeconfig=path, context="nope")
        no_ca = asked(kubeconfig=path, ca_file="/nowhere/ca.pem")
    assert wrong.reason is Reason.UNREACHABLE
    assert f"127.0.0.1:{server.port} is not trusted" in wrong.detail
    assert "set kubernetes.ca_file" in wrong.detail
    assert "nope" in absent.detail
    assert "/nowhere/ca.pem" in no_ca.detail


@pytest.mark.parametrize("text", ["", "]", "a: [", "apiVersion: v1\nclusters: 7\ncontexts: 1"])
def test_a_broken_kubeconfig_says_so(tmp_path: Path, text: str) -> None:
    path = tmp_path / "config"
    path.write_text(text)
    transport = KubernetesTransport(Kubernetes(kubeconfig=str(path)))
    got: Any = asyncio.run(transport.ask(PODS, turn()))
    transport.close()
    assert got.reason is Reason.FORBIDDEN
    assert "kubernetes.kubeconfig can't be used" in got.detail


def test_outside_a_cluster_in_cluster_is_no_crash(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    transport = KubernetesTransport(Kubernetes(in_cluster=True))
    got: Any = asyncio.run(transport.ask(PODS, turn()))
    transport.close()
    assert "kubernetes.in_cluster can't be used" in got.detail


def test_secrets_in_objects_are_redacted_before_anyone_sees_them() -> None:
    body = pod("llm-0")
    body["spec"] = {"containers": [{"env": [{"name": "HF_TOKEN", "value": "abc"}]}]}
    with answering(200, json.dumps(body)) as server:
        (got,) = ask(server, POD)
    assert got["spec"]["containers"][0]["env"][0]["value"] == "[redacted]"
