"""Compare similarities of pairs with what they should be: correlation, error and calibration, from numbers or embeddings.

Numbers are files with one a line, `.npy` arrays, JSON lists, or a column of a table (`pairs.csv:score`; TSV, JSONL, Parquet);
embeddings are files in any format that `rankwell.io.read_embeddings` reads.
"""

import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np

from rankwell import __version__, report
from rankwell.core.kernels.similarity import Similarity, pair_similarities, similarity_name
from rankwell.core.options import Option
from rankwell.core.tables import Bools, Floats
from rankwell.core.tables.embeddings import matching_rows
from rankwell.core.tables.names import Positions
from rankwell.core.tables.pairs import Pairs, ScoredPairs, sample_pairs
from rankwell.errors import BadInput, BadUsage
from rankwell.io.embeddings import read_column, read_embeddings, split_part
from rankwell.io.numbers import read_numbers
from rankwell.report.folder import FolderContent, write_folder
from rankwell.report.present import FormatOption, Input, InputOption, InputPlace, Output, OutputOption, Progress
from rankwell.stats import Intervals
from rankwell.store import Source
from rankwell.tasks.pairs.evaluation import (
    DEFINITIONS,
    Compared,
    Figures,
    Words,
    exact_name,
    largest,
    measure_pairs,
    resamples_of,
)

SAMPLED = 10_000
_MOST_STRATA = 100


def pairs(
    targets: InputOption = None,
    /,
    *similarities: InputPlace,
    reference: InputOption = None,
    candidate: Annotated[list[str] | None, Input()] = None,
    sample: Annotated[int | None, Option(("--pairs",))] = None,
    left: InputOption = None,
    right: InputOption = None,
    scores: InputOption = None,
    metric: list[str] | None = None,
    strata: Annotated[str | None, Input(perhaps=True)] = None,
    convention: Annotated[Words, Option(("--convention", "-c"))] = "rankwell",
    intervals: Intervals = "bootstrap",
    seed: int = 0,
    format: FormatOption = "table",  # noqa: A002
    output: OutputOption = None,
    progress: Progress = None,
) -> Output:
    """Compare similarities of pairs with what they should be: correlation, error and calibration, from numbers or embeddings.

    Give TARGETS and SIMILARITIES, or --reference and --candidate, or --left, --right and --scores.

    Parameters
    ----------
    targets
        What the pairs should score: a file of numbers, or a table's column as in pairs.csv:score; `-` is standard input.
    similarities
        What a model gives the same pairs, in the same order; name more files to compare models.
    reference
        Embeddings whose similarities are the targets.
    candidate
        Embeddings of the same items by another model, matched by id, or by position where either has no ids; repeat it for more.
    sample
        How many pairs of items to draw for --reference, without replacement; 10000, or all pairs where there are fewer.
    left
        Embeddings of the left sides of pairs, row by row.
    right
        Embeddings of their right sides by the same model.
    scores
        What these pairs should score, as TARGETS.
    metric
        Similarity of two vectors: cosine (the default), dot, euclidean or manhattan (negative distances); repeat it for more.
    strata
        Also each stratum alone: so many equal parts of the targets, or a column that names each pair's stratum.
    convention
        Whose words: rankwell, or st for those of sentence-transformers' EmbeddingSimilarityEvaluator.
    intervals
        95 % intervals by the bootstrap over pairs, by Student's t (for correlations by Fisher's z), or none.
    seed
        Seed of the sample and of the bootstrap.
    format
        How to print.
    output
        Folder for summary.csv, summary.json, per_query.parquet (errors of single pairs), details.parquet and manifest.json.
    """
    metrics: list[Similarity] = list(
        dict.fromkeys(similarity_name(name) for text in metric or [] for name in text.replace(",", " ").split())
    )
    _check_usage(
        {
            "TARGETS SIMILARITIES": [targets, similarities],
            "--reference with --candidate": [reference, candidate],
            "--left with --right and --scores": [left, right, scores],
        }
    )
    if sample is not None and not reference:
        raise BadUsage("--pairs draws pairs of items for --reference and --candidate; other pairs are all compared.")
    if metrics and targets:
        raise BadUsage("--metric is for embeddings; similarities that are given as numbers are compared as they stand.")
    metrics = metrics or [similarity_name("cosine")]
    if targets:
        world = _from_numbers(targets, similarities)
    elif reference and candidate:
        world = _from_models(reference, candidate, SAMPLED if sample is None else sample, metrics, seed)
    else:
        world = _from_sides(left or "", right or "", scores or "", metrics)
    figures = _compare(world, strata, intervals, seed, convention, progress)
    rules = _rules(world, intervals, seed, convention)
    notes = [*world.notes, *figures.notes, *figures.calibrations]
    if output is not None:
        _write(output, world, figures, rules, notes)
    text = report.render(figures.rows, None, rules, notes, format, terminal=report.terminal_of(sys.stdout))
    wrote = [f"wrote {output}/"] if output is not None else []
    return Output(text=text, notes=(*(notes if format != "json" else []), *wrote))


