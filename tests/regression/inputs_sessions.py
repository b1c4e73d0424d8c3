"""Inputs of the cases of sessions and of second judgments."""

from pathlib import Path
from random import Random

from regression.worlds import ITEMS, QUERIES


def write(folder: Path) -> None:
    """Sessions of the queries, with places and without, and second grades of most items."""
    random = Random(60)
    rows = [(query, f"s{place // 3}", place % 3 + 1) for place, query in enumerate(QUERIES)]
    (folder / "sessions.csv").write_text(
        "query,session\n" + "".join(f"{query},{session}\n" for query, session, _ in rows)
    )
    random.shuffle(rows)
    (folder / "places.csv").write_text(
        "query,session,position\n"
        + "".join(f"{query},{session},{n}\n" for query, session, n in rows)
    )
    (folder / "torn.csv").write_text(
        "query,session\n" + "".join(f"{query},{session}\n" for query, session, _ in rows[:5])
    )
    second = [
        f"{query} 0 {item} {random.randint(0, 3)}\n"
        for query in QUERIES
        for item in ITEMS
        if random.random() < 0.8
    ]
    (folder / "second.txt").write_text("".join(second), encoding="utf-8")
