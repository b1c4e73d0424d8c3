"""Random tables of a run through the compiled reader of columns and the NumPy way.

What the one makes of a table must be what the other makes of it, to the last bit, and the one may
leave a table to the other for the reasons that its docstring gives only, which are found here in
plain loops. Every fourth table is also written to a file, of which both ways must make the same, to
the last word of an error. A case is drawn from one number. Needs pyarrow and pandas.
"""

# pyright: reportUnknownParameterType=false
# PyArrow has no types.

import math
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from pyarrow import csv, parquet

from fuzzing.drawn_runs import Case, made
from rankwell._native import native
from rankwell.data.rankings import Hits, Ranking, hits_of_ranking
from rankwell.data.tables import Judgments
from rankwell.errors import RankwellError
from rankwell.io.formats import find_hits
from rankwell.io.reader import scan_columns
from rankwell.store import decode_id

TEXTS = {False: pa.string(), True: pa.large_string()}


class Stream(NamedTuple):
    """A table as Arrow gives it. odd: why its reader need not take it, or nothing."""

    capsule: Any
    odd: str


# Arrow


def _buffer(rng: random.Random, raw: bytes) -> pa.Buffer:
    """Bytes with nothing of ours behind them, and sometimes at an address that no number would
    have.
    """
    shift = rng.choice((0, 0, 0, 1, 4))
    return pa.py_buffer(np.array(bytearray(shift) + raw, dtype=np.uint8)).slice(shift)


def _bitmap(rng: random.Random, present: Sequence[bool]) -> pa.Buffer | None:
    """The mask of values that are present; None where it may be left out."""
    if all(present) and rng.random() < 0.7:
        return None
    rest = [rng.random() < 0.5 for _ in range(-len(present) % 8)]
    return _buffer(
        rng, np.packbits(np.array([*present, *rest], dtype=np.bool_), bitorder="little").tobytes()
    )


def _missing(rng: random.Random, present: Sequence[bool]) -> int:
    """Number of missing values, or -1 where they are not counted."""
    return -1 if rng.random() < 0.5 else len(present) - sum(present)


def _texts(
    rng: random.Random, values: Sequence[bytes | None], before: int, *, wide: bool
) -> pa.Array:
    """Texts, with others in front of them, behind them and where there is none."""
    rubbish = [rng.choice((None, b"", b"rubbish")) for _ in range(before + rng.choice((0, 0, 3)))]
    every = [*rubbish[:before], *values, *rubbish[before:]]
    text = bytearray(rng.randbytes(rng.choice((0, 5))))
    bounds = [len(text)]
    for value in every:
        text += rng.choice((b"", b"hidden")) if value is None else value
        bounds.append(len(text))
    present = [value is not None for value in every]
    places = (
        b""
        if len(every) == 0 and rng.random() < 0.5
        else np.array(bounds, np.int64 if wide else np.int32).tobytes()
    )
    buffers = [_bitmap(rng, present), _buffer(rng, places), _buffer(rng, bytes(text))]
    return pa.Array.from_buffers(
        TEXTS[wide], len(values), buffers, _missing(rng, present[before:][: len(values)]), before
    )


def _numbers(rng: random.Random, values: Sequence[float | None], before: int) -> pa.Array:
    """Numbers, with others in front of them, behind them and where there is none."""
    rubbish = [rng.choice((None, math.nan, 1.0)) for _ in range(before + rng.choice((0, 0, 3)))]
    every = [*rubbish[:before], *values, *rubbish[before:]]
    present = [value is not None for value in every]
    raw = np.array(
        [rng.choice((math.nan, 7.0)) if value is None else value for value in every], np.float64
    ).tobytes()
    buffers = [_bitmap(rng, present), _buffer(rng, raw)]
    return pa.Array.from_buffers(
        pa.float64(), len(values), buffers, _missing(rng, present[before:][: len(values)]), before
    )


def _columns(
    rng: random.Random, case: Case, start: int, stop: int, wide: Sequence[bool], before: int
) -> list[pa.Array]:
    """The three columns of some rows. before: how many rows of something else stand in front of
    them and belong to the arrays.
    """
    arrays = list[pa.Array]()
    for place, values in enumerate((case.queries, case.items)):
        first = rng.choice((0, 0, 1, 7, 13))
        arrays.append(_texts(rng, [*[None] * before, *values[start:stop]], first, wide=wide[place]))
    first = rng.choice((0, 0, 1, 7, 13))
    return [*arrays, _numbers(rng, [*[None] * before, *case.scores[start:stop]], first)]


def _cuts(rng: random.Random, size: int) -> Iterator[tuple[int, int]]:
    """Bounds of the pieces of a table; some are empty."""
    places = sorted(rng.randint(0, size) for _ in range(rng.choice((0, 0, 1, 3, 9))))
    return zip([0, *places], [*places, size], strict=True)


def _batch(columns: list[pa.Array]) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays(columns, names=["q", "d", "s"])


