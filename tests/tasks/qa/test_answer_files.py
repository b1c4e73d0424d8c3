"""Questions with right answers in every form that people keep them in."""

import gzip
import json
import random
from pathlib import Path
from typing import Any

import duckdb
import pytest
import zstandard

from answer_forms import CONTEXT, answers_of, columns, lines, qa, squad, written
from rankwell.errors import BadInput, BadLine, DuplicateItem, NothingToEvaluate, UnknownName
from rankwell.tasks.qa.answer_pairs import Questions
from rankwell.tasks.qa.formats import (
    FoundTable,
    read_na_probs,
    read_predictions,
    read_questions,
    read_retrieved,
)

# ---- SQuAD and its dialects
# ----------------------------------------------------------------------------------------------


def test_a_squad_file_gives_questions_by_id_with_answers_documents_and_positions(
    tmp_path: Path,
) -> None:
    found = read_questions(
        written(
            tmp_path / "gold.json",
            squad(
                qa("b"),
                qa(
                    "a",
                    "Which country?",
                    answers=[{"text": "France", "answer_start": 24}],
                    is_impossible=False,
                ),
                qa(
                    "c",
                    "Which king?",
                    answers=[],
                    is_impossible=True,
                    plausible_answers=[{"text": "x", "answer_start": 1}],
                ),
            ),
        )
    )

    table = found.table
    assert found.format == "squad"
    assert found.findings == ()
    assert table.ids == ("a", "b", "c")
    assert table.texts == ("Which country?", "Which capital?", "Which king?")
    assert answers_of(table) == {"a": ["France"], "b": ["Paris"], "c": []}
    assert table.starts.tolist() == [24, 0]
    assert table.impossible.tolist() == [False, False, True]
    assert table.documents == ("France#0",) * 3
    assert table.answer_documents == ("France#0",) * 2
    assert table.contexts == {"France#0": CONTEXT}
    assert table.attributes["c"]["plausible_answers"] == [{"text": "x", "answer_start": 1}]
    assert table.attributes["b"] == {"title": "France"}


def test_the_order_of_articles_paragraphs_and_questions_does_not_show(tmp_path: Path) -> None:
    articles = [
        {
            "title": f"T{a}",
            "paragraphs": [
                {"id": f"{a}.{p}", "context": CONTEXT, "qas": [qa(f"{a}{p}{q}") for q in range(3)]}
            ],
        }
        for a in range(4)
        for p in range(2)
    ]
    before = columns(read_questions({"data": articles}).table)

    random.Random(3).shuffle(articles)
    for article in articles:
        article["paragraphs"][0]["qas"].reverse()
    after = columns(read_questions({"data": articles}).table)

    assert after == before


def test_missing_integer_and_empty_ids_are_understood(tmp_path: Path) -> None:
    gold = squad(qa(-7342), {"question": "No id?", "answers": []}, qa(""), qa(None))

    found = read_questions(written(tmp_path / "gold.json", gold))

    assert set(found.table.ids) == {"-7342", "France#0#1", "France#0#2", "France#0#3"}
    assert found.counts["without_id"] == 3
    assert any(
        "without an id" in note and "3 (first data[0].paragraphs[0].qas[1])" in note
        for note in found.findings
    )


def test_empty_questions_are_left_out_with_a_count_and_their_documents_stay(tmp_path: Path) -> None:
    path = written(
        tmp_path / "gold.json", squad(qa("a"), qa("b", "  ", answers=[], is_impossible=True))
    )

    dropped, kept = read_questions(path), read_questions(path, empty="keep")

    assert dropped.table.ids == ("a",)
    assert dropped.counts["empty"] == 1
    assert "empty text" in dropped.findings[0]
    assert kept.table.ids == ("a", "b")
    assert kept.counts.get("empty", 0) == 0


