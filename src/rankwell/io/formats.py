"""The registry of formats, the recognition of a format by content, and files read and written in
any of them.
"""

import re
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeVar, get_args

from rankwell.data.columns import (
    UNKNOWN,
    Columns,
    Duplicates,
    Holds,
    Repeats,
    choose_columns,
    chosen_columns,
    may_choose,
    unique_rows,
)
from rankwell.data.findings import Finding
from rankwell.data.findings.kinds import another_format_possible, reading_choice, texts_missing
from rankwell.data.matrices import item_ids, members
from rankwell.data.options import ColumnChoice, Place, Table, own_arithmetic
from rankwell.data.rankings import Hits, Ranking, SharedCounts, SharedQueries, hits_of_ranking
from rankwell.data.registry import Catalogue, suggest
from rankwell.data.tables import Judgments, TieRule, is_missing, sort_ids, tie_rule
from rankwell.errors import BadInput, BadUsage, DuplicateItem, UnknownName, kind_of, shown
from rankwell.io.reader import NumberedLists
from rankwell.io.reader.columns import (
    GRADED,
    SCORED,
    option_of,
    refuse_columns,
    refuse_missing,
    refuse_returns,
    separation_of,
    separator_of,
)
from rankwell.io.reader.lines import Progress, ReadOptions, RunRows, repeated
from rankwell.store import (
    Head,
    Source,
    exists,
    line_starts,
    naming,
    packing,
    refuse_blocked,
    split_part,
)
from rankwell.store.places import is_data_set_id, qrels_file, qrels_splits, text_files

Aspects = Literal["none", "groups", "intents"]
Read = TypeVar("Read", bound=Callable[..., Any])
_MEANT: dict[str, str] = (
    {kind: kind for kind in get_args(Holds)}
    | {"run": "a run", "column": "a column"}
    | {"scores": "a matrix of scores"}
)
SURE = 0.9  # of content that no other format claims
LIKELY = 0.8  # of content that hardly any other format claims


class ReadWarnings(NamedTuple):
    """Oddities of a run that are reported and not refused; a reader adds to both sets.

    duplicated: queries that list an item twice.
    contradicting: queries in which a better rank has a lower score.
    """

    duplicated: set[str]
    contradicting: set[str]


@dataclass(frozen=True, eq=False)
class Request:
    """The options of reading a file, the same for every format; a format uses those that apply to
    it.

    ties: the order of items of equal score.
    single_precision: scores are rounded to 32 bits first, as trec_eval 9 does.
    keep: number of first items of each query, judged or not, that the hits contain as well; 0 for
        none.
    comments: lines that begin with `#` are skipped, in formats that allow it.
    duplicates: for an item that a query lists twice: raise an error, keep the first or the best, or
        keep both.
    aspects: whether judgments name groups or intents, and which of the two.
    part: the name of the part to read, in a file that holds several.
    columns: what a column holds -> the chosen column.
    recognised: whether the columns were recognised by the first lines alone, which later lines may
        contradict.
    ungraded: whether judgments in a table need no grades; each row then counts 1.
    by_text: whether the queries of judgments are texts, which may have several lines.
    model_grades: whether the part may name a model, whose grades are not judgments.
    ids_only: whether only the ids of texts are needed.
    oddities: warnings that the reader adds; None where they are not requested.
    judged: the judgments of a run, whose ids show what its items are; None where they are unknown.
    places: the places of queries in a file, for errors.
    progress: function that is called with the number of bytes read and of all bytes.
    findings: findings that the reader adds.
    """

    ties: TieRule = "id-desc"
    single_precision: bool = False
    keep: int = 0
    comments: bool = False
    duplicates: Repeats = "error"
    aspects: Aspects = "none"
    part: str = ""
    columns: Mapping[str, str] = field(default_factory=dict)
    recognised: bool = False
    ungraded: bool = False
    by_text: bool = False
    model_grades: bool = False
    ids_only: bool = False
    oddities: ReadWarnings | None = None
    judged: Judgments | None = None
    places: Mapping[str, str] = field(default_factory=dict[str, str])
    progress: Progress | None = None
    findings: list[Finding] = field(default_factory=list[Finding])

    @property
    def options(self) -> ReadOptions:
        """The options of the readers of runs."""
        return ReadOptions(self.ties, self.single_precision, self.keep, self.comments)

    def ranking(
        self, queries: Sequence[str], items: Sequence[str], scores: Sequence[float], **options: Any
    ) -> Ranking:
        """The ranking of rows, of repeated items those that the options keep. Raises DuplicateItem
        as `Ranking.from_rows`.
        """
        unique = unique_rows(
            queries, items, scores, self.duplicates, self.oddities and self.oddities.duplicated
        )
        return Ranking.from_rows(*unique, repeated=self.duplicates == "keep", **options)

    def ranking_of(self, rows: RunRows, source: Source) -> Ranking:
        """The ranking of rows that have lines, which are named where an item is repeated. Raises
        DuplicateItem.
        """
        try:
            return self.ranking(rows.queries, rows.items, rows.scores.tolist())
        except DuplicateItem as error:
            raise repeated(source.name, "lists", rows.keyed_lines()) or error from error

    def judgments_of(self, rows: RunRows, source: Source) -> Judgments:
        """The judgments of rows whose scores are grades. Raises DuplicateItem as `ranking_of`."""
        grades = rows.scores.tolist()
        try:
            return Judgments.from_rows(
                *unique_rows(rows.queries, rows.items, grades, self.duplicates)
            )
        except DuplicateItem as error:
            raise repeated(source.name, "judges", rows.keyed_lines()) or error from error

    def choose(self, names: Sequence[str], holds: Holds) -> Columns:
        """The columns that matter of a table's. Raises BadInput where one is missing."""
        return choose_columns(
            names,
            holds,
            aspects=self.aspects != "none",
            chosen=self.columns,
            ungraded=self.ungraded,
        )

    def hits(self, ranking: Ranking, judgments: Judgments) -> Hits:
        """The hits of a ranking under these options."""
        return hits_of_ranking(
            ranking,
            judgments,
            ties=self.ties,
            single_precision=self.single_precision,
            keep=self.keep,
        )


