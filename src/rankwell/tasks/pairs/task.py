"""Similarity of pairs against human scores: the command, and how well similarities follow their
targets, with p-values and intervals.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np

from rankwell import __version__
from rankwell._native.resamples import over_resamples
from rankwell._native.similarity import Similarity, pair_similarities, similarity_name
from rankwell.data.findings import Finding
from rankwell.data.findings.kinds import few_queries, no_t_interval, rows_matched_by_position
from rankwell.data.matrices import Pairs, Positions, ScoredPairs, matching_rows, sample_pairs
from rankwell.data.options import Doc, Input, Option, sample_size
from rankwell.data.tables import Bools, Floats, Values
from rankwell.documents import repeated_name
from rankwell.errors import BadInput, BadUsage
from rankwell.evaluation.details import DETAIL_COLUMNS, Columns
from rankwell.evaluation.options import StatisticsOptions
from rankwell.io.formats import read_column
from rankwell.io.matrices import read_embeddings
from rankwell.io.records import read_numbers
from rankwell.reporting import Row, runs_of
from rankwell.reporting.options import Progress
from rankwell.results import Results
from rankwell.stats import MIN_QUERIES, Intervals, SummaryRow, correlation, summarise
from rankwell.stats.classification import Classification, classify, classify_resamples
from rankwell.stats.correlation import FittedLine, PairIntervals, bootstrap_pairs, fit_line
from rankwell.stats.intervals import Interval, percentile_interval
from rankwell.store import Source, sources_of, split_name, split_part, unchanged
from rankwell.task import Task, TaskInput
from rankwell.tasks.pairs.findings import (
    calibration_line,
    no_correlation,
    pairs_share_items,
    targets_of_one_range,
)
from rankwell.tasks.pairs.measures.similarities import CLASSES, CORRELATIONS, ERRORS

_MOST_GROUPS = 100


@dataclass(frozen=True, kw_only=True)
class PairOptions(StatisticsOptions):
    """The choices that decide the values of `rankwell pairs`."""

    reference: Annotated[
        Any, Input(), Doc("Embeddings whose similarities are the targets.", is_common=True)
    ] = None
    candidate: Annotated[
        list[str] | None,
        Input(),
        Doc(
            "Embeddings of the same items by another model, matched by id, or by position if "
            "either has no ids; repeat it for more.",
            is_common=True,
        ),
    ] = None
    samples: Annotated[
        int | str | None,
        Option(kind=str),
        Doc(
            "Number of pairs of items to sample for --reference, without replacement, or all; "
            "10000 by default, or all pairs if there are fewer."
        ),
    ] = None
    left: Annotated[
        Any, Input(), Doc("Embeddings of the left sides of pairs, row by row.", is_common=True)
    ] = None
    right: Annotated[
        Any, Input(), Doc("Embeddings of their right sides by the same model.", is_common=True)
    ] = None
    scores: Annotated[Any, Input(), Doc("Expected scores of these pairs, like TARGETS.")] = None
    metric: Annotated[
        list[str] | None,
        Doc(
            "Similarity of two vectors: cosine (the default), dot, euclidean or manhattan "
            "(negative distances); repeat it for more."
        ),
    ] = None
    group: Annotated[
        str | None,
        Input(perhaps=True),
        Doc(
            "Also report each group of pairs: this many equal parts of the targets, or a column "
            "with each pair's group."
        ),
    ] = None
    convention: Annotated[
        Literal["rankwell", "st"],
        Option(("--convention", "-c")),
        Doc(
            "Convention for names: rankwell, or st for sentence-transformers' "
            "EmbeddingSimilarityEvaluator."
        ),
    ] = "rankwell"
    intervals: Annotated[
        Intervals,
        Doc(
            "95 % confidence intervals: `bootstrap-t` (studentised bootstrap over pairs for "
            "errors, never narrower than Student's t; percentile for correlations), `bootstrap` "
            "(percentile), Student's `t` (Fisher's z for correlations), or none.",
            "Statistics",
        ),
    ] = "bootstrap-t"


@dataclass(frozen=True, eq=False)
class ModelPairs:
    """One model's pairs under one similarity.

    run: name of the model in results.
    similarity: the similarity by which vectors were compared; None where similarities were given.
    scored: the pairs with their targets and similarities.
    """

    run: str
    similarity: Similarity | None
    scored: ScoredPairs

    def __str__(self) -> str:
        return self.run if self.similarity is None else f"{self.run} {self.similarity}"

    @cached_property
    def line(self) -> FittedLine | None:
        """The line of calibration; None where a column is constant, which has no correlation."""
        return fit_line(self.scored.targets, self.scored.similarities)

    @cached_property
    def classes(self) -> Classification | None:
        """The figures of classes, where the targets are 0 and 1, both of them, of as many pairs as
        a correlation needs.
        """
        targets = self.scored.targets
        if len(targets) < correlation.MIN_PAIRS or not np.array_equal(np.unique(targets), [0, 1]):
            return None
        return classify(targets == 1, self.scored.similarities)

    def exact(self, name: str) -> str:
        """A measure's name with the similarity that it was computed from, where that is known:
        `Spearman(sim='cosine')`.
        """
        if self.similarity is None:
            return name
        bare, _, parameters = name.partition("(")
        return f"{bare}(sim={self.similarity!r}" + (f",{parameters}" if parameters else ")")

    def row(
        self,
        name: str,
        value: float | None,
        bounds: Interval | None,
        *,
        p: float | None,
        st_label: str,
    ) -> dict[str, Any]:
        """The summary row of a figure. st_label: sentence-transformers' word for it, else ""."""
        n, exact = len(self.scored), self.exact(name)
        label = st_label if st_label and self.similarity else exact
        low, high = bounds if bounds and n >= MIN_QUERIES else (None, None)
        return SummaryRow.of(self.run, exact, label, value, None, low, high, n, "score") | {"p": p}


