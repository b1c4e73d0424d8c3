"""A bench of all six protocols on tiny inputs, written into a folder: two systems, `high` the
better one.

`python tests/benches.py` writes the golden figures of a new `RESULTS_VERSION`; it never replaces
those of an earlier one.
"""

import json
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random

import numpy as np

from rankwell.comparison.bench import RESULTS_VERSION

GOLDEN = Path(__file__).parent / "golden" / "results_versions" / f"{RESULTS_VERSION}.json"
TOML = """\
title = "Six protocols"

[options]
seed = 1

[[dataset]]
name = "runs"
command = "evaluate"
qrels = "qrels.txt"
runs = "runs/{system}.run"
measure = ["AP", "nDCG@10"]

[[dataset]]
name = "vectors"
command = "embeddings"
reference = "vectors/teacher.npy"
candidates = "vectors/{system}.npy"
k = [1, 5]
samples = "all"
measure = "R@5"

[[dataset]]
name = "videos"
command = "crossmodal"
scores = "scores/{system}.npy"
k = [1, 5, 10]

[[dataset]]
name = "questions"
command = "qa"
gold = "gold.json"
predictions = "answers/{system}.json"
convention = "squad1"

[[dataset]]
name = "clips"
command = "keywords"
annotations = "clips.csv"
item_vectors = "vectors/{system}.npy"
measure = "P@5"

[[dataset]]
name = "paintings"
command = "images"
images = "museum=images.csv"
item_vectors = "vectors/{system}.npy"
measure = "P@1"

[[system]]
name = "low"

[[system]]
name = "high"
"""
RUNS_ALONE = TOML[: TOML.index('[[dataset]]\nname = "vectors"')] + TOML[TOML.index("[[system]]") :]
"""The data sets whose systems are runs."""

NOISE = {"low": 1.5, "high": 0.15}
QUERIES = 24


def make_bench(folder: Path, text: str = TOML) -> Path:
    """Writes the inputs and the bench file; returns the latter."""
    for name in ("runs", "vectors", "scores", "answers"):
        (folder / name).mkdir(parents=True)
    random = Random(4)
    names = [f"c{place}" for place in range(QUERIES)]
    teacher = np.random.default_rng(0).standard_normal((QUERIES, 8))
    _vectors(folder / "vectors" / "teacher.npy", teacher, names)
    (folder / "clips.csv").write_text(_clips(names, teacher))
    (folder / "images.csv").write_text(_images(names, teacher))
    words = ["red", "green", "blue", "brown", "black", "white"]
    right = {f"q{place:02}": random.choice(words) for place in range(QUERIES)}
    (folder / "gold.json").write_text(json.dumps(_gold(right)))
    (folder / "qrels.txt").write_text(
        "".join(f"q{place:02} 0 d{place % 7} 1\n" for place in range(QUERIES))
    )
    for seed, (system, noise) in enumerate(NOISE.items(), 1):
        draw = np.random.default_rng(seed)
        _vectors(
            folder / "vectors" / f"{system}.npy",
            teacher + noise * draw.standard_normal(teacher.shape),
            names,
        )
        np.save(
            folder / "scores" / f"{system}.npy",
            np.eye(QUERIES) + noise * draw.standard_normal((QUERIES, QUERIES)),
        )
        given = {
            name: word if draw.random() > noise / 2 else "purple" for name, word in right.items()
        }
        (folder / "answers" / f"{system}.json").write_text(json.dumps(given))
        (folder / "runs" / f"{system}.run").write_text(
            "".join(_run(place, noise, draw) for place in range(QUERIES))
        )
    path = folder / "bench.toml"
    path.write_text(text)
    return path


def _vectors(path: Path, vectors: np.ndarray, names: list[str]) -> None:
    np.save(path, vectors.astype(np.float32))
    path.with_suffix(".ids.txt").write_text("".join(f"{name}\n" for name in names))


def _run(place: int, noise: float, draw: np.random.Generator) -> str:
    scores = {
        f"d{item}": float(item == place % 7) + noise * draw.standard_normal() for item in range(7)
    }
    ranked = sorted(scores, key=lambda item: -scores[item])
    return "".join(
        f"q{place:02} Q0 {item} {rank} {scores[item]:.6f} x\n"
        for rank, item in enumerate(ranked, 1)
    )


def _clips(names: list[str], vectors: np.ndarray) -> str:
    rows = [
        f"{name},{'car' if vector[0] > 0 else 'bus'}"
        for name, vector in zip(names, vectors, strict=True)
    ]
    return "\n".join(["slice_id,object_type", *rows]) + "\n"


def _images(names: list[str], vectors: np.ndarray) -> str:
    rows = [
        f"{name},{'mona' if vector[1] > 0 else 'oak'},{'reference' if place < 8 else 'query'}"
        for place, (name, vector) in enumerate(zip(names, vectors, strict=True))
    ]
    return "\n".join(["image,instance,split", *rows]) + "\n"


def _gold(right: dict[str, str]) -> dict[str, object]:
    asked = []
    for name, word in right.items():
        context = f"The colour is {word}."
        answers = [{"text": word, "answer_start": context.index(word)}]
        asked.append(
            {"context": context, "qas": [{"id": name, "question": "Which?", "answers": answers}]}
        )
    return {"version": "1.1", "data": [{"title": "colours", "paragraphs": asked}]}


def golden_rows(summary: Sequence[Mapping[str, object]]) -> list[list[object]]:
    """The figures of a bench with nine digits, which no other processor or library of matrices
    changes.
    """
    names = ("dataset", "run", "measure", "mean", "sd", "ci_low", "ci_high", "n", "better_than")
    return [
        [float(f"{cell:.9g}") if isinstance(cell, float) else cell for cell in map(row.get, names)]
        for row in summary
    ]


if __name__ == "__main__":
    import rankwell

    assert not GOLDEN.exists(), f"{GOLDEN} exists: raise RESULTS_VERSION first."
    with tempfile.TemporaryDirectory() as folder:
        rows = golden_rows(rankwell.bench(make_bench(Path(folder) / "bench")).summary)
    GOLDEN.parent.mkdir(exist_ok=True)
    GOLDEN.write_text("[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]\n")
