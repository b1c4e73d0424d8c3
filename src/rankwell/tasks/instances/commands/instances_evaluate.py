"""Evaluate a search for instances, such as the paintings of a museum: is the best reference right, and where do others stand."""

import json
import os
import platform
import resource
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal

from rankwell import report
from rankwell.core.options import Option
from rankwell.core.registry import split_names
from rankwell.core.tables.names import Place, name_places
from rankwell.encoders import ImageSettings, parse_size
from rankwell.errors import BadUsage
from rankwell.evaluation.results import Results
from rankwell.media.contact_sheet import picture_columns, pictured, sheets_of, write_sheets
from rankwell.media.images import Thumbnails
from rankwell.report.folder import content_of, write_folder
from rankwell.report.present import (
    ConventionOption,
    FormatOption,
    Input,
    InputOption,
    MeasureOption,
    Output,
    OutputOption,
    PerQueryOption,
    Progress,
    cutoffs,
)
from rankwell.stats import Intervals
from rankwell.stats.granularity import granularity_of
from rankwell.store import refuse_blocked, write_text
from rankwell.tasks.instances.computed_runs import ComputedRun, by_encoder, by_local_features
from rankwell.tasks.instances.evaluation import evaluate_instances
from rankwell.tasks.instances.formats import named_place, read_images
from rankwell.tasks.instances.images import Images
from rankwell.tasks.instances.local_features import LocalFeatures
from rankwell.tasks.instances.options import CUTOFFS, convention_of, takes_cutoffs, taking_part

_SHEETS, _SHOWN = 10, 5


