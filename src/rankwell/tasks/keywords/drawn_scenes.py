"""Road scenes drawn from their annotation, as a driver sees them: short films to search, with
nothing to download.
"""

import io
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from importlib.resources import files
from itertools import pairwise
from random import Random
from typing import TYPE_CHECKING, Any, NamedTuple

from rankwell.data.registry import suggest
from rankwell.errors import BadInput

if TYPE_CHECKING:
    from PIL.Image import Image

# The canvas, in the perspective of a camera behind a windscreen

WIDTH, HEIGHT = 320, 180
FINE = 3
"""A picture is drawn larger by this factor, so that its edges become smooth."""

NEAREST, FARTHEST = 2.4, 260.0
_LAMP = "#fff3c4"
_EYE = 1.4
_CORNERS = ((0, 0), (0, 1), (1, 1), (1, 0))
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

    horizon: height of the horizon, as a share of the picture from above.
    yaw: pixels of the final picture by which everything moves to the right.
    bend: curve of the road to the right: metres sideways per square metre of depth.
    shift: metres of the camera to the right of the centre of the ego lane.
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
        depths = _depths(max(depth[0], NEAREST), max(depth[1], NEAREST))
        edges = [[(side, place, 0.0) for place in depths] for side in x]
        self.polygon([*edges[0], *edges[1][::-1]], colour)

    def wall(
        self,
        x: tuple[float, float],
        depth: tuple[float, float],
        up: tuple[float, float],
        colour: str,
    ) -> None:
        """Draws an upright surface between two places on the ground."""
        self.polygon([(x[end], depth[end], up[top]) for end, top in _CORNERS], colour)

    def ceiling(
        self, x: tuple[float, float], depth: tuple[float, float], up: float, colour: str
    ) -> None:
        """Draws a level surface above the ground."""
        self.polygon([(x[side], depth[end], up) for end, side in _CORNERS], colour)

    def polygon(self, corners: Iterable[tuple[float, float, float]], colour: str) -> None:
        """Draws a surface between points of the scene: x, depth and up."""
        self.pen.polygon([self.at(*corner) for corner in corners], fill=colour)

    def road_user(self, actor: Actor) -> None:
        """Draws a road user, and lets the ego vehicle's headlights show it at night."""
        view = "front" if actor.front else "rear"
        if actor.side:
            view = "right" if actor.side > 0 else "left"
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
        left, y, scale = self._place(actor)
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
        left, y, scale = self._place(actor)
        corners = around(left + x * scale, y - up * scale, *(part * scale for part in radius))
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

    def _place(self, actor: Actor) -> tuple[float, float, float]:
        """The pixel where it stands, and pixels per metre there."""
        return *self.at(actor.x, actor.depth), self.scale(actor.depth)

    def _points(self, actor: Actor, points: Sequence[Sequence[float]]) -> list[tuple[float, float]]:
        """The pixels of points (x, up), and perhaps how far each step moves them up."""
        left, y, scale = self._place(actor)
        return [
            (left + x * scale, y - (up + sum(swing) * actor.step) * scale)
            for x, up, *swing in points
        ]


def _depths(near: float, far: float) -> list[float]:
    """Depths that a camera sees at equal steps."""
    return [near * (far / near) ** (step / 20) for step in range(21)]


def shade(colour: str, share: float) -> str:
    """The colour with a share of its brightness."""
    parts: list[Any] = [round(int(colour[start : start + 2], 16) * share) for start in (1, 3, 5)]
    return "#{:02x}{:02x}{:02x}".format(*parts)


def around(x: float, y: float, width: float, height: float) -> tuple[float, float, float, float]:
    """The corners of what reaches so far to either side of a pixel."""
    return x - width, y - height, x + width, y + height


# Scenes

FRAMES = 5
_CARS = ("#b33a3a", "#2f5d8c", "#d8d8d4", "#474d54", "#c98a2b", "#5e7f5b")
_DEPTHS = {
    "bicyclist": 7.5,
    "pedestrian": 7.5,
    "motorcyclist": 7.5,
    "stationary object": 7.0,
    "large vehicle": 11.0,
}
"""Distance from the camera in metres, near enough to be visible on a thumbnail."""
_CLOTHES = ("#d1495b", "#edae49", "#2f75a8", "#8d5a97", "#e8e4d9", "#3c8a6a")


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

    # Each part has a random sequence of its own, so that it looks the same at every time.
    canvas = Canvas(_view(scene, _chance(scene, "view"), time))
    draw_ground(canvas, scene, _chance(scene, "ground"), time)
    things = surroundings(scene, _chance(scene, "surroundings"), time)
    for actor in _actors(scene, _chance(scene, "actors"), time):
        things.append((actor.depth, lambda canvas, actor=actor: canvas.road_user(actor)))
    for _, draw in sorted(things, key=lambda thing: -thing[0]):
        draw(canvas)
    draw_light(canvas, scene, _chance(scene, f"light {time}"))
    return canvas.image.resize((WIDTH, HEIGHT), Resampling.BOX)


