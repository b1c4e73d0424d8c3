"""Fuse runs into one, with given or tuned weights."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import numpy as np

import rankwell
from rankwell import reporting
from rankwell.comparison.fusion import parse_fusion
from rankwell.comparison.fusion.runs import (
    FusionOptions,
    FusionTuningOptions,
    TunedFusion,
    fusion_findings,
    read_runs,
    tune_fusion,
)
from rankwell.comparison.fusion.runs import fuse as fuse_runs
from rankwell.data.findings import Finding
from rankwell.data.findings.kinds import fusion_not_better, queries_fused_unjudged
from rankwell.data.json_types import AnyObject, JsonTables, ScoreObject
from rankwell.data.options import Doc, MeasureNames, Option, TargetFormat, arguments_of
from rankwell.data.rankings import Ranking
from rankwell.data.registry import measure_names
from rankwell.data.tables import format_value
from rankwell.errors import BadUsage, count_of, typed
from rankwell.evaluation.judged import name_runs, refuse_one_stream
from rankwell.io import formats as io
from rankwell.reporting import Row
from rankwell.reporting.options import FilePath, Output, Progress, option_names
from rankwell.reporting.outputs.answers import answer_of
from rankwell.store import STDIN


@dataclass(frozen=True, kw_only=True)
class TuneOptions:
    """The tuning of a fusion, and the report on it."""

    tune: Annotated[
        str | None,
        Doc(
            "File of judgments for tuning weights, methods and normalisations.",
            "Input",
            is_common=True,
        ),
    ] = None
    measures: Annotated[
        MeasureNames,
        Doc(
            "With --tune: measures, separated by commas; the first is optimised, the others are "
            "reported. [default: nDCG@10]"
        ),
    ] = None
    folds: Annotated[
        int | None,
        Doc(
            "With --tune: number of folds into which the queries are divided. [default: 5]",
            "Statistics",
        ),
    ] = None
    seed: Annotated[
        int | None, Doc("With --tune: seed for the folds and the intervals. [default: 0]")
    ] = None
    format: Annotated[
        reporting.Format | None,
        Option(("--format", "-f")),
        Doc("With --tune: output format. [default: table]"),
        JsonTables(rows=ScoreObject, choices=AnyObject),
    ] = None


def fuse(
    *runs: str,
    output: FilePath,
    options: FusionOptions,
    tuning: TuneOptions,
    target_format: TargetFormat = None,
    progress: Progress = None,
) -> Output:
    """Fuse runs into one, with given or tuned weights.

    Adds reciprocal ranks or scores, or counts Borda points. Tuning is cross-validated: no query is
    tuned on itself.

    With --tune, every judged query is fused with the settings chosen on the other folds; tables
    compare the fused run with its input runs, and list the choice of each fold.

      rankwell fuse bm25.run dense.run -o fused.run
      rankwell fuse bm25.run dense.run --tune qrels.txt -m nDCG@10 -o fused.run

    Parameters
    ----------
    runs
        Files of rankings, two or more; one is `-` for standard input.
    output
        File to write, whole or not at all: .run, .trec or .txt (TREC), .parquet, .csv, .tsv, .json.
    """
    if str(output) in STDIN:
        raise BadUsage(
            "the fused run is a file whose suffix names the format. To print, give "
            "/dev/stdout and name it with --to."
        )
    methods = measure_names(options.method) or ["rrf"]
    normalisations = option_names(options.normalization, "--normalization")
    run_paths = name_runs(list(runs)) if runs else {}
    refuse_one_stream([*runs, tuning.tune, options.train_qrels, *(options.train_runs or ())])
    findings = list[Finding]()
    rankings = read_runs(run_paths, options, findings)
    if tuning.tune is None:
        fused, way, of_fusion = _fuse_by_hand(
            rankings, methods, normalisations, options, tuning, progress
        )
        messages = (way, *_write(fused, output, target_format))
        return Output(messages=messages, findings=(*findings, *of_fusion))
    if options.weights is not None:
        raise BadUsage("--tune finds the weights itself; leave --weights or --tune out.")
    if options.train_qrels is not None or options.train_runs is not None:
        raise BadUsage(
            "--train-qrels and --train-runs have no effect with --tune, which trains "
            "on folds; leave them out."
        )
    found_judgments = io.find_judgments(
        tuning.tune, format=options.qrels_format, qrels_columns=options.qrels_columns
    )
    measures = measure_names(tuning.measures) or ["nDCG@10"]
    shared = {name: getattr(options, name) for name in ("absent", "depth", "top")}
    stated = {
        name: value for name in ("folds", "seed") if (value := getattr(tuning, name)) is not None
    }
    tuning_options = FusionTuningOptions(
        measure=measures[0], methods=methods, normalization=normalisations, **shared, **stated
    )
    tuned = tune_fusion(
        rankings, found_judgments.judgments, options=tuning_options, progress=progress
    )
    name = output.name.partition(".")[0]
    label = f"{name} (fused)" if name in rankings else name or "fused"
    # The runs, the fused run without tuning, and the tuned one.
    compared_runs = {**rankings, f"{label} (untuned)": tuned.untuned, label: tuned.ranking}
    result = rankwell.evaluate(found_judgments.judgments, compared_runs, measures, seed=tuned.seed)
    higher = tuned.measure.measure.entry.better == "higher"
    findings += [
        *found_judgments.findings,
        *fusion_findings(tuned.whole.fusion, rankings),
        *_defeat(result.summary, list(rankings), label, higher=higher),
        *result.findings,
    ]
    if loose := len(tuned.ranking.queries) - len(tuned.folds):
        findings.append(queries_fused_unjudged(loose))
    terminal = reporting.terminal_of()
    rules = result.describe() | tuned.describe()
    tables = {"choices": tuned.rows}
    form: reporting.Format = tuning.format or "table"
    text = reporting.render(
        result.summary,
        None,
        rules,
        findings,
        form,
        terminal=terminal,
        tables=tables,
        answer=answer_of(result),
    )
    written = _write(tuned.ranking, output, target_format)
    compared_files = typed("rankwell", "compare", tuning.tune, *runs, output)
    is_read_alike = not any(vars(options)[name] for name in _READING)
    return Output(
        text=text,
        messages=(*_ways(tuned, [tuning.tune, *runs]), *written),
        findings=() if form == "json" else tuple(findings),
        next_step=compared_files if form == "table" and is_read_alike else "",
    )


_READING = ("qrels_format", "qrels_columns", "run_format", "columns")


def _fuse_by_hand(
    rankings: Mapping[str, Ranking],
    methods: Sequence[str],
    normalisations: Sequence[str],
    options: FusionOptions,
    tuning: TuneOptions,
    progress: Progress,
) -> tuple[Ranking, str, list[Finding]]:
    """The runs fused by the one method that is named, how, and findings on it. Raises BadUsage for
    options of tuning.
    """
    for argument in arguments_of(TuneOptions):
        if getattr(tuning, argument.name) is not None:
            raise BadUsage(
                f"{argument.flags[0]} has no effect without --tune; name the judgments, or "
                "leave it out."
            )
    reading = {"--qrels-format": options.qrels_format, "--qrels-columns": options.qrels_columns}
    if options.train_qrels is None and (
        unused := next((name for name, value in reading.items() if value), None)
    ):
        raise BadUsage(f"{unused} has no effect without --tune or --train-qrels; leave it out.")
    if len(methods) != 1 or len(normalisations) > 1:
        raise BadUsage(
            "several methods or normalisations are tried with --tune QRELS only; name one of each."
        )
    weights = None if options.weights is None else _weights(str(options.weights))
    hand_options = replace(
        options, method=methods[0], normalization=next(iter(normalisations), None), weights=weights
    )
    if options.train_runs is None:
        # The runs are read; what is left to read are those to learn from.
        hand_options = replace(hand_options, columns=None, run_format=None)
    fused = fuse_runs(rankings, options=hand_options, progress=progress)
    fusion = parse_fusion(
        hand_options.method, normalization=hand_options.normalization, absent=hand_options.absent
    ).with_weights(weights, len(rankings))
    rules = [
        f"{name} {rule}"
        for name, rule in fusion.describe().items()
        if name in ("normalization", "absent", "weights")
    ]
    method = fusion.entry.spelled({**fusion.entry.parameters, **fusion.arguments})
    if fusion.entry.learns:
        rules += [f"trained on {options.train_qrels}"]
    first = f"fused by {method}: {', '.join(rankings)}" + (f"; {', '.join(rules)}" if rules else "")
    return fused, first, fusion_findings(fusion, rankings)


def _weights(text: str) -> list[float]:
    try:
        return [float(weight) for weight in option_names(text, "--weights")]
    except ValueError as error:
        raise BadUsage(
            f"--weights {text!r}: expected numbers separated by commas, one for each run."
        ) from error


def _write(fused: Ranking, output: Path, form: str | None) -> list[str]:
    """Writes the run. Messages on the file, and on queries that its format cannot hold."""
    written = io.write_run(fused, output, format=form)
    empty = 0 if written == "json" else int((np.diff(fused.offsets) == 0).sum())
    messages: list[str] = [
        reporting.StatusNote(
            f"wrote {output} ({count_of(len(fused.items), 'row')} of "
            f"{count_of(len(fused.queries) - empty, 'query', 'queries')}, {written})"
        )
    ]
    if empty:
        messages.append(
            f"{count_of(empty, 'query without items is', 'queries without items are')} not in "
            f"{output}: the format cannot hold them"
        )
    return messages


def _defeat(
    summary: Sequence[Row], inputs: Sequence[str], fused: str, *, higher: bool
) -> list[Finding]:
    """A finding where the fused run does not beat the best of its inputs by the measure of the
    tuning.
    """
    first = summary[0]
    means = {row["run"]: row["mean"] for row in summary if row["measure"] == first["measure"]}
    best = (max if higher else min)(inputs, key=means.__getitem__)
    if means[fused] != means[best] and (means[fused] > means[best]) == higher:
        return []
    mean_texts = [format_value(means[run], first["unit"]) for run in (fused, best)]
    return [fusion_not_better(fused, best, first["label"], mean_texts)]


def _ways(tuned: TunedFusion, files: Sequence[str]) -> list[str]:
    """The selection of the fusions, and the choice of all queries together, for new queries. files:
    judgments, then runs.
    """
    fusion = tuned.whole.fusion
    messages = [
        f"tuned by {tuned.measure.label} in {len(tuned.choices)}-fold cross-validation (seed "
        f"{tuned.seed}): each of {len(tuned.folds)} judged queries is fused by the best of "
        f"{tuned.n_candidates} settings on the other folds"
    ]
    options = [f"--method '{fusion.method}'"]
    if fusion.normalization:
        options += [f"--normalization {fusion.normalization}"]
    if fusion.weights:
        options += ["--weights " + ",".join(f"{weight:g}" for weight in fusion.weights)]
    if fusion.entry.learns:
        options += [f"--train-qrels {files[0]} --train-runs {' '.join(files[1:])}"]
    return [*messages, f"for new queries: {' '.join(options)}"]
