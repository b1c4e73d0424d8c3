"""Columns without a header that were guessed by their number, and advice for two files that were not swapped."""

from hardening.cases import Case, text_files

_RUN = "1 Q0 a 1 2.0 t\n1 Q0 b 2 1.0 t\n2 Q0 d 1 2.0 t\n2 Q0 e 2 1.0 t\n"
_QRELS = "1 0 a 1\n2 0 d 1\n"
_TABLE = "query-id\tcorpus-id\tscore\n1\ta\t{}\n2\td\t{}\n"
_MOVIES = "1\t61\t4\t878542420\n1\t189\t3\t888732928\n1\t33\t5\t878542699\n"
_GENERATED = '{"query_id": "1", "query": "x", "positive_passages": [{"docid": "a"}], "negative_passages": []}\n'


def _case(name: str, run: str, before: str, *, codes: tuple[int, ...] = (2,), shows: str, csv: str = "", **files: str) -> Case:
    """A case that never advises to exchange files."""
    named = {"qrels": _QRELS, "run": _RUN, "run.csv": csv, **files}
    return Case(name, run, text_files(named), codes, shows, hides="Traceback|exchange the two files", before=before)


CASES: list[Case] = [
    _case(
        "integer scores in three columns",
        "evaluate qrels scores -m RR",
        "RR 0.4167, exit 0",
        codes=(0,),
        shows=r"RR +1\.0000",
        scores="1\ta\t3\n1\tb\t2\n1\tc\t1\n2\td\t2\n2\te\t1\n",
    ),
    _case(
        "integers in three columns, in no order",
        "evaluate qrels scores -m RR",
        "RR 0.2917, exit 0",
        shows=r"score 3 \(--columns query=1,item=2,score=3\) or as .*rank 3 \(--columns query=1,item=2,rank=3\)",
        scores="1 a 3\n1 b 1\n1 c 2\n2 d 4\n2 e 2\n2 f 1\n2 g 3\n",
    ),
    _case(
        "integers in three columns that are called scores",
        "evaluate qrels scores -m RR --columns query=1,item=2,score=3",
        "there is no option --columns",
        codes=(0,),
        shows=r"RR +1\.0000",
        scores="1 a 3\n1 b 1\n1 c 2\n2 d 4\n2 e 2\n2 f 1\n2 g 3\n",
    ),
    _case(
        "fractional scores in three columns",
        "evaluate qrels scores -m RR",
        "the third of three columns is not a rank, exit 2",
        codes=(0,),
        shows=r"RR +0\.7500",
        scores="1 a 0.5\n1 b 0.75\n2 d 0.25\n2 e 0.125\n",
    ),
    _case(
        "lines of MovieLens as judgments",
        "evaluate ratings movies -m nDCG@2",
        "nDCG@2 0.0000 over items 3, 4 and 5, exit 0",
        shows="column 4 has 888732928, as no scale of grades; .*item '61', grade 4 .*--qrels-columns query=1,item=2,grade=3",
        ratings=_MOVIES,
        movies="1 Q0 33 1 2.0 t\n1 Q0 61 2 1.0 t\n",
    ),
    _case(
        "lines of MovieLens whose columns are chosen",
        "evaluate ratings movies -m nDCG@2 --qrels-columns query=1,item=2,grade=3",
        "there is no option --qrels-columns",
        codes=(0,),
        shows=r"nDCG@2 +1\.0000",
        ratings=_MOVIES,
        movies="1 Q0 33 1 2.0 t\n1 Q0 61 2 1.0 t\n",
    ),
    _case(
        "a run of query, item, rank and score",
        "evaluate qrels four",
        "this looks like judgments (trec); exchange the two files, exit 2",
        shows=r"score 9.5 \(--columns query=1,item=2,score=4\)",
        four="1 a 1 9.5\n1 b 2 8.5\n2 d 1 3.5\n",
    ),
    _case(
        "judgments in three columns",
        "evaluate three run -m RR",
        "a qrels line has 4 fields, exit 2",
        codes=(0,),
        shows=r"RR +1\.0000",
        three="1 a 2\n1 b 0\n2 d 1\n",
    ),
    _case(
        "fractional grades below the names of BEIR",
        "evaluate table run",
        "this looks like a run (tsv); exchange the two files, exit 2",
        shows="the column 'score' holds other values than integers.*--qrels-columns grade=score",
        table=_TABLE.format(0.5, 1),
    ),
    _case(
        "true and false below the names of BEIR",
        "evaluate table run",
        "this looks like a run (tsv); exchange the two files, exit 2",
        shows="the column 'score' holds other values than integers",
        table=_TABLE.format("True", "False"),
    ),
    _case(
        "fractional grades below the names of BEIR that are chosen",
        "evaluate table run -m RR -l 0.5 --qrels-columns grade=score",
        "there is no option --qrels-columns",
        codes=(0,),
        shows=r"RR.* +1\.0000",
        table=_TABLE.format(0.5, 1),
    ),
    _case(
        "passages of training data as judgments",
        "evaluate passages run",
        "exchange the two files, exit 2",
        shows="expected judgments; name another file",
        passages=_GENERATED,
    ),
    _case(
        "standard input as judgments and as run",
        "python: rw.evaluate('-', '-', ['RR'])",
        "exchange the two files, exit 2",
        shows="standard input is named for two inputs",
    ),
    _case(
        "a list without a header between commas",
        "evaluate qrels run.csv",
        "known are … csv, exit 2",
        shows=r"if this is query '1', item 'a', score 0.5 \(--columns query=1,item=2,score=3\), say so",
        csv="1,a,0.5\n1,b,0.25\n2,d,0.75\n",
    ),
    _case(
        "columns of a run as a table of a bench",
        "bench bench.toml",
        "columns is ['query=1', 'item=2', 'rank=3']; expected one value, exit 2",
        codes=(0,),
        shows=r"f +1\.0000",
        q=_QRELS,
        f="1 a 1\n1 b 2\n2 d 1\n2 e 2\n",
        **{
            "bench.toml": '[[dataset]]\nname = "d"\ncommand = "evaluate"\nqrels = "q"\nruns = "{system}"\nmeasure = ["RR"]\n'
            'columns = { query = 1, item = 2, rank = 3 }\n[[system]]\nname = "f"\n'
        },
    ),
    _case(
        "columns of a comparison, a check and a conversion",
        "compare q f f2 --columns query=1,item=2,score=4 --qrels-columns query=1,item=2,grade=3\n"
        "check q f --columns query=1,item=2,score=4 --qrels-columns query=1,item=2,grade=3\n"
        "convert f f.run --columns query=1,item=2,score=4",
        "there is no option --columns",
        codes=(0,),
        shows="wrote f.run",
        q="1,a,2,5\n2,d,1,5\n",
        f="1 a 1 9.5\n1 b 2 8.5\n2 d 1 3.5\n",
        f2="1 a 2 8.5\n1 b 1 9.5\n2 d 1 3.5\n",
    ),
]
