"""Faults of reading: what is read is what is in the file, whatever characters it holds."""

from hardening.cases import Case, text_files

_IDS = ('"Heroes', "q2", "q3", 'Coda"', "q5")
_RUN = "".join(f"{query} Q0 d{place} 1 1.0 t\n" for place, query in enumerate(_IDS))
_FILES = {
    "qrels.tsv": "query-id\tcorpus-id\tscore\n"
    + "".join(f"{query}\td{place}\t1\n" for place, query in enumerate(_IDS)),
    "run": _RUN,
    "run.tsv": "query\titem\tscore\ttext\n"
    + "".join(f"{query}\td{place}\t1.5\tx\n" for place, query in enumerate(_IDS)),
    "run.csv": "query,item,score\nq0,d0,1.5\n"
    + "".join(f"{query},d{place},1.5\n" for place, query in enumerate(_IDS)),
    "texts.tsv": "query_id\ttext\n" + "".join(f"{query}\ta text\n" for query in _IDS),
}
_WORLD = text_files(_FILES)
_RIGHT = r"RR\s+1\.0000\s+0\.0000\s+5\b"
_HIDDEN = text_files(
    {"run.csv": '"query"\t"item"\t"score"\n"q2"\t"d1"\t1.5\n', "qrels": "q2 0 d1 1\n"}
)

QUOTATION_MARKS = [
    Case("marks in BEIR's judgments", "evaluate qrels.tsv run -m RR", _WORLD, (0,), _RIGHT),
    Case(
        "marks in a run with a column of text",
        "evaluate qrels.tsv run.tsv -m RR",
        _WORLD,
        (0,),
        _RIGHT,
    ),
    Case(
        "marks in a run between tabs called .csv",
        "python: from pathlib import Path; "
        "Path('tabs.csv').write_bytes(Path('run.tsv').read_bytes())\n"
        "evaluate qrels.tsv tabs.csv -m RR",
        _WORLD,
        (0,),
        _RIGHT,
    ),
    Case(
        "marks in query texts with a header",
        "python: from rankwell.io.formats import read_texts; "
        "print(sorted(read_texts('texts.tsv').texts))",
        _WORLD,
        (0,),
        r"\['\"Heroes', 'Coda\"', 'q2', 'q3', 'q5'\]",
    ),
    Case(
        "a mark in a CSV takes in lines",
        "evaluate qrels.tsv run.csv -m RR",
        _WORLD,
        shows=r"run\.csv:3: a quotation mark opens a field that this line does not close",
    ),
    Case(
        "names of columns in marks between tabs",
        "evaluate qrels run.csv -m RR",
        _HIDDEN,
        shows=r"run\.csv:1: .*names of columns in quotation marks, which are part of a name "
        r"between "
        r"tabs",
    ),
]
MASKS = [
    Case(
        "a masked score in a matrix",
        "python: print(rw.eval_q2m(np.ma.array(np.eye(3), mask=np.eye(3) > 0), [[0], [1], [2]]))",
        shows=r"the matrix of scores is masked in row 0, column 0 \(from 0\)",
    ),
    *(
        Case(
            f"a score of a run that is {said}",
            f"python: rw.evaluate({{'1': {{'a': 1}}}}, {{'1': {{'a': {score}, 'b': 1.0}}}})",
            shows=f"query '1', item 'a': the score is {said}; scores are finite numbers",
        )
        for score, said in (("np.ma.masked", "masked"), ("None", "None"))
    ),
    Case(
        "a masked component of a vector",
        "python: rw.knn(queries=np.ones((3, 2)), items=np.ma.array(np.ones((3, 2)), "
        "mask=np.eye(3, 2) > 0), neighbours=1)",
        shows=r"is masked in row 0, column 0 \(from 0\)",
    ),
]


def _ordered(first: str, second: str, *values: tuple[float, float]) -> str:
    rows = zip(("q1,a", "q1,c", "q2,b", "q2,d"), values, strict=True)
    return f"qid,docno,{first},{second}\n" + "".join(
        f"{names},{one},{two}\n" for names, (one, two) in rows
    )


