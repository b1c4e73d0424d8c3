"""The data of a page, whole: queries with their values, the lists of the chosen ones, the items in
them.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import compress, repeat
from typing import Any

import numpy as np

from rankwell import __version__
from rankwell.data.catalogue import ResultKind
from rankwell.data.findings import LEVELS
from rankwell.data.findings.kinds import (
    only_relevant_items_judged,
    so_on_every_query,
    unjudged_in_top,
)
from rankwell.data.options import shown_digits
from rankwell.data.tables import Bools, Floats, Ints, is_number, positions_by_id, sort_ids
from rankwell.documents import parse_json
from rankwell.errors import BadInput, flag
from rankwell.io import connected
from rankwell.io.result_folder import ITEMS, QUERIES
from rankwell.reporting import Row, format_value, grouped, plain, rule_pairs
from rankwell.reporting.charts import part_of
from rankwell.reporting.page import (
    MOST_QUERIES,
    MOST_RELEVANT,
    MOST_RESULTS,
    SNIPPET,
    Facts,
    PageSource,
    cells,
    summaries,
)
from rankwell.reporting.page.summaries import Key
from rankwell.reporting.page.tables import NEAR, PART, Overview, Tables

SCHEMA = 1
Rows = list[list[list[Any]]]
"""Of one query: per run its rows [item, rank, score, grade, state, detail]."""


class Items:
    """The items of all lists, by number in the order of first sight. texts: snippets. thumbnails:
    `data:` addresses.
    """

    def __init__(self, source: PageSource, tables: Tables) -> None:
        self._source_texts = source.texts
        self._item_rows: dict[tuple[str, str | None], Row] = {}
        for table in tables.columns(ITEMS):
            for row_cells in zip(*table.values(), strict=True):
                row = dict(zip(table, row_cells, strict=True))
                self._item_rows.setdefault((row["item"], row.get("of")), row)
        self._numbers: dict[tuple[str, str | None], int] = {}
        self.ids = list[str]()
        self.texts, self.thumbnails = list[str | None](), list[str | None]()

    def number(
        self, item: str, *, run: str = "", part: str = "", thumbnail: str | None = None, at: int = 0
    ) -> int:
        """The number of an item. run, part: in whose list it is; the items of a part are its own,
        and so are those of runs. at: where in its text that begins for which it is listed.

        An item of two runs is the same item; one without a run, such as the text of an answer, may
        have its id and is another.
        """
        owner = next((name for name in (run, part) if (item, name) in self._item_rows), None)
        key = (item, part if owner == part else None if owner is None else "")
        if key not in self._numbers:
            self._numbers[key] = len(self.ids)
            item_row = self._item_rows.get((item, owner), {})
            source_text = self._source_texts.get(item) if owner is None else None
            self.ids.append(item)
            self.texts.append(_snippet(item_row.get("text") or source_text, at))
            self.thumbnails.append(item_row.get("thumbnail"))
        number = self._numbers[key]
        if self.thumbnails[number] is None:
            self.thumbnails[number] = thumbnail
        return number

    def draw(self, pictures: Callable[[Sequence[str]], Mapping[str, str]]) -> None:
        """Adds the pictures of those items that have none yet."""
        bare = [number for number, address in enumerate(self.thumbnails) if address is None]
        addresses = pictures([self.ids[number] for number in bare])
        for number in bare:
            self.thumbnails[number] = addresses.get(self.ids[number])


@dataclass(frozen=True, eq=False)
class PageData:
    """The data of a page in parts. Queries and items are numbers from 0.

    always: the data that every page needs: all but the lists, and the texts and pictures of items.
    lists: query -> its rows for each run.
    items: ids of the items, with texts and pictures.
    pictures: query -> the item that is its picture.
    """

    always: Mapping[str, Any]
    lists: Mapping[int, Rows]
    items: Items
    pictures: Mapping[int, int]

    def complete(self) -> Facts:
        """Everything in one object, by the contract of docs/reference/results.md."""
        items = {"id": self.items.ids, "text": self.items.texts, "thumbnail": self.items.thumbnails}
        return {
            **self.always,
            "items": items,
            "lists": {str(query): rows for query, rows in self.lists.items()},
        }

    def head(self) -> Facts:
        """The data without lists, texts and pictures, which lie in files beside the page."""
        return {**self.always, "items": {"id": self.items.ids}, "lists": {}}

    def items_in(self, query: int) -> set[int]:
        """The items that a query's lists show, and its own picture."""
        picture = {self.pictures[query]} if query in self.pictures else set[int]()
        return picture | {row[0] for rows in self.lists[query] for row in rows}

    def weight(self, query: int) -> int:
        """Number of characters of the texts and pictures of a query's lists."""
        return sum(
            len(self.items.texts[number] or "") + len(self.items.thumbnails[number] or "")
            for number in self.items_in(query)
        )


