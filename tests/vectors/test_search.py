"""Exact search: the same bytes as sorting everything in exact arithmetic, for every backend, block
size and tie.
"""

import importlib.util
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles.neighbours import neighbours, rank_counts
from rankwell._native.products import width
from rankwell._native.similarity import Space, plan_passes, score_pairs
from rankwell.cli import main
from rankwell.data.matrices import Embeddings
from rankwell.errors import BadInput, BadUsage, DuplicateItem, MissingExtra, UnknownName
from rankwell.io.formats import read_ranking
from rankwell.vectors.neighbours import BACKENDS, Groups, TopK, ranks_of, search

METRICS = ("cosine", "dot", "l2")
DAILY_COSINE = ["cosine", *(pytest.param(metric, marks=pytest.mark.slow) for metric in METRICS[1:])]
PACKAGES = {"numpy": "numpy", "torch": "torch", "faiss": "faiss"}


@pytest.fixture(params=["numpy", "torch", "faiss"])
def backend(request):
    if importlib.util.find_spec(PACKAGES[request.param]) is None:
        pytest.skip(f"could not import {PACKAGES[request.param]}")
    if request.param == "torch":
        request.getfixturevalue("one_torch_thread")
    return request.param


def near_ties(seed, n, d, largest=2**21):
    """Whole numbers in float32 that differ in their last bit: a float32 product cannot tell them
    apart, exact sums can.
    """
    rng = np.random.default_rng(seed)
    base = rng.integers(-largest, largest, size=(3, d))
    return (base[rng.integers(0, 3, n)] + rng.integers(-1, 2, size=(n, d))).astype(np.float32)


def whole(array):
    return [[int(number) for number in row] for row in array.tolist()]


def assert_same_lists(found: TopK, expected, k):
    for row, best in enumerate(expected):
        padding = k - len(best)
        assert found.positions[row].tolist() == [position for position, _ in best] + [-1] * padding
        assert found.scores[row, : len(best)].tolist() == [score for _, score in best]
        assert np.isnan(found.scores[row, len(best) :]).all()


def bytes_of(found: TopK):
    return found.positions.tobytes() + found.scores.tobytes()


@pytest.mark.parametrize("metric", DAILY_COSINE)
def test_near_ties_beyond_single_precision_come_in_their_exact_order(metric, backend):
    items, queries = near_ties(1, 300, 24), near_ties(2, 20, 24)

    found = search(queries, items, k=12, metric=metric, backend=backend)

    assert_same_lists(found, neighbours(whole(queries), whole(items), 12, metric), 12)


def test_the_near_ties_of_these_tests_are_lost_in_single_precision():
    items, queries = near_ties(1, 300, 24), near_ties(2, 20, 24)

    single = np.argsort(-(queries @ items.T), axis=1, kind="stable")[:, :12]

    assert (single != search(queries, items, k=12, metric="dot").positions).any()


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int8", "uint8", ">f4"])
def test_every_type_gives_the_neighbours_of_exact_arithmetic(metric, dtype, backend):
    rng = np.random.default_rng(3)
    items, queries = (rng.integers(1, 9, size=(n, 5)).astype(dtype) for n in (200, 15))

    found = search(queries, items, k=30, metric=metric, backend=backend)

    assert_same_lists(found, neighbours(whole(queries), whole(items), 30, metric), 30)


@pytest.mark.parametrize("metric", DAILY_COSINE)
def test_block_sizes_change_no_byte(metric, backend):
    rng = np.random.default_rng(4)
    items = np.concatenate(
        [near_ties(5, 50, 9), rng.standard_normal((50, 9)).astype(np.float32) * 1e6]
    )
    items[::10] = items[7]
    whole_blocks = bytes_of(
        search(items, items, k=11, metric=metric, exclude="self", backend=backend)
    )

    for query_block, item_block in [(1, 100), (7, 7), (100, 1), (1000, 1000), (13, 30)]:
        found = search(
            items,
            items,
            k=11,
            metric=metric,
            exclude="self",
            backend=backend,
            query_block=query_block,
            item_block=item_block,
        )
        assert bytes_of(found) == whole_blocks


