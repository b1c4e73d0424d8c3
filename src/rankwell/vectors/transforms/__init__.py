"""Transforms: scores or descriptors to others before anything is ranked. Each declares what it
looks at beyond query and item.

A transform that looks at other queries answers a question of its own: its figures hold for the
whole set of queries at once and stand beside those of plain scores only with that said. So every
result names its transforms and what they look at.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from inspect import Parameter, getdoc, signature
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from rankwell.data.options import named_parameters
from rankwell.data.registry import Catalogue
from rankwell.data.tables import Floats, Ints
from rankwell.errors import BadInput, BadScore, BadUsage

Matrix = NDArray[Any]
Transductive = Literal["queries", "gallery", "labels", "none"]
WorksOn = Literal["scores", "descriptors", "reranking"]
"""`descriptors` turns vectors into vectors, `scores` scores into scores, and `reranking` vectors
into scores.
"""
Function = TypeVar("Function", bound=Callable[..., Any])
Named = TypeVar("Named", bound="NamedFunction")

_LARGEST = 1e300
BLOCK_ROWS = 256
"""Number of rows read at once; sums go block by block from the first row, so that no caller's
choice changes a bit of them.
"""


@dataclass(frozen=True, eq=False)
class Transformed:
    """A matrix of scores that is computed when its rows are read. The original matrix is never
    copied as a whole.

    shape: (queries, gallery).
    read: (first row, one after the last) -> (rows, gallery) float64.
    """

    shape: tuple[int, int]
    read: Callable[[int, int], Floats]

    def rows(self, start: int, stop: int) -> Floats:
        """The transformed scores of some queries; rows read together or apart are the same."""
        return self.read(start, min(stop, self.shape[0]))

    def whole(self) -> Floats:
        """All transformed scores."""
        scores = np.empty(self.shape)
        for start in range(0, self.shape[0], BLOCK_ROWS):
            scores[start : start + BLOCK_ROWS] = self.rows(start, start + BLOCK_ROWS)
        return scores


Nearest = Callable[..., Any]
"""A search for neighbours, such as `rankwell.vectors.neighbours.search`: (queries, items, k=…) ->
(queries, k) positions and scores.
"""


@dataclass(frozen=True, eq=False)
class Descriptors:
    """The vectors of queries and references, with the other data that a transform may use. Vectors
    are compared by cosine and never changed.

    queries: (queries, d) vectors.
    references: (references, d) vectors.
    nearest: finds neighbours among the references.
    own_references: (queries,) row of the reference that is the same image as the query, -1 where
        there is none; None where no query is among the references.
    learn: (n, d) other vectors that a transform learns on; None to learn on the references.
    learnt_on: the word for those vectors in the rules of a result.
    labels: (references,) instance of each reference, None for one without; None where no instance
        is known.

    Raises BadInput where shapes do not go together.
    """

    queries: Matrix
    references: Matrix
    nearest: Nearest
    own_references: Ints | None = None
    learn: Matrix | None = None
    learnt_on: str = "references"
    labels: Sequence[str | None] | None = None

    def __post_init__(self) -> None:
        check_matrix(self.queries, "queries")
        check_matrix(self.references, "references")
        for name, vectors in (("queries", self.queries), ("vectors to learn from", self.learn)):
            if vectors is not None and vectors.shape[1] != self.references.shape[1]:
                raise BadInput(
                    f"{name} have {vectors.shape[1]} dimensions, references "
                    f"{self.references.shape[1]}; all come from one model."
                )

    @property
    def same(self) -> Ints:
        """The row of the reference that is each query's own image, -1 where none is."""
        if self.own_references is None:
            return np.full(len(self.queries), -1, dtype=np.int64)
        return self.own_references


@dataclass(frozen=True)
class DocumentedFunction:
    """A function that users choose by name.

    name: the name in their text.
    function: the function; the first sentence of its docstring is shown in the rules of results.
    """

    name: str
    function: Callable[..., Any]

    @property
    def says(self) -> str:
        """The first sentence of its documentation, on one line."""
        return (getdoc(self.function) or "").split("\n\n")[0].replace("\n", " ")


@dataclass(frozen=True)
class NamedFunction(DocumentedFunction):
    """A function that users choose by name, with parameters, which are its keyword-only arguments.

    source: authors, year and title of its publication.
    """

    source: str

    @cached_property
    def parameters(self) -> dict[str, Any]:
        """name -> default, `inspect.Parameter.empty` where it must be given."""
        return {
            name: parameter.default
            for name, parameter in signature(self.function).parameters.items()
            if parameter.kind is Parameter.KEYWORD_ONLY
        }

    def spelled(self, arguments: Mapping[str, Any]) -> str:
        """Its name with parameters, `rrf(k=10)`."""
        inner = ",".join(f"{name}={value!r}" for name, value in arguments.items())
        return self.name + (f"({inner})" if inner else "")


