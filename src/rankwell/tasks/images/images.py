"""Images of instances as queries and references: the forms of data sets that are read, the
filters, and the judgments, which are references of the query's instance.
"""

import fnmatch
import re
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, compress, pairwise
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

import numpy as np

from rankwell.data.findings import Finding
from rankwell.data.findings.kinds import reading_choice
from rankwell.data.matrices import Positives
from rankwell.data.options import Rows, own_arithmetic
from rankwell.data.registry import suggest
from rankwell.data.tables import Bools, Ints, Judgments, grouped, order_ids, positions_by_id
from rankwell.documents import read_json, repeated_name, unique_keys
from rankwell.errors import (
    BadInput,
    BadUsage,
    DuplicateItem,
    NothingToEvaluate,
    flag,
    kind_of,
    shown,
)
from rankwell.io.records import column, load
from rankwell.store import Source, path_of, split_name
from rankwell.tasks.images.conventions import Excluded, Level
from rankwell.tasks.images.findings import images_left_out, images_on_both_sides
from rankwell.vectors.media.images import PICTURE_SUFFIXES, list_media

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
_FIELDS = ("instance", "camera", "group", "split")
_CONTENTLESS = ("contentless", "no-content", "without-content")
"""Names of folders of images that show nothing to be recognised, in an instance's folder or beside
those.
"""
_YES, _NO = ("1", "true", "yes", "y"), ("", "0", "false", "no", "n")
_NOTHING = ("", "nan", "none", "null")
_KINDS = {"easy": "easy", "good": "easy", "hard": "hard", "ok": "hard", "junk": "junk"}
"""Lists of a ground truth and their meaning; `good` and `ok` are the words of the first Oxford and
Paris.
"""


class ImageEntry(NamedTuple):
    """One image of a data set.

    id: id of the image; for a file its path below the data set.
    instance: label of the instance that it shows; None without a label.
    split: whether it is a query, a reference or both.
    path: path of the file; None where only the id is known.
    camera: the camera that took it; None where unknown.
    group: a group of images that a query must not be compared with, such as its own session; None
        for none.
    contentless: whether it shows nothing recognisable.
    """

    id: str
    instance: str | None
    split: Split
    path: Path | None = None
    camera: str | None = None
    group: str | None = None
    contentless: bool = False


class Marks(NamedTuple):
    """The ground truth of one query.

    easy, hard: ids of the references that are easy and hard to recognise.
    junk: ids of the references that are neither relevant nor counted.
    """

    easy: tuple[str, ...] = ()
    hard: tuple[str, ...] = ()
    junk: tuple[str, ...] = ()


class ListedIds(NamedTuple):
    """The ids in the data set's order, which rows and columns of scores without ids follow.

    queries, references: ids of the queries and of the references.
    """

    queries: tuple[str, ...]
    references: tuple[str, ...]


_ORDER = ("query", "both", "reference")
_COLUMNS = ("ids", "paths", "instances", "splits", "cameras", "groups")


@dataclass(frozen=True, eq=False)
class Images:
    """A data set of images, as `read_images` reads it: a row per image, in the order of the ids'
    bytes.

    Raises BadInput where lengths differ or marks name an unknown image, DuplicateItem for an id
    that appears twice.

    ids: (n,) ids, all different.
    paths: (n,) paths of the files; None where only ids are known.
    instances: (n,) label of each image; None without a label.
    splits: (n,) whether the image is a query, a reference or both.
    cameras: (n,) the camera of each image; None where no image has one.
    groups: (n,) the group of each image; None where no image has one.
    contentless: (n,) whether the image shows nothing recognisable.
    marks: query -> ground truth; None where instances decide relevance.
    listed: the data set's order; None where it has none, and for a part of its images.
    findings: findings of the reader.

    >>> import rankwell as rw
    >>> rows = [{"image": "a2", "instance": "vase", "split": "query"}]
    >>> rw.read_images(rows).splits
    ('query',)
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
    findings: tuple[Finding, ...] = ()

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
                double = repeated_name(names)
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
        findings: Sequence[Finding] = (),
    ) -> "Images":
        """The table of images in any order.

        Raises BadInput where some have a path and others have none, and for a query whose file is
        also that of a reference.
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
            findings=(*findings, *_same_files(rows)),
        )

    @cached_property
    def index(self) -> dict[str, int]:
        """The row of each id."""
        return positions_by_id(self.ids)

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


