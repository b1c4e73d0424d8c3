"""Images of instances as queries and references, the filters, and the judgments: references of the
query's instance.
"""

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, compress, pairwise
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

import numpy as np

from rankwell.data.matrices import Positives
from rankwell.data.tables import Bools, Ints, Judgments, order_ids
from rankwell.errors import BadInput, BadUsage, DuplicateItem, NothingToEvaluate, flag
from rankwell.tasks.instances.conventions import Excluded, Level

Split = Literal["reference", "query", "both"]
Switch = Literal["filter", "keep"]
Pairs = list[tuple[int, int]]
SPLITS: Mapping[str, Split] = {
    **dict.fromkeys(
        ("reference", "references", "ref", "gallery", "database", "db", "index", "train"),
        "reference",
    ),
    **dict.fromkeys(("query", "queries", "probe", "test"), "query"),
    "both": "both",
}
"""The words for the two sides, in lower case, and their meaning; `both` is a query and one of the
references.
"""


class ImageEntry(NamedTuple):
    """One image of a data set. camera: the camera that took it. group: images that a query must not
    meet, as its own session.
    """

    id: str
    instance: str | None
    split: Split
    path: Path | None = None
    camera: str | None = None
    group: str | None = None
    contentless: bool = False


class Marks(NamedTuple):
    """The ground truth of one query: references that are easy, hard, and neither relevant nor
    counted.
    """

    easy: tuple[str, ...] = ()
    hard: tuple[str, ...] = ()
    junk: tuple[str, ...] = ()


class ListedIds(NamedTuple):
    """The ids of both sides in the data set's own order, which rows and columns of scores without
    ids follow.
    """

    queries: tuple[str, ...]
    references: tuple[str, ...]


_ORDER = ("query", "both", "reference")
_COLUMNS = ("ids", "paths", "instances", "splits", "cameras", "groups")


@dataclass(frozen=True, eq=False)
class Images:
    """A row per image, in the order of the ids' bytes.

    ids: all different. paths: the files, None where only ids are known. instances: the label of
    each, None without one.
    splits: the side of each. cameras, groups: as for `ImageEntry`, None where no image has one.
    contentless: (n,) whether an image shows nothing that could be recognised. marks: query ->
    ground truth, None where instances decide.
    listed: the data set's own order, None where it has none, and for a part of its images. notes:
    on what was read.
    Raises BadInput where lengths differ or marks name an unknown image, DuplicateItem for an id
    that appears twice.
    """

    ids: tuple[str, ...]
    paths: tuple[Path, ...] | None
    instances: tuple[str | None, ...]
    splits: tuple[Split, ...]
    cameras: tuple[str | None, ...] | None
    groups: tuple[str | None, ...] | None
    contentless: Bools
    marks: Mapping[str, Marks] | None = None
    listed: ListedIds | None = None
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        sides = [self.splits.count(side) for side in ("reference", "query", "both")]
        return f"<Images: {sides[0]} references, {sides[1]} queries, {sides[2]} both>"

    def __post_init__(self) -> None:
        for name in (*_COLUMNS, "contentless"):
            column: Sequence[object] | None = getattr(self, name)
            if column is not None and len(column) != len(self.ids):
                raise BadInput(
                    f"images: {name} has {len(column)} rows, ids has {len(self.ids)}; give "
                    "every column one length."
                )
        for first, second in pairwise(self.ids):
            if first == second:
                raise DuplicateItem(f"the image {first!r} is listed twice; list every image once.")
        for query, marks in (self.marks or {}).items():
            names = [*chain.from_iterable(marks)]
            if len(set(names)) < len(names):
                double = next(name for name in names if names.count(name) > 1)
                raise DuplicateItem(
                    f"the ground truth of query {query!r} lists {double!r} twice; list it "
                    "once, as one kind."
                )
            for name in (query, *names):
                if name not in self.index:
                    raise BadInput(
                        f"the ground truth of query {query!r} names {name!r}, which is not an "
                        "image; list it or correct the name."
                    )

    @classmethod
    def from_entries(
        cls,
        entries: Iterable[ImageEntry],
        *,
        marks: Mapping[str, Marks] | None = None,
        listed: ListedIds | None = None,
        notes: Sequence[str] = (),
    ) -> "Images":
        """The table of images in any order.

        Raises BadInput where some have a path and others have none, and for a query whose file is
        that of a reference, too.
        """
        unordered = list(entries)
        rows = [unordered[row] for row in order_ids([entry.id for entry in unordered]).tolist()]
        columns = zip(*rows, strict=True) if rows else [()] * len(ImageEntry._fields)
        ids, instances, splits, *optional, contentless = columns
        paths, cameras, groups = (
            column if any(cell is not None for cell in column) else None for column in optional
        )
        if paths is not None and None in paths:
            raise BadInput(
                f"the image {ids[paths.index(None)]!r} has no file, others have one; name a file "
                "for all or for none."
            )
        return cls(
            ids,
            paths,
            instances,
            splits,
            cameras,
            groups,
            np.array(contentless, dtype=np.bool_),
            marks=marks,
            listed=listed,
            notes=(*notes, *_same_files(rows)),
        )

    @cached_property
    def index(self) -> dict[str, int]:
        """The row of each id."""
        return {name: row for row, name in enumerate(self.ids)}

    @cached_property
    def labels(self) -> dict[str, str]:
        """The instance of each id that has one."""
        pairs = zip(self.ids, self.instances, strict=True)
        return {name: label for name, label in pairs if label is not None}

    def __len__(self) -> int:
        return len(self.ids)

    def references(self) -> "Images":
        """The references, images of both sides included."""
        return self.take(np.flatnonzero([split != "query" for split in self.splits]))

    def queries(self) -> "Images":
        """The queries, images of both sides included."""
        return self.take(np.flatnonzero([split != "reference" for split in self.splits]))

    def take(self, rows: Ints) -> "Images":
        """Some of the images, by ascending rows; without marks."""
        columns: dict[str, Any] = {name: getattr(self, name) for name in _COLUMNS}
        taken = {
            name: column and tuple(column[row] for row in rows.tolist())
            for name, column in columns.items()
        }
        return replace(self, **taken, contentless=self.contentless[rows], marks=None, listed=None)