_TWO = text_files(
    {
        "qrels": "q1 0 a 1\nq2 0 b 1\n",
        "rank.csv": _ordered("prediction", "rank", (0.9, 5), (0.1, 3), (0.8, 1), (0.2, 9)),
        "score.csv": _ordered("score", "distance", (0.9, 0.9), (0.1, 0.1), (0.8, 0.8), (0.2, 0.2)),
        "same.csv": _ordered("score", "rank", (0.9, 1), (0.1, 2), (0.2, 1), (0.2, 2)),
        "a.csv": "a,b,c\nq1,a,0.9\nq2,b,0.8\n",
    }
)
_FRAME = (
    "python: import pandas as pd; print(rw.evaluate('qrels', pd.read_csv('rank.csv'), "
    "'RR'{}).summary[0]['mean'])"
)
TWO_ORDERS = [
    Case(
        "a column prediction and an unrelated rank",
        "evaluate qrels rank.csv -m RR",
        _TWO,
        shows=r"the columns 'rank' and 'prediction' order the items of query 'q1' differently; "
        r".*--columns score=prediction",
    ),
    Case(
        "a frame with a column prediction and an unrelated rank",
        _FRAME.format(""),
        _TWO,
        shows="columns='score=prediction'",
    ),
    Case(
        "one of two orders is chosen",
        _FRAME.format(", columns='score=prediction'"),
        _TWO,
        (0,),
        "^1.0",
    ),
    Case(
        "a score and a distance that contradict",
        "evaluate qrels score.csv -m RR",
        _TWO,
        shows="the columns 'score' and 'distance' order the items of query 'q1' differently",
    ),
    Case(
        "a chosen distance is one",
        "evaluate qrels score.csv -m RR --columns score=distance",
        _TWO,
        (0,),
        r"RR +0\.5000",
    ),
    Case(
        "a score and a rank that agree", "evaluate qrels same.csv -m RR", _TWO, (0,), r"RR +0\.7500"
    ),
    Case(
        "columns of any name are chosen",
        "evaluate qrels a.csv -m RR --columns query=a,item=b,score=c",
        _TWO,
        (0,),
        r"RR +1\.0000",
    ),
]
_TOPIC = "<top>\n<num> Number: {}\n<title> bears\n<desc> Description:\nhow often?\n</top>\n"
_TEXTS = text_files(
    {
        "qrels": "301 0 d1 1\n302 0 d2 1\n",
        "run": "301 Q0 d1 1 1.5 t\n302 Q0 d2 1 1.5 t\n",
        "topics.txt": _TOPIC.format(301) + _TOPIC.format(302),
        "foreign.txt": _TOPIC.format(51),
        "empty.tsv": "301\t\n302\t\n",
    }
)
_QUERIES = (
    "python: import pyarrow.parquet as pq; print(pq.read_table('out/queries.parquet').to_pydict())"
)
TEXTS = [
    Case(
        "TREC topics as texts of queries",
        f"evaluate qrels run -m RR --queries topics.txt -o out\n{_QUERIES}",
        _TEXTS,
        (0,),
        r"'text': \['bears', 'bears'\], 'desc': \['how often\?', 'how often\?'\]",
    ),
    Case(
        "texts of other queries",
        "evaluate qrels run -m RR --queries foreign.txt",
        _TEXTS,
        shows="none of its 1 ids, such as '51', is one of the 2 judged queries, such as '301'",
    ),
    Case(
        "texts of which each is empty",
        "evaluate qrels run -m RR --queries empty.tsv",
        _TEXTS,
        shows="each of the 2 texts is empty",
    ),
]
_LINES = '{"references": ["a"], "retrieved": ["b"]}\n'
KEYS = [
    Case(
        f"JSON lines with unknown keys as {what}",
        f"evaluate {words}",
        text_files(
            {"lines.jsonl": _LINES * 2, "qrels": "q1 0 d1 1\n", "run": "q1 Q0 d1 1 1.5 t\n"}
        ),
        shows=r"JSON lines whose objects have the keys 'references', 'retrieved'; expected a query "
        r"\(query_id",
        hides="Extra data|Traceback",
    )
    for what, words in (("a run", "qrels lines.jsonl"), ("judgments", "lines.jsonl run"))
]
CASES = [*QUOTATION_MARKS, *MASKS, *TWO_ORDERS, *TEXTS, *KEYS]
