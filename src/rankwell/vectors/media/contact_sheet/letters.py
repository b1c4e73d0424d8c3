"""Text on pictures with the font that Pillow carries: the same on every machine, wrapped, no boxes
for letters it lacks.
"""

import unicodedata
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from PIL.ImageDraw import ImageDraw

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
