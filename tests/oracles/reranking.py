"""Oracles of transforms on descriptors, in plain Python, read off their papers: αQE, database
augmentation, k-reciprocal sets.
"""

import math

Vector = list[float]


def unit(vector: Vector) -> Vector:
    length = math.sqrt(sum(x * x for x in vector))
    return [x / length for x in vector]


def dot(a: Vector, b: Vector) -> float:
    return sum(x * y for x, y in zip(a, b, strict=True))


def nearest(vector: Vector, others: list[Vector]) -> list[int]:
    """All others, nearest first, of equals the earlier one."""
    return sorted(range(len(others)), key=lambda place: (-dot(vector, others[place]), place))


def expanded(
    vector: Vector, references: list[Vector], k: int, alpha: float, own: int = -1
) -> Vector:
    """A vector and its k nearest references but its own: sum of cosine ** alpha times the
    reference.
    """
    vector, references = unit(vector), [unit(each) for each in references]
    total = list(vector)
    for place in [each for each in nearest(vector, references) if each != own][:k]:
        cosine = dot(vector, references[place])
        weight = cosine**alpha if cosine > 0 else 0.0
        total = [t + weight * x for t, x in zip(total, references[place], strict=True)]
    return unit(total)


def reciprocal_distances(
    vectors: list[Vector],
    queries: list[int],
    references: list[int],
    k1: int,
    k2: int,
    weight: float,
) -> list[list[float]]:
    """The published program of Zhong and others step by step, with a whole matrix; queries,
    references: places of the vectors.
    """
    images = [unit(each) for each in vectors]
    n = len(images)
    squared = [[2 - 2 * dot(a, b) for b in images] for a in images]
    scaled = [[value / max(row) for value in row] for row in squared]
    ranked = [
        sorted(range(n), key=lambda other, i=i: (other != i, squared[i][other])) for i in range(n)
    ]

    def mutual(i: int, k: int) -> list[int]:
        return [j for j in ranked[i][: k + 1] if i in ranked[j][: k + 1]]

    half = int(k1 / 2) + (1 if k1 % 2 and int(k1 / 2) % 2 else 0)
    table = [[0.0] * n for _ in range(n)]
    for i in range(n):
        own = mutual(i, k1)
        members = set(own)
        for candidate in own:
            theirs = mutual(candidate, half)
            if len([each for each in theirs if each in own]) > 2 / 3 * len(theirs):
                members.update(theirs)
        total = sum(math.exp(-scaled[i][each]) for each in members)
        for each in members:
            table[i][each] = math.exp(-scaled[i][each]) / total
    smooth = [
        [sum(table[near][j] for near in ranked[i][:k2]) / len(ranked[i][:k2]) for j in range(n)]
        for i in range(n)
    ]
    found = []
    for i in queries:
        row = []
        for j in references:
            shared = sum(min(a, b) for a, b in zip(smooth[i], smooth[j], strict=True))
            row.append((1 - shared / (2 - shared)) * (1 - weight) + scaled[i][j] * weight)
        found.append(row)
    return found