class Cuts(NamedTuple):
    """Ranges of a file: bytes of a text, rows of a Parquet file.

    starts: where the ranges begin, one for each requested place.
    end: the end of the last range, which is the end of the file.
    """

    starts: Sequence[int]
    end: int


def line_cuts(source: Source, offsets: Sequence[int]) -> Cuts:
    """Ranges of whole lines of a plain text."""
    path = source.path
    if path is None:
        raise ValueError(f"{source.name} is not a plain file")
    return Cuts(line_starts(path, offsets), path.stat().st_size)


class Format(NamedTuple):
    """A format of files or objects that hold a run, judgments, texts or numbers.

    name: the name by which a user requests it; formats of other contents may share it.
    holds: the kind of content that a file is read as.
    read: (source or object, request) -> table.
    magic: the first bytes of all its files, which no file of another format has.
    sniff: confidence that content has this form, from 0 to 1; below 0.5 it is tried only when
        nothing else fits, for its message. None where the magic bytes suffice.
    accepts: whether a Python object has this form.
    find_hits: (source or object, judgments, request) -> Hits, where there is a faster way than
        reading the table; it returns None where that way does not apply.
    count_shared: (source, judgments, shared queries, request) -> SharedCounts, or None where that
        does not apply.
    write: (table, path); None for a format that is only read.
    suffixes: the suffixes of files that are written in it.
    has_parts: whether a file may hold several things, of which the format's name (`mteb:en/test`)
        or the file's (`gt.hdf5:10`) selects one.
    has_columns: whether columns may be chosen.
    has_comments: whether lines may be comments.
    settle: raises an error for a file whose columns, recognised by the first lines, have two
        meanings.
    confirm: raises the same error after reading the whole file, where the file is read in parts.
    base_format: the name of a format whose reader gives the same table.
    cut: (plain file, byte positions in it) -> where ranges begin that can be read separately.
    lists: (files of one run, items, request) -> the first items of every query, some queries at a
        time; it may raise Irregular.
    folder: name of the file that describes a folder of this format.
    by_text: whether texts, not ids, identify queries.
    presumed: whether `convert` takes content as judgments that could as well be a run.
    is_lines: whether each line is a row. A file whose lines end in a carriage return alone is then
        refused.
    """

    name: str
    holds: Holds
    read: Callable[[Any, Request], Any]
    magic: bytes = b""
    sniff: Callable[[Head], float] | None = None
    accepts: Callable[[Any], bool] = lambda _: False
    find_hits: Callable[[Any, Judgments, Request], Hits | None] | None = None
    count_shared: (
        Callable[[Source, Judgments, SharedQueries, Request], SharedCounts | None] | None
    ) = None
    write: Callable[[Any, Path], None] | None = None
    suffixes: tuple[str, ...] = ()
    has_parts: bool = False
    has_columns: bool = False
    has_comments: bool = False
    settle: Callable[[Source, Head], None] | None = None
    confirm: Callable[[Source], None] | None = None
    base_format: str = ""
    cut: Callable[[Source, Sequence[int]], Cuts] | None = None
    lists: Callable[[Sequence[Source], Sequence[str], Request], Iterator[NumberedLists]] | None = (
        None
    )
    folder: str = ""
    by_text: bool = False
    presumed: bool = False
    is_lines: bool = False

    def confidence(self, head: Head) -> float:
        """Confidence that content has this form, from 0 to 1."""
        if not head.raw.startswith(self.magic):
            return 0.0
        return float(bool(self.magic)) if self.sniff is None else self.sniff(head)

    def hits(self, thing: Any, judgments: Judgments, request: Request) -> Hits:
        """The hits of a run in a source or an object."""
        hits, request = None, replace(request, judged=judgments)
        if self.find_hits is not None and request.duplicates == "error":
            hits = self.find_hits(thing, judgments, request)
        return request.hits(self.read(thing, request), judgments) if hits is None else hits


