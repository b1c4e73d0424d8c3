"""Fuzzers of runs, judgments, preferences, texts, columns, numbers and records in text, and their
plain parsers.
"""

import csv
import gzip
import json
import math
import re
import zlib
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from io import StringIO
from pathlib import Path
from random import Random
from typing import Any

import zstandard

from fuzzing import FORMATS, FUZZERS, Fuzzer, Refused, Undecided
from fuzzing.mutations import text_file

NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?", re.ASCII)
Table = dict[str, dict[str, float]]
SPACES = " \t\v\f\x1c\x1d\x1e\x1f"
"""White space beside a number on a line."""


# What is written


def drawn(rng: Random, *, whole: bool = False) -> Table:
    """A run of a few queries, or judgments."""
    ids, items = (
        rng.sample(
            ["1", "2", "q3", "007", "é", "q-9", "Q1", '"Heroes', 'Coda"'], rng.randint(1, 3)
        ),
        ["d1", "d2", "7", "文", "d_9", "01", "D1", '"d1"'],
    )

    def _number() -> float:
        return (
            rng.randint(-1, 3) if whole else rng.choice((rng.randrange(9) / 8, rng.uniform(-9, 9)))
        )

    return {
        query: {item: _number() for item in rng.sample(items, rng.randint(1, 5))} for query in ids
    }


def _rows(table: Table) -> list[tuple[str, str, float]]:
    return [
        (query, item, number) for query, scored in table.items() for item, number in scored.items()
    ]


def text_table(rng: Random, names: Sequence[str], rows: Sequence[Sequence[Any]], form: str) -> str:
    """A table as CSV, TSV or JSON lines."""
    if form == "jsonl":
        lines = [
            json.dumps(dict(zip(names, row, strict=True)), ensure_ascii=rng.random() < 0.5)
            for row in rows
        ]
        return "[" + ",\n".join(lines) + "]" if rng.random() < 0.2 else "\n".join(lines) + "\n"
    if form == "tsv":
        return "".join("\t".join(map(str, row)) + "\n" for row in (names, *rows))
    stream = StringIO(newline="")
    writer = csv.writer(stream, delimiter=rng.choice(",,,;"), lineterminator="\n")
    writer.writerow(names)
    writer.writerows(rows)
    return stream.getvalue()


def _run(form: str, holds: str) -> Callable[[Random], str]:
    def _written(rng: Random) -> str:
        table = drawn(rng, whole=holds == "judgments")
        rows = _rows(table)
        if form == "trec":
            lines = [
                f"{q} Q0 {i} 1 {n!r} t" if holds == "run" else f"{q} 0 {i} {n}" for q, i, n in rows
            ]
            return "\n".join(lines) + "\n"
        if form == "msmarco":
            return "".join(
                f"{q}\t{i}\t{place}\n" for q in table for place, i in enumerate(table[q], 1)
            )
        if form == "headerless":
            # Scores below 0 cannot be ranks, nor can grades from 3 on.
            rows.sort(key=lambda row: (row[0], -row[2]))
            numbers = [n - 20.3 if holds == "run" else n + 4 for _, _, n in rows]
            lines = [f"{q} {i} {n}\n" for (q, i, _), n in zip(rows, numbers, strict=True)]
            return "".join([*lines, f"{rows[-1][0]} another {'-40' if holds == 'run' else '3'}\n"])
        if form == "beir":
            return "query-id\tcorpus-id\tscore\n" + "".join(f"{q}\t{i}\t{n}\n" for q, i, n in rows)
        if form == "json":
            return json.dumps(table, ensure_ascii=rng.random() < 0.5, indent=rng.choice((None, 1)))
        if form == "mteb":
            return json.dumps({"mteb_model_meta": {"model_name": "m"}, "en": {"test": table}})
        if form == "sentence-transformers":
            lists = {q: [{"corpus_id": i, "score": n} for i, n in table[q].items()] for q in table}
            return "".join(
                json.dumps({"query_id": q, "query": "?", "results": lists[q]}) + "\n" for q in table
            )
        last = "grade" if holds == "judgments" else rng.choice(("score", "score", "sim"))
        return text_table(
            rng,
            [rng.choice(("query", "qid", "query_id")), rng.choice(("item", "docno")), last],
            rows,
            form,
        )

    return _written


def _preferences(rng: Random) -> str:
    return "".join(
        f"{q} g{rng.randint(1, 2)} s {i} {n}\n" for q, i, n in _rows(drawn(rng, whole=True))
    )


