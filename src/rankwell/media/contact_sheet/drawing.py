"""Drawing of a contact sheet: a grid of tiles of any width, in a light and a dark theme. Lengths are in CSS pixels."""

import io
import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from rankwell.errors import BadUsage
from rankwell.media.contact_sheet.details import Sheet, State, Tile
from rankwell.media.contact_sheet.letters import Letters

if TYPE_CHECKING:
    from PIL.Image import Image

Theme = Literal["light", "dark"]
_MARGIN, _GAP, _LEAST_TILE, _LARGEST_TILE, _FRAME = 24, 16, 170, 280, 4
_LEAST_WIDTH = 240
_MOST_KEYWORDS = 6


class _Colours(NamedTuple):
    ground: str
    card: str
    ink: str
    quiet: str
    right: str
    wrong: str
    unjudged: str
    query: str

    def of(self, state: State) -> str:
        """The colour of a right or a wrong result."""
        return getattr(self, state)


_THEMES: dict[str, _Colours] = {
    "light": _Colours("#ffffff", "#eef1f4", "#1c2733", "#5b6773", "#0a7d4f", "#c62f26", "#7a8592", "#1f6fb2"),
    "dark": _Colours("#12181f", "#232d37", "#e8edf2", "#9fabb7", "#3fcb8c", "#ff7468", "#8a96a3", "#63aee8"),
}


def draw_sheet(sheet: Sheet, *, theme: Theme = "light", width: int = 1200, scale: int = 2) -> bytes:
    """The sheet as a PNG of `width` × `scale` pixels, as high as it needs; the same sheet gives the same bytes.

    The query comes first. Right results have a green frame, a round mark with a tick, and the word; wrong ones a red frame, a
    square mark with a cross, and the word: colour alone distinguishes nothing. Raises BadUsage for a width below 240.
    """
    if width < _LEAST_WIDTH:
        raise BadUsage(f"a contact sheet of width {width} has no room for a tile; {_LEAST_WIDTH} is the least.")
    return _Drawing(sheet, _THEMES[theme], width, scale).png()


@dataclass(frozen=True)
class _Text:
    """Lines of one size and colour with an optional mark before the first."""

    lines: list[str]
    letters: Letters
    colour: str
    mark: str = ""
    bold: bool = False
    before: int = 0

    @property
    def height(self) -> int:
        """Pixels of all lines and of the room before them."""
        return self.before + self.letters.height * len(self.lines)


