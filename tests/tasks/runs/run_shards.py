"""A run in shards of any format, for the tests of runs in parts."""

import random
from collections.abc import Iterable, Sequence
from pathlib import Path

import duckdb

Row = tuple[str, str, float]
SHARDS = 7


def rows_of(seed: int = 0) -> list[Row]:
    """Rows query by query, those of each by no order; most scores are tied. Two queries are not
    judged.
    """
    draw = random.Random(seed)
    queries = [f"q{query}" for query in range(3, 30)] + ["zz", "yy"]
    return [
        (query, f"d{item}", draw.randrange(8) / 4)
        for query in queries
        for item in draw.sample(range(60), 30)
    ]


def scattered(rows: Sequence[Row]) -> list[Row]:
    """The rows in any order."""
    return random.Random(1).sample(rows, len(rows))


def write_judgments(file: Path, seed: int = 2) -> None:
    draw = random.Random(seed)
    lines = [
        f"q{query} 0 d{item} {draw.randrange(3)}\n"
        for query in range(28)
        for item in draw.sample(range(70), 6)
    ]
    file.write_text("".join(lines), encoding="utf-8")


def write_run(file: Path, rows: Sequence[Row]) -> None:
    """Writes a run in the format of the file's suffix; `.tsv` is MS MARCO's, with scores as
    ranks.
    """
    if file.suffix == ".run":
        text = "".join(f"{query} Q0 {item} 1 {score} tag\n" for query, item, score in rows)
    elif file.suffix == ".csv":
        text = "query,item,score\n" + "".join(
            f"{query},{item},{score}\n" for query, item, score in rows
        )
    elif file.suffix == ".jsonl":
        text = "".join(
            f'{{"query": "{query}", "item": "{item}", "score": {score}}}\n'
            for query, item, score in rows
        )
    elif file.suffix == ".json":
        queries = dict.fromkeys(query for query, *_ in rows)
        lists = {
            query: ", ".join(f'"{item}": {score}' for name, item, score in rows if name == query)
            for query in queries
        }
        text = "{" + ", ".join(f'"{query}": {{{items}}}' for query, items in lists.items()) + "}"
    elif file.suffix == ".tsv":
        text = "".join(f"{query}\t{item}\t{place}\n" for query, item, place in ranked(rows))
    else:
        columns = list(zip(*rows, strict=True))
        with duckdb.connect() as session:
            session.execute("CREATE TABLE r (query VARCHAR, item VARCHAR, score DOUBLE)")
            session.execute(
                "INSERT INTO r SELECT unnest(?), unnest(?), unnest(?)",
                [list(each) for each in columns],
            )
            session.execute(f"COPY r TO '{file}' (FORMAT parquet, ROW_GROUP_SIZE 20)")
        return
    file.write_text(text, encoding="utf-8")


def ranked(rows: Iterable[Row]) -> list[tuple[str, str, int]]:
    """Each row with its place among those of its query that are in these rows, from 1."""
    places: dict[str, int] = {}
    found: list[tuple[str, str, int]] = []
    for query, item, _ in rows:
        places[query] = places.get(query, 0) + 1
        found.append((query, item, places[query]))
    return found


def write_shards(
    folder: Path,
    suffix: str,
    rows: Sequence[Row],
    shards: int = SHARDS,
    *,
    whole_queries: bool = False,
) -> None:
    """Writes a folder of a run. whole_queries: no query is in two files."""
    folder.mkdir()
    bounds = [len(rows) * shard // shards for shard in range(shards + 1)]
    if whole_queries:
        starts = [
            0,
            *(at for at in range(1, len(rows)) if rows[at][0] != rows[at - 1][0]),
            len(rows),
        ]
        bounds = [max(start for start in starts if start <= bound) for bound in bounds]
    for shard in range(shards):
        write_run(folder / f"part-{shard:03}{suffix}", rows[bounds[shard] : bounds[shard + 1]])
