"""A run joined with its judgments, and the value, ceiling and chance level of a measure on it,
under a convention's rules.
"""

import heapq
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import compress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rankwell.conventions import Convention, LabelledMeasure, Measures
from rankwell.data.columns import query_key, row_names
from rankwell.data.findings import Finding
from rankwell.data.findings.kinds import (
    grades_alike,
    grades_as_binary,
    lists_shorter_than_cutoff,
    min_grade_not_used,
    own_items_judged,
    queries_missing,
    queries_unknown,
    queries_without_relevant,
    values_depend_on_ties,
)
from rankwell.data.judged_rankings import JudgedRankings, expected_values
from rankwell.data.options import ColumnChoice
from rankwell.data.rankings import Hits, Ranking
from rankwell.data.registry import Measure
from rankwell.data.tables import (
    TIE_RULES,
    Bools,
    Floats,
    Ints,
    Judgments,
    TieRule,
    exact_mean,
    format_value,
    is_rows,
    position_in_segment,
    segment_offsets,
)
from rankwell.documents import repeated_name
from rankwell.errors import BadInput, BadUsage, shown
from rankwell.store import STDIN, Source, encode_id, run_files, split_name, split_part

BOUNDING_TIE_RULES = ("optimistic", "pessimistic")


class MeasuredQueries(NamedTuple):
    """The values of a measure.

    values: (n,) usually one for each query, in the order of the view.
    source: (n,) the index of each value's query; None where values and queries are one to one.
    in_input_order: whether tied items kept the order of the input, because the measure has no
        closed form under `expected`.
    """

    values: Floats
    source: Ints | None = None
    in_input_order: bool = False


class Ceiling(NamedTuple):
    """The highest values that any ranker could reach.

    values: (queries,) the value of each query under a perfect ranker; None where it is unknown.
    reason: why it is unknown; empty where there is nothing to say.
    """

    values: Floats | None
    reason: str = ""


@dataclass(frozen=True, eq=False)
class ReferenceLevels:
    """The reference rankings: the perfect one, whose values are ceilings, and the one in which all
    items are tied, whose values are the chance level.

    judgments: the judgments of the run; every ranking has their queries.
    candidates: (queries of the judgments,) number of items that could be retrieved.
    order: the positions of the view's queries among those of the judgments; None where they are the
        same.
    """

    judgments: Judgments
    candidates: Ints
    order: Ints | None = None

    @cached_property
    def perfect(self) -> JudgedRankings:
        """The view of a perfect ranker."""
        return self.perfect_of(self.candidates)

    def perfect_of(self, lengths: Ints) -> JudgedRankings:
        """The view of a perfect ranker that returns `lengths` items, (queries of the
        judgments,).
        """
        return self._ordered(ideal(self.judgments, lengths))

    @cached_property
    def random(self) -> JudgedRankings:
        """The view of a ranker without knowledge: all candidates of a query are tied."""
        return self._ordered(constant(self.judgments, self.candidates))

    def _ordered(self, view: JudgedRankings) -> JudgedRankings:
        return view if self.order is None else view.take(self.order)