def test_filler_paragraphs_without_a_list_of_questions_stay_as_documents(tmp_path: Path) -> None:
    gold = squad(qa())
    gold["data"][0]["paragraphs"] += [
        {"context": "Filler.", "qas": ""},
        {"context": "More filler."},
    ]

    found = read_questions(written(tmp_path / "gold.json", gold))

    assert found.table.ids == ("q1",)
    assert list(found.table.contexts) == ["France#0", "France#1", "France#2"]
    assert found.counts["no_list"] == 1


def test_answers_that_do_not_stand_where_they_should_are_counted_and_kept(tmp_path: Path) -> None:
    answers = [
        {"text": "Paris", "answer_start": 0},
        {"text": "France", "answer_start": 23},
        {"text": "France", "answer_start": 999},
    ]

    found = read_questions(written(tmp_path / "gold.json", squad(qa(answers=answers))))

    assert found.counts["misaligned"] == 2
    assert any(
        "2 (first data[0].paragraphs[0].qas[0].answers[1])" in note for note in found.findings
    )
    assert found.table.starts.tolist() == [0, 23, 999]


def test_answers_without_a_position_or_a_text_are_counted(tmp_path: Path) -> None:
    answers = [
        {"text": "Paris"},
        {"text": "France", "answer_start": -1},
        {"text": "", "answer_start": 3},
        {"text": "capital", "answer_start": 13},
    ]

    found = read_questions(written(tmp_path / "gold.json", squad(qa(answers=answers))))

    assert answers_of(found.table) == {"q1": ["Paris", "France", "capital"]}
    assert found.table.starts.tolist() == [-1, -1, 13]
    assert (found.counts["no_start"], found.counts["blank_answers"]) == (2, 1)


def test_offsets_count_characters_and_not_bytes(tmp_path: Path) -> None:
    gold = {
        "data": [
            {
                "title": "É",
                "paragraphs": [
                    {
                        "context": "L’été 😀 à Paris",
                        "qas": [qa(answers=[{"text": "Paris", "answer_start": 10}])],
                    }
                ],
            }
        ]
    }

    assert read_questions(written(tmp_path / "gold.json", gold)).counts.get("misaligned", 0) == 0


def test_marks_that_contradict_the_answers_are_noted(tmp_path: Path) -> None:
    gold = squad(
        qa("a", answers=[], is_impossible=False),
        qa("b", is_impossible=True),
        qa("c", answers=[]),
        qa("d"),
    )

    found = read_questions(written(tmp_path / "gold.json", gold))

    assert (found.counts["unmarked"], found.counts["answered_impossible"]) == (1, 1)
    assert found.table.impossible.tolist() == [False, True, True, False]


def test_a_paragraphs_own_id_names_its_document_and_metadata_become_attributes(
    tmp_path: Path,
) -> None:
    article = {
        "title": "T",
        "theme": "Travail",
        "id": 12,
        "paragraphs": [{"id": 501, "page": 3, "context": CONTEXT, "qas": [qa()]}],
    }

    table = read_questions(written(tmp_path / "gold.json", {"data": [article]})).table

    assert table.documents == ("501",)
    assert table.attributes["q1"] == {"title": "T", "theme": "Travail", "article_id": 12, "page": 3}


def test_articles_of_one_title_are_numbered_on_so_that_no_documents_fall_together(
    tmp_path: Path,
) -> None:
    articles = [
        {"title": "T", "paragraphs": [{"context": text, "qas": [qa(text)]}]}
        for text in ("one", "two")
    ]

    found = read_questions(written(tmp_path / "gold.json", {"data": articles}))

    assert found.table.contexts == {"T#0": "one", "T#1": "two"}
    assert found.counts["same_title"] == 1


def test_articles_without_a_title_go_by_their_number(tmp_path: Path) -> None:
    articles = [
        {"paragraphs": [{"context": "one", "qas": []}]},
        {"title": "", "paragraphs": [{"context": "two", "qas": [qa()]}]},
    ]

    assert list(read_questions({"data": articles}).table.contexts) == ["0#0", "1#0"]


