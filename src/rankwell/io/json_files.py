"""Runs, judgments and texts in JSON: `{query: {item: number}}`, `{id: text}`; predictions of MTEB
and sentence-transformers; results of engines and relevant items, an object per query with its id
and their list; judgments of OpenSearch's Search Relevance Workbench; data sets of LlamaIndex.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, cast

from rankwell.data.columns import Repeats, repeated_item, row_keys, unique_rows, unknown_list
from rankwell.data.findings.kinds import reading_choice
from rankwell.data.rankings import Hits, Ranking
from rankwell.data.tables import Judgments, columns_of, id_text
from rankwell.documents import first_objects, read_json, unique_keys
from rankwell.errors import KEEP_ONE, BadInput, BadScore, DuplicateItem, UnknownName, kind_of, shown
from rankwell.io.formats import FORMATS, Request, Texts, file_format, written_lists
from rankwell.io.records import load
from rankwell.store import Head, Source, encode_id

_STRING = r'"(?:[^"\\]|\\.)*"'
_SHAPE = re.compile(
    rf"\{{\s*(?:{_STRING}\s*:\s*(?:\{{\s*(?:{_STRING}\s*:\s*[-+\dNI]|\}})|\[)|\}})", re.DOTALL
)
_TEXTS = re.compile(rf'\{{\s*{_STRING}\s*:\s*"')
_KEYS = (
    "a query (query_id, qid), an item (doc_id, docno) and a number (score, rank; relevance, grade)"
)
Mapped = dict[str, Any]


def _sniff(head: Head) -> float:
    if _SHAPE.match(head.text):
        return 0.8
    return 0.4 if head.text.startswith(("{", "[")) else 0.0


def _find_hits(source: Source, judgments: Judgments, request: Request) -> Hits:
    return FORMATS["python mapping run"].hits(load_mapping(source, request), judgments, request)


def _write(table: Ranking | Judgments, path: Path) -> None:
    separator = "{\n"
    with path.open("w", encoding="ascii", newline="\n") as stream:
        for query, pairs in written_lists(table, "JSON {query: {item: number}}"):
            stream.write(f"{separator}{json.dumps(query)}: {json.dumps(dict(pairs))}")
            separator = ",\n"
        stream.write("\n}\n" if table.queries else "{}\n")


@file_format("json", "run", sniff=_sniff, find_hits=_find_hits, write=_write, suffixes=(".json",))
def read_run(source: Source, request: Request) -> Ranking:
    """The ranking in `{query: {item: score}}`, or in `{query: [...]}` of ids, of pairs or of
    results.

    An item twice in one query is an error unless the request says which to keep.
    """
    return FORMATS["python mapping run"].read(load_mapping(source, request), request)


@file_format("json", "judgments", sniff=_sniff, write=_write, suffixes=(".json",))
def read_judgments(source: Source, request: Request) -> Judgments:
    """The judgments in `{query: {item: grade}}`, or in `{query: [...]}` of ids or of pairs; grades
    may be fractions.
    """
    mapping = load_mapping(source, request, is_run=False)
    return FORMATS["python mapping judgments"].read(mapping, request)


def _sniff_texts(head: Head) -> float:
    # A record of JSON lines begins in the same way; those with other columns than id and text are
    # named with --column.
    is_lines = ".jsonl" in head.name or "\n{" in head.text
    return 0.3 if not is_lines and _TEXTS.match(head.text) else 0.0


@file_format("json", "texts", sniff=_sniff_texts, suffixes=(".json",))
def read_texts(source: Source, request: Request) -> Texts:
    """The texts in `{id: text}`. Raises BadInput for an id that appears twice, and for a text that
    is not a string.
    """
    texts = read_json(
        source,
        pairs=unique_keys,
        keys_of_lines="an id (id, _id, query_id, doc_id) and a text (text, query, contents)",
    )
    expected = "expected {id: text}"
    if not isinstance(texts, dict):
        raise BadInput(f"{source.name}: $ is {_describe(texts)}; {expected}.")
    for name, text in texts.items():
        if not isinstance(text, str):
            raise BadInput(f"{source.name}: $[{name!r}] is {_describe(text)}; {expected}.")
    return FORMATS["python mapping texts"].read(texts, request)


def load_mapping(source: Source, request: Request, *, is_run: bool = True) -> Mapped:
    """The mapping in a JSON file, checked. Raises BadInput that names the place by a JSON path."""
    mapping = _parse(source, request.duplicates)
    wanted = "expected {query: {item: number}} or {query: [id, ...]}"
    if not isinstance(mapping, dict):
        raise BadInput(f"{source.name}: $ is {_describe(mapping)}; {wanted}.")
    if not mapping:
        raise BadInput(f"{source.name}: the JSON object is empty; {wanted}.")
    _refuse_repeated(source.name, "$", mapping)
    wanted += unknown_list(mapping, "run" if is_run else "judgments")
    for query, scored in mapping.items():
        path = f"$[{query!r}]"
        if isinstance(scored, _Repeated) and request.oddities is not None:
            request.oddities.duplicated.add(query)
        if isinstance(scored, list):
            _refuse_bad_results(source.name, path, scored)
        else:
            _refuse_bad_numbers(source.name, path, scored, wanted, is_run=is_run)
    return mapping


def _refuse_bad_numbers(
    name: str, path: str, scored: Any, expected: str, *, is_run: bool = True
) -> None:
    """Raises BadInput for anything but a mapping item -> number, and DuplicateItem for an item that
    it has twice.
    """
    if not isinstance(scored, dict):
        raise BadInput(f"{name}: {path} is {_describe(scored)}; {expected}.")
    _refuse_repeated(name, path, scored, is_item=is_run)
    if not set(map(type, scored.values())) <= {int, float}:
        item = next(item for item, number in scored.items() if type(number) not in (int, float))
        error = BadInput if isinstance(scored[item], (dict, list)) else BadScore
        one_run = (
            " of one run, without its name" if isinstance(scored[item], dict) and is_run else ""
        )
        raise error(f"{name}: {path}[{item!r}] is {_describe(scored[item])}; {expected}{one_run}.")


def _refuse_bad_results(name: str, path: str, results: list[Any]) -> None:
    """Raises DuplicateItem for a key that a result has twice, which a mapping cannot show, and
    BadScore for true and false.
    """
    for index, result in enumerate(results):
        _refuse_repeated(name, f"{path}[{index}]", result)
        if isinstance(result, list) and any(isinstance(number, bool) for number in result):
            raise BadScore(
                f"{name}: {path}[{index}] is {_describe(result)}; expected a number, not true or "
                "false."
            )


class _Repeated(dict[str, Any]):
    """An object that has a key twice.

    key: the first repeated key; None where one entry of each is kept.
    positions: the places of its first two entries among all entries, from 1.
    """

    key: str | None = None
    positions: tuple[int, int] = (0, 0)


def _parse(source: Source, duplicates: Repeats) -> Any:
    def _build(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        mapping = dict(pairs)
        if len(mapping) == len(pairs):
            return mapping
        kept_positions: dict[str, int] = {}
        for position, (key, value) in enumerate(pairs):
            first = kept_positions.setdefault(key, position)
            if first != position and (
                duplicates in ("error", "keep") or not isinstance(value, (int, float))
            ):
                repeated = _Repeated(mapping)
                repeated.key, repeated.positions = key, (first + 1, position + 1)
                return repeated
            if duplicates == "best" and value > pairs[first][1]:
                kept_positions[key] = position
        return _Repeated(pairs[position] for position in sorted(kept_positions.values()))

    return read_json(source, pairs=_build, keys_of_lines=_KEYS)


def _refuse_repeated(name: str, path: str, thing: dict[str, Any], *, is_item: bool = False) -> None:
    """Raises DuplicateItem for a key that is there twice. is_item: of a run."""
    if isinstance(thing, _Repeated) and thing.key is not None:
        first, second = thing.positions
        problem = f"{name}: {path} has the key {thing.key!r} twice, as entries {first} and {second}"
        if is_item:
            raise repeated_item(problem, thing.key)
        raise DuplicateItem(f"{problem}; {KEEP_ONE}.")


def _describe(thing: Any) -> str:
    is_unprintable = isinstance(thing, str) and not thing.isprintable()
    return f"{shown(encode_id(thing) if is_unprintable else thing)} ({kind_of(thing)})"


_META = "mteb_model_meta"
_MTEB = re.compile(rf'\{{\s*"{_META}"\s*:')


@file_format(
    "mteb",
    "run",
    sniff=lambda head: 0.95 * bool(_MTEB.search(head.text)),
    find_hits=lambda source, judgments, request: FORMATS["python mapping run"].hits(
        _load_mteb(source, request), judgments, request
    ),
    has_parts=True,
)
def read_mteb(source: Source, request: Request) -> Ranking:
    """The ranking of one subset and split; the format's name carries them, `mteb:en/test`, where
    the file has several.

    Source: MTEB 2.20, `save_retrieval_predictions`.
    """
    return FORMATS["python mapping run"].read(_load_mteb(source, request), request)


def _load_mteb(source: Source, request: Request) -> Any:
    predictions = read_json(source, pairs=unique_keys)
    if not isinstance(predictions, dict):
        raise BadInput(
            f"{source.name}: $ is {_describe(predictions)}; expected "
            "{subset: {split: {query: …}}}."
        )
    parts: dict[str, Any] = {}
    for subset, splits in predictions.items():
        if subset == _META:
            continue
        if not isinstance(splits, dict):
            raise BadInput(
                f"{source.name}: $[{subset!r}] is {kind_of(splits)}; expected {{split: "
                f"{{query: …}}}}."
            )
        parts.update({f"{subset}/{split}": scored for split, scored in splits.items()})
    if not parts:
        raise BadInput(
            f"{source.name} holds no predictions beside {_META!r}; was the run saved whole?"
        )
    names = ", ".join(parts)
    if not request.part and len(parts) > 1:
        raise BadInput(
            f"{source.name} holds several rankings: {names}; name one, as in format "
            f"'mteb:{next(iter(parts))}'."
        )
    if request.part and request.part not in parts:
        raise UnknownName(f"{source.name} holds no part {request.part!r}; it has {names}.")
    part_name = request.part or names
    request.findings.append(reading_choice(f"MTEB predictions of {part_name}", source.name))
    if not isinstance(parts[part_name], dict):
        raise BadInput(
            f"{source.name}: {part_name} is {kind_of(parts[part_name])}; expected {{query: {{item: "
            f"score}}}}."
        )
    if not parts[part_name]:
        raise BadInput(f"{source.name}: {part_name} is empty; expected {{query: {{item: score}}}}.")
    for query, scored in parts[part_name].items():
        path = f"$[{part_name!r}][{query!r}]"
        _refuse_bad_numbers(source.name, path, scored, "expected {item: score}")
    return parts[part_name]


def _sniff_predictions(head: Head) -> float:
    start = re.match(r'\{\s*"(?:query_id|query|results)"\s*:', head.text)
    keys = all(re.search(rf'"{key}"\s*:', head.text) for key in ("query_id", "results"))
    has_corpus_ids = re.search(r'"corpus_id"\s*:', head.text) or not re.search(
        r'"results"\s*:\s*\[\s*[^\s\]]', head.text
    )
    return 0.95 if start and keys and has_corpus_ids else 0.0


@file_format("sentence-transformers", "run", sniff=_sniff_predictions, base_format="results")
def read_predictions(source: Source, request: Request) -> Ranking:
    """The ranking in the predictions of an `InformationRetrievalEvaluator` with
    `write_predictions`.

    A query without results is kept. Raises errors as `read_results`. Source: sentence-transformers
    5 and 6, InformationRetrievalEvaluator.
    """
    return _read_rows(
        source,
        replace(request, columns={"query": "query_id", "item": "corpus_id", "score": "score"}),
        "run",
    )


_ROW_START = re.compile(r"\[?\s*\{\s*\"")
_LIST_KEY = re.compile(rf"({_STRING})\s*:\s*\[")
_EXPECTED_ROWS = {
    "run": 'expected {"query_id": …, "results": [{"id": …, "score": …}]}',
    "judgments": 'expected {"query_id": …, "relevant_docs": [id, …]}',
}


def _sniff_rows(head: Head, holds: str) -> float:
    """Less sure than the predictions of sentence-transformers, which are such lines."""
    if not _ROW_START.match(head.text):
        return 0.0
    names = {key for row in first_objects(head.text) for key in row if isinstance(row[key], list)}
    if not names and head.ends_within_object():
        names = {key[1:-1] for key in _LIST_KEY.findall(head.text)}
    return 0.9 * (row_keys(tuple(names), holds)[1] is not None)


def _read_rows(source: Source, request: Request, holds: str) -> Any:
    """The run or the judgments in lists of queries. Raises BadInput naming the place."""
    lists, places = dict[str, list[Any]](), dict[str, str]()
    columns = dict(request.columns)
    chosen_query, chosen_item = columns.pop("query", None), columns.get("item")
    for entry in load(source, "results").checked_records():
        where, record = entry.place, cast("dict[Any, Any]", entry.value)
        query_key, list_key = row_keys(tuple(record), holds)
        if isinstance(record.get(chosen_item), list):
            list_key = columns.pop("item", chosen_item)
        query, members = id_text(record.get(chosen_query or query_key)), record.get(list_key)
        if not query or not isinstance(members, list):
            raise BadInput(f"{where} is {shown(record, 60)}; {_EXPECTED_ROWS[holds]}.")
        if query in lists:
            raise DuplicateItem(f"{where}: query {query!r} appears twice; keep one of its lists.")
        lists[query], places[query] = members, where
    if not lists:
        raise BadInput(f"{source.name} holds no query; {_EXPECTED_ROWS[holds]}.")
    reader = FORMATS[f"python mapping {holds}"]
    return reader.read(lists, replace(request, columns=columns, places=places))


@file_format(
    "results", "run", sniff=partial(_sniff_rows, holds="run"), has_columns=True, base_format="json"
)
def read_results(source: Source, request: Request) -> Ranking:
    """The ranking in `{"query_id": …, "results": […]}` per query: ids, pairs, or objects with any
    common name for id and score.

    The list may be called `retrieved`, `chunks` or `contexts`, too, and the query's id `id`. Of
    several chunks of a document the best counts. A query without results is kept. Raises BadInput
    naming the place.
    """
    return _read_rows(source, request, "run")


@file_format(
    "lists",
    "judgments",
    sniff=partial(_sniff_rows, holds="judgments"),
    has_columns=True,
    base_format="json",
)
def read_lists(source: Source, request: Request) -> Judgments:
    """The judgments in `{"query_id": …, "relevant_docs": […]}` per query: ids, which have grade 1,
    pairs, or objects with any common name for id and grade.

    The list may be called `gold_docs`, `expected_ids` or `positives`, too, and the query's id `id`;
    without an id, questions go by their texts. Raises BadInput naming the place.
    """
    return _read_rows(source, request, "judgments")


_RATINGS, _KIND = "judgmentRatings", "IMPORT_JUDGMENT"
_EXPECTED_RATINGS = (
    'expected {"judgmentRatings": [{"query": …, "ratings": [{"docId": …, "rating": …}]}]}'
)
_RATING = re.compile(r"-?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?", re.ASCII)


def _sniff_ratings(head: Head) -> float:
    return (
        0.95
        if head.text.startswith("{") and re.search(rf'"(?:{_RATINGS}|{_KIND})"', head.text)
        else 0.0
    )


def _write_ratings(table: Judgments, path: Path) -> None:
    lists = [
        {
            "query": query,
            "ratings": [{"docId": item, "rating": f"{grade}"} for item, grade in pairs],
        }
        for query, pairs in written_lists(table, "OpenSearch's judgments")
    ]
    document = {
        "name": "judgments",
        "description": "Judgments from rankwell",
        "type": _KIND,
        _RATINGS: lists,
    }
    path.write_text(
        json.dumps(document, ensure_ascii=False, indent=1) + "\n", encoding="utf-8", newline="\n"
    )


@file_format("opensearch", "judgments", sniff=_sniff_ratings, write=_write_ratings, by_text=True)
def read_ratings(source: Source, request: Request) -> Judgments:
    """The ratings of `PUT _plugins/_search_relevance/judgments`; queries go by their texts, ratings
    may be strings.

    Raises BadInput that names the place by a JSON path, also for a rating that is not a number.
    Source: OpenSearch 3, Search Relevance Workbench, importing judgments.
    """
    document = read_json(source, pairs=unique_keys)
    lists = document.get(_RATINGS) if isinstance(document, dict) else None
    if not isinstance(lists, list) or not lists:
        raise BadInput(
            f"{source.name}: $[{_RATINGS!r}] is {shown(lists, 60)}; {_EXPECTED_RATINGS}."
        )
    texts, rows = dict[str, None](), list[tuple[str, str, float]]()
    for index, query_list in enumerate(lists):
        where = f"{source.name}: $[{_RATINGS!r}][{index}]"
        query, ratings = (
            (id_text(query_list.get("query")), query_list.get("ratings"))
            if isinstance(query_list, dict)
            else (None, None)
        )
        if not query or not isinstance(ratings, list):
            raise BadInput(f"{where} is {shown(query_list, 60)}; {_EXPECTED_RATINGS}.")
        if query in texts:
            raise BadInput(
                f"{where}: the query {shown(query, 60)} appears twice; keep one of them."
            )
        texts[query] = None
        rows += [
            (query, *_rating_of(rating, f"{where}['ratings'][{number}]"))
            for number, rating in enumerate(ratings)
        ]
    queries, items, grades = columns_of(rows, 3)
    return Judgments.from_rows(
        *unique_rows(queries, items, grades, request.duplicates), all_queries=texts
    )


def _rating_of(thing: Any, where: str) -> tuple[str, float]:
    """The item and its grade. Raises BadInput for anything else."""
    item, rating = (
        (id_text(thing.get("docId")), thing.get("rating"))
        if isinstance(thing, dict)
        else (None, None)
    )
    if not item:
        raise BadInput(f"{where} is {shown(thing, 60)}; {_EXPECTED_RATINGS}.")
    if (
        isinstance(rating, bool)
        or not isinstance(rating, (int, float, str))
        or not _RATING.fullmatch(str(rating))
    ):
        raise BadInput(f"{where}: the rating is {shown(rating, 60)}; expected a number.")
    return item, float(rating)


_TEXT_PARTS = ("queries", "corpus")
_PARTS = (*_TEXT_PARTS, "relevant_docs")
_PARTS_START = re.compile(
    r'\{\s*"(?:queries|corpus|relevant_docs)"\s*:\s*\{\s*"(?:[^"\\]|\\.)*"\s*:\s*["\[]'
)


def _sniff_parts(head: Head) -> float:
    return 0.95 if _PARTS_START.match(head.text) else 0.0


def _accepts(thing: Any) -> bool:
    if isinstance(thing, Mapping):
        # In judgments of a query that is named `queries` the values are no strings.
        return all(isinstance(thing.get(name), Mapping) for name in _PARTS) and all(
            isinstance(text, str) for text in thing["queries"].values()
        )
    return all(hasattr(thing, name) for name in _PARTS)


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


@file_format("llamaindex", "judgments", sniff=_sniff_parts, accepts=_accepts)
def read_relevant_docs(thing: Any, request: Request) -> Judgments:
    """The judgments in `relevant_docs`, query -> list of ids, each of which has grade 1.

    Source: LlamaIndex, `EmbeddingQAFinetuneDataset`.
    """
    return FORMATS["python mapping judgments"].read(_part(thing, "relevant_docs"), request)


@file_format("llamaindex", "texts", sniff=_sniff_parts, accepts=_accepts, has_parts=True)
def read_text_parts(thing: Any, request: Request) -> Texts:
    """The texts of `queries` or `corpus`, whichever is named (`data.json:corpus`); of both where
    neither is.

    Raises BadInput for an id that both have, and for a text that is not a string.
    """
    if request.part and request.part not in _TEXT_PARTS:
        raise UnknownName(
            f"the part {request.part!r} of a LlamaIndex data set has no texts; name "
            f"{' or '.join(_TEXT_PARTS)}."
        )
    texts = dict[str, str]()
    for name in (request.part,) if request.part else _TEXT_PARTS:
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
                f"{' or '.join(_TEXT_PARTS)}."
            )
        texts |= part_texts
    return Texts(texts, {name: {} for name in texts})
