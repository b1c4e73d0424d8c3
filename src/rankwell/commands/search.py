"""Find the nearest items of each query among embeddings, exactly: a run, or the ground truth of an
approximate index.

Of items with the same score the one that stands first in BASE comes first; the result is the same
for every backend.
"""

import shlex
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np

from rankwell._native.products import Exclude, Groups
from rankwell._native.similarity import Metric
from rankwell.data.options import Doc, exists_error, may_overwrite
from rankwell.errors import BadUsage, flag, kind_of
from rankwell.io import formats as io
from rankwell.io.formats import read_column, written_format
from rankwell.io.matrices import read_embeddings
from rankwell.io.vectors import write_ground_truth
from rankwell.reporting.options import Aside, FilePath, Output, Progress
from rankwell.runtime.parts.execution import run_in_parts
from rankwell.runtime.parts.lists import ListBlock
from rankwell.runtime.parts.options import PartOptions, PartOutcome, refusal
from rankwell.runtime.parts.plans import file_of_part
from rankwell.runtime.parts.search import MergedSearch
from rankwell.runtime.parts.vectors import VectorFiles
from rankwell.store import refuse_blocked
from rankwell.vectors.neighbours import TopK
from rankwell.vectors.neighbours import search as find

_HDF5 = (".hdf5", ".h5")
_TRUTH = "positions and distances"


@dataclass(frozen=True, kw_only=True)
class SearchChoices:
    """The choices of a search, and the ids and groups of its two sides."""

    k: Annotated[int, Doc("Number of items per query.")] = 100
    metric: Annotated[
        Metric,
        Doc(
            "Cosine, dot product, or Euclidean distance (`l2`; a run then holds its "
            "negative, so that higher is nearer)."
        ),
    ] = "cosine"
    exclude: Annotated[Exclude, Doc("`self` leaves out the item with the query's own id.")] = "none"
    base_ids: Annotated[
        str | None,
        Doc(
            "File of the items' ids: one a line, a JSON list, a table's column "
            "(`items.csv:id`). Without, those in or beside BASE."
        ),
    ] = None
    query_ids: Annotated[str | None, Doc("File of the queries' ids.")] = None
    base_groups: Annotated[
        str | None,
        Doc(
            "File of a label per item, as for ids; items with the query's label are left "
            "out. Needs --query-groups."
        ),
    ] = None
    query_groups: Annotated[str | None, Doc("File of a label per query.")] = None
    backend: Annotated[
        Literal["numpy", "torch", "faiss"], Doc("Library that multiplies; all give the same bytes.")
    ] = "numpy"
    device: Annotated[
        str | None,
        Doc("Where torch multiplies, such as cuda or cpu; by default on a GPU where there is one."),
    ] = None


def search(
    base: str,
    queries: str,
    /,
    *,
    output: FilePath,
    options: SearchChoices,
    parts: PartOptions,
    progress: Progress = None,
) -> Output:
    """Find the nearest items of each query among embeddings, exactly: a run, or the ground truth of
    an approximate index.

    Parameters
    ----------
    base
        File of the items' vectors: .npy, .npz, .fvecs, .fbin, .parquet, .safetensors, .hdf5
        (`data.hdf5:train`); a folder of shards; an address of either (`s3://`, `gs://`, `az://`,
        `hf://`).
    queries
        File of the queries' vectors, by the same model.
    output
        Where to write: a run (.parquet, .run, .csv, .tsv, .json), or positions and distances
        (.hdf5, as ann-benchmarks).
    """
    # Before any work.
    refused = refusal(parts, partial(_refuse_output, output, is_dry=parts.dry_run))
    if not _is_hdf5(output):
        written_format(output, "run", also=f"positions and distances ({', '.join(_HDF5)})")
    outcome = search_files(
        base, queries, options, parts, progress, partial(_written, output, options.metric)
    )
    if outcome.result is None:
        return Output(outcome.text, (*refused, *outcome.notes), outcome.exit_code)
    written_run: _Written = outcome.result
    dimensions = (
        VectorFiles(queries).shape[1]
        if parts.is_used
        else read_embeddings(queries, ids=False, check=False).dimensions
    )
    notes = [
        f"{written_run.n_queries} queries, {written_run.n_items} items, {dimensions} dimensions, "
        f"{options.metric}; "
        f"equal scores in the order of {base}",
        Aside(f"wrote {output} ({written_run.rows} rows, {written_run.form})"),
    ]
    if written_run.n_full < written_run.n_queries:
        notes.insert(
            1,
            f"{written_run.n_queries - written_run.n_full} queries have fewer than {options.k} "
            "items left",
        )
    return Output(notes=tuple(notes))


