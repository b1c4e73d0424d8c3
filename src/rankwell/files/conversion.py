"""Runs and judgments from one format to another."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

import numpy as np

from rankwell.data.columns import chosen_columns
from rankwell.data.findings.kinds import doubtful_columns, reading_choice
from rankwell.data.options import (
    Doc,
    Input,
    JudgmentColumns,
    Option,
    Place,
    RunColumns,
    TargetFormat,
    takes_options,
)
from rankwell.data.tables import Judgments
from rankwell.errors import BadInput, BadUsage, count_of, flag, kind_of, shown
from rankwell.evaluation.options import DuplicateOptions
from rankwell.files.writing import writing_file
from rankwell.io import formats as io
from rankwell.io.formats import FORMATS, Request, refuse_foreign, scored, written_format
from rankwell.reporting import StatusNote
from rankwell.store import STDIN, Head, Source, path_of, split_part
from rankwell.store.places import is_data_set_id, queries_beside

_TEXTS = ("queries.parquet", "queries.jsonl", "queries.jsonl.gz")
"""Texts of queries in the folder of a data set."""


class Conversion(NamedTuple):
    """A converted file.

    path: the file that was written.
    holds: the content of the file.
    source_format: the name of the format that was read.
    target_format: the name of the format that was written.
    rows: number of written rows.
    messages: sentences on the file that was read, the file that was written, and what the target
        format cannot hold.
    """

    path: Path
    holds: Literal["run", "judgments"]
    source_format: str
    target_format: str
    rows: int
    messages: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class ConvertOptions(DuplicateOptions):
    """Options of a conversion."""

    source_format: Annotated[
        str | None,
        Option(("--from",)),
        Doc("Format of the source, if its content does not determine it.", is_common=True),
    ] = None
    target_format: TargetFormat = None
    holds: Annotated[
        Literal["run", "judgments"] | None,
        Doc(
            "Whether the source holds a run or judgments, if its content does not determine it; "
            "neighbours in HDF5 are judgments."
        ),
    ] = None
    queries: Annotated[
        Place | None,
        Input(),
        Doc(
            "Texts of queries, for formats that identify a query by its text. [default: those "
            "beside the source]"
        ),
    ] = None
    columns: RunColumns = None
    qrels_columns: JudgmentColumns = None


@takes_options(ConvertOptions)
def convert(
    source: str | Path, target: str | Path, *, options: ConvertOptions, overwrite: bool = False
) -> Conversion:
    r"""Converts a file with a run or judgments to another format.

    Use `write_run` and `write_judgments` for data in memory.
    Raises BadUsage for a target that already exists or is the source, UnknownName for a format that
    does not exist, BadInput, BadScore and DuplicateItem for rows that cannot be read.

    Parameters
    ----------
    source
        A file, the folder of a data set, or `irds:ID`.
    target
        The file to write; its suffix names the format.
    overwrite
        Replace a file that is there.

    >>> import tempfile
    >>> from pathlib import Path
    >>> import rankwell as rw
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     source = Path(folder, "a.run")
    ...     _ = source.write_text("q1 Q0 d1 1 2.5 me\nq1 Q0 d2 2 1.5 me\n")
    ...     done = rw.convert(source, Path(folder, "a.csv"))
    ...     print(done.holds, done.source_format, done.target_format, done.rows)
    run trec csv 2
    """
    if not isinstance(source, (str, Path)):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise BadUsage(
            f"convert reads a file, found {kind_of(source)}; write it with write_run or "
            "write_judgments."
        )
    target = path_of(target)
    with writing_file(target, overwrite=overwrite, inputs=[source, options.queries]):
        return convert_file(source, target, options)


def convert_file(source: str | Path, target: Path, options: ConvertOptions) -> Conversion:
    """Writes what a file holds in another format. Raises BadUsage where it may be a run or
    judgments.
    """
    if str(target) in STDIN:
        raise BadUsage(
            "the target is a file; its suffix names the format. To print, name /dev/stdout "
            f"and the format with {flag('--to', name='target_format')}."
        )
    path, part = split_part(io.judgments_file(source))
    opened = None if is_data_set_id(path) else Source(path)
    holds, column_names = _chosen_columns(options)
    kind, doubt = holds or "judgments", ""
    if not holds and opened is not None:
        kind, doubt = _kind(Head.of(opened), options.source_format)
    called = str(path) if opened is None else opened.name
    request = Request(
        findings=[doubtful_columns(doubt)] if doubt else [],
        duplicates=options.duplicates,
        columns=column_names,
        model_grades=True,
    )
    table, name = io.read_as(
        f"{path}:{part}" if part else opened or path, kind, options.source_format, request
    )
    read_with = FORMATS[f"{name} {kind}"]
    entry = written_format(target, kind, options.target_format)
    if entry.by_text and isinstance(table, Judgments) and not read_with.by_text:
        table, reading = _by_text(
            table, _texts_beside(source) if options.queries is None else options.queries
        )
        request.findings.append(reading_choice(reading))
    elif options.queries is not None:
        raise BadUsage(
            f"{flag('--queries')}: queries of {entry.name} go by what {called} calls them; leave "
            "it out."
        )
    write: Callable[..., str] = io.write_run if kind == "run" else io.write_judgments
    written = write(table, target, format=options.target_format)
    wrote = f"wrote {target} ({len(table.items)} rows, {written})"
    messages = [
        StatusNote(f"{source}: {kind} read as {name}"),
        *request.findings,
        StatusNote(wrote),
    ]
    # Only JSON holds queries without rows.
    lost = 0 if written == "json" else int((np.diff(table.offsets) == 0).sum())
    if lost:
        are = count_of(lost, "query without rows is", "queries without rows are")
        messages += [f"{are} not in {target}: the format cannot hold them"]
    return Conversion(target, kind, name, written, len(table.items), tuple(messages))


def _chosen_columns(
    options: ConvertOptions,
) -> tuple[Literal["run", "judgments"] | None, dict[str, str]]:
    """The kind of a file and its columns, as far as they were chosen. Raises BadUsage for choices
    that exclude each other.
    """
    columns_by_kind = {
        "run": chosen_columns(options.columns, "run"),
        "judgments": chosen_columns(options.qrels_columns, "judgments"),
    }
    kinds = [kind for kind, names in columns_by_kind.items() if names]
    if len(kinds) > 1 or (options.holds and kinds and kinds != [options.holds]):
        raise BadUsage(
            f"{flag('--columns')} are those of a run, {flag('--qrels-columns')} those of "
            "judgments; a file holds one of the two: leave the other out."
        )
    kind = "run" if kinds == ["run"] else "judgments" if kinds else options.holds
    return kind, columns_by_kind[kind] if kind else {}


def _texts_beside(source: str | Path) -> Path | str | None:
    """The texts of queries in the folder that was named, or of its data set."""
    if is_data_set_id(source):
        return source
    paths = [Path(split_part(source)[0], name) for name in _TEXTS]
    return next((path for path in paths if path.is_file()), None) or queries_beside(source)


def _by_text(table: Judgments, path: str | Path | None) -> tuple[Judgments, str]:
    """Judgments whose queries are their texts, and a note. Raises BadInput for a query without
    text, or with another's.
    """
    if path is None:
        return table, f"queries go by their ids; name their texts with {flag('--queries')}"
    texts, ids = io.read_texts(path).texts, dict[str, str]()
    for query in table.queries:
        if not texts.get(query):
            raise BadInput(
                f"{path}: query {shown(query)} has no text, by which the target names it; add it."
            )
        if (first_query := ids.setdefault(texts[query], query)) != query:
            raise BadInput(
                f"{path}: queries {shown(first_query)} and {shown(query)} have the same text, by "
                "which the target names them; change one."
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
    sure = {"run": 0.0, "judgments": 0.0}
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
