"""The commonest mistakes in judgments and runs: the signs of each; ids that the two write
differently, and the run with its ids written as judged.

`evaluate` looks only where `_is_suspicious` finds a sign, `check` always. Text is compared in the
first 1,000 rows of a run.
A notation of the first table differs without naming another thing; it is reported however few ids
it concerns. One of the second may distinguish things (`train-1`, `test-1`); it is reported only
where it explains half of what does not match.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import compress, islice, pairwise
from operator import itemgetter
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from rankwell.data.columns import NOTHING, chosen_columns
from rankwell.data.findings import Finding
from rankwell.data.findings.kinds import (
    copy_of_another_run,
    equal_scores,
    item_ids_in_another_notation,
    item_ids_in_two_notations,
    item_that_stands_for_none,
    judgments_and_run_swapped,
    most_judged_queries_missing,
    no_judged_item,
    nothing_relevant,
    queries_and_items_swapped,
    query_ids_in_two_notations,
    ranks_and_scores_swapped,
    ranks_in_place_of_scores,
    relevant_items_last,
    rising_scores,
    rounded_scores,
    some_item_ids_in_two_notations,
    some_query_ids_in_two_notations,
)
from rankwell.data.rankings import Hits, Ranking
from rankwell.data.tables import Bools, Floats, Judgments, columns_of, exact_mean, grouped, sum_by
from rankwell.errors import BadInput, flag, shown
from rankwell.evaluation.judged import RunInput
from rankwell.io import formats as files
from rankwell.io.reader.columns import SCORED, separation_of
from rankwell.store import Head, Source, decode_id, encode_id, split_part

_ROWS = 1_000
_LATE, _Z = 1 / 3, 5.26


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


def _suffix(text: str) -> str:
    return text[len(_document(text)) :]


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
    """One id in two notations.

    judged_id: the id in the judgments.
    listed_id: the id in the run.
    """

    judged_id: str
    listed_id: str

    @property
    def shown(self) -> tuple[str, str]:
        """Both for messages; characters that look alike, or like nothing, are escapes."""
        is_hidden = _visible(_composed(self.judged_id)) == _visible(_composed(self.listed_id))
        judged_id, listed_id = (ascii(text) if is_hidden else shown(text) for text in self)
        return judged_id, listed_id

    def __str__(self) -> str:
        judged_id, listed_id = self.shown
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


def _main_notation(pairs: Iterable[IdPair]) -> str:
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
    return pairs or _match_probable(missing, unknown, min(len(missing), len(unknown)) / 2)


def _match_probable(
    judged_ids: Sequence[str], listed_ids: Sequence[str], least: float
) -> list[IdPair]:
    """The ids that match by the probable notation that explains most of them; none where it
    explains fewer than `least`.
    """
    best = list[IdPair]()
    for name, plain in PROBABLE.items():
        pairs = [IdPair(*pair) for pair in _same_form(judged_ids, listed_ids, plain)]
        if name != "file name extensions":  # train-1 is not test-1, a/1.png is not b/1.png
            pairs = [pair for pair in pairs if _is_part(*sorted(pair, key=len))]
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
    of_files = _same_form(unpaired[0], unpaired[1], _file_form, chunks=chunks)
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
    """A figure that shows the effect of a mistake on a run.

    label: the label of its measure.
    mean_of: ranking -> the figure as text.
    """

    label: str
    mean_of: Callable[[Ranking], str]


def _match_items(rows: Iterable[tuple[str, str]], judgments: Judgments, hits: Hits) -> ItemPairs:
    """Judged items that a run lists for their query in another certain notation.

    rows: query and item of rows of the run. judgments: with one row per query and item.
    A spelling that is itself an id of the judgments is another item, and two spellings of one id in
    a list are two items; only chunks of a document are several.
    """
    unlisted = np.ones(len(judgments.items), dtype=np.bool_)
    unlisted[hits.row] = False
    lists = grouped(rows)
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
    return {
        key: judged
        for key, judged in candidates.items()
        # Where judgments name chunks, another chunk of the document is another item.
        if key[1] not in ids and len({_suffix(key[1]), _suffix(judged), ""}) < 3
    }


def _written_as_judged(ranking: Ranking, queries: Iterable[IdPair], items: ItemPairs) -> Ranking:
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
    row_queries, row_items = columns_of(rows, 2)
    scores = list(rows.values())
    return Ranking.from_rows(row_queries, row_items, scores, all_queries=all_queries)


# ---- rows of a run
# --------------------------------------------------------------------------------------------------

_BLOCK, _BLOCKS = 1 << 13, 16
_FIRST_ROWS = 4_000
_MOST_BYTES = 1 << 24
"""A larger file is not read a second time."""
_MOST_FOR_SAMPLE = 1 << 22
"""A larger file of a format without lines is not read whole for its first rows."""


def _whole_run(run: RunInput) -> Ranking | None:
    """All rows of a run, of a repeated item the first; None of a file too large to be read again,
    and of several files.
    """
    return None if run.is_shard else _read_again(run)


def _read_again(run: RunInput, most_bytes: int = _MOST_BYTES) -> Ranking | None:
    """The rows in the place of a run, of a repeated item the first; None of a larger file."""
    if run.ranking is not None:
        return run.ranking
    if isinstance(run.origin, (str, Path)):
        source = Source(split_part(run.origin)[0])
        # When it is unpacked, a compressed file has about eight times its bytes.
        if source.size * (8 if source.compression else 1) > most_bytes:
            return None
    try:
        return files.check_ranking(
            run.origin, format=run.run_format, columns=run.columns, judged=run.judged
        ).table
    except BadInput:
        return None


def _table_rows(run: RunInput, n: int) -> list[tuple[str, str, float | None, float]] | None:
    """Query, item, rank and score of the first rows of a table; None of another format."""
    if run.format not in ("csv", "tsv", "jsonl", "parquet"):
        return None
    from rankwell.io import column_tables

    path, part = split_part(run.origin)
    return list(column_tables.first_rows(Source(path), run.format, n, part, run.columns))


def _sample_rows(run: RunInput) -> Iterable[tuple[str, str]]:
    """Query and item of some rows of a run: of plain lines from blocks at equal distances, of
    others the first rows.

    None of a large file of a format without lines.
    """
    if run.ranking is None and isinstance(run.origin, (str, Path)):
        source = Source(split_part(run.origin)[0])
        if source.address:
            return ()
        if (rows := _table_rows(run, _FIRST_ROWS)) is not None:
            return [row[:2] for row in rows]
        if (fields := _line_fields(run, source)) is not None:
            return _rows_of_blocks(source, *fields)
        ranking = _read_again(run, _MOST_FOR_SAMPLE)
    else:
        ranking = _read_again(run._replace(origin=_beginning(run.origin)))
    return () if ranking is None else zip(ranking.row_queries, ranking.items, strict=True)


def _line_fields(run: RunInput, source: Source) -> tuple[int, int, bytes | None] | None:
    """The places of query and item in the fields of a plain line, and the delimiter, None for any
    white space; None of another format.
    """
    if run.format in ("trec", "msmarco"):
        return 0, 2 if run.format == "trec" else 1, None
    if run.format != "headerless":
        return None
    choice = chosen_columns(run.columns, "run") or SCORED
    separation, delimiter = separation_of(Head.of(source), choice), None
    if separation is not None and separation.format == "headerless":
        delimiter = separation.delimiter
    return int(choice["query"]) - 1, int(choice["item"]) - 1, delimiter


def _rows_of_blocks(
    source: Source, query: int, item: int, delimiter: bytes | None
) -> list[tuple[str, str]]:
    """Query and item of lines of a file; of a compressed one those at its beginning."""
    if (path := source.path) is None:
        blocks = [source.head(_BLOCK)]
    else:
        size = path.stat().st_size
        starts = sorted({0, *(size * number // _BLOCKS for number in range(_BLOCKS))})
        with path.open("rb") as stream:
            blocks = [_block_at(stream, start) for start in starts]
    last = max(query, item)
    rows = (line.split(delimiter, last + 1) for block in blocks for line in block.split(b"\n")[:-1])
    return [
        (decode_id(row[query].strip()), decode_id(row[item].strip()))
        for row in rows
        if len(row) > last
    ]


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


# ---- mistakes
# --------------------------------------------------------------------------------------------------


class _FirstRow(NamedTuple):
    """One of the first rows of a run's file.

    query: id of the query.
    item: id of the item.
    rank: rank in the file; None where the file has no ranks, 0 for a rank that is not a number.
    score: score in the file, whether higher or lower is better.
    """

    query: str
    item: str
    rank: float | None
    score: float


def probable_mistakes(
    run: RunInput,
    judgments: Judgments,
    source: Source | None = None,
    *,
    rel: float,
    ties: str,
    average_over: str,
    gauge: Gauge | None,
) -> list[Finding]:
    """The probable mistakes in judgments and in a run; the rare ones are looked for where there is
    a sign of one.

    judgments: with one row per query and item. source: the file of the run, where there is one.
    rel: of `lowest_relevant`. gauge: the figure that ids in two notations change.
    """
    if not _is_suspicious(judgments, run, rel=rel, lines=source if run.format == "trec" else None):
        return []
    of_run = run_mistakes(
        run, judgments, rel=rel, ties=ties, average_over=average_over, gauge=gauge
    )
    return [*judgment_mistakes(judgments, rel), *of_run]


def _rounded_ties(hits: Hits) -> Bools:
    """Whether the score of a hit ties and is an integer so large that float64 rounds it."""
    return (hits.tied > 1) & (np.abs(hits.score) >= 2.0**53)


def _is_suspicious(
    judgments: Judgments, run: RunInput, *, rel: float, lines: Source | None
) -> bool:
    """Whether counts, some of the hits or some lines show a sign of a mistake that this module
    names.

    judgments: with one row per query and item. lines: the file, where it has lines of a TREC run.
    """
    hits, relevant = run.hits, judgments.grades >= rel
    n_missing, is_relevant = int((~hits.has_ranking).sum()), relevant[hits.row]
    sample = slice(None, None, len(hits.row) // 500 + 1)
    lengths, tied = hits.n_retrieved[hits.query[sample]], hits.tied[sample]
    rank_excess = (2 * hits.above[sample] + tied - lengths)[is_relevant[sample]]
    grades = judgments.grades[:500]
    if (
        (n_missing and (hits.unknown or 2 * n_missing > len(hits.has_ranking)))
        or NOTHING in judgments.items
        or 10 * int(is_relevant.sum()) < min(int(relevant.sum()), int(hits.n_retrieved.sum()))
        or not relevant.any()
        or (tied == lengths).all()
        or _rounded_ties(hits).any()
        or rank_excess.sum() > 0
        or 2 * int((grades % 1 != 0).sum()) > len(grades)
    ):
        return True
    rows = [] if lines is None else [line.split() for line in lines.head(2048).split(b"\n")[:20]]
    rising = (
        first[0] == second[0] and float(second[4]) > float(first[4])
        for first, second in pairwise(filter(None, rows[:-1]))
    )
    return any(rising) or bool(_match_items(_sample_rows(run), judgments, hits))


def judgment_mistakes(judgments: Judgments, rel: float = 1) -> Iterator[Finding]:
    """Judgments without anything relevant, and with what an index writes in place of a neighbour as
    a relevant item.
    """
    highest = float(judgments.grades.max()) if len(judgments.grades) else 0.0
    n = list(compress(judgments.items, (judgments.grades >= rel).tolist())).count(NOTHING)
    if len(judgments.grades) and highest < rel:
        yield nothing_relevant(rel, highest)
    elif n:
        yield item_that_stands_for_none(NOTHING, n)


def run_mistakes(
    run: RunInput,
    judgments: Judgments,
    *,
    rel: float = 1,
    ties: str = "id-desc",
    average_over: str = "judged",
    gauge: Gauge | None,
) -> Iterator[Finding]:
    """The mistakes that a run shows, each once, those first that explain others.

    judgments: one row per query and item. gauge: the figure that ids in two notations change.
    """
    rows = _first_rows(run)
    yield from _swapped_inputs(run, judgments)
    yield from _query_ids(run, judgments, average_over, gauge)
    yield from _item_ids(run, judgments, rows, rel, gauge)
    of_scores = (
        _rising(run.name, rows)
        or _at_the_end(run, judgments, rel)
        or _rounded(run)
        or _all_tied(run, ties)
    )
    if of_scores is not None:
        yield of_scores


def copies(runs: Mapping[str, Any]) -> Iterator[Finding]:
    """Runs whose files have the same content."""
    files = [
        (name, Path(path))
        for name, path in runs.items()
        if isinstance(path, (str, Path)) and Path(path).is_file()
    ]
    first_names = dict[tuple[int, str], str]()
    sizes = [path.stat().st_size for _, path in files]
    for (name, path), size in zip(files, sizes, strict=True):
        if sizes.count(size) == 1:
            continue
        same = first_names.setdefault((size, Source(path).digest()), name)
        if same != name:
            yield copy_of_another_run(name, same)


# ---- ids
# --------------------------------------------------------------------------------------------------


def _exchanged(run: RunInput, judgments: Judgments) -> str:
    """The column of the run that is the other one of the judgments: many of its queries are items
    there, or its items queries.

    Ids that are both queries and items of the judgments do not count, and a run may have more of
    either than is judged.
    """
    queries, items = set(judgments.queries), set(judgments.items)
    if _many_are(run.hits.unknown, items - queries):
        return "the queries of the run are items of the judgments"
    if _many_are(_items_of(run), queries - items):
        return "the items of the run are queries of the judgments"
    return ""


def _many_are(ids: Iterable[str], known_ids: set[str]) -> bool:
    return 8 * len((distinct_ids := set(ids)) & known_ids) > len(distinct_ids)


def _query_ids(
    run: RunInput, judgments: Judgments, average_over: str, gauge: Gauge | None
) -> Iterator[Finding]:
    """Query ids in two notations; and most judged queries missing, unless that explains it."""
    present = run.hits.has_ranking
    missing, n = list(compress(judgments.queries, (~present).tolist())), len(present)
    if len(missing) == n and (swapped := _exchanged(run, judgments)):
        yield queries_and_items_swapped(run.name, swapped)
        return
    pairs = match_queries(missing, run.hits.unknown)
    if pairs:
        notation, others = _main_notation(pairs), int(present.sum())
        is_certain = notation not in _AMBIGUOUS or _are_many(len(pairs), others)
        kind = query_ids_in_two_notations if is_certain else some_query_ids_in_two_notations
        yield kind(
            run.name,
            [pair.judged_id for pair in pairs],
            len(missing),
            notation,
            str(pairs[0]),
            _if_alike(run, gauge, pairs, {}),
        )
    if 2 * (len(missing) - len(pairs)) > n > 1:
        effect, hint = "are left out", ""
        if average_over == "judged":
            advice = f"{flag('--average-over', 'both')} averages over the queries of both"
            effect, hint = "count as 0", f" If it is right, {advice}."
        yield most_judged_queries_missing(run.name, missing, n, effect, hint)


def _if_alike(
    run: RunInput, gauge: Gauge | None, queries: Sequence[IdPair], items: ItemPairs
) -> str:
    """The figure as it is and with the ids written alike; empty where the whole run is not read
    again.
    """
    if gauge is None or (ranking := _whole_run(run)) is None:
        return ""
    figure = gauge.mean_of(ranking)
    aligned = gauge.mean_of(_written_as_judged(ranking, queries, items))
    if aligned == figure:
        return f", and {gauge.label} would stay {figure}"
    return f", and {gauge.label} would be {aligned} in place of {figure}"


def _item_ids(
    run: RunInput, judgments: Judgments, rows: Sequence[_FirstRow], rel: float, gauge: Gauge | None
) -> Iterator[Finding]:
    """Item ids in two notations; and none of a run's items judged."""
    if spelled := _spelled_items(run, judgments, gauge):
        yield spelled
        return
    relevant = judgments.grades >= rel
    n_found, n_present = int(relevant[run.hits.row].sum()), int(run.hits.n_retrieved.sum())
    if not n_present or 10 * n_found >= min(int(relevant.sum()), n_present):
        return
    run_items = list(dict.fromkeys([row.item for row in rows] or _items_of(run)))
    judged, listed = dict.fromkeys(judgments.items), set(run_items)
    exact = len(judged.keys() & listed)
    pairs = _match_probable(
        [item for item in judged if item not in listed],
        [item for item in run_items if item not in judged],
        max(2 * exact + 1, min(3, len(run_items), len(judged))),
    )
    if pairs:
        yield item_ids_in_another_notation(
            run.name, len(pairs), len(run_items), _main_notation(pairs), str(pairs[0]), exact
        )
    elif judged and run_items and not len(run.hits.row):
        yield no_judged_item(run.name, run_items[0], judgments.items[0])