@dataclass(frozen=True)
class TransformEntry(NamedFunction):
    """A transform as its file declares it.

    transductive: the data that it uses beyond query and item: other queries, the gallery, labels,
        or none of these.
    works_on: the data that it takes and returns.
    learns: whether it learns on `Descriptors.learn` where that is given, and then uses none of the
        evaluated data.

    The function is `(scores, *, parameters) -> Transformed`; with `needs_bank` it takes `(scores,
    bank, *, parameters)`, the bank being scores of other queries, (bank queries, gallery). One that
    works on descriptors takes and returns `Descriptors`, and a re-ranking takes them and returns
    `Transformed`.
    """

    transductive: Transductive
    works_on: WorksOn = "scores"
    learns: bool = False

    @property
    def needs_bank(self) -> bool:
        """Whether it takes the scores of other queries, too."""
        return len(signature(self.function).parameters) - len(self.parameters) > 1


TRANSFORMS: Catalogue[TransformEntry] = Catalogue("vectors.transforms", "transform")


def transform(name: str, **facts: Any) -> Callable[[Function], Function]:
    """Registers a function under a name and returns it unchanged; see `TransformEntry` for what it
    takes and returns, and for the facts about it.
    """
    return TRANSFORMS.register(name, lambda function: TransformEntry(name, function, **facts))


@dataclass(frozen=True)
class Transform:
    """A transform with its parameters, such as `dual-softmax(temperature=0.02)`.

    entry: the transform.
    arguments: the given parameters, by name; others have their defaults.
    """

    entry: TransformEntry
    arguments: Mapping[str, Any]

    def __str__(self) -> str:
        return self.entry.spelled(self.arguments)

    def __call__(self, scores: Matrix, bank: Matrix | None = None) -> Transformed:
        """The transformed scores; rows of `scores` are the queries of the direction that is
        evaluated.

        Raises BadUsage where the transform needs a bank and has none, or has one and needs none;
        and where it works on vectors.
        """
        if self.entry.works_on != "scores":
            raise BadUsage(f"{self} works on descriptors and not on scores; give it vectors.")
        if self.entry.needs_bank and bank is None:
            raise BadUsage(
                f"{self} needs a bank: the scores of other queries, of training data, with "
                "the same gallery."
            )
        if bank is not None and not self.entry.needs_bank:
            raise BadUsage(f"{self} needs no bank of queries; leave it out.")
        inputs = (scores,) if bank is None else (scores, bank)
        return self.entry.function(*inputs, **self.arguments)

    def describe(self, descriptors: Descriptors | None = None) -> dict[str, Any]:
        """Its description in the rules of a result; `descriptors` names what a transform that
        learns was learnt on.
        """
        description = {
            "transform": str(self),
            "transductive": self.entry.transductive,
            "definition": self.entry.says,
            "source": self.entry.source,
        }
        if self.entry.learns:
            description["learnt_on"] = "references"
            if descriptors is not None and descriptors.learn is not None:
                description |= {"transductive": "none", "learnt_on": descriptors.learnt_on}
        return description


def chain(transforms: Sequence[Transform], descriptors: Descriptors) -> Descriptors | Transformed:
    """Applies transforms one after the other, those of scores to cosines or to scores. Raises
    BadUsage for another order.
    """
    state: Descriptors | Transformed = descriptors
    for step in transforms:
        if step.entry.works_on == "scores":
            state = step(cosines(state) if isinstance(state, Descriptors) else state.whole())
        elif isinstance(state, Descriptors):
            state = step.entry.function(state, **step.arguments)
        else:
            raise BadUsage(
                f"{step} works on descriptors, but what comes before it has made scores of "
                "them; name it earlier."
            )
    return state


def cosines(descriptors: Descriptors) -> Floats:
    """The cosine of each query with each reference, in float64."""
    queries = unit_rows(descriptors.queries, "queries")
    references = unit_rows(descriptors.references, "references")
    scores = np.empty((len(queries), len(references)))
    for rows in row_ranges(references):
        np.matmul(queries, references[rows].T, out=scores[:, rows], dtype=np.float64)
    return scores


def parse_transform(text: str) -> Transform:
    """The transform that a text names, `dual-softmax(temperature=0.02)`; errors as in
    `parse_named`.
    """
    return Transform(*parse_named(text, TRANSFORMS, "transform", "dual-softmax(temperature=0.02)"))


def parse_named(
    text: str, catalogue: Catalogue[Named], noun: str, example: str
) -> tuple[Named, dict[str, Any]]:
    """The entry of a catalogue that a text names, `name(parameter=value,…)`, and its parameters.
    Raises UnknownName, BadUsage.
    """
    name, arguments = named_parameters(text, lambda name: catalogue[name].parameters, noun, example)
    for value in arguments.values():
        if not isinstance(value, (bool, int, float)):
            raise BadUsage(
                f"{value!r} in {text!r} is not a value; expected a number, True or False."
            )
    return catalogue[name], arguments


def blocks(scores: Matrix, name: str = "scores") -> Iterator[tuple[int, Floats]]:
    """The rows of a matrix as float64, a block at a time, each with the number of its first row.
    Raises as `wide` does.
    """
    for rows in row_ranges(scores):
        yield rows.start, wide(scores, rows.start, rows.stop, name)


