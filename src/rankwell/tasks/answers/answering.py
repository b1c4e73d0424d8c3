"""Retrievers and readers run over questions: what they find and answer, as the tables that answers
are judged from.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from rankwell.data.rankings import Ranking
from rankwell.engines.sqlite_fts5 import SqliteFts
from rankwell.errors import BadUsage
from rankwell.tasks.answers.answer_pairs import Predictions, Questions
from rankwell.tasks.answers.passages import Answer, Passage, Reader
from rankwell.tasks.answers.readers import OverlapReader, TransformersReader

# Called with the questions done and the questions in all.
Progress = Callable[[int, int], None]


class System(Protocol):
    """A system that ranks documents for a question."""

    def search(self, query: str, k: int) -> list[tuple[str, float]]:
        """The best `k` documents as (id, score), best first; fewer where fewer match, none for an
        empty query.
        """
        ...


def retrieve(
    system: System, questions: Mapping[str, str], k: int, *, progress: Progress | None = None
) -> Ranking:
    """The best `k` documents of the system for every question; questions without any are kept.
    Raises DuplicateItem, BadScore.
    """
    rows: list[tuple[str, str, float]] = []
    for done, (name, text) in enumerate(questions.items(), start=1):
        rows += [(name, document, score) for document, score in system.search(text, k)[:k]]
        if progress is not None:
            progress(done, len(questions))
    queries, documents, scores = zip(*rows, strict=True) if rows else ((), (), ())
    return Ranking.from_rows(queries, documents, scores, all_queries=questions)


def read_answers(
    reader: Reader,
    questions: Mapping[str, str],
    retrieved: Ranking,
    documents: Mapping[str, str],
    *,
    k: int,
    retriever_k: int | None = None,
    progress: Progress | None = None,
) -> Predictions:
    """The best `k` answers to every question from its first `retriever_k` documents, that there is
    none being one of them.

    `no_answer` is the score of there being none less that of the best answer, or the surest
    question's where there is no answer.
    """
    answers: dict[str, Sequence[Answer]] = {}
    for done, (name, text) in enumerate(questions.items(), start=1):
        items: Sequence[str] = ()
        if name in retrieved.index:
            query = retrieved.index[name]
            items = retrieved.items[retrieved.offsets[query] : retrieved.offsets[query + 1]]
        passages = [
            Passage(item, documents[item]) for item in items[:retriever_k] if item in documents
        ]
        answers[name] = reader.read(text, passages, k)
        if progress is not None:
            progress(done, len(questions))
    return predictions_of(answers, k=k)


def predictions_of(answers: Mapping[str, Sequence[Answer]], *, k: int | None = None) -> Predictions:
    """The table of ranked answers by question, the first `k` of each; see `read_answers` for
    `no_answer`.
    """
    lists = answers.values()
    rows = [
        [(answer.text, answer.document, answer.start, answer.end, answer.score) for answer in first]
        for first in (ranked_answers[:k] for ranked_answers in lists)
    ]
    gaps: list[float] | None = None
    if any(answer.text is None for ranked_answers in lists for answer in ranked_answers):
        gaps = list(map(_no_answer, lists))
        surest = max(filter(math.isfinite, gaps), default=0.0)
        gaps = [surest if gap == math.inf else gap for gap in gaps]
    return Predictions.from_lists(list(answers), rows, gaps)


def _no_answer(answers: Sequence[Answer]) -> float:
    """The gain in score of answering nothing over answering; NaN where nothing says it, infinite
    without an answer.
    """
    nulls = [answer.score for answer in answers if answer.text is None]
    texts = [answer.score for answer in answers if answer.text is not None]
    return max(nulls) - max(texts, default=-math.inf) if nulls else math.nan


def question_texts(questions: Questions) -> dict[str, str]:
    """The text of every question by id."""
    return dict(zip(questions.ids, questions.texts, strict=True))


def gold_passages(questions: Questions) -> Ranking:
    """For every question the documents that answer it, or that it was asked about: what a reader
    alone is judged on.
    """
    lists: dict[str, dict[str, float]] = {}
    for name, document in zip(questions.ids, questions.documents, strict=True):
        documents = [*(right.document for right in questions.rights[name]), document]
        lists[name] = {item: 1.0 for item in documents if item is not None}
    return Ranking.from_dict(lists)


def bm25_overlap(
    questions: Questions,
    *,
    k_retriever: int = 10,
    k_reader: int = 5,
    threshold: float = 0.5,
    tokenizer: str = "porter unicode61",
) -> tuple[Ranking, Predictions]:
    """SQLite's BM25 over the questions' own paragraphs, then the reader without a model: runs on
    any machine.
    """
    reader = OverlapReader(questions.contexts.values(), threshold=threshold)
    return _bm25(questions, reader, k_retriever, k_reader, tokenizer)


def bm25_transformers(
    questions: Questions,
    *,
    model: str,
    k_retriever: int = 10,
    k_reader: int = 5,
    null_threshold: float = 0.0,
    max_tokens: int = 384,
    stride: int = 128,
    device: str = "cpu",
    tokenizer: str = "porter unicode61",
) -> tuple[Ranking, Predictions]:
    """SQLite's BM25 over the questions' own paragraphs, then a reader of transformers, by folder or
    name.
    """
    reader = TransformersReader(
        model, max_tokens=max_tokens, stride=stride, null_threshold=null_threshold, device=device
    )
    return _bm25(questions, reader, k_retriever, k_reader, tokenizer)


def _bm25(
    questions: Questions, reader: Reader, k: int, k_reader: int, tokenizer: str
) -> tuple[Ranking, Predictions]:
    for name, number in (("k_retriever", k), ("k_reader", k_reader)):
        if type(number) is not int or number < 1:
            raise BadUsage(f"{name}={number!r}; expected a positive integer.")
    texts = question_texts(questions)
    with SqliteFts(questions.contexts.items(), tokenizer) as system:
        retrieved = retrieve(system, texts, k)
    return retrieved, read_answers(reader, texts, retrieved, questions.contexts, k=k_reader)
