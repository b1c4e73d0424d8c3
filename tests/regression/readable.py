"""What a command prints and writes as lines that a reader can judge: texts whole, tables of Parquet
as rows, arrays by their shape, pages and pictures by name.

A long file stands for its number of lines: its figures are in `tests/golden/figures/`, and its
bytes have tests of their own.
"""

import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

LONGEST_TEXT = 8_000
FIRST_LINES = 25
LONGEST_FILE = 2_500
LONGEST_TABLE = 40

_VARYING = re.compile(
    r'"(\w*seconds\w*|date|hostname|record_digest|peak_memory_mib|processors|experiment_id|python|'
    r'numpy|duckdb|pillow|platform|system|processor|threads)": ("[^"]*"|[-\d.e]+)'
)
"""Values that differ between two runs of the same command, or between two machines."""
_DIGEST = re.compile(r"\b[0-9a-f]{64}\b")
_LEASED = re.compile(r'"time": "[^"]+"')
_ELSEWHERE = frozenset(("manifest.json", "summary.json", "results.csv", "results.json"))
"""Files that repeat rules and figures, which the output has or `tests/golden/figures/`."""
_TEXTS = frozenset(
    (".csv", ".tsv", ".json", ".jsonl", ".md", ".txt", ".run", ".qrels", ".xml", ".tex", ".dat")
)


def of_name(name: str) -> str:
    """The path of a file without digests."""
    return re.sub("[0-9a-f]{30,}", "<digest>", name)


def of_text(text: str) -> list[str]:
    """The lines of what is printed; of a long text the first of them."""
    lines = text.split("\n")
    if len(text) <= LONGEST_TEXT:
        return lines
    return [*lines[:FIRST_LINES], f"… {len(lines) - FIRST_LINES} more lines"]


def of_file(path: Path, clean: Callable[[str], str]) -> list[str]:
    """The lines that a golden has of a file; `clean` takes paths and versions out of texts."""
    if path.suffix == ".parquet":
        return _table(path, clean)
    if path.suffix == ".npy":
        import numpy as np

        array = np.load(path)
        return [f"{array.dtype} {array.shape}"]
    if path.suffix not in _TEXTS or path.name in _ELSEWHERE:
        return []
    text = clean(path.read_text("utf-8", errors="surrogateescape"))
    text = _LEASED.sub('"time": "<varies>"', _DIGEST.sub("<digest>", text))
    text = _VARYING.sub(r'"\1": "<varies>"', text)
    lines = text.split("\n")
    return lines if len(text) <= LONGEST_FILE else [f"{len(lines)} lines"]


@cache
def _session() -> Any:
    """One DuckDB for all files of a process, which takes tens of milliseconds to start."""
    import duckdb

    return duckdb.connect(":memory:", config={"threads": 1})


def _table(path: Path, clean: Callable[[str], str]) -> list[str]:
    """The columns of a Parquet file with their types, and its rows where they are few."""
    table = _session().execute("SELECT * FROM read_parquet(?)", [str(path)])
    names = [f"{column[0]} {column[1]}" for column in table.description or ()]
    rows = table.fetchall()
    shown = [clean(", ".join(map(repr, row))) for row in rows]
    if len(rows) > LONGEST_TABLE or sum(map(len, shown)) > LONGEST_FILE:
        shown = [f"{len(rows)} rows"]
    return [", ".join(names), *shown]
