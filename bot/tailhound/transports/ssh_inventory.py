"""Which hosts there are and how they are reached. Names from outside are checked before use."""

import re
from dataclasses import dataclass

from tailhound.errors import SettingsError
from tailhound.model import Missing, Reason
from tailhound.settings import Host, Ssh
from tailhound.transports.names import is_ip
from tailhound.transports.ssh_known_hosts import host_names

_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9_.-]{0,251}[A-Za-z0-9])?", re.ASCII)
_USER = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,63}", re.ASCII)
_JUMPS_AT_MOST = 3


@dataclass(frozen=True, slots=True)
class Place:
    """Where a host is: its name for people, and the way to it. `jump` is the place before it."""

    name: str
    address: str
    port: int
    user: str
    jump: "Place | None" = None

    @property
    def known_as(self) -> tuple[str, ...]:
        """The names under which known_hosts may hold its key."""
        return host_names((self.address, self.name), self.port)

    @property
    def shown(self) -> str:
        """For messages: the name, and the address where it differs."""
        where = f"{self.address}:{self.port}"
        return f"{self.name} ({where})" if self.address != self.name else where


class Inventory:
    """The hosts of the settings; SettingsError when one of them can't be reached as written."""

    def __init__(self, settings: Ssh) -> None:
        self._settings = settings
        self._user(Host(), "ssh")
        self._places = {name: self._read(name, ()) for name in settings.hosts}

    def place(self, name: str) -> Place | Missing:
        """Where the host of this name is; Missing when it may not, or must not, be asked."""
        if name in self._places:
            return self._places[name]
        if not _NAME.fullmatch(name) or ".." in name:
            return Missing(Reason.SKIPPED, f"not asked: {name[:60]!r} is no host name")
        if not self._settings.any_host:
            return Missing(
                Reason.SKIPPED,
                f"not asked: {name} is not among ssh.hosts; add it there, or set ssh.any_host",
            )
        return Place(name, name, 22, self._settings.user)

    def _read(self, name: str, before: tuple[str, ...]) -> Place:
        where = f"ssh.hosts.{name}"
        if name not in self._settings.hosts:
            raise SettingsError(f"ssh.hosts.{before[-1]}.jump: there is no host {name!r}")
        if name in before or len(before) > _JUMPS_AT_MOST:
            raise SettingsError(f"{where}.jump: the jumps {' -> '.join((*before, name))} never end")
        host = self._settings.hosts[name]
        address = host.address or name
        if not (_NAME.fullmatch(name) and _is_address(address)):
            raise SettingsError(f"{where}: {address!r} is neither a host name nor an IP address")
        jump = self._read(host.jump, (*before, name)) if host.jump else None
        return Place(name, address, host.port, self._user(host, where), jump)

    def _user(self, host: Host, where: str) -> str:
        user = host.user or self._settings.user
        if not _USER.fullmatch(user):
            raise SettingsError(f"{where}.user: {user!r} is no user name")
        return user


def _is_address(address: str) -> bool:
    return is_ip(address) or bool(_NAME.fullmatch(address) and ".." not in address)
