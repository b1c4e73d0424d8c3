"""Similarities of vectors: exact in float64, and as matrix products whose distance from the
exact value is bounded; a gallery is read once for many queries.
"""

from collections.abc import Callable
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from rankwell._native import native
from rankwell.data.matrices import Embeddings, Pairs, Vectors, row_blocks
from rankwell.data.registry import suggest
from rankwell.data.tables import Bools, Floats, Ints, first_true
from rankwell.errors import BadInput, BadScore, UnknownName
from rankwell.threads import in_threads

Metric = Literal["cosine", "dot", "l2"]
Reals = NDArray[Any]  # float32, or float64 where float32 distinguishes too little

_CELLS = 1 << 17  # numbers that are worked on at a time, so that they stay in the cache
_SHORTEST, _LONGEST = 2.0**-250, 2.0**250
_LONGEST_UNSCALED = 1e9  # products stay far from the largest float32


def sum_rows(terms: Floats) -> Floats:
    """Sum of each row, by adding the second half to the first until one column is left."""
    # Few short rows are added as a few long columns: the same additions, with less to do around
    # each.
    while terms.shape[1] > 24:
        terms = _folded(terms.T).T
    columns = np.ascontiguousarray(terms.T)
    while len(columns) > 1:
        columns = _folded(columns)
    return columns[0]


def _folded(columns: Floats) -> Floats:
    """The second half added to the first; the middle one of an odd number is kept."""
    half, left = len(columns) // 2, len(columns) - len(columns) // 2
    # Not in place: NumPy does not see that the halves are disjoint, and would copy one of them
    # first.
    folded = columns[:half] + columns[left:]
    return folded if left == half else np.concatenate([folded, columns[half:left]])


def _is_native(vectors: Vectors) -> bool:
    return native.library is not None and vectors.dtype == np.float32 and vectors.flags.c_contiguous


_NATIVE = {"dot": 0, "l2": 1, "cosine": 2}


def squared_norms(vectors: Vectors, rows: Ints) -> Floats:
    """Sums of squares of some vectors, in float64 in the fixed order of `sum_rows`."""
    return score_pairs(vectors, vectors, rows, rows, "dot")


def score_pairs(
    queries: Vectors,
    items: Vectors,
    rows: Ints,
    columns: Ints,
    metric: Metric | Literal["euclidean", "manhattan"],
) -> Floats:
    """The exact scores of pairs of vectors, (pairs,), higher is nearer; `l2` is the negative
    distance, `-sqrt(sum (q - x)^2)`.

    rows, columns: (pairs,) positions in `queries` and `items`. Cosine is `q.x / sqrt(|q|^2 |x|^2)`,
    which is exactly 1 for equal vectors. Every score is a function of its two vectors alone. The
    vectors are finite, under cosine not zero.
    """
    left, right = np.asarray(queries), np.asarray(items)
    is_norm = queries is items and rows is columns
    natively = _is_native(left) and _is_native(right) and metric != "manhattan"
    metric = "l2" if metric == "euclidean" else metric

    def _work(part: slice) -> Floats:
        if natively:
            scores = np.empty(part.stop - part.start)
            left_rows = np.ascontiguousarray(rows[part], dtype=np.int64)
            right_rows = np.ascontiguousarray(columns[part], dtype=np.int64)
            native.library.score_pairs(
                left, right, left.shape[1], left_rows, right_rows, _NATIVE[metric], scores
            )
            return scores
        terms = left[rows[part]].astype(np.float64)
        other = terms if is_norm else right[columns[part]]
        # What is not finite is refused by name where the vectors are made ready.
        with np.errstate(all="ignore"):
            if metric == "manhattan":
                terms = np.abs(terms - other)
            elif metric == "l2":
                terms -= other
                terms *= terms
            else:
                terms *= other
            return sum_rows(terms)

    scores = _in_parts(_work, len(rows), left.shape[1])
    if metric in ("l2", "manhattan"):
        return 0.0 - (np.sqrt(scores) if metric == "l2" else scores)
    if metric == "cosine" and not natively:
        left_rows, left_index = np.unique(rows, return_inverse=True)
        right_rows, right_index = np.unique(columns, return_inverse=True)
        with np.errstate(all="ignore"):
            scores /= np.sqrt(
                squared_norms(left, left_rows)[left_index]
                * squared_norms(right, right_rows)[right_index]
            )
    return scores + 0.0  # no negative zero