def _refuse_output(output: Path, *, is_dry: bool) -> None:
    """Raises BadUsage for a file that cannot be written. is_dry: also for one that is there, which
    is an error in other runs.
    """
    refuse_blocked(output)
    if is_dry and output.is_file() and not may_overwrite():
        raise exists_error(output)


def _is_hdf5(output: Path) -> bool:
    return output.name.lower().endswith(_HDF5)


class _Written(NamedTuple):
    """The lists in a file. rows: items of all lists. n_full: number of lists with k items. form: of
    the file.
    """

    n_queries: int
    n_items: int
    rows: int
    n_full: int
    form: str


def _written(output: Path, metric: Metric, search_result: TopK | MergedSearch) -> _Written:
    """Writes lists to a file: positions and distances while parts are merged, a run as a whole."""
    rows, n_full = [0], [0]

    def _counted(blocks: Iterable[ListBlock]) -> Iterator[ListBlock]:
        for block in blocks:
            has_item = block.positions >= 0
            rows.append(int(np.count_nonzero(has_item)))
            n_full.append(int(np.count_nonzero(has_item[:, -1])))
            yield block

    if isinstance(search_result, MergedSearch) and _is_hdf5(output):
        shape, n_items = search_result.shape, search_result.n_items
        write_ground_truth(output, _counted(search_result.blocks()), shape, metric, n_items=n_items)
        return _Written(shape[0], n_items, sum(rows), sum(n_full), _TRUTH)
    lists = search_result.top_k() if isinstance(search_result, MergedSearch) else search_result
    n_queries, n_items = len(lists.query_names), len(lists.item_names)
    blocks, form = (
        list(_counted([ListBlock(slice(0, n_queries), lists.positions, lists.scores)])),
        _TRUTH,
    )
    if _is_hdf5(output):
        write_ground_truth(
            output, blocks, (n_queries, lists.positions.shape[1]), metric, n_items=n_items
        )
    else:
        form = io.write_run(lists.ranking(), output)
    return _Written(n_queries, n_items, sum(rows), sum(n_full), form)


def search_files(
    base: Any,
    queries: Any,
    options: SearchChoices,
    parts: PartOptions,
    progress: Callable[[str, int, int], None] | None,
    use: Callable[[TopK | MergedSearch], Any],
) -> PartOutcome:
    """The search of a command line, in one piece or in parts. base, queries: in one piece whatever
    `read_embeddings` reads.

    use: as `run_in_parts` takes it; in one piece it takes a TopK.
    """
    if (options.base_groups is None) != (options.query_groups is None):
        raise BadUsage("--base-groups and --query-groups go together; give both or neither.")
    if options.device is not None and options.backend != "torch":
        raise BadUsage(
            f"{flag('--device', options.device)}: the backend {options.backend} uses processors; "
            f"name {flag('--backend', 'torch')}, or leave it out."
        )
    if parts.is_used:
        words = [
            "rankwell",
            "search",
            str(base)[:200],
            str(queries)[:200],
            "-k",
            str(options.k),
            "--metric",
            options.metric,
        ]
        return run_in_parts(
            "search", _part_options(base, queries, options), parts, shlex.join(words), progress, use
        )
    items = read_embeddings(base, ids=options.base_ids, check=False)
    table = read_embeddings(queries, ids=options.query_ids, check=False)
    if options.exclude == "self" and (table.ids is None) != (items.ids is None):
        raise BadUsage(
            "--exclude self goes by id, and only one side has ids; name them with --base-ids "
            "and --query-ids."
        )
    groups = None
    if options.query_groups and options.base_groups:
        groups = Groups(read_column(options.query_groups), read_column(options.base_groups))
    top_k = find(
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
    return PartOutcome(use(top_k))


def _part_options(base: Any, queries: Any, options: SearchChoices) -> dict[str, Any]:
    """The options of the kind `search`, with absolute paths. Raises BadUsage for vectors that are
    not in files.
    """
    input_paths = {
        "base": base,
        "queries": queries,
        "base_ids": options.base_ids,
        "queries_ids": options.query_ids,
        "base_groups": options.base_groups,
        "queries_groups": options.query_groups,
    }
    bad_option = next(
        (
            name
            for name, path in input_paths.items()
            if not isinstance(path, (str, Path, type(None)))
        ),
        None,
    )
    if bad_option is not None:
        raise BadUsage(
            f"{bad_option}: parts are computed from files; this is "
            f"{kind_of(input_paths[bad_option])}; save it and name its file."
        )
    part_options: dict[str, Any] = {
        name: None if path is None else file_of_part(path) for name, path in input_paths.items()
    }
    option_names = ("k", "metric", "exclude", "backend", "device")
    return part_options | {name: getattr(options, name) for name in option_names}
