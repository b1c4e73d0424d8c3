"""Evaluate search over annotated clips, by clips or by texts: relevant is a clip that carries the keywords of the query."""

import sys
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal

from rankwell import report
from rankwell.core.options import Option
from rankwell.core.registry import split_names
from rankwell.errors import BadUsage, NothingToEvaluate
from rankwell.evaluation.results import Results
from rankwell.media.contact_sheet import picture_columns, pictured, sheets_of, write_sheets
from rankwell.media.images import Thumbnails, locate
from rankwell.report.folder import content_of, write_folder
from rankwell.report.present import (
    ConventionOption,
    FormatOption,
    Input,
    InputOption,
    InputPlace,
    MeasureOption,
    Output,
    OutputOption,
    PerQueryOption,
    Progress,
    cutoffs,
    listed,
)
from rankwell.stats import Intervals
from rankwell.store import refuse_blocked, write_text
from rankwell.tasks.clips.choices import Mode, NoKeywords, NoRelevant, SelfRule, Unjudged, Weights
from rankwell.tasks.clips.evaluation import MapText, evaluate_clips
from rankwell.tasks.clips.formats import read_annotations, read_schema
from rankwell.tasks.clips.mapping import KeywordMapper, MappedText, Strategy
from rankwell.tasks.clips.phrases import load_keybert

_SHEETS = 10
_EXPLAINED = 5
_SHOWN_KEYWORDS = 10
_KEYWORD_COLUMNS = ("run", "group", "keyword", "clips", "queries", "results", "missing", "by_chance", "label", "mean", "ceiling")


