"""Drawn judgments and runs for the guides to migration: one plain case, and a case for each rule by
which tools differ.

Scores are multiples of 1/64 below 64, so that single precision holds them; grades are 0 to 3. The
same bytes for every Python.
"""

import json
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import NamedTuple

import numpy as np

Judged = dict[str, dict[str, int]]
Scored = dict[str, dict[str, float]]
N_QUERIES, N_ITEMS, DEPTH = 240, 400, 40


class Case(NamedTuple):
    """A pair of files by their names without suffixes, and how it differs from the plain one."""

    qrels: str
    run: str
    title: str


CASES = {
    "plain": Case("qrels", "bm25", "no ties, every judged query has a list"),
    "ties": Case("qrels", "ties", "scores rounded to integers"),
    "missing": Case("qrels", "missing", "24 of 240 queries have no list"),
    "empty": Case("empty", "bm25", "16 queries have no relevant item"),
    "own": Case("qrels", "own", "40 lists begin with the query's own id"),
}


def write(folder: Path) -> None:
    """Writes every file as TREC text and as JSON, and beside them the texts, relevant items and
    vectors of a model.
    """
    judgments, run = _drawn()
    queries = list(judgments)
    unlucky = set(queries[::15])
    _save(folder / "qrels", judgments)
    _save(
        folder / "empty",
        {
            query: dict.fromkeys(rows, 0) if query in unlucky else rows
            for query, rows in judgments.items()
        },
    )
    _save(folder / "bm25", run)
    _save(
        folder / "ties",
        {
            query: {item: float(int(score)) for item, score in rows.items()}
            for query, rows in run.items()
        },
    )
    _save(
        folder / "missing",
        {query: rows for query, rows in run.items() if query not in queries[::10]},
    )
    _save_vectors(folder, judgments)
    _save_beir(folder / "scifact", judgments)
    rows = [f"{query},s{place // 4},{place % 4 + 1}\n" for place, query in enumerate(queries)]
    (folder / "sessions.csv").write_text(
        "query,session,position\n" + "".join(rows), encoding="utf-8"
    )
    clear = [
        f"{query} 0 {item} {grade % 4}\n"
        for query, graded in judgments.items()
        for grade, item in enumerate(graded)
    ]
    (folder / "understandability.txt").write_text("".join(clear), encoding="utf-8")
    _save(
        folder / "own",
        {
            query: ({query: 99.0} if query in queries[::6] else {}) | rows
            for query, rows in run.items()
        },
    )


def renamed(script: str, case: Case) -> str:
    """The script with the names of the case's files in place of `qrels` and `bm25`."""
    for suffix in (".txt", ".json", ".run"):
        script = script.replace(f"qrels{suffix}", f"{case.qrels}{suffix}").replace(
            f"bm25{suffix}", f"{case.run}{suffix}"
        )
    return script


def _drawn() -> tuple[Judged, Scored]:
    draw = Random(20261126)
    items = [f"d{place:03}" for place in range(N_ITEMS)]
    judgments, run = Judged(), Scored()
    for number in range(N_QUERIES):
        query = f"q{number:03}"
        judged = draw.sample(items, draw.randint(3, 40))
        judgments[query] = {item: draw.choice((0, 0, 0, 1, 1, 2, 3)) for item in judged}
        judgments[query][judged[0]] = draw.randint(1, 3)
        retrieved = sorted(
            {
                *draw.sample(judged, draw.randint(1, len(judged))),
                *draw.sample(items, draw.randint(1, DEPTH)),
            }
        )
        # Relevant items come first more often than others, and no two scores are equal.
        places = {
            item: draw.random() - 0.5 * (judgments[query].get(item, 0) > 0) for item in retrieved
        }
        scores = sorted(draw.sample(range(1600), len(retrieved)), reverse=True)
        run[query] = {
            item: score / 64
            for item, score in zip(sorted(places, key=places.__getitem__), scores, strict=True)
        }
    return judgments, run


def _save_beir(folder: Path, judgments: Judged) -> None:
    """A data set in BEIR's form, with the judgments of the other files."""
    (folder / "qrels").mkdir(parents=True)
    rows = [
        f"{query}\t{item}\t{grade}\n"
        for query, listed in judgments.items()
        for item, grade in listed.items()
    ]
    (folder / "qrels/test.tsv").write_text(
        "query-id\tcorpus-id\tscore\n" + "".join(rows), encoding="utf-8"
    )
    for name, ids in (
        ("queries", list(judgments)),
        ("corpus", [f"d{place:03}" for place in range(N_ITEMS)]),
    ):
        lines = [
            json.dumps({"_id": each, "title": "", "text": f"text of {each}"}) + "\n" for each in ids
        ]
        (folder / f"{name}.jsonl").write_text("".join(lines), encoding="utf-8")


def _save_vectors(folder: Path, judgments: Judged) -> None:
    """Small integers, so that products are exact; a query is near its relevant items, and its text
    is its id.
    """
    draw = Random(20261127)
    items = {f"d{place:03}": [draw.randint(-9, 9) for _ in range(12)] for place in range(N_ITEMS)}
    relevant = {
        query: [item for item, grade in rows.items() if grade > 0]
        for query, rows in judgments.items()
    }
    queries = {
        query: [
            draw.randint(-9, 9) + sum(column)
            for column in zip(*(items[item] for item in found), strict=True)
        ]
        for query, found in relevant.items()
    }
    for name, vectors in (("queries", queries), ("corpus", items)):
        (folder / f"{name}.json").write_text(
            json.dumps({each: each for each in vectors}), encoding="utf-8"
        )
        np.save(folder / f"{name}.npy", np.array(list(vectors.values()), dtype=np.float32))
    (folder / "relevant.json").write_text(json.dumps(relevant), encoding="utf-8")


def _save(path: Path, rows: Judged | Scored) -> None:
    graded = path.name in ("qrels", "empty")
    line: Callable[[str, str, float], str] = (
        (lambda query, item, grade: f"{query} 0 {item} {grade}\n")
        if graded
        else (lambda query, item, score: f"{query} Q0 {item} 1 {score} {path.name}\n")
    )
    text = "".join(
        line(query, item, value) for query, listed in rows.items() for item, value in listed.items()
    )
    path.with_suffix(".txt" if graded else ".run").write_text(text, encoding="utf-8")
    path.with_suffix(".json").write_text(json.dumps(rows), encoding="utf-8")
