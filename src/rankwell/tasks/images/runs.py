"""Runs of instance search: scores or vectors, read from files or computed from the images, and each
joined with the truth.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, cast

import numpy as np

from rankwell._native.matrix_counts import ComparedScores, refuse_non_finite_scores
from rankwell._native.similarity import Metric
from rankwell.data.findings import Finding
from rankwell.data.findings.kinds import reading_choice
from rankwell.data.judged_rankings import JudgedRankings
from rankwell.data.matrices import Embeddings, Positions, Positives, Scores, named_places
from rankwell.data.options import CountProgress
from rankwell.data.rankings import Hits, Ranking
from rankwell.data.registry import Measure
from rankwell.data.tables import (
    Bools,
    Floats,
    Ints,
    MatrixTies,
    positions_by_id,
    segment_offsets,
    tie_order,
)
from rankwell.errors import BadInput, BadScore, BadUsage, NothingToEvaluate, flag, naming
from rankwell.evaluation.details import Details, details_of
from rankwell.evaluation.judged import Ceiling, JudgedRun, ReferenceLevels
from rankwell.evaluation.results import DETAIL_DEPTH, counted_queries
from rankwell.io.formats import read_column
from rankwell.io.matrices import read_embeddings, read_scores
from rankwell.store import Source, exists, sources_of, split_part
from rankwell.tasks.images.images import Images, InstanceTruth
from rankwell.tasks.images.options import ImageOptions
from rankwell.vectors.neighbours import search
from rankwell.vectors.neighbours.positive_counts import Compared, ComparedVectors, by_vectors
from rankwell.vectors.transforms import Descriptors, Transform, chain, parse_transform

_LEARNT = "other vectors (--bank)"
_OPEN = ("expected", "optimistic", "pessimistic", "error")
"""The tie rules under which several references can share the first place."""


_SIDES = (("query", "queries", "--query-ids"), ("reference", "references", "--item-ids"))
"""Of each side the words for one and for several, and the option that names its ids."""


@dataclass
class InstanceRuns:
    """The scores or vectors of every run.

    tables: run -> a matrix of scores, or the vectors of queries and of references.
    metric: the similarity by which vectors are compared.
    sources: run, side or `learn` -> the file that was read.
    transforms: transforms of every run, applied one after the other.
    learn: other vectors that transforms learn on; None for those of the search itself.
    findings: the files beside scores from which ids were read.
    """

    tables: dict[str, Compared]
    metric: Metric
    sources: dict[str, Source] = field(default_factory=dict[str, Source])
    transforms: tuple[Transform, ...] = ()
    learn: Embeddings | None = None
    findings: list[Finding] = field(default_factory=list[Finding])

    @classmethod
    def read(cls, options: ImageOptions) -> "InstanceRuns":
        """Reads scores, embeddings, or queries with references. Raises BadUsage where none or
        several are given, and for a transform that does not apply.
        """
        scores, queries, items = options.scores, options.query_vectors, options.item_vectors
        if (scores is None) == (items is None) or (queries is not None and items is None):
            raise BadUsage(
                f"give {flag('--scores')}, or {flag('--item-vectors')}: of all images, or of the "
                f"references beside {flag('--query-vectors')}."
            )
        metric, tables = options.metric or "cosine", dict[str, Compared]()
        findings, id_files = list[Finding](), dict[str, Any]()
        if queries is not None:
            references = _one_file(items)
            (name,) = named_places([("", references)], ["embeddings"])
            files = {"query_vectors": queries, "item_vectors": references}
            tables[name] = ComparedVectors(
                read_embeddings(queries, ids=options.query_ids),
                read_embeddings(references, ids=options.item_ids),
                metric,
            )
        elif scores is not None:
            files = _named(scores, "scores")
            tables |= {
                name: _read_scores(file, options, findings, id_files)
                for name, file in files.items()
            }
        else:
            files = _named(items, "embeddings")
            for name, file in files.items():
                # A run computed here has ids of its own; the named ids are for files.
                has_ids = isinstance(file, Embeddings) and file.ids is not None
                vectors = file if has_ids else read_embeddings(file, ids=options.item_ids)
                tables[name] = ComparedVectors(vectors, vectors, metric)
        texts, learn = options.transforms or (), options.bank
        runs = cls(
            tables,
            metric,
            sources_of(
                files,
                {"learn": learn, "query_ids": options.query_ids, "item_ids": options.item_ids},
                id_files,
            ),
            tuple(map(parse_transform, [texts] if isinstance(texts, str) else texts)),
            findings=findings,
        )
        runs.check_transforms(learn)
        runs.learn = None if learn is None else read_embeddings(learn)
        return runs

    @property
    def compares_vectors(self) -> bool:
        """Whether any run is one of vectors, so that the metric matters."""
        return any(isinstance(table, ComparedVectors) for table in self.tables.values())

    def check_transforms(self, learn: Any) -> None:
        """Raises BadUsage for a transform that does not apply, and for vectors that none learns
        on.
        """
        for transform in self.transforms:
            if transform.entry.needs_bank:
                raise BadUsage(
                    f"{transform} needs a bank of other queries, which images do not have; see "
                    "rankwell crossmodal."
                )
            if transform.entry.works_on != "scores" and not self.compares_vectors:
                raise BadUsage(
                    f"{transform} works on vectors, and these are scores; give "
                    f"{flag('--item-vectors')}."
                )
        if self.transforms and self.compares_vectors and self.metric != "cosine":
            raise BadUsage(
                f"{self.transforms[0]} compares by cosine; leave "
                f"{flag('--metric', self.metric)} out."
            )
        if learn is not None and not any(transform.entry.learns for transform in self.transforms):
            raise BadUsage(
                "vectors to learn on require a transform that learns, as whitening; name it "
                f"with {flag('--transform')}."
            )

    def of_images(self, images: Images) -> "InstanceRuns":
        """The runs with the ids of a data set's own lists, where sides have no names. Raises
        BadInput for other lengths, and for a query or a reference that is not an image of the data
        set.
        """
        tables = dict(self.tables)
        for run, table in self.tables.items():
            is_one = isinstance(table, ComparedVectors) and table.queries is table.items
            sides = list(table.names)
            for side, (noun, plural, option) in enumerate(_SIDES):
                names = table.names[side]
                if not isinstance(names, Positions):
                    unknown = next((name for name in names if name not in images.index), None)
                    if unknown is not None:
                        known = (images.queries, images.references)[side]().ids or images.ids
                        raise BadInput(
                            f"{run}: the {noun} {unknown!r} is none of the {len(images)} images, "
                            f"whose ids are like {known[0]!r}; correct it, or leave it out."
                        )
                elif images.listed is not None and not is_one:
                    sides[side] = images.listed[side]
                    if len(sides[side]) != len(names):
                        raise BadInput(
                            f"{run}: its {len(names)} {plural} have no ids, and the data set "
                            f"lists {len(sides[side])} in its order; give all of them, "
                            f"or name a file of ids ({flag(option)})."
                        )
            if images.listed is None or is_one:
                continue
            if isinstance(table, ComparedScores):
                scores = replace(table.scores, query_ids=sides[0], item_ids=sides[1])
                tables[run] = ComparedScores(scores)
            else:
                tables[run] = ComparedVectors(
                    table.queries.named(sides[0]), table.items.named(sides[1]), self.metric
                )
        return replace(self, tables=tables)

    def matched(self, name: str, truth: InstanceTruth) -> tuple[Ints, Ints, Ints, Ints]:
        """The queries that both a run and the truth have, by their places in the truth and in the
        run, then the references by their places in the run and in the truth. Raises BadInput for
        entries without ids, NothingToEvaluate where nothing is in both.
        """
        table = self.tables[name]
        sides = [*zip(_SIDES, table.names, (truth.queries, truth.references), strict=True)]
        # One file of vectors has the ids of both sides, which --item-ids name.
        is_one = isinstance(table, ComparedVectors) and table.queries is table.items
        unnamed = [
            (f"{len(names)} {plural}", flag(option))
            for (_, plural, option), names, ids in sides[is_one:]
            if isinstance(names, Positions) and not isinstance(ids, Positions)
        ]
        if unnamed:
            numbers, flags = zip(*unnamed, strict=True)
            raise BadInput(
                f"{name}: its {' and '.join(numbers)} have no ids, so that nothing says which "
                f"image each is; name files of ids ({', '.join(flags)})."
            )
        queries, rows = _shared(truth.queries, table.names[0])
        columns, references = _shared(table.names[1], truth.references)
        for ((noun, *_), names, ids), shared in zip(sides, (rows, columns), strict=True):
            if not len(shared):
                raise NothingToEvaluate(
                    f"{name}: no {noun} of the images is in it; it has {names[0]!r}, …, the images "
                    f"have {ids[0]!r}, …."
                )
        return queries, rows, columns, references

    def judged(
        self, name: str, truth: InstanceTruth, ties: MatrixTies, progress: CountProgress | None
    ) -> "InstanceRun":
        """A run with the counts of every relevant reference, and every junk one, of every query
        that both it and the truth have. Raises as `matched`, and BadScore for a score that is NaN
        or infinite.
        """
        table = self.tables[name]
        queries, rows, columns, references = self.matched(name, truth)
        row_of = np.full(len(truth.queries), -1, dtype=np.int64)
        column_of = np.full(len(truth.references), -1, dtype=np.int64)
        row_of[queries], column_of[references] = np.arange(len(rows)), np.arange(len(columns))
        pair_rows, pair_columns = row_of[truth.owner], column_of[truth.item]
        pairs_in_run = np.flatnonzero((pair_rows >= 0) & (pair_columns >= 0))
        # Pairs are counted in the order of the run's own table, and kept by their row in the truth.
        order = pairs_in_run[np.lexsort((pair_columns[pairs_in_run], pair_rows[pairs_in_run]))]
        pairs = Positives.of(pair_rows[order], pair_columns[order], len(rows), len(columns))
        tie_places = tie_order(ties, [truth.references[item] for item in map(int, references)])
        try:
            compared = self._compared(table, rows, columns, truth)
            counts = compared.count(
                pairs, transposed=False, best=False, order=tie_places, progress=progress
            )
        except BadScore:
            # Names the file or the run, and the place in it.
            if isinstance(table, ComparedScores):
                try:
                    refuse_non_finite_scores(table.scores, np.sort(rows), columns)
                except BadScore as error:
                    place = self.sources[name].name if name in self.sources else name
                    raise BadScore(f"{place}: {error}") from error
            raise
        vectors = compared if isinstance(compared, ComparedVectors) else table
        present = row_of >= 0
        retrieved = np.where(present, len(columns), 0).astype(np.int64)
        hits = Hits(truth.owner[order], order, *counts[1:], retrieved, present)
        junk = np.bincount(truth.owner[truth.junk], minlength=len(truth.queries))
        # All references that are not junk could be found, whether the run has them or not.
        candidates = (len(truth.references) - junk).astype(np.int64)
        return InstanceRun(
            name=name,
            view=JudgedRankings.join(truth.judgments, hits),
            ties=ties,
            levels=ReferenceLevels(truth.judgments, candidates),
            tied_items="tied references keep the order of the table",
            truth=truth,
            compared=compared,
            queries=queries,
            references=references,
            dimensions=vectors.items.dimensions if isinstance(vectors, ComparedVectors) else None,
            tie_places=tie_places,
            hits=hits,
        )

    def _compared(
        self, table: Compared, rows: Ints, columns: Ints, truth: InstanceTruth
    ) -> Compared:
        """The comparison of some rows with some columns, transformed."""
        if isinstance(table, ComparedVectors):
            return self._by_vectors(table.queries.take(rows), table.items.take(columns), truth)
        matrix, (query_names, item_names) = table.scores.matrix, table.names
        if not np.array_equal(columns, np.arange(matrix.shape[1])):
            matrix = matrix[:, columns]
        if not np.array_equal(rows, np.arange(len(matrix))):
            matrix = matrix[rows]
        for transform in self.transforms:
            matrix = transform(matrix).whole()
        return ComparedScores(
            Scores(
                matrix,
                [query_names[row] for row in map(int, rows)],
                [item_names[column] for column in map(int, columns)],
            )
        )

    def _by_vectors(
        self, queries: Embeddings, references: Embeddings, truth: InstanceTruth
    ) -> Compared:
        if not self.transforms:
            return by_vectors(queries, references, self.metric)
        names = references.names()
        row_of = positions_by_id(names)
        own_rows = [row_of.get(name, -1) for name in queries.names()]
        labels = [truth.labels.get(name) for name in names]
        transformed = chain(
            self.transforms,
            Descriptors(
                queries.vectors,
                references.vectors,
                search,
                own_references=np.array(own_rows, dtype=np.int64),
                learn=None if self.learn is None else self.learn.vectors,
                learnt_on=_LEARNT,
                labels=labels if any(labels) else None,
            ),
        )
        if isinstance(transformed, Descriptors):
            return by_vectors(
                Embeddings(queries.ids, transformed.queries),
                Embeddings(references.ids, transformed.references),
                self.metric,
            )
        return ComparedScores(Scores(transformed.whole(), list(queries.names()), list(names)))

    def transform_rules(self) -> dict[str, Any]:
        """The transforms in the rules of a result; empty without any."""
        if not self.transforms:
            return {}
        definitions = [transform.describe() for transform in self.transforms]
        for transform, definition in zip(self.transforms, definitions, strict=True):
            if transform.entry.learns and self.learn is not None:
                definition |= {"transductive": "none", "learnt_on": _LEARNT}
        looks = dict.fromkeys(definition["transductive"] for definition in definitions)
        return {
            "transforms": " ".join(map(str, self.transforms)),
            "transductive": ",".join(look for look in looks if look != "none") or "none",
            "transform_definitions": definitions,
        }


def _shared(names: Sequence[str], other_names: Sequence[str]) -> tuple[Ints, Ints]:
    """The places of the names that others have too, in the order of the names, among the names and
    among the others.
    """
    place_of = positions_by_id(other_names)
    pairs = [(row, place_of[name]) for row, name in enumerate(names) if name in place_of]
    first, second = np.array(pairs, dtype=np.int64).reshape(-1, 2).T.copy()
    return first, second


def _one_file(places: Any) -> Any:
    """The place of a list of one, or the table itself. Raises BadUsage for several files."""
    if not isinstance(places, (list, tuple)):
        return places
    files = [place for place in cast("Sequence[Any]", places) if isinstance(place, (str, Path))]
    if len(files) > 1:
        raise BadUsage(f"{flag('--query-vectors')} has one file of {flag('--item-vectors')}.")
    return files[0] if files else cast("Any", places)


def _named(runs: Any, otherwise: str) -> dict[str, Any]:
    """Each run by its name: its key in a mapping, else the file's."""
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
        by_name = named_places([("", table) for table in tables], [otherwise] * len(tables))
    if not by_name:
        raise BadUsage(f"no {otherwise} are given; name at least one run.")
    return by_name