def test_one_id_for_two_texts_of_documents_is_refused(tmp_path: Path) -> None:
    paragraphs = [
        {"id": "p", "context": "one", "qas": [qa()]},
        {"id": "p", "context": "two", "qas": []},
    ]

    with pytest.raises(
        BadInput, match=r"data\[0\]\.paragraphs\[1\]\.context: the document 'p' has another text"
    ):
        read_questions({"data": [{"title": "T", "paragraphs": paragraphs}]})


def test_articles_may_come_a_line_each_and_compressed(tmp_path: Path) -> None:
    articles = [
        {"title": title, "paragraphs": [{"context": CONTEXT, "qas": [qa(title)]}]}
        for title in ("A", "B")
    ]
    text = "".join(json.dumps(article) + "\n" for article in articles)
    plain = read_questions(written(tmp_path / "gold.jsonl", text))
    (tmp_path / "gold.jsonl.gz").write_bytes(gzip.compress(text.encode()))
    (tmp_path / "gold.jsonl.zst").write_bytes(zstandard.compress(text.encode()))

    assert plain.format == "squad"
    assert plain.table.ids == ("A", "B")
    assert columns(read_questions(tmp_path / "gold.jsonl.gz").table) == columns(plain.table)
    assert columns(read_questions(tmp_path / "gold.jsonl.zst").table) == columns(plain.table)
    assert columns(read_questions(articles).table) == columns(plain.table)


