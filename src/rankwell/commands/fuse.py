"""Fuse runs into one: reciprocal ranks, sums of scores, Borda; weights by hand, or tuned so that no query tunes on itself."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np

import rankwell
from rankwell import report
from rankwell.core.options import MeasureNames, Option, arguments_of
from rankwell.core.registry import measure_names
from rankwell.core.tables.ranking import Ranking
from rankwell.errors import BadUsage
from rankwell.evaluation.judged import name_runs
from rankwell.evaluation.results import Results
from rankwell.experiments.fusion import FusionOptions, FusionTuningOptions, TunedFusion, fusion_notes, read_runs, tune_fusion
from rankwell.experiments.fusion import fuse as fuse_runs
from rankwell.io import files as io
from rankwell.report.present import FilePath, Output, Progress, listed
from rankwell.store import STDIN
from rankwell.transforms.fusion import parse_fusion


@dataclass(frozen=True, kw_only=True)
class TuneOptions:
    """The tuning of a fusion, and the report on it.

    Parameters
    ----------
    tune
        File of judgments to tune weights, methods and normalisations by.
    measures
        With --tune: the measure to tune by, nDCG@10 by default; repeat it for more to report.
    step
        With --tune: weights are tried in steps of this that sum to 1; 0.1 by default.
    folds
        With --tune: number of parts into which the queries are drawn; 5 by default.
    seed
        With --tune: seed of the folds, and of the intervals; 0 by default.
    format
        With --tune: how to print: table (the default), csv, tsv, json, jsonl, md or latex.
    judgments_format
        With --tune: name of the judgments' format, where their content does not determine it.
    """

    tune: str | None = None
    measures: MeasureNames = None
    step: float | None = None
    folds: int | None = None
    seed: int | None = None
    format: Annotated[report.Format | None, Option(("--format", "-f"))] = None
    judgments_format: Annotated[str | None, Option(("--qrels-format",))] = None

    def reject_unused(self) -> None:
        """Raises BadUsage for an option of tuning where nothing is tuned."""
        for argument in arguments_of(TuneOptions):
            if getattr(self, argument.name) is not None:
                raise BadUsage(f"{argument.flags[0]} has no effect without --tune; name the judgments, or leave it out.")


def fuse(
    *runs: str,
    output: FilePath,
    options: FusionOptions,
    tuning: TuneOptions,
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
    target_format
        Name of the fused run's format, where its suffix does not determine it.
    """
    if str(output) in STDIN:
        raise BadUsage("the fused run is a file whose suffix names the format. To print, give /dev/stdout and name it with --to.")
    methods = measure_names(options.method) or ["rrf"]
    normalisations = listed(options.normalise, "--normalise")
    named = name_runs(list(runs)) if runs else {}
    rankings = read_runs(named, run_format=options.run_format, duplicates=options.duplicates)
    if tuning.tune is None:
        tuning.reject_unused()
        if len(methods) != 1 or len(normalisations) > 1:
            raise BadUsage("several methods or normalisations are tried with --tune QRELS only; name one of each.")
        weights = None if options.weights is None else _weights(str(options.weights))
        one = replace(options, method=methods[0], normalise=next(iter(normalisations), None), weights=weights)
        fused = fuse_runs(rankings, options=one, progress=progress)
        return Output(notes=(*_fusion_rules(rankings, one), *_write(fused, output, target_format)))
    if options.weights is not None:
        raise BadUsage("--weights are what --tune finds; give one of the two.")
    judgments = io.find_judgments(tuning.tune, format=tuning.judgments_format)
    measures = measure_names(tuning.measures) or ["nDCG@10"]
    shared = {name: getattr(options, name) for name in ("absent", "depth", "top")}
    stated = {name: value for name in ("step", "folds", "seed") if (value := getattr(tuning, name)) is not None}
    chosen = FusionTuningOptions(measure=measures[0], methods=methods, normalise=normalisations, **shared, **stated)
    tuned = tune_fusion(rankings, judgments.table, options=chosen, progress=progress)
    result = _judged(tuned, rankings, judgments.table, measures, output.name.partition(".")[0])
    notes = [f"judgments: read as {judgments.format}", *judgments.notes, *_tuning_notes(tuned, rankings)]
    result_notes = [*result.notes, *result.interval_notes]
    text = _tables(tuned, result, [*notes, *result_notes], tuning.format or "table")
    written = _write(tuned.ranking, output, target_format)
    return Output(text=text, notes=(*notes, *(result_notes if tuning.format != "json" else []), *written))


def _tables(tuned: TunedFusion, result: Results, notes: Sequence[str], format: report.Format) -> str:  # noqa: A002
    """The results of all runs, and the choices, as text."""
    rules, tables = result.describe() | tuned.describe(), {"choices": tuned.rows}
    return report.render(result.summary, None, rules, notes, format, terminal=report.terminal_of(sys.stdout), tables=tables)


def _fusion_rules(rankings: Mapping[str, Ranking], options: FusionOptions) -> list[str]:
    """The fusion of the runs with all defaults, and notes on it."""
    fusion = parse_fusion(options.method, normalise=options.normalise, absent=options.absent)
    fusion = fusion.with_weights(options.weights, len(rankings))
    rules = ", ".join(f"{name} {rule}" for name, rule in fusion.describe().items() if name in ("normalise", "absent", "weights"))
    return [f"{fusion.method} of {', '.join(rankings)}" + (f"; {rules}" if rules else ""), *fusion_notes(fusion, rankings)]


def _weights(text: str) -> list[float]:
    try:
        return [float(each) for each in listed(text, "--weights")]
    except ValueError as error:
        raise BadUsage(f"--weights {text!r}: expected numbers separated by commas, one for each run.") from error


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
