"""Compare similarities of pairs with what they should be: correlation, error and calibration, from
numbers or embeddings.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rankwell.core.kernels.similarity import Similarity, pair_similarities, similarity_name
from rankwell.core.tables import Floats
from rankwell.core.tables.matrices import Positions, matching_rows
from rankwell.core.tables.pairs import Pairs, ScoredPairs, sample_pairs
from rankwell.errors import BadInput, BadUsage
from rankwell.io.columns import read_numbers
from rankwell.io.matrices import read_embeddings
from rankwell.report.options import Progress
from rankwell.results import Results
from rankwell.store import Source, sources_of, split_name, split_part
from rankwell.task import Task, TaskInput
from rankwell.tasks.pairs.evaluation import ModelPairs, PairInputs, PairOptions, evaluate_pairs

SAMPLED = 10_000


def _from_numbers(targets: str, similarities: Sequence[str]) -> PairInputs:
    named = _names(similarities)
    expected = _numbers(targets)
    rows = Positions(len(expected))
    compared = [
        ModelPairs(run, None, ScoredPairs(rows, expected, _numbers(place)))
        for run, place in named.items()
    ]
    return PairInputs(compared, {}, [], _sources({"targets": targets, **named}))


def _from_models(options: PairOptions, metrics: Sequence[Similarity]) -> PairInputs:
    named = _names([options.reference, *(options.candidate or [])])
    teacher, *others = named
    truth = read_embeddings(named[teacher])
    drawn = sample_pairs(
        truth.n, SAMPLED if options.sample is None else options.sample, seed=options.seed
    )
    total = truth.n * (truth.n - 1) // 2
    ids = truth.names()
    names = [
        f"{ids[one]} {ids[two]}"
        for one, two in zip(drawn.left.tolist(), drawn.right.tolist(), strict=True)
    ]
    targets = {metric: pair_similarities(truth, truth, drawn, metric) for metric in metrics}
    compared, notes = list[ModelPairs](), list[str]()
    for run in others:
        table = read_embeddings(named[run])
        rows = matching_rows(truth, table, teacher, run)
        if (truth.ids is None) != (table.ids is None):
            notes.append(f"{run}: only one side has ids, so that rows are matched by position")
        there = Pairs(rows[drawn.left], rows[drawn.right])
        compared += [
            ModelPairs(
                run,
                metric,
                ScoredPairs(names, targets[metric], pair_similarities(table, table, there, metric)),
            )
            for metric in metrics
        ]
    if len(drawn) < total:
        notes.append(
            "pairs share items: intervals over pairs take them for independent and are "
            "somewhat too narrow"
        )
    return PairInputs(
        compared,
        {"reference": teacher, "pairs": f"{len(drawn)} of {total}"},
        notes,
        _sources(named),
    )


def _from_sides(left: str, right: str, scores: str, metrics: Sequence[Similarity]) -> PairInputs:
    ((run, place),) = _names([left]).items()
    one, two, expected = read_embeddings(place), read_embeddings(right), _numbers(scores)
    if not one.n == two.n == len(expected):
        what = f"{one.n} vectors on the left, {two.n} on the right, {len(expected)} scores"
        raise BadInput(
            f"{what}; row by row they belong to the same pair, so there are as many of each."
        )
    rows = Pairs.aligned(one.n)
    compared = [
        ModelPairs(
            run,
            metric,
            ScoredPairs(Positions(one.n), expected, pair_similarities(one, two, rows, metric)),
        )
        for metric in metrics
    ]
    return PairInputs(compared, {}, [], _sources({"left": place, "right": right, "scores": scores}))


def _numbers(place: str) -> Floats:
    path, column = split_part(place)
    return read_numbers(path, column=column)


def _names(places: Sequence[str]) -> dict[str, str]:
    """Places by name: NAME=PLACE, else the file's stem with the column, with the parent folder
    where two are equal.
    """
    given = [("", text) if Path(text).exists() else split_name(text) for text in places]
    found = [(name, *split_part(place)) for name, place in given]
    stems = [
        name or ":".join(filter(None, (Source(path).stem, part))) for name, path, part in found
    ]
    names = [
        f"{Path(path).parent.name}/{stem}" if stems.count(stem) > 1 and not name else stem
        for stem, (name, path, _) in zip(stems, found, strict=True)
    ]
    double = next((name for name in names if names.count(name) > 1), None)
    if double is not None:
        raise BadUsage(f"two files are called {double!r}; name them as in teacher=a/vectors.npy.")
    return dict(zip(names, (place for _, place in given), strict=True))


def _sources(places: Mapping[str, str]) -> dict[str, Source]:
    """The files by name, with their columns in their names; without standard input."""
    found = sources_of(places)
    for name, source in found.items():
        source.name = places[name]
    return found


def _evaluate(
    targets: str | None,
    similarities: Sequence[str],
    *,
    options: PairOptions,
    details: bool,
    progress: Progress,
) -> Results:
    """The correlations, errors and calibrations of every model."""
    metrics: list[Similarity] = list(
        dict.fromkeys(
            similarity_name(name)
            for text in options.metric or []
            for name in text.replace(",", " ").split()
        )
    )
    forms: dict[str, Sequence[Any]] = {
        "TARGETS SIMILARITIES": [targets, similarities],
        "--reference with --candidate": [options.reference, options.candidate],
        "--left with --right and --scores": [options.left, options.right, options.scores],
    }
    used = [form for form, parts in forms.items() if any(parts)]
    if len(used) > 1:
        raise BadUsage(f"{' and '.join(used)} cannot be combined; give one of them.")
    if not used or not all(forms[used[0]]):
        raise BadUsage(
            f"give {used[0] if used else ', or '.join(forms)}; see rankwell pairs --help."
        )
    if options.sample is not None and not options.reference:
        raise BadUsage(
            "--pairs draws pairs of items for --reference and --candidate; other pairs are "
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
        compared = _from_sides(options.left, options.right, options.scores, metrics)
    return evaluate_pairs(compared, options, details=details, progress=progress)


pairs = Task(
    name="pairs",
    about="""Compare similarities of pairs with what they should be: correlation, error and \
calibration, from numbers or embeddings.

Give TARGETS and SIMILARITIES, or --reference and --candidate, or --left, --right and --scores.""",
    options=PairOptions,
    inputs=(
        TaskInput(
            "targets",
            "Expected scores of the pairs: a file of numbers, or a table's column as in "
            "pairs.csv:score; `-` is standard input.",
        ),
        TaskInput(
            "similarities",
            "What a model gives the same pairs, in the same order; name more files to compare "
            "models.",
            many=True,
        ),
    ),
    files="summary.csv, summary.json, per_query.parquet (errors of single pairs), "
    "details.parquet and manifest.json",
    per_query="",
    charts=False,
    evaluation=_evaluate,
)
