"""Fuzzers of LlamaIndex's data sets: queries, corpus and relevant_docs in one JSON document."""

import json
from pathlib import Path
from random import Random
from typing import Any

from fuzzing import FORMATS, FUZZERS, Fuzzer, Refused, Undecided
from fuzzing.mutations import text_file
from fuzzing.tables import content, drawn, id_of, load_json, read


def _write(rng: Random, folder: Path) -> Path:
    table = drawn(rng, whole=True)
    found = {
        "queries": {f"q {query}": "a b" for query in table},
        "corpus": {item: "é, c" for items in table.values() for item in items},
        "relevant_docs": {f"q {query}": list(items) for query, items in table.items()},
        "mode": "text",
    }
    path = folder / "input.json"
    path.write_text(
        json.dumps(found, ensure_ascii=rng.random() < 0.5, indent=rng.choice((None, 4))),
        encoding="utf-8",
    )
    return path


def _part(path: Path, name: str) -> dict[str, Any]:
    found = load_json(content(path).decode("utf-8", "surrogateescape"))
    if not isinstance(found, dict) or not isinstance(found.get(name), dict):
        raise Refused(f"no {name}")
    return found[name]


def _plain_judgments(path: Path) -> Any:
    found = _part(path, "relevant_docs")
    if not found or any(
        not isinstance(each, list) or any(isinstance(item, list) for item in each)
        for each in found.values()
    ):
        raise Undecided("values of another kind")
    plain = {id_of(query): dict.fromkeys(map(id_of, items), 1.0) for query, items in found.items()}
    if any(len(plain[query]) < len(items) for query, items in found.items()):
        raise Refused("an item is there twice")
    return plain


def _plain_texts(path: Path) -> Any:
    queries, corpus = _part(path, "queries"), _part(path, "corpus")
    if queries.keys() & corpus.keys() or not all(
        type(text) is str for text in (*queries.values(), *corpus.values())
    ):
        raise Refused("an id of both, or a text that is none")
    return {id_of(name): text for name, text in (queries | corpus).items()}


FUZZERS[f"{FORMATS}: llamaindex judgments"] = Fuzzer(
    _write, text_file, read("judgments", "llamaindex"), _plain_judgments
)
FUZZERS[f"{FORMATS}: llamaindex texts"] = Fuzzer(
    _write, text_file, read("texts", "llamaindex"), _plain_texts
)
