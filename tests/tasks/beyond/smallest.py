"""The smallest command of the task and its inputs."""

from pathlib import Path

import numpy as np

COMMAND = "beyond mine.run --documents items.csv:id"
MINE = [("u1", "abcd"), ("u2", "abce"), ("u3", "bafg")]
POPULAR = [("u1", "abc"), ("u2", "abc"), ("u3", "abc")]
ITEMS = """id,genres,artist
a,war|drama,new
b,drama,old
c,comedy,old
d,,old
e,comedy|drama,new
f,war,
g,noir,new
h,noir,old
"""
SEEN = {"u1": "abh", "u2": "ach", "u3": "bh", "u4": "ab", "u5": "a"}
JUDGMENTS = "u1 0 c 1\nu1 0 d 2\nu2 0 e 1\nu3 0 f 1\n"
VECTORS = {
    "a": (1, 0),
    "b": (1, 1),
    "c": (0, 1),
    "d": (-1, 0),
    "e": (1, 2),
    "f": (2, 1),
    "g": (0, -1),
    "h": (1, -1),
}


def _run(lists: list[tuple[str, str]]) -> str:
    rows = ((user, item, rank) for user, items in lists for rank, item in enumerate(items, 1))
    return "".join(f"{user} Q0 {item} {rank} {10 - rank} tag\n" for user, item, rank in rows)


def write(folder: Path) -> None:
    """Writes the inputs."""
    seen = "".join(f"{user} 0 {item} 1\n" for user, items in SEEN.items() for item in items)
    files = {
        "mine.run": _run(MINE),
        "popular.run": _run(POPULAR),
        "items.csv": ITEMS,
        "seen.txt": seen,
    }
    np.save(folder / "vectors.npy", np.array(list(VECTORS.values()), dtype=np.float32))
    for name, text in (
        files
        | {"qrels.txt": JUDGMENTS, "vectors.ids.txt": "".join(f"{item}\n" for item in VECTORS)}
    ).items():
        (folder / name).write_text(text, encoding="utf-8")