FORMATS: Catalogue[Format] = Catalogue("io", "format", "rankwell.formats")


def file_format(
    name: str, holds: Holds, *, sniff: Callable[[Head], float] | None = None, **parts: Any
) -> Callable[[Read], Read]:
    """Registers the function that reads a format and returns it unchanged. parts: the other fields
    of `Format`.
    """
    return FORMATS.register(
        f"{name} {holds}", lambda read: Format(name, holds, read, sniff=sniff, **parts)
    )


class Texts(NamedTuple):
    """Texts of items or of queries.

    texts: id -> text; every text is "" where only ids were requested.
    attributes: id -> column -> text, for the other columns, such as a title, or the groups of
        queries.
    format: the name of the format that they were read in.
    """

    texts: dict[str, str]
    attributes: dict[str, dict[str, str]]
    format: str = ""


def formats(holds: Holds) -> list[Format]:
    """Every format of runs, of judgments or of texts, by name."""
    return [FORMATS[name] for name in FORMATS if name.endswith(f" {holds}")]


def _names(holds: Holds) -> list[str]:
    """The formats that a user may name."""
    return [entry.name for entry in formats(holds) if not entry.name.startswith("python")]


def scored(head: Head, holds: Holds | None = None) -> list[tuple[float, Format]]:
    """The formats that content may have, the surest first; those of other packages only where no
    own one is likely.
    """

    def _scored(names: Iterable[str]) -> list[tuple[float, Format]]:
        entries = [
            FORMATS[name] for name in sorted(names) if holds is None or name.endswith(f" {holds}")
        ]
        certain = [
            entry
            for entry in entries
            if entry.sniff is None and entry.magic and head.raw.startswith(entry.magic)
        ]
        return [(entry.confidence(head), entry) for entry in certain or entries]

    candidates = _scored(FORMATS.builtin_names)
    if not any(sure >= LIKELY for sure, _ in candidates) and head.with_record is not head:
        return scored(head.with_record, holds)
    if not any(sure >= 0.5 for sure, _ in candidates):
        candidates += _scored(FORMATS.plugin_names)
    return sorted(
        (candidate for candidate in candidates if candidate[0] > 0),
        key=lambda candidate: (-candidate[0], candidate[1].name),
    )


def _usual(head: Head, holds: Holds) -> Format | None:
    """The usual format of what a file holds, if it is sure of the content: then no other format
    has it, and their modules need not be imported.
    """
    name = {"run": "trec run", "judgments": "trec judgments", "column": "lines column"}.get(holds)
    return FORMATS[name] if name and FORMATS[name].confidence(head) >= SURE else None


def named_format(name: str, holds: Holds) -> Format:
    """The format of this name, without the part that it may carry. Raises UnknownName."""
    bare = name.partition(":")[0]
    if bare.startswith("python") or f"{bare} {holds}" not in FORMATS:
        raise UnknownName(
            f"unknown format of {'runs' if holds == 'run' else holds} {bare!r}; "
            f"{suggest(bare, _names(holds))}"
        )
    return FORMATS[f"{bare} {holds}"]


