"""Road scenes drawn from their annotation, as a driver sees them: short films to search, with
nothing to download.
"""

import io
from collections.abc import Callable
from itertools import pairwise
from random import Random
from typing import TYPE_CHECKING, Any

from rankwell.data.registry import suggest
from rankwell.errors import BadInput
from rankwell.tasks.clips.drawn_canvas import (
    FARTHEST,
    FIGURES,
    FINE,
    HEIGHT,
    NEAREST,
    WIDTH,
    Actor,
    Canvas,
    Scene,
    View,
    shade,
)

if TYPE_CHECKING:
    from PIL.Image import Image

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
    horizon, yaw = 0.44 + random.uniform(-0.02, 0.02), random.uniform(-6, 6)
    side = random.choice((-1, 1))
    bend = 0.0016 * side if scene.has("curved road") else 0.0
    if scene.has("ego turning"):
        bend, yaw = 0.0035 * side, yaw - side * (16 + 14 * time)
    shift = side * (1.3 + 0.9 * time) if scene.has("ego lane change") else 0.0
    return View(horizon, yaw, bend, shift)


def _actors(scene: Scene, random: Random, time: float) -> list[Actor]:
    """The road users at a time between -1 and 1."""
    behaviours, relations = (
        scene.labels.get("pv_actor_behavior", ()),
        scene.labels.get("pv_spatial_relation", ()),
    )
    actors: list[Actor] = []
    for number, kind in enumerate(scene.labels.get("pv_object_type", ())):
        if kind not in FIGURES:
            raise BadInput(
                f"scene {scene.id!r}: {kind!r} cannot be drawn; {suggest(kind, FIGURES)}"
            )
        behaviour = behaviours[min(number, len(behaviours) - 1)] if behaviours else "stationary"
        relation = relations[min(number, len(relations) - 1)] if relations else "corridor front"
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
    night, grey = scene.has("nighttime"), scene.has("overcast") or scene.has("rainy")
    sky = "#31405c" if night else "#b9c1c7" if grey else "#8fc1e3"
    canvas.pen.rectangle((0, 0, canvas.width, canvas.height), fill=sky)
    if scene.has("sunny") and not night:
        x, y, radius = canvas.width * random.uniform(0.15, 0.85), canvas.height * 0.13, 15 * FINE
        canvas.pen.ellipse((x - radius, y - radius, x + radius, y + radius), fill="#fff1b8")
    town = scene.has("urban")
    land = "#98948c" if town else "#7fa05f"
    canvas.pen.rectangle((0, canvas.horizon, canvas.width, canvas.height), fill=land)
    for number in range(7) if not town else ():
        x, wide, high = (
            canvas.width * number / 6,
            random.uniform(0.12, 0.22),
            random.uniform(0.03, 0.09),
        )
        corners = (
            x - wide * canvas.width,
            canvas.horizon - high * canvas.height,
            x + wide * canvas.width,
            canvas.horizon + 30,
        )
        canvas.pen.pieslice(corners, 180, 360, fill="#6f9377")
    road = "#5c6066" if scene.has("rainy") else "#6d7176"
    if scene.has("intersection"):
        canvas.strip((-80, 80), (15, 25), road)
    if scene.has("bridge/tunnel"):
        canvas.strip((-6.3, 6.3), (NEAREST, FARTHEST), road)
    canvas.strip((-5.6, 5.6), (NEAREST, FARTHEST), "#d9d6cf" if town else "#c8c4ba")
    canvas.strip((-5.3, 5.3), (NEAREST, FARTHEST), road)
    phase = (time * 3.5) % 9
    for start in range(20):
        near = start * 9 - phase
        if near + 3 > NEAREST and not (scene.has("intersection") and 13 < near + 3 < 28):
            for x in (-1.75, 1.75):
                canvas.strip((x - 0.07, x + 0.07), (near, near + 3), "#e9e7e1")
    if scene.has("crosswalk"):
        for number in range(-5, 6):
            canvas.strip((number - 0.27, number + 0.27), (9.6, 12.6), "#f1efe9")


