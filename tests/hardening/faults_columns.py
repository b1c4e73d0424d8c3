"""Columns without a header that were guessed by their number, and advice for two files that were
not swapped.
"""

from hardening.cases import Case, text_files

_RUN = "1 Q0 a 1 2.0 t\n1 Q0 b 2 1.0 t\n2 Q0 d 1 2.0 t\n2 Q0 e 2 1.0 t\n"
_QRELS = "1 0 a 1\n2 0 d 1\n"
_TABLE = "query-id\tcorpus-id\tscore\n1\ta\t{}\n2\td\t{}\n"
_MOVIES = "1\t61\t4\t878542420\n1\t189\t3\t888732928\n1\t33\t5\t878542699\n"
_GENERATED = (
    '{"query_id": "1", "query": "x", "positive_passages": [{"docid": "a"}], '
    '"negative_passages": []}\n'
)


def _case(
    name: str, run: str, *, codes: tuple[int, ...] = (2,), shows: str, csv: str = "", **files: str
) -> Case:
    """A case that never advises to exchange files."""
    named = {"qrels": _QRELS, "run": _RUN, "run.csv": csv, **files}
    return Case(
        name, run, text_files(named), codes, shows, hides="Traceback|exchange the two files"
    )


_TWICE = (
    "{}: 'relevance' is taken for the grade, and 'grade' is not read; if that is wrong, say "
    "so with .*grade=grade"
)
_TWO_GRADES = "query,item,grade,relevance\n1,a,0,1\n2,d,1,0\n"

