"""Faults of files: other results replaced, bombs that grow in one line, drafts taken for inputs."""

import gzip
from pathlib import Path

from hardening.cases import Case, text_files

_FILES = {
    "qrels": "q1 0 d1 1\nq2 0 d3 1\n",
    "a.run": "q1 Q0 d1 1 2.0 r\nq2 Q0 d3 1 1.0 r\n",
    "b.run": "q1 Q0 d9 1 2.0 r\nq2 Q0 d3 1 1.0 r\n",
}
_WIDE = ",".join(f"c{number}" for number in range(100_000))


def _one_line(folder: Path) -> None:
    text_files(_FILES)(folder)
    (folder / "line.gz").write_bytes(gzip.compress(b"q1 Q0 d1 1 2.0 " + b"r" * 200_000_000 + b"\n", 6))


def _wide(folder: Path) -> None:
    row = ",".join(["1"] * 100_000)
    text_files({**_FILES, "wide.csv": f"query,item,score,{_WIDE}\nq1,d1,1.0,{row}\n"})(folder)


_SHELL = (
    "import os, subprocess, sys; r = subprocess.run({0!r}, shell=True, env={{**os.environ, "
    "'R': sys.executable + ' -m rankwell'}}, capture_output=True, text=True); print(r.stdout, r.stderr, 'exit', r.returncode)"
)
CASES = [
    Case(
        "evaluate -o replaces the results of another run",
        "evaluate qrels a.run -m RR -o out\nevaluate qrels b.run -m RR -o out",
        text_files(_FILES),
        shows=r"out holds other results \(input a: .*a\.run there, none now\); name another folder, or --overwrite",
        before="a.run's tables were gone, exit 0",
    ),
    Case(
        "evaluate -o replaces results of other settings",
        "evaluate qrels a.run -m RR -o out\nevaluate qrels a.run -m AP -o out",
        text_files(_FILES),
        shows=r"out holds other results \(measures: RR there, AP now\)",
        before="the values of RR were gone, exit 0",
    ),
    Case(
        "the same command replaces its results, whatever its inputs hold now",
        "evaluate qrels a.run -m RR -o out\npython: import shutil; shutil.copy('b.run', 'a.run')\n"
        "evaluate qrels a.run -m RR -o out",
        text_files(_FILES),
        codes=(0,),
        shows=r"RR +0\.5000",
        before="RR 0.5000, exit 0",
    ),
    Case(
        "--overwrite replaces other results",
        "evaluate qrels a.run -m RR -o out\nevaluate qrels b.run -m RR -o out --overwrite",
        text_files(_FILES),
        codes=(0,),
        shows=r"RR +0\.5000",
        before="RR 0.5000, exit 0",
    ),
    *(
        Case(
            f"-o {scheme}:// makes a folder of that name",
            f"evaluate qrels a.run -m RR -o {scheme}://u:SECRA/SECRB@SECRC@host/d",
            text_files(_FILES),
            shows=rf"{scheme}://…@host/d: results are written to this machine; name a place here",
            hides="SECR|Traceback",
            before=f"a folder {scheme}:/u:SECRA/SECRB@SECRC@host/d, exit 0",
        )
        for scheme in ("postgresql", "ray")
    ),
    *(
        Case(
            f"{command} shows a part of a password", command, text_files(_FILES), hides="SECR|Traceback", before=f"{said}, exit 2"
        )
        for command, said in (
            ("convert a.run s3://AKIA:SECRA/SECRB@SECRC@bucket", "'SECRB@SECRC@bucket' names no format"),
            ("report 's3://b/x?sig=SECRA/SECRB@SECRC'", "SECRA/SECRB@SECRC is not a folder"),
            ("explain s3://AKIA:SECRA/SECRB@bucket/x.run", "unknown measure 's3://AKIA:SECRA/SECRB'"),
        )
    ),
    Case(
        "results of another run on standard input are replaced",
        "\n".join(f"python: {_SHELL.format(f'$R evaluate qrels - -m RR -o out < {run}')}" for run in ("a.run", "a.run", "b.run")),
        text_files(_FILES),
        codes=(0,),
        shows=r"out holds other results \(input stdin: sha256:\w+ there, sha256:\w+ now\)[\s\S]*exit 2",
        before="the values of a.run were gone, exit 0",
    ),
    Case(
        "results of other objects are replaced",
        "python: [rw.evaluate({'q': {'d': 1}}, {'q': r}, 'RR').save('out', charts=False) for r in (['d'], ['d'], ['e', 'd'])]",
        shows=r"out holds results of other objects \(per_query\.parquet has other values\).*pass overwrite=True",
        before="the values of the first were gone, exit 0",
    ),
    Case(
        "a report goes when the same command gives the same results",
        "evaluate qrels a.run -m RR -o out\nreport out\nevaluate qrels a.run -m RR -o out",
        text_files(_FILES),
        codes=(0,),
        holds=("out/report.html",),
        hides="removed|Traceback",
        before="report.html was gone without a word, exit 0",
    ),
    Case(
        "a report of earlier results goes without a word",
        "evaluate qrels a.run -m RR -o out\nreport out\npython: import shutil; shutil.copy('b.run', 'a.run')\n"
        f"python: {_SHELL.format('$R evaluate qrels a.run -m RR -o out')}",
        text_files(_FILES),
        codes=(0,),
        shows=r"report\.html showed the earlier results, and is removed; `rankwell report` writes it again",
        before="report.html was gone without a word, exit 0",
    ),
    Case(
        "save replaces results of other measures",
        "python: [rw.evaluate({'q': {'d': 1}}, {'r': {'q': ['d']}}, name).save('out', charts=False) for name in 'RR AP'.split()]",
        codes=(2,),
        shows="out holds other results .*pass overwrite=True",
        before="the values of RR were gone, exit 0",
    ),
    Case(
        "report of answers -k 1",
        "demo answers -o demo\nanswers demo/questions.json demo/answers.jsonl -k 1 -o out\nreport out",
        codes=(0,),
        holds=("out/report.html",),
        before="run 'answers' has AnswerAccuracy… more than once, exit 2",
    ),
    Case(
        "compare of answers -k 1",
        "demo answers -o demo\nanswers demo/questions.json demo/answers.jsonl -k 1 -o out\ncompare one=out two=out",
        codes=(0,),
        hides="more than once|Traceback",
        before="run 'answers' has AnswerAccuracy… more than once, exit 2",
    ),
    Case(
        "200 KB of gzip that are one line of 200 MB",
        "evaluate qrels line.gz",
        _one_line,
        shows="194440 compressed bytes unpack to more than 200 times as many and 32 MiB",
        seconds=5,
        mib=400,
        before="nDCG@10 1.0000 after 6 s and 800 MB, exit 0",
    ),
    Case(
        "a table of 100,000 columns",
        "evaluate qrels wide.csv",
        _wide,
        shows="wide.csv: 100003 columns; at most 10000 are read",
        before="RR 0.5000 after 39 s and 900 MB, exit 0",
    ),
    Case(
        "a draft is a run",
        "evaluate qrels .a.run.0123abcd-4194303.abcd_123",
        text_files({**_FILES, ".a.run.0123abcd-4194303.abcd_123": "q1 Q0 d1 1 2.0 r\n"}),
        shows="is a draft of rankwell, unfinished or left by a killed process",
        before="RR 0.5000 of the half that was there, exit 0",
    ),
]