@dataclass(frozen=True, eq=False, kw_only=True)
class JudgedRun:
    """One run under one set of judgments, before ties are broken. A task with rules of its own
    overrides `evaluate` and the levels.

    name: the name of the run in results; empty where nothing shows it.
    view: the judged items of each query with their rank counts.
    ties: the tie rule, or a matrix's tie rule that names an order, which the counts then have
        already.
    attributes: further columns of the summary rows, such as `direction`.
    levels: the reference rankings; None where the number of candidates is not known.
    other_views: function that returns the view of another type, for measures that read one; None
        without such views.
    tied_items: the words for tied items and their order in the finding on input order.
    """

    name: str
    view: JudgedRankings
    ties: str
    attributes: Mapping[str, Any] = field(default_factory=dict)
    levels: ReferenceLevels | None = None
    other_views: Callable[[type], Any] | None = None
    tied_items: str = "tied items keep the order of the input"

    @property
    def tie_rule(self) -> TieRule:
        """The rule by which the view is resolved; rules of a matrix name an order that the rank
        counts have already.
        """
        rules: dict[str, TieRule] = {rule: rule for rule in TIE_RULES}
        return rules.get(self.ties, "input")

    @cached_property
    def has_ties(self) -> bool:
        """Whether a judged item is tied with any other."""
        return bool((self.view.tied > 1).any())

    @cached_property
    def resolved(self) -> JudgedRankings:
        """The view with tied items at the places of the rule. Raises TieRefused under `error`."""
        return self.view.resolve(self.tie_rule)

    @property
    def in_input_order(self) -> "JudgedRun":
        """The same run with tied items in the order of the input; itself where the rank counts have
        that order already.
        """
        return self

    def counted_by(self, measure: Measure, counted: Bools) -> Bools:
        """Whether a query, one of the counted ones, is counted by a measure."""
        del measure
        return counted

    def weights(self, measure: Measure) -> Floats | None:
        """The weight of each query in the mean of a measure, None where all count alike."""
        del measure
        return None

    def evaluate(self, measure: Measure) -> MeasuredQueries:
        """The values of a measure under the tie rule. Raises BadUsage for a measure that has none
        under it.
        """
        view = self._view_of(measure)
        if self.ties != "expected" or not self.has_ties:
            return MeasuredQueries(measure(view))
        if measure.entry.expected is not None:
            return MeasuredQueries(measure.entry.expected(view, **dict(measure.arguments)))
        return MeasuredQueries(measure(self.in_input_order._view_of(measure)), in_input_order=True)

    def _view_of(self, measure: Measure) -> Any:
        kind = measure.entry.view
        if kind is JudgedRankings:
            return self.resolved
        if self.other_views is None:
            raise BadUsage(f"{measure} needs {measure.entry.needs}.")
        return self.other_views(kind)

    def ceiling(self, measure: Measure, counted: Bools) -> Ceiling:
        """The value of each query under a perfect ranker. counted: those over which the tightest of
        several is chosen.
        """
        del counted
        return Ceiling(None if self.levels is None else measure(self.levels.perfect))

    def chance(self, measure: Measure) -> Floats | None:
        """The expected value of each query under a ranker without knowledge; NaN without a closed
        form, None without candidates.
        """
        return self.levels and expected_values(measure, self.levels.random)

    @cached_property
    def _ends(self) -> tuple[JudgedRankings, ...]:
        """The views with tied items at their best and at their worst places; none where nothing is
        tied.
        """
        return tuple(map(self.view.resolve, BOUNDING_TIE_RULES)) if self.has_ties else ()

    def tied(self, measure: Measure) -> Bools:
        """Whether another order of ties would change a query's value; with another view, whether a
        judged item is tied.
        """
        changed = np.zeros(len(self.view.queries), dtype=np.bool_)
        if not self._ends:
            return changed
        if measure.entry.view is not JudgedRankings:
            changed[self.view.query_of_row[self.view.tied > 1]] = True
            return changed
        best, worst = map(measure, self._ends)
        return (best != worst) & ~(np.isnan(best) & np.isnan(worst))

    @cached_property
    def n_best_tied(self) -> int:
        """The number of queries whose best relevant item ties with one that is not relevant."""
        view = self.view
        size = np.bincount(view.tie_of_row)[view.tie_of_row]
        _, first = np.unique(view.query_of_row, return_index=True)
        return int((view.tied[first] > size[first]).sum())


def findings_on_counts(
    run: JudgedRun,
    *,
    missing: Sequence[str] = (),
    counts_missing: bool = True,
    unknown: Sequence[str] = (),
    bare: Bools,
    bare_by: Sequence[str] = (),
    tied: Mapping[str, Bools],
) -> Iterator[Finding]:
    """The findings on queries that a run lacks, which may not count, or has without judgments, on
    counted ones without anything relevant, (queries,), by some measures alone where `bare_by` has
    their labels, and on those whose values depend on ties: label -> (queries,).
    """
    queries, noun = run.view.queries, ("query", "queries")
    if missing:
        effect = "nothing was retrieved" if counts_missing else "left out of the mean"
        yield queries_missing(run.name, missing, noun, effect=effect)
    if unknown:
        yield queries_unknown(run.name, unknown, noun, "relevance judgments")
    if bare.any():
        yield queries_without_relevant(list(compress(queries, bare.tolist())), bare_by)
    labels = [label for label, is_tied in tied.items() if is_tied.any()]
    if run.ties in ("id-desc", "id-asc", "input") and labels:
        is_tied = np.logical_or.reduce([*tied.values()])
        yield values_depend_on_ties(run.name, labels, list(compress(queries, is_tied.tolist())))