class PairInputs(NamedTuple):
    """The pairs of every model, and how they were chosen.

    compared: the pairs for each model and similarity.
    rules: name of a choice -> how the pairs were chosen; empty where all pairs were given.
    findings: findings on the choice.
    sources: name of an input -> its file.
    """

    compared: list[ModelPairs]
    rules: Mapping[str, str]
    findings: list[Finding]
    sources: dict[str, Source]


class MeasuredPairs(NamedTuple):
    """The figures of one model's pairs.

    rows: rows of the summary.
    values: errors of single pairs for each measure that has them.
    findings: findings on undefined figures, and the fitted lines of calibration.
    """

    rows: list[dict[str, Any]]
    values: list[Values]
    findings: list[Finding]


def evaluate_pairs(
    inputs: PairInputs, options: PairOptions, *, details: bool, progress: Progress = None
) -> Results:
    """The correlations, errors and calibrations of every model, over all pairs and then by
    group.
    """
    grouping, n = options.group, len(inputs.compared[0].scored)
    labels = None if grouping is None or grouping.isdigit() else _read_groups(grouping, n)
    values, rows = list[Values](), list[Row]()
    findings, on_groups = list[Finding](), list[Finding]()
    for n_compared, model_pairs in enumerate(inputs.compared, 1):
        measured = measure_pairs(model_pairs, options)
        values += measured.values
        findings += measured.findings
        rows += [row if grouping is None else {**row, "group": "all"} for row in measured.rows]
        for group, in_group in _groups(model_pairs.scored.targets, grouping, labels):
            part = replace(model_pairs, scored=model_pairs.scored.of(in_group))
            measured_part = measure_pairs(part, options)
            rows += [{**row, "group": group} for row in measured_part.rows]
            on_groups += [
                finding.under(f"group {group}")
                for finding in measured_part.findings
                if finding.level != "info" and finding not in measured.findings
            ]
        if progress is not None:
            progress("compared", n_compared, len(inputs.compared))
    if options.convention == "st":
        rows += list(_largest(rows))
    if grouping is not None and labels is None:
        on_groups.append(targets_of_one_range())
    return Results(
        values=tuple(values),
        # A correlation has no value per pair, and errors keep their places among the rows.
        n_summarised=0,
        aggregates=tuple(rows),
        rules=_rules(inputs, options),
        data_findings=(*inputs.findings, *findings, *on_groups),
        sources=unchanged(inputs.sources),
        details=_detail_columns(inputs.compared) if details else None,
        queries=_query_columns(inputs.compared) if details else None,
        intervals=options.intervals,
        seed=options.seed,
        task="pairs",
    )


