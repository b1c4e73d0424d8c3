"""`rankwell bench`: six protocols from one file, only what changed, tables that agree with
`compare`, errors that help.
"""

import contextlib
import csv
import importlib
import io
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import rankwell
from benches import GOLDEN, NOISE, RUNS_ALONE, TOML, golden_rows, make_bench
from commanding import with_fields
from rankwell import cli
from rankwell.cli.commands.compare import compare as compare_command
from rankwell.comparison import bench
from rankwell.comparison.bench import input_mark, load_command
from rankwell.comparison.bench.files import read_experiment
from rankwell.comparison.bench.results import BenchResults, to_do
from rankwell.data.options import overwriting
from rankwell.errors import BadInput, BadUsage, UnknownName
from rankwell.io.result_folder import read_results
from rankwell.reporting import charts
from rankwell.reporting.system_table import SystemFigure, SystemTable, render_system_tables

compare = with_fields(compare_command)

DRAW = charts.draw_all
CELLS = [
    f"{dataset}/{system}"
    for dataset in re.findall(r'\[dataset\]\]\nname = "(\w+)"', TOML)
    for system in NOISE
]
"""The bench with the first data set alone."""


@pytest.fixture(autouse=True, scope="module")
def no_pictures() -> Iterator[None]:
    """Charts are most of the time, and none of what is tested here."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            "rankwell.reporting.charts.draw_all",
            lambda specs: [charts.Picture(b"", "") for _ in specs],
        )
        yield


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a bench that was evaluated once; not to be changed."""
    folder = tmp_path_factory.mktemp("bench")
    assert not rankwell.bench(make_bench(folder)).failed
    return folder


@pytest.fixture
def folder(finished: Path, tmp_path: Path) -> Path:
    """A copy of it, evaluated as well."""
    return Path(shutil.copytree(finished, tmp_path / "copy"))


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """The file of a bench with the data set `runs` alone, not evaluated."""
    return make_bench(tmp_path / "runs", RUNS_ALONE)


def left(folder: Path, *names: str) -> Path:
    """The file of a bench with these data sets alone."""
    head, *parts = (folder / "bench.toml").read_text().split("[[dataset]]")
    parts[-1], systems = parts[-1].split("[[system]]", 1)
    chosen = [part for part in parts if any(f'name = "{name}"' in part for name in names)]
    (folder / "bench.toml").write_text("[[dataset]]".join([head, *chosen]) + "[[system]]" + systems)
    return folder / "bench.toml"


