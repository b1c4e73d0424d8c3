"""SQuAD's exact match and F1 of 100,000 predictions, against a plain script in the style of the
official one, taking turns.

    python benchmarks/squad.py [--questions 100000] [--turns 7]

Questions, answers and predictions are made from a seed: two right answers in three of four
questions, three predictions of four exactly right. Both sides start from the same texts in memory
and end with one exact match and one F1 per question, which are compared bit by bit. What is timed
on our side is the join and both measures.
"""

import argparse
import re
import statistics
import string
import time
from collections import Counter
from random import Random

import numpy as np

from rankwell.tasks.qa.answer_pairs import AnswerPairs, Predictions, Questions
from rankwell.tasks.qa.measures.answers import answer_em, answer_f1

Texts = dict[str, list[str]]


def normalize(text: str) -> str:
    """The plain way: character by character, then a regular expression."""
    exclude = set(string.punctuation)
    plain = "".join(letter for letter in text.lower() if letter not in exclude)
    return " ".join(re.sub(r"\b(a|an|the)\b", " ", plain).split())


def f1(right: str, given: str) -> float:
    """Token F1 of two texts."""
    theirs, ours = normalize(right).split(), normalize(given).split()
    if not theirs or not ours:
        return float(theirs == ours)
    shared = sum((Counter(theirs) & Counter(ours)).values())
    if shared == 0:
        return 0.0
    precision, recall = shared / len(ours), shared / len(theirs)
    return 2 * precision * recall / (precision + recall)


def plain_script(right: Texts, given: dict[str, str]) -> tuple[dict[str, float], dict[str, float]]:
    """Exact match and F1 of every question, as in the official script."""
    exact, shared = {}, {}
    for question, answers in right.items():
        rights = [answer for answer in answers if normalize(answer)] or [""]
        exact[question] = max(
            float(normalize(answer) == normalize(given[question])) for answer in rights
        )
        shared[question] = max(f1(answer, given[question]) for answer in rights)
    return exact, shared


def make(questions: int) -> tuple[Texts, dict[str, str]]:
    """Questions with their right answers and predictions, the same for the same number."""
    random = Random(20180611)
    words = ["the", "a", "of", "in", "and", "U.S.", "1990", "well-known", "naïve", "Ouganda,"]
    words += [
        "".join(random.choices(string.ascii_letters, k=random.randint(2, 9))) for _ in range(5_000)
    ]
    right, given = {}, {}
    for number in range(questions):
        first = " ".join(random.choices(words, k=random.choice((1, 1, 2, 2, 3, 4, 6, 9))))
        others = [
            f"the {first}",
            first.rpartition(" ")[2] or first,
            " ".join(random.choices(words, k=3)),
        ]
        right[f"q{number:06}"] = [first, *random.sample(others, random.choice((0, 1, 1, 1)))]
        wrong = (
            f"{first} {random.choice(words)}"
            if random.random() < 0.6
            else " ".join(random.choices(words, k=3))
        )
        given[f"q{number:06}"] = (
            random.choice(right[f"q{number:06}"]) if random.random() < 0.75 else wrong
        )
    return right, given


def ours(questions: Questions, predictions: Predictions) -> tuple[np.ndarray, np.ndarray]:
    """Exact match and F1 of every question."""
    pairs = AnswerPairs.pair(questions, predictions)
    return answer_em(pairs, no_answer="squad2", k=1), answer_f1(pairs, no_answer="squad2", k=1)


def main() -> None:
    """Lets both sides take turns, prints times and the ratio, and says whether the results are the
    same.
    """
    parser = argparse.ArgumentParser()
    parser.add_argument("--questions", type=int, default=100_000)
    parser.add_argument("--turns", type=int, default=7)
    options = parser.parse_args()
    right, given = make(options.questions)
    tables = (
        Questions.from_texts(right),
        Predictions.from_texts({each: [text] for each, text in given.items()}),
    )
    seconds: dict[str, list[float]] = {"plain script": [], "rankwell": []}
    exact, shared, em, overlap = dict[str, float](), dict[str, float](), np.zeros(0), np.zeros(0)
    for _ in range(options.turns):
        start = time.perf_counter()
        exact, shared = plain_script(right, given)
        seconds["plain script"].append(time.perf_counter() - start)
        start = time.perf_counter()
        em, overlap = ours(*tables)
        seconds["rankwell"].append(time.perf_counter() - start)
    same = em.tolist() == [exact[each] for each in tables[0].ids] and overlap.tolist() == [
        shared[each] for each in tables[0].ids
    ]
    for name, each in seconds.items():
        print(f"{name:13} min {min(each):6.3f} s  median {statistics.median(each):6.3f} s")
    ratios = [
        slow / fast for slow, fast in zip(seconds["plain script"], seconds["rankwell"], strict=True)
    ]
    print(
        f"ratio of a turn: min {min(ratios):.1f}  median {statistics.median(ratios):.1f}  max "
        f"{max(ratios):.1f}"
    )
    print(
        f"{options.questions} predictions, {len(tables[0].answers)} right answers, results "
        f"the same: {same}"
    )


if __name__ == "__main__":
    main()
