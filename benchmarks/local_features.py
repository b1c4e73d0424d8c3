"""Local features: threads against processes, and matching against OpenCV's own matcher.

    python benchmarks/local_features.py [--rounds 3] [--pictures FOLDER] [--references 200]

Threads and processes find the features of whole sets of pictures and match them, as `rankwell
images match` does, start-up of the processes included: the photographs of FOLDER (query/ and
ref/, as ../shared/data/vpr/corridor_images) and a set that is drawn here. The peer is what most
code does: BFMatcher.knnMatch, the ratio test in a loop, findHomography, in one thread, on the first
queries of the drawn set. All candidates take turns, so that only the ratios of one round count; the
median of the rounds is printed, with the processor's time of all threads and processes, which other
work on the machine moves less.
"""

import argparse
import resource
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import cv2
import numpy as np
from PIL import Image, ImageDraw, ImageFilter

from rankwell.tasks.images.local_features import Features, LocalFeatures, MatchCounts
from rankwell.threads import processors

QUERIES, PEER = 24, 4
SYSTEM = LocalFeatures()
CORRIDOR = (
    Path(__file__).resolve().parent.parent.parent / "shared" / "data" / "vpr" / "corridor_images"
)


def drawn(seed: int, size: tuple[int, int] = (640, 480)) -> Image.Image:
    """A picture of many shapes."""
    chance = np.random.default_rng(seed)
    image = Image.new("RGB", size, (200, 200, 200))
    pen = ImageDraw.Draw(image)
    for _ in range(400):
        x, y, width, height = (int(each) for each in chance.integers((0, 0, 5, 5), (*size, 50, 50)))
        colour = tuple(int(each) for each in chance.integers(0, 256, 3))
        (pen.rectangle if chance.random() < 0.5 else pen.ellipse)(
            (x, y, x + width, y + height), fill=colour
        )
    return image.filter(ImageFilter.GaussianBlur(0.7))


def drawn_set(folder: Path, references: int) -> tuple[list[Path], list[Path]]:
    """References, and photographs of the first ones taken askew."""
    sides: tuple[list[Path], list[Path]] = [], []
    corners = (-20, 15, 10, 500, 660, 470, 620, -10)
    for number in range(references):
        image = drawn(number)
        sides[1].append(folder / f"r{number}.png")
        image.save(sides[1][-1])
        if number < QUERIES:
            sides[0].append(folder / f"q{number}.jpg")
            image.transform(
                (600, 440), Image.Transform.QUAD, corners, Image.Resampling.BICUBIC
            ).save(sides[0][-1])
    return sides


def peer(query: Features, references: list[Features]) -> list[MatchCounts]:
    """The usual code."""
    found = []
    for reference in references:
        pairs = cv2.BFMatcher(cv2.NORM_L2).knnMatch(query.descriptors, reference.descriptors, k=2)
        taken = [
            (near.queryIdx, near.trainIdx)
            for near, next_ in pairs
            if near.distance < SYSTEM.ratio * next_.distance
        ]
        if len(taken) < 4:
            found.append(MatchCounts(len(taken), 0))
            continue
        starts, ends = (np.array(column) for column in zip(*taken, strict=True))
        mask: Any = cv2.findHomography(
            query.points[starts], reference.points[ends], cv2.RANSAC, SYSTEM.reprojection
        )[1]
        found.append(MatchCounts(len(taken), 0 if mask is None else int(mask.sum())))
    return found


def busy() -> float:
    """The processor's seconds of this process and of those that have ended."""
    return sum(
        sum(resource.getrusage(whose)[:2])
        for whose in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )


def race(
    candidates: dict[str, Callable[[], Any]], rounds: int
) -> dict[str, tuple[list[float], list[float], list[Any]]]:
    """Seconds, processor's seconds and results of every round."""
    found: dict[str, tuple[list[float], list[float], list[Any]]] = {
        name: ([], [], []) for name in candidates
    }
    for _ in range(rounds):
        for name, work in candidates.items():
            begin, before = time.perf_counter(), busy()
            result = work()
            for column, value in zip(
                found[name], (time.perf_counter() - begin, busy() - before, result), strict=True
            ):
                column.append(value)
    return found


def show(
    title: str, found: dict[str, tuple[list[float], list[float], list[Any]]], pairs: int
) -> None:
    """A line per candidate; ratios are those of one round."""
    print(title)
    base = next(iter(found.values()))[0]
    for name, (wall, used, _) in found.items():
        ratio = median(one / other for one, other in zip(base, wall, strict=True))
        each = 1000 * median(wall) / pairs
        print(
            f"  {name:<30} {median(wall):8.2f} s  {median(used):8.2f} s of processors  "
            f"{each:7.3f} ms per pair  {ratio:5.2f}x"
        )


def main() -> None:
    """Lets all take turns and prints the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--pictures", type=Path, default=CORRIDOR)
    parser.add_argument("--references", type=int, default=200)
    options = parser.parse_args()
    number = processors()
    systems = {
        f"{number} threads": LocalFeatures(),
        f"{number} processes": LocalFeatures(executor=f"processes:{max(2, number)}"),
    }
    with tempfile.TemporaryDirectory() as folder:
        sets = {"drawn": drawn_set(Path(folder), options.references)}
        if options.pictures.is_dir():
            sides = [
                sorted(path for path in (options.pictures / side).iterdir())
                for side in ("query", "ref")
            ]
            sets = {options.pictures.name: (sides[0], sides[1]), **sets}
        queries: Any
        references: Any
        for name, (queries, references) in sets.items():
            work = {
                what: lambda each=each: each.compare(queries, references)  # noqa: B023
                for what, each in systems.items()
            }
            found = race(work, options.rounds)
            matrices = {
                (each.matches.tobytes(), each.inliers.tobytes())
                for *_, results in found.values()
                for each in results
            }
            title = (
                f"{name}: {len(queries)} x {len(references)} pictures, {len(matrices)} different "
                "result"
            )
            show(title, found, len(queries) * len(references))
        queries, references = ([SYSTEM.find(path) for path in side] for side in sets["drawn"])
        cv2.setNumThreads(1)
        work = {
            "rankwell, one thread": lambda: [
                [SYSTEM.match(query, each) for each in references] for query in queries[:PEER]
            ],
            "OpenCV's matcher, one thread": lambda: [
                peer(query, references) for query in queries[:PEER]
            ],
        }
        show(
            f"matching alone: {PEER} x {len(references)} pairs",
            race(work, options.rounds),
            PEER * len(references),
        )


if __name__ == "__main__":
    main()
