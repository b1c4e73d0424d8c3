"""Oracles of lexical engines: BM25 by its formula, word by word."""

import math


def bm25(query: str, texts: dict[str, str], k1: float, b: float) -> dict[str, float]:
    """The documents with a word of the query, and their scores: Robertson's weights, at least 1e-6,
    as in FTS5.
    """
    lists = {item: text.split() for item, text in texts.items()}
    mean = sum(map(len, lists.values())) / len(lists)
    scores: dict[str, float] = {}
    for word in sorted(set(query.split())):
        having = sum(word in each for each in lists.values())
        weight = max(math.log((len(lists) - having + 0.5) / (having + 0.5)), 1e-6)
        for item, own in lists.items():
            n = own.count(word)
            if n:
                part = weight * n * (k1 + 1) / (n + k1 * (1 - b + b * len(own) / mean))
                scores[item] = scores.get(item, 0.0) + part
    return scores
