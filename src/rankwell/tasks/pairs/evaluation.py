"""Pairs with two numbers each -> figures with p-values and intervals: how well similarities follow what they should be."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from rankwell.core.kernels.similarity import Similarity
from rankwell.core.tables import Floats
from rankwell.core.tables.pairs import ScoredPairs
from rankwell.core.tables.values import Values
from rankwell.errors import BadInput
from rankwell.stats import MIN_QUERIES, Intervals, correlation
from rankwell.stats.correlation import PairIntervals, bootstrap_pairs, fit_line
from rankwell.stats.summaries import SummaryRow, summarise

Words = Literal["rankwell", "st"]
DEFINITIONS = {
    "Spearman": ("correlation of ranks; equal values share the mean of their ranks", "Spearman 1904"),
    "Pearson": ("product-moment correlation", "Pearson 1895"),
    "Kendall": ("tau-b: pairs of pairs in the same order less those in the other, corrected for ties", "Kendall 1945"),
    "MAE": ("mean of |similarity - target|", "rankwell"),
    "MSE": ("mean of (similarity - target)²", "rankwell"),
    "MAE(fit='affine')": ("mean of |slope · similarity + intercept - target|, by the least-squares line", "Legendre 1805"),
}


class Compared(NamedTuple):
    """One model's pairs under one similarity; None where the similarities were given as numbers."""

    run: str
    similarity: Similarity | None
    scored: ScoredPairs


class Figures(NamedTuple):
    """Rows of the summary, the errors of single pairs, what could not be computed, and how similarities become targets."""

    rows: list[dict[str, Any]]
    values: list[Values]
    notes: list[str]
    calibrations: list[str]


def measure_pairs(
    compared: Compared, *, intervals: Intervals = "bootstrap", seed: int = 0, convention: Words = "rankwell"
) -> Figures:
    """Correlations with p, errors, and the error after calibration, a row each, for one model's pairs.

    Correlations and the calibrated error are null where a column is constant, correlations also below 3 pairs, intervals below
    10. intervals: `bootstrap` resamples pairs, `t` is Fisher's z for Pearson and Spearman and Student's t for MAE and MSE;
    Kendall's is the asymptotic one of Brown and Benedetti (1977) under both. convention: `st` labels correlations as
    sentence-transformers does, `spearman_cosine`. Raises BadInput where there is no pair.
    """
    targets, similarities = compared.scored.targets, compared.scored.similarities
    n = len(targets)
    if not n:
        raise BadInput(f"{compared.run}: no pairs; at least one is wanted.")
    varied = not (correlation.is_constant(targets) or correlation.is_constant(similarities))
    drawn = PairIntervals(None, None, None)
    if intervals == "bootstrap" and varied and n >= MIN_QUERIES:
        drawn = bootstrap_pairs(targets, similarities, resamples=resamples_of(n), seed=seed)
    rows: list[dict[str, Any]] = []
    for name, found, bounds in _correlations(targets, similarities, drawn, intervals):
        low, high = bounds if bounds and n >= MIN_QUERIES else (None, None)
        value, p = found or (None, None)
        exact, label = exact_name(name, compared.similarity), _label(name, compared.similarity, convention)
        rows.append(SummaryRow.of(compared.run, exact, label, value, None, low, high, n, "score") | {"p": p})
    values = _errors(compared, convention)
    for each, row in zip(values, summarise(values, intervals=intervals, resamples=resamples_of(n), seed=seed), strict=True):
        shown = row | {"p": None}
        if "fit=" in each.measure:
            low, high = drawn.calibrated_mae or (None, None)
            shown |= {"ci_low": low, "ci_high": high}
        rows.append(shown)
    line = fit_line(targets, similarities)
    told = [] if line is None else [f"{_who(compared)}: calibrated by {line.slope:.4g} · similarity {line.intercept:+.4g}"]
    return Figures(rows, values, _notes(compared, rows, intervals, varied=varied), told)


