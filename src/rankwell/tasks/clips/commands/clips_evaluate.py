"""Evaluate search over annotated clips, by clips or by texts: relevant is a clip that carries the
keywords of the query.
"""

import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from rankwell import report
from rankwell.core.options import Input
from rankwell.errors import BadUsage, NothingToEvaluate, count_of
from rankwell.evaluation.results import progress_of
from rankwell.media.contact_sheet import picture_columns, pictured, sheets_of
from rankwell.media.contact_sheet.drawing import write_sheets
from rankwell.media.images import Thumbnails, locate
from rankwell.report.charts import write_charts
from rankwell.report.drafts import drafting, refuse_unclaimed
from rankwell.report.folder import write_result
from rankwell.report.options import (
    FolderOption,
    FormatOption,
    InputPlace,
    Output,
    PerQueryOption,
    Progress,
)
from rankwell.store import write_text
from rankwell.tasks.clips.annotations import QueryKeywords
from rankwell.tasks.clips.evaluation import ClipResults, evaluate_clips
from rankwell.tasks.clips.formats import read_annotations
from rankwell.tasks.clips.heat_map import heat_map, keyword_table
from rankwell.tasks.clips.mapping import WITHOUT_ENCODER, KeywordMapper, MappedText
from rankwell.tasks.clips.options import ClipOptions, MappingOptions, names
from rankwell.tasks.clips.phrases import load_keybert

_SHEETS = 10
_EXPLAINED = 5
_SHOWN_KEYWORDS = 10
_KEYWORD_COLUMNS = (
    "run",
    "group",
    "keyword",
    "clips",
    "queries",
    "results",
    "missing",
    "by_chance",
    "label",
    "mean",
    "ceiling",
)


def evaluate(
    *,
    annotations: InputPlace,
    options: ClipOptions,
    mapping: MappingOptions,
    per_query: PerQueryOption = False,
    format: FormatOption = "table",
    output: FolderOption = None,
    sheets: int | None = None,
    thumbnails: Annotated[str | None, Input(perhaps=True)] = None,
    progress: Progress = None,
) -> Output:
    """Evaluate search over annotated clips, by clips or by texts: relevant is a clip that carries
    the keywords of the query.

    Each mean has its ceiling (a perfect ranker), its chance level, and the share of queries that
    count beside it.

    Parameters
    ----------
    annotations
        Table of clips: slice_id and a column of keywords per group, or one column keywords (CSV,
        TSV, JSON lines, Parquet).
    per_query
        Also each query's values, keywords and results, with found and missing keywords (in CSV in
        each query's first row).
    output
        Folder for the tables, per_query.parquet, details.parquet, queries.parquet, items.parquet
        (pictures), manifest.json, charts and contact sheets.
    sheets
        Number of contact sheets, worst queries first; 10 with --thumbnails, else none. Needs -o.
    thumbnails
        Folder with a picture, GIF or video per clip, or a pattern such as frames/{id}.jpg.
    """
    if output is not None:
        refuse_unclaimed(output)
    elif sheets is not None or thumbnails is not None:
        raise BadUsage("contact sheets are written into a folder; name one with -o.")
    if sheets is not None and sheets < 0:
        raise BadUsage(f"--sheets {sheets}; expected 0 or more.")
    _reject_unused_options(options, mapping)
    mapper, rules = _mapper(annotations, options, mapping)
    mapped: list[MappedText] = []

    def _map_text(text: str) -> QueryKeywords:
        mapped.append(mapper.map_text(text))  # pyright: ignore[reportOptionalMemberAccess]
        return mapped[-1].query_keywords

    by_name = mapper is not None and mapping.encoder is None
    try:
        result = evaluate_clips(
            annotations,
            options=options
            if _has_text_vectors(options)
            else replace(options, text_encoder=mapping.encoder),
            map_text=None if mapper is None else _map_text,
            details=output is not None,
            rules=rules,
            progress=progress_of(progress, "searching"),
        )
    except NothingToEvaluate as error:
        unmapped = _mapping_notes(mapped, by_name=by_name)
        shown = [*unmapped[:_EXPLAINED], *unmapped[-1:]] if len(unmapped) > _EXPLAINED else unmapped
        reasons = "; ".join(dict.fromkeys(shown))
        raise NothingToEvaluate(
            f"{str(error).rstrip('.')}; {reasons}." if reasons else str(error)
        ) from error
    notes = [*result.notes, *_mapping_notes(mapped, by_name=by_name), *result.interval_notes]
    printed = notes if format != "json" else []
    if output is not None:
        printed = [*printed, *_write(result, output, notes, thumbnails, sheets)]
    return Output(text=render(result, notes, format, per_query=per_query), notes=tuple(printed))


