"""Canonical form of everything a command writes: named lines of text that are equal where, and only
where, the content is equal.

A file becomes a list of `(name, value)` pairs: JSON one pair per scalar, in the file's own order,
and its layout; CSV and Parquet one pair per column; charts their Vega-Lite specification; a page
its data. Long values become digests, each in two forms: over the text as it is, and over the text
with all floats rounded to nine digits, which survives another machine's last bit.
"""

import base64
import csv
import hashlib
import io
import json
import re
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

Pair = tuple[str, str]

FULL = False
"""Whether values stay at full length, to see what stands behind a digest."""
LONGEST_VALUE = 100
LONGEST_FILE = 1_500
LONGEST_TEXT = 2_400
LONGEST_LINE = 160
LONGEST_KEPT = 1_000

KEPT = re.compile(r"\bcounts\.|schema_version")
"""Names that stay where others become part of a digest, because they may change."""

ALWAYS_DIGESTS = "rules.measures"
"""Definitions and sources of measures, which stand in every manifest; the goldens of `measures`
have them once in full.
"""

VARYING = re.compile(
    r"(^|\.)(seconds\w*|\w*_seconds|seconds|date|hostname|record_digest|peak_memory_mib|machine\.\w+|versions\.\w+|processors|experiment_id|python)"
    r"( [A-Z]+)?$"
)
"""Names of values that differ between two runs of the same command."""

_NUMBER = re.compile(r"-?\d+(?:\.\d+(?:[eE][-+]?\d+)?|[eE][-+]?\d+)")
_EXACT = re.compile(r"exact [0-9a-f]{16}")
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|true|false|null|-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?')
_LEASED = re.compile(r'"time": "[^"]+"')
"""When a judge took a batch, which `study judge` writes down."""
_ARRAY = b"\x93NUMPY"
_CHECKSUM = 32
"""Bytes at the beginning of a cache's file."""
_ENCODED = json.JSONEncoder(ensure_ascii=False, default=str).encode
_DATA_URL = re.compile(r"data:(image/[\w.+-]+);base64,([A-Za-z0-9+/=]+)")


def rounded(text: str) -> str:
    """The text with every float rounded to nine digits; what is below 1e-12 becomes zero."""
    return _NUMBER.sub(lambda found: _nine(float(found[0])), _EXACT.sub("", text))


def _nine(value: float) -> str:
    return "0" if abs(value) < 1e-12 else f"{value:.8e}"


def digest(text: str) -> str:
    """Digests of the text as it is and with rounded floats; a single one where it holds none."""
    near = rounded(text)
    return f"is {_short(text)}" if near == text else f"exact {_short(text)} near {_short(near)}"


