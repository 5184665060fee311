"""A proxy in front of a Prometheus that holds some questions up, and passes all on.

`python -m benchmarks.delaying URL --when TEXT --delay 2` prints its address: what holds TEXT in its
query is answered so many seconds later.
"""

import argparse
import http.client
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar
from urllib.parse import unquote_plus, urlsplit


class _Handler(BaseHTTPRequestHandler):
    """One connection. The settings of the proxy are the class's."""

    protocol_version = "HTTP/1.1"
    behind: ClassVar[str] = ""
    when: ClassVar[str] = ""
    delay: ClassVar[float] = 0.0

    def do_GET(self) -> None:
        """Pass it on."""
        self._pass(b"")

    def do_POST(self) -> None:
        """Pass it on with its body."""
        self._pass(self.rfile.read(int(self.headers.get("Content-Length", 0))))

    def log_message(self, *_: object) -> None:
        """Nothing is logged."""

    def _pass(self, body: bytes) -> None:
        if self.when in unquote_plus(self.path + body.decode()):
            time.sleep(self.delay)
        connection = http.client.HTTPConnection(self.behind, timeout=30)
        headers = {"Content-Type": self.headers.get("Content-Type", "text/plain")}
        connection.request(self.command, self.path, body or None, headers)
        answer = connection.getresponse()
        content = answer.read()
        connection.close()
        self.send_response(answer.status)
        self.send_header("Content-Type", answer.headers.get("Content-Type", "text/plain"))
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


def main() -> None:
    """Serve until told to end."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("behind", metavar="URL")
    parser.add_argument("--when", required=True, metavar="TEXT")
    parser.add_argument("--delay", type=float, required=True)
    options = parser.parse_args()
    _Handler.behind = urlsplit(options.behind).netloc
    _Handler.when, _Handler.delay = options.when, options.delay
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.daemon_threads = True
    print(f"http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
