"""Search in parts: the bytes of one process, however the items are cut, and the same errors for the
same mistakes.
"""

import json
import os
from pathlib import Path

import numpy as np
import pytest

import rankwell
from commanding import with_fields
from oracles.neighbours import neighbours
from rankwell._native import native
from rankwell.cli.commands import knn as truth
from rankwell.cli.commands.knn import knn as command
from rankwell.errors import BadInput, BadScore, BadUsage, DuplicateItem, UnknownName
from rankwell.runtime.parts import KINDS, Limits
from rankwell.runtime.parts import vectors as vectors_of_parts
from rankwell.runtime.parts.tables import Ids
from rankwell.runtime.parts.vectors import VectorFiles
from rankwell.store import decode_id
from rankwell.vectors.neighbours import TopK
from vector_files import fbin, fvecs, npy

METRICS = ("cosine", "dot", "l2")
SHARDS = (1, 2, 7, 31, 250)


def copies(n: int, d: int, seed: int = 0):
    """Small whole numbers, so that many scores tie; a tenth of the vectors are exact copies of
    others, far from them.
    """
    rng = np.random.default_rng(seed)
    vectors = rng.integers(1, 4, size=(n, d)).astype(np.float32)
    vectors[-n // 10 :] = vectors[: len(vectors[-n // 10 :])]
    return vectors


@pytest.fixture
def files(tmp_path: Path) -> Path:
    np.save(tmp_path / "base.npy", copies(700, 6))
    np.save(tmp_path / "queries.npy", copies(23, 6, seed=1))
    return tmp_path


def with_ids(folder: Path) -> None:
    (folder / "base.ids.txt").write_text(
        "".join(f"item-{row}\n" for row in range(700)), encoding="utf-8"
    )
    (folder / "queries.ids.txt").write_text(
        "".join(f"item-{row * 20}\n" for row in range(23)), encoding="utf-8"
    )


def search(folder: Path, **options) -> TopK:
    return rankwell.knn(
        queries=str(folder / "queries.npy"), items=str(folder / "base.npy"), **options
    )


def bytes_of(found: TopK) -> bytes:
    return found.positions.tobytes() + found.scores.tobytes()


@pytest.mark.parametrize(
    ("metric", "shards"),
    [
        pytest.param(
            metric, shards, marks=[pytest.mark.slow] if shards == 250 and metric != "cosine" else []
        )
        for metric in METRICS
        for shards in SHARDS
    ],
)
def test_shards_give_the_bytes_of_one_process_with_ties_and_copies_across_them(
    files: Path, metric: str, shards: int
):
    one = search(files, neighbours=12, metric=metric)

    found = search(files, neighbours=12, metric=metric, work=str(files / "work"), shards=shards)

    assert bytes_of(found) == bytes_of(one)


@pytest.mark.parametrize("metric", METRICS)
def test_shards_give_the_lists_of_exact_arithmetic(files: Path, metric: str):
    items, queries = (
        np.load(files / f"{name}.npy").astype(int).tolist() for name in ("base", "queries")
    )

    found = search(files, neighbours=12, metric=metric, shards=7)

    expected = neighbours(queries, items, 12, metric)
    assert found.positions.tolist() == [[position for position, _ in best] for best in expected]
    assert found.scores.tolist() == [[score for _, score in best] for best in expected]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("base.npy", npy),
        ("base.fbin", fbin),
        ("base.fvecs", fvecs),
        ("base.npy", lambda rows: npy(np.asfortranarray(rows))),
    ],
)
def test_small_ranges_have_the_vectors_of_large_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, content
):
    (tmp_path / name).write_bytes(content(copies(50, 6)))
    files = VectorFiles(str(tmp_path / name))

    small = files.read(3, 40)
    monkeypatch.setattr(vectors_of_parts, "_MOST_READ", 0)
    large = files.read(3, 40)

    assert (small.dtype, small.tobytes()) == (large.dtype, large.tobytes())
    assert small.tobytes() == copies(50, 6)[3:40].tobytes()


