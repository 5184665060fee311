"""The settings of a cluster as the kubernetes package wants them."""

from pathlib import Path

import yaml
from kubernetes import config
from kubernetes.client.configuration import Configuration

from tailhound.errors import SettingsError
from tailhound.settings import Kubernetes
from tailhound.transports.http import said

_UNUSABLE = (
    *(config.ConfigException, yaml.YAMLError, OSError),
    *(ValueError, TypeError, KeyError, AttributeError),  # what a malformed kubeconfig ends in
)


def configuration(settings: Kubernetes) -> Configuration:
    """Where the API server is and how it is trusted; SettingsError with the key to mend.

    May run the credential program of a kubeconfig. The token of the settings is not put in here:
    it is read for each request (see `authorization`).
    """
    found = Configuration()
    found.retries = False
    found.connection_pool_maxsize = settings.concurrency
    try:
        if settings.in_cluster:
            config.load_incluster_config(  # type: ignore[no-untyped-call]
                client_configuration=found
            )
        elif settings.kubeconfig:
            config.load_kube_config(  # type: ignore[no-untyped-call]
                config_file=settings.kubeconfig,
                context=settings.context or None,
                client_configuration=found,
                persist_config=False,
            )
        else:
            found.host = settings.server
    except _UNUSABLE as error:
        key = "kubernetes.in_cluster" if settings.in_cluster else "kubernetes.kubeconfig"
        raise SettingsError(f"{key} can't be used: {said(error)}") from error
    if settings.ca_file:
        if not Path(settings.ca_file).is_file():
            raise SettingsError(f"kubernetes.ca_file: there is no file {settings.ca_file}")
        found.ssl_ca_cert = settings.ca_file
    return found


def authorization(settings: Kubernetes, found: Configuration) -> dict[str, str]:
    """The header that says who we are, read anew (a token in a file is rotated); {} without one."""
    if settings.token is not None:
        return {"Authorization": f"Bearer {settings.token.token()}"}
    value = found.auth_settings().get("BearerToken", {}).get("value")
    return {"Authorization": str(value)} if value else {}
