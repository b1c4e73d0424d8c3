"""Judgments and runs that are already Python mappings: query -> item -> grade or score, or query ->
list.
"""

import struct
from collections.abc import Mapping, Sequence
from functools import partial
from math import isfinite
from typing import Any, NamedTuple

import numpy as np

from rankwell._native import native
from rankwell.data.columns import repeated_item, unique_rows
from rankwell.data.findings.kinds import chunks_of_one_document, reading_choice
from rankwell.data.hit_records import (
    Choice,
    best_of_chunks,
    chosen_of_judged,
    distances,
    records_of,
    result_pair,
)
from rankwell.data.judged_rankings import GroupRankings, IntentRankings, JudgedRankings
from rankwell.data.options import own_arithmetic
from rankwell.data.preferences import PreferenceRankings, Preferences
from rankwell.data.rankings import Hits, Ranking, hits_of_ranking, places_in_ties
from rankwell.data.tables import (
    TIE_RULES,
    Floats,
    Judgments,
    RankCounts,
    TieRule,
    columns_of,
    first_repeated,
    id_text,
    nested_columns,
)
from rankwell.errors import (
    KEEP_ONE,
    BadInput,
    BadScore,
    DuplicateItem,
    UnknownName,
    kind_of,
    missing_column,
    naming,
    shown,
)
from rankwell.io.formats import Request, Texts, file_format
from rankwell.store import encode_id

# So few scores are each compared with every value; where there are more, the values are sorted.
_FEW = 16
# Mappings whose values are unpacked together: enough to spread NumPy's cost per call, few enough to
# stay in the cache.
_BLOCK = 64
_EMPTY = (
    "an id is empty; what has no id would match what has none: write one, or leave the entry out."
)
_SAME = (
    "two ids are the same once numbers are read as text, such as 7 and '7'; give ids of one type."
)


Numbers = Mapping[str, Any]
"""Query -> item -> number, or query -> list of ids or of pairs of id and number; of judgments also
a set of ids.
"""


@own_arithmetic
def judged_rankings(
    judgments: Numbers | Judgments, run: Numbers, *, ties: TieRule = "id-desc"
) -> JudgedRankings:
    """Joins a run with its judgments, for measures of your own.

    Raises BadInput and BadScore for grades and scores that are not finite numbers, DuplicateItem
    for an item that a query has twice, TieRefused for tied items under `ties="error"`,
    UnknownName for another tie rule.

    Parameters
    ----------
    judgments
        The judgments as a mapping query -> item -> grade or query -> list or set of ids, or
        Judgments.
    run
        A mapping query -> item -> score, or query -> list of ids from the first rank on.
    ties
        Order of items with equal scores.

    >>> import rankwell as rw
    >>> view = rw.judged_rankings({"q": {"d1"}}, {"q": ["d2", "d1"]})
    >>> view.ranks
    array([2])
    """
    truth = judgments if isinstance(judgments, Judgments) else read_judgments(judgments, Request())
    return JudgedRankings.join(truth.flat, _hits(run, truth.flat, ties, TIE_RULES)).resolve(ties)


_BY_PLACE: tuple[TieRule, ...] = ("id-desc", "id-asc", "input")
"""Tie rules that give every item a place of its own."""


def _hits(
    run: Numbers, judgments: Judgments, ties: TieRule, rules: tuple[TieRule, ...] = _BY_PLACE
) -> Hits:
    if ties not in rules:
        raise UnknownName(f"unknown tie rule {ties!r}; choose one of {', '.join(rules)}.")
    return (
        hits_of_ranking(read_ranking(run, Request()), judgments, ties=ties)
        if _has_lists(run)
        else find_hits(run, judgments, ties=ties)
    )


Aspects = Mapping[str, Mapping[str, Any]]