@pytest.mark.parametrize("metric", METRICS)
def test_backends_agree_to_the_byte(metric, backend):
    rng = np.random.default_rng(6)
    items = rng.standard_normal((3000, 48)).astype(np.float32)
    items[rng.choice(3000, 300, replace=False)] = items[rng.integers(0, 3000, 300)]

    found = search(
        items[:200], items, k=25, metric=metric, exclude="self", backend=backend, item_block=1000
    )

    assert bytes_of(found) == bytes_of(
        search(items[:200], items, k=25, metric=metric, exclude="self")
    )


def test_with_duplicated_vectors_no_query_is_its_own_neighbour_and_its_copies_are_the_nearest(
    backend,
):
    rng = np.random.default_rng(7)
    items = rng.standard_normal((500, 16)).astype(np.float32)
    items[450:] = items[:50]
    named = Embeddings([f"d{row}" for row in range(500)], items)

    found = search(named, named, k=5, exclude="self", backend=backend)

    assert not (found.positions == np.arange(500)[:, None]).any()
    assert found.positions[:50, 0].tolist() == list(range(450, 500))
    assert found.scores[:50, 0].tolist() == [1.0] * 50


@pytest.mark.parametrize("metric", METRICS)
def test_ever_so_many_equal_items_are_ranked_by_position(metric, backend):
    rng = np.random.default_rng(8)
    items = np.repeat(rng.integers(1, 6, size=(4, 6)), 500, axis=0)[rng.permutation(2000)].astype(
        np.float32
    )
    queries = rng.integers(1, 6, size=(5, 6)).astype(np.float32)

    found = search(queries, items, k=600, metric=metric, backend=backend, item_block=300)

    assert_same_lists(found, neighbours(whole(queries), whole(items), 600, metric), 600)


def test_items_that_get_better_and_better_are_all_found(backend):
    items = np.arange(1, 3001, dtype=np.float32)[:, None] * np.ones((1, 4), dtype=np.float32)

    found = search(items[:2], items, k=3, metric="dot", backend=backend, item_block=500)

    assert found.positions.tolist() == [[2999, 2998, 2997]] * 2


def test_norms_of_very_different_size_lose_nothing(backend):
    rng = np.random.default_rng(9)
    items = np.rint(
        rng.standard_normal((400, 8)) * 10.0 ** rng.integers(0, 7, size=(400, 1))
    ).astype(np.float64)

    for metric in ("dot", "l2"):
        found = search(items[:30], items, k=10, metric=metric, backend=backend, item_block=64)
        assert_same_lists(found, neighbours(whole(items[:30]), whole(items), 10, metric), 10)


def test_distances_distinguish_vectors_far_from_the_origin():
    items = np.random.default_rng(10).integers(0, 5, size=(300, 6)).astype(np.float32) + 2**20

    found = search(items[:20], items, k=9, metric="l2")

    assert_same_lists(found, neighbours(whole(items[:20]), whole(items), 9, "l2"), 9)


@pytest.mark.parametrize("metric", METRICS)
def test_self_and_group_are_excluded_by_name(metric, backend):
    items, queries = near_ties(11, 120, 7), near_ties(11, 40, 7)
    names = [f"p{row}" for row in range(120)]
    queries_named = Embeddings([f"p{119 - row}" for row in range(40)], queries)
    labels = [None if row % 7 == 0 else row % 3 for row in range(120)]

    def excluded(query, item):
        return item == 119 - query or (labels[query] is not None and labels[query] == labels[item])

    found = search(
        queries_named,
        Embeddings(names, items),
        k=100,
        metric=metric,
        exclude="self",
        groups=Groups(labels[:40], labels),
        backend=backend,
        item_block=50,
    )

    assert_same_lists(found, neighbours(whole(queries), whole(items), 100, metric, excluded), 100)


def test_a_group_may_hold_nearly_everything(backend):
    items = near_ties(12, 400, 5)
    labels = ["big"] * 397 + ["small"] * 3

    found = search(
        items[:4], items, k=5, groups=Groups(["big"] * 4, labels), backend=backend, item_block=100
    )

    assert [sorted(row) for row in found.positions[:, :3].tolist()] == [[397, 398, 399]] * 4
    assert (found.positions[:, 3:] == -1).all()


