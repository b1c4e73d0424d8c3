"""Counts of bootstrap resamples, drawn one by one from the same random words; plain Python but for
the words.
"""

import math
from collections.abc import Callable


def counts(n: int, rows: int, words: Callable[[int], list[int]]) -> list[list[int]]:
    """A piece of resamples. words: gives the next so many random words of 64 bits."""
    drawn = poisson(n, rows, words)
    again = [place for place, row in enumerate(drawn) if sum(row) > n]
    while again:
        for place, row in zip(again, poisson(n, len(again), words), strict=True):
            drawn[place] = row
        again = [place for place in again if sum(drawn[place]) > n]
    singles = fair(n, sum(n - sum(row) for row in drawn), words)
    for row in drawn:
        for _ in range(n - sum(row)):
            row[singles.pop(0)] += 1
    return drawn


def poisson(n: int, rows: int, words: Callable[[int], list[int]]) -> list[list[int]]:
    """Counts whose mean is 1 - 3 / √n, rounded down to 2⁻²⁰: by a byte each, and by a word where
    the byte leaves it open.
    """
    mean = math.floor((1 - 3 / math.sqrt(n)) * 2**20) / 2**20
    if mean <= 0:
        return [[0] * n for _ in range(rows)]
    chances = [math.exp(-mean) * mean**count / math.factorial(count) for count in range(25)]
    whole = [math.floor(256 * chance) for chance in chances]
    rest = [256 * chance - number for chance, number in zip(chances, whole, strict=True)]
    listed = [count for count, number in enumerate(whole) for _ in range(number)]
    number = rows * n
    chosen = b"".join(word.to_bytes(8, "little") for word in words(-(-number // 8)))[:number]
    later = iter(words(sum(byte >= len(listed) for byte in chosen)))
    made = [listed[byte] if byte < len(listed) else beyond(next(later), rest) for byte in chosen]
    return [made[row * n : row * n + n] for row in range(rows)]


def beyond(word: int, rest: list[float]) -> int:
    """The count at which the shares that the bytes leave over reach a word's place among all
    words.
    """
    reached = 0.0
    for count, share in enumerate(rest):
        reached += share
        if word / 2**64 < reached / sum(rest):
            return count
    return len(rest) - 1


def fair(n: int, wanted: int, words: Callable[[int], list[int]]) -> list[int]:
    """Numbers below n, each as probable; a half word that would favour some is passed over."""
    found: list[int] = []
    while len(found) < wanted:
        halves = [
            half
            for word in words(-(-(wanted - len(found)) // 2))
            for half in (word & 0xFFFFFFFF, word >> 32)
        ]
        found += [half * n >> 32 for half in halves if half * n % 2**32 >= 2**32 % n][
            : wanted - len(found)
        ]
    return found
