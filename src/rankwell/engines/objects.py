"""Any object that can be asked: what it returns becomes ids in order, with their scores."""

import inspect
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from numbers import Integral
from typing import Any, NamedTuple

from rankwell.data.code import origin_of
from rankwell.engines import (
    ENGINES,
    Engine,
    EngineFailure,
    EngineFamily,
    EngineHits,
    EngineItems,
    EngineQuery,
    Opening,
    Parameter,
    Session,
    find_engine,
)
from rankwell.engines.frameworks import FRAMEWORKS, Caller, Takes, parameters_of
from rankwell.errors import BadInput, BadUsage, kind_of, shown

_METHODS: Mapping[Takes, tuple[str, ...]] = {
    "text": ("search_by_text", "search"),
    "vector": ("similarity_search",),
    "id": ("search",),
}
_IDS = ("slice_id", "id", "doc_id", "docno", "node_id")
_SCORES = ("similarity", "score", "similarity_score")
_EXPECTED = (
    "objects or mappings with slice_id (or id) and similarity (or score, similarity_score, "
    "distance), ids alone, "
    "or (id, score) pairs, of which a score may be None"
)


class EngineResult(NamedTuple):
    """One result of an object.

    item: id of the item.
    similarity: higher is better; the negative of a distance; NaN where the engine returns neither.
    is_distance: whether the engine returned a distance.
    """

    item: str
    similarity: float
    is_distance: bool = False


@dataclass(frozen=True)
class EngineObject:
    """An object that is called to answer a query; the order of its results is the ranking.

    name: the name of the object in messages.
    caller: the way to query it.
    id_field: the part of a result, or of its metadata, that holds the id.
    """

    name: str
    caller: Caller
    id_field: str = ""

    @classmethod
    def of(
        cls, engine: Any, takes: Sequence[Takes] = ("text",), *, name: str = "", id_field: str = ""
    ) -> "EngineObject":
        """The engine that a name of code or an entry point stands for, or an object at hand: a
        retriever of a known framework, an object with one of the methods, a class or a function
        that makes one without arguments, or a function (query, k) itself.

        takes: the queries that are there, the preferred first: for `text` search_by_text(query,
        top_k), then search(query, k); for `vector` similarity_search(embedding, top_k), alone also
        search(embedding, k); for `id` search(id, k). Raises BadUsage where there is no such method,
        or making the engine fails.
        """
        target = find_engine(engine) if isinstance(engine, str) else engine
        label = name or (engine if isinstance(engine, str) else type(engine).__name__)
        instance = _make(target, label) if inspect.isclass(target) else target
        caller = _caller(instance, takes)
        if caller is None and inspect.isroutine(instance):
            with suppress(TypeError, ValueError):  # not every routine has a signature
                inspect.signature(instance).bind()
                instance = _make(instance, label)
                caller = _caller(instance, takes)
        if caller is None and inspect.isroutine(instance):
            caller = Caller(instance, "search", "id" if "id" in takes else takes[0])
        if caller is not None:
            return cls(label, caller, id_field)
        methods = dict.fromkeys(method for kind in takes for method in _methods(kind, takes))
        signatures = " or ".join(
            f"{method}(…, {'top_k' if '_' in method else 'k'})" for method in methods
        )
        raise BadUsage(
            f"{label}: {kind_of(instance)} without {signatures}; give the engine such a method."
        )

    def ask(self, query: Any, k: int) -> list[EngineResult]:
        """The results of the engine for a query, in its order. Raises BadInput for results of an
        unknown kind.
        """
        results = self.read(self.caller.call(query, k))
        return results[:k] if self.caller.cuts else results

    def read(self, results: Any) -> list[EngineResult]:
        """The results in what the engine returned. Raises BadInput."""
        if isinstance(results, Mapping):
            # Its keys are not ids: it is an answer around the list, an error perhaps, or has no
            # order.
            kind = f"the mapping {shown(results, 120)}"
        elif isinstance(results, (str, bytes)) or not isinstance(results, Iterable):
            kind = kind_of(results)
        else:
            return [self._read(result, number) for number, result in enumerate(results, 1)]
        raise BadInput(f"{self.name} returned {kind}; expected a list of {_EXPECTED}.")

    def _read(self, result: Any, number: int) -> EngineResult:
        where = f"{self.name}: result {number}"
        item, score, distance = result, None, None
        if isinstance(result, (tuple, list)) and not hasattr(result, "_fields"):
            pair = list(result)
            if len(pair) != 2:
                raise BadInput(f"{where} has {len(pair)} parts; expected {_EXPECTED}.")
            item, score = pair
        elif not isinstance(result, (str, bytes, int)) and not type(result).__name__.startswith(
            ("int", "uint", "str_")
        ):
            item = self._named_id(result) if self.id_field else _part(result, *_IDS)
            score, distance = _part(result, *_SCORES), _part(result, "distance")
            if item is None:
                hint = f" with {self.id_field}" if self.id_field else ""
                raise BadInput(
                    f"{where} is {shown(result, 60)} ({kind_of(result)}); expected "
                    f"{_EXPECTED}{hint}."
                )
        text = _text(item, where)
        if score is None and distance is not None:
            return EngineResult(text, 0.0 - _number(distance, where), is_distance=True)
        return EngineResult(text, math.nan if score is None else _number(score, where))

    def _named_id(self, result: Any) -> Any:
        """The field of a result that the user names, in the result, in the node that it holds, or
        in the metadata of either.
        """
        holders = [result, _part(result, "node")]
        holders += [_part(holder, "metadata", "meta") for holder in holders]
        parts = (_part(holder, self.id_field) for holder in holders)
        return next((part for part in parts if part is not None), None)


