"""Systems x data sets: figures, intervals, marks, published figures, what systems took; and the
command that makes the table.
"""

import base64
import csv
import hashlib
import io
import json
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from html.parser import HTMLParser
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from oracles.paired_randomisation import randomisation_p
from rankwell import cli, reporting
from rankwell.comparison.bench.files import SystemStatement, read_experiment
from rankwell.data.findings.kinds import reading_choice
from rankwell.data.tables import Values
from rankwell.errors import BadInput
from rankwell.reporting.folder import FolderContent, write_folder
from rankwell.reporting.system_table import (
    SystemCost,
    SystemFigure,
    SystemTable,
    link_to,
    page,
    render_system_tables,
)
from rankwell.stats import summarise
from rankwell.stats.granularity import granularity_of
from rankwell.tasks.images.statistics import published_instances

HOSTILE = "<script>alert('x')</script> & \"co\" | _a_ 100%"


def written(
    folder: Path, dataset: str | None, runs: Mapping[str, Sequence[float]], **rules: Any
) -> Path:
    """A folder as `rankwell images -o` leaves it: run -> P@1 of queries q0, q1 and so
    on, NaN for one left out.
    """
    told = {"convention": "thesis", **({} if dataset is None else {"dataset": dataset}), **rules}
    values = [
        Values(
            run,
            "P@1",
            "MP@1",
            "percent",
            "mean",
            tuple(f"q{row}" for row in range(len(each))),
            100 * np.array(each, float),
        )
        for run, each in runs.items()
    ]
    return written_values(folder, values, told)


def listed(folder: Path, name: str, content: str) -> None:
    """Writes a file of a folder of results, and its digest into the manifest, as whoever changes a
    file can.
    """
    (folder / name).write_text(content)
    manifest = json.loads((folder / "manifest.json").read_bytes())
    manifest["files"][name] = f"sha256:{hashlib.sha256(content.encode()).hexdigest()}"
    (folder / "manifest.json").write_text(json.dumps(manifest))


def written_values(folder: Path, values: Sequence[Values], rules: Mapping[str, Any]) -> Path:
    summary, manifest = summarise(values), {"rules": rules, "inputs": {}}
    content = FolderContent(
        summary=summary, values=values, rules=rules, findings=(), manifest=manifest
    )
    write_folder(folder, content, charts=False)
    return folder


@pytest.fixture
def run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str, str]]:
    """A call of `rankwell bench` with a bench of kept results, or with the file that is named."""
    numbers = count()

    def called(*words: object, head: str = "", tail: str = "") -> tuple[int, str, str]:
        texts = [*map(str, words)]
        start = next((n for n, text in enumerate(texts) if text.startswith("-")), len(texts))
        file, results = tmp_path / f"bench{next(numbers)}.toml", texts[:start]
        if results and results[0].endswith(".toml"):
            file = Path(results[0])
        else:
            lines = ["[table]", "costs = true", head]
            lines += [f"results = {json.dumps(results)}"] if results else []
            file.write_text("\n".join([*lines, tail]))
        monkeypatch.setattr(sys, "argv", ["rankwell", "bench", str(file), *texts[start:]])
        code = cli.main()
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return called


def rows_of(text: str) -> dict[tuple[str, str], dict[str, Any]]:
    return {(row["run"], row["dataset"]): row for row in json.loads(text)["rows"]}


def messages_of(text: str) -> list[str]:
    return [finding["message"] for finding in json.loads(text)["findings"]]


# ---- what is published
# --------------------------------------------------------------------------------------------------


def test_the_published_figures_are_those_of_the_source() -> None:
    found = {(system, dataset): figure for system, dataset, figure in published_instances().systems}

    assert found == {
        ("SIFT", "CLICIDE"): "70.08",
        ("SIFT", "GaRoFou"): "78.82",
        ("AlexNet IM", "CLICIDE"): "57.58",
        ("AlexNet IM", "GaRoFou"): "76.63",
        ("ResNet-152 IM", "CLICIDE"): "64.24",
        ("ResNet-152 IM", "GaRoFou"): "75.54",
        ("Gordo et al.", "CLICIDE"): "90.30",
        ("Gordo et al.", "GaRoFou"): "95.65",
    }