@pytest.mark.skipif(native.library is None, reason="without the compiled library it is read whole")
def test_a_file_that_is_cut_after_it_was_opened_is_an_error(files: Path):
    opened = VectorFiles(str(files / "base.npy"))
    os.truncate(files / "base.npy", 1000)

    with pytest.raises(BadInput, match=r"base\.npy has changed since the plan was written"):
        opened.read(3, 400)


@pytest.mark.parametrize("k", [40, 699, 1000])
def test_lists_may_be_longer_than_a_shard_and_than_the_base(files: Path, k: int):
    assert bytes_of(search(files, neighbours=k, shards=31)) == bytes_of(search(files, neighbours=k))


def test_a_shard_may_be_empty(files: Path):
    np.save(files / "base.npy", copies(5, 6))

    assert bytes_of(search(files, neighbours=3, shards=9)) == bytes_of(search(files, neighbours=3))


def test_more_than_64_lists_merge_in_two_levels(files: Path, monkeypatch: pytest.MonkeyPatch):
    levels: list[int] = []
    write = vectors_of_parts._write_level
    monkeypatch.setattr(
        vectors_of_parts,
        "_write_level",
        lambda group, *rest: (levels.append(len(group)), write(group, *rest)),
    )

    found = search(files, neighbours=12, shards=130, work=str(files / "work"))

    assert levels == [64, 64, 2]
    assert bytes_of(found) == bytes_of(search(files, neighbours=12))
    assert not [each.name for each in (files / "work").iterdir() if each.name.startswith(".merged")]


def test_positions_and_distances_are_never_in_memory_as_a_whole(
    files: Path, monkeypatch: pytest.MonkeyPatch
):
    pytest.importorskip("h5py")
    blocks: list[int] = []
    write = truth.write_ground_truth

    def _looked_at(path: Path, found, *rest, **named):
        write(path, (blocks.append(len(each.positions)) or each for each in found), *rest, **named)

    monkeypatch.setattr(truth, "write_ground_truth", _looked_at)
    monkeypatch.setattr(vectors_of_parts, "_MERGED_BYTES", 50_000)

    with_fields(command)(
        str(files / "base.npy"),
        str(files / "queries.npy"),
        neighbours=12,
        output=files / "x.hdf5",
        shards=31,
    )

    assert sum(blocks) == 23
    assert max(blocks) == 2


def test_a_name_of_no_format_is_refused_before_any_work(files: Path):
    with pytest.raises(
        UnknownName,
        match=r"x\.foo' names no format that can be written; known are csv.*distances \(\.hdf5, "
        r"\.h5\)\.",
    ):
        with_fields(command)("none.npy", "none.npy", neighbours=2, output=files / "x.foo")


def test_little_memory_takes_several_passes_and_changes_no_byte(files: Path):
    kind_of_part = KINDS["search"]
    found = search(files, neighbours=12, memory="20k", work=str(files / "work"))

    plan = json.loads((files / "work" / "plan.json").read_text())
    assert len(plan["boundaries"]["queries"]) == 5
    assert plan["parts"] == 8
    assert bytes_of(found) == bytes_of(search(files, neighbours=12))
    assert kind_of_part.name == "search"


@pytest.mark.parametrize("named", [True, False])
def test_the_query_itself_is_excluded_whichever_shard_has_it(files: Path, named: bool):
    if named:
        with_ids(files)

    found = search(files, neighbours=9, exclude_self=True, shards=7)

    assert bytes_of(found) == bytes_of(search(files, neighbours=9, exclude_self=True))
    assert (
        found.ranking().offsets.tolist()
        == search(files, neighbours=9, exclude_self=True).ranking().offsets.tolist()
    )


def test_groups_are_excluded_in_every_shard(files: Path):
    (files / "base.txt").write_text("".join(f"{row % 5}\n" for row in range(700)))
    (files / "queries.txt").write_text("".join(f"{row % 5}\n" for row in range(23)))
    groups = {"exclude_group": str(files / "base.txt"), "query_groups": str(files / "queries.txt")}

    assert bytes_of(search(files, neighbours=200, shards=7, **groups)) == bytes_of(
        search(files, neighbours=200, **groups)
    )