def _in_parts(work: Callable[[slice], Floats], n: int, width: int) -> Floats:
    """Results of the work on parts of n rows of a width, done on all processors where there is
    enough of it.
    """
    return np.concatenate(
        [
            np.empty(0),
            *in_threads(
                work, list(row_blocks(n, width, max(16, _CELLS // width))), parts_per_thread=8
            ),
        ]
    )


class Block(NamedTuple):
    """Vectors of some rows of a table, made ready for the product.

    vectors: (n, width) normalised under `cosine`, moved to the items' centre under `l2`.
    norm_bounds: (n,) upper bounds of their norms.
    squares: (n,) the exact squared norms of queries under `l2`; not used under other metrics.
    """

    vectors: Reals
    norm_bounds: Floats
    squares: Floats


class Space:
    """Products of the vectors of two tables under a metric, with a bound on their error.

    double: in float64, which is half as fast, for vectors that are nearly the same as seen from
    float32.
    Under `cosine` and `dot` products are scores, under `l2` they are `q.x - |x|^2 / 2` of vectors
    moved to the items' centre, in the order of scores; `place` takes an exact score there. Source
    of the bounds, which hold for any order of summation: Higham 2002, Accuracy and Stability of
    Numerical Algorithms, sections 3.1 and 3.5.
    """

    def __init__(
        self, queries: Embeddings, items: Embeddings, metric: Metric, *, double: bool = False
    ) -> None:
        if queries.dimensions != items.dimensions:
            raise BadInput(
                f"the queries have {queries.dimensions} dimensions, the items {items.dimensions}; "
                "both come from one model."
            )
        self.metric: Metric = metric
        self._tables = {"query": queries, "item": items}
        self.is_whole = all(table.vectors.dtype.kind in "iu" for table in (queries, items))
        self.dimensions = queries.dimensions
        self.width = self.dimensions + (metric == "l2")
        self.centre = np.zeros(self.dimensions, dtype=np.float32)
        if metric == "l2" and items.n:
            first = np.asarray(items.vectors[:4096]).astype(np.float64)
            with np.errstate(all="ignore"):
                centre = np.nan_to_num(first.mean(axis=0), posinf=0.0, neginf=0.0).clip(-1e9, 1e9)
            self.centre = (np.rint(centre) if self.is_whole else centre).astype(np.float32)
        self.double = double
        self.dtype = np.dtype(np.float64 if double else np.float32)
        # Roundings in a product: of both vectors, of d multiplications and additions, and of the
        # norms that enter; beside a float64 product those in the exact score count as well.
        steps = {
            "cosine": 1.5 * self.dimensions + 16,
            "dot": self.dimensions + 16,
            "l2": 2 * self.dimensions + 32,
        }[metric]
        steps *= 2.0**-52 if double else 2.0**-24
        if steps > 0.5:
            raise BadInput(
                f"{self.dimensions} dimensions; vectors of {2**21} at most can be compared."
            )
        self._share = steps / (1 - steps)

    def in_double(self) -> "Space":
        """The same space with products in float64."""
        return Space(self._tables["query"], self._tables["item"], self.metric, double=True)

    def queries(self, start: int, stop: int, out: Reals | None = None) -> Block:
        """Some queries, ready in `out`. Raises BadInput that names one that is not finite, zero
        under cosine, or too long.
        """
        block = self._ready("query", start, stop, out)
        if out is None or block.vectors is out:
            return block
        out[...] = block.vectors
        return block._replace(vectors=out)

    def items(self, start: int, stop: int, out: Reals | None = None) -> Block:
        """Some items, ready in `out`, or in place where they are as they should be. Raises as
        `queries` does.
        """
        return self._ready("item", start, stop, out)

    def _ready(
        self, side: Literal["query", "item"], start: int, stop: int, out: Reals | None
    ) -> Block:
        out = np.empty((stop - start, self.width), dtype=self.dtype) if out is None else out
        raw = np.asarray(self._tables[side].vectors[start:stop])
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            plain = np.ascontiguousarray(raw, dtype=self.dtype)
            if self.metric == "cosine":
                return self._normalised(side, start, raw, plain, out)
            if self.metric == "dot":
                out = plain
            elif raw.dtype.itemsize == 8:
                np.subtract(raw, self.centre, out=out[:, : self.dimensions], casting="same_kind")
            else:
                np.subtract(plain, self.centre, out=out[:, : self.dimensions])
            moved = out[:, : self.dimensions]
            squares = np.vecdot(moved, moved).astype(np.float64)
            self._refuse(side, start, raw, ~(squares < _LONGEST_UNSCALED**2))
        # Squares of very small numbers may have been lost below the smallest float32.
        reach = np.sqrt(squares * (1 + self._share) + self.dimensions * 2.0**-148)
        if self.metric == "l2":
            out[:, self.dimensions] = 1 if side == "query" else -squares / 2
            squares = self._moved_squares(raw) if side == "query" else squares
        return Block(out, reach, squares)

    def _normalised(
        self, side: Literal["query", "item"], start: int, raw: Vectors, plain: Reals, out: Reals
    ) -> Block:
        # The bound has room for norms of items off by the roundings of d additions, but not for
        # those of queries as well.
        squares = (
            np.vecdot(plain, plain)
            if side == "item"
            else squared_norms(plain, np.arange(len(plain)))
        )
        if ((squares > 1e-18) & (squares < 1e18)).all():
            np.multiply(
                plain,
                (1 / np.sqrt(squares.astype(np.float64))).astype(self.dtype)[:, None],
                out=out,
            )
        else:
            wide = raw.astype(np.float64)
            squares = np.vecdot(wide, wide)
            self._refuse(side, start, raw, ~((squares > _SHORTEST**2) & (squares < _LONGEST**2)))
            np.divide(wide, np.sqrt(squares)[:, None], out=out, casting="same_kind")
        ones = np.ones(len(out))
        return Block(out, ones, ones)

    def _moved_squares(self, raw: Vectors) -> Floats:
        def _work(part: slice) -> Floats:
            moved = raw[part].astype(np.float64) - self.centre
            moved *= moved
            return sum_rows(moved)

        return _in_parts(_work, len(raw), self.dimensions)

    def _refuse(self, side: Literal["query", "item"], start: int, raw: Vectors, bad: Bools) -> None:
        """Raises BadInput that says what is wrong with the first bad vector, if there is one."""
        if (row := first_true(bad)) < 0:
            return
        _refuse(self._tables[side], start + row, side, "take the metric dot or l2", zero=True)
        vector_name = self._tables[side].place(start + row)
        largest = np.abs(raw[row].astype(np.float64)).max()
        raise BadInput(
            f"{side} vectors, {vector_name}: numbers as far from 1 as {largest:.3g} cannot be "
            "compared; scale all vectors alike."
        )

    def slack(self, query_reach: Any, item_reach: Any) -> Any:
        """The largest distance of a product from the place of its exact score, for norms up to
        these arrays or tensors.
        """
        mass = query_reach * item_reach
        extra = 0.0
        if self.metric == "l2":
            mass = mass + item_reach**2 / 2
            extra = (self.dimensions + 16) * 2.0**-52 * (query_reach + item_reach) ** 2
        bound = (
            self._share * mass
            + self.dimensions * 2.0**-100 * (1 + query_reach) * (1 + item_reach) ** 2
        )
        if self.is_whole and self.metric != "cosine":
            # Sums of integers, and of halves, below 2^23 are exact.
            bound = bound * (mass >= 2.0**23)
        return bound * (1 + 1e-9) + extra

    def place(self, scores: Any, squares: Any) -> Any:
        """Exact scores among the products; never falls where scores rise. squares: the `squares` of
        the scores' queries.
        """
        return (squares - scores * scores) / 2 if self.metric == "l2" else scores

    def after(self, scores: Floats, squares: Floats) -> Floats:
        """The lowest place that a score above the given ones may have."""
        return self.place(scores, squares) if self.metric == "l2" else np.nextafter(scores, np.inf)


Similarity = Literal["cosine", "dot", "euclidean", "manhattan"]
SIMILARITIES: tuple[Similarity, ...] = get_args(Similarity)


def similarity_name(name: str) -> Similarity:
    """The similarity of this name; `l2` is `euclidean`, `l1` is `manhattan`. Raises UnknownName."""
    similarities: dict[str, Similarity] = {
        "l2": "euclidean",
        "l1": "manhattan",
        **{similarity: similarity for similarity in SIMILARITIES},
    }
    if name not in similarities:
        raise UnknownName(f"unknown similarity {name!r}; {suggest(name, similarities)}")
    return similarities[name]


def pair_similarities(
    left: Embeddings, right: Embeddings, pairs: Pairs, similarity: Similarity
) -> Floats:
    """The cosine, the dot product, or the negative Euclidean or Manhattan distance of each pair,
    (pairs,), in float64 whatever the input.

    A figure depends on its two vectors alone, so that equal pairs tie exactly and the two vectors
    may change places.
    Raises BadInput for vectors of different length and for a zero vector under cosine; BadScore for
    a vector that is not finite.
    """
    if left.dimensions != right.dimensions:
        raise BadInput(
            f"{left.dimensions} dimensions on the left, {right.dimensions} on the right; the two "
            "vectors of a pair come from one model."
        )
    scores = score_pairs(left.vectors, right.vectors, pairs.left, pairs.right, similarity)
    if (row := first_true(~np.isfinite(scores))) >= 0:
        for side, table, at in (
            ("left", left, int(pairs.left[row])),
            ("right", right, int(pairs.right[row])),
        ):
            _refuse(
                table, at, side, "take another similarity than cosine", zero=similarity == "cosine"
            )
        raise BadInput(
            f"the {similarity} similarity of pair {row} (from 0) is {scores[row]}; scale the "
            "vectors down."
        )
    return scores


def _refuse(table: Embeddings, row: int, side: str, advice: str, *, zero: bool) -> None:
    """Raises BadScore for a vector that is not finite; BadInput for a `zero` one."""
    vector = np.asarray(table.vectors[row], dtype=np.float64)
    where = f"{side} vectors, {table.place(row)}"
    if (odd := first_true(~np.isfinite(vector))) >= 0:
        raise BadScore(
            f"{where}: number {odd} is {vector[odd]}; vectors are finite, encode this one again or "
            "drop it."
        )
    if zero and not vector.any():
        raise BadInput(f"{where}: the vector is zero, it has no direction; drop it, or {advice}.")


class RankTargets(NamedTuple):
    """Items whose ranks are counted, m for each query.

    scores: (queries, m) exact scores; NaN where a place holds no item.
    tie_places: (queries, m) places among the items of equal score.
    """

    scores: Floats
    tie_places: Ints


TargetsOf = Callable[[slice], RankTargets]
"""Gives the targets of a range of queries."""


def plan_passes(queries: int, state: int, memory: int) -> int:
    """The number of passes over the items for queries of a state in bytes, of which as many are
    worked on at once as the memory holds; one at least.
    """
    return max(1, -(-queries // max(1, memory // state)))
