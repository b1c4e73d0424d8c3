"""One text after another: a file with a line for each, or a JSON list. Texts without ids go by their position, from 0."""

import json
from typing import Any

from rankwell.errors import BadInput
from rankwell.io import Request, Texts, file_format
from rankwell.store import Head, Source, decode_id


def _sniff_lines(head: Head) -> float:
    return 0.3 if head.lines else 0.0


@file_format("lines", "column", sniff=_sniff_lines, suffixes=(".txt",))
def read_lines(source: Source, request: Request) -> list[str | None]:  # noqa: ARG001 - lines leave nothing to ask for
    """The lines of a text file without their ends; an empty line is an empty text."""
    with source.open() as stream:
        return [decode_id(line.rstrip(b"\r\n")) for line in stream]


def _sniff_list(head: Head) -> float:
    return 0.6 if head.text.startswith("[") else 0.0


@file_format("json", "column", sniff=_sniff_list, suffixes=(".json",))
def read_list(source: Source, request: Request) -> list[str | None]:  # noqa: ARG001 - a list leaves nothing to ask for
    """The strings and integers of a JSON list."""
    try:
        found: Any = json.loads(source.read())
    except ValueError as error:
        raise BadInput(f"{source.name}: {error}; expected a JSON list of strings or integers.") from error
    if not isinstance(found, list):
        raise BadInput(f"{source.name}: a JSON {type(found).__name__}; expected a list of strings or integers.")
    values: list[Any] = found
    return [value if isinstance(value, str) else str(value) if type(value) is int else None for value in values]


def _sniff_texts(head: Head) -> float:
    """Less certain than any table: a file of lines is recognised by its name alone."""
    return 0.4 if head.name.lower().removesuffix(".gz").removesuffix(".zst").endswith(".txt") else 0.0


@file_format("lines", "texts", sniff=_sniff_texts)
def read_texts(source: Source, request: Request) -> Texts:
    """A text per line, its id the position of the line, from 0."""
    lines = read_lines(source, request)
    return Texts({str(row): line or "" for row, line in enumerate(lines)}, {str(row): {} for row in range(len(lines))})
