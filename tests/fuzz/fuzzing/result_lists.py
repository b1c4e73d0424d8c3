"""Fuzzers of results per query, as engines return them, in JSON."""

import json
from pathlib import Path
from random import Random
from typing import Any

from fuzzing import FORMATS, FUZZERS, Fuzzer, Refused, Undecided
from fuzzing.mutations import text_file
from fuzzing.tables import Table, add, content, drawn, id_of, load_json, read, value_of

_KEYS = ("id", "slice_id", "docno")


def _write(rng: Random, folder: Path) -> Path:
    key, number = rng.choice(_KEYS), rng.choice(("score", "distance", "similarity_score"))
    lists = [
        {"query_id": query, "results": [{key: item, number: each} for item, each in items.items()]}
        for query, items in drawn(rng).items()
    ]
    text = (
        json.dumps(lists)
        if rng.random() < 0.5
        else "".join(json.dumps(each) + "\n" for each in lists)
    )
    path = folder / "input.json"
    path.write_text(text, encoding="utf-8")
    return path


def records(path: Path) -> list[Any]:
    """The objects of a list or of lines."""
    text = content(path).decode("utf-8", "surrogateescape")
    if text.lstrip().startswith("["):
        return load_json(text)
    return [load_json(line) for line in text.split("\n") if line.strip(" \t\r")]


def _plain(path: Path) -> Table:
    table: Table = {}
    for each in records(path):
        if not isinstance(each, dict) or each.keys() != {"query_id", "results"}:
            raise Undecided("an object of another form")
        query = id_of(each["query_id"])
        if not query or query in table or not isinstance(each["results"], list):
            raise Refused("a query without id, twice, or without a list")
        table[query] = {}
        # Results without any score are ranked as they are listed.
        is_scored = any(
            isinstance(result, dict) and None not in result.values() for result in each["results"]
        )
        for place, result in enumerate(each["results"]):
            if not isinstance(result, dict) or len(result) != 2:
                raise Undecided("a result of another form")
            (key, item), (name, number) = result.items()
            if key not in _KEYS or name not in ("score", "distance", "similarity_score"):
                raise Undecided("other keys")
            value = value_of(number) if is_scored or number is not None else None
            sign = -1 if name == "distance" else 1
            add(table, query, id_of(item), -1.0 - place if value is None else sign * value + 0.0)
    if not table:
        raise Refused("no query")
    return table


FUZZERS[f"{FORMATS}: results run"] = Fuzzer(_write, text_file, read("run", "results"), _plain)
