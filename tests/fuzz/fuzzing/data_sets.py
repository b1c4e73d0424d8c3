"""Fuzzers of Arrow streams, as Hugging Face datasets saves them, and of data sets of
ir_datasets.
"""

from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

from fuzzing import FORMATS, FUZZERS, Fuzzer, Undecided
from fuzzing.mutations import binary_file, text_file
from fuzzing.objects import change_frame, frame, made, plain_frame, read_object
from fuzzing.tables import drawn, read


def _arrow(holds: str) -> Callable[[Random, Path], Path]:
    def _write(rng: Random, folder: Path) -> Path:
        path = folder / "input.arrow"
        _save(frame(holds)(rng, folder)[0], path)
        return path

    return _write


def _save(columns: Any, path: Path) -> None:
    """Writes the columns, unless pyarrow does not take them."""
    import pyarrow as pa

    table = made((columns, "pyarrow"))
    if table is not None:
        with pa.OSFile(str(path), "wb") as file, pa.ipc.new_stream(file, table.schema) as stream:
            stream.write_table(table)


def _change_arrow(rng: Random, path: Path) -> Path:
    """The same with other columns or values, or with other bytes."""
    import pyarrow as pa

    if rng.random() < 0.6:
        return binary_file(rng, path)
    table = pa.ipc.open_stream(path.read_bytes()).read_all()
    columns = [(name, table[name].to_pylist()) for name in table.column_names]
    _save(change_frame(rng, (columns, "pyarrow"))[0], path)
    return path


def _plain_arrow(holds: str) -> Callable[[Path], Any]:
    def _plain(path: Path) -> Any:
        import polars as pl

        try:
            table = pl.read_ipc_stream(path)
        except BaseException as error:  # a panic of polars is a BaseException
            raise Undecided(str(error)) from error
        return plain_frame(holds)(([(each.name, each.to_list()) for each in table], "pyarrow"))

    return _plain


def _id_of(holds: str) -> Callable[[Random, Path], Path]:
    def _write(rng: Random, folder: Path) -> Path:
        path = folder / "input.txt"
        rows = [
            f"{query} 0 {item} {grade:g}\n"
            for query, graded in drawn(rng, whole=True).items()
            for item, grade in graded.items()
        ]
        if holds == "texts":
            rows = [f"{place}\t{row}" for place, row in enumerate(rows)]
        path.write_text("".join(rows), encoding="utf-8", newline="")
        return path

    return _write


def _read_id(holds: str) -> Callable[[Path], Any]:
    def _of(path: Path) -> Any:
        import ir_datasets
        from ir_datasets.formats import TrecQrels, TsvQueries
        from ir_datasets.util import LocalDownload

        name, file = "rankwell-fuzzing", LocalDownload(path)
        part = TsvQueries(file) if holds == "texts" else TrecQrels(file, {})
        ir_datasets.registry._registered.pop(name, None)  # pyright: ignore[reportPrivateUsage]
        ir_datasets.registry.register(name, ir_datasets.Dataset(part))
        return read_object(holds)(f"irds:{name}")

    return _of


for _holds in ("run", "judgments", "texts"):
    FUZZERS[f"{FORMATS}: arrow {_holds}"] = Fuzzer(
        _arrow(_holds), _change_arrow, read(_holds, "arrow"), _plain_arrow(_holds)
    )
for _holds in ("judgments", "texts"):
    FUZZERS[f"{FORMATS}: python ir_datasets {_holds}"] = Fuzzer(
        _id_of(_holds), text_file, _read_id(_holds)
    )
