"""Whose request it is, for limits: an address, never a proof of anything."""

import ipaddress

from starlette.requests import Request

_IPV6_PREFIX = 64
"""Bits of an IPv6 address that one household or machine has for itself."""


class Visitors:
    """Tells visitors apart by the address of their connection.

    Behind a proxy all come from one address: then `header` names the header in which the proxy
    writes whom it serves; of a list only the last entry is its own. A header that nobody has
    configured is not believed.
    """

    def __init__(self, header: str) -> None:
        self._header = header

    def who(self, request: Request) -> str:
        """The address, of IPv6 its network; "" when nothing tells."""
        told = request.headers.get(self._header, "") if self._header else ""
        peer = request.client.host if request.client else ""
        return network(told.rpartition(",")[2].strip()[:64]) or network(peer) or peer[:64]


def network(text: str) -> str:
    """The address in its shortest form, of IPv6 its network; "" for what is none."""
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return ""
    if isinstance(address, ipaddress.IPv4Address):
        return str(address)
    if address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    return str(ipaddress.ip_network((int(address), _IPV6_PREFIX), strict=False))
