"""Output of `clips evaluate`: tables for people and programs, the folder, and contact sheets."""

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from rankwell import reporting
from rankwell.errors import BadUsage, NothingToEvaluate, count_of
from rankwell.evaluation.results import progress_of
from rankwell.reporting import FOR_PEOPLE
from rankwell.reporting.charts import write_charts
from rankwell.reporting.drafts import drafting, refuse_unclaimed
from rankwell.reporting.folder import write_result
from rankwell.reporting.options import Output, Progress
from rankwell.store import write_text
from rankwell.tasks.clips.annotations import QueryKeywords
from rankwell.tasks.clips.evaluation import ClipResults, evaluate_clips
from rankwell.tasks.clips.formats import read_annotations
from rankwell.tasks.clips.heat_map import heat_map, keyword_table
from rankwell.tasks.clips.mapping import MappedText, mapper_of, mapping_notes
from rankwell.tasks.clips.options import ClipCommandOptions, names
from rankwell.vectors.media.contact_sheet import picture_columns, pictured, sheets_of
from rankwell.vectors.media.contact_sheet.drawing import write_sheets
from rankwell.vectors.media.images import Thumbnails, locate

_SHEETS = 10
_EXPLAINED = 5
_SHOWN_KEYWORDS = 10
_OF_TEXTS = ("--encoder", "--text-encoder", "--keyword-threshold", "--strategy")
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


def print_evaluation(
    *,
    options: ClipCommandOptions,
    per_query: bool = False,
    format: reporting.Format = "table",
    output: Path | None = None,
    progress: Progress = None,
) -> Output:
    """Evaluates, writes and prints; the texts of the queries are mapped to keywords."""
    if output is not None:
        refuse_unclaimed(output)
    elif options.sheets is not None or options.thumbnails is not None:
        raise BadUsage("contact sheets are written into a folder; name one with -o.")
    if options.sheets is not None and options.sheets < 0:
        raise BadUsage(f"--sheets {options.sheets}; expected 0 or more.")
    _reject_unused_options(options)
    mapper, rules, mapped = None, dict[str, Any](), list[MappedText]()
    if options.mode == "text" and options.queries is not None:
        groups = names(options.groups, "--groups")
        table = read_annotations(options.annotations, schema=options.schema, groups=groups)
        mapper, of_model = mapper_of(options, table.vocabulary_of(groups))
        rules = {**mapper.describe(), **of_model}

    def _map_text(text: str) -> QueryKeywords:
        mapped.append(mapper.map_text(text))  # pyright: ignore[reportOptionalMemberAccess]
        return mapped[-1].query_keywords

    try:
        result = evaluate_clips(
            options.annotations,
            options=options
            if _has_text_vectors(options)
            else replace(options, text_encoder=options.encoder),
            map_text=None if mapper is None else _map_text,
            details=output is not None,
            rules=rules,
            progress=progress_of(progress, "searching"),
        )
    except NothingToEvaluate as error:
        reasons = mapping_notes(mapped, options)
        if len(reasons) > _EXPLAINED:
            reasons = [*reasons[:_EXPLAINED], reasons[-1]]
        words = [str(error).rstrip("."), "; ".join(dict.fromkeys(reasons))]
        raise NothingToEvaluate(f"{'; '.join(words)}." if reasons else str(error)) from error
    notes = [*result.notes, *mapping_notes(mapped, options), *result.interval_notes]
    printed = notes if format != "json" else []
    if output is not None:
        printed = [*printed, *_write(result, output, notes, options.thumbnails, options.sheets)]
    return Output(text=render(result, notes, format, per_query=per_query), notes=tuple(printed))


def _reject_unused_options(options: ClipCommandOptions) -> None:
    """Raises BadUsage for unused options about texts."""
    of_mapping = options.chosen
    of_texts = of_mapping | ({} if options.text_encoder is None else {"--text-encoder": 1})
    if options.mode == "video" and of_texts:
        unused = [name for name in _OF_TEXTS if name in of_texts]
        raise BadUsage(
            f"{', '.join(unused)}: in the mode video nothing reads texts; choose --mode text."
        )
    if not _has_text_vectors(options):
        of_mapping.pop("--encoder", None)
    if options.queries is None and of_mapping:
        reason = "without --queries every keyword is a query by its name, and none is mapped"
        raise BadUsage(f"{', '.join(sorted(of_mapping))}: {reason}; leave it out.")


def _has_text_vectors(options: ClipCommandOptions) -> bool:
    """Whether texts need no vectors of the encoder of the mapping."""
    return any((options.text_embeddings, options.engine, options.run, options.text_encoder))


