"""Faults that users of other evaluators reported, tried with the same files: empty ids, padding,
ranks, short passages.
"""

import json

from hardening.cases import Case, Write, text_files

_JUDGED = "q1 0 a 1\nq2 0 b 1\n"
_NOTHING = json.dumps({"q1": {"": 1}, "q2": {"c": 1}})
_LINES = '{"query_id": "q1", "results": [{"corpus_id": "", "score": 1.0}]}\n'


def _run(name: str, text: str) -> Write:
    return text_files({"qrels": _JUDGED, name: text})


def _ranks(*ranks: str) -> Write:
    """A run of two queries whose column `rank` has these numbers, those of the relevant items
    first.
    """
    rows = zip(("q1,a", "q1,x", "q2,b", "q2,x"), ranks * 2, strict=True)
    return _run("run.csv", "query,item,rank\n" + "".join(f"{pair},{rank}\n" for pair, rank in rows))


def _passages(passage: str, chunk: str) -> Write:
    row = {
        "user_input": "when?",
        "reference_contexts": [passage],
        "retrieved_contexts": [chunk, "rain"],
    }
    return text_files({"rows.jsonl": json.dumps(row) + "\n"})


EMPTY_IDS = [
    Case(
        "an empty id matches another",
        "evaluate judged.json run.json -m R@1",
        text_files({"judged.json": _NOTHING, "run.json": _NOTHING}),
        shows=r"judged\.json: query 'q1': an id is empty",
    ),
    Case(
        "an empty id in a list of results",
        "evaluate qrels run.json -m R@1",
        _run("run.json", '{"q1": [""], "q2": ["b"]}'),
        shows=r"run\.json: query 'q1': an id is empty",
    ),
    Case(
        "an empty id in sentence-transformers' predictions",
        "evaluate qrels run.jsonl -m R@1",
        _run("run.jsonl", _LINES),
        shows=r"run\.jsonl:1: query 'q1': an id is empty",
    ),
    Case(
        "an empty query in Python",
        "python: rw.evaluate({'': {'a': 1}}, {'': ['a']}, measures=['R@1'])",
        shows="an id is empty",
    ),
]
PADDING = [
    Case(
        "faiss' -1 is a relevant item",
        "evaluate judged.json run.json -m R@2",
        text_files(
            {
                "judged.json": '{"q1": ["a", "-1"], "q2": ["b"]}',
                "run.json": '{"q1": ["c", "-1"], "q2": ["b"]}',
            }
        ),
        (0,),
        r"the item -1 is relevant to 1 query; faiss and other indexes write it",
    )
]
RANKS = [
    Case(
        "negated ranks in a column called rank",
        "evaluate qrels run.csv -m RR",
        _ranks("-1", "-2"),
        shows=r"run\.csv: row 1, column 'rank': '-1'; expected a rank.* --columns score=rank\)",
    ),
    Case(
        "similarities in a column called rank",
        "evaluate qrels run.csv -m RR",
        _ranks("0.9", "0.2"),
        shows=r"column 'rank': '0\.9'; expected a rank",
    ),
    Case(
        "a column called rank that is chosen as the score",
        "evaluate qrels run.csv -m RR --columns score=rank",
        _ranks("0.9", "0.2"),
        (0,),
        r"RR\s+1\.0000",
    ),
    Case(
        "negated ranks in a frame",
        "python: import pandas as pd; run = pd.DataFrame({'user': 1, 'item': [1, 2], 'rank': "
        "[-1, -2]}); "
        "rw.evaluate({1: {1: 1}}, run, measures=['RR'])",
        shows=r"row 1, column 'rank': -1; expected a rank.* columns='score=rank'",
    ),
    Case(
        "negated ranks in results of an engine",
        "evaluate qrels run.json -m RR",
        _run("run.json", '{"q1": [{"id": "a", "rank": -1}, {"id": "x", "rank": -2}], "q2": ["b"]}'),
        shows=r"query 'q1', item 'a': the rank is -1",
    ),
    Case(
        "means of tied ranks",
        "evaluate qrels run.csv -m RR",
        _ranks("1.5", "1.5"),
        (0,),
        r"RR\s+0\.5000",
    ),
]
WORDS = [
    Case(
        "a passage of one word is a part of another word",
        "rag rows.jsonl rows.jsonl",
        _passages("9th", "in the 19th century"),
        (0,),
        r"ContextP@5\s+0\.0000[\s\S]*ContextR@5\s+0\.0000",
    ),
    Case(
        "a passage of one word is a word of the chunk",
        "rag rows.jsonl rows.jsonl",
        _passages("9th", "19th, not 9th."),
        (0,),
        r"ContextP@5\s+1\.0000[\s\S]*ContextR@5\s+1\.0000",
    ),
]
CASES: list[Case] = [*EMPTY_IDS, *PADDING, *RANKS, *WORDS]