TWO_COLUMNS = [
    *(
        _case(
            f"two columns of grades: {name}",
            f"evaluate {name} run -m RR",
            codes=(0,),
            shows=r"RR +0\.5000[\s\S]*" + _TWICE.format(name),
            **{name: text},
        )
        for name, text in (
            ("two.csv", _TWO_GRADES),
            ("two.tsv", _TWO_GRADES.replace(",", "\t")),
            (
                "two.jsonl",
                (
                    '{"query": "1", "item": "a", "grade": 0, "rel": 1}\n{"query": "2", "item": '
                    '"d", "grade": 1, "rel": 0}\n'
                ).replace("rel", "relevance"),
            ),
        )
    ),
    _case(
        "two columns of grades in Parquet",
        "python: import duckdb; duckdb.sql(\"COPY (FROM read_csv('two.csv')) TO "
        "'two.parquet'\")\nevaluate two.parquet run -m RR",
        codes=(0,),
        shows=_TWICE.format("two.parquet"),
        **{"two.csv": _TWO_GRADES},
    ),
    _case(
        "two columns of grades in a data frame",
        "python: import pandas; print(rw.evaluate(pandas.read_csv('two.csv', dtype={'query': "
        "str}), 'run', ['RR']).findings)",
        codes=(0,),
        shows="'relevance' is taken for the grade, and 'grade' is not read",
        **{"two.csv": _TWO_GRADES},
    ),
    _case(
        "two columns of grades, of which one is chosen",
        "evaluate two.csv run -m RR --qrels-columns grade=grade",
        codes=(0,),
        shows=r"RR +0\.5000",
        **{"two.csv": _TWO_GRADES},
    ),
    _case(
        "a grade beside a score in judgments",
        "evaluate two.csv run -m RR",
        codes=(0,),
        shows="'label' is taken for the grade, and 'score' is not read",
        **{"two.csv": "query,item,score,label\n1,a,0.5,1\n2,d,0.5,0\n"},
    ),
    _case(
        "two columns of items",
        "evaluate two.csv run -m RR",
        codes=(0,),
        shows="'doc_id' is taken for the item, and 'item' is not read; if that is wrong, say so "
        "with .*item=item",
        **{"two.csv": "query,query_id,item,doc_id,relevance\nx,1,a,k,1\nx,2,d,l,1\n"},
    ),
    _case(
        "a score beside a rating in a run",
        "evaluate qrels run.csv -m RR",
        codes=(0,),
        shows="'score' is taken for the score, and 'rating' is not read",
        csv="query,item,score,rating\n1,a,2,1\n1,b,1,2\n2,d,2,1\n",
    ),
    _case(
        "a rank beside a position in a run",
        "evaluate qrels run.csv -m RR",
        codes=(0,),
        shows="'rank' is taken for the rank, and 'position' is not read",
        csv="query,item,rank,position\n1,a,1,2\n1,b,2,1\n2,d,1,1\n",
    ),
    _case(
        "a rank beside a prediction that contradicts it, checked",
        "check qrels run.csv",
        shows="the columns 'rank' and 'prediction' order the items of query '1' differently",
        csv="query,item,rank,prediction\n1,a,1,0.2\n1,b,2,0.9\n2,d,1,0.5\n",
    ),
]
CHOSEN = [
    _case(
        "ranks with decimals in three columns",
        "evaluate qrels ranks",
        shows=r"score 1\.0 \(--columns query=1,item=2,score=3\) or as .*rank 1\.0 \(--columns "
        r"query=1,item=2,rank=3\)",
        ranks="1 a 1.0\n1 b 2.0\n2 d 1.0\n2 e 2.0\n",
    ),
    _case(
        "ranks with decimals in three columns that are called ranks",
        "evaluate qrels ranks -m RR --columns query=1,item=2,rank=3",
        codes=(0,),
        shows=r"RR +1\.0000",
        ranks="1 a 1.0\n1 b 2.0\n2 d 1.0\n2 e 2.0\n",
    ),
    *(
        _case(
            f"a chosen column that lines lack: {choice}",
            f"evaluate qrels ranks --columns query={choice},item=2,score=3",
            shows=f"there is no column '{choice}' in ranks:1: '1 a 1', which has 3; columns count "
            "from 1",
            ranks="1 a 1\n1 b 2\n2 d 1\n",
        )
        for choice in ("4", "0", "topic")
    ),
    _case(
        "a chosen column that a table lacks",
        "evaluate qrels run.csv --columns query=9",
        shows="columns count from 1: no column '9'; found are 'query', 'item', 'score'",
        csv="query,item,score\n1,a,2\n",
    ),
    *(
        _case(
            f"lines that end in carriage returns alone: {line}",
            line,
            shows="lines: its lines end in carriage returns alone; write them with line feeds",
            lines=lines.replace("\n", "\r"),
        )
        for line, lines in (
            ("evaluate qrels lines", _RUN),
            ("evaluate lines run", _QRELS),
            ("check qrels lines", "1 a 0.5\n1 b 0.25\n"),
            ("evaluate qrels run --queries lines", "1\tone\n2\ttwo\n"),
        )
    ),
]

