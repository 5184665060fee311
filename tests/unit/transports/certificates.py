"""A CA, a server certificate for 127.0.0.1, and another CA, made with openssl."""

import socket
import ssl
import subprocess
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Certificates:
    """The files as settings want them."""

    folder: Path

    @property
    def ca_file(self) -> str:
        """The certificate that the server shows; it is its own CA."""
        return str(self.folder / "server.pem")

    @property
    def other_ca_file(self) -> str:
        """A CA that did not sign it."""
        return str(self.folder / "other.pem")

    def wrap(self, server: socket.socket) -> socket.socket:
        """The listening socket, speaking TLS with the server certificate."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.folder / "server.pem", self.folder / "server.key")
        return context.wrap_socket(server, server_side=True, do_handshake_on_connect=False)


def made_in(folder: Path) -> Certificates:
    """Make them (0.1 s)."""
    for name in ("server", "other"):
        subprocess.run(
            [
                *("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt"),
                *("ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"),
                *("-keyout", f"{name}.key", "-out", f"{name}.pem", "-subj", f"/CN={name}"),
                *("-addext", "subjectAltName=IP:127.0.0.1"),
            ],
            cwd=folder,
            check=True,
            capture_output=True,
        )
    return Certificates(folder)
