"""Matrices: scores of queries and items, embeddings, the right items of each query; pairs of
rows of two tables; vectors in several files, arrays in `.npy` files.
"""

import math
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import IO, Any, NamedTuple, Self, cast

import numpy as np
from numpy.typing import NDArray

from rankwell._native import native
from rankwell.data.tables import (
    Bools,
    Floats,
    Ints,
    Judgments,
    first_repeated,
    first_true,
    id_text,
    offsets_from_rows,
    positions_by_id,
    refuse_masked,
    segment_of_row,
    take_segments,
)
from rankwell.errors import BadInput, BadScore, BadUsage, DuplicateItem, flag, kind_of, shown
from rankwell.store import decode_id, encode_id, exists, scratch, split_name, split_part

MAGIC = b"\x93NUMPY"
_LONGEST = 399
"""Bytes of the name of a mapped file that a message shows."""
_READ_AT_MOST = 1 << 30
"""Bytes of a file that is read, not mapped, without the compiled library."""
_MOST_HEADER, _MOST_DIMENSIONS = 10_000, 32  # as in NumPy
_ENTRY = re.compile(
    r"""(?P<quote>['"])(?:descr(?P=quote)\s*:\s*(?P<kind>'[^']*'|"[^"]*"|\[.*\])"""
    r"""|fortran_order(?P=quote)\s*:\s*(?P<fortran>True|False)"""
    r"""|shape(?P=quote)\s*:\s*\((?P<shape>[^()]*)\))\s*(?:,\s*|\Z)""",
    re.DOTALL,
)
_SIZE = r"(?:0+|[1-9][0-9]{0,17})L?\s*"
_SHAPE = re.compile(rf"\s*(?:(?:{_SIZE},\s*)+(?:{_SIZE})?)?")
_KIND = re.compile(r"[<>|=]?(?:[fiubcSUV]\d{1,9}|\?)")


@dataclass(frozen=True, eq=False)
class Pairs:
    """Matching rows of two tables.

    left, right: (n,) the rows of both tables that belong together, counted from 0.

    Raises BadInput where their numbers differ.
    """

    left: Ints
    right: Ints

    def __post_init__(self) -> None:
        if len(self.left) != len(self.right):
            raise BadInput(
                f"{len(self.left)} rows on the left, {len(self.right)} on the right; a pair "
                "has one of each."
            )

    def __len__(self) -> int:
        return len(self.left)

    @classmethod
    def aligned(cls, n: int) -> "Pairs":
        """The first row with the first, the second with the second, and so on."""
        rows = np.arange(n, dtype=np.int64)
        return cls(rows, rows)


