"""Fuse runs into one: reciprocal ranks, sums of scores, Borda; weights by hand, or tuned so that no query tunes on itself."""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np

import rankwell
from rankwell import io, report
from rankwell.core.options import Option
from rankwell.core.registry import split_names
from rankwell.core.tables.names import name_runs
from rankwell.core.tables.ranking import Ranking
from rankwell.errors import BadUsage
from rankwell.evaluation.results import Results
from rankwell.experiments.fusion import TunedFusion, fusion_notes, read_runs, tune_fusion
from rankwell.experiments.fusion import fuse as fuse_runs
from rankwell.report.present import MeasureOption, Output, OutputPath, Progress, listed
from rankwell.store import STDIN
from rankwell.transforms.fusion import parse_fusion


def fuse(
    *runs: str,
    output: OutputPath,
    method: list[str] | None = None,
    weights: str | None = None,
    normalise: Annotated[str | None, Option(("--normalise", "--normalize"))] = None,
    absent: str | None = None,
    depth: int | None = None,
    top: int | None = None,
    tune: str | None = None,
    measure: MeasureOption = None,
    step: float | None = None,
    folds: int | None = None,
    seed: int | None = None,
    format: Annotated[report.Format | None, Option(("--format", "-f"))] = None,  # noqa: A002
    duplicates: io.Duplicates = "error",
    run_format: str | None = None,
    qrels_format: str | None = None,
    target_format: Annotated[str | None, Option(("--to",))] = None,
    progress: Progress = None,
) -> Output:
    """Fuse runs into one: reciprocal ranks, sums of scores, Borda; weights by hand, or tuned so that no query tunes on itself.

    With --tune every judged query is fused by the choice of the other folds, and tables compare the fused run with the runs
    that it is made of, and list the choice of each fold.

    Parameters
    ----------
    runs
        Files of rankings, two or more; one is `-` for standard input.
    output
        File to write, whole or not at all: .run, .trec or .txt (TREC), .parquet, .csv, .tsv, .json.
    method
        rrf (k = 60 unless it says rrf(k=10)), isr, log-isr and borda read ranks; combsum, combmnz, combgmnz(gamma=0.5), combanz,
        combmin, combmax and combmed read scores. With --tune several may be tried: repeat it, or separate them by blanks.
    weights
        One for each run, in their order, as 0.3,0.7; a run with weight 0 takes no part.
    normalise
        What scores become in each list before they are combined: min-max (unless another is said), z-score, sum, max, rank, none.
        With --tune several may be tried, with commas between them.
    absent
        What an item counts in a run that lacks it, where scores are added: zero, or lowest, as the run's last item. It is lowest
        for z-score and zero for all others unless it is said.
    depth
        How many first items of each list are looked at; all unless it is said.
    top
        How many items of each query are written; all unless it is said.
    tune
        File of judgments to tune weights, methods and normalisations by.
    measure
        With --tune: the measure to tune by, nDCG@10 unless another is said; repeat it for more to report.
    step
        With --tune: weights are tried in steps of this that sum to 1; 0.1 unless another is said.
    folds
        With --tune: into how many parts the queries are drawn; 5 unless another number is said.
    seed
        With --tune: seed of the folds, and of the intervals; 0 unless another is said.
    format
        With --tune: how to print, as a table unless csv, tsv, json, jsonl, md or latex is said.
    duplicates
        An item that a query lists twice: an error, or keep the first or the best-scored.
    run_format
        Name of the runs' format, where their content does not tell.
    qrels_format
        With --tune: name of the judgments' format, likewise.
    target_format
        Name of the fused run's format, where its suffix does not tell.
    """
    if str(output) in STDIN:
        raise BadUsage("the fused run is a file whose suffix names the format. To print, give /dev/stdout and name it with --to.")
    methods = [name for text in method or ["rrf"] for name in split_names(text)]
    normalisations = listed(normalise, "--normalise")
    rankings = read_runs(name_runs(list(runs)) if runs else {}, run_format=run_format, duplicates=duplicates)
    shared: dict[str, Any] = {"absent": absent, "depth": depth, "top": top, "progress": progress}
    if tune is None:
        _reject_unused_options(measure=measure, step=step, folds=folds, seed=seed, format=format, qrels_format=qrels_format)
        if len(methods) != 1 or len(normalisations) > 1:
            raise BadUsage("several methods or normalisations are tried with --tune QRELS only; name one of each.")
        numbers = None if weights is None else _weights(weights)
        one: dict[str, Any] = {"method": methods[0], "normalise": next(iter(normalisations), None), "weights": numbers}
        fused = fuse_runs(rankings, **one, **shared)
        return Output(notes=(*_fusion_rules(rankings, absent=absent, **one), *_write(fused, output, target_format)))
    if weights is not None:
        raise BadUsage("--weights are what --tune finds; give one of the two.")
    judgments = io.find_judgments(tune, format=qrels_format)
    requested = [name for text in measure or [] for name in split_names(text)] or ["nDCG@10"]
    tried = {"methods": methods, "normalise": normalisations, "step": 0.1 if step is None else step}
    drawn = {"folds": 5 if folds is None else folds, "seed": 0 if seed is None else seed}
    tuned = tune_fusion(rankings, judgments.table, measure=requested[0], **tried, **drawn, **shared)
    result = _judged(tuned, rankings, judgments.table, requested, output.name.partition(".")[0])
    notes = [f"judgments: read as {judgments.format}", *judgments.notes, *_tuning_notes(tuned, rankings)]
    result_notes = [*result.notes, *result.interval_notes]
    text = _tables(tuned, result, [*notes, *result_notes], format or "table")
    written = _write(tuned.ranking, output, target_format)
    return Output(text=text, notes=(*notes, *(result_notes if format != "json" else []), *written))


