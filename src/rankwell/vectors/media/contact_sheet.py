"""Contact sheets, grids of tiles, from the rows of details.parquet; and a table of small pictures,
for a page of one file. Lengths are in CSS pixels.
"""

import io
import math
import re
import unicodedata
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path
from statistics import median_high
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from rankwell.data.tables import sort_ids
from rankwell.documents import parse_json
from rankwell.store import write_bytes
from rankwell.vectors.media.images import Thumbnails, data_uri

if TYPE_CHECKING:
    from PIL.Image import Image
    from PIL.ImageDraw import ImageDraw

State = Literal["right", "wrong", "unjudged", "query"]
Columns = Mapping[str, Any]
_LONGEST = 160


class Tile(NamedTuple):
    """One result, or the query itself.

    item: id, which stands below the picture.
    state: what the frame and its mark show: right, wrong, unjudged, or the query.
    picture: RGB, as `Thumbnails` reads it; None draws a placeholder.
    problem: a few words for the placeholder.
    rank: rank from 1; None where the item was not retrieved.
    score: score; None where there is none to show.
    label: a label of the item, such as an instance.
    found, missing: keywords of the query that the result has, and keywords that it lacks.
    note: a last line below the tile; "" for none.
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
    """A query with its results.

    name: id of the query, after the run where there are several; also the name of the file.
    title: the text of the query, or its id.
    tiles: the results in order of rank; ranks may be skipped (the first five, then the first right
        one).
    lines: lines below the title.
    query: tile of the query, where it is a picture.
    score: the word for the scores of tiles.
    """

    name: str
    title: str
    tiles: tuple[Tile, ...]
    lines: tuple[str, ...] = ()
    query: Tile | None = None
    score: str = "similarity"


class _Row(NamedTuple):
    """One result of one query, a row of details.parquet.

    item: id of the item.
    rank: rank from 1; None where the item was not retrieved.
    score: score; None where the item has none.
    state: relevant, nonrelevant, unjudged or junk.
    detail: the object in the column `detail`; empty where there is none.
    """

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

    def keywords(self, *kinds: str) -> tuple[str, ...]:
        """The keywords `found` or `missing`, of all groups in their order."""
        holders = (self.detail, *self.detail.get("groups", {}).values())
        return tuple(
            label for holder in holders for kind in kinds for label in holder.get(kind, ())
        )

    def tile(self, pictures: Thumbnails) -> Tile:
        """The result as it is drawn: what is relevant but below the least score is drawn as
        wrong.
        """
        notes = [str(self.detail[name]) for name in ("match", "note") if self.detail.get(name)]
        notes += ["below the threshold"] * self.is_below
        notes += ["not annotated"] * (self.state == "unjudged")
        judged: State = "right" if self.is_right else "wrong"
        return Tile(
            self.item,
            judged if self.state in ("relevant", "nonrelevant") else "unjudged",
            *pictures[self.item],
            self.rank,
            self.score,
            str(self.detail.get("label", "")),
            self.keywords("found"),
            self.keywords("missing"),
            " · ".join(notes),
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
        first_rows = [row for row in query_rows if row.rank is not None and row.state != "junk"]
        del first_rows[first:]
        tiles = [row.tile(pictures) for row in first_rows]
        right = sum(row.is_right for row in first_rows)
        n_relevant = sum(row.state == "relevant" for row in query_rows)
        counted = (
            f"{right} of the first {len(first_rows)} right" if first_rows else "nothing retrieved"
        )
        counted += f" · {n_relevant} relevant"
        best = next((row for row in query_rows if row.is_right and row.rank), None)
        if best is not None:
            tied = "–".join(map(str, best.detail.get("ranks") or ()))
            place = f"{tied}, tied" if tied else best.rank
            counted += f" · the first right one at rank {place}"
            if not right:
                note = f"the first right one{f', tied for {tied}' if tied else ''}"
                tiles.append(best.tile(pictures)._replace(note=note))
        # A row that has all keywords, or none, has them in their own order.
        by_completeness = sorted(
            query_rows,
            key=lambda row: bool(row.keywords("found")) and bool(row.keywords("missing")),
        )
        required = dict.fromkeys(
            label for row in by_completeness for label in row.keywords("found", "missing")
        )
        texts = [run] * has_several_runs + [*(lines or {}).get((run, query), ())]
        texts += [f"asks for {', '.join(required)}"] * bool(required)
        is_picture = query in pictures or query in items
        yield Sheet(
            f"{run} {query}" if has_several_runs else query,
            (titles or {}).get(query, query),
            tuple(tiles),
            (*texts, counted),
            Tile(query, "query", *pictures[query]) if is_picture else None,
            score,
        )


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
        ranked = sorted(
            (row.rank, row.item, row.is_right) for row in query_rows if row.rank is not None
        )
        drawn_items.update(item for rank, item, _ in ranked if rank <= first)
        drawn_items.update([item for _, item, is_right in ranked if is_right][:1])
    rows = list[tuple[Any, ...]]()
    for item in sort_ids(drawn_items):
        image, problem = pictures[item]
        row = item, None, None, None, problem
        if image is not None:
            share = min(1.0, _LONGEST / max(image.size))
            size = (max(1, round(side * share)) for side in image.size)
            row = item, data_uri(image, longest=_LONGEST), *size, None
        rows.append(row)
    names = ("item", "thumbnail", "width", "height", "problem")
    return {name: [row[column] for row in rows] for column, name in enumerate(names)}


def pictured(queries: Columns, pictures: Mapping[str, Any]) -> dict[str, Any]:
    """The columns of queries.parquet with `picture_item`, the row of `picture_columns` whose
    picture is the query's.
    """
    thumbnails = dict(zip(pictures["item"], pictures["thumbnail"], strict=True))
    drawable = [None if thumbnails.get(query) is None else query for query in queries["query"]]
    return {**queries, "picture_item": drawable}


def _rows(details: Columns) -> dict[tuple[str, str], list[_Row]]:
    """The rows of a result by (run, query)."""
    rows_of_queries = dict[tuple[str, str], list[_Row]]()
    columns = [details[name] for name in ("run", "query", "item", "rank", "score", "state")]
    columns.append(details.get("detail", [None] * len(details["item"])))
    for run, query, item, rank, score, state, detail in zip(*columns, strict=True):
        row = _Row(
            item,
            None if rank is None or np.isnan(rank) else int(rank),
            None if score is None or np.isnan(score) else float(score),
            state,
            parse_json(detail, "the detail of a result") if detail else {},
        )
        rows_of_queries.setdefault((run, query), []).append(row)
    return rows_of_queries


_WIDTH, _MARGIN, _GAP, _LARGEST_TILE, _FRAME = 1200, 24, 16, 280, 4
_MOST_COLUMNS = 6
_MOST_KEYWORDS = 6
COLOURS = {
    "ground": "#ffffff",
    "card": "#eef1f3",
    "ink": "#16202b",
    "quiet": "#566270",
    "right": "#08756a",
    "wrong": "#b34a0b",
    "unjudged": "#606c78",
    "query": "#1b64a8",
}
"""The light palette of the page of results (base.css): right and wrong look the same on sheets and
pages.
"""


# Text in the font that Pillow carries: the same on every machine, no boxes for letters it lacks

_INSTEAD = dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2212", "-") | {
    "\u00a0": " ",
    "×": "x",
    "ß": "ss",
    "æ": "ae",
    "œ": "oe",
}
_BELOW = "\u0327"
_MARKS = {
    "\u0300": ("`", 1.0),
    "\u0301": ("´", 1.0),
    "\u0302": ("^", 0.55),
    "\u0303": ("~", 0.65),
    "\u0304": ("-", 0.9),
    "\u0307": (".", 1.0),
    "\u0308": ("..", 0.85),
    "\u030a": ("°", 0.8),
    _BELOW: (",", 0.7),
}
"""Accent -> the sign of the font that it is made of, and its size beside that of the letter."""


@cache
def _font(size: int) -> Any:
    from PIL import ImageFont

    font: Any = ImageFont.load_default(size)
    # The other layout engine is not in every build of Pillow and places letters differently.
    return font.font_variant(layout_engine=ImageFont.Layout.BASIC)


@cache
def _ink(sign: str, size: int) -> tuple[int, int, int, int]:
    """Left, top, right and bottom of what is drawn for a sign, from its place on the base line;
    `getbbox` reaches to the line.
    """
    mask, (x, y) = _font(size).getmask2(sign, mode="L", anchor="ls")
    left, top, right, bottom = mask.getbbox() or (0, 0, 0, 0)
    return left + x, top + y, right + x, bottom + y


@cache
def _is_known(letter: str) -> bool:
    font = _font(16)
    return letter == " " or bytes(font.getmask(letter)) != bytes(font.getmask("\uffff"))


@cache
def _cluster(letter: str) -> tuple[str, str]:
    """The signs that stand for one letter, and the accents on the last of them; an escape where the
    font has nothing like it.
    """
    replacement = _INSTEAD.get(letter, letter)
    if replacement.isprintable() and all(map(_is_known, replacement)):
        return replacement, ""
    base, *marks = unicodedata.normalize("NFD", letter)
    if marks and _is_known(base) and _MARKS.keys() >= set(marks):
        return base, "".join(marks)
    return ascii(letter)[1:-1], ""


class Letters:
    """Text of one size in pixels. `height` is that from line to line, `ascent` from a line's top to
    its base line.
    """

    def __init__(self, size: int) -> None:
        self._size, self._font = size, _font(size)
        self.height, self.ascent = round(size * 1.36), round(size * 1.02)

    def line(self, text: str) -> tuple[str, list[tuple[int, str]]]:
        """The text as one line of letters of the font, and the position of each letter with
        accents, with them as combining characters; what the font cannot show is written as an
        escape.
        """
        signs, accents = "", list[tuple[int, str]]()
        for letter in unicodedata.normalize("NFC", text):
            sign, marks = _cluster(letter)
            signs += sign
            if marks:
                accents.append((len(signs) - 1, marks))
        return signs, accents

    def width(self, text: str) -> float:
        """The width of the text on one line, in pixels."""
        return self._font.getlength(self.line(text)[0])

    def wrap(self, text: str, width: float, *, lines: int = 3) -> list[str]:
        """The text in at most so many lines of that width; a longer one loses its middle: ids
        differ at their ends.
        """
        broken = self._broken(text, width)
        if len(broken) <= lines:
            return broken

        def _kept(size: int) -> list[str]:
            return self._broken(f"{text[:size]}…{text[len(text) - size :]}", width)

        return _kept(_most(0, len(text) // 2, lambda size: len(_kept(size)) <= lines))[:lines]

    def _broken(self, text: str, width: float) -> list[str]:
        lines, remainder = list[str](), text.strip()
        while remainder and self.width(remainder) > width:
            cut = self._break(remainder, width)
            lines.append(remainder[:cut].rstrip())
            remainder = remainder[cut:].lstrip()
        return [*lines, remainder] if remainder or not lines else lines

    def _break(self, text: str, width: float) -> int:
        """The end of the first line of that width."""
        most = _most(1, len(text), lambda size: self.width(text[:size].rstrip()) <= width)
        if text[most : most + 1] == " ":
            return most
        for signs, least in ((" ", 1), ("_-/", most // 3), (".,:;=)", most // 3)):
            cut = max(text.rfind(sign, 0, most) for sign in signs) + 1
            if cut > least:
                return cut
        return most

    def draw(
        self,
        canvas: "ImageDraw",
        corner: tuple[float, float],
        text: str,
        colour: str,
        *,
        bold: bool = False,
    ) -> None:
        """Writes one line with its upper left corner at a place. bold: the font has one weight, so
        the line is drawn twice.
        """
        y, (signs, accents) = corner[1] + self.ascent, self.line(text)
        for shift in (0, max(1, self._size // 24)) if bold else (0,):
            x = corner[0] + shift
            canvas.text((x, y), signs, fill=colour, font=self._font, anchor="ls")
            for position, marks in accents:
                self._accent(canvas, (x, y), signs[: position + 1], marks, colour)

    def _accent(
        self, canvas: "ImageDraw", origin: tuple[float, float], signs: str, marks: str, colour: str
    ) -> None:
        """Draws accents on the last of the signs."""
        left, top, right, bottom = _ink(signs[-1], self._size)
        middle = origin[0] + self._font.getlength(signs[:-1]) + (left + right) / 2
        gap = max(1, self._size // 14)
        for mark in marks:
            sign, share = _MARKS[mark]
            size = max(4, round(self._size * share))
            ink = _ink(sign, size)
            y = bottom + 1 - ink[1] if mark == _BELOW else top - gap - ink[3]
            place = middle - (ink[0] + ink[2]) / 2, origin[1] + y
            canvas.text(place, sign, fill=colour, font=_font(size), anchor="ls")
            top -= 0 if mark == _BELOW else gap + ink[3] - ink[1]


def _most(low: int, high: int, fits: Callable[[int], bool]) -> int:
    """The largest size that fits, by bisection; the lowest where none does."""
    larger = range(low + 1, high + 1)
    return low + bisect_left(larger, True, key=lambda size: not fits(size))


# Sheets


class _Text(NamedTuple):
    """Lines of one size and colour, with an optional mark before the first.

    lines: the lines, each at most as wide as its space.
    letters: draws the lines in their size.
    colour: colour of the lines, as `#rrggbb`.
    before: pixels of space above.
    mark: the kind of mark, such as `found`; "" for none.
    """

    lines: list[str]
    letters: Letters
    colour: str
    before: int
    mark: str

    @property
    def height(self) -> int:
        """Pixels of all lines and of the room before them."""
        return self.before + self.letters.height * len(self.lines)


def write_sheets(directory: Path, sheets: Iterable[Sheet]) -> list[Path]:
    """Draws each sheet into a PNG named by its place and the query's id; letters that not every
    file system takes become `_`.
    """
    paths = list[Path]()
    for number, sheet in enumerate(sheets, 1):
        safe = re.sub(r"[^A-Za-z0-9.-]+", "_", sheet.name).strip("._-")[:80]
        paths.append(directory / f"{number:03d}{'_' if safe else ''}{safe}.png")
        write_bytes(paths[-1], draw_sheet(sheet))
    return paths


def draw_sheet(sheet: Sheet, *, scale: int = 2) -> bytes:
    """The sheet as a PNG of 1200 × `scale` pixels, as high as it needs; colour alone distinguishes
    nothing.
    """
    return _Drawing(sheet, scale).png()


class _Drawing:
    """One sheet on its way to pixels."""

    def __init__(self, sheet: Sheet, scale: int) -> None:
        self._sheet, self._scale = sheet, scale
        self._margin, self._gap, self._frame = _MARGIN * scale, _GAP * scale, _FRAME * scale
        self._room = _WIDTH * scale - 2 * self._margin
        self._title, self._normal, self._small = (Letters(size * scale) for size in (19, 13, 12))
        queries, count = [] if sheet.query is None else [sheet.query], len(sheet.tiles)
        # As many results side by side as fit, spread evenly over the rows that they need; the query
        # has a column to itself.
        grid = math.ceil(count / math.ceil(count / (_MOST_COLUMNS - len(queries)))) if count else 1
        self._rows: list[list[Tile | None]] = [
            list(sheet.tiles[start : start + grid]) for start in range(0, count, grid)
        ]
        if sheet.query is not None:
            self._rows = [
                [None if number else sheet.query, *row]
                for number, row in enumerate(self._rows or [[]])
            ]
        width = min(
            (self._room + self._gap) // (grid + len(queries)) - self._gap, _LARGEST_TILE * scale
        )
        pictures = [tile.picture for tile in (*queries, *sheet.tiles) if tile.picture is not None]
        ratios = [picture.width / picture.height for picture in pictures] or [4 / 3]
        ratio = min(16 / 9, max(3 / 4, median_high(ratios)))
        self._box = width, round((width - 2 * self._frame) / ratio) + 2 * self._frame

    def png(self) -> bytes:
        """Lays out, then draws: the height is known only when every tile's text is broken into
        lines.
        """
        from PIL import Image, ImageDraw

        sheet, unit, margin, gap = self._sheet, self._scale, self._margin, self._gap
        title = self._text(self._title, sheet.title, self._room, "ink")
        lines = [
            self._text(self._normal, line, self._room, lines=4, before=4) for line in sheet.lines
        ]
        below_picture = self._box[1] + 6 * unit + self._normal.height
        heights = [
            below_picture
            + max(sum(text.height for text in self._texts(tile)) for tile in row if tile)
            for row in self._rows
        ]
        top = margin + sum(text.height for text in (title, *lines)) + gap
        bottom = top + sum(heights) + gap * len(heights)
        self._image = Image.new(
            "RGB", (_WIDTH * unit, bottom + self._small.height + margin), COLOURS["ground"]
        )
        self._pen = ImageDraw.Draw(self._image)
        self._write([title], (margin, margin), bold=True)
        self._write(lines, (margin, margin + title.height))
        if sheet.query is not None:
            x = margin + self._box[0] + gap // 2
            self._pen.line((x, top, x, bottom - gap), fill=COLOURS["card"], width=2 * unit)
        for row, height in zip(self._rows, heights, strict=True):
            for column, tile in enumerate(row):
                if tile is not None:
                    self._tile(tile, (margin + column * (self._box[0] + gap), top))
            self._omissions(row, top)
            top += height + gap
        self._legend(bottom)
        stream = io.BytesIO()
        self._image.save(stream, "PNG")
        return stream.getvalue()

    def _text(
        self,
        letters: Letters,
        text: str,
        width: int,
        colour: str = "quiet",
        *,
        lines: int = 3,
        before: int = 0,
        mark: str = "",
    ) -> _Text:
        return _Text(
            letters.wrap(text, width, lines=lines),
            letters,
            COLOURS[colour],
            before * self._scale,
            mark,
        )

    def _texts(self, tile: Tile) -> list[_Text]:
        """The texts below a picture, after the line with rank and score."""
        width, small = self._box[0], self._small
        texts = [self._text(self._normal, tile.item, width, "ink", before=2)]
        if tile.label:
            texts.append(self._text(small, tile.label, width, lines=2, before=2))
        words = [
            (word, mark)
            for mark, keywords in (("found", tile.found), ("missing", tile.missing))
            for word in keywords
        ]
        texts += [
            self._text(small, word, width - small.height, "ink", lines=2, before=3, mark=mark)
            for word, mark in words[:_MOST_KEYWORDS]
        ]
        notes, more = [tile.note], words[_MOST_KEYWORDS:]
        if more:
            missing = sum(mark == "missing" for _, mark in more)
            notes.insert(0, f"and {len(more)} more, {missing} of them missing")
        return texts + [self._text(small, note, width, before=3) for note in notes if note]

    def _tile(self, tile: Tile, corner: tuple[int, int]) -> None:
        (x, y), (width, height), unit, normal = corner, self._box, self._scale, self._normal
        corners = (x, y, x + width - 1, y + height - 1)
        colour = COLOURS[tile.state]
        self._pen.rectangle(corners, COLOURS["card"], colour, self._frame)
        self._picture(tile, corner)
        line, left = y + height + 6 * unit, float(x)
        if tile.state != "query":
            rank = "not found" if tile.rank is None else str(tile.rank)
            normal.draw(self._pen, (left, line), rank, COLOURS["ink"], bold=True)
            left += normal.width(rank) + 7 * unit
        if tile.state in ("right", "wrong"):
            self._mark(tile.state, (round(left), line), normal.height)
            left += normal.height + 3 * unit
        normal.draw(self._pen, (left, line), tile.state, colour, bold=True)
        if tile.score is not None:
            score = self._score(tile.score)
            normal.draw(self._pen, (x + width - normal.width(score), line), score, COLOURS["quiet"])
        self._write(self._texts(tile), (x, line + normal.height))

    def _score(self, score: float) -> str:
        """A score, as an integer where all scores of a sheet are integers, such as counts of
        matches.
        """
        scores = [tile.score for tile in self._sheet.tiles if tile.score is not None]
        largest = max(map(abs, scores), default=0)
        if largest > 1 and all(value.is_integer() for value in scores):
            return f"{score:.0f}"
        return f"{score:.3f}" if largest < 100 else f"{score:.1f}"

    def _write(self, texts: list[_Text], corner: tuple[int, int], *, bold: bool = False) -> None:
        x, y = corner
        for text in texts:
            height, left, y = text.letters.height, x, y + text.before
            if text.mark:
                self._mark(text.mark, (x - height // 5, y + self._scale), height)
                left += height
            for line in text.lines:
                text.letters.draw(self._pen, (left, y), line, text.colour, bold=bold)
                y += height

    def _picture(self, tile: Tile, corner: tuple[int, int]) -> None:
        """The picture as large as it fits into its box, in the middle; else what is wrong with
        it.
        """
        from PIL import ImageOps
        from PIL.Image import Resampling

        (x, y), unit, frame, small = corner, self._scale, self._frame, self._small
        width, height = (side - 2 * frame for side in self._box)
        if tile.picture is not None:
            room = width, height
            picture = ImageOps.pad(tile.picture, room, Resampling.LANCZOS, COLOURS["card"])
            self._image.paste(picture, (x + frame, y + frame))
            return
        side = min(44 * unit, height // 3)
        top = y + (self._box[1] - side - 6 * unit - small.height) // 2
        self._mark("no picture", (x + (self._box[0] - side) // 2, top), side)
        place = x + (self._box[0] - small.width(tile.problem)) / 2, top + side + 6 * unit
        small.draw(self._pen, place, tile.problem, COLOURS["quiet"])

    def _mark(self, kind: str, corner: tuple[int, int], room: int) -> None:
        """A mark in the middle of a square: drawn eight times as large and made smaller, which
        smooths its edges.
        """
        from PIL import Image, ImageDraw
        from PIL.Image import Resampling

        large = Image.new("L", (room * 8, room * 8), 0)
        _draw_mark(ImageDraw.Draw(large), kind, room * 8)
        state = {"found": "right", "missing": "wrong", "no picture": "quiet"}.get(kind, kind)
        box = (*corner, corner[0] + room, corner[1] + room)
        self._image.paste(COLOURS[state], box, large.resize((room, room), Resampling.BOX))

    def _omissions(self, row: list[Tile | None], top: int) -> None:
        """Three dots before a result whose rank does not follow on the one before it."""
        ranks = [None if tile is None else tile.rank for tile in row]
        for column, (before, after) in enumerate(pairwise(ranks), 1):
            if before is None or after in (None, before + 1):
                continue
            x = self._margin + column * (self._box[0] + self._gap) - self._gap // 2
            for step in (-1, 0, 1):
                y = top + self._box[1] // 2 + 7 * step * self._scale
                self._pen.circle((x, y), 1.5 * self._scale, fill=COLOURS["quiet"])

    def _legend(self, top: int) -> None:
        """The marks that results have, and the meaning of the numbers."""
        tiles, small, x, unit = self._sheet.tiles, self._small, self._margin, self._scale
        for state in ("right", "wrong"):
            if any(tile.state == state for tile in tiles):
                self._mark(state, (x, top), small.height)
                x += small.height
                small.draw(self._pen, (x + 2 * unit, top), state, COLOURS["quiet"])
                x += round(small.width(state)) + 14 * unit
        meanings = {
            "number: rank": any(tile.rank is not None for tile in tiles),
            f"at the right: {self._sheet.score}": any(tile.score is not None for tile in tiles),
            "below: keywords found and missing": any(tile.found or tile.missing for tile in tiles),
        }
        text = " · ".join(meaning for meaning, has_it in meanings.items() if has_it)
        small.draw(self._pen, (x, top), text, COLOURS["quiet"])


def _draw_mark(pen: Any, kind: str, size: int) -> None:
    def _sized(*shares: float) -> list[float]:
        return [size * share for share in shares]

    def _line(
        *shares: float, width: float = 0.11, ink: int = 255 * (kind not in ("right", "wrong"))
    ) -> None:
        pen.line(_sized(*shares), fill=ink, width=round(size * width), joint="curve")

    if kind == "right":
        pen.ellipse(_sized(0.08, 0.08, 0.92, 0.92), fill=255)
    if kind == "wrong":
        pen.rectangle(_sized(0.12, 0.12, 0.88, 0.88), fill=255)
    if kind in ("right", "found"):
        _line(0.27, 0.52, 0.44, 0.69, 0.74, 0.34)
    if kind in ("wrong", "missing"):
        _line(0.3, 0.3, 0.7, 0.7)
        _line(0.3, 0.7, 0.7, 0.3)
    if kind == "no picture":
        pen.rounded_rectangle(
            _sized(0.08, 0.18, 0.92, 0.82),
            radius=size * 0.08,
            outline=255,
            width=round(size * 0.055),
        )
        pen.ellipse(_sized(0.22, 0.3, 0.36, 0.44), fill=255)
        _line(0.16, 0.74, 0.42, 0.5, 0.56, 0.63, 0.7, 0.48, 0.84, 0.66, width=0.055)
        _line(0.14, 0.92, 0.86, 0.08, width=0.15, ink=0)
        _line(0.14, 0.92, 0.86, 0.08, width=0.055)
