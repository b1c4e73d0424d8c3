"""A canvas in the perspective of a camera behind a windscreen, and road users from behind, from the front or from the side."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

WIDTH, HEIGHT = 320, 180
FINE = 3
"""A picture is drawn larger by this factor, so that its edges become smooth."""

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
    """An annotated clip: group -> labels; the n-th object has the n-th behaviour and the n-th spatial relation."""

    id: str
    labels: Mapping[str, Sequence[str]]

    def has(self, label: str) -> bool:
        """Whether the scene or the ego vehicle has a label."""
        return label in self.labels.get(SCENE, ()) or label in self.labels.get(EGO, ())


class Actor(NamedTuple):
    """A road user. x, depth: metres to the right of the centre of the ego lane, and in front of the camera.

    side: 1 moving to the right, -1 to the left, 0 along the road. front: along the road, whether it faces the camera.
    """

    kind: str
    x: float
    depth: float
    side: int
    front: bool
    colour: str
    step: float


class View(NamedTuple):
    """The direction of the camera.

    horizon: as a share of the height. yaw: in pixels of the finished picture. bend: of the road, in metres per metre squared.
    shift: of the ego vehicle from the centre of its lane, in metres.
    """

    horizon: float
    yaw: float
    bend: float
    shift: float


class Canvas:
    """A picture in the perspective of a camera behind a windscreen; lengths are in metres."""

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
        """The pixel at which a point of the scene is seen."""
        scale = self.scale(depth)
        lateral = x - self._view.shift + self._view.bend * depth * depth
        return self.width / 2 + self._view.yaw * FINE + lateral * scale, self.horizon + (_EYE - up) * scale

    def strip(self, x: tuple[float, float], depth: tuple[float, float], colour: str) -> None:
        """Draws a piece of the ground."""
        near, far = max(depth[0], NEAREST), max(depth[1], NEAREST)
        depths = [near * (far / near) ** (step / 20) for step in range(21)]
        self.pen.polygon([self.at(x[0], each) for each in depths] + [self.at(x[1], each) for each in depths[::-1]], fill=colour)

    def wall(self, x: tuple[float, float], depth: tuple[float, float], up: tuple[float, float], colour: str) -> None:
        """Draws an upright surface between two places on the ground."""
        near, far = (x[0], depth[0]), (x[1], depth[1])
        edge = [self.at(*near, up[0]), self.at(*near, up[1]), self.at(*far, up[1]), self.at(*far, up[0])]
        self.pen.polygon(edge, fill=colour)

    def glow(self, x: float, depth: float, up: float, size: float, colour: str = LAMP) -> None:
        """Adds a lamp, which shines at night."""
        self.lights.append((*self.at(x, depth, up), size * self.scale(depth), colour))

    def shine_on(self, actor: Actor) -> None:
        """Adds a road user to those that the ego vehicle's headlights show at night."""
        self.seen.append((*self.at(actor.x, actor.depth, 0.9), 1.3 * self.scale(actor.depth)))

    def box(self, actor: Actor, x: tuple[float, float], up: tuple[float, float], colour: str) -> None:
        """Draws a rectangular part of a road user, relative to its place on the ground."""
        (left, y), scale = self.at(actor.x, actor.depth), self.scale(actor.depth)
        corners = (left + x[0] * scale, y - up[1] * scale, left + x[1] * scale, y - up[0] * scale)
        self.pen.rounded_rectangle(corners, radius=min(0.09, (x[1] - x[0]) / 3, (up[1] - up[0]) / 3) * scale, fill=colour)

    def shape(self, actor: Actor, points: Sequence[tuple[float, float]], colour: str) -> None:
        """Draws a polygonal part."""
        (left, y), scale = self.at(actor.x, actor.depth), self.scale(actor.depth)
        self.pen.polygon([(left + x * scale, y - up * scale) for x, up in points], fill=colour)

    def disc(self, actor: Actor, x: float, up: float, radius: tuple[float, float], colour: str, *, ring: bool = False) -> None:
        """Draws a wheel or a head; `ring` draws its edge only."""
        (left, y), scale = self.at(actor.x, actor.depth), self.scale(actor.depth)
        x, y = left + x * scale, y - up * scale
        corners = (x - radius[0] * scale, y - radius[1] * scale, x + radius[0] * scale, y + radius[1] * scale)
        if ring:
            self.pen.ellipse(corners, outline=colour, width=max(2, round(0.06 * scale)))
        else:
            self.pen.ellipse(corners, fill=colour)

    def line(self, actor: Actor, points: Sequence[tuple[float, float]], width: float, colour: str) -> None:
        """Draws limbs and frames."""
        (left, y), scale = self.at(actor.x, actor.depth), self.scale(actor.depth)
        shown = [(left + x * scale, y - up * scale) for x, up in points]
        self.pen.line(shown, fill=colour, width=max(2, round(width * scale)), joint="curve")

    def lamps(self, actor: Actor, x: float, up: float, size: float) -> None:
        """Draws the lamps on both sides of a vehicle: red at the rear, white at the front."""
        colour = LAMP if actor.front else RED
        for side in (-x, x):
            self.disc(actor, side, up, (size, size * 0.7), colour)
            self.glow(actor.x + side, actor.depth, up, size * (4 if actor.front else 2.4), colour)


