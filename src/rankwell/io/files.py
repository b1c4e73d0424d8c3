"""ReadOptions and writing of files in any format: the registry of formats, what each is given, and how one is recognised."""

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeVar, get_args

import numpy as np

from rankwell.core.registry import Catalogue, suggest
from rankwell.core.tables import TieRule, sort_ids, tie_rule
from rankwell.core.tables.judgments import Judgments
from rankwell.core.tables.names import Duplicates, Holds, Repeats
from rankwell.core.tables.ranking import Hits, Ranking
from rankwell.errors import BadInput, BadUsage, UnknownName
from rankwell.io.reader.reading import Progress
from rankwell.store import Head, Source, packing

Place = str | Path
Aspects = Literal["none", "groups", "intents"]
Read = TypeVar("Read", bound=Callable[..., Any])
_MEANT: dict[str, str] = {each: each for each in get_args(Holds)} | {"run": "a run", "column": "a column"}
SURE = 0.9  # of content that no other format claims


class ReadWarnings(NamedTuple):
    """Where a reader notes queries that list an item twice, and queries whose ranks do not follow their scores."""

    duplicated: set[str]
    contradicting: set[str]


@dataclass(frozen=True, eq=False)
class Request:
    """How a file is to be read, the same for every format; a format looks at what concerns it.

    part: which of several rankings in one file. ids_only: texts need not be kept. warnings: where to note what is odd in a run.
    notes: where to say what the user should know.
    """

    ties: TieRule = "id-desc"
    single_precision: bool = False
    keep: int = 0
    comments: bool = False
    duplicates: Repeats = "error"
    aspects: Aspects = "none"
    part: str = ""
    ids_only: bool = False
    warnings: ReadWarnings | None = None
    progress: Progress | None = None
    notes: list[str] = field(default_factory=list[str])


class Format(NamedTuple):
    """One way to hold a run, judgments or texts.

    sniff: how surely content has this form, from 0 to 1; below 0.5 it is tried only when nothing else fits, for its message.
    accepts: whether a Python object has it. read: (source or object, request) -> table. find_hits: (source or object, judgments,
    request) -> Hits, where there is a faster way than the table. write: (table, path). suffixes: file names that ask for it.
    parts: whether a file may hold several, of which the format's name says one (`mteb:en/test`).
    """

    name: str
    holds: Holds
    read: Callable[[Any, Request], Any]
    sniff: Callable[[Head], float] = lambda _: 0.0
    accepts: Callable[[Any], bool] = lambda _: False
    find_hits: Callable[[Any, Judgments, Request], Hits] | None = None
    write: Callable[[Any, Path], None] | None = None
    suffixes: tuple[str, ...] = ()
    parts: bool = False


FORMATS: Catalogue[Format] = Catalogue("io", "format", "rankwell.formats")


def file_format(
    name: str,
    holds: Holds,
    *,
    sniff: Callable[[Head], float] = lambda _: 0.0,
    accepts: Callable[[Any], bool] = lambda _: False,
    find_hits: Callable[[Any, Judgments, Request], Hits] | None = None,
    write: Callable[[Any, Path], None] | None = None,
    suffixes: tuple[str, ...] = (),
    parts: bool = False,
) -> Callable[[Read], Read]:
    """Registers the function that reads a format and returns it unchanged; see `Format` for the other parts."""
    return FORMATS.register(
        f"{name} {holds}", lambda read: Format(name, holds, read, sniff, accepts, find_hits, write, suffixes, parts)
    )


class FoundHits(NamedTuple):
    """The hits of a run, the format that it had, and what its reader noted."""

    hits: Hits
    format: str
    notes: tuple[str, ...] = ()


class FoundJudgments(NamedTuple):
    """Judgments, the format that they had, and what their reader noted."""

    table: Judgments
    format: str
    notes: tuple[str, ...] = ()


class CheckedRanking(NamedTuple):
    """A whole run with what is odd about it, the format that it had, and what its reader noted.

    table: the ranking, of an item that stands twice in a query the first. duplicated: queries with such items.
    contradicting: queries in which a better rank goes with a lower score, where the file gives both.
    """

    table: Ranking
    duplicated: Sequence[str]
    contradicting: Sequence[str]
    format: str = ""
    notes: tuple[str, ...] = ()


