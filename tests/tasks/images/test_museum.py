"""Instance search on photographs made of real pictures: statistics, filters, encoders, local
features, the whole run.
"""

import csv
import io
import json
import statistics
import sys
from collections.abc import Callable
from pathlib import Path

import duckdb
import numpy as np
import pytest

from make import own_convention
from museum import Museum, build_museum
from rankwell import cli
from rankwell.vectors.media.images import read_picture


@pytest.fixture(scope="module")
def museum(tmp_path_factory: pytest.TempPathFactory) -> Museum:
    return build_museum(tmp_path_factory.mktemp("real") / "museum")


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """A command of `rankwell images`, which has to end well: what it prints."""

    def called(*words: object) -> str:
        monkeypatch.setattr(sys, "argv", ["rankwell", "images", *map(str, words)])
        code = cli.main()
        printed = capsys.readouterr()
        assert code == 0, printed.err
        return printed.out

    return called


def summary(folder: Path) -> dict[str, dict]:
    return {row["label"]: row for row in json.loads((folder / "summary.json").read_text())["rows"]}


def details(folder: Path) -> list[dict]:
    found = duckdb.sql(f"SELECT * FROM '{folder}/details.parquet'")
    return [dict(zip(found.columns, row, strict=True)) for row in found.fetchall()]


def test_the_statistics_are_those_of_what_was_made(museum: Museum, run) -> None:
    out = run("stats", museum.folder, "-c", "thesis", "--format", "csv")

    rows = {row["statistic"]: row for row in csv.DictReader(io.StringIO(out))}
    mine = {name: row["museum"] for name, row in rows.items()}
    per_instance = [counts[0] for counts in museum.shown.values()]
    asked = sum(counts[1] for counts in museum.shown.values())
    absent = len(museum.instances) - len(museum.shown)
    assert absent > 0
    assert mine["Type of objects"] == "images"
    assert mine["#Instances"] == str(len(museum.shown))
    assert mine["#Reference images"] == str(museum.references)
    assert mine["#Query images (#instances)"] == f"{asked} ({len(museum.shown)})"
    assert mine["Median #images per instance"] == f"{statistics.median(per_instance):g}"
    assert mine["Min #images per instance"] == str(min(per_instance))
    assert mine["Max #images per instance"] == str(max(per_instance))
    assert mine["Total reference images (#instances)"].startswith(
        f"{museum.references + museum.contentless} "
    )
    assert mine["Total query images (#instances)"] == f"{museum.queries} ({len(museum.instances)})"
    assert rows["#Query images (#instances)"]["CLICIDE (published)"] == "165 (134)"


@pytest.mark.parametrize(
    ("contentless", "absent"),
    [("filter", "filter"), ("keep", "filter"), ("filter", "keep"), ("keep", "keep")],
)
def test_each_filter_is_switched_on_its_own_and_counted(
    museum: Museum, run, contentless: str, absent: str
) -> None:
    own = own_convention("thesis", "images", contentless=contentless, absent=absent)
    words = ("-c", own, "--format", "json")
    out = run(museum.folder, "--encoder", "small-grey", *words)

    rules = json.loads(out)["rules"]
    [counts] = rules["counts"].values()
    gone = museum.queries - sum(each[1] for each in museum.shown.values())
    assert rules["images"]["references"] == museum.references + (
        museum.contentless if contentless == "keep" else 0
    )
    assert rules["images"]["queries"] == museum.queries - (gone if absent == "filter" else 0)
    assert rules["filtered"].get("references_without_content", 0) == (
        museum.contentless if contentless == "filter" else 0
    )
    assert rules["filtered"].get("queries_of_absent_instances", 0) == (
        gone if absent == "filter" else 0
    )
    assert counts["queries_counted"] == rules["images"]["queries"]


