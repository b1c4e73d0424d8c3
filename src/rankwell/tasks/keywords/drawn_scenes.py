"""Road scenes drawn from their annotation, as a driver sees them: short films to search, with
nothing to download.
"""

import io
import json
from collections.abc import Mapping, Sequence
from importlib.resources import files
from random import Random
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rankwell.data.registry import suggest
from rankwell.errors import BadInput

if TYPE_CHECKING:
    from PIL.Image import Image

# The canvas, in the perspective of a camera behind a windscreen

WIDTH, HEIGHT = 320, 180
FINE = 3
"""A picture is drawn larger by this factor, so that its edges become smooth."""

NEAREST, FARTHEST = 2.4, 260.0
_HORIZON = 0.44
"""Height of the horizon, as a share of the picture from above."""
_EYE = 1.4
FIGURES: dict[str, list[dict[str, Any]]] = json.loads(
    (files("rankwell.tasks.keywords") / "data" / "road_users.json").read_text(encoding="utf-8")
)
"""Road user -> its parts from back to front: the views that show each, and how a `Canvas` draws it,
in the road user's own colour or a shade of it where none is given.
"""


class Scene(NamedTuple):
    """An annotated clip to draw.

    id: name of its file.
    labels: group -> labels. The n-th object has the n-th behaviour and the n-th spatial relation,
        or the last one where there are fewer.
    """

    id: str
    labels: Mapping[str, Sequence[str]]

    @property
    def conditions(self) -> set[str]:
        """The labels of the scene and of the ego vehicle."""
        return {*self.labels.get("scene_type", ()), *self.labels.get("ego_behavior", ())}


class Actor(NamedTuple):
    """A road user, or something else that stands in the scene.

    kind: key of `FIGURES` for a road user; a descriptive name for anything else.
    x: metres to the right of the centre of the ego lane.
    depth: metres from the camera.
    side: direction in which it crosses the picture: 1 to the right, -1 to the left, 0 for neither.
    front: whether it faces the camera; ignored where it crosses.
    colour: hexadecimal, `#rrggbb`; empty where every part has a colour of its own.
    step: phase of the limbs, from -1 to 1.
    """

    kind: str
    x: float
    depth: float
    side: int = 0
    front: bool = False
    colour: str = ""
    step: float = 0.0


class View(NamedTuple):
    """The direction of the camera.

    yaw: pixels of the final picture by which everything moves to the right.
    bend: curve of the road to the right: metres sideways per square metre of depth.
    shift: metres of the camera to the right of the centre of the ego lane.
    """

    yaw: float
    bend: float
    shift: float


class Canvas:
    """A picture in the perspective of a camera behind a windscreen; lengths are in metres."""

    def __init__(self, view: View) -> None:
        from PIL import Image, ImageDraw

        self._view = view
        self.width, self.height = WIDTH * FINE, HEIGHT * FINE
        self.horizon = _HORIZON * self.height
        self.image = Image.new("RGB", (self.width, self.height))
        self.pen = ImageDraw.Draw(self.image, "RGBA")

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

    def strip(
        self,
        x: tuple[float, float],
        depth: tuple[float, float],
        colour: str,
        up: tuple[float, float] = (0.0, 0.0),
    ) -> None:
        """Draws a surface along the road: a piece of the ground, a wall, or a ceiling."""
        # The camera sees equal steps between these depths.
        depths = np.geomspace(max(depth[0], NEAREST), max(depth[1], NEAREST), 21).tolist()
        edges = [
            [self.at(side, place, high) for place in depths]
            for side, high in zip(x, up, strict=True)
        ]
        self.pen.polygon([*edges[0], *edges[1][::-1]], fill=colour)

    def road_user(self, actor: Actor) -> None:
        """Draws a road user."""
        view = "front" if actor.front else "rear"
        if actor.side:
            view = "right" if actor.side > 0 else "left"
        for part in FIGURES[actor.kind]:
            if view in part["views"]:
                colour = part.get("colour") or shade(actor.colour, part.get("shade", 1.0))
                getattr(self, part["draw"])(actor, **part["with"], colour=colour)

    def box(self, actor: Actor, x: Sequence[float], up: Sequence[float], colour: str) -> None:
        """Draws a rectangular part of a road user, relative to its place on the ground."""
        corners = self._points(actor, [(x[0], up[1]), (x[1], up[0])])
        radius = min(0.09, (x[1] - x[0]) / 3, (up[1] - up[0]) / 3)
        self.pen.rounded_rectangle(corners, radius * self.scale(actor.depth), colour)

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
        across, down = radius
        corners = self._points(actor, [(x - across, up + down), (x + across, up - down)])
        edge = max(2, round(0.06 * self.scale(actor.depth)))
        self.pen.ellipse(corners, None if ring else colour, colour, edge)

    def line(
        self, actor: Actor, points: Sequence[Sequence[float]], width: float, colour: str
    ) -> None:
        """Draws limbs and frames."""
        width = max(2, round(width * self.scale(actor.depth)))
        self.pen.line(self._points(actor, points), fill=colour, width=width, joint="curve")

    def _points(self, actor: Actor, points: Sequence[Sequence[float]]) -> list[tuple[float, float]]:
        """The pixels of points (x, up), and perhaps how far each step moves them up."""
        return [
            self.at(actor.x + x, actor.depth, up + sum(swing) * actor.step)
            for x, up, *swing in points
        ]