def findings_on_grades(measures: Measures, grades: Floats) -> Iterator[Finding]:
    """The finding on several relevant grades that measures take alike."""
    labels = [label for measure, label in measures if measure.parameters.get("rel") == 1]
    relevant = np.unique(grades[grades >= 1])
    if labels and len(relevant) > 1:
        yield grades_as_binary(labels, float(relevant[0]), float(relevant[-1]), 1)


def findings_on_min_grade(measures: Measures, min_grade: float | None) -> Iterator[Finding]:
    """The finding on measures that `--min-grade`, where it is given, does not change."""
    unchanged = [
        labelled
        for labelled in measures
        if not labelled.measure.parameters.get("rel") and labelled.measure.entry.better != "neither"
    ]
    if min_grade is not None and unchanged:
        weighing = [each.measure for each in unchanged if "rel" in each.measure.entry.parameters]
        example = str(weighing[0].with_parameters(rel=min_grade)) if weighing else ""
        yield min_grade_not_used([labelled.label for labelled in unchanged], example)


def findings_on_lengths(measures: Measures, longest_lists: Mapping[str, int]) -> Iterator[Finding]:
    """The findings on runs with much shorter lists than others and than a cut-off. longest_lists:
    run -> the items of its longest list.
    """
    longest = max(longest_lists.values(), default=0)
    for run, length in longest_lists.items():
        labels = [
            label
            for measure, label in measures
            if length < longest and 2 * length <= min(measure.cutoff or longest, longest)
        ]
        if labels:
            yield lists_shorter_than_cutoff(run, length, longest, labels)


class RunInput(NamedTuple):
    """A run with its origin, as the search for mistakes reads it.

    name: the name of the run in results and messages.
    hits: the rows of the run under the judgments.
    origin: the path or the rows that it was read from.
    format: name of the format of the run.
    run_format, columns: the format and the columns that the user named; None for none.
    ranking: all rows of the run, where they have been read.
    is_shard: whether the origin is one of several files of the run.
    judged: the judgments, where the origin is to be read by them.
    """

    name: str
    hits: Hits
    origin: Any
    format: str
    run_format: str | None = None
    columns: ColumnChoice | None = None
    ranking: Ranking | None = None
    is_shard: bool = False
    judged: Judgments | None = None


def refuse_one_stream(inputs: Iterable[Any]) -> None:
    """Raises BadUsage where two inputs are standard input, which holds one."""
    paths = [str(path) for path in inputs if isinstance(path, (str, Path))]
    if sum(path in STDIN for path in paths) > 1:
        raise BadUsage(
            "standard input is named for two inputs and holds one; name a file for the other."
        )


def name_runs(runs: Any) -> dict[str, Any]:
    """Runs by name: a mapping name -> run as it is; files by the name in front of them
    (`NAME=FILE`), else by their stem, with the parent folder where two stems are equal.

    A Parquet file whose column `run` names several is that many runs.
    """
    if isinstance(runs, Mapping):
        for name, run in runs.items():
            if run is None:
                raise BadInput(
                    f"{shown(name)} is None; give a query without results an empty list, and a run "
                    "as a file or as rows."
                )
        if runs and not _is_run(runs):
            return {name: _rereadable(run) for name, run in runs.items()}
    runs = list(runs) if isinstance(runs, Iterator) else runs
    is_list = isinstance(runs, (list, tuple)) and not is_rows(runs)
    sources: list[Any] = list(runs) if is_list else [runs]
    stated, run_list = list[str](), list[Any]()
    for source in sources:
        name, place = split_name(source) if isinstance(source, str) else ("", source)
        found_runs = _runs_in(place)
        run_list += found_runs
        stated += [
            f"{name}/{_stem(run)}" if name and len(found_runs) > 1 else name for run in found_runs
        ]
    is_file = [isinstance(run, (str, Path)) for run in run_list]
    names = [
        name or (_stem(run) if file else "run")
        for name, run, file in zip(stated, run_list, is_file, strict=True)
    ]
    for longer in (lambda path: f"{path.parent.name}/{_stem(path)}", lambda path: path.name, str):
        names = [
            longer(Path(run)) if file and not own_name and names.count(name) > 1 else name
            for run, file, own_name, name in zip(run_list, is_file, stated, names, strict=True)
        ]
    if len(set(names)) < len(names):
        double = repeated_name(names)
        raise BadUsage(
            f"two runs are called {double!r}; name each run once, and rename one of two that "
            "are called the same."
        )
    return dict(zip(names, map(_rereadable, run_list), strict=True))


