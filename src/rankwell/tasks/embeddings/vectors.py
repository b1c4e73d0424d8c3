"""Vectors of the models: reading, a panel of their kind and faults, a sample of the items, the
neighbours that each model finds, kernel alignment and hubness.
"""

import math
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankwell._native.similarity import Metric, score_pairs
from rankwell.data.findings import Finding
from rankwell.data.findings.kinds import rows_matched_by_position
from rankwell.data.matrices import (
    Embeddings,
    align,
    matching_rows,
    named_places,
    refuse_non_finite,
    row_blocks,
)
from rankwell.data.options import CountProgress, NamedProgress, PartOptions, PartOutcome
from rankwell.data.tables import Floats, Ints, format_value, rounded
from rankwell.errors import BadInput, BadUsage, count_of, flag, shown
from rankwell.evaluation.results import progress_of
from rankwell.io.formats import read_labels
from rankwell.io.matrices import read_embeddings
from rankwell.runtime.parts import Json
from rankwell.runtime.parts.comparing import PartComparison
from rankwell.runtime.parts.execution import PartArrays, arrays_of, run_in_parts, work_folder
from rankwell.runtime.parts.tables import planned_embeddings
from rankwell.tasks.embeddings.findings import odd_vectors
from rankwell.tasks.embeddings.options import EmbeddingOptions
from rankwell.tasks.embeddings.ranking_pairs import Listed, RankingPairs
from rankwell.vectors.neighbours import Groups, TopK, ranks_of, search

_PRODUCTS = 25_000_000_000
# Blocks of half a megabyte as float64 take half the time of large ones: their memory is used again.
_PANEL_NUMBERS = 1 << 16
_COLLAPSED = 0.95
_NAN = float("nan")
_ARE = ("vector is", "vectors are")


class VectorPanel(NamedTuple):
    """Figures and warnings on the vectors of all models.

    rows: one for each model, all with the same columns.
    findings: what may change numbers.
    """

    rows: list[dict[str, Any]]
    findings: tuple[Finding, ...]


