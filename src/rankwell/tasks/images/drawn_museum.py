"""A small museum: paintings and glass cabinets drawn by chance, and how visitors photograph them;
with nothing to download.
"""

import math
from collections.abc import Sequence
from random import Random
from typing import Any

import numpy as np
from PIL import ImageDraw, ImageEnhance, ImageFilter
from PIL.Image import Image, Resampling, Transform, composite, fromarray, new

WIDTH, HEIGHT = 360, 270
PHOTOGRAPH = 320, 240
"""Width and height of a visitor's photograph."""
_FINE = 2
Point = tuple[float, float]

_PALETTES = (
    ("#28364d", "#c9772f", "#e8d9b5", "#7c2f2b", "#5b7a6b"),
    ("#1f4e5f", "#79a8a9", "#f4f7f7", "#d96c4b", "#aacfd0"),
    ("#3b2c35", "#a26769", "#ece2d0", "#d5b9b2", "#6d2e46"),
    ("#2d3a1f", "#8a9a5b", "#e3dba6", "#c75d2c", "#586f3a"),
    ("#131b3a", "#4a5da8", "#d8b24a", "#ece8dd", "#8b2d3c"),
    ("#4a3f2a", "#b7924f", "#efe3c8", "#38576b", "#9c4a2f"),
)
_WALLS = ("#d8d2c4", "#c7cdcc", "#b9b0a2", "#e2ded6", "#a9b0a5")
_FRAMES = ("#6e4f2a", "#2f2a26", "#a5854a", "#8a8478")


def paint(name: str) -> Image:
    """The painting of this name in its frame, 360 × 270 pixels, straight from the front."""
    random = Random(name)  # noqa: S311 - paintings, not secrets
    pen = _Brush(random)
    random.choice((_landscape, _still_life, _portrait, _circles, _blocks))(pen)
    edge, wide = random.choice(_FRAMES), random.randint(5, 11) * _FINE
    for inset in range(0, wide, _FINE):
        box = (inset, inset, pen.width - 1 - inset, pen.height - 1 - inset)
        pen.draw.rectangle(box, outline=_shaded(edge, 0.8 + 0.4 * inset / wide), width=_FINE)
    return pen.image.resize((WIDTH, HEIGHT), Resampling.BOX)


def furnish(name: str) -> Image:
    """The glass cabinet of this name, 360 × 270 pixels: vessels on three shelves, in a case that
    all cabinets share.
    """
    random = Random(name)  # noqa: S311 - cabinets, not secrets
    pen = _Brush(random)
    pen.box(0, 0, 1, 1, "#c9c2b2")
    for shelf in range(3):
        foot = 0.31 + 0.3 * shelf
        x = random.uniform(0.08, 0.16)
        while x < 0.9:
            size = random.uniform(0.025, 0.045)
            _vessel(pen, x, foot, size, pen.colour())
            x += 2 * size + random.uniform(0.03, 0.14)
        pen.box(0.03, foot, 0.97, foot + 0.018, "#8f8b80")
    for left, right in ((0, 0.03), (0.485, 0.515), (0.97, 1)):
        pen.box(left, 0, right, 1, "#4d4a44")
    pen.box(0, 0, 1, 0.035, "#4d4a44")
    return pen.image.resize((WIDTH, HEIGHT), Resampling.BOX)


def photograph(image: Image, random: Random, *, badness: float = 1.0) -> Image:
    """A visitor's photograph of a picture: askew, cut off, out of focus, too dark or too bright,
    and noisy, by its badness.
    """
    (wide, high), wall = PHOTOGRAPH, _wall(random)
    margin, reach = 0.1 if badness else 0.0, 0.13 * badness
    # Where the picture's corners come to lie; beyond the edge of the photograph they are cut off.
    turn, zoom = random.gauss(0, 0.07) * badness, 1 + random.uniform(-0.15, 0.35) * badness
    corners: list[Point] = []
    for signs in ((-1, -1), (1, -1), (1, 1), (-1, 1)):
        x, y = (sign * (1 - margin) * zoom + random.uniform(-reach, reach) for sign in signs)
        x, y = x * math.cos(turn) - y * math.sin(turn), x * math.sin(turn) + y * math.cos(turn)
        corners.append(((x + 1) / 2 * wide, (y + 1) / 2 * high))
    of_picture = [(0, 0), (image.width, 0), (image.width, image.height), (0, image.height)]
    matrix = _perspective(corners, of_picture)
    hung, shape = (
        layer.transform(PHOTOGRAPH, Transform.PERSPECTIVE, matrix, resampling)
        for layer, resampling in (
            (image, Resampling.BICUBIC),
            (new("L", image.size, 255), Resampling.BILINEAR),
        )
    )
    photo = composite(hung, wall, shape)
    photo = ImageEnhance.Brightness(photo).enhance(math.exp(random.uniform(-0.55, 0.45) * badness))
    photo = ImageEnhance.Color(photo).enhance(1 + random.uniform(-0.4, 0.3) * min(badness, 2))
    blur = ImageFilter.GaussianBlur
    photo = _lit(photo, random, badness).filter(blur(abs(random.gauss(0, 1.3)) * badness))
    return _noisy(photo, random, 5 * badness)


