"""Rank videos by captions and captions by videos."""

import json
from pathlib import Path
from typing import NamedTuple

import numpy as np

from rankwell.comparison.pages import write_report
from rankwell.data.tables import Floats
from rankwell.evaluation.options import Seed
from rankwell.reporting.drafts import holding, keeping
from rankwell.reporting.options import FolderPath, Output, Progress, introduced
from rankwell.reporting.page import NAME
from rankwell.store import write_lines, write_npy, write_text
from rankwell.tasks.crossmodal.task import CrossmodalCommandOptions
from rankwell.tasks.crossmodal.task import crossmodal as crossmodal_task

_PARTS = (
    ("red", "white", "black", "blue", "yellow"),
    ("car", "truck", "bus", "bicycle", "pedestrian", "van"),
    ("turns", "stops", "crosses", "overtakes", "waits"),
    (
        "at the crossing",
        "in the tunnel",
        "on the bridge",
        "in the rain",
        "at night",
        "on the motorway",
    ),
)
VIDEOS, CAPTIONS, DIMENSIONS, NOISE = 200, 3, 32, 0.8
_TITLE = "Scenes by captions, and captions by scenes"


class Scenes(NamedTuple):
    """Captions and videos of an invented collection.

    texts: the captions.
    positives: for each caption the positions of its videos.
    scores: (captions, videos) float32.
    """

    texts: list[str]
    positives: list[list[int]]
    scores: np.ndarray


def crossmodal(
    *,
    output: FolderPath = Path("rankwell-demo-crossmodal"),
    seed: Seed = 0,
    progress: Progress = None,
) -> Output:
    """Rank videos by captions and captions by videos.

    Uses generated scores: both directions, with ceiling and chance level.

      rankwell demo crossmodal

    Parameters
    ----------
    output
        Folder for the scores, the positives, the captions and the results.
    """
    with holding(output):
        scenes = make_scenes(seed)
        scores = output / "scores.npy"
        positives = output / "positives.json"
        texts = output / "captions.txt"
        with keeping():
            write_npy(scores, scenes.scores)
            write_text(positives, json.dumps(scenes.positives) + "\n")
            write_lines(texts, scenes.texts)
        results = output / "results"
        options = CrossmodalCommandOptions(queries=str(texts), seed=seed, qrels=str(positives))
        printed = crossmodal_task.command()(
            str(scores), options=options, output=results, progress=progress
        )
        write_report([results], results / NAME, title=_TITLE, seed=seed)
    return introduced(
        f"{len(scenes.texts)} captions of {VIDEOS} scenes, such as {scenes.texts[0]!r}: which "
        "scene is meant, and which captions belong to a scene?",
        printed,
        results,
    )


def make_scenes(seed: int) -> Scenes:
    """Scenes of four words each, with captions of three or four of them; the same for the same
    seed.
    """
    random = np.random.default_rng(seed)
    words = [word for part in _PARTS for word in part]
    vectors = random.standard_normal((len(words), DIMENSIONS))
    starts = np.cumsum([0, *map(len, _PARTS[:-1])])
    scenes = np.column_stack(
        [
            start + random.integers(0, len(part), VIDEOS)
            for start, part in zip(starts, _PARTS, strict=True)
        ]
    )
    texts, positives, meanings = list[str](), list[list[int]](), list[Floats]()
    for video, scene in enumerate(scenes):
        for _ in range(CAPTIONS):
            left_out = int(random.integers(0, len(_PARTS) + 1))
            caption_words = [int(word) for part, word in enumerate(scene) if part != left_out]
            texts.append(" ".join(words[word] for word in caption_words))
            positives.append([video])
            meanings.append(vectors[caption_words].sum(axis=0))
    video_vectors = vectors[scenes].sum(axis=1) + NOISE * random.standard_normal(
        (VIDEOS, DIMENSIONS)
    )
    return Scenes(
        texts, positives, (_unit(np.array(meanings)) @ _unit(video_vectors).T).astype(np.float32)
    )


def _unit(vectors: Floats) -> Floats:
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
