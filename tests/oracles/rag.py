"""Measures of chunks, contexts and citations as their sources define them, character by character;
nothing here is rankwell's.

A ranking lists chunks as JSON `[document, start, end, text]`, or statements as JSON `[cited,
[[citations, entailed], …]]`.
"""

import json
import math
import re
import unicodedata
from collections.abc import Sequence
from functools import cache
from typing import Any

DOCUMENTS = {
    "d1": "The red car_2 waits, at the (old) bridge; rain falls. A blue car goes by!",
    "d2": "Night trains - no lights. Two people: one dog? The market is closed today",
}
EVERY = [
    (name, start, min(start + 14, len(text)))
    for name, text in DOCUMENTS.items()
    for start in range(0, len(text), 10)
]
Chunk = tuple[str, int, int, str]


def decode(item: str) -> Chunk:
    """The chunk of an item; any other text is a chunk of a document of its own."""
    try:
        document, start, end, text = json.loads(item)
    except (ValueError, TypeError):
        return "other", 0, len(item), item
    return document, start, end, text


def units(chunks: Sequence[Any], unit: str) -> set[tuple[str, int]]:
    """The characters or words that chunks cover."""
    found: set[tuple[str, int]] = set()
    for document, start, end, *_ in chunks:
        places = range(start, end)
        found |= {
            (document, place if unit == "characters" else word_at(document)[place])
            for place in places
        }
    return {each for each in found if each[1] >= 0}


@cache
def word_at(document: str) -> list[int]:
    """The number of the word at each character, -1 for a blank."""
    found, number, before = list[int](), -1, ""
    for letter in DOCUMENTS[document]:
        kind = (
            "blank"
            if letter.isspace()
            else "word"
            if letter.isalnum() or letter == "_"
            else "other"
        )
        if kind == "other" or (kind == "word" and before != "word"):
            number += 1
        found.append(-1 if kind == "blank" else number)
        before = kind
    return found


def bearing(gold: Sequence[Any], touching: bool) -> list[tuple[str, int, int]]:
    """All chunks that share a character with a gold passage, or touch one."""
    return [
        each
        for each in EVERY
        if any(
            each[0] == one[0]
            and min(each[2], one[2]) - max(each[1], one[1]) >= (0 if touching else 1)
            for one in gold
        )
    ]


def published(
    ranking: Sequence[str], gold: Sequence[Any], k: int | None
) -> tuple[int, int, int, int]:
    """Shared and retrieved characters, gold ones and missed ones, as chunking_evaluation adds them
    up.
    """
    taken = [decode(item) for item in ranking][
        : min(len(bearing(gold, True)), 20) if k is None else k
    ]
    truth, own = units(gold, "characters"), units(taken, "characters")
    missed = sum(len(units([each], "characters") - own) for each in gold)
    return (
        len(truth & own),
        sum(each[2] - each[1] for each in taken),
        sum(each[2] - each[1] for each in gold),
        missed,
    )


def SpanP(
    ranking: Sequence[str],
    truth: Sequence[Any],
    *,
    k: int | None = None,
    unit: str = "characters",
    rule: str = "set",
) -> float:
    if rule == "chunking_evaluation":
        shared, retrieved, _, _ = published(ranking, truth, k)
        return shared / retrieved if retrieved else math.nan
    own = units(list(map(decode, ranking))[:k], unit)
    return len(own & units(truth, unit)) / len(own) if own else 0.0


def SpanR(
    ranking: Sequence[str],
    truth: Sequence[Any],
    *,
    k: int | None = None,
    unit: str = "characters",
    rule: str = "set",
) -> float:
    if rule == "chunking_evaluation":
        shared, _, gold, _ = published(ranking, truth, k)
        return shared / gold
    gold = units(truth, unit)
    return len(gold & units(list(map(decode, ranking))[:k], unit)) / len(gold) if gold else 0.0


def SpanIoU(
    ranking: Sequence[str],
    truth: Sequence[Any],
    *,
    k: int | None = None,
    unit: str = "characters",
    rule: str = "set",
) -> float:
    if rule == "chunking_evaluation":
        shared, retrieved, _, missed = published(ranking, truth, k)
        return shared / (retrieved + missed) if retrieved + missed else math.nan
    own, gold = units(list(map(decode, ranking))[:k], unit), units(truth, unit)
    return len(own & gold) / len(own | gold) if own | gold else 0.0


def SpanPOmega(ranking: Sequence[str], truth: Sequence[Any], *, rule: str = "set") -> float:
    del ranking
    own, gold = (
        units(bearing(truth, rule == "chunking_evaluation"), "characters"),
        units(truth, "characters"),
    )
    return len(own & gold) / len(own | gold)


@cache
def likeness(one: str, other: str, name: str) -> float:
    """1 less the normalised distance, by the textbook."""
    longest = max(len(one), len(other))
    if name == "words":
        return words(one, other)
    if not longest:
        return 1.0
    if name == "levenshtein":
        return 1 - edits(one, other) / longest
    if name == "hamming":
        return 1 - (longest - sum(map(str.__eq__, one, other))) / longest
    value = jaro(one, other)
    if name == "jaro-winkler" and value > 0.7:
        prefix = next(
            (place for place in range(4) if one[place : place + 1] != other[place : place + 1]), 4
        )
        value += min(prefix, len(one), len(other)) * 0.1 * (1 - value)
    return value


