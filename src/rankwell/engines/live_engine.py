"""A live search engine of any make, given as `module:object`: what it returns becomes ids in order, with their similarities."""

import inspect
import math
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple

from rankwell.engines import find_engine
from rankwell.errors import BadInput, BadUsage, shown

_BY_TEXT = ("search_by_text", "search")
_BY_VECTOR = ("similarity_search",)
_BY_ID = ("search",)
_IDS, _SCORES = ("slice_id", "id"), ("similarity", "score", "similarity_score")
_DISTANCES = ("distance",)
_WANTED = (
    "objects or mappings with slice_id (or id) and similarity (or score, similarity_score, distance), ids alone, "
    "or (id, score) pairs"
)


class EngineResult(NamedTuple):
    """One result. similarity: NaN where the engine does not return it; a distance, lower for better items, is negated."""

    item: str
    similarity: float


@dataclass(frozen=True)
class LiveEngine:
    """An engine that is asked by calling it; the order of what it returns is the ranking.

    name: how it was given. call: (query, top_k) -> results. by: the name of the method that is called, and so what a query is:
    `similarity_search` takes a vector, the others a text or an id.
    """

    name: str
    call: Callable[[Any, int], Any]
    by: str

    @classmethod
    def load(cls, text: str, *, mode: str = "text") -> "LiveEngine":
        """The engine that `module:object` or an entry point names: an object with one of the methods, a class or a function
        that makes one without arguments, or a function (query, k) itself.

        mode: `text` looks for search_by_text(query, top_k), then search(query, k); `video` for similarity_search(embedding,
        top_k), then search(id, k). Raises BadUsage where there is no such method, or making the engine fails.
        """
        return cls.of(find_engine(text), name=text, mode=mode)

    @classmethod
    def of(cls, engine: Any, *, name: str = "", mode: str = "text") -> "LiveEngine":
        """The same for an object at hand."""
        called = name or type(engine).__name__
        methods = _BY_TEXT if mode == "text" else (*_BY_VECTOR, *_BY_ID)
        made = _make(engine, called) if inspect.isclass(engine) else engine
        if _method(made, methods) is None and inspect.isroutine(made):
            with suppress(TypeError, ValueError):  # not every routine has a signature
                inspect.signature(made).bind()
                made = _make(made, called)
        found = _method(made, methods)
        if found is not None:
            return cls(called, getattr(made, found), found)
        if inspect.isroutine(made):
            return cls(called, made, "search")
        listed = " or ".join(f"{method}(…, {'top_k' if '_' in method else 'k'})" for method in methods)
        raise BadUsage(f"{called}: a {type(made).__name__} without {listed}; give the engine such a method.")

    def ask(self, query: Any, k: int) -> list[EngineResult]:
        """The results of the engine for a query, in its order. Raises BadInput for results of an unknown kind."""
        results = self.call(query, k)
        if results is None or isinstance(results, (str, bytes)) or not isinstance(results, Iterable):
            raise BadInput(f"{self.name} returned a {type(results).__name__}; expected a list of {_WANTED}.")
        return [self._read(each, place) for place, each in enumerate(results, 1)]

    def _read(self, result: Any, place: int) -> EngineResult:
        where = f"{self.name}: result {place}"
        if isinstance(result, (str, bytes, int)) or type(result).__name__.startswith(("int", "uint", "str_")):
            return EngineResult(_text(result, where), math.nan)
        if isinstance(result, (tuple, list)) and not hasattr(result, "_fields"):
            pair: list[Any] = list(result)
            if len(pair) != 2:
                raise BadInput(f"{where} has {len(pair)} parts; expected {_WANTED}.")
            return EngineResult(_text(pair[0], where), _number(pair[1], where))
        item, score, distance = (_part(result, names) for names in (_IDS, _SCORES, _DISTANCES))
        if item is None:
            raise BadInput(f"{where} is {shown(result, 60)} ({type(result).__name__}); expected {_WANTED}.")
        if score is None and distance is not None:
            return EngineResult(_text(item, where), 0.0 - _number(distance, where))
        return EngineResult(_text(item, where), math.nan if score is None else _number(score, where))


def _method(thing: Any, names: Iterable[str]) -> str | None:
    return next((name for name in names if callable(getattr(thing, name, None))), None)


def _make(factory: Callable[[], Any], name: str) -> Any:
    try:
        return factory()
    except Exception as error:
        what = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        raise BadUsage(f"{name}: the engine cannot be made without arguments ({what}); name a function that makes it.") from error


def _part(result: Any, names: Iterable[str]) -> Any:
    """The first of the named parts that a mapping or an object has; None where there is none."""
    parts = (result.get(name) if isinstance(result, Mapping) else getattr(result, name, None) for name in names)
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
            return number
    what = f"{shown(value, 60)} ({type(value).__name__})"
    raise BadInput(f"{where} has the similarity {what}; expected a finite number.")
