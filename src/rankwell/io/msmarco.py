"""MS MARCO: runs as `query item rank`, texts as `id text`, both between tabs and without a header;
its qrels are TREC's.
"""

import re
from collections.abc import Iterator, Sequence
from functools import partial

from rankwell.data.rankings import Hits, Ranking
from rankwell.data.shared_hits import SharedCounts, SharedQueries
from rankwell.data.tables import Judgments
from rankwell.errors import BadInput, BadLine
from rankwell.io.formats import Request, Texts, file_format, line_cuts
from rankwell.io.reader import ListScan, NumberedLists, count_lines, scan
from rankwell.io.reader.columns import SNIFFED, are_ordered, order_of, settle_ranks
from rankwell.io.reader.lines import MSMARCO_RUN, ReadOptions, read_rows
from rankwell.store import Head, Source, SourceRange, decode_id


def _sniff_run(head: Head) -> float:
    """Three fields of which the last counts the lines of each query."""
    fields = [line.split() for line in head.lines[:SNIFFED]]
    if not fields or any(
        len(line_fields) != 3 or not line_fields[2].isdigit() for line_fields in fields
    ):
        return 0.15 if fields and len(fields[0]) == 3 else 0.0
    return (
        0.8
        if order_of((line_fields[0], line_fields[2]) for line_fields in fields).kind == "ranks"
        else 0.15
    )


def _sniff_texts(head: Head) -> float:
    """An id and a text, or an id, an address, a title and a text; numbers do not count as texts."""
    rows = [line.split(b"\t") for line in head.lines[:20]]
    fits = rows and all(len(row) in (2, 4) and row[0].strip() for row in rows)
    return (
        0.6
        if fits and not all(re.fullmatch(rb"\s*[-+]?[\d.]+\s*", row[-1]) for row in rows)
        else 0.0
    )


def _confirm(source: Source) -> None:
    """Raises BadInput where the first lines alone are in the order of their ranks."""
    no_judgments = Judgments.from_rows([], [], [])
    scan(
        source,
        no_judgments,
        MSMARCO_RUN,
        ReadOptions(),
        unordered=partial(settle_ranks, source, Head.of(source)),
    )


def _find_hits(source: Source, judgments: Judgments, request: Request) -> Hits:
    options = request.options._replace(comments=False)
    checked = request.recognised and not isinstance(source, SourceRange)
    unordered = partial(settle_ranks, source, Head.of(source)) if checked else None
    return scan(
        source, judgments, MSMARCO_RUN, options, progress=request.progress, unordered=unordered
    )


def _count_shared(
    source: Source, judgments: Judgments, shared: SharedQueries, request: Request
) -> SharedCounts | None:
    return count_lines(
        source, judgments, shared, MSMARCO_RUN, request.options._replace(comments=False)
    )


def _lists(
    sources: Sequence[Source], items: Sequence[str], request: Request
) -> Iterator[NumberedLists]:
    lists = ListScan(items, MSMARCO_RUN, request.options._replace(comments=False))
    for source in sources:
        yield from lists.read(source, by_one=request.recognised)


@file_format(
    "msmarco",
    "run",
    sniff=_sniff_run,
    find_hits=_find_hits,
    count_shared=_count_shared,
    cut=line_cuts,
    lists=_lists,
    confirm=_confirm,
)
def read_run(source: Source, request: Request) -> Ranking:
    """The ranking in lines `query item rank`; the score is the rank with its sign turned.

    Raises BadLine for a line of another form, DuplicateItem naming both lines. Source: Bajaj et al.
    2016, MS MARCO.
    """
    rows = read_rows(
        source, request.options._replace(comments=False), MSMARCO_RUN, progress=request.progress
    )
    if request.recognised and not are_ordered(zip(rows.queries, rows.ranks.tolist(), strict=True)):
        settle_ranks(source, Head.of(source))
    return request.ranking_of(rows, source)


@file_format("msmarco", "texts", sniff=_sniff_texts)
def read_texts(source: Source, request: Request) -> Texts:
    """The texts in lines `id text`, or `id url title text` for documents: all that follows the id
    is text.
    """
    texts = dict[str, str]()
    for number, line in source.lines():
        name, tab, text = decode_id(line.rstrip(b"\r\n")).partition("\t")
        if not tab or not name:
            raise BadLine(
                f"{source.name}:{number}: {name[:60]!r}; a line is an id, a tab and a text."
            )
        if name in texts:
            problem = f"{source.name}:{number}: the id {name!r} already appears in an earlier line"
            raise BadInput(f"{problem}; every text needs its own id.")
        texts[name] = "" if request.ids_only else text
    return Texts(texts, {name: {} for name in texts})
