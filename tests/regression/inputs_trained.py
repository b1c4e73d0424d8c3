"""Inputs of the cases of fusion methods that learn: runs without judgments."""

from pathlib import Path
from random import Random

from regression.worlds import ITEMS, trec


def write(folder: Path) -> None:
    """Runs of two queries that the judgments do not have."""
    (folder / "new").mkdir()
    for place, name in enumerate("abc"):
        random = Random(50 + place)
        run = {
            query: {item: random.randrange(40) / 8 for item in random.sample(ITEMS, 12)}
            for query in ("n1", "n2")
        }
        (folder / f"new/{name}.run").write_text(trec(run, name), encoding="utf-8")
