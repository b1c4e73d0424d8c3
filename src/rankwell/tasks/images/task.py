"""Search for instances among pictures."""

import json
import sys
import time
from dataclasses import dataclass, fields, replace
from functools import partial
from pathlib import Path
from typing import Any

from rankwell import threads
from rankwell.data.catalogue import PERFORMANCE
from rankwell.data.findings.evaluation import printed_figure
from rankwell.data.json_types import ScoreObject
from rankwell.data.matrices import Scores, named_places
from rankwell.errors import BadUsage, count_of, typed
from rankwell.evaluation.options import PrintedFigures
from rankwell.reporting import render_rows
from rankwell.reporting.drafts import drafting
from rankwell.reporting.folder import write_result
from rankwell.reporting.options import Format, Output, Progress, StatusNote, present
from rankwell.stats.granularity import granularity_of
from rankwell.store import write_text
from rankwell.task import Presented, Task, TaskInput
from rankwell.tasks.images.computed_runs import ComputedRun, compute_run
from rankwell.tasks.images.evaluation import InstanceResults, evaluate_images, read_runs
from rankwell.tasks.images.findings import images_unreadable
from rankwell.tasks.images.images import Images, both_sides, named_place
from rankwell.tasks.images.json_types import InstanceObject
from rankwell.tasks.images.options import (
    ENCODER_SETTINGS,
    ImageOptions,
    ImageSetOptions,
    ImageSystemOptions,
    InstanceRules,
)
from rankwell.vectors.media.contact_sheet import picture_columns, pictured, sheets_of, write_sheets
from rankwell.vectors.media.images import Thumbnails

_SHEETS, _FIRST = 20, 5
"""Contact sheets of each run, and the references on each."""


@dataclass(frozen=True, kw_only=True)
class OutputOptions:
    """Further output."""

    check: PrintedFigures = None


@dataclass(frozen=True, kw_only=True)
class ImageCommandOptions(ImageSetOptions, ImageSystemOptions, ImageOptions, OutputOptions):
    """The options of the command."""


def _evaluate(
    images: str | None, *, options: ImageCommandOptions, details: bool, progress: Progress
) -> Presented:
    """The results of the runs, one of which may be computed from the images."""
    _check_options(images, options)
    table, rules = None, dict[str, Any]()
    if images is not None:
        rules["dataset"], path = named_place(images)
        if options.query_images is not None:
            rules["query_images"] = Path(options.query_images).name
        table = options.read(path)
    start, computed, retrieval = time.perf_counter(), None, options
    if options.encoder or options.local_features:
        if options.query_vectors is not None:
            raise BadUsage(
                "--query-vectors are those of --item-vectors; leave them out beside a system that "
                "looks at the images."
            )
        images_used = None if table is None else _refuse_early(table, options)
        computed = compute_run(images_used, options, progress=progress)
        field = "scores" if isinstance(computed.table, Scores) else "item_vectors"
        files = getattr(options, field) or []
        tables = [(computed.run, computed.table), *(("", file) for file in files)]
        runs = named_places(tables, [computed.run, *files], what="runs", example="own=scores.npy")
        retrieval = replace(options, **{field: runs})
        rules |= computed.rules
    result = evaluate_images(
        table, options=retrieval, details=details, rules=rules, progress=progress
    )
    sizes = dict.fromkeys(counts["queries_counted"] for counts in result.rules["counts"].values())
    findings = [
        printed_figure(str(granularity_of(figure, n)))
        for figure in options.check or ()
        for n in sizes
    ]
    if computed is not None and computed.failures:
        n_failures = count_of(len(computed.failures), "image")
        problem = computed.failures[0].message
        findings.append(images_unreadable(n_failures, problem))
    return Presented(
        replace(result, data_findings=(*findings, *result.data_findings)),
        partial(_present, computed=computed, start=start),
    )


def _refuse_early(images: Images, options: ImageCommandOptions) -> Images:
    """The images that take part. Raises what the evaluation would raise for files of other runs,
    before a run is computed, which takes long.
    """
    rules = InstanceRules(options, by_id=True)
    images_used = rules.filtered(images).images
    both_sides(images_used)
    if options.scores is not None or options.item_vectors is not None:
        runs, _, truth = read_runs(images, options, rules)
        for name in runs.tables:
            runs.matched(name, truth)
    return images_used


def _check_options(images: str | None, options: ImageCommandOptions) -> None:
    """Raises BadUsage for an option that nothing would read, and where nothing returns references
    for the queries.
    """
    if images is None and any(
        getattr(options, field.name) is not None for field in fields(ImageSetOptions)
    ):
        raise BadUsage(
            "--query-images, --root, --pattern and --contentless-images belong to a data set; "
            "name it first."
        )
    by_id = images is not None
    if options.k is not None and not InstanceRules(options, by_id=by_id).takes_cutoffs:
        raise BadUsage(
            f"-k {options.k}: every measure names its own cut-off; name one that does not with -m, "
            "as P, or leave -k out."
        )
    for owners, names in (
        (("encoder",), ENCODER_SETTINGS),
        (("local_features",), ("executor",)),
        (("encoder", "local_features"), ("cache",)),
        (("item_vectors", "scores"), ("item_ids",)),
        (("query_vectors", "scores"), ("query_ids",)),
        (("encoder", "item_vectors"), ("metric",)),
    ):
        unused = [name for name in names if getattr(options, name) is not None]
        if unused and not any(getattr(options, owner) for owner in owners):
            flags = ", ".join(f"--{name.replace('_', '-')}" for name in unused)
            owning = " or ".join(f"--{name.replace('_', '-')}" for name in owners)
            verb = "belongs" if len(unused) == 1 else "belong"
            raise BadUsage(f"{flags} {verb} to {owning}; name one of these, or leave it out.")
    sources = ("encoder", "local_features", "item_vectors", "query_vectors", "scores")
    if not any(getattr(options, name) for name in sources):
        raise BadUsage(
            "nothing says what is found for the queries: name --encoder or --local-features, "
            "which look at the images, "
            "--item-vectors, --query-vectors with --item-vectors, or --scores."
        )


