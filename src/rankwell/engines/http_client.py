"""A connection to one HTTP server, kept open, for one thread: a deadline for the whole answer, and
every fault by its kind. And the flags by which a server says that its answer is not whole:
conditions on parts of the answer, and the failure they make.
"""

import base64
import json
import operator
import re
import select
import time
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection, IncompleteRead
from typing import Any, NamedTuple, NoReturn
from urllib.parse import SplitResult, unquote, urlsplit

from rankwell.data.tables import is_number
from rankwell.engines import EngineFailure
from rankwell.errors import BadInput, BadUsage, shown

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
            self._connection.request(
                method, self._prefix + path, content, {**self._headers, **headers}
            )
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
    parts = list[bytes]()
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


ABSENT = object()
_LONGEST = 300
_PATH = r"[^\s.<>=!\"'{}]+(?:\.[^\s.<>=!\"'{}]+)*"
_CONDITION = re.compile(rf"\s*({_PATH})\s*(?:(<=|>=|==|!=|<|>)\s*(\S.*?)\s*)?")
_COMPARISONS: Mapping[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


class _Path(NamedTuple):
    path: str


class Flag(NamedTuple):
    """A condition on a part of an answer, which makes the answer a failure where it holds.

    path: the keys that lead to the part, joined by points (`status.failed`).
    compare: the name of a comparison; `says` to search the part for words that report a loss; None
        to test that the part is neither false, 0 nor empty.
    value: the other side of the comparison, a JSON value or the path of another part; None where
        nothing is compared.
    """

    path: str
    compare: str | None = None
    value: Any = None


class FailureRules(NamedTuple):
    """The rules that decide whether an answer is a failure.

    flags: the conditions; one that holds is enough.
    reasons: paths of the parts that give the reason, quoted in the message where they are not
        empty.
    """

    flags: Sequence[Flag]
    reasons: Sequence[str]


ALWAYS = FailureRules((Flag("error"), Flag("errors")), ("message",))
"""The rules for every answer, whatever a file says."""

# Deprecations and hints are warnings, too, so that the words decide.
_LOSS = re.compile(
    r"(?i)partial|degraded|incomplete|timed[ _-]?out|cut[ _-]?off|(?:terminated|ended)[ "
    r"_-]early|truncated|unavailable|failed"
)
_COMMON = (
    *map(
        Flag,
        (
            "timed_out",
            "timedOut",
            "terminated_early",
            "search_cutoff",
            "partial",
            "is_partial",
            "isPartial",
            "partial_results",
            "partialResults",
            "degraded",
            "remoteErrors",
            "status.errors",
        ),
    ),
    Flag("status.failed", ">", 0),
    *(Flag(path, "says") for path in ("status", "warning", "warnings")),
)
"""Flags that engines set at the top of an answer, or beside their hits."""


def known_rules(presets: FailureRules, hits: str) -> FailureRules:
    """The rules of a file that has none: flags that are common, and those of all presets, each at
    the top of the answer and in every part that holds the hits, as below `response` of an
    asynchronous search. hits: the path of their list.
    """
    keys = hits.split(".")[:-1]
    above = ["".join(f"{key}." for key in keys[:end]) for end in range(len(keys) + 1)]
    flags = dict.fromkeys((*presets.flags, *_COMMON))
    return FailureRules(
        [*dict.fromkeys(_below(prefix, flag) for prefix in above for flag in flags)],
        [*dict.fromkeys(prefix + path for prefix in above for path in presets.reasons)],
    )


def _below(prefix: str, flag: Flag) -> Flag:
    comparand = _Path(prefix + flag.value.path) if isinstance(flag.value, _Path) else flag.value
    return flag._replace(path=prefix + flag.path, value=comparand)


def read_rules(fail_if: Any, fail_reason: Any, name: str) -> FailureRules:
    """The rules of a file. Raises BadInput for anything but a list of texts that are paths or
    comparisons.
    """
    for key, texts in (("fail_if", fail_if), ("fail_reason", fail_reason)):
        if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):  # pyright: ignore[reportUnknownVariableType]
            raise BadInput(f"{name}: {key} is {shown(texts)}; expected a list of strings.")
    for path in fail_reason:
        if not re.fullmatch(_PATH, path):
            raise BadInput(
                f"{name}: fail_reason has {path!r}; expected a path such as error.message."
            )
    return FailureRules([_flag(text, name) for text in fail_if], fail_reason)


