"""The inputs of a comparison: the models' vectors, a sample of the items, and the neighbours of each by every model."""

from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from rankwell.core.kernels.arrays import refuse_non_finite
from rankwell.core.tables import Floats, Ints
from rankwell.core.tables.embeddings import Embeddings, align
from rankwell.core.tables.names import named_places
from rankwell.core.views.ranking_pairs import Listed, RankingPairs
from rankwell.errors import BadInput, BadUsage
from rankwell.io.files import read_column
from rankwell.io.matrices import read_embeddings
from rankwell.neighbours import Groups, TopK, ranks_of, search
from rankwell.store import Source, split_part
from rankwell.tasks.agreement.vectors import VectorPanel, vector_panel

Progress = Callable[[int, int], None]

_PANEL_NUMBERS = 1 << 16


def named_models(reference: Any, candidates: Any) -> dict[str, Any]:
    """The places or tables of the reference and then of the candidates, by name.

    Raises BadUsage for a name that is used twice, and without a candidate.
    """
    if isinstance(candidates, Mapping):
        given: list[tuple[str, Any]] = [(str(name), place) for name, place in candidates.items()]
    else:
        listed: list[Any] = list(candidates) if isinstance(candidates, (list, tuple)) else [candidates]
        given = [("", place) for place in listed]
    if not given:
        raise BadUsage("no candidate is given; name at least one after the reference.")
    numbered = [f"candidate{number}" if len(given) > 1 else "candidate" for number in range(1, len(given) + 1)]
    return named_places([("", reference), *given], ["reference", *numbered])


def read_models(named: Mapping[str, Any], ids: Any, metric: str) -> "tuple[list[Model], list[str]]":
    """The models with their rows in the reference's order, the reference first, and notes.

    ids: of the rows of tables that have none of their own.
    """
    tables: dict[str, Embeddings] = {}
    for name, place in named.items():
        # The panel looks at every number anyway.
        table = read_embeddings(place, check=False)
        if table.ids is None and ids is not None:
            table = read_embeddings(table if not isinstance(place, (str, Path)) else place, ids=ids, check=False)
        tables[name] = table
    first, *others = tables
    kinds = {table.ids is None for table in tables.values()}
    notes = ["only some of the embeddings have ids, so that rows are matched by position"] if len(kinds) > 1 else []
    aligned = [tables[first], *(align(tables[first], tables[name], first, name) for name in others)]
    return [Model(name, table, metric) for name, table in zip(tables, aligned, strict=True)], notes


