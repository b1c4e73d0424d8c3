"""Generated answers against right ones, as ROUGE-L, BLEU and cosines are defined; nothing here is
rankwell's.

A ranking lists answers as `oracles.answers.encode` writes them; None stands for a question without
a prediction.
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

from oracles.answers import decode


def best(
    ranking: Sequence[str] | None,
    known: dict[str, Any],
    grade: Callable[[str, list[str]], float],
    population: str = "all",
    retrieval: str = "ignored",
    k: int | None = None,
) -> float:
    rights = [gold[0] for gold in known["golds"]]
    if population == ("answerable" if not rights else "impossible") or (
        retrieval == "only" and not known["found"]
    ):
        return math.nan
    if ranking is None or (retrieval == "required" and not known["found"]):
        return 0.0
    if not ranking:
        return float(not rights)
    values = []
    for item in ranking[:k]:
        text = decode(item)[0]
        blank = text is None or text.strip() == ""
        values.append(
            float(blank and not rights) if blank or not rights else grade(str(text), rights)
        )
    return max(values)


# ---- functions of a user
# --------------------------------------------------------------------------------------------------


def letters(texts: Sequence[str]) -> list[list[float]]:
    """A vector of a text: the number of each of some letters, less one."""
    return [[text.count(letter) - 1.0 for letter in "aeistP1,"] for text in texts]


def same_length(question: str, answer: str, rights: Sequence[str]) -> float:
    """A grade of an answer."""
    assert question
    return 1 / (1 + min(abs(len(answer) - len(right)) for right in rights))


# ---- measures
# --------------------------------------------------------------------------------------------------


def AnswerSimilarity(ranking: Any, known: dict[str, Any], *, encoder: str, **given: Any) -> float:
    assert encoder == "oracles.answer_texts:letters"

    def cosine(one: str, other: str) -> float:
        first, second = letters([one, other])
        return (
            math.fsum(a * b for a, b in zip(first, second, strict=True))
            / math.hypot(*first)
            / math.hypot(*second)
        )

    return best(
        ranking,
        known,
        lambda answer, rights: max(cosine(answer, right) for right in rights),
        **given,
    )


def AnswerJudge(ranking: Any, known: dict[str, Any], *, judge: str, **given: Any) -> float:
    module, _, name = judge.partition(":")
    function = getattr(import_module(module), name)
    return best(ranking, known, lambda answer, rights: function("?", answer, rights), **given)


def f1(shared: int, one: int, other: int) -> float:
    return 2 * shared / (one + other) if shared else 0.0


def AnswerROUGE(
    ranking: Any,
    known: dict[str, Any],
    *,
    form: str = "rougeL",
    stemmer: bool = False,
    **given: Any,
) -> float:
    def words(text: str) -> list[str]:
        # Of the words of the worlds that are longer than three letters Porter's stemmer changes
        # these.
        stems = {"waits": "wait", "casas": "casa"} | {
            "paris": "pari",
            "katze": "katz",
            "known": "known",
        }
        found: list[str] = re.findall("[a-z0-9]+", text.lower())
        return [stems.get(word, word) for word in found] if stemmer else found

    def common(one: list[str], other: list[str]) -> int:
        """The length of the longest common subsequence."""
        row = [0] * (len(other) + 1)
        for word in one:
            before = row[:]
            for place, second in enumerate(other, 1):
                row[place] = (
                    before[place - 1] + 1 if word == second else max(before[place], row[place - 1])
                )
        return row[-1]

    def score(one: str, other: str) -> float:
        first, second = words(one), words(other)
        if form == "rougeL":
            return f1(common(first, second), len(first), len(second))
        n = int(form[-1])
        grams = [
            Counter(tuple(each[place : place + n]) for place in range(len(each) - n + 1))
            for each in (first, second)
        ]
        return f1((grams[0] & grams[1]).total(), grams[0].total(), grams[1].total())

    return best(
        ranking,
        known,
        lambda answer, rights: max(score(answer, right) for right in rights),
        **given,
    )


def mteval(text: str) -> list[str]:
    """The words of mteval-v13a, which separates punctuation, except for points and commas between
    digits.
    """
    line = text.rstrip().replace("\n", " ")
    for name, letter in (("&quot;", '"'), ("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">")):
        line = line.replace(name, letter)
    line = re.sub(r"([{-~\[-` -&(-+:-@/])", r" \1 ", f" {line} ")
    line = re.sub(r"([^0-9])([.,])", r"\1 \2 ", line)
    line = re.sub(r"([.,])([^0-9])", r" \1 \2", line)
    return re.sub(r"([0-9])(-)", r"\1 \2 ", line).split()


def AnswerBLEU(
    ranking: Any,
    known: dict[str, Any],
    *,
    tokenize: str = "13a",
    smoothing: str = "exp",
    **given: Any,
) -> float:
    def grams(words: list[str], n: int) -> Counter[tuple[str, ...]]:
        return Counter(tuple(words[place : place + n]) for place in range(len(words) - n + 1))

    def score(answer: str, rights: list[str]) -> float:
        words, *references = [
            mteval(each) if tokenize == "13a" else each.split() for each in (answer, *rights)
        ]
        logs, misses, any_shared = [], 0, False
        for n in range(1, min(len(words), 4) + 1):
            own, most = grams(words, n), Counter[tuple[str, ...]]()
            for reference in references:
                most |= grams(reference, n)
            shared = (own & most).total()
            any_shared |= shared > 0
            if not shared and smoothing == "none":
                return 0.0
            misses += not shared
            logs.append(math.log((shared or 0.5**misses) / own.total()))
        if not any_shared:
            return 0.0
        nearest = min((abs(len(each) - len(words)), len(each)) for each in references)[1]
        penalty = min(0.0, 1 - nearest / len(words))
        return math.exp(penalty + math.fsum(logs) / len(logs))

    return best(ranking, known, score, **given)
