"""The kinds of tables: how each is told apart, what its columns are called, how DuckDB writes it."""

import csv
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rankwell.core.tables.names import Holds, known_columns, likelihood
from rankwell.io.column_tables.session import glimpse
from rankwell.store import Head

_WHOLE = re.compile(r"[+-]?\d+(\.0*)?")


@dataclass(frozen=True)
class Dialect:
    """One kind of table. delimiters: what may stand between the fields of a text table. copy: how DuckDB writes it."""

    name: str
    suffixes: tuple[str, ...]
    copy: str
    delimiters: str = ""

    def names(self, head: Head) -> list[str]:
        """The names of the columns as far as the head shows them; none where the content is of another kind."""
        if self.name == "parquet":
            return list(glimpse(head.path).types) if head.path and head.raw.startswith(b"PAR1") else []
        if self.name == "jsonl":
            return list(dict.fromkeys(key for record in records(head) for key in record))
        return _split(head, self.delimiter(head))[0] if head.lines else []

    def delimiter(self, head: Head) -> str:
        """What stands between the fields: that which makes most known names of the first line."""
        return max(self.delimiters, key=lambda each: known_columns(_split(head, each)[0])) if head.lines else ""

    def sniff(self, head: Head, holds: Holds) -> float:
        """How surely a file is a table of this kind that holds what is wanted."""
        if self.name == "parquet" and head.raw.startswith(b"PAR1") and head.path is None:
            return 0.5 if holds != "preferences" else 0.0
        names = self.names(head)
        return likelihood(names, holds, whole=self._whole(head, names)) if len(names) > 1 else 0.0

    def _whole(self, head: Head, names: Sequence[str]) -> bool:
        """Whether the first values of the column `score` are whole numbers."""
        score = next((name for name in names if name.lower() == "score"), None)
        if score is None:
            return False
        if self.name == "parquet":
            return head.path is not None and all(_WHOLE.fullmatch(str(value)) for value in glimpse(head.path).scores)
        if self.name == "jsonl":
            return all(_WHOLE.fullmatch(str(record.get(score))) for record in records(head))
        rows = _split(head, self.delimiter(head))[1:]
        return all(_WHOLE.fullmatch(row[names.index(score)]) for row in rows if len(row) == len(names))


CSV = Dialect("csv", (".csv",), "FORMAT csv, HEADER, DELIMITER ','", ",;|")
TSV = Dialect("tsv", (".tsv",), "FORMAT csv, HEADER, DELIMITER '\t'", "\t")
PARQUET = Dialect("parquet", (".parquet", ".parq"), "FORMAT parquet, COMPRESSION zstd")
JSONL = Dialect("jsonl", (".jsonl", ".ndjson"), "FORMAT json")


def _split(head: Head, delimiter: str) -> list[list[str]]:
    """The fields of the first lines. A header that begins with `#` is no header here: such lines are comments."""
    lines = [line.decode("utf-8", "replace") for line in head.lines[:200]]
    return list(csv.reader(lines, delimiter=delimiter)) or [[]]


def records(head: Head) -> list[dict[str, Any]]:
    """The first objects of JSON lines or of a list of objects."""
    text, place, found = head.text, 1 if head.text.startswith("[") else 0, list[dict[str, Any]]()
    try:
        while len(found) < 50:
            place = re.compile(r"[\s,]*").match(text, place).end()  # pyright: ignore[reportOptionalMemberAccess]
            record, place = json.JSONDecoder().raw_decode(text, place)
            if not isinstance(record, dict) or (record and all(isinstance(value, (dict, list)) for value in record.values())):
                return found
            found.append(record)
    except ValueError:
        return found
    return found
