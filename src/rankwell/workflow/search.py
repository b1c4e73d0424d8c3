"""Exact search among embeddings as a function, on this machine or many."""

from dataclasses import dataclass
from typing import Any

from rankwell.commands.search import SearchChoices, search_files
from rankwell.data.options import takes_options
from rankwell.runtime.parts.options import PartOptions
from rankwell.vectors.neighbours import Progress, TopK


@dataclass(frozen=True, kw_only=True)
class SearchFileOptions(SearchChoices, PartOptions):
    """Options of `search`: those of the search, and those of the parts in which it is done."""


@takes_options(SearchFileOptions)
def search(
    queries: Any, items: Any, *, options: SearchFileOptions, progress: Progress | None = None
) -> TopK:
    """The k nearest items of each query, exactly, as `rankwell search` finds them; the same bytes
    with every executor.

    queries, items: paths, arrays (n, d), Embeddings or a mapping id -> vector; with executor, work
    or shards they are paths.
    k: 100 by default. executor: `here`, `processes:N`, `ray`, `ray:HOST:PORT` or `array`. work: the
    folder of parts, with which the same call goes on after an interruption. Raises Unfinished with
    `executor="array"` while parts are missing; the message has what to submit. Otherwise the errors
    of the readers, of `neighbours.search`, and BadUsage for a folder of other work.

    >>> import numpy as np
    >>> import rankwell as rw
    >>> found = rw.search(np.eye(3), np.eye(3), k=1)
    >>> found.positions.ravel().tolist()
    [0, 1, 2]
    """
    report = None if progress is None else (lambda _, done, total: progress(done, total))
    return search_files(
        items,
        queries,
        options,
        options,
        report,
        lambda found: found if isinstance(found, TopK) else found.top_k(),
    ).finished()
