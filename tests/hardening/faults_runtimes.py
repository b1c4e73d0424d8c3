"""Code that is found where nobody named it, and libraries that end with a traceback where a
sentence would do.
"""

import sys

from hardening.cases import Case, text_files

_FILES = {
    "qrels": "q1 0 d1 1\nq2 0 d2 1\n",
    "run": "q1 Q0 d1 1 2.0 r\nq2 Q0 d3 1 1.0 r\n",
    "queries.tsv": "q1\tone\nq2\ttwo\n",
    "my_measures.py": "def first(view):\n    return view.first_rank(view.relevant(1)) == 1\n",
    "needy.py": "import helpers_of_needy\n\n\ndef first(view):\n    return "
    "view.first_rank(view.relevant(1)) == 1\n",
    "helpers_of_needy.py": "",
}
_WRITE = text_files(_FILES)
CASES: list[Case] = [
    Case(
        "a measure is named by its file",
        "evaluate qrels run -m ./my_measures.py:first -f csv",
        _WRITE,
        codes=(0,),
        shows=r"(?m)^run,first,first,0\.5,",
    ),
    Case(
        "a module of the working folder is not imported",
        "evaluate qrels run -m my_measures:first -f csv",
        _WRITE,
        shows=r"no module 'my_measures' is installed; name a file by its path, "
        r"\./my_measures\.py:first",
    ),
    Case(
        "a named file does not import its neighbours",
        "evaluate qrels run -m ./needy.py:first",
        _WRITE,
        shows="the file imports 'helpers_of_needy', which lies beside it.*install both as a "
        "package",
    ),
    Case(
        "an engine by an address that is none",
        "engine check 'http://[::1/x' --option preset=elasticsearch --option index=a",
        shows="url: Invalid IPv6 URL; expected http://HOST:PORT",
    ),
    Case(
        "results at an address of the web",
        "evaluate qrels run -o 'http://[::1'",
        _WRITE,
        shows=r"http://\[::1: results are written to this machine",
    ),
    Case(
        "a run at an address of the web",
        "evaluate qrels 'http://[::1'",
        _WRITE,
        shows=r"http://\[::1: nothing is read from the web",
    ),
    Case(
        "a run in a bucket with the name of a server",
        "evaluate qrels 's3://[::1/x'",
        _WRITE,
        shows=r"s3://\[::1 is the address of a server, not the name of a bucket; expected "
        r"s3://BUCKET/NAME",
    ),
]
if sys.platform == "linux":
    CASES.extend(
        [
            Case(
                "results in a folder whose name is not UTF-8",
                "evaluate qrels run -o b\udcff\nconvert run b\udcff.parquet\nevaluate qrels "
                "b\udcff.parquet -m RR -f csv",
                _WRITE,
                codes=(0,),
                shows=r"(?m),RR,RR,0\.5,",
                holds=("b\udcff/summary.csv", "b\udcff/per_query.parquet"),
            ),
            Case(
                "a file that the system does not read",
                "evaluate qrels /proc/self/mem",
                _WRITE,
                shows=r"rankwell: /proc/self/mem cannot be read \(Input/output error\)",
            ),
            Case(
                "a matrix that the system does not read",
                "crossmodal /proc/self/mem",
                shows=r"rankwell: /proc/self/mem cannot be read \(Input/output error\)",
            ),
        ]
    )
