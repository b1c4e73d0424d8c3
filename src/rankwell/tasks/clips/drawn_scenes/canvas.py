"""A picture in the making, in the perspective of a camera behind a windscreen, and what is to be seen in it."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

WIDTH, HEIGHT = 320, 180
FINE = 3
"""How many times larger than wanted a picture is drawn, to make its edges smooth."""

OBJECTS, BEHAVIOURS, RELATIONS, EGO, SCENE = (
    "pv_object_type",
    "pv_actor_behavior",
    "pv_spatial_relation",
    "ego_behavior",
    "scene_type",
)
NEAREST, FARTHEST = 2.4, 260.0
TYRE, SKIN, GLASS, RED, LAMP = "#22262a", "#d9a47e", "#5d7585", "#d8231f", "#fff3c4"
_EYE = 1.4


class Scene(NamedTuple):
    """A clip as its annotation has it: group -> labels; the n-th object does the n-th behaviour in the n-th place."""

    id: str
    labels: Mapping[str, Sequence[str]]

    def has(self, label: str) -> bool:
        """Whether the place, the light, the weather or the own car is described by a label."""
        return label in self.labels.get(SCENE, ()) or label in self.labels.get(EGO, ())


class Actor(NamedTuple):
    """Somebody on the road. x, depth: metres to the right of the own lane's middle, and before the camera.

    side: 1 going to the right, -1 to the left, 0 along the road; then `front` says whether they come towards us.
    """

    kind: str
    x: float
    depth: float
    side: int
    front: bool
    colour: str
    step: float


class View(NamedTuple):
    """Where the camera looks.

    horizon: as a share of the height. yaw: in pixels of the finished picture. bend: of the road, in metres per metre squared.
    shift: of the own car from the middle of its lane, in metres.
    """

    horizon: float
    yaw: float
    bend: float
    shift: float


class Canvas:
    """A picture in the making, in the perspective of a camera behind a windscreen; lengths are in metres."""

    def __init__(self, view: View) -> None:
        from PIL import Image, ImageDraw

        self._view = view
        self.width, self.height = WIDTH * FINE, HEIGHT * FINE
        self.horizon = view.horizon * self.height
        self.image = Image.new("RGB", (self.width, self.height))
        self.pen = ImageDraw.Draw(self.image)
        self.lights: list[tuple[float, float, float, str]] = []
        self.seen: list[tuple[float, float, float]] = []

    def scale(self, depth: float) -> float:
        """Pixels per metre at a depth."""
        return (self.height - self.horizon) * 3.0 / (_EYE * depth)

    def at(self, x: float, depth: float, up: float = 0.0) -> tuple[float, float]:
        """Where a point of the world is seen."""
        scale = self.scale(depth)
        lateral = x - self._view.shift + self._view.bend * depth * depth
        return self.width / 2 + self._view.yaw * FINE + lateral * scale, self.horizon + (_EYE - up) * scale

    def strip(self, x: tuple[float, float], depth: tuple[float, float], colour: str) -> None:
        """A piece of the ground."""
        near, far = max(depth[0], NEAREST), max(depth[1], NEAREST)
        depths = [near * (far / near) ** (step / 20) for step in range(21)]
        self.pen.polygon([self.at(x[0], each) for each in depths] + [self.at(x[1], each) for each in depths[::-1]], fill=colour)

    def wall(self, x: tuple[float, float], depth: tuple[float, float], up: tuple[float, float], colour: str) -> None:
        """An upright surface between two places on the ground."""
        near, far = (x[0], depth[0]), (x[1], depth[1])
        edge = [self.at(*near, up[0]), self.at(*near, up[1]), self.at(*far, up[1]), self.at(*far, up[0])]
        self.pen.polygon(edge, fill=colour)

    def glow(self, x: float, depth: float, up: float, size: float, colour: str = LAMP) -> None:
        """A lamp, which shines at night."""
        self.lights.append((*self.at(x, depth, up), size * self.scale(depth), colour))

    def shine_on(self, actor: Actor) -> None:
        """Somebody whom the own headlights show at night."""
        self.seen.append((*self.at(actor.x, actor.depth, 0.9), 1.3 * self.scale(actor.depth)))

    def box(self, actor: Actor, x: tuple[float, float], up: tuple[float, float], colour: str) -> None:
        """A part of somebody, from where they stand."""
        (left, y), scale = self.at(actor.x, actor.depth), self.scale(actor.depth)
        corners = (left + x[0] * scale, y - up[1] * scale, left + x[1] * scale, y - up[0] * scale)
        self.pen.rounded_rectangle(corners, radius=min(0.09, (x[1] - x[0]) / 3, (up[1] - up[0]) / 3) * scale, fill=colour)

    def shape(self, actor: Actor, points: Sequence[tuple[float, float]], colour: str) -> None:
        """A part with corners of its own."""
        (left, y), scale = self.at(actor.x, actor.depth), self.scale(actor.depth)
        self.pen.polygon([(left + x * scale, y - up * scale) for x, up in points], fill=colour)

    def disc(self, actor: Actor, x: float, up: float, radius: tuple[float, float], colour: str, *, ring: bool = False) -> None:
        """A wheel or a head; `ring` draws its edge only."""
        (left, y), scale = self.at(actor.x, actor.depth), self.scale(actor.depth)
        x, y = left + x * scale, y - up * scale
        corners = (x - radius[0] * scale, y - radius[1] * scale, x + radius[0] * scale, y + radius[1] * scale)
        if ring:
            self.pen.ellipse(corners, outline=colour, width=max(2, round(0.06 * scale)))
        else:
            self.pen.ellipse(corners, fill=colour)

    def line(self, actor: Actor, points: Sequence[tuple[float, float]], width: float, colour: str) -> None:
        """Limbs and frames."""
        (left, y), scale = self.at(actor.x, actor.depth), self.scale(actor.depth)
        shown = [(left + x * scale, y - up * scale) for x, up in points]
        self.pen.line(shown, fill=colour, width=max(2, round(width * scale)), joint="curve")

    def lamps(self, actor: Actor, x: float, up: float, size: float) -> None:
        """The lamps on both sides of a vehicle: red behind, white before."""
        colour = LAMP if actor.front else RED
        for side in (-x, x):
            self.disc(actor, side, up, (size, size * 0.7), colour)
            self.glow(actor.x + side, actor.depth, up, size * (4 if actor.front else 2.4), colour)


def shade(colour: str, share: float) -> str:
    """The colour with a share of its brightness."""
    parts: list[Any] = [round(int(colour[place : place + 2], 16) * share) for place in (1, 3, 5)]
    return "#{:02x}{:02x}{:02x}".format(*parts)