def _chance(scene: Scene, part: str) -> Random:
    return Random(f"{scene.id} {part}")  # noqa: S311 - houses, not secrets


def _view(scene: Scene, random: Random, time: float) -> View:
    conditions = scene.conditions
    horizon, yaw = 0.44 + random.uniform(-0.02, 0.02), random.uniform(-6, 6)
    side = random.choice((-1, 1))
    bend = 0.0016 * side if "curved road" in conditions else 0.0
    if "ego turning" in conditions:
        bend, yaw = 0.0035 * side, yaw - side * (16 + 14 * time)
    shift = side * (1.3 + 0.9 * time) if "ego lane change" in conditions else 0.0
    return View(horizon, yaw, bend, shift)


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
        depth = _DEPTHS.get(kind, 10.0) + random.uniform(-0.5, 1.5) + 3 * number
        colour = random.choice(
            _CLOTHES if kind in ("bicyclist", "pedestrian", "motorcyclist") else _CARS
        )
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


# Surroundings and light

_HOUSES = ("#a8907a", "#8f9aa3", "#b5a58c", "#9b7f73", "#7d8a86", "#c2b5a3")
Thing = tuple[float, Callable[[Canvas], None]]


def draw_ground(canvas: Canvas, scene: Scene, random: Random, time: float) -> None:
    """Draws sky, land, road and road markings."""
    conditions = scene.conditions
    night, grey = "nighttime" in conditions, "overcast" in conditions or "rainy" in conditions
    sky = "#31405c" if night else "#b9c1c7" if grey else "#8fc1e3"
    canvas.pen.rectangle((0, 0, canvas.width, canvas.height), fill=sky)
    if "sunny" in conditions and not night:
        x, y, radius = canvas.width * random.uniform(0.15, 0.85), canvas.height * 0.13, 15 * FINE
        canvas.pen.ellipse(around(x, y, radius, radius), fill="#fff1b8")
    town = "urban" in conditions
    land = "#98948c" if town else "#7fa05f"
    canvas.pen.rectangle((0, canvas.horizon, canvas.width, canvas.height), fill=land)
    for number in range(7) if not town else ():
        x, wide = canvas.width * number / 6, canvas.width * random.uniform(0.12, 0.22)
        top = canvas.horizon - random.uniform(0.03, 0.09) * canvas.height
        corners = (x - wide, top, x + wide, canvas.horizon + 30)
        canvas.pen.pieslice(corners, 180, 360, fill="#6f9377")
    road = "#5c6066" if "rainy" in conditions else "#6d7176"
    if "intersection" in conditions:
        canvas.strip((-80, 80), (15, 25), road)
    if "bridge/tunnel" in conditions:
        canvas.strip((-6.3, 6.3), (NEAREST, FARTHEST), road)
    canvas.strip((-5.6, 5.6), (NEAREST, FARTHEST), "#d9d6cf" if town else "#c8c4ba")
    canvas.strip((-5.3, 5.3), (NEAREST, FARTHEST), road)
    phase = (time * 3.5) % 9
    for start in range(20):
        near = start * 9 - phase
        if near + 3 > NEAREST and not ("intersection" in conditions and 13 < near + 3 < 28):
            for x in (-1.75, 1.75):
                canvas.strip((x - 0.07, x + 0.07), (near, near + 3), "#e9e7e1")
    if "crosswalk" in conditions:
        for number in range(-5, 6):
            canvas.strip((number - 0.27, number + 0.27), (9.6, 12.6), "#f1efe9")


def surroundings(scene: Scene, random: Random, time: float) -> list[Thing]:
    """Objects beside the road, each with its depth."""
    conditions = scene.conditions
    if "bridge/tunnel" in conditions:
        return [(FARTHEST, _tunnel)]
    things: list[Thing] = []
    depth = 7.0 - 1.5 * (time + 1)
    for _ in range(9):
        length = random.uniform(7, 12)
        for side in (-1, 1):
            is_gap = "intersection" in conditions and depth + length > 13 and depth < 27
            if "urban" not in conditions:
                x = side * random.uniform(8, 13)
                things.append((depth, _tree(x, depth + random.uniform(0, 5), random)))
            elif not is_gap:
                house = _house(side, depth, length, random, lit="nighttime" in conditions)
                things.append((depth + length, house))
        if "urban" in conditions or "highway" in conditions:
            x = 6.4 if random.random() < 0.5 else -6.4
            things.append((depth, partial(_lantern, actor=Actor("lantern", x, max(depth, 4.0)))))
        depth += length
    if "highway" in conditions:
        things.append((FARTHEST, _rails))
    return things