def evaluate(
    images: InputOption = None,
    /,
    *,
    query_images: InputOption = None,
    root: InputOption = None,
    pattern: str | None = None,
    contentless_images: str | None = None,
    encoder: Annotated[str | None, Input(perhaps=True)] = None,
    size: str | None = None,
    output_name: str | None = None,
    weights: Annotated[Path | None, Input()] = None,
    batch_size: int | None = None,
    device: str | None = None,
    local_features: Literal["rootsift", "sift"] | None = None,
    score: Literal["inliers", "matches"] | None = None,
    longest: int | None = None,
    processes: int | None = None,
    cache: Path | None = None,
    embeddings: Annotated[list[str] | None, Input(), Option(many=True)] = None,
    queries: InputOption = None,
    references: InputOption = None,
    scores: Annotated[list[str] | None, Input(), Option(many=True)] = None,
    positives: Annotated[str | None, Input(perhaps=True)] = None,
    metric: Literal["cosine", "dot", "l2"] | None = None,
    ids: InputOption = None,
    query_ids: InputOption = None,
    reference_ids: InputOption = None,
    run: str | None = None,
    exclude: str | None = None,
    contentless: Literal["filter", "keep"] = "filter",
    absent: Literal["filter", "keep"] | None = None,
    measure: MeasureOption = None,
    k: str | None = None,
    cut: int | None = None,
    convention: ConventionOption = "thesis",
    ties: str | None = None,
    no_relevant: Literal["empty", "skip", "error"] | None = None,
    transform: list[str] | None = None,
    learn: InputOption = None,
    check: list[str] | None = None,
    intervals: Intervals = "bootstrap",
    seed: int = 0,
    sheets: int | None = None,
    per_query: PerQueryOption = False,
    format: FormatOption = "table",  # noqa: A002
    output: OutputOption = None,
    progress: Progress = None,
) -> Output:
    """Evaluate a search for instances, such as the paintings of a museum: is the best reference right, and where do others stand.

    Every figure comes with its ceiling (a perfect ranker) and its chance level (a random one).

    Parameters
    ----------
    images
        Data set as PLACE or NAME=PLACE: a folder with references/INSTANCE/… and queries/INSTANCE/…, a table with image,
        instance, split, and perhaps camera, group and contentless, or a JSON with imlist, qimlist and gnd (easy, hard, junk).
    query_images
        Folder of the queries, where the data set is a folder of references alone.
    root
        Folder of the images that a table or a JSON lists.
    pattern
        Form of file names, as "{instance}_{camera}_*.jpg".
    contentless_images
        Images that show nothing to be recognised, by a pattern of their ids, as "*wall*".
    encoder
        Model that makes vectors of the images: resnet152-im:FILE.onnx, alexnet-im:FILE.onnx, gordo:FILE.onnx, any FILE.onnx,
        torch:module:object with --weights, module:object, a model of sentence-transformers, colour-histogram or small-grey.
    size
        Size to which the encoder scales images, as 224x224, or original; `rankwell encode images` has further settings.
    output_name
        Output of the network to take, where it has several.
    weights
        File of a state dict, for torch.
    batch_size
        Images at a time.
    device
        Where the encoder computes, cpu or cuda.
    local_features
        Compare pictures by SIFT, or by its square roots, with the ratio test.
    score
        Of local features: the inliers of RANSAC's best homography (the default), or the matches alone.
    longest
        Of local features: pixels of the longer side at most; 640 by default.
    processes
        Of local features: number of processes to start; by default one, with a thread for each processor, which is faster.
    cache
        Folder in which vectors or features are kept by the content of each image, so that a run goes on where it was stopped.
    embeddings
        Vectors of all images by id, in any format of `rankwell search`; name more to compare systems.
    queries
        Vectors of the queries, with --references.
    references
        Vectors of the references.
    scores
        Matrices of scores, a row per query and a column per reference; name more to compare systems.
    positives
        Judgments in place of labels: JSON (query -> references, by id or position), judgments in any format, or diagonal.
    metric
        Similarity of vectors; cosine by default.
    ids
        File or column of the images' ids, for embeddings that have none.
    query_ids
        Likewise of the queries, for --queries and the rows of --scores.
    reference_ids
        Likewise of the references, for --references and the columns of --scores.
    run
        Name of a single run; by default its file's name.
    exclude
        References that count nowhere for a query: self, camera (those of its instance by its camera), group (all of its group),
        with commas between them, or none; by default the convention's.
    contentless
        References without content are left out (filter), or stay.
    absent
        Queries of instances that no reference shows are left out (filter), or stay; by default the convention's.
    measure
        A measure, at every cut-off where it needs one (P), or at one (P@10); AP, "AP(area='trapezoid')", APatR (mAP@R), cmc,
        TP/PRED; repeat it for more.
    k
        Cut-offs of measures that name none, with commas between them; 1,5,10 by default.
    cut
        Length of a list, for its precision P_q = RR/RET and its recall R_q = RR/REL; thesis has 10.
    convention
        Whose words and rules: thesis, thesis-code, oxford, revisited-E, revisited-M, revisited-H, gldv2, market1501, torchreid,
        sop, vpr; rankwell for plain names.
    ties
        Order of references with equal scores: expected, input, input-desc, id-asc, id-desc, optimistic, pessimistic, error.
    no_relevant
        A query without a right reference: counts as not found (empty), is left out (skip), or is an error.
    transform
        Change vectors or scores first; repeat it for more, in order. query-expansion(k=10, alpha=3) adds its k nearest
        references to each query, each times its cosine to the power alpha, database-augmentation(k=10, alpha=3) to each
        reference; whitening(dimensions=0, power=0.5) keeps the first dimensions, 0 all; reciprocal(k1=20, k2=6, weight=0.3)
        ranks anew by shared neighbours; dual-softmax(temperature=T) needs its number. The others hold where none is given.
    learn
        Vectors of other images that whitening is learnt on, in place of the references.
    check
        A printed share such as 70.08: is it possible with as many queries? Repeat it for more.
    intervals
        95 % intervals by the bootstrap over queries, by Student's t, or none.
    seed
        Seed of the bootstrap.
    sheets
        How many contact sheets to draw of each run, worst queries first; 10 where the images are there. Needs -o.
    per_query
        Also each query's values.
    format
        How to print.
    output
        Folder for the tables, by_instance.csv, per_query.parquet, details.parquet (what each query found, with rank, score,
        label and which is the first right one), queries.parquet, items.parquet (the pictures of both), performance.json,
        manifest.json, charts and contact sheets.
    """
    if output is not None:
        refuse_blocked(output, folder=True)
    elif sheets is not None:
        raise BadUsage("contact sheets are written into a folder; name one with -o.")
    if images is None and any((query_images, root, pattern, contentless_images)):
        raise BadUsage("--query-images, --root, --pattern and --contentless-images belong to a data set; name it first.")
    names = [name for text in measure or [] for name in split_names(text)] or None
    if k is not None and not takes_cutoffs(convention_of(convention), names):
        raise BadUsage(f"-k {k}: every measure names its own cut-off; name one that does not with -m, as P, or leave -k out.")
    of_encoder = {"--size": size, "--output-name": output_name, "--weights": weights, "--batch-size": batch_size}
    of_encoder |= {"--device": device}
    _reject_unused_options(
        {
            ("--encoder",): (encoder, of_encoder),
            ("--local-features",): (local_features, {"--score": score, "--longest": longest, "--processes": processes}),
            ("--encoder", "--local-features"): (encoder or local_features, {"--cache": cache}),
            ("--embeddings",): (embeddings, {"--ids": ids}),
            ("--queries", "--scores"): (queries or scores, {"--query-ids": query_ids}),
            ("--references", "--scores"): (references or scores, {"--reference-ids": reference_ids}),
            ("--encoder", "--embeddings", "--queries"): (encoder or embeddings or queries, {"--metric": metric}),
        }
    )
    if not any((encoder, local_features, embeddings, queries, references, scores)):
        raise BadUsage(
            "nothing says what is found for the queries: name --encoder or --local-features, which look at the images, "
            "--embeddings, --queries with --references, or --scores."
        )
    table, dataset = None, None
    if images is not None:
        dataset, place = named_place(images)
        table = read_images(place, queries=query_images, root=root, pattern=pattern, contentless=contentless_images)
    made, used, start = None, None, time.perf_counter()
    if encoder is not None and local_features is not None:
        raise BadUsage(
            "--encoder and --local-features are two systems; evaluate one after the other, then set them side by side."
        )
    if table is not None and (encoder or local_features):
        used = taking_part(table, convention, contentless, absent, judged=positives is not None)
    if encoder is not None:
        wanted = None if size is None else parse_size(size)
        settings = ImageSettings(size=wanted, output=output_name, weights=weights, batch_size=batch_size, device=device)
        made = by_encoder(used, encoder, settings, run=run, cache=cache, progress=progress)
    if local_features is not None:
        chosen = {"longest": longest, "processes": processes}
        given = {name: value for name, value in chosen.items() if value is not None}
        features = LocalFeatures(local_features, score or "inliers", cache=cache, **given)
        made = by_local_features(used, features, run=run, progress=progress)
    result = evaluate_instances(
        table,
        scores=_runs(scores, made, made and made.scores),
        embeddings=_runs(embeddings, made, made and made.vectors),
        queries=queries,
        references=references,
        positives=positives,
        metric=metric or "cosine",
        ids=ids,
        query_ids=query_ids,
        reference_ids=reference_ids,
        run=None if made is not None else run,
        exclude=exclude,
        contentless=contentless,
        absent=absent,
        measures=names,
        k=CUTOFFS if k is None else cutoffs(k),
        cut=cut,
        convention=convention,
        ties=ties,
        no_relevant=no_relevant,
        transforms=transform or (),
        learn=learn,
        intervals=intervals,
        seed=seed,
        details=output is not None,
        rules=({} if dataset is None else {"dataset": dataset}) | ({} if made is None else made.rules),
        progress=progress,
    )
    result = replace(result, notes=(*_granularity(check or [], result), *_unread(made), *result.notes))
    notes = [*result.notes, *result.interval_notes]
    said = notes if format != "json" else []
    if output is not None:
        said = [*said, *_write(result, made, output, notes, sheets, start)]
    rows = list(result.per_query()) if per_query else None
    tables = {"by_instance": result.by_instance} if format == "json" and result.by_instance else {}
    text = report.render(
        result.summary, rows, result.describe(), notes, format, terminal=report.terminal_of(sys.stdout), tables=tables
    )
    return Output(text=text, notes=tuple(said))


