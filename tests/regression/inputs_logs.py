"""Inputs of the cases of `clicks` and `clicks interleave`: logged data, lists and clicks on them."""

from pathlib import Path

import rankwell as rw
from tasks.clicks import smallest


def write(folder: Path) -> None:
    """The inputs of the smallest command, lists and clicks on them."""
    place = folder / "logs"
    place.mkdir()
    smallest.write(place)
    lists = rw.interleave(place / "a.run", place / "b.run", depth=3, names=("a", "b"))
    (place / "lists.jsonl").write_text("".join(each.line() for each in lists), encoding="utf-8")
    rows = [f"{each.name},{each.items[place % 3]}\n" for place, each in enumerate(lists)]
    (place / "clicks.csv").write_text("query,item\n" + "".join(rows), encoding="utf-8")