def _read_scores(
    file: Any, options: ImageOptions, findings: list[Finding], id_files: dict[str, Any]
) -> Compared:
    """The scores, with the ids in files beside them where no others are given; findings name these
    files, and `id_files` gets them.
    """
    if isinstance(file, Scores) and file.query_ids is not None:
        return ComparedScores(file)  # computed here, with ids of its own
    id_sources = (options.query_ids, options.item_ids)
    ids = [read_column(ids) if isinstance(ids, (str, Path)) else ids for ids in id_sources]
    scores = read_scores(file, query_ids=ids[0], item_ids=ids[1])
    if isinstance(file, (str, Path)):
        path, _ = split_part(file)
        for column, side in (("query_ids", "queries"), ("item_ids", "references")):
            id_file = f"{path.removesuffix(Path(path).suffix)}.{side}.txt"
            if getattr(scores, column) is None and exists(id_file):
                with naming(id_file):
                    scores = replace(scores, **{column: read_column(id_file)})
                findings.append(reading_choice(f"ids of {side} are those of {id_file}", path))
                id_files[f"{Path(path).stem} ids of {side}"] = id_file
    return ComparedScores(scores)


@dataclass(frozen=True, eq=False, kw_only=True)
class InstanceRun(JudgedRun):
    """A run with the rank counts of its relevant references, before ties are broken.

    truth: the relevant references and the junk of each query.
    compared: the queries and references that both the run and the truth have, after transforms.
    queries, references: positions in the truth of the compared queries, ascending, and of the
        compared references.
    dimensions: number of dimensions of the vectors; None for scores.
    tie_places: place of each compared reference among those of equal score; None where the tie rule
        names no order.
    hits: rank counts of the relevant references and the junk.
    """

    truth: InstanceTruth
    compared: Compared
    queries: Ints
    references: Ints
    dimensions: int | None
    tie_places: Ints | None
    hits: Hits

    @cached_property
    def without_relevant(self) -> Bools:
        """Whether a query has no relevant reference: (queries,)."""
        return self.truth.n_relevant == 0

    def counted(self, no_relevant: str) -> Bools:
        """Whether each query counts: (queries,). Raises BadInput for one without a relevant
        reference under `error`, NothingToEvaluate where none counts.
        """
        counted = counted_queries(
            self.view.queries,
            self.without_relevant,
            no_relevant,
            refuse=lambda query, n: (
                f"the query {query!r} has no right reference ({n} queries have none); choose "
                f"{flag('--no-relevant', 'skip')} "
                "(they are left out) or empty (they count as not found)."
            ),
        )
        if not counted.any() or self.without_relevant.all():
            raise NothingToEvaluate(
                f"{self.name}: none of the {len(counted)} queries has a right reference; name at "
                "least one."
            )
        return counted

    def ceiling(self, measure: Measure, counted: Bools) -> Ceiling:
        """The values of a perfect ranker, (queries,), which returns as many as the run where a
        share is of these.
        """
        if self.levels is None or dict(measure.arguments).get("denom") != "retrieved":
            return super().ceiling(measure, counted)
        lengths, retrieved = self.levels.candidates, self.view.n_retrieved
        shortest = np.where(retrieved > 0, np.minimum(lengths, retrieved), lengths)
        return Ceiling(measure(self.levels.perfect_of(shortest)))

    def first(self, depth: int) -> tuple[Ints, Floats]:
        """The first references of each query that are not junk: positions, -1 where there are no
        more, and scores.
        """
        truth, stride = self.truth, len(self.truth.references)
        junk = np.bincount(truth.owner[truth.junk], minlength=len(truth.queries)).max(initial=0)
        columns, scores = self.compared.first_items(
            min(depth + int(junk), len(self.references)), transposed=False, order=self.tie_places
        )
        positions = self.references[columns]
        keys = self.queries[:, None] * stride + positions
        is_junk = np.isin(keys, truth.owner[truth.junk] * stride + truth.item[truth.junk])
        order = np.argsort(is_junk, axis=1, kind="stable")[:, :depth]
        is_junk, positions, scores = (
            np.take_along_axis(cells, order, axis=1) for cells in (is_junk, positions, scores)
        )
        shape = len(truth.queries), order.shape[1]
        first, first_scores = np.full(shape, -1, dtype=np.int64), np.full(shape, np.nan)
        first[self.queries] = np.where(is_junk, -1, positions)
        first_scores[self.queries] = np.where(is_junk, np.nan, scores)
        return first, first_scores

    def best(self) -> list[list[int]]:
        """The best references of each query, by position: all of the highest score where the rule
        leaves their order open or depends on it, else the one that it places first; none where
        nothing was found.
        """
        depth, n = 2 if self.ties in _OPEN else 1, len(self.references)
        while True:
            positions, scores = self.first(depth)
            same = (scores == scores[:, :1]) & (positions >= 0)
            if depth == 1 or depth >= n or not same[:, -1].any():
                break
            depth *= 2
        return [row[is_best].tolist() for row, is_best in zip(positions, same, strict=True)]

    @cached_property
    def open_ranks(self) -> dict[tuple[str, str], list[int]]:
        """The first and last possible rank of each relevant reference, by (query, reference), where
        it is tied and no rule places it.
        """
        view, items = self.view, self.truth.judgments.items
        rows = np.flatnonzero(view.tied > 1) if self.ties == "expected" else []
        return {
            (view.queries[int(view.query_of_row[row])], items[int(view.items[row])]): [
                int(view.above[row]) + 1,
                int(view.above[row] + view.tied[row]),
            ]
            for row in map(int, rows)
        }

    def details(self) -> Details:
        """The first references of each query, and every relevant and every junk one at any rank."""
        positions, scores = self.first(DETAIL_DEPTH)
        present, names = positions >= 0, self.truth.references
        items = [names[item] for item in map(int, positions[present])]
        top = Ranking(
            tuple(self.truth.queries), segment_offsets(present.sum(axis=1)), items, scores[present]
        )
        view = self.view
        counts = {name: getattr(view, name) for name in ("above", "tied", "before")}
        hits = replace(
            self.hits, query=view.query_of_row, row=view.items, score=view.scores, **counts, top=top
        )
        return details_of(self.truth.judgments, hits, self.resolved)
