"""Instance search from one end to the other: images, scores and vectors in, figures, tables and
contact sheets out.
"""

import json
import re
from dataclasses import fields
from importlib.util import find_spec
from inspect import Parameter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rankwell
from make import own_convention
from rankwell.data.catalogue import command_function
from rankwell.data.matrices import Embeddings
from rankwell.data.options import overwriting, texts_of
from rankwell.errors import BadInput, BadUsage, NothingToEvaluate, TieRefused, UnknownName
from rankwell.reporting import rules_line
from rankwell.results import Results
from rankwell.tasks.images import task as instances_task
from rankwell.tasks.images.images import ImageEntry, Images, read_images
from rankwell.tasks.images.local_features import by_encoder, by_local_features
from rankwell.tasks.images.task import ImageCommandOptions
from rankwell.vectors.transforms import TRANSFORMS


def evaluate_images(*arguments: Any, **options: Any) -> Any:
    """An evaluation by the words and rules of the thesis."""
    return instances_task.evaluate_images(*arguments, **{"convention": "thesis"} | options)


REFERENCES = [("r1", "mona", "c1"), ("r2", "mona", "c2"), ("r3", "oak", "c1"), ("r4", None, None)]
QUERIES = [("q1", "mona", "c1"), ("q2", "oak", "c2"), ("q3", "mona", "c2")]
SCORES = np.array([[4.0, 3.0, 2.0, 1.0], [4.0, 3.0, 2.0, 1.0], [1.0, 2.0, 3.0, 4.0]])


def gallery() -> Images:
    pictures = [
        ImageEntry(name, label, "reference", camera=camera) for name, label, camera in REFERENCES
    ]
    return Images.from_entries(
        [
            *pictures,
            *(ImageEntry(name, label, "query", camera=camera) for name, label, camera in QUERIES),
        ]
    )


def of_gallery(
    scores: np.ndarray = SCORES, images: Images | None = None, **options: Any
) -> Results:
    given: dict[str, Any] = {
        "query_ids": [name for name, _, _ in QUERIES],
        "item_ids": [name for name, _, _ in REFERENCES],
        "intervals": "none",
    }
    return evaluate_images(images or gallery(), scores=scores, **(given | options))


def evaluate(images: str | None = None, **given: Any) -> Any:
    """The command, with the fields of its options as keywords."""
    names = {field.name for field in fields(ImageCommandOptions)}
    options = {name: given.pop(name) for name in names & given.keys()}
    command = instances_task.images.command()
    return command(images, options=ImageCommandOptions(**options), **given)


def means(result: Results) -> dict[str, float | None]:
    return {row["label"]: row["mean"] for row in result.summary}


# ---- figures
# --------------------------------------------------------------------------------------------------


def test_the_default_says_what_the_source_prints_in_its_order_and_in_percent() -> None:
    found = means(of_gallery())

    assert list(found) == ["MP@1", "MAP", "MAP-trapezoid", "P_q@10", "P_q", "R_q", "TP/PRED"]
    # q1: right at 1 and 2. q2: right at 3. q3: right at 3 and 4 behind the distractor and the oak.
    assert found["MP@1"] == pytest.approx(100 / 3)
    assert found["MAP"] == pytest.approx(100 * (1 + 1 / 3 + (1 / 3 + 2 / 4) / 2) / 3)
    assert found["MAP-trapezoid"] == pytest.approx(
        100 * (1 + 1 / 6 + ((0 + 1 / 3) / 2 + (1 / 3 + 2 / 4) / 2) / 2) / 3
    )
    # Four references are fewer than ten places: P_q@10 divides by the places, P_q by what is there.
    assert found["P_q@10"] == pytest.approx(100 * (2 / 10 + 1 / 10 + 2 / 10) / 3)
    assert found["P_q"] == pytest.approx(100 * (2 / 4 + 1 / 4 + 2 / 4) / 3)
    assert found["R_q"] == 100


def test_precision_and_recall_of_a_list_at_a_given_cut() -> None:
    found = of_gallery(depth=3, measures="MP@1 TP/PRED")

    assert means(found)["P_q"] == pytest.approx(100 * (2 / 3 + 1 / 3 + 1 / 3) / 3)
    assert means(found)["R_q"] == pytest.approx(100 * (1 + 1 + 1 / 2) / 3)
    assert [row["measure"] for row in found.summary] == [
        "P@1",
        "P(denom='retrieved')@3",
        "R@3",
        "TP/PRED",
    ]


def test_what_the_best_reference_names_is_right_in_tp_of_pred_and_a_distractor_names_nothing() -> (
    None
):
    result = of_gallery()
    rows = {row["instance"]: row for row in result.by_instance}

    # q1 is named mona rightly, q2 mona wrongly, q3 has a distractor without a label for its best.
    assert means(result)["TP/PRED"] == 50
    assert [row["n"] for row in result.summary if row["label"] == "TP/PRED"] == [2]
    assert (rows["mona"]["named"], rows["mona"]["right"], rows["mona"]["precision"]) == (2, 1, 0.5)
    assert (rows["oak"]["named"], rows["oak"]["queries"], rows["oak"]["precision"]) == (0, 1, None)


def test_every_figure_has_its_ceiling_and_its_chance_level() -> None:
    rows = {row["label"]: row for row in of_gallery().summary}

    assert rows["MP@1"]["ceiling"] == 100
    assert rows["MP@1"]["chance"] == pytest.approx(100 * (2 / 4 + 1 / 4 + 2 / 4) / 3)
    assert rows["P_q@10"]["ceiling"] == pytest.approx(100 * (2 + 1 + 2) / 10 / 3)
    assert (rows["TP/PRED"]["ceiling"], rows["TP/PRED"]["chance"]) == (None, None)


