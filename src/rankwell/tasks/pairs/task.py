"""Compare similarities of pairs with what they should be: correlation, error and calibration, from
numbers or embeddings.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rankwell._native.similarity import Similarity, pair_similarities, similarity_name
from rankwell.data.findings import Finding
from rankwell.data.findings.reading import rows_matched_by_position
from rankwell.data.matrices import Pairs, Positions, ScoredPairs, matching_rows, sample_pairs
from rankwell.data.options import sample_size
from rankwell.data.tables import Floats
from rankwell.errors import BadInput, BadUsage
from rankwell.io.matrices import read_embeddings
from rankwell.io.records import read_numbers
from rankwell.reporting.options import Progress
from rankwell.results import Results
from rankwell.store import Source, sources_of, split_name, split_part
from rankwell.task import Task, TaskInput
from rankwell.tasks.pairs.evaluation import ModelPairs, PairInputs, PairOptions, evaluate_pairs
from rankwell.tasks.pairs.findings import pairs_share_items

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
    double = next((name for name in names if names.count(name) > 1), None)
    if double is not None:
        raise BadUsage(f"two files are called {double!r}; name them as in teacher=a/vectors.npy.")
    return dict(zip(names, (path for _, path in map(split_name, texts)), strict=True))


def _sources(paths: Mapping[str, str]) -> dict[str, Source]:
    """The files by name, with their columns in their names; without standard input."""
    sources = sources_of(paths)
    for name, source in sources.items():
        source.name = paths[name]
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
            "What a model gives the same pairs, in the same order; name more files to compare "
            "models.",
            many=True,
        ),
    ),
    files="summary.csv, summary.json, per_query.parquet (errors of single pairs), "
    "details.parquet and manifest.json",
    per_query=False,
    charts=False,
    evaluation=_evaluate,
)