def choose_format(head: Head, holds: Holds, name: str | None, part: str) -> Format:
    """The named format, or the one that the content has. Raises UnknownName or BadInput, also for a
    part of what has none.
    """
    if name is not None:
        entry = named_format(name, holds)
    elif (entry := None if part else _usual(head, holds)) is None:
        likely = scored(head, holds)
        if not likely:
            head.refuse_foreign(binary=holds in ("embeddings", "scores"))
            raise _unknown_form(head, holds)
        entry = likely[0][1]
    if part and not entry.has_parts:
        raise BadInput(
            f"a file of the format {entry.name} holds one thing, {part!r} names nothing in "
            f"it; leave :{part} out."
        )
    return entry


def written_format(path: Place, holds: Holds, name: str | None = None, *, also: str = "") -> Format:
    """The format in which a file is written: the named one, or that of its suffix. Raises
    UnknownName where there is none.

    also: what the caller writes besides, for the error.
    """
    plain = Path(path).name.removesuffix(".gz").removesuffix(".zst").lower()
    able = [entry for entry in formats(holds) if entry.write is not None]
    for entry in able:
        if plain.endswith(entry.suffixes) if name is None else name == entry.name:
            return entry
    writable = "; ".join(
        [
            *(f"{entry.name} ({', '.join(entry.suffixes) or 'by name'})" for entry in able),
            *filter(None, [also]),
        ]
    )
    refuse_blocked(Path(path))
    raise UnknownName(
        f"{Path(path).name if name is None else name!r} names no format that can be written; "
        f"known are {writable}."
    )


def identify(
    place: Any, holds: Holds, name: str | None, request: Request
) -> tuple[Any, Format, Request]:
    """The source or object to read, its format, and the request with the part in the format's name:
    `mteb:en/test`.
    """
    if (is_id := is_data_set_id(place)) or not isinstance(place, (str, Path, Source)):
        description = str(place) if is_id else kind_of(place)
        for entry in formats(holds):
            if entry.accepts(place):
                columns = {} if entry.has_columns else request.columns
                refuse_choice(columns, name, holds, description)
                return place, entry, request
        mapping = "id -> text" if holds == "texts" else "query -> item -> number"
        raise BadInput(
            f"{_MEANT[holds]} cannot be read from {description}; give a path, a mapping {mapping}, "
            "a data frame, or rows."
        )
    path, part = ("", "") if isinstance(place, Source) else split_part(place)
    request = replace(request, part=part)
    source = place if isinstance(place, Source) else Source(path)
    if source.marked:
        request.findings.append(
            reading_choice(
                "its byte order mark is not read as part of the first id", file=source.name
            )
        )
    with naming(source.name):
        head = Head.of(source)
        entry = _recognised(head, holds, request) if name is None else named_format(name, holds)
        refuse_returns(head, is_lines=entry.is_lines)
        if (
            recognised := name is None and not request.columns and not request.ungraded
        ) and entry.settle is not None:
            entry.settle(source, head)
    part = part or (name or "").partition(":")[2]
    if part and not entry.has_parts:
        raise UnknownName(
            f"the format {entry.name!r} has no parts, so {part!r} names nothing in "
            f"{source.name}; leave it out."
        )
    if request.columns and not entry.has_columns:
        if name is None:
            refuse_missing(head, holds, request.columns)
        subject = f"{source.name} has no such columns, and" if name is None else source.name
        raise BadUsage(_no_columns(request.columns, holds, f"{subject} is read as {entry.name}"))
    comments = request.comments and entry.has_comments
    return source, entry, replace(request, part=part, recognised=recognised, comments=comments)


def refuse_choice(
    columns: Mapping[str, str], name: str | None, holds: Holds, data_kind: str
) -> None:
    """Raises BadUsage where columns are chosen for data in memory that have none, and UnknownName
    for a format that there is not. Other runs may be files, so a known format is not refused.
    data_kind: in words.
    """
    if name is not None:
        named_format(name, holds)
    if columns:
        raise BadUsage(_no_columns(columns, holds, f"the data are {data_kind}"))


def _no_columns(columns: Mapping[str, str], holds: Holds, subject: str) -> str:
    return (
        f"{option_of(holds, columns)}: {subject}, which has no columns to choose; leave it out, or "
        "name a table."
    )


