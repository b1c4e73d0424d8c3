"""Lists of cut-offs and of measures, written with commas, with blanks, or with the option again."""

from pathlib import Path

import pytest

from rankwell.cli import with_lists
from rankwell.data.catalogue import command_function

EVALUATE = command_function(("evaluate",))
KEYWORDS = command_function(("keywords",))
ENGINE = command_function(("engine", "run"))

MEASURES = {
    "-m P@10 AP qrels run": "-m P@10 -m AP qrels run",
    "-m P@10,AP qrels": "-m P@10,AP qrels",
    "-m P@10 -m AP qrels": "-m P@10 -m AP qrels",
    "-mP@10 AP qrels": "-mP@10 -m AP qrels",
    "--measure=P@10 AP qrels": "--measure=P@10 --measure AP qrels",
    "--measure P@10 AP --format csv": "--measure P@10 --measure AP --format csv",
    "qrels run -m P@10 AP": "qrels run -m P@10 -m AP",
    # The first word is always the measure, even if a file has its name.
    "-m qrels run": "-m qrels run",
    # A file ends the list, even if it has the name of a measure.
    "-m P@10 RR run": "-m P@10 RR run",
    "-m P@10 system=run": "-m P@10 system=run",
    # A cut-off makes a measure of a misspelt name, which is then answered.
    "-m P@10 ndgc@10 run": "-m P@10 -m ndgc@10 run",
    # Other words that name no measure are left to their place, and said to be missing files.
    "-m P@10 nowhere.run": "-m P@10 nowhere.run",
    "-m P@10 s3://bucket/run@1": "-m P@10 s3://bucket/run@1",
    "-m P@10 - run": "-m P@10 - run",
    # Words of conventions, and functions of one's own.
    "-m ndcg_cut_10 map_cut.100 P_5 run": "-m ndcg_cut_10 -m map_cut.100 -m P_5 run",
    "-m P@10 ./own.py:first run": "-m P@10 -m ./own.py:first run",
    "-m P@10 AP(rel=2)@100 run": "-m P@10 -m AP(rel=2)@100 run",
    # A list ends with the first word that is no measure.
    "-m P@10 run AP": "-m P@10 run AP",
}
CUTOFFS = {
    "-k 1 3 5 10 --annotations x": "-k 1,3,5,10 --annotations x",
    "-k 1,3 5": "-k 1,3,5",
    "-k1 3": "-k1,3",
    "-k=1 3": "-k=1,3",
    "-k 1, 3": "-k 1,,3",
    "-k 1 3 run": "-k 1,3 run",
    "-k 1 7 5": "-k 1 7 5",
    "--relevance any -k 1 5 -m P AP": "--relevance any -k 1,5 -m P -m AP",
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("qrels", "run", "RR", "7", "own.py"):
        Path(name).touch()


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("line", MEASURES)
def test_measures_may_stand_behind_each_other(line: str):
    assert with_lists(EVALUATE, line.split()) == MEASURES[line].split()


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("line", CUTOFFS)
def test_cutoffs_may_stand_behind_each_other(line: str):
    assert with_lists(KEYWORDS, line.split()) == CUTOFFS[line].split()


@pytest.mark.usefixtures("folder")
def test_the_name_of_an_engine_is_no_measure():
    line = ["-m", "nDCG@10", "sqlite-fts5"]
    assert with_lists(ENGINE, line) == line
