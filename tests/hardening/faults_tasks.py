"""Cases of tasks with rules of their own: contexts by their texts, keywords, and score matrices."""

import json
import pickle
from importlib import import_module
from pathlib import Path

import numpy as np

from hardening.cases import Case, Write, text_files

_FILLER = "It is warm inside, and there is a cloakroom for coats on the left. "


def _ragas(name: str, gold: str, chunk: str) -> Write:
    row = {"user_input": "When?", "retrieved_contexts": [chunk], "reference_contexts": [gold]}
    return text_files({name: json.dumps(row) + "\n"})


def _needing_rapidfuzz(write: Write) -> Write:
    """What writes the files of a case that is skipped where the package of edit distances is
    missing.
    """

    def _write(folder: Path) -> None:
        import_module("rapidfuzz")
        write(folder)

    return _write


RAG = [
    Case(
        "chunks that hold the gold passage have the recall 0",
        "rag rows.jsonl rows.jsonl -m ContextR",
        _ragas(
            "rows.jsonl", "The museum opens at ten.", f"{_FILLER}The museum opens at ten. {_FILLER}"
        ),
        codes=(0,),
        shows=r"(?m)^ContextR +1\.0000",
    ),
    Case(
        "an edit distance of chunks twice as long as the gold passage is not explained",
        "rag rows.jsonl rows.jsonl -c ragas",
        _needing_rapidfuzz(
            _ragas(
                "rows.jsonl",
                "The museum opens at ten.",
                f"{_FILLER}The museum opens at ten. {_FILLER}",
            )
        ),
        codes=(0,),
        shows="6.6 times as long as the gold passages.*compare whole texts",
    ),
    Case(
        "a gold passage without a letter is taken",
        "rag rows.jsonl rows.jsonl -m ContextR(similarity='words')",
        _ragas("rows.jsonl", " ", "It opens at ten."),
        shows=r"rows\.jsonl:1: gold passage 1 of question '0' has no text; leave it out",
    ),
]
CAPTIONS = [
    Case(
        "a query without positives in a gallery smaller than K is a miss, unlike in eval_q2m",
        "crossmodal scores.csv --qrels p.json --direction t2v -k 5 -c hgr -v",
        text_files({"scores.csv": "3.0,1.0,2.0\n1.0,2.0,3.0\n", "p.json": "[[0], []]"}),
        codes=(0,),
        shows=r"R@5 +Success@5 +t2v +percent +100\.00[\s\S]*1 query without positives counts as a "
        r"hit in R@5",
    ),
    Case(
        "queries of which none has a positive have no ranks, unlike in eval_q2m",
        "crossmodal scores.csv --qrels p.json --direction t2v -k 1,5 -c hgr -v",
        text_files({"scores.csv": "3.0,1.0,2.0\n1.0,2.0,3.0\n", "p.json": "[[], []]"}),
        codes=(0,),
        shows=r"R@1 +Success@1 +t2v +percent +0\.00[\s\S]*R@5 +Success@5 +t2v +percent "
        r"+100\.00[\s\S]*none of the queries has a",
    ),
]
_ROADS = {
    "clips.csv": "slice_id,scene_type,object_type\na,highway,large vehicle\nb,highway,car\n",
    "q.csv": "id,text\nq,highway without any large vehicle\n",
    "run": "q Q0 a 1 2 t\nq Q0 b 2 1 t\n",
}
CLIPS = [
    Case(
        "a clip with a negated keyword is a full match",
        "keywords --annotations clips.csv --queries q.csv --run run -m P@1 -k 1",
        text_files(_ROADS),
        codes=(0,),
        shows=r"P@1 +mapped +0\.0000",
    ),
    Case(
        "a negated keyword is no row of a mapping",
        "keywords map 'highway without any large vehicle' --annotations clips.csv",
        text_files(_ROADS),
        codes=(0,),
        shows=r"large vehicle +excluded +object_type +large vehicle",
    ),
]
_QAS = [
    {"id": "q1", "question": "?", "answers": [], "is_impossible": True},
    {
        "id": "q2",
        "question": "?!",
        "answers": [{"text": "b", "answer_start": 2}],
        "is_impossible": False,
    },
]
ANSWERS = [
    Case(
        "an answer of a blank is none to the official rule of best thresholds, unlike in "
        "evaluate-v2.0.py",
        "qa gold.json texts.json -c own.toml --na-probs na.json -f json",
        text_files(
            {
                "gold.json": json.dumps(
                    {
                        "version": "v2.0",
                        "data": [{"paragraphs": [{"context": "a b c", "qas": _QAS}]}],
                    }
                ),
                "texts.json": '{"q1": " ", "q2": "b"}',
                "na.json": '{"q1": 0.0, "q2": 0.5}',
                "own.toml": 'base = "squad2"\n[tasks.qa]\nna_ties = "official"\n',
            }
        ),
        codes=(0,),
        shows=r'"label": "best_exact", "mean": 50\.0,',
    ),
    Case(
        "answers whose ranks and scores say two orders are ordered by rank without a word",
        "qa gold.json ranked.csv -c squad2",
        text_files(
            {
                "gold.json": json.dumps(
                    {
                        "version": "v2.0",
                        "data": [{"paragraphs": [{"context": "a b c", "qas": _QAS}]}],
                    }
                ),
                "ranked.csv": "id,text,rank,score\nq2,a,1,0.1\nq2,b,2,0.9\n",
            }
        ),
        codes=(0,),
        shows="the scores of 1 question do not fall with their ranks; the ranks order the answers",
    ),
]


def _saved(name: str) -> Write:
    """Scores, and positives as Python or NumPy saves them."""

    def _write(folder: Path) -> None:
        np.save(folder / "scores.npy", np.eye(2))
        positives = [[0], [1]]
        if name.endswith("npy"):
            np.save(folder / name, np.array(positives))
        else:
            (folder / name).write_bytes(pickle.dumps(positives))

    return _write


POSITIVES = [
    Case(
        f"positives in {name} lead from one message to another",
        f"crossmodal scores.npy --qrels {name}",
        _saved(name),
        shows=rf"{name}: a {what}.*a JSON list with the items of each row, json\.dump",
    )
    for name, what in (("p.pkl", "Python pickle"), ("p.npy", "NumPy array"))
]
_POOL = "1 Q0 a 1 2 t\n1 Q0 b 2 1 t\n"
OPTIONS = [
    Case(
        "a format of judgments where none are given",
        "beyond run --qrels-format trec -m ILS",
        text_files({"run": _POOL}),
        shows="--qrels-format trec has no effect without --qrels; give it, or leave this out",
    ),
    Case(
        "judge pool keeps the notes on its runs",
        "judge pool a.csv b.run --queries texts.csv --documents documents.csv -o out -m P@1",
        text_files(
            {
                "a.csv": "query,item,distance\n1,a,1\n1,b,2\n",
                "b.run": "1 Q0 b 1 2 t\n1 Q0 a 2 1 t\n",
                "texts.csv": "id,text\n1,one\n",
                "documents.csv": "id,text\na,x\nb,y\n",
            }
        ),
        codes=(0,),
        shows="a.csv: 'distance' is a distance: the smallest ranks first",
    ),
]
CASES = [*OPTIONS, *RAG, *CAPTIONS, *CLIPS, *ANSWERS, *POSITIVES]
