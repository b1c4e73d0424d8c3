"""Shared by the scripts of this folder: texts, an embedder that needs no model, the right answers,
and the call of rankwell.

They run in environments of their own, each with a framework.
"""

import json
import math
import sys
import zlib
from collections.abc import Callable, Iterable, Mapping
from importlib.metadata import version
from typing import Any

import rankwell as rw

TEXTS = {
    "rhine": "The Rhine is a long river that flows from the Swiss Alps to the North Sea",
    "danube": "The Danube is a river that passes four capitals on the way to the Black Sea",
    "etna": "Etna is an active volcano on the east coast of Sicily",
    "fuji": "Fuji is a volcano and the highest mountain of Japan",
    "alps": "The Alps are a mountain range whose highest peak is Mont Blanc",
    "sahara": "The Sahara is the largest hot desert of the world",
    "gobi": "The Gobi is a cold desert of northern China and southern Mongolia",
    "baikal": "Baikal is the deepest lake of the world and holds a fifth of all fresh water",
    "victoria": "Lake Victoria is the largest lake of Africa and the source of the Nile",
    "nile": "The Nile is the longest river of Africa",
}
QUERIES = {
    "q1": "longest river of Africa",
    "q2": "active volcano of Sicily",
    "q3": "cold desert of China",
    "q4": "deepest lake of the world",
    "q5": "highest mountain of Japan",
    "q6": "river on the way to the Black Sea",
}
K, _DIMENSIONS = 3, 64


def embed(text: str) -> list[float]:
    """A vector of length 1: each word has a place and a weight of its own."""
    vector = [0.0] * _DIMENSIONS
    for word in text.lower().split():
        drawn = zlib.crc32(word.encode())
        vector[drawn % _DIMENSIONS] += 1.0 + (drawn >> 8) % 97 / 97
    length = math.sqrt(sum(each * each for each in vector))
    return [each / length for each in vector]


def nearest(query: str) -> list[str]:
    """The texts by cosine, the nearest first, in plain arithmetic."""
    vector = embed(query)
    cosine = {
        item: sum(x * y for x, y in zip(embed(text), vector, strict=True))
        for item, text in TEXTS.items()
    }
    return sorted(TEXTS, key=lambda item: -cosine[item])[:K]


def listed(search: Callable[[str], Iterable[str]]) -> dict[str, list[str]]:
    """The ids that a search returns for each query."""
    return {query: list(search(text)) for query, text in QUERIES.items()}


NEAREST = listed(nearest)


def asked(thing: Any, expected: Mapping[str, list[str]], **options: Any) -> dict[str, Any]:
    """The object asked by rankwell. nDCG is 1 for the expected order alone, whose places are its
    grades.
    """
    key = {
        query: {item: K - place for place, item in enumerate(items)}
        for query, items in expected.items()
    }
    given: dict[str, Any] = {"queries": QUERIES, "qrels": key, "option": options}
    if options.get("takes") == "vector":
        given["query_vectors"] = {query: embed(text) for query, text in QUERIES.items()}
    result = rw.evaluate_engine(thing, **given, measures=[f"nDCG@{K}", f"R@{K}"], depth=K, rounds=2)
    counts = next(iter(result.describe()["counts"].values()))
    return {
        "nDCG": result[f"nDCG@{K}"],
        "recall": result[f"R@{K}"],
        "queries": counts["queries_counted"],
    }


def show(packages: Iterable[str], found: Mapping[str, Any]) -> None:
    """Prints versions and figures for the test that reads them."""
    sys.stdout.write(
        json.dumps({"packages": {each: version(each) for each in packages}, "asked": found}) + "\n"
    )
