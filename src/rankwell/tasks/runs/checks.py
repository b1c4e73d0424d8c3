"""The check of judgments and runs: what an evaluation says about them, and what takes a further
pass over the data.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np

from rankwell import reporting
from rankwell.conventions import Rules, choose_measures
from rankwell.data.findings import Finding, advising, by_level, unignored
from rankwell.data.findings.mistakes import judged_items_missing, ranks_contradict_scores
from rankwell.data.options import DocumentTexts, takes_options
from rankwell.data.rankings import Ranking, hits_of_ranking
from rankwell.data.tables import Judgments, format_value
from rankwell.errors import NothingToEvaluate, count_of
from rankwell.evaluation.judged import RunInput, name_runs, refuse_one_stream
from rankwell.evaluation.mistakes import copies, judgment_mistakes, run_mistakes
from rankwell.evaluation.options import JudgmentFileOptions, RunFormOptions
from rankwell.evaluation.results import lowest_relevant
from rankwell.io import formats as io
from rankwell.stats import summary_findings
from rankwell.tasks.runs.evaluation import JudgmentOptions, RunEvaluation, read_run_judgments
from rankwell.tasks.runs.findings import (
    items_listed_twice,
    queries_retrieve_themselves,
    run_not_evaluated,
)
from rankwell.tasks.runs.lint import LintedRun, lint_judgments, lint_runs
from rankwell.tasks.runs.options import RunOptions


@dataclass(frozen=True)
class Fact:
    """A count in one of the files.

    file: `judgments`, `documents`, or the name of a run.
    fact: the word for what is counted, such as `queries`.
    count: the number of them.
    detail: further numbers; "" where there are none.
    """

    file: str
    fact: str
    count: int
    detail: str = ""


@dataclass(frozen=True, repr=False)
class Check:
    """The outcome of a check, printed as the command line prints it.

    facts: counts, file by file.
    findings: what may be wrong, the most serious first.
    """

    facts: tuple[Fact, ...]
    findings: tuple[Finding, ...]

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.findings)

    def __len__(self) -> int:
        return len(self.findings)

    @cached_property
    def errors(self) -> list[Finding]:
        """Those that are certain to make numbers wrong or undefined."""
        return [finding for finding in self.findings if finding.level == "error"]

    @cached_property
    def warnings(self) -> list[Finding]:
        """Those that change how to read a number."""
        return [finding for finding in self.findings if finding.level == "warning"]

    def text(
        self, format: reporting.Format = "table", terminal: reporting.Terminal = reporting.PLAIN
    ) -> str:
        """The facts and findings in one of the formats of the command line; a single table has the
        findings alone.
        """
        facts = [vars(fact) for fact in self.facts]
        if format in ("table", "json"):
            return reporting.render_rows(
                facts, format, findings=self.findings if format == "json" else (), terminal=terminal
            )
        names = ("level", "name", "run", "file", "message", "queries")
        rows = [{name: finding.as_dict().get(name) for name in names} for finding in self.findings]
        return reporting.render_rows(rows, format, terminal=terminal)

    @property
    def sentence(self) -> str:
        """Whether there are mistakes, and how many."""
        number = count_of(len(self.warnings), "warning")
        if not self.errors:
            return f"No errors, {number}."
        return f"{count_of(len(self.errors), 'error')}, {number}: correct the errors first."

    @property
    def lines(self) -> str:
        """The findings, one to a line, each with its level and its name."""
        return lines_of(self.findings)

    def __str__(self) -> str:
        return f"{self.sentence}\n\n{self.text()}\n{self.lines}"

    __repr__ = __str__


def lines_of(findings: Iterable[Finding]) -> str:
    """A line for each finding, with its level and its name."""
    return "\n".join(f"{finding.level}: {finding} [{finding.name}]" for finding in findings)


@dataclass(frozen=True, kw_only=True)
class CheckOptions(RunFormOptions, JudgmentFileOptions):
    """What a check reads beside judgments and runs, and how it reads them."""

    documents: DocumentTexts = None


@takes_options(CheckOptions)
def check(judgments: Any, runs: Any = (), *, options: CheckOptions) -> Check:
    """What `evaluate` finds in judgments and runs, as of `rankwell check`, and what takes a further
    pass over them: items that are listed twice, items that a collection lacks, and others.

    judgments, runs: as for `evaluate`; without runs the judgments alone. The outcome has
    `findings`, of which `errors` and `warnings` are a part, and `facts`.
    Raises the reader's errors for what cannot be read.

    >>> import rankwell as rw
    >>> found = rw.check({"q1": {"a": 1}, "q2": {"b": 1}}, {"mine": {"q1": {"a": 2.0, "q1": 1.0}}})
    >>> found.errors
    []
    >>> [finding.name for finding in found.warnings if "q1" in finding.queries]
    ['unjudged-in-top', 'queries-retrieve-themselves']
    """
    with advising("evaluate"):
        return _check(judgments, runs, options)


def _check(judgments: Any, runs: Any, options: CheckOptions) -> Check:
    sources = name_runs(runs)
    refuse_one_stream([judgments, *sources.values(), options.documents])
    reading = JudgmentOptions(format=options.qrels_format, columns=options.qrels_columns)
    with io.in_order(judgments, sources.values()):
        run_judgments = read_run_judgments(io.judgments_file(judgments), reading)
    flat = run_judgments.judgments
    settings = RunOptions(run_format=options.run_format, columns=options.columns)
    rules = Rules.resolve(settings.convention, unjudged="nonrelevant")
    measures = choose_measures(None, rules.convention)
    evaluation = RunEvaluation(settings, rules, measures, run_judgments, False, None)
    measures_of_order = [each for each in measures if each.measure.name != "Judged"]
    rel, linted = lowest_relevant(measures), list[LintedRun]()
    findings = [*judgment_mistakes(flat), *lint_judgments(flat, measures_of_order, rel)]
    facts = list(_facts_of(flat))
    if options.documents is not None:
        document_ids = io.read_ids(options.documents)
        facts.append(Fact("documents", "items", len(document_ids)))
        if missing := sorted({item for item in flat.items if item not in document_ids}):
            findings.append(judged_items_missing(str(options.documents), len(missing), missing[0]))
    for name, source in sources.items():
        ranking = io.check_ranking(
            source, format=options.run_format, columns=options.columns, judged=flat
        )
        lengths: list[int] = np.diff(ranking.table.offsets).tolist()
        least, most = min(lengths, default=0), max(lengths, default=0)
        sizes = f"{least} to {most} items" if least < most else count_of(most, "item")
        facts.append(Fact(name, "queries", len(lengths), f"{sizes} each"))
        hits = hits_of_ranking(ranking.table, flat)
        run = RunInput(
            name, hits, source, ranking.format, options.run_format, options.columns, ranking.table
        )
        findings += ranking.findings
        gauge = evaluation.gauge(run)
        findings += run_mistakes(
            run, flat, gauge=gauge._replace(mean_of=partial(_figure, gauge.mean_of))
        )
        try:
            evaluation.add(run)
        except NothingToEvaluate as error:
            findings.append(run_not_evaluated(str(error)))
        else:
            linted.append(LintedRun.of(name, hits, ranking.table, flat))
        findings += _of_whole_run(name, ranking)
    findings += copies(sources)
    if linted:
        findings += lint_runs(flat, linted, measures_of_order, rel, str(rules.ties))
    of_summary = summary_findings(evaluation.builder.values)
    every_finding = unignored([*evaluation.findings, *findings, *of_summary])
    return Check(tuple(facts), tuple(by_level(every_finding)))


def _figure(mean_of: Callable[[Ranking], str], ranking: Ranking) -> str:
    """The mean of a run, which is 0 where it shares no query with the judgments."""
    try:
        return mean_of(ranking)
    except NothingToEvaluate:
        return format_value(0.0, "share")


def _facts_of(judgments: Judgments) -> Iterator[Fact]:
    grades = ", ".join(
        f"{grade:g}: {int((judgments.grades == grade).sum())}"
        for grade in np.unique(judgments.grades).tolist()
    )
    yield Fact("judgments", "queries", len(judgments.queries))
    yield Fact("judgments", "judged items", len(judgments.items), f"by grade {grades}")


def _of_whole_run(name: str, ranking: io.CheckedRanking) -> Iterator[Finding]:
    """The findings for which all rows of a run are read."""
    table = ranking.table
    if ranking.duplicated:
        yield items_listed_twice(name, ranking.duplicated)
    if ranking.contradicting:
        yield ranks_contradict_scores(name, ranking.contradicting)
    own: Sequence[str] = [
        query for query in table.queries if query in table.items[table.rows_of(query)]
    ]
    if own:
        yield queries_retrieve_themselves(name, own)
