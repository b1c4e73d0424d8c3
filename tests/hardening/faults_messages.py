"""Hints that followed the runner-up among formats in place of the cause, and messages that left out
what they should name.
"""

from hardening.cases import Case, text_files

_RUN = "1 Q0 a 1 2.0 t\n1 Q0 b 2 1.0 t\n2 Q0 d 1 2.0 t\n"
_QRELS = "1 0 a 1\n2 0 d 1\n"


def _case(
    name: str,
    run: str,
    shows: str,
    *,
    hides: str = "Traceback",
    codes: tuple[int, ...] = (2,),
    more: dict[str, str] | None = None,
    **files: str,
) -> Case:
    """A case with judgments `qrels`, a run `run` and further files, `a.csv` as `a_csv`."""
    named = {key.replace("_", "."): text for key, text in files.items()}
    written = {"qrels": _QRELS, "run": _RUN, **named, **(more or {})}
    return Case(name, run, text_files(written), codes, shows, hides)


EXCHANGED = [
    *(
        _case(
            f"judgments and a run exchanged: {command}",
            command,
            "run:1: '1 Q0 a 1 2.0 t': this looks like a run .*expected judgments, which come before"
            " runs, and qrels has some; exchange the two files",
        )
        for command in ("evaluate run qrels", "check run qrels")
    ),
    *(
        _case(
            f"a file in a wrong place, and nothing exchanged: {command}",
            command,
            "name another file",
            hides="exchange the two",
        )
        for command in (
            "evaluate run run",
            "evaluate qrels qrels",
            "fuse run qrels -o fused.run",
            "beyond qrels",
        )
    ),
]
KEYS = [
    *(
        _case(
            f"JSON lines with unknown keys: {keys}, {command}",
            command,
            rf"no column for the .*found are {keys}; rename one, or name it by",
            records_jsonl=text,
        )
        for command in ("evaluate qrels records.jsonl", "evaluate records.jsonl run")
        for keys, text in (
            ("'traceId', 'spans'", '{"traceId":"x","spans":[{"name":"a"}]}\n' * 2),
            ("'query', 'references'", '{"query":"q","references":["a"]}\n' * 2),
            ("'id', 'files'", '{"id":"1","files":["a","b"]}\n' * 2),
        )
    ),
    *(
        _case(
            f"records with unknown keys: {command}",
            command,
            r"t.jsonl:1: (id|list) is missing, found are 'traceId', 'spans'; expected",
            t_jsonl='{"traceId":"x","spans":[{"name":"a"}]}\n' * 2,
        )
        for command in ("rag t.jsonl run", "rag citations t.jsonl", "clicks credit t.jsonl run")
    ),
    _case(
        "texts in JSON lines with unknown keys",
        "evaluate qrels run --queries records.jsonl",
        "no column for the id .* and the text .*found are 'traceId', 'spans'",
        records_jsonl='{"traceId":"x","spans":[{"name":"a"}]}\n' * 2,
    ),
    *(
        _case(
            f"a table without a header: {command}",
            command,
            f"table.csv:1: 'q1,The text': the first line of this table names no column of {words}; "
            f"write a header such as {header} above it, {advice}",
            table_csv="q1,The text\nq2,Other text\n",
        )
        for command, words, header, advice in (
            (
                "evaluate qrels table.csv",
                "a run",
                "query,item,score",
                "correct .*, or .* --columns q",
            ),
            (
                "evaluate table.csv run",
                "judgments",
                "query,item,grade",
                "correct .* --qrels-columns q",
            ),
            (
                "evaluate qrels run --queries table.csv",
                "texts",
                "id,text",
                r"or correct the one that is there\.",
            ),
        )
    ),
]
_TWICE = {
    "run.csv": "query,item,score\n1,a,3\n1,a,2\n2,d,2\n",
    "run.json": '{"1": {"a": 3, "a": 2}, "2": {"d": 1}}',
    "run.txt": "1 Q0 a 1 3 t\n1 Q0 a 2 2 t\n2 Q0 d 1 2 t\n",
}
OPTIONS = [
    *(
        _case(
            f"an item twice in {name}: {command}",
            f"{command} {name}",
            "twice, .*; keep one of them, or choose --duplicates first\\."
            if has_option
            else "twice, .*; keep one of them\\.$",
            more={name: text},
        )
        for name, text in _TWICE.items()
        for command, has_option in (
            ("evaluate qrels", True),
            ("fuse -o fused.run run", True),
            ("compare qrels run", True),
        )
    ),
    *(
        _case(
            f"the option that a message names, {name}",
            f"evaluate qrels {name} --duplicates first",
            "nDCG@10 +1.0000",
            codes=(0,),
            more={name: text},
        )
        for name, text in _TWICE.items()
    ),
    _case(
        "a key twice in JSON, checked",
        "check qrels run.json",
        "error: run: 1 query lists an item twice",
        codes=(1,),
        run_json=_TWICE["run.json"],
    ),
    *(
        _case(
            f"an item twice in judgments, {name}",
            f"evaluate {name} run",
            "twice, .*; keep one of them\\.$",
            more={name: text},
        )
        for name, text in (
            ("twice.json", '{"1": {"a": 1, "a": 0}, "2": {"d": 1}}'),
            ("twice.csv", "user_id,item_id,rating\n1,a,1\n1,a,1\n2,d,1\n"),
        )
    ),
    *(
        _case(
            f"columns where no option chooses them: {text.split()[0]}",
            "python: import numpy; numpy.save('scores.npy', numpy.eye(2))\n"
            "crossmodal scores.npy --qrels positives.csv",
            advice,
            hides="--qrels-columns|Traceback",
            positives_csv=text,
        )
        for text, advice in (
            ("1,0,a,1\n2,0,b,1\n", "if this is .* grade 1, name the columns in a first line"),
            ("query-id\tcorpus-id\tscore\n1\ta\t0.5\n", "if it is right, rename it 'grade'"),
            ("query,item,gain\n1,a,1\n", "no column for the grade .*; rename one"),
        )
    ),
]
NAMED = [
    _case(
        "an engine of vectors without any",
        "python: import pytest; pytest.importorskip('faiss')\n"
        "engine run faiss --documents texts.jsonl --queries texts.jsonl",
        r"give the items' vectors \(--item-vectors\)",
        texts_jsonl='{"id": "a", "text": "x"}\n',
    ),
    _case(
        "texts of clips without vectors",
        "python: import numpy; numpy.savez('v.npz', ids=['c'], vectors=numpy.eye(1))\n"
        "keywords --annotations a.csv --keyword-groups sky"
        " --item-vectors v.npz --queries q.csv",
        r"name them \(--query-vectors\), or an encoder \(--text-encoder\)",
        a_csv="clip,sky\nc,sun\n",
        q_csv="text,keywords\na sunny day,sun\n",
    ),
]
_PADDED = "indexes write it in place of an item where they find too few; leave it out"
CAUSES = [
    *(
        _case(
            f"a row without a neighbour twice in {name}",
            f"evaluate qrels {name}",
            _PADDED,
            more={name: text},
        )
        for name, text in (
            ("padded.run", "1 Q0 a 1 3 t\n1 Q0 -1 2 -1 t\n1 Q0 -1 3 -1 t\n"),
            ("padded.json", '{"1": ["a", -1, -1], "2": ["d", -1, -1]}'),
        )
    ),
    *(
        _case(
            f"a comment: {command}",
            command,
            "'# a comment' is a comment, .*remove the line",
            c_run=f"# a comment\n{_RUN}",
            c_qrels=f"# a comment\n{_QRELS}",
        )
        for command in ("evaluate qrels c.run", "evaluate c.qrels run -c trec_eval10")
    ),
    _case(
        "blanks in every tag",
        "evaluate qrels t.run",
        "spaces in its tag",
        t_run=_RUN.replace(" t\n", " my tag\n"),
    ),
    _case(
        "blanks in a tag",
        "evaluate qrels t.run",
        "t.run:4: 7 fields .*a tag is one word",
        t_run=f"{_RUN}2 Q0 e 2 1.0 my tag\n",
    ),
    _case(
        "a run below its name in JSON",
        "evaluate qrels named.json",
        "expected {query: {item: number}} or .* of one run, without its name",
        named_json='{"bm25": {"1": {"a": 1}}}',
    ),
    _case(
        "negative grades alone",
        "evaluate n.qrels run",
        r"\(the highest is -1\)",
        codes=(2,),
        n_qrels="1 0 a -1\n1 0 b -2\n2 0 d -1\n",
    ),
    _case(
        "query ids that look alike",
        "evaluate n.qrels n.run",
        r"if Unicode normal forms were ignored \('caf\\xe91' in the judgments, 'cafe\\u03011' in "
        r"the run\).*`rankwell explain query-ids-in-two-notations`",
        codes=(4,),
        n_qrels="caf\u00e91 0 a 1\n",
        n_run="cafe\u03011 Q0 a 1 3 t\n",
    ),
    _case(
        "JSON lines between carriage returns",
        "evaluate qrels r.jsonl",
        "its lines end in carriage returns alone",
        r_jsonl='{"query":"1","item":"a","score":3}\r{"query":"2","item":"d","score":3}\r',
    ),
    _case(
        "an id above 2**64 in JSON lines",
        "evaluate b.qrels b.jsonl",
        r"nDCG@10 +1\.0000",
        codes=(0,),
        b_qrels="1 0 36893488147419103233 1\n",
        b_jsonl='{"query":1,"item":36893488147419103233,"score":3}\n'
        '{"query":1,"item":3,"score":2}\n',
    ),
]
_QUESTIONS = "".join(
    f'{{"id": "{name}", "question": "which? {name}", "answers": ["{answer}"]}}\n'
    for name, answer in (("q1", "Cannes"), ("q2", "Nice"), ("q7", "Lyon"))
)
_PREDICTIONS = '{"q1": ["Cannes", "Cannes and Monaco"], "q2": ["Nice"], "q7": null}'
_LISTS = (
    '{"list": "1", "query": "1", "method": "team-draft", "runs": ["a", "b"], "items": ["x", "y"], '
    '"teams": [1, 0]}\n'
)
_ROWS = (
    "python: from collections import namedtuple as n; Q = n('Q', 'query_id doc_id relevance'); "
    "S = n('S', 'query_id doc_id score'); qrels = [Q('1', 'a', 1), Q('2', 'd', 1)]; "
    "run = [S('1', 'b', 2.0), S('1', 'a', 1.0), S('2', 'd', 1.0)]; "
)
WORKS = [
    _case(
        "lists of answers and null as predictions",
        "qa gold.jsonl answers.json -c squad2",
        r"exact .* 66\.67",
        codes=(0,),
        gold_jsonl=_QUESTIONS,
        answers_json=_PREDICTIONS,
    ),
    _case(
        "lists of answers and None as predictions in Python",
        f"python: p = dict({_PREDICTIONS.replace('null', 'None')}); "
        "print(rw.evaluate_qa('gold.jsonl', p, convention='squad2')['exact'])",
        r"66\.6",
        codes=(0,),
        gold_jsonl=_QUESTIONS,
    ),
    _case(
        "named tuples as of ir_measures",
        f"{_ROWS} print(rw.evaluate(qrels, run, 'RR')['RR'])",
        r"0\.75",
        codes=(0,),
    ),
    _case(
        "iterators of named tuples, and a run by name",
        f"{_ROWS} print(rw.evaluate(iter(qrels), {{'mine': run}}, 'RR')['RR'], "
        "rw.evaluate(qrels, iter(run), 'RR')['RR'])",
        r"0\.75 0\.75",
        codes=(0,),
    ),
    _case(
        "rows that are mappings, one without an id",
        "python: rw.evaluate([{'query_id': '1', 'doc_id': None, 'relevance': 1}], 'run', 'RR')",
        "row 1, column 'doc_id': nothing; expected an id",
        hides="^(?!.*BadInput)",
    ),
    _case(
        "a measure of ir_measures",
        "python: M = type('M', (), {'NAME': 'nDCG', 'params': {}, '__str__': lambda _: 'nDCG@10', "
        "'__call__': None}); print(rw.evaluate('qrels', 'run', M())['nDCG@10'], "
        "rw.evaluate('qrels', 'run', [M()])['nDCG@10'])",
        r"1\.0 1\.0",
        codes=(0,),
    ),
    _case(
        "clicks of users on interleaved lists",
        "clicks credit lists.jsonl clicks.tsv",
        "no interval below 10 impressions .here 1.",
        codes=(0,),
        lists_jsonl=_LISTS,
        clicks_tsv="user_id\titem_id\n1\tx\n",
    ),
    _case(
        "titles as texts",
        "evaluate qrels run --queries t.csv -o out\nreport out",
        "out/report.html",
        codes=(0,),
        t_csv="id,title,year\n1,first,1990\n2,second,1991\n",
    ),
    *(
        _case(
            f"purchases as judgments: {command}",
            command,
            "bought.csv: no column holds grades, so each row counts as 1",
            codes=(0,),
            bought_csv="user_id,item_id\n1,a\n1,c\n2,d\n",
        )
        for command in ("evaluate bought.csv run", "check bought.csv run")
    ),
    _case(
        "a data frame of purchases as judgments",
        "python: import pandas; f = pandas.read_csv('bought.csv', dtype=str); "
        "print(rw.evaluate(f, 'run', 'RR')['RR'])",
        r"1\.0",
        codes=(0,),
        bought_csv="user_id,item_id\n1,a\n1,c\n2,d\n",
    ),
    _case(
        "judgments with another column and no grade",
        "evaluate bought.csv run",
        "no column for the grade .*found are 'user_id', 'item_id', 'stars'",
        bought_csv="user_id,item_id,stars\n1,a,2\n",
    ),
]
_IMAGES = {
    f"{folder}/{side}/{label}/{name}.jpg": f"{folder}{side}{label}{name}"
    for folder, name in (("first", "wall"), ("second", "door"))
    for side in ("references", "queries")
    for label in ("x", "y")
}
PATTERNS = [
    Case(
        "a pattern that one of two data sets lacks",
        "images stats first second --contentless-images '*wall*'",
        text_files(_IMAGES),
        (0,),
        r"second: --contentless-images '\*wall\*' matches no image, such as",
    ),
    Case(
        "a pattern that all data sets lack",
        "images stats first second --contentless-images '*none*'",
        text_files(_IMAGES),
        (2,),
        r"first: --contentless-images '\*none\*' matches no image, such as",
    ),
    _case(
        "positives in an array, written as its message says",
        "python: import json, numpy; from pathlib import Path; numpy.save('scores.npy', "
        "numpy.eye(3)); array = numpy.arange(3); "
        "Path('p.json').write_text(json.dumps([numpy.ravel(each).tolist() for each in array]))\n"
        "crossmodal scores.npy --qrels p.json -f csv -m R@1",
        r"R@1,.*100",
        codes=(0,),
    ),
]
_ONE = {
    "other.run": "9 Q0 a 1 2.0 t\n",
    "one.qrels": "1 0 a 1\n",
    "one.run": "1 Q0 a 1 2.0 t\n",
    "two.run": "1 Q0 b 1 2.0 t\n",
}
_SEVERAL = r"\b1 (queries|items|rows|sessions|judged queries)\b|1 to 1 "
PLURALS = [
    _case(f"one query: {command}", command, "", hides=_SEVERAL, codes=(0, 1, 4), more=_ONE)
    for command in (
        "evaluate one.qrels one.run two.run",
        "check one.qrels one.run",
        "compare one.qrels one.run two.run",
        "fuse one.run two.run -o fused.run",
        "beyond one.run",
        "evaluate qrels one.run",
        "evaluate one.qrels run",
        "evaluate one.qrels other.run",
        "clicks interleave one.run two.run -o lists.jsonl",
    )
]
CASES: list[Case] = [*EXCHANGED, *KEYS, *OPTIONS, *NAMED, *CAUSES, *WORKS, *PATTERNS, *PLURALS]
