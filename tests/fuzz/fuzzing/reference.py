"""The reference libraries of binary formats in a process of their own, which may crash: python -m
fuzzing.reference
"""

import atexit
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from fuzzing import Refused, Undecided

_process: subprocess.Popen[str] | None = None


def ask(library: str, path: Path) -> Any:
    """A file's content as a library reads it. Raises Refused where it raises, and Undecided where
    it crashes or takes long.
    """
    global _process
    if _process is None or _process.poll() is not None:
        _end()
        _process = subprocess.Popen(
            [sys.executable, "-m", "fuzzing.reference"],
            cwd=Path(__file__).parents[1],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
    if _process.stdin is None or _process.stdout is None:
        raise RuntimeError("the process has no streams")
    _process.stdin.write(f"{library}\t{path.resolve()}\n")
    _process.stdin.flush()
    answer = _process.stdout.readline()
    if not answer:
        _process.wait()
        raise Undecided(f"{library} crashed")
    found = json.loads(answer)
    if "error" in found:
        raise Refused(found["error"])
    return found["found"]


@atexit.register
def _end() -> None:
    """Ends the process, if there is one, and closes its streams."""
    if _process is not None:
        _process.kill()
        with _process:
            pass


def _shown(array: Any) -> dict[str, Any]:
    import numpy as np

    kind = array.dtype.kind
    numbers = array.astype("<f8") if kind in "fiub" else np.zeros(array.shape)
    if kind in "iu":
        numbers = array.astype("<f8")
    # As float64, large integers are others.
    whole = [str(each) for each in array.reshape(-1).tolist()] if kind in "iu" else []
    return {
        "shape": list(array.shape),
        "kind": kind,
        "bytes": np.ascontiguousarray(numbers).tobytes().hex(),
        "whole": whole,
    }


def _numpy(path: str) -> Any:
    import numpy as np

    found = np.load(path, allow_pickle=False)
    if isinstance(found, np.ndarray):
        return {"array": _shown(found)}
    # Two members may differ in their suffix alone; those without it are not arrays.
    names = [name for name in found.zip.namelist() if name.endswith(".npy")]
    return {name.removesuffix(".npy"): _shown(found[name]) for name in names}


def _h5py(path: str) -> Any:
    import h5py

    with h5py.File(path, "r") as file:
        sets: Any = file
        return {name: _shown(sets[name][()]) for name in sets}


def _neighbours(path: str) -> Any:
    """The data set of ann-benchmarks alone: damage beside it does not concern who reads it."""
    import h5py

    with h5py.File(path, "r") as file:
        sets: Any = file
        return {"neighbors": _shown(sets["neighbors"][()])} if "neighbors" in sets else {}


def _safetensors(path: str) -> Any:
    from safetensors.numpy import load_file

    return {name: _shown(each) for name, each in load_file(path).items()}


def _pyarrow(path: str) -> Any:
    import pyarrow.parquet as pq

    table = pq.ParquetFile(path).read()
    table.validate(full=True)
    columns = [table.column(place).to_pylist() for place in range(table.num_columns)]
    rows = [[_cell(cell) for cell in row] for row in zip(*columns, strict=True)]
    return {"names": table.column_names, "rows": rows}


def _cell(value: Any) -> Any:
    return (
        value if value is None or type(value) in (str, int, float, bool) else {"odd": repr(value)}
    )


def main() -> None:
    """Answers a line for each file."""
    libraries = {
        "numpy": _numpy,
        "h5py": _h5py,
        "neighbours": _neighbours,
        "safetensors": _safetensors,
        "pyarrow": _pyarrow,
    }
    for line in sys.stdin:
        library, path = line.rstrip("\n").split("\t")
        try:
            answer = json.dumps({"found": libraries[library](path)})
        except BaseException as error:
            answer = json.dumps({"error": f"{type(error).__name__}: {error}"[:200]})
        sys.stdout.write(answer + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
