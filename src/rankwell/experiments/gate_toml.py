"""Gates: a TOML file of what is required of results."""

from pathlib import Path
from typing import Any, NamedTuple

from rankwell.core.registry import suggest
from rankwell.errors import BadInput
from rankwell.store import Source, read_toml

_KEYS = ("require", "no_regression", "tolerance", "measures")


class Gate(NamedTuple):
    """What a file requires. require: requirements as text. no_regression: a run or a folder, "" where there is none.

    tolerance: how much worse is not too much, as text, "" where that is not said. measures: those that must not be worse.
    """

    require: tuple[str, ...] = ()
    no_regression: str = ""
    tolerance: str = ""
    measures: tuple[str, ...] = ()


def read_gate(path: str | Path) -> Gate:
    """Reads a gate; all keys are optional.

    `require = ["nDCG@10.ci_low >= 0.38"]`; `no_regression = "bm25"`, a run, or a folder of results beside the file;
    `tolerance = 0.005` or `"1%"`; `measures = ["nDCG@10"]`, those that no_regression is about.
    Raises BadInput naming the file and the key, for a key that means nothing as well.
    """
    source = Source(path)
    _, table = read_toml(source)
    odd = next((name for name in table if name not in _KEYS), None)
    if odd is not None:
        raise BadInput(f"{source.name}: {odd}: there is no such key; {suggest(odd, _KEYS)}")
    baseline = table.get("no_regression", "")
    if not isinstance(baseline, str):
        raise BadInput(f"{source.name}: no_regression is {baseline!r}; the name of a run or a folder is wanted.")
    tolerance = table.get("tolerance", "")
    if isinstance(tolerance, bool) or not isinstance(tolerance, (str, int, float)):
        raise BadInput(f'{source.name}: tolerance is {tolerance!r}; a number, or a text as "1%", is wanted.')
    beside = Path(source.name).parent / baseline
    return Gate(
        require=_texts(source.name, "require", table),
        no_regression=str(beside) if baseline and beside.is_dir() else baseline,
        tolerance=str(tolerance),
        measures=_texts(source.name, "measures", table),
    )


def _texts(file: str, key: str, table: dict[str, Any]) -> tuple[str, ...]:
    found = table.get(key, [])
    if not isinstance(found, list) or not all(isinstance(each, str) for each in found):
        raise BadInput(f'{file}: {key} is {found!r}; a list of texts is wanted, as in require = ["AP >= 0.2"].')
    return tuple(found)
