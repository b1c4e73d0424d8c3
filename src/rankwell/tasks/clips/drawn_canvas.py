"""A canvas in the perspective of a camera behind a windscreen, and road users from behind, from the
front or from the side.
"""

import json
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any, NamedTuple

WIDTH, HEIGHT = 320, 180
FINE = 3
"""A picture is drawn larger by this factor, so that its edges become smooth."""

NEAREST, FARTHEST = 2.4, 260.0
_LAMP = "#fff3c4"
_EYE = 1.4
FIGURES: dict[str, list[dict[str, Any]]] = json.loads(
    (files("rankwell.tasks.clips") / "data" / "road_users.json").read_text(encoding="utf-8")
)
"""Road user -> its parts from back to front: the views that show each, and how a `Canvas` draws it,
in the road user's own colour or a shade of it where none is given.
"""


class Scene(NamedTuple):
    """An annotated clip: group -> labels; the n-th object has the n-th behaviour and the n-th
    spatial relation.
    """

    id: str
    labels: Mapping[str, Sequence[str]]

    def has(self, label: str) -> bool:
        """Whether the scene or the ego vehicle has a label."""
        return any(label in self.labels.get(group, ()) for group in ("scene_type", "ego_behavior"))


class Actor(NamedTuple):
    """A road user, in metres from the centre of the ego lane and the camera. side: 1 to the right,
    -1 to the left.
    """

    kind: str
    x: float
    depth: float
    side: int = 0
    front: bool = False
    colour: str = ""
    step: float = 0.0


class View(NamedTuple):
    """The direction of the camera: horizon as a share of the height, yaw in pixels, bend of the
    road, shift in metres.
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
        return self.width / 2 + self._view.yaw * FINE + lateral * scale, self.horizon + (
            _EYE - up
        ) * scale

    def strip(self, x: tuple[float, float], depth: tuple[float, float], colour: str) -> None:
        """Draws a piece of the ground."""
        near, far = max(depth[0], NEAREST), max(depth[1], NEAREST)
        depths = [near * (far / near) ** (step / 20) for step in range(21)]
        self.pen.polygon(
            [self.at(x[0], depth) for depth in depths]
            + [self.at(x[1], depth) for depth in depths[::-1]],
            fill=colour,
        )

    def wall(
        self,
        x: tuple[float, float],
        depth: tuple[float, float],
        up: tuple[float, float],
        colour: str,
    ) -> None:
        """Draws an upright surface between two places on the ground."""
        near, far = (x[0], depth[0]), (x[1], depth[1])
        edge = [
            self.at(*near, up[0]),
            self.at(*near, up[1]),
            self.at(*far, up[1]),
            self.at(*far, up[0]),
        ]
        self.pen.polygon(edge, fill=colour)

    def road_user(self, actor: Actor) -> None:
        """Draws a road user, and lets the ego vehicle's headlights show it at night."""
        view = (
            ("rear", "front")[actor.front]
            if not actor.side
            else "right"
            if actor.side > 0
            else "left"
        )
        for part in FIGURES[actor.kind]:
            if view in part["views"]:
                colour = part.get("colour") or shade(actor.colour, part.get("shade", 1.0))
                getattr(self, part["draw"])(actor, **part["with"], colour=colour)
        self.seen.append((*self.at(actor.x, actor.depth, 0.9), 1.3 * self.scale(actor.depth)))

    def glow(self, actor: Actor, x: float, up: float, size: float, colour: str = _LAMP) -> None:
        """Adds a lamp, which shines at night."""
        self.lights.append(
            (*self.at(actor.x + x, actor.depth, up), size * self.scale(actor.depth), colour)
        )

    def box(self, actor: Actor, x: Sequence[float], up: Sequence[float], colour: str) -> None:
        """Draws a rectangular part of a road user, relative to its place on the ground."""
        (left, y), scale = self.at(actor.x, actor.depth), self.scale(actor.depth)
        corners = (left + x[0] * scale, y - up[1] * scale, left + x[1] * scale, y - up[0] * scale)
        self.pen.rounded_rectangle(
            corners, radius=min(0.09, (x[1] - x[0]) / 3, (up[1] - up[0]) / 3) * scale, fill=colour
        )

    def shape(self, actor: Actor, points: Sequence[Sequence[float]], colour: str) -> None:
        """Draws a polygonal part."""
        self.pen.polygon(self._points(actor, points), fill=colour)

    def disc(
        self,
        actor: Actor,
        x: float,
        up: float,
        radius: Sequence[float],
        colour: str,
        *,
        ring: bool = False,
    ) -> None:
        """Draws a wheel or a head; `ring` draws its edge only."""
        (left, y), scale = self.at(actor.x, actor.depth), self.scale(actor.depth)
        x, y = left + x * scale, y - up * scale
        corners = (
            x - radius[0] * scale,
            y - radius[1] * scale,
            x + radius[0] * scale,
            y + radius[1] * scale,
        )
        if ring:
            self.pen.ellipse(corners, outline=colour, width=max(2, round(0.06 * scale)))
        else:
            self.pen.ellipse(corners, fill=colour)

    def line(
        self, actor: Actor, points: Sequence[Sequence[float]], width: float, colour: str
    ) -> None:
        """Draws limbs and frames."""
        width = max(2, round(width * self.scale(actor.depth)))
        self.pen.line(self._points(actor, points), fill=colour, width=width, joint="curve")

    def _points(self, actor: Actor, points: Sequence[Sequence[float]]) -> list[tuple[float, float]]:
        """The pixels of points (x, up), and perhaps how far each step moves them up."""
        (left, y), scale = self.at(actor.x, actor.depth), self.scale(actor.depth)
        return [
            (left + x * scale, y - (up + sum(swing) * actor.step) * scale)
            for x, up, *swing in points
        ]


def shade(colour: str, share: float) -> str:
    """The colour with a share of its brightness."""
    parts: list[Any] = [round(int(colour[start : start + 2], 16) * share) for start in (1, 3, 5)]
    return "#{:02x}{:02x}{:02x}".format(*parts)