_AMBIGUOUS = ("differences of case", "leading zeros", CHUNKS, "hyphens within ids")
"""Notations in which two ids may be different items, such as the titles of two pages."""
_MANY = 0.1
"""The share of ids from which on an ambiguous difference of notation is certain to be a mistake."""


def _are_many(n_pairs: int, others: int) -> bool:
    """Whether so many ids in two notations, beside others in one, are no chance."""
    return n_pairs > 1 and n_pairs >= _MANY * (n_pairs + others)


def _spelled_items(run: RunInput, judgments: Judgments, gauge: Gauge | None) -> Finding | None:
    """Judged items that the run lists in another notation, however few."""
    items, least = _match_items(_sample_rows(run), judgments, run.hits), "at least "
    if items and (ranking := _whole_run(run)) is not None:
        rows, least = zip(ranking.row_queries, ranking.items, strict=True), ""
        items = _match_items(rows, judgments, run.hits)
    if not items:  # perhaps as the whole lists have a second spelling
        return None
    pairs = [IdPair(judged_id, listed_id) for (_, listed_id), judged_id in items.items()]
    n = len({(query, judged) for (query, _), judged in items.items()})
    notation = _main_notation(pairs)
    is_certain = notation not in _AMBIGUOUS or _are_many(len(pairs), len(run.hits.row))
    kind = item_ids_in_two_notations if is_certain else some_item_ids_in_two_notations
    effect = _if_alike(run, gauge, (), items)
    return kind(run.name, f"{least}{n}", n > 1, notation, str(pairs[0]), effect)


