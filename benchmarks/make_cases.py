"""Writes the cases that the benchmarks read, seeded: python benchmarks/make_cases.py [CASE...]

The run of the size of MS MARCO dev has 6,980 queries with 1,000 items each.
`python benchmarks/make_cases.py --list` names all cases.
"""

import argparse
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

CASES = Path(__file__).resolve().parent / "cases"
QUERIES, DEPTH, JUDGED = 6_980, 1_000, 7_419
ITEMS = 8_841_823


def query_ids(count: int) -> list[int]:
    return np.sort(
        np.random.default_rng(1).choice(1_200_000, count, replace=False) + 1_000
    ).tolist()


def item_numbers(query: int, depth: int) -> list[int]:
    """`depth` different items in a random order."""
    rng = np.random.default_rng(query)
    drawn = np.unique(rng.integers(0, ITEMS, depth + depth // 10 + 10))
    return rng.permutation(drawn)[:depth].tolist()


def scores(query: int, depth: int) -> np.ndarray:
    """Falling scores with random gaps, as BM25 gives them."""
    rng = np.random.default_rng(query + 1)
    falls = np.cumsum(rng.exponential(1.0, depth) / (1 + np.arange(depth)))
    return 12 + rng.uniform(5, 30) - 1.4 * falls


def guid(number: int) -> str:
    return str(uuid.UUID(int=(number * 0x9E3779B97F4A7C15F39CC0605CEDC835) % (1 << 128)))


def lines(
    queries: int,
    depth: int,
    item: Callable[[int], object],
    score: Callable[[np.ndarray], list[str]],
) -> Iterator[list[str]]:
    for query in query_ids(queries):
        listed = zip(item_numbers(query, depth), score(scores(query, depth)), strict=True)
        yield [
            f"{query} Q0 {item(number)} {rank} {text} Anserini\n"
            for rank, (number, text) in enumerate(listed, 1)
        ]


def six(values: np.ndarray) -> list[str]:
    return [f"{value:.6f}" for value in values.tolist()]


def tenths(values: np.ndarray) -> list[str]:
    return [f"{value:.1f}" for value in values.tolist()]


def whole(values: np.ndarray) -> list[str]:
    return [repr(value) for value in values.tolist()]


RUNS: dict[str, Callable[[], Iterator[list[str]]]] = {
    "numeric": lambda: lines(QUERIES, DEPTH, int, six),
    "d": lambda: lines(QUERIES, DEPTH, "D{}".format, six),
    "guid": lambda: lines(QUERIES, DEPTH, guid, six),
    "ties": lambda: lines(QUERIES, DEPTH, int, tenths),
    "f64": lambda: lines(QUERIES, DEPTH, int, whole),
    "wshuf": lambda: shuffled_within(RUNS["numeric"]()),
    "small": lambda: lines(50, DEPTH, int, six),
}


def shuffled_within(groups: Iterator[list[str]]) -> Iterator[list[str]]:
    rng = np.random.default_rng(2)
    for group in groups:
        yield [group[place] for place in rng.permutation(len(group)).tolist()]


def write_shuffled(path: Path) -> None:
    """All lines of the numeric run in a random order."""
    every = [line for group in RUNS["numeric"]() for line in group]
    order = np.random.default_rng(3).permutation(len(every))
    with path.open("w") as file:
        for start in range(0, len(every), 100_000):
            file.writelines([every[place] for place in order[start : start + 100_000].tolist()])


def judgments(item: Callable[[int], object]) -> Iterator[str]:
    """1.06 relevant items a query: nine in ten of them retrieved, at ranks that are log-uniform."""
    rng = np.random.default_rng(4)
    queries = query_ids(QUERIES)
    counts = np.ones(QUERIES, dtype=int)
    counts[rng.choice(QUERIES, JUDGED - QUERIES, replace=False)] += 1
    for query, count in zip(queries, counts.tolist(), strict=True):
        listed = item_numbers(query, DEPTH)
        ranks = {int(DEPTH ** rng.uniform()) - 1 for _ in range(count)}
        while len(ranks) < count:
            ranks.add(int(rng.integers(DEPTH)))
        for rank in sorted(ranks):
            number = listed[rank] if rng.uniform() < 0.87 else ITEMS + int(rng.integers(ITEMS))
            yield f"{query} 0 {item(number)} 1\n"


def graded() -> Iterator[str]:
    """43 queries with 208 graded items each, as in TREC DL."""
    rng = np.random.default_rng(5)
    for query in query_ids(QUERIES)[:: QUERIES // 43][:43]:
        listed = item_numbers(query, DEPTH)
        for place in sorted(rng.choice(DEPTH, 120, replace=False).tolist()):
            yield f"{query} 0 {listed[place]} {rng.integers(4)}\n"
        for number in range(88):
            yield f"{query} 0 {ITEMS + number} {rng.integers(4)}\n"


def small_judgments() -> Iterator[str]:
    rng = np.random.default_rng(6)
    for query in query_ids(50):
        for place in sorted(rng.choice(DEPTH, 120, replace=False).tolist()):
            yield f"{query} 0 {item_numbers(query, DEPTH)[place]} {rng.integers(4)}\n"


QRELS: dict[str, Callable[[], Iterator[str]]] = {
    "qrels": lambda: judgments(int),
    "qrels-d": lambda: judgments("D{}".format),
    "qrels-guid": lambda: judgments(guid),
    "qrels-dl": graded,
    "qrels-small": small_judgments,
}


def make(name: str) -> Path:
    """The file of a case, written if it is not there yet."""
    CASES.mkdir(exist_ok=True)
    path = CASES / f"{name}.txt"
    if path.exists():
        return path
    draft = path.with_suffix(".part")
    if name == "shuf":
        write_shuffled(draft)
    elif name in QRELS:
        with draft.open("w") as file:
            file.writelines(QRELS[name]())
    else:
        with draft.open("w") as file:
            for group in RUNS[name]():
                file.writelines(group)
    return draft.replace(path)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    names = [*RUNS, "shuf", *QRELS]
    parser.add_argument("cases", nargs="*", metavar="CASE", help="default: all")
    parser.add_argument("--list", action="store_true", help="name the cases and stop")
    options = parser.parse_args()
    if options.list:
        print("\n".join(names))
        return
    for name in options.cases or names:
        path = make(name)
        print(f"{path.stat().st_size:>12,} bytes  {path.name}")


if __name__ == "__main__":
    main()
