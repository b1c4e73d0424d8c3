"""Road scenes drawn from their annotation, as a driver sees them: moving pictures to search, with nothing to download.

What a table of clips says is what is drawn: who is on the road, doing what and where; what the own car does; place, light and
weather. What it does not say, such as colours, houses and where the camera looks, comes from the clip's id.
"""

import io
from random import Random
from typing import TYPE_CHECKING

from rankwell.core.registry import suggest
from rankwell.errors import BadInput
from rankwell.tasks.clips.drawn_scenes.canvas import BEHAVIOURS, HEIGHT, OBJECTS, RELATIONS, WIDTH, Actor, Canvas, View
from rankwell.tasks.clips.drawn_scenes.canvas import Scene as Scene
from rankwell.tasks.clips.drawn_scenes.road_users import ROAD_USERS
from rankwell.tasks.clips.drawn_scenes.surroundings import draw_ground, draw_light, surroundings

if TYPE_CHECKING:
    from PIL.Image import Image

FRAMES = 5
_CARS = ("#b33a3a", "#2f5d8c", "#d8d8d4", "#474d54", "#c98a2b", "#5e7f5b")
_DEPTHS = {"bicyclist": 7.5, "pedestrian": 7.5, "motorcyclist": 7.5, "stationary object": 7.0, "large vehicle": 11.0}
"""How far before the camera somebody is, in metres: near enough to be seen on a thumbnail."""
_CLOTHES = ("#d1495b", "#edae49", "#2f75a8", "#8d5a97", "#e8e4d9", "#3c8a6a")


def draw_clip(scene: Scene) -> bytes:
    """A GIF of five frames, 320 × 180 pixels; the same scene gives the same bytes with the same Pillow."""
    from PIL.Image import Dither

    frames = [draw_frame(scene, place / (FRAMES - 1) * 2 - 1) for place in range(FRAMES)]
    # One palette for all frames keeps the sky from flickering.
    palette = frames[FRAMES // 2].quantize(255)
    reduced = [frame.quantize(palette=palette, dither=Dither.NONE) for frame in frames]
    stream = io.BytesIO()
    reduced[0].save(stream, "GIF", save_all=True, append_images=reduced[1:], duration=160, loop=0)
    return stream.getvalue()


def draw_frame(scene: Scene, time: float = 0.0) -> "Image":
    """One moment of a scene as RGB; time runs from -1 to 1. Raises BadInput for an object that nobody has drawn yet."""
    from PIL.Image import Resampling

    # What chance decides is the same at every time: each part has a sequence of its own.
    canvas = Canvas(_view(scene, _chance(scene, "view"), time))
    draw_ground(canvas, scene, _chance(scene, "ground"), time)
    things = surroundings(scene, _chance(scene, "surroundings"), time)
    for actor in _actors(scene, _chance(scene, "actors"), time):
        things.append((actor.depth, lambda canvas, actor=actor: _draw_actor(canvas, actor)))
    for _, draw in sorted(things, key=lambda thing: -thing[0]):
        draw(canvas)
    draw_light(canvas, scene, _chance(scene, f"light {time}"))
    return canvas.image.resize((WIDTH, HEIGHT), Resampling.BOX)


def _draw_actor(canvas: Canvas, actor: Actor) -> None:
    ROAD_USERS[actor.kind](canvas, actor)
    canvas.shine_on(actor)


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
    """Everybody on the road at a time between -1 and 1."""
    behaviours, relations = scene.labels.get(BEHAVIOURS, ()), scene.labels.get(RELATIONS, ())
    found: list[Actor] = []
    for place, kind in enumerate(scene.labels.get(OBJECTS, ())):
        if kind not in ROAD_USERS:
            raise BadInput(f"scene {scene.id!r}: {kind!r} cannot be drawn; {suggest(kind, ROAD_USERS)}")
        behaviour = behaviours[min(place, len(behaviours) - 1)] if behaviours else "stationary"
        relation = relations[min(place, len(relations) - 1)] if relations else "corridor front"
        lane = 3.5 if relation.startswith("right") else -3.5 if relation.startswith("left") else 0.0
        way = -1 if lane > 0 else 1 if lane < 0 else random.choice((-1, 1))
        depth = _DEPTHS.get(kind, 10.0) + random.uniform(-0.5, 1.5) + 3 * place
        colour = random.choice(_CLOTHES if kind in ("bicyclist", "pedestrian", "motorcyclist") else _CARS)
        side, front = 0, False
        if behaviour == "entering ego path":
            lane, side = lane * (0.5 - 0.3 * time), way if kind == "pedestrian" else 0
        elif behaviour == "straight crossing path":
            lane, side = way * (0.6 + 3.4 * time), way
        elif behaviour in ("traveling in opposite direction", "oncoming turn across path"):
            lane = lane + (3.2 * (time + 1) / 2 if behaviour.startswith("oncoming") else 0)
            depth, front = depth + 2 - 4 * time, True
        elif behaviour == "stationary":
            depth -= 1.5 * time
        found.append(Actor(kind, lane, max(depth, 4.5), side, front, colour, time))
    return found
