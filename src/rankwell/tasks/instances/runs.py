"""Scores or vectors of each run, read from files or computed from the images, in the order of the
truth.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from rankwell._native.matrix_counts import ComparedScores, refuse_non_finite_scores
from rankwell._native.similarity import Metric
from rankwell.data.matrices import Embeddings, Place, Positions, Scores, name_places
from rankwell.data.tables import Ints
from rankwell.errors import BadInput, BadScore, BadUsage, NothingToEvaluate, flag
from rankwell.io.formats import read_column
from rankwell.io.matrices import read_embeddings, read_scores
from rankwell.store import Source, sources_of, split_part
from rankwell.tasks.instances.images import Images, InstanceTruth, ListedIds
from rankwell.tasks.instances.options import InstanceOptions
from rankwell.vectors.neighbours import search
from rankwell.vectors.neighbours.positive_counts import Compared, by_vectors
from rankwell.vectors.transforms import Descriptors, Transform, chain, parse_transform

Vectors = tuple[Embeddings, Embeddings]
Names = tuple[Sequence[str], Sequence[str]]
_LEARNT = "other vectors (--learn)"


@dataclass
class InstanceRuns:
    """Every run by name: a matrix of scores, or the vectors of queries and of references."""

    tables: dict[str, Scores | Vectors]
    metric: Metric
    sources: dict[str, Source] = field(default_factory=dict[str, Source])
    transforms: tuple[Transform, ...] = ()
    learn: Embeddings | None = None

    @classmethod
    def read(cls, options: InstanceOptions) -> "InstanceRuns":
        """Reads scores, embeddings, or queries with references. Raises BadUsage where none or
        several are given.
        """
        scores, embeddings, queries, references = (
            options.scores,
            options.embeddings,
            options.queries,
            options.references,
        )
        present = [
            scores is not None,
            embeddings is not None,
            queries is not None or references is not None,
        ]
        if sum(present) != 1 or (queries is None) != (references is None):
            sides = f"embeddings of both sides ({flag('--queries')} with {flag('--references')})"
            raise BadUsage(f"give scores, embeddings of all images, or {sides}: one of three.")
        metric = options.metric or "cosine"
        if present[2]:
            name = options.run or name_places([_place(references)], ["embeddings"])[0]
            files = {"queries": queries, "references": references}
            tables: dict[str, Scores | Vectors] = {
                name: (
                    read_embeddings(queries, ids=options.query_ids),
                    read_embeddings(references, ids=options.reference_ids),
                )
            }
        else:
            files = _named(
                scores if present[0] else embeddings,
                "scores" if present[0] else "embeddings",
                options.run,
            )
            read = _read_scores if present[0] else _read_vectors
            tables = {name: read(file, options) for name, file in files.items()}
        return cls(tables, metric, sources_of(files))._transformed(options)

    @property
    def compares_vectors(self) -> bool:
        """Whether any run is one of vectors, so that the metric matters."""
        return any(not isinstance(table, Scores) for table in self.tables.values())

    def names(self) -> Names:
        """The names of queries and references in the first run."""
        return _names(next(iter(self.tables.values())))

    def in_order(self, image_order: ListedIds | None) -> "InstanceRuns":
        """The runs with the ids of a data set's own lists, where sides have no names. Raises
        BadInput for other lengths.
        """
        if image_order is None:
            return self
        tables = dict(self.tables)
        for run, table in self.tables.items():
            if not isinstance(table, Scores) and table[0] is table[1]:
                continue
            names, image_lists = _names(table), (image_order.queries, image_order.references)
            queries, references = (
                _listed(run, *side)
                for side in zip(("query", "reference"), names, image_lists, strict=True)
            )
            if isinstance(table, Scores):
                tables[run] = replace(table, query_ids=queries, item_ids=references)
            else:
                tables[run] = (
                    Embeddings(queries, table[0].vectors),
                    Embeddings(references, table[1].vectors),
                )
        return replace(self, tables=tables)

    def aligned(self, run: str, truth: InstanceTruth) -> "AlignedRun":
        """The queries and references of a run that the truth has."""
        table = self.tables[run]
        names = _names(table)
        for noun, side, truth_ids in zip(
            ("query", "reference"), names, (truth.queries, truth.references), strict=True
        ):
            if isinstance(side, Positions) and not isinstance(truth_ids, Positions):
                raise BadInput(
                    f"{run}: its {len(side)} {noun} rows have no ids, so that nothing says "
                    "which image each is; name a file of "
                    f"ids ({flag(f'--{noun}-ids')}, or {flag('--ids')} for vectors of all images)."
                )
        queries, rows = _shared(truth.queries, names[0])
        columns, references = _shared(names[1], truth.references)
        if not len(rows) or not len(columns):
            noun = "query" if not len(rows) else "reference"
            side, truth_ids = (
                (names[0], truth.queries) if not len(rows) else (names[1], truth.references)
            )
            example = f"it has {side[0]!r}, …, the images have {truth_ids[0]!r}, …"
            raise NothingToEvaluate(f"{run}: no {noun} of the images is in it; {example}.")
        compared, dimensions = self._compared(table, rows, columns, truth)
        return AlignedRun(compared, queries, references, dimensions)

    def refuse_non_finite(self, run: str, truth: InstanceTruth) -> None:
        """Raises BadScore naming file or run, and place, of the first score that takes part and is
        NaN or infinite.
        """
        table = self.tables[run]
        if isinstance(table, Scores):
            rows, columns = (
                _shared(table.query_names, truth.queries)[0],
                _shared(table.item_names, truth.references)[0],
            )
            try:
                refuse_non_finite_scores(table, rows, columns)
            except BadScore as error:
                raise BadScore(
                    f"{self.sources[run].name if run in self.sources else run}: {error}"
                ) from error

    def _compared(
        self, table: Scores | Vectors, rows: Ints, columns: Ints, truth: InstanceTruth
    ) -> tuple[Compared, int | None]:
        """The comparison of some rows with some columns, and the dimensions of its vectors."""
        if not isinstance(table, Scores):
            queries, references = table
            return self._by_vectors(queries.take(rows), references.take(columns), truth)
        matrix = (
            table.matrix
            if np.array_equal(columns, np.arange(table.matrix.shape[1]))
            else table.matrix[:, columns]
        )
        matrix = matrix if np.array_equal(rows, np.arange(len(table.matrix))) else matrix[rows]
        names = [table.item_names[column] for column in map(int, columns)]
        for transform in self.transforms:
            matrix = transform(matrix).whole()
        return ComparedScores(
            Scores(matrix, [table.query_names[row] for row in map(int, rows)], names)
        ), None

    def _by_vectors(
        self, queries: Embeddings, references: Embeddings, truth: InstanceTruth
    ) -> tuple[Compared, int | None]:
        if not self.transforms:
            return by_vectors(queries, references, self.metric), references.dimensions
        row_of = {name: row for row, name in enumerate(references.names())}
        reference_rows = np.array(
            [row_of.get(name, -1) for name in queries.names()], dtype=np.int64
        )
        learn = None if self.learn is None else self.learn.vectors
        label_of = dict(zip(truth.references, truth.reference_instances or (), strict=False))
        labels = (
            [label_of.get(name) for name in references.names()] if any(label_of.values()) else None
        )
        descriptors = Descriptors(
            queries.vectors,
            references.vectors,
            search,
            own_references=reference_rows,
            learn=learn,
            learnt_on=_LEARNT,
            labels=labels,
        )
        transformed = chain(self.transforms, descriptors)
        if isinstance(transformed, Descriptors):
            sides = (
                Embeddings(queries.ids, transformed.queries),
                Embeddings(references.ids, transformed.references),
            )
            return by_vectors(*sides, self.metric), sides[1].dimensions
        return ComparedScores(
            Scores(transformed.whole(), list(queries.names()), list(references.names()))
        ), references.dimensions

    def _transformed(self, options: InstanceOptions) -> "InstanceRuns":
        """The runs with transforms of their vectors or scores. Raises BadUsage for a transform that
        does not apply.
        """
        texts, learn = options.transforms or (), options.learn
        transforms = tuple(
            parse_transform(text) for text in ([texts] if isinstance(texts, str) else texts)
        )
        for transform in transforms:
            if transform.entry.needs_bank:
                raise BadUsage(
                    f"{transform} needs a bank of other queries, which images do not have; see "
                    "rankwell captions."
                )
            if transform.entry.works_on != "scores" and not self.compares_vectors:
                raise BadUsage(
                    f"{transform} works on vectors, and these are scores; give the embeddings."
                )
        if transforms and self.compares_vectors and self.metric != "cosine":
            raise BadUsage(
                f"{transforms[0]} compares by cosine; leave {flag('--metric', self.metric)} out."
            )
        if learn is not None and not any(transform.entry.learns for transform in transforms):
            raise BadUsage(
                "vectors to learn on require a transform that learns, as whitening; name it "
                f"with {flag('--transform')}."
            )
        sources = self.sources | sources_of({"learn": learn})
        return replace(
            self,
            transforms=transforms,
            learn=None if learn is None else read_embeddings(learn),
            sources=sources,
        )

    def transform_rules(self) -> dict[str, Any]:
        """The transforms in the rules of a result; empty without any."""
        if not self.transforms:
            return {}
        definitions = [transform.describe() for transform in self.transforms]
        for entry, definition in zip(
            (transform.entry for transform in self.transforms), definitions, strict=True
        ):
            if entry.learns and self.learn is not None:
                definition |= {"transductive": "none", "learnt_on": _LEARNT}
        looks = [
            definition["transductive"]
            for definition in definitions
            if definition["transductive"] != "none"
        ]
        plain = {
            "transforms": " ".join(map(str, self.transforms)),
            "transductive": ",".join(dict.fromkeys(looks)) or "none",
        }
        return plain | {"transform_definitions": definitions}


@dataclass(frozen=True, eq=False)
class AlignedRun:
    """The scores of a run. queries, references: their places in the truth; those of queries ascend.
    dimensions: of vectors.
    """

    compared: Compared
    queries: Ints
    references: Ints
    dimensions: int | None = None


def _names(table: Scores | Vectors) -> Names:
    """The names of queries and references."""
    return (
        (table.query_names, table.item_names)
        if isinstance(table, Scores)
        else (table[0].names(), table[1].names())
    )


def _shared(names: Sequence[str], other_names: Sequence[str]) -> tuple[Ints, Ints]:
    """The places of the names that others have too, in the order of the names, among the names and
    among the others.
    """
    place_of = {name: row for row, name in enumerate(other_names)}
    pairs = [(row, place_of[name]) for row, name in enumerate(names) if name in place_of]
    first, second = np.array(pairs, dtype=np.int64).reshape(-1, 2).T.copy()
    return first, second


def _listed(run: str, noun: str, names: Sequence[str], ids: Sequence[str]) -> Sequence[str]:
    """The names of a side; those of the data set's list in place of positions."""
    if isinstance(names, Positions) and len(ids) != len(names):
        raise BadInput(
            f"{run}: its {len(names)} {noun} rows have no ids, and the data set lists "
            f"{len(ids)} in its order; give all of them, "
            f"or name a file of ids ({flag(f'--{noun}-ids')})."
        )
    return ids if isinstance(names, Positions) else names