def _with_aspects(judgments: Aspects | Judgments) -> Judgments:
    if isinstance(judgments, Judgments):
        return judgments
    plain = {
        query: {aspect: dict(_pairs(query, items, Request())) for aspect, items in aspects.items()}
        for query, aspects in judgments.items()
    }
    queries, aspects, items, grades = nested_columns(plain, 3)
    return Judgments.from_rows(queries, items, grades, aspects=aspects, all_queries=judgments)


@own_arithmetic
def group_rankings(
    judgments: Aspects | Judgments, run: Numbers, *, ties: TieRule = "id-desc"
) -> GroupRankings:
    """Joins a run with the judgments of several groups of assessors.

    Raises BadInput and BadScore for grades and scores that are not finite numbers, DuplicateItem
    for an item that a query has twice, UnknownName for a tie rule that is not one of id-desc,
    id-asc and input.

    Parameters
    ----------
    judgments
        The judgments as a mapping query -> group -> item -> grade, or Judgments.
    run
        A mapping query -> item -> score, or query -> list of ids from the first rank on.
    ties
        Order of items with equal scores.

    >>> import rankwell as rw
    >>> rw.group_rankings({"q": {"alice": {"a": 1}, "bob": {"b": 1}}}, {"q": ["b", "a"]}).aspects
    ('alice', 'bob')
    """
    truth = _with_aspects(judgments)
    return GroupRankings.join(truth, _hits(run, truth.flat, ties))


@own_arithmetic
def intent_rankings(
    judgments: Aspects | Judgments, run: Numbers, *, ties: TieRule = "id-desc"
) -> IntentRankings:
    """Joins a run with the judgments of several intents (subtopics) of each query.

    Raises BadInput and BadScore for grades and scores that are not finite numbers, DuplicateItem
    for an item that a query has twice, UnknownName for a tie rule that is not one of id-desc,
    id-asc and input.

    Parameters
    ----------
    judgments
        The judgments as a mapping query -> intent -> item -> grade, or Judgments.
    run
        A mapping query -> item -> score, or query -> list of ids from the first rank on.
    ties
        Order of items with equal scores.

    >>> import rankwell as rw
    >>> rw.intent_rankings(
    ...     {"jaguar": {"car": {"a": 1}, "cat": {"b": 1}}}, {"jaguar": ["b"]}
    ... ).aspects
    ('car', 'cat')
    """
    truth = _with_aspects(judgments)
    return IntentRankings.join(truth, _hits(run, truth.flat, ties))


@own_arithmetic
def preference_rankings(
    preferences: Mapping[str, Mapping[str, Mapping[str, Mapping[str, float]]]] | Preferences,
    run: Numbers,
    *,
    ties: TieRule = "id-asc",
) -> PreferenceRankings:
    """Joins a run with preferences between items.

    Raises BadInput and BadScore for levels and scores that are not finite numbers, DuplicateItem
    for an item that a query has twice, UnknownName for a tie rule that is not one of id-desc,
    id-asc and input.

    Parameters
    ----------
    preferences
        The preferences as a mapping query -> group -> subgroup -> item -> level, or Preferences.
    run
        A mapping query -> item -> score, or query -> list of ids from the first rank on.
    ties
        Order of items with equal scores. As in trec_eval, it is by id ascending here, and
        descending for all other measures.

    >>> import rankwell as rw
    >>> preferences = {"q": {"alice": {"1": {"a": 2.0, "b": 1.0}}}}
    >>> rw.preference_rankings(preferences, {"q": ["b", "a"]}).ranks
    array([2, 1])
    """
    stated = (
        preferences if isinstance(preferences, Preferences) else Preferences.from_dict(preferences)
    )
    return PreferenceRankings.join(stated, _hits(run, stated.judgments, ties))


