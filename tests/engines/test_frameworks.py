"""Retrievers in the shapes of their frameworks, and what is asked of them; the frameworks
themselves are not needed.
"""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from rankwell.engines import EngineFailure, EngineItems, EngineQuery, open_engine

ITEMS = EngineItems(["d1", "d2", "d3"], ["red river", "blue hill", "red hill"])


def of(package: str, kind: type) -> Any:
    """An object of a class that pretends to come from a package."""
    kind.__module__ = f"{package}.somewhere"
    return kind()


def ask(thing: Any, k: int = 2, vector: Any = None, **options: Any) -> Any:
    engine = open_engine(thing, options)
    if engine.can_index:
        engine.index(ITEMS)
    with engine.session() as session:
        return session.search(EngineQuery("q1", "red", vector), k)


def document(item: str | None, **metadata: Any) -> Any:
    return SimpleNamespace(id=item, page_content="text", metadata=metadata)


def test_a_retriever_of_langchain_is_invoked_with_k():
    class Retriever:
        model_fields = {"search_kwargs": None}  # noqa: RUF012
        search_kwargs: Any = {"k": 4, "fetch": 9}  # noqa: RUF012

        def model_copy(self, update: Any) -> Any:
            copied = type(self)()
            copied.search_kwargs = update["search_kwargs"]
            return copied

        def invoke(self, text: str) -> Any:
            assert (text, self.search_kwargs["fetch"]) == ("red", 9)
            return [document(f"d{rank}") for rank in range(self.search_kwargs["k"])]

    assert ask(of("langchain_core", Retriever), 3).ids == ["d0", "d1", "d2"]


def test_a_retriever_of_langchain_without_k_is_cut_and_ids_may_be_metadata():
    class Retriever:
        def invoke(self, text: str) -> Any:
            return [document(None, source=name) for name in "abc"]

    retriever = of("langchain_community", Retriever)

    assert ask(retriever, id_field="source").ids == ["a", "b"]
    with pytest.raises(EngineFailure, match=r"result 1 is .*expected objects") as caught:
        ask(retriever)
    assert caught.value.kind == "malformed"


def test_a_vector_store_of_langchain_is_asked_by_text_or_by_vector():
    class Store:
        def as_retriever(self) -> None: ...

        def similarity_search(self, text: str, k: int) -> Any:
            return [document(f"{text}-{rank}") for rank in range(k)]

        def similarity_search_by_vector(self, vector: list[float], k: int) -> Any:
            return [document(f"{vector[0]}-{rank}") for rank in range(k)]

    store = of("langchain_core", Store)

    assert ask(store).ids == ["red-0", "red-1"]
    assert ask(store, vector=np.array([0.5]), takes="vector").ids == ["0.5-0", "0.5-1"]


def test_a_retriever_of_llamaindex_gets_its_number_of_nodes():
    class Retriever:
        similarity_top_k = 2

        def retrieve(self, text: str) -> Any:
            node = SimpleNamespace(node_id="n", ref_doc_id="doc", metadata={"chunk": "c7"})
            return [SimpleNamespace(node=node, score=0.5)] * self.similarity_top_k

    retriever = of("llama_index", Retriever)

    assert ask(retriever, 3) == (["n"] * 3, [0.5] * 3)
    assert ask(retriever, 1, id_field="ref_doc_id").ids == ["doc"]
    assert ask(retriever, 1, id_field="chunk").ids == ["c7"]


def test_a_component_and_a_pipeline_of_haystack_are_run():
    class Component:
        def run(self, query: str, top_k: int = 10) -> Any:
            return {
                "documents": [
                    SimpleNamespace(id=f"{query}{rank}", score=1.0 / (1 + rank))
                    for rank in range(top_k)
                ]
            }

    class ByVector:
        def run(self, query_embedding: list[float], top_k: int = 10) -> Any:
            return {"documents": [SimpleNamespace(id=str(query_embedding[0]), score=None)]}

    class Pipeline:
        def inputs(self) -> Any:
            text = {"type": str, "is_mandatory": True}
            number = {"type": int, "is_mandatory": False}
            return {
                "embedder": {"text": text, "prefix": {"type": str, "is_mandatory": False}},
                "retriever": {"top_k": number},
            }

        def run(self, data: Any) -> Any:
            assert data == {"embedder": {"text": "red"}, "retriever": {"top_k": 2}}
            return {"retriever": {"documents": [SimpleNamespace(id="d1", score=2.0)]}}

    assert ask(of("haystack", Component)) == (["red0", "red1"], [1.0, 0.5])
    assert ask(of("haystack", ByVector), vector=np.array([0.5])) == (["0.5"], None)
    assert ask(of("haystack", Pipeline)).ids == ["d1"]


def test_a_transformer_of_pyterrier_ranks_by_its_ranks():
    pandas = pytest.importorskip("pandas")

    class Transformer:
        def search(self, query: str) -> None: ...

        def transform(self, queries: Any) -> Any:
            rows = [
                (query, f"d{rank}", 9.0 - rank, rank)
                for query in queries["qid"]
                for rank in (2, 0, 1)
            ]
            return pandas.DataFrame(rows, columns=["qid", "docno", "score", "rank"])

    engine = open_engine(of("pyterrier", Transformer))
    session = engine.session()
    queries = [EngineQuery("a", "red"), EngineQuery("b", "blue")]

    assert session.search(queries[0], 2) == (["d0", "d1"], [9.0, 8.0])
    assert session.search(queries[1], 1) == (["d0"], [9.0])


@pytest.mark.parametrize("needs_function", [False, True])
def test_a_model_of_beir_gets_the_corpus_and_its_dictionary_is_ranked(needs_function: bool):
    class Exact:
        def search(
            self, corpus: Any, queries: Any, top_k: int, score_function: Any = None, **_: Any
        ) -> Any:
            shared = {
                item: sum(word in text["text"] for word in ("red", "hill"))
                for item, text in corpus.items()
            }
            return {query: shared for query in queries if queries[query] != "nothing"}

    class Dense(Exact):
        def search(
            self, corpus: Any, queries: Any, top_k: int, score_function: Any, **_: Any
        ) -> Any:
            assert score_function == "cos_sim"
            return super().search(corpus, queries, top_k)

    engine = open_engine((Dense if needs_function else Exact)())
    engine.index(ITEMS)
    session = engine.session()

    assert session.search(EngineQuery("q", "red hill"), 2) == (["d3", "d1"], [2, 1])
    assert session.search(EngineQuery("q", "nothing"), 2).ids == []