def test_the_published_statistics_agree_with_what_the_filters_removed() -> None:
    clicide, garofou = (published_instances().datasets[name] for name in ("CLICIDE", "GaRoFou"))

    assert (
        clicide.total_references - clicide.references,
        clicide.total_queries - clicide.queries,
    ) == (207, 12)
    assert (
        clicide.total_reference_instances - clicide.instances
        == clicide.total_query_instances - clicide.query_instances
        == 9
    )
    assert (clicide.objects, clicide.instances, clicide.query_instances) == ("paintings", 464, 134)
    assert (clicide.median, clicide.min, clicide.max) == (6, 1, 22)
    assert (garofou.objects, garofou.instances, garofou.references, garofou.queries) == (
        "glass cabinets",
        311,
        1068,
        184,
    )
    assert (garofou.median, garofou.min, garofou.max, garofou.query_instances) == (2, 1, 45, 166)
    assert (garofou.total_references, garofou.total_queries) == (
        garofou.references,
        garofou.queries,
    )


def test_only_the_sift_row_is_flagged_as_impossible(run) -> None:
    _, out, _ = run("--format", "json", head="published = true")

    warned = {key: row["warning"] for key, row in rows_of(out).items() if row["warning"]}
    assert set(warned) == {("SIFT", "CLICIDE"), ("SIFT", "GaRoFou")}
    assert warned["SIFT", "CLICIDE"] == str(granularity_of("70.08", 165))
    assert warned["SIFT", "GaRoFou"] == str(granularity_of("78.82", 184))


def test_published_figures_stand_as_they_were_printed_and_are_marked(run) -> None:
    code, out, _ = run(head="published = true")

    assert code == 0
    assert re.search(r"SIFT \(published\) +70\.08 † +78\.82 †", out)
    assert re.search(r"Gordo et al\. \(published\) +90\.30 +95\.65", out)
    assert "70.08 is not possible with n = 165" in out


# ---- the command
# --------------------------------------------------------------------------------------------------


def test_systems_stand_beside_each_other_with_their_own_figures(run, tmp_path: Path) -> None:
    one = written(tmp_path / "one", "clicide", {"alexnet": [1, 0, 0, 1] * 5, "gordo": [1] * 20})
    two = written(tmp_path / "two", "garofou", {"alexnet": [1, 1, 0, 1, 0]})

    code, out, err = run(one, two, "--format", "json")

    rows = rows_of(out)
    assert code == 0, err
    assert {key: (row["mean"], row["n"], row["unit"]) for key, row in rows.items()} == {
        ("alexnet", "clicide"): (50.0, 20, "percent"),
        ("gordo", "clicide"): (100.0, 20, "percent"),
        ("alexnet", "garofou"): (60.0, 5, "percent"),
    }
    summary = json.loads((one / "summary.json").read_text())["rows"]
    assert rows["alexnet", "clicide"]["ci_low"] == summary[0]["ci_low"] is not None
    assert rows["alexnet", "garofou"]["ci_low"] is None


def test_marks_are_those_of_the_exact_test_after_holm(run, tmp_path: Path) -> None:
    columns = {
        "weak": [0] * 12 + [1] * 2,
        "good": [1] * 9 + [0] * 3 + [1, 1],
        "best": [1] * 14,
        "odd": [1, 0] * 7,
    }
    names = list(columns)
    pairs = [(a, b) for place, a in enumerate(names) for b in names[place + 1 :]]
    raw = {
        pair: randomisation_p(*(list(map(float, columns[name])) for name in pair)) for pair in pairs
    }
    ordered = sorted(pairs, key=raw.__getitem__)
    holds = []
    for place, pair in enumerate(ordered):
        if raw[pair] * (len(pairs) - place) > 0.05:
            break
        holds.append(pair)
    wanted: dict[str, set[str]] = {name: set() for name in names}
    for a, b in holds:
        winner, loser = (a, b) if sum(columns[a]) > sum(columns[b]) else (b, a)
        wanted[winner].add(loser)

    _, out, _ = run(written(tmp_path / "r", "m", columns), "--format", "json")

    assert 0 < len(holds) < len(pairs)
    found = {
        key[0]: set(filter(None, row["better_than"].split(", ")))
        for key, row in rows_of(out).items()
    }
    assert found == wanted


def test_intervals_end_below_their_figures_whatever_letters_follow_these() -> None:
    figures = {"a": ("b", "c"), "b": ("c",), "c": ()}
    cells = [
        SystemFigure(name, "m", 50.0, 12, ci_low=40.0, ci_high=60.0, better_than=than)
        for name, than in figures.items()
    ]
    html = page([SystemTable("P@1", "MP@1", cells)], [])

    found = re.findall(r'<td class="number" data-value="50.0">(.*?)</td>', html)
    after = [
        [len("".join(re.findall("<sup[^>]*>(.*?)</sup>", part))) for part in cell.split("<small>")]
        for cell in found
    ]
    assert after == [[2, 2]] * 3
    assert "".join(re.findall("<sup>(.*?)</sup>", found[0])) == "bc"