def _present(
    result: InstanceResults,
    *,
    format: Format,
    per_query: bool,
    output: Path | None,
    computed: ComputedRun | None,
    start: float,
) -> Output:
    """The output; JSON has the rows of instances, too. start: of the work, by
    `time.perf_counter`.
    """
    tables = {"by_instance": result.by_instance} if format == "json" and result.by_instance else {}
    printed = present(result, format=format, per_query=per_query, tables=tables)
    if output is None:
        return printed
    images, details, queries = result.images, result.details or {}, result.queries or {}
    labels, paths, notes = dict[str, str](), dict[str, Path](), list[str]()
    if images is not None:
        labels, paths = images.labels, dict(zip(images.ids, images.paths or (), strict=False))
    pictures, items, contents = Thumbnails(paths), None, dict[str, str]()
    if computed is not None and computed.failures:
        problems = [
            {"image": failure.id, "file": str(failure.path), "problem": failure.message}
            for failure in computed.failures
        ]
        contents["encoding_errors.csv"] = render_rows(problems, "csv")
    performance = _performance(result, computed, time.perf_counter() - start)
    contents[PERFORMANCE] = json.dumps(performance, indent=2) + "\n"
    if result.by_instance:
        contents["by_instance.csv"] = render_rows(result.by_instance, "csv")
    with drafting(output, result.sources.values()) as draft:
        for name, text in contents.items():
            write_text(draft / name, text)
        written = [draft / name for name in contents]
        if paths:
            drawings = sheets_of(
                details,
                pictures,
                first=_FIRST,
                lines={
                    (run, query): [f"shows {label}"]
                    for run in result.views
                    for query, label in labels.items()
                },
                queries=[
                    (run, query) for run in result.views for query in result.worst(run)[:_SHEETS]
                ],
                score="score",
            )
            drawn = write_sheets(draft / "sheets", drawings)
            written += drawn
            notes.append(
                f"drew {count_of(len(drawn), 'contact sheet')} into {output / 'sheets'}/, the "
                f"worst of {len(queries['query'])} queries of {' and of '.join(result.views)} first"
            )
            items = picture_columns(details, pictures, queries=queries["query"])
            queries = pictured(queries, items)
        write_result(result, output, queries=queries, items=items, others=written)
    if paths and pictures.problems:
        number = count_of(len(pictures.problems), "image has", "images have")
        notes.append(f"{number} no picture, first: {next(iter(pictures.problems.values()))}")
    messages = (*printed.messages, *notes, StatusNote(f"wrote {output}/"))
    words = ("report", output, "--open") if len(result.views) == 1 else ("compare", output)
    return printed._replace(messages=messages, next_step=typed("rankwell", *words))


def _performance(
    result: InstanceResults, computed: ComputedRun | None, seconds: float
) -> dict[str, Any]:
    """The cost of the runs on this machine; `seconds` are those of the whole command."""
    runs = {run: dict(costs) for run, costs in result.performance.items()}
    for costs in runs.values():
        costs["seconds_evaluation"] = costs.pop("seconds")
    if computed is not None:
        runs[computed.run]["seconds_evaluation"] += computed.performance["seconds_making"]
        runs[computed.run] |= computed.performance
    return {
        "runs": runs,
        "seconds": seconds,
        "peak_memory_mib": _peak_memory(),
        "machine": threads.machine(),
    }


def _peak_memory() -> float | None:
    """The greatest memory of this process in MiB; None on Windows, which does not state it."""
    try:
        import resource
    except ImportError:
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(peak / (1 << 20 if sys.platform == "darwin" else 1 << 10), 1)


images = Task(
    name="images",
    about="""Evaluate search for the same object in photographs.

To reproduce the thesis on CLICIDE and GaRoFou: -c thesis, thesis-code. Oxford and Paris: \
-c oxford, revisited-E, revisited-M, revisited-H. Google Landmarks: -c gldv2. Market-1501: \
-c market1501, torchreid. Metric learning: -c sop. Place recognition: -c vpr.

Asks whether the best reference is right, and where the others are: paintings of a museum, \
products, places.

Every figure comes with its ceiling (a perfect ranker) and its chance level (a random one).""",
    command_lines="""
rankwell images museum --encoder clip-ViT-B-32
rankwell images museum.csv --item-vectors photos.npy -o results
""",
    options=ImageCommandOptions,
    inputs=(
        TaskInput(
            "images",
            "Data set as PLACE or NAME=PLACE: a folder with references/INSTANCE/… and "
            "queries/INSTANCE/…, a table with image, instance, split, and perhaps camera, group "
            "and contentless, or a JSON with imlist, qimlist and gnd (easy, hard, junk).",
        ),
    ),
    files="the tables, by_instance.csv (with TP/PRED), per_query.parquet, details.parquet (what "
    "each query found, with rank, score, label and which is the first right one), "
    "queries.parquet, items.parquet (the pictures of both), performance.json, manifest.json, "
    "charts and contact sheets",
    evaluation=_evaluate,
    json_tables={"rows": ScoreObject, "by_instance": InstanceObject},
)