CASES: list[Case] = [
    *TWO_COLUMNS,
    *CHOSEN,
    _case(
        "integer scores in three columns",
        "evaluate qrels scores -m RR",
        codes=(0,),
        shows=r"RR +1\.0000",
        scores="1\ta\t3\n1\tb\t2\n1\tc\t1\n2\td\t2\n2\te\t1\n",
    ),
    _case(
        "integers in three columns, in no order",
        "evaluate qrels scores -m RR",
        shows=r"score 3 \(--columns query=1,item=2,score=3\) or as .*rank 3 \(--columns "
        r"query=1,item=2,rank=3\)",
        scores="1 a 3\n1 b 1\n1 c 2\n2 d 4\n2 e 2\n2 f 1\n2 g 3\n",
    ),
    _case(
        "integers in three columns that are called scores",
        "evaluate qrels scores -m RR --columns query=1,item=2,score=3",
        codes=(0,),
        shows=r"RR +1\.0000",
        scores="1 a 3\n1 b 1\n1 c 2\n2 d 4\n2 e 2\n2 f 1\n2 g 3\n",
    ),
    _case(
        "fractional scores in three columns",
        "evaluate qrels scores -m RR",
        codes=(0,),
        shows=r"RR +0\.7500",
        scores="1 a 0.5\n1 b 0.75\n2 d 0.25\n2 e 0.125\n",
    ),
    _case(
        "lines of MovieLens as judgments",
        "evaluate ratings movies -m nDCG@2",
        shows="column 4 has 888732928, as no scale of grades; .*item '61', grade 4 "
        ".*--qrels-columns query=1,item=2,grade=3",
        ratings=_MOVIES,
        movies="1 Q0 33 1 2.0 t\n1 Q0 61 2 1.0 t\n",
    ),
    _case(
        "lines of MovieLens whose columns are chosen",
        "evaluate ratings movies -m nDCG@2 --qrels-columns query=1,item=2,grade=3",
        codes=(0,),
        shows=r"nDCG@2 +1\.0000",
        ratings=_MOVIES,
        movies="1 Q0 33 1 2.0 t\n1 Q0 61 2 1.0 t\n",
    ),
    _case(
        "a run of query, item, rank and score",
        "evaluate qrels four",
        shows=r"score 9.5 \(--columns query=1,item=2,score=4\)",
        four="1 a 1 9.5\n1 b 2 8.5\n2 d 1 3.5\n",
    ),
    _case(
        "judgments in three columns",
        "evaluate three run -m RR",
        codes=(0,),
        shows=r"RR +1\.0000",
        three="1 a 2\n1 b 0\n2 d 1\n",
    ),
    _case(
        "fractional grades below the names of BEIR",
        "evaluate table run",
        shows="the column 'score' holds other values than integers.*--qrels-columns grade=score",
        table=_TABLE.format(0.5, 1),
    ),
    _case(
        "true and false below the names of BEIR",
        "evaluate table run",
        shows="the column 'score' holds other values than integers",
        table=_TABLE.format("True", "False"),
    ),
    _case(
        "fractional grades below the names of BEIR that are chosen",
        "evaluate table run -m RR -l 0.5 --qrels-columns grade=score",
        codes=(0,),
        shows=r"RR.* +1\.0000",
        table=_TABLE.format(0.5, 1),
    ),
    _case(
        "passages of training data as judgments",
        "evaluate passages run -m P@1",
        codes=(0,),
        shows=r"P@1 +1\.000",
        passages=_GENERATED,
    ),
    _case(
        "standard input as judgments and as run",
        "python: rw.evaluate('-', '-', ['RR'])",
        shows="standard input is named for two inputs",
    ),
    _case(
        "a list without a header between commas",
        "evaluate qrels run.csv",
        shows=r"if this is query '1', item 'a', score 0.5 \(--columns "
        r"query=1,item=2,score=3\), say "
        r"so",
        csv="1,a,0.5\n1,b,0.25\n2,d,0.75\n",
    ),
    _case(
        "columns of a run as a table of a bench",
        "bench bench.toml",
        codes=(0,),
        shows=r"f +1\.000\b",
        q=_QRELS,
        f="1 a 1\n1 b 2\n2 d 1\n2 e 2\n",
        **{
            "bench.toml": '[[dataset]]\nname = "d"\ncommand = "evaluate"\nqrels = "q"\nruns = '
            '"{system}"\nmeasure = ["RR"]\n'
            'columns = { query = 1, item = 2, rank = 3 }\n[[system]]\nname = "f"\n'
        },
    ),
    _case(
        "columns of a comparison, a check and a conversion",
        "compare q f f2 --columns query=1,item=2,score=4 --qrels-columns query=1,item=2,grade=3\n"
        "check q f --columns query=1,item=2,score=4 --qrels-columns query=1,item=2,grade=3\n"
        "convert f f.run --columns query=1,item=2,score=4",
        codes=(0,),
        shows="wrote f.run",
        q="1,a,2,5\n2,d,1,5\n",
        f="1 a 1 9.5\n1 b 2 8.5\n2 d 1 3.5\n",
        f2="1 a 2 8.5\n1 b 1 9.5\n2 d 1 3.5\n",
    ),
]
