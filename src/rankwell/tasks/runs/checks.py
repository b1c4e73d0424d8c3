"""The check of judgments and runs: what an evaluation says about them, what takes a further pass
over the data, and whether a score can mean anything.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import compress
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankwell import reporting
from rankwell.conventions import Measures, Rules, choose_measures
from rankwell.data.findings import Finding, advising, by_level, errors_among, unignored
from rankwell.data.findings.kinds import (
    judged_items_missing,
    ranks_contradict_scores,
    recall_of_retrieved,
)
from rankwell.data.judged_rankings import JudgedRankings
from rankwell.data.options import DocumentTexts, Table, takes_options
from rankwell.data.rankings import Hits, Ranking, hits_of_ranking
from rankwell.data.registry import Measure
from rankwell.data.tables import (
    Bools,
    Floats,
    Ints,
    Judgments,
    exact_mean,
    exact_sd,
    position_in_segment,
    segment_offsets,
)
from rankwell.errors import NothingToEvaluate, count_of
from rankwell.evaluation.judged import (
    JudgedRun,
    RunInput,
    ideal,
    ideal_if_shared,
    name_runs,
    refuse_one_stream,
)
from rankwell.evaluation.mistakes import copies, judgment_mistakes, run_mistakes
from rankwell.evaluation.options import JudgmentFileOptions, RunFormOptions
from rankwell.evaluation.results import lowest_relevant
from rankwell.io import formats as io
from rankwell.stats import summary_findings
from rankwell.tasks.runs.evaluation import JudgmentOptions, RunEvaluation, read_run_judgments
from rankwell.tasks.runs.findings import (
    items_listed_twice,
    judged_for_other_runs,
    low_ceiling,
    no_better_than_shuffled,
    order_hardly_matters,
    queries_retrieve_themselves,
    run_not_evaluated,
    same_item_relevant,
    ties_decide_score,
)
from rankwell.tasks.runs.options import RunOptions

_ENOUGH = 10
"""The least number of queries for a statement about most of them, as for an interval."""
_DEEP = 1_000
_TOP = 10
_NEVER = np.iinfo(np.int64).max
_POOLED = 0.95
"""The share of judged items among the first ones of a run that was in a pool."""
_BY_TIES = 0.02
"""The least difference of means that is worth a word: 50 topics hardly resolve less (Voorhees and
Buckley 2002).
"""
_LEAST = np.finfo(np.float64).tiny
_MOST_NAMED = 3
_NEAR = 0.9
"""Where a random order reaches this share of the best one, systems differ in the rest alone."""


class LintedRun(NamedTuple):
    """What of a run is kept until all of them have been read.

    name: the name of the run.
    hits: its judged items.
    candidates: (queries of the judgments,) a number that is the same for the same items in any
        order.
    n_items: the number of different items.
    """

    name: str
    hits: Hits
    candidates: NDArray[np.int64]
    n_items: int

    @classmethod
    def of(cls, name: str, hits: Hits, ranking: Ranking, judgments: Judgments) -> "LintedRun":
        """The parts of a run."""
        hashes = np.fromiter(map(hash, ranking.items), dtype=np.int64, count=len(ranking.items))
        sums = np.concatenate([[0], np.cumsum(hashes)])[ranking.offsets]
        by_query = dict(zip(ranking.queries, np.diff(sums).tolist(), strict=True))
        candidates = [by_query.get(query, 0) for query in judgments.queries]
        return cls(name, hits, np.array(candidates, dtype=np.int64), len(set(ranking.items)))

    @property
    def key(self) -> tuple[bytes, ...]:
        """The same for runs that are copies, as far as they are judged."""
        return self.candidates.tobytes(), self.hits.row.tobytes(), self.hits.above.tobytes()

    def shuffled(self, judgments: Judgments) -> JudgedRankings:
        """The view of the same items, all of which are tied."""
        hits = self.hits
        counts = np.bincount(hits.query, minlength=len(judgments.queries))
        none = np.zeros(len(hits.row), dtype=np.int64)
        tied = hits.n_retrieved[hits.query]
        before = position_in_segment(segment_offsets(counts))
        tied_hits = replace(
            hits, score=none.astype(np.float64), above=none, tied=tied, before=before
        )
        return JudgedRankings.join(judgments, tied_hits)


def lint_judgments(judgments: Judgments, measures: Measures, rel: float) -> Iterator[Finding]:
    """The findings on measures that no ranking can bring near 1, and on an item that is relevant to
    most queries.
    """
    n_real = np.bincount(judgments.query_of_row, minlength=len(judgments.queries))
    perfect = ideal(judgments, np.maximum(n_real, _DEEP))
    has_relevant = perfect.n_relevant(rel) > 0
    n = int(has_relevant.sum())
    for measure, label in measures:
        ceilings = measure(perfect)
        if n and (ceiling := exact_mean(ceilings[has_relevant])) <= 0.5:
            counted = np.where(has_relevant, ceilings, np.inf)
            yield low_ceiling(label, ceiling, *_lowest_first(judgments.queries, counted, 0.5))
    counts = Counter(compress(judgments.items, (judgments.grades >= rel).tolist()))
    item, most = max(counts.items(), key=lambda pair: pair[1], default=("", 0))
    if n >= _ENOUGH and 2 * most >= n:
        one_list = np.zeros(len(judgments.queries), dtype=np.int64)
        shared = ideal_if_shared(judgments, one_list, np.maximum(n_real, _DEEP))
        measure, label = measures[0]
        score = exact_mean(measure(shared)[has_relevant])
        yield same_item_relevant(item, most, n, label, score)


def _lowest_first(
    queries: Sequence[str], figures: Floats, most: float
) -> tuple[list[str], list[float]]:
    """The queries whose figure is at most so high, and their figures."""
    rows: list[int] = np.argsort(figures, kind="stable")[: (figures <= most).sum()].tolist()
    return [queries[row] for row in rows], figures[rows].tolist()


def lint_runs(
    judgments: Judgments, runs: Sequence[LintedRun], measures: Measures, rel: float, ties: str
) -> Iterator[Finding]:
    """The findings on what runs can show: by their order, their ties, their candidates, and the
    items that were judged.
    """
    shuffled = [run.shuffled(judgments) for run in runs]
    for run, random in zip(runs, shuffled, strict=True):
        yield from _on_order(run, judgments, random, measures, rel, ties)
    is_given = _given_candidates(judgments, runs)
    if is_given.any():
        yield from _on_candidates(shuffled[0], is_given, measures, rel)
    yield from _on_pool(judgments, runs, is_given, measures, rel)


def _on_order(
    run: LintedRun,
    judgments: Judgments,
    random: JudgedRankings,
    measures: Measures,
    rel: float,
    ties: str,
) -> Iterator[Finding]:
    view = JudgedRankings.join(judgments, run.hits)
    in_order, in_ties = (JudgedRun(name="", view=view, ties=rule) for rule in (ties, "expected"))
    counted = view.n_relevant(rel) > 0
    beside = dict[str, tuple[float, float]]()
    n_orders = 0
    for measure, label in measures:
        if measure.entry.expected is None or not counted.any():
            continue
        values, chance = in_ties.evaluate(measure).values, _random_values(measure, random)
        if in_order.has_ties:
            named = exact_mean(in_order.evaluate(measure).values[counted])
            mean = exact_mean(values[counted])
            if abs(named - mean) >= _BY_TIES:
                yield ties_decide_score(run.name, label, named, mean)
        best, worst = (measure(random.resolve(rule)) for rule in ("optimistic", "pessimistic"))
        decided = counted & (best > worst)
        n = int(decided.sum())
        if n < _ENOUGH:
            continue
        n_orders += 1
        gain = values[decided] - chance[decided]
        if exact_mean(gain) <= 2 * exact_sd(gain) / n**0.5:
            beside[label] = exact_mean(values[decided]), exact_mean(chance[decided])
    # One measure by which the order is better shows that it is.
    if beside and len(beside) == n_orders:
        label, means = next(iter(beside.items()))
        yield no_better_than_shuffled(run.name, list(beside), label, *means)


def _random_values(measure: Measure, random: JudgedRankings) -> Floats:
    return measure.entry.expected(random, **dict(measure.arguments))  # pyright: ignore[reportOptionalCall]


def _given_candidates(judgments: Judgments, runs: Sequence[LintedRun]) -> Bools:
    """Whether systems only order the items of a query that they are given: (queries,). All of
    different runs have the same ones, or exactly the judged ones.
    """
    n_judged = np.bincount(judgments.query_of_row, minlength=len(judgments.queries))
    different = list({run.key: run for run in runs}.values())
    first = different[0]
    alike = np.full(len(judgments.queries), len(different) > 1)
    exact = n_judged > 1
    for run in different:
        lengths = run.hits.n_retrieved
        found = np.bincount(run.hits.query, minlength=len(n_judged))
        alike &= (run.candidates == first.candidates) & (lengths > 1)
        exact &= (lengths == n_judged) & (found == n_judged)
    return alike | exact


def _on_candidates(
    random: JudgedRankings, is_given: Bools, measures: Measures, rel: float
) -> Iterator[Finding]:
    has_relevant = random.n_relevant(rel) > 0
    labels, largest = list[str](), np.zeros(len(is_given))
    for measure, label in measures:
        if measure.entry.expected is None:
            continue
        best = measure(random.resolve("optimistic"))
        # Where nothing relevant is among the candidates, any order is the best one: 0 of 0 is 1.
        shares = (_random_values(measure, random) + _LEAST) / (best + _LEAST)
        shares[~(is_given & has_relevant)] = 0
        if 2 * (shares >= _NEAR).sum() >= has_relevant.sum() > 0:
            labels.append(label)
            largest = np.maximum(largest, shares)
    if labels:
        queries, figures = _lowest_first(random.queries, -largest, -_NEAR)
        yield order_hardly_matters(
            labels, queries, [-figure for figure in figures], int(has_relevant.sum())
        )


def _on_pool(
    judgments: Judgments, runs: Sequence[LintedRun], is_given: Bools, measures: Measures, rel: float
) -> Iterator[Finding]:
    """The findings on judgments of what these runs, or one of them, retrieved."""
    n_other = int((judgments.grades < rel).sum())
    best = np.full(len(judgments.grades), _NEVER)
    shares = dict[str, float]()
    for run in runs:
        hits = run.hits
        places = hits.above + hits.before
        best[hits.row] = np.minimum(best[hits.row], places)
        n_first = int(np.minimum(hits.n_retrieved, _TOP).sum())
        shares[run.name] = int((places < _TOP).sum()) / max(n_first, 1)
    judged_run = max(shares, key=lambda name: shares[name])
    if 10 * n_other < len(judgments.grades):
        # What is not relevant is not listed, so that only the places show which items were judged.
        if not _end_together(judgments, runs, best):
            return
        shares.clear()
    elif shares[judged_run] < _POOLED:
        return
    labels = [label for measure, label in measures if measure.name in ("R", "AP")]
    if labels and best.max() < _NEVER and not is_given.all():
        what = "what these runs retrieved: each judged item is in one of them, as in a pool of them"
        yield recall_of_retrieved("", labels, what)
    for name, share in shares.items():
        if share <= 0.5:
            yield judged_for_other_runs(name, share, judged_run, shares[judged_run], _TOP)


def _end_together(judgments: Judgments, runs: Sequence[LintedRun], best: Ints) -> bool:
    """Whether relevant items end at one place though more were to be expected behind it, as where
    judgments come from lists of that length. best: (rows of the judgments,) the best place of each
    in any run, from 0.

    Were they to become rarer as they do from the second quarter of the places to the second half,
    some `n_late ** 2 / n_before` would follow in as many places again. 10 leave room for a faster
    decay. Items that are late because their queries have so many do not count. Behind the end
    there must be as many other items. A single run shows nothing: its candidates may be given.
    """
    depth = int(best.max()) + 1
    n_relevant = np.bincount(judgments.query_of_row)[judgments.query_of_row]
    n_late = int((best >= np.maximum(depth / 2, n_relevant)).sum())
    n_before = int((best >= depth // 4).sum()) - n_late
    return (
        len({run.key for run in runs}) > 1
        and 2 * depth <= max(run.n_items for run in runs)
        and n_late**2 >= 10 * max(n_before, n_late)
    )


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
        """Findings that are certain to make numbers wrong or undefined."""
        return [finding for finding in self.findings if finding.level == "error"]

    @cached_property
    def warnings(self) -> list[Finding]:
        """Findings that change how to read a number."""
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

    def __str__(self) -> str:
        return "\n".join([self.sentence, "", self.text(), *lines_of(self.findings)])

    __repr__ = __str__


def lines_of(findings: Iterable[Finding], *, details: bool = True) -> list[str]:
    """A line for each finding, with its level and its name. details: whether the worst queries
    follow where they have figures.
    """
    lines = list[str]()
    for finding in findings:
        worst = [
            f"{query!r} {figure:.3f}"
            for query, figure in zip(finding.queries, finding.figures, strict=False)
        ]
        named = f"; worst: {', '.join(worst[:_MOST_NAMED])}" if details and worst else ""
        lines.append(f"{finding.level}: {finding}{named} [{finding.name}]")
    return lines


@dataclass(frozen=True, kw_only=True)
class CheckOptions(RunFormOptions, JudgmentFileOptions):
    """What a check reads beside judgments and runs, and how it reads them."""

    documents: DocumentTexts = None


@takes_options(CheckOptions)
@advising("evaluate")
def check(
    judgments: Table | Judgments, runs: Table | Ranking = (), *, options: CheckOptions
) -> Check:
    """Looks for mistakes in judgments and runs before you trust a number.

    It finds what `evaluate` finds, and also looks for items listed twice, items missing from a
    collection, and more.
    Raises BadInput for files that cannot be read at all, UnknownName for a format that does not
    exist, BadUsage for options that do not go together.

    Parameters
    ----------
    judgments
        The judgments, as for `evaluate`.
    runs
        The runs, as for `evaluate`. Without them, the judgments alone are checked.
    documents
        Texts of the items: a file (BEIR corpus.jsonl, or any table with an id column), a mapping id
        -> text, a list of rows such as `[{"id": "d1", "text": "words"}]`, or a data frame. Without
        it, items are not looked up.

    >>> import rankwell as rw
    >>> found = rw.check({"q1": {"a": 1}, "q2": {"b": 1}}, {"mine": {"q1": {"a": 2.0, "q1": 1.0}}})
    >>> found.errors
    []
    >>> [finding.name for finding in found.warnings if "q1" in finding.queries]
    ['queries-retrieve-themselves']
    """
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
        mistakes = list(run_mistakes(run, flat, gauge=evaluation.gauge(run)))
        findings += mistakes
        try:
            evaluation.add(run)
        except NothingToEvaluate as error:
            # An error that was found explains it.
            if not errors_among(mistakes):
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
