"""Pairs with two numbers each -> results with p-values and intervals: how well similarities follow
their targets.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np

from rankwell import __version__
from rankwell._native.resamples import over_resamples
from rankwell._native.similarity import Similarity
from rankwell.data.matrices import ScoredPairs
from rankwell.data.options import Doc, Input, InputData, Option
from rankwell.data.registry import CollectionFigure
from rankwell.data.tables import Bools, Floats, Values
from rankwell.errors import BadInput, BadUsage
from rankwell.evaluation.details import DETAIL_COLUMNS
from rankwell.io.formats import read_column
from rankwell.results import Results
from rankwell.stats import MIN_QUERIES, Intervals, SummaryRow, correlation, summarise
from rankwell.stats.classification import classify, classify_resamples
from rankwell.stats.correlation import PairIntervals, bootstrap_pairs, fit_line
from rankwell.stats.intervals import percentile_interval
from rankwell.store import Source, unchanged
from rankwell.tasks.pairs.measures.similarities import CLASSES, CORRELATIONS, ERRORS

Words = Literal["rankwell", "st"]
_MOST_STRATA = 100


@dataclass(frozen=True, kw_only=True)
class PairOptions:
    """The choices that decide the values of `rankwell pairs`."""

    reference: Annotated[InputData, Doc("Embeddings whose similarities are the targets.")] = None
    candidate: Annotated[
        list[str] | None,
        Input(),
        Doc(
            "Embeddings of the same items by another model, matched by id, or by position "
            "where either has no ids; repeat it for more."
        ),
    ] = None
    sample: Annotated[
        int | None,
        Option(("--pairs",)),
        Doc(
            "How many pairs of items to draw for --reference, without replacement; 10000, "
            "or all pairs where there are fewer."
        ),
    ] = None
    left: Annotated[InputData, Doc("Embeddings of the left sides of pairs, row by row.")] = None
    right: Annotated[InputData, Doc("Embeddings of their right sides by the same model.")] = None
    scores: Annotated[InputData, Doc("Expected scores of these pairs, like TARGETS.")] = None
    metric: Annotated[
        list[str] | None,
        Doc(
            "Similarity of two vectors: cosine (the default), dot, euclidean or manhattan "
            "(negative distances); repeat it for more."
        ),
    ] = None
    strata: Annotated[
        str | None,
        Input(perhaps=True),
        Doc(
            "Also each stratum alone: so many equal parts of the targets, or a column "
            "that names each pair's stratum."
        ),
    ] = None
    convention: Annotated[
        Words,
        Option(("--convention", "-c")),
        Doc(
            "Whose words: rankwell, or st for those of sentence-transformers' "
            "EmbeddingSimilarityEvaluator."
        ),
    ] = "rankwell"
    intervals: Annotated[
        Intervals,
        Doc(
            "95 % intervals: `bootstrap-t` (of errors the studentised bootstrap over pairs, at "
            "least as wide as Student's t; of correlations percentiles), `bootstrap` "
            "(percentiles), Student's `t` (for correlations Fisher's z), or none."
        ),
    ] = "bootstrap-t"
    seed: Annotated[int, Doc("Seed of the sample and of the bootstrap.")] = 0


class ModelPairs(NamedTuple):
    """One model's pairs under one similarity; None where the similarities were given as numbers."""

    run: str
    similarity: Similarity | None
    scored: ScoredPairs

    def __str__(self) -> str:
        return self.run if self.similarity is None else f"{self.run} {self.similarity}"


class PairInputs(NamedTuple):
    """The pairs of every model, the rules by which they were chosen, notes on them, and their
    files.
    """

    compared: list[ModelPairs]
    rules: dict[str, str | int]
    notes: list[str]
    sources: dict[str, Source]


class MeasuredPairs(NamedTuple):
    """Summary rows, the errors of single pairs, notes on values that are undefined, and the lines
    of calibration in words.
    """

    rows: list[dict[str, Any]]
    values: list[Values]
    notes: list[str]
    calibrations: list[str]