def _items_of(run: RunInput) -> Sequence[str]:
    """The first items of a run in any format; none of a file that is too large to be read for
    them.
    """
    return () if (ranking := _read_again(run)) is None else ranking.items[:_ROWS]


# ---- columns and directions
# ------------------------------------------------------------------------------------------------


def _swapped_inputs(run: RunInput, judgments: Judgments) -> Iterator[Finding]:
    """Grades with decimals, and fewer scores, which are small integers."""
    grades, scores = judgments.grades[:_ROWS], run.hits.score
    fractions = grades[grades % 1 != 0]
    if (
        2 * len(fractions) > len(grades)
        and len(scores)
        and run.hits.n_retrieved.sum() <= len(judgments.items)
        and not (scores % 1 != 0).any()
        and np.abs(scores).max() <= 4
    ):
        numbers = ", ".join(f"{score:g}" for score in np.unique(scores).tolist())
        yield judgments_and_run_swapped(float(fractions[0]), run.name, numbers)


def _first_rows(run: RunInput) -> list[_FirstRow]:
    """The first rows of a TREC run or of a table; none of another format."""
    if not isinstance(run.origin, (str, Path)):
        return []
    if run.format != "trec":
        return [_FirstRow(*row) for row in _table_rows(run, _ROWS) or ()]
    with Source(run.origin).open() as stream:
        lines = [line.split() for line in islice(stream, _ROWS) if line.strip()]
    return [
        _FirstRow(decode_id(line[0]), decode_id(line[2]), _number(line[3]), float(line[4]))
        for line in lines
    ]