def _same_files(entries: Iterable[ImageEntry]) -> list[str]:
    """A note on images of both sides that have one content. Raises BadInput where a query has that
    of another reference.
    """
    by_size, by_digest = dict[int, list[ImageEntry]](), dict[str, list[ImageEntry]]()
    for entry in entries:
        if entry.path is not None and entry.path.is_file() and entry.path.stat().st_size:
            by_size.setdefault(entry.path.stat().st_size, []).append(entry)
    alike = [
        entry
        for same_size in by_size.values()
        if {image.split for image in same_size} not in ({"query"}, {"reference"})
        for entry in same_size
    ]
    if len(alike) < 2:
        return []
    # Loaded where there may be any: few data sets have two files of one size.
    from rankwell.vectors.encoders.runs import digests

    paths = [entry.path for entry in alike if entry.path]
    for entry, digest in zip(alike, digests(paths), strict=True):
        by_digest.setdefault(digest, []).append(entry)
    by_digest.pop("", None)  # files that cannot be read
    doubled = 0
    for same_content in by_digest.values():
        first, *_, last = sorted(same_content, key=lambda entry: _ORDER.index(entry.split)) * 2
        if first.split != last.split:
            raise BadInput(
                f"{first.path} and {last.path} have the same content, one as a query and one as a "
                "reference: the query would find itself. Remove one of them, or list the image "
                "once, as both."
            )
        if first.split == "both" and len(same_content) > 1:
            doubled += len(same_content)
    return [f"{doubled} images have the content of another one, and find it"] if doubled else []


@dataclass(frozen=True, eq=False)
class FilteredImages:
    """The images that take part, and how many were left out, by reason; an image of which one side
    stays is counted nowhere.
    """

    images: Images
    counts: Mapping[str, int]

    @property
    def notes(self) -> list[str]:
        """The counts in words."""
        singular = {"references": "reference", "queries": "query"}
        singular["absent instances"] = "an absent instance"
        notes: list[str] = []
        for name, n in self.counts.items():
            noun = name.replace("_", " ")
            for plural in singular if n == 1 else ():
                noun = noun.replace(plural, singular[plural])
            notes.append(f"{n} {noun}")
        return notes


