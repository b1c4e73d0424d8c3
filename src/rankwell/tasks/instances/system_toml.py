"""A system's own TOML: what only its user knows, such as how long it was trained and on what."""

from pathlib import Path
from typing import Any, NamedTuple

from rankwell.core.registry import suggest
from rankwell.errors import BadInput
from rankwell.store import Source, read_toml

_TRAINING = ("time", "hardware", "data")


class System(NamedTuple):
    """What a user states of a system; "" where nothing is stated, for nobody else can know it.

    name: what tables call it. training_time, training_hardware, training_data: in the user's words. notes: anything else.
    """

    name: str = ""
    training_time: str = ""
    training_hardware: str = ""
    training_data: str = ""
    notes: str = ""


def read_system(path: str | Path) -> System:
    """Reads what a user states of a system: texts, all optional.

    `name`, `notes`, and a table `[training]` with `time`, `hardware` and `data`, as in `time = "3 h 20 min"`.
    Raises BadInput naming the file and the key, for a key that means nothing as well.
    """
    source = Source(path)
    _, table = read_toml(source)
    training = table.get("training", {})
    if not isinstance(training, dict):
        raise BadInput(f"{source.name}: training is {training!r}; a table [training] is wanted.")
    own = _texts(
        source.name, "", {name: each for name, each in table.items() if name != "training"}, ("name", "notes", "training")
    )
    trained = _texts(source.name, "training.", training, _TRAINING)
    return System(**own, **{f"training_{name}": text for name, text in trained.items()})


def _texts(file: str, above: str, table: dict[str, Any], known: tuple[str, ...]) -> dict[str, str]:
    for name, value in table.items():
        if name not in known:
            raise BadInput(f"{file}: {above}{name}: there is no such key; {suggest(name, known)}")
        if not isinstance(value, str):
            raise BadInput(f'{file}: {above}{name} is {value!r}; a text is wanted, as in time = "3 h 20 min".')
    return table