def test_several_runs_stand_side_by_side() -> None:
    result = evaluate_images(
        gallery(),
        scores={"good": SCORES, "reversed": -SCORES},
        query_ids=[name for name, _, _ in QUERIES],
        item_ids=[name for name, _, _ in REFERENCES],
        measures="P@1 MedR",
    )

    assert [(row["run"], row["label"]) for row in result.summary] == [
        ("good", "P@1"),
        ("good", "MedR"),
        ("reversed", "P@1"),
        ("reversed", "MedR"),
    ]
    assert [row["mean"] for row in result.summary if row["label"] == "MedR"] == [3.0, 2.0]


def test_a_measure_without_a_cut_off_is_taken_at_every_k() -> None:
    assert list(means(of_gallery(measures="P RR cmc", k=(1, 3)))) == [
        "P@1",
        "P@3",
        "RR",
        "cmc@1",
        "cmc@3",
    ]


# ---- what is taken out
# --------------------------------------------------------------------------------------------------


def test_the_same_camera_is_taken_out_of_an_instance_and_the_rest_of_the_list_moves_up() -> None:
    found = of_gallery(exclude_group="camera", measures="RR NumRel", details=True)
    values = {(row["query"], row["measure"]): row["value"] for row in found.per_query()}

    # q1 (c1) loses r1 and has r2 at the first place; q3 (c2) loses r2 and has r1 at the third; q2
    # loses nothing.
    assert {query: values[query, "NumRel"] for query in ("q1", "q2", "q3")} == {
        "q1": 1,
        "q2": 1,
        "q3": 1,
    }
    assert [values[query, "RR"] for query in ("q1", "q2", "q3")] == pytest.approx(
        [100, 100 / 3, 100 / 3]
    )
    details = found.details or {}
    junk = [
        (query, item)
        for query, item, state in zip(
            details["query"], details["item"], details["state"], strict=True
        )
        if state == "junk"
    ]
    assert junk == [("q1", "r1"), ("q3", "r2")]


def test_the_image_itself_is_taken_out_by_its_id_wherever_it_stands() -> None:
    pictures = [
        ImageEntry(name, label, "both") for name, label in (("a1", "a"), ("a2", "a"), ("b1", "b"))
    ]
    images = Images.from_entries(pictures)
    names = ["b1", "a2", "a1"]
    # A duplicate of a1 scores above a1 itself: taking out the first place would remove the wrong
    # one.
    scores = np.array([[9.0, 1.0, 2.0], [1.0, 8.0, 9.0], [0.0, 9.0, 8.0]])
    out = evaluate_images(
        images,
        scores=scores,
        query_ids=names,
        item_ids=names,
        measures="P@1",
        convention="sop",
        no_relevant="skip",
    )
    kept = evaluate_images(
        images,
        scores=scores,
        query_ids=names,
        item_ids=names,
        measures="P@1",
        convention=own_convention("rankwell", "images", exclude=[]),
    )

    # b1 has nothing else of its own and does not count, where it is taken out; kept, it finds
    # itself.
    assert out.rules["counts"]["scores"] == {
        "queries_counted": 2,
        "queries_without_relevant": 1,
        "queries_best_relevant_tied": 0,
    }
    assert means(out)["P@1"] == 100
    assert [row["value"] for row in kept.per_query()] == [100, 100, 100]


def test_all_of_a_group_are_taken_out_whatever_they_show() -> None:
    pictures = [
        ImageEntry("r1", "a", "reference", group="monday"),
        ImageEntry("r2", "b", "reference", group="monday"),
        ImageEntry("r3", "a", "reference", group="friday"),
        ImageEntry("q", "a", "query", group="monday"),
    ]
    found = evaluate_images(
        Images.from_entries(pictures),
        scores=np.array([[3.0, 2.0, 1.0]]),
        query_ids=["q"],
        item_ids=["r1", "r2", "r3"],
        exclude_group="group",
        measures="RR NumRet",
    )

    assert [row["value"] for row in found.per_query()] == [100, 1]


def test_what_is_missing_from_a_run_counts_as_not_found_and_is_said() -> None:
    found = of_gallery(
        SCORES[:2, 1:], query_ids=["q1", "q2"], item_ids=["r2", "r3", "r4"], measures="RR R@10"
    )
    values = {(row["query"], row["measure"]): row["value"] for row in found.per_query()}

    assert values == {
        ("q1", "RR"): 100,
        ("q2", "RR"): 50,
        ("q3", "RR"): 0,
        ("q1", "R@10"): 50,
        ("q2", "R@10"): 100,
        ("q3", "R@10"): 0,
    }
    counts = found.rules["counts"]["scores"]
    assert (counts["queries_missing"], counts["references_missing"]) == (1, 1)
    assert [note for note in found.findings if "not in it" in note] == [
        "scores: 1 of 3 queries is not in it; counted as not found",
        "scores: 1 of 4 references is not in it; those that are right for a query stay so, "
        "and are not found",
    ]
    assert "0 whose best relevant item is tied with one that is not" in rules_line(found.describe())


def test_references_without_content_are_not_searched_even_where_a_run_has_them() -> None:
    pictures = [
        ImageEntry("wall", "mona", "reference", contentless=True),
        ImageEntry("r", "mona", "reference"),
    ]
    images = Images.from_entries(
        [*pictures, ImageEntry("other", "oak", "reference"), ImageEntry("q", "mona", "query")]
    )
    given: dict[str, Any] = {
        "query_ids": ["q"],
        "item_ids": ["wall", "other", "r"],
        "measures": "RR NumRet",
    }
    scores = np.array([[3.0, 2.0, 1.0]])

    assert [
        row["value"] for row in evaluate_images(images, scores=scores, **given).per_query()
    ] == [50, 2]
    assert [
        row["value"]
        for row in evaluate_images(
            images,
            scores=scores,
            convention=own_convention("thesis", "images", contentless="keep"),
            **given,
        ).per_query()
    ] == [100, 3]


# ---- vectors
# --------------------------------------------------------------------------------------------------