def sample_pairs(items: int, size: int, *, seed: int) -> Pairs:
    """So many different unordered pairs of different items, every such set equally probable; all
    pairs where there are no more.

    With NumPy's `RandomState(seed)`, whose numbers never change: codes are drawn by `randint` until
    enough are different, in the order of their first appearance; where more than half of all pairs
    are requested, they are the beginning of `permutation`. Code c is the pair of item c mod n and
    the item 1 + c div n further on, in a circle.
    Raises BadUsage for less than 1 pair, or a seed outside 0 to 2³² - 1; BadInput for less than 2
    items.
    """
    if size < 1:
        raise BadUsage(f"{size} pairs; expected at least 1.")
    if not 0 <= seed < 1 << 32:
        raise BadUsage(
            f"{flag('--seed')} is {seed}; expected an integer from 0 to {(1 << 32) - 1}."
        )
    if items < 2:
        raise BadInput(f"{items} items make no pair; expected at least 2.")
    total = items * (items - 1) // 2
    random = np.random.RandomState(seed)
    codes = np.arange(total if size >= total else 0, dtype=np.int64)
    if total > size > total / 2:
        codes = random.permutation(total).astype(np.int64)
    while len(codes) < min(size, total):
        codes = np.concatenate([codes, random.randint(0, total, size=size, dtype=np.int64)])
        _, first = np.unique(codes, return_index=True)
        codes = codes[np.sort(first)]
    codes = codes[:size]
    left = codes % items
    return Pairs(left, (left + 1 + codes // items) % items)


_LARGEST = 1e150
"""The sum of squares of as many numbers as fit into memory is finite up to here."""


@dataclass(frozen=True, eq=False)
class ScoredPairs:
    """Pairs with a target and a similarity each.

    names: (n,) names of the pairs.
    targets, similarities: (n,) target and similarity of each pair.

    Raises BadInput where the numbers of rows differ; BadScore for a number whose square is not
    finite, naming its row.
    """

    names: Sequence[str]
    targets: Floats
    similarities: Floats

    def __post_init__(self) -> None:
        if len(self.targets) != len(self.similarities):
            raise BadInput(
                f"{len(self.targets)} targets and {len(self.similarities)} similarities; row by "
                "row they belong to the same pair, so there are as many of both."
            )
        for kind, numbers in (("target", self.targets), ("similarity", self.similarities)):
            if (row := first_true(~(np.abs(numbers) <= _LARGEST))) >= 0:
                raise BadScore(
                    f"the {kind} in row {row} (from 0) is {numbers[row]}; expected finite numbers "
                    f"up to {_LARGEST:g}. Correct it, or drop the pair."
                )

    def __len__(self) -> int:
        return len(self.targets)

    def of(self, is_included: Bools) -> "ScoredPairs":
        """Some of the pairs."""
        rows = np.flatnonzero(is_included)
        return ScoredPairs(
            [self.names[row] for row in rows.tolist()], self.targets[rows], self.similarities[rows]
        )


Matrix = NDArray[Any]
Vectors = NDArray[Any]
DTYPES: tuple[str, ...] = ("float16", "float32", "float64", "int8", "uint8")

USUAL = ("embeddings", "vectors", "embedding", "vector", "emb")
"""Usual names of an array of vectors, or a column of them, among others."""

_BLOCK = 1 << 20


def choose_array(shapes: Mapping[str, tuple[int, ...]], name: str, file: str) -> str:
    """The array of vectors: the named one, else the only one of two dimensions, else that of a
    usual name. Raises BadInput.
    """
    array_list = (
        ", ".join(
            f"{key!r} ({' × '.join(map(str, shape)) or 'one number'})"
            for key, shape in shapes.items()
        )
        or "none"
    )
    if name:
        if name not in shapes:
            raise BadInput(f"there is no array named {name!r}; the file has {array_list}.")
        return name
    flat = [key for key, shape in shapes.items() if len(shape) == 2]
    usual = [key for key in flat if key.lower() in USUAL]
    candidates = flat if len(flat) == 1 else usual
    if len(candidates) != 1:
        problem = (
            "no array with two dimensions"
            if not flat
            else f"{len(flat)} arrays with two dimensions"
        )
        example = f"; name one, as in {Path(file).name}:{flat[0]}" if flat else ""
        raise BadInput(f"{problem}; the file has {array_list}{example}.")
    return candidates[0]


def as_real(vectors: NDArray[Any]) -> NDArray[Any]:
    """The array as it is; integers of more than 8 bits, as in `.ivecs`, as float64."""
    return (
        np.asarray(vectors).astype(np.float64)
        if vectors.dtype.kind in "iu" and vectors.dtype.itemsize > 1
        else vectors
    )


def row_blocks(rows: int, dimension: int, block: int | None = None) -> Iterator[slice]:
    """Slices that cover the rows, each small enough for its numbers to stay in the processor's
    cache.
    """
    size = block or max(1, _BLOCK // max(dimension, 1))
    return (slice(start, min(start + size, rows)) for start in range(0, rows, size))


def first_non_finite(block: NDArray[Any]) -> list[int]:
    """Row and column of the first number that is NaN or infinite; empty without one."""
    if block.dtype.kind != "f":
        return []
    with np.errstate(invalid="ignore", over="ignore"):
        # A sum is finite only if all its parts are, and costs less than looking at each.
        if np.isfinite(block.sum(dtype=np.float64 if block.dtype.itemsize > 4 else np.float32)):
            return []
    return next(iter(np.argwhere(~np.isfinite(block)).tolist()), [])


def refuse_non_finite(table: "Embeddings") -> None:
    """Looks at every number. Raises BadScore naming the first that is NaN or infinite, its row and
    column.
    """
    for rows in row_blocks(*table.vectors.shape):
        block = table.vectors[rows]
        if odd := first_non_finite(block):
            raise BadScore(
                f"{table.place(rows.start + odd[0])}, column {odd[1]}: {block[*odd]}; expected a "
                "finite number. Correct or drop the vector."
            )


class Positions(Sequence[str]):
    """Names of things without names: `0`, `1`, and so on, made on request; or those of some
    positions.
    """

    def __init__(self, n: int | Sequence[int]) -> None:
        self._range = range(n) if isinstance(n, int) else n

    def __getitem__(self, index: Any) -> Any:
        positions = self._range[index]
        return str(positions) if isinstance(positions, int) else list(map(str, positions))

    def __len__(self) -> int:
        return len(self._range)


def named_places(
    named_tables: Sequence[tuple[str, Any]],
    otherwise: Sequence[str],
    *,
    what: str = "embeddings",
    example: str = "teacher=a/vectors.npy",
) -> dict[str, Any]:
    """Tables by name: the given one of each pair of name and thing, that of `NAME=PLACE`, else the
    stem of the place, its folder's name where stems are equal, else `otherwise`. Raises BadUsage
    where two have one name.
    """
    places = list[tuple[str, str, str]]()
    tables = list[Any]()
    for name, thing in named_tables:
        stem = folder = ""
        if isinstance(thing, (str, Path)):
            text, path_or_url = split_name(str(thing))
            if text and not name and not exists(split_part(thing)[0]):
                name, thing = text, path_or_url
            place, part = split_part(thing)
            path = Path(place).resolve()
            stem = ":".join(filter(None, (path.name.rpartition(".")[0] or path.name, part)))
            folder = str(path.parent)
        places.append((name, stem, folder))
        tables.append(thing)
    stems = [stem for _, stem, _ in places]
    are_apart = len({folder for _, _, folder in places if folder}) > 1
    names = [
        name
        or (Path(folder).name if are_apart and stem and stems.count(stem) > 1 else stem)
        or fallback
        for (name, stem, folder), fallback in zip(places, otherwise, strict=True)
    ]
    double = next((name for name in names if names.count(name) > 1), None)
    if double is not None:
        raise BadUsage(f"two of the {what} are called {double!r}; name them, as in {example}.")
    return dict(zip(names, tables, strict=True))


def members(values: Any, noun: str) -> Iterable[Any]:
    """The values of a list, an array or a column. Raises BadInput for an object of another kind,
    such as a data frame, and for a set, which has no order.
    """
    is_list = isinstance(values, Iterable) and not isinstance(values, (Mapping, set, frozenset))
    if not is_list or hasattr(values, "columns") or getattr(values, "ndim", 1) != 1:
        raise BadInput(
            f"{noun} cannot be read from {kind_of(values)}; give a file or a list of them."
        )
    return values


def item_ids(values: Iterable[Any]) -> list[str]:
    """Ids as strings: strings unchanged, bytes decoded, integers written out. Raises BadInput for
    the first that is not an id.
    """
    ids: list[str] = []
    for row, value in enumerate(members(values, "ids")):
        text = id_text(decode_id(value) if isinstance(value, bytes) else value)
        if not text:
            cell = "nothing" if value in (None, "") else f"{str(value)[:40]!r}, {kind_of(value)}"
            raise BadInput(f"row {row} has {cell}; expected an id, a string or an integer.")
        encode_id(text)  # refuses half a character
        ids.append(text)
    return ids


@dataclass(frozen=True, eq=False)
class Scores:
    """Similarities of queries (rows) and items (columns), higher is better; they may be
    memory-mapped and are never changed.

    matrix: (queries, items) real numbers of any kind.
    query_ids, item_ids: ids, all different; None where positions are the names.

    The code that reads all scores looks for NaN and infinite ones. Raises BadInput for another
    shape, for kinds other than real numbers, for an empty gallery and for another number of ids;
    DuplicateItem for an id that appears twice.
    """

    matrix: Matrix
    query_ids: Sequence[str] | None = None
    item_ids: Sequence[str] | None = None

    def __post_init__(self) -> None:
        refuse_masked(self.matrix, "the matrix of scores")
        shape, kind = self.matrix.shape, self.matrix.dtype
        if len(shape) != 2:
            raise BadInput(
                f"the scores have shape {shape}; expected a table with a row per query and a "
                "column per item."
            )
        if kind.kind not in "fiub" or kind.itemsize > 8:
            raise BadInput(
                f"the scores are of type {kind}; expected real numbers. Convert them with "
                ".astype('float32')."
            )
        if not self.matrix.size:
            axis = "an empty gallery (no column)" if shape[0] else "no query (no row)"
            raise BadInput(f"the scores have shape {shape}: {axis}; expected at least one of each.")
        for axis, ids, (number, other) in (
            ("row", self.query_ids, shape),
            ("column", self.item_ids, shape[::-1]),
        ):
            if ids is not None and len(ids) != number:
                swapped = " Are the ids of rows and columns swapped?" if len(ids) == other else ""
                raise BadInput(
                    f"{len(ids)} ids for {number} {axis}s of scores; every {axis} has one id."
                    + swapped
                )
            if ids is not None and (twice := first_repeated(ids)):
                raise DuplicateItem(
                    f"id {twice[0]!r} stands for {axis}s {twice[1]} and {twice[2]} of the scores; "
                    "ids are all different."
                )

    @property
    def query_names(self) -> Sequence[str]:
        """Ids of the queries, or their positions as text."""
        return Positions(self.matrix.shape[0]) if self.query_ids is None else self.query_ids

    @property
    def item_names(self) -> Sequence[str]:
        """Ids of the items, or their positions as text."""
        return Positions(self.matrix.shape[1]) if self.item_ids is None else self.item_ids

    def place(self, row: int, column: int) -> str:
        """The name of a score in messages: row and column, from 0, and their ids where they have
        any.
        """
        query = "" if self.query_ids is None else f" ({self.query_ids[row]!r})"
        item = "" if self.item_ids is None else f" ({self.item_ids[column]!r})"
        return f"row {row}{query}, column {column}{item}"


@dataclass(frozen=True, eq=False)
class Positives:
    """The items that are right for each query, by position; a query may have none.

    offsets: (queries + 1,) where the items of each query begin.
    items: (pairs,) positions of items, ascending within a query.
    n_items: number of all items, relevant or not.
    """

    offsets: Ints
    items: Ints
    n_items: int

    @classmethod
    def of(cls, queries: Ints, items: Ints, n_queries: int, n_items: int) -> Self:
        """The table of pairs in any order. Raises DuplicateItem for a pair that is given twice."""
        order = np.lexsort((items, queries))
        rows, columns = queries[order], items[order]
        if (twice := first_true((np.diff(rows) == 0) & (np.diff(columns) == 0))) >= 0:
            raise DuplicateItem(
                f"row {rows[twice]} has the positive {columns[twice]} twice; name every positive "
                "once."
            )
        return cls(offsets_from_rows(rows, n_queries), columns, n_items)

    @classmethod
    def diagonal(cls, n_queries: int, n_items: int) -> Self:
        """Each query's positive is the item of the same position. Raises BadInput unless there are
        as many of both.
        """
        if n_queries != n_items:
            raise BadInput(
                f"scores of {n_queries} rows (queries) and {n_items} columns (items) have no "
                "diagonal of positives; name them, as a list per row."
            )
        offsets = np.arange(n_items + 1, dtype=np.int64)
        return cls(offsets, offsets[:-1], n_items)

    @property
    def n_queries(self) -> int:
        """Number of queries."""
        return len(self.offsets) - 1

    @cached_property
    def counts(self) -> Ints:
        """Number of positives of each query."""
        return np.diff(self.offsets)

    @cached_property
    def owner(self) -> Ints:
        """Query of each pair."""
        return segment_of_row(self.offsets)

    @cached_property
    def transposed(self) -> "Positives":
        """The queries that are right for each item."""
        return Positives.of(self.items, self.owner, self.n_items, self.n_queries)

    def only(self, queries: Ints) -> "Positives":
        """The table of some queries, in the order given."""
        rows, offsets = take_segments(self.offsets, queries)
        return Positives(offsets, self.items[rows], self.n_items)

    def is_best(self, scores: Matrix) -> Bools:
        """Whether the score of each pair is the greatest of its query; several are where they
        tie.
        """
        return scores == np.repeat(self.best(scores), self.counts[self.counts > 0])

    def best(self, scores: Matrix) -> Matrix:
        """Greatest score of each query with positives. scores: of the pairs."""
        rows = np.flatnonzero(self.counts)
        return np.maximum.reduceat(scores, self.offsets[rows]) if rows.size else scores[:0]

    def judgments(self, queries: Sequence[str], items: Sequence[str]) -> Judgments:
        """The same as judgments of grade 1, a row per pair; queries keep their order."""
        positions: list[int] = self.items.tolist()
        names = [items[position] for position in positions]
        return Judgments(tuple(queries), self.offsets, names, np.ones(len(names)))


@dataclass(frozen=True, eq=False)
class Embeddings:
    """Vectors by id; the vectors may be memory-mapped and are never changed.

    ids: (n,) ids, all different; None where positions are the names.
    vectors: (n, d) float16, float32, float64, int8 or uint8.
    shards: the files that hold the rows, with the first row of each; empty for one file.

    NaN, infinite and zero vectors are found only when the vectors are read, since reading takes
    time. Raises BadInput for another shape or type, or another number of ids; DuplicateItem for an
    id that appears twice.
    """

    ids: Sequence[str] | None
    vectors: Vectors
    shards: Sequence[tuple[str, int]] = ()

    def __post_init__(self) -> None:
        refuse_masked(self.vectors, "the table of vectors")
        refuse_other_table(self.ids, self.vectors.shape, self.vectors.dtype)

    @property
    def n(self) -> int:
        """Number of vectors."""
        return self.vectors.shape[0]

    @property
    def dimensions(self) -> int:
        """Number of dimensions of a vector."""
        return self.vectors.shape[1]

    @property
    def dtype(self) -> np.dtype[Any]:
        """The number type of the vectors."""
        return self.vectors.dtype

    def names(self) -> Sequence[str]:
        """Ids of the vectors, or their positions as text."""
        return Positions(self.n) if self.ids is None else self.ids

    def named(self, ids: Sequence[str] | None) -> "Embeddings":
        """The same vectors with other ids."""
        return replace(self, ids=ids)

    def take(self, rows: Ints | Sequence[int]) -> "Embeddings":
        """Some of the vectors; the table itself, which may be mapped into memory, where that is all
        of them in order.
        """
        if np.array_equal(rows, np.arange(self.n)):
            return self
        names = self.names()
        return Embeddings([names[row] for row in map(int, rows)], np.asarray(self.vectors)[rows])

    def place(self, row: int) -> str:
        """The name of a vector in messages: its row, its id where it has one, and its shard and the
        row there.
        """
        name = f"row {row}" if self.ids is None else f"row {row} (id {self.ids[row]!r})"
        shard = next(((file, first) for file, first in reversed(self.shards) if first <= row), None)
        return name if shard is None else f"{name}, row {row - shard[1]} of {shard[0]}"


def refuse_other_table(
    ids: Sequence[str] | None, shape: tuple[int, ...], kind: np.dtype[Any]
) -> None:
    """Raises what `Embeddings` of such ids, shape and type raise."""
    if len(shape) != 2 or not shape[1]:
        raise BadInput(
            f"the array has shape {shape}; embeddings are a table (vectors, dimensions)."
        )
    if kind.newbyteorder("=").name not in DTYPES:
        raise BadInput(
            f"the array has type {kind}; embeddings are {', '.join(DTYPES)}; convert it with "
            ".astype."
        )
    if ids is None:
        return
    if len(ids) != shape[0]:
        raise BadInput(f"{len(ids)} ids for {shape[0]} vectors; every vector has one id.")
    if twice := first_repeated(ids):
        raise DuplicateItem(
            "id {!r} appears in rows {} and {}; expected different ids.".format(*twice)
        )


def as_embeddings(vectors: Embeddings | Vectors) -> Embeddings:
    """Embeddings as they are; a plain array with positions for names. Raises BadInput as
    `Embeddings` does.
    """
    if isinstance(vectors, Embeddings):
        return vectors
    if not isinstance(vectors, np.ndarray):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise BadInput(
            f"embeddings cannot be taken from {kind_of(vectors)}; give Embeddings or a NumPy array."
        )
    return Embeddings(None, vectors)


def align(
    reference: Embeddings, other: Embeddings, reference_name: str, other_name: str
) -> Embeddings:
    """The other table with its rows in the order and under the names of the reference; errors are
    those of `matching_rows`.
    """
    rows = matching_rows(reference, other, reference_name, other_name)
    if rows is None or np.array_equal(rows, np.arange(len(rows))):
        return other.named(reference.ids)
    return Embeddings(reference.ids, other.vectors[rows])


def matching_rows(
    reference: Embeddings, other: Embeddings, reference_name: str, other_name: str
) -> Ints | None:
    """Row of the other table that belongs to each row of the reference, by id; None where one of
    them has no ids, so that rows are matched by position.

    Raises BadInput where the tables differ in number or ids.
    """
    if reference.ids is None or other.ids is None:
        if reference.n != other.n:
            raise BadInput(
                f"{reference_name} has {reference.n} vectors, {other_name} has {other.n}; without "
                "ids on both sides they are matched by position; give as many of both, or ids."
            )
        return None
    row_of_id = positions_by_id(other.ids)
    for table_name, lacking_name, names, other_ids in (
        (reference_name, other_name, reference.ids, row_of_id),
        (other_name, reference_name, other.ids, set(reference.ids)),
    ):
        if lacking := [name for name in names if name not in other_ids]:
            raise BadInput(
                f"{len(lacking)} ids of {table_name} are not in {lacking_name}, first "
                f"{lacking[0]!r}; embed the same items."
            )
    return np.array([row_of_id[name] for name in reference.ids], dtype=np.int64)


class ArrayLayout(NamedTuple):
    """The place of an array in a file.

    kind: the type of its numbers.
    shape: the length of each dimension.
    offset: the byte of the file where its first number begins.
    is_fortran: whether the array is stored column by column, not row by row.
    """

    kind: np.dtype[Any]
    shape: tuple[int, ...]
    offset: int
    is_fortran: bool = False

    def refuse_other_size(self, size: int, *, last: bool = True) -> int:
        """The end of the array in the file. Raises BadInput for a file that ends before, or, where
        it is the last, behind it.
        """
        wanted = self.offset + refuse_size(self.shape, self.kind)
        said = f"{' × '.join(map(str, self.shape))} {self.kind.name}"
        if size < wanted:
            raise BadInput(
                f"the file ends early: {said} need {wanted} bytes, it has {size}; fetch or "
                "write it again."
            )
        if last and size > wanted:
            raise BadInput(
                f"{size - wanted} bytes follow after {said}; was something appended? Write "
                "it again."
            )
        return wanted


def npy_header(stream: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Shape, Fortran order and kind of an array in a stream, which is then at its numbers. Raises
    BadInput for others.
    """
    mark = stream.read(8)
    if len(mark) < 8 or not mark.startswith(MAGIC):
        raise _damaged(f"it begins with {mark!r}")
    version = mark[6], mark[7]
    if version not in ((1, 0), (2, 0), (3, 0)):
        raise BadInput(
            f"version {version[0]}.{version[1]} of the .npy format; known are 1.0, 2.0 and 3.0. "
            "Save the array with numpy.save."
        )
    # Version 3 differs only in how it writes names of fields, which no array of numbers has.
    width = 2 if version == (1, 0) else 4
    length = int.from_bytes(stream.read(width), "little")
    if length > _MOST_HEADER:
        raise _damaged(f"it states {length} bytes, more than {_MOST_HEADER}")
    raw = stream.read(length)
    if len(raw) < length:
        raise _damaged(f"{length} bytes are stated, {len(raw)} are there")
    if not re.fullmatch(rb"[\t\n\r -~]*", raw):
        raise _damaged(f"{shown(raw)} is not a text in ASCII")
    if re.search(rb"\n[\t\r ]+\Z", raw):
        raise _damaged(f"{shown(raw)} has blanks after its last newline")
    body = raw.decode("ascii").strip()
    inner = body[1:-1].strip()
    entries = list(_ENTRY.finditer(inner))
    parts = {
        name: text
        for entry in entries
        for name, text in entry.groupdict().items()
        if name != "quote" and text is not None
    }
    is_whole = body[:1] == "{" and body[-1:] == "}" and not _ENTRY.sub("", inner).strip()
    if not is_whole or len(entries) != 3 or len(parts) != 3 or not _SHAPE.fullmatch(parts["shape"]):
        raise _damaged(f"{shown(body)}; expected descr, fortran_order and shape")
    shape = tuple(
        int(length.strip().removesuffix("L"))
        for length in parts["shape"].split(",")
        if length.strip()
    )
    if len(shape) > _MOST_DIMENSIONS:
        raise _damaged(f"{len(shape)} dimensions")
    return shape, parts["fortran"] == "True", _kind(parts["kind"])


def _damaged(problem: str) -> BadInput:
    return BadInput(f"the .npy header is damaged or ends early ({problem}); write it again.")


def _kind(text: str) -> np.dtype[Any]:
    if text[0] == "[":
        raise BadInput(
            f"an array of records, {shown(text)}; expected numbers. Save one field of it."
        )
    name = text[1:-1]
    if re.fullmatch(r"\|?O\d*", name):
        raise BadInput(
            "an array of Python objects, which is pickled and never opened; save numbers: "
            "array.astype('float32')."
        )
    try:
        if not _KIND.fullmatch(name):
            raise TypeError
        return np.dtype(name)
    except (TypeError, ValueError) as error:
        raise BadInput(
            f"the .npy header has the dtype {shown(name)}; expected numbers or texts, such "
            "as '<f4'."
        ) from error


def refuse_size(shape: tuple[int, ...], kind: np.dtype[Any]) -> int:
    """The size of an array in bytes. Raises BadInput for negative lengths, and for more than any
    memory or file can hold.
    """
    if (
        any(length < 0 for length in shape)
        or math.prod(length or 1 for length in shape) * max(kind.itemsize, 1) >= 1 << 62
    ):
        raise BadInput(
            f"an array of the shape {shown(shape, 80)} of {kind.name}; expected lengths that "
            "a file can hold."
        )
    return math.prod(shape) * kind.itemsize


def map_array(
    path: Path, kind: np.dtype[Any], shape: tuple[int, ...], *, offset: int = 0, last: bool = True
) -> NDArray[Any]:
    """The array that lies in a file from an offset on, mapped. last: whether the file has to end
    with it. Raises BadInput.
    """
    return map_layout(path, ArrayLayout(kind, shape, offset, False), last=last)


def map_layout(path: Path, layout: ArrayLayout, *, last: bool = True) -> NDArray[Any]:
    """The array of a layout, mapped. last: whether the file has to end with it. Raises BadInput."""
    kind, shape, offset, is_fortran = layout
    if layout.refuse_other_size(path.stat().st_size, last=last) == offset:
        _refuse_void(shape, kind)
        return np.empty(shape, dtype=kind)
    order = "F" if is_fortran else "C"
    if native.library is None and math.prod(shape) * kind.itemsize <= _READ_AT_MOST:
        # Nothing else names the file where it is cut short while it is mapped.
        return np.fromfile(path, kind, math.prod(shape), offset=offset).reshape(shape, order=order)
    array = np.memmap(path, dtype=kind, mode="r", offset=offset, shape=shape, order=order)
    if native.library is not None:
        native.library.watch_mapped(cast("Any", array).base, os.fsencode(path)[:_LONGEST])
    return array


def npy_layout(stream: IO[bytes]) -> ArrayLayout:
    """The layout of an `.npy` file. Raises BadInput for a damaged or pickled one."""
    shape, is_fortran, kind = npy_header(stream)
    return ArrayLayout(kind, shape, stream.tell(), is_fortran)


def map_npy(path: Path) -> NDArray[Any]:
    """The array of an `.npy` file as a memory map, in C or Fortran order. Raises BadInput for a
    damaged or pickled one.
    """
    with path.open("rb") as stream:
        return map_layout(path, npy_layout(stream))


def read_npy(stream: IO[bytes]) -> NDArray[Any]:
    """The array at a place of a stream, in memory, of which it never takes more than the stream
    has. Raises BadInput.
    """
    shape, fortran, kind = npy_header(stream)
    wanted = refuse_size(shape, kind)
    content = bytearray()
    while len(content) < wanted and (piece := stream.read(min(1 << 24, wanted - len(content)))):
        content += piece
    if len(content) < wanted:
        raise BadInput(
            f"the array ends early: {wanted} bytes are stated, {len(content)} are there; "
            "write it again."
        )
    if not wanted:
        _refuse_void(shape, kind)
        return np.empty(shape, dtype=kind)
    return np.frombuffer(content, dtype=kind).reshape(shape, order="F" if fortran else "C")


def read_only_npy(stream: IO[bytes]) -> NDArray[Any]:
    """The array that a stream holds and nothing else, so that compressed content is verified to its
    end. Raises BadInput.
    """
    array = read_npy(stream)
    if stream.read(1):
        raise BadInput(
            "data follows the array; expected one array and nothing after it. Write it again."
        )
    return array


def _refuse_void(shape: tuple[int, ...], kind: np.dtype[Any]) -> None:
    if 0 not in shape and math.prod(shape) > 1:
        raise BadInput(
            f"{' × '.join(map(str, shape))} cells of no bytes ({kind.name}); expected numbers."
        )


Shard = tuple[str, int, np.dtype[Any]]
"""A file of vectors, their dimensions and their kind."""


def join_shards(files: Sequence[str], read: Callable[[str], Embeddings]) -> Embeddings:
    """The vectors of all files as one table, in a file that is mapped and ends with the process.

    Shards have the same dimensions and kind of numbers, and all have ids or none; one may be empty,
    and a Parquet file without rows shows neither. Raises BadInput that names the file of another,
    DuplicateItem that names both files of an id.
    """
    tables = [read(file) for file in files]
    has_kind = [
        table.n > 0 or not file.lower().endswith(".parquet")
        for file, table in zip(files, tables, strict=True)
    ]
    at = has_kind.index(True) if any(has_kind) else 0
    first, ids = tables[at], dict[str, int]()
    for number, (file, table) in enumerate(zip(files, tables, strict=True)):
        if has_kind[number]:
            refuse_other_shard(
                (files[at], first.dimensions, first.vectors.dtype),
                (file, table.dimensions, table.vectors.dtype),
            )
        if (table.ids is None) != (first.ids is None):
            has, lacks = (files[at], file) if table.ids is None else (file, files[at])
            raise BadInput(f"{has} has ids and {lacks} none; give every shard ids, or none.")
        for name in table.ids or ():
            if (first_number := ids.setdefault(name, number)) != number:
                raise DuplicateItem(
                    f"id {name!r} appears in {files[first_number]} and in {file}; expected "
                    "different ids."
                )
    starts = np.cumsum([0, *(table.n for table in tables)]).tolist()
    return Embeddings(
        None if first.ids is None else list(ids),
        _join_vectors(tables, first),
        list(zip(files, starts, strict=False)),
    )


def refuse_other_shard(first: Shard, other: Shard) -> None:
    """Raises BadInput for a shard of other dimensions or another kind of numbers."""
    for aspect, expected, actual in (
        ("dimensions", first[1], other[1]),
        ("numbers", first[2].name, other[2].name),
    ):
        if actual != expected:
            raise BadInput(
                f"{other[0]} has {actual} {aspect}, {first[0]} {expected}; shards are alike, "
                "encode all by one model."
            )


def _join_vectors(tables: Sequence[Embeddings], first: Embeddings) -> Vectors:
    """All vectors, with the dimensions and the kind of numbers of one table."""
    kind, dimensions = first.vectors.dtype, first.dimensions
    rows = sum(table.n for table in tables)
    if len(tables) == 1 or not rows:
        return first.vectors
    from tempfile import NamedTemporaryFile  # which takes milliseconds to load

    with NamedTemporaryFile(dir=scratch(), delete=False) as file:
        for table in tables:
            for block in row_blocks(table.n, dimensions):
                file.write(np.ascontiguousarray(table.vectors[block], dtype=kind).data)
    return np.memmap(Path(file.name), dtype=kind, mode="r", shape=(rows, dimensions))