def _short(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def shorten(pairs: Sequence[Pair], *, brief: bool = False) -> list[str]:
    """Lines `name: value`; long values as digests, and of long files one digest for each first or
    second part of the names.

    brief: a digest for each first part of the names however short, for what other files say as
    well.
    """
    pairs = [(name, "<varies>" if VARYING.search(name) else value) for name, value in pairs]
    if FULL:
        return [f"{name}: {value}" for name, value in pairs]
    if brief:
        return [line for group in _grouped(pairs, 1) for line in _digested(group, 1)]
    return _shortened(pairs, 0)


def _shortened(pairs: list[Pair], depth: int) -> list[str]:
    lines = [f"{name}: {_cut(value)}" for name, value in pairs]
    if len(lines) == 1 or (
        sum(map(len, lines)) <= LONGEST_FILE / (depth + 1)
        and not pairs[0][0].startswith(ALWAYS_DIGESTS)
    ):
        return lines
    if depth == 2:
        return _digested(pairs, 2)
    return [line for group in _grouped(pairs, depth + 1) for line in _shortened(group, depth + 1)]


def _grouped(pairs: list[Pair], parts: int) -> Iterable[list[Pair]]:
    groups: dict[str, list[Pair]] = {}
    for name, value in pairs:
        groups.setdefault(_prefix(name, parts), []).append((name, value))
    return groups.values()


def _digested(pairs: list[Pair], parts: int) -> list[str]:
    """One digest for all, and beside it the lines whose names may change."""
    if len(pairs) == 1:
        return [f"{pairs[0][0]}: {_cut(pairs[0][1])}"]
    kept = [f"{name}: {_cut(value)}" for name, value in pairs if KEPT.search(name)]
    kept = kept if sum(map(len, kept)) <= LONGEST_KEPT else []
    rest = [f"{name}: {value}" for name, value in pairs if not kept or not KEPT.search(name)]
    return [
        *(
            [f"{_prefix(pairs[0][0], parts)}: {len(rest)} lines {digest(chr(10).join(rest))}"]
            if rest
            else []
        ),
        *kept,
    ]


def _prefix(name: str, parts: int) -> str:
    return ".".join(re.split(r"[.\[]", name)[:parts])


def _cut(value: str, longest: int | None = None) -> str:
    return (
        value
        if len(value) <= (longest or LONGEST_VALUE)
        else f"{len(value)} characters {digest(value)}"
    )


# ---- kinds of files
# --------------------------------------------------------------------------------------------------


def of_file(path: Path, clean: Callable[[str], str]) -> list[str]:
    """The canonical lines of a file; `clean` takes paths and versions out of texts."""
    reader = _READERS.get(
        "".join(path.suffixes[-2:]) if path.name.endswith(".ids.txt") else path.suffix.lower()
    )
    content = path.read_bytes()
    if path.name == "report.html":
        return shorten(_page(clean(content.decode())))
    if content.startswith(b"{") and path.suffix in (".svg", ".png"):
        return [f"chart {digest(clean(content.decode()))}"]  # A specification, see drawing.py.
    if not path.suffix and content[_CHECKSUM:].startswith(_ARRAY):
        return shorten(_arrays_in_a_row(content[_CHECKSUM:]))
    if reader is not None:
        return shorten(reader(path, clean), brief=path.name == "summary.json")
    return of_text(clean(content.decode("utf-8", "surrogateescape")))


def of_text(text: str) -> list[str]:
    """The lines of a text, or its first and digests of forty at a time where it is long; JSON by
    its values.
    """
    if text[:1] in ("{", "[") and (pairs := of_json(text)) is not None:
        return shorten(pairs)
    lines = text.split("\n")
    if FULL:
        return lines
    first = len(lines) if len(text) <= LONGEST_TEXT else 12
    kept = [_line(line) for line in lines[:first]]
    for place in range(first, len(lines), 40):
        block = lines[place : place + 40]
        kept.append(f"lines {place + 1} to {place + len(block)}: {digest(chr(10).join(block))}")
        kept += [_line(line) for line in block if line.startswith("rules:")]
    return kept


def _line(line: str) -> str:
    return line if line.startswith("rules:") else _cut(line, LONGEST_LINE)


class _Raw(str):
    """A number as it was written."""


def of_json(text: str) -> list[Pair] | None:
    """Every scalar with its path, in order, and the layout: what stands between keys and scalars.
    None for what is not JSON.
    """
    try:
        content = json.loads(text, parse_float=_Raw, parse_int=_Raw, parse_constant=_Raw)
    except ValueError:
        return None
    between = sorted({re.sub(r"[\[\]{}]", "", each) for each in _TOKEN.split(text)})
    return [*_flat("", content), ("layout", _short(json.dumps([between, "\\u" in text])))]


def _flat(path: str, content: Any) -> list[Pair]:
    if isinstance(content, dict) and content:
        return [
            pair
            for key, value in content.items()
            for pair in _flat(f"{path}.{key}" if path else key, value)
        ]
    if _is_table(content):
        names = list(content[0])
        return [(f"{path}.{name}", _listed([row[name] for row in content])) for name in names]
    if isinstance(content, list) and any(isinstance(each, (dict, list)) for each in content):
        return [
            pair for place, each in enumerate(content) for pair in _flat(f"{path}[{place}]", each)
        ]
    return [(path, _scalar(content) if not isinstance(content, list) else _listed(content))]


def _is_table(content: Any) -> bool:
    rows = content if isinstance(content, list) and len(content) > 1 else []
    return bool(rows) and all(
        isinstance(row, dict)
        and list(row) == list(rows[0])
        and not any(isinstance(cell, dict) for cell in row.values())
        for row in rows
    )


def _listed(values: Iterable[Any]) -> str:
    return "[" + ", ".join(_scalar(each) for each in values) + "]"


def _scalar(value: Any) -> str:
    if isinstance(value, _Raw):
        return str(value)
    if isinstance(value, list):
        return _listed(value)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {_scalar(each)}" for key, each in value.items()) + "}"
    if isinstance(value, float):
        return repr(value)
    return _ENCODED(_without_pictures(value) if isinstance(value, str) else value)


def _without_pictures(text: str) -> str:
    """Pictures in the text by their size and pixels: how they are packed differs between versions
    of Pillow's libraries.
    """
    if "data:image/" not in text:
        return text
    return _DATA_URL.sub(lambda found: f"<{found[1]} {_pixels(base64.b64decode(found[2]))}>", text)


def _pixels(content: bytes) -> str:
    from PIL import Image

    with Image.open(io.BytesIO(content)) as picture:
        pixels = hashlib.sha256(picture.convert("RGBA").tobytes()).hexdigest()[:16]
        return (
            f"{picture.width}x{picture.height}, {getattr(picture, 'n_frames', 1)} frames, exact "
            f"{pixels}"
        )


