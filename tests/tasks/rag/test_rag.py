"""Retrieval for generation: the figures of peers, the forms of files, and what is refused."""

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rankwell as rw
from rankwell.errors import BadInput, BadUsage, DuplicateItem, NothingToEvaluate
from tasks.rag import smallest

ROOT = Path(__file__).parents[3]
PEERS = json.loads((ROOT / "tests" / "golden" / "rag.json").read_text(encoding="utf-8"))


def passage(span: dict[str, Any], document: str = "") -> dict[str, Any]:
    """A span of chunking_evaluation in rankwell's form."""
    return {
        "document": span.get("corpus_id", document),
        "start": span["start_index"],
        "end": span["end_index"],
    }


def values(result: rw.Results) -> dict[str, list[float | None]]:
    """The values of each measure by its label, in the order of the questions."""
    found: dict[str, list[float | None]] = {}
    for row in result.per_query():
        found.setdefault(row["label"], []).append(row["value"])
    return found


# ---- peers
# --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", PEERS["chunking_evaluation"])
def test_the_convention_chunking_evaluation_has_its_figures(case: dict[str, Any]):
    gold = [
        {
            "id": each["question"],
            "passages": [passage(span, each["corpus_id"]) for span in each["references"]],
        }
        for each in case["questions"]
    ]
    found = [
        {"id": each["question"], "chunks": [passage(chunk) for chunk in chunks]}
        for each, chunks in zip(case["questions"], case["retrieved"], strict=True)
    ]
    every = [passage(chunk) for chunk in case["every"]]

    result = rw.evaluate_rag(
        gold, found, list(case["figures"]), convention="chunking_evaluation", chunks=every
    )

    own = values(result)
    for name, expected in case["figures"].items():
        assert own[name] == pytest.approx(expected, abs=1e-12), name
        assert result[name] == pytest.approx(np.mean(expected))
        assert next(row.sd for row in result.summary if row.label == name) == pytest.approx(
            np.std(expected)
        )


@pytest.mark.parametrize("case", PEERS["ragas"])
def test_the_convention_ragas_has_its_figures(case: dict[str, Any]):
    pytest.importorskip("rapidfuzz")

    result = rw.evaluate_rag([case], [case], convention="ragas")

    # RAGAS adds 1e-10 to the divisor.
    assert {row.label: row.mean for row in result.summary} == pytest.approx(
        case["figures"], abs=1e-9
    )


def test_a_convention_without_measures_of_citations_is_refused_for_them():
    rows = [{"id": "q", "statement": "s", "citations": ["a"], "entailed": True}]

    with pytest.raises(
        BadUsage,
        match=r"ContextP\(similarity='levenshtein'\) needs retrieved chunks .*`rankwell rag` "
        r"computes it",
    ):
        rw.evaluate_citations(rows, convention="ragas")


@pytest.mark.parametrize("case", PEERS["alce"])
def test_the_convention_alce_has_its_figures(case: dict[str, Any]):
    result = rw.evaluate_citations(case["rows"], convention="alce")

    assert {row.label: row.mean for row in result.summary} == pytest.approx(
        case["figures"], abs=1e-9
    )
    assert {row.unit for row in result.summary} == {"percent"}


# ---- what counts
# --------------------------------------------------------------------------------------------------


def test_gold_text_in_several_documents_counts_in_each():
    spans = [{"document": "a", "start": 0, "end": 4}, {"document": "b", "start": 0, "end": 4}]
    gold, found = (
        [{"id": "q", "passages": spans}],
        [{"id": "q", "chunks": [{"document": "b", "start": 2, "end": 6}]}],
    )

    result = rw.evaluate_rag(gold, found)

    assert [row.mean for row in result.summary] == [0.5, 0.25, 0.2]
    with pytest.raises(BadUsage, match="2 documents"):
        rw.evaluate_rag(gold, found, convention="chunking_evaluation")