def page_data(source: PageSource) -> PageData:
    """The data of a page. Raises BadInput for tables that are damaged, naming the file."""
    measures = summaries.measure_table(source)
    with connected() as session:
        tables = Tables(source.folders, source.runs, session)
        questions = questions_of(source, measures, [source.query_texts, *tables.columns(QUERIES)])
        parts = [part for _, part in questions.keys]
        # The first cut-off of a measure that lists are deep enough for.
        cuts = (
            cut
            for cut in (summaries.cutoff_of(key.measure) for key in measures)
            if cut and cut < MOST_RESULTS
        )
        overview = tables.overview(next(cuts, None)) if tables.join(questions.keys) else None
        items = Items(source, tables)
        lists, listed_queries = dict[int, Rows](), list[int]()
        rule = (
            "No lists: the results have none; evaluate with "
            f"{flag('-o', True, name='details').removeprefix('pass ')}."
        )
        if overview is not None and not (overview.retrieved.any() or overview.n_relevant.any()):
            # Pairs, say, are not ranked.
            overview, rule = None, ""
        if overview is not None:
            listed_queries, rule = choose(questions, overview, list(measures.values()), source.seed)
            lists = lists_of(source, tables.lists_of(listed_queries), items, parts)
    picture_items = questions.columns.get("picture_item", ())
    pictures = {
        query: items.number(item) for query, item in enumerate(picture_items) if item is not None
    }
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
        **({} if source.kind.noun == ResultKind().noun else {"noun": list(source.kind.noun)}),
        **({} if (digits := shown_digits()) is None else {"digits": digits}),
        "verdicts": summaries.verdicts(source),
        "pair": None if source.pair is None else [source.runs.index(run) for run in source.pair],
        "findings": _findings(source, questions, overview, everywhere),
        "rules": [list(pair) for pair in rule_pairs(source.rules)],
        "inputs": [list(pair) for pair in source.inputs.items()],
        "runs": list(source.runs),
        "measures": list(measures.values()),
        "lead": summaries.lead(source, measures),
        "summary": summaries.summary(source, measures),
        "failures": summaries.failures(source),
        "differences": summaries.differences(source, measures),
        "groups": summaries.groups(source),
        **({"settings": summaries.settings(source)} if source.settings else {}),
        **({"unanswered": unanswered(source, questions)} if source.unanswered else {}),
        "charts": plain(summaries.charts(source)),
        "queries": queries,
        "shown": {
            "queries": len(listed_queries),
            "of": len(parts),
            "results": MOST_RESULTS,
            "rule": rule,
        },
    }
    return PageData(head, lists, items, pictures)


def _findings(
    source: PageSource,
    questions: "PageQueries",
    overview: Overview | None,
    everywhere: Sequence[str],
) -> list[Facts]:
    """The findings, first those that the page sums up, with the places of their queries on it.
    everywhere: what is so on every query.
    """
    places = grouped((query, place) for place, (query, _) in enumerate(questions.keys))
    is_partial = only_relevant_items_judged() not in source.findings
    findings = _unjudged(source, overview) if is_partial else []
    for finding in (*source.findings, *map(so_on_every_query, everywhere)):
        facts = finding.as_dict()
        if finding.queries:
            listed = (place for query in finding.queries for place in places.get(query, ()))
            facts["queries"] = sorted(listed)
        findings.append(facts)
    return sorted(findings, key=lambda facts: LEVELS.index(facts["level"]))


_APART, _WORST, _BEST = 200, 100, 50
_BEFORE = 40
"""Number of characters of a text that are shown before the part for which it is listed."""
_TAKEN = ("query", "text", "picture_item")


@dataclass(frozen=True, eq=False, kw_only=True)
class PageQueries:
    """The queries in the order of their parts and ids, with all values.

    keys: id and part (`t2v`) of each query; the part is empty where ids distinguish queries.
    values: (measures, runs, queries), NaN where a query is not counted.
    has_values: (runs, queries) whether the run has a row of values for the query.
    columns: the attributes of the queries.
    """

    keys: tuple[tuple[str, str], ...]
    values: Floats
    has_values: Bools
    columns: Mapping[str, Sequence[Any]]


