"""The files and names that pages of the documentation take for their reader's own, by page; see
test_pages.py.
"""

import json
import shutil
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import rankwell as rw
from rankwell.tasks.judge.batches import lease_batch
from rankwell.tasks.judge.folder import JournalLine, append_lines, now, read_study
from tasks.beyond import smallest as beyond_smallest
from tasks.clicks import smallest as logs_smallest
from tasks.judge import studies

QUERIES = [f"q{number}" for number in range(1, 13)]
WORDS = [
    "rain",
    "river",
    "night",
    "bridge",
    "market",
    "train",
    "field",
    "cloud",
    "stone",
    "paper",
    "light",
    "winter",
]
GRADER = "def grade(query, document):\n    return len(document) % 4\n"


def write(folder: Path, files: Mapping[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")


def run_lines(lists: Mapping[str, list[str]]) -> str:
    """The lists of queries as a TREC run."""
    rows = [(query, item, rank) for query, own in lists.items() for rank, item in enumerate(own, 1)]
    return "".join(f"{query} Q0 {item} {rank} {9 - rank} mine\n" for query, item, rank in rows)


def searches(folder: Path) -> None:
    """Twelve queries with one relevant item each, two runs, and the texts of both."""
    runs = {"bm25": lambda place: place % 3 > 0, "dense": lambda place: place % 2 > 0}
    pairs = list(zip(QUERIES, WORDS, strict=True))
    for name, is_right in runs.items():
        lists = {
            query: [word, f"no-{word}"][:: 1 if is_right(place) else -1]
            for place, (query, word) in enumerate(pairs)
        }
        write(folder, {f"{name}.run": run_lines(lists)})
    items = [item for word in WORDS for item in (word, f"no-{word}")]
    write(
        folder,
        {
            "qrels.txt": "".join(f"{query} 0 {word} 1\n" for query, word in pairs),
            "queries.tsv": "".join(f"{query}\tabout {word}\n" for query, word in pairs),
            "docs.jsonl": "".join(
                json.dumps({"id": item, "text": item.replace("-", " ")}) + "\n" for item in items
            ),
            "my_app.py": "def search(query, k):\n    return "
            "[query.split()[-1]][:k]\n\n\nretriever = "
            "search\n",
        },
    )


def searches_as_run(folder: Path) -> None:
    """The same with one run, run.txt."""
    searches(folder)
    shutil.copy(folder / "bm25.run", folder / "run.txt")


def searches_to_learn_from(folder: Path) -> None:
    """The same, with runs and judgments of other queries."""
    searches(folder)
    for name in ("bm25.run", "dense.run", "qrels.txt"):
        text = (folder / name).read_text(encoding="utf-8")
        other = f"{name.partition('.')[0]}_train.run" if name.endswith("run") else "train.txt"
        write(folder, {other: "".join(f"t{line}\n" for line in text.splitlines())})


def searches_for_mteb(folder: Path) -> None:
    searches(folder)
    judged = "".join(f"{query}\t{word}\t1\n" for query, word in zip(QUERIES, WORDS, strict=True))
    found = {query: {word: 1.0} for query, word in zip(QUERIES, WORDS, strict=True)}
    write(
        folder,
        {"qrels.tsv": f"query-id\tcorpus-id\tscore\n{judged}", "run.json": json.dumps(found)},
    )


def results(folder: Path) -> None:
    """Three folders of results."""
    searches(folder)
    for name, runs in (("results", ("bm25", "dense")), ("a", ("bm25",)), ("b", ("dense",))):
        found = rw.evaluate(
            folder / "qrels.txt", [folder / f"{run}.run" for run in runs], "RR", details=True
        )
        found.save(folder / name, charts=False)
    (folder / "img").mkdir()


def run_with_scores(folder: Path) -> None:
    """Forty queries of a run whose scores say little, and images with vectors."""
    random = np.random.default_rng(5)
    judged, lines = list[str](), list[str]()
    for number in range(40):
        scores = np.sort(random.normal(2, 1, 20))[::-1] + random.normal(0, 0.5)
        right = set(random.choice(20, 5, replace=False, p=np.arange(20, 0, -1) / 210).tolist())
        judged += [f"q{number} 0 d{item} 1\n" for item in sorted(right)]
        lines += [
            f"q{number} Q0 d{item} {item + 1} {score:.4f} r\n" for item, score in enumerate(scores)
        ]
    labels = [place % 4 for place in range(16)]
    names = [f"i{place}.jpg" for place in range(16)]
    write(
        folder,
        {
            "qrels.txt": "".join(judged),
            "run.txt": "".join(lines),
            "images.csv": "image,instance,split\n"
            + "".join(
                f"{name},o{label},{'query' if place < 8 else 'reference'}\n"
                for place, (name, label) in enumerate(zip(names, labels, strict=True))
            ),
            "found.csv": "image,cluster\n"
            + "".join(f"{name},c{label // 2}\n" for name, label in zip(names, labels, strict=True)),
        },
    )
    vectors = np.eye(4)[labels] + 0.2 * random.normal(size=(16, 4))
    np.savez(folder / "vectors.npz", vectors=vectors, ids=np.array(names))


def clips(folder: Path) -> None:
    """Vectors of the two clips of the page, and two texts."""
    write(folder, {"queries.csv": "id,text\nt1,a bicyclist\nt2,a pedestrian at night\n"})
    for name, ids in (
        ("clips", ["drive1_clip003.mp4", "drive1_clip007.mp4"]),
        ("texts", ["t1", "t2"]),
    ):
        pq.write_table(
            pa.table({"id": ids, "embedding": np.eye(2).tolist()}), folder / f"{name}.parquet"
        )


def questions(folder: Path) -> None:
    """The questions of the page's own answers, of SQuAD's form with and without what the command
    needs besides.
    """
    contexts = [
        "Paris is the capital of France.",
        "It is large.",
        "It is old.",
        "The city of Lyon is large, too.",
    ]
    asked = {
        "q1": ("What is the capital of France?", 0, "Paris", 0),
        "q2": ("Who founded it?", 1, None, None),
        "q3": ("Which other city is large?", 3, "Lyon", 12),
    }
    paragraphs = [
        {
            "context": context,
            "qas": [
                {
                    "id": name,
                    "question": text,
                    "is_impossible": answer is None,
                    "answers": [] if answer is None else [{"text": answer, "answer_start": start}],
                }
                for name, (text, where, answer, start) in asked.items()
                if where == place
            ],
        }
        for place, context in enumerate(contexts)
    ]
    gold = json.dumps({"version": "v2.0", "data": [{"title": "France", "paragraphs": paragraphs}]})
    lists = {"q1": ["France#0", "France#3"], "q2": ["France#1"], "q3": ["France#2", "France#0"]}
    write(
        folder,
        {
            "dev-v2.0.json": gold,
            "questions.json": gold,
            "predictions.json": '{"q1": "Paris", "q2": "", "q3": "a city"}',
            "na_prob.json": '{"q1": 0.1, "q2": 0.9, "q3": 0.2}',
            "bm25.run": run_lines(lists),
            "from_gold.jsonl": '{"id": "q1", "text": "Paris", "document": "France#0", "start": '
            '0, "end": 5}\n'
            '{"id": "q2", "text": null}\n{"id": "q3", "text": "Lyon", "document": "France#3", '
            '"start": 12, "end": 16}\n',
        },
    )


def chunks(folder: Path) -> None:
    write(
        folder,
        {
            "dense.jsonl": '{"id": "q1", "chunks": [{"document": "guide", "start": 100, "end": '
            "160}]}\n"
        },
    )


def lists(folder: Path) -> None:
    beyond_smallest.write(folder)
    shutil.move(folder / "seen.txt", folder / "train.tsv")


def experiment(folder: Path) -> None:
    """What the experiment file of the page names."""
    questions(folder)
    searches(folder)
    for name in ("scifact", "nfcorpus"):
        (folder / "runs" / name).mkdir(parents=True)
        (folder / name).mkdir()
        shutil.copy(folder / "qrels.txt", folder / name)
        for system in ("bm25", "dense", "sparse"):
            shutil.copy(
                folder / f"{'dense' if system == 'sparse' else system}.run",
                folder / "runs" / name / f"{system}.run",
            )
    for place, source in (
        ("elsewhere/sparse.run", "dense.run"),
        ("faq/questions.json", "questions.json"),
    ):
        (folder / place).parent.mkdir()
        shutil.copy(folder / source, folder / place)
    for system in ("bm25", "dense"):
        shutil.copy(folder / "from_gold.jsonl", folder / "faq" / f"{system}.json")


def vectors(folder: Path) -> None:
    """Small vectors for every command that works in parts, and a bench."""
    searches(folder)
    random = np.random.default_rng(2)
    named = {
        "base": (400, 8),
        "queries": (5, 8),
        "captions": (40, 8),
        "videos": (2, 8),
        "big": (200, 8),
        "small": (200, 4),
    }
    for name, shape in named.items():
        np.save(folder / f"{name}.npy", random.normal(size=shape).astype(np.float32))
    rows = [line.split() for line in (folder / "bm25.run").read_text(encoding="utf-8").splitlines()]
    table = {
        "query": [row[0] for row in rows],
        "item": [row[2] for row in rows],
        "score": [float(row[4]) for row in rows],
    }
    pq.write_table(pa.table(table), folder / "bm25.parquet")
    for part in range(2):
        write(
            folder,
            {
                f"runs/part-{part}.run": "".join(
                    " ".join(row) + "\n" for row in rows[12 * part : 12 * part + 12]
                )
            },
        )
    write(
        folder,
        {
            "corpus.jsonl": (folder / "docs.jsonl").read_text(encoding="utf-8"),
            "bench.toml": '[[dataset]]\nname = "mine"\ncommand = "evaluate"\nqrels = '
            '"qrels.txt"\nruns = '
            '"{system}.run"\n'
            'measure = ["RR"]\n[[system]]\nname = "bm25"\n[[system]]\nname = "dense"\n',
        },
    )


def logged_clicks(folder: Path) -> None:
    """A log with a policy and a model, two runs, and clicks on their interleaved lists."""
    logs_smallest.write(folder)
    for old, new in (("policy.csv", "new.csv"), ("a.run", "old.run"), ("b.run", "new.run")):
        shutil.move(folder / old, folder / new)
    write(folder, {"clicks.csv": "query,item\nq1,a\nq2,b\nq4,c\n"})


def huge_vectors(folder: Path, items: int = 10**9, queries: int = 10**6) -> None:
    """The heads of files of vectors in half precision, behind which there is nothing but a hole."""
    for name, rows in (("base", items), ("queries", queries)):
        with (folder / f"{name}.npy").open("wb") as file:
            np.lib.format.write_array_header_1_0(
                file, {"descr": "<f2", "fortran_order": False, "shape": (rows, 768)}
            )
            file.truncate(file.tell() + rows * 768 * 2)


def study(folder: Path) -> None:
    """Two runs, and a study of them of which one judge has finished a batch."""
    studies.write_world(folder)
    for old, new in (("a", "bm25"), ("b", "dense")):
        shutil.move(folder / f"{old}.run", folder / f"{new}.run")
    write(folder, {"my_judge.py": GRADER})
    studies.pool_study(folder, "bm25", "dense")
    finish_batch(folder)


def finish_batch(folder: Path) -> None:
    """Judges the next batch of the study."""
    study = read_study(folder / "study")
    batch = lease_batch(study, "anna")
    assert batch is not None
    append_lines(
        study,
        [
            JournalLine(now(), "anna", *pair, float(number % 3))
            for number, pair in enumerate(batch.pairs)
        ],
    )


def ask_model(folder: Path) -> None:
    """Asks a model for the grades of the study's items."""
    studies.model_judge(str(folder / "study"), model=f"tf-idf={folder}/my_judge.py:grade")


FILES: dict[str, Callable[[Path], None]] = {
    "answers": questions,
    "benches": experiment,
    "beyond": lists,
    "compat": searches_for_mteb,
    "confidence": run_with_scores,
    "conventions": searches_as_run,
    "engines": searches,
    "fusion": searches_to_learn_from,
    "judging": study,
    "keywords": clips,
    "logs": logged_clicks,
    "page": results,
    "rag": chunks,
    "retrieve": searches,
    "scale": vectors,
}
"""What writes the files of a page."""
BEFORE = {
    "--memory 64G --dry-run": huge_vectors,
    "--shards 200": partial(huge_vectors, items=10**7, queries=10**4),
    "judge estimate study": finish_batch,
    "convert study:model": ask_model,
}
"""What writes the files of a command line with these words."""
STAND_INS = {"processes:16": "here", "--executor ray": "--executor here"}
"""What stands in for executors that start processes: the bytes are the same, as tests/runtime
shows.
"""


def names(page: str) -> dict[str, Any]:
    """The variables that the blocks of a page take for their reader's own."""
    if page != "compat":
        return {}
    from sklearn.linear_model import LinearRegression

    grades = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, 0]] * 3)
    scores = np.random.default_rng(1).normal(size=grades.shape)
    samples = {
        "relevant": grades.ravel(),
        "scores": scores.ravel(),
        "qid": np.repeat(np.arange(12), 3),
    }
    return {
        "rankwell": rw,
        "y_true": grades,
        "y_score": scores,
        **samples,
        "model": LinearRegression(),
        "X": scores,
        "Y": grades,
    }