def evaluate_pairs(
    inputs: PairInputs,
    options: PairOptions,
    *,
    details: bool = False,
    progress: Callable[[str, int, int], None] | None = None,
) -> Results:
    """The correlations, errors and calibrations of every model, over all pairs and then by
    stratum.
    """
    strata, n = options.strata, len(inputs.compared[0].scored)
    labels = None if strata is None or strata.isdigit() else _read_strata(strata, n)
    measured_models, rows, notes = list[MeasuredPairs](), list[dict[str, Any]](), list[str]()
    for n_compared, model_pairs in enumerate(inputs.compared):
        measured_models.append(measure_pairs(model_pairs, options))
        rows += [
            {**row, **({} if strata is None else {"group": "all"})}
            for row in measured_models[-1].rows
        ]
        for group, in_stratum in _strata(model_pairs.scored.targets, strata, labels):
            part = measure_pairs(
                model_pairs._replace(scored=model_pairs.scored.of(in_stratum)), options
            )
            rows += [{**row, "group": group} for row in part.rows]
            notes += [
                f"{note}; stratum {group}"
                for note in part.notes
                if note not in measured_models[-1].notes
            ]
        if progress is not None:
            progress("compared", n_compared + 1, len(inputs.compared))
    rows += _largest(rows) if options.convention == "st" else []
    if strata is not None and labels is None:
        notes.append(
            "a stratum holds targets of one range, in which correlations are lower than over all"
        )
    if options.convention == PairOptions.convention:
        convention_note = [
            "convention rankwell, the default: correlations, errors and calibration over all pairs"
        ]
        inputs = inputs._replace(notes=convention_note + inputs.notes)
    notes = list(
        dict.fromkeys([*(note for measured in measured_models for note in measured.notes), *notes])
    )
    return Results(
        values=tuple(value for measured in measured_models for value in measured.values),
        # A correlation has no value per pair, and errors keep their places among the rows.
        summarised=0,
        aggregates=tuple(rows),
        rules=_rules(inputs, options),
        notes=(
            *inputs.notes,
            *notes,
            *(line for measured in measured_models for line in measured.calibrations),
        ),
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

    Targets 0 and 1 have the figures of classes before them.
    Correlations and the calibrated error are null where a column is constant, correlations also
    below 3 pairs, intervals below
    10. intervals: `bootstrap-t` and `bootstrap` resample pairs; `t` is Fisher's z for Pearson and
        Spearman and Student's t for
    MAE and MSE;
    Kendall's is the asymptotic one of Brown and Benedetti (1977) under both. convention: `st`
    labels correlations as sentence-transformers does, `spearman_cosine`. Raises BadInput where
    there is no pair.
    """
    intervals, seed, convention = options.intervals, options.seed, options.convention
    targets, similarities = compared.scored.targets, compared.scored.similarities
    n = len(targets)
    if not n:
        raise BadInput(f"{compared.run}: no pairs; expected at least one.")
    varied = not (correlation.is_constant(targets) or correlation.is_constant(similarities))
    drawn = PairIntervals(None, None, None)
    if intervals.startswith("bootstrap") and varied and n >= MIN_QUERIES:
        drawn = bootstrap_pairs(targets, similarities, resamples=resamples_of(n), seed=seed)
    rows: list[dict[str, Any]] = []
    for name, coefficient, bounds in _correlations(targets, similarities, drawn, intervals):
        low, high = bounds if bounds and n >= MIN_QUERIES else (None, None)
        value, p = coefficient or (None, None)
        exact = _exact_name(name, compared.similarity)
        label = _label(name, compared.similarity, convention)
        rows.append(
            SummaryRow.of(compared.run, exact, label, value, None, low, high, n, "score") | {"p": p}
        )
    values = _errors(compared, convention)
    for value_column, row in zip(
        values,
        summarise(values, intervals=intervals, resamples=resamples_of(n), seed=seed),
        strict=True,
    ):
        row_with_p = row | {"p": None}
        if "fit=" in value_column.measure:
            low, high = drawn.calibrated_mae or (None, None)
            row_with_p |= {"ci_low": low, "ci_high": high}
        rows.append(row_with_p)
    line = fit_line(targets, similarities)
    calibration = (
        []
        if line is None
        else [f"{compared}: calibrated by {line.slope:.4g} · similarity {line.intercept:+.4g}"]
    )
    notes = _notes(compared, rows, intervals, varied=varied)
    # What the figures of 0 and 1 are judged by comes first.
    return MeasuredPairs(
        [*(_binary_rows(compared, options) if is_binary(targets) else ()), *rows],
        values,
        notes,
        calibration,
    )


def is_binary(targets: Floats) -> bool:
    """Whether the targets are 0 and 1, both of them, of as many pairs as a correlation needs."""
    return len(targets) >= correlation.MIN_PAIRS and np.array_equal(np.unique(targets), [0, 1])


def _is_one_class(scored: ScoredPairs) -> bool:
    """Whether every similarity reaches the threshold of the best F1."""
    return bool(
        (
            scored.similarities >= classify(scored.targets == 1, scored.similarities).f1_threshold
        ).all()
    )


def _binary_rows(compared: ModelPairs, options: PairOptions) -> Iterator[dict[str, Any]]:
    """Average precision, the best F1 with its threshold and its correlation; the threshold is
    chosen anew in each resample.
    """
    labels = compared.scored.targets == 1
    similarities = compared.scored.similarities
    st = options.convention == "st"
    n, classification = len(labels), classify(labels, similarities)
    # Its evaluator gives distances.
    sign = -1.0 if st and compared.similarity in ("euclidean", "manhattan") else 1.0
    values = {
        "ap": classification.ap,
        "f1": classification.f1,
        "f1_threshold": sign * classification.f1_threshold,
        "mcc": classification.mcc,
    }
    bounds: dict[str, tuple[float, float] | None] = {}
    if options.intervals.startswith("bootstrap") and n >= MIN_QUERIES:

        def _drawn(counts: Floats) -> Floats:
            resamples, positive = classify_resamples(labels, similarities, counts), counts @ labels
            return np.where(
                (positive > 0) & (positive < n),
                np.stack([resamples.ap, resamples.f1, resamples.mcc]),
                np.nan,
            )

        drawn = np.concatenate(
            over_resamples(n, resamples_of(n), _drawn, seed=options.seed), axis=1
        )
        bounds = dict(
            zip(
                ("ap", "f1", "mcc"),
                (percentile_interval(figures, 0.95) for figures in drawn),
                strict=True,
            )
        )
    for name, (word, value) in zip(
        (figure.name for figure in CLASSES), values.items(), strict=True
    ):
        low, high = bounds.get(word) or (None, None)
        exact = _exact_name(name, compared.similarity)
        label = f"{compared.similarity}_{word}" if st and compared.similarity else exact
        yield SummaryRow.of(compared.run, exact, label, value, None, low, high, n, "score") | {
            "p": None
        }


def resamples_of(n: int) -> int:
    """Number of bootstrap resamples of n pairs: 10,000, above 2,000 pairs as many as 20 million
    draws allow, at least 1,000.
    """
    return min(10_000, max(1_000, 20_000_000 // n))


def _correlations(
    targets: Floats, similarities: Floats, drawn: PairIntervals, intervals: Intervals
) -> Iterator[tuple[str, correlation.Correlation | None, tuple[float, float] | None]]:
    n = len(targets)
    for function, bounds in (
        (correlation.spearman, drawn.spearman),
        (correlation.pearson, drawn.pearson),
    ):
        coefficient = function(targets, similarities)
        if coefficient and intervals == "t":
            bounds = correlation.fisher_interval(
                coefficient.value, n, ranks=function is correlation.spearman
            )
        yield function.__name__.title(), coefficient, bounds
    counts = correlation.concordance(targets, similarities)
    coefficient = correlation.kendall(targets, similarities, counts=counts)
    yield (
        "Kendall",
        coefficient,
        correlation.kendall_interval(counts) if coefficient and intervals != "none" else None,
    )


def _errors(compared: ModelPairs, convention: Words) -> list[Values]:
    """The errors of single pairs, before and after calibration; NaN where there is no line to
    calibrate by.
    """
    run, scored = compared.run, compared.scored
    off = scored.similarities - scored.targets
    line = fit_line(scored.targets, scored.similarities)
    calibrated = (
        np.full(len(off), np.nan)
        if line is None
        else np.abs(line.predict(scored.similarities) - scored.targets)
    )
    names, similarity = tuple(scored.names), compared.similarity
    return [
        Values(
            run,
            _exact_name(name, similarity),
            _label(name, similarity, convention),
            "score",
            "mean",
            names,
            column,
        )
        for name, column in (
            ("MAE", np.abs(off)),
            ("MSE", off * off),
            ("MAE(fit='affine')", calibrated),
        )
    ]


def _exact_name(name: str, similarity: str | None) -> str:
    """The measure's name with the similarity that it was computed from, where that is known:
    `Spearman(sim='cosine')`.
    """
    if similarity is None:
        return name
    bare, _, parameters = name.partition("(")
    return f"{bare}(sim={similarity!r}" + (f",{parameters}" if parameters else ")")


def _label(name: str, similarity: str | None, convention: Words) -> str:
    is_own = convention == "st" and similarity is not None and name in ("Spearman", "Pearson")
    return f"{name.lower()}_{similarity}" if is_own else _exact_name(name, similarity)


def _notes(
    compared: ModelPairs, rows: Sequence[Mapping[str, Any]], intervals: Intervals, *, varied: bool
) -> list[str]:
    """Notes on the null values among the rows."""
    scored, model = compared.scored, str(compared)
    notes: list[str] = []
    for kind, column in (("targets", scored.targets), ("similarities", scored.similarities)):
        if correlation.is_constant(column):
            notes.append(
                f"{model}: all {kind} are {column[0]:g}: a constant has no correlation, and no "
                "line to calibrate by"
            )
    if is_binary(scored.targets) and _is_one_class(scored):
        notes.append(
            f"{model}: the threshold of the best F1 puts every pair in class 1: a constant "
            "prediction has no correlation, and its MCC is 0 as in scikit-learn"
        )
    n = len(scored)
    if varied and n < correlation.MIN_PAIRS:
        notes.append(f"{model}: no correlation below {correlation.MIN_PAIRS} pairs (here {n})")
    if intervals != "none" and n < MIN_QUERIES:
        notes.append(f"{model}: no interval below {MIN_QUERIES} pairs (here {n})")
    elif (
        intervals.startswith("bootstrap") and varied and any(row["ci_low"] is None for row in rows)
    ):
        notes.append(
            f"{model}: a resample holds a single value of a column, so that its correlation has "
            "no bootstrap interval"
        )
    elif intervals == "t" and varied:
        notes.append(f"{model}: the error after calibration has a bootstrap interval only")
    return notes


def _largest(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """sentence-transformers' `pearson_max` and `spearman_max` of each run, where there is more than
    one similarity.
    """
    largest_rows: list[dict[str, Any]] = []
    for run in dict.fromkeys(row["run"] for row in rows):
        for name in ("Pearson", "Spearman"):
            rows_of_run = [
                row
                for row in rows
                if row["run"] == run and row["measure"].startswith(f"{name}(sim=")
            ]
            rows_of_run = [
                row
                for row in rows_of_run
                if row.get("group", "all") == "all" and row["mean"] is not None
            ]
            if len(rows_of_run) > 1:
                largest = {
                    "mean": max(row["mean"] for row in rows_of_run),
                    "ci_low": None,
                    "ci_high": None,
                    "p": None,
                }
                largest_rows.append(
                    {
                        **rows_of_run[0],
                        "measure": f"{name}(sim='max')",
                        "label": f"{name.lower()}_max",
                        **largest,
                    }
                )
    return largest_rows


def _read_strata(path: str, n: int) -> list[str]:
    labels = read_column(path)
    if len(labels) != n:
        raise BadInput(
            f"{path}: {len(labels)} strata for {n} pairs; every pair has one, in the same order."
        )
    present_labels = [label for label in labels if label]
    if len(present_labels) < n:
        row = next(row for row, label in enumerate(labels) if not label)
        raise BadInput(f"{path}: row {row} (from 0) names no stratum; name one for every pair.")
    if len(set(present_labels)) > _MOST_STRATA:
        raise BadInput(
            f"{path}: {len(set(present_labels))} different strata, {_MOST_STRATA} at most; for "
            "numbers give --strata 4."
        )
    return present_labels


def _strata(
    targets: Floats, strata: str | None, labels: list[str] | None
) -> Iterator[tuple[str, Bools]]:
    """Each stratum's name and pairs; equal targets stay together, so that there may be fewer strata
    than requested.
    """
    if strata is None:
        return
    if labels is not None:
        column = np.array(labels, dtype=object)
        yield from ((name, column == name) for name in sorted(set(labels)))
        return
    if not 2 <= int(strata) <= _MOST_STRATA:
        raise BadUsage(
            f"--strata {strata}; 2 to {_MOST_STRATA} parts of the targets, or a column, as in "
            "pairs.csv:genre."
        )
    inner = np.quantile(targets, np.arange(1, int(strata)) / int(strata))
    stratum_of_pair = np.searchsorted(inner, targets, side="right")
    for stratum in np.unique(stratum_of_pair).tolist():
        inside = targets[stratum_of_pair == stratum]
        yield f"{inside.min():.4g} to {inside.max():.4g}", stratum_of_pair == stratum


def known_figures(targets: Floats) -> tuple[CollectionFigure, ...]:
    """The figures that targets allow."""
    return (*(CLASSES if is_binary(targets) else ()), *CORRELATIONS, *ERRORS)


def _rules(inputs: PairInputs, options: PairOptions) -> dict[str, Any]:
    n = len(inputs.compared[0].scored)
    similarities = list(
        dict.fromkeys(
            model_pairs.similarity for model_pairs in inputs.compared if model_pairs.similarity
        )
    )
    measures = {
        _exact_name(figure.name, model_pairs.similarity): {
            "definition": figure.text,
            "source": figure.source,
            "better": figure.better,
        }
        for model_pairs in inputs.compared
        for figure in known_figures(model_pairs.scored.targets)
    }
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
        "measures": measures,
        "version": __version__,
    }


def _query_columns(compared: Sequence[ModelPairs]) -> dict[str, Sequence[Any]]:
    """The target of each pair and every model's similarity; targets of several similarities have
    their names.
    """
    alone = len({model_pairs.similarity for model_pairs in compared}) == 1
    columns: dict[str, Sequence[Any]] = {"query": compared[0].scored.names}
    for model in compared:
        columns.setdefault(
            "target" if alone else f"target {model.similarity}", model.scored.targets.tolist()
        )
    return columns | {
        f"similarity of {model_pairs}": model_pairs.scored.similarities.tolist()
        for model_pairs in compared
    }


def _detail_columns(compared: Sequence[ModelPairs]) -> dict[str, list[Any]]:
    columns: dict[str, list[Any]] = {name: [] for name in DETAIL_COLUMNS}
    for run, similarity, scored in compared:
        columns["run"] += [run] * len(scored)
        columns["query"] += scored.names
        columns["score"] += scored.similarities.tolist()
        columns["grade"] += scored.targets.tolist()
        columns["detail"] += [
            None if similarity is None else f'{{"similarity": "{similarity}"}}'
        ] * len(scored)
    return columns | {name: [None] * len(columns["run"]) for name in ("item", "rank", "state")}