def _flag(text: str, name: str) -> Flag:
    match = _CONDITION.fullmatch(text)
    if match is None:
        raise BadInput(
            f"{name}: fail_if has {text!r}; expected a path such as timed_out, or a path, one of "
            f"{' '.join(_COMPARISONS)}, and a value, as in _shards.failed > 0."
        )
    path, compare, operand = match.groups()
    if compare is None:
        return Flag(path)
    try:
        value = json.loads(operand, parse_constant=refuse_constant)
    except ValueError:
        # A word without a point would be a text without its quotation marks, or True for true.
        if "." not in operand or not re.fullmatch(_PATH, operand):
            raise BadInput(
                f"{name}: fail_if has {text!r}; {operand} is not a number, true, false, null, "
                '"text" in quotation marks, or a path with a dot.'
            ) from None
        value = _Path(operand)
    if compare not in ("==", "!=") and not (isinstance(value, _Path) or is_number(value)):
        raise BadInput(
            f"{name}: fail_if has {text!r}; {compare} compares numbers; use == or != for "
            "other values."
        )
    return Flag(path, compare, value)


def refuse_constant(name: str) -> NoReturn:
    """Raises ValueError for NaN and infinity, which Python reads as JSON."""
    raise ValueError(f"{name} is not JSON")


def refuse_flagged(answer: Any, rules: FailureRules) -> None:
    """Raises EngineFailure with the flags that an answer has, their values, and the reasons that it
    gives.
    """
    flag_texts = [text for flag in rules.flags if (text := _said(answer, flag))]
    if flag_texts:
        reason_values = [(path, part_at(answer, path, None)) for path in rules.reasons]
        reasons = [f"{path}: {_text(value)}" for path, value in reason_values if value]
        raise EngineFailure(
            "error", f"the engine flags its answer: {'; '.join([*flag_texts, *reasons])}."
        )


def _said(answer: Any, flag: Flag) -> str:
    """The flag and its value in the answer; empty where it does not hold, as where it is absent."""
    value = _part(answer, flag.path)
    if value is ABSENT or (flag.compare is None and not value):
        return ""
    statement = f"{flag.path} is {_text(value)}"
    if flag.compare is None:
        return statement
    if flag.compare == "says":
        return statement if any(map(_LOSS.search, _texts(value))) else ""
    comparand = flag.value
    if isinstance(comparand, _Path):
        comparand = _part(answer, comparand.path)
        if comparand is ABSENT:
            return ""
        statement += f" and {flag.value.path} is {_text(comparand)}"
    if flag.compare in ("==", "!="):
        # In Python true equals 1.
        is_equal = value == comparand and (is_number(value) == is_number(comparand))
        return statement if is_equal == (flag.compare == "==") else ""
    if not (is_number(value) and is_number(comparand)):
        raise EngineFailure(
            "malformed", f"fail_if compares numbers with {flag.compare}, but {statement}."
        )
    return statement if _COMPARISONS[flag.compare](value, comparand) else ""


def _texts(value: Any) -> Iterator[str]:
    """The texts in a value, without keys."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, (list, Mapping)):
        for part in value.values() if isinstance(value, Mapping) else value:
            yield from _texts(part)


def _text(value: Any) -> str:
    """A value as JSON writes it, cut where it is long."""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def part_at(answer: Any, path: str, otherwise: Any = ABSENT) -> Any:
    """The value at a path of keys and positions, `hits.hits` or `ids.0`. Raises EngineFailure where
    nothing is there instead.
    """
    value = _part(answer, path)
    if value is not ABSENT:
        return value
    if otherwise is ABSENT:
        raise EngineFailure("malformed", f"the answer has no {path}: {shown(answer, 100)}")
    return otherwise


def _part(value: Any, path: str) -> Any:
    for key in path.split(".") if path else ():
        if isinstance(value, Mapping) and key in value:
            value = value[key]
        elif isinstance(value, list) and key.isdecimal() and int(key) < len(value):  # pyright: ignore[reportUnknownArgumentType]
            value = value[int(key)]
        else:
            return ABSENT
    return value
