"""Hits of a ranking in shards: as if the rows were in one table, wherever they lie."""

import random
from itertools import pairwise

import numpy as np
import pytest

from oracles.rankings import Place, Rows, first, places
from rankwell.data import rankings
from rankwell.data.rankings import (
    Hits,
    Ranking,
    count_shared,
    hits_of_ranking,
    join_hits,
    repeated_prints,
    shared_queries,
)
from rankwell.data.tables import Judgments

RULES = ("id-asc", "id-desc", "input", "expected")
KEEP = 5
RELEVANT = ["a1", "é3", "€8", "a7"]
JUDGED = {f"q{query}": [*RELEVANT, f"b{query}"] for query in range(1, 9)}
JUDGMENTS = Judgments.from_dict({query: dict.fromkeys(items, 1) for query, items in JUDGED.items()})


def rows_of(seed: int) -> Rows:
    """Rows of seven queries in any order, many with one score; ids of one, two and three bytes a
    character.
    """
    draw = random.Random(seed)
    items = [f"{letter}{number}" for letter in "aé€" for number in range(9)]
    sizes = {f"q{query}": draw.randrange(1, 25) for query in range(7)}
    rows = [
        (query, item, draw.randrange(4) / 2)
        for query, size in sizes.items()
        for item in draw.sample(items, size)
    ]
    return draw.sample(rows, len(rows))


def table(rows: Rows) -> Ranking:
    return Ranking.from_rows(*(list(each) for each in zip(*rows, strict=True)))


def cut(rows: Rows, shards: int, seed: int) -> list[Rows]:
    bounds = sorted(
        [0, len(rows), *(random.Random(seed).randrange(1, len(rows)) for _ in range(shards - 1))]
    )
    return [rows[start:stop] for start, stop in pairwise(bounds) if stop > start]


def joined(shards: list[Rows], ties, **options) -> Hits:
    tables = list(map(table, shards))
    hits = [hits_of_ranking(each, JUDGMENTS, ties=ties, keep=KEEP, **options) for each in tables]
    shared = shared_queries(hits)
    counts = [
        (shard, count_shared(tables[shard], JUDGMENTS, shared, ties=ties, **options))
        for shard in shared.shards.tolist()
    ]
    assert not list(repeated_prints(shared, [each.prints for _, each in counts]))
    return join_hits(hits, shared, counts, JUDGMENTS, ties=ties, keep=KEEP)


def found_places(hits: Hits) -> dict[tuple[str, str], Place]:
    items = list(zip(JUDGMENTS.row_queries, JUDGMENTS.items, strict=True))
    columns = zip(
        *(each.tolist() for each in (hits.row, hits.score, hits.above, hits.tied, hits.before)),
        strict=True,
    )
    return {items[row]: Place(*place) for row, *place in columns}


@pytest.mark.parametrize("ties", RULES)
@pytest.mark.parametrize("shards", [1, 2, 7, 31])
def test_items_have_the_places_of_one_table(ties: str, shards: int):
    rows = rows_of(shards)

    hits = joined(cut(rows, shards, seed=1), ties)

    assert found_places(hits) == places(rows, JUDGED, ties)
    assert hits.n_retrieved.tolist() == [
        sum(query == each for each, *_ in rows) for query in sorted(JUDGED)
    ]
    assert hits.unknown == {"q0": sum(query == "q0" for query, *_ in rows)}


@pytest.mark.parametrize("ties", RULES)
def test_the_first_items_are_those_of_one_table(ties: str):
    rows = rows_of(0)

    top = joined(cut(rows, 9, seed=2), ties).top

    assert top is not None
    assert {query: list(top.items[top.rows_of(query)]) for query in top.queries} == {
        query: first(rows, query, KEEP, ties)
        for query in sorted(JUDGED)
        if any(each == query for each, *_ in rows)
    }


def test_scores_are_compared_in_single_precision_where_that_is_the_rule():
    rows = [("q1", "a1", 1 + 1e-12), ("q1", "a7", 1.0), ("q1", "é3", 1e300), ("q1", "€8", 1e299)]

    hits = joined([rows[:1], rows[1:3], rows[3:]], "id-asc", single_precision=True)

    found = {item: (place.above, place.tied) for (_, item), place in found_places(hits).items()}
    assert found == {"a1": (2, 2), "a7": (2, 2), "é3": (0, 2), "€8": (0, 2)}


def test_queries_in_one_shard_need_no_second_count():
    rows = sorted(rows_of(3))
    whole = [
        [row for row in rows if row[0] == query] for query in sorted({query for query, *_ in rows})
    ]

    shared = shared_queries([hits_of_ranking(table(each), JUDGMENTS) for each in whole])

    assert not len(shared.queries)


@pytest.mark.parametrize("at_once", [1, 1 << 22])
def test_an_item_in_two_shards_is_found_whether_judged_or_not(
    monkeypatch: pytest.MonkeyPatch, at_once: int
):
    monkeypatch.setattr(rankings, "_PRINTS_AT_ONCE", at_once)
    shards = [
        [("q1", "x", 1.0), ("q2", "a1", 1.0), ("q3", "y", 1.0)],
        [("q1", "x", 2.0), ("q2", "a1", 0.0), ("q3", "z", 1.0)],
    ]
    tables = list(map(table, shards))
    shared = shared_queries([hits_of_ranking(each, JUDGMENTS) for each in tables])

    counts = [count_shared(each, JUDGMENTS, shared, ties="id-desc").prints for each in tables]

    prints = rankings.item_prints(["x", "a1"]).tolist()
    assert list(repeated_prints(shared, counts)) == [(0, prints[0]), (1, prints[1])]
    assert np.diff(shared.row).tolist() == [0]


def mixed(place: int) -> int:
    """A number of the generator SplitMix64 that begins at 0."""
    state = (place + 1) * 0x9E3779B97F4A7C15 % 2**64
    state = (state ^ state >> 30) * 0xBF58476D1CE4E5B9 % 2**64
    state = (state ^ state >> 27) * 0x94D049BB133111EB % 2**64
    return state ^ state >> 31


def test_prints_are_those_of_the_formula_and_differ_between_ids():
    ids = [
        "",
        "a",
        "b",
        "ab",
        "ba",
        "é",
        "a\nb",
        "b\na",
        "\udcff",
        *(f"doc{number}" for number in range(3000)),
    ]
    factors = [mixed(place) for place in range(9)]

    prints = rankings.item_prints(ids).tolist()

    raw = [[*each.encode("utf-8", "surrogateescape"), ord("\n")] for each in ids]
    assert prints == [
        sum((byte + 1) * factor for byte, factor in zip(each, factors, strict=False)) % 2**64
        for each in raw
    ]
    assert prints[100:] == rankings.item_prints(ids[100:]).tolist()
    assert len(set(prints)) == len(ids)


def test_two_items_that_share_a_print_are_not_one_item(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(rankings, "item_prints", lambda items: np.ones(len(items), dtype=np.uint64))
    shards = [[("q1", "x", 1.0)], [("q1", "y", 2.0)]]
    tables = list(map(table, shards))
    shared = shared_queries([hits_of_ranking(each, JUDGMENTS) for each in tables])

    counts = [count_shared(each, JUDGMENTS, shared, ties="id-desc").prints for each in tables]

    assert list(repeated_prints(shared, counts)) == [(0, 1)]
