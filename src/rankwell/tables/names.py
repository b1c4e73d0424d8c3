"""What tables that come together are called, when nobody has named them."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from rankwell.errors import BadUsage


class Place(NamedTuple):
    """Where a table is. name: what it was called, or the empty text. path: the file or folder, or None. part: within the file."""

    name: str
    path: Path | None
    part: str = ""


def name_places(
    places: Sequence[Place], otherwise: Sequence[str], *, what: str = "embeddings", example: str = "teacher=a/vectors.npy"
) -> list[str]:
    """A name for each: the given one, else the file's stem, the parent folder's name where stems are equal.

    otherwise: the name of a table that has neither name nor file. what, example: how the error speaks of them. Raises BadUsage
    for a name that comes twice.
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
