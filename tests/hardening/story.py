"""Cases of what users met with files of every kind: their own files replaced, mistakes passed over,
inputs as they hold them.
"""

import json
from importlib import import_module
from pathlib import Path

from hardening.cases import HOSTILE, Case, Write, text_files

QUERIES = [str(number) for number in range(1, 21)]
_LETTERS = "abcdefgh"


def _world(
    run: str = "{query} Q0 d{query}{letter} {rank} {score} t", query: str = "{number}", **more: str
) -> Write:
    """Judgments of 20 queries, a run that finds the relevant items first, its lines by a pattern,
    and more files.
    """
    judged = [
        (number, letter, grade)
        for number in QUERIES
        for letter, grade in (("a", 2), ("b", 1), ("h", 0))
    ]
    found = [(number, place, letter) for number in QUERIES for place, letter in enumerate(_LETTERS)]
    lines = [
        run.format(
            query=query.format(number=number), letter=letter, rank=place + 1, score=9.5 - place
        )
        for number, place, letter in found
    ]
    qrels = "".join(f"{number} 0 d{number}{letter} {grade}\n" for number, letter, grade in judged)
    return text_files({"qrels": qrels, "run": "".join(f"{line}\n" for line in lines), **more})


def _squad() -> str:
    answered = {
        "id": "q1",
        "question": "?",
        "answers": [{"text": "b", "answer_start": 2}],
        "is_impossible": False,
    }
    impossible = {"id": "q2", "question": "?", "answers": [], "is_impossible": True}
    gold = {
        "version": "v2.0",
        "data": [
            {"title": "t", "paragraphs": [{"context": "a b c", "qas": [answered, impossible]}]}
        ],
    }
    return json.dumps(gold)


