"""Formats, one file each: bytes to tables and back. What all of them share stands in `files`, loaded on first use."""

# `trec-eval` reads small files without it, and without NumPy.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from rankwell.io.files import (
        FORMATS,
        SURE,
        Aspects,
        CheckedRanking,
        Conversion,
        Duplicates,
        Format,
        FoundHits,
        FoundJudgments,
        Place,
        Request,
        Texts,
        check_ranking,
        convert,
        file_format,
        find_hits,
        find_judgments,
        formats,
        read_ids,
        read_judgments,
        read_preferences,
        read_ranking,
        read_texts,
        write_judgments,
        write_run,
    )

__all__ = [
    "FORMATS",
    "SURE",
    "Aspects",
    "CheckedRanking",
    "Conversion",
    "Duplicates",
    "Format",
    "FoundHits",
    "FoundJudgments",
    "Place",
    "Request",
    "Texts",
    "check_ranking",
    "convert",
    "file_format",
    "find_hits",
    "find_judgments",
    "formats",
    "read_ids",
    "read_judgments",
    "read_preferences",
    "read_ranking",
    "read_texts",
    "write_judgments",
    "write_run",
]


def __getattr__(name: str) -> "Any":
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from rankwell.io import files

    return getattr(files, name)
