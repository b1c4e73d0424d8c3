"""Check judgments and runs before trusting a number: what is missing, tied, contradictory,
duplicated or retrieved by itself.
"""

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np

from rankwell import reporting
from rankwell.data.judged_rankings import JudgedRankings
from rankwell.data.options import ColumnChoice, Doc, JudgmentColumns, Option, RunColumns
from rankwell.data.rankings import Ranking, hits_of_ranking
from rankwell.data.registry import parse_measure
from rankwell.data.tables import Judgments, figure
from rankwell.evaluation.judged import RunInput, name_runs, refuse_one_stream
from rankwell.evaluation.mistakes import copies, judgment_mistakes, run_mistakes
from rankwell.evaluation.notations import Gauge
from rankwell.io import formats as io
from rankwell.reporting.options import Output
from rankwell.stats import figure_of

_CUTS = (1, 5, 10, 20, 100, 1000)
Level = Literal["error", "warning", "ok", "note"]


@dataclass(frozen=True)
class Finding:
    """A line of a check: what was counted in which file; an error is certain to make numbers wrong,
    a note is a fact.

    ok: what would be an error or a warning did not occur.
    """

    file: str
    check: str
    level: Level
    count: int
    detail: str = ""


@dataclass(frozen=True, repr=False)
class Findings:
    """The findings of a check, file by file, and notes in whole sentences; printed as the table of
    the command line.
    """

    rows: tuple[Finding, ...]
    notes: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def errors(self) -> list[Finding]:
        """Those that are certain to make numbers wrong or undefined."""
        return [finding for finding in self.rows if finding.level == "error"]

    @property
    def warnings(self) -> list[Finding]:
        """Those that may be right for the data."""
        return [finding for finding in self.rows if finding.level == "warning"]

    @property
    def count(self) -> str:
        """The numbers of errors and of warnings."""
        return f"errors: {len(self.errors)}, warnings: {len(self.warnings)}"

    def text(
        self, format: reporting.Format = "table", terminal: reporting.Terminal = reporting.PLAIN
    ) -> str:
        """The rows in one of the formats of the command line."""
        return reporting.render_rows(
            [vars(finding) for finding in self.rows], format, terminal=terminal
        )

    def __str__(self) -> str:
        return self.text() + "\n".join([*self.notes, self.count])

    __repr__ = __str__


class InputForms(NamedTuple):
    """The formats and columns of judgments and runs, where their content does not determine
    them.
    """

    judgments_format: str | None = None
    qrels_columns: ColumnChoice | None = None
    run_format: str | None = None
    columns: ColumnChoice | None = None


def check(
    qrels: str,
    /,
    *runs: str,
    corpus: Path | None = None,
    qrels_format: str | None = None,
    qrels_columns: JudgmentColumns = None,
    run_format: str | None = None,
    columns: RunColumns = None,
    strict: bool = False,
    format: Annotated[
        Literal["table", "csv", "tsv", "json", "jsonl", "md"],
        Option(("--format", "-f")),
        Doc("How to print."),
    ] = "table",
) -> Output:
    """Check judgments and runs before trusting a number: what is missing, tied, contradictory,
    duplicated or retrieved by itself.

    An error is certain to make numbers wrong or undefined; a warning may be right for your data.
    Exit 1 with an error.

    Parameters
    ----------
    qrels
        File of judgments; `-` is standard input.
    runs
        Files of rankings.
    corpus
        File of the collection's items (BEIR corpus.jsonl, or any table with an id column), to find
        judged items that it lacks.
    qrels_format
        Name of the judgments' format, where their content does not determine it.
    run_format
        Name of the runs' format, where their content does not determine it.
    strict
        Exit 1 with a warning, too.
    """
    forms = InputForms(
        judgments_format=qrels_format,
        qrels_columns=qrels_columns,
        run_format=run_format,
        columns=columns,
    )
    findings = check_places(qrels, name_runs(list(runs)), corpus=corpus, forms=forms)
    text = findings.text(format, reporting.terminal_of(sys.stdout))
    return Output(
        text=text,
        notes=(*findings.notes, reporting.Aside(findings.count)),
        exit_code=int(bool(findings.errors or (strict and findings.warnings))),
    )


