"""Reading and writing of files in any format."""

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any, NamedTuple, get_args

from rankwell.core.arithmetic import own_arithmetic
from rankwell.core.options import ColumnChoice
from rankwell.core.registry import suggest
from rankwell.core.tables import Judgments, sort_ids, tie_rule
from rankwell.core.tables.columns import Duplicates, Holds, Repeats, chosen_columns, place_of
from rankwell.core.tables.ranking import Hits, Ranking
from rankwell.errors import BadInput, BadUsage, UnknownName, flag, kind_of, shown
from rankwell.io.formats import (
    Aspects,
    Place,
    ReadWarnings,
    Request,
    Texts,
    choose_format,
    formats,
    identify,
    refuse_choice,
    written_format,
)
from rankwell.io.reader.lines import Progress
from rankwell.store import Head, Source, exists, naming, packing, split_part
from rankwell.store.data_sets import qrels_file, qrels_splits, text_files


class FoundHits(NamedTuple):
    """The hits of a run, the format that it had, what its reader noted, and the file."""

    hits: Hits
    format: str
    notes: tuple[str, ...] = ()
    source: Source | None = None


class FoundJudgments(NamedTuple):
    """Judgments, the format that they had, and what their reader noted."""

    table: Judgments
    format: str
    notes: tuple[str, ...] = ()


class CheckedRanking(NamedTuple):
    """A whole run with its oddities, the format that it had, and what its reader noted.

    table: the ranking, of an item that a query lists twice the first. duplicated: queries with such
    items.
    contradicting: queries in which a better rank has a lower score, where the file gives both.
    """

    table: Ranking
    duplicated: Sequence[str]
    contradicting: Sequence[str]
    format: str = ""
    notes: tuple[str, ...] = ()


@own_arithmetic
def find_hits(
    place: Any,
    judgments: Judgments,
    *,
    format: str | None = None,
    ties: str = "id-desc",
    single_precision: bool = False,
    keep: int = 0,
    comments: bool = False,
    duplicates: Duplicates = "error",
    columns: ColumnChoice | None = None,
    progress: Progress | None = None,
) -> FoundHits:
    """The judged items that a run retrieved, with the counts that place them; the rest is only
    counted.

    place: a path, `-`, a mapping query -> item -> score or query -> list, any data frame, a
    Ranking. judgments: with one row per query and item. format: a name from `formats('run')`; None
    recognises it by content. keep: number of first items to return as `hits.top`. columns: which
    hold query, item, and score or rank, by name or number (`query=1,item=2,score=3`).
    Raises BadInput that names file, place and text; NothingToEvaluate where a valid run is empty.
    """
    if judgments.aspects is not None:
        raise BadUsage(
            "hits are found in judgments with one row per query and item; take `judgments.flat`."
        )
    request = Request(
        tie_rule(ties),
        single_precision,
        keep,
        comments,
        duplicates,
        columns=chosen_columns(columns, "run"),
        progress=progress,
    )
    return find_hits_by(place, judgments, format, request)


def find_hits_by(
    place: Any, judgments: Judgments, format: str | None, request: Request
) -> FoundHits:
    """As `find_hits`, with the options of reading as one."""
    _duplicates(request.duplicates)
    if isinstance(place, Ranking):
        refuse_choice(request.columns, "run", kind_of(place))
        return FoundHits(request.hits(place, judgments), "table")
    thing, entry, request = identify(place, "run", format, request)
    source = thing if isinstance(thing, Source) else None
    with naming(source.name if source else ""):
        if entry.find_hits is not None and request.duplicates == "error":
            hits = entry.find_hits(thing, judgments, request)
        else:
            hits = request.hits(entry.read(thing, request), judgments)
    return FoundHits(hits, entry.name, tuple(request.notes), source)


def find_judgments(
    place: Any,
    *,
    format: str | None = None,
    aspects: Aspects = "none",
    qrels_columns: ColumnChoice | None = None,
    comments: bool = False,
    duplicates: Duplicates = "error",
    ungraded: bool = False,
) -> FoundJudgments:
    """Judgments with the name of the format they had.

    place: a path, `-`, a mapping query -> item -> grade or query -> list or set of ids, any data
    frame, Judgments. aspects: whether the second field of a qrels file, or the column `aspect` of a
    table, names judgment groups or intents. qrels_columns: which hold query, item and grade, by
    name or number (`query=1,item=2,grade=3`). ungraded: whether a table needs no grade, so that
    each row counts 1. The folder of a data set stands for its split `test`, `FOLDER:dev` for
    another; `irds:ID` for one of ir_datasets.
    Raises BadInput that names file, place and text.
    """
    chosen_names = chosen_columns(qrels_columns, "judgments")
    if isinstance(place, Judgments):
        refuse_choice(chosen_names, "judgments", kind_of(place))
        return FoundJudgments(place, "table")
    if aspects not in get_args(Aspects):
        raise UnknownName(f"aspects={aspects!r}; {suggest(aspects, get_args(Aspects))}")
    rules: dict[str, Any] = {"aspects": aspects, "columns": chosen_names, "ungraded": ungraded}
    request = Request(comments=comments, duplicates=_duplicates(duplicates), **rules)
    table, name = read_as(judgments_file(place), "judgments", format, request)
    if grade := chosen_names.get("grade"):
        request.notes.append(
            "the grade of a judgment is its "
            f"{f'column {grade}' if place_of(grade) else repr(grade)}"
        )
    return FoundJudgments(table, name, tuple(request.notes))


