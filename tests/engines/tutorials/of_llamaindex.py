"""LlamaIndex as its starter tutorial makes it: documents, a vector index in memory, its retriever
and a fusion of retrievers.
"""

from llama_index.core import Document, VectorStoreIndex
from llama_index.core.embeddings import BaseEmbedding
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle
from world import NEAREST, TEXTS, asked, embed, show


class LocalEmbedding(BaseEmbedding):
    def _get_text_embedding(self, text: str) -> list[float]:
        return embed(text)

    def _get_query_embedding(self, query: str) -> list[float]:
        return embed(query)

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return embed(query)


class WrappedRetriever(BaseRetriever):
    """A retriever of a user around another one, as in the tutorial on custom retrievers."""

    def __init__(self, inner: BaseRetriever) -> None:
        self._inner = inner
        super().__init__()

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return self._inner.retrieve(query_bundle)


documents = [
    Document(text=text, doc_id=item, metadata={"source": item}) for item, text in TEXTS.items()
]
for each in documents:
    each.excluded_embed_metadata_keys = ["source"]
index = VectorStoreIndex.from_documents(documents, embed_model=LocalEmbedding())
wrapped = WrappedRetriever(index.as_retriever(similarity_top_k=5))

show(
    ["llama-index-core"],
    {
        "as_retriever, document": asked(index.as_retriever(), NEAREST, id_field="ref_doc_id"),
        "as_retriever, id in metadata": asked(
            index.as_retriever(similarity_top_k=1), NEAREST, id_field="source"
        ),
        "custom retriever": asked(wrapped, NEAREST, id_field="source"),
    },
)
