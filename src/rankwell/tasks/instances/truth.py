"""Images of instances -> what is right: references of the query's instance, less what must not count."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

import numpy as np

from rankwell.core.tables import Bools, Ints
from rankwell.core.tables.judgments import Judgments
from rankwell.core.tables.scores import Positives
from rankwell.errors import BadUsage, NothingToEvaluate
from rankwell.tasks.instances.conventions import Excluded, Level
from rankwell.tasks.instances.images import Images, Marks

Switch = Literal["filter", "keep"]


@dataclass(frozen=True, eq=False)
class Filtered:
    """Images of which some may be gone, and how many of each kind are.

    without_content: references that show nothing to be recognised. absent: queries of an instance that no reference shows, or of
    which no instance is known; unlabelled: the latter among them.
    junk: references with the label of junk. Those that are kept are counted nowhere.
    """

    images: Images
    without_content: int = 0
    absent: int = 0
    junk: int = 0
    unlabelled: int = 0

    @property
    def told(self) -> list[str]:
        """The counts in words."""
        return [f"{n} {_singular(name) if n == 1 else name}".replace("_", " ") for name, n in self.counts.items()]

    @property
    def counts(self) -> dict[str, int]:
        """What was removed, by name; nothing where nothing was."""
        found = {
            "references_without_content": self.without_content,
            "queries_of_absent_instances": self.absent - self.unlabelled,
            "queries_without_an_instance": self.unlabelled,
            "junk_references": self.junk,
        }
        return {name: number for name, number in found.items() if number}


def filter_images(
    images: Images, *, contentless: Switch = "filter", absent: Switch = "filter", junk_label: str | None = None
) -> Filtered:
    """The images without references that show nothing, and then without queries whose instance no reference shows.

    contentless, absent: whether that filter works or its images are kept. junk_label: references with this label go, too.
    Where marks say what is right, a query counts as absent if they list nothing easy or hard. An image of both sides loses the
    side that is filtered. A query without a label is of no instance, and absent; where no image has one, none is.
    """
    no_content = {
        name for name, bare in zip(images.ids, images.contentless.tolist(), strict=True) if bare and contentless == "filter"
    }
    labelled = zip(images.ids, images.instances, strict=True)
    junk = set[str]() if junk_label is None else {name for name, label in labelled if label == junk_label} - no_content
    references = images.references()
    gone = [name for name in references.ids if name in no_content]
    labels = {
        label
        for name, label in zip(references.ids, references.instances, strict=True)
        if name not in no_content and name not in junk and label is not None
    }
    queries = images.queries()
    is_told = images.marks is not None or any(label is not None for label in images.instances)
    labelled_queries = list(zip(queries.ids, queries.instances, strict=True))
    lost = [
        name
        for name, label in labelled_queries
        if absent == "filter" and is_told and not _is_known(name, label, labels, images.marks)
    ]
    junk_references = [name for name in references.ids if name in junk]
    kept = _without(images, {*gone, *junk_references}, set(lost))
    bare = {name for name, label in labelled_queries if label is None} if images.marks is None else set[str]()
    return Filtered(kept, len(gone), len(lost), len(junk_references), sum(name in bare for name in lost))


def _singular(name: str) -> str:
    """The name of a count for one image."""
    return name.replace("references", "reference").replace("queries", "query").replace("absent_instances", "an_absent_instance")


def _is_known(query: str, label: str | None, labels: set[str], marks: Mapping[str, Marks] | None) -> bool:
    if marks is None:
        return label in labels
    mine = marks.get(query, Marks())
    return bool(mine.easy or mine.hard)


def _without(images: Images, references: set[str], queries: set[str]) -> Images:
    """The images without some on the side of references, and some on the side of queries."""
    rows: list[int] = []
    splits = list(images.splits)
    for row, (name, split) in enumerate(zip(images.ids, images.splits, strict=True)):
        asked = split != "reference" and name not in queries
        found = split != "query" and name not in references
        if asked or found:
            rows.append(row)
            splits[row] = "both" if asked and found else "query" if asked else "reference"
    kept = replace(images, splits=tuple(splits), marks=None).take(np.array(rows, dtype=np.int64))
    return replace(kept, marks=_known_marks(images.marks, kept))


def _known_marks(marks: Mapping[str, Marks] | None, images: Images) -> Mapping[str, Marks] | None:
    if marks is None:
        return None
    known = images.index
    return {
        query: Marks(*(tuple(name for name in names if name in known) for names in mine))
        for query, mine in marks.items()
        if query in known
    }


@dataclass(frozen=True, eq=False)
class InstanceTruth:
    """Which references are right for each query and which are junk, by position; sorted by query, then by reference.

    queries, references: ids. owner, item: (pairs,) positions in them. junk: (pairs,) whether a pair counts nowhere.
    query_instances, reference_instances: what each shows, None where that is not known.
    """

    queries: Sequence[str]
    references: Sequence[str]
    owner: Ints
    item: Ints
    junk: Bools
    query_instances: Sequence[str | None] | None = None
    reference_instances: Sequence[str | None] | None = None
    excluded: Mapping[str, int] = field(default_factory=dict[str, int])

    @cached_property
    def judgments(self) -> Judgments:
        """A row per pair, right references with grade 1; queries and references in the order of the tables."""
        pairs = Positives.of(self.owner, self.item, len(self.queries), len(self.references))
        return replace(pairs.judgments(self.queries, self.references), junk=self.junk)

    @cached_property
    def right(self) -> Ints:
        """(queries,) how many references are right for each query."""
        return np.bincount(self.owner[~self.junk], minlength=len(self.queries)).astype(np.int64)


def both_sides(images: Images) -> tuple[Images, Images]:
    """Queries and references. Raises NothingToEvaluate without a query or without a reference."""
    queries, references = images.queries(), images.references()
    for what, side in (("query", queries), ("reference", references)):
        if not len(side):
            raise NothingToEvaluate(f"there is no {what} image left; a data set has images of both sides.")
    return queries, references


def instance_truth(
    images: Images, *, exclude: Sequence[Excluded] = (), level: Level = "medium", labels: bool = True
) -> InstanceTruth:
    """A reference is right if it shows the query's instance; or, where the images have marks, if those of the level say so.

    exclude: references that count nowhere: the query `self`, those of its instance by its own `camera`, all of its `group`.
    level: of marks, `easy` are the easy ones, `medium` easy and hard, `hard` the hard ones; all others that are listed are junk.
    labels: False leaves it to the caller to say what is right; the table then has what is excluded alone.
    Raises BadUsage where cameras, groups or a level are asked for and the images have none, NothingToEvaluate without a query
    or without a reference.
    """
    queries, references = both_sides(images)
    for name, column in (("camera", images.cameras), ("group", images.groups)):
        if name in exclude and column is None:
            raise BadUsage(f"--exclude {name}: no image has a {name}; add a column of that name, or leave the exclusion out.")
    right, junk = _judged(queries, references, images, level) if labels else (Pairs(), Pairs())
    found = dict.fromkeys(right, False) | dict.fromkeys(junk, True)
    excluded: dict[str, int] = {}
    for rule in exclude:
        pairs = _excluded(rule, queries, references)
        excluded[rule] = len(pairs)
        found |= dict.fromkeys(pairs, True)
    ordered = sorted(found)
    return InstanceTruth(
        queries=queries.ids,
        references=references.ids,
        owner=np.array([query for query, _ in ordered], dtype=np.int64),
        item=np.array([item for _, item in ordered], dtype=np.int64),
        junk=np.array([found[pair] for pair in ordered], dtype=np.bool_),
        query_instances=queries.instances,
        reference_instances=references.instances,
        excluded=excluded,
    )


Pairs = list[tuple[int, int]]


def _judged(queries: Images, references: Images, images: Images, level: Level) -> tuple[Pairs, Pairs]:
    """Pairs that are right, and those that are junk."""
    if images.marks is not None:
        return _marked(queries, references, images.marks, level)
    if not any(label is not None for label in images.instances):
        raise NothingToEvaluate(
            f"no image has an instance, such as {queries.ids[0]!r}; put images into folders of instances, say with --pattern "
            "what their names tell, or name --positives."
        )
    if level != "medium":
        raise BadUsage(f"the level {level} needs a ground truth with easy and hard references; name one (a JSON with gnd).")
    shown = _by_label(references.instances)
    return [(query, item) for query, label in enumerate(queries.instances) for item in shown.get(label, ())], []


def _marked(queries: Images, references: Images, marks: Mapping[str, Marks], level: Level) -> tuple[Pairs, Pairs]:
    place, right, junk = references.index, Pairs(), Pairs()
    for query, name in enumerate(queries.ids):
        mine = marks.get(name, Marks())
        for names, good in ((mine.easy, level != "hard"), (mine.hard, level != "easy"), (mine.junk, False)):
            (right if good else junk).extend((query, place[item]) for item in names if item in place)
    return right, junk


def _excluded(rule: Excluded, queries: Images, references: Images) -> Pairs:
    if rule == "self":
        return [(query, references.index[name]) for query, name in enumerate(queries.ids) if name in references.index]
    if rule == "group":
        shown = _by_label(references.groups or ())
        return [
            (query, item)
            for query, label in enumerate(queries.groups or ())
            if label is not None
            for item in shown.get(label, ())
        ]
    seen = _by_label([_both(*pair) for pair in zip(references.instances, references.cameras or (), strict=True)])
    asked = [_both(*pair) for pair in zip(queries.instances, queries.cameras or (), strict=True)]
    return [(query, item) for query, label in enumerate(asked) if label is not None for item in seen.get(label, ())]


def _both(instance: str | None, camera: str | None) -> tuple[str, str] | None:
    return None if instance is None or camera is None else (instance, camera)


def _by_label(labels: Sequence[object]) -> dict[object, list[int]]:
    found: dict[object, list[int]] = {}
    for row, label in enumerate(labels):
        if label is not None:
            found.setdefault(label, []).append(row)
    return found
