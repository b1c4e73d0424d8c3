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
    (folder / "line.gz").write_bytes(
        gzip.compress(b"q1 Q0 d1 1 2.0 " + b"r" * 200_000_000 + b"\n", 6)
    )


def _wide(folder: Path) -> None:
    row = ",".join(["1"] * 100_000)
    files = {
        "wide.csv": f"query,item,score,{_WIDE}\nq1,d1,1.0,{row}\n",
        "clips_wide.csv": f"clip,pv_objects,x,{_WIDE}\na,car,1,{row}\n",
    }
    lines = {
        "wide.txt": f"q1 d1 {row}\n".replace(",", " "),
        "wide.tsv": f"q1\td1\t{row}\n".replace(",", "\t"),
    }
    objects = {
        "clips_wide.jsonl": '{"clip": "a", "pv_objects": "car", "x": 1, '
        + _WIDE.replace(",", '": 1, "').join(('"', '": 1}\n'))
    }
    text_files({**_FILES, **files, **lines, **objects})(folder)


def _wide_parquet(folder: Path) -> None:
    import pyarrow
    import pyarrow.parquet

    text_files(_FILES)(folder)
    columns = {"query": ["q1"], "item": ["d1"], "score": [1.0], "pv_objects": ["car"]}
    table = pyarrow.table({**columns, **{key: [1] for key in _WIDE.split(",")}})
    pyarrow.parquet.write_table(table, folder / "wide.parquet")


def _parquet_bombs(folder: Path) -> None:
    import duckdb

    text_files(_FILES)(folder)
    long = "repeat('q', 200) AS query, repeat('d', 200) AS item, 1.0 AS score"
    many = "'q' AS query, 'd' AS item, NULL::DOUBLE AS score"
    for name, columns, rows in (("long", long, 2_000_000), ("many", many, 5_000_000)):
        path = folder / f"{name}.parquet"
        duckdb.sql(
            f"COPY (SELECT {columns} FROM range({rows})) TO '{path}' (FORMAT parquet, "
            "COMPRESSION zstd)"
        )


def _real_parquet(folder: Path) -> None:
    """Rows of long ids in dictionaries: 39 MB of text in a tenth of the bytes or less."""
    import duckdb

    text_files(_FILES)(folder)
    ids = (
        "repeat('query', 12) || range // 1000 AS query, repeat('item', 15) || hash(range) % 20000 "
        "AS item"
    )
    rows = f"SELECT {ids}, hash(range) / 1e19 AS score FROM range(300000)"
    path = folder / "real.parquet"
    unique = f"SELECT query, item, max(score) AS score FROM ({rows}) GROUP BY ALL"
    duckdb.sql(
        f"COPY ({unique} UNION ALL SELECT 'q1', 'd1', 1.0 ORDER BY ALL) TO '{path}' (FORMAT "
        "parquet, COMPRESSION zstd)"
    )


