"""Readers of transformers: any extractive model of AutoModelForQuestionAnswering, with span decoding of our own."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from rankwell.engines import Answer, Passage, ranked
from rankwell.errors import BadInput, BadUsage, MissingExtra


class TransformersReader:
    """The spans with the highest sum of start and end logit, over windows of the passages that overlap.

    model: a folder or a name that the cache or the Hub knows. max_tokens: question, window and special tokens together; two
    windows share `stride` tokens. max_answer_tokens: the longest span. candidates: how many starts and ends of a window are
    combined. null_threshold: what is taken off the score of there being no answer before the answers are ranked.
    That there is no answer scores the sum of both logits at the classification token, in the window where that is lowest, as an
    answer may be anywhere; without a passage it scores 0. Nothing is drawn at random; on other machines the last bits may differ.
    Raises MissingExtra without transformers or torch, BadInput where no such model can be loaded.
    Source: Devlin et al. 2019, section 4.3.
    """

    def __init__(
        self,
        model: str,
        *,
        device: str = "cpu",
        max_tokens: int = 384,
        stride: int = 128,
        max_answer_tokens: int = 30,
        candidates: int = 20,
        batch_size: int = 16,
        null_threshold: float = 0.0,
    ) -> None:
        limits = {"max_tokens": max_tokens, "max_answer_tokens": max_answer_tokens, "candidates": candidates}
        for name, value in {**limits, "batch_size": batch_size}.items():
            if value < 1:
                raise BadUsage(f"{name}={value}; give at least 1.")
        if stride < 0:
            raise BadUsage(f"stride={stride}; windows overlap by 0 tokens or more.")
        self._name, self._device = model, device
        self._tokenizer, self._model = _load(model, device)
        positions = getattr(self._model.config, "max_position_embeddings", max_tokens)
        self._max_tokens = min(max_tokens, self._tokenizer.model_max_length, positions)
        self._stride, self._batch_size = stride, batch_size
        self._max_answer_tokens, self._candidates = max_answer_tokens, candidates
        self._null_threshold = null_threshold

    def read(self, question: str, passages: Sequence[Passage], k: int) -> list[Answer]:
        """The best `k` answers of all passages and the answer that there is none; among equals earlier passages come first."""
        found: dict[tuple[str, int, int], Answer] = {}
        nulls: list[float] = []
        for window in self._windows(question, passages):
            nulls.append(window.null)
            for start, end, score in _best_spans(window, self._candidates, self._max_answer_tokens):
                answer = _cut(passages[window.passage], start, end, score)
                known = None if answer is None else found.get((answer.document or "", answer.start, answer.end))
                if answer is not None and (known is None or known.score < score):
                    found[answer.document or "", answer.start, answer.end] = answer
        null = Answer(None, min(nulls, default=0.0) - self._null_threshold)
        return ranked([*ranked(found.values())[: max(k, 0)], null])

    def _windows(self, question: str, passages: Sequence[Passage]) -> Iterator["_Window"]:
        """Every window of every passage, with its logits."""
        if not passages:
            return
        encoded = self._encode(question, passages)
        owners: list[int] = encoded.pop("overflow_to_sample_mapping")
        offsets: list[list[tuple[int, int]]] = encoded.pop("offset_mapping")
        for begin in range(0, len(owners), self._batch_size):
            rows = range(begin, min(begin + self._batch_size, len(owners)))
            starts, ends = self._logits({name: column[rows.start : rows.stop] for name, column in encoded.items()})
            for place, row in enumerate(rows):
                inside = [token for token, part in enumerate(encoded.sequence_ids(row)) if part == 1]
                null = self._null_token(encoded["input_ids"][row])
                yield _Window(
                    passage=owners[row],
                    spans=[offsets[row][token] for token in inside],
                    starts=starts[place, inside],
                    ends=ends[place, inside],
                    null=float(starts[place, null] + ends[place, null]),
                )

    def _encode(self, question: str, passages: Sequence[Passage]) -> Any:
        tokens = self._tokenizer(_clean(question), add_special_tokens=False)["input_ids"]
        room = self._max_tokens - len(tokens) - self._tokenizer.num_special_tokens_to_add(pair=True)
        if room <= self._stride:
            raise BadUsage(
                f"{self._name}: the question {question[:60]!r} has {len(tokens)} tokens, which leaves {max(room, 0)} of "
                f"{self._max_tokens} for the passage; expected more than the stride of {self._stride}: change either."
            )
        return self._tokenizer(
            [_clean(question)] * len(passages),
            [_clean(passage.text) for passage in passages],
            truncation="only_second",
            max_length=self._max_tokens,
            stride=self._stride,
            padding=True,
            return_overflowing_tokens=True,
            return_offsets_mapping=True,
        )

    def _logits(self, columns: dict[str, Any]) -> tuple[np.ndarray, np.ndarray]:
        import torch

        with torch.inference_mode():
            out = self._model(**{name: torch.tensor(column, device=self._device) for name, column in columns.items()})
        starts, ends = (logits.float().cpu().numpy().astype(np.float64) for logits in (out.start_logits, out.end_logits))
        if not (np.isfinite(starts).all() and np.isfinite(ends).all()):
            raise BadInput(f"{self._name} gives logits that are not finite; look at its weights and their precision.")
        return starts, ends

    def _null_token(self, tokens: Sequence[int]) -> int:
        """The place of the classification token; the first token of models that have none."""
        mark = self._tokenizer.cls_token_id
        return tokens.index(mark) if mark in tokens else 0


class _Window(NamedTuple):
    """A part of a passage. spans: (tokens,) where each begins and ends in it. starts, ends: (tokens,) logits."""

    passage: int
    spans: list[tuple[int, int]]
    starts: np.ndarray
    ends: np.ndarray
    null: float


def _best_spans(window: _Window, candidates: int, longest: int) -> Iterator[tuple[int, int, float]]:
    """The begin and end in the passage of every span of a good start and a good end, with its score."""
    firsts: list[int] = np.argsort(-window.starts, kind="stable")[:candidates].tolist()
    lasts: list[int] = np.argsort(-window.ends, kind="stable")[:candidates].tolist()
    for first in firsts:
        for last in lasts:
            if first <= last < first + longest:
                yield window.spans[first][0], window.spans[last][1], float(window.starts[first] + window.ends[last])


def _cut(passage: Passage, start: int, end: int, score: float) -> Answer | None:
    """The answer without the white space around it, which some tokenizers count to their tokens; None where nothing is left."""
    text = passage.text[start:end]
    start += len(text) - len(text.lstrip())
    text = text.strip()
    return Answer(text, score, passage.document, start, start + len(text)) if text else None


def _clean(text: str) -> str:
    """Bytes that are not UTF-8 are lone surrogates here, which no tokenizer takes; the text keeps its length."""
    return text.encode("utf-8", "replace").decode()


def _load(model: str, device: str) -> tuple[Any, Any]:
    try:
        import torch
        from transformers import AutoModelForQuestionAnswering, AutoTokenizer
        from transformers.utils import logging
    except ImportError as error:
        raise MissingExtra("models that read answers are run by transformers: pip install 'rankwell[text]'.") from error
    drawn = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        tokenizer = AutoTokenizer.from_pretrained(model)
        network = AutoModelForQuestionAnswering.from_pretrained(model).to(torch.device(device)).eval()
    except (OSError, ValueError, ImportError, RuntimeError) as error:
        what = str(error).strip().splitlines()[0][:200]
        raise BadInput(f"{model}: no model that reads answers can be loaded ({what}); name a folder that holds one.") from error
    finally:
        if drawn:
            logging.enable_progress_bar()
    if not tokenizer.is_fast:
        raise BadInput(f"{model}: its tokenizer gives no places of tokens in a text; use a model with a fast tokenizer.")
    return tokenizer, network
