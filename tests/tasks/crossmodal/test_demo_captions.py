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


def test_the_demo_prints_both_directions_as_the_command_over_its_files_does(
    tmp_path: Path, monkeypatch, capsys
):
    folder = tmp_path / "d"
    assert run(monkeypatch, "demo", "crossmodal", "-o", str(folder)) == 0
    first, err = capsys.readouterr()
    assert f"Next: rankwell report {folder / 'results'} --open" in err
    assert (folder / "results" / "report.html").is_file()
    words = ("--qrels", str(folder / "positives.json"), "--queries", str(folder / "captions.txt"))
    assert run(monkeypatch, "crossmodal", str(folder / "scores.npy"), *words) == 0
    again = capsys.readouterr().out
    assert [word for word in ("R@1", "R@5", "R@10", "MedR", "MnR") if word in again] == [
        "R@1",
        "R@5",
        "R@10",
        "MedR",
        "MnR",
    ]
    assert first.endswith(again)


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