def _same_files(entries: Iterable[ImageEntry]) -> list[Finding]:
    """The finding on images of both sides that have one content. Raises BadInput where a query has
    that of another reference.
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
    problem = f"{doubled} images have the content of another one, and find it"
    return [images_on_both_sides(problem)] if doubled else []


@dataclass(frozen=True, eq=False)
class FilteredImages:
    """The images that take part, and what was left out.

    images: the images without those that were left out as query and as reference.
    counts: reason -> number of images that are left out. An image that is left out on one side
        alone counts, too. Reasons without an image are absent.
    """

    images: Images
    counts: Mapping[str, int]

    @property
    def described(self) -> list[str]:
        """The counts in words."""
        singular = {"references": "reference", "queries": "query"}
        singular["absent instances"] = "an absent instance"
        described: list[str] = []
        for name, n in self.counts.items():
            noun = name.replace("_", " ")
            for plural in singular if n == 1 else ():
                noun = noun.replace(plural, singular[plural])
            described.append(f"{n} {noun}")
        return described

    def findings(self, name: str = "") -> list[Finding]:
        """The findings of the reader, and those on what was left out of a data set."""
        left_out = [images_left_out(f"left out {count}", name) for count in self.described]
        return [*self.images.findings, *left_out]


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
    """The relevant and junk references of each query, by position. Pairs are sorted by query, then
    by reference.

    queries, references: ids, or positions where only positions are known.
    owner: (pairs,) position of the query.
    item: (pairs,) position of the reference.
    junk: (pairs,) whether the reference is junk, which counts nowhere, and not relevant.
    labels: id -> its instance, for ids that have one.
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
        """The number of relevant references: (queries,)."""
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
                f"file names with {flag('--pattern')}, or name {flag('--qrels')}."
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
                f"{flag('--exclude-group', rule)}: no image has a {rule}; add a column of that "
                "name, or leave the exclusion out."
            )
        if rule == "camera":
            pairs = zip(side.instances, column, strict=True)
            column = [None if None in pair else pair for pair in pairs]
        columns.append(column)
    return _of_one_label(*columns)


def _of_one_label(queries: Sequence[object], references: Sequence[object]) -> Pairs:
    """The pairs of a query and a reference that have the same label; None is not a label."""
    items = grouped((label, item) for item, label in enumerate(references))
    return [
        (query, item)
        for query, label in enumerate(queries)
        if label is not None
        for item in items.get(label, ())
    ]


class ImageSetRequest(NamedTuple):
    """A data set to read.

    path: a folder, a table (also in memory) or a ground truth; where `queries` is given, the folder
        of references.
    queries: the folder of queries; None where the path has both sides.
    root: the folder of the images in a table; None for the table's own folder.
    pattern: the form of file names; None where folders name the instances.
    """

    path: Any
    queries: Path | None = None
    root: Path | None = None
    pattern: str | None = None


class ImageSet(NamedTuple):
    """The content of a data set.

    entries: the images in any order.
    marks: query -> ground truth; None where instances decide relevance.
    listed: the data set's order; None where it has none.
    findings: findings of the reader.
    """

    entries: list[ImageEntry]
    marks: Mapping[str, Marks] | None = None
    listed: ListedIds | None = None
    findings: tuple[Finding, ...] = ()


