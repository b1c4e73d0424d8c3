"""Fuzzers of objects of Python: mappings, data frames, arrays."""

import copy
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from fuzzing import FORMATS, FUZZERS, Fuzzer, Refused, Undecided
from fuzzing.tables import drawn, id_of, plain_values, value_of

ODD: tuple[Any, ...] = (
    *(
        None,
        True,
        "",
        " ",
        "1",
        2**63,
        10**400,
        -0.0,
        float("nan"),
        float("inf"),
        [],
        {},
        b"x",
        1j,
        "\ud800",
        1.5,
    ),
    *(
        np.float32(1.5),
        np.int64(3),
        np.array([1, 2]),
        np.array(2.0),
        object,
        -1,
        "x" * 300,
        (1,),
        {1: 2},
    ),
)


def _mapping(holds: str) -> Callable[[Random, Path], Any]:
    def _write(rng: Random, folder: Path) -> Any:
        table = drawn(rng, whole=holds == "judgments")
        return (
            {query: " ".join(items) for query, items in table.items()}
            if holds == "texts"
            else table
        )

    return _write


def _change_mapping(rng: Random, thing: Any) -> Any:
    thing = copy.deepcopy(thing)
    for _ in range(rng.choice((0, 1, 1, 2))):
        inner = rng.choice([thing, *(each for each in thing.values() if isinstance(each, dict))])
        key, odd = rng.choice([*inner, "new"]), copy.deepcopy(rng.choice(ODD))
        if rng.random() < 0.7:
            inner[key] = odd
        elif isinstance(odd, (str, int, float, bytes, tuple, type(None))):
            inner[odd] = inner.pop(key, 1.0)
    return thing


def read_object(holds: str) -> Callable[[Any], Any]:
    """The content of an object of Python as rankwell reads it."""

    def _of(thing: Any) -> Any:
        from rankwell.io.formats import Request, read_as

        return plain_values(holds, read_as(thing, holds, None, Request())[0])  # pyright: ignore[reportArgumentType]

    return _of


def _plain_mapping(thing: Any) -> Any:
    if any(type(each) not in (str, dict) for each in thing.values()) or any(
        type(key) is not str for key in thing
    ):
        raise Undecided("values of another kind")
    if any(
        type(key) is not str for each in thing.values() if isinstance(each, dict) for key in each
    ):
        raise Undecided("keys of another kind")
    if any(
        type(number) not in (int, float)
        for each in thing.values()
        if isinstance(each, dict)
        for number in each.values()
    ):
        raise Undecided("numbers of another kind")
    found = {
        id_of(key): value
        if isinstance(value, str)
        else {id_of(i): value_of(n) for i, n in value.items()}
        for key, value in thing.items()
    }
    if len({type(each) for each in found.values()}) > 1:
        raise Refused("texts beside mappings")
    return found


def frame(holds: str) -> Callable[[Random, Path], Any]:
    """A function that draws the columns of a small data frame, and the library that makes it."""

    def _write(rng: Random, folder: Path) -> Any:
        rows = [
            (query, item, number)
            for query, scored in drawn(rng).items()
            for item, number in scored.items()
        ]
        columns = {
            "qid": [row[0] for row in rows],
            "docno": [row[1] for row in rows],
            "score": [row[2] for row in rows],
        }
        if holds == "judgments":
            columns["label"] = [float(round(row[2])) for row in rows]
            del columns["score"]
        if holds == "texts":
            columns = {
                "id": [f"{place}" for place in range(len(rows))],
                "text": [row[1] for row in rows],
            }
        return list(columns.items()), rng.choice(("pandas", "polars", "pyarrow"))

    return _write


def change_frame(rng: Random, thing: Any) -> Any:
    """Other columns, other values."""
    columns, library = copy.deepcopy(thing)
    for _ in range(rng.choice((0, 1, 1, 2))):
        place = rng.randrange(len(columns))
        name, values = columns[place]
        what = rng.randrange(5)
        if what == 0:
            columns.append((rng.choice((name, name.upper(), "more", "query", "")), list(values)))
        elif what == 1:
            columns[place] = rng.choice(("score", "qid", "Score", "rank", " ")), values
        elif what == 2 and len(columns) > 1:
            del columns[place]
        else:
            for row in range(len(values)) if what == 3 else [rng.randrange(len(values))]:
                values[row] = rng.choice(
                    (
                        None,
                        True,
                        "",
                        "1",
                        2**62,
                        float("nan"),
                        float("inf"),
                        1.5,
                        "x",
                        b"x",
                        [1],
                        -0.0,
                    )
                )
    return columns, library


def made(thing: Any) -> Any:
    """The data frame of the library, or None where it makes none."""
    columns, library = thing
    try:
        if library == "pandas":
            import pandas as pd

            frame = pd.DataFrame(dict(enumerate(values for _, values in columns)))
            frame.columns = [name for name, _ in columns]
            return frame
        if library == "polars":
            import polars as pl

            return pl.DataFrame([pl.Series(name, values, strict=False) for name, values in columns])
        import pyarrow as pa

        return pa.table(
            [pa.array(values) for _, values in columns], names=[name for name, _ in columns]
        )
    except Exception:
        return None


