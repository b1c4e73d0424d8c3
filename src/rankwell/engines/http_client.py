"""A connection to one HTTP server, kept open, for one thread: a deadline for the whole answer, and
every fault by its kind.
"""

import base64
import json
import select
import time
import zlib
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection, IncompleteRead
from typing import Any
from urllib.parse import SplitResult, unquote, urlsplit

from rankwell.engines import EngineFailure
from rankwell.engines.answer_flags import ALWAYS, refuse_constant, refuse_flagged
from rankwell.errors import BadUsage

MOST_BYTES = 1 << 28
_CHUNK = 1 << 16
_TOO_LARGE = f"the answer has more than {MOST_BYTES >> 20} MiB."


class HttpFailure(EngineFailure):
    """An answer with a status that is not 200 to 299.

    retry_after: the header `Retry-After` as it was sent.
    """

    def __init__(self, status: int, reason: str, text: str, retry_after: str | None) -> None:
        super().__init__("status", f"HTTP {status} {reason}: {text}".rstrip(": "))
        self.status = status
        self.retry_after = retry_after


class HttpClient:
    """Sends requests to the server of a URL, without redirects and without a proxy.

    timeout: seconds to wait for each answer.
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
        self._connection = kind(parts.hostname, port, timeout=timeout)
        self._timeout, self._prefix = timeout, parts.path.rstrip("/")
        self._headers = {"Accept-Encoding": "identity"}
        if parts.username or parts.password:
            self._headers["Authorization"] = f"Basic {basic_credentials(parts)}"

    def json(
        self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None
    ) -> Any:
        """The JSON of an answer. body: sent as JSON; None sends none. Raises EngineFailure, also
        for an `error` in it.
        """
        all_headers, content = {"Accept": "application/json"}, None
        if body is not None:
            content = json.dumps(body, allow_nan=False).encode()
            all_headers["Content-Type"] = "application/json"
        raw = self.send(method, path, content, {**all_headers, **(headers or {})})
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
            sock = self._connection.sock
            # A server may close a connection that is idle; that is not a failure of the next query.
            if sock is not None and select.select([sock], [], [], 0)[0]:
                self._connection.close()
            all_headers = {**self._headers, **headers}
            self._connection.request(method, self._prefix + path, content, all_headers)
            response = self._connection.getresponse()
            answer = _read(response, deadline)
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

    def close(self) -> None:
        """Closes the connection; the next request opens another."""
        self._connection.close()


def basic_credentials(address: SplitResult) -> str:
    """User and password of an address, as the header of basic authorization has them."""
    pair = f"{unquote(address.username or '')}:{unquote(address.password or '')}"
    return base64.b64encode(pair.encode()).decode("ascii")


def _read(response: HTTPResponse, deadline: float) -> bytes:
    parts: list[bytes] = []
    size = 0
    while part := response.read1(_CHUNK):
        parts.append(part)
        size += len(part)
        if size > MOST_BYTES:
            raise EngineFailure("malformed", _TOO_LARGE)
        if time.monotonic() > deadline:
            raise TimeoutError
    if response.length:  # read1 does not notice that the rest is missing
        raise IncompleteRead(b"".join(parts), response.length)
    response.close()
    return b"".join(parts)


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
        raise EngineFailure("malformed", _TOO_LARGE)
    if not unpacking.eof:
        raise EngineFailure("disconnected", "the answer ends before its compression does.")
    return unpacked
