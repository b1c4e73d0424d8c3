"""Check judgments and runs before trusting a number: what is missing, tied, contradictory, duplicated or retrieved by itself."""

import sys
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Literal

import numpy as np

from rankwell import report
from rankwell.core.options import Option
from rankwell.core.tables import Judgments
from rankwell.errors import BadUsage
from rankwell.evaluation.judged import name_runs
from rankwell.io import files as io
from rankwell.report.present import Output

_CUTS = (1, 5, 10, 20, 100, 1000)


def check(
    qrels: str,
    /,
    *runs: str,
    corpus: Path | None = None,
    qrels_format: str | None = None,
    run_format: str | None = None,
    format: Annotated[Literal["table", "csv", "tsv", "json", "jsonl", "md"], Option(("--format", "-f"))] = "table",  # noqa: A002
) -> Output:
    """Check judgments and runs before trusting a number: what is missing, tied, contradictory, duplicated or retrieved by itself.

    Parameters
    ----------
    qrels
        File of judgments; `-` is standard input.
    runs
        Files of rankings.
    corpus
        File of the collection's items (BEIR corpus.jsonl, or any table with an id column), to find judged items that it lacks.
    qrels_format
        Name of the judgments' format, where their content does not determine it.
    run_format
        Name of the runs' format, where their content does not determine it.
    """
    truth = io.find_judgments(qrels, format=qrels_format)
    notes = [f"judgments: read as {truth.format}", *truth.notes]
    flat = truth.table.flat
    grades = ", ".join(f"{grade:g}: {int((flat.grades == grade).sum())}" for grade in np.unique(flat.grades).tolist())
    relevant = np.bincount(flat.query_of_row[flat.grades > 0], minlength=len(flat.queries))
    none = [flat.queries[query] for query in np.flatnonzero(relevant == 0).tolist()]
    findings = [
        _note("judgments", "queries", len(flat.queries)),
        _note("judgments", "judged items", len(flat.items), f"by grade {grades}"),
        _finding("judgments", "queries without anything relevant", none),
    ]
    if corpus:
        known = io.read_ids(corpus)
        lacking = sorted({item for item in flat.items if item not in known})
        findings += [_note("corpus", "items", len(known)), _finding("corpus", "judged items that the corpus lacks", lacking)]
    named = name_runs(list(runs))
    if not named and not findings:
        raise BadUsage("name at least one run after the judgments: rankwell check QRELS RUN...")
    for name, place in named.items():
        ranking = io.check_ranking(place, format=run_format)
        notes += [f"{name}: read as {ranking.format}", *ranking.notes]
        findings += _about_run(name, flat, ranking)
    return Output(text=report.render_rows(findings, format, terminal=report.terminal_of(sys.stdout)), notes=tuple(notes))


def _note(file: str, what: str, count: int, detail: str = "") -> report.Row:
    """A fact."""
    return {"file": file, "check": what, "level": "note", "count": count, "detail": detail}


def _finding(file: str, what: str, names: Sequence[str]) -> report.Row:
    """A warning with the first names, of what changes numbers; a note where there is none."""
    shown = ", ".join(names[:5]) + (", …" if len(names) > 5 else "")
    return {**_note(file, what, len(names), shown), "level": "warning" if names else "note"}


def _about_run(name: str, truth: Judgments, ranking: io.CheckedRanking) -> list[report.Row]:
    table = ranking.table
    lengths: list[int] = np.diff(table.offsets).tolist()
    parts = list(zip(table.queries, pairwise(table.offsets.tolist()), strict=True))
    known = set(table.queries)
    warned = {
        "judged queries that the run lacks": [query for query in truth.queries if query not in known],
        "queries that the judgments lack": [query for query in table.queries if query not in truth.index],
        "queries that list an item twice": ranking.duplicated,
        "queries whose ranks contradict their scores": ranking.contradicting,
        "queries that retrieve themselves": [query for query, (start, stop) in parts if query in table.items[start:stop]],
    }
    tied: dict[int, list[str]] = {cut: [] for cut in _CUTS}
    for query, (start, stop) in parts:
        ordered = np.sort(table.scores[start:stop])[::-1]
        for cut in _CUTS:
            if cut < stop - start and ordered[cut - 1] == ordered[cut]:
                tied[cut].append(query)
    warned |= {f"queries with a tie across rank {cut}": queries for cut, queries in tied.items() if queries}
    sizes = f"{min(lengths, default=0)} to {max(lengths, default=0)} items each"
    return [_note(name, "queries", len(known), sizes), *(_finding(name, what, names) for what, names in warned.items())]
