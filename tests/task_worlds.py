"""Worlds that no one draws on purpose, for conventions of tasks: nothing relevant, all junk, ties,
duplicates, empty texts.

A function for each tool draws the world of a number; `tests/golden/make_task_worlds.py` records
what the tool makes of it.
"""

from random import Random
from typing import Any

SEED, WORLDS = 20261128, 1000
LEVELS = (1, 2, 5, 1000)
"""Numbers of different scores: all equal, mostly tied, some tied, hardly any."""
TEXTS = (
    *(
        "",
        " ",
        "the",
        "The",
        "a an",
        "...",
        "'s",
        "Paris",
        "paris",
        "the Paris",
        "Paris.",
        "in Paris",
        "New York",
        "new-york",
    ),
    *(
        "New  York\n",
        "1990",
        "1,990",
        "$5.00",
        "café",
        "cafe\u0301",
        "l'eau",
        "\u2014",
        "İstanbul",
        "北京",
        "a b a b",
        "b a",
        "b",
    ),
)
LETTERED = tuple(text for text in TEXTS if text.strip())
"""Texts for right answers; right answers without a letter have a test of their own.
"""


def rng_of(tool: str, number: int) -> Random:
    """The random numbers of a world."""
    return Random(f"{SEED} {tool} {number}")


def _scores(rng: Random, rows: int, columns: int) -> list[list[float]]:
    levels = rng.choice(LEVELS)
    return [[rng.randrange(levels) / 4 for _ in range(columns)] for _ in range(rows)]


def hgr(rng: Random) -> dict[str, Any]:
    """Scores of queries and a gallery that is often smaller than K, and positives: none, several,
    some named twice.
    """
    n_queries, n_items = rng.randint(1, 12), rng.randint(1, 14)
    positives: list[list[int]] = []
    for _ in range(n_queries):
        own = rng.sample(range(n_items), rng.randint(0, min(3, n_items)))
        positives.append(own + own[:1] * (rng.random() < 0.2))
    return {"scores": _scores(rng, n_queries, n_items), "positives": positives}


def clip4clip(rng: Random) -> dict[str, Any]:
    """Scores of captions and videos, one for each."""
    n = rng.randint(1, 14)
    return {"scores": _scores(rng, n, n)}


def clip4clip_multi(rng: Random) -> dict[str, Any]:
    """Scores of captions and videos, one to four captions for each, in order."""
    counts = [rng.randint(1, 4) for _ in range(rng.randint(2, 9))]
    return {"scores": _scores(rng, sum(counts), len(counts)), "counts": counts}


def revisitop(rng: Random) -> dict[str, Any]:
    """Scores of queries and references, each reference easy, hard, junk or unnamed; some queries
    have one kind alone.
    """
    n_queries, n_items = rng.randint(1, 5), rng.randint(1, 14)
    kinds: list[list[str]] = []
    for _ in range(n_queries):
        among = rng.choice(
            (["junk"], [""], ["easy", "junk"], ["hard", ""], ["easy", "hard", "junk", "", ""])
        )
        kinds.append([rng.choice(among) for _ in range(n_items)])
    return {"scores": _scores(rng, n_queries, n_items), "kinds": kinds}


def squad1(rng: Random) -> dict[str, Any]:
    """Questions with one to three right answers, and texts that answer most of them."""
    golds = [rng.choices(LETTERED, k=rng.randint(1, 3)) for _ in range(rng.randint(1, 8))]
    given = [
        None if n and rng.random() < 0.2 else rng.choice((*TEXTS, *own))
        for n, own in enumerate(golds)
    ]
    return {"golds": golds, "given": given}


def squad2(rng: Random) -> dict[str, Any]:
    """Questions with up to three right answers, texts for all, and probabilities of no answer, many
    of them equal.
    """
    golds = [
        rng.choices(LETTERED, k=rng.randint(1, 3)) if rng.random() < 0.6 else []
        for _ in range(rng.randint(1, 8))
    ]
    given = [rng.choice((*TEXTS, *own, "")) for own in golds]
    return {
        "golds": golds,
        "given": given,
        "na": [rng.randrange(4) / 4 for _ in golds],
        "threshold": rng.choice((0.0, 0.5, 1.0)),
    }


def piaf(rng: Random) -> dict[str, Any]:
    """Right places in documents, ranked answers by their places, some explicitly none, and
    documents, some listed twice.
    """
    questions: list[dict[str, Any]] = []
    for _ in range(rng.randint(1, 6)):
        starts = (
            [(rng.choice("de"), rng.randrange(12)) for _ in range(rng.randint(1, 3))]
            if rng.random() < 0.75
            else []
        )
        golds = [[document, start, start + rng.randint(1, 5)] for document, start in starts]
        answers: list[Any] = []
        for _ in range(rng.randint(0, 5)):
            start, kind = rng.randrange(14), rng.random()
            near = (
                rng.choice(golds)
                if golds and kind < 0.3
                else [rng.choice("def"), start, start + rng.randint(0, 5)]
            )
            answers.append(None if kind > 0.85 else near)
        relevant = sorted({document for document, _, _ in golds}) or ["d"]
        questions.append(
            {
                "golds": golds,
                "answers": answers,
                "relevant": relevant,
                "found": rng.choices("defg", k=rng.randint(1, 6)),
            }
        )
    return {"questions": questions}


def chunking_evaluation(rng: Random) -> dict[str, Any]:
    """One question with gold spans that touch, overlap or repeat, chunks of two documents, and
    retrieved ones, some twice.
    """
    every = [
        {"start_index": start, "end_index": start + rng.choice((10, 15)), "corpus_id": name}
        for name in "ab"
        for start in range(0, 60, 10)
    ]
    spans = []
    for _ in range(rng.randint(1, 3)):
        start = rng.choice((rng.randrange(60), 10 * rng.randrange(7)))
        spans.append(
            {"content": "", "start_index": start, "end_index": start + rng.choice((1, 5, 10, 25))}
        )
    spans += spans[:1] * (rng.random() < 0.2)
    question = {
        "question": "q",
        "references": spans,
        "corpus_id": rng.choice("abc" if rng.random() < 0.1 else "ab"),
    }
    return {
        "every": every,
        "questions": [question],
        "retrieved": [rng.choices(every, k=rng.choice((0, 1, 3, 9)))],
    }


def ragas(rng: Random) -> dict[str, Any]:
    """Reference contexts and retrieved ones: empty, equal, one letter apart, wholly in another."""
    references = rng.choices(LETTERED, k=rng.randint(1, 3))
    retrieved = rng.choices(
        (*TEXTS, *references, *(f"{each} {each}" for each in references), references[0] + "s"),
        k=rng.randint(1, 5),
    )
    return {"retrieved_contexts": retrieved, "reference_contexts": references}
