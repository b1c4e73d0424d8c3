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
        codes=(0,),
        shows=r"1 more judged item would be found if encodings \(Latin-1 for UTF-8\) .* RR would be 1.0000 in place of 0.5000",
        before="exit 0, RR 0.5000, nothing about ids",
    ),
    Case(
        "a run whose UTF-8 was read as Latin-1",
        "evaluate qrels run -m RR",
        text_files({"qrels": "1 0 été 1\n2 0 b 1\n", "run": "1 Q0 Ã©tÃ© 1 2 r\n1 Q0 z 2 1 r\n2 Q0 b 1 2 r\n"}),
        codes=(0,),
        shows=r"1 more judged item would be found if encodings \(Latin-1 for UTF-8\) .* RR would be 1.0000 in place of 0.5000",
        before="exit 0, RR 0.5000, nothing about ids",
    ),
    Case(
        "a t test of twelve equal differences",
        "compare qrels first second -m RR --test t",
        text_files(_CONSTANT),
        codes=(0,),
        shows="This test cannot judge second and first: second is behind by 0.5000 RR",
        hides="no significant difference",
        before="exit 0, There is no significant difference, although every query is worse by 0.5",
    ),
]
