"""Findings on judgments and runs: what is missing, tied, contradictory, duplicated or retrieved by
itself.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any, Literal

import numpy as np

from rankwell import reporting
from rankwell.data.judged_rankings import JudgedRankings
from rankwell.data.options import DocumentTexts, takes_options
from rankwell.data.rankings import Ranking, hits_of_ranking
from rankwell.data.registry import parse_measure
from rankwell.data.tables import Judgments, format_value
from rankwell.errors import count_of
from rankwell.evaluation.judged import RunInput, name_runs, refuse_one_stream
from rankwell.evaluation.mistakes import Gauge, copies, judgment_mistakes, run_mistakes
from rankwell.evaluation.options import JudgmentFileOptions, RunFormOptions
from rankwell.io import formats as io
from rankwell.stats import figure_of

_CUTS = (1, 5, 10, 20, 100, 1000)
Level = Literal["error", "warning", "ok", "note"]


@dataclass(frozen=True)
class Finding:
    """A line of a check: a count in one of the files.

    file: `judgments`, `corpus`, the name of a run, or `runs` for all of them.
    check: a phrase for what is counted, such as `queries that list an item twice`.
    level: an `error` makes numbers wrong for certain, a `warning` may be right for the data, and a
        `note` is a fact; `ok` where neither an error nor a warning was found.
    count: the number of cases.
    detail: the first ids or further numbers; "" where there are none.
    """

    file: str
    check: str
    level: Level
    count: int
    detail: str = ""


@dataclass(frozen=True, repr=False)
class Findings:
    """The findings of a check, printed as the table of the command line.

    rows: the lines, file by file.
    notes: whole sentences on how files were read and on each probable mistake.
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


@dataclass(frozen=True, kw_only=True)
class CheckOptions(RunFormOptions, JudgmentFileOptions):
    """What a check reads beside judgments and runs, and how it reads them."""

    documents: DocumentTexts = None


@takes_options(CheckOptions)
def check(judgments: Any, runs: Any = (), *, options: CheckOptions) -> Findings:
    """The findings on judgments and runs, as of `rankwell check`: what is missing, tied,
    contradictory, or a probable mistake.

    judgments, runs: as for `evaluate`; without runs the judgments alone. The findings have `errors`
    and `warnings`, and `notes` in whole sentences.
    Raises the reader's errors for what cannot be read.

    >>> import rankwell as rw
    >>> found = rw.check({"q1": {"a": 1}, "q2": {"b": 1}}, {"mine": {"q1": {"a": 2.0, "q1": 1.0}}})
    >>> found.errors
    []
    >>> [(warning.check, warning.count) for warning in found.warnings]
    [('judged queries missing from the run', 1), ('queries that retrieve themselves', 1)]
    """
    sources = name_runs(runs)
    refuse_one_stream([judgments, *sources.values(), options.documents])
    with io.in_order(judgments, sources.values()):
        truth = io.find_judgments(
            judgments, format=options.qrels_format, qrels_columns=options.qrels_columns
        )
    notes = [*truth.notes]
    flat = truth.judgments.flat
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
    if options.documents is not None:
        document_ids = io.read_ids(options.documents)
        missing_items = sorted({item for item in flat.items if item not in document_ids})
        findings += [
            Finding("corpus", "items", "note", len(document_ids)),
            _finding("corpus", "judged items that the corpus lacks", missing_items),
        ]
    gauge = Gauge("nDCG@10", partial(_ndcg, flat))
    for name, source in sources.items():
        ranking = io.check_ranking(source, format=options.run_format, columns=options.columns)
        notes += ranking.notes
        findings += _about_run(name, flat, ranking)
        hits = hits_of_ranking(ranking.table, flat)
        run = RunInput(
            name, hits, source, ranking.format, options.run_format, options.columns, ranking.table
        )
        mistakes += [(name, mistake) for mistake in run_mistakes(run, flat, gauge=gauge)]
    mistakes += [("runs", mistake) for mistake in copies(sources)]
    findings += [
        Finding(file, mistake.kind, mistake.level, mistake.n) for file, mistake in mistakes
    ]
    return Findings(tuple(findings), (*notes, *(mistake.sentence for _, mistake in mistakes)))


def _ndcg(judgments: Judgments, ranking: Ranking) -> str:
    """The mean of nDCG@10 over all judged queries."""
    measure = parse_measure("nDCG@10")
    view = JudgedRankings.join(judgments, hits_of_ranking(ranking, judgments))
    return format_value(
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
    least, most = min(lengths, default=0), max(lengths, default=0)
    sizes = f"{least} to {most} items each" if least < most else f"{count_of(most, 'item')} each"
    # `evaluate` refuses a run that lists an item twice, or has no judged query.
    errors = {"queries that list an item twice"}
    if len(missing_queries) == len(truth.queries):
        errors.add("judged queries missing from the run")
    rows = (
        _finding(name, check_name, names, "error" if check_name in errors else "warning")
        for check_name, names in queries_by_problem.items()
    )
    return [Finding(name, "queries", "note", len(run_queries), sizes), *rows]
