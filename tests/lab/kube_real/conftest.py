"""A real API server and the stand-in, with the same objects."""

from collections.abc import Iterator

import pytest

from tests.lab.apiserver import ApiServer, StandIn
from tests.lab.cluster import Cluster
from tests.lab.conftest import Needs
from tests.lab.kube.real import RealApiServer
from tests.lab.kube_real.kit import FORBIDDEN, LOGS, NOW, OBJECTS


@pytest.fixture(scope="module")
def real(apiserver: ApiServer, needs: Needs) -> RealApiServer:
    needs("etcd", "kube-apiserver")
    assert isinstance(apiserver, RealApiServer)
    apiserver.load(Cluster(OBJECTS, NOW), FORBIDDEN, LOGS, whole=True)
    assert apiserver.remarks == ()
    return apiserver


@pytest.fixture(scope="module")
def standin(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StandIn]:
    started = StandIn(tmp_path_factory.mktemp("standin"))
    started.load(Cluster(OBJECTS, NOW), FORBIDDEN, LOGS, whole=True)
    yield started
    started.stop()