def refuse_unknown(runs: InstanceRuns, images: Images) -> None:
    """Raises BadInput for a query or a reference of a run that is not an image of the data set."""
    image_rows = images.index
    for run, table in runs.tables.items():
        for noun, side in zip(("query", "reference"), _names(table), strict=True):
            stranger = (
                None
                if isinstance(side, Positions)
                else next((name for name in side if name not in image_rows), None)
            )
            if stranger is not None:
                raise BadInput(
                    f"{run}: the {noun} {stranger!r} is none of the {len(images)} images; "
                    "list it, or leave it out."
                )


def _named(runs: Any, otherwise: str, run: str | None) -> dict[str, Any]:
    """Each run by its name: its key in a mapping, `run` for a single one, else the file's."""
    first = next(iter(runs.values()), None) if isinstance(runs, Mapping) else None
    # A mapping of ids to vectors is a single table.
    if isinstance(runs, Mapping) and not (
        isinstance(first, (list, tuple, np.ndarray)) and np.ndim(first) == 1
    ):
        by_name: dict[str, Any] = {str(name): table for name, table in runs.items()}
    else:
        several = (
            isinstance(runs, (list, tuple)) and bool(runs) and isinstance(runs[0], (str, Path))
        )
        tables: list[Any] = list(runs) if several else [runs]
        if run is not None and len(tables) > 1:
            raise BadUsage(
                f"{len(tables)} runs cannot all be called {run!r}; leave the name out, files "
                "have names."
            )
        names = (
            [run]
            if run is not None
            else name_places([_place(table) for table in tables], [otherwise] * len(tables))
        )
        by_name = dict(zip(names, tables, strict=True))
    if not by_name:
        raise BadUsage(f"no {otherwise} are given; name at least one run.")
    return by_name


def _place(thing: Any) -> Place:
    if not isinstance(thing, (str, Path)):
        return Place("", None)
    path, part = split_part(thing)
    return Place("", Path(path), part)


def _read_scores(file: Any, options: InstanceOptions) -> Scores:
    if isinstance(file, Scores) and file.query_ids is not None:
        return file  # A run computed here has ids of its own; the named ids are for files.
    id_sources = (options.query_ids, options.reference_ids)
    ids = [read_column(ids) if isinstance(ids, (str, Path)) else ids for ids in id_sources]
    return read_scores(file, query_ids=ids[0], item_ids=ids[1])


def _read_vectors(file: Any, options: InstanceOptions) -> Vectors:
    is_whole = isinstance(file, Embeddings) and file.ids is not None
    vectors = file if is_whole else read_embeddings(file, ids=options.ids)
    return vectors, vectors