def test_superscripts_in_the_table_name_the_systems_that_a_figure_is_better_than(
    run, tmp_path: Path
) -> None:
    _, out, _ = run(written(tmp_path / "r", "m", {"weak": [0] * 12, "best": [1] * 12}))

    low = 100 * 0.025 ** (1 / 12)  # Clopper and Pearson's of 12 successes in 12
    weak, best = f"0.00 [0.00, {100 - low:.2f}]", f"100.00ᵃ [{low:.2f}, 100.00]"
    head = f"{'':10}  {'a weak':>{len(weak)}}  {'b best':>{len(best)}}"
    assert f"\n{head}\nm (n = 12)  {weak}  {best}\n" in out
    assert "\nsuperscripts: the systems that this one is significantly better than\n" in out


def test_alpha_decides_what_is_marked(run, tmp_path: Path) -> None:
    # P = 2 / 2 ** 5 = 0.0625.
    folder = written(tmp_path / "r", "m", {"weak": [0] * 5 + [1] * 7, "best": [1] * 12})

    marks = {
        alpha: "100.00ᵃ"
        in run(folder, tail=f"[comparison]\nlevel = {1 - alpha}")[1].splitlines()[3]
        for alpha in (0.05, 0.0625, 0.1)
    }

    assert marks == {0.05: False, 0.0625: True, 0.1: True}


def test_systems_over_different_queries_are_tested_over_those_that_both_have_and_it_is_said(
    run, tmp_path: Path
) -> None:
    nan = float("nan")
    folder = written(tmp_path / "r", "m", {"some": [nan] * 4 + [0] * 8, "all": [0] * 4 + [1] * 8})

    _, out, err = run(folder, "--format", "json")

    assert rows_of(out)["all", "m"]["better_than"] == "some"
    assert "m: the systems have 8 and 12 queries, 8 in common" in messages_of(out)[0]
    assert "8 in common" in run(folder)[2]
    assert "8 in common" not in err


GALLERY = {"references": 48, "queries": 12, "digest": "sha256:" + "a" * 64}


@pytest.mark.parametrize(
    ("one", "other", "says"),
    [
        (
            {"exclude": "self"},
            {"exclude": "camera"},
            "m: exclude differs, self (a) against camera (b)",
        ),
        (
            {"ties": "expected"},
            {"ties": "input"},
            "m: ties differs, expected (a) against input (b)",
        ),
        (
            {"no_relevant": "empty"},
            {"no_relevant": "skip"},
            "m: no-relevant differs, empty (a) against skip (b)",
        ),
        (
            {"absent": "filter"},
            {"absent": "keep"},
            "m: absent differs, filter (a) against keep (b)",
        ),
        ({"contentless": "filter"}, {"contentless": "keep"}, "m: contentless differs"),
        (
            {"images": GALLERY},
            {"images": {**GALLERY, "references": 32, "digest": "sha256:" + "b" * 64}},
            "48 references and 12 queries [aaaaaaaa] (a) against 32 references and 12 queries "
            "[bbbbbbbb] (b)",
        ),
    ],
)
def test_systems_with_different_tasks_are_not_tested_and_it_is_said(
    run, tmp_path: Path, one, other, says: str
) -> None:
    folders = [
        written(tmp_path / name, "m", {name: [name == "b"] * 12}, **told)
        for name, told in (("a", one), ("b", other))
    ]
    same = [written(tmp_path / f"s{name}", "m", {name: [name == "b"] * 12}, **one) for name in "ab"]

    _, out, _ = run(*folders, "--format", "json")
    _, beside, _ = run(*same, "--format", "json")

    assert rows_of(beside)["b", "m"]["better_than"] == "a"
    assert rows_of(out)["b", "m"]["better_than"] == ""
    assert sum(says in message for message in messages_of(out)) == 1
    assert messages_of(beside) == []


def test_a_mean_over_other_queries_has_its_own_number_beside_it(run, tmp_path: Path) -> None:
    folder = written(
        tmp_path / "r", "m", {"some": [float("nan")] * 4 + [0] * 8, "all": [0] * 4 + [1] * 8}
    )

    _, out, _ = run(folder)

    assert re.search(
        r"^ +a some +b all\nm +0\.00 \(n = 8\) +66\.67ᵃ \[[^]]*\] \(n = 12\)$", out, re.M
    )


