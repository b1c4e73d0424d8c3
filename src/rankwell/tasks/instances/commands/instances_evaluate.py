"""Evaluate a search for instances, such as the paintings of a museum: is the best reference right,
and where are the others.
"""

import json
import resource
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

from rankwell import report
from rankwell.core.kernels import workers
from rankwell.core.options import Doc
from rankwell.core.tables.matrices import Place, name_places
from rankwell.errors import BadUsage
from rankwell.media.contact_sheet import picture_columns, pictured, sheets_of
from rankwell.media.contact_sheet.drawing import write_sheets
from rankwell.media.images import Thumbnails
from rankwell.report.drafts import drafting, refuse_unclaimed
from rankwell.report.folder import write_result
from rankwell.report.options import (
    FolderOption,
    FormatOption,
    InputOption,
    Output,
    PerQueryOption,
    Progress,
)
from rankwell.stats.granularity import granularity_of
from rankwell.store import write_text
from rankwell.tasks.instances.computed_runs import ComputedRun, compute_run
from rankwell.tasks.instances.evaluation import InstanceResults, evaluate_instances
from rankwell.tasks.instances.formats import named_place, read_images
from rankwell.tasks.instances.options import (
    ENCODER_SETTINGS,
    ImageSetOptions,
    ImageSystemOptions,
    InstanceOptions,
    takes_cutoffs,
    taking_part,
)

_SHEETS, _SHOWN = 10, 5


@dataclass(frozen=True, kw_only=True)
class InstanceOutputOptions:
    """Further output of `rankwell instances evaluate`."""

    check: Annotated[
        list[str] | None,
        Doc(
            "A printed share such as 70.08: is it possible with as many queries? Repeat "
            "it for more."
        ),
    ] = None
    sheets: Annotated[
        int | None,
        Doc(
            "How many contact sheets to draw of each run, worst queries first; 10 where "
            "the images are there. Needs -o."
        ),
    ] = None
    per_query: Annotated[PerQueryOption, Doc("Also each query's values.")] = False


def evaluate(
    images: InputOption = None,
    /,
    *,
    data: ImageSetOptions,
    system: ImageSystemOptions,
    options: InstanceOptions,
    further: InstanceOutputOptions,
    format: FormatOption = "table",
    output: FolderOption = None,
    progress: Progress = None,
) -> Output:
    """Evaluate a search for instances, such as the paintings of a museum: is the best reference
    right, and where are the others.

    Every figure comes with its ceiling (a perfect ranker) and its chance level (a random one).

    Parameters
    ----------
    images
        Data set as PLACE or NAME=PLACE: a folder with references/INSTANCE/… and queries/INSTANCE/…,
        a table with image, instance, split, and perhaps camera, group and contentless, or a JSON
        with imlist, qimlist and gnd (easy, hard, junk).
    output
        Folder for the tables, by_instance.csv, per_query.parquet, details.parquet (what each query
        found, with rank, score, label and which is the first right one), queries.parquet,
        items.parquet (the pictures of both), performance.json, manifest.json, charts and contact
        sheets.
    """
    if output is not None:
        refuse_unclaimed(output)
    elif further.sheets is not None:
        raise BadUsage("contact sheets are written into a folder; name one with -o.")
    _check_options(images, data, system, options)
    table, rules = None, dict[str, Any]()
    if images is not None:
        rules["dataset"], place = named_place(images)
        table = read_images(
            place,
            queries=data.query_images,
            root=data.root,
            pattern=data.pattern,
            contentless=data.contentless_images,
        )
    start = time.perf_counter()
    computes = system.encoder or system.local_features
    used = taking_part(table, options) if table is not None and computes else None
    computed = compute_run(used, system, run=options.run, progress=progress) if computes else None
    if computed is not None:
        if computed.scores is not None:
            options = replace(
                options, scores=_with(options.scores, computed.run, computed.scores), run=None
            )
        else:
            options = replace(
                options,
                embeddings=_with(options.embeddings, computed.run, computed.vectors),
                run=None,
            )
        rules |= computed.rules
    result = evaluate_instances(
        table, options=options, details=output is not None, rules=rules, progress=progress
    )
    sizes = dict.fromkeys(counts["queries_counted"] for counts in result.rules["counts"].values())
    before = [str(granularity_of(figure, n)) for figure in further.check or () for n in sizes]
    if computed is not None and computed.failures:
        lost = len(computed.failures)
        what = "1 image" if lost == 1 else f"{lost} images"
        before.append(f"{what} could not be read or encoded; first {computed.failures[0].message}")
    result = replace(result, notes=(*before, *result.notes))
    notes = [*result.notes, *result.interval_notes]
    said = notes if format != "json" else []
    if output is not None:
        said = [*said, *_write(result, computed, output, notes, further.sheets, start)]
    rows = list(result.per_query()) if further.per_query else None
    tables = {"by_instance": result.by_instance} if format == "json" and result.by_instance else {}
    terminal = report.terminal_of(sys.stdout)
    text = report.render(
        result.summary, rows, result.describe(), notes, format, terminal=terminal, tables=tables
    )
    return Output(text=text, notes=tuple(said))


