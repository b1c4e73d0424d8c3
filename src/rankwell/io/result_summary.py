"""Of folders that `-o` wrote: the rows of the summary, and what its runs took."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rankwell.errors import BadInput
from rankwell.store import Source

_COLUMNS = ("run", "measure", "label", "mean", "sd", "ci_low", "ci_high", "n", "unit")


def read_summary(folder: str | Path) -> list[dict[str, Any]]:
    """The rows of summary.json, as they were written. Raises BadInput where it is missing or holds something else."""
    path = Path(folder) / "summary.json"
    rows: list[Any] = _object(path, "rows", list)["rows"]
    for place, row in enumerate(rows, 1):
        missing = next((name for name in _COLUMNS if not isinstance(row, dict) or name not in row), None)
        if missing is not None:
            raise BadInput(f"{path}: row {place} has no {missing!r}; expected a folder that a command wrote with -o.")
    return rows


def read_further(folder: str | Path) -> dict[str, list[Any]]:
    """The further lists of summary.json, by name: `notes`, and the tables that a command had besides (`verdicts`, `groups`)."""
    found = _object(Path(folder) / "summary.json", "rows", list)
    return {name: each for name, each in found.items() if name != "rows" and isinstance(each, list)}


def read_performance(folder: str | Path) -> Mapping[str, Any]:
    """The content of performance.json on runs and machine; empty where the file is missing. Raises BadInput for other content."""
    path = Path(folder) / "performance.json"
    return _object(path, "runs", dict) if path.is_file() else {}


def _object(path: Path, key: str, kind: type) -> dict[str, Any]:
    """The JSON object of a file. Raises BadInput where it has not this kind of value under the key."""
    if not path.is_file():
        raise BadInput(f"{path.parent}: no {path.name}; expected a folder that a command wrote with -o.")
    try:
        found = json.loads(Source(path).read())
    except ValueError as error:
        raise BadInput(f"{path} is not JSON: {error}.") from error
    if not isinstance(found, dict) or not isinstance(found.get(key), kind):
        raise BadInput(f"{path}: no {key!r}; expected a folder that a command wrote with -o.")
    return found
