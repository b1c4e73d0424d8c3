"""`rankwell embeddings` against the script that people write for it, as whole processes in turns.

    python benchmarks/embeddings.py [--turns 7]

The script makes the similarities of all papers with scikit-learn, masks the diagonal, sorts every
row, and walks over the sampled queries with sets, as the source of the convention scholar-stream
does. Both print mean and standard deviation per model and k.
A third process, `rankwell --version` with NumPy imported, shows what starting costs.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

NAIVE = """
import sys
import numpy as np
from sklearn.metrics.pairwise import cosine_similarity

reference, *models = [np.load(path) for path in sys.argv[1:]]

def neighbours(vectors):
    similarity = cosine_similarity(vectors)
    np.fill_diagonal(similarity, -np.inf)
    return np.argsort(similarity, axis=1)[:, ::-1]

truth = neighbours(reference)
np.random.seed(42)
queries = np.random.choice(len(reference), 500, replace=False)
for model in models:
    found = neighbours(model)
    for k in (1, 3, 5, 10):
        recalls, ndcgs, mrrs, maps = [], [], [], []
        for query in queries:
            relevant, listed = set(truth[query, :k].tolist()), found[query, :k].tolist()
            hits = [item in relevant for item in listed]
            recalls.append(len(relevant & set(listed)) / k)
            dcg = sum(1 / np.log2(place + 2) for place, hit in enumerate(hits) if hit)
            ndcgs.append(dcg / sum(1 / np.log2(place + 2) for place in range(k)))
            mrrs.append(next((1 / (place + 1) for place, hit in enumerate(hits) if hit), 0.0))
            precisions = [sum(hits[: place + 1]) / (place + 1) for place, hit in enumerate(hits) if hit]
            maps.append(np.mean(precisions) if precisions else 0.0)
        print(k, *(f"{np.mean(values):.3f}±{np.std(values):.3f}" for values in (recalls, ndcgs, mrrs, maps)))
"""  # noqa: E501


def main() -> None:
    """Makes the files, lets the processes take turns, prints times, peaks of memory, and the
    ratio.
    """
    parser = argparse.ArgumentParser()
    parser.add_argument("--turns", type=int, default=7)
    turns = parser.parse_args().turns
    with tempfile.TemporaryDirectory() as folder:
        files = make(Path(folder))
        script = Path(folder) / "naive.py"
        script.write_text(NAIVE)
        rankwell = [
            sys.executable,
            "-m",
            "rankwell",
            "embeddings",
            "--convention",
            "scholar-stream",
            "--intervals",
            "none",
        ]
        commands = {
            "scikit-learn script": [sys.executable, str(script), *files],
            "rankwell embeddings": [*rankwell, "--reference", *files],
            "an empty start": [sys.executable, "-c", "import numpy"],
        }
        found: dict[str, list[tuple[float, float]]] = {name: [] for name in commands}
        said = {}
        for _ in range(turns):
            for name, command in commands.items():
                seconds, peak, said[name] = measure(command)
                found[name].append((seconds, peak))
    naive = [line for line in said["scikit-learn script"].splitlines() if "±" in line]
    ours = [
        line
        for line in said["rankwell embeddings"].splitlines()
        if "±" in line and line[0].isdigit()
    ]
    alike = [line.split() for line in naive] == [line.split() for line in ours]
    for name, each in found.items():
        seconds = [one for one, _ in each]
        print(
            f"{name:20} min {min(seconds):6.3f} s  median {statistics.median(seconds):6.3f} s "
            f" {max(p for _, p in each):5.0f} MiB"
        )
    ratios = [
        a / b
        for (a, _), (b, _) in zip(
            found["scikit-learn script"], found["rankwell embeddings"], strict=True
        )
    ]
    best = min(s for s, _ in found["scikit-learn script"]) / min(
        s for s, _ in found["rankwell embeddings"]
    )
    print(
        f"ratio: median of turns {statistics.median(ratios):.1f}, of the best times "
        f"{best:.1f}; the same tables: {alike}"
    )


def make(folder: Path) -> list[str]:
    """5,000 papers: a reference of 1,536 dimensions, and two candidates of 384 that know part of
    it.
    """
    random = np.random.default_rng(0)
    topics = random.normal(size=(5000, 40)).astype(np.float32)
    files = []
    for name, width, noise in (("ada", 1536, 0.6), ("minilm", 384, 3.6), ("tuned", 384, 2.4)):
        vectors = topics @ random.normal(size=(40, width)).astype(np.float32)
        vectors += noise * random.standard_normal(vectors.shape, dtype=np.float32)
        files.append(str(folder / f"{name}.npy"))
        np.save(files[-1], vectors)
    return files


def measure(command: list[str]) -> tuple[float, float, str]:
    """Seconds, peak memory in MiB, and the output of one process."""
    import time

    begin = time.perf_counter()
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    assert process.stdout is not None
    said = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"{' '.join(command[:4])} … failed")
    return time.perf_counter() - begin, usage.ru_maxrss / 1024, said


if __name__ == "__main__":
    main()
