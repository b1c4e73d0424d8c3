"""PyTerrier's transformers over an index of PISA, which needs no Java: a retriever, its cut, and a
sum of two.
"""

import tempfile
from typing import Any

from pyterrier_pisa import PisaIndex
from world import TEXTS, K, asked, listed, show

folder = tempfile.TemporaryDirectory()
index = PisaIndex(f"{folder.name}/texts.pisa", text_field="text")
index.index([{"docno": item, "text": text} for item, text in TEXTS.items()])
bm25, quantised = index.bm25(num_results=K), index.qld(num_results=len(TEXTS))
pipelines: dict[str, Any] = {
    "retriever": bm25,
    "retriever, cut": quantised % K,
    "sum of two": bm25 + quantised,
}


def alone(transformer: Any) -> dict[str, list[str]]:
    """What a transformer returns without rankwell."""
    return listed(lambda text: transformer.search(text).sort_values("rank")["docno"].tolist()[:K])


show(
    ["pyterrier", "pyterrier-pisa"],
    {name: asked(transformer, alone(transformer)) for name, transformer in pipelines.items()},
)
folder.cleanup()
