"""Drawn inputs of every task, the same bytes for the same Python: small, with ties, gaps and odd
ids, and files in every format.

Scores are multiples of an eighth and most vectors hold 1 and -1 alone, so that products are exact
on every machine.
"""

import gzip
import json
from pathlib import Path
from random import Random

from regression import worlds_answers, worlds_matrices

QUERIES = [f"q{place}" for place in range(1, 15)]
ITEMS = [f"d{place}" for place in range(1, 31)] + ["D1", "ähnlich", "文書"]
WORDS = ["cars", "rain", "night", "bridge", "river", "market", "train", "field"]


def build(folder: Path) -> None:
    """Writes the inputs of every task."""
    (folder / "runs").mkdir()
    worlds_matrices.build(folder)
    worlds_answers.build(folder)
    judgments = _judgments()
    _write_judgments(folder, judgments)
    _write_runs(folder, judgments)
    _write_trec(folder, judgments)
    requirements = (
        'require = ["AP >= 0.1", "b:RR.ci_low > 0"]\nbaseline = "a"\ntolerance = '
        '"1%"\nmeasures = ["AP"]\n'
    )
    _text(folder / "gate.toml", requirements)
    (folder / "runs/bench").mkdir()
    for name, of in (("one", "a"), ("two", "b")):
        _text(folder / f"runs/bench/{name}.run", (folder / f"{of}.run").read_text(encoding="utf-8"))
    _text(folder / "keep-self.toml", 'base = "beir"\nexclude_self = false\n')
    _text(folder / "bench.toml", BENCH)
    _text(folder / "pages.toml", BENCH + "[table]\npages = true\n")
    _text(folder / "plain.toml", BENCH + "[table]\nmean = false\nintervals = false\n")


def build_for_shared(folder: Path) -> None:
    """Vectors of the real clips, and no answers to the real questions."""
    clips = [
        line.split(",")[0]
        for line in (folder / "shared/driving/unified_annotation.csv").read_text().splitlines()[1:]
    ]
    worlds_matrices.save_signs(folder / "driving.npy", clips)
    _text(folder / "nothing.jsonl", '{"id": "nobody", "rank": 1, "text": null}\n')


# ---- judgments and runs
# --------------------------------------------------------------------------------------------------


def _judgments() -> dict[str, dict[str, int]]:
    """Grades from -1 to 3; q13 has nothing relevant, q14 has nothing retrieved."""
    random = Random(1)
    scale = [-1, 0, 0, 0, 1, 1, 2, 3]
    graded = {
        query: {item: random.choice(scale) for item in random.sample(ITEMS, 8)} for query in QUERIES
    }
    graded["q13"] = dict.fromkeys(graded["q13"], 0)
    for query in QUERIES:
        if query != "q13" and max(graded[query].values()) < 1:
            graded[query][next(iter(graded[query]))] = 2
    return graded


def _run(
    judgments: dict[str, dict[str, int]], seed: int, *, skill: float, levels: int
) -> dict[str, dict[str, float]]:
    """Scores in steps of an eighth, of so many levels that many tie; q14 is absent, q99 unknown, q3
    finds itself.
    """
    random = Random(seed)
    found: dict[str, dict[str, float]] = {}
    for query in [*QUERIES[:-1], "q99"]:
        listed = random.sample(ITEMS, 16)
        good = [
            item
            for item, grade in judgments.get(query, {}).items()
            if grade > 0 and random.random() < 0.8
        ]
        listed += [item for item in good if item not in listed]
        found[query] = {
            item: (random.randrange(levels) + (levels * skill if item in good else 0)) / 8
            for item in listed
        }
    found["q3"]["q3"] = 50.0
    return found


