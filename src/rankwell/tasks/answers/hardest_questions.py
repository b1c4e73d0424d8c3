"""The questions that a system failed, for the terminal: what was asked, right and answered, with marks below what both have."""

import textwrap
import unicodedata
from collections.abc import Sequence
from typing import Any

from rankwell.report import MISSING, PLAIN, Row, Terminal, visible

_WIDTH, _INDENT = 100, "  "
_WORD, _LETTER = "^", "~"
LEGEND = f"{_WORD} words and {_LETTER} other characters that the answer and the right one share"


def hardest_questions(rows: Sequence[Row], *, terminal: Terminal = PLAIN) -> str:
    """A block of lines for each question: who failed it, and below the right and the given answer what they share.

    rows: mappings with `query, text, failed, why, right, right_document, other_right`, and as far as they are known `answered,
    answer, answer_document, characters, right_characters, tokens, right_tokens` (spans of each text), `document_rank`, `alone`.
    """
    width = max(min(terminal.width or _WIDTH, 120), 40)
    return "\n\n".join("\n".join(_block(row, width, terminal)) for row in rows)


def _block(row: Row, width: int, terminal: Terminal) -> list[str]:
    about = [f"{visible(row['query'])}  {row['failed']}: {row['why']}"]
    if row.get("alone") is not None:
        about.append("right" if row["alone"] >= 0.5 else "wrong")
        about[-1] += " from the right passage alone"
    if "document_rank" in row and row["document_rank"] is not None:
        about.append(f"document at rank {row['document_rank']}")
    lines = [_styled(line, "1", terminal) for line in textwrap.wrap("; ".join(about), width, subsequent_indent=_INDENT)]
    lines += textwrap.wrap(visible(row["text"]), width, initial_indent=_INDENT, subsequent_indent=_INDENT)
    more = f" and {row['other_right']} more" if row["other_right"] else ""
    right = (row["right"], row["right_document"], more) if row["right"] is not None else (None, row["right_document"], "")
    lines += _answer("right", *right, row.get("right_characters", ()), row.get("right_tokens", ()), width, terminal)
    if row.get("answered"):
        own = (row["answer"], row["answer_document"], "")
        lines += _answer("answered", *own, row.get("characters", ()), row.get("tokens", ()), width, terminal)
    elif "answered" in row:
        lines.append(f"{_INDENT}{'answered':<9} nothing given")
    return lines


def _answer(
    name: str,
    text: str | None,
    document: str | None,
    more: str,
    characters: Sequence[Any],
    tokens: Sequence[Any],
    width: int,
    terminal: Terminal,
) -> list[str]:
    """The line of an answer, and below it a line of marks where there is anything to mark."""
    begin = f"{_INDENT}{name:<9} "
    if text is None or not text.strip():
        return [begin + ("no answer" if text is None or name == "answered" else MISSING)]
    where = more + (f"  ({visible(document)})" if document is not None else "")
    room = max(width - len(begin) - _width(where), 16)
    marks = [" "] * len(text)
    for spans, mark in ((characters, _LETTER), (tokens, _WORD)):
        for start, end in spans:
            marks[start:end] = mark * (min(end, len(text)) - start)
    first = next((place for place, mark in enumerate(marks) if mark != " "), 0)
    shown, below = _cut(text, marks, first, room)
    lines = [begin + shown + _styled(where, "2", terminal)]
    return [*lines, _styled(" " * len(begin) + below, "2", terminal)] if below.strip() else lines


def _cut(text: str, marks: Sequence[str], first: int, room: int) -> tuple[str, str]:
    """As much of the text as there is room for, with its marks; from shortly before the first mark where that lies far behind."""
    cells = [(visible(letter), mark) for letter, mark in zip(text, marks, strict=True)]
    start = max(first - room // 3, 0) if sum(_width(cell) for cell, _ in cells[: first + 1]) > room // 2 else 0
    shown, below = ("…", " ") if start and _width(text) > room else ("", "")
    start = start if shown else 0
    for cell, mark in cells[start:]:
        if _width(shown + cell) > room - 1 and _width("".join(each for each, _ in cells[start:])) > room - len(below):
            return shown + "…", below.rstrip()
        shown += cell
        below += mark * _width(cell)
    return shown, below.rstrip()


def _width(text: str) -> int:
    if text.isascii():
        return len(text)
    return sum(0 if unicodedata.combining(each) else 2 if unicodedata.east_asian_width(each) in "WF" else 1 for each in text)


def _styled(text: str, code: str, terminal: Terminal) -> str:
    return f"\x1b[{code}m{text}\x1b[0m" if terminal.colour else text