def _rereadable(run: Any) -> Any:
    """A run in a form that can be read again."""
    if not hasattr(run, "__arrow_c_stream__"):
        return run
    from rankwell.io.dataframe import kept_rows

    return kept_rows(run)


_PARQUET = (".parquet", ".parq")


def _runs_in(source: Any) -> Sequence[Any]:
    """The places of the runs in a Parquet file; of anything else itself, for which nothing is
    loaded.
    """
    if not isinstance(source, (str, Path)) or not str(source).lower().endswith(_PARQUET):
        return [source]
    from rankwell.io.column_tables import run_places

    paths = run_places(source)
    return paths if len(paths) > 1 else [source]


def _stem(run_path: str | Path) -> str:
    """The name of a file without folder and suffixes, of one of its runs that of the run, and of a
    folder of shards as it is.
    """
    if run_files(run_path):
        return str(run_path).rstrip("/").rpartition("/")[2]
    path, part = split_part(run_path)
    return part if part and path.lower().endswith(_PARQUET) else Source(path).stem


_HOLDERS = (Mapping, list, tuple, set, frozenset, np.ndarray)


def _is_run(runs: Mapping[str, Any]) -> bool:
    """Whether a mapping is one run (query -> item -> score, or query -> list) rather than runs by
    name.
    """
    if not all(isinstance(inner, _HOLDERS) for inner in runs.values()):
        return False
    if any(is_rows(inner) and query_key(row_names(inner)) for inner in runs.values()):
        return False
    scored = [inner for inner in runs.values() if isinstance(inner, Mapping)]
    values = [value for inner in scored for value in itertools.islice(inner.values(), 1)]
    # Anything but a score, or a masked one, which is an array without axes, is refused by the name
    # of its query.
    return all(not isinstance(value, _HOLDERS) or value is np.ma.masked for value in values)


def ideal(judgments: Judgments, retrieved: Ints) -> JudgedRankings:
    """The view of a perfect ranker that returns `retrieved` items, (queries,), per query: from the
    highest grade down, no junk.
    """
    flat, real, owner, counts = _real_rows(judgments)
    order = np.lexsort((-flat.grades[real], owner))
    position = position_in_segment(segment_offsets(counts))
    in_list = position < retrieved[owner]
    return _view(flat, real[order][in_list], position[in_list], retrieved)


def constant(judgments: Judgments, candidates: Ints) -> JudgedRankings:
    """The view of a scorer that gives all `candidates` items, (queries,), one score, judged ones
    among them; ranks mean nothing.

    The chance level of a measure is its expected value here. Raises BadInput for fewer candidates
    than judged items.
    """
    flat, real, owner, counts = _real_rows(judgments)
    short = np.flatnonzero(counts > candidates)
    if short.size:
        query = int(short[0])
        raise BadInput(
            f"query {flat.queries[query]!r} has {int(counts[query])} judged items and "
            f"{int(candidates[query])} candidates; "
            "give the number of all candidates, judged or not."
        )
    position = position_in_segment(segment_offsets(counts))
    return _view(
        flat,
        real,
        np.zeros(len(real), dtype=np.int64),
        candidates,
        tied=candidates[owner],
        before=position,
    )