@own_arithmetic
def read_judgments(
    place: Any,
    *,
    format: str | None = None,
    aspects: Aspects = "none",
    qrels_columns: ColumnChoice | None = None,
    comments: bool = False,
    duplicates: Duplicates = "error",
) -> Judgments:
    """Judgments from a path, `-`, a mapping or any data frame; see `find_judgments`.

    >>> read_judgments({"q1": ["a", "b"], "q2": {"c": 2}}).to_dict()
    {'q1': {'a': 1.0, 'b': 1.0}, 'q2': {'c': 2.0}}
    """
    options: dict[str, Any] = {
        "aspects": aspects,
        "qrels_columns": qrels_columns,
        "comments": comments,
        "duplicates": duplicates,
    }
    return find_judgments(place, format=format, **options).table


def judgments_file(place: Any, split: str | None = None) -> Any:
    """The file of a split in the folder of a data set (`FOLDER`, `FOLDER:dev`), `test` by default,
    or what describes a folder of another format (`FOLDER`, `FOLDER:part`); another place as it is.

    Raises BadInput for a split that is not there, listing those that are, and BadUsage for a split
    of anything but a folder.
    """
    path, part = split_part(place) if isinstance(place, (str, Path)) else ("", "")
    if not exists(path) or not Path(path).is_dir():
        if split is not None:
            raise BadUsage(
                f"{flag('--split', split)}: {shown(place)} is not a folder with "
                f"qrels/{split}.tsv; leave it out."
            )
        return place
    described = [
        entry.folder
        for entry in formats("judgments")
        if entry.folder and Path(path, entry.folder).is_file()
    ]
    if described and split is None and not qrels_splits(Path(path)):
        return f"{path}/{described[0]}" + (f":{part}" if part else "")
    return qrels_file(path, split or part)


def read_preferences(
    place: Any, *, format: str | None = None, qrels_columns: ColumnChoice | None = None
) -> Any:
    """Preference judgments from a path or `-`; see the reader of the format for what they are. They
    have no columns to choose.
    """
    return read_as(
        place, "preferences", format, Request(columns=chosen_columns(qrels_columns, "judgments"))
    )[0]


@own_arithmetic
def read_ranking(
    place: Any,
    *,
    format: str | None = None,
    comments: bool = False,
    duplicates: Duplicates = "error",
    columns: ColumnChoice | None = None,
    notes: list[str] | None = None,
) -> Ranking:
    """A whole run in the order of its rows, from a path, `-`, a mapping or any data frame; `notes`
    receives the reader's.

    >>> read_ranking({"q1": [("a", 2.5), ("b", 1.5)]}).to_columns()
    {'query': ['q1', 'q1'], 'item': ['a', 'b'], 'score': [2.5, 1.5]}
    """
    chosen_names = chosen_columns(columns, "run")
    if isinstance(place, Ranking):
        refuse_choice(chosen_names, "run", kind_of(place))
        return place
    request = Request(
        comments=comments,
        duplicates=_duplicates(duplicates),
        columns=chosen_names,
        notes=[] if notes is None else notes,
    )
    return read_as(place, "run", format, request)[0]


def check_ranking(
    place: Any,
    *,
    format: str | None = None,
    comments: bool = False,
    repeats: Repeats = "first",
    columns: ColumnChoice | None = None,
) -> CheckedRanking:
    """A whole run as `read_ranking` reads it; repeated items and ranks that contradict scores are
    reported, not refused.
    """
    chosen_names = chosen_columns(columns, "run")
    request = Request(
        comments=comments,
        duplicates=repeats,
        columns=chosen_names,
        warnings=ReadWarnings(set(), set()),
    )
    if isinstance(place, Ranking):
        refuse_choice(chosen_names, "run", kind_of(place))
        table, name = place, "table"
    else:
        table, name = read_as(place, "run", format, request)
    odd = request.warnings or ReadWarnings(set(), set())
    return CheckedRanking(
        table, sort_ids(odd.duplicated), sort_ids(odd.contradicting), name, tuple(request.notes)
    )


def read_texts(place: Any, *, format: str | None = None) -> Texts:
    """Texts by id with their attributes: a corpus or queries as JSON lines, CSV, TSV or Parquet, a
    mapping, a data frame.
    """
    return _texts(place, format, Request())


def read_ids(place: Any, *, format: str | None = None) -> set[str]:
    """The ids that a corpus or a file of queries has, with less memory than its texts."""
    return set(_texts(place, format, Request(ids_only=True)).texts)