_BEIR = {
    "beir/qrels/test.tsv": "query-id\tcorpus-id\tscore\n"
    + "".join(f"{number}\td{number}a\t1\n" for number in QUERIES)
}
_OTHER_SPLIT = {"beir/qrels/dev.tsv": _BEIR["beir/qrels/test.tsv"]}
_SIMILAR = "query_id,doc_id,similarity_score\n" + "".join(
    f"{number},d{number}a,0.5\n" for number in QUERIES
)
_EASY = "query,doc,easy,hard\n1,d1a,1,0\n"
KEPT = [
    Case(
        "convert replaces a file",
        "convert run kept.csv",
        _world(**{"kept.csv": "mine"}),
        shows="exists",
    ),
    Case(
        "fuse replaces a file",
        "fuse run run2 -o kept.run",
        _world(**{"kept.run": "mine", "run2": "1 Q0 d1a 1 2 t\n"}),
        shows="exists",
    ),
    Case(
        "a link that leads to no file is followed",
        "python: from pathlib import Path; "
        "Path('kept.csv').symlink_to('elsewhere.csv')\nconvert run kept.csv",
        _world(),
        shows="is a link to",
    ),
    Case(
        "evaluate -o fills someone's folder",
        "evaluate qrels run -o mine",
        _world(**{"mine/notes.txt": "mine"}),
        shows="mine holds files",
        holds=("mine/notes.txt",),
    ),
    Case(
        "evaluate -o replaces someone's summary.csv",
        "evaluate qrels run -o mine",
        _world(**{"mine/summary.csv": "mine"}),
    ),
    Case(
        "report replaces someone's page",
        "evaluate qrels run -m AP -o out\nreport out -o kept.html",
        _world(**{"kept.html": "<p>mine</p>"}),
    ),
]
MISTAKES = [
    Case(
        "ranks and scores are swapped",
        "evaluate qrels run -m RR",
        _world("{query} Q0 d{query}{letter} {score} {rank} t"),
        codes=(0, 2),
        shows="swapped",
    ),
    Case(
        "scores are distances",
        "evaluate qrels run -m RR",
        _world("{query} Q0 d{query}{letter} {rank} -{score} t"),
        codes=(0,),
        shows="Are they distances",
    ),
    Case(
        "most queries are missing",
        "evaluate qrels run -m RR",
        text_files(
            {
                "qrels": "".join(f"{number} 0 d{number}a 1\n" for number in QUERIES),
                "run": "1 Q0 d1a 1 2 t\n2 Q0 d2a 1 2 t\n",
            }
        ),
        codes=(0,),
        shows="2 of the 20 judged queries",
    ),
    Case(
        "ids of queries are padded with zeros",
        "evaluate qrels run -m RR",
        _world(query="000{number}"),
        codes=(4,),
        shows="leading zeros",
    ),
    Case(
        "check passes an item listed twice",
        "check qrels run",
        _world(run="{query} Q0 d{query}a {rank} {score} t"),
        codes=(1,),
    ),
]
VERDICTS = [
    Case(
        "a measure that is neither better nor worse is tested",
        "compare qrels run run2 -m RR -m Judged@2 --verbose",
        _world(run2="1 Q0 d1a 1 2 t\n2 Q0 x 1 2 t\n"),
        codes=(0,),
        shows="Judged@2: .* not tested",
    )
]
INPUTS = [
    Case(
        "lists of ids in Python",
        "python: print(rw.evaluate({'q': ['d1', 'd2']}, {'mine': {'q': ['d2', 'd3']}}, "
        "['RR']).summary)",
        codes=(0,),
        shows="RR       1.0000   –  1",
    ),
    Case(
        "a function in the list of measures",
        "python: rw.evaluate({'q': {'d1': 1}}, {'mine': {'q': {'d1': 1.0}}}, [lambda view: "
        "view.above])",
        codes=(0, 2),
    ),
    Case(
        "a BEIR folder as judgments",
        "evaluate beir run -m RR",
        _world(**_BEIR),
        codes=(0,),
        shows="1.0000",
    ),
    Case(
        "MS MARCO's collection as texts",
        "encode collection.tsv --encoder tfidf-svd:2 --fit collection.tsv -o out.npy",
        text_files({"collection.tsv": "1\tcat dog\n2\tcat cow\n3\tdog cow\n4\tcow pig\n"}),
        codes=(0,),
        holds=("out.npy",),
    ),
    Case(
        "two runs without judgments",
        "embeddings --reference run run2",
        _world(run2="1 Q0 d1a 1 2 t\n"),
        codes=(0,),
        shows="Overlap@10",
    ),
    Case(
        "texts that answer SQuAD 2.0",
        "qa gold.json texts.json -c squad2",
        text_files({"gold.json": _squad(), "texts.json": '{"q1": "the b", "q2": ""}'}),
        codes=(0,),
        shows="convention=squad2",
    ),
    Case(
        "a measure that fails",
        "evaluate qrels run -m ./mine.py:fails",
        _world(**{"mine.py": "def fails(view):\n    raise KeyError('z')\n"}),
        shows="the measure fails failed: KeyError: 'z'",
    ),
    Case(
        "a BEIR folder without the split",
        "check beir run",
        _world(**_OTHER_SPLIT),
        shows="name one as beir:dev",
    ),
    Case(
        "a BEIR folder compared",
        "compare beir:dev run run2",
        _world(run2="1 Q0 d1a 1 2 t\n", **_OTHER_SPLIT),
        codes=(0,),
    ),
    Case(
        "a score called similarity_score",
        "evaluate qrels run.csv -m RR",
        _world(**{"run.csv": _SIMILAR}),
        codes=(0,),
        shows="RR",
    ),
    Case(
        "a column of grades by another name",
        "evaluate g.csv run",
        _world(**{"g.csv": _EASY}),
        shows="--qrels-columns grade=",
    ),
    Case(
        "a result by its measure",
        "python: print(rw.evaluate({'q': {'d': 1}}, {'r': {'q': {'d': 1.0}}}, ['RR'])['RR'])",
        codes=(0,),
        shows="1.0",
    ),
]
_FEW = {
    "few": "".join(f"{number} 0 d{number} 1\n" for number in range(1, 33)),
    "good.run": "".join(
        f"{number} Q0 {'d' if number <= 25 else 'x'}{number} 1 2.0 t\n" for number in range(1, 33)
    ),
    "bad.run": "".join(
        f"{number} Q0 x{number} 1 2.0 t\n{number} Q0 y{number} 2 1.0 t\n" for number in range(1, 33)
    ),
}
"""Judgments of 32 queries, a run that finds 25 items, 0.78125 of them, and one that finds none."""