def evaluate(
    *,
    annotations: InputPlace,
    embeddings: InputOption = None,
    mode: Mode = "video",
    groups: str | None = None,
    keywords: str | None = None,
    k: str = "1,3,5",
    measure: MeasureOption = None,
    relevance: str = "all",
    min_similarity: float | None = None,
    self_rule: Annotated[SelfRule, Option(("--self",))] = "before",
    exclude_group: str | None = None,
    queries: InputOption = None,
    text_embeddings: InputOption = None,
    text_encoder: Annotated[str | None, Input(perhaps=True)] = None,
    engine: str | None = None,
    run: InputOption = None,
    encoder: Annotated[str | None, Input(perhaps=True)] = None,
    keyword_threshold: float | None = None,
    strategy: Strategy | None = None,
    schema: InputOption = None,
    ids: InputOption = None,
    metric: Literal["cosine", "dot", "l2"] | None = None,
    ties: str | None = None,
    no_keywords: NoKeywords = "skip",
    no_relevant: NoRelevant = "skip",
    unjudged: Unjudged = "nonrelevant",
    weights: Weights = "uniform",
    convention: ConventionOption = "rankwell",
    intervals: Intervals = "bootstrap",
    per_query: PerQueryOption = False,
    format: FormatOption = "table",  # noqa: A002
    output: OutputOption = None,
    sheets: int | None = None,
    thumbnails: Annotated[str | None, Input(perhaps=True)] = None,
    seed: int = 0,
    progress: Progress = None,
) -> Output:
    """Evaluate search over annotated clips, by clips or by texts: relevant is a clip that carries the keywords of the query.

    Beside every figure stand its ceiling (a perfect ranker), its chance level, and the share of queries that it rests on.

    Parameters
    ----------
    annotations
        Table of clips: slice_id and a column of keywords per group, or one column keywords (CSV, TSV, JSON lines, Parquet).
    embeddings
        Vectors of the clips, in any format of `rankwell search`; ALFA's Parquet has slice_id and embedding.
    mode
        What searches: every clip for its like (video), or texts (text).
    groups
        Groups of keywords that count, with commas between them, as "object type,actor behavior"; all by default.
    keywords
        Single keywords that count in their group, likewise; "group: label" where two groups have it.
    k
        Cut-offs, with commas between them.
    measure
        A measure, at every cut-off where it needs one (P), or at one (P@10); repeat it for more, or separate names by blanks.
    relevance
        all: relevant clips carry every keyword of the query; any: one of them; "jaccard>=T"; graded: matched / required.
    min_similarity
        Results of a lower similarity are not found; it depends on the model, so that there is no default.
    self_rule
        The query clip is removed before the list is cut to K, or after it (Algorithm 2 to the letter, still divided by K).
    exclude_group
        Column of the annotations, such as the drive, or id:TEXT, the part of the id before TEXT: clips with the query's are out.
    queries
        Text queries: a text per line, or a table with text, and perhaps id and keywords; without it, one query per keyword.
    text_embeddings
        Vectors of the text queries, by their ids or in their order, in the space of the clips.
    text_encoder
        Model of sentence-transformers that puts the texts into the space of the clips; by default that of --encoder.
    engine
        A live engine as module:object with search_by_text(query, top_k), search(query, k) or, for clips, similarity_search(
        embedding, top_k).
    run
        File of rankings instead of a search.
    encoder
        Model that maps texts to keywords by similarity; without it keywords are found by their names and aliases alone.
    keyword_threshold
        What the score of a span of words with a keyword must exceed (see rankwell clips map). Needs --encoder.
    strategy
        How texts become keywords: cover (the default), or algorithm1 as ALFA has it.
    schema
        JSON file {group: [label, ...]} of the declared keywords; without it those in use are the vocabulary.
    ids
        File or column of the clips' ids, for embeddings that have none.
    metric
        What is near; cosine by default.
    ties
        Order of clips with equal similarities; by default the expected value over all orders (of lists their own order).
    no_keywords
        Queries without a keyword of the selection: left out, counted as they are, everything right (vacuous), or an error.
    no_relevant
        Queries for which no other clip is relevant: left out, counted as they are, or an error.
    unjudged
        Results without annotation: wrong, taken out before places are counted, or an error.
    weights
        Every query alike, or weighed by its number of relevant clips.
    convention
        Whose words: rankwell, or alfa (Recall@K is P@K, Precision@K is R@K).
    intervals
        95 % intervals by the bootstrap over queries, by Student's t, or none.
    per_query
        Also each query's values, keywords and results, with what was found and is missing (in CSV in each query's first row).
    format
        How to print.
    output
        Folder for the tables, per_query.parquet, details.parquet, queries.parquet, items.parquet (pictures), manifest.json,
        charts and contact sheets.
    sheets
        How many contact sheets to draw, worst queries first; 10 with --thumbnails, else none. Needs -o.
    thumbnails
        Folder with a picture, GIF or video per clip, or a pattern such as frames/{id}.jpg.
    seed
        Seed of the bootstrap.
    """
    _check_output(output, sheets, thumbnails)
    searched = text_embeddings or engine or run
    _refuse_idle(mode, queries, encoder, text_encoder, keyword_threshold, strategy, encodes=not (searched or text_encoder))
    chosen, single = listed(groups, "--groups"), listed(keywords, "--keywords")
    mapped: list[MappedText] = []
    loaded = load_keybert(encoder) if encoder is not None and queries is not None else None
    declared = None if schema is None else read_schema(schema)
    mapper = None
    if mode == "text" and queries is not None:
        table = read_annotations(annotations, schema=declared, groups=chosen)
        mapper = KeywordMapper(table.vocabulary, encode=loaded, strategy=strategy or "cover", threshold=keyword_threshold)
    with _explaining(mapped, named=mapper is not None and loaded is None):
        result = evaluate_clips(
            annotations,
            embeddings,
            mode=mode,
            ids=ids,
            queries=queries,
            map_text=None if mapper is None else _noting(mapper, mapped),
            text_embeddings=text_embeddings,
            text_encoder=text_encoder or (None if searched else encoder),
            engine=engine,
            run=run,
            schema=declared,
            groups=chosen,
            keywords=single,
            measures=[name for text in measure or [] for name in split_names(text)] or None,
            k=cutoffs(k),
            convention=convention,
            relevance=relevance,
            min_similarity=min_similarity,
            self_rule=self_rule,
            exclude_group=exclude_group,
            metric=metric,
            ties=ties,
            no_keywords=no_keywords,
            no_relevant=no_relevant,
            unjudged=unjudged,
            weights=weights,
            intervals=intervals,
            seed=seed,
            details=output is not None,
            rules={} if mapper is None else {**mapper.describe(), **(loaded.rules if loaded is not None else {})},
            progress=None if progress is None else lambda done, total: progress("searching", done, total),
        )
    told = [*result.notes, *_mapping_notes(mapped, named=mapper is not None and loaded is None), *result.interval_notes]
    said = told if format != "json" else []
    if output is not None:
        said = [*said, *_write(result, output, told, thumbnails, sheets)]
    return Output(text=render(result, told, format, per_query=per_query), notes=tuple(said))


