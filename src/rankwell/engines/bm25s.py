"""bm25s: BM25 in this process, over a matrix of scores that are computed when the texts are
indexed.
"""

from typing import Any

import numpy as np

from rankwell.engines import (
    ENGINES,
    EngineFamily,
    EngineHits,
    EngineItems,
    EngineQuery,
    MemoryEngine,
    MemorySession,
    Parameter,
)


class _Bm25sSession(MemorySession):
    def _search(self, query: EngineQuery, k: int) -> EngineHits:
        ids, mask = self._ids, None
        words = self.engine.tokens([query.text or ""])
        indexed_words = [word for word in words[0] if word in self._index.vocab_dict]
        if not indexed_words:
            return EngineHits([], [])
        if query.filter:
            mask = np.zeros(len(ids), dtype=np.float32)
            mask[self._items.matching(query.filter)] = 1
        rows, scores = self._index.retrieve(
            [indexed_words], k=min(k, len(ids)), show_progress=False, n_threads=0, weight_mask=mask
        )
        # Short lists are filled with items whose score is 0.
        has_score = scores[0] != 0
        return EngineHits(
            [ids[row] for row in map(int, rows[0][has_score])], scores[0][has_score].tolist()
        )


class _Bm25sEngine(MemoryEngine):
    module, sessions = "bm25s", _Bm25sSession

    def tokens(self, texts: list[str]) -> Any:
        """The words of texts; the same for items and queries."""
        stopwords = self.opening.build["stopwords"]
        return self.library.tokenize(
            texts,
            stopwords="english" if stopwords == "english" else [],
            return_ids=False,
            show_progress=False,
        )

    def _index(self, items: EngineItems) -> int:
        build = self.opening.build
        scorer = self.library.BM25(k1=build["k1"], b=build["b"], method=build["method"])
        scorer.index(self.tokens([*(items.texts or ())]), show_progress=False)
        self.loaded_index, self.items = scorer, items
        return self._size()

    def _size(self) -> int:
        return sum(
            int(part.nbytes)
            for part in self.loaded_index.scores.values()
            if isinstance(part, np.ndarray)
        )


ENGINES.add(
    "bm25s",
    EngineFamily(
        "bm25s",
        "BM25 in this process, with the parameters k1 and b",
        ("lexical",),
        _Bm25sEngine,
        build=(
            Parameter("k1", float, 1.5, "saturation of term frequencies"),
            Parameter("b", float, 0.75, "normalisation by length, 0 to 1"),
            Parameter(
                "method",
                str,
                "lucene",
                "variant of BM25",
                ("lucene", "robertson", "atire", "bm25l", "bm25+"),
            ),
            Parameter("stopwords", str, "english", "words that are left out", ("english", "none")),
        ),
        package="bm25s",
        extra="engines",
    ),
)
