"""hnswlib, faiss and bm25s find what plain arithmetic finds, with the settings of the session."""

from typing import Any

import numpy as np
import pytest

from oracles.vector_engines import bm25_lucene, nearest
from rankwell.engines import EngineItems, EngineQuery, open_engine
from rankwell.errors import BadInput, BadUsage

RNG = np.random.default_rng(5)
VECTORS = RNG.normal(size=(300, 6)).astype(np.float32)
ITEMS = EngineItems(
    [f"d{row}" for row in range(300)],
    vectors=VECTORS,
    fields={"colour": ["red", "blue", "blue"] * 100},
)
QUERIES = [
    EngineQuery(f"q{row}", vector=vector) for row, vector in enumerate(RNG.normal(size=(12, 6)))
]


def opened(name: str, items: EngineItems = ITEMS, **options: Any) -> Any:
    pytest.importorskip(name)
    engine = open_engine(name, options)
    engine.index(items)
    return engine


def expected(query: EngineQuery, metric: str, k: int, vectors: Any = VECTORS) -> list[str]:
    rows = nearest(
        np.asarray(query.vector, dtype=float).tolist(), vectors.astype(float).tolist(), metric, k
    )
    return [f"d{row}" for row in rows]


@pytest.mark.parametrize("metric", ["cosine", "dot", "l2"])
@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("faiss", {"index": "flat"}),
        ("faiss", {"index": "ivf", "nlist": 10, "nprobe": 10}),
        ("faiss", {"index": "hnsw", "ef_search": 300}),
        ("hnswlib", {"ef": 300}),
    ],
)
def test_a_search_of_everything_finds_the_nearest(name: str, options: dict[str, Any], metric: str):
    with opened(name, metric=metric, **options).session() as session:
        one_by_one = [session.search(query, 10) for query in QUERIES]

    # Vectors of the same direction, as under cosine, may come in either order in float32; none are
    # here.
    assert [list(found.ids) for found in one_by_one] == [
        expected(query, metric, 10) for query in QUERIES
    ]
    for found in one_by_one:
        assert list(found.scores) == sorted(found.scores, reverse=True)


@pytest.mark.parametrize(
    ("name", "options"), [("faiss", {"index": "flat"}), ("hnswlib", {"ef": 300})]
)
def test_a_filter_leaves_the_nearest_of_those_that_have_the_value(
    name: str, options: dict[str, Any]
):
    with opened(name, metric="l2", **options).session() as session:
        found = session.search(EngineQuery("q", vector=VECTORS[1], filter={"colour": "red"}), 5)
        none = session.search(EngineQuery("q", vector=VECTORS[1], filter={"colour": "green"}), 5)
        after = session.search(EngineQuery("q", vector=VECTORS[1]), 1)
        with pytest.raises(BadInput, match="no field 'color'; did you mean 'colour'"):
            session.search(EngineQuery("q", vector=VECTORS[1], filter={"color": "red"}), 5)

    red = [f"d{3 * row}" for row in nearest(VECTORS[1].tolist(), VECTORS[::3].tolist(), "l2", 5)]
    assert (list(found.ids), list(none.ids), list(after.ids)) == (red, [], ["d1"])


def test_each_session_of_hnswlib_searches_with_its_own_ef():
    engine = opened("hnswlib", metric="l2", m=2, ef_construction=4)
    narrow, wide = engine.session(), engine.session()
    narrow.configure({"ef": 1})
    wide.configure({"ef": 300})

    right = {query.id: set(expected(query, "l2", 1)) for query in QUERIES}
    hits = [
        sum(set(each.search(query, 1).ids) == right[query.id] for query in QUERIES)
        for each in (narrow, wide, narrow)
    ]

    assert hits[0] == hits[2] < hits[1]


def test_more_lists_than_there_are_read_back_as_all_and_are_refused():
    engine = opened("faiss", index="ivf", nlist=10)

    with (
        engine.session() as session,
        pytest.raises(BadInput, match="nprobe was set to 11 and reads back as 10"),
    ):
        session.configure({"nprobe": 11})
    with (
        engine.session() as session,
        pytest.raises(BadUsage, match="ef_search has no effect on an index of the kind ivf"),
    ):
        session.configure({"ef_search": 11})
    with pytest.raises(BadInput, match="256 lists for 2 items"):
        opened("faiss", EngineItems(["a", "b"], vectors=np.eye(2)), index="ivf")


@pytest.mark.parametrize("name", ["faiss", "hnswlib"])
def test_short_lists_are_not_padded_and_an_empty_index_is_refused(name: str):
    few = EngineItems(["a", "b"], vectors=np.eye(2, dtype=np.float32))
    query = EngineQuery("q", vector=np.array([1.0, 0.5]))

    assert list(opened(name, few).session().search(query, 10).ids) == ["a", "b"]
    with pytest.raises(BadInput, match="no items to index"):
        opened(name, EngineItems([], vectors=np.empty((0, 2))))
    with pytest.raises(BadUsage, match="nothing is indexed yet"):
        open_engine(name).session()


TEXTS = [
    "The red river runs",
    "red hills and red rivers",
    "a blue river",
    "nothing of the kind, only the sea",
]


@pytest.mark.parametrize(("k1", "b"), [(1.5, 0.75), (0.9, 0.4), (2.0, 0.0)])
def test_bm25s_scores_as_lucene_does(k1: float, b: float):
    engine = opened(
        "bm25s", EngineItems(["d0", "d1", "d2", "d3"], TEXTS), k1=k1, b=b, stopwords="none"
    )

    for text in ("red river", "river", "the sea", "blue red sea"):
        scores = dict(zip(("d0", "d1", "d2", "d3"), bm25_lucene(text, TEXTS, k1, b), strict=True))
        found = engine.session().search(EngineQuery("q", text), 10)

        assert dict(zip(found.ids, found.scores, strict=True)) == pytest.approx(
            {item: score for item, score in scores.items() if score}, rel=1e-5
        )


def test_bm25s_returns_no_items_without_a_word_of_the_query():
    engine = opened(
        "bm25s",
        EngineItems(["d0", "d1"], ["red river", "blue hill"], fields={"wet": [True, False]}),
    )
    session = engine.session()

    assert session.search(EngineQuery("q", "mountain"), 5).ids == []
    assert list(session.search(EngineQuery("q", "red mountain"), 5).ids) == ["d0"]
    assert session.search(EngineQuery("q", "red", filter={"wet": False}), 5).ids == []
