"""The data of a page, whole: what stands in it at once, and the lists, which may lie beside it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankwell import __version__
from rankwell.io.result_folder import QUERIES
from rankwell.report import plain, rule_pairs
from rankwell.report.page import MOST_RESULTS, PageSource, figures
from rankwell.report.page.charts import charts
from rankwell.report.page.lists import Items, Rows, items_of, lists_of
from rankwell.report.page.questions import choose, cut_of, flags_of, query_data, questions_of
from rankwell.report.page.tables import opened

SCHEMA = 1


@dataclass(frozen=True, eq=False)
class PageData:
    """The data in parts. always: all but lists and what items say. lists: query -> per run its rows. pictures: query -> item."""

    always: Mapping[str, Any]
    lists: Mapping[int, Rows]
    items: Items
    pictures: Mapping[int, int]

    def whole(self) -> dict[str, Any]:
        """Everything in one object, by the contract of docs/page.md."""
        items = {"id": self.items.ids, "text": self.items.texts, "thumbnail": self.items.thumbnails}
        return {**self.always, "items": items, "lists": {str(query): rows for query, rows in self.lists.items()}}

    def head(self) -> dict[str, Any]:
        """The same without lists, texts and pictures, which lie in files beside the page."""
        return {**self.always, "items": {"id": self.items.ids}, "lists": {}}

    def shown_in(self, query: int) -> set[int]:
        """The items that a query's lists show, and its own picture."""
        own = {self.pictures[query]} if query in self.pictures else set[int]()
        return own | {row[0] for rows in self.lists[query] for row in rows}

    def weight(self, query: int) -> int:
        """Number of characters of the texts and pictures of a query's lists."""
        return sum(len(self.items.texts[at] or "") + len(self.items.thumbnails[at] or "") for at in self.shown_in(query))


def page_data(source: PageSource) -> PageData:
    """The data of a page. Raises BadInput for tables that are damaged, naming the file."""
    measures = figures.measure_table(source)
    with opened(source.places, source.runs) as tables:
        questions = questions_of(source, measures, tables.columns(QUERIES))
        parts = [part for _, part in questions.keys]
        overview = tables.overview(cut_of(measures)) if tables.join(questions.keys) else None
        items = items_of(source, tables)
        lists, shown, rule = dict[int, Rows](), list[int](), "No lists: the results were kept without details.parquet."
        if overview is not None:
            first = next(iter(measures.values()))
            shown, rule = choose(questions, np.asarray(overview.listed.any(axis=0)), first, source.seed)
            lists = lists_of(source, tables.lists_of(shown), items, parts)
    pictures = {query: items.number(item) for query, item in enumerate(questions.pictures) if item is not None}
    if source.pictures is not None:
        items.draw(source.pictures)
    flags, everywhere = flags_of(source, questions, overview)
    queries = query_data(source, questions, overview, flags)
    if pictures:
        queries["picture"] = [pictures.get(query) for query in range(len(parts))]
    head = {
        "schema": SCHEMA,
        "tool": f"rankwell {__version__}",
        "title": source.title,
        "protocol": source.protocol,
        "verdicts": list(source.verdicts),
        "notes": [*source.notes, *everywhere],
        "rules": [list(pair) for pair in rule_pairs(source.rules)],
        "inputs": [list(pair) for pair in source.inputs.items()],
        "runs": list(source.runs),
        "measures": list(measures.values()),
        "summary": figures.summary(source, measures),
        "differences": figures.differences(source, measures),
        "groups": figures.groups(source),
        "charts": plain(charts(source)),
        "queries": queries,
        "shown": {"queries": len(shown), "of": len(parts), "results": MOST_RESULTS, "rule": rule},
    }
    return PageData(head, lists, items, pictures)