_SHELL = (
    "import os, subprocess, sys; r = subprocess.run({0!r}, shell=True, env={{**os.environ, "
    "'R': sys.executable + ' -m rankwell'}}, capture_output=True, text=True); print(r.stdout, "
    "r.stderr, 'exit', r.returncode)"
)
CASES = [
    Case(
        "evaluate -o replaces the results of another run",
        "evaluate qrels a.run -m RR -o out\nevaluate qrels b.run -m RR -o out",
        text_files(_FILES),
        shows=r"out holds other results \(input a: .*a\.run there, none now\); name another "
        r"folder, "
        r"or --overwrite",
    ),
    Case(
        "evaluate -o replaces results of other settings",
        "evaluate qrels a.run -m RR -o out\nevaluate qrels a.run -m AP -o out",
        text_files(_FILES),
        shows=r"out holds other results \(measures: RR there, AP now\)",
    ),
    Case(
        "the same command replaces its results, whatever its inputs hold now",
        "evaluate qrels a.run -m RR -o out\npython: import shutil; shutil.copy('b.run', 'a.run')\n"
        "evaluate qrels a.run -m RR -o out",
        text_files(_FILES),
        codes=(0,),
        shows=r"RR +0\.5000",
    ),
    Case(
        "--overwrite replaces other results",
        "evaluate qrels a.run -m RR -o out\nevaluate qrels b.run -m RR -o out --overwrite",
        text_files(_FILES),
        codes=(0,),
        shows=r"RR +0\.5000",
    ),
    *(
        Case(
            f"-o {scheme}:// makes a folder of that name",
            f"evaluate qrels a.run -m RR -o {scheme}://u:SECRA/SECRB@SECRC@host/d",
            text_files(_FILES),
            shows=rf"{scheme}://…@host/d: results are written to this machine; name a place here",
            hides="SECR|Traceback",
        )
        for scheme in ("postgresql", "ray")
    ),
    *(
        Case(
            f"{command} shows a part of a password",
            command,
            text_files(_FILES),
            hides="SECR|Traceback",
        )
        for command in (
            "convert a.run s3://AKIA:SECRA/SECRB@SECRC@bucket",
            "report 's3://b/x?sig=SECRA/SECRB@SECRC'",
            "explain s3://AKIA:SECRA/SECRB@bucket/x.run",
        )
    ),
    Case(
        "results of another run on standard input are replaced",
        "\n".join(
            f"python: {_SHELL.format(f'$R evaluate qrels - -m RR -o out < {run}')}"
            for run in ("a.run", "a.run", "b.run")
        ),
        text_files(_FILES),
        codes=(0,),
        shows=r"out holds other results \(input stdin: sha256:\w+ there, sha256:\w+ "
        r"now\)[\s\S]*exit 2",
    ),
    Case(
        "results of other objects are replaced",
        "python: [rw.evaluate({'q': {'d': 1}}, {'q': r}, 'RR').save('out', charts=False) for "
        "r in (['d'], ['d'], ['e', 'd'])]",
        shows=r"out holds results of other objects \(per_query\.parquet has other values\).*pass "
        r"overwrite=True",
    ),
    Case(
        "results of other engines of Python are replaced",
        "python: [rw.evaluate_engine(lambda query, k, r=r: r, {'q': 'x'}, qrels={'q': {'d': 1}}, "
        "rounds=1).save('out', charts=False) for r in (['d'], ['d'], ['e', 'd'])]",
        shows=r"out holds results of other objects \(details\.parquet has other values\).*pass "
        r"overwrite=True",
    ),
    Case(
        "a report goes when the same command gives the same results",
        "evaluate qrels a.run -m RR -o out\nreport out\nevaluate qrels a.run -m RR -o out",
        text_files(_FILES),
        codes=(0,),
        holds=("out/report.html",),
        hides="removed|Traceback",
    ),
    Case(
        "a report of earlier results goes without a word",
        "evaluate qrels a.run -m RR -o out\nreport out\npython: import shutil; "
        "shutil.copy('b.run', 'a.run')\n"
        f"python: {_SHELL.format('$R evaluate qrels a.run -m RR -o out')}",
        text_files(_FILES),
        codes=(0,),
        shows=r"report\.html showed the earlier results, and is removed; `rankwell report` writes "
        r"it again",
    ),
    Case(
        "save replaces results of other measures",
        "python: [rw.evaluate({'q': {'d': 1}}, {'r': {'q': ['d']}}, name).save('out', "
        "charts=False) for name in 'RR AP'.split()]",
        codes=(2,),
        shows="out holds other results .*pass overwrite=True",
    ),
    Case(
        "report of answers -k 1",
        "demo qa -o demo\nqa demo/questions.json demo/answers.jsonl -k 1 -o out\nreport out",
        codes=(0,),
        holds=("out/report.html",),
    ),
    Case(
        "compare of answers -k 1",
        "demo qa -o demo\nqa demo/questions.json demo/answers.jsonl -k 1 -o "
        "out\ncompare one=out two=out",
        codes=(0,),
        hides="more than once|Traceback",
    ),
    Case(
        "200 KB of gzip that are one line of 200 MB",
        "evaluate qrels line.gz",
        _one_line,
        shows="194440 compressed bytes unpack to more than 200 times as many and 32 MiB",
        seconds=5,
        mib=400,
    ),
    Case(
        "a table of 100,000 columns",
        "evaluate qrels wide.csv",
        _wide,
        shows="wide.csv: 100003 columns; at most 10000 are read",
    ),
    *(
        Case(
            f"100,000 columns: {line}",
            line,
            _wide_parquet if line.endswith("parquet") else _wide,
            shows=r"wide\.\w+: 10000[234] columns; at most 10000 are read",
            seconds=10,
        )
        for line in (
            "evaluate qrels wide.txt",
            "evaluate wide.tsv a.run",
            "evaluate qrels wide.parquet",
            "keywords check clips_wide.csv",
            "keywords check clips_wide.jsonl",
            "keywords check wide.parquet",
        )
    ),
    *(
        Case(
            f"a bomb in Parquet: {line}",
            line,
            _parquet_bombs,
            shows=f"{line.split()[-1]}: [0-9]+ compressed bytes unpack to more than 200 times .* "
            "write it as CSV",
            seconds=20,
            mib=700,
        )
        for line in (
            "evaluate qrels long.parquet",
            "evaluate qrels many.parquet",
            "keywords check long.parquet",
        )
    ),
    Case(
        "a large run in Parquet whose ids are in dictionaries",
        "evaluate qrels real.parquet -m RR",
        _real_parquet,
        codes=(0,),
        shows=r"RR +0\.5000",
    ),
    Case(
        "a draft is a run",
        "evaluate qrels .a.run.0123abcd-4194303.abcd_123",
        text_files({**_FILES, ".a.run.0123abcd-4194303.abcd_123": "q1 Q0 d1 1 2.0 r\n"}),
        shows="is a draft of rankwell, unfinished or left by a killed process",
    ),
]
