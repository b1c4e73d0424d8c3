"""Exact search among embeddings, on this machine or many."""

import shlex
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from rankwell._native.products import Groups
from rankwell._native.similarity import Metric
from rankwell.data.options import (
    CountProgress,
    Doc,
    IdData,
    PartOptions,
    PartOutcome,
    Vectors,
    takes_options,
)
from rankwell.errors import BadUsage, flag, kind_of
from rankwell.io.formats import read_labels
from rankwell.io.matrices import read_embeddings
from rankwell.reporting.options import Progress
from rankwell.runtime.parts.execution import run_in_parts
from rankwell.runtime.parts.plans import file_of_part
from rankwell.runtime.parts.search import MergedSearch
from rankwell.vectors.neighbours import TopK
from rankwell.vectors.neighbours import search as find


@dataclass(frozen=True, kw_only=True)
class KnnOptions(PartOptions):
    """Options of `knn`: those of items and queries, and those of the parts in which it is done."""

    neighbours: Annotated[int, Doc("Number of items to find for each query.", is_common=True)] = 100
    metric: Annotated[
        Metric,
        Doc(
            "Cosine, dot product, or Euclidean distance (`l2`); a run holds negative distances, "
            "so that higher means nearer.",
            is_common=True,
        ),
    ] = "cosine"
    exclude_self: Annotated[bool, Doc("Leave out the item with the query's own id.")] = False
    item_ids: Annotated[
        IdData,
        Doc(
            "File of item ids: one per line, a JSON list or a table column (`items.csv:id`). "
            "[default: the ids in or beside the items]"
        ),
    ] = None
    query_ids: Annotated[
        IdData, Doc("File of query ids. [default: the ids in or beside the queries]")
    ] = None
    exclude_group: Annotated[
        IdData,
        Doc(
            "File with a label per item, in the same forms; items with the query's label are left "
            "out. Needs --query-groups."
        ),
    ] = None
    query_groups: Annotated[IdData, Doc("File with a label per query.")] = None
    backend: Annotated[
        Literal["numpy", "torch", "faiss"],
        Doc("Library for the products; all give the same bytes."),
    ] = "numpy"
    device: Annotated[
        str | None, Doc("Device for torch, such as cuda or cpu. [default: a GPU if there is one]")
    ] = None


@takes_options(KnnOptions)
def knn(
    *, items: Vectors, queries: Vectors, options: KnnOptions, progress: CountProgress | None = None
) -> TopK:
    """Finds the nearest items of each query, exactly, as `rankwell knn` does.

    Every executor and backend gives the same bytes. With `work`, the same call resumes after an
    interruption.
    Returns the positions and the similarities of the neighbours, a row per query.
    Raises BadInput for vectors that cannot be read or do not match, BadScore for vectors that are
    not finite, BadUsage for options that do not go together, and for a folder of other work,
    MissingExtra without the package of a backend, Unfinished with `executor="array"` while parts
    are missing; the message says what to submit.

    Parameters
    ----------
    items
        Vectors of the items: a path, an array (n, d), lists of numbers, Embeddings, or a mapping
        id -> vector. With `executor`, `work` or `shards`, vectors and ids are paths.
    queries
        Vectors of the queries, in the same forms.
    item_ids
        Ids of the items: a list, an array, or a file with one per line, a JSON list or a table
        column (`items.csv:id`). [default: the ids in or beside the items]
    query_ids
        Ids of the queries, in the same forms. [default: the ids in or beside the queries]
    exclude_group
        A label per item, in the same forms; items with the query's label are left out. Needs
        `query_groups`.
    query_groups
        A label per query, in the same forms.
    progress
        Function called as the work proceeds, with the number done and the total.

    >>> import numpy as np
    >>> import rankwell as rw
    >>> found = rw.knn(items=np.eye(3), queries=np.eye(3), neighbours=1)
    >>> found.positions.ravel().tolist()
    [0, 1, 2]
    >>> rw.evaluate({"0": {"0": 1}, "1": {"2": 1}}, found.ranking(), "R@1", ties="input")["R@1"]
    0.5
    """
    report = None if progress is None else (lambda _, done, total: progress(done, total))

    return search_files(
        items,
        queries,
        options,
        report,
        lambda found: found if isinstance(found, TopK) else found.top_k(),
    ).finished()


def search_files(
    items: Any,
    queries: Any,
    options: KnnOptions,
    progress: Progress,
    use: Callable[[TopK | MergedSearch], Any],
) -> PartOutcome:
    """The search of a command line, in one piece or in parts. items, queries: in one piece whatever
    `read_embeddings` reads.

    use: as `run_in_parts` takes it; in one piece it takes a TopK.
    """
    if (options.exclude_group is None) != (options.query_groups is None):
        raise BadUsage(
            f"{flag('--exclude-group')} and {flag('--query-groups')} go together; give both or "
            "neither."
        )
    if options.device is not None and options.backend != "torch":
        raise BadUsage(
            f"{flag('--device', options.device)}: the backend {options.backend} uses processors; "
            f"name {flag('--backend', 'torch')}, or leave it out."
        )
    if options.is_used:
        places = [str(items)[:200], str(queries)[:200]]
        settings = ["--neighbours", str(options.neighbours), "--metric", options.metric]
        command = shlex.join(["rankwell", "knn", *places, *settings])
        part_options = _part_options(items, queries, options)
        return run_in_parts("search", part_options, options, command, progress, use)
    item_table = read_embeddings(items, ids=options.item_ids, check=False)
    query_table = read_embeddings(queries, ids=options.query_ids, check=False)
    if options.exclude_self and (query_table.ids is None) != (item_table.ids is None):
        raise BadUsage(
            f"{flag('--exclude-self', True)} compares ids, but one side has none; name them with "
            f"{flag('--item-ids')} and {flag('--query-ids')}."
        )
    groups = None
    if options.query_groups is not None and options.exclude_group is not None:
        groups = Groups(read_labels(options.query_groups), read_labels(options.exclude_group))
    top_k = find(
        query_table,
        item_table,
        k=options.neighbours,
        metric=options.metric,
        exclude="self" if options.exclude_self else "none",
        groups=groups,
        backend=options.backend,
        device=options.device,
        progress=None if progress is None else lambda done, total: progress("search", done, total),
    )
    return PartOutcome(use(top_k))


def _part_options(items: Any, queries: Any, options: KnnOptions) -> dict[str, Any]:
    """The options of the kind `search`, with absolute paths. Raises BadUsage for vectors that are
    not in files.
    """
    input_paths = {
        "base": items,
        "queries": queries,
        "base_ids": options.item_ids,
        "queries_ids": options.query_ids,
        "base_groups": options.exclude_group,
        "queries_groups": options.query_groups,
    }
    part_options = dict[str, Any]()
    for name, path in input_paths.items():
        if not isinstance(path, (str, Path, type(None))):
            raise BadUsage(
                f"{name}: parts are computed from files; this is {kind_of(path)}; save it and name "
                "its file."
            )
        part_options[name] = None if path is None else file_of_part(path)
    search_options = {
        "neighbours": options.neighbours,
        "exclude": "self" if options.exclude_self else "none",
    }
    option_names = ("metric", "backend", "device")
    return part_options | search_options | {name: getattr(options, name) for name in option_names}