def questions_of(
    source: PageSource, measures: Mapping[Key, Any], tables: Sequence[Mapping[str, list[Any]]]
) -> PageQueries:
    """The queries of all values, with what the tables say of them; of each query the first table
    holds that knows it.
    """
    parted = any(PART in table for table in tables)
    parts = [
        str(attributes.get(PART) or "") if parted else "" for attributes in source.row_attributes
    ]
    by_part: dict[str, set[str]] = {}
    for column, part in zip(source.values, parts, strict=True):
        by_part.setdefault(part, set()).update(column.queries)
    keys = tuple((query, part) for part, queries in by_part.items() for query in sort_ids(queries))
    position_of = positions_by_id(keys)
    rows = positions_by_id(measures)
    values = np.full((len(rows), len(source.runs), len(keys)), np.nan)
    has_values = np.zeros(values.shape[1:], dtype=np.bool_)

    # The values of one run are mostly of the same queries by every measure.
    @lru_cache(maxsize=1)
    def positions_of(part: str, queries: tuple[str, ...]) -> Ints:
        return np.array([position_of[query, part] for query in queries], dtype=np.int64)

    for column, attributes, part in zip(source.values, source.row_attributes, parts, strict=True):
        key = Key(column.measure, part_of(attributes, attributes))
        run, positions = source.runs.index(column.run), positions_of(part, tuple(column.queries))
        values[rows[key], run, positions] = column.values
        has_values[run, positions] = True
    columns = _columns(keys, tables, parted=parted)
    return PageQueries(keys=keys, values=values, has_values=has_values, columns=columns)


def _columns(
    keys: Sequence[tuple[str, str]], tables: Sequence[Mapping[str, list[Any]]], *, parted: bool
) -> dict[str, Sequence[Any]]:
    """The columns of queries.parquet in the order of the keys, without the empty ones; tables
    without parts hold for all.
    """
    positions_of = {key: [position] for position, key in enumerate(keys)}
    if parted:
        for position, (query, _) in enumerate(keys):
            positions_of.setdefault((query, ""), []).append(position)
    columns: dict[str, list[Any]] = {}
    for table in tables:
        parts = map(str, (part or "" for part in table[PART])) if PART in table else repeat("")
        query_keys = zip(table.get("query", ()), parts, strict=False)
        rows = [positions_of.get(key, ()) for key in query_keys]
        for name, column in table.items():
            filled = columns.setdefault(name, [None] * len(keys))
            for positions, cell in zip(rows, column, strict=True):
                for position in positions:
                    if filled[position] is None:
                        filled[position] = cell
    return {
        name: column
        for name, column in columns.items()
        if name != "query" and any(cell is not None for cell in column)
    }


def query_data(
    source: PageSource,
    questions: PageQueries,
    overview: Overview | None,
    flags: Mapping[str, list[list[int]]],
) -> Facts:
    """The data of the queries on the page; see docs/reference/results.md."""
    attributes = {
        name: _attribute(column) for name, column in questions.columns.items() if name not in _TAKEN
    }
    if PART in attributes:
        attributes[PART] = [source.kind.parts.get(part, part) for part in attributes[PART]]
    run_index = positions_by_id(source.runs)
    of_runs = {
        name: sorted(run_index[run] for run in folder.names.values() if run in run_index)
        for folder in source.folders
        for name in folder.attributes.values()
        if name in attributes
    }
    return {
        "id": [query for query, _ in questions.keys],
        "text": list(questions.columns.get("text", [None] * len(questions.keys))),
        "attributes": attributes,
        **({"attribute_runs": of_runs} if of_runs else {}),
        "flags": flags,
        "values": cells(questions.values),
        **({} if overview is None else _ranked(overview, is_keyed=source.is_keyed)),
    }


def _ranked(overview: Overview, *, is_keyed: bool) -> Facts:
    """In each run's list the number of relevant items and the rank of the first; how many are
    unjudged, none with a key.
    """
    rank_data = {
        "relevant": cells(np.where(overview.has_rows, overview.n_relevant, np.nan)),
        "first": cells(overview.first_rank),
    }
    return rank_data if is_keyed else rank_data | {"unjudged": overview.n_unjudged.tolist()}