def measure_pairs(compared: ModelPairs, options: PairOptions) -> MeasuredPairs:
    """Correlations with p, errors, and the error after calibration, a row each, for one model's
    pairs.

    Targets 0 and 1 have the figures of classes before them, by which they are judged. Correlations
    and the calibrated error are null where a column is constant, correlations also below 3 pairs,
    intervals below 10. intervals: `bootstrap-t` and `bootstrap` resample pairs; `t` is Fisher's z
    for Pearson and Spearman and Student's t for MAE and MSE; Kendall's is the asymptotic one of
    Brown and Benedetti (1977) under both. convention: `st` labels correlations as
    sentence-transformers does, `spearman_cosine`. Raises BadInput where there is no pair.
    """
    intervals, seed, line, n = options.intervals, options.seed, compared.line, len(compared.scored)
    if not n:
        raise BadInput(f"{compared.run}: no pairs; expected at least one.")
    drawn = PairIntervals(None, None, None)
    if intervals.startswith("bootstrap") and line is not None and n >= MIN_QUERIES:
        drawn = bootstrap_pairs(
            compared.scored.targets,
            compared.scored.similarities,
            resamples=resamples_of(n),
            seed=seed,
        )
    rows = [*_class_rows(compared, options), *_correlation_rows(compared, drawn, options)]
    values = _errors(compared)
    summary = summarise(values, intervals=intervals, resamples=resamples_of(n), seed=seed)
    rows += [{**row, "p": None} for row in summary]
    rows[-1]["ci_low"], rows[-1]["ci_high"] = drawn.calibrated_mae or (None, None)
    findings = list(_findings(compared, rows, intervals))
    if line is not None:
        words = f"{line.slope:.4g} · similarity {line.intercept:+.4g}"
        findings.append(calibration_line(str(compared), words))
    return MeasuredPairs(rows, values, findings)


def _class_rows(compared: ModelPairs, options: PairOptions) -> Iterator[dict[str, Any]]:
    """Average precision, the best F1 with its threshold and its correlation; the threshold is
    chosen anew in each resample. None unless targets are 0 and 1.
    """
    figures = compared.classes
    if figures is None:
        return
    labels, similarities = compared.scored.targets == 1, compared.scored.similarities
    st, n = options.convention == "st", len(labels)
    # Its evaluator gives distances.
    sign = -1.0 if st and compared.similarity in ("euclidean", "manhattan") else 1.0
    bounds: list[Interval | None] = [None, None, None]
    if options.intervals.startswith("bootstrap") and n >= MIN_QUERIES:

        def _drawn(counts: Floats) -> Floats:
            resamples, positive = classify_resamples(labels, similarities, counts), counts @ labels
            return np.where(
                (positive > 0) & (positive < n),
                np.stack([resamples.ap, resamples.f1, resamples.mcc]),
                np.nan,
            )

        blocks = over_resamples(n, resamples_of(n), _drawn, seed=options.seed)
        bounds = [percentile_interval(drawn, 0.95) for drawn in np.concatenate(blocks, axis=1)]
    cells = (
        ("ap", figures.ap, bounds[0]),
        ("f1", figures.f1, bounds[1]),
        ("f1_threshold", sign * figures.f1_threshold, None),
        ("mcc", figures.mcc, bounds[2]),
    )
    for figure, (word, value, interval) in zip(CLASSES, cells, strict=True):
        st_label = f"{compared.similarity}_{word}" if st else ""
        yield compared.row(figure.name, value, interval, p=None, st_label=st_label)