def _house(
    side: int, depth: float, length: float, random: Random, *, lit: bool
) -> Callable[[Canvas], None]:
    colour, high = random.choice(_HOUSES), random.uniform(6, 15)
    lamps = [random.random() < 0.45 for _ in range(60)]

    def _draw(canvas: Canvas) -> None:
        x, far = side * 8.5, depth + length
        near = max(depth, 3.0)
        if far <= near:
            return
        canvas.wall((x, side * 30), (near, near), (0, high), shade(colour, 0.82))
        canvas.wall((x, x), (near, far), (0, high), colour)
        for storey in range(int(high // 3)):
            for window in range(int(length // 2.4)):
                start = depth + 0.8 + window * 2.4
                if start < near:
                    continue
                is_lit, up = lit and lamps[(storey * 7 + window) % 60], storey * 3
                glass = "#ffd98a" if is_lit else "#5f6d78"
                canvas.wall((x, x), (start, start + 1.1), (up + 1.1, up + 2.4), glass)
                if is_lit:
                    canvas.glow(Actor("window", x, start + 0.5), 0, up + 1.7, 0.5, glass)

    return _draw


def _tree(x: float, depth: float, random: Random) -> Callable[[Canvas], None]:
    high, leaves = random.uniform(4, 8), random.choice(("#4f7a4a", "#5f8a4d", "#47705a"))
    actor = Actor("tree", x, max(depth, 4.0))

    def _draw(canvas: Canvas) -> None:
        canvas.box(actor, (-0.18, 0.18), (0, high * 0.5), "#6b5442")
        canvas.disc(actor, 0, high * 0.66, (high * 0.3, high * 0.36), leaves)

    return _draw


def _lantern(canvas: Canvas, actor: Actor) -> None:
    arm = -1.6 if actor.x > 0 else 1.6
    canvas.line(actor, [(0, 0), (0, 7), (arm, 7.2)], 0.14, "#565c62")
    canvas.box(actor, (min(arm, 0), max(arm, 0)), (7.0, 7.2), "#565c62")
    canvas.glow(actor, arm, 7.0, 0.8)


def _rails(canvas: Canvas) -> None:
    for x in (-6.0, 6.0):
        for near, far in pairwise(_depths(NEAREST, 90)):
            canvas.wall((x, x), (near, far), (0.45, 0.8), "#aeb4b8")


def _tunnel(canvas: Canvas) -> None:
    for low, high, colour in ((0.0, 1.2, "#6b6d6c"), (1.2, 5.2, "#84847e")):
        for x in (-6.2, 6.2):
            canvas.wall((x, x), (NEAREST, 120), (low, high), colour)
    canvas.ceiling((-6.2, 6.2), (NEAREST, 120), 5.2, "#4f5152")
    for number in range(12):
        depth = 5 + number * 8
        for x in (-3.4, 3.4):
            canvas.ceiling((x - 0.25, x + 0.25), (depth, depth + 3), 5.15, "#ffe9b0")
            canvas.glow(Actor("lamp", x, depth + 1), 0, 5.15, 0.5)


def draw_light(canvas: Canvas, scene: Scene, random: Random) -> None:
    """Draws night, rain, and the ego vehicle's bonnet."""
    from PIL import Image, ImageDraw

    conditions = scene.conditions
    image = canvas.image
    if "rainy" in conditions:
        image = Image.blend(image, Image.new("RGB", image.size, "#8e979e"), 0.28)
        pen = ImageDraw.Draw(image)
        for _ in range(150):
            x, y = random.uniform(0, canvas.width), random.uniform(0, canvas.height)
            long = random.uniform(14, 34)
            pen.line((x, y, x - long * 0.3, y + long), fill="#c9d1d6", width=2)
    if "nighttime" in conditions:
        image = _night(canvas, image)
    pen = ImageDraw.Draw(image)
    dark = "#0a0d11" if "nighttime" in conditions else "#2b3036"
    pen.ellipse(
        (canvas.width * -0.05, canvas.height * 0.93, canvas.width * 1.05, canvas.height * 1.3),
        fill=dark,
    )
    canvas.image = image


def _night(canvas: Canvas, day: "Image") -> "Image":
    """The scene in the dark with all lamps on; the ego vehicle's headlights show what is ahead."""
    from PIL import Image, ImageChops, ImageDraw, ImageFilter
    from PIL.Image import Resampling

    beam, shine = Image.new("L", (WIDTH, HEIGHT)), Image.new("RGB", (WIDTH, HEIGHT))
    pen = ImageDraw.Draw(beam)
    cone = ((0.12, 1.0), (0.42, 0.52), (0.58, 0.52), (0.88, 1.0))
    pen.polygon([(WIDTH * x, HEIGHT * y) for x, y in cone], fill=70)
    for x, y, size in canvas.seen:
        corners = around(x, y, size, size)
        pen.ellipse([side / FINE for side in corners], fill=170)
    pen = ImageDraw.Draw(shine)
    for x, y, size, colour in canvas.lights:
        size = min(max(size / FINE, 0.7), 26)
        pen.ellipse(around(x / FINE, y / FINE, size, size), fill=colour)

    def _spread(small: Any) -> Any:
        return small.filter(ImageFilter.GaussianBlur(4)).resize(day.size, Resampling.BILINEAR)

    dark = Image.blend(day, Image.new("RGB", day.size, "#0b1220"), 0.68)
    return ImageChops.add(Image.composite(day, dark, _spread(beam)), _spread(shine))