@own_arithmetic
def read_images(
    place: Rows | Images,
    *,
    queries: str | Path | None = None,
    root: str | Path | None = None,
    pattern: str | None = None,
    contentless: str | None = None,
) -> Images:
    """Reads a data set of images: which image shows which instance, and which are queries.

    Ids are paths below the place, with `/`; below two folders each begins with its folder's name.
    If the folder of one side is inside that of the other, its images belong only to its own side,
    with a note.
    Raises BadInput for a file that is missing, names an unknown side, matches no pattern or is on
    both sides, DuplicateItem for an image that is listed twice.

    Parameters
    ----------
    place
        A folder with a folder per instance on each side (`references/INSTANCE/a.jpg`,
        `queries/INSTANCE/b.jpg`), a table with the columns `image, instance, split` and perhaps
        `camera`, `group` and `contentless`, a file of a JSON object with `imlist`, `qimlist` and
        `gnd` as in revisitop, the rows of a table as a frame or a list, or Images.
    queries
        Folder of the queries, where `place` is the folder of the references.
    root
        Folder of a table's images. By default the table's own, if the first image is there.
    pattern
        Form of file names, such as `{instance}_{camera}_*.jpg`, with the fields instance, camera,
        group and split. Folders then name the sides alone.
    contentless
        A glob such as `*wall*`; images whose id matches show nothing to recognise.

    >>> import rankwell as rw
    >>> images = rw.read_images(
    ...     [
    ...         {"image": "a1", "instance": "vase", "split": "reference"},
    ...         {"image": "a2", "instance": "vase", "split": "query"},
    ...     ]
    ... )
    >>> images.ids, images.instances
    (('a1', 'a2'), ('vase', 'vase'))
    """
    if isinstance(place, Images):
        return mark_contentless(place, contentless)
    is_file = isinstance(place, (str, Path))
    path: Any = Path(place) if is_file else place
    if is_file and not path.exists():
        raise BadInput(f"{path}: no such file or folder; name a data set of images.")
    queries, root = (None if folder is None else path_of(folder) for folder in (queries, root))
    for folder in (queries, root):
        if folder is not None and not folder.is_dir():
            raise BadInput(f"{folder}: no such folder.")
    form = _form(path) if is_file else "tables"
    content = FORMS[form](ImageSetRequest(path, queries, root, pattern))
    path = path if is_file else "the images"
    if not content.entries:
        raise BadInput(
            f"{path} holds no image ({', '.join(PICTURE_SUFFIXES[:6])} …); name a folder or a "
            "table of images."
        )
    try:
        images = Images.from_entries(**content._asdict())
    except BadInput as error:
        raise type(error)(f"{path}: {error}") from error
    return mark_contentless(images, contentless)


def named_place(text: str) -> tuple[str, str]:
    """The name and the place of a data set: `NAME=PLACE`, or a place whose last part, without
    suffixes, is the name.
    """
    name, path = split_name(text)
    if name and not Path(text).exists():
        return name, path
    return (text if "://" in text else Path(text).resolve().name.partition(".")[0]), text


class NoMatch(BadUsage):
    """A pattern that no image of a data set fits."""


def mark_contentless(images: Images, glob: str | None) -> Images:
    """The images with those marked whose id fits a glob. Raises NoMatch where none does."""
    if glob is None:
        return images
    bare = np.array([fnmatch.fnmatchcase(name, glob) for name in images.ids], dtype=np.bool_)
    if not bare.any():
        raise NoMatch(
            f"{flag('--contentless-images', name='contentless')} {glob!r} matches no image, such "
            f"as {images.ids[0]!r}; correct the pattern or leave it out."
        )
    return replace(images, contentless=images.contentless | bare)


def _split(word: str, where: str) -> Split:
    """The side that a word means. Raises BadInput for an unknown word."""
    folded = word.strip().lower()
    if folded not in SPLITS:
        raise BadInput(f"{where}: {word!r} is not a split; {suggest(folded, SPLITS)}")
    return SPLITS[folded]


