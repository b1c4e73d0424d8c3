"""Values of two systems or more -> paired differences with intervals and tests, verdicts in words,
the order of systems, and findings.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations, compress, pairwise
from typing import Any, NamedTuple

import numpy as np

from rankwell.comparison.data import (
    INHERITED,
    Attribute,
    ComparisonData,
    ComparisonOptions,
    Origin,
    Pair,
    Row,
)
from rankwell.comparison.matrices import (
    Column,
    ComparedValues,
    Comparison,
    PairedDifference,
    QuerySystemMatrix,
    align_values,
    assign_roles,
    choose_pairs,
    columns_of,
    in_order,
    judge,
)
from rankwell.data.catalogue import result_kind
from rankwell.data.findings import Finding, settled
from rankwell.data.findings.kinds import (
    bounds_not_listed,
    difference_unjudged,
    equal_differences,
    few_queries,
    not_compared,
    only_relevant_items_judged,
    queries_of_one_run,
    small_groups,
    small_sample,
)
from rankwell.data.registry import Measure, measure_names, parse_measure
from rankwell.data.tables import (
    Bools,
    Floats,
    Ints,
    Values,
    exact_mean,
    exact_means,
    format_value,
    positions_by_id,
    sort_ids,
)
from rankwell.errors import BadInput, BadUsage, NothingToEvaluate, first_of, flag
from rankwell.evaluation.bounds import DEFINITE, RankedItems, difference_bounds
from rankwell.evaluation.results import RowAttributes
from rankwell.reporting.difference_tables import difference_answer
from rankwell.reporting.system_table import winners
from rankwell.stats import FEW_QUERIES, MIN_QUERIES, Intervals
from rankwell.stats.correlation import kendall_tau
from rankwell.stats.system_comparisons import (
    borda_points,
    connected_groups,
    descending_ranks,
    friedman,
    rank_biased_overlap,
    tau_ap,
)
from rankwell.stats.verdicts import (
    NOTHING_TESTED,
    Family,
    MeasuredDifference,
    headline,
    leader,
    verdict,
)

_MOST_VALUES = 12


def compare_values(
    values: Sequence[Values],
    options: ComparisonOptions,
    *,
    row_attributes: Sequence[RowAttributes] = (),
    pairs: Sequence[Pair] = (),
    group: Attribute | None = None,
    cluster: Attribute | None = None,
    origin: Origin | None = None,
) -> ComparisonData:
    """The comparison of two systems or more; see `rankwell.compare_values`."""
    if cluster is not None:
        options.check_clusters()
    origin = origin or Origin()
    attributes = list(map(dict, row_attributes)) or [{} for _ in values]
    values, attributes, left_out = _by_query(values, attributes)
    kind = result_kind(origin.task)
    comparison = align_values(
        values, attributes, origin.better, measure_names(options.measures), kind
    )
    comparison = assign_roles(comparison, options.family)
    clusters = None if cluster is None else _numbered(comparison, cluster)
    keys = [(matrix.measure, matrix.row_attributes) for matrix in comparison.matrices]
    is_compared = [
        (run_values.measure, run_attributes) in keys
        for run_values, run_attributes in zip(values, attributes, strict=True)
    ]
    compared = list(in_order(compress(values, is_compared)))
    compared_attributes = list(compress(attributes, is_compared))
    pairs = pairs or choose_pairs(comparison.runs, options.baseline)
    columns = columns_of(comparison, pairs, np.ones(len(comparison.queries), dtype=np.bool_))
    if all(np.isnan(column.differences).all() for column in columns):
        raise NothingToEvaluate(
            f"no query counts for two of {', '.join(map(repr, comparison.runs))}; compare runs "
            "over the same queries."
        )
    parts = [] if group is None else _parts(comparison, pairs, group)
    noun = kind.noun
    differences = judge(columns, options, clusters)
    groups = judge(parts, options, clusters)
    rows = tuple(difference.row for difference in differences)
    verdicts, headlines = sentences(comparison, pairs, differences, groups, options, noun[1])
    tables = {
        "verdicts": [{"text": text} for text in verdicts],
        "groups": [difference.row for difference in groups],
        **system_tables(comparison, differences, groups, options.level),
    }
    findings = [
        *origin.findings,
        *left_out,
        *comparison.findings,
        *findings_on_unjudged(comparison, pairs, origin),
        *findings_on(differences, groups, options.intervals, noun),
    ]
    baseline = None if len({pair.against for pair in pairs}) > 1 else pairs[0].against
    typed_tables: dict[str, Any] = {
        name: tuple(table) for name, table in tables.items() if name != "verdicts"
    }
    blank: dict[str, Any] = {name: None for facts in compared_attributes for name in facts}
    stated = {"group": group, "cluster": cluster}
    methods = ("test", "family", "correction", "level", "power", "resamples")
    return ComparisonData(
        values=ComparedValues(compared, columns, comparison.queries),
        n_summarised=len(compared),
        aggregates=rows,
        rules={
            **origin.rules,
            **{name: attribute.name for name, attribute in stated.items() if attribute},
            # The rules of the comparison follow; intervals, seed and version keep their places.
            **dict.fromkeys(("intervals", "seed", "version")),
            **{name: getattr(options, name) for name in methods},
            "baseline": baseline or "none",
            "mean_ranks": tables["mean_ranks"],
        },
        data_findings=settled(findings),
        row_attributes=(
            *(blank | facts | {"against": None} for facts in compared_attributes),
            *(
                blank | dict(column.matrix.row_attributes) | {"against": column.pair.against}
                for column in columns
            ),
        ),
        query_columns=(*blank, "against"),
        **{name: getattr(origin, name) for name in INHERITED},
        intervals=options.intervals,
        seed=options.seed,
        tables={name: table for name, table in tables.items() if table},
        method=options,
        baseline=baseline,
        differences=rows,
        verdicts=tuple(verdicts),
        headlines=tuple(headlines),
        answer=difference_answer,
        **typed_tables,
    )


def _by_query(
    values: Sequence[Values], attributes: list[dict[str, Any]]
) -> tuple[Sequence[Values], list[dict[str, Any]], list[Finding]]:
    """The values without those of measures that have none for any query, such as figures of all
    queries, and a finding on them.
    """
    measures = {
        run_values.measure for run_values in values if not np.isnan(run_values.values).all()
    }
    has_values = [run_values.measure in measures for run_values in values]
    if all(has_values) or not any(has_values):
        return values, attributes, []
    labels = dict.fromkeys(
        run_values.label for run_values in values if run_values.measure not in measures
    )
    finding = not_compared(f"not compared, as no query has a value of its own: {', '.join(labels)}")
    return list(compress(values, has_values)), list(compress(attributes, has_values)), [finding]


def _parts(comparison: Comparison, pairs: Sequence[Pair], group: Attribute) -> list[Column]:
    """The columns of every group of the queries, groups in the order of their names."""
    texts = _in_ranges([group.query_values.get(query) for query in comparison.queries])
    named = _ordered(set(filter(None, texts)))
    if not named:
        raise BadInput(
            f"no query has a value of {group.name!r}; name another attribute to group by."
        )
    columns = list[Column]()
    for text in named:
        is_range = text.startswith(("at most ", "above "))
        name = f"{group.name} {'' if is_range else '= '}{text}"
        is_member = np.array([query_text == text for query_text in texts])
        columns += columns_of(comparison, pairs, is_member, name)
    without = np.array([not query_text for query_text in texts])
    if without.any():
        columns += columns_of(comparison, pairs, without, f"{group.name} not given")
    return columns


def _in_ranges(texts: Sequence[str | None]) -> list[str | None]:
    """The values as they are; of many different numbers, the quarter of all that each is in."""
    numbers: dict[str, Any] = {text: _number(text) for text in texts if text}
    if len(numbers) <= _MOST_VALUES or None in numbers.values():
        return list(texts)
    values = [numbers[text] for text in texts if text]
    edges = np.unique(np.quantile(values, [0, 0.25, 0.5, 0.75, 1], method="inverted_cdf")).tolist()
    words = [
        f"at most {edges[1]:g}",
        *(f"above {low:g} to {high:g}" for low, high in pairwise(edges[1:])),
    ]
    return [text and words[np.searchsorted(edges[1:-1], numbers[text])] for text in texts]


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if np.isfinite(value) else None


def _ordered(texts: set[str]) -> list[str]:
    """Numbers and ranges by size, other texts by their bytes."""
    ranges = {
        text: -np.inf
        if text.startswith("at most ")
        else _number(text.removeprefix("above ").split(" to ")[0])
        for text in texts
    }
    if None in ranges.values():
        return sort_ids(texts)
    return sorted(texts, key=lambda text: ranges[text] or 0.0)


def _numbered(comparison: Comparison, cluster: Attribute) -> Ints:
    """The number of each query's cluster. Raises BadInput for a query without one."""
    for query in comparison.queries:
        if not cluster.query_values.get(query):
            raise BadInput(
                f"query {query!r} has no value of {cluster.name!r}; every query belongs to a "
                "cluster."
            )
    names = [cluster.query_values[query] for query in comparison.queries]
    numbers = positions_by_id(sort_ids(set(names)))
    return np.array([numbers[name] for name in names], dtype=np.int64)