def filter_images(
    images: Images,
    *,
    contentless: Switch = "filter",
    absent: Switch = "filter",
    junk_label: str | None = None,
) -> FilteredImages:
    """The images without references that show nothing, and then without queries whose instance no
    reference shows.

    junk_label: references with this label are left out, too. An image of both sides loses the
    filtered side only. With marks, a query is absent if they list nothing easy or hard; without a
    label, unless no image has one.
    """
    references, queries, labels = images.references(), images.queries(), images.labels
    is_empty = references.contentless & (contentless == "filter")
    empty = set(compress(references.ids, is_empty.tolist()))
    junk = {
        name
        for name in references.ids
        if junk_label is not None and labels.get(name) == junk_label and name not in empty
    }
    absent_queries = list[str]()
    if absent == "filter" and images.marks is not None:
        judged = {query for query, marks in images.marks.items() if marks.easy or marks.hard}
        absent_queries = [query for query in queries.ids if query not in judged]
    elif absent == "filter" and labels:
        present_labels = {labels.get(name) for name in references.ids if name not in empty | junk}
        absent_queries = [
            query
            for query in queries.ids
            if query not in labels or labels[query] not in present_labels
        ]
    n_absent = sum(images.marks is not None or query in labels for query in absent_queries)
    counts = {
        "references_without_content": len(empty),
        "queries_of_absent_instances": n_absent,
        "queries_without_an_instance": len(absent_queries) - n_absent,
        "junk_references": len(junk),
    }
    filtered = _without(images, empty | junk, set(absent_queries))
    return FilteredImages(filtered, {name: number for name, number in counts.items() if number})


def _without(images: Images, references: Set[str], queries: Set[str]) -> Images:
    """The images without some of the references and some of the queries."""
    sides = [
        (split != "query" and name not in references, split != "reference" and name not in queries)
        for name, split in zip(images.ids, images.splits, strict=True)
    ]
    splits: dict[tuple[bool, bool], Split] = {(True, True): "both", (True, False): "reference"}
    filtered = replace(
        images, splits=tuple(splits.get(side, "query") for side in sides), marks=None
    ).take(np.flatnonzero([any(side) for side in sides]))
    if images.marks is None:
        return filtered
    marks = {
        query: Marks(
            *(tuple(name for name in names if name in filtered.index) for names in query_marks)
        )
        for query, query_marks in images.marks.items()
        if query in filtered.index
    }
    return replace(filtered, marks=marks)


@dataclass(frozen=True, eq=False)
class InstanceTruth:
    """The relevant references of each query and its junk, by position; (pairs,) columns sorted by
    query, then by reference. labels: the instance of each id that has one.
    """

    queries: Sequence[str]
    references: Sequence[str]
    owner: Ints
    item: Ints
    junk: Bools
    labels: Mapping[str, str]

    @classmethod
    def of(
        cls,
        queries: Sequence[str],
        references: Sequence[str],
        relevant: Iterable[tuple[int, int]] = (),
        junk: Iterable[tuple[int, int]] = (),
        labels: Mapping[str, str] = MappingProxyType({}),
    ) -> "InstanceTruth":
        """The truth of these pairs (query, reference); a pair that is both counts as junk."""
        pairs = sorted((dict.fromkeys(relevant, False) | dict.fromkeys(junk, True)).items())
        owner, item = np.array([pair for pair, _ in pairs], dtype=np.int64).reshape(-1, 2).T.copy()
        is_junk = np.array([is_junk for _, is_junk in pairs], dtype=np.bool_)
        return cls(queries, references, owner, item, is_junk, labels)

    @cached_property
    def judgments(self) -> Judgments:
        """A row per pair, relevant references with grade 1; queries and references in the order of
        the tables.
        """
        pairs = Positives.of(self.owner, self.item, len(self.queries), len(self.references))
        return replace(pairs.judgments(self.queries, self.references), junk=self.junk)

    @cached_property
    def n_relevant(self) -> Ints:
        """(queries,) number of relevant references."""
        return np.bincount(self.owner[~self.junk], minlength=len(self.queries)).astype(np.int64)