def shade(colour: str, share: float) -> str:
    """The colour with a share of its brightness."""
    parts: list[Any] = [round(int(colour[place : place + 2], 16) * share) for place in (1, 3, 5)]
    return "#{:02x}{:02x}{:02x}".format(*parts)


# Road users


def _cyclist(canvas: Canvas, actor: Actor) -> None:
    if not actor.side:
        canvas.box(actor, (-0.04, 0.04), (0, 0.68), TYRE)
        canvas.line(actor, [(-0.12, 0.9), (-0.14, 0.35 + 0.12 * actor.step)], 0.13, "#3b4a5a")
        canvas.line(actor, [(0.12, 0.9), (0.14, 0.35 - 0.12 * actor.step)], 0.13, "#3b4a5a")
        canvas.line(actor, [(-0.3, 1.05), (0.3, 1.05)], 0.05, TYRE)
        canvas.box(actor, (-0.22, 0.22), (0.85, 1.5), actor.colour)
        canvas.glow(actor.x, actor.depth, 0.7, 0.2, LAMP if actor.front else RED)
    else:
        for x in (-0.52, 0.52):
            canvas.disc(actor, x, 0.34, (0.34, 0.34), TYRE, ring=True)
        side = actor.side
        frame = [(-0.52 * side, 0.34), (-0.1 * side, 0.75), (0.4 * side, 0.75), (0.52 * side, 0.34)]
        canvas.line(actor, frame, 0.05, "#4a4f55")
        canvas.line(actor, [(-0.1 * side, 0.75), (0.02, 0.34), (0.4 * side, 0.75)], 0.05, "#4a4f55")
        canvas.line(actor, [(-0.15 * side, 0.95), (0.12 * side, 0.62), (0.02, 0.24)], 0.14, "#3b4a5a")
        canvas.line(actor, [(-0.15 * side, 0.95), (0.12 * side, 1.42)], 0.3, actor.colour)
        canvas.line(actor, [(0.12 * side, 1.35), (0.42 * side, 0.98)], 0.1, actor.colour)
    x = 0.2 * actor.side
    canvas.disc(actor, x, 1.68, (0.14, 0.16), SKIN)
    canvas.disc(actor, x, 1.76, (0.16, 0.11), "#f2f2ee")


def _motorcyclist(canvas: Canvas, actor: Actor) -> None:
    if actor.side:
        for x in (-0.65, 0.65):
            canvas.disc(actor, x, 0.33, (0.33, 0.33), TYRE)
        canvas.box(actor, (-0.6, 0.6), (0.4, 0.85), "#30363c")
    else:
        canvas.box(actor, (-0.11, 0.11), (0, 0.66), TYRE)
        canvas.box(actor, (-0.24, 0.24), (0.45, 0.9), "#30363c")
        canvas.line(actor, [(-0.42, 1.05), (0.42, 1.05)], 0.07, TYRE)
        canvas.disc(actor, 0, 0.72, (0.12, 0.08), LAMP if actor.front else RED)
        canvas.glow(actor.x, actor.depth, 0.72, 0.45, LAMP if actor.front else RED)
    canvas.box(actor, (-0.27, 0.27), (0.8, 1.4), actor.colour)
    canvas.disc(actor, 0, 1.56, (0.18, 0.2), "#23282d")


