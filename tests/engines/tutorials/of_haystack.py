"""Haystack as its tutorials make it: an in-memory document store, retrievers by words and by
vectors, a pipeline of both.
"""

from haystack import Document, Pipeline, component
from haystack.components.joiners import DocumentJoiner
from haystack.components.retrievers.in_memory import (
    InMemoryBM25Retriever,
    InMemoryEmbeddingRetriever,
)
from haystack.document_stores.in_memory import InMemoryDocumentStore
from world import NEAREST, TEXTS, K, asked, embed, listed, show


@component
class LocalTextEmbedder:
    @component.output_types(embedding=list[float])
    def run(self, text: str) -> dict[str, list[float]]:
        return {"embedding": embed(text)}


store = InMemoryDocumentStore(embedding_similarity_function="cosine")
store.write_documents(
    [Document(id=item, content=text, embedding=embed(text)) for item, text in TEXTS.items()]
)
by_words, by_vectors = (
    InMemoryBM25Retriever(document_store=store),
    InMemoryEmbeddingRetriever(document_store=store),
)

semantic = Pipeline()
semantic.add_component("text_embedder", LocalTextEmbedder())
semantic.add_component("retriever", InMemoryEmbeddingRetriever(document_store=store))
semantic.connect("text_embedder.embedding", "retriever.query_embedding")

hybrid = Pipeline()
hybrid.add_component("text_embedder", LocalTextEmbedder())
hybrid.add_component("embedding_retriever", InMemoryEmbeddingRetriever(document_store=store))
hybrid.add_component("bm25_retriever", InMemoryBM25Retriever(document_store=store))
hybrid.add_component("document_joiner", DocumentJoiner(join_mode="reciprocal_rank_fusion"))
hybrid.connect("text_embedder.embedding", "embedding_retriever.query_embedding")
hybrid.connect("embedding_retriever", "document_joiner")
hybrid.connect("bm25_retriever", "document_joiner")


def words(query: str) -> list[str]:
    """The component itself, without rankwell."""
    return [each.id for each in by_words.run(query=query, top_k=K)["documents"]]


def both(query: str) -> list[str]:
    """The pipeline itself, without rankwell."""
    sizes = {name: {"top_k": K} for name in ("embedding_retriever", "document_joiner")}
    found = hybrid.run(
        {"text_embedder": {"text": query}, "bm25_retriever": {"query": query, "top_k": K}, **sizes}
    )
    return [each.id for each in found["document_joiner"]["documents"]]


show(
    ["haystack-ai"],
    {
        "BM25 component": asked(by_words, listed(words)),
        "embedding component": asked(by_vectors, NEAREST, takes="vector"),
        "pipeline": asked(semantic, NEAREST),
        "hybrid pipeline": asked(hybrid, listed(both)),
    },
)