def _reject_unused_options(options: ClipOptions, mapping: MappingOptions) -> None:
    """Raises BadUsage for unused options about texts."""
    rules = {"--keyword-threshold": mapping.keyword_threshold, "--strategy": mapping.strategy}
    of_texts = {"--encoder": mapping.encoder, "--text-encoder": options.text_encoder, **rules}
    if options.mode == "video" and (
        unused := [name for name, value in of_texts.items() if value is not None]
    ):
        raise BadUsage(
            f"{', '.join(unused)}: in the mode video nothing reads texts; choose --mode text."
        )
    of_queries = rules | ({"--encoder": mapping.encoder} if _has_text_vectors(options) else {})
    if options.queries is None and (
        unused := [name for name, value in of_queries.items() if value is not None]
    ):
        what = "without --queries every keyword is a query by its name, and none is mapped"
        raise BadUsage(f"{', '.join(sorted(unused))}: {what}; leave it out.")
    if mapping.keyword_threshold is not None and mapping.encoder is None:
        raise BadUsage("--keyword-threshold requires --encoder, which finds similar words.")


def _has_text_vectors(options: ClipOptions) -> bool:
    """Whether texts need no vectors of the encoder of the mapping."""
    return any((options.text_embeddings, options.engine, options.run, options.text_encoder))


def _mapper(
    annotations: str, options: ClipOptions, mapping: MappingOptions
) -> tuple[KeywordMapper | None, dict[str, Any]]:
    """The mapper of text queries with its rules, None where none is mapped."""
    if options.mode != "text" or options.queries is None:
        return None, {}
    loaded = None if mapping.encoder is None else load_keybert(mapping.encoder)
    groups = names(options.groups, "--groups")
    table = read_annotations(annotations, schema=options.schema, groups=groups)
    vocabulary = table.vocabulary.of_groups({table.find_group(group) for group in groups})
    strategy, threshold = mapping.strategy or "cover", mapping.keyword_threshold
    mapper = KeywordMapper(vocabulary, encode=loaded, strategy=strategy, threshold=threshold)
    return mapper, {**mapper.describe(), **({} if loaded is None else loaded.rules)}


def _mapping_notes(mapped: Sequence[MappedText], *, by_name: bool) -> list[str]:
    """Notes on unmapped words. by_name: keywords are found by names and rules alone."""
    hints = [WITHOUT_ENCODER] if by_name and any(each.unmapped for each in mapped) else []
    return [note for each in mapped for note in each.notes] + hints


def render(
    result: ClipResults, notes: Sequence[str], format: report.Format, *, per_query: bool = False
) -> str:
    """The result as text: the summary, the tables by group and by keyword, and with `per_query`
    each query with its results.
    """
    programs = format not in ("table", "md", "latex")
    rows = (
        (list(result.per_query()) if programs else list(result.value_rows())) if per_query else None
    )
    if rows is not None and format in ("csv", "tsv"):
        rows = _results_once(rows)
    tables: dict[str, Sequence[report.Row]] = {
        "by_group": result.by_group,
        "by_keyword": result.by_keyword,
    }
    if not programs:
        tables = _for_people(result, per_query=per_query)
    terminal = report.terminal_of(sys.stdout)
    return report.render(
        result.summary, rows, result.describe(), notes, format, terminal=terminal, tables=tables
    )