def test_a_paraphrase_is_found_by_its_words_and_the_rules_say_how():
    gold = [{"id": "q", "passages": ["The museum opens at ten in the morning"]}]
    found = [{"id": "q", "chunks": ["In the morning, the museum opens its doors at ten"]}]

    result = rw.evaluate_rag(
        gold, found, ["ContextR(similarity='words',threshold=0.6)", "ContextP(similarity='words')"]
    )

    assert [row.mean for row in result.summary] == [1, 1]
    assert "ContextR(similarity='words',threshold=0.6)" in result.rules["measures"]


FILLER = "It is warm inside, and there is a cloakroom for coats on the left. "


def ragas_row(gold: list[str], chunks: list[str]) -> dict[str, Any]:
    return {"user_input": "?", "retrieved_contexts": chunks, "reference_contexts": gold}


def contexts_of(gold: list[str], chunks: list[str], **options: Any) -> rw.Results:
    rows = [ragas_row(gold, chunks)]
    return rw.evaluate_rag(rows, rows, intervals="none", **options)


def figures(result: rw.Results) -> list[float]:
    return [row.mean for row in result.summary]


def test_ragas_rows_whose_chunks_hold_every_gold_passage_have_the_recall_1_except_by_edit_distance():  # noqa: E501
    pytest.importorskip("rapidfuzz")
    gold = ["The museum opens at ten.", "Dogs stay out."]
    chunks = [FILLER + gold[0] + " " + FILLER, FILLER, FILLER + gold[1]]

    plain, ragas = contexts_of(gold, chunks), contexts_of(gold, chunks, convention="ragas")

    assert figures(plain) == [(1 + 2 / 3) / 2, 1.0]
    assert figures(ragas) == [0.0, 0.0]
    assert [
        note
        for note in plain.findings
        if "4.3 times as long as the gold passages" in note and "SpanP and SpanIoU" in note
    ]
    assert [
        note
        for note in ragas.findings
        if "compare whole texts" in note and "similarity='containment'" in note
    ]
    assert plain.rules["similarity"] == "containment"
    assert "rapidfuzz" not in plain.rules


@pytest.mark.parametrize(
    ("gold", "chunk", "recall"),
    [
        ("a  red\n car", "See a red car.", 1.0),
        ("un\u00a0café", "un cafe\u0301 noir", 1.0),
        ("A red car", "See a red car.", 0.0),
        ("a red car", "a red", 0.0),
        ("a red car", " ", 0.0),
        ("x²", "x2", 0.0),
        ("9th", "in the 19th century", 0.0),
        ("9th", "19th, not 9th.", 1.0),
        ("9th", "9ths", 0.0),
        ("1 9th", "in 1 9ths", 1.0),
        ("天氣", "今天天氣很好", 1.0),
    ],
)
def test_containment_folds_white_space_and_normal_forms_and_keeps_words_whole(
    gold: str, chunk: str, recall: float
):
    assert contexts_of([gold], [chunk], measures="ContextR")["ContextR"] == recall


def test_chunks_that_are_parts_of_a_gold_passage_count_and_together_find_it():
    gold = ["The museum opens at ten. Dogs stay out."]

    half, whole = (
        contexts_of(gold, ["Dogs stay out.", "Rain"]),
        contexts_of(gold, ["Dogs stay out.", "The museum opens at ten."]),
    )

    assert figures(half) == [1.0, 0.0]
    assert figures(whole) == [1.0, 1.0]
    assert not [note for note in whole.findings if "times as long" in note]


def test_a_gold_passage_without_text_and_a_threshold_of_containment_are_refused():
    with pytest.raises(
        BadInput, match=r"\[0\]: gold passage 2 of question '0' has no text; leave it out"
    ):
        contexts_of(["a", " \n"], ["b"])
    with pytest.raises(BadUsage, match=r"threshold=0\.3 is unused by containment"):
        contexts_of(["a"], ["b"], measures="ContextP(threshold=0.3)")


