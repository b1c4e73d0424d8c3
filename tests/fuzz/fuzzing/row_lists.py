"""Fuzzers of relevant items per query in JSON, a row for each query."""

import json
from pathlib import Path
from random import Random

from fuzzing import FORMATS, FUZZERS, Fuzzer, Refused, Undecided
from fuzzing.mutations import text_file
from fuzzing.result_lists import records
from fuzzing.tables import Table, add, drawn, id_of, read, value_of

_LISTS = ("gold_docs", "relevant", "positive_ids")


def _write(rng: Random, folder: Path) -> Path:
    key, is_graded = rng.choice(_LISTS), rng.random() < 0.5
    rows = [
        {
            "id": query,
            key: [{"doc_id": item, "grade": grade} for item, grade in items.items()]
            if is_graded
            else list(items),
        }
        for query, items in drawn(rng, whole=True).items()
    ]
    text = json.dumps(rows) if rng.random() < 0.5 else "".join(json.dumps(r) + "\n" for r in rows)
    path = folder / "input.json"
    path.write_text(text, encoding="utf-8")
    return path


def _plain(path: Path) -> Table:
    table: Table = {}
    for row in records(path):
        if not isinstance(row, dict) or len(row) != 2 or next(iter(row)) != "id":
            raise Undecided("an object of another form")
        (_, query), (key, members) = row.items()
        if key not in _LISTS:
            raise Undecided("another key")
        name = id_of(query)
        if not name or name in table or not isinstance(members, list):
            raise Refused("a query without id, twice, or without a list")
        table[name] = {}
        kinds = {type(member) for member in members}
        if kinds & {dict, list} and len(kinds) > 1:
            raise Refused("ids and objects")
        if list in kinds:
            raise Undecided("pairs")
        grades = [member.get("grade") for member in members if isinstance(member, dict)]
        is_graded = any(grade is not None for grade in grades)
        for member in members:
            item, grade = member, 1.0
            if isinstance(member, dict):
                if member.keys() != {"doc_id", "grade"}:
                    raise Undecided("an object of other keys")
                item = member["doc_id"]
                grade = value_of(member["grade"]) if is_graded else 1.0
            add(table, name, id_of(item), grade)
    if not table:
        raise Refused("no query")
    return table


FUZZERS[f"{FORMATS}: lists judgments"] = Fuzzer(
    _write, text_file, read("judgments", "lists"), _plain
)