def _tables(tuned: TunedFusion, result: Results, notes: Sequence[str], format: report.Format) -> str:  # noqa: A002
    """The results of all runs, and the choices, as text."""
    rules, tables = result.describe() | tuned.describe(), {"choices": tuned.rows}
    return report.render(result.summary, None, rules, notes, format, terminal=report.terminal_of(sys.stdout), tables=tables)


def _fusion_rules(
    rankings: Mapping[str, Ranking],
    *,
    method: str,
    normalise: str | None,
    absent: str | None,
    weights: Sequence[float] | None,
) -> list[str]:
    """The fusion of the runs with all defaults, and notes on it."""
    fusion = parse_fusion(method, normalise=normalise, absent=absent).with_weights(weights, len(rankings))
    rules = ", ".join(f"{name} {rule}" for name, rule in fusion.describe().items() if name in ("normalise", "absent", "weights"))
    return [f"{fusion.method} of {', '.join(rankings)}" + (f"; {rules}" if rules else ""), *fusion_notes(fusion, rankings)]


def _weights(text: str) -> list[float]:
    try:
        return [float(each) for each in listed(text, "--weights")]
    except ValueError as error:
        raise BadUsage(f"--weights {text!r}: expected numbers with commas between them, one for each run.") from error


def _reject_unused_options(**given: Any) -> None:
    """Raises BadUsage for an option of tuning where nothing is tuned."""
    for name, value in given.items():
        if value is not None:
            raise BadUsage(f"--{name.replace('_', '-')} is about tuning; name the judgments with --tune, or leave it out.")


def _write(fused: Ranking, output: Path, form: str | None) -> list[str]:
    """Writes the run. Notes on the file, and on queries that its format cannot hold."""
    written = io.write_run(fused, output, format=form)
    empty = 0 if written == "json" else int((np.diff(fused.offsets) == 0).sum())
    lost = [f"{empty} queries without items are not in {output}: the format cannot hold them"] if empty else []
    return [f"wrote {output} ({len(fused.items)} rows of {len(fused.queries) - empty} queries, {written})", *lost]


def _judged(tuned: TunedFusion, rankings: Mapping[str, Ranking], judgments: Any, measures: Sequence[str], name: str) -> Results:
    """The runs, the fused run without tuning, and the tuned one, by the same measures."""
    label = f"{name} (fused)" if name in rankings else name or "fused"
    untuned = f"{label} (untuned)"
    return rankwell.evaluate(judgments, {**rankings, untuned: tuned.untuned, label: tuned.ranking}, measures, seed=tuned.seed)


def _tuning_notes(tuned: TunedFusion, rankings: Mapping[str, Ranking]) -> list[str]:
    """The selection of the fusions, and the choice of all queries together, for new queries."""
    loose = len(tuned.ranking.queries) - len(tuned.folds)
    fusion = tuned.whole.fusion
    notes = [
        f"tuned out of fold by {tuned.measure.label}: each of {len(tuned.folds)} judged queries is fused by the best of "
        f"{tuned.candidates} ways over the other folds ({len(tuned.choices)}, seed {tuned.seed}), so none is tuned on itself"
    ]
    if loose:
        notes.append(f"{loose} queries without judgments are fused as all judged queries together chose")
    options = [f"--method '{fusion.method}'"]
    options += [f"--normalise {fusion.normalise}"] if fusion.normalise else []
    options += ["--weights " + ",".join(f"{each:g}" for each in fusion.weights)] if fusion.weights else []
    notes.append(f"for new queries: {' '.join(options)}")
    return [*notes, *fusion_notes(fusion, rankings)]