def test_positions_name_unnamed_vectors():
    items = np.eye(3, dtype=np.float32) + 1

    named = Embeddings(["2", "0"], items[:2])

    assert (search(named, items, k=3, exclude="self").positions[:, :2] != [[2, 2], [0, 0]]).all()
    assert search(items, items, k=1, exclude="self").positions.ravel().tolist() == [1, 0, 0]


def test_fewer_items_than_k_are_padded(backend):
    items = np.eye(3, dtype=np.float32) + 1

    found = search(items, items, k=5, exclude="self", backend=backend)

    assert found.positions[:, 2:].tolist() == [[-1] * 3] * 3
    assert np.isnan(found.scores[:, 2:]).all()
    assert found.ranking().items == ["1", "2", "0", "2", "0", "1"]


def test_no_queries_and_no_items_give_empty_lists():
    none, some = np.empty((0, 4), np.float32), np.ones((2, 4), np.float32)

    assert search(none, some, k=3).positions.shape == (0, 3)
    assert search(some, none, k=3).positions.tolist() == [[-1] * 3] * 2
    assert ranks_of(none, some, np.empty((0, 2), np.int64)).above.shape == (0, 2)


@pytest.mark.parametrize("metric", DAILY_COSINE)
def test_counted_ranks_are_those_of_sorting_everything(metric, backend):
    items = np.concatenate([near_ties(13, 150, 6), near_ties(14, 150, 6)])
    items[20:40] = items[3]
    wanted = np.random.default_rng(15).integers(-1, 300, size=(60, 4))
    wanted[wanted == np.arange(60)[:, None]] = -1
    expected = rank_counts(
        whole(items[:60]), whole(items), wanted.tolist(), metric, lambda query, item: query == item
    )

    for query_block, item_block in [(7, 31), (1000, 1000), (1, 300), (60, 1)]:
        found = ranks_of(
            items[:60],
            items,
            wanted,
            metric=metric,
            exclude="self",
            backend=backend,
            query_block=query_block,
            item_block=item_block,
        )
        assert found.above.tolist() == [[above for above, _, _ in row] for row in expected]
        assert found.tied.tolist() == [[tied for _, tied, _ in row] for row in expected]
        assert found.before.tolist() == [[before for _, _, before in row] for row in expected]


@settings(max_examples=60, deadline=None)
@given(
    data=st.data(), metric=st.sampled_from(METRICS), k=st.integers(1, 12), block=st.integers(1, 9)
)
def test_whatever_the_vectors_the_lists_are_those_of_exact_arithmetic(data, metric, k, block):
    d = data.draw(st.integers(1, 4))
    vector = st.lists(st.integers(-3, 3), min_size=d, max_size=d).filter(any)
    rows = data.draw(st.lists(vector, min_size=1, max_size=25))
    items = np.array(rows, dtype=np.float32)

    found = search(
        items, items, k=k, metric=metric, exclude="self", item_block=block, query_block=block
    )

    assert_same_lists(
        found, neighbours(rows, rows, k, metric, lambda query, item: query == item), k
    )


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    metric=st.sampled_from(METRICS),
    dtype=st.sampled_from(["float32", "float64", "float16"]),
    double=st.booleans(),
)
def test_no_product_lies_further_from_the_truth_than_its_bound(seed, metric, dtype, double):
    rng = np.random.default_rng(seed)
    d = int(rng.integers(1, 300))
    tables = [
        Embeddings(
            None,
            (
                rng.standard_normal((40, d)) * 10.0 ** rng.uniform(-3, 3, (40, 1))
                + rng.normal() * 5
            ).astype(dtype),
        )
        for _ in range(2)
    ]
    space = Space(tables[0], tables[1], metric, double=double)
    queries, items = space.queries(0, 40), space.items(0, 40)
    rows, columns = np.divmod(np.arange(1600), 40)
    exact = score_pairs(tables[0].vectors, tables[1].vectors, rows, columns, metric).reshape(40, 40)

    off = np.abs(
        (queries.vectors @ items.vectors.T).astype(np.float64)
        - space.place(exact, queries.squares[:, None])
    )

    assert (off <= space.slack(queries.norm_bounds[:, None], items.norm_bounds[None, :])).all()