def _number(text: bytes) -> float:
    try:
        return float(text)
    except ValueError:
        return 0.0


def _counts_up(numbers: Sequence[float]) -> bool:
    return numbers[0] in (0, 1) and all(second - first == 1 for first, second in pairwise(numbers))


def _rising(name: str, rows: Sequence[_FirstRow]) -> Finding | None:
    """Scores that rise with the ranks in every query: swapped columns, ranks in place of scores, or
    distances.
    """
    by_query = grouped((row.query, (row.rank, row.score)) for row in rows if row.rank is not None)
    lists = [query_rows for query_rows in by_query.values() if len(query_rows) > 1]
    if not lists:
        return None
    n, ranks_of_longest = len(lists), {rank for rank, _ in max(lists, key=len)}
    counted = len(max(lists, key=len)) > 2 and all(
        _counts_up(sorted(score for _, score in query_rows)) for query_rows in lists
    )
    falling = all(
        first[0] >= second[0]
        for query_rows in lists
        for first, second in pairwise(sorted(query_rows, key=itemgetter(1)))
    )
    ranked = any(_counts_up(sorted(rank for rank, _ in query_rows)) for query_rows in lists)
    if counted and falling and not ranked and len(ranks_of_longest) > 1:
        return ranks_and_scores_swapped(name, max(ranks_of_longest), min(ranks_of_longest))
    # By rank where there are ranks; else by line.
    ordered = [
        [score for _, score in sorted(query_rows, key=itemgetter(0))] for query_rows in lists
    ]
    steps = [second - first for list_scores in ordered for first, second in pairwise(list_scores)]
    if min(steps) < 0 or sum(step > 0 for step in steps) < 3:
        return None
    if counted and all(map(_counts_up, ordered)):
        return ranks_in_place_of_scores(name)
    lists_of = f"the list of query {shown(rows[0].query)}" if n == 1 else f"all {n} lists"
    return rising_scores(name, lists_of, len(rows))