def test_the_words_of_ragas_mean_its_edit_distance_without_the_convention_too():
    pytest.importorskip("rapidfuzz")
    result = contexts_of(
        ["a red car"], ["a red cat"], measures=["non_llm_context_recall", "ContextR"]
    )

    assert figures(result) == [1.0, 0.0]


@pytest.mark.parametrize("name", ["ContextP", "ContextR"])
@pytest.mark.parametrize("threshold", ["2", "-1", "0"])
def test_a_threshold_that_no_similarity_can_meet_or_all_meet_is_refused(name: str, threshold: str):
    gold, found = [{"id": "q", "passages": ["a red car"]}], [{"id": "q", "chunks": ["rain"]}]

    with pytest.raises(
        BadUsage, match=f"threshold={threshold}; expected a number above 0 and at most 1"
    ):
        rw.evaluate_rag(gold, found, [f"{name}(similarity='words',threshold={threshold})"])
    assert (
        rw.evaluate_rag(gold, found, [f"{name}(similarity='words',threshold=1)"]).summary[0].mean
        == 0
    )


def test_texts_come_from_the_documents_where_only_positions_are_given():
    documents = {"d": "The museum opens at ten. Dogs stay out."}
    gold = [{"id": "q", "passages": [{"document": "d", "start": 0, "end": 24}]}]
    found = [{"id": "q", "chunks": ["The museum opens at ten."]}]

    assert (
        rw.evaluate_rag(gold, found, "ContextR(similarity='words')", documents=documents)
        .summary[0]
        .mean
        == 1
    )
    with pytest.raises(BadUsage, match="is unknown"):
        rw.evaluate_rag(gold, found, "ContextR(similarity='words')")


def test_a_question_without_a_line_has_nothing_retrieved_and_unknown_ones_are_ignored():
    gold = [
        {"id": name, "passages": [{"document": "d", "start": 0, "end": 4}]} for name in ("a", "b")
    ]
    found = [
        {"id": name, "chunks": [{"document": "d", "start": 0, "end": 4}]} for name in ("a", "c")
    ]

    result = rw.evaluate_rag(gold, {"mine": found}, "SpanR@5")

    assert values(result) == {"SpanR@5": [1.0, 0.0]}
    assert result.counts["mine"] == {
        "queries_counted": 2,
        "queries_missing": 1,
        "queries_unknown": 1,
    }
    assert len(result.data_findings) == 2
    with pytest.raises(NothingToEvaluate, match="written in two ways"):
        rw.evaluate_rag(gold[:1], found[1:], "SpanR@5")


# ---- what is refused
# --------------------------------------------------------------------------------------------------