def surroundings(scene: Scene, random: Random, time: float) -> list[Thing]:
    """Objects beside the road, each with its depth."""
    if scene.has("bridge/tunnel"):
        return [(FARTHEST, _tunnel)]
    things: list[Thing] = []
    depth = 7.0 - 1.5 * (time + 1)
    for _ in range(9):
        length = random.uniform(7, 12)
        for side in (-1, 1):
            gap = scene.has("intersection") and depth + length > 13 and depth < 27
            if scene.has("urban") and not gap:
                things.append(
                    (
                        depth + length,
                        _house(side, depth, length, random, lit=scene.has("nighttime")),
                    )
                )
            elif not scene.has("urban"):
                things.append(
                    (
                        depth,
                        _tree(side * random.uniform(8, 13), depth + random.uniform(0, 5), random),
                    )
                )
        if scene.has("urban") or scene.has("highway"):
            things.append((depth, _lantern(6.4 if random.random() < 0.5 else -6.4, depth)))
        depth += length
    if scene.has("highway"):
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
                glass = "#ffd98a" if lit and lamps[(storey * 7 + window) % 60] else "#5f6d78"
                canvas.wall(
                    (x, x), (start, start + 1.1), (storey * 3 + 1.1, storey * 3 + 2.4), glass
                )
                if lit and glass == "#ffd98a":
                    canvas.glow(Actor("window", x, start + 0.5), 0, storey * 3 + 1.7, 0.5, glass)

    return _draw


def _tree(x: float, depth: float, random: Random) -> Callable[[Canvas], None]:
    high, leaves = random.uniform(4, 8), random.choice(("#4f7a4a", "#5f8a4d", "#47705a"))
    actor = Actor("tree", x, max(depth, 4.0))

    def _draw(canvas: Canvas) -> None:
        canvas.box(actor, (-0.18, 0.18), (0, high * 0.5), "#6b5442")
        canvas.disc(actor, 0, high * 0.66, (high * 0.3, high * 0.36), leaves)

    return _draw


def _lantern(x: float, depth: float) -> Callable[[Canvas], None]:
    def _draw(canvas: Canvas) -> None:
        actor = Actor("lantern", x, max(depth, 4.0))
        arm = -1.6 if x > 0 else 1.6
        canvas.line(actor, [(0, 0), (0, 7), (arm, 7.2)], 0.14, "#565c62")
        canvas.box(actor, (min(arm, 0), max(arm, 0)), (7.0, 7.2), "#565c62")
        canvas.glow(actor, arm, 7.0, 0.8)

    return _draw


def _rails(canvas: Canvas) -> None:
    for x in (-6.0, 6.0):
        depths = [NEAREST * (90 / NEAREST) ** (step / 20) for step in range(21)]
        for near, far in pairwise(depths):
            canvas.wall((x, x), (near, far), (0.45, 0.8), "#aeb4b8")


def _tunnel(canvas: Canvas) -> None:
    for low, high, colour in ((0.0, 1.2, "#6b6d6c"), (1.2, 5.2, "#84847e")):
        for x in (-6.2, 6.2):
            canvas.wall((x, x), (NEAREST, 120), (low, high), colour)
    roof = [
        canvas.at(x, depth, 5.2)
        for x, depth in ((-6.2, NEAREST), (6.2, NEAREST), (6.2, 120), (-6.2, 120))
    ]
    canvas.pen.polygon(roof, fill="#4f5152")
    for number in range(12):
        depth = 5 + number * 8
        for x in (-3.4, 3.4):
            corners = [
                canvas.at(x + dx, depth + dd, 5.15)
                for dx, dd in ((-0.25, 0), (0.25, 0), (0.25, 3), (-0.25, 3))
            ]
            canvas.pen.polygon(corners, fill="#ffe9b0")
            canvas.glow(Actor("lamp", x, depth + 1), 0, 5.15, 0.5)


def draw_light(canvas: Canvas, scene: Scene, random: Random) -> None:
    """Draws night, rain, and the ego vehicle's bonnet."""
    from PIL import Image, ImageDraw

    image = canvas.image
    if scene.has("rainy"):
        image = Image.blend(image, Image.new("RGB", image.size, "#8e979e"), 0.28)
        pen = ImageDraw.Draw(image)
        for _ in range(150):
            x, y, long = (
                random.uniform(0, canvas.width),
                random.uniform(0, canvas.height),
                random.uniform(14, 34),
            )
            pen.line((x, y, x - long * 0.3, y + long), fill="#c9d1d6", width=2)
    if scene.has("nighttime"):
        image = _night(canvas, image)
    pen = ImageDraw.Draw(image)
    dark = "#0a0d11" if scene.has("nighttime") else "#2b3036"
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
        pen.ellipse(
            ((x - size) / FINE, (y - size) / FINE, (x + size) / FINE, (y + size) / FINE), fill=170
        )
    pen = ImageDraw.Draw(shine)
    for x, y, size, colour in canvas.lights:
        x, y, size = x / FINE, y / FINE, min(max(size / FINE, 0.7), 26)
        pen.ellipse((x - size, y - size, x + size, y + size), fill=colour)

    def _spread(small: Any) -> Any:
        return small.filter(ImageFilter.GaussianBlur(4)).resize(day.size, Resampling.BILINEAR)

    dark = Image.blend(day, Image.new("RGB", day.size, "#0b1220"), 0.68)
    return ImageChops.add(Image.composite(day, dark, _spread(beam)), _spread(shine))
