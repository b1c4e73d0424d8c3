"""Files of questions and answers, made small; tables of them as plain values or by places alone;
figures that others computed.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from rankwell.tasks.qa.answer_pairs import Predictions, Questions

Span = tuple[str, int, int]
"""Document, start, end."""

CONTEXT = "Paris is the capital of France."


def squad(*qas: Any, **more: Any) -> dict[str, Any]:
    """One article of one paragraph, as SQuAD has it."""
    return {
        "version": "v2.0",
        "data": [
            {"title": "France", "paragraphs": [{"context": CONTEXT, "qas": list(qas), **more}]}
        ],
    }


def qa(name: Any = "q1", question: str = "Which capital?", **more: Any) -> dict[str, Any]:
    return {
        "id": name,
        "question": question,
        "answers": [{"text": "Paris", "answer_start": 0}],
        **more,
    }


def written(path: Path, content: Any) -> Path:
    path.write_text(
        content if isinstance(content, str) else json.dumps(content, ensure_ascii=False),
        encoding="utf-8",
    )
    return path


def lines(path: Path, *records: Any) -> Path:
    return written(
        path, "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
    )


def answers_of(table: Questions | Predictions) -> dict[str, list[Any]]:
    """The texts of every question's answers."""
    texts = table.answers if isinstance(table, Questions) else table.texts
    return {
        name: list(texts[table.offsets[row] : table.offsets[row + 1]])
        for row, name in enumerate(table.ids)
    }


def columns(table: Any) -> dict[str, Any]:
    """A table as plain values, NaN as a text, so that two tables can be compared."""
    return {
        field.name: ["nan" if value != value else value for value in column.tolist()]
        if isinstance(column := getattr(table, field.name), np.ndarray)
        else column
        for field in fields(table)
    }


# ---- answers that are known by their places alone
# --------------------------------------------------------------------------


def questions_by_place(
    golds: dict[str, list[Span]], documents: dict[str, str] | None = None
) -> Questions:
    """Questions whose right answers are these places, with the documents of questions without any;
    those are impossible.
    """
    golds, known = dict(sorted(golds.items())), documents or {}
    rows = [span for spans in golds.values() for span in spans]
    return Questions(
        ids=tuple(golds),
        texts=tuple(f"What is {name}?" for name in golds),
        impossible=np.array([not spans for spans in golds.values()]),
        documents=tuple(known.get(name) for name in golds),
        offsets=np.cumsum([0, *(len(spans) for spans in golds.values())]),
        answers=tuple("x" * (end - start) for _, start, end in rows),
        answer_documents=tuple(document for document, _, _ in rows),
        starts=np.array([start for _, start, _ in rows], dtype=np.int64),
    )


def answers_by_place(given: dict[str, list[Span | None]]) -> Predictions:
    """Ranked answers at these places; None says that there is none. Their letters are no right
    answer's.
    """
    given = dict(sorted(given.items()))
    rows = [span for spans in given.values() for span in spans]
    return Predictions(
        ids=tuple(given),
        offsets=np.cumsum([0, *(len(spans) for spans in given.values())]),
        texts=tuple(None if span is None else "y" * (span[2] - span[1]) for span in rows),
        documents=tuple(None if span is None else span[0] for span in rows),
        starts=np.array([-1 if span is None else span[1] for span in rows], dtype=np.int64),
        ends=np.array([-1 if span is None else span[2] for span in rows], dtype=np.int64),
        scores=np.full(len(rows), np.nan),
    )


def in_order(items: Sequence[str]) -> dict[str, float]:
    """Items with scores that fall."""
    return {item: -float(rank) for rank, item in enumerate(items)}


# ---- the worked fixture of qa-evaluation.md 1.6, checked there against the code of Haystack 0.9
# ------------------------------

