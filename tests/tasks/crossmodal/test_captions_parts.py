"""Captions and videos compared in parts: the result of one process, however the tables are cut, and
the same errors.
"""

import json
import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rankwell
from commanding import with_fields
from oracles.captions import among_videos, q2m, transposed
from rankwell.errors import BadInput, BadScore, BadUsage, DuplicateItem, Unfinished
from rankwell.results import Results
from rankwell.runtime.parts.execution import compute_part
from rankwell.tasks.crossmodal.task import crossmodal as crossmodal_task

SHARDS = (1, 2, 7, 31, 250)
METRICS = ("cosine", "dot", "l2")
VIDEOS, CAPTIONS = 40, 160


@pytest.fixture(autouse=True)
def no_waiting_for_disks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", lambda _: None)


def copies(n: int, seed: int):
    """Small whole numbers, so that many scores tie; the last rows are exact copies of the first."""
    vectors = np.random.default_rng(seed).integers(1, 4, size=(n, 5)).astype(np.float32)
    vectors[-n // 8 :] = vectors[: len(vectors[-n // 8 :])]
    return vectors


def right_videos() -> list[list[int]]:
    """One video has more captions than most shards, its captions lie far apart, some have two
    videos, and some none.
    """
    found = [
        [caption % 3 * 7] if caption % 2 else [caption * 5 % (VIDEOS - 1)]
        for caption in range(CAPTIONS)
    ]
    return [
        [] if caption % 41 == 40 else sorted({*videos, 3}) if caption % 13 == 0 else videos
        for caption, videos in enumerate(found)
    ]


@pytest.fixture
def files(tmp_path: Path) -> Path:
    np.save(tmp_path / "q.npy", copies(CAPTIONS, 1))
    np.save(tmp_path / "g.npy", copies(VIDEOS, 2))
    (tmp_path / "positives.json").write_text(json.dumps(right_videos()))
    return tmp_path


def ranked(files: Path, **options: Any) -> Results:
    given = {
        "query_vectors": str(files / "q.npy"),
        "item_vectors": str(files / "g.npy"),
        "direction": "t2v,v2t,v2t-videos",
        **options,
    }
    return rankwell.evaluate_crossmodal(qrels=str(files / "positives.json"), **given)


def all_of(result: Results) -> str:
    """All that a result says."""
    details = {name: list(column) for name, column in (result.details or {}).items()}
    return repr(
        [
            list(result.summary),
            list(result.per_query()),
            result.findings,
            result.describe(),
            details,
        ]
    )


def marks(metric: str, shards: int, details: bool) -> list[pytest.MarkDecorator]:
    """250 parts of every metric take minutes."""
    if shards == 250 and (metric != "cosine" or not details):
        return [pytest.mark.slow, pytest.mark.server]
    return [pytest.mark.slow] if shards in (1, 31, 250) else []


@pytest.mark.parametrize(
    ("metric", "shards", "details"),
    [
        pytest.param(metric, shards, details, marks=marks(metric, shards, details))
        for metric in METRICS
        for shards in SHARDS
        for details in (False, True)
    ],
)
def test_shards_give_the_result_of_one_process_in_both_directions_and_protocols(
    files: Path, metric: Any, shards: int, details: bool
):
    found = ranked(files, metric=metric, details=details, shards=shards, work=str(files / "work"))

    assert all_of(found) == all_of(ranked(files, metric=metric, details=details))


@pytest.mark.parametrize("ties", ["input-desc", "id-asc", "expected", "averaged", "pessimistic"])
def test_every_tie_rule_and_measure_of_all_positives_holds_across_shards(files: Path, ties: str):
    options = {
        "ties": ties,
        "measures": ["R@5", "MedR"] if ties == "averaged" else ["nDCG@10", "AP", "R@5"],
    }

    found = ranked(files, details=True, shards=7, **options)

    assert all_of(found) == all_of(ranked(files, details=True, **options))


def test_ranks_in_parts_are_those_of_sorted_rows(files: Path):
    queries, gallery = (np.load(files / name).astype(int) for name in ("q.npy", "g.npy"))
    table: list[list[float]] = (queries @ gallery.T).tolist()
    columns, groups = transposed(table, right_videos())

    found = ranked(files, metric="dot", shards=7, work=str(files / "work"), convention="hgr")

    means = {(row["direction"], row["measure"]): row["mean"] for row in found.summary}
    for direction, expected in (("t2v", q2m(table, right_videos())), ("v2t", q2m(columns, groups))):
        got = [
            means[direction, name]
            for name in ("Success@1", "Success@5", "Success@10", "MedR", "MnR")
        ]
        assert got == pytest.approx(expected)
    ranks = {
        row["query"]: row["value"]
        for row in found.per_query()
        if (row["direction"], row["measure"]) == ("v2t-videos", "MedR")
    }
    assert [
        ranks[str(video)] for video, rank in enumerate(among_videos(table, right_videos())) if rank
    ] == [rank for rank in among_videos(table, right_videos()) if rank]


def test_the_folder_that_the_command_writes_has_the_same_bytes(files: Path):
    run, given = (
        with_fields(crossmodal_task.command()),
        {"query_vectors": str(files / "q.npy"), "item_vectors": str(files / "g.npy")},
    )
    given |= {"qrels": str(files / "positives.json"), "direction": "t2v,v2t,v2t-videos"}

    one = run(**given, output=files / "one")
    parts = run(**given, output=files / "parts", executor="here", shards=5, memory="30k")

    names = sorted(
        path.relative_to(files / "one") for path in (files / "one").rglob("*") if path.is_file()
    )
    assert parts.text == one.text
    assert names == sorted(
        path.relative_to(files / "parts") for path in (files / "parts").rglob("*") if path.is_file()
    )
    for name in names:
        assert (files / "parts" / name).read_bytes() == (files / "one" / name).read_bytes(), name


@pytest.mark.parametrize("executor", ["here", pytest.param("processes:2", marks=pytest.mark.slow)])
def test_an_executor_gives_the_result_of_one_process(files: Path, executor: str):
    assert all_of(ranked(files, executor=executor, shards=3)) == all_of(ranked(files))


def test_an_array_is_submitted_for_the_scores_and_then_for_the_counts(files: Path):
    options = {"executor": "array", "work": str(files / "work"), "shards": 3}
    with pytest.raises(
        Unfinished, match=r"has the plan of 9 parts; submit them(.|\n)*sbatch --array=0-8 "
    ):
        ranked(files, **options)
    for index in range(9):
        compute_part(files / "work", index)
    with pytest.raises(
        Unfinished,
        match=r"second: 9 of 9 parts are missing: 0-8; submit them(.|\n)*"
        r"rankwell worker \S+/second ",
    ):
        ranked(files, **options)
    for index in range(9):
        compute_part(files / "work" / "second", index)

    assert all_of(ranked(files, **options)) == all_of(ranked(files))


def test_planning_exits_0_and_a_second_round_5(files: Path):
    run, given = (
        with_fields(crossmodal_task.command()),
        {
            "query_vectors": str(files / "q.npy"),
            "item_vectors": str(files / "g.npy"),
            "direction": "t2v",
        },
    )
    given |= {
        "qrels": str(files / "positives.json"),
        "executor": "array",
        "work": str(files / "work"),
        "shards": 1,
    }

    codes = [run(**given).exit_code]
    for folder, parts in (("work", 3), ("work/second", 1)):
        for index in range(parts):
            compute_part(files / folder, index)
        codes.append(run(**given).exit_code)

    assert codes == [0, 5, 0]


def test_parts_that_are_done_serve_other_intervals_and_are_made_again_where_they_are_lost(
    files: Path,
):
    first = ranked(files, shards=3, work=str(files / "work"))
    kept = (files / "work" / "part-00000.npy").stat().st_ino
    (files / "work" / "second" / "part-00001.npy").unlink()

    again = ranked(files, shards=3, work=str(files / "work"))
    ranked(files, shards=3, work=str(files / "work"), intervals="t", k=3)

    assert all_of(again) == all_of(first)
    assert (files / "work" / "part-00000.npy").stat().st_ino == kept


def test_masked_captions_and_tables_in_memory_are_copied_for_the_parts(files: Path):
    np.save(files / "mask.npy", (np.arange(CAPTIONS) % 4 > 0).astype(np.int8))
    options = {"mask": str(files / "mask.npy"), "details": True}
    tables = {"query_vectors": np.load(files / "q.npy"), "item_vectors": np.load(files / "g.npy")}

    assert all_of(ranked(files, **options, shards=7)) == all_of(ranked(files, **options))
    assert all_of(ranked(files, **tables, shards=7)) == all_of(ranked(files, **tables))


def test_ids_and_texts_give_the_result_of_one_process(files: Path):
    (files / "ids.txt").write_text("".join(f"c{(row * 7) % CAPTIONS}\n" for row in range(CAPTIONS)))
    texts = [f"text {row % 50}" for row in range(CAPTIONS)]
    options = {
        "query_ids": str(files / "ids.txt"),
        "queries": texts,
        "ties": "id-desc",
        "details": True,
    }

    assert all_of(ranked(files, **options, shards=7)) == all_of(ranked(files, **options))


def test_shards_may_be_empty_and_a_group_exceed_the_memory(files: Path):
    assert all_of(ranked(files, memory="20k")) == all_of(ranked(files))
    assert all_of(ranked(files, shards=45)) == all_of(ranked(files))


def test_a_dry_run_names_the_parts_of_both_rounds_and_writes_nothing(files: Path):
    run, given = (
        with_fields(crossmodal_task.command()),
        {"query_vectors": str(files / "q.npy"), "item_vectors": str(files / "g.npy")},
    )

    output = run(
        **given,
        qrels=str(files / "positives.json"),
        dry_run=True,
        shards=3,
        work=str(files / "work"),
    )

    costs = dict(line.rsplit(None, 1) for line in output.text.splitlines())
    assert (costs["parts"], costs["parts of a second round"]) == ("9", "6")
    assert costs["products"] == f"{2 * VIDEOS * CAPTIONS:,}"
    assert not (files / "work").exists()


@pytest.mark.parametrize(
    ("executor", "dimensions", "captions", "parts"),
    [
        ("array", 4, 40, ("3", "2")),
        ("array", 512, 40, ("13", "2")),
        ("array", 512, 4000, ("13", "44")),
        ("processes:2", 512, 4000, ("9", "8")),
    ],
)
def test_parts_of_a_cluster_are_worth_a_process(
    tmp_path: Path, executor: str, dimensions: int, captions: int, parts: tuple[str, str]
):
    for name, rows in (("q.npy", captions), ("g.npy", 200_000)):
        with (tmp_path / name).open("wb") as stream:  # with holes, which are not read
            header = {"descr": "<f4", "fortran_order": False, "shape": (rows, dimensions)}
            np.lib.format.write_array_header_1_0(stream, header)
            stream.truncate(stream.tell() + 4 * rows * dimensions)
    (tmp_path / "positives.json").write_text(json.dumps([[caption] for caption in range(captions)]))
    places = {"query_vectors": str(tmp_path / "q.npy"), "item_vectors": str(tmp_path / "g.npy")}

    output = with_fields(crossmodal_task.command())(
        **places, qrels=str(tmp_path / "positives.json"), dry_run=True, executor=executor
    )

    costs = dict(line.rsplit(None, 1) for line in output.text.splitlines())
    assert (costs["parts"], costs["parts of a second round"]) == parts


@pytest.mark.parametrize(
    ("name", "row", "value", "error", "message"),
    [
        ("g.npy", 38, np.nan, BadScore, r"item vectors, .*g\.npy, row 38: number 0 is nan"),
        ("q.npy", 158, np.inf, BadScore, r"query vectors, .*q\.npy, row 158: number 0 is inf"),
        ("g.npy", 39, 0, BadInput, r"item vectors, .*g\.npy, row 39: the vector is zero"),
    ],
)
def test_a_bad_vector_in_the_last_shard_is_named_by_its_file_and_row(
    files: Path, name, row, value, error, message
):
    vectors = np.load(files / name)
    vectors[row] = value
    np.save(files / name, vectors)

    with pytest.raises(error, match=message):
        ranked(files, shards=31, details=True)


def test_other_dimensions_and_an_id_twice_are_refused_before_any_work(files: Path):
    (files / "ids.txt").write_text("".join(f"{row % 150}\n" for row in range(CAPTIONS)))
    with pytest.raises(DuplicateItem, match="id '0' appears in rows 0 and 150"):
        ranked(files, query_ids=str(files / "ids.txt"), shards=7, work=str(files / "work"))
    np.save(files / "g.npy", np.ones((VIDEOS, 4), dtype=np.float32))
    with pytest.raises(
        BadInput, match="the queries have 5 dimensions, the items 4; both come from one model"
    ):
        ranked(files, shards=7, work=str(files / "work"))

    assert not (files / "work").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"transform": "dual-softmax(temperature=1)"},
            r"dual-softmax\(temperature=1\) changes a matrix of scores, and embeddings are "
            r"compared without one",
        ),
        ({"shards": 0}, r"shards=0; expected an integer from 1 to 1000000"),
        ({"memory": "10"}, r"memory=10: a vector takes \d+ bytes, .* give \d+ or more"),
        ({"executor": "array"}, r"executor='array' needs work"),
    ],
)
def test_what_parts_cannot_do_is_refused_by_name(
    files: Path, options: dict[str, Any], message: str
):
    given = {"shards": 3, "work": None if "executor" in options else str(files / "work"), **options}
    with pytest.raises(BadUsage, match=message):
        ranked(files, **given)
    assert not (files / "work").exists()