def test_a_system_with_other_queries_is_of_another_data_set(run, tmp_path: Path) -> None:
    nan = float("nan")
    folder = written(
        tmp_path / "r", "m", {"first": [nan] * 4 + [0] * 4, "other": [1] * 4 + [nan] * 4}
    )

    code, _, err = run(folder)

    assert code == 2
    assert "0 in common" in err
    assert "DATASET=FOLDER" in err


def test_a_data_set_is_named_where_the_folder_does_not_know_it(run, tmp_path: Path) -> None:
    folder = written(tmp_path / "r", None, {"a": [1, 0]})

    code, _, err = run(folder)
    _, out, _ = run(f"corridor={folder}", "--format", "csv")

    assert code == 2
    assert f"name it, as DATASET={folder}" in err
    assert [row["dataset"] for row in csv.DictReader(io.StringIO(out))] == ["corridor"]


def test_the_same_system_twice_on_a_data_set_is_refused_naming_both_folders(
    run, tmp_path: Path
) -> None:
    one, two = (written(tmp_path / name, "m", {"a": [1, 0]}) for name in ("one", "two"))

    code, _, err = run(one, two)

    assert code == 2
    assert f"{one} and {two} both have the run 'a' on 'm'" in err


def test_what_a_system_took_and_what_its_user_states_stand_in_the_table(
    run, tmp_path: Path
) -> None:
    took = {"encode_seconds_per_image": 0.012, "seconds_per_query": 0.5, "seconds_evaluation": 9.0}
    performance = {
        "runs": {"a": {"dimensions": 512, "images": 40, **took}},
        "peak_memory_mib": 812.4,
        "machine": {
            "system": "Linux",
            "processor": "Xeon 4",
            "processors": 8,
            "threads": 2,
            "gpu": "H200",
        },
    }
    folder = written(tmp_path / "r", "m", {"a": [1, 0]})
    listed(folder, "performance.json", json.dumps(performance))
    stated = (
        '[[system]]\nname = "a"\ntitle = "A net"\n[system.training]\ntime = "3 h"\nhardware = '
        '"one GPU"\n'
    )

    row = rows_of(run(folder, "--format", "json", tail=stated)[1])["A net", "m"]
    _, table, _ = run(folder, tail=stated)

    assert (
        row["encode_seconds_per_image"],
        row["seconds_per_query"],
        row["evaluation_seconds"],
    ) == (0.012, 0.5, 9.0)
    assert (row["dimension"], row["images"], row["peak_memory_mib"]) == (512, 40, 812.4)
    assert (row["training_time"], row["training_hardware"], row["training_data"]) == (
        "3 h",
        "one GPU",
        "",
    )
    assert row["hardware"] == "Xeon 4, 8 processors, 2 threads, H200, Linux"
    _, performance_table = table.split("Performance\n")
    assert re.findall(r"^(.*?)  +(.*)$", performance_table, re.M) == [
        ("", "A net"),
        ("encoding, ms per image", "12"),
        ("search, ms per query", "500"),
        ("evaluation, s", "9"),
        ("memory, MiB", "812"),
        ("dimension", "512"),
        ("images", "40"),
        ("training time", "3 h"),
        ("training hardware", "one GPU"),
    ]
    assert "\nmemory: the greatest that the whole command had" in table


def test_a_value_without_measurement_or_statement_is_empty(run, tmp_path: Path) -> None:
    folder = written(tmp_path / "r", "m", {"a": [1, 0]})

    row = rows_of(run(folder, "--format", "json")[1])["a", "m"]

    assert {row[name] for name in ("encode_seconds_per_image", "peak_memory_mib", "dimension")} == {
        None
    }
    assert {row[name] for name in ("hardware", "training_time", "training_hardware")} == {""}
    _, table = run(folder)[1].split("Performance\n")
    assert re.findall(r"^(.*?)  +–$", table, re.M) == ["training time", "training hardware"]


def test_another_measure_is_chosen_by_its_exact_name_or_its_label(run, tmp_path: Path) -> None:
    folder = written(tmp_path / "r", "m", {"a": [1, 0]})

    by_label, by_name = (run(folder, "-m", name, "--format", "json")[1] for name in ("MP@1", "P@1"))
    code, _, err = run(folder, "-m", "MP@2")

    assert by_label == by_name
    assert code == 2
    assert "a has no MP@2; did you mean 'MP@1'?" in err


def test_transforms_are_listed_with_their_data_and_with_the_data_sets_where_not_all_use_them(
    run, tmp_path: Path
) -> None:
    told = {"transforms": "query-expansion(k=2)", "transductive": "gallery"}
    one, two = (written(tmp_path / name, name, {"a": [1, 0]}, **told) for name in ("m", "n"))
    plain = written(tmp_path / "o", "o", {"a": [1, 0]})

    everywhere, in_two = (
        run(*folders, "--verbose")[1].replace("\n", " ")
        for folders in ((one, two), (one, two, plain))
    )

    assert "transforms=a: query-expansion(k=2) (looks at gallery) " in everywhere
    assert "transforms=a on m, n: query-expansion(k=2) (looks at gallery) " in in_two