def _texts(form: str) -> Callable[[Random], str]:
    def _written(rng: Random) -> str:
        rows = [
            (name, rng.choice(("a b", "é, c", 'say "so"', "x")))
            for name in rng.sample(["1", "2", "d3", "é"], rng.randint(1, 4))
        ]
        if form == "lines":
            return "".join(f"{text}\n" for _, text in rows)
        if form == "msmarco":
            return "".join(f"{name}\t{text}\n" for name, text in rows)
        if form == "json":
            return json.dumps(
                dict(rows), ensure_ascii=rng.random() < 0.5, indent=rng.choice((None, 1))
            )
        return text_table(
            rng,
            ["_id" if form == "beir" else "id", "text"],
            rows,
            "jsonl" if form == "beir" else form,
        )

    return _written


def _column(form: str) -> Callable[[Random], str]:
    def _written(rng: Random) -> str:
        names = rng.sample(["1", "2", "d3", "é", "x y"], rng.randint(1, 5))
        if form == "lines":
            return "".join(f"{name}\n" for name in names)
        return (
            json.dumps(names)
            if form == "json"
            else text_table(rng, ["id", "more"], [(name, "b") for name in names], form)
        )

    return _written


def _numbers(form: str) -> Callable[[Random], str]:
    def _written(rng: Random) -> str:
        numbers = [rng.choice((1, 0.5, -3, 1e-5, 12.25)) for _ in range(rng.randint(1, 5))]
        if form == "lines":
            return "".join(f"{number}\n" for number in numbers)
        return (
            json.dumps(numbers)
            if form == "json"
            else text_table(rng, ["score"], [(number,) for number in numbers], form)
        )

    return _written


def _scores(form: str) -> Callable[[Random], str]:
    def _written(rng: Random) -> str:
        columns = rng.randint(2, 4)
        rows = [
            [f"q{row}", *(rng.randrange(99) / 8 for _ in range(columns))]
            for row in range(rng.randint(1, 4))
        ]
        return text_table(rng, ["query", *(f"v{place}" for place in range(columns))], rows, form)

    return _written


# Plain parsers


def content(path: Path) -> bytes:
    """The content of a file, without compression and byte order mark. Raises Refused for damaged
    compression.
    """
    raw = path.read_bytes()
    try:
        if raw[:2] == b"\x1f\x8b":
            raw = gzip.decompress(raw)
        elif raw[:4] == b"\x28\xb5\x2f\xfd":
            # A frame that ends early is recognised by its missing part, which a reader of streams
            # does not look at.
            raw = b"".join(_frames(raw))
    except (OSError, EOFError, zlib.error, zstandard.ZstdError) as error:
        raise Refused(str(error)) from error
    return raw.removeprefix(b"\xef\xbb\xbf")


def _frames(raw: bytes) -> list[bytes]:
    found = list[bytes]()
    while raw:
        one = zstandard.ZstdDecompressor().decompressobj()
        found.append(one.decompress(raw))
        if not one.eof:
            raise EOFError("a frame ends early")
        raw = one.unused_data
    return found


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "surrogateescape")


def strict_text(path: Path) -> str:
    """The content as text. Raises Refused for what is not UTF-8, and Undecided where only the first
    line is not.
    """
    raw = content(path)
    try:
        return raw.decode()
    except UnicodeDecodeError as error:
        if error.start < len(raw.partition(b"\n")[0]):
            raise Undecided("a first line that is not UTF-8") from error
        raise Refused(str(error)) from error


def number_of(text: str) -> float:
    """A finite number as every tool writes it. Raises Refused."""
    if not NUMBER.fullmatch(text) or not math.isfinite(float(text)):
        raise Refused(f"{text!r} is not a finite number")
    return float(text) + 0.0


def value_of(value: Any) -> float:
    """A finite number in JSON. Raises Refused."""
    try:
        if type(value) not in (int, float) or not math.isfinite(value):
            raise Refused(f"{value!r} is not a finite number")
        return float(value) + 0.0
    except OverflowError as error:
        raise Refused(str(error)) from error


def id_of(value: Any) -> str:
    """An id in JSON, a string or an integer. Raises Refused."""
    if type(value) not in (str, int):
        raise Refused(f"{value!r} is not an id")
    text = str(value)
    try:
        text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError as error:
        raise Refused("half a character") from error
    return text


