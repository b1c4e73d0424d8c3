"""Data sets of images with instance labels: folders, tables, file-name patterns, and ground truth with easy, hard and junk.

One file per form; what they share stands here.
"""

import fnmatch
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from rankwell.core.registry import Catalogue, suggest
from rankwell.errors import BadInput, BadUsage
from rankwell.media.images import PICTURE_SUFFIXES
from rankwell.tasks.instances.images import SPLITS, Images, Listed, Marks, Picture, Split

Reads = TypeVar("Reads", bound=Callable[..., "Found"])


@dataclass(frozen=True)
class Wanted:
    """How a data set is to be read, besides its place.

    queries: a folder of queries beside the place, which then holds references only. root: the folder that ids are paths in.
    pattern: how a file's name tells instance, camera, group or split; None where folders or columns do.
    """

    queries: Path | None = None
    root: Path | None = None
    pattern: str | None = None


@dataclass(frozen=True)
class Found:
    """What a form holds. pictures: in any order. marks: query -> what a ground truth says; None where instances decide.

    listed: the order of both sides, where the form gives one.
    """

    pictures: list[Picture]
    marks: Mapping[str, Marks] | None = None
    listed: Listed | None = None


@dataclass(frozen=True)
class Form:
    """One form of a data set. fits: how surely a place has it, from 0 to 1. read: (place, wanted) -> Found."""

    name: str
    fits: Callable[[Path, Wanted], float]
    read: Callable[[Path, Wanted], Found]


FORMS: Catalogue[Form] = Catalogue("tasks.instances.formats", "form of an image set")


def form(name: str, *, fits: Callable[[Path, Wanted], float]) -> Callable[[Reads], Reads]:
    """Registers the function that reads a form and returns it unchanged."""
    return FORMS.register(name, lambda read: Form(name, fits, read))


def read_images(
    place: Any,
    *,
    queries: str | Path | None = None,
    root: str | Path | None = None,
    pattern: str | None = None,
    contentless: str | None = None,
) -> Images:
    """A data set of images.

    place: a folder with a folder per instance, on each side (`references/INSTANCE/a.jpg`, `queries/INSTANCE/b.jpg`; the sides'
    names are those of `SPLITS`), or of references where `queries` is a second folder of the kind; a table (CSV, TSV, JSON lines,
    Parquet) with the columns `image, instance, split` and perhaps `camera`, `group` and `contentless`; a JSON object with
    `imlist`, `qimlist` and `gnd`, a list of `{easy, hard, junk}` per query, as revisitop has it; or Images as they are.
    root: the folder that a table's images are in; by default the table's own, where the first image is there.
    pattern: what files are called, as `{instance}_{camera}_*.jpg`, with the fields instance, camera, group and split; folders
    then tell the sides alone. contentless: a glob such as `*wall*`; images whose id it fits show nothing to be recognised.
    Ids are paths below the place, with `/`; below two folders each begins with its folder's name.
    Raises BadInput for what is missing, names no known side or fits no pattern,
    DuplicateItem for an image that is listed twice.
    """
    if isinstance(place, Images):
        return place if contentless is None else _without_content(place, contentless)
    path = Path(place)
    if not path.exists():
        raise BadInput(f"{path}: no such file or folder; name a data set of images.")
    wanted = Wanted(_folder(queries), _folder(root), pattern)
    scored = sorted(((FORMS[name].fits(path, wanted), name) for name in FORMS), key=lambda each: (-each[0], each[1]))
    if scored[0][0] <= 0:
        raise BadInput(f"{path} is no data set of images; known are {', '.join(FORMS)}.")
    chosen = FORMS[scored[0][1]]
    found = chosen.read(path, wanted)
    if not found.pictures:
        raise BadInput(f"{path} holds no image ({', '.join(PICTURE_SUFFIXES[:6])} …); name a folder or a table of images.")
    try:
        images = Images.from_pictures(found.pictures, marks=found.marks, listed=found.listed)
    except BadInput as error:
        raise type(error)(f"{path}: {error}") from error
    return images if contentless is None else _without_content(images, contentless)


def _folder(place: str | Path | None) -> Path | None:
    if place is not None and not Path(place).is_dir():
        raise BadInput(f"{place}: no such folder.")
    return None if place is None else Path(place)


def _without_content(images: Images, glob: str) -> Images:
    """The images with those marked whose id fits a glob. Raises BadUsage where none does."""
    from dataclasses import replace

    bare = np.array([fnmatch.fnmatchcase(name, glob) for name in images.ids], dtype=np.bool_)
    if not bare.any():
        raise BadUsage(
            f"--contentless-images {glob!r} fits no image, such as {images.ids[0]!r}; mend the pattern or leave it out."
        )
    return replace(images, contentless=images.contentless | bare)


def split_of(word: str, where: str) -> Split:
    """The side that a word means. Raises BadInput for one that means none."""
    known = word.strip().lower()
    if known not in SPLITS:
        raise BadInput(f"{where}: {word!r} is no split; {suggest(known, SPLITS)}")
    return SPLITS[known]


def named_place(text: str) -> tuple[str, str]:
    """The name and the place of a data set: `NAME=PLACE`, or a place whose last part, without suffixes, is the name."""
    name, equals, place = text.partition("=")
    if equals and name and not Path(text).exists():
        return name, place
    return Path(text).resolve().name.partition(".")[0], text
