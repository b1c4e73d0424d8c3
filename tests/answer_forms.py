"""Files of questions and answers, made small, and tables of them as plain values."""

import json
from pathlib import Path
from typing import Any

import numpy as np

from rankwell.tables.answers import Predictions, Questions

CONTEXT = "Paris is the capital of France."


def squad(*qas: Any, **more: Any) -> dict[str, Any]:
    """One article of one paragraph, as SQuAD has it."""
    return {"version": "v2.0", "data": [{"title": "France", "paragraphs": [{"context": CONTEXT, "qas": list(qas), **more}]}]}


def asked(name: Any = "q1", question: str = "Which capital?", **more: Any) -> dict[str, Any]:
    return {"id": name, "question": question, "answers": [{"text": "Paris", "answer_start": 0}], **more}


def written(path: Path, content: Any) -> Path:
    path.write_text(content if isinstance(content, str) else json.dumps(content, ensure_ascii=False), encoding="utf-8")
    return path


def lines(path: Path, *records: Any) -> Path:
    return written(path, "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records))


def answers_of(table: Questions | Predictions) -> dict[str, list[Any]]:
    """The texts of every question's answers."""
    texts = table.answers if isinstance(table, Questions) else table.texts
    return {name: list(texts[table.offsets[row] : table.offsets[row + 1]]) for row, name in enumerate(table.ids)}


def columns(table: Any) -> dict[str, Any]:
    """A table as plain values, NaN as a text, so that two tables can be compared."""
    return {
        name: ["nan" if value != value else value for value in column.tolist()] if isinstance(column, np.ndarray) else column
        for name, column in vars(table).items()
        if not name.startswith("_")
    }