@pytest.mark.parametrize("metric", DAILY_COSINE)
def test_vectors_that_are_equal_in_float32_are_multiplied_in_float64(metric, backend):
    rng = np.random.default_rng(19)
    items = (rng.integers(-40, 41, size=(4000, 12)) + 2**20).astype(np.float32)
    nearest = search(
        items[:15], items, k=4, metric=metric, exclude="self", backend=backend, item_block=250
    )

    assert_same_lists(
        nearest,
        neighbours(whole(items[:15]), whole(items), 4, metric, lambda query, item: query == item),
        4,
    )
    found = ranks_of(
        items[:15],
        items,
        nearest.positions,
        metric=metric,
        exclude="self",
        backend=backend,
        item_block=250,
    )
    assert (found.above + found.before).tolist() == [[0, 1, 2, 3]] * 15


class Counting(np.ndarray):
    """An array that counts the rows of it that are sliced."""

    rows = 0

    def __getitem__(self, key):
        found = np.asarray(self)[key]
        if isinstance(key, slice):
            Counting.rows += len(found)
        return found


def state_of(dimensions: int, k: int, metric: str = "cosine") -> int:
    """Bytes that a query of a search takes: its vector and its list."""
    return 8 * (dimensions + (metric == "l2")) + 24 * width(k)