FEW = 50
"""Groups of fewer queries are called small: their tests find little."""

_MOST_SENTENCES = 3


class Order(NamedTuple):
    """The order of systems by one measure.

    name: the printed name: the measure, with the group of queries.
    matrix: the values of the systems.
    rows: (queries,) whether each query is in the group; None for all queries.
    """

    name: str
    matrix: QuerySystemMatrix
    rows: Bools | None = None

    @property
    def scores(self) -> Floats:
        """The mean of each run over the queries that count for all runs, the higher the
        better; NaN without such.
        """
        matrix = self.matrix
        rows = ~np.isnan(matrix.values).any(axis=1)
        rows = rows if self.rows is None else rows & self.rows
        if not rows.any():
            return np.full(len(matrix.runs), np.nan)
        weights = None if matrix.weights is None else matrix.weights[rows]
        return matrix.sign * exact_means(matrix.values[rows], weights)


def system_tables(
    comparison: Comparison,
    differences: Sequence[PairedDifference],
    parts: Sequence[PairedDifference],
    level: float,
) -> dict[str, list[Row]]:
    """The tables of the order of systems, which is that of three or more. parts: the differences in
    groups.

    Borda's points add measures up, and are those of measures that all systems have.
    """
    matrices = [
        matrix for matrix in comparison.matrices if matrix.is_counted and len(matrix.runs) > 2
    ]
    if not matrices:
        return {"systems": [], "orders": [], "borda": [], "mean_ranks": []}
    complete = [matrix for matrix in matrices if len(matrix.runs) == len(comparison.runs)]
    labels = [matrix.label for matrix in matrices]
    # By every measure over all queries, and by the first measure in every group.
    orders = [
        Order(
            f"{matrix.label} {dict(matrix.row_attributes)}"
            if labels.count(matrix.label) > 1
            else matrix.label,
            matrix,
        )
        for matrix in matrices
    ]
    rows_of_group = {difference.column.group: difference.column.rows for difference in parts}
    groups = [
        Order(f"{labels[0]}, {name}", matrices[0], rows) for name, rows in rows_of_group.items()
    ]
    systems, mean_ranks = list[Row](), list[Row]()
    for matrix in matrices:
        system_rows, rank_rows = _rows_of(matrix, differences, level)
        systems += system_rows
        mean_ranks += rank_rows
    return {
        "systems": systems,
        "orders": order_rows(orders, groups),
        "borda": borda_rows(comparison.runs, complete) if len(complete) > 1 else [],
        "mean_ranks": mean_ranks,
    }