def find_hits(
    run: Mapping[str, Mapping[str, float]],
    judgments: Judgments,
    *,
    ties: TieRule = "id-desc",
    single_precision: bool = False,
) -> Hits:
    """The hits of a mapping query -> item -> score; only judged items are looked up, the rest is
    counted.

    Raises BadScore for a score that is not a number, NaN or infinite, BadInput where only some of a
    query's ids are strings.
    """
    shared = list[_SharedQuery]()
    positions, rows = list[int](), list[int]()
    retrieved = np.zeros(len(judgments.queries), dtype=np.int64)
    present = np.zeros(len(judgments.queries), dtype=np.bool_)
    bounds = judgments.offsets.tolist()
    items = judgments.items
    for position, query in enumerate(judgments.queries):
        scored = run.get(query)
        if scored is not None:
            present[position], retrieved[position] = True, len(scored)
            judged_rows = [
                row for row in range(bounds[position], bounds[position + 1]) if items[row] in scored
            ]
            rows += judged_rows
            positions += [position] * len(judged_rows)
            shared.append(_SharedQuery(query, scored, [items[row] for row in judged_rows]))
    counts = _count_ranks(shared, single=single_precision)
    before, first = np.zeros(len(counts.tied), dtype=np.int64), 0
    for _, scored, judged_items in shared if (counts.tied > 1).any() else ():
        last = first + len(judged_items)
        if (counts.tied[first:last] > 1).any():
            with np.errstate(over="ignore"):
                kind = np.float32 if single_precision else np.float64
                scores = np.array(list(scored.values()), dtype=np.float64).astype(kind).tolist()
            tie_places = places_in_ties(
                scored, scores, counts.scores[first:last].tolist(), ties, encode_id
            )
            before[first:last] = [tie_places[item] for item in judged_items]
        first = last
    unknown = {query: len(scored) for query, scored in run.items() if query not in judgments.index}
    query, row = np.array(positions, dtype=np.int64), np.array(rows, dtype=np.int64)
    return Hits(query, row, *counts._replace(before=before), retrieved, present, unknown)


class _SharedQuery(NamedTuple):
    """A query that a run and the judgments have.

    query: id of the query.
    scored: item -> its score in the run.
    items: the judged items that have a score, in the order of the judgments; empty where only the
        scores are to be checked.
    """

    query: str
    scored: Mapping[str, float]
    items: list[str]


def _count_ranks(shared: Sequence[_SharedQuery], *, single: bool = False) -> RankCounts:
    """Rank counts of the judged items by their scores. Raises BadScore for any that is not a finite
    number, _MixedIds.
    """
    placed = place_scores(
        [shared_query.scored for shared_query in shared],
        [shared_query.items for shared_query in shared],
        single=single,
    )
    for query, scored, _ in shared if placed is None else ():
        for item, score in scored.items():
            if not _is_finite(score):
                raise BadScore(
                    f"query {query!r}, item {item!r}: the score is {shown(score)}; scores are "
                    "finite numbers."
                )
    if placed is None:
        raise _MixedIds("the ids of items are of several types; give strings.")
    return placed


class _MixedIds(BadInput):
    """Ids of items of which only some are strings."""


def _is_finite(score: object) -> bool:
    try:
        return isfinite(struct.unpack("d", struct.pack("d", score))[0])
    except (struct.error, TypeError, OverflowError):
        return False


def _has_lists(mapping: Mapping[Any, Any]) -> bool:
    """Whether some query has something else than a mapping item -> number."""
    return not all(isinstance(query_items, Mapping) for query_items in mapping.values())