def _check_options(
    images: str | None, data: ImageSetOptions, system: ImageSystemOptions, options: InstanceOptions
) -> None:
    """Raises BadUsage for an option that nothing would read, and where nothing returns references
    for the queries.
    """
    if images is None and data != ImageSetOptions():
        raise BadUsage(
            "--query-images, --root, --pattern and --contentless-images belong to a data set; "
            "name it first."
        )
    if options.k is not None and not takes_cutoffs(options):
        what = f"-k {options.k}: every measure names its own cut-off"
        raise BadUsage(f"{what}; name one that does not with -m, as P, or leave -k out.")
    encoder, features, embeddings, scores = (
        system.encoder,
        system.local_features,
        options.embeddings,
        options.scores,
    )
    for owners, names, source in (
        ({"--encoder": encoder}, ENCODER_SETTINGS, system),
        ({"--local-features": features}, ("score", "longest", "processes"), system),
        ({"--encoder": encoder, "--local-features": features}, ("cache",), system),
        ({"--embeddings": embeddings}, ("ids",), options),
        ({"--queries": options.queries, "--scores": scores}, ("query_ids",), options),
        ({"--references": options.references, "--scores": scores}, ("reference_ids",), options),
        (
            {"--encoder": encoder, "--embeddings": embeddings, "--queries": options.queries},
            ("metric",),
            options,
        ),
    ):
        unused = [
            f"--{name.replace('_', '-')}" for name in names if getattr(source, name) is not None
        ]
        if unused and not any(owners.values()):
            verb = "belongs" if len(unused) == 1 else "belong"
            raise BadUsage(
                f"{', '.join(unused)} {verb} to {' or '.join(owners)}; name one of these, or "
                "leave it out."
            )
    if not any((encoder, features, embeddings, options.queries, options.references, scores)):
        raise BadUsage(
            "nothing says what is found for the queries: name --encoder or --local-features, "
            "which look at the images, "
            "--embeddings, --queries with --references, or --scores."
        )


def _with(given: Sequence[str] | None, run: str, table: Any) -> dict[str, Any]:
    """The runs to compare: the one computed from the images, and files."""
    names = name_places([Place("", Path(each)) for each in given], given) if given else []
    return {run: table} | dict(zip(names, given or (), strict=True))


def _write(
    result: InstanceResults,
    made: ComputedRun | None,
    folder: Path,
    notes: Sequence[str],
    sheets: int | None,
    start: float,
) -> list[str]:
    """Writes everything; each file whole or not at all. start: when the work began, by
    `time.perf_counter`.
    """
    said: list[str] = []
    details, images = result.details or {}, result.images
    files: dict[str, Path] = (
        {}
        if images is None or images.paths is None
        else dict(zip(images.ids, images.paths, strict=True))
    )
    pictures = Thumbnails(files)
    number = _SHEETS * bool(files) if sheets is None else sheets
    with drafting(folder, result.sources.values()) as draft:
        written: list[Path] = []
        if made is not None and made.failures:
            written.append(draft / "encoding_errors.csv")
            rows = [
                {"image": each.id, "file": str(each.path), "problem": each.message}
                for each in made.failures
            ]
            write_text(written[-1], report.render_rows(rows, "csv"))
        took = _performance(result, made, time.perf_counter() - start)
        written.append(draft / "performance.json")
        write_text(written[-1], json.dumps(took, indent=2) + "\n")
        if result.by_instance:
            written.append(draft / "by_instance.csv")
            write_text(written[-1], report.render_rows(result.by_instance, "csv"))
        if number:
            labels = {} if images is None else dict(zip(images.ids, images.instances, strict=True))
            shows = {
                query: [f"shows {label}"] for query, label in labels.items() if label is not None
            }
            lines = {(run, query): line for run in result.views for query, line in shows.items()}
            chosen = [(run, query) for run in result.views for query in result.worst(run)[:number]]
            made_of = sheets_of(
                details, pictures, first=_SHOWN, lines=lines, queries=chosen, score="score"
            )
            drawn = write_sheets(draft / "sheets", made_of)
            written += drawn
            what = "1 contact sheet" if len(drawn) == 1 else f"{len(drawn)} contact sheets"
            said.append(
                f"drew {what} into {folder / 'sheets'}/, the worst queries of "
                f"{' and of '.join(result.views)} first"
            )
        queries = result.queries or {}
        items = picture_columns(details, pictures, queries=queries["query"]) if files else None
        shown = queries if items is None else pictured(queries, items)
        write_result(
            result, folder, notes=notes, details=details, queries=shown, items=items, others=written
        )
    if files and pictures.problems:
        lacking = (
            "1 image has"
            if len(pictures.problems) == 1
            else f"{len(pictures.problems)} images have"
        )
        said.append(f"{lacking} no picture, first: {next(iter(pictures.problems.values()))}")
    return [*said, report.Aside(f"wrote {folder}/")]


def _performance(
    result: InstanceResults, made: ComputedRun | None, seconds: float
) -> dict[str, Any]:
    """The cost of the runs on this machine; the memory is the greatest of the process, `seconds`
    those of the whole command.
    """
    runs = {run: dict(took) for run, took in result.performance.items()}
    for took in runs.values():
        took["seconds_evaluation"] = took.pop("seconds")
    if made is not None:
        took = runs[made.run]
        took["seconds_evaluation"] += made.performance["seconds_making"]
        took |= made.performance
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {
        "runs": runs,
        "seconds": seconds,
        "peak_memory_mib": round(peak / (1 << 20 if sys.platform == "darwin" else 1 << 10), 1),
        "machine": workers.machine(),
    }