def vectors_of(images: Images, seed: int = 3) -> Embeddings:
    random = np.random.default_rng(seed)
    return Embeddings(list(images.ids), random.standard_normal((len(images), 8)).astype(np.float32))


def test_vectors_of_all_images_of_both_sides_and_their_matrix_say_the_same() -> None:
    images = gallery()
    whole = vectors_of(images)
    rows = {
        name: np.asarray(whole.vectors)[row].astype(np.float64)
        for row, name in enumerate(whole.names())
    }
    sides = [
        Embeddings(names, np.array([rows[name] for name in names]))
        for names in (["q3", "q1", "q2"], ["r4", "r2", "r1", "r3"])
    ]
    unit = [each.vectors / np.linalg.norm(each.vectors, axis=1, keepdims=True) for each in sides]

    one = evaluate_images(images, item_vectors=whole, intervals="none")
    two = evaluate_images(images, query_vectors=sides[0], item_vectors=sides[1], intervals="none")
    three = evaluate_images(
        images,
        scores=unit[0] @ unit[1].T,
        query_ids=sides[0].ids,
        item_ids=sides[1].ids,
        intervals="none",
    )

    assert means(one) == means(two)
    assert {
        label: value for label, value in means(three).items() if value is not None
    } == pytest.approx({label: value for label, value in means(one).items() if value is not None})


def test_the_order_of_vectors_and_of_images_changes_nothing() -> None:
    images = gallery()
    whole = vectors_of(images)
    order = np.random.default_rng(1).permutation(whole.n)
    names = whole.names()
    mixed = Embeddings([names[row] for row in order.tolist()], np.asarray(whole.vectors)[order])

    assert [*evaluate_images(images, item_vectors=whole).per_query()] == [
        *evaluate_images(images, item_vectors=mixed).per_query()
    ]


def test_transforms_are_named_with_what_they_look_at() -> None:
    images = gallery()
    plain = evaluate_images(images, item_vectors=vectors_of(images), intervals="none")
    changed = evaluate_images(
        images, item_vectors=vectors_of(images), transforms="query-expansion(k=2)", intervals="none"
    )

    assert "transforms" not in plain.rules
    assert (changed.rules["transforms"], changed.rules["transductive"]) == (
        "query-expansion(k=2)",
        "gallery",
    )
    fewer = evaluate_images(
        images,
        item_vectors=vectors_of(images),
        transforms="whitening(dimensions=2)",
        intervals="none",
    )
    assert [each.performance["embeddings"]["dimensions"] for each in (plain, fewer)] == [8, 2]
    with pytest.raises(BadUsage, match="works on vectors"):
        of_gallery(transforms="query-expansion(k=2)")
    with pytest.raises(BadUsage, match="compares by cosine"):
        evaluate_images(
            images, item_vectors=vectors_of(images), metric="l2", transforms="query-expansion(k=2)"
        )


def test_a_transform_of_scores_changes_scores() -> None:
    found = of_gallery(transforms="dual-softmax(temperature=1.0)")

    assert found.rules["transductive"] == "queries"
    # The columns of q1 and q2 are the same, and q3 likes r1 least of all: its softmax leaves r4
    # where it was.
    assert means(found)["MP@1"] == pytest.approx(100 / 3)


# ---- refusals
# --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        (
            {"query_ids": ["q1", "q2", "zz"]},
            BadInput,
            "the query 'zz' is none of the 7 images, whose ids are like 'q1'",
        ),
        (
            {"item_ids": ["r1", "r2", "r3", "zz"]},
            BadInput,
            "the reference 'zz' is none of the 7 images, whose ids are like 'r1'",
        ),
        ({"query_ids": None}, BadInput, r"its 3 queries have no ids.*files of ids \(query_ids\)"),
        (
            {"query_ids": None, "item_ids": None},
            BadInput,
            r"its 3 queries and 4 references have no ids.*\(query_ids, item_ids\)",
        ),
        (
            {"query_ids": ["r1", "r2", "r3", "r4"], "item_ids": ["q1", "q2", "q3"]},
            BadInput,
            "4 ids for 3 rows of scores; every row has one id. Are the ids of rows and columns "
            "swapped?",
        ),
        ({"exclude_group": "camra"}, UnknownName, "did you mean 'camera'"),
        ({"exclude_group": "group"}, BadUsage, "no image has a group"),
        ({"ties": "averaged"}, UnknownName, "unknown tie rule 'averaged'"),
        ({"measures": "TP/PRED"}, BadUsage, "name a measure of rankings"),
        ({"measures": "PP@1"}, UnknownName, "unknown measure 'PP'"),
        ({"depth": 0}, BadUsage, "depth=0"),
        ({"convention": "tehsis"}, UnknownName, "did you mean 'thesis'"),
        ({"item_vectors": "x.npy"}, BadUsage, "give scores, or item_vectors"),
        ({"intervals": "exact"}, UnknownName, "intervals: there is no 'exact'"),
    ],
)
def test_what_does_not_fit_is_refused_in_one_line(
    options: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message) as told:
        of_gallery(**options)
    assert "\n" not in str(told.value)


def test_a_score_that_is_not_finite_is_named_by_its_images() -> None:
    scores = SCORES.copy()
    scores[1, 2] = np.nan
    with pytest.raises(BadInput, match=r"'q2'.*'r3'.*nan"):
        of_gallery(scores)


@pytest.mark.parametrize("transforms", [None, "dual-softmax(temperature=1)"])
def test_a_score_that_is_not_finite_is_named_by_its_place_in_its_file(
    tmp_path: Path, transforms: str | None
) -> None:
    # The rows are not in the order of the images.
    scores = SCORES.copy()
    scores[0, 2] = np.nan
    np.save(tmp_path / "scores.npy", scores)
    with pytest.raises(
        BadInput, match=r"scores\.npy: row 0 \('q3'\), column 2 \('r3'\): the score is nan"
    ):
        of_gallery(tmp_path / "scores.npy", query_ids=["q3", "q2", "q1"], transforms=transforms)


