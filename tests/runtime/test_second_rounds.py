"""Parts that need all the first ones: a second plan in the folder of the first, on every
executor.
"""

import json
from functools import partial
from pathlib import Path

import pytest

from rankwell.data.options import PartOptions, PartOutcome
from rankwell.errors import BadUsage
from rankwell.runtime.parts import KINDS, Cut, PartContent, PartInputs, PartKind, SecondRound
from rankwell.runtime.parts.execution import compute_part, run_in_parts


def cut(options, _) -> Cut:
    return Cut(3, list(range(3)), {"parts": 3})


def content(number: int) -> PartContent:
    return PartContent(".txt", lambda stream: stream.write(str(number).encode()), {})


def squares(inputs: PartInputs, index: int) -> PartContent:
    return content(inputs.options["first"] + index**2)


def shares(inputs: PartInputs, index: int) -> PartContent:
    return content(inputs.options["total"] * index)


def numbers(files) -> list[int]:
    return [int(file.read_text()) for file in files]


def second(inputs: PartInputs, files, place) -> SecondRound | None:
    total = sum(numbers(files))
    return SecondRound("shares", {"total": total}) if inputs.options["first"] else None


@pytest.fixture(autouse=True)
def kinds(monkeypatch: pytest.MonkeyPatch) -> None:
    kind = partial(
        PartKind, files=lambda _: {}, cut=cut, merge=lambda inputs, files, folder: numbers(files)
    )
    for each in (kind("squares", part=squares, second=second), kind("shares", part=shares)):
        monkeypatch.setitem(KINDS._entries, each.name, each)


def work_out(folder: Path, first: int = 1, executor: str | None = None) -> PartOutcome:
    return run_in_parts(
        "squares",
        {"first": first},
        PartOptions(executor=executor, work=str(folder)),
        "rankwell test",
    )


def test_a_second_round_follows_when_all_first_parts_are_there(tmp_path: Path):
    assert work_out(tmp_path / "work").result == [1, 2, 5, 0, 8, 16]
    assert json.loads((tmp_path / "work" / "second" / "plan.json").read_text())["options"] == {
        "total": 8
    }


def test_there_is_none_where_none_is_needed(tmp_path: Path):
    assert work_out(tmp_path / "work", first=0).result == [0, 1, 4]
    assert not (tmp_path / "work" / "second").exists()


def test_an_array_is_submitted_twice(tmp_path: Path):
    folder = tmp_path / "work"
    planned = work_out(folder, executor="array")
    for index in range(3):
        compute_part(folder, index)
    between = work_out(folder, executor="array")
    for index in range(3):
        compute_part(folder / "second", index)

    assert (planned.missing, "--array=0-2" in planned.text) == (None, True)
    assert between.missing == (0, 1, 2)
    assert f"rankwell worker {folder}/second --threads" in between.text
    assert between.messages == (
        f"{folder}/second: 3 of 3 parts are missing: 0-2; submit them, then run this command "
        "again.",
    )
    assert work_out(folder, executor="array").result == [1, 2, 5, 0, 8, 16]


def test_a_finished_first_round_is_not_computed_again(tmp_path: Path):
    work_out(tmp_path / "work")
    before = (tmp_path / "work" / "part-00001.txt").stat().st_ino
    (tmp_path / "work" / "second" / "part-00001.txt").unlink()

    assert work_out(tmp_path / "work").result == [1, 2, 5, 0, 8, 16]
    assert (tmp_path / "work" / "part-00001.txt").stat().st_ino == before


def test_a_second_round_of_other_parts_is_refused(tmp_path: Path):
    work_out(tmp_path / "work")
    plan = tmp_path / "work" / "second" / "plan.json"
    plan.write_text(plan.read_text().replace('"total": 8', '"total": 9'))

    with pytest.raises(
        BadUsage,
        match=r"second holds the plan of other work: total was 9, is 8\. Name another work folder",
    ):
        work_out(tmp_path / "work")