_TERMINAL = """
import os, pty, shlex, subprocess, sys, termios


def shown(line, columns):
    here, there = pty.openpty()
    termios.tcsetwinsize(there, (40, columns))
    environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"} | {"TERM": "dumb", "NO_COLOR": "1"}
    child = subprocess.Popen([sys.executable, "-m", *shlex.split(line)], stdout=there, stderr=there, env=environment)
    os.close(there)
    while True:
        try:
            part = os.read(here, 65536)
        except OSError:
            return child.wait()
        os.write(1, part.replace(b"\\r\\n", b"\\n"))
"""  # noqa: E501
_AT_80 = "python: exec(open('terminal.py').read()); shown('rankwell {}', 80)"
_TOO_WIDE = r"(?m)^[^\n]{81,}$|Traceback"
ONE_NUMBER = [
    Case(
        "a difference has other decimals in the sentence than in the table",
        "compare few bad.run good.run -m P@1 --baseline good --digits 4",
        text_files(_FEW),
        codes=(0,),
        shows=r"-0\.7812 P@1[\s\S]*-0\.7812",
    )
]
TABLES = [
    Case(
        f"{line.split()[0]} is wider than a terminal of 80 columns",
        _AT_80.format(line),
        text_files({**_FEW, "terminal.py": _TERMINAL}),
        codes=(0,),
        shows=heading,
        hides=_TOO_WIDE,
    )
    for line, heading in (
        ("compare few bad.run good.run -m P@1 -m RR", r"difference \(95% CI\) +p +win/tie/loss\n"),
        ("explain", r"(?m)^measure +\S.*$"),
        ("check few good.run bad.run", r"(?m)^No errors, \d+ warnings\.$"),
    )
]
PAGES = [
    Case(
        "a fusion that gains nothing is passed over",
        "fuse good.run bad.run -o fused.run --tune few",
        text_files(_FEW),
        codes=(0,),
        shows="fused does not beat its best input, good",
        holds=("fused.run",),
    ),
    Case(
        "the table of systems has no themes and no sorting",
        "bench b.toml -o out\npython: print(open('out/table.html').read())",
        text_files(
            {
                **_FEW,
                "b.toml": "[[dataset]]\nname = 'd'\ncommand = 'evaluate'\nqrels = 'few'\nruns = "
                "'{system}.run'\n"
                "measure = ['RR']\n"
                "[[system]]\nname = 'good'\n[[system]]\nname = 'bad'\n",
            }
        ),
        codes=(0,),
        shows=r"aria-sort[\s\S]*prefers-color-scheme|prefers-color-scheme[\s\S]*aria-sort",
    ),
]
SEEN = {"one number": ONE_NUMBER, "tables that fit": TABLES, "the page": PAGES}
_FAULTS = [
    import_module(f"hardening.{path.stem}")
    for path in sorted(Path(__file__).parent.glob("faults_*.py"))
]
FAULTS = {
    f"faults of {module.__name__.partition('faults_')[2]}": module.CASES for module in _FAULTS
}
CASES = {
    **HOSTILE,
    "their own files": KEPT,
    "mistakes": MISTAKES,
    "one verdict": VERDICTS,
    "inputs as held": INPUTS,
    **SEEN,
    **FAULTS,
}
"""All cases by section."""