class _Drawing:
    """One sheet on its way to pixels."""

    def __init__(self, sheet: Sheet, colours: _Colours, width: int, scale: int) -> None:
        self._sheet, self._colours, self._scale = sheet, colours, scale
        self._width = width * scale
        self._margin = (_MARGIN if width >= 600 else _GAP) * scale
        self._gap = _GAP * scale
        self._title, self._normal, self._small = (Letters(size * scale) for size in (19, 13, 12))
        self._beside = sheet.query is not None and self._columns(1) >= 3
        self._box = self._tile_size()

    def png(self) -> bytes:
        """Lays out, then draws: the height is known only when every tile's text is broken into lines."""
        from PIL import Image, ImageDraw

        head, rows, empty, legend = self._header(), self._rows(), self._empty(), self._legend_texts()
        heights = [max(self._tile_height(tile) for tile in row if tile) for row in rows]
        top = self._margin + sum(text.height for text in head) + self._gap
        below = empty.height + self._gap if empty and not self._beside else 0
        legend_top = top + sum(heights) + self._gap * len(heights) + below
        total = legend_top + max(self._small.height, sum(text.height for text in legend)) + self._margin
        image = Image.new("RGB", (self._width, total), self._colours.ground)
        canvas = ImageDraw.Draw(image)
        self._write(canvas, head, (self._margin, self._margin))
        if self._beside:
            self._divide(canvas, top, legend_top - self._gap)
        if empty:
            place = (self._margin + self._box[0] + self._gap, top) if self._beside else (self._margin, legend_top - below)
            self._write(canvas, [empty], place)
        for row, height in zip(rows, heights, strict=True):
            for column, tile in enumerate(row):
                if tile is not None:
                    self._tile(image, tile, (self._margin + column * (self._box[0] + self._gap), top))
            self._omissions(canvas, row, top)
            top += height + self._gap
        self._legend(image, legend, legend_top)
        stream = io.BytesIO()
        image.save(stream, "PNG")
        return stream.getvalue()

    def _empty(self) -> _Text | None:
        """The text in place of results where there are none."""
        if self._sheet.tiles:
            return None
        room = self._width - 2 * self._margin - (self._box[0] + self._gap if self._beside else 0)
        return _Text(self._normal.wrap(self._sheet.empty, room), self._normal, self._colours.quiet)

    def _columns(self, least: int) -> int:
        room = self._width - 2 * self._margin + self._gap
        return max(least, room // ((_LEAST_TILE * self._scale) + self._gap))

    def _grid(self) -> int:
        """Number of results side by side: as many as fit, spread evenly over the rows that they need."""
        count = len(self._sheet.tiles) + (self._sheet.query is not None and not self._beside)
        fitting = self._columns(1) - self._beside
        return math.ceil(count / math.ceil(count / fitting)) if count else 1

    def _tile_size(self) -> tuple[int, int]:
        """The box of a picture: wide enough to fill the width, as high as most of the pictures are."""
        columns = self._grid() + self._beside
        room = (self._width - 2 * self._margin + self._gap) // columns - self._gap
        width = min(room, _LARGEST_TILE * self._scale)
        ratios = sorted(tile.picture.width / tile.picture.height for tile in self._tiles() if tile.picture is not None)
        ratio = min(16 / 9, max(3 / 4, ratios[len(ratios) // 2])) if ratios else 4 / 3
        return width, round((width - 2 * _FRAME * self._scale) / ratio) + 2 * _FRAME * self._scale

    def _tiles(self) -> list[Tile]:
        return ([self._sheet.query] if self._sheet.query else []) + list(self._sheet.tiles)

    def _rows(self) -> list[list[Tile | None]]:
        """The tiles row by row; beside the query, which has the first column to itself, None."""
        tiles: list[Tile | None] = list(self._sheet.tiles if self._beside else self._tiles())
        grid = self._grid()
        rows = [tiles[start : start + grid] for start in range(0, len(tiles), grid)]
        if self._beside:
            rows = rows or [[]]
            rows = [[self._sheet.query if place == 0 else None, *row] for place, row in enumerate(rows)]
        return rows

    def _header(self) -> list[_Text]:
        room = self._width - 2 * self._margin
        title = _Text(self._title.wrap(self._sheet.title, room), self._title, self._colours.ink, bold=True)
        lines = [
            _Text(self._normal.wrap(line, room, lines=4), self._normal, self._colours.quiet, before=4 * self._scale)
            for line in self._sheet.lines
        ]
        return [title, *lines]

    def _texts(self, tile: Tile) -> list[_Text]:
        """The texts below a picture, after the line with rank and score."""
        colours, width = self._colours, self._box[0]
        texts = [_Text(self._normal.wrap(tile.item, width), self._normal, colours.ink, before=2 * self._scale)]
        if tile.label:
            texts.append(_Text(self._small.wrap(tile.label, width, lines=2), self._small, colours.quiet, before=2 * self._scale))
        words = [(word, "found") for word in tile.found] + [(word, "missing") for word in tile.missing]
        indent = self._indent()
        for word, mark in words[:_MOST_KEYWORDS]:
            lines = self._small.wrap(word, width - indent, lines=2)
            texts.append(_Text(lines, self._small, colours.ink, mark=mark, before=3 * self._scale))
        if len(words) > _MOST_KEYWORDS:
            missing = sum(mark == "missing" for _, mark in words[_MOST_KEYWORDS:])
            more = f"and {len(words) - _MOST_KEYWORDS} more, {missing} of them missing"
            texts.append(_Text(self._small.wrap(more, width), self._small, colours.quiet, before=3 * self._scale))
        if tile.note:
            texts.append(_Text(self._small.wrap(tile.note, width), self._small, colours.quiet, before=3 * self._scale))
        return texts

    def _indent(self) -> int:
        """The room for a keyword's mark."""
        return self._small.height

    def _tile_height(self, tile: Tile) -> int:
        return self._box[1] + 6 * self._scale + self._normal.height + sum(text.height for text in self._texts(tile))

    def _tile(self, image: "Image", tile: Tile, place: tuple[int, int]) -> None:
        from PIL import ImageDraw

        canvas, colour, (x, y), unit = ImageDraw.Draw(image), self._colours.of(tile.state), place, self._scale
        self._picture(image, tile, place)
        canvas.rectangle((x, y, x + self._box[0] - 1, y + self._box[1] - 1), outline=colour, width=_FRAME * unit)
        line = y + self._box[1] + 6 * unit
        rank = "" if tile.state == "query" else str(tile.rank) if tile.rank is not None else "not found"
        left = float(x)
        if rank:
            self._normal.draw(canvas, (left, line), rank, self._colours.ink, bold=True)
            left += self._normal.width(rank) + 7 * unit
        if tile.state in ("right", "wrong"):
            self._mark(image, tile.state, (round(left), line), self._normal.height)
            left += self._normal.height + 3 * unit
        self._normal.draw(canvas, (left, line), tile.state, colour, bold=True)
        if tile.score is not None:
            score = self._score(tile.score)
            self._normal.draw(canvas, (x + self._box[0] - self._normal.width(score), line), score, self._colours.quiet)
        self._write(canvas, self._texts(tile), (x, line + self._normal.height), image)

    def _score(self, score: float) -> str:
        """A score, as an integer where all scores of a sheet are integers, such as counts of matches."""
        scores = [tile.score for tile in self._sheet.tiles if tile.score is not None]
        if all(each.is_integer() for each in scores) and max(map(abs, scores), default=0) > 1:
            return f"{score:.0f}"
        return f"{score:.3f}" if max(map(abs, scores), default=0) < 100 else f"{score:.1f}"

    def _write(self, canvas: Any, texts: list[_Text], place: tuple[int, int], image: "Image | None" = None) -> None:
        x, y = place
        for text in texts:
            y += text.before
            left = x
            if text.mark and image is not None:
                self._mark(image, text.mark, (x - text.letters.height // 5, y + self._scale), text.letters.height)
                left += self._indent()
            for line in text.lines:
                text.letters.draw(canvas, (left, y), line, text.colour, bold=text.bold)
                y += text.letters.height

    def _picture(self, image: "Image", tile: Tile, place: tuple[int, int]) -> None:
        """The picture as large as it fits into its box, in the middle; else what is wrong with it."""
        from PIL import ImageDraw
        from PIL.Image import Resampling

        (x, y), frame = place, _FRAME * self._scale
        width, height = self._box[0] - 2 * frame, self._box[1] - 2 * frame
        canvas = ImageDraw.Draw(image)
        canvas.rectangle((x, y, x + self._box[0] - 1, y + self._box[1] - 1), fill=self._colours.card)
        if tile.picture is not None:
            share = min(width / tile.picture.width, height / tile.picture.height)
            size = (max(1, round(tile.picture.width * share)), max(1, round(tile.picture.height * share)))
            left, top = x + frame + (width - size[0]) // 2, y + frame + (height - size[1]) // 2
            image.paste(tile.picture.convert("RGB").resize(size, Resampling.LANCZOS, reducing_gap=3.0), (left, top))
            return
        lines = self._small.wrap(tile.problem, width - 2 * self._gap, lines=2)
        side = min(44 * self._scale, height // 3)
        top = y + (self._box[1] - side - 6 * self._scale - len(lines) * self._small.height) // 2
        self._mark(image, "no picture", (x + (self._box[0] - side) // 2, top), side)
        for place_, line in enumerate(lines):
            left = x + (self._box[0] - self._small.width(line)) / 2
            self._small.draw(
                canvas, (left, top + side + 6 * self._scale + place_ * self._small.height), line, self._colours.quiet
            )

    def _mark(self, image: "Image", kind: str, place: tuple[int, int], room: int) -> None:
        """A mark in the middle of a square: drawn eight times as large and made smaller, which smooths its edges."""
        from PIL import Image, ImageDraw
        from PIL.Image import Resampling

        size = room * 8
        large = Image.new("L", (size, size), 0)
        pen = ImageDraw.Draw(large)
        _MARKS[kind](pen, size)
        cover = large.resize((room, room), Resampling.BOX)
        state = {"found": "right", "missing": "wrong", "no picture": "quiet"}.get(kind, kind)
        image.paste(getattr(self._colours, state), (*place, place[0] + room, place[1] + room), cover)

    def _divide(self, canvas: Any, top: int, bottom: int) -> None:
        x = self._margin + self._box[0] + self._gap // 2
        canvas.line((x, top, x, bottom), fill=self._colours.card, width=2 * self._scale)

    def _omissions(self, canvas: Any, row: list[Tile | None], top: int) -> None:
        """Three dots before a result whose rank does not follow on the one before it."""
        for column, (before, after) in enumerate(pairwise(row), 1):
            if before is None or after is None or before.rank is None or after.rank in (None, before.rank + 1):
                continue
            x = self._margin + column * (self._box[0] + self._gap) - self._gap // 2
            for step in (-1, 0, 1):
                y, radius = top + self._box[1] // 2 + 7 * step * self._scale, 1.5 * self._scale
                canvas.ellipse((x - radius, y - radius, x + radius, y + radius), fill=self._colours.quiet)

    def _legend_marks(self) -> list[tuple[str, int]]:
        """The marks that results have, each with where it stands."""
        x, found = self._margin, list[tuple[str, int]]()
        for state in ("right", "wrong"):
            if any(tile.state == state for tile in self._sheet.tiles):
                found.append((state, x))
                x += self._small.height + round(self._small.width(state)) + 14 * self._scale
        return [*found, ("", x)]

    def _legend_texts(self) -> list[_Text]:
        """The meaning of the numbers: beside the marks, or below them where there is no room."""
        tiles = self._sheet.tiles
        meanings = ["number: rank"] * any(tile.rank is not None for tile in tiles)
        meanings += [f"at the right: {self._sheet.score}"] * any(tile.score is not None for tile in tiles)
        meanings += ["below: keywords found and missing"] * any(tile.found or tile.missing for tile in tiles)
        text, end = " · ".join(meanings), self._width - self._margin
        *marks, (_, x) = self._legend_marks()
        if x + self._small.width(text) <= end:
            return [_Text([text], self._small, self._colours.quiet)]
        lines = self._small.wrap(text, end - self._margin)
        return [_Text(lines, self._small, self._colours.quiet, before=self._small.height if marks else 0)]

    def _legend(self, image: "Image", texts: list[_Text], top: int) -> None:
        """The legend of marks and numbers."""
        from PIL import ImageDraw

        canvas = ImageDraw.Draw(image)
        *marks, (_, x) = self._legend_marks()
        for state, left in marks:
            self._mark(image, state, (left, top), self._small.height)
            self._small.draw(canvas, (left + self._small.height + 2 * self._scale, top), state, self._colours.quiet)
        self._write(canvas, texts, (self._margin if texts[0].before else x, top))


def _tick(pen: Any, size: int, ink: int = 255) -> None:
    points = [(0.27, 0.52), (0.44, 0.69), (0.74, 0.34)]
    pen.line([(size * x, size * y) for x, y in points], fill=ink, width=round(size * 0.11), joint="curve")


def _cross(pen: Any, size: int, ink: int = 255) -> None:
    for points in ((0.3, 0.3, 0.7, 0.7), (0.3, 0.7, 0.7, 0.3)):
        pen.line([size * each for each in points], fill=ink, width=round(size * 0.11))


def _right(pen: Any, size: int) -> None:
    pen.ellipse((size * 0.08, size * 0.08, size * 0.92, size * 0.92), fill=255)
    _tick(pen, size, 0)


def _wrong(pen: Any, size: int) -> None:
    pen.rectangle((size * 0.12, size * 0.12, size * 0.88, size * 0.88), fill=255)
    _cross(pen, size, 0)


def _no_picture(pen: Any, size: int) -> None:
    width = round(size * 0.055)
    pen.rounded_rectangle((size * 0.08, size * 0.18, size * 0.92, size * 0.82), radius=size * 0.08, outline=255, width=width)
    pen.ellipse((size * 0.22, size * 0.3, size * 0.36, size * 0.44), fill=255)
    points = [(0.16, 0.74), (0.42, 0.5), (0.56, 0.63), (0.7, 0.48), (0.84, 0.66)]
    pen.line([(size * x, size * y) for x, y in points], fill=255, width=width, joint="curve")
    pen.line([size * each for each in (0.14, 0.92, 0.86, 0.08)], fill=0, width=round(size * 0.15))
    pen.line([size * each for each in (0.14, 0.92, 0.86, 0.08)], fill=255, width=width)


_MARKS: dict[str, Callable[[Any, int], None]] = {
    "right": _right,
    "wrong": _wrong,
    "found": _tick,
    "missing": _cross,
    "no picture": _no_picture,
}