def test_standard_input_is_read(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import io
    import sys

    monkeypatch.setattr(
        sys, "stdin", io.TextIOWrapper(io.BytesIO(json.dumps(squad(qa())).encode()))
    )

    assert read_questions("-").table.ids == ("q1",)


def test_a_byte_order_mark_is_skipped_with_a_note(tmp_path: Path) -> None:
    path = tmp_path / "gold.json"
    path.write_bytes(b"\xef\xbb\xbf" + json.dumps(squad(qa())).encode())

    found = read_questions(path)

    assert found.table.ids == ("q1",)
    assert "byte order mark" in found.findings[0]


def test_questions_with_one_text_are_reported_and_never_merged(tmp_path: Path) -> None:
    found = read_questions(squad(qa("a"), qa("b"), qa("c", "Another?"), qa("d")))

    assert found.table.ids == ("a", "b", "c", "d")
    assert found.counts["duplicate_texts"] == 3
    assert any(
        "3 questions share their text" in note and "a, b, d" in note for note in found.findings
    )


def test_an_id_that_appears_twice_is_refused_with_both_places(tmp_path: Path) -> None:
    path = written(tmp_path / "gold.json", squad(qa("a"), qa("b"), qa("a", "Other?")))

    with pytest.raises(
        DuplicateItem,
        match=r"gold\.json: data\[0\]\.paragraphs\[0\]\.qas\[0\] and "
        r"data\[0\]\.paragraphs\[0\]\.qas\[2\].*'a'",
    ):
        read_questions(path)


@pytest.mark.parametrize(
    ("gold", "said"),
    [
        (
            squad(qa(answers=[{"text": "x", "answer_start": "x"}])),
            r'qas\[0\]\.answers\[0\]\.answer_start is "x"; expected an integer',
        ),
        (squad(qa(answers=[{"text": "x", "answer_start": 1.5}])), r"answer_start is 1\.5"),
        (
            squad(qa(answers=[{"text": 1990, "answer_start": 0}])),
            r"answers\[0\]\.text is 1990; expected a string",
        ),
        (squad(qa(answers=[{"answer_start": 0}])), r"answers\[0\]\.text is missing"),
        (squad(qa(answers=[7])), r"answers\[0\] is 7"),
        (squad(qa(answers=7)), r"qas\[0\]\.answers is 7; expected a list of answers"),
        (squad(qa(is_impossible="perhaps")), r'is_impossible is "perhaps"; expected true or false'),
        (squad(qa(1.5)), r"qas\[0\]\.id is 1\.5"),
        (squad({"id": "a", "answers": []}), r"qas\[0\]\.question is missing"),
        (squad("text"), r'paragraphs\[0\]\.qas\[0\] is "text"; expected an object'),
        (
            {"data": [{"title": "T", "paragraphs": [{"qas": []}]}]},
            r"data\[0\]\.paragraphs\[0\]\.context is missing",
        ),
        (
            {"data": [{"title": "T", "paragraphs": [{"context": "c", "qas": {"a": 1}}]}]},
            r"qas is an object of 1; expected a list",
        ),
        ({"data": [{"title": "T", "paragraphs": []}, 3]}, r"data\[1\] is 3; expected an object"),
        (
            {"data": [{"title": "T", "paragraphs": []}, {"title": "U"}]},
            r"data\[1\]\.paragraphs is missing",
        ),
        (
            {"data": {"title": "T"}, "version": "1"},
            r"data is an object of 1; expected a list of articles",
        ),
    ],
)
def test_other_content_than_squad_is_reported_by_the_path_inside_the_document(
    gold: Any, said: str, tmp_path: Path
) -> None:
    with pytest.raises(BadInput, match=said) as caught:
        read_questions(written(tmp_path / "gold.json", gold))

    assert str(caught.value).startswith(f"{tmp_path / 'gold.json'}: ")
    assert "\n" not in str(caught.value)


def test_truncated_json_is_reported_by_line_and_by_the_path_where_it_ends(tmp_path: Path) -> None:
    whole = json.dumps(squad(qa("a"), qa("b")), indent=1)
    cut = whole[: whole.rindex('"Paris"') + 3]

    with pytest.raises(
        BadInput,
        match=rf"gold\.json:{cut.count(chr(10)) + 1}: "
        r"data\[0\]\.paragraphs\[0\]\.qas\[1\]\.answers\[0\]\.text: .*whole\?",
    ):
        read_questions(written(tmp_path / "gold.json", cut))


def test_a_broken_line_is_reported_by_its_number(tmp_path: Path) -> None:
    with pytest.raises(BadLine, match=r"gold\.jsonl:2: .*JSON object per line"):
        read_questions(
            written(
                tmp_path / "gold.jsonl",
                '{"question": "a", "answer": ["b"]}\n{"question": "c", "ans',
            )
        )


def test_a_file_without_questions_has_nothing_to_evaluate(tmp_path: Path) -> None:
    with pytest.raises(NothingToEvaluate, match="no question"):
        read_questions(written(tmp_path / "gold.json", {"version": "2.0", "data": []}))
    with pytest.raises(NothingToEvaluate, match="beside 1 with an empty text"):
        read_questions(written(tmp_path / "gold.json", squad(qa("a", ""))))


def test_swapped_files_are_recognised(tmp_path: Path) -> None:
    gold = written(tmp_path / "gold.json", squad(qa()))
    predictions = written(tmp_path / "predictions.json", {"q1": "Paris"})
    odds = written(tmp_path / "odds.json", {"q1": 0.25})
    run = written(tmp_path / "run.txt", "q1 Q0 d1 1 0.5 tag\n")

    with pytest.raises(
        BadInput, match=r"this looks like predictions \(predictions\).*questions come before"
    ):
        read_questions(predictions)
    with pytest.raises(
        BadInput,
        match=r"this looks like questions with right answers \(squad\).*questions come before",
    ):
        read_predictions(gold)
    with pytest.raises(BadInput, match="looks like no-answer probabilities"):
        read_predictions(odds)
    with pytest.raises(BadInput, match="looks like predictions"):
        read_na_probs(predictions)
    with pytest.raises(BadInput, match=r"looks like a run \(trec\)"):
        read_questions(run)
    both = written(tmp_path / "run.json", '{"q1": {"d1": 0.5}}')
    with pytest.raises(
        BadInput, match=r"looks like a run or judgments \(json\); expected predictions"
    ):
        read_predictions(both)


def test_an_unknown_form_is_reported_with_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"the columns are 'a', 'b'; known forms .* squad"):
        read_questions(written(tmp_path / "gold.csv", "a,b\n1,2\n"))
    with pytest.raises(BadInput, match=r"the document is a list of 2; known forms"):
        read_questions(written(tmp_path / "gold.json", [1, 2]))
    with pytest.raises(UnknownName, match="did you mean 'squad'"):
        read_questions(written(tmp_path / "gold.json", squad(qa())), format="squat")
    with pytest.raises(UnknownName, match="'squad' has no part 'dev'"):
        read_questions(written(tmp_path / "gold.json", squad(qa())), format="squad:dev")