def _apart(matrix: QuerySystemMatrix, differences: Sequence[PairedDifference]) -> Bools | None:
    """Whether two runs differ significantly by a measure, (runs, runs); None where not every pair
    was compared.
    """
    n = len(matrix.runs)
    decisive = {
        column.pair: row["decisive"] for column, row in differences if column.matrix is matrix
    }
    if len(decisive) < n * (n - 1) // 2:
        return None
    apart = np.zeros((n, n), dtype=np.bool_)
    for pair in decisive:
        first, second = map(matrix.runs.index, pair)
        apart[first, second] = apart[second, first] = decisive[pair]
    return apart


def _rows_of(
    matrix: QuerySystemMatrix, differences: Sequence[PairedDifference], level: float
) -> tuple[list[Row], list[Row]]:
    """A row for every run: mean, rank, mean rank over queries, the runs that it is significantly
    better than. One row with mean ranks, Friedman's test, and groups of neighbours without a
    significant difference.
    """
    runs = matrix.runs
    scores = Order("", matrix).scores
    blocks = friedman(matrix.shared_values, level=level)
    apart = _apart(matrix, differences)
    names = {"measure": matrix.measure, "label": matrix.label, **matrix.row_attributes}
    systems = list[Row]()
    if not np.isnan(scores).any():
        ranks = descending_ranks(scores)
        beaten: dict[str, list[str]] = {run: [] for run in runs}
        rows = [row for column, row in differences if column.matrix is matrix]
        for winner, loser, _ in winners(rows):
            beaten[winner].append(loser)
        systems = [
            {
                "run": run,
                **names,
                "mean": float(matrix.sign * scores[column]),
                "rank": float(ranks[column]),
                "mean_rank": None if blocks is None else float(blocks.ranks[column]),
                "better_than": ", ".join(beaten[run]),
                "unit": matrix.unit,
            }
            for column, run in enumerate(runs)
        ]
    if blocks is None:
        return systems, []
    mean_ranks = blocks.ranks.tolist()
    groups = [] if apart is None else connected_groups(mean_ranks, apart)
    row = {
        **names,
        "queries": len(matrix.shared_values),
        "chi_square": blocks.chi_square,
        "p": blocks.p,
        "critical_difference": blocks.critical_difference,
        "mean_ranks": dict(zip(runs, mean_ranks, strict=True)),
        "not_told_apart": [[runs[system] for system in group] for group in groups],
    }
    return systems, [row]