def stream_of(rng: random.Random, case: Case) -> Stream:
    """The table in one of the shapes in which tables come."""
    size, wide = len(case.queries), [rng.random() < 0.3, rng.random() < 0.3]
    shape = rng.choice(
        ("batches", "batches", "structs", "structs", "table", "table", "other", "failing")
    )
    if shape == "other" or (shape == "failing" and rng.random() < 0.5):
        return _other(rng, case)
    if shape == "structs":
        return _structs(rng, case, wide)
    if shape == "table":
        pieces = [list(_cuts(rng, size)) for _ in range(3)]
        columns = [
            pa.chunked_array(
                [_columns(rng, case, start, stop, wide, 0)[place] for start, stop in pieces[place]]
            )
            for place in range(3)
        ]
        table = pa.table(columns, names=["q", "d", "s"])
        found = (
            table.to_reader(max_chunksize=rng.choice((1, 7, 64, 10_000)))
            if rng.random() < 0.7
            else table
        )
        return Stream(found.__arrow_c_stream__(), "")
    batches = [
        _batch(_columns(rng, case, start, stop, wide, 0)) for start, stop in _cuts(rng, size)
    ]

    def _give() -> Iterator[pa.RecordBatch]:
        yield from batches
        if shape == "failing":
            raise OSError("the rest of the table is gone")

    reader = pa.RecordBatchReader.from_batches(batches[0].schema, _give())
    return Stream(reader.__arrow_c_stream__(), "failing" if shape == "failing" else "")


def _structs(rng: random.Random, case: Case, wide: Sequence[bool]) -> Stream:
    """Batches that begin within their columns, as slices of structs do; now and then a whole row is
    not there.
    """
    kind = pa.struct([("q", TEXTS[wide[0]]), ("d", TEXTS[wide[1]]), ("s", pa.float64())])
    gone, pieces = rng.random() < 0.05, list[pa.Array]()
    missing = False
    for start, stop in _cuts(rng, len(case.queries)):
        before = rng.choice((0, 0, 1, 9))
        present = [True] * (stop - start)
        if gone and present:
            present[rng.randrange(len(present))] = False
            missing = True
        bitmap = _bitmap(rng, [*(rng.random() < 0.5 for _ in range(before)), *present])
        children = _columns(rng, case, start, stop, wide, before)
        pieces.append(
            pa.Array.from_buffers(
                kind, stop - start, [bitmap], _missing(rng, present), before, children
            )
        )
    return Stream(pa.chunked_array(pieces, kind).__arrow_c_stream__(), "missing" if missing else "")


def _other(rng: random.Random, case: Case) -> Stream:
    """A table whose columns are of other kinds, or more or fewer than three."""
    columns = _columns(rng, case, 0, len(case.queries), (False, False), 0)
    what = rng.choice(("text", "text", "number", "number", "more", "fewer", "turned"))
    if what == "text":
        place, kinds = (
            rng.randrange(2),
            ("binary", "large_binary", "null", *(("string_view", "dictionary", "run") * case.utf8)),
        )
        columns[place] = _text_like(rng.choice(kinds), (case.queries, case.items)[place])
    elif what == "number":
        kind = rng.choice(
            (pa.float32(), pa.float16(), pa.int64(), pa.bool_(), pa.string(), pa.null())
        )
        columns[2] = (
            pa.array(np.ones(len(case.scores))).cast(kind)
            if kind != pa.null()
            else pa.nulls(len(case.scores))
        )
    elif what == "turned":
        columns.reverse()
    columns = (
        columns[:2] if what == "fewer" else [*columns, columns[0]] if what == "more" else columns
    )
    table = pa.table(columns, names=["q", "d", "s", "more"][: len(columns)])
    return Stream(table.__arrow_c_stream__(), "kind")


def _text_like(kind: str, values: Sequence[bytes | None]) -> pa.Array:
    if kind in ("binary", "large_binary"):
        return pa.array(values, getattr(pa, kind)())
    if kind == "null":
        return pa.nulls(len(values))
    texts = pa.array([None if value is None else value.decode() for value in values], pa.string())
    if kind == "dictionary":
        return texts.dictionary_encode()
    if kind == "run":
        ends = pa.array(range(1, len(values) + 1), pa.int32())
        return pa.RunEndEncodedArray.from_arrays(ends, texts)
    return texts.cast(pa.string_view())


# What is compared


def plain(hits: Hits) -> Any:
    """The hits by the row of the judgments, in plain values."""
    order = np.argsort(hits.row)
    columns = [
        getattr(hits, name)[order].tobytes()
        for name in ("query", "row", "score", "above", "tied", "before")
    ]
    top = hits.top and (
        hits.top.queries,
        hits.top.offsets.tolist(),
        list(hits.top.items),
        hits.top.scores.tobytes(),
    )
    return (
        *columns,
        hits.n_retrieved.tobytes(),
        hits.has_ranking.tobytes(),
        tuple(hits.unknown.items()),
        top,
    )


