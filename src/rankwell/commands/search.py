"""Find the nearest items of each query among embeddings, exactly: a run, or the ground truth of an approximate index.

Of items with the same score the one that stands first in BASE comes first; the result is the same for every backend.
"""

import shlex
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from rankwell.core.kernels.products import Exclude, Groups
from rankwell.core.kernels.similarity import Metric
from rankwell.errors import BadUsage, Unfinished, kind_of
from rankwell.io import files as io
from rankwell.io.files import read_column
from rankwell.io.matrices import read_embeddings
from rankwell.io.vectors import write_ground_truth
from rankwell.neighbours import TopK
from rankwell.neighbours import search as find
from rankwell.parts.execution import PartOptions, PartOutcome, carry_out
from rankwell.parts.plans import file_of_part
from rankwell.parts.vectors import VectorFiles
from rankwell.report.present import Aside, FilePath, Output, Progress

_HDF5 = (".hdf5", ".h5")


@dataclass(frozen=True, kw_only=True)
class SearchChoices:
    """The choices of a search, and the ids and groups of its two sides.

    Parameters
    ----------
    k
        Number of items per query.
    metric
        Cosine, dot product, or Euclidean distance (`l2`; a run then holds its negative, so that higher is nearer).
    exclude
        `self` leaves out the item with the query's own id.
    base_ids
        File of the items' ids: one a line, a JSON list, a table's column (`items.csv:id`). Without, those in or beside BASE.
    query_ids
        File of the queries' ids.
    base_groups
        File of a label per item, as for ids; items with the query's label are left out. Needs --query-groups.
    query_groups
        File of a label per query.
    backend
        Library that multiplies; all give the same bytes.
    device
        Where torch multiplies, such as cuda or cpu; by default on a GPU where there is one.
    """

    k: int = 100
    metric: Metric = "cosine"
    exclude: Exclude = "none"
    base_ids: str | None = None
    query_ids: str | None = None
    base_groups: str | None = None
    query_groups: str | None = None
    backend: Literal["numpy", "torch", "faiss"] = "numpy"
    device: str | None = None


def search(
    base: str, queries: str, /, *, output: FilePath, options: SearchChoices, parts: PartOptions, progress: Progress = None
) -> Output:
    """Find the nearest items of each query among embeddings, exactly: a run, or the ground truth of an approximate index.

    Parameters
    ----------
    base
        File of the items' vectors: .npy, .npz, .fvecs, .fbin, .parquet, .safetensors, .hdf5 (`data.hdf5:train`); a folder of
        shards; an address of either (`s3://`, `gs://`, `az://`, `hf://`).
    queries
        File of the queries' vectors, by the same model.
    output
        Where to write: a run (.parquet, .run, .csv, .tsv, .json), or positions and distances (.hdf5, as ann-benchmarks).
    """
    outcome = search_files(base, queries, options, parts, progress)
    if outcome.result is None:
        return Output(outcome.text, outcome.notes, 0 if outcome.missing is None else Unfinished.exit_code)
    found: TopK = outcome.result
    if output.name.lower().endswith(_HDF5):
        write_ground_truth(output, found.positions, found.scores, options.metric)
        written = "positions and distances"
    else:
        written = io.write_run(found.ranking(), output)
    full, rows = np.count_nonzero(found.positions[:, -1] >= 0), int(np.count_nonzero(found.positions >= 0))
    n_queries = len(found.query_names)
    dimensions = VectorFiles(queries).shape[1] if parts.is_used else read_embeddings(queries, ids=False, check=False).dimensions
    notes = [
        f"{n_queries} queries, {len(found.item_names)} items, {dimensions} dimensions, {options.metric}; "
        f"equal scores in the order of {base}",
        Aside(f"wrote {output} ({rows} rows, {written})"),
    ]
    if full < n_queries:
        notes.insert(1, f"{n_queries - full} queries have fewer than {options.k} items left")
    return Output(notes=tuple(notes))


def search_files(
    base: Any, queries: Any, options: SearchChoices, parts: PartOptions, progress: Callable[[str, int, int], None] | None
) -> PartOutcome:
    """The search of a command line, in one piece or in parts. base, queries: in one piece whatever `read_embeddings` reads."""
    if (options.base_groups is None) != (options.query_groups is None):
        raise BadUsage("--base-groups and --query-groups go together; give both or neither.")
    if parts.is_used:
        words = ["rankwell", "search", str(base)[:200], str(queries)[:200], "-k", str(options.k), "--metric", options.metric]
        return carry_out("search", _part_options(base, queries, options), parts, shlex.join(words), progress)
    items = read_embeddings(base, ids=options.base_ids, check=False)
    table = read_embeddings(queries, ids=options.query_ids, check=False)
    if options.exclude == "self" and (table.ids is None) != (items.ids is None):
        raise BadUsage("--exclude self goes by id, and only one side has ids; name them with --base-ids and --query-ids.")
    groups = None
    if options.query_groups and options.base_groups:
        groups = Groups(read_column(options.query_groups), read_column(options.base_groups))
    found = find(
        table,
        items,
        k=options.k,
        metric=options.metric,
        exclude=options.exclude,
        groups=groups,
        backend=options.backend,
        device=options.device,
        progress=None if progress is None else lambda done, total: progress("search", done, total),
    )
    return PartOutcome(found)


def _part_options(base: Any, queries: Any, options: SearchChoices) -> dict[str, Any]:
    """The options of the kind `search`, with absolute paths. Raises BadUsage for vectors that are not in files."""
    places = {
        "base": base,
        "queries": queries,
        "base_ids": options.base_ids,
        "queries_ids": options.query_ids,
        "base_groups": options.base_groups,
        "queries_groups": options.query_groups,
    }
    odd = next((name for name, place in places.items() if not isinstance(place, (str, Path, type(None)))), None)
    if odd is not None:
        raise BadUsage(f"{odd}: parts are computed from files; this is {kind_of(places[odd])}; save it and name its file.")
    found: dict[str, Any] = {name: None if place is None else file_of_part(place) for name, place in places.items()}
    chosen = ("k", "metric", "exclude", "backend", "device")
    return found | {name: getattr(options, name) for name in chosen}
