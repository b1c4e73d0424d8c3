"""Names, texts and files as SQL literals."""

from pathlib import Path


def quoted(name: str) -> str:
    """The name of a column."""
    return '"' + name.replace('"', '""') + '"'


def text(content: Path | str) -> str:
    """A text."""
    return "'" + str(content).replace("'", "''") + "'"


def parquet(path: Path, *, numbered: bool = False) -> str:
    """The rows of one Parquet file; no column comes from the names of its folders. numbered: with `file_row_number`."""
    # Brackets and stars in a path would be a pattern of files.
    plain = "".join(f"[{letter}]" if letter in "*?[" else letter for letter in str(path))
    number = "file_row_number=true, " if numbered else ""
    return f"read_parquet({text(plain)}, {number}hive_partitioning=false, binary_as_string=true)"