SPAN = '{"document": "d", "start": 0, "end": 4}'


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("", "is empty"),
        ("[1]", "expected an object"),
        ("{", "gold.jsonl:1"),
        ('{"id": "q", "passages": []}', "no gold passage"),
        ('{"id": "q"}', "passages is missing"),
        ('{"id": true, "passages": ["x"]}', "id is true"),
        ('{"id": "q", "passages": "x"}', 'passages is "x"; expected a list'),
        ('{"id": "q", "passages": [3]}', "expected a passage"),
        ('{"id": "q", "passages": [{}]}', r"passages\[0\].text is missing"),
        ('{"id": "q", "passages": [{"document": "d", "start": 4, "end": 4}]}', "the end|end after"),
        ('{"id": "q", "passages": [{"document": "d", "start": -1, "end": 4}]}', "start is -1"),
        ('{"id": "q", "passages": [{"document": "d", "start": 0.5, "end": 4}]}', "start is 0.5"),
        ('{"id": "q", "passages": [{"start": 0, "end": 4}]}', "document is missing"),
        ('{"id": "q", "passages": [{"document": "d", "start": 0, "end": 99}]}', "10 characters"),
        (
            '{"id": "q", "passages": [{"document": "d", "start": 0, "end": 4, "text": "abcd"}]}',
            "positions count",
        ),
        (
            f'{{"id": "q", "passages": [{SPAN}]}}\n{{"id": "q", "passages": [{SPAN}]}}',
            "gold.jsonl:2: the id 'q'",
        ),
    ],
)
def test_bad_rows_are_named_with_their_place(tmp_path: Path, line: str, message: str):
    (tmp_path / "gold.jsonl").write_text(line, encoding="utf-8")

    with pytest.raises((BadInput, DuplicateItem), match=message):
        rw.evaluate_rag(
            tmp_path / "gold.jsonl", [{"id": "q", "chunks": []}], documents={"d": "0123456789"}
        )


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([(["a", "b"], True), (["a"], True)], r"\{b\} entails the statement 's' is not judged"),
        ([(["a"], False), (["b"], False)], r"\{a, b\} entails"),
        (
            [(["a", "b", "c"], True), (["a"], True), (["b"], True), (["c"], False)],
            r"\{a, b\} entails",
        ),
        ([([], True)], "cites nothing is not entailed"),
        ([(["a"], True), (["a"], True)], "judged before"),
        ([(["a"], "yes")], 'entailed is "yes"'),
        ([([None], True)], "citations is null"),
    ],
)
def test_a_set_of_citations_that_is_not_judged_is_an_error(
    rows: list[tuple[Any, Any]], message: str
):
    lines = [
        {"id": "q", "statement": "s", "citations": cited, "entailed": entailed}
        for cited, entailed in rows
    ]

    with pytest.raises((BadInput, DuplicateItem), match=message):
        rw.evaluate_citations(lines)


def test_sets_that_decide_nothing_need_not_be_judged():
    rows = [{"id": "q", "statement": "s", "citations": ["a", "b"], "entailed": False}]

    assert [row.mean for row in rw.evaluate_citations(rows).summary] == [0, 0]


def test_without_rapidfuzz_the_extra_is_named(monkeypatch: pytest.MonkeyPatch):
    from rankwell.vectors.media.texts import similarity_of

    similarity_of.cache_clear()
    monkeypatch.setitem(sys.modules, "rapidfuzz", None)

    with pytest.raises(rw.errors.MissingExtra, match=r"rankwell\[rag\]"):
        rw.evaluate_rag(
            [{"id": "q", "passages": ["x"]}], [{"id": "q", "chunks": ["x"]}], convention="ragas"
        )
    assert (
        rw.evaluate_rag(
            [{"id": "q", "passages": ["x"]}], [{"id": "q", "chunks": ["x"]}], "ContextR"
        )["ContextR"]
        == 1
    )