def order_rows(orders: Sequence[Order], groups: Sequence[Order]) -> list[Row]:
    """The correlations of each two orders of the same systems, and of the first with each group's;
    rbo looks from the first.
    """
    rows = list[Row]()
    for pair in [*combinations(orders, 2), *((orders[0], group) for group in groups)]:
        first, second = pair
        shared = [run for run in first.matrix.runs if run in second.matrix.runs]
        scores = [
            np.round(order.scores[[order.matrix.runs.index(run) for run in shared]], 12)
            for order in pair
        ]
        if len(shared) > 2 and not np.isnan(scores).any():
            rows.append(
                {
                    "first": first.name,
                    "second": second.name,
                    "tau": kendall_tau(*scores),
                    "tau_ap": tau_ap(*scores),
                    "rbo": rank_biased_overlap(*scores),
                    "systems": len(shared),
                }
            )
    return rows


def borda_rows(runs: Sequence[str], matrices: Sequence[QuerySystemMatrix]) -> list[Row]:
    """The Borda points of every run over all measures as tasks, best first, with the rank that they
    make.
    """
    table = np.full((len(matrices), len(runs)), np.nan)
    for task, matrix in enumerate(matrices):
        columns = [runs.index(run) for run in matrix.runs]
        table[task, columns] = np.round(Order("", matrix).scores, 12)
    points = borda_points(table)
    rows = [
        {"run": run, "points": run_points, "rank": rank, "tasks": len(matrices)}
        for run, run_points, rank in zip(
            runs, points.tolist(), descending_ranks(points).tolist(), strict=True
        )
    ]
    return sorted(rows, key=lambda row: row["rank"])