def _pairs(
    query: Any, query_items: Any, request: Request, *, ordered: bool = False, chosen: Choice = ()
) -> Sequence[tuple[str, Any]]:
    """The items of a query with their numbers: a mapping, pairs of both, mappings with any common
    name for both, or ids alone, which have grade 1.

    ordered: ids alone are a ranking, whose score is the rank with its sign turned; a set is
    refused, as it has no order. chosen: keys of the mappings.
    Raises BadInput, BadScore for a number that is not finite, and DuplicateItem naming the query.
    """
    values = query_items.tolist() if hasattr(query_items, "tolist") else query_items
    if ordered and isinstance(values, (set, frozenset)):
        raise BadInput(
            f"query {query!r} has a set, which has no order; expected a ranking. Give a list of "
            "ids from the first rank on, or a mapping item -> score."
        )
    if not isinstance(values, (Mapping, list, tuple, set, frozenset)):
        raise BadInput(
            f"query {query!r} has {shown(query_items)}, {kind_of(query_items)}; expected a mapping "
            "query -> item -> number, or query -> list of ids."
        )
    members = list(values.items() if isinstance(values, Mapping) else values)
    results = members if any(isinstance(member, Mapping) for member in members) else []
    if results:
        members = [result_pair(query, member, chosen, graded=not ordered) for member in members]
        is_numbered = not {"score", "rank", "grade"}.isdisjoint(dict(chosen))
        if not is_numbered and all(number is None for _, number in members):
            members = [item for item, _ in members]
    elif chosen and members:
        raise missing_column(chosen[0][1], ())
    n_pairs = sum(isinstance(member, (list, tuple)) and len(member) == 2 for member in members)
    if 0 < n_pairs < len(members):
        raise BadInput(
            f"query {query!r} lists ids and pairs of id and number; expected one or the other."
        )
    if not n_pairs:
        members = [(item, -float(rank) if ordered else 1.0) for rank, item in enumerate(members, 1)]
    where = f"query {query!r}: "
    doubtful = next(
        (
            member
            for member in members
            if isinstance(member, list) and {type(part) for part in member} == {int}
        ),
        None,
    )
    if doubtful is not None:
        number = "score" if ordered else "grade"
        raise BadInput(
            f"{where}{doubtful} may be an item and its {number}, or two items; write a mapping "
            f"item -> {number}, or one list of ids."
        )
    pairs = [(text_id(item, where), number) for item, number in members]
    noun = "score" if ordered else "grade"
    for item, number in pairs:
        if not _is_finite(number):
            raise BadScore(
                f"query {query!r}, item {item!r}: the {noun} is {shown(number)}; {noun}s are "
                "finite numbers."
            )
    if results and ordered:
        pairs = best_of_chunks(results, pairs, chosen)
    if request.duplicates == "error":
        refuse_repeated(query, [item for item, _ in pairs], ordered=ordered)
    return pairs


def refuse_repeated(query: Any, items: Sequence[str], *, ordered: bool) -> None:
    """Raises DuplicateItem for an item that a query has twice. ordered: of a run."""
    if again := first_repeated(items):
        twice, *_ = again
        problem = f"query {query!r} lists item {twice!r} twice"
        raise (
            repeated_item(problem, twice) if ordered else DuplicateItem(f"{problem}; {KEEP_ONE}.")
        )


def _rows(
    mapping: Mapping[Any, Any], request: Request, *, ordered: bool
) -> tuple[list[str], list[str], list[Any]]:
    """The columns query, item and number of lists. Raises errors as `_pairs`."""
    chosen, chunked = tuple(request.columns.items()), list[str]()
    records = records_of(mapping.values()) if ordered else ()
    is_uniform = len(records) == sum(
        len(results) for results in mapping.values() if isinstance(results, list | tuple)
    )
    if request.judged is not None and records and is_uniform and "item" not in request.columns:
        chosen = chosen_of_judged(records, chosen, request.judged.items)
        if len(chosen) > len(request.columns):
            reading = f"items go by {chosen[-1][1]!r}, as in the judgments"
            request.findings.append(reading_choice(reading))
    rows = list[tuple[str, str, Any]]()
    for query, query_items in mapping.items():
        with naming(request.places.get(query, "")):
            pairs = _pairs(query, query_items, request, ordered=ordered, chosen=chosen)
        rows += [(text_id(query), item, number) for item, number in pairs]
        if len(pairs) < len(query_items):
            chunked.append(text_id(query))
    if len(set(map(text_id, mapping))) < len(mapping):
        raise BadInput(_SAME)
    if chunked:
        request.findings.append(chunks_of_one_document(chunked, request.places.get(chunked[0], "")))
    if not request.columns:
        request.findings.extend(distances(records))
    queries, items, numbers = columns_of(rows, 3)
    return queries, items, numbers


