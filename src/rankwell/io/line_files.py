"""Files that grow by lines of JSON: appended and flushed to the disk, read back without a torn last
line.
"""

import json
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar

from rankwell.documents import Pairs, parse_json
from rankwell.errors import BadInput, shown
from rankwell.store import Source

Record = TypeVar("Record")


def append_rows(path: Path, rows: Iterable[Any]) -> None:
    """Appends a line for each row and returns when they are on the disk; a torn last line goes
    first. Raises OSError.
    """
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    try:
        content = text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # half a character, of which the escape alone can be written
        content = text.encode("utf-8", "backslashreplace")
    is_new = not path.exists()
    with path.open("w+b" if is_new else "r+b") as file:
        end = file.seek(0, os.SEEK_END)
        file.seek(max(end - 1, 0))
        if end and file.read(1) != b"\n":
            file.seek(0)
            last = file.read().rpartition(b"\n")[2]
            if _is_whole(last):
                content = b"\n" + content
            else:
                file.truncate(file.seek(end - len(last)))
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    if is_new and hasattr(os, "O_DIRECTORY"):
        handle = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
        os.fsync(handle)
        os.close(handle)


def rows_in(
    path: Path, form: str = "an object per line", pairs: Pairs | None = None
) -> tuple[list[tuple[str, Any]], bool]:
    """The rows of a file with their places, none where it is missing or empty, and whether a last
    line was torn, and is left out. form, pairs: as in `parse_json`. Raises BadLine.

    An object without a line end is whole, as an editor leaves it: no part of an object is one.
    """
    content = Source(path).read() if path.is_file() and path.stat().st_size else b""
    *lines, last = content.split(b"\n")
    is_torn = bool(last.strip()) and not _is_whole(last)
    return [
        (f"{path}:{number}", parse_json(line, str(path), form, line=number, pairs=pairs))
        for number, line in enumerate(lines if is_torn else [*lines, last], 1)
        if line.strip()
    ], is_torn


def records_in(
    path: Path, kind: str, record_of: Callable[[Any], Record], advice: str
) -> list[Record]:
    """The records of a file. kind: such as `a lease`, for messages. Raises BadInput, with the
    advice, for a row of which `record_of` makes none.
    """
    records = list[Record]()
    for place, row in rows_in(path, f"{kind} per line")[0]:
        try:
            records.append(record_of(row))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise BadInput(f"{place}: {shown(row)} is not {kind}; {advice}.") from error
    return records


def _is_whole(line: bytes) -> bool:
    try:
        return isinstance(json.loads(line.decode("utf-8", "surrogateescape")), dict)
    except (ValueError, RecursionError):
        return False