@pytest.mark.parametrize("suffix", ["run", "hdf5"])
def test_the_file_that_the_command_writes_has_the_same_bytes(
    files: Path, suffix: str, monkeypatch: pytest.MonkeyPatch
):
    if suffix == "hdf5":
        pytest.importorskip("h5py")
    monkeypatch.setattr(vectors_of_parts, "_MERGED_BYTES", 50_000)  # two queries at a time
    with_ids(files)
    run = with_fields(command)
    places = str(files / "base.npy"), str(files / "queries.npy")

    run(*places, neighbours=12, output=files / f"one.{suffix}")
    run(
        *places,
        neighbours=12,
        output=files / f"parts.{suffix}",
        work=str(files / "work"),
        shards=31,
    )

    assert (files / f"parts.{suffix}").read_bytes() == (files / f"one.{suffix}").read_bytes()


def test_ids_that_are_not_utf8_keep_their_bytes(files: Path):
    (files / "base.ids.txt").write_bytes(b"".join(b"\xff%d\n" % row for row in range(700)))

    found = search(files, neighbours=1, shards=3)

    assert found.item_names[int(found.positions[0, 0])] == decode_id(
        b"\xff%d" % found.positions[0, 0]
    )


def test_only_the_ids_of_winners_become_strings(files: Path):
    with_ids(files)

    names = Ids(VectorFiles(str(files / "base.npy")), None).names_of(np.array([4, 699, 4]))

    assert (names[4], names[699], len(names)) == ("item-4", "item-699", 700)
    with pytest.raises(KeyError):
        names[5]


@pytest.mark.parametrize("shards", [None, 7])
def test_an_id_twice_is_the_same_error_as_in_one_process(files: Path, shards: int | None):
    lines = [f"item-{row}" for row in range(700)]
    lines[650], lines[30] = lines[7], lines[6]
    (files / "base.ids.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")

    with pytest.raises(
        DuplicateItem, match=r"id 'item-6' appears in rows 6 and 30; expected different ids"
    ):
        search(files, neighbours=3, shards=shards)


@pytest.mark.parametrize(
    ("lines", "message"),
    [(["a"] * 3, "3 ids for 700 vectors"), ([*map(str, range(699)), ""], "row 699 has nothing")],
)
def test_wrong_ids_are_found_before_any_work(files: Path, lines: list[str], message: str):
    (files / "base.ids.txt").write_text("".join(f"{line}\n" for line in lines))

    with pytest.raises(BadInput, match=message):
        search(files, neighbours=3, work=str(files / "work"))

    assert not (files / "work").exists()


def test_nan_in_the_last_shard_names_the_row_in_the_whole_file_and_the_file(files: Path):
    vectors = np.load(files / "base.npy")
    vectors[698, 2] = np.nan
    np.save(files / "base.npy", vectors)

    with pytest.raises(BadScore, match=r"item vectors, .*base\.npy, row 698: number 2 is nan"):
        search(files, neighbours=3, shards=31)


def test_a_zero_query_of_a_later_pass_names_its_row(files: Path):
    vectors = np.load(files / "queries.npy")
    vectors[20] = 0
    np.save(files / "queries.npy", vectors)

    with pytest.raises(
        BadInput, match=r"query vectors, .*queries\.npy, row 20: the vector is zero"
    ):
        search(files, neighbours=3, memory="20k")


def test_other_dimensions_are_refused_before_any_work(files: Path):
    np.save(files / "queries.npy", copies(5, 7))

    with pytest.raises(BadInput, match=r"the queries have 7 dimensions, the items 6"):
        search(files, work=str(files / "work"))

    assert not (files / "work").exists()


def test_parts_work_without_the_compiled_library(files: Path, monkeypatch):
    expected = search(files, neighbours=3, shards=2)
    monkeypatch.setattr(native, "library", None)

    assert bytes_of(search(files, neighbours=3, shards=2)) == bytes_of(expected)


