"""Measures of rankwell stand beside those of ir_measures in a table of `pt.Experiment`."""

import json
import sys
from importlib.metadata import version

import pandas as pd
import pyterrier as pt
from ir_measures import RR, nDCG

import rankwell as rw
from rankwell.integrations.ir_measures import measure

qrels = {"q1": {"a": 1, "b": 2}, "q2": {"c": 1}, "q3": {"d": 1}}
run = {"q1": {"b": 3.0, "x": 2.0, "a": 1.0}, "q2": {"x": 2.0, "c": 1.0}}
topics = pd.DataFrame({"qid": list(qrels), "query": ["some words"] * 3})
judged = pd.DataFrame(
    [(query, item, grade) for query, own in qrels.items() for item, grade in own.items()],
    columns=["qid", "docno", "label"],
)
rows = [
    (query, item, score, place)
    for query, own in run.items()
    for place, (item, score) in enumerate(own.items())
]
lists = pd.DataFrame(rows, columns=["qid", "docno", "score", "rank"])
system = (
    pt.Transformer.from_df(lists)
    if hasattr(pt.Transformer, "from_df")
    else pt.transformer.get_transformer(lists)
)

ours = ["RR", "nDCG@10", "RBP(p=0.5)"]
table = pt.Experiment(
    [system], topics, judged, [*map(measure, ours), RR, nDCG @ 10], names=["bm25"]
)
result = rw.evaluate(qrels, run, ours)
figures = {
    name: round(float(table[name].iloc[0] if table[name].ndim == 1 else table[name].iloc[0, 0]), 12)
    for name in ours
}
packages = {name: version(name) for name in ("pyterrier", "ir-measures")}
sys.stdout.write(
    json.dumps(
        {
            "packages": packages,
            "figures": figures,
            "expected": {name: round(result[name], 12) for name in ours},
        },
        sort_keys=True,
    )
    + "\n"
)