def content(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def replaced(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


def waiting(folder: Path) -> dict[str, tuple[str, ...]]:
    return {task.cell.name: task.why for task in to_do(folder / "bench.toml") if task.why}


def figures(result: Any) -> dict[tuple[str, str, str], SystemFigure]:
    return {
        (table.label, each.dataset, each.system): each
        for table in result.system_tables
        for each in table.cells
    }


def typed(*arguments: Any) -> tuple[int, str, str]:
    """What a user sees who types this: exit code, standard output, standard error."""
    out, err = io.StringIO(), io.StringIO()
    with (
        pytest.MonkeyPatch.context() as patch,
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        patch.setattr("sys.argv", ["rankwell", *map(str, arguments)])
        code = cli.main()
    return code, out.getvalue(), err.getvalue()


# ---- six protocols
# --------------------------------------------------------------------------------------------------


def test_a_cell_holds_what_its_command_line_gives(finished: Path, tmp_path: Path):
    tasks = to_do(finished / "bench.toml", tmp_path / "elsewhere")
    assert [task.cell.name for task in tasks] == CELLS
    assert len({task.work.command.words for task in tasks}) == 6

    with contextlib.chdir(finished):
        for task in tasks[::2]:
            line = shlex.split(task.work.line)
            words, bare = (
                (line[1 : line.index("--")], line[line.index("--") :])
                if "--" in line
                else (line[1:], [])
            )
            assert typed(*words, "-o", tmp_path / task.cell.name, *bare)[0] == 0
            for name in ("summary.json", "summary.csv", "per_query.parquet", "details.parquet"):
                mine = finished / "bench-results" / task.cell.name / name
                assert mine.read_bytes() == (tmp_path / task.cell.name / name).read_bytes(), mine


def test_tables_hold_the_figures_of_the_folders(finished: Path):
    code, out, err = typed("bench", finished / "bench.toml", "-f", "csv")
    rows = list(csv.DictReader(io.StringIO(out)))

    assert code == 0
    assert "0 of 12 cells evaluated" in err
    assert {f"{row['dataset']}/{row['run']}" for row in rows} == set(CELLS)
    for row in rows:
        summary = json.loads(
            (finished / "bench-results" / row["dataset"] / row["run"] / "summary.json").read_bytes()
        )["rows"]
        word = row["label"].partition(" (")
        way = word[2].removesuffix(")") or None
        own = next(
            each for each in summary if (each["label"], each.get("direction")) == (word[0], way)
        )
        assert [float(row[name]) for name in ("mean", "sd", "ci_low", "ci_high", "n")] == [
            own[name] for name in ("mean", "sd", "ci_low", "ci_high", "n")
        ]
        assert (row["measure"], row["unit"], row["gap"]) == (own["measure"], own["unit"], "")


def test_figures_change_only_with_the_version_of_results(finished: Path):
    assert GOLDEN.exists(), (
        "RESULTS_VERSION is new: write its golden with `python tests/benches.py`."
    )
    rows = golden_rows(rankwell.bench(finished / "bench.toml").summary)

    changed = [row for row in rows if row not in json.loads(GOLDEN.read_bytes())]
    assert not changed, (
        "figures changed: raise RESULTS_VERSION in comparison/bench/__init__.py, then "
        "`python tests/benches.py`."
    )
    assert len(rows) == len(json.loads(GOLDEN.read_bytes()))


def test_without_measures_a_data_set_shows_its_first_figure_and_others_when_asked(folder: Path):
    file = left(folder, "vectors", "videos")
    first = {key[0] for key in figures(rankwell.bench(file)) if key[1] == "videos"}
    asked = {key[0] for key in figures(rankwell.bench(file, measures=["R@5", "MnR (v2t)"]))}

    assert first == {"R@1 (t2v)"}
    # R@5 of the vectors is another measure than that of the videos, and has a table of its own.
    assert asked == {"R@5", "R@5 (t2v)", "R@5 (v2t)", "MnR (v2t)"}
    with pytest.raises(UnknownName, match="no result has a measure 'MnR@5'; did you mean"):
        rankwell.bench(file, measures=["MnR@5"])


def test_every_value_of_parameters_and_options_is_a_system(tmp_path: Path):
    text = RUNS_ALONE.replace(
        "measure = ", 'vary = { duplicates = ["error", "first"] }\nmeasure = '
    )
    file = make_bench(
        tmp_path / "b", text[: text.index("[[system]]")].replace("{system}", "{system}{noise}")
    )
    for name, noise in (("low", "1"), ("high", "2")):
        (tmp_path / "b" / "runs" / f"{name}.run").rename(tmp_path / "b" / "runs" / f"x{noise}.run")
    file.write_text(
        file.read_text() + '[[system]]\nname = "x"\ntitle = "X"\nparameters = { noise = [1, 2] }\n'
    )

    result = rankwell.bench(file)

    assert [each.plan.cell.name for each in result.cells] == [
        f"runs/x noise={noise} duplicates={rule}" for noise in (1, 2) for rule in ("error", "first")
    ]
    found = {key[2]: each.mean for key, each in figures(result).items() if key[0] == "AP"}
    assert (
        found["X noise=1 duplicates=error"]
        == found["X noise=1 duplicates=first"]
        < found["X noise=2 duplicates=first"]
    )


def test_pairs_can_stand_in_a_bench(tmp_path: Path):
    for name, numbers in (
        ("gold", [1, 2, 3, 4, 5]),
        ("a", [1, 2, 3, 5, 4]),
        ("b", [5, 3, 4, 1, 2]),
    ):
        (tmp_path / f"{name}.txt").write_text("\n".join(map(str, numbers)))
    (tmp_path / "bench.toml").write_text(
        '[table]\nmeasures = ["Spearman"]\n[[dataset]]\nname = "sts"\ncommand = '
        '"pairs"\ntargets = "gold.txt"\n'
        'similarities = "{system}.txt"\n[[system]]\nname = "a"\n[[system]]\nname = "b"\n'
    )
    found = figures(rankwell.bench(tmp_path / "bench.toml"))

    # 1 - 6 Σd² / (n (n² - 1))
    assert {key[2]: each.mean for key, each in found.items()} == pytest.approx(
        {"a": 1 - 6 * 2 / 120, "b": 1 - 6 * (16 + 1 + 1 + 9 + 9) / 120}
    )


# ---- only what changed
# --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("k", ["[1, 3]", '"1,3"'])
def test_cut_offs_are_a_list_in_an_experiment(tmp_path: Path, k: str):
    """Of tasks whose measures by default have one cut-off."""
    systems = {"rag": 'retrieved = "bm25.jsonl"', "beyond": 'runs = "mine.run"', "qa": ""}
    inputs = {
        "rag": 'gold = "gold.jsonl"',
        "beyond": 'documents = "items.csv:id"',
        "qa": 'gold = "gold.json"\npredictions = "predictions.json"',
    }
    for task in systems:
        importlib.import_module(f"tasks.{task}.smallest").write(tmp_path)
    tables = [
        f'[[dataset]]\nname = "{task}"\ncommand = "{task}"\n{inputs[task]}\n'
        f'[[system]]\nname = "{task}-1"\ndatasets = ["{task}"]\nk = {k}\n{system}\n'
        for task, system in systems.items()
    ]
    (tmp_path / "bench.toml").write_text("".join(tables))

    assert not rankwell.bench(tmp_path / "bench.toml").failed

    for task, first in {"rag": "SpanP", "beyond": "Entropy", "qa": "accuracy"}.items():
        summary = next(tmp_path.rglob(f"{task}/{task}-1/summary.csv"))
        labels = {row["label"] for row in csv.DictReader(io.StringIO(summary.read_text()))}
        assert {f"{first}@1", f"{first}@3"} <= labels


def test_a_second_call_does_nothing_and_writes_the_same(folder: Path):
    before = content(folder)
    times = {path: path.stat().st_mtime_ns for path in folder.rglob("*/*/*.parquet")}

    again = rankwell.bench(folder / "bench.toml")

    assert again.status == "0 of 12 cells evaluated"
    assert {each.status for each in again.cells} == {"kept"}
    assert content(folder) == before
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*/*/*.parquet")} == times


def test_a_new_date_changes_nothing_and_one_byte_changes_one_cell(folder: Path):
    left(folder, "runs", "questions")
    for path in folder.rglob("*.*"):
        os.utime(path, (0, 0))
    assert waiting(folder) == {}

    replaced(folder / "runs" / "low.run", " x\n", " y\n")
    assert waiting(folder) == {"runs/low": ("input changed: runs/low.run",)}
    assert rankwell.bench(folder / "bench.toml").status == "1 of 4 cells evaluated"
    assert waiting(folder) == {}


@pytest.mark.parametrize(
    ("file", "cells"),
    [
        ("qrels.txt", ["runs/low", "runs/high"]),
        ("vectors/teacher.npy", ["vectors/low", "vectors/high"]),
        # The ids beside vectors are read without being named.
        ("vectors/high.ids.txt", ["vectors/high", "clips/high", "paintings/high"]),
        ("images.csv", ["paintings/low", "paintings/high"]),
        ("gold.json", ["questions/low", "questions/high"]),
    ],
)
def test_an_input_changes_the_cells_that_read_it(folder: Path, file: str, cells: list[str]):
    (folder / file).write_bytes((folder / file).read_bytes() + b"\n")

    assert waiting(folder) == dict.fromkeys(cells, (f"input changed: {file}",))


def test_a_folder_counts_by_all_its_files(tmp_path: Path):
    for place in (
        "references/mona/a.png",
        "references/oak/b.png",
        "queries/mona/c.png",
        "queries/oak/d.png",
    ):
        (tmp_path / "museum" / place).parent.mkdir(parents=True)
        write_picture(
            tmp_path / "museum" / place, shade=40 * ("oak" in place) + ("queries" in place)
        )
    (tmp_path / "bench.toml").write_text(
        '[[dataset]]\nname = "art"\ncommand = "images"\nimages = "museum"\nmeasure = '
        '"P@1"\nintervals = "none"\n'
        '[[system]]\nname = "grey"\nencoder = "small-grey"\n[[system]]\nname = '
        '"colours"\nencoder = "colour-histogram"\n'
    )

    assert not rankwell.bench(tmp_path / "bench.toml").failed
    assert waiting(tmp_path) == {}
    write_picture(tmp_path / "museum" / "queries" / "oak" / "d.png", shade=42)
    assert waiting(tmp_path) == dict.fromkeys(
        ["art/grey", "art/colours"], ("input changed: museum",)
    )


def write_picture(path: Path, *, shade: int) -> None:
    picture = Image.new("RGB", (32, 32), (shade, 90, 200 - shade))
    picture.paste((255, 255, 255), (0, 0, 16, 9))
    picture.save(path)


def test_an_option_changes_the_cells_that_have_it(folder: Path):
    replaced(left(folder, "runs", "vectors"), "k = [1, 5]\n", "k = [1, 3, 5]\n")
    assert waiting(folder) == dict.fromkeys(
        ["vectors/low", "vectors/high"], ("options changed: k",)
    )

    replaced(folder / "bench.toml", "seed = 1", "seed = 2")
    assert waiting(folder) == {
        **dict.fromkeys(["runs/low", "runs/high"], ("options changed: seed",)),
        **dict.fromkeys(["vectors/low", "vectors/high"], ("options changed: k, seed",)),
    }


def test_another_version_of_the_results_changes_everything(
    folder: Path, monkeypatch: pytest.MonkeyPatch
):
    before = bench.RESULTS_VERSION
    monkeypatch.setattr(bench, "RESULTS_VERSION", 99)

    assert waiting(folder) == dict.fromkeys(CELLS, (f"results version changed: {before} to 99",))


def test_results_that_were_changed_or_removed_are_made_again(folder: Path):
    rankwell.bench(left(folder, "runs", "videos", "clips"))
    whole = content(folder)
    shutil.rmtree(folder / "bench-results" / "runs" / "low")
    (folder / "bench-results" / "videos" / "high" / "summary.json").write_text("{}")
    (folder / "bench-results" / "clips" / "high" / "cell.json").write_text("{")

    assert waiting(folder) == {
        "runs/low": ("new",),
        "videos/high": ("its results are not what was written",),
        "clips/high": ("new",),
    }
    rankwell.bench(folder / "bench.toml")
    assert content(folder) == whole


def test_titles_change_tables_and_no_cell(folder: Path):
    replaced(left(folder, "runs"), 'name = "high"\n', 'name = "high"\ntitle = "Ours"\n')

    result = rankwell.bench(folder / "bench.toml")

    assert result.status == "0 of 2 cells evaluated"
    assert {key[2] for key in figures(result)} == {"low", "Ours"}


def test_what_does_not_fit_the_pattern_is_left_as_it_is_and_said_to_be_so(folder: Path):
    left(folder, "runs", "vectors", "clips")
    replaced(folder / "qrels.txt", "q00 0 d0 1", "q00 0 d0 2")
    replaced(folder / "vectors" / "teacher.ids.txt", "c0\n", "c00\n")

    result = rankwell.bench(folder / "bench.toml", only=["runs/l*", "clips/*"])

    status = {each.plan.cell.name: each.status for each in result.cells}
    assert {name for name, word in status.items() if word == "done"} == {"runs/low"}
    assert {name for name, word in status.items() if word == "to do"} == {
        "runs/high",
        "vectors/low",
        "vectors/high",
    }
    assert figures(result)["AP", "runs", "high"].gap == "to do"
    assert figures(result)["AP", "runs", "high"].mean is None
    assert result.status == "1 of 6 cells evaluated, 3 left for another call"
    with pytest.raises(
        UnknownName, match=r"only 'rums/low' fits no cell .*; did you mean 'runs/low'"
    ):
        rankwell.bench(folder / "bench.toml", only=["rums/low"])


def test_overwrite_does_everything_that_fits_again(folder: Path):
    file = left(folder, "runs", "questions")
    with overwriting(True):
        tasks = to_do(file, only=["runs/*"])

    assert {task.cell.name: task.why for task in tasks if task.why} == dict.fromkeys(
        ["runs/low", "runs/high"], ("requested",)
    )
    assert rankwell.bench(file, only=["runs/*"], overwrite=True).status == "2 of 4 cells evaluated"


def test_a_dry_run_says_why_and_how_and_does_nothing(runs: Path):
    code, out, err = typed("bench", runs, "--dry-run", "-f", "json")
    rows = json.loads(out)["rows"]

    assert code == 0
    assert "2 of 2 to do" in err
    assert [(row["cell"], row["to_do"], row["why"]) for row in rows] == [
        ("runs/low", "yes", "new"),
        ("runs/high", "yes", "new"),
    ]
    assert (
        rows[0]["command"]
        == "rankwell evaluate --measure=AP --measure=nDCG@10 --seed=1 -- qrels.txt runs/low.run"
    )
    assert not (runs.parent / "bench-results").exists()


def test_a_killed_run_keeps_what_it_has_done(runs: Path):
    def stop(name: str, done: int, total: int) -> None:
        if name == "cells" and done == 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        rankwell.bench(runs, progress=stop)

    assert waiting(runs.parent) == {"runs/high": ("new",)}
    assert rankwell.bench(runs).status == "1 of 2 cells evaluated"


def test_progress_goes_over_the_cells_that_are_evaluated(runs: Path):
    seen: list[tuple[str, int, int]] = []

    rankwell.bench(runs, only=["*/low"], progress=lambda *told: seen.append(told))

    assert [told[1:] for told in seen if told[0] == "cells"] == [(0, 1), (1, 1)]


def test_processes_change_no_byte(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    # Other processes draw their charts.
    monkeypatch.setattr("rankwell.reporting.charts.draw_all", DRAW)
    rankwell.bench(make_bench(tmp_path / "one", RUNS_ALONE))
    result = rankwell.bench(make_bench(tmp_path / "two", RUNS_ALONE), executor="processes:2")

    assert not result.failed
    assert content(tmp_path / "one") == content(tmp_path / "two")


def test_a_cell_that_fails_in_a_process_of_its_own_is_named(runs: Path):
    (runs.parent / "runs" / "low.run").write_text("q00 Q0 d0 1 nan x\n")

    result = rankwell.bench(runs, executor="processes:2")

    assert [each.status for each in result.cells] == ["failed", "done"]
    assert result.failed[0].error.startswith("runs/low.run:1: ")


# ---- cells that fail
# --------------------------------------------------------------------------------------------------


def test_a_cell_that_fails_is_named_and_the_others_go_on(runs: Path):
    right = (runs.parent / "runs" / "low.run").read_bytes()
    rankwell.bench(runs)
    whole = content(runs.parent / "bench-results")
    (runs.parent / "runs" / "low.run").write_text("q00 Q0 d0 1 nan x\n")

    code, out, err = typed("bench", runs)

    assert code == 2
    assert re.search(r"^low +failed +failed$", out, re.MULTILINE)
    low = f"{0.025 ** (1 / 24):.3f}".lstrip("0")  # Clopper and Pearson's of 24 successes in 24
    perfect = rf"1\.000 \[{low}, 1\.000\]"
    assert re.search(rf"^high +{perfect} +{perfect}$", out, re.MULTILINE)
    assert "runs/low failed: runs/low.run:1: " in err
    assert "0 of 2 cells evaluated, 1 failed" in err
    # What was there before is the result of something else.
    assert not (runs.parent / "bench-results" / "runs" / "low" / "summary.json").exists()
    record = json.loads((runs.parent / "bench-results" / "bench.json").read_bytes())["cells"][
        "runs/low"
    ]
    assert record["status"] == "failed"
    assert record["error"].startswith("runs/low.run:1: ")
    for suffix in ("txt", "md", "tex", "html", "csv", "json"):
        assert "failed" in (runs.parent / "bench-results" / f"table.{suffix}").read_text(), suffix

    (runs.parent / "runs" / "low.run").write_bytes(right)
    assert rankwell.bench(runs).status == "1 of 2 cells evaluated"
    assert content(runs.parent / "bench-results") == whole


def test_a_data_set_of_which_everything_fails_still_has_its_column(runs: Path):
    replaced(runs, '["AP", "nDCG@10"]', '"nDGC@10"')

    code, out, err = typed("bench", runs)

    assert code == 2
    assert out.count("failed") >= 2
    assert "did you mean 'nDCG'" in err or "nDCG@10" in err


def test_an_error_of_our_own_stops_one_cell_only(runs: Path, monkeypatch: pytest.MonkeyPatch):
    import rankwell.tasks.runs.task as command

    evaluate = command.evaluate

    def broken(judgments: str, names: list[str], **options: Any) -> Any:
        if names == ["runs/low.run"]:
            raise ZeroDivisionError("oh")
        return evaluate.evaluate(judgments, names, **options)

    monkeypatch.setattr(command, "evaluate", replace(evaluate, evaluation=broken))
    # Each command is read once per process.
    monkeypatch.setattr(bench, "load_command", bench.load_command.__wrapped__)
    (failed,) = rankwell.bench(runs).failed

    assert failed.error.startswith("internal error, ZeroDivisionError: oh; `rankwell evaluate ")


def test_a_system_without_a_figure_is_said_to_have_none(tmp_path: Path):
    file = make_bench(tmp_path / "b", RUNS_ALONE + '[system.on.runs]\nmeasure = "AP"\n')

    found = figures(rankwell.bench(file))

    assert found["nDCG@10", "runs", "low"].gap == ""
    assert (found["nDCG@10", "runs", "high"].gap, found["nDCG@10", "runs", "high"].why) == (
        "none",
        "its results have no nDCG@10",
    )


def test_a_cell_whose_folder_another_process_left_unfinished_is_evaluated_again(tmp_path: Path):
    file = make_bench(tmp_path / "b", RUNS_ALONE)
    rankwell.bench(file)
    manifest = next((tmp_path / "b").rglob("cell.json")).with_name("manifest.json")
    manifest.write_text(json.dumps({**json.loads(manifest.read_text()), "unfinished": True}))

    found = rankwell.bench(file)

    assert [each.status for each in found.cells].count("done") == 1
    assert "unfinished" not in json.loads(manifest.read_text())


# ---- the same bytes
# --------------------------------------------------------------------------------------------------


def test_the_same_bench_gives_the_same_bytes_wherever_it_lies(
    finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    make_bench(tmp_path / "other")
    monkeypatch.chdir(tmp_path)
    rankwell.bench("other/bench.toml", "out")

    # Times that were measured, and the hash of their file.
    def measured(name: str) -> bool:
        return name.startswith("paintings/") and name.endswith(
            ("performance.json", "manifest.json")
        )

    one, other = content(finished / "bench-results"), content(tmp_path / "out")
    assert {name for name in one if one[name] != other.get(name)} == set(filter(measured, one))
    assert set(one) == set(other)
    assert not any(
        str(place).encode() in each
        for each in one.values()
        for place in (finished, finished.parent)
    )


def test_the_hash_seed_of_python_does_not_matter(runs: Path, tmp_path: Path):
    rankwell.bench(runs, tmp_path / "here")
    code = (
        "import sys, rankwell, rankwell.reporting.charts as c;"
        "c.draw_all = lambda specs: [c.Picture(b'', '') for _ in specs]; "
        "rankwell.bench(sys.argv[1], sys.argv[2])"
    )
    subprocess.run(
        [sys.executable, "-c", code, str(runs), str(tmp_path / "there")],
        check=True,
        env={**os.environ, "PYTHONHASHSEED": "7"},
    )

    assert content(tmp_path / "here") == content(tmp_path / "there")


# ---- tables
# --------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def evaluated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two data sets of runs with three systems, of which `mid` is between the others, evaluated;
    not to be changed.
    """
    file = make_bench(tmp_path_factory.mktemp("three") / "b", RUNS_ALONE)
    draw = np.random.default_rng(9)
    lines = [line.split() for line in (file.parent / "runs" / "high.run").read_text().splitlines()]
    noisy = [
        (query, item, float(score) + 0.6 * draw.standard_normal())
        for query, _, item, _, score, _ in lines
    ]
    (file.parent / "runs" / "mid.run").write_text(
        "".join(f"{q} Q0 {d} 1 {score:.6f} x\n" for q, d, score in noisy)
    )
    body = RUNS_ALONE[RUNS_ALONE.index("[[dataset]]") : RUNS_ALONE.index("[[system]]")]
    second = body.replace('"runs"', '"graded"').replace("measure =", "min-grade = 1\nmeasure =")
    replaced(file, "[[system]]", f'{second}[[system]]\nname = "mid"\n\n[[system]]')
    assert not rankwell.bench(file).failed
    return file.parent


@pytest.fixture
def three(evaluated: Path, tmp_path: Path) -> Path:
    """The file of a copy of it, evaluated as well."""
    return Path(shutil.copytree(evaluated, tmp_path / "three")) / "bench.toml"


@pytest.mark.parametrize(
    ("correction", "baseline"), [("holm", ""), ("holm", "mid"), ("bh", ""), ("max-t", "mid")]
)
def test_marks_are_what_compare_decides(three: Path, correction: str, baseline: str):
    given = f'[comparison]\ncorrection = "{correction}"\nresamples = 500\nseed = 3\nlevel = 0.9\n'
    left(three.parent, "runs").write_text(three.read_text() + given)
    result = rankwell.bench(three, baseline=baseline or None)
    places = [f"{name}={three.parent}/bench-results/runs/{name}" for name in ("mid", "low", "high")]
    options: dict[str, Any] = {
        "correction": correction,
        "resamples": 500,
        "seed": 3,
        "level": 0.9,
        "measures": ["AP nDCG@10"],
    }
    told = json.loads(
        compare(*places, baseline=baseline or None, format="json", intervals="none", **options).text
    )["rows"]

    assert result.status == "0 of 3 cells evaluated"
    decisive = {
        (
            row["of"],
            *((row["run"], row["against"]) if row["mean"] > 0 else (row["against"], row["run"])),
        )
        for row in told
        if row.get("decisive")
    }
    marked = {
        (key[0], key[2], loser)
        for key, each in figures(result).items()
        if key[1] == "runs"
        for loser in each.better_than
    }
    assert marked == decisive
    assert ("AP", "high", "low") in marked or baseline


def test_lower_ranks_are_better(folder: Path):
    result = rankwell.bench(left(folder, "videos"), measures=["MnR"])
    (table, _) = result.system_tables
    low, high = table.cells

    assert low.mean > high.mean
    assert (low.better_than, high.better_than) == ((), ("low",))
    assert list(map(table.place, table.cells)) == [0, 1]


def with_table(file: Path, setting: str) -> BenchResults:
    """The results of a bench whose file also says how its tables look."""
    file.write_text(f"{file.read_text()}\n[table]\n{setting}\n")
    return rankwell.bench(file)


def test_a_table_for_every_measure_unless_each_has_a_data_set_of_its_own(
    three: Path, finished: Path
):
    apart, together = rankwell.bench(three), with_table(three, "side_by_side = true")

    assert [table.label for table in apart.system_tables] == ["AP", "nDCG@10"]
    assert re.findall(r"(?m)^(\S+), 95 % interval in brackets$", apart.render()) == [
        "AP",
        "nDCG@10",
    ]
    assert "runs: AP (n = 24)" in together.render()
    assert "graded: nDCG@10 (n = 24)" in together.render()
    assert "videos: R@1 (t2v) (%) (n = 24)" in rankwell.bench(finished / "bench.toml").render()


def test_the_best_is_bold_and_says_what_it_is_better_than(three: Path):
    result = with_table(three, "intervals = false")

    assert re.search(
        r"^c & high & \\textbf\{1\.000\}\\textsuperscript\{[ab]",
        result.render("latex"),
        re.MULTILINE,
    )
    assert r"\toprule" in result.render("latex")
    assert result.render("latex").count(r"\textbf{") == 4
    assert re.search(r"\| \*\*1\.000\*\*<sup>[ab]", result.render("md"))
    assert re.search(r"<strong>1\.000</strong><sup>[ab]", result.render("html"))
    html = result.page()
    assert "<strong>1.0000</strong><sup>" in html
    rooms = re.findall(r'<td class="number"[^>]*>(.*?)</td>', html)
    assert (
        len(
            {
                sum(map(len, re.findall(r"<sup[^>]*>([^<]*)</sup>", each)))
                for each in rooms
                if "<sup" in each
            }
        )
        == 1
    )
    assert "[" not in result.render().replace("[0", "", 0).partition("rules:")[0]


def test_equal_figures_are_all_best_and_a_lone_one_is_not():
    def table(*means: float) -> SystemTable:
        cells = [
            SystemFigure(f"s{place}", "d", mean, 10, "share") for place, mean in enumerate(means)
        ]
        return SystemTable("AP", "AP", cells, None, better={"d": "higher"})

    assert render_system_tables([table(0.5, 0.50000001, 0.4)], "md").count("**0.5000**") == 2
    assert "**0" not in render_system_tables([table(0.5)], "md")


def test_the_mean_over_data_sets_is_there_only_when_requested(three: Path):
    replaced(three, 'name = "mid"', 'name = "mid"\ndatasets = ["runs"]')
    plain, asked = rankwell.bench(three), with_table(three, "mean = true")
    found = figures(asked)

    assert "mean of" not in plain.render()
    assert "mean of 2 data sets" in asked.render()
    assert found["AP", "mean of 2 data sets", "low"].mean == pytest.approx(
        (found["AP", "runs", "low"].mean + found["AP", "graded", "low"].mean) / 2
    )
    assert ("AP", "mean of 2 data sets", "mid") not in found
    assert found["AP", "mean of 2 data sets", "low"].ci_low is None


def test_names_cannot_break_out_of_a_format(three: Path):
    hostile = '<script>alert(1)</script> & $x_1$ | "q" \\\\evil{}'
    replaced(three, '"Six protocols"', f"'{hostile}'")
    replaced(three, 'name = "mid"', f"name = \"mid\"\ntitle = '{hostile}'")
    result = rankwell.bench(three)

    assert result.page().count("<script>") == 1
    for text in (result.page(), result.render("html")):
        assert "<script>alert" not in text
        assert "&lt;script&gt;" in text
    assert "\\evil" not in result.render("latex").replace("\\textbackslash{}", "")
    assert json.loads(result.render("json"))["rows"][0]["run"] == hostile


def test_everything_is_written(finished: Path):
    folder = finished / "bench-results"
    record = json.loads((folder / "bench.json").read_bytes())
    result = rankwell.bench(finished / "bench.toml")

    assert set(record["files"]) == {
        "table.txt",
        "table.md",
        "table.tex",
        "table.html",
        "table.csv",
        "table.json",
    }
    assert (
        (folder / "table.tex").read_text()
        == result.render("latex")
        == rankwell.bench(finished / "bench.toml").render("latex")
    )
    assert set(record["cells"]) == set(CELLS)
    assert record["cells"]["runs/low"]["inputs"].keys() == {"qrels.txt", "runs/low.run"}
    assert "12" in repr(result)
    assert read_results(folder / "clips" / "high").runs == ("high",)


def test_a_notebook_shows_tables_frames_and_charts_as_of_any_result(finished: Path):
    polars = pytest.importorskip("polars")
    result = rankwell.bench(finished / "bench.toml")
    page, rows = result._repr_html_(), list(csv.DictReader(io.StringIO(result.render("csv"))))
    figures = {(row["dataset"], row["label"], row["run"]): float(row["mean"]) for row in rows}
    single = (
        result.to_polars("per_query")
        .group_by("dataset", "label", "run")
        .agg(polars.col("value").mean())
    )

    # A style or a heading of its own would change the whole notebook.
    assert not re.search(r"<(style|html|body|h\d|script)\b", page)
    assert len(re.findall("<td[^>]*><strong>", page)) == len(rows) / len(NOISE)
    assert result.to_polars()["mean"].to_list() == list(figures.values())
    assert {tuple(names): mean for *names, mean in single.rows()} == pytest.approx(figures)
    assert result.describe()["test"].startswith("randomisation")


def test_the_chart_of_a_bench_has_a_panel_for_every_measure_of_a_data_set(
    finished: Path, three: Path
):
    def panels(chart: Any) -> list[int]:
        return [len(panel["data"]["values"]) for panel in chart["concat"]]

    six, asked = rankwell.bench(finished / "bench.toml"), rankwell.bench(three)

    # No measure is shown of two data sets, so that nothing has to stand in one column.
    assert panels(six.chart()) == [2] * 7
    assert (six.chart()["columns"], asked.chart()["columns"]) == (3, 2)
    assert panels(asked.chart()) == [3] * 4
    assert six.chart().mime in six._repr_mimebundle_()


def test_a_damaged_record_of_tables_is_written_again(folder: Path):
    rankwell.bench(left(folder, "runs"))
    before = content(folder)
    (folder / "bench-results" / "bench.json").write_text('{"cells": 3}')

    rankwell.bench(folder / "bench.toml")

    assert content(folder) == before


# ---- what a file may say
# --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "qrels = ",
            "qrel = ",
            r"bench.toml:9: dataset 'runs': qrel: `rankwell evaluate` has no such option; did "
            r"you mean 'qrels'",
        ),
        (
            '"runs/{system}',
            '"rums/{system}',
            r"bench.toml:10: dataset 'runs': runs of runs/low: there is no 'rums/low.run'; make",
        ),
        (
            'name = "low"',
            'name = "lov"',
            r"there is no 'runs/lov.run'; did you mean 'runs/low.run'\?",
        ),
        (
            '"evaluate"',
            '"evaluat"',
            r"bench.toml:8: dataset 'runs': command: unknown command 'evaluat'; .*'evaluate'",
        ),
        (
            '"evaluate"',
            '"search"',
            r"unknown command 'search'; known are beyond, clicks, clicks credit",
        ),
        ("seed = 1", 'seed = "x"', r"bench.toml:4: options.seed is 'x'; expected an integer"),
        ("seed = 1", "seed = true", r"options.seed is True; expected an integer"),
        (
            "seed = 1",
            "sead = 1",
            r"bench.toml:4: options.sead: `rankwell evaluate` has no such option; did you "
            r"mean 'seed'",
        ),
        ("seed = 1", "output = 1", r"`rankwell bench` decides how results are written"),
        (
            "seed = 1",
            "gpus = 1",
            r"bench.toml:4: options.gpus: `rankwell bench` decides how results are written",
        ),
        (
            "seed = 1",
            "part_timeout = 30",
            r"bench.toml:4: options.part_timeout: `rankwell bench` decides how results are written",
        ),
        ('"qrels.txt"', "3.5", r"there is no '3.5'"),
        ('"qrels.txt"', '["qrels.txt", "b"]', r"qrels is \['qrels.txt', 'b'\]; expected one value"),
        ('"qrels.txt"', '"-"', r"qrels is standard input, which cannot be read again"),
        (
            '"qrels.txt"',
            "1979-05-27",
            r"qrels is datetime.date.*; expected strings, numbers, true or false",
        ),
        (
            'qrels = "qrels.txt"',
            "",
            r"bench.toml:10: dataset 'runs': runs: requires `qrels`, which is missing",
        ),
        (
            "measure =",
            'ties = ""\nexclude-self = "yes"\nmeasure =',
            r"exclude-self is 'yes'; expected true or false",
        ),
        (
            "measure =",
            'intervals = "tt"\nmeasure =',
            r"runs/low: --intervals: there is no 'tt'; known are bootstrap-t, bootstrap, t, none",
        ),
        (
            "{system}.run",
            "low.run",
            r"'low' and 'high' have the same files and options on 'runs'; put \{system\} into "
            r"a path",
        ),
        ("[options]", "[optons]", r"bench.toml:3: optons: unknown key; did you mean 'options'"),
        (
            "[options]",
            '[table]\nbaseline = "lo"\n[options]',
            r"bench.toml: unknown system 'lo'; did you mean 'low'",
        ),
        (
            "[options]",
            '[table]\nmean = "yes"\n[options]',
            r"bench.toml:4: table.mean is 'yes'; expected true or false",
        ),
        (
            "[options]",
            "[table]\nmeasures = []\n[options]",
            r"table.measures is \[\]; expected a list of strings",
        ),
        (
            "[options]",
            '[comparison]\ntest = "wilcoxen"\n[options]',
            r"comparison: test: there is no 'wilcoxen'; did you mean",
        ),
        (
            "[options]",
            '[comparison]\ntest = "t"\ncorrection = "max-t"\n[options]',
            r"comparison: max-T comes from sign flips",
        ),
        ("[options]", "[comparison]\nlevel = 2\n[options]", r"bench.toml: comparison: .*level"),
        ('name = "high"', 'name = "LOW"', r"system 2: name: a second system named 'LOW'"),
        (
            'name = "runs"',
            'name = "Table.html"',
            r"name: the bench writes a file named 'Table.html'; give the data set another",
        ),
        ('name = "high"', 'name = "a/b"', r"name is 'a/b', which cannot name a folder"),
        ('name = "high"', "", r"system 2: name is missing; expected a string"),
        (
            'name = "high"',
            'name = "high"\ntitle = "low"',
            r"system 'high': title: a second system is shown as 'low'",
        ),
        (
            'name = "high"',
            'name = "high"\ndatasets = ["run"]',
            r"unknown data set 'run'; did you mean 'runs'",
        ),
        (
            'name = "high"',
            'name = "high"\n[system.on.run]\nties = "input"',
            r"on: run: unknown key; did you mean 'runs'",
        ),
        (
            'command = "evaluate"',
            'command = "evaluate"\nsystems = "low"',
            r"systems is 'low'; expected a list of systems",
        ),
        ('runs = "runs/{system}.run"', "", r"bench.toml: 'low' and 'high' have the same files"),
        ('command = "evaluate"', "", r"dataset 'runs': command is missing; expected a string"),
        (
            "[[dataset]]",
            "[dataset]",
            r"bench.toml:6: dataset is not a list of tables; write \[\[dataset\]\] above each",
        ),
        ("seed = 1", "seed = ", r"bench.toml is not valid TOML"),
    ],
)
def test_a_mistake_is_named_with_its_place_before_anything_is_evaluated(
    runs: Path, old: str, new: str, message: str
):
    replaced(runs, old, new)

    with pytest.raises((BadInput, BadUsage), match=message):
        rankwell.bench(runs)
    assert not (runs.parent / "bench-results").exists()


def test_options_of_a_system_hold_where_a_command_has_them_and_the_nearest_word_counts(
    tmp_path: Path,
):
    file = make_bench(tmp_path / "b")
    replaced(
        file,
        'name = "high"',
        'name = "high"\nmetric = "dot"\nseed = 5\n[system.on.clips]\nmetric = "l2"\nseed = 6',
    )
    options = {task.cell.name: task.recipe["options"] for task in to_do(file)}

    assert "metric" not in options["runs/high"]
    assert [options[f"{name}/high"]["metric"] for name in ("vectors", "clips", "paintings")] == [
        "dot",
        "l2",
        "dot",
    ]
    assert [options[f"{name}/high"]["seed"] for name in ("runs", "clips")] == [5, 6]
    assert options["runs/low"]["seed"] == 1
    replaced(file, 'metric = "dot"', 'metrics = "dot"')
    with pytest.raises(
        BadInput, match=r"system 'high': metrics: .* has no such option; did you mean 'metric'"
    ):
        to_do(file)


def test_data_sets_and_systems_that_do_not_meet_have_no_cell(tmp_path: Path):
    file = make_bench(tmp_path / "b")
    replaced(file, 'name = "high"', 'name = "high"\ndatasets = ["runs", "clips"]')
    replaced(file, 'command = "keywords"', 'command = "keywords"\nsystems = ["low"]')

    assert [cell.name for cell in read_experiment(file).cells if cell.system == "high"] == [
        "runs/high"
    ]
    replaced(
        file, 'datasets = ["runs", "clips"]', 'datasets = ["runs"]\n[system.on.clips]\nseed = 2'
    )
    with pytest.raises(
        BadInput, match=r"system 'high': on: clips: 'high' is not evaluated on 'clips'"
    ):
        read_experiment(file)


def test_every_command_that_a_bench_knows_has_its_own_options_by_name():
    for stem in ("evaluate", "embeddings", "crossmodal", "qa", "keywords", "images", "pairs"):
        command = load_command(stem)
        assert command is not None
        assert any(input_mark(option) for option in command.options.values()), stem
        assert not {"output", "format", "per_query", "progress"} & set(command.options), stem
    assert load_command("compare") is None
    assert load_command("convert") is None


def test_the_page_shows_a_bench_that_holds(tmp_path: Path):
    page = (Path(__file__).resolve().parents[2] / "docs" / "benches.md").read_text(encoding="utf-8")
    text = re.search(r"```toml title=\"bench.toml\"\n(.*?)```", page, re.DOTALL)[1]
    (tmp_path / "bench.toml").write_text(text)
    for cell in read_experiment(tmp_path / "bench.toml").cells:
        for name in ("qrels", "runs", "gold", "predictions"):
            if name in cell.options:
                place = tmp_path / str(cell.options[name].value)
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_text("x")

    tasks = to_do(tmp_path / "bench.toml")

    assert len(tasks) == 8
    assert tasks[5].recipe["options"]["runs"] == "elsewhere/sparse.run"
    assert tasks[5].recipe["options"]["duplicates"] == "first"


def test_a_table_to_write_has_its_key_in_quotes_where_toml_needs_them(tmp_path: Path):
    file = make_bench(
        tmp_path / "b",
        RUNS_ALONE.replace('name = "runs"', 'name = "d 2ü"').replace('{system}.run"', 'low.run"'),
    )

    with pytest.raises(BadInput, match=re.escape('their differences into [system.on."d 2ü"].')):
        to_do(file)


@pytest.mark.parametrize("below", ["", "runs"])
@pytest.mark.parametrize(
    "command",
    [
        ["report", "--title", "One page"],
        ["compare", "--plan"],
        ["gate", "--require", "AP > 0"],
        ["compare"],
    ],
)
def test_the_folder_of_a_bench_is_not_that_of_a_result_and_the_message_names_those_below_it(
    finished: Path, command: list[str], below: str
):
    place = finished / "bench-results" / below

    code, _, err = typed(*command, place)

    assert code == 2
    assert f"{place} has results in" in err
    assert f"such as {place / ''}" in err


def test_the_report_of_a_folder_of_a_bench_is_the_page_of_each_result_below_it(folder: Path):
    place = folder / "bench-results" / "runs"
    pages = [place / name / "report.html" for name in sorted(NOISE)]

    code, out, _ = typed("report", place)

    assert (code, out.split()) == (0, list(map(str, pages)))
    assert all(page.is_file() for page in pages)


@pytest.mark.parametrize(
    ("head", "options", "says"),
    [
        ("[chart]\nmeasures = ['AP']\n", [], "`call` or [chart] is for command = 'qa'"),
        ("[chart]\nmeasures = ['AP']\n", ["-m", "AP"], "--measure is not for a bench with `call`"),
        (
            "[table]\ncosts = true\n",
            ["--executor", "ray"],
            "--executor ray is for a bench whose cells commands evaluate",
        ),
    ],
)
def test_a_bench_of_another_kind_has_not_all_options_and_is_for_the_command(
    tmp_path: Path, head: str, options: list[str], says: str
):
    file = make_bench(tmp_path / "b", RUNS_ALONE + head)

    code, out, err = typed("bench", file, *options)

    assert (code, out) == (2, "")
    assert says in " ".join(err.split())
    with pytest.raises(BadInput, match="are for the command `rankwell bench`; leave them out"):
        rankwell.bench(file)