def _reject_unused_options(groups: Mapping[tuple[str, ...], tuple[Any, Mapping[str, Any]]]) -> None:
    """Raises BadUsage for an option that nothing would read. groups: its readers -> whether any is given, and the options."""
    for owners, (reader, options) in groups.items():
        unused = [name for name, value in options.items() if value is not None]
        if unused and not reader:
            verb = "belongs" if len(unused) == 1 else "belong"
            raise BadUsage(f"{', '.join(unused)} {verb} to {' or '.join(owners)}; name one of these, or leave it out.")


def _runs(given: list[str] | None, made: ComputedRun | None, thing: Any) -> Any:
    """The runs to compare: files, the one computed from the images, or both."""
    if made is None or thing is None:
        return given
    if not given:
        return {made.run: thing}
    names = name_places([Place("", Path(each)) for each in given], given)
    return {made.run: thing} | dict(zip(names, given, strict=True))


def _granularity(printed: list[str], result: Results) -> list[str]:
    """Notes on whether printed figures are possible with the queries that were counted."""
    counted = dict.fromkeys(counts["queries_counted"] for counts in result.rules["counts"].values())
    return [str(granularity_of(figure, n)) for figure in printed for n in counted]


def _unread(made: ComputedRun | None) -> list[str]:
    """A note on the images without a vector or score, with the reason of the first."""
    failures = made.failures if made is not None else ()
    lost = "1 image" if len(failures) == 1 else f"{len(failures)} images"
    return [f"{lost} could not be read or encoded; first {each.problem}" for each in failures[:1]]


