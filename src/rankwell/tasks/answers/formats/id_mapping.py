"""JSON objects by question id: the official predictions, no-answer probabilities or null odds, and the n best answers."""

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from rankwell.store import write_text
from rankwell.tasks.answers.answer_pairs import Predictions
from rankwell.tasks.answers.formats import answer_format
from rankwell.tasks.answers.formats.content import Content
from rankwell.tasks.answers.formats.rows import AnswerRows


def _first(content: Content, is_one: Callable[[Any], bool]) -> bool:
    """Whether the document is an object, half or more of whose first values are of a kind."""
    values = list(content.value.values())[:21] if isinstance(content.value, Mapping) else []
    return bool(values) and 2 * sum(map(is_one, values)) >= len(values)


def _fits(content: Content) -> float:
    return 0.8 if _first(content, lambda value: value is None or isinstance(value, str)) and not content.prefix else 0.0


def _write(predictions: Predictions, path: Path) -> None:
    import json

    begins = predictions.offsets.tolist()
    chosen = {
        name: (predictions.texts[begin] or "") if begin < end else ""
        for name, begin, end in zip(predictions.ids, begins, begins[1:], strict=False)
    }
    write_text(path, json.dumps(chosen, ensure_ascii=False, indent=0) + "\n")


def _each(content: Content, wanted: str) -> Mapping[str, Any]:
    if not isinstance(content.value, Mapping):
        raise content.wrong((), content.value, wanted)
    content.refuse_repeated_keys()
    return content.value


@answer_format("predictions", "predictions", fits=_fits, write=_write, suffixes=(".json",))
def read(content: Content, rows: AnswerRows) -> None:
    """The official form `{id: text}`; an empty text, or null, says that there is no answer. Source: Rajpurkar et al. 2018."""
    for name, text in _each(content, "an object {id: text}").items():
        if text is not None and not isinstance(text, str):
            raise content.wrong((name,), text, "a text, or null for no answer,")
        rows.add((name,), name)
        rows.answer(text)


def _fits_number(content: Content) -> float:
    return 0.8 if _first(content, lambda value: isinstance(value, (int, float)) and not isinstance(value, bool)) else 0.0


@answer_format("na-probs", "na-probs", fits=_fits_number)
def read_na_probs(content: Content, rows: None) -> dict[str, float]:  # noqa: ARG001 - numbers need no rows
    """The form `{id: number}`: probabilities that there is no answer, or null odds, a score of that."""
    found: dict[str, float] = {}
    for name, value in _each(content, "an object {id: number}").items():
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
            raise content.wrong((name,), value, "a finite number")
        found[name] = float(value)
    return found


def _listed(content: Content, kind: Callable[[Any], bool]) -> float:
    """How surely the document is lists of one kind by id; empty lists alone are lists of anything."""
    values = list(content.value.values())[:21] if isinstance(content.value, Mapping) and not content.prefix else []
    lists: list[list[Any]] = [value for value in values if isinstance(value, list)]
    filled = [value for value in lists if value]
    fits = len(lists) == len(values) and 2 * sum(all(map(kind, value[:3])) for value in filled) >= max(len(filled), 1)
    return 0.9 if values and fits else 0.0


def _fits_n_best(content: Content) -> float:
    return _listed(content, lambda each: isinstance(each, Mapping) and not {"question", "answers"} & set(each))


def _fits_texts(content: Content) -> float:
    return _listed(content, lambda each: each is None or isinstance(each, str))


@answer_format("texts", "predictions", fits=_fits_texts)
def read_texts(content: Content, rows: AnswerRows) -> None:
    """The form `{id: [text, ...]}`, best first; an empty text, or null, says that there is no answer. An empty list is none."""
    for name, listed in _each(content, "an object {id: [text]}").items():
        if not isinstance(listed, list):
            raise content.wrong((name,), listed, "a list of texts, best first,")
        rows.add((name,), name)
        for rank, text in enumerate(listed):
            if text is not None and not isinstance(text, str):
                raise content.wrong((name, rank), text, "a text, or null for no answer,")
            rows.answer(text)


@answer_format("n-best", "predictions", fits=_fits_n_best)
def read_n_best(content: Content, rows: AnswerRows) -> None:
    """The form `{id: [{text, probability}]}` of `nbest_predictions.json`, best first.

    The probability of the empty text is that of there being no answer. Answers may carry `start`, `end` and `document`, and
    `score` in place of `probability`. Source: transformers, `run_qa.py`.
    """
    for name, listed in _each(content, "an object {id: [{text, probability}]}").items():
        if not isinstance(listed, list):
            raise content.wrong((name,), listed, "a list of answers, best first,")
        rows.add((name,), name)
        for rank, each in enumerate(listed):
            where = (name, rank)
            if not isinstance(each, Mapping):
                raise content.wrong(where, each, "an object with text and probability")
            text = content.text_or_null(each, where, "text")
            key = "probability" if "probability" in each else "score"
            score = content.number(each.get(key), (*where, key))
            rows.answer(
                text,
                document=content.id(each.get("document"), (*where, "document")),
                start=content.whole(each.get("start"), (*where, "start")),
                end=content.whole(each.get("end"), (*where, "end")),
                score=score,
            )
            if not text and not math.isnan(score):
                rows.no_answer(score)