def _check_output(output: Path | None, sheets: int | None, thumbnails: str | None) -> None:
    """Raises BadUsage where nothing can be written to the place, and for sheets without a place or of no number."""
    if output is not None:
        refuse_blocked(output, folder=True)
    if output is None and (sheets is not None or thumbnails is not None):
        raise BadUsage("contact sheets are written into a folder; name one with -o.")
    if sheets is not None and sheets < 0:
        raise BadUsage(f"--sheets {sheets}; 0 or more sheets can be drawn.")


def _refuse_idle(
    mode: Mode,
    queries: str | None,
    encoder: str | None,
    text_encoder: str | None,
    keyword_threshold: float | None,
    strategy: Strategy | None,
    *,
    encodes: bool,
) -> None:
    """Raises BadUsage for an option about texts that nothing would read. encodes: whether the encoder makes texts' vectors."""
    mapping = {"--keyword-threshold": keyword_threshold, "--strategy": strategy}
    read_texts = {"--encoder": encoder, "--text-encoder": text_encoder, **mapping} if mode == "video" else {}
    if given := [name for name, value in read_texts.items() if value is not None]:
        raise BadUsage(f"{', '.join(given)}: in the mode video nothing reads texts; choose --mode text.")
    of_queries = {} if queries is not None or mode == "video" else {"--encoder": None if encodes else encoder, **mapping}
    if given := [name for name, value in of_queries.items() if value is not None]:
        what = "without --queries every keyword is asked for by its name and none is mapped"
        raise BadUsage(f"{', '.join(given)}: {what}; leave it out.")
    if keyword_threshold is not None and encoder is None:
        raise BadUsage("--keyword-threshold is for similar words, which an encoder finds; name one with --encoder.")


def _mapping_notes(mapped: Sequence[MappedText], *, named: bool) -> list[str]:
    """What was not mapped. named: keywords are found by their names alone."""
    told = [note for each in mapped for note in each.notes]
    hint = "without an encoder only names and aliases are found; name a model with --encoder"
    return [*told, *([hint] if named and any(each.unmapped for each in mapped) else [])]


@contextmanager
def _explaining(mapped: Sequence[MappedText], *, named: bool) -> Generator[None]:
    """Adds what was not mapped to the error that nothing is left to evaluate."""
    try:
        yield
    except NothingToEvaluate as error:
        notes = _mapping_notes(mapped, named=named)
        shown = [*notes[:_EXPLAINED], *notes[-1:]] if len(notes) > _EXPLAINED else notes
        said = "; ".join(dict.fromkeys(shown))
        raise NothingToEvaluate(f"{str(error).rstrip('.')}; {said}." if said else str(error)) from error


def render(result: Results, notes: Sequence[str], format: report.Format, *, per_query: bool = False) -> str:  # noqa: A002
    """The result as text: the summary, the tables by group and by keyword, and with `per_query` each query with its results."""
    programs = format not in ("table", "md", "latex")
    rows = (list(result.per_query()) if programs else list(result.value_rows())) if per_query else None
    if rows is not None and format in ("csv", "tsv"):
        rows = _results_once(rows)
    tables: dict[str, Sequence[report.Row]] = {"by_group": result.by_group, "by_keyword": result.by_keyword}
    if not programs:
        tables = _for_people(result, per_query=per_query)
    terminal = report.terminal_of(sys.stdout)
    return report.render(result.summary, rows, result.describe(), notes, format, terminal=terminal, tables=tables)