def _write(
    result: Results, made: ComputedRun | None, folder: Path, notes: Sequence[str], sheets: int | None, start: float
) -> list[str]:
    """Writes everything; each file whole or not at all. start: when the work began, by `time.perf_counter`."""
    said: list[str] = []
    written: list[Path] = []
    if made is not None and made.failures:
        written.append(folder / "encoding_errors.csv")
        write_text(written[-1], report.render_rows([each._asdict() for each in made.failures], "csv"))
    took = _performance(result, made, time.perf_counter() - start)
    written.append(folder / "performance.json")
    write_text(written[-1], json.dumps(took, indent=2) + "\n")
    if result.by_instance:
        written.append(folder / "by_instance.csv")
        write_text(written[-1], report.render_rows(result.by_instance, "csv"))
    details, files = result.details or {}, _files(result.images)
    pictures = Thumbnails(files)
    number = _SHEETS * bool(files) if sheets is None else sheets
    if number:
        drawn = write_sheets(folder / "sheets", _sheets(result, pictures, number))
        written += drawn
        what = "1 contact sheet" if len(drawn) == 1 else f"{len(drawn)} contact sheets"
        said.append(f"drew {what} into {folder / 'sheets'}/, the worst queries of {' and of '.join(result.views)} first")
    queries = result.queries or {}
    items = picture_columns(details, pictures, queries=queries["query"]) if files else None
    shown = queries if items is None else pictured(queries, items)
    write_folder(folder, content_of(result, notes=notes, details=details, queries=shown, items=items), others=written)
    if files and pictures.problems:
        lacking = "1 image has" if len(pictures.problems) == 1 else f"{len(pictures.problems)} images have"
        said.append(f"{lacking} no picture, first: {next(iter(pictures.problems.values()))}")
    return [*said, f"wrote {folder}/"]


def _files(images: Images | None) -> dict[str, Path]:
    if images is None or images.paths is None:
        return {}
    return dict(zip(images.ids, images.paths, strict=True))


def _sheets(result: Results, pictures: Thumbnails, number: int) -> Any:
    labels = dict(zip(result.images.ids, result.images.instances, strict=True)) if result.images is not None else {}
    lines = {(run, query): [f"shows {label}"] for run in result.views for query, label in labels.items() if label is not None}
    chosen = [(run, query) for run in result.views for query in result.worst(run)[:number]]
    return sheets_of(result.details or {}, pictures, first=_SHOWN, lines=lines, queries=chosen, score="score")


def _performance(result: Results, made: ComputedRun | None, seconds: float) -> dict[str, Any]:
    """The cost of the runs on this machine; the memory is the greatest of the process, `seconds` those of the whole command."""
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
        "machine": {"system": platform.platform(), "processor": platform.machine(), "processors": os.cpu_count()},
    }