def _table_of(head: Head, holds: Holds, columns: Mapping[str, str]) -> Format | None:
    """The format in which chosen columns are read: a table, or lines without a header; None where
    there are no such columns.
    """
    if head.raw.startswith(b"PAR1"):
        return FORMATS[f"parquet {holds}"]
    if head.text.startswith(("{", "[")):
        lists = FORMATS[f"{'results' if holds == 'run' else 'lists'} {holds}"]
        named_list = rf'"{re.escape(columns.get("item", "no item"))}"\s*:\s*\['
        is_list = lists.confidence(head) or re.search(named_list, head.text)
        return lists if is_list else FORMATS[f"jsonl {holds}"]
    separated = separation_of(head, columns)
    return None if separated is None else FORMATS[f"{separated.format} {holds}"]


def refuse_foreign(head: Head, *holds: Holds) -> None:
    """Raises BadInput for content of another kind than the formats of these, of which some are not
    text.
    """
    magics = (entry.magic for kind in holds for entry in formats(kind))
    if b"\0" not in head.raw[:4096] or not any(
        magic and head.raw.startswith(magic) for magic in magics
    ):
        head.refuse_foreign()


def _recognised(head: Head, holds: Holds, request: Request) -> Format:
    """The format that the content has, a table where a column is named; a doubt about it is added
    to the findings.

    Raises BadInput for content of another kind.
    """
    refuse_foreign(head, holds)
    if request.columns and (table := _table_of(head, holds, request.columns)) is not None:
        return table
    scored_formats = [] if (usual := _usual(head, holds)) is not None else scored(head)
    fitting = [(sure, entry) for sure, entry in scored_formats if entry.holds == holds]
    if usual is not None or (fitting and fitting[0][0] >= 0.5):
        entry = usual or fitting[0][1]
        rival_formats = [
            rival.name
            for sure, rival in fitting[1:]
            if sure >= 0.5 and rival.name != entry.base_format
        ]
        if rival_formats and holds in ("run", "judgments"):
            request.findings.append(another_format_possible(head.name, entry.name, rival_formats))
        return entry
    if request.ungraded and (
        table := next(
            (entry for sure, entry in fitting if entry.has_columns and sure > UNKNOWN), None
        )
    ):
        return table
    line = _first_line(head)
    where = head.name if head.raw.startswith(b"PAR1") else f"{head.name}:1: {line!r}"
    # Every table has columns.
    likely = next(
        (entry for sure, entry in scored_formats if sure >= 0.5 and entry.holds != "column"), None
    )
    table = next(
        (
            entry
            for sure, entry in fitting
            if sure >= UNKNOWN and (entry.has_columns or request.part)
        ),
        None,
    )
    lists = re.search(r'"\s*:\s*\[', head.text)  # perhaps of relevant or retrieved items
    if table is not None and (likely is None or lists or likely.holds in ("run", "judgments")):
        return table  # its reader names the column that is missing
    if (holds == "run" or holds == "judgments") and not request.ungraded:
        refuse_columns(head, holds, exchanged=likely is not None and likely.name == "trec")
    if likely is not None:
        advice = "name another file"
        are_both = {holds, likely.holds} == {"run", "judgments"} and likely.name == "trec"
        if are_both and may_choose(holds):
            advice += f", choose the columns of this one ({option_of(holds)})"
        raise BadInput(
            f"{where}: this looks like {_MEANT[likely.holds]} ({likely.name}); expected "
            f"{_MEANT[holds]}; {advice}, or name the format of this one."
        )
    if fitting:
        return fitting[0][1]
    if head.ends_within_object() and head.with_record is head:
        raise BadInput(
            f"{where}: the first object of JSON is not complete, or longer than 32 MiB; correct or "
            "shorten it."
        )
    raise _unknown_form(head, holds, ungraded=request.ungraded)


def _first_line(head: Head) -> str:
    """The beginning of the first line, of a file without lines that of its text."""
    return head.lines[0][:60].decode("utf-8", "replace") if head.lines else head.text[:60]


_HEADERS: Mapping[str, str] = {
    "run": "query,item,score",
    "judgments": "query,item,grade",
    "texts": "id,text",
}


def _unknown_form(head: Head, holds: Holds, *, ungraded: bool = False) -> BadInput:
    """The error for content of no known form; of a table, its first line names no column."""
    line = _first_line(head)
    if holds in _HEADERS and separator_of(head) is not None:
        problem = f"the first line of this table names no column of {_MEANT[holds]}"
        header = _HEADERS[holds].removesuffix(",grade") if ungraded else _HEADERS[holds]
        corrected = "correct the one that is there"
        advice = f"or {corrected}"
        if may_choose(holds) and holds != "texts" and not ungraded:
            chosen = option_of(holds, SCORED if holds == "run" else GRADED)
            advice = f"{corrected}, or choose columns by number or name, as in {chosen}"
        return BadInput(
            f"{head.name}:1: {line!r}: {problem}; write a header such as {header} above it, "
            f"{advice}."
        )
    return BadInput(
        f"{head.name}: {line!r}: no known form of {_MEANT[holds]}; known are "
        f"{', '.join(_names(holds))}; convert it, or name the format."
    )