def test_a_named_format_is_held_to_its_form(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="paragraphs is missing"):
        read_questions(written(tmp_path / "gold.json", {"foo": 1}), format="squad")


# ---- the other forms of questions
# ----------------------------------------------------------------------------------------

HF_ROWS = [
    {
        "id": "b",
        "title": "T",
        "context": CONTEXT,
        "question": "Capital?",
        "answers": {"text": ["Paris"], "answer_start": [0]},
    },
    {
        "id": "a",
        "title": "T",
        "context": CONTEXT,
        "question": "King?",
        "answers": {"text": [], "answer_start": []},
    },
    {
        "id": "c",
        "title": "T",
        "context": "Rome.",
        "question": "Italy?",
        "answers": {"text": ["Rome", "Rome."], "answer_start": [0, 0]},
    },
]


def test_hugging_face_rows_are_the_same_as_json_lines_list_data_and_parquet(tmp_path: Path) -> None:
    by_line = read_questions(lines(tmp_path / "rows.jsonl", *HF_ROWS))
    with duckdb.connect() as session:
        session.execute(
            f"COPY (FROM read_json('{tmp_path / 'rows.jsonl'}')) TO '{tmp_path / 'rows.parquet'}'"
        )

    assert by_line.format == "rows"
    assert answers_of(by_line.table) == {"a": [], "b": ["Paris"], "c": ["Rome", "Rome."]}
    assert by_line.table.impossible.tolist() == [True, False, False]
    assert by_line.table.documents == ("T#0", "T#0", "T#1")
    assert by_line.counts == {}
    for place in (
        written(tmp_path / "rows.json", HF_ROWS),
        written(tmp_path / "data.json", {"version": "1", "data": HF_ROWS}),
        tmp_path / "rows.parquet",
        HF_ROWS,
    ):
        assert columns(read_questions(place).table) == columns(by_line.table)


def test_squad_and_its_rows_name_the_same_documents(tmp_path: Path) -> None:
    paragraphs = [{"context": text, "qas": [qa(text)]} for text in ("one", "two")]
    rows = [
        {
            "id": text,
            "title": "T",
            "context": text,
            "question": "?",
            "answers": {"text": [], "answer_start": []},
        }
        for text in ("one", "two")
    ]

    from_squad = read_questions({"data": [{"title": "T", "paragraphs": paragraphs}]}).table
    from_rows = read_questions(rows).table

    assert from_rows.contexts == from_squad.contexts
    assert from_rows.documents == from_squad.documents


def test_data_frames_are_read(tmp_path: Path) -> None:
    pandas, polars, pyarrow = (
        pytest.importorskip(name) for name in ("pandas", "polars", "pyarrow")
    )
    answers = [{"text": ["Paris"], "answer_start": [0]}, {"text": [], "answer_start": []}]
    data = {
        "id": [7, 8],
        "question": ["Capital?", "King?"],
        "answers": answers,
        "context": [CONTEXT, None],
        "impossible": [None, True],
    }
    pyarrow.table(data).to_pandas().to_parquet(tmp_path / "gold.parquet")

    for frame in (
        pandas.read_parquet(tmp_path / "gold.parquet"),
        polars.DataFrame(data),
        pyarrow.table(data),
    ):
        found = read_questions(frame)
        assert answers_of(found.table) == {"7": ["Paris"], "8": []}
        assert found.table.documents == ("#0", None)
        assert found.table.impossible.tolist() == [False, True]


