"""Files of public reports about other evaluators: another encoding, constant differences."""

from pathlib import Path

from hardening.cases import Case, text_files

_QUERIES = range(1, 13)
_CONSTANT = {
    "qrels": "".join(f"{query} 0 a 1\n" for query in _QUERIES),
    "first": "".join(f"{query} Q0 a 1 2 r\n{query} Q0 b 2 1 r\n" for query in _QUERIES),
    "second": "".join(f"{query} Q0 b 1 2 r\n{query} Q0 a 2 1 r\n" for query in _QUERIES),
}


def _latin_1(folder: Path) -> None:
    (folder / "qrels").write_bytes("1 0 été 1\n2 0 b 1\n".encode("latin-1"))
    (folder / "run").write_text("1 Q0 été 1 2 r\n1 Q0 z 2 1 r\n2 Q0 b 1 2 r\n", encoding="utf-8")


CASES = [
    Case(
        "judgments in Latin-1 and a run in UTF-8",
        "evaluate qrels run -m RR",
        _latin_1,
        codes=(2,),
        shows=r"1 more judged item would be found if encodings \(Latin-1 for UTF-8\) .* RR "
        r"would be "
        r"1.0000 in place of 0.5000",
    ),
    Case(
        "a run whose UTF-8 was read as Latin-1",
        "evaluate qrels run -m RR",
        text_files(
            {
                "qrels": "1 0 été 1\n2 0 b 1\n",
                "run": "1 Q0 Ã©tÃ© 1 2 r\n1 Q0 z 2 1 r\n2 Q0 b 1 2 r\n",
            }
        ),
        codes=(2,),
        shows=r"1 more judged item would be found if encodings \(Latin-1 for UTF-8\) .* RR "
        r"would be "
        r"1.0000 in place of 0.5000",
    ),
    Case(
        "a t test of twelve equal differences",
        "compare qrels first second -m RR --test t",
        text_files(_CONSTANT),
        codes=(0,),
        shows="This test cannot judge second and first: -0.500 RR",
        hides="no significant difference",
    ),
    Case(
        "pairs of integers are items with numbers, or several items",
        "evaluate nested.json run.json -m RR",
        text_files(
            {
                "nested.json": '{"1": [[9, 10]], "2": [[7, 3]]}',
                "run.json": '{"1": [10, 9], "2": [3, 7]}',
            }
        ),
        shows=r"\[9, 10\] may be an item and its grade, or two items",
    ),
    Case(
        "a query of a run in Python has None",
        "python: rw.evaluate({'q1': ['a'], 'q2': ['b']}, {'q1': {'a': 1.0}, 'q2': None}, 'RR')",
        shows="'q2' is None; give a query without results an empty list",
    ),
    Case(
        "one item is judged twice in few lines of TREC",
        "evaluate qrels run -m RR",
        text_files({"qrels": "44 0 a 1\n44 0 a 0\n", "run": "44 Q0 a 1 1 t\n"}),
        shows="query '44' judges item 'a' twice, in lines 1 and 2; keep one of them",
    ),
    Case(
        "scores that float64 rounds to one",
        "evaluate qrels run -m RR",
        text_files(
            {"qrels": "1 0 a 1\n", "run": f"1 Q0 a 1 {2**60 + 2} r\n1 Q0 b 2 {2**60 + 1} r\n"}
        ),
        codes=(0,),
        shows=r"run: scores above 2\*\*53 are rounded to float64, in which 1 judged item ties with "
        r"others; write ranks",
    ),
    Case(
        "an engine's scores above 2**53 are read again",
        "engine run ./engine.py:search --queries q.tsv --qrels qrels -m RR --rounds 1 -o out\n"
        "evaluate qrels out/run.parquet -m RR -f csv --intervals none",
        text_files(
            {
                "engine.py": "def search(query, k):\n    return [('a', 2**60 + 2), ('b', 2**60 "
                "+ 1)]\n",
                "q.tsv": "1\tx\n",
                "qrels": "1 0 a 1\n",
            }
        ),
        codes=(0,),
        shows=r"(?m)^run,RR,RR,1\.0,",
    ),
    Case(
        "a matrix of ranks",
        "crossmodal ranks.csv --qrels diagonal -k 1",
        text_files({"ranks.csv": "1.0,0,2,3\n1,0,3,2\n2,3,1,0\n3,2,0,1\n"}),
        codes=(0,),
        shows="ranks: every row or column holds each integer from 0 on once.*if these are ranks, "
        "give the scores",
    ),
    Case(
        "every list of an engine has one length below k",
        "python: print(rw.evaluate_engine(lambda query, k: ['a', 'b'], {'1': 'x', '2': 'y'}, "
        "qrels={'1': {'a': 1}}, rounds=1).findings)",
        codes=(0,),
        shows="every query got 2 results for k = 10; if a setting of the engine limits them, raise "
        "it",
    ),
    Case(
        "a gold passage stands twice",
        "rag gold.jsonl gold.jsonl -k 5",
        text_files(
            {
                "gold.jsonl": '{"user_input": "q", "reference_contexts": ["a", "a"], '
                '"retrieved_contexts": '
                '["a"]}\n'
            }
        ),
        codes=(0,),
        shows=r"1 question lists a gold passage twice \('0'\); every copy counts in ContextP@5, "
        "ContextR@5",
    ),
    Case(
        "options are a mapping",
        "python: rw.evaluate({'q': {'a': 1}}, {'q': ['a']}, 'RR', options={'metric': 'l2'})",
        shows="options is a mapping; give options as keywords, or as one EvaluateOptions",
    ),
]