class Texts(NamedTuple):
    """Texts by id, whatever else stood beside each (title, attributes to group by), and the format that they had."""

    texts: dict[str, str]
    attributes: dict[str, dict[str, str]]
    format: str = ""


class Conversion(NamedTuple):
    """What a conversion read and wrote; `lost` counts queries without rows, which only JSON can hold."""

    holds: Holds
    source: str
    target: str
    rows: int
    lost: int
    notes: tuple[str, ...] = ()


def formats(holds: Holds) -> list[Format]:
    """Every format of runs, of judgments or of texts, by name."""
    return [entry for entry in map(FORMATS.__getitem__, FORMATS) if entry.holds == holds]


def find_hits(
    place: Any,
    judgments: Judgments,
    *,
    format: str | None = None,  # noqa: A002 - the word that users know
    ties: str = "id-desc",
    single_precision: bool = False,
    keep: int = 0,
    comments: bool = False,
    duplicates: Duplicates = "error",
    progress: Progress | None = None,
) -> FoundHits:
    """The judged items that a run retrieved, with the counts that place them; the rest is only counted.

    place: a path, `-`, a mapping query -> item -> score, any data frame, a Ranking. judgments: with one row per query and item.
    format: a name from `formats('run')`; None tells it by content. keep: how many first items to hand back as `hits.top`.
    Raises BadInput that names file, place and text; NothingToEvaluate where a valid run is empty.
    """
    if judgments.aspects is not None:
        raise BadUsage("hits are found in judgments with one row per query and item; take `judgments.flat`.")
    request = Request(tie_rule(ties), single_precision, keep, comments, _duplicates(duplicates), progress=progress)
    if isinstance(place, Ranking):
        return FoundHits(_join(place, judgments, request), "table")
    thing, entry, request = _identify(place, "run", format, request)
    with _naming(thing):
        if entry.find_hits is not None and duplicates == "error":
            return FoundHits(entry.find_hits(thing, judgments, request), entry.name, tuple(request.notes))
        return FoundHits(_join(entry.read(thing, request), judgments, request), entry.name, tuple(request.notes))


def _join(ranking: Ranking, judgments: Judgments, request: Request) -> Hits:
    from rankwell.io.reader.rows import hits_of_ranking

    return hits_of_ranking(ranking, judgments, ties=request.ties, single_precision=request.single_precision, keep=request.keep)


def find_judgments(
    place: Any,
    *,
    format: str | None = None,  # noqa: A002
    aspects: Aspects = "none",
    comments: bool = False,
    duplicates: Duplicates = "error",
) -> FoundJudgments:
    """Judgments with the name of the format they had.

    place: a path, `-`, a mapping query -> item -> grade, any data frame, Judgments. aspects: whether the second field of a qrels
    file, or the column `aspect` of a table, tells judgment groups or intents apart.
    Raises BadInput that names file, place and text.
    """
    if isinstance(place, Judgments):
        return FoundJudgments(place, "table")
    if aspects not in get_args(Aspects):
        raise UnknownName(f"aspects={aspects!r}; {suggest(aspects, get_args(Aspects))}")
    request = Request(comments=comments, duplicates=_duplicates(duplicates), aspects=aspects)
    table, name = _read(place, "judgments", format, request)
    return FoundJudgments(table, name, tuple(request.notes))


def read_judgments(
    place: Any,
    *,
    format: str | None = None,  # noqa: A002
    aspects: Aspects = "none",
    comments: bool = False,
    duplicates: Duplicates = "error",
) -> Judgments:
    """Judgments from a path, `-`, a mapping or any data frame; see `find_judgments`."""
    return find_judgments(place, format=format, aspects=aspects, comments=comments, duplicates=duplicates).table


def read_preferences(place: Any, *, format: str | None = None) -> Any:  # noqa: A002
    """Preference judgments from a path or `-`; see the reader of the format for what they are."""
    return _read(place, "preferences", format, Request())[0]


def read_ranking(
    place: Any,
    *,
    format: str | None = None,  # noqa: A002
    comments: bool = False,
    duplicates: Duplicates = "error",
) -> Ranking:
    """A whole run in the order of its rows, from a path, `-`, a mapping or any data frame."""
    if isinstance(place, Ranking):
        return place
    return _read(place, "run", format, Request(comments=comments, duplicates=_duplicates(duplicates)))[0]


