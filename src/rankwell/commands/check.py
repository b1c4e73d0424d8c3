"""Check judgments and runs before trusting a number: what is missing, tied, contradictory, duplicated or retrieved by itself."""

import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np

from rankwell import report
from rankwell.core.options import Option
from rankwell.core.tables import Ints, Judgments
from rankwell.core.tables.ranking import Ranking
from rankwell.errors import BadUsage
from rankwell.evaluation.judged import name_runs
from rankwell.io import files as io
from rankwell.report.present import Output

CUTS = (1, 5, 10, 20, 100, 1000)


@dataclass(frozen=True)
class Finding:
    """A finding of a check. level: `note` for facts, `warning` for what changes numbers."""

    file: str
    check: str
    level: str
    count: int
    detail: str


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
    format
        How to print.
    """
    truth = io.find_judgments(qrels, format=qrels_format)
    notes = [f"judgments: read as {truth.format}", *truth.notes]
    findings = [*_about_truth(truth.table.flat), *(_about_corpus(truth.table.flat, corpus) if corpus else ())]
    named = name_runs(list(runs))
    if not named and not findings:
        raise BadUsage("name at least one run after the judgments: rankwell check QRELS RUN...")
    for name, place in named.items():
        ranking = io.check_ranking(place, format=run_format)
        notes += [f"{name}: read as {ranking.format}", *ranking.notes]
        findings += _about_run(name, truth.table.flat, ranking)
    return Output(
        text=report.render_rows([asdict(each) for each in findings], format, terminal=report.terminal_of(sys.stdout)),
        notes=tuple(notes),
    )


def _about_truth(truth: Judgments) -> list[Finding]:
    grades = truth.grades
    levels = ", ".join(f"{grade:g}: {int((grades == grade).sum())}" for grade in np.unique(grades).tolist())
    relevant = np.bincount(truth.query_of_row[grades > 0], minlength=len(truth.queries))
    none = [truth.queries[query] for query in np.flatnonzero(relevant == 0).tolist()]
    return [
        Finding("judgments", "queries", "note", len(truth.queries), ""),
        Finding("judgments", "judged items", "note", len(truth.items), f"by grade {levels}"),
        _finding("judgments", "queries without anything relevant", none),
    ]


def _about_corpus(truth: Judgments, corpus: Path) -> list[Finding]:
    known = io.read_ids(corpus)
    lacking = sorted({item for item in truth.items if item not in known})
    return [Finding("corpus", "items", "note", len(known), ""), _finding("corpus", "judged items that the corpus lacks", lacking)]


def _about_run(name: str, truth: Judgments, ranking: io.CheckedRanking) -> list[Finding]:
    table = ranking.table
    lengths: list[int] = np.diff(table.offsets).tolist()
    known = set(table.queries)
    tied = tie_table(table)
    found = [
        Finding(
            name, "queries", "note", len(table.queries), f"{min(lengths, default=0)} to {max(lengths, default=0)} items each"
        ),
        _finding(name, "judged queries that the run lacks", [query for query in truth.queries if query not in known]),
        _finding(name, "queries that the judgments lack", [query for query in table.queries if query not in truth.index]),
        _finding(name, "queries that list an item twice", ranking.duplicated),
        _finding(name, "queries whose ranks contradict their scores", ranking.contradicting),
        _finding(name, "queries that retrieve themselves", _own(table)),
    ]
    return found + [_finding(name, f"queries with a tie across rank {cut}", queries) for cut, queries in tied.items() if queries]


def _finding(file: str, what: str, names: Sequence[str]) -> Finding:
    shown = ", ".join(names[:5]) + (", …" if len(names) > 5 else "")
    return Finding(file, what, "warning" if names else "note", len(names), shown)


def _own(table: Ranking) -> list[str]:
    bounds = table.offsets.tolist()
    return [
        query for query, start, stop in zip(table.queries, bounds, bounds[1:], strict=False) if query in table.items[start:stop]
    ]


def tie_table(table: Ranking) -> dict[int, list[str]]:
    """For each usual cut-off the queries in which the items on both sides of it have the same score."""
    found: dict[int, list[str]] = {cut: [] for cut in CUTS}
    bounds = table.offsets.tolist()
    for query, start, stop in zip(table.queries, bounds, bounds[1:], strict=False):
        ordered: Any = -np.sort(-table.scores[start:stop])
        cuts: Ints = np.array([cut for cut in CUTS if cut < stop - start], dtype=np.int64)
        for cut in cuts[ordered[cuts - 1] == ordered[cuts]].tolist():
            found[cut].append(query)
    return found