def _caller(thing: Any, takes: Sequence[Takes]) -> Caller | None:
    """The caller of a framework's object, or of one of the methods."""
    for recognise in FRAMEWORKS:
        if caller := recognise(thing, takes[0]):
            return caller
    for kind in takes:
        for name in _methods(kind, takes):
            if callable(method := getattr(thing, name, None)):
                return Caller(method, name, kind, index_items=_index_method(thing))
    return None


def _methods(kind: Takes, takes: Sequence[Takes]) -> tuple[str, ...]:
    """The methods for a kind of query; `search` takes vectors where nothing else can be meant."""
    return (*_METHODS[kind], "search") if [*takes] == ["vector"] else _METHODS[kind]


def _index_method(thing: Any) -> Callable[[EngineItems], None] | None:
    """The method `index` of an object whose parameters have the names of parts of `EngineItems`, as
    index(ids, texts).
    """
    names = [*parameters_of(getattr(thing, "index", None))]
    if not names or not {"ids", "texts", "vectors", "fields"}.issuperset(names):
        return None
    return lambda items: thing.index(**{name: getattr(items, name) for name in names})


def _make(factory: Callable[[], Any], name: str) -> Any:
    try:
        return factory()
    except Exception as error:
        reason = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        raise BadUsage(
            f"{name}: the engine cannot be made without arguments ({reason}); name a function "
            "that makes it."
        ) from error


def _part(result: Any, *names: str) -> Any:
    """The first of the named parts that a mapping or an object has; None where there is none."""
    parts = (
        result.get(name) if isinstance(result, Mapping) else getattr(result, name, None)
        for name in names
    )
    return next((part for part in parts if part is not None), None)


def _text(item: Any, where: str) -> str:
    if isinstance(item, bytes):
        item = item.decode("utf-8", "surrogateescape")
    text = str(item)
    if not text or isinstance(item, (float, bool)):
        raise BadInput(f"{where} has the id {item!r}; expected a string or an integer.")
    return text


def _number(value: Any, where: str) -> float:
    with suppress(TypeError, ValueError):
        if math.isfinite(number := float(value)):
            # An integer may have more digits than a float.
            return int(value) if isinstance(value, Integral) else number
    raise BadInput(
        f"{where} has the similarity {shown(value, 60)} ({kind_of(value)}); expected a finite "
        "number."
    )


class _ObjectEngine(Engine):
    def __init__(self, opening: Opening) -> None:
        super().__init__(opening)
        if opening.target is None:
            raise BadUsage(
                "object: name the object by its file, ./FILE.py:OBJECT, or pass it from Python."
            )
        takes: Takes | None = opening.connect["takes"]
        order = ("text", "vector") if takes is None else (takes,)
        self.object = EngineObject.of(
            opening.target, order, name=opening.label, id_field=opening.connect["id_field"]
        )
        self.kind = "vector" if self.object.caller.takes == "vector" else "lexical"
        self.can_index = self.object.caller.index_items is not None
        self._items: int | None = None

    @property
    def needs_text(self) -> bool:
        """Whether queries have texts; an object may take their ids in place of them."""
        return self.object.caller.takes == "text"

    def _index(self, items: EngineItems) -> None:
        if self.object.caller.index_items is not None:
            self.object.caller.index_items(items)
        self._items = len(items.ids)

    def _session(self) -> Session:
        if self.can_index:
            self.built(self._items)
        return _ObjectSession(self)

    def _describe(self) -> dict[str, Any]:
        code = origin_of(self.opening.target)
        return {"items": self._items, "method": self.object.caller.by} | (
            {"code": code} if code else {}
        )


class _ObjectSession(Session):
    def __init__(self, engine: _ObjectEngine) -> None:
        super().__init__(engine)
        self._object = engine.object

    def _search(self, query: EngineQuery, k: int) -> EngineHits:
        values = {"text": query.text, "vector": query.vector, "id": query.id}
        try:
            results = self._object.ask(values[self._object.caller.takes], k)
        except BadInput as error:
            raise EngineFailure("malformed", str(error)) from error
        scores = [result.similarity for result in results]
        return EngineHits(
            [result.item for result in results], None if any(map(math.isnan, scores)) else scores
        )


ENGINES.add(
    "object",
    EngineFamily(
        "object",
        "Any object or function in Python, and retrievers of LangChain, LlamaIndex, Haystack, "
        "PyTerrier and BEIR",
        ("lexical", "vector"),
        _ObjectEngine,
        connect=(
            Parameter(
                "takes",
                str,
                None,
                "what a query is; by default as its methods",
                ("text", "vector", "id"),
            ),
            Parameter(
                "id_field", str, "", "field of a result, or of its metadata, that holds the id"
            ),
        ),
    ),
)