def check_ranking(place: Any, *, format: str | None = None, comments: bool = False, repeats: Repeats = "first") -> CheckedRanking:  # noqa: A002
    """A whole run as `read_ranking` reads it, where items that stand twice and ranks against the scores are told, not refused."""
    request = Request(comments=comments, duplicates=repeats, warnings=ReadWarnings(set(), set()))
    table, name = (place, "table") if isinstance(place, Ranking) else _read(place, "run", format, request)
    odd = request.warnings or ReadWarnings(set(), set())
    return CheckedRanking(table, sort_ids(odd.duplicated), sort_ids(odd.contradicting), name, tuple(request.notes))


def read_texts(place: Any, *, format: str | None = None) -> Texts:  # noqa: A002
    """Texts by id with their attributes: a corpus or queries as JSON lines, CSV, TSV or Parquet, a mapping, a data frame."""
    texts, name = _read(place, "texts", format, Request())
    return texts._replace(format=name)


def read_ids(place: Any, *, format: str | None = None) -> set[str]:  # noqa: A002
    """The ids that a corpus or a file of queries has, with less memory than its texts."""
    return set(_read(place, "texts", format, Request(ids_only=True))[0].texts)


def _read(place: Any, holds: Holds, name: str | None, request: Request) -> tuple[Any, str]:
    """The table in a place, and the name of its format."""
    thing, entry, request = _identify(place, holds, name, request)
    with _naming(thing):
        return entry.read(thing, request), entry.name


def write_run(ranking: Ranking, path: Place, *, format: str | None = None) -> str:  # noqa: A002
    """Writes a run whole or not at all; returns the format's name, which the suffix decides (`.gz` and `.zst` compress)."""
    return _write(ranking, Path(path), "run", format)


def write_judgments(judgments: Judgments, path: Place, *, format: str | None = None) -> str:  # noqa: A002
    """Writes judgments whole or not at all; returns the format's name, which the suffix decides."""
    if judgments.junk is not None and judgments.junk.any():
        raise BadInput("no format holds items that are excluded from a query (junk); write the judgments before excluding.")
    return _write(judgments, Path(path), "judgments", format)


def convert(
    source: Place,
    target: Place,
    *,
    holds: Literal["run", "judgments"] | None = None,
    source_format: str | None = None,
    target_format: str | None = None,
    duplicates: Duplicates = "error",
) -> Conversion:
    """Reads a run or judgments and writes them in another format.

    holds: what the source is; None tells it by content. Raises BadUsage where content may be either, as JSON may.
    """
    opened = Source(source)
    known = holds or _kind(Head.of(opened), source_format)
    request = Request(duplicates=_duplicates(duplicates))
    table, name = _read(opened, known, source_format, request)
    write = write_run if known == "run" else write_judgments
    written = write(table, target, format=target_format)
    lost = 0 if written == "json" else int((np.diff(table.offsets) == 0).sum())
    return Conversion(known, name, written, len(table.items), lost, tuple(request.notes))


def _duplicates(name: str) -> Duplicates:
    for each in get_args(Duplicates):
        if name == each:
            return each
    raise UnknownName(f"duplicates={name!r}; {suggest(name, get_args(Duplicates))}")


@contextmanager
def _naming(thing: Any) -> Generator[None]:
    """Adds the file's name to an error about its content that lacks it."""
    try:
        yield
    except BadInput as error:
        if not isinstance(thing, Source) or thing.name in str(error):
            raise
        raise type(error)(f"{thing.name}: {error}") from error


def _identify(place: Any, holds: Holds, name: str | None, request: Request) -> tuple[Any, Format, Request]:
    """What to read, by which format, and the request with the part that the format's name may carry: `mteb:en/test`."""
    if not isinstance(place, (str, Path, Source)):
        for entry in formats(holds):
            if entry.accepts(place):
                return place, entry, request
        wanted = "a path, a mapping query -> item -> number, or a data frame"
        raise BadInput(f"{_MEANT[holds]} cannot be read from a {type(place).__name__}; give {wanted}.")
    source = place if isinstance(place, Source) else Source(place)
    if source.marked:
        request.notes.append(f"{source.name}: its byte order mark is not read as part of the first id.")
    if name is None:
        return source, _recognised(Head.of(source), holds), request
    bare, _, part = name.partition(":")
    entry = _format(bare, holds)
    if part and not entry.parts:
        raise UnknownName(f"the format {bare!r} has no parts, so {name!r} names nothing; write {bare!r}.")
    return source, entry, replace(request, part=part)