class World(NamedTuple):
    """All that is compared, what there is to say of it, and the files it came from."""

    compared: list[Compared]
    rules: dict[str, str | int]
    notes: list[str]
    inputs: dict[str, str]


def _check_usage(ways: Mapping[str, Sequence[Any]]) -> None:
    """Raises BadUsage unless exactly one way to name pairs is used, and completely."""
    used = [way for way, parts in ways.items() if any(parts)]
    if len(used) > 1:
        raise BadUsage(f"{' and '.join(used)} do not go together; give one of them.")
    if not used or not all(ways[used[0]]):
        raise BadUsage(f"give {used[0] if used else ', or '.join(ways)}; see rankwell pairs --help.")


def _from_numbers(targets: str, similarities: Sequence[str]) -> World:
    named = _names(similarities)
    wanted = _numbers(targets)
    compared = [Compared(run, None, ScoredPairs(Positions(len(wanted)), wanted, _numbers(place))) for run, place in named.items()]
    return World(compared, {}, [], {"targets": targets, **named})


def _from_models(reference: str, candidates: Sequence[str], size: int, metrics: Sequence[Similarity], seed: int) -> World:
    named = _names([reference, *candidates])
    teacher, *others = named
    truth = read_embeddings(named[teacher])
    drawn = sample_pairs(truth.n, size, seed=seed)
    total = truth.n * (truth.n - 1) // 2
    ids = truth.names()
    names = [
        f"{ids[one]} {two}" for one, two in zip(drawn.left.tolist(), (ids[row] for row in drawn.right.tolist()), strict=True)
    ]
    targets = {metric: pair_similarities(truth, truth, drawn, metric) for metric in metrics}
    compared, notes = list[Compared](), list[str]()
    for run in others:
        table = read_embeddings(named[run])
        rows = matching_rows(truth, table, teacher, run)
        if (truth.ids is None) != (table.ids is None):
            notes.append(f"{run}: only one side has ids, so that rows are matched by position")
        there = Pairs(rows[drawn.left], rows[drawn.right])
        compared += [
            Compared(run, metric, ScoredPairs(names, targets[metric], pair_similarities(table, table, there, metric)))
            for metric in metrics
        ]
    if len(drawn) < total:
        notes.append("pairs share items: intervals over pairs take them for independent and are somewhat too narrow")
    return World(compared, {"reference": teacher, "pairs": f"{len(drawn)} of {total}"}, notes, named)


def _from_sides(left: str, right: str, scores: str, metrics: Sequence[Similarity]) -> World:
    ((run, place),) = _names([left]).items()
    one, two, wanted = read_embeddings(place), read_embeddings(right), _numbers(scores)
    if not one.n == two.n == len(wanted):
        what = f"{one.n} vectors on the left, {two.n} on the right, {len(wanted)} scores"
        raise BadInput(f"{what}; row by row they belong to the same pair, so there are as many of each.")
    rows = Pairs.aligned(one.n)
    compared = [
        Compared(run, metric, ScoredPairs(Positions(one.n), wanted, pair_similarities(one, two, rows, metric)))
        for metric in metrics
    ]
    return World(compared, {}, [], {"left": place, "right": right, "scores": scores})


def _numbers(place: str) -> Floats:
    path, column = split_part(place)
    return read_numbers(path, column=column)


def _names(places: Sequence[str]) -> dict[str, str]:
    """Places by name: NAME=PLACE, else the file's stem with the column, with the parent folder where two are equal."""
    given = [text.partition("=") if "=" in text and not Path(text).exists() else ("", "", text) for text in places]
    found = [(name, *split_part(place)) for name, _, place in given]
    stems = [name or ":".join(filter(None, (Source(path).stem, part))) for name, path, part in found]
    names = [
        f"{Path(path).parent.name}/{stem}" if stems.count(stem) > 1 and not name else stem
        for stem, (name, path, _) in zip(stems, found, strict=True)
    ]
    double = next((name for name in names if names.count(name) > 1), None)
    if double is not None:
        raise BadUsage(f"two files are called {double!r}; name them as in teacher=a/vectors.npy.")
    return dict(zip(names, (place for _, _, place in given), strict=True))


