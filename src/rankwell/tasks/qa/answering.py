"""Retrievers and readers run over questions: what they find and answer, as the tables that answers
are judged from. Of the readers one needs no model, the other runs any extractive model of
transformers.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from typing import Any, NamedTuple

import numpy as np

from rankwell.data.options import CountProgress
from rankwell.data.rankings import Ranking
from rankwell.engines.sqlite_fts5 import SqliteFts
from rankwell.errors import BadInput, BadUsage, MissingExtra
from rankwell.tasks.qa.answer_pairs import Predictions, Questions
from rankwell.tasks.qa.marks import Span
from rankwell.vectors.encoders import hub

_WORD = re.compile(r"[^\W_]+(?:[._'’-]+[^\W_]+)*", re.UNICODE)
_SENTENCE_END = re.compile(r"[.!?…][\"'”’)\]]*\s+|\n+")
_SHORTENED = re.compile(r"(?:^|[\s.(])(?:[^\W\d_]|Mr|Mrs|Ms|Dr|St|vs|No|Fig|ca|cf)$")
_NUMBER = re.compile(
    r"\d|^(?:zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|hundred|thousand|million)s?$"
)
_STOP = frozenset(
    re.findall(
        r"\w+",
        "a an and any are as at be been being but by can could did do does each for from had "
        "has have how if in into is it its "
        "itself may might must no nor not of on or other own shall should so some such than "
        "that the their them then there "
        "these they this those to up was were what when where which while who whom whose why "
        "will with would you your",
    )
)
_ASKS_NUMBER = re.compile(
    r"\b(?:how (?:many|much|long|old|often|far|large|big|wide|high|fast)|what "
    r"(?:number|year)|when)\b"
)
_NAMED = (
    "function|method|class|module|exception|attribute|argument|object|constant|type|"
    "warning|operator"
)
_ASKS_NAME = re.compile(rf"\b(?:what|which) (?:\w+ )?(?:{_NAMED})\b|\b(?:who|whom|whose|which)\b")
_CLAUSE_END = re.compile(r"[,;:()–—]")
_LONGEST = 12


class Passage(NamedTuple):
    """A text that a reader searches for an answer.

    document: id of the document.
    text: the text as the reader gets it; positions of answers count its characters.
    """

    document: str
    text: str


class Answer(NamedTuple):
    """The answer of a reader.

    text: text of the answer; None where the reader finds no answer.
    score: a finite score, higher is better.
    document: the id of the passage that holds it; None where unknown.
    start, end: positions in the characters of that passage, end exclusive; -1 where unknown.
    """

    text: str | None
    score: float
    document: str | None = None
    start: int = -1
    end: int = -1


def ranked(answers: Iterable[Answer]) -> list[Answer]:
    """The answers by score descending; those of one score keep their order, but that there is none
    comes after the others.
    """
    return sorted(answers, key=lambda answer: (-answer.score, answer.text is None))


# Called with the questions done and the questions in all.


def retrieve(system: SqliteFts, questions: Mapping[str, str], k: int) -> Ranking:
    """The best `k` documents of the system for every question; questions without any are kept.
    Raises DuplicateItem, BadScore.
    """
    rows = [
        (name, document, score)
        for name, text in questions.items()
        for document, score in system.search(text, k)[:k]
    ]
    queries, documents, scores = zip(*rows, strict=True) if rows else ((), (), ())
    return Ranking.from_rows(queries, documents, scores, all_queries=questions)


def read_answers(
    reader: "AnswerReader",
    questions: Mapping[str, str],
    retrieved: Ranking,
    documents: Mapping[str, str],
    *,
    k: int,
    progress: CountProgress | None = None,
) -> Predictions:
    """The best `k` answers to every question from its documents, that there is none being one of
    them.

    `no_answer` is the score of there being none less that of the best answer, or the surest
    question's where there is no answer.
    """
    lists, gaps, items = list[list[tuple[Any, ...]]](), list[float](), retrieved.to_dict()
    for done, (name, text) in enumerate(questions.items(), start=1):
        passages = [
            Passage(item, documents[item]) for item in items.get(name, ()) if item in documents
        ]
        answers = reader.read(text, passages, k)
        lists.append(
            [
                (answer.text, answer.document, answer.start, answer.end, answer.score)
                for answer in answers[:k]
            ]
        )
        nulls = [answer.score for answer in answers if answer.text is None]
        best = max(
            (answer.score for answer in answers if answer.text is not None), default=-math.inf
        )
        gaps.append(max(nulls) - best if nulls else math.nan)
        if progress is not None:
            progress(done, len(questions))
    surest = max(filter(math.isfinite, gaps), default=0.0)
    no_answer = [surest if gap == math.inf else gap for gap in gaps]
    return Predictions.from_lists(
        list(questions), lists, None if all(map(math.isnan, gaps)) else no_answer
    )


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
    questions: Questions, reader: "AnswerReader", k: int, k_reader: int, tokenizer: str
) -> tuple[Ranking, Predictions]:
    for name, number in (("k_retriever", k), ("k_reader", k_reader)):
        if type(number) is not int or number < 1:
            raise BadUsage(f"{name}={number!r}; expected a positive integer.")
    texts = question_texts(questions)
    with SqliteFts(questions.contexts.items(), tokenizer) as system:
        retrieved = retrieve(system, texts, k)
    return retrieved, read_answers(reader, texts, retrieved, questions.contexts, k=k_reader)


class _Word(NamedTuple):
    """A word and its position in a passage.

    start, end: positions in characters, end exclusive.
    text: the word as written.
    key: the form by which words are compared.
    """

    start: int
    end: int
    text: str
    key: str


class OverlapReader:
    """Looks for the answer in the sentences that hold the rarest words of the question, among the
    words that the question does not hold.

    documents: all texts that may be read, which decide how rare words are; without them every word
        weighs the same.
    threshold: the share of the question's weight that a sentence must hold for an answer. The
        statement that there is no answer has this score, and so comes first where no sentence
        reaches it.

    An answer's score is its sentence's share, less at most 1 % for its place among the words of
    that sentence. English: endings are cut off and words such as `the` and `which` left out. The
    same texts give the same answers on every machine.

    >>> reader = OverlapReader()
    >>> passage = Passage("d", "Paris lies on the Seine. The river Thames flows through London.")
    >>> reader.read("Which city does the river Thames flow through?", [passage], k=1)[0].text
    'London'
    """

    def __init__(self, documents: Iterable[str] = (), *, threshold: float = 0.5) -> None:
        self._threshold = threshold
        self._total, self._holding = 0, Counter[str]()
        for text in documents:
            self._total += 1
            self._holding.update({word.key for word in _words(text, 0, len(text))})

    def read(self, question: str, passages: Sequence[Passage], k: int) -> list[Answer]:
        """The best `k` answers of all passages, and that there is none; among equals earlier
        passages come first.
        """
        queried = {
            word.key: None
            for word in _words(question, 0, len(question))
            if word.text.lower() not in _STOP
        }
        # Inverse document frequency: 1 where every document holds the word, the more the rarer it
        # is.
        weights = {
            key: 1.0 + math.log((1 + self._total) / (1 + self._holding[key])) for key in queried
        }
        total = math.fsum(weights.values())
        answers: dict[tuple[str, int, int], Answer] = {}
        for document, text in passages if total else ():
            for start, end in _sentences(text):
                words = _words(text, start, end)
                keys = {word.key for word in words} & weights.keys()
                share = math.fsum(weights[key] for key in keys) / total
                if not share:
                    continue
                spans = _spans(text, words, weights, question.lower())
                for number, span in enumerate(spans):
                    score = share * (1 - 0.01 * number / len(spans))
                    answer = Answer(text[slice(*span)], score, document, *span)
                    answers.setdefault((document, *span), answer)
        return ranked([*ranked(answers.values())[: max(k, 0)], Answer(None, self._threshold)])


def _words(text: str, start: int, end: int) -> list[_Word]:
    return [
        _Word(match.start(), match.end(), match.group(), _key(match.group()))
        for match in _WORD.finditer(text, start, end)
    ]


def _key(word: str) -> str:
    """The word without case and without the ending that makes a plural, a past or a participle."""
    word = word.casefold()
    for ending in ("ing", "ed", "es", "s", "e"):
        if word.endswith(ending) and len(word) - len(ending) >= 3 and not word.endswith("ss"):
            return word[: -len(ending)]
    return word


def _sentences(text: str) -> list[Span]:
    """The begin and end of each sentence, white space around it left out."""
    ends = [
        match.end()
        for match in _SENTENCE_END.finditer(text)
        if not _SHORTENED.search(text, match.start() - 5, match.start())
    ]
    bounds = [_stripped(text, start, stop) for start, stop in pairwise([0, *ends, len(text)])]
    return [(start, stop) for start, stop in bounds if start < stop]


def _stripped(text: str, start: int, stop: int) -> Span:
    """The part of a text without the white space around it."""
    inside = text[start:stop]
    left = start + len(inside) - len(inside.lstrip())
    return left, left + len(inside.strip())


def _spans(
    text: str, words: Sequence[_Word], weights: dict[str, float], question: str
) -> list[Span]:
    """Runs of words that the question does not hold, the likeliest first; the whole sentence where
    it holds them all.
    """
    numbers = bool(_ASKS_NUMBER.search(question))
    names = not numbers and bool(_ASKS_NAME.search(question))
    anchors = [word for word in words if word.key in weights]

    def _merit(run: Sequence[_Word]) -> tuple[float, int]:
        start, end = run[0].start, run[-1].end
        near = math.fsum(
            weights[word.key] / (1 + max(start - word.end, word.start - end, 0)) for word in anchors
        )
        fits = any(
            (numbers and _NUMBER.search(word.text.lower())) or (names and _is_name(word, words[0]))
            for word in run
        )
        return (-near * (3 if fits else 1), start)

    runs = [run[:_LONGEST] for run in map(_trim, _runs(text, words, weights)) if run]
    return [(run[0].start, run[-1].end) for run in sorted(runs, key=_merit) or [words]]


def _runs(text: str, words: Sequence[_Word], weights: dict[str, float]) -> list[list[_Word]]:
    """The words between those of the question, and between the ends of clauses."""
    runs: list[list[_Word]] = [[]]
    end = 0
    for word in words:
        if word.key in weights or (end and _CLAUSE_END.search(text, end, word.start)):
            runs.append([])
        if word.key not in weights:
            runs[-1].append(word)
        end = word.end
    return runs


def _trim(run: Sequence[_Word]) -> Sequence[_Word]:
    """The run without words such as `the` at its ends."""
    inner = [row for row, word in enumerate(run) if word.text.lower() not in _STOP]
    return run[inner[0] : inner[-1] + 1] if inner else []


def _is_name(word: _Word, first: _Word) -> bool:
    """Whether it looks like a name: a capital that does not begin the sentence, a dot, an
    underscore or a digit within.
    """
    capital = word.text[0].isupper() and word.start != first.start
    return capital or any(letter in "._" or letter.isdigit() for letter in word.text)


@dataclass
class TransformersReader:
    """The spans with the highest sum of start and end logit, over windows of the passages that
    overlap.

    model: a folder or a name that the cache or the Hub knows.
    device: the device of torch, such as `cpu` or `cuda`.
    max_tokens: number of tokens of question, window and special tokens together; the model's own
        limit applies where it is smaller.
    stride: number of tokens that two windows of a passage share.
    max_answer_tokens: length of the longest span in tokens.
    candidates: number of starts and of ends in a window that are combined.
    batch_size: number of windows that the model reads at once.
    null_threshold: number that is subtracted from the score of there being no answer before the
        answers are ranked.

    The score of there being no answer is the sum of both logits at the classification token, in the
    window where that sum is lowest, since an answer may be in any window. Without a passage it is
    0. Nothing is drawn at random; on other machines the last bits may differ. Raises MissingExtra
    without transformers or torch, BadInput where no such model can be loaded. Source: Devlin et al.
    2019, section 4.3.
    """

    model: str
    device: str = "cpu"
    max_tokens: int = 384
    stride: int = 128
    max_answer_tokens: int = 30
    candidates: int = 20
    batch_size: int = 16
    null_threshold: float = 0.0

    def __post_init__(self) -> None:
        for name in ("max_tokens", "max_answer_tokens", "candidates", "batch_size"):
            if getattr(self, name) < 1:
                raise BadUsage(f"{name}={getattr(self, name)}; give at least 1.")
        if self.stride < 0:
            raise BadUsage(f"stride={self.stride}; windows overlap by 0 tokens or more.")
        self._tokenizer, self._model = _load(self.model, self.device)
        positions = getattr(self._model.config, "max_position_embeddings", self.max_tokens)
        self.max_tokens = min(self.max_tokens, self._tokenizer.model_max_length, positions)

    def read(self, question: str, passages: Sequence[Passage], k: int) -> list[Answer]:
        """The best `k` answers of all passages and the answer that there is none; among equals
        earlier passages come first.
        """
        answers: dict[tuple[str, int, int], Answer] = {}
        nulls: list[float] = []
        for window in self._windows(question, passages):
            nulls.append(window.null)
            for answer in _best_answers(
                window, passages[window.passage], self.candidates, self.max_answer_tokens
            ):
                span = answer.document or "", answer.start, answer.end
                if span not in answers or answers[span].score < answer.score:
                    answers[span] = answer
        null = Answer(None, min(nulls, default=0.0) - self.null_threshold)
        return ranked([*ranked(answers.values())[: max(k, 0)], null])

    def _windows(self, question: str, passages: Sequence[Passage]) -> Iterator["_Window"]:
        """Every window of every passage, with its logits."""
        if not passages:
            return
        encoded = self._encode(question, passages)
        owners: list[int] = encoded.pop("overflow_to_sample_mapping")
        offsets: list[list[Span]] = encoded.pop("offset_mapping")
        for begin in range(0, len(owners), self.batch_size):
            rows = range(begin, min(begin + self.batch_size, len(owners)))
            starts, ends = self._logits(
                {name: column[rows.start : rows.stop] for name, column in encoded.items()}
            )
            for number, row in enumerate(rows):
                inside = [
                    token for token, part in enumerate(encoded.sequence_ids(row)) if part == 1
                ]
                tokens, mark = encoded["input_ids"][row], self._tokenizer.cls_token_id
                null = tokens.index(mark) if mark in tokens else 0
                yield _Window(
                    passage=owners[row],
                    spans=[offsets[row][token] for token in inside],
                    starts=starts[number, inside],
                    ends=ends[number, inside],
                    null=float(starts[number, null] + ends[number, null]),
                )

    def _encode(self, question: str, passages: Sequence[Passage]) -> Any:
        tokens = self._tokenizer(_clean(question), add_special_tokens=False)["input_ids"]
        room = self.max_tokens - len(tokens) - self._tokenizer.num_special_tokens_to_add(pair=True)
        if room <= self.stride:
            raise BadUsage(
                f"{self.model}: the question {question[:60]!r} has {len(tokens)} tokens, which "
                f"leaves {max(room, 0)} of {self.max_tokens} for the passage; expected more than "
                f"the stride of {self.stride}: change either."
            )
        return self._tokenizer(
            [_clean(question)] * len(passages),
            [_clean(passage.text) for passage in passages],
            truncation="only_second",
            max_length=self.max_tokens,
            stride=self.stride,
            padding=True,
            return_overflowing_tokens=True,
            return_offsets_mapping=True,
        )

    def _logits(self, columns: dict[str, Any]) -> tuple[np.ndarray, np.ndarray]:
        import torch

        with torch.inference_mode():
            out = self._model(
                **{
                    name: torch.tensor(column, device=self.device)
                    for name, column in columns.items()
                }
            )
        starts, ends = (
            logits.float().cpu().numpy().astype(np.float64)
            for logits in (out.start_logits, out.end_logits)
        )
        if not (np.isfinite(starts).all() and np.isfinite(ends).all()):
            raise BadInput(
                f"{self.model} gives logits that are not finite; look at its weights and "
                "their precision."
            )
        return starts, ends


AnswerReader = OverlapReader | TransformersReader


class _Window(NamedTuple):
    """A part of a passage that fits into the model, with its logits.

    passage: position of the passage among those that are read.
    spans: (tokens,) positions of each token in the characters of the passage, end exclusive.
    starts, ends: (tokens,) logits of a start and of an end.
    null: the sum of both logits at the classification token.
    """

    passage: int
    spans: list[Span]
    starts: np.ndarray
    ends: np.ndarray
    null: float


def _best_answers(
    window: _Window, passage: Passage, candidates: int, longest: int
) -> Iterator[Answer]:
    """The answer of every span of a good start and a good end, without the white space that some
    tokenizers count to tokens.
    """
    firsts: list[int] = np.argsort(-window.starts, kind="stable")[:candidates].tolist()
    lasts: list[int] = np.argsort(-window.ends, kind="stable")[:candidates].tolist()
    for first, last in product(firsts, lasts):
        start, end = _stripped(passage.text, window.spans[first][0], window.spans[last][1])
        if first <= last < first + longest and start < end:
            score = float(window.starts[first] + window.ends[last])
            yield Answer(passage.text[start:end], score, passage.document, start, end)


def _clean(text: str) -> str:
    """Bytes that are not UTF-8 are lone surrogates here, which no tokenizer takes; the text keeps
    its length.
    """
    return text.encode("utf-8", "replace").decode()


def _load(model: str, device: str) -> tuple[Any, Any]:
    try:
        import torch
        from transformers import AutoModelForQuestionAnswering, AutoTokenizer
        from transformers.utils import logging
    except ImportError as error:
        raise MissingExtra(
            "models that read answers are run by transformers: pip install 'rankwell[text]'."
        ) from error
    drawn = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        local = hub.is_local(model)
        tokenizer = AutoTokenizer.from_pretrained(model, local_files_only=local)
        network = AutoModelForQuestionAnswering.from_pretrained(model, local_files_only=local)
        network = network.to(torch.device(device)).eval()
    except (OSError, ValueError, ImportError, RuntimeError) as error:
        why = hub.why_not_loaded(model, error)
        raise BadInput(
            f"{model}: no model that reads answers can be loaded ({why}); name a folder that "
            "holds one."
        ) from error
    finally:
        if drawn:
            logging.enable_progress_bar()
    if not tokenizer.is_fast:
        raise BadInput(
            f"{model}: its tokenizer gives no token offsets; use a model with a fast tokenizer."
        )
    return tokenizer, network