def nothing(random: Random) -> Image:
    """A photograph without content, as they lie between the others: a wall, a floor, a label too
    blurred to read.
    """
    image, (wide, high) = _wall(random), PHOTOGRAPH
    pen = ImageDraw.Draw(image)
    kind = random.choice(("wall", "floor", "label"))
    if kind == "floor":
        horizon = random.randint(high // 4, high // 2)
        pen.rectangle((0, horizon, wide, high), fill=_shaded(random.choice(_FRAMES), 1.2))
        for board in range(-6, 12):
            x = board * wide / 5
            pen.line((wide / 2 + (x - wide / 2) * 0.3, horizon, x, high), fill="#3d3a35", width=1)
    if kind == "label":
        left, top = random.randint(30, 150), random.randint(30, 120)
        pen.rectangle((left, top, left + 120, top + 70), fill="#f6f5f0")
        for y in range(top + 12, top + 66, 9):
            end = left + 12 + random.randint(40, 96)
            pen.line((left + 12, y, end, y), fill="#55585c", width=3)
    blurred = image.filter(ImageFilter.GaussianBlur(random.uniform(1, 4)))
    return _noisy(_lit(blurred, random, 1.0), random, 4)


class _Brush:
    """A brush with a palette of colours that match; the first is the ground."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.colours = list(random.choice(_PALETTES))
        random.shuffle(self.colours)
        self.width, self.height = WIDTH * _FINE, HEIGHT * _FINE
        self.image = new("RGB", (self.width, self.height), self.colours[0])
        self.draw: Any = ImageDraw.Draw(self.image)

    def colour(self) -> str:
        """Any colour but that of the ground, a little lighter or darker."""
        return _shaded(self.random.choice(self.colours[1:]), self.random.uniform(0.75, 1.2))

    def ellipse(self, x: float, y: float, wide: float, high: float, colour: str) -> None:
        """An ellipse about a point; all as shares of the painting."""
        corners = self._pixels([(x - wide, y - high), (x + wide, y + high)])
        self.draw.ellipse(corners, fill=colour)

    def area(self, points: Sequence[Point], colour: str) -> None:
        """A polygon; corners as shares of the painting."""
        self.draw.polygon(self._pixels(points), fill=colour)

    def box(self, left: float, top: float, right: float, bottom: float, colour: str) -> None:
        """A rectangle; sides as shares of the painting."""
        self.area([(left, top), (right, top), (right, bottom), (left, bottom)], colour)

    def _pixels(self, points: Sequence[Point]) -> list[Point]:
        return [(x * self.width, y * self.height) for x, y in points]


def _landscape(pen: _Brush) -> None:
    random = pen.random
    pen.ellipse(random.uniform(0.15, 0.85), random.uniform(0.12, 0.35), 0.07, 0.09, pen.colour())
    for layer in range(random.randint(3, 5)):
        level = 0.38 + 0.14 * layer
        ridge = [(step / 8, level + random.uniform(-0.11, 0.07)) for step in range(9)]
        pen.area([(0, 1.1), *ridge, (1, 1.1)], pen.colour())
    for _ in range(random.randint(0, 7)):
        x, foot = random.uniform(0.05, 0.95), random.uniform(0.72, 0.97)
        crown, leaves = foot - random.uniform(0.1, 0.28), pen.colour()
        pen.box(x - 0.012, crown, x + 0.012, foot, "#3a2d22")
        pen.ellipse(x, crown, 0.05, 0.1, leaves)


def _still_life(pen: _Brush) -> None:
    random = pen.random
    edge = random.uniform(0.55, 0.7)
    pen.area([(0, edge), (1, edge + random.uniform(-0.06, 0.06)), (1, 1), (0, 1)], pen.colour())
    for _ in range(random.randint(4, 7)):
        x, foot = random.uniform(0.14, 0.86), random.uniform(edge + 0.05, 0.92)
        _vessel(pen, x, foot, random.uniform(0.05, 0.12), pen.colour())


def _vessel(pen: _Brush, x: float, foot: float, size: float, colour: str) -> None:
    """A bottle, or something round with a light on it."""
    if pen.random.random() < 0.4:
        neck = size * pen.random.uniform(0.25, 0.5)
        outline = ((size, 0), (size, 2), (neck, 3.2), (neck, 4.4))
        left, right = (
            [(x + side * half, foot - level * size) for half, level in outline] for side in (-1, 1)
        )
        pen.area([*left, *reversed(right)], colour)
    else:
        pen.ellipse(x, foot - size, size, size * 1.25, colour)
        pen.ellipse(
            x - size * 0.35, foot - size * 1.5, size * 0.22, size * 0.25, _shaded(colour, 1.45)
        )


def _portrait(pen: _Brush) -> None:
    random = pen.random
    x, y = random.uniform(0.4, 0.6), random.uniform(0.36, 0.44)
    hair, cloth = pen.colour(), pen.colour()
    skin = _shaded(
        random.choice(("#e0b596", "#c58d68", "#8d5a3c", "#f0cfb4")), random.uniform(0.9, 1.05)
    )
    pen.ellipse(x, y - 0.03, random.uniform(0.13, 0.19), random.uniform(0.22, 0.3), hair)
    pen.area([(x - 0.33, 1.02), (x - 0.2, y + 0.26), (x + 0.2, y + 0.26), (x + 0.33, 1.02)], cloth)
    pen.area(
        [(x - 0.05, y + 0.1), (x + 0.05, y + 0.1), (x + 0.06, y + 0.3), (x - 0.06, y + 0.3)],
        _shaded(skin, 0.85),
    )
    pen.ellipse(x, y + 0.02, 0.11, 0.2, skin)
    for side in (-1, 1):
        pen.ellipse(x + side * 0.045, y - 0.01, 0.016, 0.018, "#2a2320")
    pen.area([(x, y + 0.01), (x + 0.02, y + 0.09), (x - 0.01, y + 0.09)], _shaded(skin, 0.8))
    pen.ellipse(x, y + 0.13, random.uniform(0.02, 0.045), 0.013, "#9c3f3a")
    for _ in range(random.randint(0, 5)):
        pen.ellipse(
            x + random.uniform(-0.2, 0.2), random.uniform(y + 0.4, 0.95), 0.02, 0.027, pen.colour()
        )


def _circles(pen: _Brush) -> None:
    random = pen.random
    for _ in range(random.randint(5, 9)):
        x, y, size = random.random(), random.random(), random.uniform(0.08, 0.26)
        for ring in range(random.randint(1, 4)):
            pen.ellipse(x, y, size * (1 - ring / 4), size * 4 / 3 * (1 - ring / 4), pen.colour())


def _blocks(pen: _Brush) -> None:
    random = pen.random
    line = random.uniform(0.006, 0.02)

    def _split(left: float, top: float, right: float, bottom: float, depth: int) -> None:
        if depth == 0 or (depth < 3 and random.random() < 0.25):
            pen.box(left + line, top + line, right, bottom, pen.colour())
            return
        cut = random.uniform(0.3, 0.7)
        if right - left > bottom - top:
            middle = left + (right - left) * cut
            _split(left, top, middle, bottom, depth - 1)
            _split(middle, top, right, bottom, depth - 1)
        else:
            middle = top + (bottom - top) * cut
            _split(left, top, right, middle, depth - 1)
            _split(left, middle, right, bottom, depth - 1)

    _split(0, 0, 1, 1, 4)


def _wall(random: Random) -> Image:
    return new("RGB", PHOTOGRAPH, _shaded(random.choice(_WALLS), random.uniform(0.8, 1.1)))


def _lit(image: Image, random: Random, badness: float) -> Image:
    """Light from one side, and the reflection of a lamp in some."""
    wide, high = image.size
    x, y = np.linspace(-1, 1, wide)[None, :], np.linspace(-1, 1, high)[:, None]
    light = 1 + (random.uniform(-0.22, 0.22) * x + random.uniform(-0.22, 0.22) * y) * badness
    centre = random.uniform(-0.7, 0.7), random.uniform(-0.7, 0.7)
    brightness = 110 * badness if random.random() < 0.3 else 0.0
    shine = np.exp(-((x - centre[0]) ** 2 + (y - centre[1]) ** 2) / 0.03) * brightness
    return _as_image(np.asarray(image, dtype=np.float64) * light[:, :, None] + shine[:, :, None])


def _noisy(image: Image, random: Random, sigma: float) -> Image:
    pixels = np.asarray(image, dtype=np.float64)
    if sigma:
        generator = np.random.default_rng(random.getrandbits(32))
        pixels = pixels + generator.normal(0, sigma, pixels.shape)
    return _as_image(pixels)


def _as_image(pixels: np.ndarray) -> Image:
    return fromarray(pixels.round().clip(0, 255).astype(np.uint8))


def _perspective(photo_corners: Sequence[Point], corners: Sequence[Point]) -> list[float]:
    """The eight numbers by which Pillow finds, for a point of the photograph, that of the
    picture.
    """
    rows: list[list[float]] = []
    for (x, y), (u, v) in zip(photo_corners, corners, strict=True):
        rows += [[x, y, 1, 0, 0, 0, -u * x, -u * y], [0, 0, 0, x, y, 1, -v * x, -v * y]]
    coefficients: list[float] = np.linalg.solve(np.array(rows), np.array(corners).ravel()).tolist()
    return coefficients


def _shaded(colour: str, share: float) -> str:
    """The colour lighter or darker."""
    parts = [min(255, round(int(colour[at : at + 2], 16) * share)) for at in (1, 3, 5)]
    return "#" + "".join(f"{part:02x}" for part in parts)
