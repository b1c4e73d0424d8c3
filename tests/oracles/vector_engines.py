"""The nearest items by plain arithmetic, and BM25 as Lucene computes it."""

import math
import re


def nearest(query: list[float], items: list[list[float]], metric: str, k: int) -> list[int]:
    """The positions of the k best items, best first; of equal ones the first."""

    def score(item: list[float]) -> float:
        dot = sum(x * y for x, y in zip(query, item, strict=True))
        if metric == "l2":
            return -math.dist(query, item)
        return dot if metric == "dot" else dot / math.hypot(*query) / math.hypot(*item)

    return sorted(range(len(items)), key=lambda row: -score(items[row]))[:k]


def bm25_lucene(query: str, texts: list[str], k1: float, b: float) -> list[float]:
    """The score of each text: the sum over the words of idf * tf / (tf + k1 * (1 - b + b * length /
    mean length)).
    """
    split = [re.findall(r"\w\w+", text.lower()) for text in texts]
    mean = sum(map(len, split)) / len(split)
    scores: list[float] = []
    for words in split:
        total = 0.0
        for word in re.findall(r"\w\w+", query.lower()):
            having = sum(word in each for each in split)
            if word in words:
                idf = math.log(1 + (len(split) - having + 0.5) / (having + 0.5))
                count = words.count(word)
                total += idf * count / (count + k1 * (1 - b + b * len(words) / mean))
        scores.append(total)
    return scores
