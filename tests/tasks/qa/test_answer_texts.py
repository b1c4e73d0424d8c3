"""Generated answers by n-grams, vectors and a user's judge: the figures of the libraries, and
failures that no grade replaces.
"""

import json
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import rankwell as rw
from rankwell.cli import main
from rankwell.data.registry import parse_measure
from rankwell.errors import BadInput, BadUsage
from rankwell.tasks.qa.answer_pairs import Questions, answer_pairs

GOLDEN = json.loads(
    (Path(__file__).parents[2] / "golden" / "answer_texts.json").read_text(encoding="utf-8")
)
CASES = {f"q{place:02d}": case for place, case in enumerate(GOLDEN["cases"])}
RIGHT, GIVEN = (
    Questions.from_texts({"q1": ["Paris"], "q2": ["Rome", "Roma"]}),
    {"q1": "Lyon", "q2": "Roma"},
)


def values(measure: str) -> list[float]:
    """The values of the golden cases."""
    pairs = answer_pairs(
        {name: each["right"] for name, each in CASES.items()},
        {k: [v["answer"]] for k, v in CASES.items()},
    )
    return parse_measure(measure)(pairs).tolist()


@pytest.mark.parametrize(
    ("measure", "name", "package"),
    [
        ("AnswerROUGE(stemmer=True)", "rougeL", "rouge_score"),
        ("AnswerROUGE(form='rouge1',stemmer=True)", "rouge1", "rouge_score"),
        ("AnswerBLEU", "bleu", "sacrebleu"),
    ],
)
def test_rouge_and_bleu_are_those_of_the_libraries(measure: str, name: str, package: str):
    pytest.importorskip(package)

    assert values(measure) == pytest.approx(GOLDEN["figures"][name], abs=1e-12)


@pytest.mark.slow
def test_the_similarity_is_haystacks_with_the_same_model(minilm: str):
    assert values(f"AnswerSimilarity(encoder={str(minilm)!r})") == pytest.approx(
        GOLDEN["figures"]["sas"], abs=1e-5
    )


