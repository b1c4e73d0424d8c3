"""An object store on loopback for tests: moto's S3 behind a layer that counts what is read and can
misbehave.
"""

import re
import threading
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import pytest

BUCKET = "bucket"
SECRET = "very-secret-key-0123456789"
DENIED = {
    "expired": ("400 Bad Request", "ExpiredToken"),
    "denied": ("403 Forbidden", "AccessDenied"),
}
"""The answers to every request with such credentials, as S3 gives them."""


class SignedPut(NamedTuple):
    """A request to put an object.

    key_id: of the credentials that signed it. is_done: false where it was refused.
    """

    name: str
    key_id: str
    is_done: bool


class Bucket:
    """A bucket of a running server. mode: how it misbehaves from now on; times: to how many reads,
    all by default, or to how many requests where it denies them. reads, puts, signed_puts: what
    was asked so far. on_put: is called with the name of each object.
    """

    def __init__(self, url: str) -> None:
        self.url, self.mode, self.times = url, "", 1 << 30
        self.reads = list[tuple[str, str | None, int]]()
        self.puts = list[str]()
        self.signed_puts = list[SignedPut]()
        self._putting = threading.Lock()
        self.on_put: Callable[[str], object] = lambda _: None

    def put(self, key: str, content: bytes) -> str:
        import obstore
        from obstore.store import S3Store

        # moto lets only signed requests replace an object.
        obstore.put(S3Store(BUCKET, client_options={"allow_http": True}), key, content)
        return f"s3://{BUCKET}/{key}"

    def ask(self, method: str, path: str) -> None:
        import urllib.request

        request = urllib.request.Request(
            f"{self.url}/{path}", b"", {"Content-Type": "application/octet-stream"}, method=method
        )
        urllib.request.urlopen(request, timeout=10).close()

    def bytes_read(self, key: str) -> int:
        return sum(size for name, _, size in self.reads if name == f"/{BUCKET}/{key}")

    def layer(self, application: Any) -> Any:
        def _answer(environ: Any, start: Any) -> Iterator[bytes]:
            is_read = environ["REQUEST_METHOD"] == "GET" and environ["PATH_INFO"].count("/") > 1
            is_object = environ["PATH_INFO"].startswith(f"/{BUCKET}")
            mode = (
                self.mode
                if (is_object if self.mode in DENIED else is_read) and self.times > 0
                else ""
            )
            self.times -= bool(mode)
            asked = environ.get("HTTP_RANGE")
            if mode == "delay":
                time.sleep(1.5)
            if mode == "drop":
                environ["werkzeug.socket"].close()
                return
            if mode == "whole":
                environ.pop("HTTP_RANGE", None)
            if mode in DENIED:
                status, code = DENIED[mode]
                start(status, [("Content-Type", "application/xml")])
                yield f"<Error><Code>{code}</Code><AWSAccessKeyId>{SECRET}</AWSAccessKeyId></Error>".encode()  # noqa: E501
                return
            if mode == "busy":
                start("503 Slow Down", [])
                yield b"<Error><Code>SlowDown</Code></Error>"
                return
            if environ["REQUEST_METHOD"] == "PUT":
                key = environ["PATH_INFO"].removeprefix(f"/{BUCKET}/")
                body = self._put(key, application, environ, start)
                self.puts.append(key)
                self.on_put(key)
            else:
                body = b"".join(application(environ, start))
            if is_read:
                self.reads.append((environ["PATH_INFO"], asked, len(body)))
            yield body[: len(body) // 2] if mode == "truncate" else body

        return _answer

    def _put(self, key: str, application: Any, environ: Any, start: Any) -> bytes:
        """The answer to a request to put an object. One at a time: otherwise moto might put two on
        the condition that there is none.
        """
        statuses = list[str]()

        def _start(status: str, *more: Any) -> Any:
            statuses.append(status)
            return start(status, *more)

        with self._putting:
            body = b"".join(application(environ, _start))
            credential = re.search("Credential=([^/]+)", environ.get("HTTP_AUTHORIZATION", ""))
            key_id = credential[1] if credential else ""
            self.signed_puts.append(SignedPut(key, key_id, statuses[-1].startswith("2")))
        return body


@contextmanager
def bucket(monkeypatch: pytest.MonkeyPatch) -> Generator[Bucket]:
    """An empty bucket, and an environment that leads to it. Skips the test without the packages."""
    pytest.importorskip("obstore")
    server = pytest.importorskip("moto.server")
    serving = pytest.importorskip("werkzeug.serving")
    import logging

    from rankwell.store import remote

    logging.getLogger("werkzeug").setLevel(logging.CRITICAL)
    found = Bucket("")
    application = server.DomainDispatcherApplication(server.create_backend_app)
    made = serving.make_server("127.0.0.1", 0, found.layer(application), threaded=True)
    thread = threading.Thread(target=made.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    found.url = f"http://127.0.0.1:{made.server_port}"
    for name, value in {
        "AWS_ENDPOINT_URL": found.url,
        "AWS_ACCESS_KEY_ID": "id-of-the-test",
        "AWS_SECRET_ACCESS_KEY": SECRET,
        "AWS_REGION": "us-east-1",
        "AWS_VIRTUAL_HOSTED_STYLE_REQUEST": "false",
    }.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(remote, "_FIRST_PAUSE", 0.01)
    remote.forget()
    found.ask("POST", "moto-api/reset")
    found.ask("PUT", BUCKET)
    try:
        yield found
    finally:
        made.shutdown()
        thread.join()
        made.server_close()
        remote.forget()