def vector_panel(
    models: Mapping[str, Embeddings], *, spectrum: bool = True, block: int | None = None
) -> VectorPanel:
    """One row per model: shape, type, NaN and infinite numbers, zero and repeated rows, norms, mean
    similarity, effective rank.

    Rows with a number that is not finite count in `nan` and `infinite` only. mean_similarity: mean
    cosine of all pairs of vectors that are not zero. effective_rank: exp of the entropy of the
    normalised singular values of the centred vectors (Roy and Vetterli 2007), from `rank_rows`
    evenly spaced vectors; null without `spectrum`. same_as: an earlier model with the same numbers
    in the same rows.
    """
    block = block or max(16, _PANEL_NUMBERS // max(table.dimensions for table in models.values()))
    scans: list[_Scan] = []
    rows: list[dict[str, Any]] = []
    findings: list[Finding] = []
    for name, table in models.items():
        scan = _Scan(name, table, block)
        equal_scan = next(
            (earlier for earlier in scans if np.array_equal(earlier.hashes, scan.hashes)), None
        )
        rows.append(scan.row(None if equal_scan is None else equal_scan.name, spectrum=spectrum))
        findings += [odd_vectors(name, problem) for problem in scan.problems(rows[-1])]
        if equal_scan is None:
            findings += [
                odd_vectors(
                    name,
                    f"the same vectors as {earlier.name}, in another order; are the ids right?",
                )
                for earlier in scans
                if np.array_equal(np.sort(earlier.hashes), np.sort(scan.hashes))
            ]
        scans.append(scan)
    return VectorPanel(rows, tuple(findings))


class _Scan:
    """The vectors of a model after one pass over them; only finite rows count for norms and sums.
    Vectors are the same where their hashes of 64 bits are.
    """

    def __init__(self, name: str, table: Embeddings, block: int) -> None:
        self.name, self.table, self.block = name, table, block
        n, dimensions = table.vectors.shape
        odd = np.random.Generator(np.random.PCG64(0)).integers(
            0, 1 << 63, dimensions, dtype=np.uint64
        ) * np.uint64(2) + np.uint64(1)
        self.norms, self.hashes = np.full(n, np.nan), np.zeros(n, dtype=np.uint64)
        self.unit_sum, total = np.zeros((2, dimensions))
        self.nan = self.infinite = 0
        for rows in row_blocks(n, dimensions, block):
            # Adding zero turns -0 into 0, which is the same number with other bits.
            numbers = table.vectors[rows].astype(np.float64) + 0.0
            mixed = np.einsum("ij,j->i", _mix(numbers.view(np.uint64)), odd)
            # Zeros add nothing, so that further dimensions of zeros would not show.
            self.hashes[rows] = mixed + np.uint64(dimensions)
            with np.errstate(over="ignore", invalid="ignore"):
                lengths = np.sqrt(np.einsum("ij,ij->i", numbers, numbers))
            finite = np.isfinite(lengths) | np.isfinite(numbers).all(axis=1)
            if not finite.all():
                self.nan += int(np.isnan(numbers).sum())
                self.infinite += int(np.isinf(numbers).sum())
                numbers[~finite] = 0.0
            self.norms[rows] = np.where(finite, lengths, np.nan)
            total += numbers.sum(axis=0)
            numbers *= np.divide(
                1.0, lengths, out=np.zeros_like(lengths), where=finite & (lengths > 0)
            )[:, None]
            self.unit_sum += numbers.sum(axis=0)
        self.finite = np.flatnonzero(~np.isnan(self.norms))
        self.mean = total / max(len(self.finite), 1)

    def row(self, same_as: str | None, *, spectrum: bool) -> dict[str, Any]:
        """The row of the panel."""
        table, norms, rows = self.table, self.norms[self.finite], self.finite
        directed = int((norms > 0).sum())
        pairs = directed * (directed - 1)
        most = max(4 * table.dimensions, _PRODUCTS // table.dimensions**2) if spectrum else 0
        if len(rows) > most:
            # Evenly spaced, as many as the product may cost.
            rows = rows[np.arange(most, dtype=np.int64) * len(rows) // most]
        numbers = {
            "norm_min": norms.min() if len(norms) else None,
            "norm_median": np.median(norms) if len(norms) else None,
            "norm_max": norms.max() if len(norms) else None,
            "mean_similarity": (self.unit_sum @ self.unit_sum - directed) / pairs
            if pairs
            else None,
            "effective_rank": self._effective_rank(rows),
        }
        return {
            "embeddings": self.name,
            "vectors": table.n,
            "dimensions": table.dimensions,
            "type": table.vectors.dtype.name,
            "nan": self.nan,
            "infinite": self.infinite,
            "zero": int((norms == 0).sum()),
            "duplicates": len(self.finite) - len(np.unique(self.hashes[self.finite])),
            **{
                column: None if number is None else rounded(float(number))
                for column, number in numbers.items()
            },
            "rank_rows": len(rows) if spectrum else None,
            "same_as": same_as,
        }

    def _effective_rank(self, rows: Ints) -> float | None:
        """exp of the entropy of the singular values of some rows, each divided by their sum; None
        where they are all zero.
        """
        vectors, n, dimensions = self.table.vectors, len(rows), self.table.dimensions
        if n < 2:
            return None
        is_sample = n < len(vectors)
        blocks = [
            rows[block] if is_sample else block for block in row_blocks(n, dimensions, self.block)
        ]
        mean = self.mean
        if is_sample:
            total = np.zeros(dimensions)
            for block in blocks:
                total += vectors[block].sum(axis=0, dtype=np.float64)
            mean = total / n
        gram = np.zeros((dimensions, dimensions))
        for block in blocks:
            numbers = vectors[block].astype(np.float64) - mean
            gram += numbers.T @ numbers
        energies = np.linalg.eigvalsh(gram)
        # What the product's rounding leaves of a singular value of zero.
        energies[energies < energies[-1] * dimensions * np.finfo(np.float64).eps] = 0.0
        values = np.sqrt(energies)
        if not values[-1] > np.finfo(np.float64).tiny:
            return None
        shares = values[values > 0] / values.sum()
        return float(np.exp(-(shares * np.log(shares)).sum()))

    def problems(self, row: Mapping[str, Any]) -> Iterator[str]:
        """What may change numbers. row: of the panel."""
        place_of_row = self.table.place
        if len(self.finite) < len(self.norms):
            first = int(np.isnan(self.norms).argmax())
            yield (
                f"{self.nan} numbers are NaN and {self.infinite} infinite, the first in "
                f"{place_of_row(first)}; no similarity is defined for them."
            )
        if row["zero"]:
            first = int((self.norms == 0).argmax())
            yield (
                f"{count_of(row['zero'], *_ARE)} zero, the first in {place_of_row(first)}; their "
                "cosine is undefined."
            )
        if row["duplicates"]:
            yield (
                f"{count_of(row['duplicates'], *_ARE)} equal to an earlier one; their neighbours "
                "are tied."
            )
        if (row["mean_similarity"] or 0.0) > _COLLAPSED:
            yield (
                f"two vectors are {format_value(row['mean_similarity'], 'score')} alike on "
                "average; did the model collapse?"
            )
        if row["same_as"] is not None:
            yield (
                f"the same numbers as {row['same_as']}, row by row; was one file copied over "
                "another?"
            )


def _mix(bits: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The bits of float64 numbers scattered, so that a sign or the zeros of a round number reach
    all of them (SplitMix64).
    """
    mixed = bits ^ (bits >> np.uint64(30))
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    mixed ^= mixed >> np.uint64(27)
    return mixed


@dataclass(frozen=True, eq=False)
class Representation:
    """Embeddings of some items by one model; what follows from them is computed once.

    vectors: (items, dimensions) an array, which may be mapped from a file.
    """

    vectors: Any

    @cached_property
    def mean(self) -> Floats:
        """The mean vector: (dimensions,). Raises BadInput where it is not finite."""
        mean = self.vectors.mean(axis=0, dtype=np.float64)
        if not np.isfinite(mean).all():
            raise BadInput("the embeddings hold NaN or infinite values; leave such items out.")
        return mean

    @cached_property
    def centred(self) -> Floats:
        """The vectors less their mean: (items, dimensions)."""
        return self.vectors - self.mean

    @cached_property
    def products(self) -> "_Products":
        """The products of the representation with itself."""
        return _products(self, self)

    @cached_property
    def is_constant(self) -> bool:
        """Whether all vectors are equal, up to the rounding of their differences from the mean."""
        return self.products.first <= 1e-24 * len(self.vectors) * float(self.mean @ self.mean)


class _Products(NamedTuple):
    """Sums over two Gram matrices K and L of centred vectors.

    n: number of vectors.
    total: Σ K_ij L_ij over all i and j.
    diagonal: Σ K_ii L_ii.
    first, second: Σ K_ii and Σ L_ii.
    """

    n: int
    total: float
    diagonal: float
    first: float
    second: float

    @property
    def unbiased(self) -> float:
        """n (n - 3) times the unbiased estimate of Hilbert-Schmidt independence (Song and others
        2012, equation 5).
        """
        # Without its diagonal a row of K sums to -K_ii, since the vectors are centred.
        total = (
            self.total - self.diagonal + self.first * self.second / ((self.n - 1) * (self.n - 2))
        )
        return total - 2 * self.diagonal / (self.n - 2)


def _products(reference: Representation, candidate: Representation) -> _Products:
    first, second = reference.centred, candidate.centred
    cross = first.T @ second
    norms, second_norms = (np.einsum("ij,ij->i", rows, rows) for rows in (first, second))
    return _Products(
        len(first),
        float(np.vdot(cross, cross)),
        float(norms @ second_norms),
        float(norms.sum()),
        float(second_norms.sum()),
    )


class Cka(NamedTuple):
    """Linear centred kernel alignment; NaN where undefined.

    linear: the biased estimate, above 0 by chance where items are few.
    debiased: the debiased estimate, 0 on average by chance; it needs 4 items.
    """

    linear: float
    debiased: float


def linear_cka(reference: Representation, candidate: Representation) -> Cka:
    """Linear kernel alignment of the same items in two spaces; NaN where it is undefined. Raises
    BadInput for other items.

    Source: Kornblith and others 2019; debiased: Nguyen, Raghu and Kornblith 2021, after Song and
    others 2012.
    """
    n = len(reference.vectors)
    if n != len(candidate.vectors):
        raise BadInput(
            f"the reference has {n} items and the candidate {len(candidate.vectors)}; give the "
            "same items in one order."
        )
    if n < 2 or reference.is_constant or candidate.is_constant:
        return Cka(_NAN, _NAN)
    cross = _products(reference, candidate)
    first, second = reference.products, candidate.products
    debiased = _normalised(cross.unbiased, first.unbiased, second.unbiased) if n >= 4 else _NAN
    return Cka(_normalised(cross.total, first.total, second.total), debiased)


def _normalised(product: float, first: float, second: float) -> float:
    return rounded(product / math.sqrt(first * second)) if first > 0 and second > 0 else _NAN


class Hubness(NamedTuple):
    """The distribution of k-occurrences, an item's being the number of queries that have it among
    their first k.

    skewness: skewness of the distribution; NaN where all k-occurrences are equal.
    largest: the largest k-occurrence.
    never: share of items that are no query's neighbour.
    """

    skewness: float
    largest: int
    never: float


def hubness(positions: Ints, n_items: int, *, k: int | None = None) -> Hubness:
    """The skewness of the k-occurrences (Radovanović, Nanopoulos and Ivanović 2010): of items among
    the first `k` neighbours.

    positions: (queries, depth) items as numbers, -1 after the end of a list. Raises BadUsage for
    one beyond `n_items`.
    """
    items = positions[:, :k]
    items = items[items >= 0]
    largest = int(items.max(initial=0))
    if largest >= n_items:
        raise BadUsage(f"n_items={n_items}: a list holds item {largest}; count all items.")
    counts = np.bincount(items, minlength=n_items)
    apart = counts - counts.mean()
    spread = float((apart**2).mean())
    skewness = float((apart**3).mean()) / spread**1.5 if spread > 0 else _NAN
    return Hubness(rounded(skewness), int(counts.max()), float((counts == 0).mean()))


def named_models(reference: Any, candidates: Any) -> dict[str, Any]:
    """The places or tables of the reference and then of the candidates, by name. Raises BadUsage
    for a name used twice.
    """
    if isinstance(candidates, Mapping):
        pairs: list[tuple[str, Any]] = [(str(name), data) for name, data in candidates.items()]
    elif isinstance(candidates, (list, tuple)):
        pairs = [("", data) for data in candidates]
    else:
        pairs = [("", candidates)]
    if not pairs:
        raise BadUsage("no candidate is given; name at least one after the reference.")
    names = [f"candidate{number}" for number in range(1, len(pairs) + 1)]
    names = names if len(pairs) > 1 else ["candidate"]
    return named_places([("", reference), *pairs], ["reference", *names])


def read_models(
    places: Mapping[str, Any], options: EmbeddingOptions
) -> "tuple[list[Model], list[Finding]]":
    """The models with their rows in the reference's order, the reference first, and
    findings.

    In parts no vectors of objects are read, unless their rows are in another order; in a dry run
    rows keep their order.
    """
    # The panel looks at every number anyway.
    read = planned_embeddings if options.is_used else partial(read_embeddings, check=False)
    tables: dict[str, Embeddings] = {}
    for name, data in places.items():
        table = read(data)
        if table.ids is None and options.item_ids is not None:
            table = read(data if isinstance(data, (str, Path)) else table, ids=options.item_ids)
        tables[name] = table
    first, reference = next(iter(tables.items()))
    findings: list[Finding] = []
    if len({table.ids is None for table in tables.values()}) > 1:
        findings.append(rows_matched_by_position())
    for name, table in tables.items():
        if name == first:
            continue
        if options.dry_run:
            matching_rows(reference, table, first, name)
        else:
            tables[name] = align(reference, table, first, name)
    return [Model(name, table, options.metric) for name, table in tables.items()], findings


def check_vectors(models: "Sequence[Model]", *, spectrum: bool) -> VectorPanel:
    """The panel of the models' vectors. Raises BadScore for a number that is not finite, BadInput
    for zero under cosine.
    """
    panel = vector_panel({model.name: model.embeddings for model in models}, spectrum=spectrum)
    for model, row in zip(models, panel.rows, strict=True):
        if row["nan"] or row["infinite"]:
            try:
                refuse_non_finite(model.embeddings)
            except BadInput as error:
                raise type(error)(f"{model.name}: {error}") from error
        if row["zero"] and model.metric == "cosine":
            warning = next(
                text
                for text in panel.findings
                if text.startswith(f"{model.name}: ") and " zero, " in text
            )
            raise BadInput(f"{warning[:-1]}; drop it, or take {flag('--metric', 'dot')} or l2.")
    return panel


@dataclass(frozen=True, eq=False)
class Sample:
    """The items that are queries.

    rows: (queries,) positions of the queries among the items.
    item_names: names of all items, in the order of the reference.
    labels: (items,) an item is no neighbour of a query with its label; None excludes nothing.
    requested: the requested number of queries, which may exceed the number of items.
    """

    rows: Ints
    item_names: Sequence[str]
    labels: Sequence[Hashable] | None
    requested: int

    @classmethod
    def draw(
        cls, items: Sequence[str], options: EmbeddingOptions, *, sized: bool = False
    ) -> "Sample":
        """Items as NumPy's `RandomState(seed).choice` draws them, all in order if there are fewer.
        Raises BadUsage, BadInput.

        sized: only the number of rows is right where there are no labels; to draw them takes a
        permutation of all items.
        """
        size, n = options.samples, len(items)
        if isinstance(size, str) and size != "all" and not (size.isdecimal() and len(size) < 19):
            raise BadUsage(
                f"{flag('--samples')} {shown(size)}: expected a positive integer, or all."
            )
        labels, requested = _labels(options.exclude_group, n), n if size == "all" else int(size)
        if requested < n and (requested < 1 or not 0 <= options.sampling_seed < 1 << 32):
            raise BadUsage(
                f"{requested} samples with the seed {options.sampling_seed}; one sample or more, "
                "and a seed from 0 to 4294967295."
            )
        if sized and labels is None:
            return cls(np.broadcast_to(np.int64(0), min(requested, n)), items, None, requested)
        if requested >= n:
            return cls(np.arange(n, dtype=np.int64), items, labels, requested)
        rows = np.random.RandomState(options.sampling_seed).choice(n, requested, replace=False)
        return cls(rows.astype(np.int64), items, labels, requested)

    @property
    def is_all(self) -> bool:
        """Whether the sample is all items, in order."""
        return len(self.rows) == len(self.item_names)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the sampled items: (queries,)."""
        rows: list[int] = self.rows.tolist()
        return tuple(self.item_names[row] for row in rows)

    @cached_property
    def groups(self) -> Groups | None:
        """The labels of queries and items in the form of `search`."""
        if self.labels is None:
            return None
        rows: list[int] = self.rows.tolist()
        return Groups([self.labels[row] for row in rows], self.labels)

    @cached_property
    def n_candidates(self) -> Ints:
        """The number of items that may be neighbours of each query: (queries,)."""
        if self.groups is None:
            return np.full(len(self.rows), len(self.item_names) - 1, dtype=np.int64)
        sizes = Counter(self.groups.items)
        excluded = [1 if label is None else sizes[label] for label in self.groups.queries]
        return len(self.item_names) - np.array(excluded, dtype=np.int64)

    @property
    def most_candidates(self) -> int:
        """Number of items that may be neighbours of some query."""
        return len(self.item_names) - 1 if self.labels is None else int(self.n_candidates.max())


def _labels(exclude: Any, n: int) -> list[str | None] | None:
    if exclude is None:
        return None
    labels = read_labels(exclude)
    if len(labels) != n:
        raise BadInput(
            f"{len(labels)} labels to exclude by, for {n} vectors; there is one for each, in "
            "the reference's order."
        )
    return [label or None for label in labels]


@dataclass(frozen=True, eq=False)
class Model:
    """The vectors of all items by one model, in the order of the reference.

    name: name of the model in results and messages.
    embeddings: the vectors, with the ids of the items.
    metric: the similarity by which neighbours are found.
    """

    name: str
    embeddings: Embeddings
    metric: Metric

    def nearest(self, sample: Sample, k: int, progress: CountProgress | None = None) -> TopK:
        """The first k neighbours of each sampled item. Raises BadInput that names the model and the
        vector at fault.
        """
        try:
            return search(
                self._queries(sample),
                self.embeddings,
                k=k,
                **self._options(sample),
                progress=progress,
            )
        except BadInput as error:
            raise type(error)(f"{self.name}: {error}") from error

    def exact_ranks(
        self, sample: Sample, items: Ints, progress: CountProgress | None
    ) -> tuple[Ints, Floats]:
        """The ranks among all candidates, from 1, 0 for no item, and the similarities: (queries, m)
        each. items: (queries, m) rows, or -1.
        """
        ranks = ranks_of(
            self._queries(sample),
            self.embeddings,
            items,
            **self._options(sample),
            progress=progress,
        )
        return ranks.above + ranks.before + 1, ranks.scores

    def in_half_precision(self) -> "Model":
        """The model with its vectors as float16. Raises BadInput where a number exceeds that
        type.
        """
        with np.errstate(over="ignore"):
            half = np.asarray(self.embeddings.vectors, dtype=np.float16)
        if not np.isfinite(half).all():
            raise BadInput(
                f"{self.name}: float16 ends at 65504, which a number exceeds; scale the vectors, "
                f"or leave out {flag('--ceiling')}."
            )
        return Model(f"{self.name} (float16)", Embeddings(self.embeddings.ids, half), self.metric)

    def _options(self, sample: Sample) -> dict[str, Any]:
        return {"metric": self.metric, "exclude": "self", "groups": sample.groups}

    def _queries(self, sample: Sample) -> Embeddings:
        vectors = self.embeddings.vectors
        return Embeddings(sample.names, vectors if sample.is_all else vectors[sample.rows])


class NeighbourLists:
    """The lists of all models, the reference first.

    reference_depth, depth: the lengths of the reference's lists, and of the candidates'.
    exact: whether the rank of every item on the other side is found.
    """

    def __init__(
        self,
        sample: Sample,
        models: Sequence[Model],
        reference_depth: int,
        depth: int,
        *,
        exact: bool,
        progress: NamedProgress | None,
    ) -> None:
        self.sample, self.models, self.reference = sample, models, models[0]
        self.depth, self._reference_depth, self._exact = depth, reference_depth, exact
        self._progress = progress
        self._tops: dict[str, TopK] = {}
        self._ranks: dict[tuple[str, str], tuple[Ints, Floats]] = {}

    @cached_property
    def top(self) -> TopK:
        """The lists of the reference, made once for every candidate and cut-off."""
        return self._nearest(self.reference, self._reference_depth)

    def _nearest(self, model: Model, depth: int) -> TopK:
        if self._tops:
            return self._tops[model.name]
        return model.nearest(self.sample, depth, progress_of(self._progress, model.name))

    def compare(self, candidate: Model) -> tuple[RankingPairs, TopK]:
        """The view of the two models' lists, and the candidate's."""
        reference, first = self.top, self.top.positions[:, : self.depth]
        top = self._nearest(candidate, self.depth)
        shape = reference.positions.shape
        ranks, scores = np.zeros(shape, dtype=np.int64), np.full(shape, np.nan)
        of_candidate: tuple[Ints | None, Floats | None] = None, None
        if self._exact:
            reference_name, candidate_name = self.reference.name, candidate.name
            progress = progress_of(self._progress, candidate.name)
            if self._ranks:
                of_candidate = self._ranks[reference_name, candidate_name]
                of_reference = self._ranks[candidate_name, reference_name]
            else:
                of_candidate = self.reference.exact_ranks(self.sample, top.positions, progress)
                of_reference = candidate.exact_ranks(self.sample, first, progress)
            ranks[:, : first.shape[1]], scores[:, : first.shape[1]] = of_reference
        pairs = RankingPairs.from_top_k(
            self.sample.names,
            Listed(reference.positions, reference.scores, ranks, scores),
            Listed(top.positions, top.scores, *of_candidate),
            n_candidates=self.sample.n_candidates,
        )
        return pairs, top

    def find_in_parts(self, places: Mapping[str, Any], parts: PartOptions) -> PartOutcome:
        """Finds the lists and the ranks in parts; the outcome has a result where all are there.

        places: of the models by name; other models, and those that are not in the order of the
        reference, are copied.
        """
        sample, reference = self.sample, self.reference.name
        with (
            work_folder(replace(parts, work=None) if parts.dry_run else parts) as folder,
            arrays_of(folder, outlined=parts.dry_run) as store,
        ):
            tables = {
                model.name: list(store.table(model.embeddings, places.get(model.name)))
                for model in self.models
            }
            arrays, fields = _sampled(store, sample)
            first = [
                PartComparison(
                    what="lists",
                    items=name,
                    queries=name,
                    width=self._reference_depth if name == reference else self.depth,
                    **fields,
                )
                for name in tables
            ]
            # The model by which items are ranked, and the one that lists them.
            pairs = [
                pair
                for name in tables
                if self._exact and name != reference
                for pair in ((reference, name), (name, reference))
            ]
            then: list[Json] = []
            for model, listing in pairs:
                counts = PartComparison(
                    what="counts", items=model, queries=model, width=self.depth, **fields
                )
                of = [*tables].index(listing)
                then.append({"comparison": counts.json, "of": of, "depth": self.depth})
            options = {
                "metric": self.reference.metric,
                "tables": tables,
                "arrays": arrays,
                "then": then,
                "first": [comparison.json for comparison in first],
            }
            work = parts if parts.dry_run else replace(parts, work=folder.name)
            outcome = run_in_parts("counts", options, work, "rankwell embeddings", self._progress)
        if outcome.result is not None:
            models = {model.name: model for model in self.models}
            for model, (positions, scores) in zip(self.models, outcome.result, strict=False):
                self._tops[model.name] = TopK(
                    positions, scores, sample.names, model.embeddings.names(), model.metric
                )
            for (model, listing), counts in zip(pairs, outcome.result[len(first) :], strict=True):
                positions = self._tops[listing].positions[:, : self.depth]
                self._ranks[model, listing] = _ranks(models[model], sample, positions, counts)
        return outcome


def _sampled(store: PartArrays, sample: Sample) -> tuple[dict[str, str], dict[str, Any]]:
    """The arrays of the sample and of labels, and the fields of comparisons that name them."""
    arrays, fields = {"sample": store.keep(sample.rows)}, {"own": "sample"}
    if not sample.is_all:
        fields["rows"] = "sample"
    if sample.labels is not None:
        numbers: dict[Any, int] = {None: -1}
        codes = np.array(
            [numbers.setdefault(label, len(numbers) - 1) for label in sample.labels], dtype=np.int64
        )
        arrays["labels"] = store.keep(np.concatenate([codes[sample.rows], codes]))
        fields["labels"] = "labels"
    return arrays, fields


def _ranks(model: Model, sample: Sample, positions: Ints, counts: Ints) -> tuple[Ints, Floats]:
    """As `Model.exact_ranks`, from the counts of the items that there are."""
    owner, column = np.nonzero(positions >= 0)
    ranks, scores = np.full(positions.shape, -1, dtype=np.int64), np.full(positions.shape, np.nan)
    ranks[owner, column] = counts[0] + counts[2] + 1
    vectors = model.embeddings.vectors
    scores[owner, column] = score_pairs(
        vectors, vectors, sample.rows[owner], positions[owner, column], model.metric
    )
    return ranks, scores