def resamples_of(n: int) -> int:
    """How many bootstrap resamples n pairs get: 10,000, above 2,000 pairs as many as 20 million draws allow, at least 1,000."""
    return min(10_000, max(1_000, 20_000_000 // n))


def _correlations(
    targets: Floats, similarities: Floats, drawn: PairIntervals, intervals: Intervals
) -> Iterator[tuple[str, correlation.Correlation | None, tuple[float, float] | None]]:
    n = len(targets)
    for name, found, bounds in (
        ("Spearman", correlation.spearman(targets, similarities), drawn.spearman),
        ("Pearson", correlation.pearson(targets, similarities), drawn.pearson),
    ):
        if found and intervals == "t":
            bounds = correlation.fisher_interval(found.value, n, ranks=name == "Spearman")
        yield name, found, bounds
    counts = correlation.concordance(targets, similarities)
    found = correlation.kendall(targets, similarities, counts=counts)
    yield "Kendall", found, correlation.kendall_interval(counts) if found and intervals != "none" else None


def _errors(compared: Compared, convention: Words) -> list[Values]:
    """The errors of single pairs, as they stand and after calibration; NaN where there is no line to calibrate by."""
    run, _, scored = compared
    off = scored.similarities - scored.targets
    line = fit_line(scored.targets, scored.similarities)
    calibrated = np.full(len(off), np.nan) if line is None else np.abs(line.at(scored.similarities) - scored.targets)
    names = tuple(scored.names)
    made: list[Values] = []
    for name, column in (("MAE", np.abs(off)), ("MSE", off * off), ("MAE(fit='affine')", calibrated)):
        exact = exact_name(name, compared.similarity)
        made.append(Values(run, exact, _label(name, compared.similarity, convention), "score", "mean", names, column))
    return made


def exact_name(name: str, similarity: str | None) -> str:
    """The measure's name with the similarity that it was computed from, where that is known: `Spearman(sim='cosine')`."""
    if similarity is None:
        return name
    bare, _, rest = name.partition("(")
    return f"{bare}(sim={similarity!r}" + (f",{rest}" if rest else ")")


def _label(name: str, similarity: str | None, convention: Words) -> str:
    if convention == "st" and similarity is not None and name in ("Spearman", "Pearson"):
        return f"{name.lower()}_{similarity}"
    return exact_name(name, similarity)


def _notes(compared: Compared, rows: Sequence[Mapping[str, Any]], intervals: Intervals, *, varied: bool) -> list[str]:
    """What is null among the rows, and why."""
    scored, who = compared.scored, _who(compared)
    notes: list[str] = []
    for kind, column in (("targets", scored.targets), ("similarities", scored.similarities)):
        if correlation.is_constant(column):
            notes.append(f"{who}: all {kind} are {column[0]:g}: a constant has no correlation, and no line to calibrate by")
    n = len(scored)
    if varied and n < correlation.MIN_PAIRS:
        notes.append(f"{who}: no correlation below {correlation.MIN_PAIRS} pairs (here {n})")
    if intervals != "none" and n < MIN_QUERIES:
        notes.append(f"{who}: no interval below {MIN_QUERIES} pairs (here {n})")
    elif intervals == "bootstrap" and varied and any(row["ci_low"] is None for row in rows):
        notes.append(f"{who}: a resample holds a single value of a column, so that its correlation has no bootstrap interval")
    elif intervals == "t" and varied:
        notes.append(f"{who}: the error after calibration has a bootstrap interval only")
    return notes


def _who(compared: Compared) -> str:
    return compared.run if compared.similarity is None else f"{compared.run} {compared.similarity}"


def largest(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """sentence-transformers' `pearson_max` and `spearman_max` of each run, where there is more than one similarity."""
    made: list[dict[str, Any]] = []
    for run in dict.fromkeys(row["run"] for row in rows):
        for name in ("Pearson", "Spearman"):
            mine = [row for row in rows if row["run"] == run and row["measure"].startswith(f"{name}(sim=")]
            mine = [row for row in mine if row.get("group", "all") == "all" and row["mean"] is not None]
            if len(mine) > 1:
                largest = {"mean": max(row["mean"] for row in mine), "ci_low": None, "ci_high": None, "p": None}
                made.append({**mine[0], "measure": f"{name}(sim='max')", "label": f"{name.lower()}_max", **largest})
    return made