def _compare(world: World, strata: str | None, intervals: Intervals, seed: int, convention: Words, progress: Progress) -> Figures:
    """The figures of everything that is compared, each whole and then by stratum."""
    labels = None if strata is None or strata.isdigit() else _read_strata(strata, len(world.compared[0].scored))
    whole, rows, notes = list[Figures](), list[dict[str, Any]](), list[str]()
    for place, each in enumerate(world.compared):
        found = measure_pairs(each, intervals=intervals, seed=seed, convention=convention)
        rows += [{**row, **({} if strata is None else {"group": "all"})} for row in found.rows]
        whole.append(found)
        for group, chosen in _strata(each.scored.targets, strata, labels):
            part = each._replace(scored=each.scored.of(chosen))
            found = measure_pairs(part, intervals=intervals, seed=seed, convention=convention)
            rows += [{**row, "group": group} for row in found.rows]
            notes += [f"{note}; stratum {group}" for note in found.notes if note not in whole[-1].notes]
        if progress is not None:
            progress("compared", place + 1, len(world.compared))
    rows += largest(rows) if convention == "st" else []
    if strata is not None and labels is None:
        notes.append("a stratum holds targets of one range, in which correlations are lower than over all")
    notes = [*(note for each in whole for note in each.notes), *notes]
    values = [value for each in whole for value in each.values]
    return Figures(rows, values, list(dict.fromkeys(notes)), [line for each in whole for line in each.calibrations])


def _read_strata(place: str, n: int) -> list[str]:
    labels = read_column(place)
    if len(labels) != n:
        raise BadInput(f"{place}: {len(labels)} strata for {n} pairs; every pair has one, in the same order.")
    known = [label for label in labels if label]
    if len(known) < n:
        row = next(row for row, label in enumerate(labels) if not label)
        raise BadInput(f"{place}: row {row} (from 0) names no stratum; name one for every pair.")
    if len(set(known)) > _MOST_STRATA:
        raise BadInput(f"{place}: {len(set(known))} different strata, {_MOST_STRATA} at most; for numbers give --strata 4.")
    return known


def _strata(targets: Floats, strata: str | None, labels: list[str] | None) -> Iterator[tuple[str, Bools]]:
    """Each stratum's name and pairs; equal targets stay together, so that there may be fewer strata than asked for."""
    if strata is None:
        return
    if labels is not None:
        column = np.array(labels, dtype=object)
        yield from ((name, column == name) for name in sorted(set(labels)))
        return
    if not 2 <= int(strata) <= _MOST_STRATA:
        raise BadUsage(f"--strata {strata}; 2 to {_MOST_STRATA} parts of the targets, or a column, as in pairs.csv:genre.")
    inner = np.quantile(targets, np.arange(1, int(strata)) / int(strata))
    place = np.searchsorted(inner, targets, side="right")
    for each in np.unique(place).tolist():
        inside = targets[place == each]
        yield f"{inside.min():.4g} to {inside.max():.4g}", place == each


def _rules(world: World, intervals: Intervals, seed: int, convention: Words) -> dict[str, Any]:
    n = len(world.compared[0].scored)
    drawn: dict[str, Any] = {"resamples": resamples_of(n)} if intervals == "bootstrap" else {}
    used = {name: each.similarity for each in world.compared for name in [str(each.similarity or "")] if name}
    measures = {
        exact_name(name, each.similarity): {"definition": definition, "source": source}
        for each in world.compared
        for name, (definition, source) in DEFINITIONS.items()
    }
    return {
        "convention": convention,
        "pairs": n,
        **({"similarity": ",".join(used)} if used else {}),
        **world.rules,
        "ranks": "average",
        "calibration": "least-squares",
        "intervals": intervals,
        **drawn,
        "seed": seed,
        "measures": measures,
        "version": __version__,
    }


def _write(folder: Path, world: World, figures: Figures, rules: Mapping[str, Any], notes: Sequence[str]) -> None:
    """Writes everything; in details.parquet `query` is the pair, `score` its similarity and `grade` its target."""
    columns: dict[str, list[Any]] = {name: [] for name in ("run", "query", "score", "grade", "detail")}
    for run, similarity, scored in world.compared:
        columns["run"] += [run] * len(scored)
        columns["query"] += scored.names
        columns["score"] += scored.similarities.tolist()
        columns["grade"] += scored.targets.tolist()
        columns["detail"] += [None if similarity is None else f'{{"similarity": "{similarity}"}}'] * len(scored)
    columns |= {name: [None] * len(columns["run"]) for name in ("item", "rank", "state")}
    inputs = {name: {"file": place, "digest": _digest(place)} for name, place in world.inputs.items() if place != "-"}
    manifest = {"schema_version": 1, "rules": rules, "inputs": inputs, "notes": notes}
    content = FolderContent(
        summary=figures.rows, values=figures.values, rules=rules, notes=notes, manifest=manifest, details=columns
    )
    write_folder(folder, content, charts=False)


def _digest(place: str) -> str:
    path = Path(split_part(place)[0])
    return Source(path / "vectors.npy" if path.is_dir() else path).digest()