@pytest.fixture
def museum(tmp_path: Path) -> Path:
    """An experiment file of two systems on one data set."""
    references = [f"r{place},{label},reference" for place, label in enumerate("aaabbb")]
    queries = [f"q{place},{label},query" for place, label in enumerate("abababababab")]
    (tmp_path / "images.csv").write_text(
        "\n".join(["image,instance,split", *references, *queries]) + "\n"
    )
    right = np.array(
        [[label == other for other in "aaabbb"] for label in "abababababab"], dtype=float
    )
    np.save(tmp_path / "good.npy", right + np.linspace(0, 0.1, 6))
    np.save(tmp_path / "bad.npy", -right + np.linspace(0, 0.1, 6))
    for side, names in (("r", range(6)), ("q", range(12))):
        (tmp_path / f"{side}.txt").write_text("".join(f"{side}{place}\n" for place in names))
    (tmp_path / "museum.toml").write_text(
        "[table]\ncosts = true\n"
        '[[dataset]]\nname = "m"\ntitle = "Museum"\ncommand = "images"\nimages = '
        '"images.csv"\nscores = "{system}.npy"\n'
        'query_ids = "q.txt"\nitem_ids = "r.txt"\n'
        '[[system]]\nname = "good"\ntitle = "A net"\ntraining.time = "3 h"\n[[system]]\nname '
        '= "bad"\n'
    )
    return tmp_path / "museum.toml"


def test_an_experiment_file_is_evaluated_where_it_changed_and_gives_one_table_for_any_number_of_jobs(  # noqa: E501
    run, museum: Path
) -> None:
    records = [
        museum.parent / "museum-results" / "m" / name / "cell.json" for name in ("good", "bad")
    ]

    code, out, err = run(museum, "--format", "json", "--executor", "processes:2")
    before = [each.stat().st_mtime_ns for each in records]
    np.save(museum.parent / "bad.npy", -np.load(museum.parent / "good.npy"))
    again = run(museum, "--format", "json")

    assert (code, again[0]) == (0, 0), err
    rows = rows_of(out)
    assert rows["A net", "Museum"]["mean"] == 100.0
    assert rows["A net", "Museum"]["better_than"] == "bad"
    assert rows["A net", "Museum"]["training_time"] == "3 h"
    after = [each.stat().st_mtime_ns for each in records]
    assert [old == new for old, new in zip(before, after, strict=True)] == [True, False]
    for record in records:
        record.unlink()
    assert rows_of(run(museum, "--format", "json")[1]).keys() == rows_of(again[1]).keys()
    assert (
        run(museum, "--executor", "processes:2")[1].split("Performance")[0]
        == run(museum)[1].split("Performance")[0]
    )


def test_a_cell_that_fails_is_a_gap_with_its_reason(run, museum: Path) -> None:
    np.save(museum.parent / "bad.npy", np.full((12, 6), np.nan))
    code, out, err = run(museum, "--format", "csv")

    assert code == 2
    assert "m/bad failed: " in err
    assert "the score is nan" in err
    assert [row["run"] for row in csv.DictReader(io.StringIO(out))] == ["A net", "bad"]


def test_the_bench_of_the_documentation_runs(run, tmp_path: Path) -> None:
    page = (Path(__file__).parents[3] / "docs" / "guide" / "many.md").read_text(encoding="utf-8")
    text = page.split('```toml title="museum.toml"\n')[1].partition("```")[0]
    for name, values in (("colours", [1, 0] * 6), ("grey", [1] * 12)):
        written(tmp_path / "results" / name, "CLICIDE", {name: values})
    (tmp_path / "museum.toml").write_text(text)

    code, out, err = run(tmp_path / "museum.toml", "--format", "json")

    assert code == 0, err
    rows = rows_of(out)
    assert rows["Grey pictures", "CLICIDE"]["training_time"] == "none"
    assert rows["Grey pictures", "CLICIDE"]["better_than"] == "colours"
    assert rows["SIFT", "CLICIDE"]["warning"]
    assert (tmp_path / "museum-results" / "table.html").is_file()