def _utf8(text: str) -> str:
    """A text whose bytes were UTF-8. Raises Refused."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise Refused("not UTF-8") from error
    return text


def add(table: Table, query: str, item: str, number: float) -> None:
    """Adds a row. Raises Refused for one that is there."""
    scored = table.setdefault(query, {})
    if item in scored:
        raise Refused(f"{query} {item} twice")
    scored[item] = number


def load_json(text: str, keys: Collection[str] = ()) -> Any:
    """A document in JSON. Raises Refused for anything that is none, and for a key that is there
    twice.

    keys: those of records that are read, in small letters; Undecided is raised where only others,
    or those of objects in records, are there twice. None: all are read.
    """
    twice = list[tuple[dict[str, Any], set[str]]]()

    def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            counts = Counter(key for key, _ in pairs).items()
            twice.append(
                (
                    found,
                    {re.sub(r"[\s_-]", "", key.lower()) for key, number in counts if number > 1},
                )
            )
        return found

    try:
        whole = json.loads(text, object_pairs_hook=_once)
        records = whole if isinstance(whole, list) else [whole]
        if any(
            not keys or (names & {*keys} and any(each is one for one in records))
            for each, names in twice
        ):
            raise Refused("a key is there twice")
        if twice:
            raise Undecided("a key that is not read is there twice")
        return whole
    except RecursionError as error:
        if keys:
            raise Undecided("deep, perhaps where nothing is read") from error
        raise Refused(str(error)) from error
    except ValueError as error:
        if text.strip(" \t\r\n") != text.strip(" \t\r\n\v\f"):
            raise Undecided("a vertical tab or form feed beside a document") from error
        raise Refused(str(error)) from error


def _fields(path: Path, width: int) -> list[list[str]]:
    found = [[_text(field) for field in line.split()] for line in content(path).split(b"\n")]
    if any(len(fields) not in (0, width) for fields in found):
        raise Refused(f"a line has not {width} fields")
    if not any(found):
        raise Refused("there is no line")
    return [fields for fields in found if fields]


def _plain_trec(path: Path, *, holds: str) -> Table:
    table: Table = {}
    for fields in _fields(path, 6 if holds == "run" else 4):
        add(table, fields[0], fields[2], number_of(fields[4 if holds == "run" else 3]))
    return table


def _plain_preferences(path: Path) -> Any:
    rows: dict[tuple[str, ...], float] = {}
    for *key, level in _fields(path, 5):
        if tuple(key) in rows:
            raise Refused("a row twice")
        rows[tuple(key)] = number_of(level)
    return sorted((*key, level) for key, level in rows.items())


def _plain_msmarco(path: Path) -> Table:
    table: Table = {}
    for query, item, rank in _fields(path, 3):
        number = number_of(rank)
        if number < 0 or not number.is_integer():
            raise Refused(rank)
        add(table, query, item, 0.0 - number)
    return table


def _plain_headerless(path: Path) -> Table:
    table: Table = {}
    for query, item, number in _fields(path, 3):
        add(table, query, item, number_of(number))
    return table


def _scored(found: Any) -> Table:
    """The table {query: {item: number}}; a query may have nothing."""
    if (
        not isinstance(found, dict)
        or not found
        or not all(isinstance(each, dict) for each in found.values())
    ):
        raise Refused("expected {query: {item: number}}")
    return {
        id_of(query): {id_of(item): value_of(each) for item, each in scored.items()}
        for query, scored in found.items()
    }


def _plain_mteb(path: Path) -> Table:
    found = load_json(_text(content(path)))
    if not isinstance(found, dict):
        raise Refused("no object")
    splits = [each for name, each in found.items() if name != "mteb_model_meta"]
    if len(splits) != 1 or not isinstance(splits[0], dict) or len(splits[0]) != 1:
        raise Refused("not one ranking")
    return _scored(next(iter(splits[0].values())))


def json_lines(path: Path, keys: Collection[str] = ()) -> list[dict[str, Any]]:
    """The objects of JSON lines. keys: as for `load_json`."""
    found = [load_json(_text(line), keys) for line in content(path).split(b"\n") if line.strip()]
    if not all(isinstance(each, dict) for each in found):
        raise Refused("a line is not an object")
    return found


def _plain_predictions(path: Path) -> Table:
    table: Table = {}
    for entry in json_lines(path):
        query, results = id_of(entry.get("query_id")), entry.get("results")
        if query in table or not isinstance(results, list):
            raise Refused("a query twice, or no list")
        table[query] = {}
        for each in results:
            if not isinstance(each, dict):
                raise Refused("a result is not an object")
            add(table, query, id_of(each.get("corpus_id")), value_of(each.get("score")))
    return table


def cells(path: Path, form: str, keys: Collection[str] = ()) -> tuple[list[str], list[list[Any]]]:
    """The names and rows of a table; of CSV what every writer means in the same way."""
    if form == "jsonl":
        return _objects(path, keys)
    text = _text(content(path))
    if not text.partition("\n")[0].rstrip("\r").replace("\t", "").isprintable():
        raise Undecided("a first line with odd characters")
    if text.startswith("#") or re.search(r"\r(?!\n)|\x00", text):
        raise Undecided("a comment, a bare carriage return or a zero")
    first = text.partition("\n")[0]
    delimiter = "\t" if form == "tsv" else max(",;|", key=first.count)
    if sum(each in first for each in ",;|\t") != 1 and first.count(delimiter):
        raise Undecided("several delimiters")
    if form == "tsv":
        rows = [line.split("\t") for line in re.split("\r?\n", text)]
        return _regular(rows[:-1] if rows[-1] == [""] else rows, delimiter)
    for field in re.split(rf"[{re.escape(delimiter)}\r\n]", re.sub(r'"(?:[^"]|"")*"', "Q", text)):
        if '"' in field or ("Q" in field and '"' in text and field != "Q"):
            raise Undecided("quotes inside a field")
    return _regular(
        list(csv.reader(StringIO(text, newline=""), delimiter=delimiter, strict=True)), delimiter
    )


def _regular(rows: list[list[str]], delimiter: str) -> tuple[list[str], list[list[Any]]]:
    """The names and the rows of a table whose rows have one length. Raises Refused."""
    if not rows or any(not "".join(row).strip() for row in rows):
        raise Undecided("an empty line")
    if any(len(row) != len(rows[0]) for row in rows):
        if all(
            len(row) == len(rows[0]) or (len(row) == len(rows[0]) + 1 and not row[-1])
            for row in rows
        ):
            raise Undecided("a delimiter at the end of a row")
        if delimiter in ";|":
            raise Undecided("perhaps not a delimiter")
        raise Refused("rows of different length")
    return rows[0], [list(row) for row in rows[1:]]


def _objects(path: Path, keys: Collection[str]) -> tuple[list[str], list[list[Any]]]:
    text = strict_text(path)
    if re.search(r"\d{300}", text):
        raise Undecided("an integer that Python does not read, perhaps where nothing is read")
    found = load_json(text, keys) if text.lstrip().startswith("[") else json_lines(path, keys)
    found = [
        {} if each is None else each for each in found
    ]  # DuckDB takes null for an object without keys
    if not all(isinstance(each, dict) for each in found) or not found or len(found) > 40:
        raise Refused("no objects")
    names = list(dict.fromkeys(key for each in found for key in each))
    return names, [[each.get(name) for name in names] for each in found]


def place_of(names: Sequence[str], words: Sequence[str]) -> int:
    """The position of the one column with one of the words, which a name has in any writing."""
    plain = [re.sub(r"[\s_-]", "", name.lower()) for name in names]
    places = [place for place, name in enumerate(plain) if name in words]
    if len(places) != 1 or len(set(names)) < len(names) or not all(names):
        raise Undecided(f"columns {names}")
    return places[0]


def cell_number(value: Any, form: str) -> float:
    """The finite number in a cell. Raises Refused."""
    if form == "jsonl":
        return value_of(value)
    return number_of(value.strip(" \t\r\n\v\f")) if isinstance(value, str) else value_of(value)


def cell_id(value: Any) -> str:
    """The id in a cell. Raises Refused, and Undecided for an integer that a reader may not hold."""
    if value == "" or value is None:
        raise Refused("an empty id")
    if type(value) is int and not -(2**63) <= value < 2**64:
        raise Undecided("a very large integer")
    return _utf8(id_of(value))


_QUERY, _ITEM = ("query", "qid", "queryid"), ("item", "docno", "corpusid")
_LAST = {
    "judgments": ("grade", "relevance", "rel", "label", "score"),
    "run": ("score", "sim", "rank"),
}
_READ = {
    "column": ("id",),
    "texts": ("id", "text"),
    "numbers": ("score",),
    **{holds: (*_QUERY, *_ITEM, *last) for holds, last in _LAST.items()},
}


def table_of(names: Sequence[str], rows: Sequence[Sequence[Any]], form: str, holds: str) -> Table:
    """The run or the judgments in a table."""
    query, item, value = (
        place_of(names, _QUERY),
        place_of(names, _ITEM),
        place_of(names, _LAST[holds]),
    )
    table: Table = {}
    for row in rows:
        number = cell_number(row[value], form)
        add(
            table,
            cell_id(row[query]),
            cell_id(row[item]),
            0.0 - number if names[value].lower() == "rank" else number,
        )
    return table


def _plain_table(path: Path, *, form: str, holds: str) -> Any:
    names, rows = cells(path, form, _READ.get(holds, ()))
    if holds == "texts":
        return texts_of(names, rows)
    if holds == "column":
        place = 0 if len(names) == 1 else place_of(names, ("id",))
        if len(set(names)) < len(names) or not all(names):
            raise Undecided("names")
        if any(type(row[place]) is int and not -(2**63) <= row[place] < 2**64 for row in rows):
            raise Undecided("a very large integer")
        return [
            _utf8(row[place]) or None
            if type(row[place]) is str
            else str(row[place])
            if type(row[place]) is int
            else None
            for row in rows
        ]
    if holds == "numbers":
        if len(names) != 1 and not rows:
            raise Undecided("a header with a mark that is perhaps not a delimiter")
        if len(names) != 1:
            raise Refused("several columns")
        return [cell_number(row[0], form) for row in rows]
    return table_of(names, rows, form, holds)


def texts_of(names: Sequence[str], rows: Sequence[Sequence[Any]]) -> dict[str, str]:
    """The texts in a table."""
    name, text, found = place_of(names, ("id",)), place_of(names, ("text",)), dict[str, str]()
    for row in rows:
        key = cell_id(row[name])
        if key in found:
            raise Refused(f"{key} twice")
        if not isinstance(row[text], str):
            raise Undecided("a text that is none")
        found[key] = _utf8(row[text])
    return found


def _plain_scores(path: Path, *, form: str) -> Any:
    names, rows = cells(path, form)
    if (
        not names
        or names[0] != "query"
        or len(set(names)) < len(names)
        or len(names) < 2
        or not all(names)
    ):
        raise Undecided("names")
    numbers = [[cell_number(cell, form) for cell in row[1:]] for row in rows]
    ids = [cell_id(row[0]) for row in rows]
    if len(set(ids)) < len(ids) or not ids:
        raise Refused("an id twice, or none")
    return ids, names[1:], numbers


def _lines_of(path: Path) -> list[str]:
    lines = _text(content(path)).split("\n")
    return [line.rstrip("\r") for line in (lines[:-1] if lines[-1] == "" else lines)]


def _plain_numbers(path: Path) -> list[float]:
    lines = _text(content(path)).replace("\r\n", "\n").split("\n")
    if any("\r" in line for line in lines):
        raise Undecided("a bare carriage return")
    while lines and not lines[-1].strip():
        lines.pop()
    return [number_of(line.strip(SPACES)) for line in lines]


def _plain_msmarco_texts(path: Path) -> dict[str, str]:
    found = dict[str, str]()
    for line in _text(content(path)).split("\n"):
        if line.strip():
            name, tab, text = line.rstrip("\r").partition("\t")
            if not tab or not name or name in found:
                raise Refused(name)
            found[name] = text
    return found


def _listed(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise Refused("no list")
    return value


def _plain_list(path: Path) -> list[str | None]:
    return [
        id_of(each) if type(each) in (str, int) else None
        for each in _listed(load_json(_text(content(path))))
    ]


def _plain_number_list(path: Path) -> list[float]:
    return [value_of(each) for each in _listed(load_json(_text(content(path))))]


def _plain_object(path: Path) -> dict[str, str]:
    found = load_json(_text(content(path)))
    if not isinstance(found, dict) or not all(type(text) is str for text in found.values()):
        raise Refused("no object of strings")
    return {id_of(name): text for name, text in found.items()}


# What rankwell reads


def plain_values(holds: str, table: Any) -> Any:
    """A table of rankwell in plain values."""
    if holds in ("run", "judgments"):
        numbers = (table.scores if holds == "run" else table.grades).tolist()
        bounds = table.offsets.tolist()
        return {
            query: {
                item: number + 0.0
                for item, number in zip(table.items[start:stop], numbers[start:stop], strict=True)
            }
            for query, start, stop in zip(table.queries, bounds, bounds[1:], strict=False)
        }
    if holds == "texts":
        return dict(table.texts)
    if holds == "numbers":
        return [each + 0.0 for each in table.tolist()]
    if holds == "preferences":
        bounds = zip(
            table.queries, table.offsets.tolist(), table.offsets.tolist()[1:], strict=False
        )
        owners = [query for query, start, stop in bounds for _ in range(start, stop)]
        return sorted(
            zip(
                owners,
                table.groups,
                table.subgroups,
                table.items,
                (table.levels + 0.0).tolist(),
                strict=True,
            )
        )
    if holds == "scores":
        return (
            list(table.query_names),
            list(table.item_names),
            [[cell + 0.0 for cell in row] for row in table.matrix.tolist()],
        )
    return table


def read(holds: str, form: str) -> Callable[[Any], Any]:
    """The content of a file in a format as rankwell reads it."""

    def _read(thing: Any) -> Any:
        from rankwell.io.formats import Request, read_as
        from rankwell.io.records import read_numbers

        if holds == "numbers" and not isinstance(thing, str):
            import numpy as np

            from rankwell.io.formats import FORMATS as KNOWN
            from rankwell.store import Source

            numbers = KNOWN[f"{form} numbers"].read(Source(thing), Request())
            if not np.isfinite(numbers).all():
                read_numbers(thing)  # which names the number that is not finite
            return plain_values(holds, numbers)
        return plain_values(holds, read_as(thing, holds, form, Request())[0])  # pyright: ignore[reportArgumentType]

    return _read


_SUFFIX = {
    "trec": "run",
    "json": "json",
    "csv": "csv",
    "tsv": "tsv",
    "jsonl": "jsonl",
    "lines": "txt",
}


def _add(
    form: str, holds: str, written: Callable[[Random], str], plain: Callable[[Path], Any]
) -> None:
    def _write(rng: Random, folder: Path) -> Path:
        path = folder / f"input.{_SUFFIX.get(form, form)}"
        path.write_text(written(rng), encoding="utf-8", newline="")
        return path

    FUZZERS[f"{FORMATS}: {form} {holds}"] = Fuzzer(_write, text_file, read(holds, form), plain)


def _bind(function: Callable[..., Any], **given: Any) -> Callable[[Path], Any]:
    return lambda path: function(path, **given)


def _json_table(path: Path) -> Table:
    found = load_json(_text(content(path)))
    if isinstance(found, dict) and any(isinstance(each, list) for each in found.values()):
        raise Undecided("lists of ids, pairs or results")
    return _scored(found)


for _holds in ("run", "judgments"):
    _add("trec", _holds, _run("trec", _holds), _bind(_plain_trec, holds=_holds))
    _add("json", _holds, _run("json", _holds), _json_table)
_add("trec", "preferences", _preferences, _plain_preferences)
_add("msmarco", "run", _run("msmarco", "run"), _plain_msmarco)
for _holds in ("run", "judgments"):
    _add("headerless", _holds, _run("headerless", _holds), _plain_headerless)
_add("msmarco", "texts", _texts("msmarco"), _plain_msmarco_texts)
_add("mteb", "run", _run("mteb", "run"), _plain_mteb)
_add("sentence-transformers", "run", _run("sentence-transformers", "run"), _plain_predictions)
_add(
    "beir",
    "judgments",
    _run("beir", "judgments"),
    _bind(_plain_table, form="tsv", holds="judgments"),
)
_add("beir", "texts", _texts("beir"), _bind(_plain_table, form="jsonl", holds="texts"))
_add(
    "lines",
    "texts",
    _texts("lines"),
    lambda path: {str(row): line for row, line in enumerate(_lines_of(path))},
)
_add("lines", "column", _column("lines"), _lines_of)
_add("lines", "numbers", _numbers("lines"), _plain_numbers)
_add("json", "texts", _texts("json"), _plain_object)
_add("json", "column", _column("json"), _plain_list)
_add("json", "numbers", _numbers("json"), _plain_number_list)
for _form in ("csv", "tsv", "jsonl"):
    for _holds in ("run", "judgments"):
        _add(_form, _holds, _run(_form, _holds), _bind(_plain_table, form=_form, holds=_holds))
    for _holds, _draw in (("texts", _texts), ("column", _column), ("numbers", _numbers)):
        _add(_form, _holds, _draw(_form), _bind(_plain_table, form=_form, holds=_holds))
    if _form != "jsonl":
        _add(_form, "scores", _scores(_form), _bind(_plain_scores, form=_form))
