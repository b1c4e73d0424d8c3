"""Who is on the road, drawn from behind, from before or from the side."""

from collections.abc import Callable

from rankwell.tasks.clips.drawn_scenes.canvas import GLASS, LAMP, RED, SKIN, TYRE, Actor, Canvas, shade


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
        way = actor.side
        frame = [(-0.52, 0.34), (-0.1 * way, 0.75), (0.4 * way, 0.75), (0.52 * way, 0.34)]
        canvas.line(actor, [(-0.52 * way, 0.34), *frame[1:]], 0.05, "#4a4f55")
        canvas.line(actor, [(-0.1 * way, 0.75), (0.02, 0.34), (0.4 * way, 0.75)], 0.05, "#4a4f55")
        canvas.line(actor, [(-0.15 * way, 0.95), (0.12 * way, 0.62), (0.02, 0.24)], 0.14, "#3b4a5a")
        canvas.line(actor, [(-0.15 * way, 0.95), (0.12 * way, 1.42)], 0.3, actor.colour)
        canvas.line(actor, [(0.12 * way, 1.35), (0.42 * way, 0.98)], 0.1, actor.colour)
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
