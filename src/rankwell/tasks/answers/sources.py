"""What an evaluation of answers reads: the questions, what was retrieved for them, and what was answered."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from rankwell.core.tables.names import Repeats
from rankwell.errors import NothingToEvaluate
from rankwell.io import read_texts
from rankwell.store import STDIN, Source
from rankwell.tasks.answers.formats import (
    FoundQuestions,
    FoundRetrieved,
    read_na_probs,
    read_predictions,
    read_questions,
    read_retrieved,
)
from rankwell.tasks.answers.questions import Predictions, Questions

_OTHERWISE = {"retrieved": "retriever", "predictions": "reader", "isolated": "isolated"}


class Given(NamedTuple):
    """Files, or what their readers take instead, and their formats where content does not tell."""

    gold: Any
    predictions: Any
    retrieved: Any
    isolated: Any
    na_probs: Any
    corpus: Any
    formats: Mapping[str, str | None]
    duplicates: Repeats


class Sources(NamedTuple):
    """The tables. names: what each is called in rows. na_order: question ids in the order of the file of probabilities."""

    gold: FoundQuestions
    predictions: Predictions | None
    isolated: Predictions | None
    retrieved: FoundRetrieved | None
    corpus: Mapping[str, str] | None
    na_order: Sequence[str]
    names: Mapping[str, str]
    formats: Mapping[str, str]
    notes: tuple[str, ...]
    files: Mapping[str, Source]


def read_sources(given: Given) -> Sources:
    """Reads everything once. Raises NothingToEvaluate where a table has no question in common with the others."""
    gold = read_questions(given.gold, format=given.formats.get("gold"))
    questions, formats, notes = gold.table, {"gold": gold.format}, [*gold.notes]
    tables: dict[str, Predictions] = {}
    for role, place in (("predictions", given.predictions), ("isolated", given.isolated)):
        if place is not None:
            found = read_predictions(place, format=given.formats.get(role), questions=questions)
            tables[role] = found.table
            formats[role] = found.format
            notes += found.notes
    order: Sequence[str] = ()
    if given.na_probs is not None:
        probabilities = read_na_probs(given.na_probs)
        _refuse_strangers(questions, probabilities.table, "no-answer probabilities")
        tables["predictions"] = tables["predictions"].with_no_answer(probabilities.table)
        order, formats["na_probs"] = tuple(probabilities.table), probabilities.format
        notes += probabilities.notes
    retrieved = None
    if given.retrieved is not None:
        retrieved = read_retrieved(
            given.retrieved, format=given.formats.get("retrieved"), questions=questions, duplicates=given.duplicates
        )
        _refuse_strangers(questions, retrieved.table.index, "retrieved documents")
        formats["retrieved"] = retrieved.format
        notes += retrieved.notes
    corpus = None if given.corpus is None else read_texts(given.corpus).texts
    places = {name: getattr(given, name) for name in ("gold", "predictions", "retrieved", "isolated", "na_probs", "corpus")}
    return Sources(
        gold=gold,
        predictions=tables.get("predictions"),
        isolated=tables.get("isolated"),
        retrieved=retrieved,
        corpus=corpus,
        na_order=order,
        names=_names({role: places[role] for role in _OTHERWISE if places[role] is not None}),
        formats=formats,
        notes=tuple(notes),
        files={name: Source(place) for name, place in places.items() if _is_file(place)},
    )


def _is_file(place: Any) -> bool:
    return isinstance(place, (str, Path)) and str(place) not in STDIN


def _refuse_strangers(questions: Questions, others: Mapping[str, Any], what: str) -> None:
    """Raises NothingToEvaluate where no question is among the others."""
    if others and not any(name in others for name in questions.ids):
        example = f"questions have ids like {questions.ids[0]!r}, these like {next(iter(others))!r}"
        raise NothingToEvaluate(
            f"none of the {len(questions.ids)} questions has {what} ({example}); is this of another data set?"
        )


def _names(places: Mapping[str, Any]) -> dict[str, str]:
    """What each table is called: its file's stem; where stems are equal the whole name, the folder too, or what it is for."""
    names = {role: Source(place).stem if _is_file(place) else _OTHERWISE[role] for role, place in places.items()}
    for longer in (lambda path: path.name, lambda path: f"{path.parent.name}/{path.name}"):
        listed = [*names.values()]
        for role, place in places.items():
            if listed.count(names[role]) > 1 and _is_file(place):
                names[role] = longer(Path(place))
    listed = [*names.values()]
    # One file may hold answers and documents, as KILT's do.
    return {
        role: f"{Source(places[role]).stem} ({_OTHERWISE[role]})" if listed.count(name) > 1 else name
        for role, name in names.items()
    }