def test_the_best_reference_of_the_details_is_what_the_figure_counts(
    museum: Museum, run, tmp_path: Path
) -> None:
    run(museum.folder, "--encoder", "colours-and-shapes", "-o", tmp_path)

    best = [row for row in details(tmp_path) if row["rank"] == 1]
    right = [row["item"].split("/")[1] == row["query"].split("/")[1] for row in best]
    row = summary(tmp_path)["P@1"]
    assert row["n"] == len(best) == sum(counts[1] for counts in museum.shown.values())
    assert row["mean"] == pytest.approx(100 * sum(right) / len(right), abs=1e-9)
    assert row["mean"] > row["chance"]
    widths = {read_picture(path).width for path in (tmp_path / "sheets").iterdir()}
    assert widths == {2400}


@pytest.mark.slow
def test_visitors_photographs_of_real_pictures_are_recognised_by_local_features(
    museum: Museum, run, tmp_path: Path
) -> None:
    pytest.importorskip("cv2", reason="could not import cv2")
    run(museum.folder, "--local-features", "rootsift(max_size=240)", "-o", tmp_path / "features")
    run(museum.folder, "--encoder", "colour-histogram", "-o", tmp_path / "colours")

    by_features, by_colours = (
        summary(tmp_path / name)["P@1"]["mean"] for name in ("features", "colours")
    )

    assert by_features > by_colours


def test_transforms_of_descriptors_are_named_with_what_they_look_at(museum: Museum, run) -> None:
    words = [
        f"--transform={text}"
        for text in ("whitening(dimensions=8)", "query-expansion(k=2)", "reciprocal(k1=4)")
    ]

    out = run(museum.folder, "--encoder", "small-grey", *words, "-f", "json")

    rules = json.loads(out)["rules"]
    assert rules["transforms"] == "whitening(dimensions=8) query-expansion(k=2) reciprocal(k1=4)"
    assert rules["transductive"] == "gallery,queries"


def test_an_onnx_network_makes_the_vectors_that_its_arithmetic_says(
    museum: Museum, run, tmp_path: Path
) -> None:
    onnx = pytest.importorskip("onnx", reason="could not import onnx")
    pytest.importorskip("onnxruntime", reason="could not import onnxruntime")
    helper, kinds = onnx.helper, onnx.TensorProto
    weights = np.random.default_rng(3).normal(size=(3 * 4 * 4, 16)).astype(np.float32)
    nodes = [
        helper.make_node(
            "AveragePool", ["pixels"], ["pooled"], kernel_shape=[56, 56], strides=[56, 56]
        ),
        helper.make_node("Flatten", ["pooled"], ["flat"]),
        helper.make_node("MatMul", ["flat", "weights"], ["vectors"]),
    ]
    graph = helper.make_graph(
        nodes,
        "tiny",
        [helper.make_tensor_value_info("pixels", kinds.FLOAT, ["n", 3, 224, 224])],
        [helper.make_tensor_value_info("vectors", kinds.FLOAT, ["n", 16])],
        [onnx.numpy_helper.from_array(weights, "weights")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(model, tmp_path / "tiny.onnx")

    run(museum.folder, "--encoder", tmp_path / "tiny.onnx", "-o", tmp_path / "out")

    row = summary(tmp_path / "out")["P@1"]
    took = json.loads((tmp_path / "out" / "performance.json").read_text())["runs"]
    assert row["mean"] > row["chance"]
    assert [each["dimensions"] for each in took.values()] == [16]
    assert all(each["encode_seconds_per_image"] > 0 for each in took.values())


def test_the_same_seed_makes_the_same_pictures(museum: Museum, tmp_path: Path) -> None:
    again = build_museum(tmp_path / "again")

    files = sorted(path.relative_to(museum.folder) for path in museum.folder.rglob("*.jpg"))
    assert files == sorted(path.relative_to(again.folder) for path in again.folder.rglob("*.jpg"))
    assert all(
        (museum.folder / path).read_bytes() == (again.folder / path).read_bytes() for path in files
    )