def test_the_table_is_written_in_every_form(run, tmp_path: Path) -> None:
    folder = written(tmp_path / "r", "m", {"a": [1, 0]})

    _, _, err = run(folder, "-o", tmp_path / "out")

    forms = list((tmp_path / "out").glob("table.*"))
    assert {path.suffix for path in forms} == {".csv", ".html", ".json", ".md", ".tex"}
    assert f"wrote {tmp_path / 'out'}/" in err
    for path in forms:
        kind = {"tex": "latex"}.get(path.suffix[1:], path.suffix[1:])
        if kind != "html":
            assert path.read_text() == run(folder, "--format", kind)[1]
    table = run(folder, "--format", "html")[1]
    assert table.startswith("<table")
    assert (tmp_path / "out" / "table.html").read_text().startswith("<!doctype html>")


def test_a_table_states_its_files_and_replaces_no_others(run, tmp_path: Path) -> None:
    folder, out = written(tmp_path / "r", "m", {"a": [1, 0]}), tmp_path / "out"
    run(folder, "-o", out)

    manifest = json.loads((out / "manifest.json").read_text())
    assert manifest["files"].keys() == {path.name for path in out.iterdir()} - {"manifest.json"}
    assert [each["file"] for each in manifest["inputs"].values()] == [
        str(folder / "per_query.parquet")
    ]
    (out / "table.csv").write_text("my notes")
    code, _, err = run(folder, "-o", out)
    assert code == 2
    assert "table.csv was not written by rankwell, or was changed since" in err
    assert run(folder, "-o", folder)[0] == 2
    assert not list(folder.glob("table.*"))


@pytest.mark.parametrize(
    ("words", "head", "tail", "says"),
    [
        ((), "", "", "no [[dataset]]; give at least one"),
        (("{r}",), "", "[comparison]\nlevel = 1", "comparison: the confidence level is 1"),
        (("{r}",), "", "[[system]]\nname = 'b'", "system 'b' is no run of any result"),
        (
            ("{r}",),
            "",
            "[[system]]\nname = 'a'\n[[system]]\nname = 'a'",
            "a second system named 'a'",
        ),
        (
            ("{r}", "-m", "MAP"),
            "published = true",
            "",
            "the published figures are P@1, the table shows AP",
        ),
        (("{r}/nowhere",), "", "", "is not a folder"),
        (("{r}",), "measures = ['MAP', 'MP@1']", "", "the table of costs has one measure"),
        (("{r}",), "mean = true", "", "the table of costs has one measure, all pairs"),
        (("{r}", "--gpus", "1"), "", "", "--gpus is not for a bench with costs, published or"),
        (("{r}", "--dry-run"), "", "", "--dry-run is not for a bench with costs"),
    ],
)
def test_bad_use_is_refused_in_one_line(
    run, tmp_path: Path, words: tuple[str, ...], head: str, tail: str, says: str
) -> None:
    values = [
        Values("a", name, label, "percent", "mean", ("q",), np.ones(1))
        for name, label in (("P@1", "MP@1"), ("AP", "MAP"))
    ]
    folder = written_values(tmp_path / "r", values, {"dataset": "m"})

    code, out, err = run(*(word.format(r=folder) for word in words), head=head, tail=tail)

    assert (code, out) == (2, "")
    assert says in err
    assert err.count("\n") == 1


# ---- forms
# --------------------------------------------------------------------------------------------------


def hostile() -> SystemTable:
    figures = [
        SystemFigure(HOSTILE, HOSTILE, 50.0, 12, ci_low=40.0, ci_high=60.0, better_than=("other",)),
        SystemFigure("other", HOSTILE, 10.0, 12),
        SystemFigure(HOSTILE, HOSTILE, 70.08, 165, printed="70.08", warning=HOSTILE),
    ]
    cost = SystemCost(
        HOSTILE, HOSTILE, hardware=HOSTILE, training_time=HOSTILE, training_data=HOSTILE
    )
    return SystemTable(
        HOSTILE, HOSTILE, figures, [cost, SystemCost("other", HOSTILE)], {"test": HOSTILE}
    )