def flags_of(
    source: PageSource, questions: PageQueries, overview: Overview | None
) -> tuple[dict[str, list[list[int]]], list[str]]:
    """Flags of queries: name -> of each run the positions of the queries with it; and in words
    those of all queries.
    """
    if overview is None:
        return {}, []
    flagged: Facts = {"no relevant": overview.has_rows & (overview.n_relevant == 0)}
    # Where every query has unjudged results, the finding with their number is enough.
    if not source.is_keyed and not overview.n_unjudged.any(axis=0).all():
        flagged[f"unjudged in top {NEAR}"] = overview.n_unjudged > 0
    flagged[f"tie at rank {overview.cut}"] = overview.tied
    for run, name in enumerate(source.runs):
        if not source.kind.may_skip and overview.has_rows[run].any():
            missing = flagged[f"missing from {name}"] = np.zeros_like(overview.has_rows)
            missing[run] = questions.has_values[run] & ~overview.retrieved[run]
    flags, everywhere = dict[str, list[list[int]]](), list[str]()
    for name, is_flagged in flagged.items():
        has_all = is_flagged.all(axis=1) & (len(questions.keys) > 1)
        is_partly = is_flagged & ~has_all[:, None]
        if is_partly.any():
            flags[name] = [np.flatnonzero(run).tolist() for run in is_partly]
        if has_all.any():
            names = list(compress(source.runs, has_all))
            of = f" of {', '.join(names) if len(names) <= _MOST_NAMED else f'{len(names)} runs'}"
            # The name of a missing run is in its flag.
            if name.startswith("missing") or has_all[overview.has_rows.any(axis=1)].all():
                of = ""
            everywhere.append(f"{name}: all {len(questions.keys):,} queries{of}")
    return flags, everywhere


def _unjudged(source: PageSource, overview: Overview | None) -> list[Facts]:
    """The finding on results without a judgment, with the order of the queries that shows it."""
    if overview is None or source.is_keyed or not overview.n_unjudged.any():
        return []
    counts = zip(
        source.runs,
        overview.n_unjudged.sum(axis=1).tolist(),
        overview.n_near.sum(axis=1).tolist(),
        strict=True,
    )
    unjudged_shares = [
        (100 * n / of, f"{run} {n:,} of {of:,} ({format_value(100 * n / of, 'percent')} %)")
        for run, n, of in counts
        if n
    ]
    shares = [text for _, text in unjudged_shares]
    if len(unjudged_shares) > _MOST_NAMED:
        shares = [
            f"{len(unjudged_shares)} runs, from {min(unjudged_shares)[1]} to "
            f"{max(unjudged_shares)[1]}"
        ]
    queries = int(overview.n_unjudged.any(axis=0).sum())
    where = f"in {queries:,} {'query' if queries == 1 else 'queries'}"
    ends = dict.fromkeys(
        f"{end([share for share, _ in unjudged_shares]):.0f}" for end in (min, max)
    )
    counted = ", counted as not relevant" if source.rules.get("unjudged") == "nonrelevant" else ""
    return [
        {
            "name": unjudged_in_top.name,
            "level": unjudged_in_top.level,
            "message": f"{'–'.join(ends)} % of the top {NEAR} unjudged{counted}",
            "detail": f"Unjudged among the first {NEAR} results, {where}: {', '.join(shares)}, of "
            "the results of all queries together.",
            "sort": "unjudged",
        }
    ]


_MOST_NAMED = 4


def unanswered(source: PageSource, questions: PageQueries) -> list[Facts]:
    """The requests without an answer, by run and query; query: its place, None where it has no
    value either.
    """
    position_of = {query: position for position, (query, _) in enumerate(questions.keys)}
    return [
        {
            "run": source.runs.index(row["run"]),
            "query": position_of.get(str(row["query"])),
            "id": str(row["query"]),
        }
        | {name: plain(row[name]) for name in ("round", "status", "error")}
        for row in source.unanswered
        if row["run"] in source.runs
    ]


