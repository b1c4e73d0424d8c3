"""SQuAD's own files and what others have made of them: questions, predictions, no-answer
probabilities, n-best answers; and a question or an answer per row: Hugging Face's data sets,
NQ-open, DPR's question files, ranked answers, your own tables.
"""

import json
import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from operator import lt
from pathlib import Path
from typing import Any

import numpy as np

from rankwell.data.findings.kinds import reading_choice
from rankwell.data.tables import is_number
from rankwell.errors import BadInput, DuplicateItem, count_of
from rankwell.io.records import HEADER, MISSING, Content, Record, Where
from rankwell.store import write_lines
from rankwell.tasks.qa.answer_pairs import Predictions, place_or_none
from rankwell.tasks.qa.formats import answer_format, has
from rankwell.tasks.qa.formats.rows import (
    DOCUMENT,
    AnswerRows,
    EntryRows,
    QuestionRows,
    literal,
    marked_impossible,
)

_KEYS = {"id", "question", "answers", "is_impossible"}


def _fits_squad(content: Content) -> float:
    if "paragraphs" in content.keys:
        return 0.95
    top = content.value if isinstance(content.value, Mapping) else {}
    # Nothing in `data`, or something else than a list of articles, is reported with its path.
    return 0.6 if "data" in top and (not content.keys or not content.prefix) else 0.0


@answer_format("squad", "questions", fits=_fits_squad)
def read_squad(rows: QuestionRows) -> None:
    """The questions of every paragraph. A document is a paragraph: its id is its own `id`, else
    `title#index`.

    Paragraphs of a title that comes again are numbered on. What else an article, a paragraph or a
    question says is an attribute of the question. Source: Rajpurkar et al. 2016 and 2018.
    """
    content = rows.content
    if isinstance(content.value, Mapping) and "data" in content.value and not content.prefix:
        raise content.wrong(("data",), content.value["data"], "a list of articles")
    numbered: Counter[str] = Counter()
    for number, article in enumerate(rows.records):
        title = article.value.get("title", article.value.get("displaytitle"))
        title = (
            str(number)
            if title is None or title == ""
            else article._replace(value={"title": title}).text("title")
        )
        if numbered[title]:
            rows.odd("same_title", article.where)
        about = _plain(article, "article", {"paragraphs"})
        if "paragraphs" not in article.value:
            raise article.wrong("a list of paragraphs, each with context and qas", "paragraphs")
        for paragraph in article.objects("paragraphs", "an object with context and qas"):
            document = paragraph.id() or f"{title}#{numbered[title]}"
            numbered[title] += 1
            rows.context(document, paragraph.text("context"), (*paragraph.where, "context"))
            attributes = about | _plain(paragraph, "paragraph", {"context", "qas", "id"})
            if paragraph.value.get("qas") == "":
                rows.odd("no_list", (*paragraph.where, "qas"))
            for index, question in enumerate(paragraph.items("qas")):
                _add_question(
                    rows, question, (*paragraph.where, "qas", index), document, attributes
                )


def _add_question(
    rows: QuestionRows, value: Any, where: Where, document: str, attributes: dict[str, Any]
) -> None:
    question = rows.content.record(value, where, "an object with id, question and answers")
    name, text = question.id(), question.text("question")
    if len(value) > 3:
        attributes = attributes | {key: value[key] for key in value if key not in _KEYS}
    otherwise = f"{document}#{where[-1]}"
    if rows.add(where, name, text, document=document, otherwise=otherwise, attributes=attributes):
        answers, below = value.get("answers"), (*where, "answers")
        if answers == "":
            rows.odd("no_list", below)
        rows.add_answers(answers, below, document)
        marked = value.get("is_impossible", value.get("impossible"))
        if marked is not None and type(marked) is not bool:
            marked = marked_impossible(Record(rows.content, value, where))
        if marked is None and "answers" not in value:
            rows.odd("silent", where)
        rows.end(marked)


def _plain(record: Record, kind: str, without: set[str]) -> dict[str, Any]:
    """The plain values of an article or a paragraph; its `id` under a name that is not the
    question's.
    """
    return {
        f"{kind}_id" if key == "id" else key: value
        for key, value in record.value.items()
        if key not in without and isinstance(value, (str, int, float, bool))
    }


