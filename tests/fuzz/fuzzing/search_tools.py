"""Fuzzers of judgments as Quepid and OpenSearch hold them, and of a study's folder."""

import csv
import hashlib
import json
import re
from contextlib import suppress
from io import StringIO
from pathlib import Path
from random import Random

from fuzzing import FORMATS, FUZZERS, Fuzzer, Refused, Undecided
from fuzzing.mutations import text_file
from fuzzing.tables import (
    NUMBER,
    Table,
    add,
    cells,
    content,
    drawn,
    id_of,
    load_json,
    number_of,
    read,
    value_of,
)

GRADES = {"0": "no", "1": "some", "2": "yes"}


def _ratings(rng: Random, folder: Path) -> Path:
    stream = StringIO(newline="")
    writer = csv.writer(stream, lineterminator=rng.choice(("\n", "\r\n")))
    writer.writerow(("query", "docid", "rating"))
    writer.writerows(
        (f"{query}, or so", item, int(grade))
        for query, each in drawn(rng, whole=True).items()
        for item, grade in each.items()
    )
    path = folder / "input.csv"
    path.write_text(stream.getvalue(), encoding="utf-8", newline="")
    return path


def _plain_ratings(path: Path) -> Table:
    names, rows = cells(path, "csv")
    if names != ["query", "docid", "rating"]:
        raise Undecided("another header")
    table: Table = {}
    for query, item, rating in rows:
        if not query or not item:
            raise Refused("an empty id")
        for each in (query, item):
            try:
                each.encode()
            except UnicodeEncodeError as error:
                raise Refused("not UTF-8") from error
        add(table, query, item, number_of(rating.strip(" \t\r\n\v\f")))
    return table


def _imported(rng: Random, folder: Path) -> Path:
    lists = [
        {
            "query": f"{query}, or so",
            "ratings": [
                {"docId": item, "rating": rng.choice((grade, str(grade)))}
                for item, grade in each.items()
            ],
        }
        for query, each in drawn(rng, whole=True).items()
    ]
    path = folder / "input.json"
    found = {"name": "n", "description": "d", "type": "IMPORT_JUDGMENT", "judgmentRatings": lists}
    path.write_text(
        json.dumps(found, ensure_ascii=rng.random() < 0.5, indent=rng.choice((None, 1))),
        encoding="utf-8",
    )
    return path


def _plain_imported(path: Path) -> Table:
    found = load_json(content(path).decode("utf-8", "surrogateescape"))
    lists = found.get("judgmentRatings") if isinstance(found, dict) else None
    if not isinstance(lists, list) or not lists:
        raise Refused("no lists")
    table: Table = {}
    for each in lists:
        if not isinstance(each, dict) or not isinstance(each.get("ratings"), list):
            raise Refused("no ratings")
        query = id_of(each.get("query"))
        if not query or query in table:
            raise Refused("a query without text, or twice")
        table[query] = {}
        for rating in each["ratings"]:
            if not isinstance(rating, dict) or not id_of(rating.get("docId")):
                raise Refused("no document")
            number = rating.get("rating")
            is_text = isinstance(number, str)
            if is_text and number.startswith("+") and NUMBER.fullmatch(number):
                raise Refused("a plus")
            add(
                table,
                query,
                id_of(rating["docId"]),
                number_of(number) if is_text else value_of(number),
            )
    return table


def _study(rng: Random, folder: Path) -> Path:
    """The folder of a study with one judged batch; its journal is what changes."""
    import duckdb

    rows = [(query, item) for query, each in drawn(rng, whole=True).items() for item in each]
    (folder / "rounds").mkdir()
    (folder / "judgments").mkdir()
    names = "('" + "'), ('".join(dict.fromkeys(query for query, _ in rows)) + "')"
    duckdb.sql(
        f"COPY (SELECT col0 AS query, 'a text' AS text FROM (VALUES {names})) TO "
        f"'{folder / 'queries.parquet'}'"
    )
    cells_ = ", ".join(f"('{query}', '{item}', 0.5, 0.5, 0.5, 0, 1, 2)" for query, item in rows)
    columns = "query, item, u, prior, size_1, batch_1, rank_1, rank_2"
    pool = (
        f"COPY (SELECT * FROM (VALUES {cells_}) AS pool({columns})) TO "
        f"'{folder / 'rounds/1.parquet'}'"
    )
    duckdb.sql(pool)
    design = {
        "study": 1,
        "version": "0",
        "seed": 0,
        "design": "items",
        "purpose": "differences",
        "measure": "SDCG(max_rel=2)@10",
        "depth": 10,
        "batch": 100,
        "drawn": None,
        "thumbnails": None,
        "sources": {},
        "rounds": 1,
        "grades": [{"grade": int(grade), "name": name} for grade, name in GRADES.items()],
        "plan": {"level": 0.95, "looks": 5, "pairs": None},
        "runs": [
            {"name": name, "file": f"{name}.run", "digest": "sha256:0", "round": 1} for name in "ab"
        ],
    }
    digest = hashlib.sha256(json.dumps(design, sort_keys=True).encode()).hexdigest()
    (folder / "study.json").write_text(json.dumps({**design, "digest": digest}))
    lines = [
        {
            "time": "2026-11-25T12:00:00.000Z",
            "judge": "ann",
            "query": query,
            "item": item,
            "grade": rng.randrange(3),
            "note": "",
        }
        for query, item in rows
    ]
    _journal(folder / "study.json").write_text(
        "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), "utf-8"
    )
    return folder / "study.json"


def _journal(path: Path) -> Path:
    return path.parent / "judgments" / "ann.jsonl"


def _change_journal(rng: Random, path: Path) -> Path:
    text_file(rng, _journal(path))
    return path


def _plain_journal(path: Path) -> Table:
    if re.search(rb"postpone|unknown|open|action|purpose", raw := content(_journal(path))):
        raise Undecided("other acts")
    table: Table = {}
    pool = {(query, item) for query, item in _pooled(path.parent)}
    *lines, last = raw.split(b"\n")
    with suppress(
        ValueError
    ):  # a last line that was not written to its end is dropped; an object is whole
        lines += [last] * isinstance(json.loads(last.decode("utf-8", "surrogateescape")), dict)
    for line in lines:
        if not line.strip():
            continue
        found = load_json(line.decode("utf-8", "surrogateescape"))
        if not isinstance(found, dict) or any(
            not isinstance(found.get(name), str) or not found[name]
            for name in ("time", "judge", "query", "item")
        ):
            raise Refused("a key")
        if (
            found["judge"] != "ann"
            or type(found.get("grade")) not in (int, float)
            or found["grade"] not in (0, 1, 2)
        ):
            raise Refused("a judge or grade")
        if (found["query"], found["item"]) not in pool:
            raise Refused("not in the pool")
        table.setdefault(found["query"], {})[found["item"]] = float(found["grade"]) + 0.0
    if not table:
        raise Refused("no grade")
    return table


def _pooled(folder: Path) -> list[tuple[str, str]]:
    import duckdb

    with duckdb.connect() as session:
        return session.execute(
            f"SELECT query, item FROM '{folder / 'rounds/1.parquet'}'"
        ).fetchall()


FUZZERS[f"{FORMATS}: quepid judgments"] = Fuzzer(
    _ratings, text_file, read("judgments", "quepid"), _plain_ratings
)
FUZZERS[f"{FORMATS}: opensearch judgments"] = Fuzzer(
    _imported, text_file, read("judgments", "opensearch"), _plain_imported
)
FUZZERS[f"{FORMATS}: study judgments"] = Fuzzer(
    _study, _change_journal, read("judgments", "study"), _plain_journal
)
