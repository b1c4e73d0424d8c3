"""The points that every engine must meet: lengths, ids, odd queries, refusals, exactness,
parameters, threads, deletion.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Literal, NamedTuple

import numpy as np

from rankwell.data.tables import Floats, positions_by_id
from rankwell.engines import (
    Engine,
    EngineFailure,
    EngineHits,
    EngineItems,
    EngineQuery,
    open_engine,
)
from rankwell.errors import BadInput, BadUsage, RankwellError

State = Literal["ok", "failed", "skipped"]
Exact = Callable[[Any, Any, str, int], Floats]
"""The exact scores of the best k items, NaN where there are fewer: (queries, items, metric, k) ->
(queries, k).
"""
_WORDS = (
    "river",
    "mountain",
    "forest",
    "harbour",
    "bridge",
    "castle",
    "garden",
    "market",
    "island",
    "valley",
    "tower",
    "meadow",
)
_ITEMS, _DIMENSIONS, _CALLERS, _K = 120, 8, 8, 5
_ODD = {
    "empty": "",
    "blank": " \t ",
    "unmatched": "zzzyxqqq",
    "Unicode": "naïve 東京 😀 \u202e",
    "NUL": "river\0bridge",
    "operators": 'river AND (NOT "bridge* OR id:x^2 ~ {!v} ; DROP TABLE items; --',
    "100 kB": "river " * 17_000,
}


_CLOSING = "it can be closed twice"


class ConformanceLine(NamedTuple):
    """The outcome of one point.

    statement: the point, as a statement about the engine (`it can be closed twice`).
    state: `ok`, `failed`, or `skipped` where the point does not apply to the engine.
    message: the reason of a failure or of a skipped point, or a remark; empty for none.
    """

    statement: str
    state: State
    message: str = ""


@dataclass
class Conformance:
    """The points of one engine.

    spec: the engine as the user named it, or an object.
    options: the given parameters by name.
    exact: the exact search that results are compared with.
    queries: the user's queries; by default those that belong to items drawn from a seed, which it
        indexes.
    engine: the engine that was opened, set while `lines` runs.
    silent: whether no query has a result. Points on results are skipped then, and `every ordinary
        query has results` fails.
    """

    spec: Any
    options: Mapping[str, Any]
    exact: Exact
    queries: Sequence[EngineQuery] = ()
    engine: Engine = field(init=False)
    silent: bool = field(init=False, default=False)

    def __post_init__(self) -> None:
        self.items = _sample()

    def lines(self) -> Iterator[ConformanceLine]:
        """The lines in order. Raises BadUsage, UnknownName, MissingExtra and EngineFailure where
        the engine cannot be opened.
        """
        with open_engine(self.spec, self.options) as self.engine:
            if self.engine.can_index:
                if self.queries:
                    raise BadUsage(
                        f"{self.engine.label}: an engine that indexes has queries of its own; "
                        "leave yours out."
                    )
                self.engine.index(self.items)
                self.queries = _queries(self.items)
            elif not self.queries:
                self.queries = self._blind_queries()
            with suppress(RankwellError):  # the points on results fail by it
                self.silent = not any(hits.ids for _, hits in self.answers())
            for name, check in _CHECKS.items():
                yield self._line(name, check)
        yield self._line(_CLOSING, lambda suite: suite.engine.close())

    def _blind_queries(self) -> list[EngineQuery]:
        if self.engine.needs_vector and self.engine.dimensions is None:
            raise BadUsage(
                f"{self.engine.label}: the number of dimensions is unknown; give --query-vectors."
            )
        shape = len(_WORDS), self.engine.dimensions or 1
        vectors = np.random.default_rng(0).normal(size=shape).astype(np.float32)
        return [
            EngineQuery(word, word, vector) for word, vector in zip(_WORDS, vectors, strict=True)
        ]

    def _line(self, name: str, check: "Callable[[Conformance], str | None]") -> ConformanceLine:
        if self.silent and check in _OF_RESULTS:
            return ConformanceLine(name, "skipped", "no query returned a result")
        try:
            return ConformanceLine(name, "ok", check(self) or "")
        except _Skipped as reason:
            return ConformanceLine(name, "skipped", str(reason))
        except (AssertionError, RankwellError) as error:
            return ConformanceLine(name, "failed", str(error))

    def answers(self) -> list[tuple[EngineQuery, EngineHits]]:
        """All queries with their results in one session."""
        with self.engine.session() as session:
            return [(query, session.search(query, _K)) for query in self.queries]


def lines_of_ended(n: int, reason: str) -> Iterator[ConformanceLine]:
    """The lines behind the first n of an engine that ended its process, as by `os._exit`: a
    failure, and what is skipped.
    """
    names = [*_CHECKS, _CLOSING][n:]
    yield ConformanceLine(
        names.pop(0) if n else "it can be opened, filled and queried",
        "failed",
        f"the engine ended its process ({reason})",
    )
    for name in names:
        yield ConformanceLine(name, "skipped", "the process of the engine has ended")


class _Skipped(Exception):
    """A point that does not apply to this engine."""


def _require(holds: bool, message: str) -> None:
    if not holds:
        raise AssertionError(message)


def _sample() -> EngineItems:
    """Items with four of twelve words each, a vector that leans towards them, and a field."""
    rng = np.random.default_rng(7)
    item_words = [rng.choice(len(_WORDS), 4, replace=False) for _ in range(_ITEMS)]
    bases = rng.normal(size=(len(_WORDS), _DIMENSIONS))
    vectors = np.stack([bases[words].sum(axis=0) for words in item_words])
    vectors += rng.normal(scale=0.3, size=vectors.shape)
    return EngineItems(
        [f"item-{row:03}" for row in range(_ITEMS)],
        [" ".join(_WORDS[word] for word in words) for words in item_words],
        vectors.astype(np.float32),
        {"colour": [("red", "blue", "green")[row % 3] for row in range(_ITEMS)]},
    )


def _queries(items: EngineItems) -> list[EngineQuery]:
    vectors = np.asarray(items.vectors)
    noise = np.random.default_rng(8).normal(scale=0.2, size=vectors.shape).astype(np.float32)
    texts = items.texts or ()
    return [
        EngineQuery(f"q{row}", " ".join(texts[row].split()[:2]), vectors[row] + noise[row])
        for row in range(0, _ITEMS, 10)
    ]


def _lengths(suite: Conformance) -> None:
    with suite.engine.session() as session:
        for k in (1, 3, _ITEMS + 10):
            if suite.engine.most_k is None or k <= suite.engine.most_k:
                hits = session.search(suite.queries[0], k)
                _require(len(hits.ids) <= k, f"{len(hits.ids)} results for k = {k}")
        _require(len(session.search(suite.queries[0], 0).ids) == 0, "results for k = 0")


def _limit(suite: Conformance) -> None:
    most = suite.engine.most_k
    if most is None:
        raise _Skipped("the engine has no limit of k")
    try:
        suite.engine.check(suite.queries[:1], most + 1)
    except BadUsage as error:
        names_both = str(most) in str(error) and str(most + 1) in str(error)
        _require(names_both, f"the error does not name both numbers: {error}")
        return
    raise AssertionError(f"k = {most + 1} is not refused")


def _ids(suite: Conformance) -> None:
    for query, hits in suite.answers():
        where, ids = f"query {query.id!r}", hits.ids
        are_texts = all(isinstance(item, str) and item for item in ids)  # pyright: ignore[reportUnnecessaryIsInstance]
        _require(are_texts, f"{where}: an id is not a string")
        _require(len(set(ids)) == len(ids), f"{where}: an item appears twice")
        if suite.engine.can_index:
            _require(set(ids) <= set(suite.items.ids), f"{where}: an item was never indexed")


def _scores(suite: Conformance) -> str | None:
    for query, hits in suite.answers():
        if hits.scores is None:
            return "the engine returns no scores"
        where, n = f"query {query.id!r}", len(hits.scores)
        _require(n == len(hits.ids), f"{where}: {n} scores of {len(hits.ids)} items")
        for place, (score, following) in enumerate(pairwise(hits.scores), 2):
            rises = following > score
            _require(not rises, f"{where}: the score rises at place {place}")
    return None


def _nonempty(suite: Conformance) -> None:
    if suite.engine.can_index or suite.engine.kind == "vector":
        empty = [query.id for query, hits in suite.answers() if not hits.ids]
        if empty:
            n = len(suite.queries)
            raise AssertionError(
                f"no results for {len(empty)} of {n} queries, such as {empty[0]!r}"
            )
        return
    _require(
        not suite.silent,
        f"none of {len(suite.queries)} queries returned a result; give --queries with texts "
        "that find items",
    )
    raise _Skipped("the content of the index is unknown")


def _odd(suite: Conformance) -> str | None:
    if not suite.engine.needs_text:
        raise _Skipped("queries have no text")
    refused = list[str]()
    with suite.engine.session() as session:
        before = session.search(suite.queries[0], _K).ids
        for name, text in _ODD.items():
            try:
                session.search(EngineQuery(name, text, suite.queries[0].vector), _K)
            except EngineFailure as error:
                _require(
                    error.kind in ("status", "error", "malformed"), f"the {name} query: {error}"
                )
                refused.append(name)
        after = session.search(suite.queries[0], _K).ids
    _require(after == before, "after these queries, an ordinary one has other results")
    return f"refused by the engine: {', '.join(refused)}" if refused else None


def _refusals(suite: Conformance) -> None:
    if not suite.engine.needs_vector:
        raise _Skipped("queries have no vector")
    good = np.array(suite.queries[0].vector, dtype=np.float32)
    bad = {"of NaN": good * np.nan}
    if suite.engine.dimensions is not None:
        bad["of another dimension"] = np.append(good, 1)
    if suite.engine.metric == "cosine":
        bad["of zeros"] = good * 0
    for name, vector in bad.items():
        with suppress(BadInput):
            suite.engine.check([EngineQuery(name, suite.queries[0].text, vector)], _K)
            raise AssertionError(f"a vector {name} is not refused")


def _exact(suite: Conformance) -> None:
    engine = suite.engine
    if engine.exact_parameters is None or engine.metric is None or not engine.can_index:
        raise _Skipped("the engine has no exact mode, or its items are unknown")
    vectors = np.asarray(suite.items.vectors)
    queries = np.stack([np.asarray(query.vector) for query in suite.queries])
    best = suite.exact(queries, vectors, engine.metric, _K)
    rows = positions_by_id(suite.items.ids)
    with suite.engine.session() as session:
        session.configure(engine.exact_parameters)
        for number, query in enumerate(suite.queries):
            items = session.search(query, _K).ids
            scores = suite.exact(
                queries[number][None], vectors[[rows[item] for item in items]], engine.metric, _K
            )[0]
            same = len(items) == _K and np.allclose(scores, best[number], rtol=1e-5, atol=1e-6)
            _require(same, f"query {query.id!r}: {list(items)} are not the {_K} nearest items")


def _parameters(suite: Conformance) -> str | None:
    changed = list[str]()
    with suite.engine.session() as first_session, suite.engine.session() as second_session:
        start = first_session.parameters()
        for parameter in suite.engine.family.search:
            name = parameter.name
            value = start.get(name)
            if name not in start or (isinstance(value, str) and not parameter.choices):
                continue
            new = _another(value)
            if parameter.choices:
                new = next((choice for choice in parameter.choices if choice != value), None)
            if new is not None:
                first_session.configure({name: new})
                is_own = second_session.parameters()[name] == value
                _require(is_own, f"{name} changes in another session")
                first_session.configure({name: value})
                changed.append(name)
    if not changed:
        raise _Skipped("the engine has no search parameters")
    return ", ".join(changed)


def _another(value: Any) -> Any:
    """Another value of the kind."""
    if isinstance(value, bool):
        return not value
    return value + 1 if isinstance(value, int) else value / 2 if isinstance(value, float) else None


def _callers(suite: Conformance) -> None:
    def _lists(_: int) -> list[Sequence[str]]:
        return [hits.ids for _, hits in suite.answers()]

    expected_lists = _lists(0)
    with ThreadPoolExecutor(_CALLERS) as pool:
        different = sum(lists != expected_lists for lists in pool.map(_lists, range(_CALLERS)))
    _require(
        not different, f"{different} of {_CALLERS} callers at once get other lists than one alone"
    )


def _filters(suite: Conformance) -> None:
    if not suite.engine.filters or not suite.engine.can_index:
        raise _Skipped("the engine has no filters, or its fields are unknown")
    colours = dict(zip(suite.items.ids, suite.items.fields["colour"], strict=True))
    with suite.engine.session() as session:
        for query in suite.queries:
            query = EngineQuery(query.id, query.text, query.vector, {"colour": "red"})
            is_red = all(colours[item] == "red" for item in session.search(query, _K).ids)
            _require(is_red, f"query {query.id!r}: the filter lets other items through")


def _timeout(suite: Conformance) -> str | None:
    if "timeout" not in {parameter.name for parameter in suite.engine.family.connect}:
        raise _Skipped("the engine is in this process")
    try:
        with open_engine(suite.spec, {**suite.options, "timeout": 1e-6}) as engine:
            if engine.can_index:
                return "its own index is not built within a limit"
            engine.session().search(suite.queries[0], _K)
    except EngineFailure as error:
        _require(
            error.kind == "timeout",
            f"a limit of 1 µs is a failure of the kind {error.kind}: {error}",
        )
        return None
    raise _Skipped("the answer came within the limit")


def _deletion(suite: Conformance) -> None:
    if not suite.engine.can_index:
        try:
            suite.engine.index(suite.items)
        except BadUsage:
            raise _Skipped("a foreign index is only read") from None
        raise AssertionError("a foreign index is written to")
    items, odd = suite.items, slice(1, None, 2)
    fields = {name: values[odd] for name, values in items.fields.items()}
    fewer = EngineItems(
        items.ids[odd], (items.texts or ())[odd], np.asarray(items.vectors)[odd], fields
    )
    suite.engine.index(fewer)
    deleted_items = {item for _, hits in suite.answers() for item in hits.ids} - set(fewer.ids)
    if deleted_items:
        raise AssertionError(
            f"an item that is not in the new index appears: {min(deleted_items)!r}"
        )


_CHECKS: Mapping[str, Callable[[Conformance], str | None]] = {
    "at most k results, and none for k = 0": _lengths,
    "k above the limit is an error that names both": _limit,
    "ids are strings that were indexed, each once": _ids,
    "scores do not rise": _scores,
    "every ordinary query has results": _nonempty,
    "odd queries harm nothing": _odd,
    "vectors that cannot be searched by are refused": _refusals,
    "the exact mode finds the nearest items": _exact,
    "search parameters read back, in each session its own": _parameters,
    f"{_CALLERS} callers at once get what one gets": _callers,
    "filters hold": _filters,
    "a late answer is a timeout": _timeout,
    "deleted items are gone": _deletion,
}
_OF_RESULTS = (_lengths, _ids, _scores, _odd, _callers)