def row_ranges(matrix: Matrix) -> list[slice]:
    """The rows of a matrix, a block at a time."""
    return [slice(start, start + BLOCK_ROWS) for start in range(0, len(matrix), BLOCK_ROWS)]


def check_matrix(scores: Matrix, name: str = "scores") -> tuple[int, int]:
    """The numbers of rows and columns. Raises BadInput for anything but a matrix, and for an empty
    one.
    """
    if scores.ndim != 2 or 0 in scores.shape:
        raise BadInput(
            f"{name}: the shape is {scores.shape}; expected a matrix with at least one row "
            "and one column."
        )
    return scores.shape[0], scores.shape[1]


def wide(scores: Matrix, start: int, stop: int, name: str = "scores") -> Floats:
    """Some rows as float64. Raises BadScore naming row and column of one that is not finite."""
    # Always a copy: the transforms work in place, and what was given stays as it is.
    block = np.array(scores[start:stop], dtype=np.float64, order="C")
    if not np.isfinite(block).all():
        row, column = np.argwhere(~np.isfinite(block))[0].tolist()
        raise BadScore(
            f"{name}: row {start + row}, column {column} (from 0) is {block[row, column]}; "
            "expected finite numbers."
        )
    return block


def log_sums(scores: Matrix, scale: float, name: str = "scores") -> Floats:
    """The logarithm of each column's sum of exp(scale · score). Raises BadUsage where scale · score
    overflows.
    """
    highest = np.full(scores.shape[1], -np.inf)
    total = np.zeros(scores.shape[1])
    for _, block in blocks(scores, name):
        if float(np.abs(block).max()) * scale > _LARGEST:
            raise BadUsage(
                f"{name} up to {float(np.abs(block).max()):g} times {scale:g} are too large; "
                "choose smaller values."
            )
        block *= scale
        higher = np.maximum(highest, block.max(axis=0))
        total *= np.exp(highest - higher)
        block -= higher
        total += np.exp(block, out=block).sum(axis=0)
        highest = higher
    return highest + np.log(total)


def unit_rows(vectors: Matrix, name: str) -> Matrix:
    """The vectors divided by their lengths. Raises BadScore and BadInput, for one without a
    direction, with the row.
    """
    units = np.empty(vectors.shape, dtype=np.float64 if vectors.dtype == np.float64 else np.float32)
    for start, block in blocks(vectors, name):
        # Squares of what is very large or very small would not fit.
        largest = np.abs(block).max(axis=1)
        if not largest.all():
            row = start + int(np.flatnonzero(largest == 0)[0])
            raise BadInput(
                f"{name}: row {row} (from 0) is a zero vector, which has no direction; drop "
                "the image or its descriptor."
            )
        block /= largest[:, None]
        block /= np.sqrt(np.vecdot(block, block))[:, None]
        units[start : start + len(block)] = block
    return units


def with_neighbours(
    vectors: Matrix, descriptors: Descriptors, own_references: Ints, k: int, alpha: float, name: str
) -> Matrix:
    """Each vector plus its k nearest references, each times its cosine to the power alpha or 0
    below 0; all of length 1.

    vectors: (n, d) of length 1. own_references: (n,) the reference that is not taken for a
    neighbour of the vector, -1 for none. Raises BadUsage for k below 1 or alpha below 0, BadInput
    where a vector and its neighbours cancel out.
    """
    k = check_whole("k", k)
    check_finite("alpha", alpha)
    references = unit_rows(descriptors.references, "references")
    nearest = descriptors.nearest(vectors, references, k=k + bool((own_references >= 0).any()))
    is_neighbour = (nearest.positions >= 0) & (nearest.positions != own_references[:, None])
    # One more than k, because most find themselves first; duplicates may come before it.
    is_neighbour &= np.cumsum(is_neighbour, axis=1) <= k
    weights = np.nan_to_num(nearest.scores).clip(0.0) ** alpha
    weights[~is_neighbour | (nearest.scores <= 0)] = 0.0
    summed = vectors.astype(np.float64)
    for rank in range(nearest.positions.shape[1]):
        summed += weights[:, rank, None] * references[nearest.positions[:, rank]]
    return unit_rows(summed, name).astype(vectors.dtype)


def check_whole(name: str, value: float, least: int = 1) -> int:
    """The parameter as an integer. Raises BadUsage for any other number, or one below `least`."""
    if isinstance(value, bool) or not value >= least or value % 1 != 0:
        raise BadUsage(f"{name}={value!r}: expected an integer from {least}.")
    return int(value)


def check_finite(name: str, value: float, least: str = "from 0") -> None:
    """Raises BadUsage for a parameter that is not a finite number from 0, or `above 0`."""
    if not 0 <= value < float("inf") or (value == 0 and least == "above 0"):
        raise BadUsage(f"{name}={value!r}: expected a finite number {least}.")