def judged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str) -> Any:
    """The results of a judge of this body in the working folder."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my_judge.py").write_text(
        f"def grade(question, answer, right):\n    {body}\n", encoding="utf-8"
    )
    return rw.evaluate_qa(
        RIGHT,
        GIVEN,
        convention="nq-open",
        measures="AnswerJudge(judge='./my_judge.py:grade')",
        intervals="none",
    )


def test_a_judge_grades_each_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    result = judged(tmp_path, monkeypatch, "return 0.75 if answer in right else 0.25")

    assert [row["value"] for row in result.per_query()] == [0.25, 0.75]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("raise TimeoutError('no reply')", "'q1', answer 'Lyon' fails: TimeoutError: no reply"),
        ("return float('nan')", "gives nan; expected a number from 0 to 1"),
        ("return 1.5", "gives 1.5"),
        ("return None", "gives None"),
        ("return 'yes'", "gives 'yes'"),
    ],
)
def test_no_grade_replaces_that_of_a_judge_that_fails(
    body: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    with pytest.raises(BadInput, match=message):
        judged(tmp_path, monkeypatch, body)


def test_a_judge_is_a_function_in_python():
    def grade(question: str, answer: str, right: Sequence[str]) -> float:
        return 0.75 if answer in right else 0.25

    judges = [rw.answer_judge(grade, name="half"), rw.answer_judge(lambda *_: 1.0, name="kind")]
    result = rw.evaluate_qa(RIGHT, GIVEN, measures=judges, convention="nq-open", intervals="none")

    assert [row.mean for row in result.summary] == [0.5, 1.0]
    assert "AnswerJudge(judge='half')@5" in result.rules["measures"]
    assert str(rw.answer_judge(json.loads)) == "AnswerJudge(judge='json:loads')"
    # Defined again, as in a notebook, it is the new one.
    rw.answer_judge(lambda *_: 0.5, name="kind")
    assert (
        rw.evaluate_qa(RIGHT, GIVEN, measures=judges[1], convention="nq-open")[str(judges[1])]
        == 0.5
    )


def test_a_judge_in_python_needs_a_name_where_it_has_none():
    for function, options, message in (
        (3, {}, "3 is not a judge"),
        (lambda *_: 1.0, {}, "pass one as name="),
        (partial(float, "1"), {}, "pass one as name="),
        (json.loads, {"name": "a b"}, "'a b' is not a name"),
    ):
        with pytest.raises(BadUsage, match=message):
            rw.answer_judge(function, **options)
    failing = rw.answer_judge(lambda *_: 1 / 0, name="failing")
    with pytest.raises(
        BadInput, match="failing on question 'q1', answer 'Lyon' fails: ZeroDivisionError"
    ):
        rw.evaluate_qa(RIGHT, GIVEN, measures=failing, convention="nq-open")


def test_a_judge_that_does_not_exist_is_an_error():
    with pytest.raises(BadUsage, match="no module 'nope' is installed"):
        rw.evaluate_qa(RIGHT, GIVEN, measures="AnswerJudge(judge='nope:grade')")
    with pytest.raises(BadUsage, match="judge=3"):
        rw.evaluate_qa(RIGHT, GIVEN, measures="AnswerJudge(judge=3)")


def test_the_rules_name_library_version_and_signature():
    pytest.importorskip("sacrebleu")
    pytest.importorskip("rouge_score")

    rules = rw.evaluate_qa(
        RIGHT, GIVEN, convention="nq-open", measures=["AnswerBLEU(tokenize='none')", "AnswerROUGE"]
    ).rules

    assert rules["AnswerBLEU(tokenize='none')@5"].startswith(
        "sacrebleu case:mixed|eff:yes|tok:none|smooth:exp|version:"
    )
    assert rules["AnswerROUGE@5"].startswith("rouge-score 0.")


def test_vectors_that_are_not_numbers_are_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bad_vectors.py").write_text(
        "def encode(texts):\n    return [[float('nan')] for _ in texts]\n", encoding="utf-8"
    )

    with pytest.raises(BadInput, match="vector of finite numbers"):
        rw.evaluate_qa(
            RIGHT,
            GIVEN,
            measures="AnswerSimilarity(encoder='./bad_vectors.py:encode')",
            convention="nq-open",
        )


def test_a_zero_vector_of_a_compared_answer_is_refused_with_its_text(
    monkeypatch: pytest.MonkeyPatch,
):
    module = SimpleNamespace(encode=lambda texts: [[float(text != "Lyon"), 0.0] for text in texts])
    monkeypatch.setitem(sys.modules, "no_direction", module)

    with pytest.raises(
        BadInput, match=r"no_direction:encode: the vector of 'Lyon' is zero and has no direction"
    ):
        rw.evaluate_qa(
            RIGHT,
            GIVEN,
            convention="nq-open",
            measures="AnswerSimilarity(encoder='no_direction:encode')",
        )


def test_a_table_of_single_questions_keeps_the_underscores_of_a_measure(
    tmp_path: Path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    asked = {"id": "q", "question": "?", "answers": [{"text": "b", "answer_start": 2}]}
    gold = {"data": [{"paragraphs": [{"context": "a b", "qas": [asked]}]}]}
    (tmp_path / "gold.json").write_text(json.dumps(gold))
    (tmp_path / "said.json").write_text('{"q": "b"}')
    (tmp_path / "my_judge.py").write_text(
        "def my_grade(question, answer, right):\n    return 1.0\n"
    )
    line = "qa gold.json said.json -c nq-open --per-query --verbose -m"
    monkeypatch.setattr(
        "sys.argv", ["rankwell", *line.split(), "AnswerJudge(judge='./my_judge.py:my_grade')"]
    )

    assert main() == 0

    assert "AnswerJudge(judge='./my_judge.py:my_grade')" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "message"),
    [("fails", "RuntimeError: no network"), ("ragged", "ValueError"), ("words", "ValueError")],
)
def test_an_encoder_that_fails_or_gives_no_numbers_is_named(
    name: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    lines = (
        "def fails(texts):\n    raise RuntimeError('no network')",
        "def ragged(texts):\n    return [[1.0] * (place + 1) for place, _ in enumerate(texts)]",
        "def words(texts):\n    return ['high' for _ in texts]\n",
    )
    (tmp_path / "own_encoder.py").write_text("\n".join(lines), encoding="utf-8")

    with pytest.raises(BadInput, match=f"own_encoder.py:{name} on [0-9]+ texts fails: {message}"):
        rw.evaluate_qa(
            RIGHT,
            GIVEN,
            measures=f"AnswerSimilarity(encoder='./own_encoder.py:{name}')",
            convention="nq-open",
        )
