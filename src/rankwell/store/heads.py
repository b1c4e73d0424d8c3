"""The first bytes of sources, which determine their formats."""

import re
from collections.abc import Callable
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Self

from rankwell.errors import BadInput
from rankwell.store.places import HEAD, Source

_FOREIGN = {
    b"PK\x03\x04": "a zip archive (or a spreadsheet); unpack it, or save it as CSV",
    b"BZh91AY&SY": "compressed with bzip2; unpack it first (bunzip2)",
    b"\xfd7zXZ": "compressed with xz; unpack it first (unxz)",
    b"\x04\x22\x4d\x18": "compressed with lz4; unpack it first (lz4 -d), or save it as JSON "
    "from ranx",
    b"7z\xbc\xaf": "a 7-Zip archive; unpack it first",
    b"SQLite format 3": "an SQLite database; export the table as CSV or Parquet",
    b"\x89HDF": "an HDF5 file; export the table as CSV or Parquet",
    b"ARROW1": "an Arrow (Feather) file; save it as Parquet",
    b"\xff\xfe": "UTF-16 text; save it as UTF-8",
    b"\xfe\xff": "UTF-16 text; save it as UTF-8",
    b"\x1f\x8b": "compressed with gzip; unpack it first (gunzip)",
    b"\x28\xb5\x2f\xfd": "compressed with zstd; unpack it first (unzstd)",
    **dict.fromkeys(
        (b"\x80\x02", b"\x80\x03", b"\x80\x04\x95", b"\x80\x05\x95"),
        "a Python pickle, which is never opened; save it as JSON, CSV or Parquet, arrays with "
        "numpy.save",
    ),
}
_LONGEST, _LONGEST_OBJECT = 1 << 26, 1 << 25
"""So much is looked at for the end of the first lines, and of the first object of JSON."""
_OBJECT = re.compile(r"\[?\s*(?=\{)")
_TOPICS = re.compile(r"<(top|topics?)\b")
"""The tags of TREC's topics, the only form of XML that is read."""


def first_bytes(read: Callable[[int], bytes], size: int = HEAD) -> tuple[bytes, bool]:
    """So many bytes, and whether they are all; more where a header of many columns, or the row
    behind it, is longer than that.
    """
    raw = read(size + 1)
    while HEAD <= size < len(raw) and size < _LONGEST and b"\0" not in raw and raw.count(b"\n") < 2:
        if raw.lstrip()[:1] in b"[{":
            break
        size *= 8
        raw = read(size + 1)
    return raw[:size], len(raw) <= size


def _counts(line: bytes) -> bool:
    return bool(line.strip()) and not line.startswith(b"#")


class Head:
    """The first bytes of a source, which determine its format; `is_whole`: whether they are all.

    path: gives that of the plain file. address: of an object that has not been fetched. source:
    from which more is read.
    """

    def __init__(
        self,
        name: str,
        raw: bytes,
        *,
        is_whole: bool,
        path: Callable[[], Path | None] = lambda: None,
        address: str = "",
        source: Source | None = None,
    ) -> None:
        self.name, self.raw, self.is_whole, self._path, self.address, self._source = (
            name,
            raw,
            is_whole,
            path,
            address,
            source,
        )

    @classmethod
    def of(cls, source: Source, size: int = HEAD) -> Self:
        """The head of a source. Raises BadInput where it is empty."""
        raw, is_whole = first_bytes(source.head, size)
        if not raw.strip():
            raise BadInput(f"{source.name} is empty; expected a file with content.")
        return cls(
            source.name,
            raw,
            is_whole=is_whole,
            path=lambda: source.path,
            address=source.address,
            source=source,
        )

    @cached_property
    def with_record(self) -> "Head":
        """The head as far as the end of the first object of JSON; itself where it has that, or
        where 32 MiB do not.
        """
        longer = self
        while not longer.is_whole and longer.ends_within_object():
            if self._source is None or len(longer.raw) >= _LONGEST_OBJECT:
                return self
            longer = Head.of(self._source, 8 * len(longer.raw))
        return longer

    def ends_within_object(self) -> bool:
        """Whether the text, or the list that it is, begins with an object of JSON that goes on
        behind its end.
        """
        import json

        start = _OBJECT.match(self.text)
        if start is None:
            return False
        try:
            json.JSONDecoder().raw_decode(self.text, start.end())
        except ValueError:
            return True
        except RecursionError:
            return False
        return False

    @cached_property
    def path(self) -> Path | None:
        """The plain file, for formats that the first bytes do not distinguish; an object is fetched
        for it.
        """
        return self._path()

    @property
    def table(self) -> Path | str | None:
        """The plain file of a table of columns, or the address of an object whose columns are read
        by ranges.
        """
        return self.address or self.path

    @cached_property
    def skipped(self) -> int:
        """Number of blank lines and of lines that begin with `#` before the first other one."""
        return next((number for number, line in enumerate(self._complete()) if _counts(line)), 0)

    def _complete(self) -> list[bytes]:
        parts = self.raw.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        return parts if self.is_whole or len(parts) == 1 else parts[:-1]

    @cached_property
    def lines(self) -> list[bytes]:
        """The lines that are there to their end, without line ends, blank lines and lines that
        begin with `#`.
        """
        return list(filter(_counts, self._complete()))

    @cached_property
    def fields(self) -> list[list[bytes]]:
        """The white-space-separated fields of the first lines, twenty at most."""
        return [line.split() for line in islice(filter(_counts, self._complete()), 20)]

    @cached_property
    def text(self) -> str:
        """The bytes as text without white space at the beginning."""
        return self.raw.decode("utf-8", "replace").lstrip()

    @property
    def excerpt(self) -> str:
        """The beginning, for messages: 60 characters, escaped."""
        return repr(self.text[:60])

    def refuse_foreign(self, *, binary: bool = False) -> None:
        """Raises BadInput naming content that is neither text nor Parquet, nor other bytes if
        `binary`; also for web pages.
        """
        for mark, file_kind in _FOREIGN.items():
            if self.raw.startswith(mark):
                raise BadInput(f"{self.name} is {file_kind}.")
        is_marked_up = self.text[:200].lower().startswith(("<!doctype", "<html", "<?xml"))
        if is_marked_up and not _TOPICS.search(self.text[:4096]):
            raise BadInput(
                f"{self.name}:1: {self.excerpt}: a web page or XML; did a download return an "
                "error or a login page?"
            )
        zero = self.raw.find(b"\0", 0, 4096)
        if zero >= 0 and not binary and not self.raw.startswith(b"PAR1"):
            line = self.raw.count(b"\n", 0, zero) + 1
            problem = f"a zero byte, so this is not a text file; it begins with {self.raw[:16]!r}"
            raise BadInput(f"{self.name}:{line}: {problem}; name a file in a known format.")
