"""LangChain as its tutorial on semantic search makes it: documents, an in-memory vector store,
retrievers, a chain.
"""

from typing import Any

from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import chain
from langchain_core.vectorstores import InMemoryVectorStore
from world import NEAREST, TEXTS, K, asked, embed, nearest, show


class LocalEmbeddings(Embeddings):
    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [embed(text) for text in texts]

    def embed_query(self, text: str) -> list[float]:
        return embed(text)


class NearestRetriever(BaseRetriever):
    """A retriever of a user, with a number of documents of its own."""

    k: int = 1

    def _get_relevant_documents(self, query: str, **_: Any) -> list[Document]:
        return [
            Document(page_content=TEXTS[item], metadata={"source": item})
            for item in nearest(query)[: self.k]
        ]


documents = [Document(page_content=text, metadata={"source": item}) for item, text in TEXTS.items()]
# The tutorial lets the store make up ids, and keeps the source in the metadata.
unnamed = InMemoryVectorStore(LocalEmbeddings())
unnamed.add_documents(documents=documents)
named = InMemoryVectorStore(LocalEmbeddings())
named.add_documents(documents=documents, ids=[*TEXTS])


@chain
def retriever(query: str) -> list[Document]:
    """The tutorial's retriever that is a chain."""
    return named.similarity_search(query, k=K)


show(
    ["langchain-core"],
    {
        "vector store": asked(named, NEAREST),
        "vector store by vector": asked(named, NEAREST, takes="vector"),
        "vector store, id in metadata": asked(unnamed, NEAREST, id_field="source"),
        "as_retriever": asked(
            unnamed.as_retriever(search_type="similarity", search_kwargs={"k": 1}),
            NEAREST,
            id_field="source",
        ),
        "BaseRetriever": asked(NearestRetriever(), NEAREST, id_field="source"),
        "chain": asked(retriever, NEAREST),
    },
)