def findings_on(
    differences: Sequence[PairedDifference],
    parts: Sequence[PairedDifference],
    intervals: Intervals,
    noun: tuple[str, str],
) -> list[Finding]:
    """Findings on queries that are left out, on too few, and on systems that are the same. parts:
    the differences in groups.
    """
    singular, plural = noun
    findings = list[Finding]()
    lone = dict[tuple[Pair, int], list[str]]()
    same = dict[tuple[Pair, bool], list[str]]()
    for (matrix, pair, *_), row in differences:
        lone.setdefault((pair, matrix.lone(pair)), []).append(matrix.label)
        # An interval of wins and losses says how far other queries may differ even where these do
        # not.
        if row["sd"] == 0 and row["ci_low"] is not None and row["ci_low"] == row["ci_high"]:
            same.setdefault((pair, row["mean"] == 0), []).append(matrix.label)
    for (pair, n), labels in lone.items():
        if n:
            names = list(dict.fromkeys(labels))
            word = singular if n == 1 else plural
            findings.append(queries_of_one_run(names, n, pair.run, pair.against, word))
    sizes = [row.get("clusters", row["n"]) for _, row in differences]
    fewest = min(sizes, default=FEW_QUERIES)
    unit = "clusters" if differences and "clusters" in differences[0].row else plural
    if fewest < MIN_QUERIES:
        findings.append(few_queries(MIN_QUERIES, str(fewest), unit))
    elif fewest < FEW_QUERIES and intervals == "bootstrap-t":
        held = (
            "held the true difference in 90 to 100 % of simulations, in fewer where hardly any "
            f"{singular} differs"
        )
        findings.append(small_sample(fewest, unit, held))
    for (pair, is_zero), labels in same.items():
        clause = f"every {singular} differs by as much; the interval holds"
        if is_zero:
            clause = f"no {singular} differs; the interval of 0 holds"
        reason = f"{clause} for these {plural} only"
        findings.append(equal_differences(labels, f"{pair.run} and {pair.against}", reason))
    small = {column.group: row["n"] for column, row in parts if row["n"] < FEW}
    if small:
        group_list = first_of((f"{name} (n = {n})" for name, n in small.items()), 6)
        findings.append(small_groups(group_list, FEW, plural))
    return findings


def sentences(
    comparison: Comparison,
    pairs: Sequence[Pair],
    differences: Sequence[PairedDifference],
    parts: Sequence[PairedDifference],
    options: ComparisonOptions,
    noun: str,
) -> tuple[list[str], list[str]]:
    """A verdict per pair by the first measure, and its headline; of many pairs one on the leader.
    parts: the differences in groups of queries.
    """
    counted = sum(matrix.is_counted for matrix in comparison.matrices)
    if not counted:
        untested = ", ".join(matrix.label for matrix in comparison.matrices)
        return [NOTHING_TESTED.format(untested)], [NOTHING_TESTED.format(untested)]
    signs = options.test in ("randomisation", "wilcoxon", "sign")
    by_pair = _by_pair(comparison, differences, signs=signs)
    groups_by_pair = _by_pair(comparison, parts, signs=signs)
    # Pairs without a common measure are not tested.
    tested = len(by_pair)
    together = counted if options.family == "all" else 1
    sizes = [f"{n} {unit}" for n, unit in ((tested, "pairs"), (together, "measures")) if n > 1]
    described = f"over {' × '.join(sizes)}"
    if options.correction == "tukey":
        described = f"over {len(comparison.runs)} systems"
    family = Family(
        options.correction,
        tested * together,
        described,
        options.level,
        options.power,
        options.family == "primary",
        noun,
    )
    first = comparison.matrices[0]
    n, scores = len(first.runs), Order("", first).scores
    if _MOST_SENTENCES < len(pairs) == n * (n - 1) // 2 and not np.isnan(scores).any():
        ranking = np.argsort(-scores, kind="stable").tolist()
        order = [(first.runs[column], float(first.sign * scores[column])) for column in ranking]
        best = order[0][0]
        of_leader = {
            run: pair_differences[0]
            for pair, pair_differences in by_pair.items()
            if best in pair
            for run in pair
        }
        unclear = [run for run, _ in order[1:] if not of_leader[run].decisive]
        sentence = leader(order, unclear, of_leader[order[1][0]], family)
        return [sentence], [sentence]
    headlines = [
        headline(pair_differences[0], family, is_only=len(by_pair) == 1)
        for pair_differences in by_pair.values()
    ]
    return [
        verdict(
            first_difference,
            others,
            [
                difference
                for difference in groups_by_pair.get(pair, [])
                if difference.label == first_difference.label
            ],
            family=family,
            few=FEW,
        )
        for pair, (first_difference, *others) in by_pair.items()
    ], headlines


