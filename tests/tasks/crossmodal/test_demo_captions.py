"""`rankwell demo crossmodal`: a small world of its own, ending with the two-way table."""

import json
from pathlib import Path

import numpy as np
import pytest

from rankwell import cli, evaluate_crossmodal
from rankwell.tasks.crossmodal.commands.demo_crossmodal import CAPTIONS, VIDEOS, make_scenes


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr("sys.argv", ["rankwell", *arguments])
    return cli.main()


def test_the_demo_prints_both_directions_and_the_command_that_makes_them_again(
    tmp_path: Path, monkeypatch, capsys
):
    assert run(monkeypatch, "demo", "crossmodal", "-o", str(tmp_path / "d")) == 0
    first = capsys.readouterr().out
    commands = [line.split() for line in first.splitlines() if line.strip().startswith("rankwell ")]

    command, opened = commands
    assert command[:2] == ["rankwell", "crossmodal"]
    assert opened[:2] == ["rankwell", "report"]
    assert (Path(opened[2]) / "report.html").is_file()
    assert run(monkeypatch, *command[1:]) == 0
    table = [
        line
        for line in capsys.readouterr().out.splitlines()
        if {"percent", "rank"} & set(line.split())
    ]
    assert len(table) == 11
    assert all(line in first for line in table)


def test_no_scorer_can_have_all_captions_right_and_chance_is_far_below(
    tmp_path: Path, monkeypatch, capsys
):
    assert run(monkeypatch, "demo", "crossmodal", "-o", str(tmp_path)) == 0
    capsys.readouterr()
    rows = json.loads((tmp_path / "results" / "summary.json").read_text())["rows"]

    for row in (row for row in rows if row["label"] == "R@1"):
        assert row["chance"] < row["mean"] / 10
        assert row["mean"] < row["ceiling"] < 100


def test_equal_seeds_give_equal_scenes_and_captions_belong_to_one_scene():
    one, same, other = make_scenes(1), make_scenes(1), make_scenes(2)

    assert one.scores.tobytes() == same.scores.tobytes()
    assert one.scores.tobytes() != other.scores.tobytes()
    assert one.scores.shape == (VIDEOS * CAPTIONS, VIDEOS)
    assert one.positives == [[row // CAPTIONS] for row in range(VIDEOS * CAPTIONS)]
    assert np.abs(one.scores).max() <= 1
    assert evaluate_crossmodal(one.scores, one.positives, intervals="none").summary[0]["mean"] > 20