def _results_once(rows: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The rows with the results of a query in its first row only, as they are the same for every
    measure.
    """
    first: dict[tuple[str, str], int] = {}
    numbered = (
        (number, row, first.setdefault((row["run"], row["query"]), number))
        for number, row in enumerate(rows)
    )
    return [
        dict(row) | ({} if number == own else {"results": None}) for number, row, own in numbered
    ]


def _for_people(result: ClipResults, *, per_query: bool) -> dict[str, Sequence[report.Row]]:
    """The tables at the largest cut-off, of the keywords the ten that are missing most often."""
    shown = {row["measure"] for row in result.by_keyword}
    drop = {"measure", "unit", "sd"} | ({"run"} if len(result.answers) == 1 else set())
    groups = [
        {"group": row["group"], **{name: cell for name, cell in row.items() if name not in drop}}
        for row in result.by_group
        if row["measure"] in shown
    ]
    keywords = [
        {name: row[name] for name in _KEYWORD_COLUMNS if name not in drop}
        for row in result.by_keyword
    ]
    tables = _tables_of_queries(result) if per_query else {}
    return tables | {
        "by_group": groups,
        "by_keyword": keywords[: _SHOWN_KEYWORDS * max(1, len(result.answers))],
    }


def _tables_of_queries(result: ClipResults) -> dict[str, Sequence[report.Row]]:
    """The queries with their keywords, and their first results."""
    queries: list[report.Row] = []
    results: list[report.Row] = []
    for run, of_run in result.answers.items():
        for query, answer in of_run.items():
            head = {"run": run, "query": query} if len(result.answers) > 1 else {"query": query}
            keywords = "; ".join(
                f"{group}: {', '.join(labels)}" for group, labels in answer.keywords.items()
            )
            queries.append(
                {**head, "keywords": keywords, "relevant": answer.relevant, "status": answer.status}
            )
            for each in answer.results:
                place = {"rank": each.rank, "clip": each.item, "similarity": each.similarity}
                right = {"right": "yes" if each.is_right else "no", "match": each.match}
                results.append({**head, **place, **right, "reasons": ", ".join(each.reasons)})
    return {"queries": queries, "results": results}


def _write(
    result: ClipResults,
    folder: Path,
    notes: Sequence[str],
    thumbnails: str | None,
    sheets: int | None,
) -> list[str]:
    """Writes everything; each file whole or not at all."""
    written: list[str] = []
    pictures = Thumbnails({} if thumbnails is None else _pictures(thumbnails, result))
    number = _SHEETS * (thumbnails is not None) if sheets is None else sheets
    details = result.details or {}
    with drafting(folder, result.sources.values()) as draft:
        others: list[Path] = []
        for name, rows in (("by_group", result.by_group), ("by_keyword", result.by_keyword)):
            if rows:
                others.append(draft / f"{name}.csv")
                write_text(others[-1], report.render_rows(rows, "csv"))
        table = keyword_table(result.measured)
        chart = heat_map(table, result.values)
        if chart is not None:
            others += [draft / "keywords.csv", *write_charts(draft, {"keywords": chart})]
            write_text(draft / "keywords.csv", report.render_rows(table, "csv"))
        if number:
            run = result.values[0].run
            titles = {
                query: answer.text
                for of_run in result.answers.values()
                for query, answer in of_run.items()
            }
            chosen = [(run, query) for query in result.worst(run)[:number]]
            drawn = write_sheets(
                draft / "sheets",
                sheets_of(details, pictures, first=result.k, titles=titles, queries=chosen),
            )
            what = count_of(len(drawn), "contact sheet")
            written.append(
                f"drew {what} into {folder / 'sheets'}/, the worst queries of {run} first"
            )
            others += drawn
        shown = result if thumbnails is None else with_pictures(result, pictures)
        write_result(
            result,
            folder,
            notes=notes,
            details=details,
            queries=shown.queries,
            items=shown.items,
            others=others,
        )
    if thumbnails is not None and pictures.problems:
        have = count_of(len(pictures.problems), "clip has", "clips have")
        written.append(f"{have} no picture, first: {next(iter(pictures.problems.values()))}")
    return [*map(report.Aside, (*written, f"wrote {folder}/"))]


def with_pictures(result: ClipResults, pictures: Thumbnails) -> ClipResults:
    """The result with small pictures of the clips that were found, and of its queries where these
    are clips.
    """
    queries = result.queries or {}
    clips = queries["query"] if result.rules["mode"] == "video" else ()
    items = picture_columns(result.details or {}, pictures, queries=clips)
    return replace(result, items=items, queries=pictured(queries, items) if clips else queries)


def _pictures(thumbnails: str, result: ClipResults) -> dict[str, Path]:
    """The picture or video of each clip, from the files of a folder or a pattern with {id} or
    {stem}.
    """
    ids = sorted({*result.annotations.clips, *(result.details or {}).get("item", ())})
    if "{id}" in thumbnails or "{stem}" in thumbnails:
        return {
            each: Path(
                thumbnails.replace("{id}", each).replace("{stem}", each.rpartition(".")[0] or each)
            )
            for each in ids
        }
    return locate(ids, Path(thumbnails))
