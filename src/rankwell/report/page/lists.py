"""The lists of the chosen queries, with their items put in one table: what an item says and how it looks stands once."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rankwell.errors import BadInput
from rankwell.io.result_folder import ITEMS
from rankwell.report.page import SNIPPET, PageSource, cells
from rankwell.report.page.tables import PageLists, Tables

Rows = list[list[list[Any]]]
"""Of one query: per run its rows [item, rank, score, grade, state, detail]."""


@dataclass(eq=False)
class Items:
    """The items of all lists, by number in the order of first sight. texts: snippets. thumbnails: `data:` addresses."""

    known: Mapping[tuple[str, str | None], Mapping[str, Any]]
    words: Mapping[str, str]
    ids: list[str] = field(default_factory=list[str])
    texts: list[str | None] = field(default_factory=list[str | None])
    thumbnails: list[str | None] = field(default_factory=list[str | None])
    _numbers: dict[tuple[str, str | None], int] = field(default_factory=dict[tuple[str, str | None], int])

    def number(self, item: str, *, of: Sequence[str] = (), thumbnail: str | None = None) -> int:
        """The number of an item. of: the run and the part in whose list it stands, which may have items of their own."""
        own = next((each for each in of if (item, each) in self.known), None)
        at = self._numbers.get((item, own))
        if at is None:
            at = self._numbers[item, own] = len(self.ids)
            known = self.known.get((item, own), {})
            self.ids.append(item)
            self.texts.append(_snippet(known.get("text") or (self.words.get(item) if own is None else None)))
            self.thumbnails.append(known.get("thumbnail"))
        if self.thumbnails[at] is None:
            self.thumbnails[at] = thumbnail
        return at

    def draw(self, pictures: Callable[[Sequence[str]], Mapping[str, str]]) -> None:
        """Adds the pictures of those items that have none yet."""
        bare = [at for at, thumbnail in enumerate(self.thumbnails) if thumbnail is None]
        drawn = pictures([self.ids[at] for at in bare])
        for at in bare:
            self.thumbnails[at] = drawn.get(self.ids[at])


def items_of(source: PageSource, tables: Tables) -> Items:
    """An empty table of items, with what the folders and the page's source know of any."""
    known: dict[tuple[str, str | None], Mapping[str, Any]] = {}
    for table in tables.columns(ITEMS):
        for cells_of_row in zip(*table.values(), strict=True):
            row = dict(zip(table, cells_of_row, strict=True))
            known.setdefault((row["item"], row.get("of")), row)
    return Items(known, source.texts)


def lists_of(source: PageSource, listed: PageLists, items: Items, parts: Sequence[str]) -> dict[int, Rows]:
    """The lists by query. parts: of every query the part (`t2v`) that it belongs to."""
    runs: tuple[str, ...] = source.runs
    found: dict[int, Rows] = {}
    ranks, scores, grades = cells(listed.rank), cells(listed.score), cells(listed.grade)
    numbers = zip(ranks, scores, grades, strict=True)
    rows = zip(listed.query, listed.run, listed.item, listed.state, listed.detail, strict=True)
    for (query, run, item, state, detail), (rank, score, grade) in zip(rows, numbers, strict=True):
        known = _known(detail) if detail else {}
        thumbnail = known.pop("thumbnail", None)
        picture = thumbnail.get("src") if isinstance(thumbnail, dict) else None
        number = items.number(item, of=(runs[run], parts[query]), thumbnail=picture)
        mine = found.get(query)
        if mine is None:
            mine = found[query] = [[] for _ in runs]
        mine[run].append([number, rank, score, grade, state, known or None])
    return found


def item_data(items: Items, numbers: Iterable[int]) -> dict[str, dict[str, str | None]]:
    """Texts and pictures of some items, by number; items with neither are left out."""
    found = {number: {"text": items.texts[number], "thumbnail": items.thumbnails[number]} for number in sorted(numbers)}
    return {str(number): known for number, known in found.items() if known["text"] or known["thumbnail"]}


def _known(detail: str) -> dict[str, Any]:
    """The details of a result. Raises BadInput for anything but a JSON object."""
    try:
        known = json.loads(detail, parse_constant=lambda _: None)
    except ValueError:
        known = None
    if not isinstance(known, dict):
        raise BadInput(f"details.parquet: the detail {detail[:60]!r} is not a JSON object; run the command again that wrote it.")
    return known


def _snippet(text: str | None) -> str | None:
    """The beginning of a text on one line, cut between words where there are any."""
    if not text:
        return None
    line = " ".join(text[: 4 * SNIPPET].split())
    if len(line) <= SNIPPET:
        return line or None
    cut = line[: SNIPPET - 1]
    return f"{cut.rpartition(' ')[0] or cut}…"
