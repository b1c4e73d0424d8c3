"""Output of `keywords`: tables for people and programs, the folder, and contact sheets."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

from rankwell import reporting
from rankwell.data.findings import Finding
from rankwell.data.frames import Heading
from rankwell.data.tables import Values
from rankwell.errors import BadUsage, NothingToEvaluate, count_of
from rankwell.evaluation.results import progress_of
from rankwell.reporting import FOR_PEOPLE, Row, charts, runs_of
from rankwell.reporting.drafts import drafting, refuse_unclaimed
from rankwell.reporting.folder import write_result
from rankwell.reporting.options import Output, Progress, printed_output
from rankwell.reporting.outputs.answers import answer_of
from rankwell.stats import figure_of
from rankwell.store import write_text
from rankwell.tasks.keywords.annotations import QueryKeywords
from rankwell.tasks.keywords.evaluation import ClipResults, evaluate_keywords
from rankwell.tasks.keywords.formats import read_annotations
from rankwell.tasks.keywords.mapping import MappedText, findings_on_texts, mapper_of
from rankwell.tasks.keywords.options import KeywordCommandOptions, names
from rankwell.tasks.keywords.runs import ClipVariant
from rankwell.vectors.media.contact_sheet import picture_columns, pictured, sheets_of, write_sheets
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
    options: KeywordCommandOptions,
    per_query: bool = False,
    format: reporting.Format = "table",
    output: Path | None = None,
    progress: Progress = None,
) -> Output:
    """Evaluates, writes and prints; the texts of the queries are mapped to keywords."""
    if output is not None:
        refuse_unclaimed(output)
    elif options.thumbnails is not None:
        raise BadUsage("contact sheets are written into a folder; name one with -o.")
    _reject_unused_options(options)
    mapper, rules, mapped = None, dict[str, Any](), list[MappedText]()
    if options.has_texts:
        groups = names(options.keyword_groups, "--keyword-groups")
        table = read_annotations(options.annotations, schema=options.schema, groups=groups)
        mapper, of_model = mapper_of(options, table.vocabulary_of(groups))
        rules = {**mapper.describe(), **of_model}

    def _map_text(text: str) -> QueryKeywords:
        mapped.append(mapper.map_text(text))  # pyright: ignore[reportOptionalMemberAccess]
        return mapped[-1].query_keywords

    try:
        result = evaluate_keywords(
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
        reasons = findings_on_texts(mapped, options)
        if len(reasons) > _EXPLAINED:
            reasons = [*reasons[:_EXPLAINED], reasons[-1]]
        words = [str(error).rstrip("."), "; ".join(dict.fromkeys(reasons))]
        raise NothingToEvaluate(f"{'; '.join(words)}." if reasons else str(error)) from error
    findings = (*result.findings, *findings_on_texts(mapped, options))
    written = [] if output is None else _write(result, output, findings, options)
    text = render(result, findings, format, per_query=per_query)
    return printed_output(text, format, findings, output, *written)


def _reject_unused_options(options: KeywordCommandOptions) -> None:
    """Raises BadUsage for unused options about texts."""
    of_mapping = options.chosen
    of_texts = of_mapping | ({} if options.text_encoder is None else {"--text-encoder": 1})
    if options.mode == "video" and of_texts:
        unused = [name for name in _OF_TEXTS if name in of_texts]
        raise BadUsage(
            f"{', '.join(unused)}: clips search, and nothing reads texts; give --queries, a file "
            "or keywords."
        )
    if not _has_text_vectors(options):
        of_mapping.pop("--encoder", None)
    if not options.has_texts and of_mapping:
        reason = "without texts every keyword is a query by its name, and none is mapped"
        raise BadUsage(f"{', '.join(sorted(of_mapping))}: {reason}; leave it out.")


def _has_text_vectors(options: KeywordCommandOptions) -> bool:
    """Whether texts need no vectors of the encoder of the mapping."""
    return any((options.query_vectors, options.engine, options.run, options.text_encoder))


def render(
    result: ClipResults,
    findings: Sequence[Finding],
    format: reporting.Format,
    *,
    per_query: bool = False,
) -> str:
    """The result as text: the summary, the tables by group and by keyword, and with `per_query`
    each query with its results.
    """
    rows, tables = None, result.tables
    if format in FOR_PEOPLE:
        rows = list(result.value_rows()) if per_query else None
        tables = _for_people(result, per_query=per_query)
    elif per_query:
        rows, listed_queries = list(result.per_query()), set[tuple[str, str]]()
        # The results of a query are the same for every measure; tables have them once.
        for row in rows if format in ("csv", "tsv") else ():
            query = row["run"], row["query"]
            if query in listed_queries:
                row["results"] = None
            listed_queries.add(query)
    terminal = reporting.terminal_of()
    return reporting.render(
        result.summary,
        rows,
        result.describe(),
        findings,
        format,
        terminal=terminal,
        tables=tables,
        answer=answer_of(result),
    )


def _for_people(result: ClipResults, *, per_query: bool) -> dict[str, list[Row]]:
    """The tables at the largest cut-off, of the keywords the ten that are missing most often."""
    shown_measures = {row["measure"] for row in result.by_keyword}
    tables: dict[str, list[Row]] = {"queries": [], "results": [], "by_group": [], "by_keyword": []}
    for run, of_run in result.answers.items() if per_query else ():
        for query, answer in of_run.items():
            head = {"run": run, "query": query}
            labels = [
                f"{group}: {', '.join(of_group)}" for group, of_group in answer.keywords.items()
            ]
            tables["queries"].append(
                {
                    **head,
                    "keywords": "; ".join(labels),
                    "relevant": answer.relevant,
                    "status": answer.status,
                }
            )
            tables["results"] += [
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
    tables["by_group"] += [
        {"group": row["group"], **row}
        for row in result.by_group
        if row["measure"] in shown_measures
    ]
    tables["by_keyword"] += [
        {name: row[name] for name in _KEYWORD_COLUMNS}
        for row in result.by_keyword[: _SHOWN_KEYWORDS * max(1, len(result.answers))]
    ]
    drop = {"measure", "unit", "sd"} | ({"run"} if len(result.answers) == 1 else set())
    return {
        name: [{column: row[column] for column in row if column not in drop} for row in rows]
        for name, rows in tables.items()
    }


def _write(
    result: ClipResults, folder: Path, findings: Sequence[Finding], options: KeywordCommandOptions
) -> list[reporting.StatusNote]:
    """Writes everything; each file whole or not at all."""
    written: list[str] = []
    thumbnails = options.thumbnails
    pictures = None if thumbnails is None else Thumbnails(_pictures(thumbnails, result))
    with drafting(folder, result.sources.values()) as draft:
        tables = {name: rows for name, rows in result.tables.items() if rows}
        keywords = keyword_table(result.measured)
        chart = heat_map(keywords, result.values)
        if chart is not None:
            tables["keywords"] = keywords
        other_files: list[Path] = []
        for name, rows in tables.items():
            other_files.append(draft / f"{name}.csv")
            write_text(other_files[-1], reporting.render_rows(rows, "csv"))
        if chart is not None:
            other_files += charts.write_charts(draft, {"keywords": chart})
        if pictures:
            drawn = draw_sheets(result, draft / "sheets", pictures, _SHEETS)
            counted = count_of(len(drawn), "contact sheet")
            run = result.values[0].run
            written.append(
                f"drew {counted} into {folder / 'sheets'}/, the worst queries of {run} first"
            )
            other_files += drawn
        pictured_result = with_pictures(result, pictures) if pictures else result
        write_result(
            result,
            folder,
            findings=findings,
            details=result.details or {},
            queries=pictured_result.queries,
            items=pictured_result.items,
            others=other_files,
        )
    if pictures and pictures.problems:
        have = count_of(len(pictures.problems), "clip has", "clips have")
        written.append(f"{have} no picture, first: {next(iter(pictures.problems.values()))}")
    return list(map(reporting.StatusNote, written))


def draw_sheets(
    result: ClipResults, folder: Path, pictures: Thumbnails, number: int, score: str = "similarity"
) -> list[Path]:
    """Draws contact sheets of the worst queries of the first run. score: the meaning of the tiles'
    scores.
    """
    run = result.values[0].run
    titles = {query: answer.text for query, answer in result.answers[run].items()}
    queries = [(run, query) for query in result.worst(run)[:number]]
    sheets = sheets_of(
        result.details or {}, pictures, first=result.k, titles=titles, queries=queries, score=score
    )
    return write_sheets(folder, sheets)


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


# Every keyword at every measure

_CELL = 62
_DARK = 0.6


def keyword_table(measured: Sequence[tuple[ClipVariant, Sequence[Values]]]) -> list[Row]:
    """A row per run and keyword that counted queries require, or exclude: their number, and each
    measure's figure over them.
    """
    rows: list[Row] = []
    for variant, values in measured:
        keywords, counted = variant.keywords, variant.counted[:, None]
        sides = (("", keywords.required & counted), ("without ", keywords.excluded & counted))
        for word, queries in sides:
            for column in np.flatnonzero(queries.any(axis=0)):
                group, label = variant.inputs.annotations.keywords[column]
                is_query = queries[:, column]
                figures = {
                    Heading(of_measure.label): figure_of(
                        np.where(is_query, of_measure.values, np.nan),
                        of_measure.summary,
                        of_measure.weights,
                    )
                    for of_measure in values
                }
                rows.append(
                    {
                        "run": variant.name,
                        "group": group,
                        "keyword": word + label,
                        "queries": int(is_query.sum()),
                        **figures,
                    }
                )
    return sorted(rows, key=lambda row: (row["run"], row["group"], row["keyword"]))


def heat_map(rows: Sequence[Row], values: Sequence[Values]) -> dict[str, Any] | None:
    """A Vega-Lite spec: a panel per run and group, a line per keyword, a cell per measure that is a
    share, the darker the higher.

    rows: those of `keyword_table`. None for fewer than two keywords, and where no measure is a
    share.
    """
    labels = list(
        dict.fromkeys(of_measure.label for of_measure in values if of_measure.unit == "share")
    )
    if len({(row["group"], row["keyword"]) for row in rows}) < 2 or not labels:
        return None
    runs = runs_of(rows)
    panels = [
        {"title": group if len(runs) == 1 else f"{run}: {group}", **_panel(list(of_group), labels)}
        for (run, group), of_group in groupby(rows, lambda row: (row["run"], row["group"]))
    ]
    return charts.page(
        "Keywords",
        "means over the queries that require the keyword, their number behind it",
        panels,
        columns=1,
    )


def _panel(rows: Sequence[Row], labels: Sequence[str]) -> dict[str, Any]:
    names = charts.short_names([row["keyword"] for row in rows])
    cells = [
        {
            "keyword": f"{names[row['keyword']]} ({row['queries']})",
            "measure": label,
            "value": row[label],
            "shown": charts.written(row[label], "share"),
        }
        for row in rows
        for label in labels
    ]
    ordered = list(dict.fromkeys(cell["keyword"] for cell in cells))
    axis = {"title": None, "grid": False, "ticks": False, "domain": False, "labelAngle": 0}
    ink = {"condition": {"test": f"datum.value > {_DARK}", "value": "white"}, "value": charts.INK}
    colour = {"scale": {"domain": [0, 1], "range": ["#f2f6fa", charts.ACCENT]}, "legend": None}
    return {
        "width": {"step": _CELL},
        "height": {"step": charts.STEP},
        "data": {"values": cells},
        "encoding": {
            "x": charts.nominal(
                "measure", scale={"domain": labels}, axis={**axis, "orient": "top"}
            ),
            "y": charts.nominal("keyword", scale={"domain": ordered}, axis=axis),
        },
        "layer": [
            charts.layer(
                "rect",
                {"color": {"field": "value", "type": "quantitative", **colour}},
                where="value",
                stroke="white",
            ),
            charts.layer("text", {"text": charts.nominal("shown"), "color": ink}, fontSize=11),
        ],
    }