def both_sides(images: Images) -> tuple[Images, Images]:
    """Queries and references. Raises NothingToEvaluate without a query or without a reference."""
    queries, references = images.queries(), images.references()
    # Without a reference every query is left out, too.
    for noun, side, advice in (
        ("reference", references, ""),
        (
            "query",
            queries,
            "; where they are in another folder, name it with "
            f"{flag('--query-images', name='queries')}",
        ),
    ):
        if not len(side):
            raise NothingToEvaluate(
                f"there is no {noun} image left; a data set has images of both sides{advice}."
            )
    return queries, references


def instance_truth(
    images: Images,
    *,
    exclude: Sequence[Excluded] = (),
    level: Level = "medium",
    labels: bool = True,
) -> InstanceTruth:
    """A reference is relevant if it shows the query's instance; or, where the images have marks, by
    those of the level.

    exclude: references that count nowhere: the query `self`, those of its instance by its own
    `camera`, all of its `group`. level: of marks, `easy` are the easy ones, `medium` easy and hard,
    `hard` the hard ones; all others that are listed are junk. labels: False leaves the judgments to
    the caller. Raises BadUsage where cameras, groups or a level are requested and the images have
    none, NothingToEvaluate without a query or without a reference.
    """
    queries, references = both_sides(images)
    junk = [pair for rule in exclude for pair in _excluded(rule, queries, references)]
    relevant = Pairs()
    if labels:
        relevant, junk_of_level = _judged(queries, references, images, level)
        junk += junk_of_level
    return InstanceTruth.of(queries.ids, references.ids, relevant, junk, images.labels)


def _judged(
    queries: Images, references: Images, images: Images, level: Level
) -> tuple[Pairs, Pairs]:
    """The relevant pairs and the junk."""
    if images.marks is None:
        if not images.labels:
            raise NothingToEvaluate(
                f"no image has an instance, such as {queries.ids[0]!r}; put images into "
                "folders of instances, give the form of "
                f"file names with {flag('--pattern')}, or name {flag('--positives')}."
            )
        if level != "medium":
            raise BadUsage(
                f"the level {level} needs a ground truth with easy and hard references; name "
                "one (a JSON with gnd)."
            )
        return _of_one_label(queries.instances, references.instances), []
    reference_rows, relevant, junk = references.index, Pairs(), Pairs()
    for query, name in enumerate(queries.ids):
        query_marks = images.marks.get(name, Marks())
        for names, pairs in (
            (query_marks.easy, junk if level == "hard" else relevant),
            (query_marks.hard, junk if level == "easy" else relevant),
            (query_marks.junk, junk),
        ):
            pairs += [(query, reference_rows[item]) for item in names if item in reference_rows]
    return relevant, junk


def _excluded(rule: Excluded, queries: Images, references: Images) -> Pairs:
    """The pairs of the query itself, of its instance by its camera, or of its group."""
    columns = list[Sequence[object]]()
    for side in (queries, references):
        column = {"self": side.ids, "camera": side.cameras, "group": side.groups}[rule]
        if column is None:
            raise BadUsage(
                f"{flag('--exclude', rule)}: no image has a {rule}; add a column of that "
                "name, or leave the exclusion out."
            )
        if rule == "camera":
            pairs = zip(side.instances, column, strict=True)
            column = [None if None in pair else pair for pair in pairs]
        columns.append(column)
    return _of_one_label(*columns)


def _of_one_label(queries: Sequence[object], references: Sequence[object]) -> Pairs:
    """The pairs of a query and a reference that have the same label; None is not a label."""
    items: dict[object, list[int]] = {}
    for item, label in enumerate(references):
        items.setdefault(label, []).append(item)
    return [
        (query, item)
        for query, label in enumerate(queries)
        if label is not None
        for item in items.get(label, ())
    ]
