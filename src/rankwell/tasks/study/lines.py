"""Files of a study that grow by lines of JSON: appended and flushed to the disk, read back without
a torn last line.
"""

import json
import os
from pathlib import Path

from rankwell.store import Source


def append_to(path: Path, text: bytes) -> None:
    """Appends whole lines and returns when they are on the disk; a torn last line goes first.
    Raises OSError.
    """
    is_new = not path.exists()
    with path.open("w+b" if is_new else "r+b") as file:
        end = file.seek(0, os.SEEK_END)
        file.seek(max(end - 1, 0))
        if end and file.read(1) != b"\n":
            file.seek(0)
            last = file.read().rpartition(b"\n")[2]
            if _is_whole(last):
                text = b"\n" + text
            else:
                file.truncate(end - len(last))
            file.seek(0, os.SEEK_END)
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    if is_new and hasattr(os, "O_DIRECTORY"):
        handle = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
        os.fsync(handle)
        os.close(handle)


def lines_in(path: Path) -> tuple[list[bytes], bool]:
    """The lines of a file, none where it is missing or empty, and whether a last one was torn, and
    is left out.

    An object without a line end is whole, as an editor leaves it: no part of an object is one.
    """
    content = Source(path).read() if path.is_file() and path.stat().st_size else b""
    *lines, last = content.split(b"\n")
    if _is_whole(last):
        return [*lines, last], False
    return lines, bool(last.strip())


def _is_whole(line: bytes) -> bool:
    try:
        return isinstance(json.loads(line.decode("utf-8", "surrogateescape")), dict)
    except (ValueError, RecursionError):
        return False