def _write_judgments(folder: Path, judgments: dict[str, dict[str, int]]) -> None:
    rows = [
        (query, item, grade)
        for query, graded in judgments.items()
        for item, grade in graded.items()
    ]
    _text(
        folder / "qrels.txt", "".join(f"{query} 0 {item} {grade}\n" for query, item, grade in rows)
    )
    _text(
        folder / "qrels.tsv",
        "query-id\tcorpus-id\tscore\n"
        + "".join(f"{query}\t{item}\t{grade}\n" for query, item, grade in rows),
    )
    _text(
        folder / "qrels.csv",
        "query,item,grade\n" + "".join(f"{query},{item},{grade}\n" for query, item, grade in rows),
    )
    lines = [
        json.dumps({"query": query, "item": item, "grade": grade}, ensure_ascii=False)
        for query, item, grade in rows
    ]
    _text(folder / "qrels.jsonl", "\n".join(lines) + "\n")
    _text(folder / "qrels.json", json.dumps(judgments, ensure_ascii=False))
    both = "".join(f"{query},{item},{grade},{int(grade > 1)}\n" for query, item, grade in rows)
    _text(folder / "grades.csv", "query,item,relevance,strict\n" + both)
    (folder / "beir/qrels").mkdir(parents=True)
    for split, most in (("test", len(rows)), ("dev", 40)):
        lines = "".join(f"{query}\t{item}\t{grade}\n" for query, item, grade in rows[:most])
        _text(folder / f"beir/qrels/{split}.tsv", "query-id\tcorpus-id\tscore\n" + lines)
    _text(
        folder / "beir/queries.jsonl",
        "".join(json.dumps({"_id": query, "text": f"about {query}"}) + "\n" for query in QUERIES),
    )
    random = Random(5)
    intents = [(query, random.randint(1, 3), item, int(grade > 0)) for query, item, grade in rows]
    _text(
        folder / "intents.txt",
        "".join(f"{query} {intent} {item} {grade}\n" for query, intent, item, grade in intents),
    )
    texts = [
        {
            "_id": query,
            "text": f"{random.choice(WORDS)} and {random.choice(WORDS)}",
            "kind": "ab"[place % 2],
            "session": place // 3,
        }
        for place, query in enumerate(QUERIES)
    ]
    _text(folder / "queries.jsonl", "".join(json.dumps(row) + "\n" for row in texts))
    _text(
        folder / "corpus.jsonl",
        "".join(
            json.dumps(
                {
                    "_id": item,
                    "title": item.upper(),
                    "text": f"{random.choice(WORDS)} {random.choice(WORDS)}",
                }
            )
            + "\n"
            for item in ITEMS[:-2]
        ),
    )


def _write_runs(folder: Path, judgments: dict[str, dict[str, int]]) -> None:
    runs = {
        "a": _run(judgments, 11, skill=0.3, levels=9),
        "b": _run(judgments, 12, skill=0.8, levels=12),
        "c": _run(judgments, 13, skill=0.0, levels=4),
        "plain": _run(judgments, 14, skill=0.5, levels=100_000),
    }
    for name, run in runs.items():
        _text(folder / f"{name}.run", trec(run, name))
    rows = [
        (query, item, score)
        for query, scores in runs["a"].items()
        for item, score in scores.items()
    ]
    _text(
        folder / "runs/a.csv",
        "query,item,score\n" + "".join(f"{query},{item},{score}\n" for query, item, score in rows),
    )
    _text(
        folder / "runs/a.tsv",
        "query\titem\tscore\n"
        + "".join(f"{query}\t{item}\t{score}\n" for query, item, score in rows),
    )
    _text(folder / "runs/a.json", json.dumps(runs["a"], ensure_ascii=False))
    lines = [
        json.dumps({"query": query, "item": item, "score": score}, ensure_ascii=False)
        for query, item, score in rows
    ]
    _text(folder / "runs/a.jsonl", "\n".join(lines) + "\n")
    ranked = {
        query: sorted(scores, key=lambda item: -scores[item]) for query, scores in runs["b"].items()
    }
    _text(
        folder / "runs/msmarco.tsv",
        "".join(
            f"{query}\t{item}\t{rank}\n"
            for query, items in ranked.items()
            for rank, item in enumerate(items, 1)
        ),
    )
    scattered = trec(runs["a"], "a").splitlines(keepends=True)
    Random(3).shuffle(scattered)
    _text(folder / "scattered.run", "".join(scattered))
    _text(folder / "doubled.run", trec(runs["a"], "a") + "q1 Q0 d1 99 0.5 a\nq1 Q0 d1 100 7 a\n")
    (folder / "a.run.gz").write_bytes(gzip.compress(trec(runs["a"], "a").encode(), mtime=0))