def test_half_a_character_is_refused_and_a_whole_one_is_not(tmp_path: Path) -> None:
    whole = json.dumps(squad(qa("\U0001f600")))
    half = whole.replace("\\ude00", "")

    assert read_questions(written(tmp_path / "gold.json", whole)).table.ids == ("\U0001f600",)
    with pytest.raises(BadInput, match=r"gold.json:1: '.*': \\ud83d is half a character"):
        read_questions(written(tmp_path / "gold.json", half))


def test_ones_own_table_may_hold_several_answers_in_a_cell(tmp_path: Path) -> None:
    text = (
        'id,question,answers,document,impossible\n1,Where?,"[""Paris"", '
        '""Lyon""]",d1,false\n2,Who?,Bob,d2,\n3,Why?,,d3,true\n'
    )

    found = read_questions(written(tmp_path / "gold.csv", text))

    assert answers_of(found.table) == {"1": ["Paris", "Lyon"], "2": ["Bob"], "3": []}
    assert found.table.documents == ("d1", "d2", "d3")
    assert found.table.impossible.tolist() == [False, False, True]


def test_a_row_that_is_too_long_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"gold.csv:3: .* has 4 fields, the header 3"):
        read_questions(
            written(tmp_path / "gold.csv", "id,question,answers\n1,Where?,Paris\n2,Who?,Bob,more\n")
        )


def test_positions_of_single_answers_may_have_a_column(tmp_path: Path) -> None:
    table = read_questions(
        written(
            tmp_path / "gold.csv",
            f"id,question,answer,answer_start,context\n1,Where?,France,24,{CONTEXT}\n",
        )
    ).table

    assert table.starts.tolist() == [24]


def test_columns_of_different_length_are_refused(tmp_path: Path) -> None:
    rows = [{"id": "a", "question": "?", "answers": {"text": ["x", "y"], "answer_start": [0]}}]

    with pytest.raises(
        BadInput, match=r"\[0\]\.answers\.answer_start is a list of 1; expected a list of 2"
    ):
        read_questions(rows)


def test_nq_open_lines_go_by_their_number(tmp_path: Path) -> None:
    found = read_questions(
        lines(
            tmp_path / "nq.jsonl",
            {"question": "who?", "answer": ["Bob", "Robert"]},
            {"question": "why?", "answer": ["so"]},
        )
    )

    assert found.format == "nq-open"
    assert answers_of(found.table) == {"0": ["Bob", "Robert"], "1": ["so"]}
    assert found.counts["without_id"] == 2


def test_dprs_question_files_hold_python_lists_and_no_header(tmp_path: Path) -> None:
    found = read_questions(
        written(tmp_path / "nq-dev.qa.csv", "who?\t['Bob', \"O'Hara\"]\nwhy?\t['so']\n")
    )

    assert found.format == "dpr-questions"
    assert answers_of(found.table) == {"0": ["Bob", "O'Hara"], "1": ["so"]}
    with pytest.raises(BadInput, match=r"csv:2.*a list of answers"):
        read_questions(written(tmp_path / "bad.csv", "who?\t['Bob']\nwhy?\t__import__('os')\n"))
    with pytest.raises(BadInput, match=r"csv:1.*expected an answer"):
        read_questions(written(tmp_path / "first.csv", "who?\t[1]\n"))


TRIVIA = {
    "Data": [
        {
            "QuestionId": "tc_33",
            "Question": "Which musical?",
            "Answer": {
                "Value": "Sunset",
                "Aliases": ["Sunset"],
                "NormalizedAliases": ["sunset", "sunset blvd"],
                "HumanAnswers": ["The Sunset"],
            },
            "EntityPages": [{"Filename": "A.txt"}],
            "SearchResults": [{"Filename": "35/35.txt"}],
        }
    ],
    "Domain": "Wikipedia",
    "VerifiedEval": False,
}


