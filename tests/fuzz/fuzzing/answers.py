"""Fuzzers of questions, predictions, no-answer probabilities and retrieved documents, and plain
parsers of strict files.
"""

import csv
import json
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from fuzzing import ANSWERS, FUZZERS, Fuzzer, Refused, Undecided
from fuzzing.mutations import text_file
from fuzzing.tables import content, json_lines, load_json, value_of

CONTEXT = "It was Paris in those days. Some say Lyon, others l'Ouganda or 1990."


class Question(NamedTuple):
    """A question, as in all formats."""

    id: str
    text: str
    answers: list[str]


def drawn(rng: Random) -> list[Question]:
    """A few questions, each with an answer or several."""
    names = ["Paris", "Lyon", "l'Ouganda", "1990"]
    return [
        Question(f"q{place}", f"What of {place}?", rng.sample(names, rng.randint(1, 2)))
        for place in range(rng.randint(1, 4))
    ]


def _lines(rows: list[Any]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def _csv(rows: list[dict[str, Any]]) -> str:
    stream = StringIO(newline="")
    writer = csv.DictWriter(stream, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return stream.getvalue()


def _passages(rng: Random) -> list[dict[str, Any]]:
    return [
        {"id": f"d{place}", "title": "t", "text": f"t\n{CONTEXT}", "score": str(9 - place)}
        for place in range(rng.randint(1, 3))
    ]


def _outputs(rng: Random, each: Question) -> list[dict[str, Any]]:
    return [
        {
            "answer": each.answers[0],
            "provenance": [{"wikipedia_id": f"d{rng.randint(0, 9)}", "title": "t"}],
        }
    ]


def _squad(_: Random, questions: list[Question]) -> str:
    qas: list[dict[str, Any]] = [
        {
            "id": each.id,
            "question": each.text,
            "answers": [{"text": a, "answer_start": CONTEXT.index(a)} for a in each.answers],
        }
        for each in questions
    ]
    for each in qas[:1]:
        each["is_impossible"] = False
    return json.dumps(
        {"version": "1", "data": [{"title": "T", "paragraphs": [{"context": CONTEXT, "qas": qas}]}]}
    )


def _rows(rng: Random, questions: list[Question]) -> str:
    columns = rng.random() < 0.5
    return _lines(
        [
            {
                "id": each.id,
                "question": each.text,
                "context": CONTEXT,
                "answers": {
                    "text": each.answers,
                    "answer_start": [CONTEXT.index(a) for a in each.answers],
                }
                if columns
                else each.answers,
            }
            for each in questions
        ]
    )


def _haystack(rng: Random, questions: list[Question]) -> str:
    return _csv(
        [
            {
                "query": each.text,
                "node": "Reader",
                "rank": rank,
                "type": "answer",
                "eval_mode": "integrated",
                "answer": each.answers[0],
            }
            | {
                "document_ids": "['d1']",
                "offsets_in_documents": "[{'start': 7, 'end': 12}]",
                "score": 0.5,
            }
            | {"gold_answers": str(each.answers), "gold_document_ids": "['d1']", "context": CONTEXT}
            for each in questions
            for rank in range(1, rng.randint(2, 4))
        ]
    )


def _haystack_documents(rng: Random, questions: list[Question]) -> str:
    return _csv(
        [
            {
                "query": each.text,
                "node": "Retriever",
                "rank": rank,
                "type": "document",
                "eval_mode": "integrated",
            }
            | {
                "document_id": f"d{rank}",
                "score": 1 / rank,
                "context": CONTEXT,
                "gold_answers": str(each.answers),
            }
            for each in questions
            for rank in range(1, rng.randint(2, 4))
        ]
    )


def _ragas(rng: Random, questions: list[Question]) -> str:
    rows = [
        {
            "user_input": each.text,
            "response": each.answers[0],
            "reference": each.answers[-1],
            "retrieved_contexts": [CONTEXT],
        }
        for each in questions
    ]
    return _lines(rows)


WRITTEN: dict[str, Callable[[Random, list[Question]], str]] = {
    "squad questions": _squad,
    "rows questions": _rows,
    "nq-open questions": lambda _, questions: _lines(
        [{"question": each.text, "answer": each.answers} for each in questions]
    ),
    "dpr-questions questions": lambda _, questions: "".join(
        f"{each.text}\t{each.answers}\n" for each in questions
    ),
    "dpr questions": lambda rng, questions: json.dumps(
        [
            {"question": each.text, "answers": each.answers, "ctxs": _passages(rng)}
            for each in questions
        ]
    ),
    "dpr retrieved": lambda rng, questions: json.dumps(
        [
            {"id": each.id, "question": each.text, "answers": each.answers, "ctxs": _passages(rng)}
            for each in questions
        ]
    ),
    "pyserini questions": lambda rng, questions: json.dumps(
        {
            each.id: {"question": each.text, "answers": each.answers, "contexts": _passages(rng)}
            for each in questions
        }
    ),
    "kilt questions": lambda rng, questions: _lines(
        [{"id": each.id, "input": each.text, "output": _outputs(rng, each)} for each in questions]
    ),
    "triviaqa questions": lambda _, questions: json.dumps(
        {
            "Domain": "Wikipedia",
            "VerifiedEval": False,
            "Data": [
                {
                    "QuestionId": each.id,
                    "Question": each.text,
                    "Answer": {"Value": each.answers[0], "NormalizedAliases": each.answers},
                }
                for each in questions
            ],
        }
    ),
    "haystack questions": _haystack,
    "haystack-labels questions": lambda _, questions: json.dumps(
        [
            {
                "query": each.text,
                "document": {"id": "d1", "content": CONTEXT},
                "answer": {"answer": each.answers[0]},
            }
            | {"is_correct_answer": True, "is_correct_document": True, "id": each.id}
            for each in questions
        ]
    ),
    "ragas questions": _ragas,
    "predictions predictions": lambda _, questions: json.dumps(
        {each.id: each.answers[0] for each in questions}
    ),
    "texts predictions": lambda _, questions: json.dumps(
        {each.id: each.answers for each in questions}
    ),
    "n-best predictions": lambda _, questions: json.dumps(
        {
            each.id: [{"text": text, "probability": 0.5} for text in each.answers]
            for each in questions
        }
    ),
    "hf predictions": lambda _, questions: json.dumps(
        [
            {"id": each.id, "prediction_text": each.answers[0], "no_answer_probability": 0.25}
            for each in questions
        ]
    ),
    "nq-open predictions": lambda _, questions: _lines(
        [{"question": each.text, "prediction": each.answers[0]} for each in questions]
    ),
    "kilt predictions": lambda rng, questions: _lines(
        [{"id": each.id, "output": _outputs(rng, each)} for each in questions]
    ),
    "haystack predictions": _haystack,
    "ragas predictions": _ragas,
    "ranked predictions": lambda _, questions: _lines(
        [
            {
                "id": each.id,
                "rank": rank,
                "text": text,
                "document": "d1",
                "start": 7,
                "end": 7 + len(text),
                "score": 1 / rank,
            }
            for each in questions
            for rank, text in enumerate(each.answers, 1)
        ]
    ),
    "na-probs na-probs": lambda rng, questions: json.dumps(
        {each.id: rng.randrange(9) / 8 for each in questions}
    ),
    "haystack retrieved": _haystack_documents,
    "kilt retrieved": lambda rng, questions: _lines(
        [{"id": each.id, "output": _outputs(rng, each)} for each in questions]
    ),
    "ragas retrieved": _ragas,
}
WRITTEN["pyserini retrieved"] = WRITTEN["pyserini questions"]


# Plain


def _of(value: Any, kind: type) -> Any:
    """A value of a kind. Raises Undecided for another, which a reader may know."""
    if type(value) is not kind:
        raise Undecided(f"{type(value).__name__} for {kind.__name__}")
    if kind is str:
        try:
            value.encode("utf-8", "surrogateescape")
        except UnicodeEncodeError as error:
            raise Refused("half a character") from error
    return value


def _texts_of(value: Any) -> list[str]:
    return [_of(each, str) for each in _of(value, list) if _of(each, str).strip()]


def _document(path: Path) -> Any:
    return load_json(content(path).decode("utf-8", "surrogateescape"))


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(dict(pairs)) < len(pairs):
        raise Refused("an id twice")
    if not all(name for name, _ in pairs):
        raise Undecided("an empty id")
    return dict(pairs)


def _objects(path: Path) -> list[dict[str, Any]]:
    raw = content(path)
    if raw.lstrip()[:1] == b"[":
        return [_of(each, dict) for each in _of(_document(path), list)]
    try:
        return [_of(_document(path), dict)]  # one record, whatever its lines
    except (ValueError, Refused):
        return json_lines(path)


def _text(value: Any) -> str:
    if not _of(value, str).strip():
        raise Undecided("an empty text")
    return value


def _plain_squad(path: Path) -> Any:
    found = list[tuple[str, Any]]()
    for article in _of(_of(_document(path), dict).get("data"), list):
        for paragraph in _of(_of(article, dict).get("paragraphs"), list):
            _of(_of(paragraph, dict).get("context"), str)
            for each in _of(paragraph.get("qas"), list):
                answers = [_of(one, dict) for one in _of(_of(each, dict).get("answers"), list)]
                if any(set(one) != {"text", "answer_start"} for one in answers):
                    raise Undecided("other keys")
                if any(_of(one["answer_start"], int) >= 2**63 for one in answers):
                    raise Refused("a start that is not a position")
                _text(each.get("question"))
                found.append(
                    (_of(each.get("id"), str), _texts_of([one["text"] for one in answers]))
                )
    return _unique(found)


def _plain_rows(path: Path) -> Any:
    found = list[tuple[str, Any]]()
    for each in _objects(path):
        if set(each) != {"id", "question", "context", "answers"}:
            raise Undecided("other keys")
        answers = each["answers"]
        if isinstance(answers, dict):
            if set(answers) != {"text", "answer_start"} or len(_of(answers["text"], list)) != len(
                _of(answers["answer_start"], list)
            ):
                raise Undecided("other columns")
            if any(_of(start, int) >= 2**63 for start in answers["answer_start"]):
                raise Refused("a start that is not a position")
            answers = answers["text"]
        _text(each["question"])
        found.append((_of(each["id"], str), _texts_of(answers)))
    return _unique(found)


def _plain_by_id(one: Callable[[Any], Any]) -> Callable[[Path], Any]:
    return lambda path: {
        _of(name, str): one(value) for name, value in _of(_document(path), dict).items()
    }


def _plain_kilt(path: Path) -> Any:
    found = list[tuple[str, Any]]()
    for each in _objects(path):
        _text(each.get("input"))
        outputs = [_of(one, dict) for one in _of(each.get("output"), list)]
        found.append(
            (
                _of(each.get("id"), str),
                _texts_of([one["answer"] for one in outputs if one.get("answer") is not None]),
            )
        )
    return _unique(found)


def _plain_ranked(path: Path) -> Any:
    found: dict[str, dict[int, str | None]] = {}
    for each in _objects(path):
        ranked = found.setdefault(_of(each.get("id"), str), {})
        if each.get("text") is not None:
            _of(each.get("text"), str)
        if "text" not in each or _of(each.get("rank"), int) < 1:
            raise Undecided("without a text or rank")
        if each["rank"] in ranked:
            raise Refused("a rank twice")
        ranked[each["rank"]] = each["text"]
    return {name: [ranked[rank] for rank in sorted(ranked)] for name, ranked in found.items()}


def _plain_hf(path: Path) -> Any:
    return _unique(
        [
            (_of(each.get("id"), str), [_of(each.get("prediction_text"), str)])
            for each in _objects(path)
        ]
    )


def _n_best(value: Any) -> list[str]:
    return [_of(_of(each, dict).get("text"), str) for each in _of(value, list)]


PLAIN: dict[str, Callable[[Path], Any]] = {
    "squad questions": _plain_squad,
    "rows questions": _plain_rows,
    "kilt questions": _plain_kilt,
    "predictions predictions": _plain_by_id(lambda value: [_of(value, str)]),
    "texts predictions": _plain_by_id(lambda value: [_of(each, str) for each in _of(value, list)]),
    "n-best predictions": _plain_by_id(_n_best),
    "na-probs na-probs": _plain_by_id(value_of),
    "hf predictions": _plain_hf,
    "ranked predictions": _plain_ranked,
}


def _plain_values(holds: str, found: Any) -> Any:
    table = found.table
    if holds == "na-probs":
        return {name: value + 0.0 for name, value in table.items()}
    bounds = table.offsets.tolist()
    rows = zip(
        table.queries if holds == "retrieved" else table.ids, bounds, bounds[1:], strict=False
    )
    column = (
        table.items
        if holds == "retrieved"
        else table.answers
        if holds == "questions"
        else table.texts
    )
    return {name: list(column[start:stop]) for name, start, stop in rows}


def _read(name: str, holds: str) -> Callable[[Path], Any]:
    def _of_file(path: Path) -> Any:
        from rankwell.tasks.qa import formats

        read = getattr(formats, f"read_{holds.replace('-', '_')}")
        named = {} if holds == "na-probs" else {"format": name}  # which has one form
        return _plain_values(holds, read(path, **named))

    return _of_file


def _write(name: str) -> Callable[[Random, Path], Path]:
    def _of_folder(rng: Random, folder: Path) -> Path:
        path = folder / "input"
        path.write_text(WRITTEN[name](rng, drawn(rng)), encoding="utf-8")
        return path

    return _of_folder


def _checked(plain: Callable[[Path], Any]) -> Callable[[Path], Any]:
    """The plain parser, which takes nothing for a decision that it fails at."""

    def _plain(path: Path) -> Any:
        if content(path).lstrip()[:1] not in (b"{", b"["):
            raise Undecided("perhaps a table")
        found = plain(path)
        if not found and plain is not PLAIN["na-probs na-probs"]:
            raise Refused("there is nothing in it")
        return found

    return _plain


for _name in WRITTEN:
    FUZZERS[f"{ANSWERS}: {_name}"] = Fuzzer(
        _write(_name),
        text_file,
        _read(*_name.split()),
        _checked(PLAIN[_name]) if _name in PLAIN else None,
    )