def ideal_if_shared(
    judgments: Judgments, groups: Sequence[int] | Ints, retrieved: Ints
) -> JudgedRankings:
    """The view of the best ranking where all queries of a group must get the same one.

    groups: (queries,) equal numbers for queries that a system cannot distinguish. retrieved:
    (queries,) items in each ranking. Each next item of a group's list is the one relevant to most
    of its queries that are not served yet, so that the mean of `Success@1` is the greatest
    possible, and those of `Success@k`, `RR` and the best rank, too, unless positives overlap in
    part. Source: Nemhauser, Wolsey and Fisher 1978, An analysis of approximations for maximizing
    submodular set functions.
    """
    flat, real, _, _ = _real_rows(judgments)
    numbers = np.asarray(groups, dtype=np.int64)
    relevant_rows = real[flat.grades[real] >= 1]
    owners = flat.query_of_row[relevant_rows]
    position = np.zeros(len(relevant_rows), dtype=np.int64)
    by_group = np.argsort(numbers[owners], kind="stable")
    cuts = np.flatnonzero(np.diff(numbers[owners][by_group])) + 1
    for rows in np.split(by_group, cuts):
        items = [flat.items[row] for row in map(int, relevant_rows[rows])]
        positions = _greedy(map(int, owners[rows]), items)
        position[rows] = [positions[item] for item in items]
    in_list = position < retrieved[owners]
    return _view(flat, relevant_rows[in_list], position[in_list], retrieved)


def _greedy(queries: Iterable[int], items: list[str]) -> dict[str, int]:
    """The place, from 0, of each item in the list that serves most queries first."""
    served: dict[str, set[int]] = {}
    for query, item in zip(queries, items, strict=True):
        served.setdefault(item, set()).add(query)
    unserved, positions = set[int]().union(*served.values()), dict[str, int]()
    heap = [
        (-len(queries_of_item), -len(queries_of_item), encode_id(item), item)
        for item, queries_of_item in served.items()
    ]
    heapq.heapify(heap)
    while heap:
        counted, total, raw, item = heapq.heappop(heap)
        # What an item still serves only falls, so that an old count is an upper bound: the top is
        # right once its count is.
        now = -len(served[item] & unserved)
        if now != counted:
            heapq.heappush(heap, (now, total, raw, item))
            continue
        unserved -= served[item]
        positions[item] = len(positions)
    return positions


def _real_rows(judgments: Judgments) -> tuple[Judgments, Ints, Ints, Ints]:
    """The judgments with one row per item, those rows that are not junk, the query of each, and how
    many each query has.
    """
    flat = judgments.flat
    real = np.flatnonzero(flat.real)
    owner = flat.query_of_row[real]
    return flat, real, owner, np.bincount(owner, minlength=len(flat.queries))


def _view(
    judgments: Judgments,
    rows: Ints,
    above: Ints,
    retrieved: Ints,
    *,
    tied: Ints | int = 1,
    before: Ints | int = 0,
) -> JudgedRankings:
    order = np.argsort(judgments.query_of_row[rows], kind="stable")
    rows = rows[order]
    above, tied, before = (column[order] for column in np.broadcast_arrays(above, tied, before))
    present = np.ones(len(judgments.queries), dtype=np.bool_)
    owner, scores = judgments.query_of_row[rows], -above.astype(np.float64)
    hits = Hits(owner, rows, scores, above, tied, before, retrieved, present)
    return JudgedRankings.join(judgments, hits)


@dataclass(frozen=True, eq=False)
class LinearMeasure:
    """The parts of a measure that is linear in the gains of items.

    weights: (k,) the weight of each rank from 1, normalisation included.
    rel: the lowest grade that counts as relevant, with gain 1; None where the gain is the scaled
        and clipped grade.
    least: the grade at and below which a scaled gain is 0.
    most: the grade at and above which a scaled gain is 1.
    """

    weights: Floats
    rel: float | None = None
    least: float = 0.0
    most: float = 1.0

    @classmethod
    def of(cls, measure: Measure) -> "LinearMeasure | None":
        """The parts of P, SDCG and RBP with a cut-off and a known highest gain; None for any other
        measure.
        """
        parameters, k = measure.parameters, measure.cutoff
        if k is None or measure.name not in ("P", "SDCG", "RBP") or parameters.get("judged_only"):
            return None
        ranks = np.arange(1.0, k + 1)
        if measure.name == "SDCG":
            discounts = 1 / np.log2(ranks + 1)
            weights = discounts / float(np.cumsum(discounts)[-1])
            return cls(weights, None, parameters["min_rel"], parameters["max_rel"])
        rel = parameters["rel"]
        if measure.name == "P":
            is_linear, weights = parameters["denom"] == "cutoff", np.full(k, 1 / k)
        else:
            is_linear = parameters["gains"] is None and (
                rel is not None or parameters["scale"] == "max"
            )
            weights = (1 - parameters["p"]) * parameters["p"] ** (ranks - 1)
        if not is_linear:
            return None
        return cls(
            weights, None if rel is None else max(rel, 0.0), most=parameters.get("max_rel") or 1.0
        )

    def gains(self, grades: Floats) -> Floats:
        """The gain of each grade, from 0 to 1; 0 for negative ones."""
        if self.rel is not None:
            return (grades >= self.rel).astype(np.float64)
        scaled = (np.clip(grades, self.least, self.most) - self.least) / (self.most - self.least)
        return np.where(grades < 0, 0.0, scaled)