def reason(case: Case) -> str:
    """Why a table is left to those who gave it; nothing where it is not."""
    rows = list(zip(case.queries, case.items, case.scores, strict=True))
    if not rows:
        return "no row"
    if any(
        not query or not item or score is None or not math.isfinite(score)
        for query, item, score in rows
    ):
        return "missing"
    last, seen = None, dict[bytes | None, set[bytes | None]]()
    for query, item, _ in rows:
        if decode_id(query or b"") in case.truth:
            if query != last and query in seen:
                return "scattered"
            items = seen.setdefault(query, set())
            if item in items:
                return "twice"
            items.add(item)
        last = query
    return ""


def by_numpy(case: Case) -> Any:
    """The result of NumPy for a table in which nothing is missing. Of unknown queries only the rows
    are counted.
    """
    ranking = Ranking.from_rows(
        [decode_id(query or b"") for query in case.queries],
        [decode_id(item or b"") for item in case.items],
        np.array(case.scores, np.float64),
        repeated=True,
    )
    return plain(hits_of_ranking(ranking, Judgments.from_dict(case.truth), **_options(case)))


def _options(case: Case) -> dict[str, Any]:
    return {
        "ties": case.reading.ties,
        "single_precision": case.reading.single_precision,
        "keep": case.reading.keep,
    }


def compare(seed: int) -> tuple[str, bool]:
    """The kind of outcome of a case, and whether both ways agree about it."""
    rng = random.Random(seed)
    case = made(rng)
    stream = stream_of(rng, case)
    found = scan_columns(stream.capsule, Judgments.from_dict(case.truth), case.reading)
    why = stream.odd or reason(case)
    if why or found is None:
        return f"left: {why}", bool(why) and found is None
    return (
        f"read {case.reading.ties} {case.reading.keep > 0} {case.reading.single_precision}",
        plain(found) == by_numpy(case),
    )


# Files


def _written(rng: random.Random, case: Case, folder: Path) -> tuple[Path, Case]:
    """The table in a file, and the case as it stands there. Ranks stand for scores now and then,
    and numbers of 32 bits.
    """
    form = rng.choice(("parquet", "parquet", "csv", "jsonl")) if case.utf8 else "parquet"
    ranked, single, path = rng.random() < 0.2, rng.random() < 0.2, folder / f"run.{form}"
    names = ["query_id", "doc_id", "rank"] if ranked else ["qid", "docno", "score"]
    size, wide = len(case.queries), [rng.random() < 0.3, rng.random() < 0.3]
    columns = _columns(rng, case, 0, size, wide, 0)
    if ranked:
        ranks = [
            None if value is None else float(rng.randint(0, 2 * size))
            for value in columns[2].to_pylist()
        ]
        columns[2] = pa.array(ranks, pa.float64())
    if single:
        columns[2] = columns[2].cast(pa.float32())
    scores = [
        None if value is None else (-value or 0) if ranked else value
        for value in columns[2].to_pylist()
    ]  # no -0.0
    if case.utf8 and rng.random() < 0.3:
        columns[0] = columns[0].dictionary_encode()
    table = pa.table(columns, names=names)
    if form == "parquet":
        parquet.write_table(
            table,
            path,
            row_group_size=rng.choice((7, 2048, 100_000)),
            use_dictionary=rng.random() < 0.5,
        )
    elif form == "csv" and rng.random() < 0.5:
        csv.write_csv(table, path)
    else:
        frame = table.to_pandas()
        if form == "csv":
            frame.to_csv(path, index=rng.random() < 0.3)
        else:
            frame.to_json(
                path,
                orient="records",
                lines=True,
                double_precision=15,
                force_ascii=rng.random() < 0.5,
            )
    return path, case._replace(scores=scores)


def compare_files(seed: int, folder: Path) -> tuple[str, bool]:
    """As `compare`, for the same table in a file."""
    rng = random.Random(f"file {seed}")
    case = made(rng)
    path, case = _written(rng, case, folder)
    judgments = Judgments.from_dict(case.truth)

    def _outcome() -> Any:
        try:
            return plain(find_hits(path, judgments, **_options(case)).hits)
        except RankwellError as error:
            return type(error).__name__, str(error)

    compiled = _outcome()
    library, native.library = native.library, None
    try:
        other = _outcome()
    finally:
        native.library = library
    # Only Parquet holds every text and number as it was given.
    agree = compiled == other and (
        path.suffix != ".parquet"
        or bool(reason(case))
        or not case.utf8
        or compiled == by_numpy(case)
    )
    return f"{path.suffix} {compiled[0] if len(compiled) == 2 else 'read'}", agree


def outcomes_of(seed: int, folder: Path) -> list[tuple[str, bool]]:
    """The outcomes of a case; one that neither way should have had is a disagreement."""
    try:
        return [compare(seed), *([compare_files(seed, folder)] if seed % 4 == 0 else [])]
    except Exception as error:
        return [(f"{type(error).__name__}: {error}", False)]
