"""The prediction files of MTEB: `{"mteb_model_meta": …, subset: {split: {query: {item: score}}}}`, read as a run."""

import json
import re
from typing import Any

from rankwell.core.tables.judgments import Judgments
from rankwell.core.tables.ranking import Hits, Ranking
from rankwell.errors import BadInput, UnknownName
from rankwell.io import FORMATS, Request, file_format
from rankwell.store import Head, Source, decode_id

_META = "mteb_model_meta"


def _sniff(head: Head) -> float:
    return 0.95 if re.search(rf'\{{\s*"{_META}"\s*:', head.text) else 0.0


def _find_hits(source: Source, judgments: Judgments, request: Request) -> Hits:
    found = FORMATS["python mapping run"].find_hits
    if found is None:
        raise TypeError("mappings must find their hits themselves")
    return found(_load(source, request), judgments, request)


@file_format("mteb", "run", sniff=_sniff, find_hits=_find_hits, parts=True)
def read_run(source: Source, request: Request) -> Ranking:
    """The ranking of one subset and split; the format's name carries them, `mteb:en/test`, where the file has several.

    Source: MTEB 2.20, `save_retrieval_predictions`.
    """
    return FORMATS["python mapping run"].read(_load(source, request), request)


def _load(source: Source, request: Request) -> Any:
    try:
        found = json.loads(decode_id(source.read()), object_pairs_hook=_once)
    except json.JSONDecodeError as error:
        raise BadInput(f"{source.name}:{error.lineno}: {error.msg} at column {error.colno}; is the file whole?") from error
    parts: dict[str, Any] = {}
    for subset, splits in found.items():
        if subset == _META:
            continue
        if not isinstance(splits, dict):
            raise BadInput(f"{source.name}: $[{subset!r}] is a {type(splits).__name__}; expected {{split: {{query: …}}}}.")
        parts.update({f"{subset}/{split}": scored for split, scored in splits.items()})
    if not parts:
        raise BadInput(f"{source.name} holds no predictions beside {_META!r}; was the run saved whole?")
    names = ", ".join(parts)
    if not request.part and len(parts) > 1:
        raise BadInput(f"{source.name} holds several rankings: {names}; name one, as in format 'mteb:{next(iter(parts))}'.")
    if request.part and request.part not in parts:
        raise UnknownName(f"{source.name} holds no part {request.part!r}; it has {names}.")
    chosen = request.part or names
    request.notes.append(f"{source.name}: MTEB predictions of {chosen}.")
    if not isinstance(parts[chosen], dict):
        raise BadInput(f"{source.name}: {chosen} is a {type(parts[chosen]).__name__}; expected {{query: {{item: score}}}}.")
    return parts[chosen]


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    whole = dict(pairs)
    if len(whole) < len(pairs):
        keys = [key for key, _ in pairs]
        key = next(key for place, key in enumerate(keys) if key in keys[:place])
        raise BadInput(f"an object has the key {key!r} twice; keep one of them.")
    return whole