def test_scores_are_counted_in_one_piece():
    with pytest.raises(
        BadUsage, match=r"parts compare embeddings \(query_vectors with item_vectors\)"
    ):
        rankwell.evaluate_crossmodal(np.eye(3), executor="here")


def test_a_folder_with_other_work_is_refused_and_keeps_its_files(files: Path):
    ranked(files, shards=3, work=str(files / "work"))
    before = sorted(path.name for path in (files / "work").rglob("*"))

    with pytest.raises(
        BadUsage, match=r"holds the plan of other work: .*metric was 'cosine', is 'dot'"
    ):
        ranked(
            files, shards=3, work=str(files / "work"), metric="dot", mask=np.arange(CAPTIONS) % 2
        )

    assert sorted(path.name for path in (files / "work").rglob("*")) == before


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"ties": "id-asc"},
            r"the rows that are compared differ \(positives, mask, .*\); what is compared "
            r"differs \(models",
        ),
        (
            {"direction": "t2v"},
            r"work: what is compared differs \(models, directions, .*\)\. Name another work folder",
        ),
        (
            {"qrels": [[0]] * CAPTIONS},
            r"the rows that are compared differ \(positives, .*\)\. Name another work folder",
        ),
    ],
)
def test_a_folder_of_other_work_is_refused_in_the_words_of_the_user(
    files: Path, options: dict[str, Any], message: str
):
    given = {
        "qrels": [[caption % VIDEOS] for caption in range(CAPTIONS)],
        "shards": 1,
        "work": str(files / "work"),
    }
    given |= {"query_vectors": str(files / "q.npy"), "item_vectors": str(files / "g.npy")}
    rankwell.evaluate_crossmodal(**given)

    with pytest.raises(BadUsage, match=message):
        rankwell.evaluate_crossmodal(**given | options)


def test_a_work_folder_that_is_a_file_is_named(files: Path):
    with pytest.raises(BadUsage, match=r"g\.npy is a file, not a folder; name another place"):
        ranked(files, shards=2, work=str(files / "g.npy"))


def test_a_table_that_changes_between_the_rounds_is_an_error(files: Path):
    ranked(files, shards=3, work=str(files / "work"))
    shutil.rmtree(files / "work" / "second")
    np.save(files / "g.npy", copies(VIDEOS, 9))

    with pytest.raises(BadUsage, match=r"g\.npy has changed"):
        ranked(files, shards=3, work=str(files / "work"))
