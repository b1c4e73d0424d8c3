"""Whether scores of instances know which queries are answered, and whether clusters agree with the
labels.
"""

from pathlib import Path
from random import Random

import numpy as np
import pytest

from oracles import abstention as by_hand
from oracles import partitions
from rankwell.data.matrices import Embeddings
from rankwell.errors import BadInput, BadUsage
from rankwell.tasks.images.task import evaluate_images


def write_images(folder: Path, labels: str = "xxyyzz") -> Path:
    rows = [f"i{place},{label},both" for place, label in enumerate(labels)]
    (folder / "images.csv").write_text("image,instance,split\n" + "\n".join(rows) + "\n")
    return folder / "images.csv"


def vectors(n: int, seed: int = 0) -> Embeddings:
    rng = Random(seed)
    return Embeddings(
        [f"i{place}" for place in range(n)],
        np.array([[rng.gauss(0, 1) for _ in range(4)] for _ in range(n)]),
    )


def test_detection_of_right_places_is_that_of_vpr_bench(tmp_path: Path):
    rng = Random(3)
    queries, references = 30, 12
    scores = np.array([[rng.randrange(50) / 50 for _ in range(references)] for _ in range(queries)])
    positives = {
        str(query): [str(rng.randrange(references)), str(rng.randrange(references))]
        for query in range(queries)
    }
    table = {int(query): {int(item) for item in items} for query, items in positives.items()}

    result = evaluate_images(
        scores={"s": scores}, qrels=table, convention="vpr", measures="recall@1", confidence=["max"]
    )

    best = [
        max(range(references), key=lambda item, row=row: (row[item], -item))
        for row in scores.tolist()
    ]
    answers = [float(item in table[query]) for query, item in enumerate(best)]
    tops = [max(row) for row in scores.tolist()]
    assert 0 < sum(answers) < queries
    expected = {
        "AUROC": by_hand.auroc(answers, tops),
        "AUPRC": by_hand.auprc(answers, tops, "trapezoid"),
        "EP": by_hand.extended_precision(answers, tops),
        "nAUC": by_hand.nauc(answers, tops),
    }
    for name, value in expected.items():
        assert result[f"{name} recall@1 max"] == pytest.approx(value, abs=1e-12)
    assert (
        "AUPRC(area='trapezoid',of='Success@1',confidence='max')" in result.describe()["measures"]
    )


def test_the_gap_to_the_second_reference_is_a_confidence():
    scores = np.array([[0.9, 0.8], [0.7, 0.1]])

    result = evaluate_images(
        scores={"s": scores},
        qrels={0: [1], 1: [0]},
        convention="vpr",
        measures="recall@1",
        confidence=["diff1"],
    )

    assert result["AUROC recall@1 diff1"] == 1


def test_clusters_may_be_in_a_table_of_a_spreadsheet(tmp_path: Path):
    images = write_images(tmp_path)
    text = "image;cluster;other\r\n" + "".join(f"i{n};{n // 3};{n % 2}\r\n" for n in range(6))
    (tmp_path / "found.csv").write_bytes(b"\xef\xbb\xbf" + text.encode())

    result = evaluate_images(
        images, item_vectors={"v": vectors(6)}, clusters=f"{tmp_path}/found.csv:other"
    )

    assert result["NMI"] == pytest.approx(partitions.nmi("xxyyzz", [0, 1] * 3), abs=1e-12)


def test_given_clusters_are_compared_with_the_labels(tmp_path: Path):
    images = write_images(tmp_path)
    (tmp_path / "found.csv").write_text(
        "image,cluster,other\n" + "".join(f"i{n},{n // 3},{n % 2}\n" for n in range(6))
    )

    for column, clusters in (("", [0, 0, 0, 1, 1, 1]), (":other", [0, 1] * 3)):
        result = evaluate_images(
            images, item_vectors={"v": vectors(6)}, clusters=f"{tmp_path}/found.csv{column}"
        )
        assert result["NMI"] == pytest.approx(partitions.nmi("xxyyzz", clusters), abs=1e-12)
        assert result.describe()["clusters"] == "given"
    rows = {row.measure: row for row in result.summary}
    assert (rows["AMI"].ci_low, rows["AMI"].n, rows["AMI"]["ceiling"], rows["AMI"]["chance"]) == (
        None,
        6,
        1.0,
        0.0,
    )


def test_clusters_of_unknown_images_are_noted(tmp_path: Path):
    clusters = {f"i{n}": str(n // 3) for n in range(6)} | {"other": "1", "another": "1"}

    notes = evaluate_images(
        write_images(tmp_path), item_vectors={"v": vectors(6)}, clusters=clusters
    ).findings

    what = (
        "v: 2 of 8 images of clusters are not among those evaluated and are ignored, for example "
        "'another'"
    )
    assert what in notes


def test_k_means_of_separate_instances_finds_the_labels(tmp_path: Path):
    corners = np.repeat(np.eye(3), 2, axis=0) + np.arange(18).reshape(6, 3) / 1000
    table = Embeddings([f"i{place}" for place in range(6)], corners)

    results = [
        evaluate_images(
            write_images(tmp_path), item_vectors={"v": table}, clusters="kmeans", seed=4
        )
        for _ in range(2)
    ]

    assert (results[0]["NMI"], results[0]["AMI"]) == (pytest.approx(1), pytest.approx(1))
    assert results[0].describe()["clusters"].startswith("kmeans")
    assert results[0].summary == results[1].summary


def test_clusters_that_are_not_whole_are_refused(tmp_path: Path):
    images = write_images(tmp_path)
    found = tmp_path / "found.csv"
    for text, message in (
        ("i0,1\n", "i1' has no cluster"),
        ("i0,\n", "row 1 has no cluster"),
        ("i0,1\ni0,2\n", "row 2 puts 'i0' into the cluster '2'"),
    ):
        found.write_text("image,cluster\n" + text)
        with pytest.raises(BadInput, match=message):
            evaluate_images(images, item_vectors=vectors(6), clusters=found)
    with pytest.raises(BadUsage, match="2 files for 1 runs"):
        evaluate_images(images, item_vectors=vectors(6), clusters=[found, found])
    with pytest.raises(BadUsage, match="has scores"):
        evaluate_images(
            images,
            scores=np.ones((6, 6)),
            query_ids=vectors(6).names(),
            item_ids=vectors(6).names(),
            clusters="kmeans",
        )
    with pytest.raises(BadUsage, match="leave transforms out"):
        evaluate_images(images, item_vectors=vectors(6), clusters="kmeans", transforms="whitening")
    with pytest.raises(BadUsage, match="only a data set of images has"):
        evaluate_images(scores=np.ones((1, 1)), qrels={0: [0]}, clusters="kmeans")