def _by_pair(
    comparison: Comparison, differences: Sequence[PairedDifference], *, signs: bool
) -> dict[Pair, list[MeasuredDifference]]:
    """The differences of each pair that are tested and count, in the order of the measures. signs:
    whether the test uses them.
    """
    by_pair = dict[Pair, list[MeasuredDifference]]()
    labels = [matrix.label for matrix in comparison.matrices]
    for (matrix, pair, _, group, _), row in differences:
        if not matrix.is_counted:
            continue
        attributes = ", ".join(
            f"{name} {value}" for name, value in matrix.row_attributes.items() if value is not None
        )
        is_clear = labels.count(matrix.label) == 1 or not attributes
        by_pair.setdefault(pair, []).append(
            MeasuredDifference.of_row(
                row,
                matrix.label if is_clear else f"{matrix.label} ({attributes})",
                group=group,
                detectable=row["detectable"],
                differing=row["wins"] + row["losses"] if signs and "clusters" not in row else None,
            )
        )
    return by_pair


_MOST_BOUNDED = 6


def findings_on_unjudged(
    comparison: Comparison, pairs: Sequence[Pair], origin: Origin
) -> list[Finding]:
    """A finding for each of the first pairs, where the rules leave every item one rank and count
    unjudged items, which are not all that is not relevant.
    """
    rules = origin.rules
    counts = rules.get("ties") in DEFINITE and rules.get("unjudged") == "nonrelevant"
    if not counts or only_relevant_items_judged() in origin.findings:
        return []
    if (unjudged := origin.unjudged()) is None:
        return []
    items = unjudged.ranked(comparison.queries)
    findings = list[Finding]()
    more = 0
    for pair in pairs:
        bounded = [
            (matrix, measure)
            for matrix in comparison.matrices
            if set(pair) <= set(matrix.runs)
            and matrix.weights is None
            and (measure := _bounded_measure(matrix, unjudged.depth))
        ]
        deepest = max((measure.cutoff or 0 for _, measure in bounded), default=0)
        if not any(len(items(run, deepest).rank) for run in pair):
            continue
        if len(findings) == _MOST_BOUNDED:
            more += 1
        elif words := [
            text for matrix, measure in bounded for text in _bounds(matrix, measure, pair, items)
        ]:
            findings.append(difference_unjudged(f"{pair.run} minus {pair.against}", words))
    if more:
        advice = "compare fewer runs"
        if len({pair.against for pair in pairs}) > 1:
            advice = f"name a {flag('--baseline')}"
        findings.append(bounds_not_listed(more, advice))
    return findings


def _bounded_measure(matrix: QuerySystemMatrix, depth: int) -> Measure | None:
    """The measure of a matrix; None of one that the first `depth` items do not bound."""
    try:
        measure = parse_measure(matrix.measure)
    except BadUsage:
        return None
    return measure if measure.cutoff is not None and measure.cutoff <= depth else None


def _bounds(
    matrix: QuerySystemMatrix,
    measure: Measure,
    pair: Pair,
    items: Callable[[str, int], RankedItems],
) -> Iterator[str]:
    """The bounds of a difference in words; nothing where there are none, or where they are
    equal.
    """
    counts_for_both = ~np.isnan(matrix.differences(pair))
    if not counts_for_both.any():
        return
    scale = 100.0 if matrix.unit == "percent" else 1.0
    first, second = (np.nan_to_num(matrix.column(run)) / scale for run in pair)
    bounds = difference_bounds(measure, items, pair, (first, second))
    if bounds is not None:
        low, high = (exact_mean(bound_values[counts_for_both]) * scale for bound_values in bounds)
        if high - low > 1e-12 * scale:
            yield (
                f"{matrix.label} is between "
                f"{format_value(low, matrix.unit, signed=True)} and "
                f"{format_value(high, matrix.unit, signed=True)}"
            )
