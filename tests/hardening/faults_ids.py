"""Ids that judgments and a run write differently for a part of the queries or items."""

import unicodedata

from hardening.cases import Case, text_files

_QUERIES = [f"Q{number:03}" for number in range(1, 101)]
_JUDGED = [f"Évian{number}" if number % 3 else f"d{number}" for number in range(1, 13)]


def _qrels(pairs: list[tuple[str, str]]) -> str:
    return "".join(f"{query} 0 {item} 1\n" for query, item in pairs)


def _run(pairs: list[tuple[str, str]]) -> str:
    return "".join(f"{query} Q0 {item} 1 9 r\n{query} Q0 other 2 1 r\n" for query, item in pairs)


def _decomposed(item: str, number: int) -> str:
    return (
        unicodedata.normalize("NFD", item)
        if number < 4
        else item.replace("d", "d0")
        if number < 6
        else item
    )


_LOWER = [
    (query, f"d{query}".lower() if number < 30 else f"d{query}")
    for number, query in enumerate(_QUERIES)
]
_RENAMED = [
    (query.lower() if number < 30 else query, f"d{query}") for number, query in enumerate(_QUERIES)
]
_SPELLED = [(f"q{number}", _decomposed(item, number)) for number, item in enumerate(_JUDGED)]
_QRELS = _qrels([(query, f"d{query}") for query in _QUERIES])
_ITEMS_OF = {
    "qrels": _qrels([(f"q{number}", item) for number, item in enumerate(_JUDGED)]),
    "run": _run(_SPELLED),
}
_CHUNKS = {
    "qrels": "q 0 doc 1\nq 0 other 1\n",
    "run": "q Q0 doc#c3 1 9 r\nq Q0 doc#c1 2 8 r\nq Q0 other 3 7 r\n",
}
_NOTATIONS = {
    "full-width letters": ("Doc5", "\uff24\uff4f\uff43\uff15", "Unicode normal forms were"),
    "a trailing .0": ("Doc5", "Doc5.0", "decimals of integers .* were"),
    "a hyphen and case": ("Doc5", "doc-5", "differences of case and hyphens within ids were"),
    "a folder in front": ("Doc5", "data/Doc5", "folders in front of ids were"),
    "an extension behind": ("Doc5", "Doc5.txt", "file name extensions were"),
}
_DIFFERENT = {
    "folders that differ": ("a/1.png", "b/1.png"),
    "extensions that differ": ("1.png", "1.jpg"),
    "digits": ("12-3", "1-23"),
}


def _one_of_nine(judged: str, listed: str) -> dict[str, str]:
    """Nine queries, of which one has its only relevant item in two notations."""
    same = [(f"q{number}", f"x{number}") for number in range(1, 9)]
    return {"qrels": _qrels([*same, ("q9", judged)]), "run": _run([*same, ("q9", listed)])}


CASES = [
    *(
        Case(
            f"13 one item of nine in another notation: {name}",
            "evaluate qrels run -m RR",
            text_files(_one_of_nine(judged, listed)),
            codes=(2,),
            shows=f"1 more judged item would be found if {shown} ignored .* RR would be 1.0000 in "
            "place of 0.8889",
        )
        for name, (judged, listed, shown) in _NOTATIONS.items()
    ),
    *(
        Case(
            f"13 ids that are not one: {name}",
            "evaluate qrels run -m RR",
            text_files(_one_of_nine(*ids)),
            codes=(0,),
            hides="would be|Traceback",
        )
        for name, ids in _DIFFERENT.items()
    ),
    Case(
        "13 a query id behind a folder, beside one in lower case",
        "evaluate qrels run -m RR",
        text_files(
            {
                "qrels": "Q1 0 a 1\nQ2 0 b 1\n3 0 c 1\n",
                "run": "q1 Q0 a 1 9 r\nin/Q2 Q0 b 1 9 r\n3 Q0 c 1 9 r\n",
            }
        ),
        codes=(2,),
        shows="2 of the 2 judged queries .* RR would be 1.0000 in place of 0.3333",
    ),
    Case(
        "13 texts for a half of the judged queries",
        "evaluate qrels run -m RR --queries half.csv",
        text_files(
            {**_one_of_nine("a", "a"), "half.csv": "id,text\nq1,one\nq2,two\nq3,three\nq4,four\n"}
        ),
        codes=(0,),
        shows="half.csv: 5 of the 9 judged queries have no text, such as 'q5'",
    ),
    Case(
        "B1 the items of thirty of a hundred queries in lower case",
        "check qrels run",
        text_files({"qrels": _QRELS, "run": _run(_LOWER)}),
        codes=(1,),
        shows="30 more judged items would be found if differences of case .* nDCG@10 would be "
        "1.0000 in place of 0.7000",
    ),
    Case(
        "B1 the items of thirty of a hundred queries in lower case, evaluated",
        "evaluate qrels run -m RR",
        text_files({"qrels": _QRELS, "run": _run(_LOWER)}),
        codes=(2,),
        shows="RR would be 1.0000 in place of 0.7000",
    ),
    Case(
        "B1 thirty of a hundred query ids in lower case, evaluated",
        "evaluate qrels run -m RR",
        text_files({"qrels": _QRELS, "run": _run(_RENAMED)}),
        codes=(2,),
        shows="30 of the 30 judged queries .* RR would be 1.0000 in place of 0.7000",
    ),
    Case(
        "B1 four of twelve relevant ids in another Unicode form or with leading zeros",
        "check qrels run",
        text_files(_ITEMS_OF),
        codes=(1,),
        shows="4 more judged items would be found if Unicode normal forms .* nDCG@10 would be "
        "1.0000 in place of ",
    ),
    Case(
        "B4 ids of chunks against judgments of documents",
        "check qrels run",
        text_files(_CHUNKS),
        codes=(1,),
        shows="suffixes of chunks were ignored .*; write ids of documents in the run",
    ),
]