@contextmanager
def in_order(judgments: Any, runs: Iterable[Any]) -> Generator[None]:
    """A block that reads judgments, which are named before the runs. Its error says so where
    they are a run, and a run has judgments.
    """
    try:
        yield
    except BadInput as error:
        judged = next((run for run in runs if _is_likely(run, "judgments")), None)
        if judged is None or not _is_likely(judgments, "run"):
            raise
        problem, expected, _ = str(error).partition("; expected judgments")
        raise type(error)(
            f"{problem}{expected}, which come before runs, and {judged} has some; exchange the two "
            "files."
        ) from error


def _is_likely(place: Any, holds: Holds) -> bool:
    """Whether a file probably holds this; data in memory are not looked at."""
    return (
        isinstance(place, (str, Path))
        and Path(place).is_file()
        and any(sure >= SURE for sure, _ in scored(Head.of(Source(place)), holds))
    )


class FoundHits(NamedTuple):
    """The hits of a run.

    hits: the judged items that the run retrieved, with the counts that place them.
    format: the name of the format that it was read in; `table` for a Ranking.
    findings: findings of the reader.
    source: the file; None for data in memory.
    """

    hits: Hits
    format: str
    findings: tuple[Finding, ...] = ()
    source: Source | None = None


class FoundJudgments(NamedTuple):
    """Judgments as they were read.

    judgments: the table.
    format: the name of the format that they were read in; `table` for Judgments.
    findings: findings of the reader.
    """

    judgments: Judgments
    format: str
    findings: tuple[Finding, ...] = ()


class CheckedRanking(NamedTuple):
    """A whole run with its oddities.

    table: the ranking, with the first of an item that a query lists twice, unless both were
        requested.
    duplicated: queries that list an item twice.
    contradicting: queries in which a better rank has a lower score, where the file gives both.
    format: the name of the format that it was read in.
    findings: findings of the reader.
    """

    table: Ranking
    duplicated: Sequence[str]
    contradicting: Sequence[str]
    format: str = ""
    findings: tuple[Finding, ...] = ()