def refuse_foreign_texts(texts: Texts, ids: Collection[str], place: Any, id_owners: str) -> None:
    """Raises BadInput where no text has one of the ids.

    id_owners: the things that have the ids, in the plural, such as queries.
    """
    if ids and texts.texts.keys().isdisjoint(ids):
        name = place if isinstance(place, (str, Path)) else "the texts"
        mismatch = (
            f"none of its {len(texts.texts)} ids, such as {next(iter(texts.texts))!r}, is one of "
            f"the {len(ids)} {id_owners}"
        )
        raise BadInput(
            f"{name}: {mismatch}, such as {min(ids)!r}; give the texts of the {id_owners}."
        )


def note_lacking_texts(texts: Texts, ids: Collection[str], place: Any, id_owners: str) -> list[str]:
    """A note that some of the ids have no text; none where all have one."""
    lacking = [name for name in ids if name not in texts.texts]
    name = place if isinstance(place, (str, Path)) else "the texts"
    counted = (
        f"{len(lacking)} of the {len(ids)} {id_owners} {'has' if len(lacking) == 1 else 'have'} "
        "no text"
    )
    return [f"{name}: {counted}, such as {min(lacking)!r}"] if lacking else []


def _texts(place: Any, name: str | None, request: Request) -> Texts:
    """The texts of a place, of a folder those of all its files.

    Raises BadInput for an id that two of them have, and where every text is empty.
    """
    files = text_files(place) or [place]
    texts, format_of = read_as(files[0], "texts", name, request)
    for file in files[1:]:
        more, _ = read_as(file, "texts", name, request)
        if twice := texts.texts.keys() & more.texts.keys():
            problem = (
                f"{file}: the id {min(twice)!r} already appears in an earlier file of the folder"
            )
            raise BadInput(f"{problem}; every text needs its own id.")
        texts.texts.update(more.texts)
        texts.attributes.update(more.attributes)
    if not request.ids_only and not any(map(str.strip, texts.texts.values())):
        where = place if isinstance(place, (str, Path)) else "the texts"
        raise BadInput(
            f"{where}: each of the {len(texts.texts)} texts is empty, read as {format_of}; "
            "name a file that has them."
        )
    return texts._replace(format=format_of)


def read_column(place: Place, *, format: str | None = None) -> list[str | None]:
    """One column of text, in order: a file of lines, a JSON list, or a table's column
    (`items.csv:id`; without a name its ids).

    None for an empty cell, and for one that is neither a string nor an integer. Raises BadInput for
    an unknown column.
    """
    path, part = split_part(place)
    source = Source(path)
    head = Head.of(source)
    head.refuse_foreign()
    entry = choose_format(head, "column", format, part)
    with naming(source.name):
        return entry.read(source, Request(part=part))


def table_and_column(
    table: Any, option: str, mapping: str, content: str, example: str
) -> tuple[str, str]:
    """The table and the column of `FILE:COLUMN`. Raises BadInput for anything else.

    mapping: what Python may give instead. content: of the column. example: such a text.
    """
    if not isinstance(table, (str, Path)):
        raise BadInput(f"{option}: {shown(table)}; expected a table, or a mapping {mapping}.")
    path, column = split_part(table)
    if not exists(path):
        raise BadInput(
            f"{option} {table}: no such file; expected a table and a column of it, as in {example}."
        )
    if not column.partition(",")[0]:
        raise BadInput(
            f"{option} {table}: no column is named; name the one of the {content}, as in "
            f"{table}:{example.partition(':')[2]}."
        )
    return path, column


def read_as(place: Any, holds: Holds, name: str | None, request: Request) -> tuple[Any, str]:
    """The table in a place of what it holds, and the name of its format."""
    thing, entry, request = identify(place, holds, name, request)
    source = thing.name if isinstance(thing, Source) else ""
    # What describes a folder is not the file that an error is about.
    with naming(source.removesuffix(entry.folder) if entry.folder else source):
        return entry.read(thing, request), entry.name


def write_run(ranking: Ranking, path: Place, *, format: str | None = None) -> str:
    """Writes a run whole or not at all; returns the format's name, which the suffix decides (`.gz`
    and `.zst` compress).
    """
    return _write(ranking, Path(path), "run", format)


def write_judgments(judgments: Judgments, path: Place, *, format: str | None = None) -> str:
    """Writes judgments whole or not at all; returns the format's name, which the suffix decides."""
    if judgments.junk is not None and judgments.junk.any():
        raise BadInput(
            "no format holds items that are excluded from a query (junk); write the judgments "
            "before excluding."
        )
    return _write(judgments, Path(path), "judgments", format)


def _duplicates(name: str) -> Duplicates:
    for rule in get_args(Duplicates):
        if name == rule:
            return rule
    raise UnknownName(f"duplicates={name!r}; {suggest(name, get_args(Duplicates))}")


def _write(table: Ranking | Judgments, path: Path, holds: Holds, name: str | None) -> str:
    entry = written_format(path, holds, name)
    assert entry.write is not None  # noqa: S101 - it was chosen for it
    with packing(path) as draft:
        entry.write(table, draft)
    return entry.name
