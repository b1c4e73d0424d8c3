"""A connection to one HTTP server, kept open, for one thread: a deadline for the whole answer, and
every fault by its kind.
"""

import json
import select
import time
import zlib
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection, IncompleteRead
from typing import Any
from urllib.parse import urlsplit

from rankwell.engines import EngineFailure
from rankwell.engines.answer_flags import ALWAYS, refuse_constant, refuse_flagged
from rankwell.errors import BadUsage

MOST_BYTES = 1 << 28
_CHUNK = 1 << 16


class HttpFailure(EngineFailure):
    """An answer with a status that is not 200 to 299. retry_after: the header as it was sent."""

    def __init__(self, status: int, reason: str, text: str, retry_after: str | None) -> None:
        super().__init__("status", f"HTTP {status} {reason}: {text}".rstrip(": "))
        self.status = status
        self.retry_after = retry_after


class HttpClient:
    """Sends requests to the server of a URL; it follows no redirect and uses no proxy. timeout:
    seconds for each answer.
    """

    def __init__(self, url: str, timeout: float) -> None:
        try:
            parts = urlsplit(url)
            port = parts.port
        except ValueError:
            parts, port = urlsplit(""), None
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise BadUsage("url: expected http://HOST:PORT or https://HOST:PORT.")
        kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
        self._connection, self._timeout, self._prefix = (
            kind(parts.hostname, port, timeout=timeout),
            timeout,
            parts.path.rstrip("/"),
        )
        self._authorization: dict[str, str] = {}
        if parts.username or parts.password:
            import base64
            from urllib.parse import unquote

            pair = f"{unquote(parts.username or '')}:{unquote(parts.password or '')}"
            self._authorization = {
                "Authorization": "Basic " + base64.b64encode(pair.encode()).decode("ascii")
            }

    def json(
        self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None
    ) -> Any:
        """The JSON of an answer. body: sent as JSON; None sends none. Raises EngineFailure, also
        for an `error` in it.
        """
        content = None if body is None else json.dumps(body, allow_nan=False).encode()
        more = {"Content-Type": "application/json"} if content is not None else {}
        raw = self.send(
            method, path, content, {"Accept": "application/json", **more, **(headers or {})}
        )
        try:
            answer = json.loads(raw, parse_constant=refuse_constant)
        except (ValueError, RecursionError) as error:
            raise EngineFailure(
                "malformed", f"the answer is not JSON ({type(error).__name__}: {str(error)[:100]})."
            ) from error
        refuse_flagged(answer, ALWAYS)
        return answer

    def send(self, method: str, path: str, content: bytes | None, headers: dict[str, str]) -> bytes:
        """The body of an answer. Raises EngineFailure for 206 (partial), any status but 200 to 299,
        and an answer late or cut.
        """
        deadline = time.monotonic() + self._timeout
        try:
            self._reopen_if_closed()
            all_headers = {"Accept-Encoding": "identity", **self._authorization, **headers}
            self._connection.request(method, self._prefix + path, content, all_headers)
            response = self._connection.getresponse()
            answer = self._read(response, deadline)
        except BaseException as error:
            # What is left of an answer must not be taken for the next one.
            self.close()
            if isinstance(error, IncompleteRead):
                raise EngineFailure("disconnected", "the answer ends before its length.") from error
            if isinstance(error, HTTPException) and not isinstance(error, ConnectionError):
                raise EngineFailure(
                    "malformed", f"the answer is not HTTP ({type(error).__name__}: {error})."
                ) from error
            if isinstance(error, TimeoutError):
                raise EngineFailure("timeout", f"no answer within {self._timeout:g} s.") from error
            raise
        encoding = response.getheader("Content-Encoding", "")
        if 200 <= response.status < 300 and response.status != HTTPStatus.PARTIAL_CONTENT:
            return _decoded(answer, encoding)
        try:
            text = " ".join(_decoded(answer, encoding)[:300].decode("utf-8", "replace").split())
        except EngineFailure as error:
            text = error.message
        raise HttpFailure(response.status, response.reason, text, response.getheader("Retry-After"))

    def _read(self, response: HTTPResponse, deadline: float) -> bytes:
        parts: list[bytes] = []
        size = 0
        while part := response.read1(_CHUNK):
            parts.append(part)
            size += len(part)
            if size > MOST_BYTES:
                raise EngineFailure(
                    "malformed", f"the answer has more than {MOST_BYTES >> 20} MiB."
                )
            if time.monotonic() > deadline:
                raise TimeoutError
        if response.length:  # read1 does not notice that the rest is missing
            raise IncompleteRead(b"".join(parts), response.length)
        response.close()
        return b"".join(parts)

    def _reopen_if_closed(self) -> None:
        """A server may close a connection that is idle; that is not a failure of the next query."""
        sock = self._connection.sock
        if sock is not None and select.select([sock], [], [], 0)[0]:
            self._connection.close()

    def close(self) -> None:
        """Closes the connection; the next request opens another."""
        self._connection.close()


def _decoded(answer: bytes, encoding: str) -> bytes:
    """An answer that a server compressed against the request, without its compression. Raises
    EngineFailure.
    """
    encoding = "gzip" if answer[:2] == b"\x1f\x8b" else encoding.strip().lower()
    if encoding in ("", "identity") or not answer:
        return answer
    if encoding not in ("gzip", "deflate"):
        raise EngineFailure(
            "malformed",
            f"the answer is compressed ({encoding}), although the request excludes that.",
        )
    # Some servers send deflate without the header of zlib, which a low half of 8 in the first byte
    # begins.
    bits = zlib.MAX_WBITS | 32 if encoding == "gzip" or answer[0] & 15 == 8 else -zlib.MAX_WBITS
    try:
        unpacking = zlib.decompressobj(bits)
        unpacked = unpacking.decompress(answer, MOST_BYTES)
    except zlib.error as error:
        raise EngineFailure(
            "malformed", f"the answer is said to be {encoding}, and is not ({error})."
        ) from error
    if unpacking.unconsumed_tail:
        raise EngineFailure("malformed", f"the answer has more than {MOST_BYTES >> 20} MiB.")
    if not unpacking.eof:
        raise EngineFailure("disconnected", "the answer ends before its compression does.")
    return unpacked