def _first(content: Content, is_one: Callable[[Any], bool]) -> float:
    """Confidence that the document is an object, half or more of whose first values are of a
    kind.
    """
    values = list(content.value.values())[:21] if isinstance(content.value, Mapping) else []
    return 0.8 if values and 2 * sum(map(is_one, values)) >= len(values) else 0.0


def _is_text(value: Any) -> bool:
    return value is None or isinstance(value, str)


@answer_format(
    "predictions",
    "predictions",
    fits=lambda content: 0.0 if content.prefix else _first(content, _is_text),
)
def read_official_predictions(rows: AnswerRows) -> None:
    """The official form `{id: text}`; an empty text, or null, says that there is no answer. Source:
    Rajpurkar et al. 2018.
    """
    for name, text in rows.by_id("an object {id: text}"):
        rows.begin((name,), name)
        rows.answer(_text_or_null(rows, text, (name,)))


@answer_format("na-probs", "na-probs", fits=lambda content: _first(content, is_number))
def read_na_probs(rows: EntryRows) -> None:
    """The form `{id: number}`: probabilities that there is no answer, or null odds, a score of
    that.
    """
    for name, value in rows.by_id("an object {id: number}"):
        if not (is_number(value) and math.isfinite(value)):
            raise rows.content.wrong((name,), value, "a finite number")
        rows.numbers[name] = float(value)


def _fits_lists(content: Content, kind: Callable[[Any], bool]) -> float:
    """Confidence that the document is lists of one kind by id, null among them; empty lists alone
    are lists of anything.
    """
    if not isinstance(content.value, Mapping) or content.prefix:
        return 0.0
    values = [value for value in content.value.values() if value is not None][:21]
    lists: list[list[Any]] = [value for value in values if isinstance(value, list)]
    filled = [value for value in lists if value]
    fitting = sum(all(map(kind, value[:3])) for value in filled)
    is_form = len(lists) == len(values) and 2 * fitting >= max(len(filled), 1)
    return 0.9 if values and is_form else 0.0


def _lists(rows: AnswerRows, form: str, kind: str) -> Iterator[tuple[Where, Any]]:
    """The places and answers of an object {id: list}, whose questions are begun."""
    for name, values in rows.by_id(f"an object {{id: [{form}]}}"):
        if values is not None and not isinstance(values, list):
            raise rows.content.wrong((name,), values, f"a list of {kind}, best first")
        rows.begin((name,), name)
        for rank, value in enumerate([None] if values is None else values):
            yield (name, rank), value


def _text_or_null(rows: AnswerRows, value: Any, where: Where) -> str | None:
    if not _is_text(value):
        raise rows.content.wrong(where, value, "a string, or null for no answer")
    return value


@answer_format("texts", "predictions", fits=lambda content: _fits_lists(content, _is_text))
def read_texts(rows: AnswerRows) -> None:
    """The form `{id: [text, ...]}`, best first; an empty text, or null in place of a text or a
    list, says that there is no answer. An empty list is none.
    """
    for where, text in _lists(rows, "text", "strings"):
        rows.answer(_text_or_null(rows, text, where))


def _is_answer(value: Any) -> bool:
    return isinstance(value, Mapping) and not {"question", "answers"} & set(value)


@answer_format("n-best", "predictions", fits=lambda content: _fits_lists(content, _is_answer))
def read_n_best(rows: AnswerRows) -> None:
    """The form `{id: [{text, probability}]}` of `nbest_predictions.json`, best first.

    The probability of the empty text is that of there being no answer. Answers may carry `start`,
    `end` and `document`, and `score` in place of `probability`. Source: transformers, `run_qa.py`.
    """
    for where, value in _lists(rows, "{text, probability}", "answers"):
        answer = rows.content.record(value, where, "an object with text and probability")
        score = rows.answer_of(answer, answer.key("probability") or "score")
        if not answer.value["text"] and not math.isnan(score):
            rows.entry.no_answer = score


_ID = ("id", "question_id", "qid", "query_id")
_QUESTION = ("question", "query")
_ANSWERS = ("answers", "answer", "gold_answers")
_START = ("answer_start", "start")
_NAMED = {*_ID, *_QUESTION, *_ANSWERS, *DOCUMENT, *_START, "context", "is_impossible", "impossible"}


