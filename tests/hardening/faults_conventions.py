"""Cases of the conventions of ranking tools, where judgments are not as a tool's own tests have
them.
"""

from hardening.cases import Case, text_files

_RUN = "7 Q0 7 1 3 t\n7 Q0 9 2 2 t\n7 Q0 5 3 1 t\n8 Q0 5 1 2 t\n8 Q0 3 2 1 t\n"
_OWN = text_files({"qrels": "7 0 7 1\n7 0 9 1\n8 0 3 1\n", "run": _RUN})
_INTENTS = text_files({"qrels": "7 1 9 1\n7 2 4 1\n8 1 3 1\n8 2 5 1\n", "run": _RUN})
_NEGATIVE = text_files({"qrels": "q 0 D1 -1\nq 0 D2 1\n", "run": "q Q0 D1 1 2 t\nq Q0 D2 2 1 t\n"})
_ZSCORES = text_files(
    {"qrels": "q1 0 a 1\n", "run": "q1 Q0 a 1 1 t\n", "zscores": "q1 map nan nan\nq1 P_5 0.1 0.1\n"}
)
_MEASURED = r"nDCG@10 +0\.6220[\s\S]*AP +0\.5000[\s\S]*R@10 +0\.7500"
_MEASURES = "-m nDCG@10 -m AP -m R@10"

_GRADED = text_files(
    {
        "qrels": "q1 0 a 3\nq1 0 b 1\nq1 0 c 1\n",
        "one": "q1 Q0 b 1 3 t\nq1 Q0 c 2 2 t\n",
        "two": "q1 Q0 a 1 3 t\nq1 Q0 x 2 2 t\n",
    }
)
_GRADED_TEN = text_files(
    {
        "qrels": "".join(f"q{n} 0 a 3\nq{n} 0 b 1\nq{n} 0 c 1\n" for n in range(12)),
        "one": "".join(f"q{n} Q0 b 1 3 t\nq{n} Q0 c 2 2 t\n" for n in range(12)),
        "two": "".join(f"q{n} Q0 a 1 3 t\nq{n} Q0 x 2 2 t\n" for n in range(12)),
    }
)
_NOTHING_RELEVANT = text_files(
    {"qrels": "1 0 a 1\n2 0 b 0\n", "run": "1 Q0 a 1 1 t\n2 Q0 b 1 1 t\n"}
)

CASES: list[Case] = [
    Case(
        "BEIR's convention drops the judgment of a query's own id",
        f"evaluate qrels run -c beir {_MEASURES}",
        _OWN,
        codes=(0,),
        shows=_MEASURED,
    ),
    Case(
        "--exclude-self drops the judgment of a query's own id",
        f"evaluate qrels run --exclude-self {_MEASURES}",
        _OWN,
        codes=(0,),
        shows=_MEASURED,
    ),
    Case(
        "--exclude-self with a measure of intents",
        "evaluate qrels run --exclude-self -m StRecall@1",
        _INTENTS,
        codes=(0,),
        shows=r"StRecall@1 +0\.5000",
    ),
    *(
        Case(
            f"{options} drops an item with a negative grade",
            f"evaluate qrels run {options}",
            _NEGATIVE,
            codes=(0,),
            shows=rf"@1 +{value}",
        )
        for options, value in (
            ("-m P@1 --unjudged skip", "0.0000"),
            ("-m 'P(judged_only=True)@1'", "0.0000"),
            ("-m Judged@1", "1.0000"),
            ("-m P@1 --unjudged skip -c trec_eval9", "1.0000"),
        )
    ),
    Case(
        "trec_eval's statistics hold nan",
        "trec-eval -q -m map -m P.5 -Z zscores qrels run",
        _ZSCORES,
        codes=(0,),
        shows=r"Zmap +\tq1\t   nan\nZP_5 +\tq1\t1\.0000",
    ),
    Case(
        "binary and graded nDCG have different winners",
        "evaluate qrels one two -c st -m ndcg@10",
        _GRADED,
        codes=(0,),
        shows="ndcg@10 treats the grades 1 to 3 alike: one leads; two leads by nDCG@10",
    ),
    *(
        Case(
            f"binary and graded nDCG have different winners, in a {command} of folders",
            "evaluate qrels one -c st -m ndcg@10 -o a\nevaluate qrels two -c st -m ndcg@10 "
            f"-o b\n{line}",
            _GRADED_TEN,
            codes=codes,
            shows="ndcg@10 treats the grades 1 to 3 alike: (one|a) leads; two leads by nDCG@10",
        )
        for command, line, codes in (
            ("comparison", "compare a b", (0,)),
            ("gate", "gate b --baseline a", (1,)),
        )
    ),
    Case(
        "a gate offers no measure by the name that its results have",
        "evaluate qrels one -c st -m ndcg@10 -o a\nevaluate qrels two -c st -m ndcg@10 -o "
        "b\ngate b --baseline a -m nDCG@10",
        _GRADED_TEN,
        shows=r"no measure 'nDCG@10' in these results; did you mean 'ndcg@10'\?",
    ),
    Case(
        "MTEB's convention leaves out a query without a relevant item",
        "evaluate qrels run -c mteb -m ndcg_at_10",
        _NOTHING_RELEVANT,
        codes=(0,),
        shows=r"ndcg_at_10 +nDCG@10 +0\.5000",
    ),
]
