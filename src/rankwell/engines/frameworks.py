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
    """The way to query an object. call: (query, k) -> results; by: the method's name; takes: the
    query that it expects.

    batch: ({id: text}, k) -> {id: results}, where the object answers many at once. index_items:
    where it takes them.
    cuts: whether the results are cut here, as the object has no k.
    """

    call: Callable[[Any, int], Any]
    by: str
    takes: Takes
    batch: Callable[[Mapping[str, str], int], Mapping[str, Any]] | None = None
    index_items: Callable[[EngineItems], None] | None = None
    cuts: bool = False


def framework_caller(thing: Any, takes: Takes | None) -> Caller | None:
    """The caller of an object of a known framework; None for any other. takes: the query where the
    object offers several.
    """
    for recognise in (_beir, _pyterrier, _langchain, _llamaindex, _haystack):
        caller = recognise(thing, takes)
        if caller is not None:
            return caller
    return None


def _is_from(thing: Any, *packages: str) -> bool:
    """Whether a class of the object comes from one of the packages."""
    modules = (base.__module__ for base in type(thing).__mro__)
    return any(module.partition(".")[0].startswith(packages) for module in modules)


def parameters_of(function: Any) -> Mapping[str, inspect.Parameter]:
    """The parameters of a function; none where it has no signature."""
    try:
        return inspect.signature(function).parameters
    except (TypeError, ValueError):
        return {}


def _beir(thing: Any, _: Takes | None) -> Caller | None:
    """`search(corpus, queries, top_k)` -> {query: {document: score}}; BEIR's dense models have a
    score function as well.
    """
    parameters = parameters_of(getattr(thing, "search", None))
    if [*parameters][:2] != ["corpus", "queries"]:
        return None
    score_function = parameters.get("score_function")
    more = (
        ("cos_sim",)
        if score_function is not None and score_function.default is score_function.empty
        else ()
    )
    corpus: dict[str, dict[str, str]] = {}

    def _index(items: EngineItems) -> None:
        corpus.clear()
        corpus.update(
            (item, {"title": "", "text": text})
            for item, text in zip(items.ids, items.texts or (), strict=True)
        )

    def _batch(queries: Mapping[str, str], k: int) -> Mapping[str, Any]:
        scores_by_query: Mapping[str, Mapping[str, float]] = thing.search(
            corpus, dict(queries), k, *more
        )
        # A dictionary has no order; equal scores keep that of the object. A query without results
        # may be missing.
        return {
            query: sorted(scores_by_query.get(query, {}).items(), key=lambda pair: -pair[1])[:k]
            for query in queries
        }

    return Caller(
        lambda query, k: _batch({"query": query}, k)["query"], "search", "text", _batch, _index
    )


def _pyterrier(thing: Any, _: Takes | None) -> Caller | None:
    """`transform(queries)` -> rows of qid, docno, score, rank, all data frames."""
    if not _is_from(thing, "pyterrier") or not callable(getattr(thing, "transform", None)):
        return None

    def _batch(queries: Mapping[str, str], k: int) -> Mapping[str, Any]:
        import pandas as pd

        frame = thing.transform(pd.DataFrame({"qid": [*queries], "query": [*queries.values()]}))
        order = (
            {"by": "rank", "ascending": True}
            if "rank" in frame
            else {"by": "score", "ascending": False}
        )
        lists: dict[str, list[Any]] = {query: [] for query in queries}
        for row in frame.sort_values(kind="stable", **order).to_dict("records"):
            lists[str(row["qid"])].append((row["docno"], row["score"]))
        return {query: rows[:k] for query, rows in lists.items()}

    return Caller(lambda query, k: _batch({"1": query}, k)["1"], "transform", "text", _batch)


def _langchain(thing: Any, takes: Takes | None) -> Caller | None:
    """A retriever's `invoke(text)`, or a vector store's `similarity_search(text, k)`, whose scores
    have no common direction.
    """
    if not _is_from(thing, "langchain"):
        return None
    if callable(getattr(thing, "as_retriever", None)):
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
    if not callable(getattr(thing, "invoke", None)):
        return None
    sized: dict[int, Any] = {}

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


def _llamaindex(thing: Any, _: Takes | None) -> Caller | None:
    """`retrieve(text)` -> nodes with scores; the number of them is a property of the retriever."""
    if not callable(getattr(thing, "retrieve", None)) or not _is_from(thing, "llama_index"):
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


def _haystack(thing: Any, takes: Takes | None) -> Caller | None:
    """`run(query=, top_k=)` of a component, or `run({component: {socket: value}})` of a pipeline ->
    {"documents": [...]}.
    """
    if not callable(getattr(thing, "run", None)) or not (
        _is_from(thing, "haystack") or hasattr(thing, "__haystack_input__")
    ):
        return None
    if callable(getattr(thing, "inputs", None)):
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
    inputs: dict[str, dict[str, Any]] = {}
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