@answer_format(
    "rows",
    "questions",
    fits=has("question|query answers|answer|gold_answers !ctxs !contexts !paragraphs", sure=0.6),
)
def read_rows(rows: QuestionRows) -> None:
    """The question of each row: `id`, `question`, `qa`, and where known `context`, `title`,
    `document`, `impossible`.

    answers: {text: [], answer_start: []}, a list of texts or of {text, answer_start, document}, or
    one text (`answer`). A document without an id is `title#index`, numbered as SQuAD's paragraphs
    are. Other columns are attributes.
    """
    numbered: dict[str, dict[str, str]] = {}
    for record in rows.records:
        question, answers = record.key(*_QUESTION), record.key(*_ANSWERS)
        text = None if question is None or record.value[question] is None else record.text(question)
        document = _document(rows, record, numbered)
        attributes = {
            key: value
            for key, value in record.value.items()
            if key not in _NAMED and value is not None and value != ""
        }
        name = record.id(record.key(*_ID) or "id")
        if not rows.add(record.where, name, text, document=document, attributes=attributes):
            continue
        if answers is not None:
            value, start = record.value[answers], record.key(*_START)
            if start is None or not isinstance(value, str) or not isinstance(literal(value), str):
                rows.add_answers(value, (*record.where, answers), document)
            elif value:
                # A single answer may have its position in a column of its own.
                rows.answer(value, (*record.where, answers), document, record.integer(start))
        marked = marked_impossible(record)
        if answers is None and marked is None:
            rows.odd("silent", record.where)
        rows.end(marked)


def _document(
    rows: QuestionRows, record: Record, numbered: dict[str, dict[str, str]]
) -> str | None:
    """The id of a row's document: its own, or its title and the number of its context among those
    of the title.
    """
    name = record.id(record.key(*DOCUMENT) or DOCUMENT[0])
    if record.value.get("context") in (None, ""):
        return name
    text = record.text("context")
    if name is None:
        title = record.text("title", "")
        names = numbered.setdefault(title, {})
        name = names.setdefault(text, f"{title}#{len(names)}")
    rows.context(name, text, (*record.where, "context"))
    return name


@answer_format("nq-open", "questions", fits=has("question answer[]", sure=0.9))
def read_nq_open(rows: QuestionRows) -> None:
    """NQ-open's lines `{question, answer: [text]}`; a question goes by its number, from 0. Source:
    Lee et al. 2019.
    """
    read_rows(rows)


@answer_format("nq-open", "predictions", fits=has("question prediction", sure=0.9))
def read_nq_predictions(rows: AnswerRows) -> None:
    """NQ-open's lines `{question, prediction}`, which belong to questions by their text."""
    for record in rows.records:
        rows.begin(record.where, record.id(), record.text("question"))
        rows.answer(record.text_or_null("prediction") or "")


@answer_format("hf", "predictions", fits=has("prediction_text", sure=0.9))
def read_hf(rows: AnswerRows) -> None:
    """The rows `{id, prediction_text, no_answer_probability}` that Hugging Face's `squad` and
    `squad_v2` are given.
    """
    for record in rows.records:
        rows.begin(record.where, record.id())
        rows.answer(record.text_or_null("prediction_text") or "")
        if record.value.get("no_answer_probability") is not None:
            rows.entry.no_answer = record.number("no_answer_probability")


@answer_format("dpr-questions", "questions", fits=has("form=table no-header", sure=0.9))
def read_dpr_questions(rows: QuestionRows) -> None:
    """DPR's question files without a header: question, tab, a Python list of answers. Source:
    Karpukhin et al. 2020.
    """
    content = rows.content
    if len(content.header) != 2:
        raise BadInput(
            f"{content.name}: {len(content.header)} columns; expected two columns without a "
            "header, the question and a list of answers."
        )
    lines = [content.header, *(tuple(record.value.values()) for record in rows.records)]
    for row, (question, cell) in enumerate(lines, HEADER):
        where: Where = (row, content.header[1])
        answers = literal(cell)
        if not isinstance(answers, list):
            raise content.wrong(where, cell, "a list of answers, ['Paris', 'Paris, France']")
        if rows.add(where, None, question):
            rows.add_answers(answers, where)
            rows.end()


_RANK = "a rank, a positive integer"


