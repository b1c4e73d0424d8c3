"""JSON `{query: {item: number}}`: runs and judgments of ranx, BEIR, pytrec_eval and most scripts."""

import json
import re
from pathlib import Path
from typing import Any

from rankwell.core.tables.judgments import Judgments
from rankwell.core.tables.names import Repeats
from rankwell.core.tables.ranking import Hits, Ranking
from rankwell.errors import BadInput, BadScore, DuplicateItem
from rankwell.io import FORMATS, Request, file_format
from rankwell.store import Head, Source, decode_id, encode_id

_STRING = r'"(?:[^"\\]|\\.)*"'
_SHAPE = re.compile(rf"\{{\s*(?:{_STRING}\s*:\s*\{{\s*(?:{_STRING}\s*:\s*[-+\dNI]|\}})|\}})", re.DOTALL)
Mapped = dict[str, dict[str, float]]


def _sniff(head: Head) -> float:
    if _SHAPE.match(head.text):
        return 0.8
    return 0.4 if head.text.startswith(("{", "[")) else 0.0


def _find_hits(source: Source, judgments: Judgments, request: Request) -> Hits:
    found = FORMATS["python mapping run"].find_hits
    if found is None:
        raise TypeError("mappings must find their hits themselves")
    return found(load(source, request), judgments, request)


def _write_run(ranking: Ranking, path: Path) -> None:
    _write(ranking, ranking.scores.tolist(), path)


def _write_judgments(judgments: Judgments, path: Path) -> None:
    if judgments.aspects is not None:
        raise BadInput("JSON {query: {item: number}} cannot hold groups or intents; write TREC, CSV or Parquet.")
    _write(judgments, [int(grade) if grade.is_integer() else grade for grade in judgments.grades.tolist()], path)


def _write(table: Ranking | Judgments, numbers: list[Any], path: Path) -> None:
    bounds = table.offsets.tolist()
    with path.open("w", encoding="ascii", newline="\n") as stream:
        separator = "{\n"
        for query, start, stop in zip(table.queries, bounds, bounds[1:], strict=False):
            row = dict(zip(table.items[start:stop], numbers[start:stop], strict=True))
            stream.write(f"{separator}{json.dumps(query)}: {json.dumps(row)}")
            separator = ",\n"
        stream.write("\n}\n" if table.queries else "{}\n")


@file_format("json", "run", sniff=_sniff, find_hits=_find_hits, write=_write_run, suffixes=(".json",))
def read_run(source: Source, request: Request) -> Ranking:
    """The ranking in `{query: {item: score}}`; an item twice in one query is an error unless the request says which to keep."""
    return FORMATS["python mapping run"].read(load(source, request), request)


@file_format("json", "judgments", sniff=_sniff, write=_write_judgments, suffixes=(".json",))
def read_judgments(source: Source, request: Request) -> Judgments:
    """The judgments in `{query: {item: grade}}`; grades may be fractions."""
    return FORMATS["python mapping judgments"].read(load(source, request), request)


def load(source: Source, request: Request) -> Mapped:
    """The mapping in a JSON file, checked. Raises BadInput that names the place by a JSON path."""
    found = _parse(source, request.duplicates)
    wanted = "expected {query: {item: number}}"
    if not isinstance(found, dict):
        raise BadInput(f"{source.name}: $ is {_seen(found)}; {wanted}.")
    if not found:
        raise BadInput(f"{source.name}: the JSON object is empty; {wanted}.")
    _refuse_repeated(source.name, "$", found)
    for query, scored in found.items():
        if not isinstance(scored, dict):
            raise BadInput(f"{source.name}: $[{query!r}] is {_seen(scored)}; {wanted}.")
        _refuse_repeated(source.name, f"$[{query!r}]", scored)
        if not set(map(type, scored.values())) <= {int, float}:
            item = next(item for item, number in scored.items() if type(number) not in (int, float))
            what = f"{source.name}: $[{query!r}][{item!r}] is {_seen(scored[item])}"
            raise BadInput(f"{what}; {wanted}.") if isinstance(scored[item], (dict, list)) else BadScore(f"{what}; {wanted}.")
    return found


class _Repeated(dict[str, Any]):
    """An object that has a key twice: which, and the places of both, from 1."""

    key: str
    places: tuple[int, int]


def _parse(source: Source, duplicates: Repeats) -> Any:
    def _build(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        whole = dict(pairs)
        if len(whole) == len(pairs):
            return whole
        known: dict[str, int] = {}
        for place, (key, value) in enumerate(pairs):
            first = known.setdefault(key, place)
            if first != place and (duplicates in ("error", "keep") or not isinstance(value, (int, float))):
                repeated = _Repeated(whole)
                repeated.key, repeated.places = key, (first + 1, place + 1)
                return repeated
            if duplicates == "best" and value > pairs[first][1]:
                known[key] = place
        return {pairs[place][0]: pairs[place][1] for place in sorted(known.values())}

    try:
        return json.loads(decode_id(source.read()), object_pairs_hook=_build)
    except json.JSONDecodeError as error:
        near = error.doc[max(error.pos - 20, 0) : error.pos + 20]
        what = f"{source.name}:{error.lineno}: {near!r}: {error.msg}"
        raise BadInput(f"{what} at column {error.colno}; is the file whole?") from error
    except RecursionError as error:
        raise BadInput(f"{source.name}: brackets are nested too deep; expected {{query: {{item: number}}}}.") from error


def _refuse_repeated(name: str, path: str, thing: dict[str, Any]) -> None:
    if isinstance(thing, _Repeated):
        first, second = thing.places
        what = f"{name}: {path} has the key {thing.key!r} twice, as entries {first} and {second}"
        raise DuplicateItem(f"{what}; keep one of them, or say which to keep (first, best).")


def _seen(thing: Any) -> str:
    text = ascii(encode_id(thing)) if isinstance(thing, str) and not thing.isprintable() else repr(thing)
    return f"{text[:40]}{'…' if len(text) > 40 else ''} ({type(thing).__name__})"