@pytest.mark.parametrize("library", [native.library, None])
def test_vectors_that_are_read_whole_are_refused_by_name(files: Path, monkeypatch, library):
    monkeypatch.setattr(native, "library", library)
    np.savez(files / "base.npz", vectors=copies(30, 6))

    with pytest.raises(
        BadUsage, match=r"base\.npz can only be read whole; save its vectors as \.npy"
    ):
        rankwell.knn(queries=str(files / "queries.npy"), items=str(files / "base.npz"), shards=2)


def test_arrays_are_searched_in_one_piece_and_refused_in_parts():
    vectors = copies(30, 6)

    assert rankwell.knn(
        queries=vectors[:3], items=vectors, neighbours=1, metric="l2"
    ).positions.tolist() == [[0], [1], [2]]
    with pytest.raises(
        BadUsage, match="parts are computed from files; this is an ndarray; save it"
    ):
        rankwell.knn(queries=vectors, items=vectors, neighbours=1, executor="here")


def test_ids_and_labels_are_lists_or_files(files: Path):
    vectors = copies(30, 6)[:3]
    (files / "ids.txt").write_text("a\nb\nc\n")

    for ids in (["a", "b", "c"], np.array(["a", "b", "c"]), files / "ids.txt"):
        named = rankwell.knn(
            queries=vectors, items=vectors, neighbours=1, item_ids=ids, query_ids=ids
        )
        kept_apart = rankwell.knn(
            queries=vectors, items=vectors, neighbours=3, exclude_group=ids, query_groups=ids
        )

        assert (named.item_names, named.query_names) == (["a", "b", "c"], ["a", "b", "c"])
        assert kept_apart.positions[:, 2].tolist() == [-1, -1, -1]
        for row, positions in enumerate(kept_apart.positions.tolist()):
            assert row not in positions
    with pytest.raises(BadUsage, match="base_ids: parts are computed from files; this is a list"):
        rankwell.knn(
            queries=files / "queries.npy", items=files / "base.npy", item_ids=["a"], executor="here"
        )


def test_shards_have_a_thousand_items_for_each_of_a_list_where_there_are_enough(files: Path):
    np.save(files / "base.npy", np.ones((50_000, 2), dtype=np.float16))
    np.save(files / "queries.npy", np.ones((3, 2), dtype=np.float16))
    options = kind_options(files, neighbours=5)

    parts = [KINDS["search"].cut(options, Limits(workers=workers)).parts for workers in (1, 2, 100)]

    assert parts == [2, 4, 10]


def kind_options(files: Path, **others) -> dict[str, object]:
    names = ("base_ids", "queries_ids", "base_groups", "queries_groups", "device")
    places = {name: str(files / f"{name}.npy") for name in ("base", "queries")}
    return {
        **dict.fromkeys(names),
        **places,
        "neighbours": 10,
        "metric": "dot",
        "exclude": "none",
        "backend": "numpy",
        **others,
    }


def test_a_dry_run_of_a_billion_vectors_reads_none_of_them(tmp_path: Path):
    header = np.lib.format.header_data_from_array_1_0(np.empty((0, 768), dtype=np.float16))
    for name, n in (("base", 10**9), ("queries", 10**6)):
        with (tmp_path / f"{name}.npy").open("wb") as stream:
            np.lib.format.write_array_header_1_0(stream, {**header, "shape": (n, 768)})
            stream.truncate(stream.tell() + n * 768 * 2)  # a file without blocks

    run = with_fields(command)
    output = run(
        str(tmp_path / "base.npy"),
        str(tmp_path / "queries.npy"),
        output=tmp_path / "x.hdf5",
        dry_run=True,
        memory="64G",
    )

    lines = dict(line.rsplit(None, 1) for line in output.text.splitlines())
    assert lines["products"] == "1,000,000,000,000,000"
    assert lines["passes over the items"] == "1"
    assert lines["bytes read"] == f"{10**9 * 1536 + 45 * 10**6 * 1536:,}"
    assert not (tmp_path / "x.hdf5").exists()
