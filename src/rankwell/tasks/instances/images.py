"""Images: pictures of instances, some to be searched for, others to be found."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np

from rankwell.core.tables import Bools, Ints, order_ids
from rankwell.errors import BadInput, DuplicateItem

Split = Literal["reference", "query", "both"]
SPLITS: Mapping[str, Split] = {
    **dict.fromkeys(("reference", "references", "ref", "gallery", "database", "db", "index", "train"), "reference"),
    **dict.fromkeys(("query", "queries", "probe", "test"), "query"),
    "both": "both",
}
"""The words for the two sides, in lower case, and what they mean; `both` is a query and stands among the references."""


class Picture(NamedTuple):
    """An image as its table has it. camera: what took it. group: what it must not be compared with, such as its own session."""

    id: str
    instance: str | None
    split: Split
    path: Path | None = None
    camera: str | None = None
    group: str | None = None
    contentless: bool = False


class Marks(NamedTuple):
    """What a ground truth says of one query: references that are easy, hard, and neither right nor wrong."""

    easy: tuple[str, ...] = ()
    hard: tuple[str, ...] = ()
    junk: tuple[str, ...] = ()


class Listed(NamedTuple):
    """The ids of both sides as a data set numbers them, which is what rows and columns of scores without ids follow."""

    queries: tuple[str, ...]
    references: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Images:
    """A row per image, in the order of the ids' bytes.

    ids: all different. paths: the files, None where only ids are known. instances: what each shows, None for what has no label.
    splits: which side each is on. cameras, groups: as for `Picture`, None where no image has one. contentless: (n,) whether an
    image shows nothing that could be recognised. marks: query -> what a ground truth says where instances do not decide.
    listed: the order that the data set gives its images, None where it gives none, and for some of its images.
    Raises BadInput where lengths differ or marks name an image that is not there; DuplicateItem for an id that comes twice.
    """

    ids: tuple[str, ...]
    paths: tuple[Path, ...] | None
    instances: tuple[str | None, ...]
    splits: tuple[Split, ...]
    cameras: tuple[str | None, ...] | None
    groups: tuple[str | None, ...] | None
    contentless: Bools
    marks: Mapping[str, Marks] | None = field(default=None)
    listed: Listed | None = None

    def __repr__(self) -> str:
        sides = [self.splits.count(side) for side in ("reference", "query", "both")]
        return f"<Images: {sides[0]} references, {sides[1]} queries, {sides[2]} both>"

    def __post_init__(self) -> None:
        for name in ("paths", "instances", "splits", "cameras", "groups", "contentless"):
            column: Sequence[object] | None = getattr(self, name)
            if column is not None and len(column) != len(self.ids):
                raise BadInput(f"images: {name} has {len(column)} rows, ids has {len(self.ids)}; give every column one length.")
        for first, second in zip(self.ids, self.ids[1:], strict=False):
            if first == second:
                raise DuplicateItem(f"the image {first!r} is listed twice; list every image once.")
        for query, marks in (self.marks or {}).items():
            listed = [*marks.easy, *marks.hard, *marks.junk]
            if len(set(listed)) < len(listed):
                double = next(name for name in listed if listed.count(name) > 1)
                raise DuplicateItem(f"the ground truth of query {query!r} lists {double!r} twice; list it once, as one kind.")
            missing = next((name for name in (query, *listed) if name not in self.index), None)
            if missing is not None:
                raise BadInput(
                    f"the ground truth of query {query!r} names {missing!r}, which is no image; list it or mend the name."
                )

    @classmethod
    def from_pictures(
        cls, pictures: Iterable[Picture], *, marks: Mapping[str, Marks] | None = None, listed: Listed | None = None
    ) -> "Images":
        """The table of images in any order. Raises BadInput where some have a path and others have none."""
        given = list(pictures)
        rows = [given[row] for row in order_ids([each.id for each in given]).tolist()] if given else []
        paths = [each.path for each in rows]
        lacking = next((each.id for each in rows if each.path is None), None)
        if lacking is not None and any(path is not None for path in paths):
            raise BadInput(f"the image {lacking!r} has no file, others have one; name a file for all or for none.")
        return cls(
            ids=tuple(each.id for each in rows),
            paths=None if lacking is not None else tuple(path for path in paths if path is not None),
            instances=tuple(each.instance for each in rows),
            splits=tuple(each.split for each in rows),
            cameras=_some([each.camera for each in rows]),
            groups=_some([each.group for each in rows]),
            contentless=np.array([each.contentless for each in rows], dtype=np.bool_),
            marks=marks,
            listed=listed,
        )

    @cached_property
    def index(self) -> dict[str, int]:
        """The row of each id."""
        return {name: row for row, name in enumerate(self.ids)}

    def __len__(self) -> int:
        return len(self.ids)

    def references(self) -> "Images":
        """The images that are to be found, those of the split `both` among them."""
        return self.take(self._rows("reference"))

    def queries(self) -> "Images":
        """The images that are searched for, those of the split `both` among them."""
        return self.take(self._rows("query"))

    def _rows(self, split: Split) -> Ints:
        return np.array([row for row, each in enumerate(self.splits) if each in (split, "both")], dtype=np.int64)

    def take(self, rows: Ints) -> "Images":
        """Some of the images, by row, ascending; marks are left to the whole table."""
        chosen: list[int] = rows.tolist()
        return Images(
            ids=tuple(self.ids[row] for row in chosen),
            paths=None if self.paths is None else tuple(self.paths[row] for row in chosen),
            instances=tuple(self.instances[row] for row in chosen),
            splits=tuple(self.splits[row] for row in chosen),
            cameras=None if self.cameras is None else tuple(self.cameras[row] for row in chosen),
            groups=None if self.groups is None else tuple(self.groups[row] for row in chosen),
            contentless=self.contentless[rows],
        )


def _some(column: Sequence[str | None]) -> tuple[str | None, ...] | None:
    return tuple(column) if any(each is not None for each in column) else None