class _Page(HTMLParser):
    """The text of a page, and every tag and attribute that opens in it."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.names: set[str] = set()
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.names |= {name for name, _ in attrs}

    def handle_data(self, data: str) -> None:
        self.text += data


def test_a_page_holds_names_as_text_and_nothing_from_elsewhere() -> None:
    shown = _Page()

    shown.feed(page([hostile()], [reading_choice(HOSTILE)]))

    assert shown.tags.count("script") == 1
    own = {
        "lang",
        "charset",
        "name",
        "content",
        "class",
        "scope",
        "title",
        "type",
        "id",
        "dir",
        "http-equiv",
        "aria-label",
    }
    assert shown.names <= own | {"data-value", "viewbox", "width", "height", "aria-hidden", "d"}
    # The title, the heading and its exact name, the column, two rows, performance four times, the
    # rule, the note, the warning.
    assert shown.text.count(HOSTILE) >= 12


def test_notes_stand_once_and_figures_link_to_their_reports() -> None:
    table = replace(
        measured("first", "second"),
        links={("first", "m"): link_to(Path("out/a b#/report.html"), Path("out/table"))},
    )
    tables = [table, replace(table, label="MAP", measure="AP")]
    shown = page(tables, [reading_choice("said once")], title="Both")

    assert (
        shown.count("said once")
        == shown.count("paired randomisation, Holm")
        == shown.count("<h2>Notes</h2>")
        == 1
    )
    assert (
        shown.count('<a href="../a%20b%23/report.html">first</a>')
        == shown.count('<a href="../a%20b%23/report.html">50.00</a>')
        == 2
    )
    assert re.findall(r'<td class="number" data-value="([^"]*)">', shown) == ["50.0"] * 4
    style, script = (
        re.search(f"<{name}>(.*?)</{name}>", shown, re.DOTALL) for name in ("style", "script")
    )
    assert style is not None
    assert script is not None
    for each in (style[1], script[1]):
        assert base64.b64encode(hashlib.sha256(each.encode()).digest()).decode() in shown
    assert not re.search(r"""(src|href)=["']?(https?:|//)|@import|url\(""", shown)


def test_markdown_latex_and_text_keep_names_from_becoming_markup() -> None:
    table = hostile()

    markdown, latex = render_system_tables([table], "md"), render_system_tables([table], "latex")

    assert "<script" not in markdown.replace("\\<script", "")
    lines = [line for line in markdown.splitlines() if line.startswith("|")]
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in lines[:5]} == {4}
    body = [line for line in latex.splitlines() if not line.startswith("%")]
    assert not re.search(r"(?<!\\)[%_#$]|<", "\n".join(body))


def test_letters_go_on_after_z() -> None:
    names = [f"s{place}" for place in range(30)]
    figures = [SystemFigure(name, "m", 1.0, 1) for name in names[:-1]]
    table = SystemTable(
        "P@1",
        "P@1",
        [*figures, SystemFigure(names[-1], "m", 2.0, 1, better_than=("s0", "s27", "s25"))],
    )

    assert [table.letters[name] for name in ("s0", "s25", "s26", "s27")] == ["a", "z", "aa", "ab"]
    assert render_system_tables([table]).splitlines()[32].endswith("2.00ᵃ,ᶻ,ᵃᵇ")


def test_a_system_alone_has_no_letter_and_a_missing_figure_a_dash() -> None:
    table = SystemTable(
        "P@1",
        "P@1",
        [SystemFigure("a", "m", 1.0, 1), SystemFigure("b", "n", 95.65, 184, printed="95.65")],
    )

    lines = render_system_tables([table]).splitlines()

    assert lines[0] == "Mean Precision@1 in percent"
    assert re.split("  +", lines[2]) == ["", "m (n = 1)", "n (n = 184)"]
    assert lines[3].split() == ["a", "1.00", "–"]
    assert lines[4].split() == ["b", "(published)", "–", "95.65"]


@pytest.mark.parametrize("name", ["system", " "])
def test_a_data_set_may_be_called_like_a_column(name: str) -> None:
    table = SystemTable(
        "P@1", "P@1", [SystemFigure("a", name, 1.0, 1), SystemFigure("b", name, 2.0, 1)]
    )

    lines = render_system_tables([table]).splitlines()

    assert lines[2].split() == ["a", "b"]
    assert lines[3] == f"{name} (n = 1)  1.00  2.00"


def measured(*names: str, dataset: str = "m") -> SystemTable:
    figures = [
        SystemFigure(name, dataset, 50.0, 12, ci_low=40.0, ci_high=60.0, better_than=names[:place])
        for place, name in enumerate(names)
    ]
    costs = [
        SystemCost(
            name, dataset, 0.012, 0.5, 9.0, 812.0, 512, 40, from_cache=40 * (name == names[0])
        )
        for name in names
    ]
    return SystemTable(
        "P@1", "MP@1", figures, costs, {"test": "paired randomisation, Holm", "alpha": 0.05}
    )


@pytest.mark.parametrize("form", ["table", "md", "latex", "html", "page"])
def test_every_form_for_people_names_unit_interval_and_number_of_queries(form: Any) -> None:
    tables = [measured("first", "second")]
    text = page(tables, []) if form == "page" else render_system_tables(tables, form)

    assert "Mean Precision@1 in percent, 95 % interval in brackets" in text.replace(
        "\\%", "%"
    ).replace("\\", "")
    assert "m (n = 12)" in text


