"""Calls of vl-convert, which draws charts by a JavaScript engine: one that gets no address space
ends its whole process.

Where the address space of this process is limited, another process makes the calls, and its end is
an error.
"""

import json
import subprocess
import sys
import warnings
from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from rankwell.errors import RankwellError, RankwellWarning
from rankwell.processes import exit_text, python_command, python_variables

_SECONDS = 600
_FAILURES: dict[int, str] = {}
"""The failure under each limit, after which no other call is tried."""


class DrawingCall(NamedTuple):
    """A call of vl-convert in another process. All of it is JSON.

    function: name of the function of vl-convert.
    arguments: positional arguments.
    options: keyword arguments.
    """

    function: str
    arguments: Sequence[Any] = ()
    options: Mapping[str, Any] = {}


class NotDrawn(RankwellError):
    """Charts cannot be drawn in this process, nor in another one under its limits."""


def call_all(calls: Sequence[DrawingCall]) -> list[str | bytes]:
    """The results of calls of vl-convert, in order. Raises NotDrawn where they need more memory
    than this process may have.
    """
    limit = _limit()
    if limit is None:
        return _called(calls)
    if limit in _FAILURES:
        raise NotDrawn(_FAILURES[limit])
    try:
        process = subprocess.run(  # noqa: S603 - this Python, and this module
            python_command(__name__),
            input=json.dumps(calls).encode(),
            capture_output=True,
            env=python_variables(),
            timeout=_SECONDS,
            check=False,
        )
        reason = exit_text(process.returncode) if process.returncode else ""
    except (
        OSError,
        subprocess.SubprocessError,
        RuntimeError,
        MemoryError,
    ) as error:  # no thread for its pipes is a RuntimeError
        process, reason = None, f"{type(error).__name__}: {error}"
    if process is None or reason:
        problem = (
            f"`ulimit -v` leaves this process {limit / 1e9:.3g} GB of address space, and "
            "vl-convert, which draws them, ends"
        )
        _FAILURES[limit] = (
            f"no charts are drawn: {problem} ({reason}); raise that limit, and run it again."
        )
        raise NotDrawn(_FAILURES[limit])
    return [
        b64decode(result[0]) if isinstance(result, list) else result
        for result in json.loads(process.stdout)
    ]


def warn(error: NotDrawn) -> None:
    """Warns that charts are left out."""
    # Of one place, so that Python shows it once.
    warnings.warn(str(error), RankwellWarning, stacklevel=1)


def _limit() -> int | None:
    """Bytes of address space that this process may have; None for any number."""
    try:
        import resource
    except ImportError:  # not on Windows
        return None
    limits = [resource.getrlimit(name)[0] for name in (resource.RLIMIT_AS, resource.RLIMIT_DATA)]
    return min((limit for limit in limits if limit != resource.RLIM_INFINITY), default=None)


def _called(calls: Sequence[DrawingCall]) -> list[str | bytes]:
    import vl_convert

    return [getattr(vl_convert, call.function)(*call.arguments, **call.options) for call in calls]


def main() -> None:
    """Makes the calls on standard input; results are JSON on standard output, bytes as a list of
    their Base64.
    """
    import resource

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # an end that is foreseen leaves no dump
    results = _called([DrawingCall(*call) for call in json.load(sys.stdin)])
    json.dump(
        [
            [b64encode(result).decode()] if isinstance(result, bytes) else result
            for result in results
        ],
        sys.stdout,
    )


if __name__ == "__main__":
    main()
