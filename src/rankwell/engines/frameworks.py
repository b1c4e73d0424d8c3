"""Retrievers as their frameworks make them, recognised by their shape: LangChain, LlamaIndex,
Haystack, PyTerrier, BEIR.

No framework is imported: an object of one brings its own.
"""

import inspect
from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple

from rankwell.engines import EngineItems

Takes = Literal["text", "vector", "id"]


class Caller(NamedTuple):
    """The way to query an object.

    call: (query, k) -> results.
    by: the name of the method that it calls.
    takes: the kind of query that the method takes.
    index_items: function that indexes items; None where the object has none.
    cuts: whether the results are cut to k after the call, as the method takes no k.
    """

    call: Callable[[Any, int], Any]
    by: str
    takes: Takes
    index_items: Callable[[EngineItems], None] | None = None
    cuts: bool = False


def _is_from(thing: Any, *packages: str) -> bool:
    """Whether a class of the object comes from one of the packages."""
    return any(
        base.__module__.partition(".")[0].startswith(packages) for base in type(thing).__mro__
    )


def _has(thing: Any, method: str) -> bool:
    return callable(getattr(thing, method, None))


def parameters_of(function: Any) -> Mapping[str, inspect.Parameter]:
    """The parameters of a function; none where it has no signature."""
    try:
        return inspect.signature(function).parameters
    except (TypeError, ValueError):
        return {}


def _beir(thing: Any, _: Takes) -> Caller | None:
    """`search(corpus, queries, top_k)` -> {query: {document: score}}; BEIR's dense models have a
    score function as well.
    """
    parameters = parameters_of(getattr(thing, "search", None))
    if [*parameters][:2] != ["corpus", "queries"]:
        return None
    score_function, more = parameters.get("score_function"), tuple[str, ...]()
    if score_function is not None and score_function.default is score_function.empty:
        more = ("cos_sim",)
    corpus = dict[str, dict[str, str]]()

    def _index(items: EngineItems) -> None:
        corpus.clear()
        corpus.update(
            (item, {"title": "", "text": text})
            for item, text in zip(items.ids, items.texts or (), strict=True)
        )

    def _call(query: str, k: int) -> Any:
        scores_by_query = thing.search(corpus, {"query": query}, k, *more)
        # A dictionary has no order; equal scores keep that of the object. A query without results
        # may be missing.
        return sorted(scores_by_query.get("query", {}).items(), key=lambda pair: -pair[1])[:k]

    return Caller(_call, "search", "text", _index)


def _pyterrier(thing: Any, _: Takes) -> Caller | None:
    """`transform(queries)` -> rows of qid, docno, score, rank, all data frames."""
    if not _is_from(thing, "pyterrier") or not _has(thing, "transform"):
        return None

    def _call(query: str, k: int) -> Any:
        import pandas as pd

        frame = thing.transform(pd.DataFrame({"qid": ["1"], "query": [query]}))
        is_ranked = "rank" in frame
        ordered = frame.sort_values(
            "rank" if is_ranked else "score", ascending=is_ranked, kind="stable"
        )
        return [(row["docno"], row["score"]) for row in ordered.to_dict("records")][:k]

    return Caller(_call, "transform", "text")


def _langchain(thing: Any, takes: Takes) -> Caller | None:
    """A retriever's `invoke(text)`, or a vector store's `similarity_search(text, k)`, whose scores
    have no common direction.
    """
    if not _is_from(thing, "langchain"):
        return None
    if _has(thing, "as_retriever"):
        if takes == "vector":
            search = thing.similarity_search_by_vector
            return Caller(
                lambda vector, k: search(vector.tolist(), k=k),
                "similarity_search_by_vector",
                "vector",
            )
        return Caller(
            lambda text, k: thing.similarity_search(text, k=k), "similarity_search", "text"
        )
    if not _has(thing, "invoke"):
        return None
    sized = dict[int, Any]()

    def _call(text: str, k: int) -> Any:
        if k not in sized:
            sized[k] = _with_k(thing, k)
        return sized[k].invoke(text)

    return Caller(_call, "invoke", "text", cuts=True)


def _with_k(retriever: Any, k: int) -> Any:
    """A copy of a LangChain retriever that returns k documents, where it has a setting of that."""
    fields = getattr(type(retriever), "model_fields", {})
    if "search_kwargs" in fields:
        return retriever.model_copy(update={"search_kwargs": {**retriever.search_kwargs, "k": k}})
    return retriever.model_copy(update={"k": k}) if "k" in fields else retriever


def _llamaindex(thing: Any, _: Takes) -> Caller | None:
    """`retrieve(text)` -> nodes with scores; the number of them is a property of the retriever."""
    if not _has(thing, "retrieve") or not _is_from(thing, "llama_index"):
        return None

    def _call(text: str, k: int) -> Any:
        if hasattr(thing, "similarity_top_k") and thing.similarity_top_k != k:
            thing.similarity_top_k = k
        # `node_id` is a part of the node inside.
        return [
            {"node": node.node, "id": node.node.node_id, "score": node.score}
            for node in thing.retrieve(text)
        ]

    return Caller(_call, "retrieve", "text", cuts=True)


def _haystack(thing: Any, takes: Takes) -> Caller | None:
    """`run(query=, top_k=)` of a component, or `run({component: {socket: value}})` of a pipeline ->
    {"documents": [...]}.
    """
    if not _has(thing, "run") or not (
        _is_from(thing, "haystack") or hasattr(thing, "__haystack_input__")
    ):
        return None
    if _has(thing, "inputs"):
        return Caller(
            lambda query, k: _documents(thing.run(_pipeline_input(thing, query, k))),
            "run",
            "text",
            cuts=True,
        )
    parameters = parameters_of(thing.run)
    by_vector = "query_embedding" in parameters and (takes == "vector" or "query" not in parameters)
    name = "query_embedding" if by_vector else "query"

    def _call(query: Any, k: int) -> Any:
        value = query.tolist() if by_vector else query
        return _documents(
            thing.run(**{name: value}, **({"top_k": k} if "top_k" in parameters else {}))
        )

    return Caller(_call, "run", "vector" if by_vector else "text", cuts=True)


def _pipeline_input(pipeline: Any, query: str, k: int) -> dict[str, dict[str, Any]]:
    """The input of a pipeline: the query for each socket that needs a text, k for each one named
    top_k.
    """
    inputs = dict[str, dict[str, Any]]()
    for component, sockets in pipeline.inputs().items():
        values = {
            name: query
            for name, socket in sockets.items()
            if socket["type"] is str and socket["is_mandatory"]
        }
        values |= {name: k for name in sockets if name == "top_k"}
        if values:
            inputs[component] = values
    return inputs


def _documents(output: Mapping[str, Any]) -> Any:
    """The documents in the output of a component, or in that of the last component of a pipeline
    that has any.
    """
    if "documents" in output:
        return output["documents"]
    document_lists = [
        part["documents"]
        for part in output.values()
        if isinstance(part, Mapping) and "documents" in part
    ]
    return document_lists[-1] if document_lists else None


FRAMEWORKS = (_beir, _pyterrier, _langchain, _llamaindex, _haystack)
"""The caller of an object of each framework, None for any other object, of the object and the query
that is preferred where it offers several.
"""
