"""A run in shards: a folder of files of one format, of which each may hold any rows; and ranges of
one large file.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

from rankwell.data.rankings import (
    Hits,
    Ranking,
    SharedCounts,
    SharedPrints,
    SharedQueries,
    count_shared,
    item_prints,
    join_hits,
    repeated_prints,
    shared_queries,
)
from rankwell.data.tables import Judgments
from rankwell.errors import BadInput, BadUsage, DuplicateItem, flag, naming
from rankwell.io.formats import Format, FoundHits, Request, identify
from rankwell.store import Source, SourceRange


def find_hits_in_shards(
    files: Sequence[str], judgments: Judgments, run_format: str | None, request: Request
) -> FoundHits:
    """The hits of a run in several files, as if they were one behind the other.

    Raises as `find_hits`; DuplicateItem for an item that a judged query lists in two files.
    """
    sources = [Source(file) for file in files]
    entry, request = shards_format(sources, run_format, request)
    shards, progress, request = list[Hits](), request.progress, replace(request, progress=None)
    sizes = [source.size for source in sources]
    for number, source in enumerate(sources):
        shards.append(shard_hits(source, entry, judgments, request))
        if progress is not None:
            progress(sum(sizes[: number + 1]), sum(sizes))
    shared = shared_queries(shards)
    check_targets(shared, lambda: judgments, sources, entry, request)
    counts = [
        (number, shard_counts(sources[number], entry, judgments, shared, request))
        for number in shared.shards.tolist()
    ]
    check_prints(
        shared,
        [shard_count.prints for _, shard_count in counts],
        judgments,
        sources,
        entry,
        request,
    )
    hits = join_hits(shards, shared, counts, judgments, ties=request.ties, keep=request.keep)
    return FoundHits(hits, entry.name, tuple(dict.fromkeys(request.findings)), sources[0])


def shards_format(
    sources: Sequence[Source], run_format: str | None, request: Request
) -> tuple[Format, Request]:
    """The format of all shards and how they are read; findings are added to the request. Raises
    BadInput for different formats.
    """
    first, common_format, requested = "", None, request
    for source in sources:
        _, entry, request = identify(source, "run", run_format, requested)
        if request.part:
            raise BadUsage(
                f"{run_format} names a part of a file, and {source.name} is one of several "
                "files; leave it out."
            )
        if common_format is not None and entry.name != common_format.name:
            raise BadInput(
                f"{source.name} is {entry.name}, {first} is {common_format.name}; the shards of a "
                "run have one format. Move what belongs elsewhere, or name the format."
            )
        if common_format is None:
            first, common_format = source.name, entry
    if common_format is None:
        raise ValueError("a run has no shards")
    return common_format, request


def shard_hits(source: Source, entry: Format, judgments: Judgments, request: Request) -> Hits:
    """The hits of one shard, whose errors name the line or the row in its file."""
    try:
        with naming(source.name):
            return entry.hits(source, judgments, request)
    except BadInput:
        if isinstance(source, SourceRange):
            shard_hits(source.full_source, entry, judgments, request)
        raise


def shard_counts(
    source: Source, entry: Format, judgments: Judgments, shared: SharedQueries, request: Request
) -> SharedCounts:
    """The rows of one shard counted among the judged items of other shards."""
    if (
        entry.count_shared is not None
        and (counts := entry.count_shared(source, judgments, shared, request)) is not None
    ):
        return counts
    ranking = _ranking(source, entry, request, judgments)
    return count_shared(
        ranking, judgments, shared, ties=request.ties, single_precision=request.single_precision
    )


def _ranking(source: Source, entry: Format, request: Request, judgments: Judgments) -> Ranking:
    options = Request(duplicates="keep", columns=request.columns, judged=judgments)
    with naming(source.name):
        return entry.read(source, options)


def check_targets(
    shared: SharedQueries,
    judgments: Callable[[], Judgments],
    sources: Sequence[Source],
    entry: Format,
    request: Request,
) -> None:
    """Raises DuplicateItem for a judged item in two shards, BadUsage where repeated items of shared
    queries are to be dropped.
    """
    if request.duplicates != "error" and len(shared.queries):
        query = judgments().queries[int(shared.queries[0])]
        raise BadUsage(
            f"{flag('--duplicates', request.duplicates)}: query {query!r} has rows in several "
            "files or parts of a file, so that repeated items cannot be found in one; leave it "
            "out, or put each query into one file."
        )
    again = (shared.row[1:] == shared.row[:-1]).nonzero()[0]
    if len(again):
        item = judgments().items[int(shared.row[again[0]])]
        query = int(shared.queries[shared.owner[again[0]]])
        _refuse_repeated(query, int(item_prints([item])[0]), judgments(), sources, entry, request)


def check_prints(
    shared: SharedQueries,
    prints: Sequence[SharedPrints],
    judgments: Judgments,
    sources: Sequence[Source],
    entry: Format,
    request: Request,
) -> None:
    """Raises DuplicateItem for any item that a judged query lists in two shards."""
    for query, item_print in repeated_prints(shared, prints):
        _refuse_repeated(query, item_print, judgments, sources, entry, request)


def _refuse_repeated(
    query: int,
    item_print: int,
    judgments: Judgments,
    sources: Sequence[Source],
    entry: Format,
    request: Request,
) -> None:
    """Raises DuplicateItem where an item of this print appears in two shards; two items may share a
    print.
    """
    name, first_sources = judgments.queries[query], dict[str, Source]()
    for source in sources:
        ranking = _ranking(source, entry, request, judgments)
        items = ranking.items[ranking.rows_of(name)]
        rows: list[int] = (item_prints(items) == item_print).nonzero()[0].tolist()
        for item in (items[row] for row in rows):
            if (first := first_sources.setdefault(item, source)) is source:
                continue
            if isinstance(source, SourceRange) and first.name == source.name:
                # One reader of the whole file names both lines.
                shard_hits(source.full_source, entry, judgments, request)
            raise DuplicateItem(
                f"query {name!r} lists item {item!r} twice, in {first.name} and in {source.name}; "
                "keep one of them. A folder is one run: name the files of several runs one by one."
            )