def edits(one: str, other: str) -> int:
    """Levenshtein 1966, by rows."""
    row = list(range(len(other) + 1))
    for place, letter in enumerate(one, 1):
        above, row = row, [place]
        for at, theirs in enumerate(other, 1):
            row.append(min(above[at] + 1, row[-1] + 1, above[at - 1] + (letter != theirs)))
    return row[-1]


def jaro(one: str, other: str) -> float:
    """Jaro 1989."""
    window = max(max(len(one), len(other)) // 2 - 1, 0)
    free, mine = list(other), list[str]()
    taken = [False] * len(other)
    for place, letter in enumerate(one):
        for at in range(max(0, place - window), min(len(other), place + window + 1)):
            if not taken[at] and free[at] == letter:
                taken[at] = True
                mine.append(letter)
                break
    theirs = [letter for letter, is_taken in zip(other, taken, strict=True) if is_taken]
    if not mine:
        return 0.0
    moved = sum(first != second for first, second in zip(mine, theirs, strict=True)) // 2
    return (len(mine) / len(one) + len(mine) / len(other) + (len(mine) - moved) / len(mine)) / 3


def words(one: str, other: str) -> float:
    """F1 of words."""
    first, second = (
        "".join(letter if letter.isalnum() or letter == "_" else " " for letter in each)
        .lower()
        .split()
        for each in (one, other)
    )
    shared = sum(min(first.count(word), second.count(word)) for word in set(first))
    return 2 * shared / (len(first) + len(second)) if first or second else 1.0


def blank_free(text: str) -> str:
    """The text in normal form C, a single blank between its words."""
    return re.sub(r"\s+", " ", unicodedata.normalize("NFC", text)).strip()


def stands_in(part: str, text: str) -> bool:
    """Whether a part is in a text; of one word, not within a longer word of letters that have case,
    or of digits.
    """

    def joined(left: str, right: str) -> bool:
        return bool(left and right) and all(
            each.isdecimal() or each.lower() != each.upper() for each in (left, right)
        )

    places = [match.start() for match in re.finditer(f"(?={re.escape(part)})", text)]
    return any(
        " " in part
        or not (joined(text[:at][-1:], part[0]) or joined(part[-1], text[at + len(part) :][:1]))
        for at in places
    )


def in_parts(gold: str, chunks: Sequence[str]) -> bool:
    """Whether every letter of a gold text is in a chunk that stands in it."""
    letters = {at for at, letter in enumerate(gold) if letter != " "}
    for chunk in chunks:
        for at in range(len(gold)):
            if chunk and gold.startswith(chunk, at):
                letters -= set(range(at, at + len(chunk)))
    return not letters


def ContextP(
    ranking: Sequence[str],
    truth: Sequence[Any],
    *,
    k: int | None = None,
    similarity: str = "containment",
    threshold: float | None = None,
) -> float:
    if similarity == "containment":
        wanted, chunks = (
            [blank_free(gold[3]) for gold in truth],
            [blank_free(decode(item)[3]) for item in ranking],
        )
        pairs = [[(chunk, gold) for gold in wanted if gold and chunk] for chunk in chunks]
        hits = [
            any(stands_in(chunk, gold) or stands_in(gold, chunk) for chunk, gold in each)
            for each in pairs
        ]
    else:
        least = 0.5 if threshold is None else threshold
        hits = [
            max(likeness(decode(item)[3], gold[3], similarity) for gold in truth) >= least
            for item in ranking
        ]
    hits = hits[:k]
    # RAGAS adds 1e-10 to the divisor, which only decides 0 / 0.
    return sum(sum(hits[:place]) / place for place, hit in enumerate(hits, 1) if hit) / (
        sum(hits) + 1e-300
    )


def ContextR(
    ranking: Sequence[str],
    truth: Sequence[Any],
    *,
    k: int | None = None,
    similarity: str = "containment",
    threshold: float | None = None,
) -> float:
    texts = [decode(item)[3] for item in ranking][:k]
    if similarity == "containment":
        chunks = list(map(blank_free, texts))
        wanted = [blank_free(gold[3]) for gold in truth]
        found = [
            gold != ""
            and (any(stands_in(gold, chunk) for chunk in chunks) or in_parts(gold, chunks))
            for gold in wanted
        ]
    else:
        most = 0.5 if threshold is None else threshold
        found = [
            any(likeness(text, gold[3], similarity) > most for text in texts) for gold in truth
        ]
    return sum(found) / len(found)


def statement(item: str) -> tuple[frozenset[str], dict[frozenset[str], bool]]:
    """What a statement cites, and which sets of it entail it; any other text is a statement that
    cites nothing.
    """
    try:
        cited, judged = json.loads(item)
    except (ValueError, TypeError):
        return frozenset(), {}
    return frozenset(cited), {frozenset(each): entailed for each, entailed in judged}


def CitationR(ranking: Sequence[str], truth: Sequence[Any]) -> float:
    del truth
    found = [bool(cited) and judged[cited] for cited, judged in map(statement, ranking)]
    return sum(found) / len(found) if found else 0.0


def CitationP(ranking: Sequence[str], truth: Sequence[Any]) -> float:
    del truth
    right = total = 0
    for cited, judged in map(statement, ranking):
        total += len(cited)
        if cited and judged[cited]:
            for one in cited:
                alone = judged[frozenset([one])]
                needed = len(cited) == 1 or not judged[cited - {one}]
                right += alone or needed
    return right / total if total else 0.0
