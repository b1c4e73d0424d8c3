"""Conventions in files of the user's own."""

from pathlib import Path

import pytest

import rankwell as rw
from rankwell.conventions import CONVENTIONS, find_convention
from rankwell.data.registry import parse_measure
from rankwell.errors import BadInput, UnknownName

QRELS = {"q1": {"a": 1, "b": 0}, "q2": {"c": 2}}
RUN = {"q1": {"b": 2.0, "a": 1.0}, "q2": {"c": 1.0}}


def written(folder: Path, text: str) -> str:
    (folder / "mine.toml").write_text(text, encoding="utf-8")
    return str(folder / "mine.toml")


def test_the_rules_that_differ_replace_those_of_the_base(tmp_path: Path):
    place = written(
        tmp_path,
        'base = "trec_eval10"\nties = "id-asc"\n[words]\nHits = "Success"\n'
        '[tasks.qa]\nlanguage = "de"\n',
    )

    convention, base = find_convention(place), CONVENTIONS["trec_eval10"]

    assert (convention.name, convention.ties) == (place, "id-asc")
    assert convention.no_relevant == base.no_relevant
    assert convention.words == {**base.words, "Hits": "Success"}
    assert convention.tasks["qa"] == {"language": "de"}
    assert parse_measure("Hits@1", convention.words) == parse_measure("Success@1")


def test_a_run_is_evaluated_under_a_convention_of_ones_own(tmp_path: Path):
    place = written(tmp_path, 'base = "rankwell"\nunit = "percent"\n[words]\nHits = "Success"\n')

    results = rw.evaluate(QRELS, RUN, ["Hits@1", "RR"], convention=place)

    assert {row["label"]: row["mean"] for row in results.summary} == {"Hits@1": 50.0, "RR": 75.0}
    assert results.rules["convention"] == place
    assert rw.evaluate(QRELS, RUN, ["Hits@1", "RR"], convention=Path(place)).rules == results.rules


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('ties = "input"', r"mine\.toml: name the convention that it changes, as in base = "),
        ("base = 3", r"mine\.toml: name the convention"),
        ('base = "piav"', r"base = 'piav': did you mean 'piaf'"),
        ('base = "rankwell"\ntied = "input"', r"there is no rule 'tied'; did you mean 'ties'"),
        ('base = "rankwell"\nname = "x"', r"there is no rule 'name'"),
        ('base = "rankwell"\nties = "random"', r"ties = 'random'; expected id-desc or id-asc or"),
        ('base = "rankwell"\nexclude_self = 1', r"exclude_self = 1; expected true or false"),
        ('base = "rankwell"\ndefaults = "AP"', r"defaults = 'AP'; expected a list"),
        ('base = "rankwell"\nwords = 3', r"words = 3; expected a table"),
        ('base = "rankwell"\n[words]\nA = 3', r"words = .*; expected a table"),
        ('base = "rankwell"\n[tasks.qq]\nk = 1', r"there is no task 'qq'"),
        ('base = "rankwell"\ntasks = {qa = 1}', r"tasks = .*; expected a table"),
        ('base = "rankwell', r"mine\.toml is not valid TOML"),
    ],
)
def test_a_file_that_is_no_convention_is_refused_by_place_and_reason(
    tmp_path: Path, text: str, message: str
):
    place = written(tmp_path, text)

    with pytest.raises(BadInput, match=message):
        rw.evaluate(QRELS, RUN, "RR", convention=place)


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ('langage = "de"', r"\[tasks\.qa\]: there is no rule 'langage'; did you mean 'language'"),
        ('na_ties = "half"', r"na_ties = 'half'; expected whole or official"),
        ('na_threshold = "0.5"', r"na_threshold = '0\.5'; expected a number"),
        ("na_threshold = nan", r"na_threshold = nan; expected a number"),
        ("context_share = true", r"context_share = True; expected a number"),
    ],
)
def test_a_rule_of_a_task_that_does_not_exist_or_fit_is_refused(
    tmp_path: Path, rule: str, message: str
):
    place = written(tmp_path, f'base = "squad2"\n[tasks.qa]\n{rule}\n')
    row = {"id": "q", "question": "?", "answers": [{"text": "b"}]}

    with pytest.raises(BadInput, match=message):
        rw.evaluate_qa([row], {"q": "b"}, convention=place)


def test_a_file_that_is_missing_and_a_misspelt_name_are_refused(tmp_path: Path):
    with pytest.raises(BadInput, match=r"nowhere\.toml"):
        find_convention(str(tmp_path / "nowhere.toml"))
    with pytest.raises(UnknownName, match=r"did you mean 'ranx'.* Your own is a file"):
        find_convention("ranks")
