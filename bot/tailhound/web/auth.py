"""Who may post alerts, and where serve may listen."""

import base64
import binascii
import hmac
import ipaddress
import logging
import time
from collections.abc import Callable

from tailhound.errors import SettingsError
from tailhound.settings import Listen, Secret, Settings

LOG = logging.getLogger(__name__)
_READ_AGAIN_SECONDS = 10.0
"""A secret that lies in a file is read again this often: a rotated one works without a restart."""


def check_listen(settings: Settings) -> None:
    """Refuse an address that other machines reach while anybody could post alerts to it.

    SettingsError also when a credential is configured and can't be read, or is empty.
    """
    listen = settings.listen
    Gate(listen)
    if listen.bearer or listen.basic or is_loopback(listen.host):
        return
    raise SettingsError(
        f"listen.host is {listen.host or 'every address'!r}, which other machines can reach, and "
        "the webhook has no credentials: set listen.bearer or listen.basic, or listen.host to "
        "127.0.0.1"
    )


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches it. A name other than localhost counts as public."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class Gate:
    """Checks the Authorization header of the webhook in constant time.

    SettingsError when a configured credential can't be read or is empty. Later, when a rotated
    file can't be read, the last good value goes on working.
    """

    def __init__(self, listen: Listen, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._listen = listen
        self._monotonic = monotonic
        self._tokens = _tokens(listen)
        self._read_at = monotonic()

    @property
    def challenge(self) -> str:
        """The WWW-Authenticate header of a refusal."""
        return 'Bearer realm="tailhound"' if self._listen.bearer else 'Basic realm="tailhound"'

    def lets_in(self, header: str) -> bool:
        """Whether the header carries one of the configured credentials; all may in without any."""
        self._read_again()
        if not self._tokens:
            return True
        given = _given(header)
        found = [hmac.compare_digest(given, token) for token in self._tokens]
        return any(found)

    def _read_again(self) -> None:
        if self._monotonic() - self._read_at < _READ_AGAIN_SECONDS:
            return
        self._read_at = self._monotonic()
        try:
            self._tokens = _tokens(self._listen)
        except SettingsError as error:
            LOG.warning("the webhook's credentials stay as they were: %s", error)


def _tokens(listen: Listen) -> tuple[bytes, ...]:
    """What a header must say, scheme included: `bearer ...` or `basic user:password`."""
    tokens = []
    if listen.bearer:
        tokens.append(f"bearer {_filled(listen.bearer, 'listen.bearer')}".encode())
    if listen.basic:
        password = _filled(listen.basic.password, "listen.basic.password")
        tokens.append(f"basic {listen.basic.username}:{password}".encode())
    return tuple(tokens)


def _filled(secret: Secret, key: str) -> str:
    value = secret.read()
    if not value:
        raise SettingsError(f"{key} is empty: put the credential into {secret.env or secret.file}")
    return value


def _given(header: str) -> bytes:
    """The header in the form of `_tokens`; b"" when it is neither of the two schemes."""
    scheme, _, rest = header.partition(" ")
    match scheme.lower():
        case "bearer":
            return b"bearer " + rest.strip().encode("utf-8", "replace")
        case "basic":
            try:
                return b"basic " + base64.b64decode(rest.strip(), validate=True)
            except (binascii.Error, ValueError):
                return b""
        case _:
            return b""
