"""Faults of reading: what is read is what is in the file, whatever characters it holds."""

from hardening.cases import Case, text_files

_IDS = ('"Heroes', "q2", "q3", 'Coda"', "q5")
_RUN = "".join(f"{query} Q0 d{place} 1 1.0 t\n" for place, query in enumerate(_IDS))
_FILES = {
    "qrels.tsv": "query-id\tcorpus-id\tscore\n" + "".join(f"{query}\td{place}\t1\n" for place, query in enumerate(_IDS)),
    "run": _RUN,
    "run.tsv": "query\titem\tscore\ttext\n" + "".join(f"{query}\td{place}\t1.5\tx\n" for place, query in enumerate(_IDS)),
    "run.csv": "query,item,score\nq0,d0,1.5\n" + "".join(f"{query},d{place},1.5\n" for place, query in enumerate(_IDS)),
    "texts.tsv": "query_id\ttext\n" + "".join(f"{query}\ta text\n" for query in _IDS),
}
_WORLD = text_files(_FILES)
_RIGHT = r"RR\s+1\.0000\s+0\.0000\s+5\b"
_HIDDEN = text_files({"run.csv": '"query"\t"item"\t"score"\n"q2"\t"d1"\t1.5\n', "qrels": "q2 0 d1 1\n"})

QUOTATION_MARKS = [
    Case("marks in BEIR's judgments", "evaluate qrels.tsv run -m RR", _WORLD, (0,), _RIGHT, before="RR 0.5 over 2, exit 0"),
    Case(
        "marks in a run with a column of text", "evaluate qrels.tsv run.tsv -m RR", _WORLD, (0,), _RIGHT, before="RR 0.5 over 2"
    ),
    Case(
        "marks in a run between tabs called .csv",
        "python: from pathlib import Path; Path('tabs.csv').write_bytes(Path('run.tsv').read_bytes())\n"
        "evaluate qrels.tsv tabs.csv -m RR",
        _WORLD,
        (0,),
        _RIGHT,
        before="RR 0.5 over 2",
    ),
    Case(
        "marks in query texts with a header",
        "python: from rankwell.io.files import read_texts; print(sorted(read_texts('texts.tsv').texts))",
        _WORLD,
        (0,),
        r"\['\"Heroes', 'Coda\"', 'q2', 'q3', 'q5'\]",
        before="two of five texts",
    ),
    Case(
        "a mark in a CSV takes in lines",
        "evaluate qrels.tsv run.csv -m RR",
        _WORLD,
        shows=r"run\.csv:3: a quotation mark opens a field that this line does not close",
        before="RR over 2, exit 0",
    ),
    Case(
        "names of columns in marks between tabs",
        "evaluate qrels run.csv -m RR",
        _HIDDEN,
        shows=r"run\.csv:1: .*names of columns in quotation marks, which are part of a name between tabs",
        before="RR, exit 0",
    ),
]
MASKS = [
    Case(
        "a masked score in a matrix",
        "python: print(rw.eval_q2m(np.ma.array(np.eye(3), mask=np.eye(3) > 0), [[0], [1], [2]]))",
        shows=r"the matrix of scores is masked in row 0, column 0 \(from 0\)",
        before="(0.0, 100.0, 100.0, 4.0, 4.0) of 3 items",
    ),
    Case(
        "a masked component of a vector",
        "python: rw.search(np.ones((3, 2)), np.ma.array(np.ones((3, 2)), mask=np.eye(3, 2) > 0), k=1)",
        shows=r"is masked in row 0, column 0 \(from 0\)",
        before="three neighbours, the mask ignored",
    ),
]
CASES = [*QUOTATION_MARKS, *MASKS]