def _pedestrian(canvas: Canvas, actor: Actor) -> None:
    stride = 0.2 if actor.side else 0.1
    canvas.line(actor, [(0, 0.9), (-stride, 0.02)], 0.15, "#3d4654")
    canvas.line(actor, [(0, 0.9), (stride, 0.02)], 0.15, "#48525f")
    canvas.box(actor, (-0.22, 0.22), (0.8, 1.45), actor.colour)
    canvas.line(actor, [(-0.2, 1.36), (-0.28, 0.9)], 0.1, actor.colour)
    canvas.line(actor, [(0.2, 1.36), (0.28, 0.9)], 0.1, actor.colour)
    canvas.disc(actor, 0, 1.63, (0.14, 0.17), SKIN)
    canvas.disc(actor, -0.02 * actor.side, 1.72, (0.15, 0.1), "#4a3527")


def _car(canvas: Canvas, actor: Actor) -> None:
    if actor.side:
        body = [(-2.1, 0.3), (-2.1, 0.85), (-1.3, 0.95), (-0.8, 1.45), (0.7, 1.45), (1.3, 0.95), (2.1, 0.8), (2.1, 0.3)]
        canvas.shape(actor, [(x * actor.side, up) for x, up in body], actor.colour)
        glass = [(-1.1, 0.97), (-0.7, 1.35), (0.6, 1.35), (1.05, 0.97)]
        canvas.shape(actor, [(x * actor.side, up) for x, up in glass], GLASS)
        for x in (-1.3, 1.3):
            canvas.disc(actor, x, 0.32, (0.32, 0.32), TYRE)
        canvas.glow(actor.x + 2.1 * actor.side, actor.depth, 0.65, 0.5)
        return
    for x in (-0.72, 0.72):
        canvas.box(actor, (x - 0.13, x + 0.13), (0, 0.4), TYRE)
    canvas.shape(actor, [(-0.82, 0.85), (-0.62, 1.45), (0.62, 1.45), (0.82, 0.85)], shade(actor.colour, 0.85))
    canvas.shape(actor, [(-0.68, 0.92), (-0.54, 1.36), (0.54, 1.36), (0.68, 0.92)], GLASS)
    canvas.box(actor, (-0.9, 0.9), (0.25, 0.92), actor.colour)
    canvas.box(actor, (-0.25, 0.25), (0.42, 0.55), "#eceae4")
    canvas.lamps(actor, 0.72, 0.7, 0.14)


def _truck(canvas: Canvas, actor: Actor) -> None:
    if actor.side:
        canvas.box(actor, (-3.6, 2.2), (0.8, 3.5), "#dfe3e2")
        canvas.box(actor, (-3.6, 2.2), (1.7, 2.2), actor.colour)
        canvas.box(actor, (2.3 if actor.side > 0 else -5.2, 4.0 if actor.side > 0 else -3.7), (0.5, 2.9), actor.colour)
        for x in (-2.8, -1.9, 1.4, 3.2 * actor.side):
            canvas.disc(actor, x, 0.5, (0.5, 0.5), TYRE)
        return
    for x in (-0.95, 0.95):
        canvas.box(actor, (x - 0.2, x + 0.2), (0, 0.8), TYRE)
    canvas.box(actor, (-1.27, 1.27), (0.6, 3.7), actor.colour)
    if actor.front:
        canvas.box(actor, (-1.1, 1.1), (1.7, 2.6), GLASS)
        canvas.box(actor, (-0.8, 0.8), (0.9, 1.4), shade(actor.colour, 0.7))
    else:
        canvas.box(actor, (-1.12, 1.12), (0.85, 3.5), "#e3e5e2")
        canvas.line(actor, [(0, 0.85), (0, 3.5)], 0.06, "#8b9092")
    canvas.lamps(actor, 1.05, 0.72, 0.15)


def _cone(canvas: Canvas, actor: Actor) -> None:
    for x in (-0.9, 0.0, 0.9):
        canvas.shape(actor, [(x - 0.26, 0), (x - 0.06, 0.75), (x + 0.06, 0.75), (x + 0.26, 0)], "#e2672a")
        canvas.shape(actor, [(x - 0.17, 0.34), (x - 0.12, 0.52), (x + 0.12, 0.52), (x + 0.17, 0.34)], "#f4f2ec")


ROAD_USERS: dict[str, Callable[[Canvas, Actor], None]] = {
    "bicyclist": _cyclist,
    "motorcyclist": _motorcyclist,
    "pedestrian": _pedestrian,
    "small vehicle": _car,
    "large vehicle": _truck,
    "stationary object": _cone,
}