def _json(path: Path, clean: Callable[[str], str]) -> list[Pair]:
    text = clean(path.read_text(encoding="utf-8"))
    pairs = of_json(text)
    if pairs is None:
        return [(str(place), line) for place, line in enumerate(text.split("\n"), 1)]
    if path.name == "manifest.json":
        return [
            _checked(path.parent / pair[0][6:], pair) if pair[0].startswith("files.") else pair
            for pair in pairs
        ]
    if path.name.endswith(".manifest.json"):
        array = path.with_name(path.name.removesuffix(".manifest.json") + ".npy")
        return [
            _checked(array, pair) if pair[0] in ("vectors", "scores") else pair for pair in pairs
        ]
    return pairs


def _checked(file: Path, pair: Pair) -> Pair:
    """A file's digest in a manifest, by whether it is right: bytes of Parquet, PNG and vectors
    depend on versions of libraries.
    """
    right = (
        file.is_file()
        and pair[1].strip('"') == f"sha256:{hashlib.sha256(file.read_bytes()).hexdigest()}"
    )
    return pair[0], "right" if right else "WRONG DIGEST"


def _json_lines(path: Path, clean: Callable[[str], str]) -> list[Pair]:
    text = clean(path.read_text(encoding="utf-8"))
    lines = (_LEASED.sub('"time": "…"', text) if path.name == "leases.jsonl" else text).split("\n")
    return [(f"line {place}", line) for place, line in enumerate(lines, 1)]


def _delimited(path: Path, clean: Callable[[str], str]) -> list[Pair]:
    text = clean(path.read_text(encoding="utf-8", errors="surrogateescape"))
    rows = list(csv.reader(io.StringIO(text), delimiter="\t" if path.suffix == ".tsv" else ","))
    if not rows or {len(row) for row in rows} != {len(rows[0])}:
        return [("text", text)]
    varies = any(VARYING.search(name) for name in rows[0])
    columns = [
        (name, json.dumps([row[place] for row in rows[1:]], ensure_ascii=False))
        for place, name in enumerate(rows[0])
    ]
    return columns if varies else [*columns, ("bytes", digest(text))]


@cache
def _session() -> Any:
    """One DuckDB for all files of a process, which takes tens of milliseconds to start."""
    import duckdb

    return duckdb.connect(":memory:", config={"threads": 1})


def _parquet(path: Path, clean: Callable[[str], str]) -> list[Pair]:
    table = _session().execute("SELECT * FROM read_parquet(?)", [str(path)])
    names = [f"{column[0]} {column[1]}" for column in table.description or ()]
    rows = table.fetchall()
    return [(name, clean(_listed(row[place] for row in rows))) for place, name in enumerate(names)]


def _array(path: Path, clean: Callable[[str], str]) -> list[Pair]:
    import numpy as np

    return _of_array(np.load(path))


def _arrays_in_a_row(content: bytes) -> list[Pair]:
    """Arrays that stand one after the other in a file, as a cache of features has them."""
    import numpy as np

    stream, pairs = io.BytesIO(content), []
    while stream.tell() < len(content):
        place = len(pairs) // 2
        pairs += [(f"array {place} {name}", value) for name, value in _of_array(np.load(stream))]
    return pairs


def _arrays(path: Path, clean: Callable[[str], str]) -> list[Pair]:
    import h5py
    import numpy as np

    with h5py.File(path) as file:
        return [(name, dict(_of_array(np.asarray(file[name])))["values"]) for name in sorted(file)]


def _of_array(array: Any) -> list[Pair]:
    return [("type", f"{array.dtype} {array.shape}"), ("values", json.dumps(array.tolist()))]


def _picture(path: Path, clean: Callable[[str], str]) -> list[Pair]:
    return [("picture", _pixels(path.read_bytes()))]


def _page(text: str) -> list[Pair]:
    """The title and the data of a page; its scripts and styles have tests of their own."""
    title = re.search(r"<title>(.*?)</title>", text, re.DOTALL)
    data = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)
    pairs = of_json(data[1]) if data else None
    return [("title", title[1] if title else "none"), *(pairs or [("data", "none")])]


_READERS: dict[str, Callable[[Path, Callable[[str], str]], list[Pair]]] = {
    ".json": _json,
    ".jsonl": _json_lines,
    ".csv": _delimited,
    ".tsv": _delimited,
    ".parquet": _parquet,
    ".npy": _array,
    ".hdf5": _arrays,
    ".png": _picture,
    ".gif": _picture,
    ".jpg": _picture,
}
