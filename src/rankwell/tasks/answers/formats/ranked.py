"""rankwell's own form of ranked answers with positions: JSON lines, an answer each, that CSV and Parquet tables may also have."""

import json
import math
from pathlib import Path
from typing import Any

from rankwell.errors import DuplicateItem
from rankwell.store import write_text
from rankwell.tasks.answers.answer_pairs import Predictions
from rankwell.tasks.answers.formats import answer_format
from rankwell.tasks.answers.formats.content import MISSING, Content, Where
from rankwell.tasks.answers.formats.rows import AnswerRows


def _fits(content: Content) -> float:
    return 0.8 if "id" in content.keys and {"rank", "text"} & content.keys and "question" not in content.keys else 0.0


def _write(predictions: Predictions, path: Path) -> None:
    begins = predictions.offsets.tolist()
    odds = None if predictions.no_answer is None else predictions.no_answer.tolist()
    lines: list[str] = []
    for question, name in enumerate(predictions.ids):
        begin, end = begins[question], begins[question + 1]
        own: dict[str, Any] = {} if odds is None or math.isnan(odds[question]) else {"no_answer": odds[question]}
        if begin == end:
            lines.append(json.dumps({"id": name, "rank": None, **own}, ensure_ascii=False))
        for row in range(begin, end):
            lines.append(json.dumps({"id": name, **_row(predictions, row, row - begin + 1), **own}, ensure_ascii=False))
            own = {}
    write_text(path, "".join(f"{line}\n" for line in lines))


def _row(predictions: Predictions, row: int, rank: int) -> dict[str, Any]:
    start, end, score = int(predictions.starts[row]), int(predictions.ends[row]), float(predictions.scores[row])
    return {
        "rank": rank,
        "text": predictions.texts[row],
        "document": predictions.documents[row],
        "start": None if start < 0 else start,
        "end": None if end < 0 else end,
        "score": None if math.isnan(score) else score,
    }


@answer_format("ranked", "predictions", fits=_fits, write=_write, suffixes=(".jsonl", ".ndjson"))
def read(content: Content, rows: AnswerRows) -> None:
    """The answers `{id, rank, text, document, start, end, score}`, one a line; text null says that there is no answer.

    Without ranks the scores of a question's answers order them, the highest first, and without scores the lines do; both is told.
    A line of an `id` alone, or with `rank` null, is that of a question to which nothing, not even that, was answered. `no_answer`
    may stand in any line of a question. Raises BadInput for a rank that comes twice and for a line that lacks `text`.
    """
    found: dict[str, list[tuple[int, Where, dict[str, Any]]]] = {}
    first: dict[str, Where] = {}
    odds: dict[str, float] = {}
    for where, record in content.each():
        name = content.id(record.get("id", MISSING), (*where, "id"))
        if name is None:
            raise content.wrong((*where, "id"), record.get("id", MISSING), "the id of a question")
        answers = found.setdefault(name, [])
        first.setdefault(name, where)
        if record.get("no_answer") not in (None, ""):
            odds[name] = content.number(record["no_answer"], (*where, "no_answer"))
        rank = content.whole(record.get("rank"), (*where, "rank"), "a rank, a whole number from 1,")
        if rank < 1 and record.get("rank") not in (None, ""):
            raise content.wrong((*where, "rank"), record["rank"], "a rank, a whole number from 1,")
        if not _is_bare(content, record):
            answers.append((rank, where, record))
    for name, answers in found.items():
        rows.add(first[name], name)
        for where, record in _in_order(content, rows, name, answers):
            _add(content, rows, record, where)
        if name in odds:
            rows.no_answer(odds[name])
    for what, n in rows.unranked.items():
        rows.said.append(f"{content.name}: {n} questions have several answers without ranks, which are taken by {what}")


def _is_bare(content: Content, record: dict[str, Any]) -> bool:
    """Whether a line says only that there is no line of an answer. A table has all columns in every row."""
    if content.form == "table":
        return all(record.get(name) in (None, "") for name in ("rank", "text", "score"))
    return record.get("rank") is None and set(record) <= {"id", "rank", "no_answer"}


def _in_order(
    content: Content, rows: AnswerRows, name: str, answers: list[tuple[int, Where, dict[str, Any]]]
) -> list[tuple[Where, dict[str, Any]]]:
    ranks: dict[int, Where] = {}
    for rank, where, _ in answers:
        if rank in ranks and rank > 0:
            both = f"{content.place(ranks[rank])} and {content.place(where).removeprefix(content.name).lstrip(': ')}"
            raise DuplicateItem(f"{both} both have rank {rank} of the question {name!r}; give each answer a rank of its own.")
        ranks[rank] = where
    if -1 in ranks and len(ranks) > 1:
        raise content.wrong((*ranks[-1], "rank"), MISSING, f"a rank, as other answers to {name!r} have,")
    if -1 in ranks and len(answers) > 1:
        return _by_score(content, rows, [(where, record) for _, where, record in answers])
    return [(where, record) for _, where, record in sorted(answers, key=lambda each: each[0])]


def _by_score(
    content: Content, rows: AnswerRows, answers: list[tuple[Where, dict[str, Any]]]
) -> list[tuple[Where, dict[str, Any]]]:
    """The answers to a question, the highest score first, equal ones by what they say; in their own order without scores."""
    scores = [content.number(record.get("score"), (*where, "score")) for where, record in answers]
    known = [not math.isnan(score) for score in scores]
    if any(known) and not all(known):
        raise content.wrong((*answers[known.index(False)][0], "score"), MISSING, "a rank, or a score as other answers have,")
    rows.unranked["their scores" if all(known) else "the order of their lines"] += 1
    if not all(known):
        return answers
    keys = [(-score, str(record.get("text")), repr(record)) for score, (_, record) in zip(scores, answers, strict=True)]
    return [answers[place] for place in sorted(range(len(answers)), key=keys.__getitem__)]


def _add(content: Content, rows: AnswerRows, record: dict[str, Any], where: Where) -> None:
    rows.answer(
        content.text_or_null(record, where, "text"),
        document=content.id(record.get("document"), (*where, "document")),
        start=content.whole(record.get("start"), (*where, "start")),
        end=content.whole(record.get("end"), (*where, "end")),
        score=content.number(record.get("score"), (*where, "score")),
    )