def _lateness(hits: Hits, relevant: Bools) -> Floats:
    """Mean place of a query's relevant items in its list: -1 at its beginning, 1 at its end.

    relevant: (rows of the judgments,). Tied items are in the middle of their places; lists of one
    item are left out.
    """
    rows = np.flatnonzero(relevant[hits.row] & (hits.n_retrieved[hits.query] > 1))
    owner = hits.query[rows]
    relative_ranks = (2 * hits.above[rows] + hits.tied[rows]) / hits.n_retrieved[owner] - 1
    n = np.bincount(owner, minlength=1)
    return sum_by(owner, relative_ranks, 1)[n > 0] / n[n > 0]


def _at_the_end(run: RunInput, judgments: Judgments, rel: float) -> Finding | None:
    """Relevant items near the ends of the lists, where a run in random order has them less than
    once in a million.

    Each query gives one number, the mean place of its relevant items: -1 first, 1 last, 0 expected
    in random order. The mean of n queries then exceeds t with a probability of at most exp(-3 n t²
    / 2), however the items of a query depend on each other:
    a place varies no more than a uniform variable on [-1, 1], whose E exp(s x) = sinh(s) / s is at
    most exp(s² / 6), and averages keep that bound. The mean has to exceed 1/3 as well, the last
    third of a list.
    """
    late = _lateness(run.hits, judgments.grades >= rel)
    mean = exact_mean(late) if len(late) else 0.0
    if mean < _LATE or mean * np.sqrt(3 * len(late)) < _Z:
        return None
    return relevant_items_last(run.name, 50 * (mean + 1), len(late))


def _rounded(run: RunInput) -> Finding | None:
    """Scores that differ only beyond the digits of float64."""
    n = int(_rounded_ties(run.hits).sum())
    return rounded_scores(run.name, n) if n else None


def _all_tied(run: RunInput, ties: str) -> Finding | None:
    """One score for all items of a query, where ids break ties."""
    lengths = run.hits.n_retrieved[run.hits.query]
    n = len(np.unique(run.hits.query))
    if (
        not ties.startswith("id-")
        or not (lengths > 1).any()
        or not (run.hits.tied == lengths).all()
        or 2 * n < int(run.hits.has_ranking.sum())
    ):
        return None
    return equal_scores(run.name)