def _read_frame(holds: str) -> Callable[[Any], Any]:
    read = read_object(holds)

    def _of(thing: Any) -> Any:
        frame = made(thing)
        return None if frame is None else read(frame)

    return _of


def plain_frame(holds: str) -> Callable[[Any], Any]:
    """The table in the columns of a data frame, read plainly."""

    def _plain(thing: Any) -> Any:
        columns = thing[0]
        by_name = dict(columns)
        words = {
            "run": ("qid", "docno", "score"),
            "judgments": ("qid", "docno", "label"),
            "texts": ("id", "text"),
        }[holds]
        if [name for name, _ in columns] != list(words) or made(thing) is None:
            raise Undecided("columns")
        kinds = [(str,), *([(str,)] if holds == "texts" else [(str,), (float,)])]
        if any(
            type(value) not in kind
            for word, kind in zip(words, kinds, strict=True)
            for value in by_name[word]
        ):
            raise Undecided("values of another kind")
        rows = list(zip(*(by_name[word] for word in words), strict=True))
        if any("" in row[: len(row) - (holds != "texts")] for row in rows):
            raise Undecided("an empty id")
        found: dict[str, Any] = {}
        for row in rows:
            if row[0] in found and (holds == "texts" or row[1] in found[row[0]]):
                raise Refused("twice")
            if holds == "texts":
                found[row[0]] = row[1]
            else:
                found.setdefault(row[0], {})[row[1]] = value_of(row[2])
        return found

    return _plain


def _array(rng: Random, folder: Path) -> Any:
    matrix = (
        np.random.default_rng(rng.getrandbits(32))
        .integers(-9, 9, (rng.randint(1, 4), rng.randint(1, 3)))
        .astype(np.float32)
    )
    return rng.choice(
        (matrix, matrix.tolist(), {f"x{row}": each.tolist() for row, each in enumerate(matrix)})
    )


def _change_array(rng: Random, thing: Any) -> Any:
    if isinstance(thing, np.ndarray):
        return rng.choice(
            (
                thing,
                thing.astype(rng.choice(("f8", "i8", "u8", "c8", "O", "U3", "?"))),
                thing[0],
                thing[None],
                thing[:, :0],
            )
        )
    thing = copy.deepcopy(thing)
    if isinstance(thing, dict):
        return _change_mapping(rng, thing)
    row = rng.randrange(len(thing))
    odd = rng.choice(ODD)
    if rng.random() < 0.5:
        thing[row] = odd
    else:
        thing[row][rng.randrange(len(thing[row]))] = odd
    return thing


def _read_array(thing: Any) -> Any:
    from rankwell.io.matrices import read_embeddings

    table = read_embeddings(thing)
    return None if table.ids is None else list(table.ids), np.asarray(
        table.vectors, dtype=np.float64
    ).tolist()


def _plain_array(thing: Any) -> Any:
    ids = list(thing) if isinstance(thing, dict) else None
    rows = (
        list(thing.values())
        if isinstance(thing, dict)
        else thing.tolist()
        if isinstance(thing, np.ndarray)
        else thing
    )
    if ids is not None and any(type(each) is not str for each in ids):
        raise Undecided("ids of another kind")
    if (
        not isinstance(rows, list)
        or any(not isinstance(row, list) or not row for row in rows)
        or not rows
    ):
        raise Undecided("another shape")
    if any(
        type(cell) not in (int, float) or abs(cell) >= 2**53
        for row in rows
        for cell in row
        if cell == cell
    ):
        raise Undecided("numbers of another kind")
    if any(len(row) != len(rows[0]) for row in rows):
        raise Refused("rows of different length")
    return None if ids is None else list(map(id_of, ids)), [
        list(map(value_of, row)) for row in rows
    ]


def _ranx_table(name: str, table: Any) -> Any:
    """An object of ranx's class of this name, as far as it is read."""
    return type(name, (), {"__module__": "ranx.data_structures", "to_dict": lambda _: table})()


def _read_ranx(holds: str, name: str) -> Callable[[Any], Any]:
    read = read_object(holds)
    return lambda thing: read(_ranx_table(name, thing))


for _holds, _name in (("run", "Run"), ("judgments", "Qrels")):
    FUZZERS[f"{FORMATS}: python ranx {_holds}"] = Fuzzer(
        _mapping(_holds), _change_mapping, _read_ranx(_holds, _name), _plain_mapping
    )
for _holds in ("run", "judgments", "texts"):
    FUZZERS[f"{FORMATS}: python mapping {_holds}"] = Fuzzer(
        _mapping(_holds), _change_mapping, read_object(_holds), _plain_mapping
    )
    FUZZERS[f"{FORMATS}: python dataframe {_holds}"] = Fuzzer(
        frame(_holds), change_frame, _read_frame(_holds), plain_frame(_holds)
    )
FUZZERS[f"{FORMATS}: python array embeddings"] = Fuzzer(
    _array, _change_array, _read_array, _plain_array
)
