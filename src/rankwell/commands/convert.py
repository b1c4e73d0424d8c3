"""Convert a run or judgments from one format to another; the target's suffix says which."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

import numpy as np

from rankwell.data.columns import Holds, chosen_columns
from rankwell.data.options import ColumnChoice, InputData, JudgmentColumns, Option, RunColumns
from rankwell.data.tables import Judgments
from rankwell.errors import BadInput, BadUsage, flag, shown
from rankwell.io import formats as io
from rankwell.io.formats import FORMATS, Request, refuse_foreign, scored, written_format
from rankwell.reporting.options import Aside, Output
from rankwell.store import STDIN, Head, Source, split_part
from rankwell.store.places import is_data_set_id, queries_beside

_TEXTS = ("queries.parquet", "queries.jsonl", "queries.jsonl.gz")
"""Texts of queries in the folder of a study, and in one of BEIR."""


class Conversion(NamedTuple):
    """A converted file: the formats that were read and written, the rows, and notes on both."""

    path: Path
    holds: Literal["run", "judgments"]
    source_format: str
    target_format: str
    rows: int
    notes: tuple[str, ...]


def convert(
    source: str,
    target: Annotated[Path, Option(writes="file")],
    /,
    *,
    source_format: Annotated[str | None, Option(("--from",))] = None,
    target_format: Annotated[str | None, Option(("--to",))] = None,
    holds: Literal["run", "judgments"] | None = None,
    query_texts: Annotated[InputData, Option(("--query-texts",))] = None,
    graded_by: Annotated[Literal["people", "model"], Option(("--source",))] = "people",
    duplicates: io.Duplicates = "error",
    columns: RunColumns = None,
    qrels_columns: JudgmentColumns = None,
) -> Output:
    """Convert a run or judgments from one format to another; the target's suffix says which.

    Parameters
    ----------
    source
        File to read; `-` is standard input. A folder of a data set or a study, or irds:ID, stands
        for its judgments.
    target
        File to write, whole or not at all: .run, .trec, .qrels or .txt (TREC), .parquet, .csv,
        .tsv, .json; with --to quepid or opensearch what those import.
    source_format
        Name of the source's format, where its content does not determine it.
    target_format
        Name of the target's format, where its suffix does not determine it.
    holds
        Whether the source holds a run or judgments, where its content does not determine it;
        neighbours in HDF5 are judgments.
    query_texts
        Texts of queries, for formats that name a query by its text; those beside the source by
        default.
    graded_by
        Whose grades of a study: of people, or of a model, which are not judgments (STUDY:MODEL
        where there are several).
    duplicates
        An item that a query lists twice: an error, or keep the first or the best-scored.
    """
    done = convert_file(
        source,
        target,
        source_format=source_format,
        target_format=target_format,
        holds=holds,
        query_texts=query_texts,
        graded_by=graded_by,
        duplicates=duplicates,
        columns=columns,
        qrels_columns=qrels_columns,
    )
    return Output(notes=done.notes)


def convert_file(
    source: str | Path,
    target: Path,
    *,
    source_format: str | None = None,
    target_format: str | None = None,
    holds: Literal["run", "judgments"] | None = None,
    query_texts: str | Path | None = None,
    graded_by: Literal["people", "model"] = "people",
    duplicates: io.Duplicates = "error",
    columns: ColumnChoice | None = None,
    qrels_columns: ColumnChoice | None = None,
) -> Conversion:
    """Writes what a file holds in another format. Raises BadUsage where it may be a run or
    judgments.

    columns, qrels_columns: those of a run or of judgments; either says what the file holds.

    query_texts: for formats that name a query by its text; by default queries.parquet or
    queries.jsonl in the source's folder.
    """
    if str(target) in STDIN:
        raise BadUsage(
            "the target is a file; its suffix names the format. To print, name /dev/stdout "
            "and the format with --to."
        )
    path, part = split_part(io.judgments_file(source))
    opened = None if is_data_set_id(path) else Source(path)
    holds, column_names = _chosen_columns(holds, columns, qrels_columns)
    kind, doubt = (
        (holds or "judgments", "")
        if holds or opened is None
        else _kind(Head.of(opened), source_format)
    )
    called = str(path) if opened is None else opened.name
    request = Request(
        notes=[doubt] if doubt else [],
        duplicates=duplicates,
        columns=column_names,
        graded_by=graded_by,
    )
    table, name = io.read_as(
        f"{path}:{part}" if part else opened or path, kind, source_format, request
    )
    read_with = FORMATS[f"{name} {kind}"]
    if graded_by == "model" and not read_with.models:
        raise BadUsage(
            f"--source model: {called} is read as {name}, which holds no grades of a model; "
            "leave it out."
        )
    entry = written_format(target, kind, target_format)
    if entry.by_text and isinstance(table, Judgments) and not read_with.by_text:
        table, note = _by_text(table, _texts_beside(source) if query_texts is None else query_texts)
        request.notes.append(note)
    elif query_texts is not None:
        raise BadUsage(
            f"--query-texts: queries of {entry.name} go by what {called} calls them; leave it out."
        )
    write: Callable[..., str] = io.write_run if kind == "run" else io.write_judgments
    written = write(table, target, format=target_format)
    wrote = f"wrote {target} ({len(table.items)} rows, {written})"
    notes = [Aside(f"{source}: {kind} read as {name}"), *request.notes, Aside(wrote)]
    # Only JSON holds queries without rows.
    lost = 0 if written == "json" else int((np.diff(table.offsets) == 0).sum())
    notes += (
        [f"{lost} queries without rows are not in {target}: the format cannot hold them"]
        if lost
        else []
    )
    return Conversion(target, kind, name, written, len(table.items), tuple(notes))


def _chosen_columns(
    holds: Literal["run", "judgments"] | None,
    columns: ColumnChoice | None,
    qrels_columns: ColumnChoice | None,
) -> tuple[Literal["run", "judgments"] | None, dict[str, str]]:
    """The kind of a file and its columns, as far as they were chosen. Raises BadUsage for choices
    that exclude each other.
    """
    columns_by_kind = {
        "run": chosen_columns(columns, "run"),
        "judgments": chosen_columns(qrels_columns, "judgments"),
    }
    kinds = [kind for kind, names in columns_by_kind.items() if names]
    if len(kinds) > 1 or (holds and kinds and kinds != [holds]):
        options = (
            f"{flag('--columns')} are those of a run, {flag('--qrels-columns')} those of judgments"
        )
        raise BadUsage(f"{options}; a file holds one of the two: leave the other out.")
    kind: Literal["run", "judgments"] | None = (
        "run" if kinds == ["run"] else "judgments" if kinds else holds
    )
    return kind, columns_by_kind[kind] if kind else {}


def _texts_beside(source: str | Path) -> Path | str | None:
    """The texts of queries in the folder that was named, or of its data set."""
    if is_data_set_id(source):
        return source
    paths = [Path(split_part(source)[0], name) for name in _TEXTS]
    return next((path for path in paths if path.is_file()), None) or queries_beside(source, None)


def _by_text(table: Judgments, path: str | Path | None) -> tuple[Judgments, str]:
    """Judgments whose queries are their texts, and a note. Raises BadInput for a query without
    text, or with another's.
    """
    if path is None:
        return table, "queries go by their ids; name their texts with --query-texts"
    texts, ids = io.read_texts(path).texts, dict[str, str]()
    for query in table.queries:
        if not texts.get(query):
            raise BadInput(
                f"{path}: query {shown(query)} has no text, by which the target names it; add it."
            )
        if (first_query := ids.setdefault(texts[query], query)) != query:
            raise BadInput(
                f"{path}: queries {shown(first_query)} and {shown(query)} have one text, by which "
                "the target names both."
            )
    owners = np.repeat(
        np.array([texts[query] for query in table.queries], dtype=object), np.diff(table.offsets)
    ).tolist()
    judgments = Judgments.from_rows(
        owners, table.items, table.grades, aspects=table.aspects, all_queries=ids
    )
    return judgments, f"queries go by their texts in {path}"


def _kind(head: Head, name: str | None) -> tuple[Literal["run", "judgments"], str]:
    """Whether content is a run or judgments, and a note where that is presumed. Raises BadUsage
    where it may be either.
    """
    refuse_foreign(head, "run", "judgments")
    sure: dict[Holds, float] = {"run": 0.0, "judgments": 0.0}
    entries = [
        scored_entry
        for scored_entry in scored(head)
        if name is None or name.partition(":")[0] == scored_entry[1].name
    ]
    for score, entry in entries:
        sure[entry.holds] = max(score, sure.get(entry.holds, 0.0))
    if sure["run"] == sure["judgments"]:
        if presumed := next((entry for _, entry in entries if entry.presumed), None):
            note = (
                f"{head.name}: {presumed.name} is read as {presumed.holds}; "
                f"{flag('--holds', 'run')} reads it as a run"
            )
            return "judgments", note
        raise BadUsage(
            f"{head.name}: {head.excerpt} may be a run or judgments; say which by "
            f"{flag('--holds')}."
        )
    return "run" if sure["run"] > sure["judgments"] else "judgments", ""