def _requested_hits(run: Any, judgments: Judgments, request: Request) -> Hits | None:
    if request.keep or _has_lists(run):
        return None
    rules: Any = {"ties": request.ties, "single_precision": request.single_precision}
    try:
        return find_hits(withtext_ids(run), judgments, **rules)
    except _MixedIds:
        return find_hits(withtext_ids(run, each=True), judgments, **rules)


@file_format(
    "python mapping",
    "run",
    accepts=lambda thing: isinstance(thing, Mapping),
    find_hits=_requested_hits,
)
def read_ranking(run: Any, request: Request) -> Ranking:
    """The ranking in a mapping query -> item -> score, or query -> list: ids in order, pairs of id
    and score, or results.
    """
    if _has_lists(run):
        rows = _rows(run, request, ordered=True)
        return request.ranking(*rows, all_queries=map(text_id, run))
    clean = withtext_ids(run, each=True)
    _count_ranks([_SharedQuery(query, scored, []) for query, scored in clean.items()])
    return Ranking.from_dict(clean)


@file_format("python mapping", "judgments", accepts=lambda thing: isinstance(thing, Mapping))
def read_judgments(judgments: Any, request: Request) -> Judgments:
    """The judgments in a mapping query -> item -> grade, or query -> list or set of ids, which have
    grade 1.
    """
    if request.aspects != "none":
        raise BadInput(
            "a mapping query -> item -> grade has no groups or intents; use a qrels file or a "
            "table."
        )
    if _has_lists(judgments):
        rows = unique_rows(*_rows(judgments, request, ordered=False), request.duplicates)
        return Judgments.from_rows(*rows, all_queries=map(text_id, judgments))
    clean = withtext_ids(judgments, each=True)
    for query, graded in clean.items():
        for item, grade in graded.items():
            if not _is_finite(grade):
                raise BadScore(
                    f"query {query!r}, item {item!r}: the grade is {shown(grade)}; grades are "
                    "finite numbers."
                )
    return Judgments.from_dict(clean)


@file_format(
    "python mapping",
    "texts",
    accepts=lambda thing: (
        isinstance(thing, Mapping) and all(isinstance(text, str) for text in thing.values())
    ),
)
def read_texts(texts: Any, request: Request) -> Texts:  # noqa: ARG001 - a mapping has no options
    """The texts in a mapping id -> text."""
    return Texts(
        {text_id(name): text for name, text in texts.items()}, {text_id(name): {} for name in texts}
    )


def withtext_ids(
    mapping: Mapping[Any, Any], *, each: bool = False
) -> Mapping[str, Mapping[str, float]]:
    """The mapping with whole-number ids as text; the mapping itself where its ids are text.

    each: whether every item is looked at, as a table of them needs, or the first of a query, where
    a reader checks the others. Raises BadInput for ids that are neither, for empty ones, and for
    half a character.
    """
    clean = mapping
    is_text = all(
        type(query) is str and (not scored or type(next(iter(scored))) is str)
        for query, scored in mapping.items()
    )
    if not is_text or (
        each and not all(set(map(type, scored)) <= {str} for scored in mapping.values())
    ):
        clean = {
            text_id(query): {text_id(item): score for item, score in scored.items()}
            for query, scored in mapping.items()
        }
        if len(clean) < len(mapping) or any(
            len(clean[text_id(query)]) < len(scored) for query, scored in mapping.items()
        ):
            raise BadInput(_SAME)
    empty = next((query for query, scored in clean.items() if not query or "" in scored), None)
    if empty is not None:
        raise BadInput(f"query {empty!r}: {_EMPTY}")
    if each:
        for item in (item for scored in clean.values() for item in scored if not item.isascii()):
            encode_id(item)
    return clean


