"""Ids that judgments and a run write differently: how many, in which notation, and the run with its
ids written as judged.

A notation of the first table differs without naming another thing; it is reported however few ids
it concerns. One of the
second may distinguish things (`train-1`, `test-1`); it is reported only where it explains half of
what does not match.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import compress
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

import numpy as np

from rankwell.data.columns import chosen_columns
from rankwell.data.rankings import Hits, Ranking
from rankwell.data.tables import Judgments, columns_of
from rankwell.errors import BadInput, shown
from rankwell.io import formats as files
from rankwell.io.reader.columns import SCORED, separation_of
from rankwell.store import Head, Source, decode_id, encode_id, split_part

if TYPE_CHECKING:
    from rankwell.evaluation.judged import RunInput

Plain = Callable[[str], str]
"""The form of an id that is the same in all spellings of a notation."""
_CHUNK = re.compile(
    r"(?:#|::)[\w.-]+$|[/_.@|%:-]*(?:chunk|passage|para(?:graph)?|segment|split|part)[/_.:#-]*\d+$",
    re.IGNORECASE,
)
_NOT_UTF8 = re.compile("[\udc80-\udcff]+")
_ZERO_WIDTH = re.compile("[\u00ad\u180e\u200b-\u200f\u2060-\u2064\ufeff]")
_ZEROS = re.compile(r"(?<!\d)0+(?=\d)")
_DECIMALS = re.compile(r"(\d)\.0+$")
_HYPHENS = re.compile(r"(?<=[^\W\d_])[-_ ](?=[^\W_])|(?<=\d)[-_ ](?=[^\W\d_])")
"""Between two digits a hyphen is kept: 1-23 is not 12-3."""
_EXTENSION = re.compile(
    r"\.(txt|md|html?|xml|json|csv|pdf|docx?|jpe?g|png|gif|webp|bmp|tiff?|npy|mp[34]|m4a|wav|flac|avi|mov|mkv|webm)$",
    re.IGNORECASE,
)


def _recoded(text: str) -> str:
    """The id of bytes in Windows-1252 or Latin-1, or of UTF-8 that was read as one of these and
    written again.
    """
    if text.isascii():
        return text
    decoded = _NOT_UTF8.sub(lambda match: encode_id(match[0]).decode("cp1252", "replace"), text)
    for encoding in ("cp1252", "latin-1"):
        try:
            return decoded.encode(encoding).decode("utf-8")
        except UnicodeError:
            continue
    return decoded


def _composed(text: str) -> str:
    return text if text.isascii() else unicodedata.normalize("NFKC", text)


def _visible(text: str) -> str:
    return text if text.isascii() else _ZERO_WIDTH.sub("", text)


def _decoded(text: str) -> str:
    if "%" not in text:
        return text
    from urllib.parse import unquote

    return unquote(text)


def _document(text: str) -> str:
    return text if text.isalnum() else _CHUNK.sub("", text) or text


CHUNKS = "suffixes of chunks"
CERTAIN: Mapping[str, Plain] = {
    "encodings (Latin-1 for UTF-8)": _recoded,
    "Unicode normal forms": _composed,
    "zero-width characters": _visible,
    "percent-encoding": _decoded,
    "blanks around ids": str.strip,
    "quotes around ids": lambda text: text.strip("\"'`"),
    "differences of case": str.casefold,
    "leading zeros": lambda text: _ZEROS.sub("", text) if "0" in text else text,
    "decimals of integers (1.0 for 1)": lambda text: (
        _DECIMALS.sub(r"\1", text) if ".0" in text else text
    ),
    CHUNKS: _document,
    "hyphens within ids": lambda text: text if text.isalnum() else _HYPHENS.sub("", text),
}
PROBABLE: Mapping[str, Plain] = {
    "file name extensions": lambda text: _EXTENSION.sub("", text),
    "folders in front of ids": lambda text: text.rpartition("/")[2] or text,
    "letters in front of numbers": lambda text: re.sub(r"^\D+(?=\d+$)", "", text),
    "numbers of chunks behind ids": lambda text: re.sub(r"[-_.:]\d+$", "", text),
}


class IdPair(NamedTuple):
    """One id in the notation of the judgments and in that of the run."""

    judged_id: str
    listed_id: str

    def __str__(self) -> str:
        # Characters that look alike, or like nothing, are written as escapes.
        hidden = _visible(_composed(self.judged_id)) == _visible(_composed(self.listed_id))
        judged_id, listed_id = (ascii(text) if hidden else shown(text) for text in self)
        return f"{judged_id} in the judgments, {listed_id} in the run"


def certain_form(text: str) -> str:
    """The form of an id that is the same in all certain notations."""
    for plain in CERTAIN.values():
        text = plain(text)
    return text


def _file_form(text: str) -> str:
    """The form of an id that is the same, too, with folders in front or an extension behind it."""
    return certain_form(_EXTENSION.sub("", text.rpartition("/")[2] or text))


def _may_be_one(first: str, second: str) -> bool:
    """Whether ids of one file form may be one: a/1.png is not b/1.png, and 1.png not 1.jpg; one of
    them has neither.
    """
    affixes = [
        (text.rpartition("/")[0], match[0] if (match := _EXTENSION.search(text)) else "")
        for text in (first, second)
    ]
    return all(
        not left or not right or certain_form(left) == certain_form(right)
        for left, right in zip(*affixes, strict=True)
    )


def notation_of(pair: IdPair) -> str:
    """The notation in which two spellings of an id differ; of several, all."""
    is_certain = certain_form(pair.judged_id) == certain_form(pair.listed_id)
    forms = {**CERTAIN, **({} if is_certain else PROBABLE)}
    for name, plain in forms.items():
        if plain(pair.judged_id) == plain(pair.listed_id):
            return name
    # Of the probable notations only those of files: an extension, a folder.
    names = list(forms)[: len(CERTAIN) + 2]
    return " and ".join(name for name in names if any(forms[name](text) != text for text in pair))


def main_notation(pairs: Iterable[IdPair]) -> str:
    """The notation of most pairs."""
    names = [notation_of(pair) for pair in pairs]
    return max(dict.fromkeys(names), key=names.count)


def match_queries(missing: Iterable[str], unknown: Iterable[str]) -> list[IdPair]:
    """Judged queries that a run lacks, with the queries of the run that are the same except for
    their notation.

    missing: queries of the judgments that the run lacks. unknown: queries of the run that the
    judgments lack.
    """
    missing, unknown = list(dict.fromkeys(missing)), list(dict.fromkeys(unknown))
    pairs = [IdPair(*pair) for pair in _spelled_alike(missing, unknown)]
    return pairs or match_probable(missing, unknown, min(len(missing), len(unknown)) / 2)


def match_probable(
    judged_ids: Sequence[str], listed_ids: Sequence[str], least: float
) -> list[IdPair]:
    """The ids that match by the probable notation that explains most of them; none where it
    explains fewer than `least`.
    """
    best = list[IdPair]()
    for name, plain in PROBABLE.items():
        pairs = [IdPair(*pair) for pair in _same_form(judged_ids, listed_ids, plain)]
        if name != "file name extensions":  # train-1 is not test-1, a/1.png is not b/1.png
            pairs = [
                pair
                for pair in pairs
                if _is_part(*pair) or _is_part(pair.listed_id, pair.judged_id)
            ]
        best = max(best, pairs, key=len)
    return best if len(best) >= least else []


def _is_part(short: str, long: str) -> bool:
    return long.endswith(short) or long.startswith(short)


def _spelled_alike(
    texts: Sequence[str], targets: Sequence[str], *, chunks: bool = False
) -> list[tuple[str, str]]:
    """Texts, each with the one target that is the same except for a certain notation, or for a
    folder or an extension that only one of them has. chunks: whether several texts may be chunks of
    one target.
    """
    pairs = _same_form(texts, targets, certain_form, chunks=chunks)
    paired_ids = {text for pair in pairs for text in pair}
    unpaired = [[text for text in ids if text not in paired_ids] for ids in (texts, targets)]
    of_files = _same_form(*unpaired, _file_form, chunks=chunks)
    return pairs + [pair for pair in of_files if _may_be_one(*pair)]


def _same_form(
    texts: Sequence[str], targets: Sequence[str], plain: Plain, *, chunks: bool = False
) -> list[tuple[str, str]]:
    """Texts with the only target of their plain form, each the only text of that form, or with
    `chunks` one of several chunks.
    """
    if not texts or not targets:
        return []
    texts_by_form, targets_by_form = dict[str, list[str]](), dict[str, list[str]]()
    for ids, forms in ((texts, texts_by_form), (targets, targets_by_form)):
        for text in ids:
            forms.setdefault(plain(text), []).append(text)
    return [
        (text, targets_by_form[form][0])
        for form, alike in texts_by_form.items()
        if len(targets_by_form.get(form, ())) == 1
        and (len(alike) == 1 or (chunks and all(map(_CHUNK.search, alike))))
        for text in alike
    ]


ItemPairs = dict[tuple[str, str], str]
"""By query and item as a run lists it: the item as it is judged for that query."""


class Gauge(NamedTuple):
    """A figure of a run. label: the name of its measure. mean_of: its value as text."""

    label: str
    mean_of: Callable[[Ranking], str]


def match_items(rows: Iterable[tuple[str, str]], judgments: Judgments, hits: Hits) -> ItemPairs:
    """Judged items that a run lists for their query in another certain notation.

    rows: query and item of rows of the run. judgments: with one row per query and item.
    A spelling that is itself an id of the judgments is another item, and two spellings of one id in
    a list are two items; only chunks of a document are several.
    """
    unlisted = np.ones(len(judgments.items), dtype=np.bool_)
    unlisted[hits.row] = False
    lists: dict[str, list[str]] = {}
    for query, item in rows:
        lists.setdefault(query, []).append(item)
    candidates = ItemPairs()
    for query, items in lists.items():
        rows_of_query = judgments.rows_of(query)
        judged = judgments.items[rows_of_query]
        if lacking := list(compress(judged, unlisted[rows_of_query].tolist())):
            judged_ids = set(judged)
            others = [item for item in dict.fromkeys(items) if item not in judged_ids]
            for item, judged_id in _spelled_alike(others, lacking, chunks=True):
                candidates[query, item] = judged_id
    if not candidates:
        return {}
    ids = set(judgments.items)
    return {key: judged for key, judged in candidates.items() if key[1] not in ids}


def written_as_judged(ranking: Ranking, queries: Iterable[IdPair], items: ItemPairs) -> Ranking:
    """The run with its ids in the notation of the judgments; of several chunks of a document the
    best remains.
    """
    names = {pair.listed_id: pair.judged_id for pair in queries}
    rows: dict[tuple[str, str], float] = {}
    for query, item, score in zip(
        ranking.row_queries, ranking.items, ranking.scores.tolist(), strict=True
    ):
        key = names.get(query, query), items.get((query, item), item)
        rows[key] = max(score, rows.get(key, score))
    all_queries = [names.get(query, query) for query in ranking.queries]
    return Ranking.from_rows(*columns_of(rows, 2), list(rows.values()), all_queries=all_queries)


# ---- rows of a run
# --------------------------------------------------------------------------------------------------

_BLOCK, _BLOCKS = 1 << 13, 16
_FIRST_ROWS = 4_000
_MOST_BYTES = 1 << 24
"""A larger file is not read a second time."""
_MOST_FOR_SAMPLE = 1 << 22
"""A larger file of a format without lines is not read whole for its first rows."""


def whole_run(run: "RunInput") -> Ranking | None:
    """All rows of a run, of a repeated item the first; None of a file too large to be read again,
    and of several files.
    """
    return None if run.is_shard else read_again(run)


def read_again(run: "RunInput", most_bytes: int = _MOST_BYTES) -> Ranking | None:
    """The rows in the place of a run, of a repeated item the first; None of a larger file."""
    if run.ranking is not None:
        return run.ranking
    if isinstance(run.origin, (str, Path)):
        source = Source(split_part(run.origin)[0])
        # When it is unpacked, a compressed file has about eight times its bytes.
        if source.size * (8 if source.compression else 1) > most_bytes:
            return None
    try:
        return files.read_ranking(
            run.origin, format=run.run_format, columns=run.columns, duplicates="first"
        )
    except BadInput:
        return None


def first_rows(run: "RunInput", n: int) -> list[tuple[str, str, float | None, float]] | None:
    """Query, item, rank and score of the first rows of a table; None of another format."""
    if run.format not in ("csv", "tsv", "jsonl", "parquet"):
        return None
    from rankwell.io import column_tables

    path, part = split_part(run.origin)
    return list(column_tables.first_rows(Source(path), run.format, n, part, run.columns))


def sample_rows(run: "RunInput") -> Iterable[tuple[str, str]]:
    """Query and item of some rows of a run: of plain lines from blocks at equal distances, of
    others the first rows.

    None of a large file of a format without lines.
    """
    if run.ranking is None and isinstance(run.origin, (str, Path)):
        source = Source(split_part(run.origin)[0])
        if source.address:
            return ()
        if (rows := first_rows(run, _FIRST_ROWS)) is not None:
            return [row[:2] for row in rows]
        if (fields := _LineFields.of(run, source)) is not None:
            return _rows_of_blocks(source, fields)
        ranking = read_again(run, _MOST_FOR_SAMPLE)
    else:
        ranking = read_again(run._replace(origin=_beginning(run.origin)))
    return () if ranking is None else zip(ranking.row_queries, ranking.items, strict=True)


class _LineFields(NamedTuple):
    """The places of query and item in the fields of a line. delimiter: None for any white space."""

    query: int
    item: int
    delimiter: bytes | None = None

    @classmethod
    def of(cls, run: "RunInput", source: Source) -> "_LineFields | None":
        """Those of a run in plain lines; None of another format."""
        if run.format in ("trec", "msmarco"):
            return cls(0, 2 if run.format == "trec" else 1)
        if run.format != "headerless":
            return None
        choice = chosen_columns(run.columns, "run") or SCORED
        separation, delimiter = separation_of(Head.of(source), choice), None
        if separation is not None and separation.format == "headerless":
            delimiter = separation.delimiter
        return cls(int(choice["query"]) - 1, int(choice["item"]) - 1, delimiter)


def _rows_of_blocks(source: Source, fields: _LineFields) -> list[tuple[str, str]]:
    """Query and item of lines of a file; of a compressed one those at its beginning."""
    if (path := source.path) is None:
        blocks = [source.head(_BLOCK)]
    else:
        size = path.stat().st_size
        starts = sorted({0, *(size * number // _BLOCKS for number in range(_BLOCKS))})
        with path.open("rb") as stream:
            blocks = [_block_at(stream, start) for start in starts]
    last = max(fields.query, fields.item)
    lines = (
        line.split(fields.delimiter, last + 1)
        for block in blocks
        for line in block.split(b"\n")[:-1]
    )
    pairs = (
        (line[fields.query].strip(), line[fields.item].strip())
        for line in lines
        if len(line) > last
    )
    return [(decode_id(query), decode_id(item)) for query, item in pairs]


def _block_at(stream: BinaryIO, start: int) -> bytes:
    """Whole lines from a place in a file."""
    stream.seek(max(start - 1, 0))
    block = stream.read(_BLOCK)
    return block if start == 0 else block[block.find(b"\n") + 1 :]


def _beginning(run: Any) -> Any:
    """The first rows of a run in memory, in its own form; all of one that cannot be cut."""
    if isinstance(run, Mapping):
        lists, n = dict[Any, Any](), 0
        for query, items in run.items():
            if n >= _FIRST_ROWS:
                break
            lists[query], n = items, n + len(items)
        return lists
    import narwhals as nw

    frame = nw.from_native(run, pass_through=True)
    return frame.head(_FIRST_ROWS).to_native() if isinstance(frame, nw.DataFrame) else run