class GradeWeights:
    """The means of runs by measures with binary gains, and by the same measures with the grades as
    gains.

    measures: all measures of an evaluation.
    grades: the grades of the judgments. With one relevant grade both means are equal, and none are
        kept.
    described: label -> the grades, the weighing measure and the means of runs, for
        `findings_on_weights`.
    """

    def __init__(self, measures: Iterable[LabelledMeasure], grades: Floats) -> None:
        binary = [
            labelled
            for labelled in measures
            if labelled.measure.parameters.get("dcg") == "binary-log2"
        ]
        self.described: dict[str, Any] = {}
        self._variants: dict[str, tuple[Measure, Measure]] = {}
        for measure, label in binary:
            levels = np.unique(grades[grades >= (measure.parameters.get("rel") or 1)])
            if len(levels) < 2:
                continue
            weighing = measure.with_parameters(dcg="log2")
            self._variants[label] = measure, weighing
            self.described[label] = {
                "grades": levels[[0, -1]].tolist(),
                "by": str(weighing),
                "unit": weighing.entry.unit,
                "means": {},
            }

    def add(self, run: JudgedRun, counted: Bools) -> None:
        """Measures one run. counted: (queries,) those in the means."""
        for label, variants in self._variants.items():
            self.described[label]["means"][run.name] = [
                exact_mean(run.evaluate(measure).values[counted]) for measure in variants
            ]


def findings_on_weights(described: Mapping[str, Any]) -> list[Finding]:
    """A finding for each of the measures of `GradeWeights.described`: which run leads, by both, or
    the mean of the only run.
    """
    findings = list[Finding]()
    for label, description in described.items():
        means, (low, high) = description["means"], description["grades"]
        binary_leader = max(means, key=lambda name: means[name][0])
        leader = max(means, key=lambda name: means[name][1])
        leads = f"{binary_leader} leads; {leader} leads"
        if binary_leader == leader:
            value = format_value(means[leader][1], description["unit"])
            leads = f"the mean of {leader} is {value}"
        findings.append(grades_alike(label, low, high, leads, description["by"]))
    return findings


def joined_weights(
    described: Sequence[Mapping[str, Any]], names: Sequence[Mapping[str, str]]
) -> dict[str, Any]:
    """The descriptions of several results as one, for the measures that all of them have, with the
    runs under other names.

    names: of each result the names of its runs here.
    """
    merged: dict[str, Any] = {}
    for label in (label for label in described[0] if all(label in result for result in described)):
        parts = [result[label] for result in described]
        lows, highs = zip(*(part["grades"] for part in parts), strict=True)
        means = {
            renamed[run]: mean_pair
            for part, renamed in zip(parts, names, strict=True)
            for run, mean_pair in part["means"].items()
            if run in renamed
        }
        if means and len({part["by"] for part in parts}) == 1:
            merged[label] = {**parts[0], "grades": [min(lows), max(highs)], "means": means}
    return merged


def hide_own_items(judgments: Judgments) -> tuple[Judgments, list[Finding]]:
    """Removes each query's own item, that of its id, from its ranking; a finding names the queries
    to which it is relevant.
    """
    hidden = judgments.hide_queries()
    lost = hidden.query_of_row[hidden.unranked & hidden.real & (hidden.grades > 0)].tolist()
    queries = [hidden.queries[query] for query in lost]
    return hidden, [own_items_judged(len(queries), queries)] if queries else []


def with_negative_grades(view: Any, convention: Convention) -> Any:
    """The view in which negative grades mean what they do under the convention. view: of any kind
    but sessions.
    """
    return view if convention.negative_grades == "judged" else view.with_unjudged_pool
