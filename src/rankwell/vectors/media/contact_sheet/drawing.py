"""Drawing of a contact sheet: a grid of tiles. Lengths are in CSS pixels."""

import io
import math
import re
import unicodedata
from collections.abc import Callable, Iterable
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from rankwell.store import write_bytes
from rankwell.vectors.media.contact_sheet import Sheet, Tile

if TYPE_CHECKING:
    from PIL.ImageDraw import ImageDraw

_WIDTH, _MARGIN, _GAP, _LARGEST_TILE, _FRAME = 1200, 24, 16, 280, 4
_MOST_COLUMNS = 6
_MOST_KEYWORDS = 6
COLOURS = {
    **{"ground": "#ffffff", "card": "#eef1f3", "ink": "#16202b", "quiet": "#566270"},
    **{"right": "#08756a", "wrong": "#b34a0b", "unjudged": "#606c78", "query": "#1b64a8"},
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
    **{
        "\u0300": ("`", 1.0),
        "\u0301": ("´", 1.0),
        "\u0302": ("^", 0.55),
        "\u0303": ("~", 0.65),
        "\u0304": ("-", 0.9),
    },
    **{"\u0307": (".", 1.0), "\u0308": ("..", 0.85), "\u030a": ("°", 0.8), _BELOW: (",", 0.7)},
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
    mask, offset = _font(size).getmask2(sign, mode="L", anchor="ls")
    left, top, right, bottom = mask.getbbox() or (0, 0, 0, 0)
    return left + offset[0], top + offset[1], right + offset[0], bottom + offset[1]


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
    if marks and _is_known(base) and all(mark in _MARKS for mark in marks):
        return base, "".join(marks)
    return ascii(letter)[1:-1], ""


class TextLine(NamedTuple):
    """One line of text as it is drawn: signs of the font, and the accents by the place of their
    sign.
    """

    signs: str
    accents: tuple[tuple[int, str], ...] = ()


class Letters:
    """Text of one size in pixels. `height` is that from line to line, `ascent` from a line's top to
    its base line.
    """

    def __init__(self, size: int) -> None:
        self._size, self._font = size, _font(size)
        self.height, self.ascent = round(size * 1.36), round(size * 1.02)

    def line(self, text: str) -> TextLine:
        """The text as one line: letters with accents are put together, what the font cannot show is
        written as an escape.
        """
        signs, accents = "", list[tuple[int, str]]()
        for letter in unicodedata.normalize("NFC", text):
            sign, marks = _cluster(letter)
            signs += sign
            if marks:
                accents.append((len(signs) - 1, marks))
        return TextLine(signs, tuple(accents))

    def width(self, text: str) -> float:
        """The width of the text on one line, in pixels."""
        return self._font.getlength(self.line(text).signs)

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
        lines, remainder = list[str](), " ".join(text.split(" ")).strip()
        while remainder and self.width(remainder) > width:
            cut = self._break(
                remainder,
                _most(
                    1,
                    len(remainder),
                    lambda size, remainder=remainder: (
                        self.width(remainder[:size].rstrip()) <= width
                    ),
                ),
            )
            lines.append(remainder[:cut].rstrip())
            remainder = remainder[cut:].lstrip()
        return [*lines, remainder] if remainder or not lines else lines

    def _break(self, text: str, most: int) -> int:
        """The end of a line that holds at most so many letters."""
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
        x, y = corner[0], corner[1] + self.ascent
        line = self.line(text)
        for shift in (0, max(1, self._size // 24)) if bold else (0,):
            canvas.text((x + shift, y), line.signs, fill=colour, font=self._font, anchor="ls")
            for position, marks in line.accents:
                self._accent(canvas, (x + shift, y), line.signs[: position + 1], marks, colour)

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
            canvas.text(
                (middle - (ink[0] + ink[2]) / 2, origin[1] + y),
                sign,
                fill=colour,
                font=_font(size),
                anchor="ls",
            )
            top -= 0 if mark == _BELOW else gap + ink[3] - ink[1]


def _most(low: int, high: int, fits: Callable[[int], bool]) -> int:
    """The largest size that fits, by bisection."""
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(middle) else (low, middle - 1)
    return low


# Sheets


class _Text(NamedTuple):
    """Lines of one size and colour with an optional mark before the first; before: pixels of room
    above.
    """

    lines: list[str]
    letters: Letters
    colour: str
    before: int = 0
    mark: str = ""

    @property
    def height(self) -> int:
        """Pixels of all lines and of the room before them."""
        return self.before + self.letters.height * len(self.lines)


def write_sheets(directory: Path, sheets: Iterable[Sheet]) -> list[Path]:
    """Draws each sheet into a PNG named by its place and the query's id; letters that not every
    file system takes become `_`.
    """
    paths: list[Path] = []
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
        self._grid = (
            math.ceil(count / math.ceil(count / (_MOST_COLUMNS - len(queries)))) if count else 1
        )
        width = min(
            (self._room + self._gap) // (self._grid + len(queries)) - self._gap,
            _LARGEST_TILE * scale,
        )
        pictures = [tile.picture for tile in (*queries, *sheet.tiles) if tile.picture is not None]
        ratios = sorted(picture.width / picture.height for picture in pictures)
        ratio = min(16 / 9, max(3 / 4, ratios[len(ratios) // 2])) if ratios else 4 / 3
        self._box = width, round((width - 2 * self._frame) / ratio) + 2 * self._frame

    def png(self) -> bytes:
        """Lays out, then draws: the height is known only when every tile's text is broken into
        lines.
        """
        from PIL import Image, ImageDraw

        sheet, unit = self._sheet, self._scale
        head = [_Text(self._title.wrap(sheet.title, self._room), self._title, COLOURS["ink"])]
        lines = (self._normal.wrap(line, self._room, lines=4) for line in sheet.lines)
        head += [_Text(line, self._normal, COLOURS["quiet"], 4 * unit) for line in lines]
        rows = self._rows()
        heights = [max(self._tile_height(tile) for tile in row if tile) for row in rows]
        top = self._margin + sum(text.height for text in head) + self._gap
        # The query beside them leaves room for the words in place of results.
        indent = self._box[0] + self._gap if sheet.query is not None else 0
        empty = [
            _Text(
                self._normal.wrap(sheet.empty, self._room - indent), self._normal, COLOURS["quiet"]
            )
        ] * (not sheet.tiles)
        below = 0 if indent else sum(text.height + self._gap for text in empty)
        bottom = top + sum(heights) + self._gap * len(heights) + below
        self._image = Image.new(
            "RGB", (_WIDTH * unit, bottom + self._small.height + self._margin), COLOURS["ground"]
        )
        self._pen = ImageDraw.Draw(self._image)
        self._write(head[:1], (self._margin, self._margin), bold=True)
        self._write(head[1:], (self._margin, self._margin + head[0].height))
        if indent:
            x = self._margin + self._box[0] + self._gap // 2
            self._pen.line((x, top, x, bottom - self._gap), fill=COLOURS["card"], width=2 * unit)
        self._write(empty, (self._margin + indent, bottom - below if below else top))
        for row, height in zip(rows, heights, strict=True):
            for column, tile in enumerate(row):
                if tile is not None:
                    self._tile(tile, (self._margin + column * (self._box[0] + self._gap), top))
            self._omissions(row, top)
            top += height + self._gap
        self._legend(bottom)
        stream = io.BytesIO()
        self._image.save(stream, "PNG")
        return stream.getvalue()

    def _rows(self) -> list[list[Tile | None]]:
        """The tiles row by row; below the query, which has the first column to itself, None."""
        tiles, query = self._sheet.tiles, self._sheet.query
        rows: list[list[Tile | None]] = [
            list(tiles[start : start + self._grid]) for start in range(0, len(tiles), self._grid)
        ]
        if query is None:
            return rows
        return [
            [None if row_number else query, *row] for row_number, row in enumerate(rows or [[]])
        ]

    def _text(
        self,
        text: str,
        width: int,
        colour: str = "quiet",
        *,
        lines: int = 3,
        before: int = 3,
        mark: str = "",
    ) -> _Text:
        return _Text(
            self._small.wrap(text, width, lines=lines),
            self._small,
            COLOURS[colour],
            before * self._scale,
            mark,
        )

    def _texts(self, tile: Tile) -> list[_Text]:
        """The texts below a picture, after the line with rank and score."""
        width = self._box[0]
        texts = [
            _Text(
                self._normal.wrap(tile.item, width), self._normal, COLOURS["ink"], 2 * self._scale
            )
        ]
        if tile.label:
            texts.append(self._text(tile.label, width, lines=2, before=2))
        words = [(word, "found") for word in tile.found] + [
            (word, "missing") for word in tile.missing
        ]
        for word, mark in words[:_MOST_KEYWORDS]:
            texts.append(self._text(word, width - self._small.height, "ink", lines=2, mark=mark))
        missing = sum(mark == "missing" for _, mark in words[_MOST_KEYWORDS:])
        more = (
            f"and {len(words) - _MOST_KEYWORDS} more, {missing} of them missing"
            if len(words) > _MOST_KEYWORDS
            else ""
        )
        return texts + [self._text(note, width) for note in (more, tile.note) if note]

    def _tile_height(self, tile: Tile) -> int:
        return (
            self._box[1]
            + 6 * self._scale
            + self._normal.height
            + sum(text.height for text in self._texts(tile))
        )

    def _tile(self, tile: Tile, corner: tuple[int, int]) -> None:
        (x, y), (width, height), unit, normal = corner, self._box, self._scale, self._normal
        corners = (x, y, x + width - 1, y + height - 1)
        colour = COLOURS[tile.state]
        self._pen.rectangle(corners, fill=COLOURS["card"])
        self._picture(tile, corner)
        self._pen.rectangle(corners, outline=colour, width=self._frame)
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
        if all(value.is_integer() for value in scores) and max(map(abs, scores), default=0) > 1:
            return f"{score:.0f}"
        return f"{score:.3f}" if max(map(abs, scores), default=0) < 100 else f"{score:.1f}"

    def _write(self, texts: list[_Text], corner: tuple[int, int], *, bold: bool = False) -> None:
        x, y = corner
        for text in texts:
            height, y = text.letters.height, y + text.before
            if text.mark:
                self._mark(text.mark, (x - height // 5, y + self._scale), height)
            for line in text.lines:
                text.letters.draw(
                    self._pen, (x + (height if text.mark else 0), y), line, text.colour, bold=bold
                )
                y += height

    def _picture(self, tile: Tile, box_corner: tuple[int, int]) -> None:
        """The picture as large as it fits into its box, in the middle; else what is wrong with
        it.
        """
        from PIL.Image import Resampling

        (x, y) = box_corner
        width = self._box[0] - 2 * self._frame
        height = self._box[1] - 2 * self._frame
        if tile.picture is not None:
            share = min(width / tile.picture.width, height / tile.picture.height)
            size = (
                max(1, round(tile.picture.width * share)),
                max(1, round(tile.picture.height * share)),
            )
            corner = (
                x + self._frame + (width - size[0]) // 2,
                y + self._frame + (height - size[1]) // 2,
            )
            self._image.paste(
                tile.picture.convert("RGB").resize(size, Resampling.LANCZOS, reducing_gap=3.0),
                corner,
            )
            return
        small, lines = self._small, self._small.wrap(tile.problem, width - 2 * self._gap, lines=2)
        side = min(44 * self._scale, height // 3)
        top = y + (self._box[1] - side - 6 * self._scale - len(lines) * small.height) // 2
        self._mark("no picture", (x + (self._box[0] - side) // 2, top), side)
        for row, line in enumerate(lines):
            left = x + (self._box[0] - small.width(line)) / 2
            small.draw(
                self._pen,
                (left, top + side + 6 * self._scale + row * small.height),
                line,
                COLOURS["quiet"],
            )

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
        for column, (before, after) in enumerate(pairwise(row), 1):
            if (
                before is None
                or after is None
                or before.rank is None
                or after.rank in (None, before.rank + 1)
            ):
                continue
            x = self._margin + column * (self._box[0] + self._gap) - self._gap // 2
            radius = 1.5 * self._scale
            for step in (-1, 0, 1):
                y = top + self._box[1] // 2 + 7 * step * self._scale
                self._pen.ellipse(
                    (x - radius, y - radius, x + radius, y + radius), fill=COLOURS["quiet"]
                )

    def _legend(self, top: int) -> None:
        """The marks that results have, and the meaning of the numbers."""
        tiles, small, x = self._sheet.tiles, self._small, self._margin
        for state in ("right", "wrong"):
            if any(tile.state == state for tile in tiles):
                self._mark(state, (x, top), small.height)
                small.draw(
                    self._pen, (x + small.height + 2 * self._scale, top), state, COLOURS["quiet"]
                )
                x += small.height + round(small.width(state)) + 14 * self._scale
        meanings = ["number: rank"] * any(tile.rank is not None for tile in tiles)
        meanings += [f"at the right: {self._sheet.score}"] * any(
            tile.score is not None for tile in tiles
        )
        meanings += ["below: keywords found and missing"] * any(
            tile.found or tile.missing for tile in tiles
        )
        small.draw(self._pen, (x, top), " · ".join(meanings), COLOURS["quiet"])


def _draw_mark(pen: Any, kind: str, size: int) -> None:
    def _sized(*shares: float) -> list[float]:
        return [size * share for share in shares]

    def _line(
        *shares: float, width: float = 0.11, ink: int = 255 * (kind not in ("right", "wrong"))
    ) -> None:
        pen.line(
            _sized(*shares),
            fill=ink,
            width=round(size * width),
            joint="curve" if len(shares) > 4 else None,
        )

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
