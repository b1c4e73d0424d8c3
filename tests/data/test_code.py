"""Code that users name: by its file, or as an installed module; nothing comes from the working
directory.
"""

import sys
from pathlib import Path

import pytest

import rankwell as rw
from rankwell.data.code import (
    CodeName,
    code_files,
    code_name,
    load_object,
    origin_of,
    refusing_code,
)
from rankwell.errors import BadInput, BadUsage, CodeRefused


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my_judge.py").write_text("def grade(question, answer, right):\n    return 0.25\n")
    return tmp_path


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("./my_judge.py:grade", CodeName("./my_judge.py", "grade")),
        (r"C:\work\my_judge.py:Class.grade", CodeName(r"C:\work\my_judge.py", "Class.grade")),
        ("/with blanks/my_judge.py:grade", CodeName("/with blanks/my_judge.py", "grade")),
        ("package.module:name", CodeName("package.module", "name")),
        ("s3://bucket/my_judge.py:grade", None),
        ("tfidf-svd:128", None),
        ("http://host:8000", None),
        ("./my_judge.py", None),
        (".py:grade", None),
    ],
)
def test_a_text_is_a_file_an_installed_module_or_neither(text: str, name: CodeName | None):
    assert code_name(text) == name


def test_a_file_is_loaded_by_a_relative_and_by_an_absolute_path_as_one_module(folder: Path):
    assert load_object("./my_judge.py:grade") is load_object(f"{folder}/my_judge.py:grade")
    assert str(folder) not in sys.path


def test_files_of_one_name_in_two_folders_are_two_modules(folder: Path):
    (folder / "other").mkdir()
    (folder / "other" / "my_judge.py").write_text(
        "def grade(question, answer, right):\n    return 0.75\n"
    )

    assert [load_object(f"{place}/my_judge.py:grade")("", "", []) for place in (".", "other")] == [
        0.25,
        0.75,
    ]
    assert "my_judge" not in sys.modules


def test_a_file_that_has_changed_is_loaded_anew(folder: Path):
    before = load_object("./my_judge.py:grade")
    (folder / "my_judge.py").write_text("def grade(question, answer, right):\n    return 0.5\n")

    assert (before("", "", []), load_object("./my_judge.py:grade")("", "", [])) == (0.25, 0.5)


def test_a_file_cannot_import_its_neighbours_unless_the_path_of_python_has_them(
    folder: Path, monkeypatch: pytest.MonkeyPatch
):
    (folder / "my_helper_of_code.py").write_text("x = 1\n")
    (folder / "needy.py").write_text("from my_helper_of_code import x\n\n\ndef f(): ...\n")
    (folder / "inside.py").write_text("from . import my_helper_of_code\n\n\ndef f(): ...\n")

    with pytest.raises(
        BadUsage,
        match=r"which lies beside it\. The folder of a named file is not searched: install both",
    ):
        load_object("./needy.py:f")
    with pytest.raises(
        BadUsage, match=r"no known parent package.*The folder of a named file is not searched"
    ):
        load_object("./inside.py:f")
    monkeypatch.syspath_prepend(str(folder))
    assert load_object("./needy.py:f")() is None
    sys.modules.pop("my_helper_of_code")


def test_a_module_of_the_working_directory_is_refused_with_the_path_to_write(folder: Path):
    with pytest.raises(
        BadUsage,
        match=r"no module 'my_judge' is installed; name a file by its path, \./my_judge\.py:grade",
    ):
        load_object("my_judge:grade")


def test_what_a_file_gives_carries_its_name_and_digest(folder: Path):
    from hashlib import sha256

    digest = sha256((folder / "my_judge.py").read_bytes()).hexdigest()

    assert origin_of(load_object("./my_judge.py:grade")) == f"my_judge.py sha256:{digest}"
    assert origin_of(load_object("json:dumps")) == ""


def test_the_rules_of_a_result_have_the_digest_of_a_measure_and_of_a_judge(folder: Path):
    (folder / "my_measures.py").write_text("def of_a_file(view):\n    return view.n_relevant(1)\n")
    result = rw.evaluate({"q": {"a": 1}}, {"r": {"q": {"a": 1.0}}}, "./my_measures.py:of_a_file")
    judged = rw.evaluate_qa(
        rw.Questions.from_texts({"q": ["Paris"]}),
        {"q": "Lyon"},
        measures="AnswerJudge(judge='./my_judge.py:grade')",
        convention="nq-open",
    )

    assert result.describe()["measures"]["of_a_file"]["source"].startswith(
        "own, my_measures.py sha256:"
    )
    assert any(str(each).startswith("my_judge.py sha256:") for each in judged.rules.values())


def test_files_of_code_are_found_in_the_texts_of_options(folder: Path):
    assert code_files("AnswerJudge(judge='./my_judge.py:grade',k=3)@5") == [Path("my_judge.py")]
    assert code_files("see no_such_file.py:5") == []


def test_a_block_that_refuses_code_loads_none(folder: Path):
    with (
        refusing_code("a plan names it"),
        pytest.raises(CodeRefused, match=r"'\./my_judge\.py:grade' is code: a plan names it"),
    ):
        load_object("./my_judge.py:grade")
    assert load_object("./my_judge.py:grade")("", "", []) == 0.25


def test_a_folder_with_the_name_of_a_file_is_called_a_folder(folder: Path):
    (folder / "judges.py").mkdir()
    with pytest.raises(BadInput, match=r"^[^:]*judges\.py is a folder; name a file\.$"):
        load_object("./judges.py:grade")