def write_predictions(predictions: Predictions, path: Path) -> None:
    """Writes ranked answers as JSON lines."""
    lines: list[dict[str, Any]] = []
    for row, (name, answers) in enumerate(predictions.ranked.items()):
        rows: list[dict[str, Any]] = [
            {
                "id": name,
                **answer._asdict(),
                "start": place_or_none(answer.start),
                "end": place_or_none(answer.end),
                "score": None if math.isnan(answer.score) else answer.score,
            }
            for answer in answers
        ] or [{"id": name, "rank": None}]
        if predictions.no_answer is not None and not np.isnan(predictions.no_answer[row]):
            rows[0]["no_answer"] = float(predictions.no_answer[row])
        lines += rows
    write_lines(path, [json.dumps(line, ensure_ascii=False) for line in lines])


@answer_format("ranked", "predictions", fits=has("id rank|text !question", sure=0.8))
def read_ranked(rows: AnswerRows) -> None:
    """The answers `{id, rank, text, document, start, end, score}`, one a line; text null says that
    there is no answer.

    Ranks order the answers, whatever their scores, which a note says where these do not fall.
    Without ranks the scores of a question's answers order them, the highest first, and without
    scores the lines do, with a note.
    A line of an `id` alone, or with `rank` null, is that of a question to which nothing, not even
    that, was answered. `no_answer` may stand in any line of a question. Raises BadInput for a rank
    that appears twice and for a line that lacks `text`.
    """
    lines_of: dict[str, list[Record]] = {}
    for record in rows.records:
        name = record.id()
        if name is None:
            raise record.wrong("the id of a question", "id")
        lines_of.setdefault(name, []).append(record)
    climbing, unranked = 0, Counter[str]()
    for name, lines in lines_of.items():
        rows.begin(lines[0].where, name)
        for record in lines:
            if record.value.get("no_answer") not in (None, ""):
                rows.entry.no_answer = record.number("no_answer")
        answers, order = _in_order(name, [line for line in lines if not _is_bare(line)])
        scores = [rows.answer_of(record) for record in answers]
        if order:
            unranked[order] += 1
        else:
            climbing += any(map(lt, scores, scores[1:]))
    if climbing:
        rows.note(
            f"the scores of {count_of(climbing, 'question')} do not fall with their ranks; the "
            "ranks order the answers (leave them out for the scores)"
        )
    for order, n in unranked.items():
        text = f"{n} questions have several answers without ranks, which are taken by {order}"
        rows.note(text, reading_choice)


def _is_bare(record: Record) -> bool:
    """Whether a line says only that there is no line of an answer. A table has all columns in every
    row.
    """
    if record.content.form == "table":
        return all(record.value.get(name) in (None, "") for name in ("rank", "text", "score"))
    return record.value.get("rank") is None and set(record.value) <= {"id", "rank", "no_answer"}


def _in_order(name: str, records: Sequence[Record]) -> tuple[Sequence[Record], str]:
    """The answers to a question, best first, and what orders several of them where it is no rank.

    Equal scores go by what the answers say. Raises DuplicateItem for a rank that comes twice,
    BadInput where some answers have no rank, or else no score.
    """
    by_rank: dict[int, Record] = {}
    for record in records:
        rank = record.integer("rank", _RANK)
        if rank < 1 and record.value.get("rank") not in (None, ""):
            raise record.wrong(_RANK, "rank")
        if by_rank.setdefault(rank, record) is not record and rank > 0:
            second = record.place.removeprefix(record.content.name).lstrip(": ")
            raise DuplicateItem(
                f"{by_rank[rank].place} and {second} both have rank {rank} of the question "
                f"{name!r}; give each answer a rank of its own."
            )
    if -1 not in by_rank or len(records) == 1:
        return [by_rank[rank] for rank in sorted(by_rank)], ""
    if len(by_rank) > 1:
        last = [record for record in records if record.value.get("rank") in (None, "")][-1]
        raise _missing(last, "rank", f"a rank, as other answers to {name!r} have")
    unscored = [record for record in records if math.isnan(record.number("score"))]
    if len(unscored) == len(records):
        return records, "the order of their lines"
    if unscored:
        raise _missing(unscored[0], "score", "a rank, or a score as other answers have")
    return sorted(
        records,
        key=lambda record: (
            -record.number("score"),
            str(record.value.get("text")),
            repr(record.value),
        ),
    ), "their scores"


def _missing(record: Record, key: str, expected: str) -> BadInput:
    return record.content.wrong((*record.where, key), MISSING, expected)