@own_arithmetic
def find_hits(
    place: Table | Ranking,
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
    """Finds the judged items of a run without keeping the rest, for runs larger than memory.

    Returns the judged items with their ranks, the name of the format, and the reader's findings.
    Raises BadInput for rows that cannot be read, with file, place and text, BadScore and
    DuplicateItem for such rows, BadUsage for judgments with aspects; take `judgments.flat`,
    UnknownName for a format or a tie rule that does not exist.

    Parameters
    ----------
    place
        A path, `-`, a mapping query -> item -> score or query -> list, any data frame, or a
        Ranking.
    judgments
        Judgments with one row per query and item.
    format
        Name of the format. By default it is recognised from the content.
    ties
        Order of items with equal scores.
    single_precision
        Compare scores as 32-bit numbers, as trec_eval does.
    keep
        Number of top items to keep, as `hits.top`.
    comments
        Skip lines that begin with `#`.
    duplicates
        Item listed twice for a query: an error, or keep the first or the highest-scored one.
    columns
        Columns of query, item, and score or rank, by name or number: `query=1,item=2,score=3`.
    progress
        Function called with the number of bytes read and the total.

    >>> import rankwell as rw
    >>> judgments = rw.read_judgments({"q": {"a": 1, "b": 1}})
    >>> found = rw.find_hits({"q": {"x": 2.0, "a": 1.0}}, judgments)
    >>> [judgments.items[row] for row in found.hits.row], found.hits.above.tolist()
    (['a'], [1])
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
        refuse_choice(request.columns, format, "run", kind_of(place))
        return FoundHits(request.hits(place, judgments), "table")
    thing, entry, request = identify(place, "run", format, request)
    source = thing if isinstance(thing, Source) else None
    with naming(source.name if source else ""):
        hits = entry.hits(thing, judgments, request)
    return FoundHits(hits, entry.name, tuple(request.findings), source)


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
    chosen_names = chosen_columns(qrels_columns, "judgments") if qrels_columns else {}
    if aspects not in get_args(Aspects):
        raise UnknownName(f"aspects={aspects!r}; {suggest(aspects, get_args(Aspects))}")
    request = Request(
        comments=comments,
        duplicates=_duplicates(duplicates),
        aspects=aspects,
        columns=chosen_names,
        ungraded=ungraded,
    )
    is_stream = hasattr(place, "__arrow_c_stream__")
    rows = list(place) if isinstance(place, Iterator) and not is_stream else place
    judgments, name = read_as(judgments_file(rows), "judgments", format, request)
    return FoundJudgments(judgments, name, tuple(request.findings))


@own_arithmetic
def read_judgments(
    place: Table | Judgments,
    *,
    format: str | None = None,
    aspects: Aspects = "none",
    qrels_columns: ColumnChoice | None = None,
    comments: bool = False,
    duplicates: Duplicates = "error",
) -> Judgments:
    """Reads judgments from a file, a mapping or a data frame.

    Raises BadInput for rows that cannot be read, with file, place and text, DuplicateItem for an
    item that a query judges twice, UnknownName for a format that does not exist.

    Parameters
    ----------
    place
        A path, the folder of a data set, `irds:ID`, `-`, a mapping query -> item -> grade or query
        -> list or set of ids, any data frame, or Judgments.
    format
        Name of the format. By default it is recognised from the content.
    aspects
        Whether the second field of a qrels file, or the column `aspect` of a table, names judgment
        groups or intents.
    qrels_columns
        Columns of query, item and grade, by name or number: `query=1,item=2,grade=3`.
    comments
        Skip lines that begin with `#`.
    duplicates
        Item judged twice for a query: an error, or keep the first or the best.

    >>> import rankwell as rw
    >>> rw.read_judgments({"q1": ["a", "b"], "q2": {"c": 2}}).to_dict()
    {'q1': {'a': 1.0, 'b': 1.0}, 'q2': {'c': 2.0}}
    """
    return find_judgments(
        place,
        format=format,
        aspects=aspects,
        qrels_columns=qrels_columns,
        comments=comments,
        duplicates=duplicates,
    ).judgments


def judgments_file(place: Any) -> Any:
    """The file of a split in the folder of a data set (`FOLDER`, `FOLDER:dev`), `test` by default,
    or what describes a folder of another format (`FOLDER`, `FOLDER:part`); another place as it is.

    Raises BadInput for a split that is not there, listing those that are.
    """
    path, part = split_part(place) if isinstance(place, (str, Path)) else ("", "")
    if not exists(path) or not Path(path).is_dir():
        return place
    described = [
        entry.folder
        for entry in formats("judgments")
        if entry.folder and Path(path, entry.folder).is_file()
    ]
    if described and not qrels_splits(Path(path)):
        return f"{path}/{described[0]}" + (f":{part}" if part else "")
    return qrels_file(path, part)


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
    place: Table | Ranking,
    *,
    format: str | None = None,
    comments: bool = False,
    duplicates: Duplicates = "error",
    columns: ColumnChoice | None = None,
    findings: list[Finding] | None = None,
) -> Ranking:
    """Reads a whole run from a file, a mapping or a data frame, in the order of its rows.

    Raises BadInput for rows that cannot be read, with file, place and text, BadScore for a score
    that is not finite, DuplicateItem for an item that a query lists twice, UnknownName for a format
    that does not exist.

    Parameters
    ----------
    place
        A path, `-`, a mapping query -> item -> score or query -> list, any data frame, or a
        Ranking.
    format
        Name of the format. By default it is recognised from the content.
    comments
        Skip lines that begin with `#`.
    duplicates
        Item listed twice for a query: an error, or keep the first or the highest-scored one.
    columns
        Columns of query, item, and score or rank, by name or number: `query=1,item=2,score=3`.
    findings
        A list that receives what the reader found.

    >>> import rankwell as rw
    >>> rw.read_ranking({"q1": [("a", 2.5), ("b", 1.5)]}).to_columns()
    {'query': ['q1', 'q1'], 'item': ['a', 'b'], 'score': [2.5, 1.5]}
    """
    request = Request(
        comments=comments,
        duplicates=_duplicates(duplicates),
        columns=chosen_columns(columns, "run"),
        findings=[] if findings is None else findings,
    )
    return read_as(place, "run", format, request)[0]


def check_ranking(
    place: Any,
    *,
    format: str | None = None,
    comments: bool = False,
    repeats: Repeats = "first",
    columns: ColumnChoice | None = None,
    judged: Judgments | None = None,
) -> CheckedRanking:
    """A whole run as `read_ranking` reads it; repeated items and ranks that contradict scores are
    reported, not refused. judged: its judgments.
    """
    odd = ReadWarnings(set(), set())
    request = Request(
        comments=comments,
        duplicates=repeats,
        columns=chosen_columns(columns, "run"),
        oddities=odd,
        judged=judged,
    )
    table, name = read_as(place, "run", format, request)
    return CheckedRanking(
        table, sort_ids(odd.duplicated), sort_ids(odd.contradicting), name, tuple(request.findings)
    )


def read_texts(place: Any, *, format: str | None = None) -> Texts:
    """Texts by id with their attributes: a corpus or queries as JSON lines, CSV, TSV or Parquet, a
    mapping, a data frame.
    """
    return _texts(place, format, Request())


def read_ids(place: Any) -> set[str]:
    """The ids that a corpus or a file of queries has, with less memory than its texts."""
    return set(_texts(place, None, Request(ids_only=True)).texts)


def refuse_foreign_texts(texts: Texts, ids: Collection[str], place: Any, id_owners: str) -> None:
    """Raises BadInput where no text has one of the ids.

    id_owners: the things that have the ids, in the plural, such as queries.
    """
    if ids and texts.texts.keys().isdisjoint(ids):
        name = place if isinstance(place, (str, Path)) else "the texts"
        raise BadInput(
            f"{name}: none of its {len(texts.texts)} ids, such as {next(iter(texts.texts))!r}, is "
            f"one of the {len(ids)} {id_owners}, such as {min(ids)!r}; give the texts of the "
            f"{id_owners}."
        )


def lacking_texts(texts: Texts, ids: Collection[str], place: Any, id_owners: str) -> list[Finding]:
    """The finding that some of the ids have no text; none where all have one."""
    lacking = [name for name in ids if name not in texts.texts]
    if not lacking:
        return []
    file = str(place) if isinstance(place, (str, Path)) else "the texts"
    return [texts_missing(len(lacking), len(ids), id_owners, min(lacking), file)]


def _texts(place: Any, name: str | None, request: Request) -> Texts:
    """The texts of a place, of a folder those of all its files.

    Raises BadInput for an id that two of them have, and where every text is empty.
    """
    files = text_files(place) or [place]
    texts, format_of = read_as(files[0], "texts", name, request)
    for file in files[1:]:
        more, _ = read_as(file, "texts", name, request)
        if twice := texts.texts.keys() & more.texts.keys():
            raise BadInput(
                f"{file}: the id {min(twice)!r} already appears in an earlier file of the folder; "
                "every text needs its own id."
            )
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


def read_labels(labels: Any) -> list[str | None]:
    """One label for each row, of a column, a sequence or an array; None where it is missing."""
    if isinstance(labels, (str, Path)):
        return read_column(labels)
    cells = [None if is_missing(cell) or cell == "" else cell for cell in members(labels, "labels")]
    texts = item_ids("-" if cell is None else cell for cell in cells)
    return [None if cell is None else text for cell, text in zip(cells, texts, strict=True)]


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
    """The table in a place of what it holds, and the name of its format; a table is one itself."""
    table_kind = {"run": Ranking, "judgments": Judgments}.get(holds, ())
    if isinstance(place, table_kind):
        refuse_choice(request.columns, name, holds, kind_of(place))
        return place, "table"
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


def written_lists(
    table: Ranking | Judgments, form: str
) -> Iterator[tuple[str, list[tuple[str, float]]]]:
    """Each query with its items and their numbers, whole grades as integers.

    form: what is written, for the error. Raises BadInput for groups and intents.
    """
    if isinstance(table, Ranking):
        numbers: list[float] = table.scores.tolist()
    elif table.aspects is not None:
        raise BadInput(f"{form} cannot hold groups or intents; write TREC, CSV or Parquet.")
    else:
        numbers = [int(grade) if grade.is_integer() else grade for grade in table.grades.tolist()]
    pairs = list(zip(table.items, numbers, strict=True))
    for query, (start, stop) in zip(table.queries, pairwise(table.offsets.tolist()), strict=True):
        yield query, pairs[start:stop]


def _write(table: Ranking | Judgments, path: Path, holds: Holds, name: str | None) -> str:
    entry = written_format(path, holds, name)
    assert entry.write is not None  # noqa: S101 - it was chosen for it
    with packing(path) as draft:
        entry.write(table, draft)
    return entry.name