def test_the_commands_print_what_python_gives(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    smallest.write(tmp_path)
    monkeypatch.chdir(tmp_path)
    from rankwell.cli import main

    for line in (smallest.COMMAND, "rag citations supports.jsonl"):
        monkeypatch.setattr(sys, "argv", ["rankwell", *line.split()])
        assert main() == 0
    printed = capsys.readouterr().out
    assert str(rw.evaluate_rag("gold.jsonl", "bm25.jsonl")).splitlines()[2] in printed
    assert "CitationR" in printed


def test_gold_in_documents_without_a_chunk_is_noted_beside_the_best_that_chunks_allow():
    gold = [{"id": "q", "passages": [{"document": "a", "start": 0, "end": 5}]}]
    found = [{"id": "q", "chunks": [{"document": "a", "start": 0, "end": 9}]}]

    result = rw.evaluate_rag(
        gold, found, ["SpanPOmega"], chunks=[{"document": "b", "start": 0, "end": 9}]
    )
    covered = rw.evaluate_rag(
        gold, found, ["SpanPOmega"], chunks=[{"document": "a", "start": 0, "end": 9}]
    )

    what = (
        "1 of 1 questions have gold passages in documents without a chunk in chunks ('q'); "
        "their SpanPOmega is 0"
    )
    assert what in result.findings
    assert result["SpanPOmega"] == 0
    assert not [note for note in covered.findings if "without a chunk" in note]


def test_the_rules_name_similarity_threshold_and_library_also_where_they_are_the_defaults():
    pytest.importorskip("rapidfuzz")
    rows = [{"id": "q", "passages": ["a red car"], "chunks": ["the red car"]}]

    measures = [
        "ContextP",
        "ContextP(similarity='levenshtein')",
        "ContextR(similarity='words',threshold=0.6)",
    ]
    rules = rw.evaluate_rag(rows, rows, measures, intervals="none").rules

    assert rules["similarity"] == "containment, levenshtein threshold 0.5, words threshold 0.6"
    assert "rapidfuzz" in rules
    assert "similarity" not in rw.evaluate_citations([support(["a"], True)], intervals="none").rules


def support(citations: list[str], entailed: bool, question: str = "q") -> dict[str, Any]:
    return {"id": question, "statement": "s", "citations": citations, "entailed": entailed}


def test_questions_that_one_system_alone_has_statements_for_are_noted():
    whole, part = [support(["a"], True), support(["b"], False, "r")], [support(["a"], True)]

    result = rw.evaluate_citations({"whole": whole, "part": part}, intervals="none")

    assert result["CitationR"] == {"whole": 0.5, "part": 1.0}
    assert "part: 1 of the 2 questions have no statement ('r'), and do not count" in result.findings


def test_questions_that_a_published_rule_leaves_out_are_counted_in_a_note():
    gold = [
        {"id": each, "passages": [{"document": "d", "start": 0, "end": 5}]} for each in ("q", "r")
    ]
    found = [{"id": "q", "chunks": [{"document": "d", "start": 0, "end": 5}]}]

    result = rw.evaluate_rag(
        gold, found, "precision@5", convention="chunking_evaluation", intervals="none"
    )

    assert "run: precision@5 is undefined for 1 of 2 queries, which do not count" in result.findings


def test_no_system_at_all_is_an_error():
    with pytest.raises(BadUsage, match="no system is given"):
        rw.evaluate_rag([{"id": "q", "passages": ["text"]}], {})


def test_without_all_chunks_a_cut_off_is_advised_only_where_it_helps():
    gold = [{"id": "q", "passages": [{"document": "d", "start": 0, "end": 5}]}]
    found = [{"id": "q", "chunks": [{"document": "d", "start": 0, "end": 5}]}]

    with pytest.raises(BadUsage, match=r"by chunks\.$"):
        rw.evaluate_rag(gold, found, "SpanPOmega")
    with pytest.raises(BadUsage, match=r"by chunks, or give a cut-off\.$"):
        rw.evaluate_rag(gold, found, "precision", convention="chunking_evaluation")


@pytest.mark.parametrize("k", ["1,3", "3 1", [1, 3]])
@pytest.mark.parametrize("convention", ["rankwell", "chunking_evaluation"])
def test_every_cut_off_of_a_list_has_the_values_of_a_call_with_it_alone(
    tmp_path: Path, convention: str, k: Any
):
    smallest.write(tmp_path)

    def evaluated(k: Any) -> dict[str, list[float | None]]:
        files = tmp_path / "gold.jsonl", tmp_path / "bm25.jsonl"
        return values(rw.evaluate_rag(*files, k=k, convention=convention))

    assert evaluated(k) == evaluated(1) | evaluated(3)
    assert len(evaluated(k)) == 6


def test_the_text_that_words_are_counted_in_is_to_be_given_with_its_id():
    gold = [{"id": "q", "passages": [{"document": "guide", "start": 0, "end": 3}]}]
    found = [{"id": "q", "chunks": [{"document": "guide", "start": 0, "end": 3}]}]
    measure = "SpanP(unit='words')@1"
    with pytest.raises(BadUsage, match="'guide' is unknown; name a file with it by documents"):
        rw.evaluate_rag(gold, found, measure)
    with pytest.raises(BadInput, match="'guide' is unknown; documents has texts of '0', …"):
        rw.evaluate_rag(gold, found, measure, documents={"0": "a b", "1": "c"})