def _format(name: str, holds: Holds) -> Format:
    if name.startswith("python") or f"{name} {holds}" not in FORMATS:
        known = [entry.name for entry in formats(holds) if not entry.name.startswith("python")]
        raise UnknownName(f"no format of {'runs' if holds == 'run' else holds} is called {name!r}; {suggest(name, known)}")
    return FORMATS[f"{name} {holds}"]


def _scored(head: Head) -> list[tuple[float, Format]]:
    """Every format that the content may have, the surest first."""
    found = [(entry.sniff(head), entry) for entry in map(FORMATS.__getitem__, FORMATS.own)]
    if not any(sure >= 0.5 for sure, _ in found):
        found += [(entry.sniff(head), entry) for entry in map(FORMATS.__getitem__, FORMATS.foreign)]
    return sorted((each for each in found if each[0] > 0), key=lambda each: (-each[0], each[1].name))


def _recognised(head: Head, holds: Holds) -> Format:
    """The format that the content has. Raises BadInput where it is none, or one of something else than is wanted."""
    head.refuse_foreign()
    # The usual format is asked first: what it is sure of is no other's, and their files need not be imported.
    if holds in ("run", "judgments") and (usual := FORMATS[f"trec {holds}"]).sniff(head) >= SURE:
        return usual
    scored = _scored(head)
    wanted = [(sure, entry) for sure, entry in scored if entry.holds == holds]
    if wanted and wanted[0][0] >= 0.5:
        return wanted[0][1]
    line = head.lines[0][:60].decode("utf-8", "replace") if head.lines else head.text[:60]
    where = head.name if head.raw.startswith(b"PAR1") else f"{head.name}:1: {line!r}"
    for sure, entry in scored:
        if sure >= 0.5 and entry.holds != "column":  # every table has columns
            be = "is" if _MEANT[holds].startswith("a ") else "are"
            what = f"{where}: this has the form of {_MEANT[entry.holds]} ({entry.name}); {_MEANT[holds]} {be} wanted"
            raise BadInput(f"{what}; are two files swapped? If it is right, name its format.")
    if wanted:
        return wanted[0][1]
    names = ", ".join(entry.name for entry in formats(holds) if not entry.name.startswith("python"))
    told = f"{head.name}: {line!r} is no known form of {_MEANT[holds]}; known are {names}"
    raise BadInput(f"{told}; convert it, or name the format.")


def _kind(head: Head, name: str | None) -> Literal["run", "judgments"]:
    """Whether content is a run or judgments. Raises BadUsage where it may be either."""
    head.refuse_foreign()
    sure: dict[Holds, float] = {"run": 0.0, "judgments": 0.0}
    for each, entry in _scored(head):
        if name is None or name.partition(":")[0] == entry.name:
            sure[entry.holds] = max(each, sure.get(entry.holds, 0.0))
    if sure["run"] == sure["judgments"]:
        raise BadUsage(f"{head.name}: {head.seen} may be a run or judgments; say which of them it is.")
    return "run" if sure["run"] > sure["judgments"] else "judgments"


def _write(table: Ranking | Judgments, path: Path, holds: Holds, name: str | None) -> str:
    """Writes by the named format or the one that the suffix asks for. Raises UnknownName where there is none."""
    plain = path.name.removesuffix(".gz").removesuffix(".zst").lower()
    able = [entry for entry in formats(holds) if entry.write is not None]
    for entry in able:
        asked = plain.endswith(entry.suffixes) if name is None else name == entry.name
        if entry.write is not None and asked:
            with packing(path) as draft:
                entry.write(table, draft)
            return entry.name
    known = "; ".join(f"{entry.name} ({', '.join(entry.suffixes)})" for entry in able)
    raise UnknownName(f"{path.name if name is None else name!r} names no format that can be written; known are {known}.")