def render(
    result: ClipResults, notes: Sequence[str], format: reporting.Format, *, per_query: bool = False
) -> str:
    """The result as text: the summary, the tables by group and by keyword, and with `per_query`
    each query with its results.
    """
    programs = format not in FOR_PEOPLE
    rows = (
        (list(result.per_query()) if programs else list(result.value_rows())) if per_query else None
    )
    if rows is not None and format in ("csv", "tsv"):
        rows = list(_results_once(rows))
    tables: dict[str, Sequence[reporting.Row]] = {
        "by_group": result.by_group,
        "by_keyword": result.by_keyword,
    }
    if not programs:
        tables = _for_people(result, per_query=per_query)
    terminal = reporting.terminal_of(sys.stdout)
    return reporting.render(
        result.summary, rows, result.describe(), notes, format, terminal=terminal, tables=tables
    )


def _results_once(rows: Iterable[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """The rows with the results of a query in its first row only, as they are the same for every
    measure.
    """
    listed_queries = set[tuple[str, str]]()
    for row in rows:
        query = row["run"], row["query"]
        yield {**row, "results": None} if query in listed_queries else row
        listed_queries.add(query)


def _for_people(result: ClipResults, *, per_query: bool) -> dict[str, Sequence[reporting.Row]]:
    """The tables at the largest cut-off, of the keywords the ten that are missing most often."""
    shown_measures = {row["measure"] for row in result.by_keyword}
    drop = {"measure", "unit", "sd"} | ({"run"} if len(result.answers) == 1 else set())
    groups = [
        {"group": row["group"]} | {name: row[name] for name in row if name not in drop}
        for row in result.by_group
        if row["measure"] in shown_measures
    ]
    keywords = [
        {name: row[name] for name in _KEYWORD_COLUMNS if name not in drop}
        for row in result.by_keyword[: _SHOWN_KEYWORDS * max(1, len(result.answers))]
    ]
    tables = _tables_of_queries(result) if per_query else {}
    return tables | {"by_group": groups, "by_keyword": keywords}


def _tables_of_queries(result: ClipResults) -> dict[str, Sequence[reporting.Row]]:
    """The queries with their keywords, and their first results."""
    queries: list[reporting.Row] = []
    results: list[reporting.Row] = []
    for run, of_run in result.answers.items():
        for query, answer in of_run.items():
            head = {"run": run, "query": query} if len(result.answers) > 1 else {"query": query}
            keywords = "; ".join(
                f"{group}: {', '.join(labels)}" for group, labels in answer.keywords.items()
            )
            queries.append(
                {**head, "keywords": keywords, "relevant": answer.relevant, "status": answer.status}
            )
            results += [
                {
                    **head,
                    "rank": clip.rank,
                    "clip": clip.item,
                    "similarity": clip.similarity,
                    "right": "yes" if clip.is_right else "no",
                    "match": clip.match,
                    "reasons": ", ".join(clip.reasons),
                }
                for clip in answer.results
            ]
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
        other_files: list[Path] = []
        for name, rows in (("by_group", result.by_group), ("by_keyword", result.by_keyword)):
            if rows:
                other_files.append(draft / f"{name}.csv")
                write_text(other_files[-1], reporting.render_rows(rows, "csv"))
        table = keyword_table(result.measured)
        chart = heat_map(table, result.values)
        if chart is not None:
            other_files += [draft / "keywords.csv", *write_charts(draft, {"keywords": chart})]
            write_text(draft / "keywords.csv", reporting.render_rows(table, "csv"))
        if number:
            run = result.values[0].run
            titles = {
                query: answer.text
                for of_run in result.answers.values()
                for query, answer in of_run.items()
            }
            worst_queries = [(run, query) for query in result.worst(run)[:number]]
            drawn = write_sheets(
                draft / "sheets",
                sheets_of(details, pictures, first=result.k, titles=titles, queries=worst_queries),
            )
            counted = count_of(len(drawn), "contact sheet")
            written.append(
                f"drew {counted} into {folder / 'sheets'}/, the worst queries of {run} first"
            )
            other_files += drawn
        pictured_result = result if thumbnails is None else with_pictures(result, pictures)
        write_result(
            result,
            folder,
            notes=notes,
            details=details,
            queries=pictured_result.queries,
            items=pictured_result.items,
            others=other_files,
        )
    if thumbnails is not None and pictures.problems:
        have = count_of(len(pictures.problems), "clip has", "clips have")
        written.append(f"{have} no picture, first: {next(iter(pictures.problems.values()))}")
    return [*map(reporting.Aside, (*written, f"wrote {folder}/"))]


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
            clip: Path(
                thumbnails.replace("{id}", clip).replace("{stem}", clip.rpartition(".")[0] or clip)
            )
            for clip in ids
        }
    return locate(ids, Path(thumbnails))