def test_nothing_says_what_is_right() -> None:
    with pytest.raises(BadUsage, match="nothing says what is right"):
        evaluate_images(scores=SCORES)
    pictures = [ImageEntry("q", None, "query"), ImageEntry("r", None, "reference")]
    with pytest.raises(NothingToEvaluate, match="no image has an instance"):
        evaluate_images(
            Images.from_entries(pictures), scores=np.ones((1, 1)), query_ids=["q"], item_ids=["r"]
        )


def test_positives_replace_labels_and_have_no_camera_without_images() -> None:
    found = of_gallery(qrels={"q1": ["r4"], "q2": ["r4"], "q3": ["r4"]}, measures="P@1")

    assert means(found)["P@1"] == pytest.approx(100 / 3)
    with pytest.raises(BadUsage, match="which image is which"):
        evaluate_images(scores=SCORES, qrels=[[0], [1], [2]], exclude_group="camera")


# ---- real pictures, from files to sheets
# ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def museum(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Regions of two photographs as paintings, badly photographed by visitors; walls that show
    nothing; a painting on loan.
    """
    sklearn = pytest.importorskip("sklearn.datasets", reason="could not import scikit-learn")
    from PIL import Image, ImageEnhance, ImageFilter

    folder = tmp_path_factory.mktemp("museum")
    photographs = [
        Image.fromarray(sklearn.load_sample_image(name)) for name in ("china.jpg", "flower.jpg")
    ]
    size = (190, 160)
    for number in range(8):
        left, top = 10 + 205 * (number // 2 % 3), 20 + 200 * (number // 6)
        region = photographs[number % 2].crop((left, top, left + size[0], top + size[1]))
        name = f"painting{number}"
        for side in ("references", "queries"):
            (folder / side / name).mkdir(parents=True)
        if number < 7:
            region.save(folder / "references" / name / "whole.png")
            region.crop((10, 10, 170, 140)).save(folder / "references" / name / "part.png")
        tilted = region.transform(
            size, Image.Transform.QUAD, (6, 4, 0, 158, 186, 160, 190, 0), Image.Resampling.BILINEAR
        )
        dim = ImageEnhance.Brightness(tilted).enhance(0.85).filter(ImageFilter.GaussianBlur(1))
        dim.save(folder / "queries" / name / "visitor.jpg", quality=80)
    for number in range(3):
        wall = Image.effect_noise(size, 12 + number).convert("RGB")
        place = folder / "references" / f"painting{number}" / "contentless"
        place.mkdir()
        wall.save(place / "wall.png")
    return folder


def test_the_filters_of_a_museum(museum: Path) -> None:
    result = evaluate_images(
        read_images(museum), item_vectors=by_encoder(read_images(museum), "small-grey:32x24").table
    )

    assert result.rules["filtered"] == {
        "references_without_content": 3,
        "queries_of_absent_instances": 1,
    }
    assert (result.rules["images"]["references"], result.rules["images"]["queries"]) == (14, 7)
    assert result.rules["images"]["digest"].startswith("sha256:")


def test_queries_in_the_folder_of_references_do_not_find_themselves(tmp_path: Path) -> None:
    from PIL import Image

    rng = np.random.default_rng(0)
    (tmp_path / "set/test").mkdir(parents=True)
    for name in [
        *(f"{instance}-{number}.png" for instance in range(20) for number in "12"),
        *(f"test/{each}-q.png" for each in range(20)),
    ]:
        Image.fromarray(rng.integers(0, 255, (16, 16, 3), dtype=np.uint8)).save(
            tmp_path / "set" / name
        )
    given = {
        "query_images": str(tmp_path / "set/test"),
        "pattern": "{instance}-*.png",
        "encoder": "small-grey",
        "format": "json",
    }

    output = evaluate(str(tmp_path / "set"), **given, intervals="none")

    found = json.loads(output.text)
    assert found["rules"]["images"]["references"] == 40
    assert {row["label"]: row["mean"] for row in found["rows"]}["P@1"] <= 25
    assert (
        f"{tmp_path / 'set/test'} lies in {tmp_path / 'set'}: its 20 images are queries only"
        in [each["message"] for each in found["findings"]]
    )


@pytest.mark.parametrize("encoder", ["small-grey:32x24", "colour-histogram"])
def test_encoders_that_need_nothing_find_paintings_far_above_chance(
    museum: Path, encoder: str
) -> None:
    made = by_encoder(read_images(museum), encoder)
    rows = {
        row["label"]: row
        for row in evaluate_images(read_images(museum), item_vectors={made.run: made.table}).summary
    }

    assert rows["MP@1"]["run"] == encoder
    assert rows["MP@1"]["mean"] > 3 * rows["MP@1"]["chance"]
    assert made.performance["images"] == 25
    assert made.performance["encode_seconds_per_image"] > 0


def test_local_features_find_every_painting_that_has_edges(museum: Path) -> None:
    pytest.importorskip("cv2", reason="could not import OpenCV")
    from rankwell.tasks.images.local_features import LocalFeatures

    made = by_local_features(read_images(museum), LocalFeatures())
    result = evaluate_images(read_images(museum), scores={made.run: made.table})

    # The even paintings are parts of a temple, the odd ones of a flower before a blurred ground.
    first = {
        row["query"].split("/")[1]: row["value"]
        for row in result.per_query()
        if row["label"] == "MP@1"
    }
    assert {name: value for name, value in first.items() if int(name[-1]) % 2 == 0} == {
        f"painting{n}": 100 for n in (0, 2, 4, 6)
    }
    assert result.performance["rootsift"]["queries"] == 7


def test_the_command_writes_tables_sheets_and_what_it_took(museum: Path, tmp_path: Path) -> None:
    import duckdb

    out = tmp_path / "out"
    (museum / "references" / "painting6" / "broken.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    try:
        output = evaluate(
            f"Louvre={museum}",
            encoder="colour-histogram",
            output=out,
            check=["70.08"],
            cache=tmp_path / "c",
        )
    finally:
        (museum / "references" / "painting6" / "broken.png").unlink()
    notes = "\n".join(output.findings)

    assert "1 image could not be read or encoded" in notes
    assert "left out 3 references without content" in notes
    assert any("70.08 is not possible with n = 7" in message for message in output.messages)
    assert "references/painting6/broken.png" in (out / "encoding_errors.csv").read_text()
    assert len(list((out / "sheets").glob("*.png"))) == 7
    manifest = json.loads((out / "manifest.json").read_text())
    written = {path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_file()}
    assert set(manifest["files"]) == written - {"manifest.json"}
    assert "70.08 is not possible with n = 7" in " ".join(manifest["rules"]["checks"])
    took = json.loads((out / "performance.json").read_text())["runs"]["colour-histogram"]
    # Walls and the painting on loan take no part, and are not encoded.
    assert (took["dimensions"], took["images"], took["queries"]) == (64, 21, 7)
    assert took["encode_seconds_per_image"] > 0
    rules = json.loads((out / "manifest.json").read_text())["rules"]
    assert rules["dataset"] == "Louvre"
    assert rules["encoder"]["family"] or rules["encoder"]

    rows = duckdb.sql(
        f"SELECT query, item, rank, state, detail FROM '{out}/details.parquet' ORDER BY query, rank"
    ).fetchall()
    assert {state for _, _, _, state, _ in rows} == {"relevant", "nonrelevant"}
    first = {
        query: rank for query, _, rank, _, detail in rows if json.loads(detail).get("first_right")
    }
    assert set(first) == {query for query, *_ in rows}
    assert all(json.loads(detail)["label"] in item for _, item, _, _, detail in rows)
    items = duckdb.sql(f"SELECT item, thumbnail, problem FROM '{out}/items.parquet'").fetchall()
    assert {item for item, *_ in items} >= {
        item for _, item, rank, _, _ in rows if rank is not None and rank <= 20
    }
    assert all(
        (source or "").startswith("data:image/jpeg;base64,") or problem
        for _, source, problem in items
    )
    asked = duckdb.sql(f"SELECT query, picture_item FROM '{out}/queries.parquet'").fetchall()
    assert all(query == picture for query, picture in asked)
    queries = duckdb.sql(
        f"SELECT query, instance, right_references FROM '{out}/queries.parquet' ORDER BY query"
    ).fetchall()
    assert [instance for _, instance, _ in queries] == [f"painting{number}" for number in range(7)]


def test_sheets_begin_with_the_worst_query(museum: Path, tmp_path: Path) -> None:
    made = by_encoder(read_images(museum), "colour-histogram")
    result = evaluate_images(read_images(museum), item_vectors={made.run: made.table})
    values = {row["query"]: row["value"] for row in result.per_query() if row["label"] == "MAP"}
    first = {row["query"]: row["value"] for row in result.per_query() if row["label"] == "MP@1"}
    worst = result.worst(made.run)

    assert set(worst) == set(values)
    assert worst == sorted(worst, key=lambda query: (first[query], values[query]))


def test_the_command_refuses_what_does_not_go_together(museum: Path, tmp_path: Path) -> None:
    with pytest.raises(BadUsage, match="name it first"):
        evaluate(scores=["x.npy"], pattern="{instance}_*")
    with pytest.raises(BadUsage, match="two systems"):
        evaluate(str(museum), encoder="colour-histogram", local_features="sift")
    with pytest.raises(BadUsage, match="--batch-size belongs to --encoder"):
        evaluate(str(museum), batch_size=2, scores=["x.npy"])
    (tmp_path / "model.toml").write_text('model = "small-grey"\nsize = "224"\n')
    with pytest.raises(BadUsage, match="size '224'"):
        evaluate(str(museum), encoder=str(tmp_path / "model.toml"))
    (tmp_path / "set.csv").write_text("image,instance,split\na,x,reference\nb,x,query\n")
    with pytest.raises(BadUsage, match="no image files to read"):
        evaluate(str(tmp_path / "set.csv"), encoder="colour-histogram")


@pytest.mark.slow
def test_sift_on_real_photographs_lies_between_the_bounds_of_its_ties(shared: Path) -> None:
    pytest.importorskip("cv2", reason="could not import OpenCV")
    from rankwell.tasks.images.local_features import LocalFeatures

    images = read_images(shared / "vpr" / "corridor_images")
    made = by_local_features(images, LocalFeatures())
    found: dict[str, Any] = {}
    for ties in ("pessimistic", "expected", "optimistic"):
        result = evaluate_images(
            images,
            scores=made.table,
            qrels=shared / "vpr" / "corridor_positives.json",
            convention="vpr",
            ties=ties,
            intervals="none",
        )
        found[ties] = means(result)["recall@1"]
        tied = result.rules["counts"]["scores"]["queries_best_relevant_tied"]

    assert found["pessimistic"] >= 43.2 - 0.05
    assert found["pessimistic"] < found["expected"] < found["optimistic"] <= 73.0 + 0.05
    assert 0 < tied < 111


# ---- ties in the first place
# --------------------------------------------------------------------------------------------------


TIED = np.array([[2.0, 0.0, 2.0, 0.0], [3.0, 3.0, 3.0, 3.0], [1.0, 1.0, 0.0, 0.0]])
"""q1 (mona): a mona and the oak. q2 (oak): two monas, the oak, one without a label. q3 (mona): two
monas.
"""


@pytest.mark.parametrize(
    ("ties", "right", "named"),
    [
        ("expected", 1 / 2 + 1 / 4 + 1, 1 + 3 / 4 + 1),
        ("optimistic", 3, 3),
        ("pessimistic", 1, 3),
        ("input", 2, 3),
        ("input-desc", 1, 2),
        ("id-asc", 2, 3),
        ("id-desc", 1, 2),
    ],
)
def test_ties_in_the_first_place_name_a_query_as_their_rule_says(
    ties: str, right: float, named: float
) -> None:
    result = of_gallery(TIED, ties=ties, measures="P@1 TP/PRED")

    assert means(result)["TP/PRED"] == pytest.approx(100 * right / named)
    assert sum(row["named"] for row in result.by_instance) == pytest.approx(named)
    assert sum(row["right"] for row in result.by_instance) == pytest.approx(right)


def test_the_order_of_references_changes_no_name_where_ties_are_open() -> None:
    names = [name for name, _, _ in REFERENCES]
    one, other = of_gallery(TIED), of_gallery(TIED[:, ::-1], item_ids=names[::-1])

    assert means(one) == means(other)
    assert one.by_instance == other.by_instance


def test_different_names_in_the_first_place_are_an_error_where_ties_are() -> None:
    scores = np.array([[0.0, 0.0, 1.0, 1.0], [0.0, 0.0, 1.0, 0.5], [2.0, 1.0, 0.0, -1.0]])

    with pytest.raises(TieRefused, match="'q1'"):
        of_gallery(
            scores,
            measures="P@1 TP/PRED",
            ties="error",
            qrels={"q1": ["r1"], "q2": ["r3"], "q3": ["r1"]},
        )


# ---- the command: sheets, checks, options
# -------------------------------------------------------------------------------------


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    """The gallery as a table with its scores and vectors in files; no images."""
    rows = [
        f"{name},{label or ''},{side}"
        for side, those in (("reference", REFERENCES), ("query", QUERIES))
        for name, label, _ in those
    ]
    found = {
        name: tmp_path / name for name in ("set.csv", "s.npy", "v.npy", "q.txt", "r.txt", "ids.txt")
    }
    found["set.csv"].write_text("image,instance,split\n" + "\n".join(rows) + "\n")
    np.save(found["s.npy"], SCORES)
    np.save(found["v.npy"], np.random.default_rng(1).standard_normal((7, 4)))
    names = {"q.txt": QUERIES, "r.txt": REFERENCES, "ids.txt": [*REFERENCES, *QUERIES]}
    for name, those in names.items():
        found[name].write_text("".join(f"{each[0]}\n" for each in those))
    return found


def of_files(files: dict[str, Path], **options: Any) -> Any:
    given: dict[str, Any] = {
        "query_ids": str(files["q.txt"]),
        "item_ids": str(files["r.txt"]),
        "scores": [str(files["s.npy"])],
    }
    return evaluate(str(files["set.csv"]), **(given | options))


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"k": "3"}, "-k 3"),
        ({"k": "3", "measures": ["P@1"]}, "-k 3"),
        ({"executor": "here"}, "--executor"),
        ({"cache": Path("c")}, "--cache"),
        ({"metric": "dot"}, "--metric"),
        ({"item_ids": "nofile", "scores": None, "query_ids": None}, "--item-ids"),
        ({"device": "cpu"}, "--device"),
        ({"scores": None, "item_vectors": ["v.npy"]}, "--query-ids"),
    ],
)
def test_an_option_that_nothing_reads_is_refused_by_its_name(
    files: dict[str, Path], options: dict[str, Any], named: str
) -> None:
    with pytest.raises(BadUsage, match=named):
        of_files(files, **options)


def test_options_of_one_system_are_refused_with_another(files: dict[str, Path]) -> None:
    with pytest.raises(BadUsage, match="--executor belongs to --local-features"):
        evaluate(str(files["set.csv"]), encoder="small-grey", executor="here")
    with pytest.raises(BadUsage, match="--metric belongs to"):
        evaluate(str(files["set.csv"]), local_features="sift", metric="dot")
    with pytest.raises(BadUsage, match="--encoder or --local-features"):
        evaluate(str(files["set.csv"]))


def test_cut_offs_go_to_the_measures_that_name_none(files: dict[str, Path]) -> None:
    rows = json.loads(of_files(files, k="2,3", measures=["P", "AP"], format="json").text)["rows"]

    assert [row["measure"] for row in rows] == ["P@2", "P@3", "AP"]


def test_a_check_of_a_printed_figure_stands_in_json_too(files: dict[str, Path]) -> None:
    document = json.loads(of_files(files, check=["70.08", "66.67"], format="json").text)
    notes = document["rules"]["checks"]

    assert [note.split(":")[0] for note in notes if note.startswith(("70.08", "66.67"))] == [
        "70.08 is not possible with n = 3",
        next(note.split(":")[0] for note in notes if note.startswith("66.67")),
    ]


def test_no_share_of_what_a_run_returned_is_above_its_ceiling() -> None:
    scores, names = np.array([[3.0, 2.0], [1.0, 2.0], [3.0, 2.0]]), ["r1", "r3"]
    rows = of_gallery(scores, item_ids=names, depth=4).summary
    found = next(row for row in rows if row["label"] == "P_q")

    # Each query has one right reference among the two that the run returned, and at most two in the
    # whole gallery.
    assert found["mean"] == 50
    assert found["ceiling"] == pytest.approx(100 * (1 + 1 / 2 + 1) / 3)


def test_a_share_of_what_is_retrieved_says_so_beside_its_definition() -> None:
    told = of_gallery().rules["measures"]

    assert told["P(denom='retrieved')@10"]["parameters"]["denom"] == "retrieved"
    assert told["AP(area='trapezoid')"]["parameters"] == {"area": "trapezoid"}
    assert "parameters" not in told["AP"]


def test_a_tied_rank_is_a_range_in_details_and_on_the_sheet() -> None:
    from rankwell.vectors.media.contact_sheet import sheets_of
    from rankwell.vectors.media.images import Thumbnails

    scores = np.array([[1.0, 0.0, 2.0, 1.0], [3.0, 3.0, 4.0, 3.0], [4.0, 3.0, 2.0, 1.0]])
    details = of_gallery(scores, details=True).details or {}
    told = dict(
        zip(
            zip(details["query"], details["item"], strict=True),
            map(json.loads, details["detail"]),
            strict=True,
        )
    )
    facts = {sheet.title: " ".join(sheet.lines) for sheet in sheets_of(details, Thumbnails({}))}

    assert told["q1", "r1"]["ranks"] == [2, 3]
    assert "ranks" not in told["q2", "r3"]
    assert facts["q1"].endswith("the first right one at rank 2–3, tied")
    assert facts["q2"].endswith("the first right one at rank 1")
    decided = of_gallery(scores, details=True, ties="input").details or {}
    assert not any("ranks" in json.loads(each) for each in decided["detail"])


def test_every_run_has_its_sheets_and_a_smaller_result_leaves_no_older_ones(
    museum: Path, tmp_path: Path
) -> None:
    made = by_encoder(read_images(museum), "colour-histogram")
    assert isinstance(made.table, Embeddings)
    np.save(tmp_path / "other.npy", np.asarray(made.table.vectors))
    (tmp_path / "ids.txt").write_text("".join(f"{name}\n" for name in made.table.names()))
    given: dict[str, Any] = {
        "item_vectors": [str(tmp_path / "other.npy")],
        "item_ids": str(tmp_path / "ids.txt"),
    }

    out = tmp_path / "out"
    both = evaluate(str(museum), encoder="small-grey", output=out, **given)
    first = sorted(path.name for path in (out / "sheets").iterdir())
    with overwriting(True):
        evaluate(str(museum), output=out, **given)

    assert len(first) == 14
    assert (
        sum("small-grey" in name for name in first) == sum("other" in name for name in first) == 7
    )
    assert any(
        note.startswith("drew 14 contact sheets")
        and note.endswith("the worst of 7 queries of small-grey and of other first")
        for note in both.messages
    )
    assert len(list((out / "sheets").iterdir())) == 7
    assert both.next_step == f"rankwell compare {out}"


def test_what_a_convention_says_on_its_measures_is_explained() -> None:
    assert "MAP is plain" in str(rankwell.explain("thesis"))
    with pytest.raises(UnknownName, match="thesis-code") as refused:
        of_gallery(convention="nosuch")
    assert "piaf" not in str(refused.value)


def test_scores_without_ids_follow_the_lists_of_a_ground_truth(tmp_path: Path) -> None:
    names = {"imlist": ["z", "b", "a"], "qimlist": ["q9", "q1"]}
    place = tmp_path / "gnd.json"
    place.write_text(json.dumps(names | {"gnd": [{"easy": [0]}, {"easy": ["a"], "junk": ["b"]}]}))
    scores = np.array([[3.0, 2.0, 1.0], [1.0, 3.0, 2.0]])
    vectors = {"query_vectors": np.eye(3)[[0, 2]], "item_vectors": np.eye(3)}

    plain = evaluate_images(place, scores=scores, convention="revisited-E", intervals="none")
    named = evaluate_images(
        place,
        scores=scores,
        query_ids=["q9", "q1"],
        item_ids=["z", "b", "a"],
        convention="revisited-E",
        intervals="none",
    )
    near = evaluate_images(place, **vectors, convention="revisited-E", intervals="none")

    assert [each.values.tolist() for each in plain.values] == [
        each.values.tolist() for each in named.values
    ]
    assert plain.summary[0]["mean"] == near.summary[0]["mean"] == 100.0
    with pytest.raises(
        BadInput,
        match=r"its 3 queries have no ids, and the data set lists 2 in its order.*query_ids",
    ):
        evaluate_images(place, scores=np.ones((3, 3)))
    with pytest.raises(BadInput, match=r"its 4 references have no ids, and the data set lists 3"):
        evaluate_images(
            place, query_vectors=vectors["query_vectors"], item_vectors=np.eye(4, 3) + 1
        )
    # One file has the vectors of both sides.
    with pytest.raises(BadInput, match=r"name files of ids \(item_ids\)"):
        evaluate_images(place, item_vectors=np.eye(5))


def test_ids_beside_a_matrix_are_read_where_no_others_are_named(tmp_path: Path) -> None:
    place = tmp_path / "own.npy"
    np.save(place, SCORES)
    (tmp_path / "own.queries.txt").write_text("q1\nq2\nq3\n")
    (tmp_path / "own.references.txt").write_text("r1\nr2\nr3\nr4\n")

    beside = of_gallery(place, query_ids=None, item_ids=None)
    notes = [str(finding) for finding in beside.findings]

    assert means(beside) == means(of_gallery())
    assert [note for note in notes if "own.queries.txt" in note]
    assert [note for note in notes if "own.references.txt" in note]
    # Ids that the user names come first.
    named = of_gallery(place, query_ids=["q1", "q3", "q2"], item_ids=None)
    assert means(named) != means(beside)
    assert not [note for note in map(str, named.findings) if "own.queries.txt" in note]
    (tmp_path / "own.queries.txt").write_text("q1\nq2\n")
    with pytest.raises(BadInput, match=r"own\.queries\.txt: 2 ids for 3 rows"):
        of_gallery(place, query_ids=None, item_ids=None)


def test_files_of_other_runs_are_read_before_a_run_is_computed(
    museum: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def _never(*_: Any, **__: Any) -> None:
        raise AssertionError("computed")

    monkeypatch.setattr(instances_task, "compute_run", _never)
    images = read_images(museum)
    sides = [list(side.ids) for side in (images.queries(), images.references())]
    np.save(tmp_path / "own.npy", np.ones([len(ids) for ids in sides]))
    np.save(tmp_path / "vectors.npy", np.eye(len(images)))
    for options, message in (
        ({"scores": "own.npy"}, r"queries and \d+ references have no ids.*query.ids, .*item.ids"),
        (
            {"scores": "own.npy", "query_ids": sides[0]},
            r"its \d+ references have no ids.*\(-*item.ids\)",
        ),
        (
            {"scores": "own.npy", "query_ids": [f"z{name}" for name in sides[0]]},
            "whose ids are like 'queries/",
        ),
        ({"scores": "nosuch.npy"}, "nosuch.npy"),
        ({"item_vectors": "vectors.npy"}, r"have no ids.*\(-*item.ids\)"),
    ):
        system = "encoder" if "item_vectors" in options else "local_features"
        files = {
            name: [str(tmp_path / value)] if isinstance(value, str) else value
            for name, value in options.items()
        }
        with pytest.raises(BadInput, match=message):
            evaluate(
                str(museum), **{system: "small-grey" if system == "encoder" else "sift"}, **files
            )
    monkeypatch.undo()


def test_a_file_of_the_name_of_the_computed_run_does_not_take_its_place(
    museum: Path, tmp_path: Path
) -> None:
    made = by_encoder(read_images(museum), "small-grey")
    assert isinstance(made.table, Embeddings)
    np.save(tmp_path / "small-grey.npy", np.asarray(made.table.vectors))
    (tmp_path / "small-grey.ids.txt").write_text(
        "".join(f"{name}\n" for name in made.table.names())
    )

    with pytest.raises(BadUsage, match="two of the runs are called 'small-grey'"):
        evaluate(str(museum), encoder="small-grey", item_vectors=[str(tmp_path / "small-grey.npy")])


def test_the_answer_names_what_the_worst_photographs_were_taken_for(
    museum: Path, tmp_path: Path
) -> None:
    evaluate(str(museum), encoder="small-grey", output=tmp_path / "one", convention="rankwell")
    rules = json.loads((tmp_path / "one" / "manifest.json").read_text())["rules"]
    answer = repr(of_gallery(details=True, convention="rankwell"))

    assert "Worst by P@1 and mAP: q2, taken for mona; q3, taken for r4" in answer
    assert rules["method"] == "small-grey:16x9"
    assert not (tmp_path / "one" / "by_instance.csv").exists()
    perfect = of_gallery(
        np.array([[2.0, 2.0, 1.0, 0.0], [0.0, 0.0, 1.0, 0.0], [2.0, 2.0, 1.0, 0.0]]),
        convention="rankwell",
    )
    assert "Worst" not in repr(perfect)


def test_the_answer_of_several_systems_claims_no_difference() -> None:
    result = of_gallery({"a": SCORES, "b": SCORES[::-1]}, convention="rankwell")

    assert "need not be significantly higher; rankwell compare tests it." in repr(result)


def test_the_rules_name_the_local_features_with_their_numbers(museum: Path, tmp_path: Path) -> None:
    pytest.importorskip("cv2", reason="could not import OpenCV")
    evaluate(
        str(museum / "references"),
        query_images=str(museum / "queries"),
        local_features="sift(features=50)",
        output=tmp_path / "out",
    )
    rules = json.loads((tmp_path / "out" / "manifest.json").read_text())["rules"]
    shown = rules_line(rules)

    assert list(rules["counts"]) == ["sift"]
    assert "sift(features=50, ratio=0.8, reprojection=5.0, score=inliers, max_size=640), " in shown
    assert "OpenCV" in shown
    assert "query-images=queries" in shown


def test_the_help_names_every_parameter_of_every_transform_with_its_value() -> None:
    _, texts = texts_of(command_function(("images",)))
    text = " ".join(texts.values())

    for entry in (TRANSFORMS[name] for name in TRANSFORMS):
        if not entry.needs_bank:
            shown = re.search(rf"{entry.name}\(([^)]*)\)", text)
            assert shown is not None, entry.name
            given = dict(part.split("=") for part in shown.group(1).split(", "))
            assert set(given) == set(entry.parameters), entry.name
            for name, value in entry.parameters.items():
                assert value is Parameter.empty or float(given[name]) == float(value), (
                    entry.name,
                    name,
                )


def test_a_problem_names_its_file_once_and_what_takes_no_part_is_not_looked_at(
    museum: Path, tmp_path: Path
) -> None:
    bare = museum / "references" / "painting0" / "contentless" / "broken.png"
    bare.parent.mkdir(exist_ok=True)
    bare.write_bytes(b"\x89PNG")
    broken = museum / "references" / "painting6" / "broken.png"
    broken.write_bytes(b"\x89PNG\r\n\x1a\n")
    told: list[str] = []
    try:
        for system in (
            {"encoder": "small-grey"},
            {"local_features": "sift"} if find_spec("cv2") else {"encoder": "small-grey"},
        ):
            told += [
                note
                for note in evaluate(str(museum), **system, intervals="none").findings
                if "could not be read" in note
            ]
    finally:
        broken.unlink()
        bare.unlink()

    assert len(told) == 2
    for note in told:
        assert note.startswith("1 image could not be read or encoded; first ")
        assert note.count("broken.png") == 1


@pytest.mark.parametrize(
    ("broken", "said"),
    [(1, "1 image has no picture, first: "), (2, "2 images have no picture, first: ")],
)
def test_queries_without_a_picture_are_counted_where_they_are_drawn(
    museum: Path, tmp_path: Path, broken: int, said: str
) -> None:
    places = [museum / "queries" / "painting6" / f"broken{number}.png" for number in range(broken)]
    for place in places:
        place.write_bytes(b"\x89PNG\r\n\x1a\n")
    try:
        notes = evaluate(
            str(museum), encoder="small-grey", output=tmp_path / "out", intervals="none"
        ).messages
    finally:
        for place in places:
            place.unlink()

    assert [note.startswith(said) for note in notes if "no picture, first" in note] == [True]