@pytest.mark.parametrize("metric", DAILY_COSINE)
def test_a_gallery_is_read_once_for_all_queries_that_fit_the_memory(metric, monkeypatch):
    monkeypatch.setattr("rankwell.vectors.neighbours._READY_BYTES", 1 << 14)
    rng = np.random.default_rng(21)
    items, queries = (
        rng.standard_normal((3000, 8), dtype=np.float32),
        rng.standard_normal((4000, 8), dtype=np.float32),
    )
    counted, wanted = items.view(Counting), rng.integers(0, 3000, (4000, 2))
    lists, counts = (
        search(queries, items, k=3, metric=metric),
        ranks_of(queries, items, wanted, metric=metric),
    )

    state = state_of(8, 3, metric)
    for memory in (1 << 40, 4000 * state // 3, 1 << 18):
        passes, Counting.rows = plan_passes(4000, state, memory), 0
        found = search(queries, counted, k=3, metric=metric, memory=memory, item_block=100)
        assert bytes_of(found) == bytes_of(lists)
        # The centre of `l2` is that of the first items.
        assert Counting.rows == passes * 3000 + (3000 if metric == "l2" else 0)
        for each, other in zip(
            ranks_of(queries, counted, wanted, metric=metric, memory=memory), counts, strict=True
        ):
            assert each.tobytes() == other.tobytes()


def test_passes_are_the_state_of_all_queries_divided_by_the_memory():
    state = state_of(768, 100)
    assert 10_500 < state < 11_500
    assert plan_passes(10**6, state, 1 << 30) == -(-(10**6) // ((1 << 30) // state))
    assert plan_passes(10**6, state_of(16, 10), 2 << 30) == 1
    assert plan_passes(5, state_of(16, 10), 1) == 5
    with pytest.raises(BadUsage, match="memory of 0 bytes"):
        search(np.ones((2, 2)), np.ones((2, 2)), k=1, memory=0)


@pytest.mark.parametrize(("shared", "spaces"), [(0, [False]), (12, [False]), (40, [False, True])])
def test_counting_stays_in_float32_while_the_share_of_products_in_doubt_is_small(
    shared, spaces, monkeypatch
):
    # The more the vectors share, the closer their cosines: at 12, about 80 of 20,000 items are in
    # doubt for each query.
    made = list[bool]()

    class Watched(Space):
        def __init__(self, *tables, double=False):
            made.append(double)
            super().__init__(*tables, double=double)

    monkeypatch.setattr("rankwell.vectors.neighbours.Space", Watched)
    rng = np.random.default_rng(22)
    common = shared * rng.standard_normal(96, dtype=np.float32)
    items, queries = (
        common + rng.standard_normal((n, 96), dtype=np.float32) for n in (20_000, 1000)
    )

    found = ranks_of(queries, items, np.arange(1000)[:, None])

    assert made == spaces
    exact = score_pairs(
        queries, items, np.repeat(np.arange(10), 20_000), np.tile(np.arange(20_000), 10), "cosine"
    )
    exact = exact.reshape(10, 20_000)
    assert found.above[:10, 0].tolist() == (exact > np.diag(exact)[:, None]).sum(axis=1).tolist()


def test_integers_are_multiplied_without_error():
    items = Embeddings(
        None, np.random.default_rng(16).integers(0, 256, size=(50, 128)).astype(np.uint8)
    )
    space = Space(items, items, "dot")

    assert (space.slack(space.queries(0, 50).norm_bounds, 2000.0) == 0).all()


def test_a_memory_map_is_read_block_by_block(tmp_path):
    vectors = np.random.default_rng(17).standard_normal((2000, 8)).astype(np.float32)
    np.save(tmp_path / "base.npy", vectors)
    mapped = np.load(tmp_path / "base.npy", mmap_mode="r")

    for metric in METRICS:
        found = search(mapped[:20], mapped, k=7, metric=metric, item_block=300)
        assert bytes_of(found) == bytes_of(search(vectors[:20], vectors, k=7, metric=metric))


def test_progress_ends_at_all_products():
    told = []
    items = np.ones((30, 2), dtype=np.float32)

    search(
        items[:5],
        items,
        k=1,
        query_block=2,
        item_block=7,
        progress=lambda done, total: told.append((done, total)),
    )

    assert [done for done, _ in told] == sorted(done for done, _ in told)
    assert told[-1] == (150, 150)


@pytest.mark.parametrize(
    ("spoil", "metric", "says"),
    [
        (np.nan, "dot", r"item vectors, row 17 \(id 'd17'\): number 2 is nan"),
        (-np.inf, "l2", r"item vectors, row 17 \(id 'd17'\): number 2 is -inf"),
        (np.inf, "cosine", r"item vectors, row 17 \(id 'd17'\): number 2 is inf"),
        (1e30, "dot", r"row 17 .*1e\+30"),
        (1e30, "l2", r"row 17 .*1e\+30"),
        (1e-300, "cosine", r"row 17 .*1e-300"),
    ],
)
def test_a_vector_that_cannot_be_compared_is_named(spoil, metric, says):
    vectors = np.ones((30, 3))
    if spoil == 1e-300:
        vectors[17] = 0
    vectors[17, 2] = spoil

    with pytest.raises(BadInput, match=says):
        search(
            np.ones((2, 3)),
            Embeddings([f"d{row}" for row in range(30)], vectors),
            k=2,
            metric=metric,
            item_block=5,
        )
    with pytest.raises(BadInput, match="row 17"):
        ranks_of(
            np.ones((2, 3)), vectors, np.zeros((2, 1), np.int64) + 17, metric=metric, item_block=5
        )


def test_a_zero_vector_has_no_cosine_but_a_distance():
    vectors = np.ones((5, 3), dtype=np.float32)
    vectors[3] = 0

    with pytest.raises(BadInput, match="query vectors, row 3: the vector is zero"):
        search(vectors, vectors[:2], k=1)
    assert search(vectors, vectors, k=1, metric="l2").positions[3, 0] == 3
    assert search(vectors, vectors, k=2, metric="dot").positions[3].tolist() == [0, 1]


def test_tables_that_do_not_fit_are_refused():
    ones = np.ones((3, 4), dtype=np.float32)

    with pytest.raises(BadInput, match="queries have 5 dimensions, the items 4"):
        search(np.ones((1, 5)), ones, k=1)
    with pytest.raises(BadInput, match="type int64"):
        search(np.ones((1, 4), dtype=np.int64), ones, k=1)
    with pytest.raises(BadInput, match=r"shape \(4,\)"):
        search(np.ones(4), ones, k=1)
    with pytest.raises(BadInput, match="2 ids for 3 vectors"):
        Embeddings(["a", "b"], ones)
    with pytest.raises(DuplicateItem, match="id 'a' appears in rows 0 and 2"):
        Embeddings(["a", "b", "a"], ones)
    with pytest.raises(BadUsage, match="k is 0"):
        search(ones, ones, k=0)
    with pytest.raises(UnknownName, match="euclid"):
        search(ones, ones, k=1, metric="euclid")
    with pytest.raises(UnknownName, match="cupy"):
        search(ones, ones, k=1, backend="cupy")
    with pytest.raises(BadInput, match="2 and 3 group labels for 3 queries"):
        search(ones, ones, k=1, groups=Groups([1, 2], [1, 2, 3]))
    with pytest.raises(BadInput, match="below 3"):
        ranks_of(ones, ones, np.full((3, 1), 3))
    with pytest.raises(BadInput, match="item '1' is both requested and excluded for query '1'"):
        ranks_of(ones, ones, np.full((3, 1), 1), exclude="self")


def test_a_backend_that_is_not_installed_says_what_to_install(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "faiss", None)

    with pytest.raises(MissingExtra, match=r"pip install 'rankwell\[faiss\]'"):
        search(np.ones((1, 2)), np.ones((1, 2)), k=1, backend="faiss")


def test_every_backend_is_tested_here():
    assert set(BACKENDS) == set(PACKAGES)


def test_the_command_writes_a_run_and_a_ground_truth(tmp_path, capsys, monkeypatch):
    h5py = pytest.importorskip("h5py")
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(18)
    base = rng.standard_normal((40, 6)).astype(np.float32)
    np.save("base.npy", base)
    np.save("queries.npy", base[:5])
    Path("base.ids.txt").write_text("".join(f"d{row}\n" for row in range(40)))
    Path("queries.ids.txt").write_text("".join(f"d{row}\n" for row in range(5)))
    expected = search(base[:5], base, k=7, metric="l2", exclude="self")
    common = [
        "knn",
        "base.npy",
        "queries.npy",
        "--neighbours",
        "7",
        "--metric",
        "l2",
        "--exclude-self",
        "-o",
    ]

    for target in ("run.parquet", "truth.hdf5"):
        monkeypatch.setattr("sys.argv", ["rankwell", *common, target])
        assert main() == 0

    run = read_ranking("run.parquet")
    assert run.queries == tuple(f"d{row}" for row in range(5))
    assert list(run.items) == [f"d{row}" for row in expected.positions.ravel().tolist()]
    assert run.scores.tolist() == expected.scores.ravel().tolist()
    with h5py.File("truth.hdf5") as truth:
        assert truth["neighbors"][:].tolist() == expected.positions.tolist()
        assert truth["distances"][:].tolist() == (-expected.scores).astype(np.float32).tolist()
    assert "5 queries, 40 items, 6 dimensions, l2" in capsys.readouterr().err


def test_the_command_names_a_bad_row_and_fails_with_2(tmp_path, capsys, monkeypatch):
    vectors = np.ones((4, 3), dtype=np.float32)
    vectors[2] = 0
    np.save(tmp_path / "base.npy", vectors)
    place = str(tmp_path / "base.npy")

    monkeypatch.setattr(
        "sys.argv", ["rankwell", "knn", place, place, "-o", str(tmp_path / "run.parquet")]
    )

    assert main() == 2
    assert "row 2: the vector is zero" in capsys.readouterr().err
    assert not (tmp_path / "run.parquet").exists()


def test_the_command_leaves_out_the_query_itself_by_id_only_where_both_sides_have_ids(
    tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    np.save("vectors.npy", np.random.default_rng(3).normal(size=(5, 4)))
    Path("ids.txt").write_text("a\nb\nc\nd\ne\n")
    words = [
        "rankwell",
        "knn",
        "vectors.npy",
        "vectors.npy",
        "--neighbours",
        "1",
        "-o",
        "out.csv",
        "--exclude-self",
    ]

    monkeypatch.setattr("sys.argv", [*words, "--query-ids", "ids.txt"])
    assert main() == 2
    assert "one side has none" in capsys.readouterr().err
    assert not Path("out.csv").exists()
    monkeypatch.setattr("sys.argv", [*words, "--query-ids", "ids.txt", "--item-ids", "ids.txt"])
    assert main() == 0
    assert all(
        len(set(line.split(",")[:2])) == 2 for line in Path("out.csv").read_text().splitlines()
    )


@pytest.mark.parametrize("number", [np.inf, -np.inf, np.nan])
def test_a_number_that_is_not_finite_among_the_first_items_is_found_in_the_item_not_in_a_query(
    number,
):
    items, queries = np.ones((9, 2), dtype=np.float32), np.full((2, 2), 2.5, dtype=np.float32)
    items[7, 1] = number

    with pytest.raises(BadInput, match="item vectors, row 7: number 1 is"):
        search(queries, items, k=1, metric="l2")