def shade(colour: str, share: float) -> str:
    """The colour with a share of its brightness."""
    return "#" + bytes(round(part * share) for part in bytes.fromhex(colour[1:])).hex()


# Scenes

FRAMES = 5
_COLOURS = ("#b33a3a", "#2f5d8c", "#d8d8d4", "#8d5a97", "#c98a2b", "#5e7f5b")
"""Of clothes, cars and trucks."""
_HOUSES = ("#a8907a", "#8f9aa3", "#b5a58c", "#9b7f73", "#7d8a86", "#c2b5a3")
_ROAD = "#6d7176"


def draw_clip(scene: Scene) -> bytes:
    """A GIF of five frames, 320 × 180 pixels; the same scene gives the same bytes with the same
    Pillow.
    """
    from PIL.Image import Dither

    frames = [draw_frame(scene, frame / (FRAMES - 1) * 2 - 1) for frame in range(FRAMES)]
    # One palette for all frames keeps the sky from flickering.
    palette = frames[FRAMES // 2].quantize(255)
    reduced = [frame.quantize(palette=palette, dither=Dither.NONE) for frame in frames]
    stream = io.BytesIO()
    reduced[0].save(stream, "GIF", save_all=True, append_images=reduced[1:], duration=160, loop=0)
    return stream.getvalue()


def draw_frame(scene: Scene, time: float = 0.0) -> "Image":
    """One moment of a scene as RGB; time runs from -1 to 1. Raises BadInput for an object that
    cannot be drawn.
    """
    from PIL.Image import Resampling

    # Draws the same numbers at every time, so that the surroundings stay as they are.
    random = Random(scene.id)  # noqa: S311 - houses, not secrets
    canvas = Canvas(_view(scene, random, time))
    draw_ground(canvas, scene, random, time)
    draw_surroundings(canvas, scene, random, time)
    if "nighttime" in scene.conditions:
        # Before the road users: the ego vehicle's headlights show them.
        canvas.pen.rectangle((0, 0, canvas.width, canvas.height), fill="#0b1220b8")
    actors = _actors(scene, random, time)
    for actor in sorted(actors, key=lambda actor: -actor.depth):
        canvas.road_user(actor)
    if "rainy" in scene.conditions:
        draw_rain(canvas, random, time)
    return canvas.image.resize((WIDTH, HEIGHT), Resampling.BOX)


def _view(scene: Scene, random: Random, time: float) -> View:
    conditions = scene.conditions
    yaw = random.uniform(-6, 6)
    side = random.choice((-1, 1))
    bend = 0.0016 * side if "curved road" in conditions else 0.0
    if "ego turning" in conditions:
        bend, yaw = 0.0035 * side, yaw - side * (16 + 14 * time)
    shift = side * (1.3 + 0.9 * time) if "ego lane change" in conditions else 0.0
    return View(yaw, bend, shift)


def _actors(scene: Scene, random: Random, time: float) -> list[Actor]:
    """The road users at a time between -1 and 1."""
    behaviours, relations = (
        scene.labels.get(group) or [otherwise]
        for group, otherwise in (
            ("pv_actor_behavior", "stationary"),
            ("pv_spatial_relation", "corridor front"),
        )
    )
    actors: list[Actor] = []
    for number, kind in enumerate(scene.labels.get("pv_object_type", ())):
        if kind not in FIGURES:
            raise BadInput(
                f"scene {scene.id!r}: {kind!r} cannot be drawn; {suggest(kind, FIGURES)}"
            )
        behaviour, relation = (
            labels[min(number, len(labels) - 1)] for labels in (behaviours, relations)
        )
        lane = 3.5 if relation.startswith("right") else -3.5 if relation.startswith("left") else 0.0
        direction = -1 if lane > 0 else 1 if lane < 0 else random.choice((-1, 1))
        # Near enough to be visible on a thumbnail.
        depth = 10.0 if kind.endswith("vehicle") else 7.5
        depth += random.uniform(-0.5, 1.5) + 3 * number
        colour = random.choice(_COLOURS)
        side, front = 0, False
        if behaviour == "entering ego path":
            lane, side = lane * (0.5 - 0.3 * time), direction if kind == "pedestrian" else 0
        elif behaviour == "straight crossing path":
            lane, side = direction * (0.6 + 3.4 * time), direction
        elif behaviour in ("traveling in opposite direction", "oncoming turn across path"):
            lane = lane + (3.2 * (time + 1) / 2 if behaviour.startswith("oncoming") else 0)
            depth, front = depth + 2 - 4 * time, True
        elif behaviour == "stationary":
            depth -= 1.5 * time
        actors.append(Actor(kind, lane, max(depth, 4.5), side, front, colour, time))
    return actors


# Surroundings and weather


def draw_ground(canvas: Canvas, scene: Scene, random: Random, time: float) -> None:
    """Draws sky, land, road and road markings."""
    conditions = scene.conditions
    sky = "#b9c1c7" if conditions & {"overcast", "rainy"} else "#8fc1e3"
    canvas.pen.rectangle((0, 0, canvas.width, canvas.height), fill=sky)
    sun = canvas.width * random.uniform(0.15, 0.85), canvas.height * 0.13
    if "sunny" in conditions:
        canvas.pen.circle(sun, 15 * FINE, fill="#fff1b8")
    land = "#98948c" if "urban" in conditions else "#7fa05f"
    canvas.pen.rectangle((0, canvas.horizon, canvas.width, canvas.height), fill=land)
    canvas.strip((-5.3, 5.3), (NEAREST, FARTHEST), _ROAD)
    for number in range(20):
        near = number * 9 - (time * 3.5) % 9
        for x in (-1.75, 1.75):
            canvas.strip((x - 0.07, x + 0.07), (near, near + 3), "#e9e7e1")
    if "intersection" in conditions:
        canvas.strip((-80, 80), (15, 25), _ROAD)
    if "crosswalk" in conditions:
        for number in range(-5, 6):
            canvas.strip((number - 0.27, number + 0.27), (9.6, 12.6), "#f1efe9")


def draw_surroundings(canvas: Canvas, scene: Scene, random: Random, time: float) -> None:
    """Draws what is beside the road: a tunnel, else houses or trees, and the rails of a highway."""
    conditions = scene.conditions
    if "bridge/tunnel" in conditions:
        for x in (-5.3, 5.3):
            canvas.strip((x, x), (NEAREST, 120), "#84847e", (0, 5.2))
        canvas.strip((-5.3, 5.3), (NEAREST, 120), "#4f5152", (5.2, 5.2))
        return
    for number in range(8, 1 if "intersection" in conditions else -1, -1):
        depth = 5.5 - 1.5 * time + 9.5 * number
        for side in (-1, 1):
            if "urban" in conditions:
                draw_house(canvas, side, depth, random)
            else:
                draw_tree(canvas, side, depth, random)
    if "highway" in conditions:
        for x in (-6.0, 6.0):
            canvas.strip((x, x), (NEAREST, 90), "#aeb4b8", (0.45, 0.8))


def draw_house(canvas: Canvas, side: int, depth: float, random: Random) -> None:
    """Draws a house with its front along the road, from a depth on."""
    x, colour, storeys = side * 8.5, random.choice(_HOUSES), random.randint(2, 5)
    gable = (8.5, 30) if side > 0 else (-30, -8.5)
    canvas.box(Actor("house", 0, depth), gable, (0, 3 * storeys), shade(colour, 0.82))
    canvas.strip((x, x), (depth, depth + 9.5), colour, (0, 3 * storeys))
    for storey in range(storeys):
        for start in (0.8, 3.2, 5.6):
            glass = depth + start, depth + start + 1.1
            canvas.strip((x, x), glass, "#5f6d78", (3 * storey + 1.1, 3 * storey + 2.4))


def draw_tree(canvas: Canvas, side: int, depth: float, random: Random) -> None:
    """Draws a tree."""
    high = random.uniform(4, 8)
    actor = Actor("tree", side * random.uniform(8, 13), depth + random.uniform(0, 5))
    canvas.box(actor, (-0.18, 0.18), (0, high * 0.5), "#6b5442")
    canvas.disc(actor, 0, high * 0.66, (high * 0.3, high * 0.36), "#4f7a4a")


def draw_rain(canvas: Canvas, random: Random, time: float) -> None:
    """Draws streaks of rain, which fall."""
    for _ in range(150):
        x, y = random.uniform(0, canvas.width), canvas.height * ((random.random() + time / 3) % 1)
        canvas.pen.line((x, y, x - 8, y + 25), fill="#c9d1d6", width=2)
