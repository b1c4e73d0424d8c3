"""A run and judgments go to ranx and back, and both packages measure them alike."""

import json
import random
import sys
from importlib.metadata import version

import ranx

import rankwell as rw
from rankwell.integrations.ranx import to_qrels, to_run

rng = random.Random(4)
qrels = {
    f"q{number}": {f"d{item}": rng.randint(1, 3) for item in rng.sample(range(30), 5)}
    for number in range(20)
}
run = {query: {f"d{item}": rng.random() for item in rng.sample(range(30), 12)} for query in qrels}

theirs_run, theirs_qrels = to_run(run, name="bm25"), to_qrels(qrels)
assert (
    rw.read_ranking(theirs_run).to_dict() == rw.read_ranking(run).to_dict()
    or {query: dict(scored) for query, scored in rw.read_ranking(theirs_run).to_dict().items()}
    == run
)
assert rw.read_judgments(theirs_qrels).to_dict() == {
    query: {item: float(grade) for item, grade in own.items()} for query, own in qrels.items()
}
words = ["ndcg@10", "map", "mrr", "recall@5"]
found = ranx.evaluate(theirs_qrels, theirs_run, words)
result = rw.evaluate(theirs_qrels, theirs_run, words, convention="ranx")
rounded = [{word: round(float(table[word]), 12) for word in words} for table in (found, result)]
sys.stdout.write(
    json.dumps(
        {"packages": {"ranx": version("ranx")}, "figures": rounded[0], "expected": rounded[1]},
        sort_keys=True,
    )
    + "\n"
)