def text_id(thing: Any, where: str = "") -> str:
    """The id as text. Raises BadInput for a value that is no id, and for an empty one."""
    text = id_text(thing)
    if text is None:
        raise BadInput(
            f"{where}the id {shown(thing)} is {kind_of(thing)}; expected a string or an integer."
        )
    if not text:
        raise BadInput(f"{where}{_EMPTY}")
    encode_id(text)
    return text


def place_scores(
    mappings: Sequence[Mapping[Any, Any]], items: Sequence[Sequence[Any]], *, single: bool
) -> RankCounts | None:
    """The counts for the values of some items of each mapping, `before` unset.

    None where a value is not a finite number, which a string never is, or where only some keys of a
    mapping are strings.
    single: values are rounded to 32 bits first.
    """
    kind = np.float32 if single else np.float64
    with np.errstate(over="ignore"):
        try:
            pairs = zip(mappings, items, strict=True)
            item_scores = np.array(
                [mapping[item] for mapping, wanted in pairs for item in wanted], dtype=np.float64
            ).astype(kind)
        except (TypeError, ValueError, OverflowError):
            return None
    above, tied, before = np.zeros((3, len(item_scores)), dtype=np.int64)
    placed = RankCounts(item_scores.astype(np.float64), above, tied, before)
    first = 0
    for start in range(0, len(mappings), _BLOCK):
        block: list[Any] = list(mappings[start : start + _BLOCK])
        sizes = list(map(len, items[start : start + _BLOCK]))
        few = max(sizes) <= _FEW
        checked = native.library is not None and all(type(scored) is dict for scored in block)
        position = first
        for mapping, size in zip(block, sizes, strict=True) if checked else ():
            # The kernel reads Python's own numbers only; NumPy may read others.
            counted = placed.scores, above, tied, position, size if few else 0, single
            checked = checked and native.library.mapping_counts(mapping, *counted)
            position += size
        if few and checked:
            first += sum(sizes)
            continue
        if (values := _finite_values(block, checked=checked)) is None:
            return None
        with np.errstate(over="ignore"):
            values = values.astype(kind)
        for mapping, size in zip(block, sizes, strict=True):
            ordered, values = values[: len(mapping)], values[len(mapping) :]
            ordered.sort()
            rows = slice(first, first + size)
            until = ordered.searchsorted(item_scores[rows], "right")
            above[rows] = len(ordered) - until
            tied[rows] = until - ordered.searchsorted(item_scores[rows])
            first += size
    return placed


def _finite_values(block: Sequence[Any], *, checked: bool) -> Floats | None:
    """The values of some mappings, one behind the other; None where one is not a finite number, or
    only some keys of a mapping are strings. checked: whether neither can be.
    """
    if not checked and any(
        len({issubclass(kind, str) for kind in set(map(type, query_scores))}) > 1
        for query_scores in block
    ):
        return None
    try:
        # Twice as fast as np.fromiter.
        values = np.frombuffer(
            b"".join(
                [
                    struct.pack(f"{len(query_scores)}d", *query_scores.values())
                    for query_scores in block
                ]
            )
        )
    except (struct.error, TypeError, OverflowError):
        return None
    return values if np.isfinite(values).all() else None


def _is_of_ranx(thing: Any, name: str) -> bool:
    kind = type(thing)
    return kind.__module__.partition(".")[0] == "ranx" and kind.__name__ == name


@file_format(
    "python ranx",
    "run",
    accepts=partial(_is_of_ranx, name="Run"),
    find_hits=lambda run, judgments, request: _requested_hits(run.to_dict(), judgments, request),
)
def read_ranx_run(run: Any, request: Request) -> Ranking:
    """The ranking in a `ranx.Run`."""
    return read_ranking(run.to_dict(), request)


@file_format("python ranx", "judgments", accepts=partial(_is_of_ranx, name="Qrels"))
def read_ranx_judgments(qrels: Any, request: Request) -> Judgments:
    """The judgments in a `ranx.Qrels`."""
    return read_judgments(qrels.to_dict(), request)
