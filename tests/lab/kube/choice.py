"""Which API server a lab gets: a real one where it is at hand, else the stand-in."""

from pathlib import Path

from tests.lab.apiserver import ApiServer, StandIn
from tests.lab.kube import binaries
from tests.lab.kube.real import RealApiServer


def an_apiserver(folder: Path) -> ApiServer:
    """The best one that this machine has, started."""
    found = binaries.at_hand()
    return RealApiServer(found, folder) if found else StandIn(folder)