def _results_once(rows: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The rows with the results of a query in its first row only, as they are the same for every measure."""
    seen: set[tuple[str, str]] = set()
    kept: list[dict[str, Any]] = []
    for row in rows:
        query = row["run"], row["query"]
        kept.append(dict(row) | ({"results": None} if query in seen else {}))
        seen.add(query)
    return kept


def _for_people(result: Results, *, per_query: bool) -> dict[str, Sequence[report.Row]]:
    """The tables at the largest cut-off, of the keywords the ten that are missing most often."""
    shown = {row["measure"] for row in result.by_keyword}
    drop = {"measure", "unit", "sd"} | ({"run"} if len(result.answers) == 1 else set())
    groups = [
        {"group": row["group"], **{name: cell for name, cell in row.items() if name not in drop}}
        for row in result.by_group
        if row["measure"] in shown
    ]
    keep = [name for name in _KEYWORD_COLUMNS if name not in drop]
    keywords = [{name: row[name] for name in keep} for row in result.by_keyword]
    several = len(result.answers) > 1
    found = [
        {
            **({"run": run} if several else {}),
            "query": query,
            "rank": result_.rank,
            "clip": result_.item,
            "similarity": result_.similarity,
            "right": "yes" if result_.is_right else "no",
            "match": result_.match,
            "reasons": ", ".join(result_.reasons),
        }
        for run, told in result.answers.items()
        for query, answer in told.items()
        for result_ in answer.results
    ]
    asked = [
        {
            **({"run": run} if several else {}),
            "query": query,
            "keywords": "; ".join(f"{group}: {', '.join(labels)}" for group, labels in answer.keywords.items()),
            "relevant": answer.relevant,
            "status": answer.status,
        }
        for run, told in result.answers.items()
        for query, answer in told.items()
    ]
    tables: dict[str, Sequence[report.Row]] = {"queries": asked, "results": found} if per_query else {}
    return tables | {"by_group": groups, "by_keyword": keywords[: _SHOWN_KEYWORDS * max(1, len(result.answers))]}


def _write(result: Results, folder: Path, notes: Sequence[str], thumbnails: str | None, sheets: int | None) -> list[str]:
    """Writes everything; each file whole or not at all."""
    said: list[str] = []
    others: list[Path] = []
    for name, rows in (("by_group", result.by_group), ("by_keyword", result.by_keyword)):
        if rows:
            others.append(folder / f"{name}.csv")
            write_text(others[-1], report.render_rows(rows, "csv"))
    details = result.details or {}
    pictures = Thumbnails({} if thumbnails is None else _pictures(thumbnails, result))
    number = _SHEETS * (thumbnails is not None) if sheets is None else sheets
    if number:
        run = result.values[0].run
        titles = {query: answer.text for told in result.answers.values() for query, answer in told.items()}
        chosen = [(run, query) for query in result.worst(run)[:number]]
        drawn = write_sheets(folder / "sheets", sheets_of(details, pictures, first=result.k, titles=titles, queries=chosen))
        what = "1 contact sheet" if len(drawn) == 1 else f"{len(drawn)} contact sheets"
        said.append(f"drew {what} into {folder / 'sheets'}/, the worst queries of {run} first")
        others += drawn
    shown = result if thumbnails is None else with_pictures(result, pictures)
    content = content_of(result, notes=notes, details=details, queries=shown.queries, items=shown.items)
    write_folder(folder, content, others=others)
    if thumbnails is not None and pictures.problems:
        count = len(pictures.problems)
        have = "1 clip has" if count == 1 else f"{count} clips have"
        said.append(f"{have} no picture, first: {next(iter(pictures.problems.values()))}")
    return [*said, f"wrote {folder}/"]


def with_pictures(result: Results, pictures: Thumbnails) -> Results:
    """The result with small pictures of the clips that were found, and of its queries where these are clips."""
    queries = result.queries or {}
    asked = queries["query"] if result.rules["mode"] == "video" else ()
    items = picture_columns(result.details or {}, pictures, queries=asked)
    return replace(result, items=items, queries=pictured(queries, items) if asked else queries)


def _pictures(thumbnails: str, result: Results) -> dict[str, Path]:
    """The picture or video of each clip: among the files of a folder, or where a pattern with {id} or {stem} says."""
    names = {*result.annotations.clips, *(result.details or {}).get("item", ())}
    if "{id}" in thumbnails or "{stem}" in thumbnails:
        places = {name: thumbnails.replace("{id}", name).replace("{stem}", name.rpartition(".")[0] or name) for name in names}
        return {name: Path(place) for name, place in sorted(places.items())}
    return locate(sorted(names), Path(thumbnails))


def _noting(mapper: KeywordMapper, mapped: list[MappedText]) -> MapText:
    """The mapper as a function that keeps what it said of each text."""

    def _map_text(text: str) -> Sequence[Any]:
        found = mapper.map_text(text)
        mapped.append(found)
        return found.keywords

    return _map_text