def choose(
    questions: PageQueries, overview: Overview, measures: Sequence[Row], seed: int
) -> tuple[list[int], str]:
    """The queries that have lists, at most 500, in order, and the sentence that says which they
    are.

    They are chosen by the first measure with values of single queries. A query without a value by
    it comes last everywhere; of equally bad ones that with the later relevant result comes first,
    as on the page.
    """
    able = np.flatnonzero(overview.has_rows.any(axis=0))
    depth = (
        f"each shows the first {MOST_RESULTS} results of a run and all relevant items (at most "
        f"{MOST_RELEVANT} beyond them)"
    )
    if len(able) <= MOST_QUERIES:
        subject = f"The {len(able):,} queries with results have lists"
        if len(able) == len(questions.keys):
            subject = "All queries have lists"
        return able.tolist(), f"{subject}; {depth}."
    measure_index = int(np.argmax(~np.isnan(questions.values).all(axis=(1, 2))))
    measure = measures[measure_index]
    values = questions.values[measure_index][:, able]
    if measure["better"] == "lower":
        values = -values
    counted = np.count_nonzero(~np.isnan(values), axis=0)
    mean = np.nansum(values, axis=0) / np.maximum(counted, 1)
    spread = np.fmax.reduce(values) - np.fmin.reduce(values)
    late = np.nan_to_num(overview.first_rank[:, able], nan=np.inf).mean(axis=0)
    is_chosen = np.zeros(len(able), dtype=np.bool_)

    def take(key: Floats, max_marked: int, tie_key: Floats) -> int:
        """Marks the first by finite keys, then by the further one; returns how many."""
        keys = np.where(is_chosen, np.inf, np.round(key, 12))
        first = np.lexsort((tie_key, keys))[:max_marked]
        first = first[np.isfinite(keys[first])]
        is_chosen[first] = True
        return len(first)

    level = np.zeros(len(able))
    n_apart = take(np.where(spread > 0, -spread, np.inf), _APART, level)
    n_worst = take(np.where(counted > 0, mean, np.inf), _WORST, -late)
    n_best = take(np.where(counted > 0, -mean, np.inf), _BEST, level)
    drawn = np.random.default_rng(seed).choice(
        np.flatnonzero(~is_chosen), MOST_QUERIES - int(is_chosen.sum()), replace=False
    )
    is_chosen[drawn] = True
    by = measure["label"] + (f" ({measure['of']})" if measure["of"] else "")
    kinds = f"the {n_worst} worst and the {n_best} best by {by}"
    if n_apart:
        kinds = (
            f"the {n_apart} about which the runs differ most by {by}, of the others the {n_worst} "
            f"worst and the {n_best} best"
        )
    return able[is_chosen].tolist(), (
        f"{MOST_QUERIES} of {len(questions.keys):,} queries have lists: {kinds}, {len(drawn)} "
        f"drawn at random (seed {seed}); {depth}."
    )


def _attribute(column: Sequence[Any]) -> list[Any]:
    """Numbers rounded for the page, anything else as text."""
    present = [cell for cell in column if cell is not None]
    if all(map(is_number, present)):
        return cells(np.array(column, dtype=np.float64))  # None becomes NaN
    return [None if cell is None else str(cell) for cell in column]


def lists_of(
    source: PageSource, rows: Iterable[tuple[Any, ...]], items: Items, parts: Sequence[str]
) -> dict[int, Rows]:
    """The lists by query. parts: of every query the part (`t2v`) that it belongs to."""
    lists: dict[int, Rows] = {}
    for query, run, item, state, detail, *numbers in rows:
        attributes = _parsed_detail(detail) if detail else {}
        thumbnail = attributes.pop("thumbnail", None)
        picture = thumbnail.get("src") if isinstance(thumbnail, dict) else None
        at = attributes.pop("at", 0)
        number = items.number(
            item, run=source.runs[int(run)], part=parts[int(query)], thumbnail=picture, at=at
        )
        if query not in lists:
            lists[query] = [[] for _ in source.runs]
        lists[query][run].append([number, *numbers, state, attributes or None])
    return lists


def item_data(items: Items, numbers: Iterable[int]) -> dict[str, dict[str, str | None]]:
    """Texts and pictures of some items, by number; items with neither are left out."""
    contents = {
        str(number): {"text": items.texts[number], "thumbnail": items.thumbnails[number]}
        for number in sorted(numbers)
    }
    return {number: content for number, content in contents.items() if any(content.values())}


def _parsed_detail(detail: str) -> Facts:
    """The details of a result; a number that is not finite is None. Raises BadInput for anything
    but a JSON object.
    """
    attributes = parse_json(detail, "details.parquet: a detail", "a JSON object")
    if not isinstance(attributes, dict):
        raise BadInput(
            f"details.parquet: the detail {detail[:60]!r} is not a JSON object; run the "
            "command again that wrote it."
        )
    return plain(attributes) if "NaN" in detail or "Infinity" in detail else attributes


def _snippet(text: str | None, at: int) -> str | None:
    """The beginning of a text on one line, cut between words where there are any; of a text whose
    part at `at` would be cut off, that part.
    """
    if not text:
        return None
    if len(text) > SNIPPET and at > SNIPPET // 2:
        text = f"… {text[max(0, at - _BEFORE) :].partition(' ')[2]}"
    line = " ".join(text[: 4 * SNIPPET].split())
    if len(line) <= SNIPPET:
        return line or None
    cut = line[: SNIPPET - 1]
    return f"{cut.rpartition(' ')[0] or cut}…"
