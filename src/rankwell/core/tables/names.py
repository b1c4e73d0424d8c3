"""Names for tables that come together without names."""

import itertools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rankwell.errors import BadUsage
from rankwell.store import Source


class Place(NamedTuple):
    """The place of a table. name: as given, or empty. path: the file or folder, or None. part: within the file."""

    name: str
    path: Path | None
    part: str = ""


def name_places(
    places: Sequence[Place], otherwise: Sequence[str], *, what: str = "embeddings", example: str = "teacher=a/vectors.npy"
) -> list[str]:
    """A name for each: the given one, else the file's stem, the parent folder's name where stems are equal.

    otherwise: the name of a table that has neither name nor file. what, example: how the error speaks of them. Raises BadUsage
    for a repeated name.
    """
    stems = [_stem(place) if not place.name else "" for place in places]
    parents = [place.path.resolve().parent for place in places if place.path is not None and not place.name]
    names = [
        place.name or (place.path.resolve().parent.name if _clashes(stem, stems, parents) and place.path else stem) or other
        for place, stem, other in zip(places, stems, otherwise, strict=True)
    ]
    double = next((name for name in names if names.count(name) > 1), None)
    if double is not None:
        raise BadUsage(f"two of the {what} are called {double!r}; name them, as in {example}.")
    return names


def _clashes(stem: str, stems: Sequence[str], parents: Sequence[Path]) -> bool:
    """Whether files in different folders have the same stem."""
    return bool(stem) and stems.count(stem) > 1 and len(set(parents)) > 1


def _stem(place: Place) -> str:
    if place.path is None:
        return ""
    name = place.path.resolve().name
    return ":".join(filter(None, (name.rpartition(".")[0] or name, place.part)))


def name_runs(runs: Any) -> dict[str, Any]:
    """Runs by name: a mapping name -> run as it is; files by their stem, with the parent folder where two stems are equal."""
    if isinstance(runs, Mapping) and runs and not _is_run(runs):
        return dict(runs)
    listed: list[Any] = list(runs) if isinstance(runs, (list, tuple)) else [runs]
    names = [Source(each).stem if isinstance(each, (str, Path)) else "run" for each in listed]
    for longer in (lambda path: f"{path.parent.name}/{Source(path).stem}", lambda path: path.name, str):
        clash = [names.count(name) > 1 and isinstance(each, (str, Path)) for each, name in zip(listed, names, strict=True)]
        names = [longer(Path(each)) if twice else name for each, name, twice in zip(listed, names, clash, strict=True)]
    if len(set(names)) < len(names):
        double = next(name for name in names if names.count(name) > 1)
        raise BadUsage(f"two runs are called {double!r}; name each run once, and rename one of two that are called the same.")
    return dict(zip(names, listed, strict=True))


def _is_run(runs: Mapping[str, Any]) -> bool:
    """Whether a mapping is one run (query -> item -> score) rather than runs by name."""
    if not all(isinstance(inner, Mapping) for inner in runs.values()):
        return False
    values = [value for inner in runs.values() for value in itertools.islice(inner.values(), 1)]
    return all(isinstance(value, (int, float, np.number)) for value in values)
