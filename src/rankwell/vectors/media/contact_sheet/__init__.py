"""The content of contact sheets, from the rows of details.parquet; and a table of small pictures,
for a page of one file.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from rankwell.data.tables import sort_ids
from rankwell.documents import parse_json
from rankwell.vectors.media.images import Thumbnails, data_uri

if TYPE_CHECKING:
    from PIL.Image import Image

State = Literal["right", "wrong", "unjudged", "query"]
Columns = Mapping[str, Any]
_LONGEST = 160
_STATES: dict[str, State] = {"relevant": "right", "nonrelevant": "wrong", "unjudged": "unjudged"}


class Tile(NamedTuple):
    """One result, or the query itself.

    picture: RGB, of any size; None draws a placeholder with `problem`, a few words. rank: from 1;
    None was not retrieved.
    found, missing: keywords that the query asks for and the result has, or lacks. label: what it
    is, such as an instance.
    """

    item: str
    state: State
    picture: "Image | None" = None
    problem: str = "no file"
    rank: int | None = None
    score: float | None = None
    label: str = ""
    found: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    note: str = ""


class Sheet(NamedTuple):
    """A query with its results in order of rank; ranks may leave some out (the first five, then the
    first right one).

    name: the query's id, by which the file is called. query: its tile, where it is a picture.
    score: what tiles' scores mean.
    """

    name: str
    title: str
    tiles: tuple[Tile, ...]
    lines: tuple[str, ...] = ()
    query: Tile | None = None
    score: str = "similarity"
    empty: str = "no results"


class _Row(NamedTuple):
    """One result of one query; rank None was not retrieved."""

    item: str
    rank: int | None
    score: float | None
    state: str
    detail: Mapping[str, Any]

    @property
    def is_below(self) -> bool:
        """Whether its score is below the requested threshold."""
        return "below_threshold" in self.detail.get("reasons", ())

    @property
    def is_right(self) -> bool:
        """Whether it is relevant and its score high enough."""
        return self.state == "relevant" and not self.is_below

    def keywords(self, *kinds: str) -> list[str]:
        """The keywords `found` or `missing`, of all groups in their order."""
        holders = (self.detail, *self.detail.get("groups", {}).values())
        return [label for holder in holders for kind in kinds for label in holder.get(kind, ())]

    def tile(self, pictures: Thumbnails) -> Tile:
        """The result as it is drawn: what is relevant but below the least score is drawn as
        wrong.
        """
        thumbnail = pictures[self.item]
        notes = [str(self.detail[name]) for name in ("match", "note") if self.detail.get(name)]
        notes += ["below the threshold"] * self.is_below + ["not annotated"] * (
            self.state == "unjudged"
        )
        state = _STATES.get(self.state, "unjudged")
        return Tile(
            item=self.item,
            state="wrong" if self.is_below and state == "right" else state,
            picture=thumbnail.image,
            problem=thumbnail.problem,
            rank=self.rank,
            score=self.score,
            label=str(self.detail.get("label", "")),
            found=tuple(self.keywords("found")),
            missing=tuple(self.keywords("missing")),
            note=" · ".join(notes),
        )


def sheets_of(
    details: Columns,
    pictures: Thumbnails,
    *,
    first: int = 5,
    titles: Mapping[str, str] | None = None,
    lines: Mapping[tuple[str, str], Sequence[str]] | None = None,
    queries: Sequence[tuple[str, str]] | None = None,
    score: str = "similarity",
) -> Iterator[Sheet]:
    """A sheet for each run and query: its first results, then the first right one at any rank.

    details: the columns of details.parquet. Of `detail`, a JSON object, `found` and `missing`
    (lists of keywords) or `groups` (group -> both), `label`, `match`, `note`, `reasons` and `ranks`
    (the first and last rank that a tie leaves open) are shown. titles: query -> its text. lines:
    (run, query) -> lines below the title. queries: the (run, query) to draw, None for all.
    """
    rows = _rows(details)
    has_several_runs, items = len({run for run, _ in rows}) > 1, set(details["item"])
    for run, query in rows if queries is None else queries:
        query_rows = sorted(
            rows.get((run, query), ()), key=lambda row: (row.rank is None, row.rank or 0)
        )
        first_rows = [row for row in query_rows if row.rank is not None and row.state != "junk"][
            :first
        ]
        tiles = [row.tile(pictures) for row in first_rows]
        right = sum(row.is_right for row in first_rows)
        best = next((row for row in query_rows if row.is_right and row.rank), None)
        tie_note = first_right_note = ""
        if best is not None:
            tied: Sequence[int] = best.detail.get("ranks") or ()
            tie_note = f", tied for {tied[0]}–{tied[1]}" if tied else ""
            first_right_note = (
                " · the first right one at rank "
                f"{f'{tied[0]}–{tied[1]}, tied' if tied else best.rank}"
            )
            if not right:
                tiles.append(best.tile(pictures)._replace(note=f"the first right one{tie_note}"))
        # A row that has all keywords, or none, has them in their own order.
        by_completeness = sorted(
            query_rows,
            key=lambda row: bool(row.keywords("found")) and bool(row.keywords("missing")),
        )
        required = dict.fromkeys(
            label for row in by_completeness for label in row.keywords("found", "missing")
        )
        counted = (
            f"{right} of the first {len(first_rows)} right" if first_rows else "nothing retrieved"
        )
        texts = [*([run] if has_several_runs else []), *(lines or {}).get((run, query), ())]
        texts += [f"asks for {', '.join(required)}"] if required else []
        texts.append(
            f"{counted} · {sum(row.state == 'relevant' for row in query_rows)} "
            f"relevant{first_right_note}"
        )
        is_picture = query in pictures or query in items
        tile = (
            Tile(query, "query", pictures[query].image, pictures[query].problem)
            if is_picture
            else None
        )
        name = f"{run} {query}" if has_several_runs else query
        yield Sheet(name, (titles or {}).get(query, query), tuple(tiles), tuple(texts), tile, score)


def picture_columns(
    details: Columns, pictures: Thumbnails, *, queries: Iterable[str] = (), first: int = 20
) -> dict[str, list[Any]]:
    """The columns of items.parquet: the pictures of queries, of their first results and of the
    first right one, each item once.

    `thumbnail` is a JPEG in a `data:` address of `width` x `height` pixels, else `problem` says why
    not in a few words.
    """
    drawn_items = {query for query in queries if query in pictures}
    for query_rows in _rows(details).values():
        ranked = [(row.rank, row) for row in query_rows if row.rank is not None]
        drawn_items |= {row.item for rank, row in ranked if rank <= first}
        drawn_items |= {
            item for _, item in sorted((rank, row.item) for rank, row in ranked if row.is_right)[:1]
        }
    rows: list[tuple[str, str | None, int | None, int | None, str | None]] = []
    for item in sort_ids(drawn_items):
        image, problem = pictures[item]
        if image is None:
            rows.append((item, None, None, None, problem))
            continue
        share = min(1.0, _LONGEST / max(image.size))
        width, height = (max(1, round(side * share)) for side in image.size)
        rows.append((item, data_uri(image, longest=_LONGEST), width, height, None))
    names = ("item", "thumbnail", "width", "height", "problem")
    return {name: [row[column] for row in rows] for column, name in enumerate(names)}


def pictured(queries: Columns, pictures: Mapping[str, Any]) -> dict[str, Any]:
    """The columns of queries.parquet with `picture_item`, the row of `picture_columns` whose
    picture is the query's.
    """
    drawable = {
        item
        for item, source in zip(pictures["item"], pictures["thumbnail"], strict=True)
        if source is not None
    }
    return {
        **queries,
        "picture_item": [query if query in drawable else None for query in queries["query"]],
    }


def _rows(details: Columns) -> dict[tuple[str, str], list[_Row]]:
    """The rows of a result by (run, query)."""
    rows_of_queries: dict[tuple[str, str], list[_Row]] = {}
    items = details["item"]
    columns = [details[name] for name in ("run", "query", "item", "rank", "score", "state")]
    for run, query, item, rank, score, state, detail in zip(
        *columns, details.get("detail", [None] * len(items)), strict=True
    ):
        detail_object: Mapping[str, Any] = (
            parse_json(detail, "the detail of a result") if detail else {}
        )
        number = None if rank is None or np.isnan(rank) else int(rank)
        value = None if score is None or np.isnan(score) else float(score)
        rows_of_queries.setdefault((run, query), []).append(
            _Row(item, number, value, state, detail_object)
        )
    return rows_of_queries