def check_places(
    judgments: Any, runs: Mapping[str, Any], *, corpus: str | Path | None = None, forms: InputForms
) -> Findings:
    """The findings on judgments, on a corpus and on runs by name, each a file or an object."""
    refuse_one_stream([judgments, *runs.values(), corpus])
    truth = io.find_judgments(
        judgments, format=forms.judgments_format, qrels_columns=forms.qrels_columns
    )
    notes = [*truth.notes]
    flat = truth.table.flat
    grades = ", ".join(
        f"{grade:g}: {int((flat.grades == grade).sum())}"
        for grade in np.unique(flat.grades).tolist()
    )
    relevant = np.bincount(flat.query_of_row[flat.grades > 0], minlength=len(flat.queries))
    queries_without_relevant = [
        flat.queries[query] for query in np.flatnonzero(relevant == 0).tolist()
    ]
    findings = [
        Finding("judgments", "queries", "note", len(flat.queries)),
        Finding("judgments", "judged items", "note", len(flat.items), f"by grade {grades}"),
        _finding("judgments", "queries with no relevant item", queries_without_relevant),
    ]
    mistakes = [("judgments", mistake) for mistake in judgment_mistakes(flat)]
    if corpus is not None:
        corpus_ids = io.read_ids(corpus)
        missing_items = sorted({item for item in flat.items if item not in corpus_ids})
        findings += [
            Finding("corpus", "items", "note", len(corpus_ids)),
            _finding("corpus", "judged items that the corpus lacks", missing_items),
        ]
    gauge = Gauge("nDCG@10", partial(_ndcg, flat))
    for name, source in runs.items():
        ranking = io.check_ranking(source, format=forms.run_format, columns=forms.columns)
        notes += ranking.notes
        findings += _about_run(name, flat, ranking)
        hits = hits_of_ranking(ranking.table, flat)
        run = RunInput(
            name, hits, source, ranking.format, forms.run_format, forms.columns, ranking.table
        )
        mistakes += [(name, mistake) for mistake in run_mistakes(run, flat, gauge=gauge)]
    mistakes += [("runs", mistake) for mistake in copies(runs)]
    findings += [
        Finding(file, mistake.kind, mistake.level, mistake.n) for file, mistake in mistakes
    ]
    return Findings(tuple(findings), (*notes, *(mistake.sentence for _, mistake in mistakes)))


def _ndcg(judgments: Judgments, ranking: Ranking) -> str:
    """The mean of nDCG@10 over all judged queries."""
    measure = parse_measure("nDCG@10")
    view = JudgedRankings.join(judgments, hits_of_ranking(ranking, judgments))
    return figure(
        figure_of(measure(view.resolve("id-desc")), measure.entry.summary), measure.entry.unit
    )


def _finding(file: str, check_name: str, names: Sequence[str], level: Level = "warning") -> Finding:
    """A finding with the first names, of what changes numbers; ok where there is none."""
    first_names = ", ".join(names[:5]) + (", …" if len(names) > 5 else "")
    return Finding(file, check_name, level if names else "ok", len(names), first_names)


def _about_run(name: str, truth: Judgments, ranking: io.CheckedRanking) -> list[Finding]:
    table = ranking.table
    lengths: list[int] = np.diff(table.offsets).tolist()
    parts = list(zip(table.queries, pairwise(table.offsets.tolist()), strict=True))
    run_queries = set(table.queries)
    missing_queries = [query for query in truth.queries if query not in run_queries]
    queries_by_problem = {
        "judged queries missing from the run": missing_queries,
        "queries without judgments": [query for query in table.queries if query not in truth.index],
        "queries that list an item twice": ranking.duplicated,
        "queries whose ranks contradict their scores": ranking.contradicting,
        "queries that retrieve themselves": [
            query for query, (start, stop) in parts if query in table.items[start:stop]
        ],
    }
    tied: dict[int, list[str]] = {cut: [] for cut in _CUTS}
    for query, (start, stop) in parts:
        ordered = np.sort(table.scores[start:stop])[::-1]
        for cut in _CUTS:
            if cut < stop - start and ordered[cut - 1] == ordered[cut]:
                tied[cut].append(query)
    queries_by_problem |= {
        f"queries with a tie across rank {cut}": queries for cut, queries in tied.items() if queries
    }
    sizes = f"{min(lengths, default=0)} to {max(lengths, default=0)} items each"
    # `evaluate` refuses a run that lists an item twice, or has no judged query.
    errors = {
        "queries that list an item twice",
        *(
            ["judged queries missing from the run"]
            if len(missing_queries) == len(truth.queries)
            else []
        ),
    }
    rows = (
        _finding(name, check_name, names, "error" if check_name in errors else "warning")
        for check_name, names in queries_by_problem.items()
    )
    return [Finding(name, "queries", "note", len(run_queries), sizes), *rows]
