"""Fuzzers of the JSON lines of retrieval for generation: gold passages, retrieved chunks, and
supports of citations.
"""

import json
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

from fuzzing import FUZZERS, Fuzzer, Refused, Undecided
from fuzzing.mutations import text_file
from fuzzing.tables import content, id_of, load_json

Passage = tuple[str | None, int, int, str | None]


def _passages(rng: Random) -> list[Any]:
    found: list[Any] = []
    for _ in range(rng.randint(1, 3)):
        start = rng.randint(0, 9)
        place = {
            "document": rng.choice(("d", "é", 3)),
            "start": start,
            "end": start + rng.randint(1, 9),
        }
        found.append(rng.choice((place, place | {"text": "a b"}, {"text": "c"}, "plain")))
    return found


def _write(key: str) -> Callable[[Random, Path], Path]:
    def _written(rng: Random, folder: Path) -> Path:
        rows = [
            {"id": f"q{row}", "question": "why?", key: _passages(rng)}
            for row in range(rng.randint(1, 4))
        ]
        return _saved(rng, folder, rows)

    return _written


def _write_supports(rng: Random, folder: Path) -> Path:
    rows = []
    for place in range(rng.randint(1, 3)):
        cited = rng.sample("ab", rng.randint(0, 2))
        sets = [cited] if len(cited) < 2 else [cited, cited[:1], cited[1:]]
        rows += [
            {
                "id": "q",
                "statement": f"s{place}",
                "citations": each,
                "entailed": bool(each) and rng.random() < 0.5,
            }
            for each in sets
        ]
    return _saved(rng, folder, rows)


def _saved(rng: Random, folder: Path, rows: list[dict[str, Any]]) -> Path:
    path = folder / "input.jsonl"
    ascii_only = rng.random() < 0.5
    text = "".join(json.dumps(row, ensure_ascii=ascii_only) + "\n" for row in rows)
    path.write_text(
        text if rng.random() < 0.8 else json.dumps(rows, ensure_ascii=ascii_only),
        encoding="utf-8",
        newline="",
    )
    return path


def _objects(path: Path) -> list[dict[str, Any]]:
    raw = content(path)
    text = raw.decode("utf-8", "surrogateescape")
    if text.lstrip()[:1] == "[":
        found = load_json(text)
    else:
        found = [
            load_json(line)
            for line in text.split("\n")
            if line.encode("utf-8", "surrogateescape").strip()
        ]
    if (
        not isinstance(found, list)
        or not found
        or not all(isinstance(each, dict) for each in found)
    ):
        raise Refused("no objects")
    return found


def _passage(value: Any) -> Passage:
    if isinstance(value, str):
        return None, -1, -1, value
    if not isinstance(value, dict):
        raise Refused("no passage")
    text, document = value.get("text"), value.get("document")
    if text is not None and not isinstance(text, str):
        raise Refused("no text")
    if "start" not in value and "end" not in value:
        if text is None:
            raise Refused("nothing")
        return id_of(document) if "document" in value else None, -1, -1, text
    start, end = value.get("start"), value.get("end")
    if type(start) is not int or type(end) is not int or not 0 <= start < end < 1 << 53:
        raise Refused("no position")
    return id_of(document), start, end, text


def _plain(key: str, other: str) -> Callable[[Path], Any]:
    def _read(path: Path) -> dict[str, list[Passage]]:
        found: dict[str, list[Passage]] = {}
        for row in _objects(path):
            if key not in row and other in row:
                raise Undecided("a row of RAGAS")
            name, listed = id_of(row.get("id")), row.get(key)
            if name in found or not isinstance(listed, list) or (key == "passages" and not listed):
                raise Refused(name)
            found[name] = [_passage(each) for each in listed]
        return found

    return _read


def _plain_supports(path: Path) -> dict[str, dict[str, list[tuple[list[str], bool]]]]:
    found: dict[str, dict[str, dict[frozenset[str], bool]]] = {}
    for row in _objects(path):
        cited, entailed = row.get("citations"), row.get("entailed")
        if not isinstance(cited, list) or type(entailed) is not bool:
            raise Refused("no set")
        each = frozenset(map(id_of, cited))
        own = found.setdefault(id_of(row.get("id")), {}).setdefault(id_of(row.get("statement")), {})
        if each in own or (entailed and not each):
            raise Refused("a set that cannot be")
        own[each] = entailed
    for sets in (sets for statements in found.values() for sets in statements.values()):
        whole = frozenset[str]().union(*sets)
        if whole not in sets:
            raise Refused("the whole is not judged")
        for one in whole if sets[whole] and len(whole) > 1 else ():
            alone = sets.get(frozenset([one]))
            if alone is None or (not alone and whole - {one} not in sets):
                raise Refused("a set that decides is not judged")
    return {
        query: {
            name: sorted((sorted(each), value) for each, value in sets.items())
            for name, sets in statements.items()
        }
        for query, statements in found.items()
    }


def _read(kind: str) -> Callable[[Path], Any]:
    def _found(path: Path) -> Any:
        from rankwell.tasks.rag.passages import read_chunks, read_gold, read_supports

        if kind == "supports":
            view = read_supports(path)
            pairs = zip(view.queries, view.statements, strict=True)
            return {
                query: {
                    each.name: sorted((sorted(one), value) for one, value in each.entailed.items())
                    for each in own
                }
                for query, own in pairs
            }
        table = (read_gold if kind == "gold" else read_chunks)(path, {})
        return {name: [tuple(each) for each in row.passages] for name, row in table.items()}

    return _found


FUZZERS["rag: gold"] = Fuzzer(
    _write("passages"), text_file, _read("gold"), _plain("passages", "reference_contexts")
)
FUZZERS["rag: chunks"] = Fuzzer(
    _write("chunks"), text_file, _read("chunks"), _plain("chunks", "retrieved_contexts")
)
FUZZERS["rag: supports"] = Fuzzer(_write_supports, text_file, _read("supports"), _plain_supports)