# Folders


def read_folders(request: ImageSetRequest) -> ImageSet:
    """Folders: one per side and in it one per instance; or files whose names give the instance by a
    pattern.
    """
    references, queries = request.path, request.queries
    pattern = None if request.pattern is None else _pattern(request.pattern)
    if queries is None:
        return ImageSet(
            [_image_file(path, references, pattern, None, "") for path in _files(references)]
        )
    if references.resolve() == queries.resolve():
        raise BadUsage(
            f"{references} is named for references and for queries; name two folders, or leave the "
            "second out."
        )
    # Files of both sides may have the same name: ids begin with a part that distinguishes the
    # folders.
    same_name = references.name == queries.name
    sides: tuple[tuple[Path, Path, Split, str], ...] = (
        (references, queries, "reference", "queries"),
        (queries, references, "query", "references"),
    )
    entries, findings = list[ImageEntry](), list[Finding]()
    for folder, inner, side, inner_side in sides:
        files = _files(folder)
        if inner.resolve().is_relative_to(folder.resolve()):
            inside = folder / inner.resolve().relative_to(folder.resolve())
            own_files = [path for path in files if not path.is_relative_to(inside)]
            reading = (
                f"{inner} lies in {folder}: its {len(files) - len(own_files)} images are "
                f"{inner_side} only"
            )
            findings.append(reading_choice(reading))
            files = own_files
        head = folder.name
        if same_name:
            head = "queries" if side == "query" else "references"
        entries += [_image_file(path, folder, pattern, side, head) for path in files]
    return ImageSet(entries, findings=tuple(findings))


def _files(folder: Path) -> list[Path]:
    """The pictures below a folder; films of the objects are skipped."""
    return [path for path in list_media(folder) if path.name.lower().endswith(PICTURE_SUFFIXES)]


def _image_file(
    path: Path, folder: Path, pattern: re.Pattern[str] | None, side: Split | None, head: str
) -> ImageEntry:
    below = path.relative_to(folder)
    fields: dict[str, str] = {}
    if pattern is not None:
        fitting = pattern.fullmatch(below.name) or pattern.fullmatch(below.stem)
        if fitting is None:
            raise BadInput(
                f"{below.as_posix()}: the name does not match the pattern; correct the pattern, or "
                "move files that are not in the set."
            )
        fields = fitting.groupdict()
    parts = [part for part in below.parts[:-1] if part.lower() not in _CONTENTLESS]
    if side is None and "split" in fields:
        side = _split(fields["split"], str(path))
    if side is None and parts and parts[0].lower() in SPLITS:
        side = SPLITS[parts.pop(0).lower()]
    if side is None:
        raise BadInput(
            f"{path}: no folder says whether this is a reference or a query; expected "
            f"{folder}/references/INSTANCE/{path.name} and {folder}/queries/INSTANCE/…, or a "
            f"folder of queries as {flag('--query-images', name='queries')}."
        )
    if pattern is None and parts:
        fields["instance"] = parts[0]
    return ImageEntry(
        id="/".join(filter(None, (head, below.as_posix()))),
        instance=fields.get("instance"),
        split=side,
        path=path,
        camera=fields.get("camera"),
        group=fields.get("group"),
        contentless=any(part.lower() in _CONTENTLESS for part in below.parts[:-1]),
    )


def _pattern(text: str) -> re.Pattern[str]:
    """`{instance}_{camera}_*.jpg` as a regular expression: a field is as short as it can be, `*` is
    anything. Raises BadUsage.
    """
    written, fields = "", list[str]()
    for part in re.split(r"(\{[^{}]*\}|\*)", text):
        if part == "*":
            written += ".*"
        elif part.startswith("{"):
            field = part[1:-1]
            if field not in _FIELDS or field in fields:
                raise BadUsage(
                    f"{flag('--pattern')} {text!r}: {part} is not a field, or appears twice; "
                    f"known are {', '.join(_FIELDS)}."
                )
            fields.append(field)
            written += f"(?P<{field}>.+?)"
        else:
            written += re.escape(part)
    if "instance" not in fields:
        raise BadUsage(
            f"{flag('--pattern')} {text!r} has no instance; write it as {{instance}}_*.jpg."
        )
    return re.compile(written)