def test_a_latex_table_explains_its_marks_where_readers_see_it() -> None:
    table = measured("first", "second")
    impossible = SystemFigure(
        "SIFT", "m", 70.08, 165, printed="70.08", warning="70.08 is not possible"
    )
    latex = render_system_tables(
        [SystemTable("P@1", "MP@1", [*table.cells, impossible], (), table.rules)],
        "latex",
        findings=[reading_choice("said")],
    )
    seen = "\n".join(line for line in latex.splitlines() if not line.startswith("%"))

    assert (
        seen.index(r"\begin{table}")
        < seen.index(r"\caption{Mean Precision@1 in percent")
        < seen.index(r"\begin{tabular}")
    )
    assert "Superscripts: the systems that this one is significantly better than." in seen
    assert "Test: paired randomisation, Holm, level 0.05." in seen
    assert r"\textdagger{} SIFT on m: 70.08 is not possible" in seen
    assert r"said\par" in seen
    assert "(n = 165)" in seen


def test_on_eighty_columns_every_number_stands_under_its_system_and_beside_its_name() -> None:
    names = [f"system-number-{place}" for place in range(9)]

    text = render_system_tables([measured(*names)], terminal=reporting.Terminal(80))

    lines = text.split("Performance\n")[1].splitlines()
    heads = [place for place, line in enumerate(lines) if "system-number" in line]
    assert [name for place in heads for name in lines[place].split()] == names
    assert all(re.match(r"encoding, ms per image( +12)+$", lines[place + 2]) for place in heads)
    assert max(map(len, lines)) <= 80


def test_costs_name_systems_as_the_scores_do() -> None:
    costs = render_system_tables([measured("first_sentences", "b")]).split("Performance\n")[1]

    assert costs.split("\n")[1].split() == ["first_sentences", "b"]


def test_a_time_with_vectors_from_the_cache_is_marked() -> None:
    text = render_system_tables([measured("first", "second")])

    assert re.search(r"^evaluation, s +9 \* +9$", text, re.M)
    assert "\ncached: * vectors or features of earlier runs came from the cache" in text


# ---- a system's TOML
# --------------------------------------------------------------------------------------------------


def test_a_system_states_some_values_and_the_rest_is_empty(tmp_path: Path) -> None:
    path = tmp_path / "s.toml"
    path.write_text(
        '[[system]]\nname = "a"\nnotes = "fine-tuned"\n[system.training]\nhardware = "2 '
        'GPUs"\n[[system]]\nname = "b"\n[table]\nresults = ["r"]\n'
    )

    assert read_experiment(path).statements == {
        "a": SystemStatement(notes="fine-tuned", training_hardware="2 GPUs"),
        "b": SystemStatement(),
    }


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            "[system.training]\ntiem = '1 h'",
            r"s.toml:4: system 'a': training: tiem: unknown key; did you mean 'time'",
        ),
        ("[system.training]\ntime = 3", "system 'a': training: time is 3; expected a string"),
        ("training = 'long'", "system 'a': training is 'long'; expected a table"),
        ("notes = 3", "system 'a': notes is 3; expected a string"),
        ("title = ", "is not valid TOML"),
    ],
)
def test_a_wrong_system_file_is_refused_with_its_key(tmp_path: Path, text: str, says: str) -> None:
    path = tmp_path / "s.toml"
    path.write_text(f"[[system]]\nname = 'a'\n{text}\n[table]\nresults = ['r']\n")

    with pytest.raises(BadInput, match=says):
        read_experiment(path)


def test_a_system_file_that_is_not_utf_8_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "s.toml"
    path.write_bytes(b'name = "\xff"')

    with pytest.raises(BadInput, match="not UTF-8"):
        read_experiment(path)


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("summary.json", "[]", "no 'rows'"),
        ("summary.json", "{", "summary.json:1: '{'"),
        ("summary.json", '{"rows": [{"run": "a"}]}', "row 1 of rows has no 'measure'"),
        ("summary.json", None, "no summary.json"),
        ("performance.json", "{}", "no 'runs'"),
    ],
)
def test_a_damaged_folder_is_refused_naming_its_file(
    run, tmp_path: Path, name: str, content: str | None, says: str
) -> None:
    folder = written(tmp_path / "r", "m", {"a": [1, 0]})
    (folder / name).unlink(missing_ok=True)
    if content is not None:
        listed(folder, name, content)

    code, _, err = run(folder)

    assert code == 2
    assert says in err