def check_vectors(models: "Sequence[Model]", *, spectrum: bool) -> VectorPanel:
    """The panel of the models' vectors.

    Raises BadScore naming the first number that is not finite, BadInput naming a zero vector where it has no similarity.
    """
    # Blocks of half a megabyte as float64 take half the time of large ones, since their memory is used again.
    block = max(16, _PANEL_NUMBERS // max(model.items.dimensions for model in models))
    panel = vector_panel({model.name: model.items for model in models}, spectrum=spectrum, block=block)
    for model, row in zip(models, panel.rows, strict=True):
        if row["nan"] or row["infinite"]:
            try:
                refuse_non_finite(model.items)
            except BadInput as error:
                raise type(error)(f"{model.name}: {error}") from error
        if row["zero"] and model.metric == "cosine":
            found = next(each for each in panel.warnings if each.startswith(f"{model.name}: ") and " zero, " in each)
            raise BadInput(f"{found[:-1]}; drop it, or take --metric dot or l2.")
    return panel


def sources_of(named: Mapping[str, Any]) -> dict[str, Source]:
    """The files of the models, by name."""
    found: dict[str, Source] = {}
    for name, place in named.items():
        if isinstance(place, (str, Path)):
            path = Path(split_part(place)[0])
            found[name] = Source(path / "vectors.npy" if path.is_dir() else path)
    return found


@dataclass(frozen=True, eq=False)
class Sample:
    """The items that are queries. An item is never its own neighbour, nor is one with the same label.

    rows: (queries,) their places among the items. items: (items,) the names of all. labels: (items,) None excludes nothing.
    """

    rows: Ints
    items: Sequence[str]
    labels: Sequence[Hashable] | None = None

    @classmethod
    def draw(cls, items: Sequence[str], size: int, seed: int, exclude: Any = None) -> "Sample":
        """`size` items without replacement, as NumPy's `RandomState(seed).choice` draws them; all in order if there are fewer.

        exclude: the labels of the items, or a file or column of them. Raises BadInput where there are not as many as items.
        """
        labels = _labels(exclude, len(items))
        if size >= len(items):
            return cls(np.arange(len(items), dtype=np.int64), items, labels)
        if size < 1 or not 0 <= seed < 1 << 32:
            raise BadUsage(f"{size} samples with the seed {seed}; one sample or more, and a seed from 0 to 4294967295.")
        return cls(np.random.RandomState(seed).choice(len(items), size, replace=False).astype(np.int64), items, labels)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """(queries,) the names of the sampled items."""
        rows: list[int] = self.rows.tolist()
        return tuple(self.items[row] for row in rows)

    @cached_property
    def n_candidates(self) -> Ints:
        """(queries,) number of items that may be neighbours of each query."""
        excluded = np.ones(len(self.rows), dtype=np.int64)
        if self.labels is not None:
            alike = Counter(label for label in self.labels if label is not None)
            rows: list[int] = self.rows.tolist()
            excluded = np.array([alike.get(self.labels[row], 1) for row in rows], dtype=np.int64)
        return len(self.items) - excluded

    @property
    def groups(self) -> Groups | None:
        """The labels of queries and items in the form of `search`."""
        rows: list[int] = self.rows.tolist()
        return None if self.labels is None else Groups([self.labels[row] for row in rows], self.labels)


def _labels(exclude: Any, n: int) -> list[str | None] | None:
    if exclude is None:
        return None
    found = (
        read_column(exclude) if isinstance(exclude, (str, Path)) else [None if each is None else str(each) for each in exclude]
    )
    if len(found) != n:
        raise BadInput(f"{len(found)} labels to exclude by, for {n} vectors; there is one for each, in the reference's order.")
    return [label or None for label in found]


@dataclass(frozen=True, eq=False)
class Model:
    """The vectors of all items by one model, in the order of the reference."""

    name: str
    items: Embeddings
    metric: str

    def nearest(self, sample: Sample, k: int, progress: Progress | None = None) -> TopK:
        """The first k neighbours of each sampled item. Raises BadInput that names the model and the vector at fault."""
        options: Any = {"metric": self.metric, "exclude": "self", "groups": sample.groups, "progress": progress}
        try:
            return search(self._queries(sample), self.items, k=k, **options)
        except BadInput as error:
            raise type(error)(f"{self.name}: {error}") from error

    def exact_ranks(self, sample: Sample, items: Ints, progress: Progress | None = None) -> tuple[Ints, Floats]:
        """(queries, m) ranks among all candidates, from 1, 0 for no item, and similarities. items: (queries, m) rows, or -1."""
        options: Any = {"metric": self.metric, "exclude": "self", "groups": sample.groups, "progress": progress}
        found = ranks_of(self._queries(sample), self.items, items, **options)
        return found.above + found.before + 1, found.scores

    def in_half_precision(self) -> "Model":
        """The model with its vectors as float16. Raises BadInput where a number exceeds that type."""
        with np.errstate(over="ignore"):
            half = np.asarray(self.items.vectors, dtype=np.float16)
        if not np.isfinite(half).all():
            raise BadInput(
                f"{self.name}: float16 ends at 65504, which a number exceeds; scale the vectors, or leave out --ceiling."
            )
        return Model(f"{self.name} (float16)", Embeddings(self.items.ids, half), self.metric)

    def _queries(self, sample: Sample) -> Embeddings:
        vectors = self.items.vectors
        in_order = np.array_equal(sample.rows, np.arange(len(vectors)))
        return Embeddings(sample.names, vectors if in_order else vectors[sample.rows])


class ReferenceLists:
    """The reference's lists, made once for every candidate and cut-off.

    depth: length of the candidates' lists. reference_depth: length of the reference's, at most all neighbours.
    """

    def __init__(self, sample: Sample, model: Model, depth: int, reference_depth: int, progress: Progress | None = None) -> None:
        self.sample, self.model, self.depth = sample, model, depth
        self.top = model.nearest(sample, min(reference_depth, int(sample.n_candidates.max())), progress)

    def beside(self, candidate: Model, *, exact: bool, progress: Progress | None = None) -> tuple[RankingPairs, TopK]:
        """The view of the two models' lists, and the candidate's. exact: with the rank of every item on the other side."""
        top = candidate.nearest(self.sample, self.depth, progress)
        shape = self.top.positions.shape
        ranks, scores = np.zeros(shape, dtype=np.int64), np.full(shape, np.nan)
        of_candidate: tuple[Ints | None, Floats | None] = None, None
        if exact:
            of_candidate = self.model.exact_ranks(self.sample, top.positions, progress)
            first = self.top.positions[:, : self.depth]
            ranks[:, : first.shape[1]], scores[:, : first.shape[1]] = candidate.exact_ranks(self.sample, first, progress)
        pairs = RankingPairs.from_top_k(
            self.sample.names,
            Listed(self.top.positions, self.top.scores, ranks, scores),
            Listed(top.positions, top.scores, *of_candidate),
            n_candidates=self.sample.n_candidates,
        )
        return pairs, top
