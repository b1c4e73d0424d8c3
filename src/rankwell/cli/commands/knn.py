"""Find exact nearest neighbours among embeddings.

Of items with the same score the one that stands first in ITEMS comes first; the result is the same
for every backend.
"""

from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from rankwell._native.similarity import Metric
from rankwell.data.options import exists_error, may_overwrite, refusal
from rankwell.errors import count_of
from rankwell.files.neighbours import KnnOptions, search_files
from rankwell.io import formats as io
from rankwell.io.formats import written_format
from rankwell.io.matrices import read_embeddings
from rankwell.io.vectors import write_ground_truth
from rankwell.reporting.options import FilePath, Output, Progress, StatusNote
from rankwell.runtime.parts.search import MergedSearch
from rankwell.runtime.parts.vectors import ListBlock, VectorFiles
from rankwell.store import refuse_blocked
from rankwell.vectors.neighbours import TopK

_HDF5 = (".hdf5", ".h5")
_TRUTH = "positions and distances"


def knn(
    items: str, queries: str, /, *, output: FilePath, options: KnnOptions, progress: Progress = None
) -> Output:
    """Find exact nearest neighbours among embeddings.

    Writes a run, or the ground truth of an approximate index.

      rankwell knn documents.npy queries.npy -o nearest.run

    Parameters
    ----------
    items
        File of the items' vectors: .npy, .npz, .fvecs, .fbin, .parquet, .safetensors, .hdf5
        (`data.hdf5:train`); a folder of shards; an address of either (`s3://`, `gs://`, `az://`,
        `hf://`).
    queries
        File of the queries' vectors, by the same model.
    output
        Where to write: a run (.parquet, .run, .csv, .tsv, .json), or positions and distances
        (.hdf5, as in ann-benchmarks).
    """
    # Before any work.
    refused = refusal(options, partial(_refuse_output, output, is_dry=options.dry_run))
    if not _is_hdf5(output):
        written_format(output, "run", also=f"positions and distances ({', '.join(_HDF5)})")
    outcome = search_files(
        items, queries, options, progress, partial(_written, output, options.metric)
    )
    if outcome.result is None:
        return Output(outcome.text, (*refused, *outcome.messages), outcome.exit_code)
    written_run: _Written = outcome.result
    dimensions = (
        VectorFiles(queries).shape[1]
        if options.is_used
        else read_embeddings(queries, ids=False, check=False).dimensions
    )
    messages = [
        f"{count_of(written_run.n_queries, 'query', 'queries')}, "
        f"{count_of(written_run.n_items, 'item')}, {count_of(dimensions, 'dimension')}, "
        f"{options.metric}; "
        f"equal scores in the order of {items}",
        StatusNote(f"wrote {output} ({written_run.rows} rows, {written_run.form})"),
    ]
    if n_short := written_run.n_queries - written_run.n_full:
        messages.insert(
            1,
            f"{count_of(n_short, 'query has', 'queries have')} fewer than {options.neighbours} "
            "items left",
        )
    return Output(messages=tuple(messages))


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
    """The lists that were written to a file.

    n_queries: number of queries searched, each with one list.
    n_items: number of items searched, listed or not.
    rows: number of entries in all lists together.
    n_full: number of lists with all k entries.
    form: name of the file's format.
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
    blocks = list(_counted([ListBlock(slice(0, n_queries), lists.positions, lists.scores)]))
    form = _TRUTH
    if _is_hdf5(output):
        write_ground_truth(
            output, blocks, (n_queries, lists.positions.shape[1]), metric, n_items=n_items
        )
    else:
        form = io.write_run(lists.ranking(), output)
    return _Written(n_queries, n_items, sum(rows), sum(n_full), form)