RELEVANT = {"q1": ["d1"], "q2": ["d2", "d3"], "q3": ["d4"], "q4": ["d5"], "q5": ["d6"]}
RETURNED = {"q1": ["d1", "d2"], "q2": ["d9", "d3"], "q3": ["d7", "d8"], "q4": ["d5"], "q5": []}
GOLD = questions_by_place(
    {
        "q1": [("d1", 10, 20)],
        "q2": [("d2", 0, 8), ("d3", 5, 13)],
        "q3": [("d4", 30, 40)],
        "q4": [],
        "q5": [],
    },
    {"q4": "d5", "q5": "d6"},
)
GIVEN = answers_by_place(
    {
        "q1": [("d1", 10, 20), ("d1", 50, 60)],
        "q2": [("d9", 0, 8), ("d3", 5, 11)],
        "q3": [("d7", 1, 5)],
        "q4": [None, ("d1", 0, 3)],
        "q5": [],
    }
)
# (d3, 5, 11) against (d3, 5, 13): six characters shared, of eight and of six.
PART = 2 * 6 / (8 + 6)
# q2 has two relevant documents, of which the second is found.
RETRIEVER = {"recall": 3 / 5, "map": (1 + 1 / 2 * 1 / 2 + 1) / 5, "mrr": (1 + 1 / 2 + 1) / 5}
READER_PIAF = {
    "reader_top1_accuracy": 2 / 5,
    "reader_top1_accuracy_has_answer": 1 / 3,
    "reader_topk_accuracy": 3 / 5,
    "reader_topk_accuracy_has_answer": 2 / 3,
    "reader_top1_em": 2 / 5,
    "reader_top1_em_has_answer": 1 / 3,
    "reader_topk_em": 2 / 5,
    "reader_topk_em_has_answer": 1 / 3,
    "reader_top1_f1": 2 / 5,
    "reader_top1_f1_has_answer": 1 / 3,
    "reader_topk_f1": (1 + PART + 1) / 5,
    "reader_topk_f1_has_answer": (1 + PART) / 3,
    "reader_top1_no_answer_accuracy": 1 / 2,
    "reader_topk_no_answer_accuracy": 1 / 2,
}
# Of q1, q2 and q4 alone, for which a relevant document was returned.
READER_FINDER = {
    "reader_top1_accuracy": 2 / 3,
    "reader_top1_accuracy_has_answer": 1 / 2,
    "reader_topk_accuracy": 1,
    "reader_topk_accuracy_has_answer": 1,
    "reader_top1_em": 2 / 3,
    "reader_top1_em_has_answer": 1 / 2,
    "reader_topk_em": 2 / 3,
    "reader_topk_em_has_answer": 1 / 2,
    "reader_top1_f1": 2 / 3,
    "reader_top1_f1_has_answer": 1 / 2,
    "reader_topk_f1": (1 + PART + 1) / 3,
    "reader_topk_f1_has_answer": (1 + PART) / 2,
    "reader_top1_no_answer_accuracy": 1,
    "reader_topk_no_answer_accuracy": 1,
}


# ---- real questions and answers
# ----------------------------------------------------------------------------------------------


# What PIAF's own test finds in its sample of sixteen questions: thirteen paragraphs first, two
# second, one nowhere.
PIAF_SAMPLE = {"recall": 15 / 16, "map": (13 + 2 / 2) / 16, "mrr": (13 + 2 / 2) / 16}


def piafs_own_lists(own: Mapping[str, str], nowhere: str) -> dict[str, list[str]]:
    """Lists of paragraphs as the retriever of that test returns them, from question -> its own
    paragraph.
    """
    asked = [name for name in own if name != nowhere]
    before = {
        name: [next(other for other in sorted({*own.values()}) if other != own[name])]
        for name in asked[:2]
    }
    return {name: [*before.get(name, []), own[name]] for name in asked} | {nowhere: []}


def squad2_files(shared: Path) -> tuple[Path, Path]:
    """626 questions of SQuAD 2.0 on the Normans and on computational complexity, and BERT's answers
    to them.
    """
    questions, answers = (
        shared / "qa" / f"squad2_normans_complexity{more}.json"
        for more in ("", "_bert_predictions")
    )
    return questions, answers


# What SQuAD's evaluate-v2.0.py prints of these two files (shared/data/README.md), each as exact as
# it is known there.
SQUAD2_OFFICIAL = {"exact": 76.8370607028754, "f1": 79.76284553235601}
SQUAD2_OFFICIAL_BY_GROUP = {
    "HasAns_exact": 64.505119,
    "HasAns_f1": 70.756114,
    "NoAns_exact": 87.687688,
    "NoAns_f1": 87.687688,
}
# With the no-answer numbers of `made_up_numbers`: the best value and its threshold
# (qa-evaluation.md, worked case 7).
SQUAD2_BEST = {"exact": (76.99680511182109, 0.986), "f1": (79.92258994130171, 0.986)}


def made_up_numbers(ids: Sequence[str]) -> dict[str, float]:
    """How likely a question has no answer, by nothing but its id."""
    return {
        name: int(hashlib.md5(name.encode(), usedforsecurity=False).hexdigest()[:8], 16)
        % 1000
        / 1000
        for name in ids
    }
