"""A stand-in of a host: an SSH server that runs what it is asked to in a shell.

`python -m benchmarks.host FOLDER` makes `FOLDER/key` and `FOLDER/known_hosts`, and prints its
address; only that key may log in.
"""

import argparse
import asyncio
from pathlib import Path

import asyncssh


async def _run(process: "asyncssh.SSHServerProcess[bytes]") -> None:
    """Run one command, both streams passed on."""
    shell = await asyncio.create_subprocess_exec(
        "sh",
        "-c",
        process.command or "true",
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    await process.redirect(stdin=shell.stdin, stdout=shell.stdout, stderr=shell.stderr)
    status = await shell.wait()
    await process.stdout.drain()
    process.exit(status)


async def _serve(folder: Path) -> None:
    own, client = (asyncssh.generate_private_key("ssh-ed25519") for _ in range(2))
    client.write_private_key(folder / "key")
    allowed = asyncssh.import_authorized_keys(client.export_public_key().decode())
    server = await asyncssh.listen(
        "127.0.0.1",
        0,
        server_host_keys=[own],
        authorized_client_keys=allowed,
        process_factory=_run,
        encoding=None,
    )
    port = server.get_port()
    line = f"[127.0.0.1]:{port} {own.export_public_key().decode()}"
    (folder / "known_hosts").write_text(line, encoding="ascii")
    print(f"http://127.0.0.1:{port}", flush=True)
    await server.wait_closed()


def main() -> None:
    """Serve until told to end."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    asyncio.run(_serve(parser.parse_args().folder))


if __name__ == "__main__":
    main()