# Tables


@dataclass(frozen=True)
class ImageRow:
    """A row of a table of images, as text. Empty cells, `nan`, `none` and `null` hold no value.

    image: its path below the folder of images, which is its id.
    instance: label of the instance that it shows.
    split: a word of `SPLITS`.
    camera: the camera that took it.
    group: a group of images that a query must not be compared with, such as its own session.
    contentless: yes or no: whether it shows nothing recognisable.
    """

    image: str = column("file", "filename", "path", "id")
    instance: str = column("label", "class", "identity")
    split: str = column("side", "set")
    camera: str = column("cam", default="")
    group: str = column("session", "sequence", default="")
    contentless: str = column("no_content", "without_content", default="")


def read_table(request: ImageSetRequest) -> ImageSet:
    """Tables: a row per image with its instance and its side, and perhaps camera, group, and
    whether it shows nothing.
    """
    path = request.path
    content = load(path, "images")
    entries = [
        _listed_image(record.place, row, is_text=record.content.is_text)
        for record, row in content.rows(ImageRow)
    ]
    if not entries:
        raise BadInput(
            f"{content.name} lists no image; expected a row per image: image,instance,split."
        )
    folder = request.root or (path.parent if isinstance(path, Path) else Path())
    missing = [entry.id for entry in entries if not _is_file(folder / entry.id)]
    if request.root is None and len(missing) == len(entries):
        return ImageSet(entries)
    if missing:
        hint = (
            f"others are there: add it, or name the folder of images with {flag('--root')}"
            if request.root is None
            else "add it, or delete its row"
        )
        raise BadInput(f"{path}: the image {missing[0]!r} is not in {folder}; {hint}.")
    return ImageSet([entry._replace(path=folder / entry.id) for entry in entries])


def _listed_image(where: str, row: ImageRow, *, is_text: bool) -> ImageEntry:
    texts = {name: text.strip() for name, text in vars(row).items()}
    for text in texts.values():
        if is_text and re.search("[\r\n]", text):
            raise BadInput(
                f"{where}: {text!r} spans several lines (is a quotation mark left open?)."
            )
    cells = {name: text for name, text in texts.items() if text.casefold() not in _NOTHING}
    if "image" not in cells:
        raise BadInput(f"{where} names no image; fill its column.")
    name = cells.pop("image")
    where = f"{where}, image {name!r}"
    if "split" not in cells:
        raise BadInput(f"{where}: no split; write reference, query or both.")
    side, bare = _split(cells.pop("split"), where), cells.pop("contentless", "")
    if bare.casefold() not in (*_YES, *_NO):
        raise BadInput(
            f"{where}: {bare!r} does not say whether the image is without content; write yes or no."
        )
    return ImageEntry(
        id=name,
        instance=cells.pop("instance", None),
        split=side,
        contentless=bare.casefold() in _YES,
        **cells,
    )


def _is_file(path: Path) -> bool:
    """Whether a path is a file; a name that is too long for the system is none."""
    try:
        return path.is_file()
    except OSError:
        return False


# Ground truth in JSON