def resamples_of(n: int) -> int:
    """Number of bootstrap resamples of n pairs: 10,000, above 2,000 pairs as many as 20 million
    draws allow, at least 1,000.
    """
    return min(10_000, max(1_000, 20_000_000 // n))


def _correlation_rows(
    compared: ModelPairs, drawn: PairIntervals, options: PairOptions
) -> Iterator[dict[str, Any]]:
    targets, similarities = compared.scored.targets, compared.scored.similarities
    for function, bounds in (
        (correlation.spearman, drawn.spearman),
        (correlation.pearson, drawn.pearson),
    ):
        name, coefficient = function.__name__, function(targets, similarities)
        if coefficient and options.intervals == "t":
            bounds = correlation.fisher_interval(
                coefficient.value, len(targets), ranks=function is correlation.spearman
            )
        value, p = coefficient or (None, None)
        st_label = f"{name}_{compared.similarity}" if options.convention == "st" else ""
        yield compared.row(name.title(), value, bounds, p=p, st_label=st_label)
    counts, bounds = correlation.concordance(targets, similarities), None
    coefficient = correlation.kendall(targets, similarities, counts=counts)
    if coefficient and options.intervals != "none":
        bounds = correlation.kendall_interval(counts)
    value, p = coefficient or (None, None)
    yield compared.row("Kendall", value, bounds, p=p, st_label="")


def _errors(compared: ModelPairs) -> list[Values]:
    """The errors of single pairs, before and after calibration, which come last; NaN where there is
    no line to calibrate by.
    """
    scored, line = compared.scored, compared.line
    off, calibrated = scored.similarities - scored.targets, np.full(len(scored), np.nan)
    if line is not None:
        calibrated = np.abs(line.predict(scored.similarities) - scored.targets)
    columns = (np.abs(off), off * off, calibrated)
    exact, names = (compared.exact(figure.name) for figure in ERRORS), tuple(scored.names)
    return [
        Values(compared.run, name, name, "score", "mean", names, column)
        for name, column in zip(exact, columns, strict=True)
    ]


def _findings(compared: ModelPairs, rows: Sequence[Row], intervals: Intervals) -> Iterator[Finding]:
    """The findings on the null values among the rows."""
    scored, n = compared.scored, len(compared.scored)
    for kind, column in (("targets", scored.targets), ("similarities", scored.similarities)):
        if correlation.is_constant(column):
            yield no_correlation(
                f"{compared}: all {kind} are {column[0]:g}: a constant has no correlation, and no "
                "line to calibrate by"
            )
    classes = compared.classes
    if classes is not None and (scored.similarities >= classes.f1_threshold).all():
        yield no_correlation(
            f"{compared}: the threshold of the best F1 puts every pair in class 1: a constant "
            "prediction has no correlation, and its MCC is 0 as in scikit-learn"
        )
    has_correlation = compared.line is not None
    if has_correlation and n < correlation.MIN_PAIRS:
        least = correlation.MIN_PAIRS
        yield no_correlation(f"{compared}: no correlation below {least} pairs (here {n})")
    if intervals != "none" and n < MIN_QUERIES:
        yield few_queries(MIN_QUERIES, str(n), "pairs", str(compared))
    elif not has_correlation:
        return
    elif intervals.startswith("bootstrap") and any(row["ci_low"] is None for row in rows):
        yield no_correlation(
            f"{compared}: a resample holds a single value of a column, so that its correlation has "
            "no bootstrap interval"
        )
    elif intervals == "t":
        yield no_t_interval(f"{compared}, the error after calibration")


def _largest(rows: Sequence[Row]) -> Iterator[Row]:
    """sentence-transformers' `pearson_max` and `spearman_max` of each run, where there is more than
    one similarity.
    """
    for run in runs_of(rows):
        for name in ("Pearson", "Spearman"):
            rows_of_name = [
                row
                for row in rows
                if row["run"] == run
                and row["measure"].startswith(f"{name}(sim=")
                and row.get("group", "all") == "all"
                and row["mean"] is not None
            ]
            if len(rows_of_name) > 1:
                yield {
                    **rows_of_name[0],
                    "measure": f"{name}(sim='max')",
                    "label": f"{name.lower()}_max",
                    "mean": max(row["mean"] for row in rows_of_name),
                    "ci_low": None,
                    "ci_high": None,
                    "p": None,
                }


def _read_groups(path: str, n: int) -> list[str]:
    labels = read_column(path)
    if len(labels) != n:
        raise BadInput(
            f"{path}: {len(labels)} groups for {n} pairs; every pair has one, in the same order."
        )
    present_labels = [label for label in labels if label]
    if len(present_labels) < n:
        row = next(row for row, label in enumerate(labels) if not label)
        raise BadInput(f"{path}: row {row} (from 0) names no group; name one for every pair.")
    if len(set(present_labels)) > _MOST_GROUPS:
        raise BadInput(
            f"{path}: {len(set(present_labels))} different groups, {_MOST_GROUPS} at most; for "
            "numbers give --group 4."
        )
    return present_labels


def _groups(
    targets: Floats, grouping: str | None, labels: list[str] | None
) -> Iterator[tuple[str, Bools]]:
    """Each group's name and pairs; equal targets stay together, so that there may be fewer groups
    than requested.
    """
    if grouping is None:
        return
    if labels is not None:
        column = np.array(labels, dtype=object)
        yield from ((name, column == name) for name in sorted(set(labels)))
        return
    if not 2 <= int(grouping) <= _MOST_GROUPS:
        raise BadUsage(
            f"--group {grouping}; 2 to {_MOST_GROUPS} parts of the targets, or a column, as in "
            "pairs.csv:genre."
        )
    inner = np.quantile(targets, np.arange(1, int(grouping)) / int(grouping))
    group_of_pair = np.searchsorted(inner, targets, side="right")
    for number in np.unique(group_of_pair).tolist():
        inside = targets[group_of_pair == number]
        yield f"{inside.min():.4g} to {inside.max():.4g}", group_of_pair == number


def _rules(inputs: PairInputs, options: PairOptions) -> dict[str, Any]:
    n = len(inputs.compared[0].scored)
    similarities = dict.fromkeys(model.similarity for model in inputs.compared if model.similarity)
    return {
        "convention": options.convention,
        "pairs": n,
        **({"similarity": ",".join(similarities)} if similarities else {}),
        **inputs.rules,
        "ranks": "average",
        "calibration": "least-squares",
        "intervals": options.intervals,
        **({"resamples": resamples_of(n)} if options.intervals.startswith("bootstrap") else {}),
        "seed": options.seed,
        "measures": {
            model.exact(figure.name): figure.rule
            for model in inputs.compared
            for figure in (*(CLASSES if model.classes else ()), *CORRELATIONS, *ERRORS)
        },
        "version": __version__,
    }


def _query_columns(compared: Sequence[ModelPairs]) -> dict[str, Sequence[Any]]:
    """The target of each pair and every model's similarity; targets of several similarities have
    their names.
    """
    alone = len({model.similarity for model in compared}) == 1
    columns: dict[str, Sequence[Any]] = {"query": compared[0].scored.names}
    for model in compared:
        name = "target" if alone else f"target {model.similarity}"
        columns.setdefault(name, model.scored.targets.tolist())
    return columns | {
        f"similarity of {model}": model.scored.similarities.tolist() for model in compared
    }


def _detail_columns(compared: Sequence[ModelPairs]) -> Columns:
    columns: Columns = {name: [] for name in DETAIL_COLUMNS}
    for model in compared:
        scored, similarity = model.scored, model.similarity
        detail = None if similarity is None else f'{{"similarity": "{similarity}"}}'
        columns["run"] += [model.run] * len(scored)
        columns["query"] += scored.names
        columns["score"] += scored.similarities.tolist()
        columns["grade"] += scored.targets.tolist()
        columns["detail"] += [detail] * len(scored)
    return columns | {name: [None] * len(columns["run"]) for name in ("item", "rank", "state")}


SAMPLED = 10_000


def _from_numbers(targets: str, similarities: Sequence[str]) -> PairInputs:
    paths = _names(similarities)
    expected = _numbers(targets)
    rows = Positions(len(expected))
    compared = [
        ModelPairs(run, None, ScoredPairs(rows, expected, _numbers(path)))
        for run, path in paths.items()
    ]
    return PairInputs(compared, {}, [], _sources({"targets": targets, **paths}))


def _from_models(options: PairOptions, metrics: Sequence[Similarity]) -> PairInputs:
    paths = _names([options.reference, *(options.candidate or [])])
    teacher, *candidates = paths
    truth = read_embeddings(paths[teacher])
    total = truth.n * (truth.n - 1) // 2
    size = SAMPLED if options.samples is None else sample_size(options.samples, max(total, 1))
    drawn = sample_pairs(truth.n, size, seed=options.seed)
    ids = truth.names()
    names = [
        f"{ids[left]} {ids[right]}"
        for left, right in zip(drawn.left.tolist(), drawn.right.tolist(), strict=True)
    ]
    targets = {metric: pair_similarities(truth, truth, drawn, metric) for metric in metrics}
    compared, findings = list[ModelPairs](), list[Finding]()
    for run in candidates:
        table = read_embeddings(paths[run])
        rows = matching_rows(truth, table, teacher, run)
        if (truth.ids is None) != (table.ids is None):
            findings.append(rows_matched_by_position(run))
        pairs_of_run = drawn if rows is None else Pairs(rows[drawn.left], rows[drawn.right])
        for metric in metrics:
            similarities = pair_similarities(table, table, pairs_of_run, metric)
            scored = ScoredPairs(names, targets[metric], similarities)
            compared.append(ModelPairs(run, metric, scored))
    if len(drawn) < total:
        findings.append(pairs_share_items())
    rules = {"reference": teacher, "pairs": f"{len(drawn)} of {total}"}
    return PairInputs(compared, rules, findings, _sources(paths))


def _from_sides(options: PairOptions, metrics: Sequence[Similarity]) -> PairInputs:
    ((run, path),) = _names([options.left]).items()
    left, right = read_embeddings(path), read_embeddings(options.right)
    expected = _numbers(options.scores)
    if not left.n == right.n == len(expected):
        raise BadInput(
            f"{left.n} vectors on the left, {right.n} on the right, {len(expected)} scores; row by "
            "row they belong to the same pair, so there are as many of each."
        )
    rows, names = Pairs.aligned(left.n), Positions(left.n)
    compared = [
        ModelPairs(
            run, metric, ScoredPairs(names, expected, pair_similarities(left, right, rows, metric))
        )
        for metric in metrics
    ]
    paths = {"left": path, "right": options.right, "scores": options.scores}
    return PairInputs(compared, {}, [], _sources(paths))


def _numbers(path_and_column: str) -> Floats:
    path, column = split_part(path_and_column)
    return read_numbers(path, column=column)


def _names(texts: Sequence[str]) -> dict[str, str]:
    """Places by name: NAME=PLACE, else the file's stem with the column, with the parent folder
    where two are equal.
    """
    named_files = [(name, *split_part(path)) for name, path in map(split_name, texts)]
    stems = [
        name or ":".join(filter(None, (Source(path).stem, part)))
        for name, path, part in named_files
    ]
    names = [
        f"{Path(path).parent.name}/{stem}" if stems.count(stem) > 1 and not name else stem
        for stem, (name, path, _) in zip(stems, named_files, strict=True)
    ]
    if double := repeated_name(names):
        raise BadUsage(f"two files are called {double!r}; name them as in teacher=a/vectors.npy.")
    return dict(zip(names, (path for _, path in map(split_name, texts)), strict=True))


def _sources(paths: Mapping[str, str]) -> dict[str, Source]:
    """The files by name, with their columns in their names; without standard input."""
    sources = sources_of(paths)
    for name in sources.keys() & paths.keys():
        sources[name].name = paths[name]
    return sources


def _evaluate(
    targets: str | None,
    similarities: Sequence[str],
    *,
    options: PairOptions,
    details: bool,
    progress: Progress,
) -> Results:
    """The correlations, errors and calibrations of every model."""
    names = " ".join(options.metric or []).replace(",", " ").split()
    metrics: list[Similarity] = list(dict.fromkeys(similarity_name(name) for name in names))
    forms: dict[str, Sequence[Any]] = {
        "TARGETS SIMILARITIES": [targets, similarities],
        "--reference with --candidate": [options.reference, options.candidate],
        "--left with --right and --scores": [options.left, options.right, options.scores],
    }
    forms_given = [form for form, parts in forms.items() if any(parts)]
    if len(forms_given) > 1:
        raise BadUsage(f"{' and '.join(forms_given)} cannot be combined; give one of them.")
    if not forms_given or not all(forms[forms_given[0]]):
        raise BadUsage(
            f"give {forms_given[0] if forms_given else ', or '.join(forms)}; see rankwell pairs "
            "--help."
        )
    if options.samples is not None and not options.reference:
        raise BadUsage(
            "--samples draws pairs of items for --reference and --candidate; other pairs are "
            "all compared."
        )
    if metrics and targets:
        raise BadUsage(
            "--metric is for embeddings; similarities that are given as numbers are compared "
            "unchanged."
        )
    metrics = metrics or [similarity_name("cosine")]
    if targets:
        compared = _from_numbers(targets, similarities)
    elif options.reference:
        compared = _from_models(options, metrics)
    else:
        compared = _from_sides(options, metrics)
    return evaluate_pairs(compared, options, details=details, progress=progress)


pairs = Task(
    name="pairs",
    about="""Compare similarities of pairs with expected ones (STS).

Prints correlation, error and calibration, from numbers or embeddings.

Give TARGETS and SIMILARITIES, or --reference and --candidate, or --left, --right and --scores.""",
    command_lines="""
rankwell pairs targets.csv:score similarities.txt
rankwell pairs --left a.npy --right b.npy --scores targets.txt
""",
    options=PairOptions,
    inputs=(
        TaskInput(
            "targets",
            "Expected scores of the pairs: a file of numbers, or a table's column as in "
            "pairs.csv:score; `-` is standard input.",
        ),
        TaskInput(
            "similarities",
            "A model's similarities of the same pairs, in the same order; name more files to "
            "compare models.",
            many=True,
        ),
    ),
    files="summary.csv, summary.json, per_query.parquet (errors of single pairs), "
    "details.parquet and manifest.json",
    per_query=False,
    charts=False,
    evaluation=_evaluate,
)