def trec(run: dict[str, dict[str, float]], name: str) -> str:
    """A run as TREC lines, in no order of scores; the ranks are those of the lines."""
    lines = (
        f"{query} Q0 {item} {rank} {score:g} {name}\n"
        for query, scores in run.items()
        for rank, (item, score) in enumerate(scores.items(), 1)
    )
    return "".join(lines)


def _write_trec(folder: Path, judgments: dict[str, dict[str, int]]) -> None:
    """Preferences, and judgments by several groups, as trec_eval reads them."""
    random = Random(8)
    prefs, groups = [], []
    for query in QUERIES[:8]:
        for group in range(random.randint(1, 2)):
            levels = {item: random.randrange(3) for item in judgments[query]}
            for sub in range(2):
                prefs += [
                    f"{query} g{group} s{sub} {item} {levels[item]}\n"
                    for item in random.sample(list(levels), 5)
                ]
            groups += [
                f"{query} {group + 1} {item} {random.randrange(3)}\n"
                for item in random.sample(list(levels), 6)
            ]
    _text(folder / "prefs.txt", "".join(prefs))
    _text(folder / "groups.txt", "".join(groups))
    _text(
        folder / "zscores.txt",
        "".join(f"{query} map 0.25 0.125\n{query} P_5 0.5 0.25\n" for query in QUERIES),
    )


BENCH = """\
title = "Everything"

[options]
seed = 1

[[dataset]]
name = "runs"
command = "evaluate"
qrels = "qrels.txt"
runs = "runs/bench/{system}.run"
measure = ["AP", "nDCG@10"]

[[dataset]]
name = "vectors"
command = "embeddings"
reference = "vectors/teacher.npy"
k = [1, 5]
samples = "all"
measure = "R@5"

[[dataset]]
name = "videos"
command = "crossmodal"
convention = "hgr"
qrels = "captions/positives.json"
k = [1, 5, 10]

[[dataset]]
name = "questions"
command = "qa"
gold = "answers/gold.json"
convention = "squad2"

[[dataset]]
name = "clips"
command = "keywords"
annotations = "clips/table.csv"
measure = "P@5"

[[dataset]]
name = "paintings"
command = "images"
images = "museum=images/table.csv"
query_ids = "images/queries.ids.txt"
item_ids = "images/references.ids.txt"
measure = "P@1"

[[dataset]]
name = "numbers"
command = "pairs"
targets = "vectors/pairs.csv:score"

[[system]]
name = "one"
[system.on.vectors]
candidates = "vectors/near.npy"
[system.on.videos]
scores = "captions/tied.npy"
[system.on.questions]
predictions = "answers/texts.json"
[system.on.clips]
item_vectors = "clips/vectors.npy"
[system.on.paintings]
scores = "images/scores.npy"
[system.on.numbers]
similarities = "vectors/pairs.csv:one"

[[system]]
name = "two"
title = "Second"
[system.on.vectors]
candidates = "vectors/far.npy"
[system.on.videos]
scores = "captions/other.npy"
[system.on.questions]
predictions = "answers/better.json"
[system.on.clips]
item_vectors = "clips/real.npy"
[system.on.paintings]
scores = "images/better.npy"
[system.on.numbers]
similarities = "vectors/pairs.csv:two"
"""


def _text(path: Path, content: str) -> None:
    path.write_bytes(content.encode())