def read_revisitop(request: ImageSetRequest) -> ImageSet:
    """Ground truth with easy, hard and junk references per query, as in Revisited Oxford and Paris,
    in JSON.

    `imlist` and `qimlist` name the images, `gnd` has for name query lists of positions in `imlist`,
    from 0, or of names. A query may have the name of a reference: it is then on both sides, as in
    the first Oxford. `bbx` is ignored: crop queries first.
    """
    path = request.path
    content: Any = read_json(Source(path), pairs=unique_keys)
    for key in ("imlist", "qimlist", "gnd"):
        if not isinstance(content, dict) or not isinstance(content.get(key), list):
            raise BadInput(
                f"{path}: $.{key} is not a list; expected imlist, qimlist and gnd. Convert "
                "a pickle to JSON first."
            )
    references, queries, truth = (list[Any](content[key]) for key in ("imlist", "qimlist", "gnd"))
    if len(truth) != len(queries):
        raise BadInput(
            f"{path}: {len(truth)} entries of gnd for {len(queries)} queries; every query has one."
        )
    for key, names in (("imlist", references), ("qimlist", queries)):
        earlier = set[str]()
        for number, name in enumerate(names):
            if not isinstance(name, str) or not name:
                raise BadInput(
                    f"{path}: $.{key}[{number}] is {shown(name)}; expected the name of an "
                    "image, a string."
                )
            if name in earlier:
                raise BadInput(
                    f"{path}: $.{key}[{number}] lists {name!r} a second time; list every "
                    "image once."
                )
            earlier.add(name)
    sides: dict[str, Split] = dict.fromkeys(references, "reference")
    sides |= {name: "both" if name in sides else "query" for name in queries}
    known = dict(enumerate(references)) | dict(zip(references, references, strict=True))
    marks = {
        query: _marks(f"{path}: $.gnd[{number}]", entry, known)
        for number, (query, entry) in enumerate(zip(queries, truth, strict=True))
    }
    entries = [
        ImageEntry(name, None, side, _file(path, name, request.root))
        for name, side in sides.items()
    ]
    return ImageSet(entries, marks, ListedIds(tuple(queries), tuple(references)))


def _marks(where: str, entry: Any, names: Mapping[Any, str]) -> Marks:
    """The ground truth of a query. names: those of the references, by position and by name."""
    if not isinstance(entry, Mapping):
        raise BadInput(f"{where} is {kind_of(entry)}; expected an object with easy, hard and junk.")
    lists: Mapping[Any, Any] = entry
    if not set(lists) & set(_KINDS):
        raise BadInput(
            f"{where} has none of easy, hard and junk; expected at least one list of images."
        )
    by_kind: dict[str, list[str]] = {kind: [] for kind in Marks._fields}
    for key, kind in _KINDS.items():
        values: Any = [] if lists.get(key) is None else lists[key]
        if not isinstance(values, (list, tuple)):
            raise BadInput(f"{where}.{key} is {shown(values)}; expected a list of images.")
        for value in values:
            # True is not the position 1.
            if type(value) not in (int, str) or value not in names:
                raise BadInput(
                    f"{where}.{key}: {shown(value)} is none of the {len(names) // 2} images; give "
                    "a name or a position from 0."
                )
            by_kind[kind].append(names[value])
    return Marks(*map(tuple, by_kind.values()))


def _file(table: Path, name: str, root: Path | None) -> Path | None:
    if root is None:
        return None
    for suffix in ("", *PICTURE_SUFFIXES):
        if _is_file(root / f"{name}{suffix}"):
            return root / f"{name}{suffix}"
    raise BadInput(
        f"{table}: the image {name!r} is not in {root}, with or without a suffix; fetch it, "
        f"or name another {flag('--root')}."
    )


def _form(path: Path) -> str:
    if path.is_dir():
        return "folders"
    if not path.is_file():
        raise BadInput(f"{path} is not a data set of images; known are {', '.join(FORMS)}.")
    head = Source(path).head()
    is_truth = head.lstrip().startswith(b"{") and any(
        name in head for name in (b'"imlist"', b'"gnd"', b'"qimlist"')
    )
    return "revisitop" if is_truth else "tables"


FORMS: Mapping[str, Callable[[ImageSetRequest], ImageSet]] = {
    "folders": read_folders,
    "revisitop": read_revisitop,
    "tables": read_table,
}