def test_trivia_qa_takes_aliases_and_in_the_web_domain_a_question_per_page(tmp_path: Path) -> None:
    wiki = read_questions(written(tmp_path / "wiki.json", TRIVIA))
    web = read_questions(written(tmp_path / "web.json", {**TRIVIA, "Domain": "Web"}))

    assert wiki.format == "triviaqa"
    assert answers_of(wiki.table) == {"tc_33": ["sunset", "sunset blvd", "The Sunset"]}
    assert wiki.table.attributes["tc_33"] == {"Value": "Sunset"}
    assert web.table.ids == ("tc_33--35/35.txt", "tc_33--A.txt")
    assert web.table.documents == ("35/35.txt", "A.txt")
    with pytest.raises(NothingToEvaluate, match="there is no question in it"):
        read_questions({**TRIVIA, "VerifiedEval": True})


KILT_GOLD = {
    "id": 1,
    "input": "How?",
    "output": [
        {
            "answer": "by sea",
            "provenance": [{"wikipedia_id": 1}, {"wikipedia_id": "2"}, {"wikipedia_id": "1"}],
        },
        {"answer": "by boat", "provenance": [{"wikipedia_id": "5"}]},
        {"provenance": [{"wikipedia_id": "7"}]},
    ],
}


def test_kilt_keeps_the_pages_of_each_output_as_one_set_of_evidence(tmp_path: Path) -> None:
    found = read_questions(lines(tmp_path / "gold.jsonl", KILT_GOLD))

    assert found.format == "kilt"
    assert found.table.evidence == {"1": (("1", "2"), ("5",), ("7",))}
    assert answers_of(found.table) == {"1": ["by sea", "by boat"]}
    assert found.table.answer_documents == (None, "5")


def test_kilt_guesses_are_answers_and_retrieved_pages(tmp_path: Path) -> None:
    guess = {
        "id": 1,
        "output": [
            {
                "answer": "by sea",
                "provenance": [{"wikipedia_id": 5}, {"wikipedia_id": "1"}, {"wikipedia_id": 5}],
            }
        ],
    }
    path = lines(tmp_path / "guess.jsonl", guess)

    predictions, retrieved = read_predictions(path), read_retrieved(path)

    assert answers_of(predictions.table) == {"1": ["by sea"]}
    assert predictions.table.documents == ("5",)
    assert list(retrieved.table.items) == ["5", "1"]
    assert retrieved.ordered
    with pytest.raises(BadInput, match=r"output is a list of 3; expected a list of one output"):
        read_predictions(lines(tmp_path / "gold.jsonl", KILT_GOLD, guess))


# ---- real data
# --------------------------------------------------------------------------------------------------


def piaf(shared: Path, name: str) -> FoundTable[Questions]:
    return read_questions(shared / "qa" / f"piaf_{name}.json")


def test_piafs_smallest_sample_has_sixteen_evaluated_questions(shared: Path) -> None:
    found = piaf(shared, "tiny")

    assert len(found.table.ids) == 16
    assert int(found.table.impossible.sum()) == 1
    assert found.counts == {"empty": 1}
    assert len(found.table.contexts) == 3


def test_piafs_samples_are_read_whole(shared: Path) -> None:
    small, faq, duplicates = (
        piaf(shared, "small"),
        piaf(shared, "faq"),
        piaf(shared, "duplicate_answers"),
    )

    assert (len(small.table.contexts), len(small.table.answers)) == (11, 65)
    assert (len(faq.table.ids), faq.counts["without_id"]) == (9, 9)
    assert (len(duplicates.table.ids), duplicates.counts["without_id"]) == (7, 7)
    assert all(found.counts.get("misaligned", 0) == 0 for found in (small, faq, duplicates))


def test_the_squad_subset_and_its_predictions_share_all_ids(shared: Path) -> None:
    gold = read_questions(shared / "qa" / "squad2_normans_complexity.json")
    predictions = read_predictions(
        shared / "qa" / "squad2_normans_complexity_bert_predictions.json", questions=gold.table
    )

    assert len(gold.table.ids) == 626
    assert int(gold.table.impossible.sum()) == 333
    assert len(gold.table.contexts) == 87
    assert gold.counts == {}
    assert predictions.table.ids == gold.table.ids
    assert predictions.findings == ()
