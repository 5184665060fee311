"""Every program that has a read-only grammar, from the tables beside this module."""

from collections.abc import Mapping

from tailhound.requests.argv_reader import Reader
from tailhound.requests.argv_readers_devices import DEVICES
from tailhound.requests.argv_readers_host import HOST
from tailhound.requests.argv_readers_network import NETWORK

READERS: Mapping[str, Reader] = {**DEVICES, **NETWORK, **HOST}
"""Every tool with a reader's grammar here is held to it, whatever an allow-list says."""
