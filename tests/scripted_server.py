"""An HTTP server on loopback that does what a test tells it to: delays, errors, half answers,
nonsense, death on demand.
"""

import json
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple


class Reply(NamedTuple):
    """What is sent. delay: seconds before; sent: bytes of the body that leave; dies: whether the
    server ends unanswered.
    """

    body: Any = ""
    status: int = 200
    delay: float = 0.0
    sent: int | None = None
    dies: bool = False
    headers: dict[str, str] = {}  # noqa: RUF012


class Received(NamedTuple):
    """A request. started, ended: of its answer, by the monotonic clock."""

    method: str
    path: str
    headers: dict[str, str]
    body: Any
    started: float


@dataclass
class ScriptedServer:
    """Answers each request with `answer(number, request)`; used in a `with` statement. received:
    the requests so far.
    """

    answer: Callable[[int, Received], Reply]
    port: int = 0
    received: list[Received] = field(default_factory=list)
    ended: list[float] = field(default_factory=list)

    def __enter__(self) -> "ScriptedServer":
        script, self._sockets = self, list[socket.socket]()

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def setup(self) -> None:
                super().setup()
                script._sockets.append(self.connection)

            def answer(self) -> None:
                raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                request = Received(
                    self.command,
                    self.path,
                    dict(self.headers),
                    json.loads(raw) if raw else None,
                    time.monotonic(),
                )
                script.received.append(request)
                reply = script.answer(len(script.received) - 1, request)
                if reply.delay:
                    time.sleep(reply.delay)
                if reply.dies:
                    self.close_connection = True
                    script.die()
                    return
                body = (
                    reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()
                )
                self.send_response(reply.status)
                for name, value in {
                    "Content-Type": "application/json",
                    "Content-Length": str(len(body)),
                    **reply.headers,
                }.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body if reply.sent is None else body[: reply.sent])
                self.close_connection = reply.sent is not None
                script.ended.append(time.monotonic())

            do_GET = do_POST = do_PUT = do_DELETE = answer  # noqa: N815 - http.server's names

            def log_message(self, format: str, *args: Any) -> None: ...

        class Server(ThreadingHTTPServer):
            def handle_error(self, request: Any, client_address: Any) -> None: ...  # clients may go

        self._server = Server(("127.0.0.1", self.port), Handler)
        self._server.daemon_threads = True
        self.port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()
        return self

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def die(self) -> None:
        """Closes everything at once, as a killed process does; its port refuses connections
        afterwards.
        """
        threading.Thread(target=self._server.shutdown, daemon=True).start()
        with suppress(OSError):
            self._server.socket.shutdown(socket.SHUT_RDWR)
        self._server.socket.close()
        for each in self._sockets:
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)

    def __exit__(self, *_: object) -> None:
        self.die()
