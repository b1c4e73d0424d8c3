"""LlamaIndex: `EmbeddingQAFinetuneDataset` as JSON, its dictionary or the object, with queries,
corpus and relevant_docs.
"""

import re
from collections.abc import Mapping
from typing import Any

from rankwell.data.tables import Judgments
from rankwell.documents import read_json, unique_keys
from rankwell.errors import BadInput, UnknownName
from rankwell.io.formats import FORMATS, Request, Texts, file_format
from rankwell.store import Head, Source

_TEXTS = ("queries", "corpus")
_PARTS = (*_TEXTS, "relevant_docs")
_START = re.compile(
    r'\{\s*"(?:queries|corpus|relevant_docs)"\s*:\s*\{\s*"(?:[^"\\]|\\.)*"\s*:\s*["\[]'
)


def _sniff(head: Head) -> float:
    return 0.95 if _START.match(head.text) else 0.0


def _accepts(thing: Any) -> bool:
    if isinstance(thing, Mapping):
        return all(isinstance(thing.get(name), Mapping) for name in _PARTS) and _is_of_texts(
            thing["queries"]
        )
    return all(hasattr(thing, name) for name in _PARTS)


def _is_of_texts(queries: Mapping[Any, Any]) -> bool:
    """Whether the values are strings, as those of judgments of a query that is named `queries` are
    not.
    """
    return all(isinstance(text, str) for text in queries.values())


def _part(thing: Any, name: str) -> Any:
    """One of the three mappings. Raises BadInput where the file has another form."""
    if isinstance(thing, Mapping):
        return thing[name]
    if not isinstance(thing, Source):
        return getattr(thing, name)
    data_set = read_json(thing, pairs=unique_keys)
    if not isinstance(data_set, dict) or not isinstance(data_set.get(name), dict):
        raise BadInput(
            f"{thing.name}: $[{name!r}] is not an object; expected one with queries, corpus "
            "and relevant_docs."
        )
    return data_set[name]


@file_format("llamaindex", "judgments", sniff=_sniff, accepts=_accepts)
def read_judgments(thing: Any, request: Request) -> Judgments:
    """The judgments in `relevant_docs`, query -> list of ids, each of which has grade 1.

    Source: LlamaIndex, `EmbeddingQAFinetuneDataset`.
    """
    return FORMATS["python mapping judgments"].read(_part(thing, "relevant_docs"), request)


@file_format("llamaindex", "texts", sniff=_sniff, accepts=_accepts, parts=True)
def read_texts(thing: Any, request: Request) -> Texts:
    """The texts of `queries` or `corpus`, whichever is named (`data.json:corpus`); of both where
    neither is.

    Raises BadInput for an id that both have, and for a text that is not a string.
    """
    if request.part and request.part not in _TEXTS:
        raise UnknownName(
            f"the part {request.part!r} of a LlamaIndex data set has no texts; name "
            f"{' or '.join(_TEXTS)}."
        )
    texts = dict[str, str]()
    for name in (request.part,) if request.part else _TEXTS:
        text_format = FORMATS["python mapping texts"]
        mapping = _part(thing, name)
        if not text_format.accepts(mapping):
            raise BadInput(
                f"$[{name!r}] has a value that is not a string; expected an object id -> text."
            )
        part_texts = text_format.read(mapping, request).texts
        if shared_ids := sorted(texts.keys() & part_texts):
            raise BadInput(
                f"the id {shared_ids[0]!r} is of a query and of a document; name the part, "
                f"{' or '.join(_TEXTS)}."
            )
        texts |= part_texts
    return Texts(texts, {name: {} for name in texts})
