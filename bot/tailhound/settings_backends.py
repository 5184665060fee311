"""The settings of the backends that are asked: Prometheus, Alertmanager, Kubernetes, SSH."""

from collections.abc import Mapping
from typing import Annotated

from pydantic import Field

from tailhound.settings_forms import Address
from tailhound.settings_headers import Headers
from tailhound.settings_secrets import Secret, Section

MOST_BYTES = 1024 * 1024 * 1024


class Basic(Section):
    """Basic authentication."""

    username: str
    password: Secret


class HttpApi(Section):
    """An HTTP API: where it is, who asks, and whom to trust. `url` empty = not configured."""

    url: Address = ""
    bearer: Secret | None = None
    basic: Basic | None = None
    headers: Headers = Field(default={})
    ca_file: str = ""


class Prometheus(HttpApi):
    """One Prometheus (or compatible) server. `url` empty = not configured.

    `concurrency` is the number of queries at once: 20 incidents a second of 20 queries that take
    50 ms keep 20 busy, and Prometheus itself evaluates 20 at once and lets others wait their turn
    (--query.max-concurrency).
    """

    timeout_seconds: Annotated[float, Field(gt=0, le=120)] = 10.0
    concurrency: Annotated[int, Field(ge=1, le=100)] = 32
    max_bytes: Annotated[int, Field(ge=1024, le=MOST_BYTES)] = 8 * 1024 * 1024


class Alertmanager(HttpApi):
    """Alertmanager's API, for silences. `url` empty = not configured: then none are offered."""

    timeout_seconds: Annotated[float, Field(gt=0, le=120)] = 5.0
    concurrency: Annotated[int, Field(ge=1, le=20)] = 4
    max_bytes: Annotated[int, Field(ge=1024, le=MOST_BYTES)] = 8 * 1024 * 1024


class Kubernetes(Section):
    """The API server: by address and token, by kubeconfig, or from inside the cluster."""

    server: Address = ""
    token: Secret | None = None
    ca_file: str = ""
    kubeconfig: str = ""
    context: str = ""
    in_cluster: bool = False
    timeout_seconds: Annotated[float, Field(gt=0, le=120)] = 5.0
    concurrency: Annotated[int, Field(ge=1, le=100)] = 6
    max_bytes: Annotated[int, Field(ge=1024, le=MOST_BYTES)] = 16 * 1024 * 1024

    @property
    def configured(self) -> bool:
        """Whether there is a cluster to ask."""
        return bool(self.server or self.kubeconfig or self.in_cluster)


class Host(Section):
    """One host that can be reached by SSH. `address` empty = its name."""

    address: str = ""
    port: Annotated[int, Field(ge=1, le=65535)] = 22
    user: str = ""
    jump: str = ""


class Ssh(Section):
    """SSH to the hosts. `key` None = not configured.

    `allow` is the site's allow-list: each entry an argv with typed holes (docs/operators/ssh.md);
    None = the shipped list. `any_host` lets node names outside `hosts` be asked under their name.
    """

    user: str = "tailhound"
    key: Secret | None = None
    known_hosts: str = ""
    hosts: Mapping[str, Host] = {}
    any_host: bool = False
    wrapper: bool = False
    sudo: bool = True
    allow: tuple[tuple[str, ...], ...] | None = None
    timeout_seconds: Annotated[float, Field(gt=0, le=120)] = 8.0
    gap_seconds: Annotated[float, Field(gt=0, le=60)] = 10.0
    concurrency: Annotated[int, Field(ge=1, le=200)] = 16
    max_bytes: Annotated[int, Field(ge=1024, le=MOST_BYTES)] = 2 * 1024 * 1024
