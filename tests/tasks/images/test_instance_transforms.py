"""Transforms of descriptors: query expansion, database augmentation, whitening, k-reciprocal
re-ranking; and chains of them.
"""

import math
from dataclasses import replace

import numpy as np
import pytest

from oracles.reranking import expanded, reciprocal_distances
from rankwell.errors import BadInput, BadScore, BadUsage
from rankwell.vectors.neighbours import search
from rankwell.vectors.transforms import (
    TRANSFORMS,
    Descriptors,
    Transformed,
    chain,
    cosines,
    parse_transform,
)
from rankwell.vectors.transforms.descriptors import (
    database_augmentation,
    instance_average,
    query_expansion,
    whitening,
)
from rankwell.vectors.transforms.reciprocal import reciprocal

ON_DESCRIPTORS = ["query-expansion", "database-augmentation", "instance-average", "whitening"]


def made(seed: int, queries: int = 7, references: int = 24, d: int = 5) -> Descriptors:
    """Random vectors with a direction that most of them share, so that some cosines are negative
    and most are not.
    """
    random = np.random.default_rng(seed)
    labels = [None if row % 6 == 5 else "abcd"[row % 4] for row in range(references)]
    return Descriptors(
        random.normal(0.4, 1, (queries, d)),
        random.normal(0.4, 1, (references, d)),
        search,
        labels=labels,
    )


def own_images(seed: int) -> Descriptors:
    """Two of the queries are references 5 and 0."""
    given = made(seed)
    queries = given.queries.copy()
    queries[1], queries[4] = given.references[5], given.references[0]
    return Descriptors(
        queries, given.references, search, own_references=np.array([-1, 5, -1, -1, 0, -1, -1])
    )


@pytest.mark.parametrize("alpha", [0.0, 1.0, 2.0, 3.0])
@pytest.mark.parametrize("k", [1, 4, 24, 60])
def test_a_query_is_expanded_by_its_nearest_references_as_the_paper_weighs_them(
    k: int, alpha: float
) -> None:
    given = made(1)

    found = query_expansion(given, k=k, alpha=alpha)

    wanted = [
        expanded(query, given.references.tolist(), k, alpha) for query in given.queries.tolist()
    ]
    np.testing.assert_allclose(found.queries, wanted, atol=1e-12)
    assert found.references is given.references


def test_an_even_power_does_not_make_a_neighbour_of_what_points_away() -> None:
    given = Descriptors(np.array([[1.0, 0.0]]), np.array([[-1.0, 0.1], [-0.6, 0.8]]), search)

    found = query_expansion(given, k=2, alpha=2.0)

    np.testing.assert_array_equal(found.queries, [[1.0, 0.0]])


def test_a_query_among_the_references_is_not_expanded_by_itself() -> None:
    given = own_images(2)

    found = query_expansion(given, k=3, alpha=3.0)

    same = given.same.tolist()
    wanted = [
        expanded(query, given.references.tolist(), 3, 3.0, own)
        for query, own in zip(given.queries.tolist(), same, strict=True)
    ]
    np.testing.assert_allclose(found.queries, wanted, atol=1e-12)


def test_other_queries_do_not_change_an_expansion() -> None:
    given = made(3)
    alone = Descriptors(given.queries[2:3], given.references, search)

    assert query_expansion(alone).queries.tobytes() == query_expansion(given).queries[2:3].tobytes()


@pytest.mark.parametrize("k", [1, 5, 40])
def test_a_reference_is_augmented_by_its_nearest_others(k: int) -> None:
    given = made(4)

    found = database_augmentation(given, k=k, alpha=2.0)

    rows = given.references.tolist()
    np.testing.assert_allclose(
        found.references,
        [expanded(row, rows, k, 2.0, place) for place, row in enumerate(rows)],
        atol=1e-12,
    )
    assert found.queries is given.queries


def test_duplicates_of_a_reference_are_its_neighbours_and_it_is_not_its_own() -> None:
    references = np.array([[1.0, 0.0], [1.0, 0.0], [1.0, 0.0], [0.6, 0.8]])
    given = Descriptors(references[:1], references, search)

    found = database_augmentation(given, k=3, alpha=1.0)

    np.testing.assert_allclose(
        found.references[2], expanded([1.0, 0.0], references.tolist(), 3, 1.0, 2), atol=1e-12
    )
    np.testing.assert_allclose(found.references[0], found.references[2], atol=1e-15)


@pytest.mark.parametrize("k", [0, 1, 3, 50])
def test_a_reference_is_averaged_with_others_of_its_instance_by_falling_weights(k: int) -> None:
    plain = made(4)
    labels = [*(plain.labels or ())[:23], "alone"]
    given = replace(plain, labels=labels)

    found = instance_average(given, k=k)

    unit = plain.references / np.linalg.norm(plain.references, axis=1, keepdims=True)
    for row, label in enumerate(labels):
        others = [
            other
            for other in range(24)
            if other != row and labels[other] == label and label is not None
        ]
        others = sorted(others, key=lambda other: -unit[row] @ unit[other])
        n = min(k or len(others), len(others))
        expected = unit[row] + sum(
            (n - j) / (n + 1) * unit[other] for j, other in enumerate(others[:n])
        )
        np.testing.assert_allclose(
            found.references[row], expected / np.linalg.norm(expected), rtol=1e-12
        )
    np.testing.assert_array_equal(found.queries, plain.queries)
    with pytest.raises(BadUsage, match="needs the instances of the references"):
        instance_average(replace(plain, labels=None))


def test_whitened_references_have_no_mean_and_the_same_variance_in_every_direction() -> None:
    given = made(5, references=400)
    unit = given.references / np.linalg.norm(given.references, axis=1, keepdims=True)

    found = whitening(given)

    # Lengths are made 1 again, so what can be seen is the direction of the whitened vector.
    centred = unit - unit.mean(axis=0)
    inverse = np.linalg.inv(np.cov(unit.T))
    plain = centred @ inverse @ centred.T
    lengths = np.sqrt(np.diag(plain))
    np.testing.assert_allclose(
        found.references @ found.references.T, plain / np.outer(lengths, lengths), atol=1e-9
    )


def test_whitening_is_that_of_scikit_learn() -> None:
    decomposition = pytest.importorskip("sklearn.decomposition", reason="could not import sklearn")
    given = made(6, references=60, d=12)
    units = [
        each / np.linalg.norm(each, axis=1, keepdims=True)
        for each in (given.queries, given.references)
    ]
    peer = decomposition.PCA(4, whiten=True).fit(units[1])
    wanted = [
        each / np.linalg.norm(each, axis=1, keepdims=True) for each in map(peer.transform, units)
    ]

    found = whitening(given, dimensions=4)

    np.testing.assert_allclose(
        found.queries @ found.references.T, wanted[0] @ wanted[1].T, atol=1e-9
    )


def test_without_power_whitening_only_moves_and_turns() -> None:
    given = made(7)
    units = [
        each / np.linalg.norm(each, axis=1, keepdims=True)
        for each in (given.queries, given.references)
    ]
    moved = [each - units[1].mean(axis=0) for each in units]
    wanted = [each / np.linalg.norm(each, axis=1, keepdims=True) for each in moved]

    found = whitening(given, power=0.0)

    np.testing.assert_allclose(
        found.queries @ found.references.T, wanted[0] @ wanted[1].T, atol=1e-9
    )


def test_whitening_learnt_elsewhere_looks_at_nothing_that_is_evaluated_and_says_what_it_was_learnt_on() -> (  # noqa: E501
    None
):
    given, other = made(8), made(9, references=50)
    apart = Descriptors(
        given.queries, given.references, search, learn=other.references, learnt_on="paris.npy"
    )
    transform = parse_transform("whitening(dimensions=3)")

    found, alone = (
        whitening(apart, dimensions=3),
        whitening(
            Descriptors(given.queries, given.references[:1], search, learn=other.references),
            dimensions=3,
        ),
    )

    np.testing.assert_allclose(found.references[:1], alone.references, atol=1e-12)
    assert transform.describe(apart) | {
        "transductive": "none",
        "learnt_on": "paris.npy",
    } == transform.describe(apart)
    assert transform.describe(given) | {
        "transductive": "gallery",
        "learnt_on": "references",
    } == transform.describe(given)


def test_what_is_learnt_on_few_vectors_keeps_one_direction_less() -> None:
    given = made(10, references=4, d=9)

    assert whitening(given).references.shape == (4, 3)
    with pytest.raises(
        BadUsage,
        match=r"dimensions=4: 4 vectors of references with 9 dimensions vary in 3 directions",
    ):
        whitening(given, dimensions=4)


@pytest.mark.parametrize("rows", [1, 6])
def test_nothing_is_learnt_on_vectors_that_do_not_differ(rows: int) -> None:
    with pytest.raises(BadInput, match=f"references: {rows} vectors that do not differ"):
        whitening(Descriptors(np.eye(3), np.ones((rows, 3)), search))


def test_a_vector_on_the_mean_has_no_direction_after_whitening() -> None:
    references = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    learn = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, -1.0, 0.0]])
    flat = Descriptors(np.array([[0.0, 0.0, 1.0]]), np.eye(3)[:2], search, learn=learn)

    assert whitening(Descriptors(references[:1], references, search)).references.shape == (4, 2)
    with pytest.raises(BadInput, match=r"whitened queries: row 0 \(from 0\) is a zero vector"):
        whitening(flat)


@pytest.mark.parametrize(
    ("k1", "k2", "weight"), [(20, 6, 0.3), (4, 1, 0.3), (5, 2, 0.0), (7, 3, 1.0), (3, 9, 0.5)]
)
def test_reranking_is_the_published_program_without_its_matrix_of_all_by_all(
    k1: int, k2: int, weight: float
) -> None:
    random = np.random.default_rng(11)
    centres = random.normal(size=(6, 8))
    # Groups of images, so that sets of neighbours are shared and widened.
    queries, references = (
        centres[np.arange(n) % 6] + 0.5 * random.normal(size=(n, 8)) for n in (9, 40)
    )

    found = reciprocal(
        Descriptors(queries, references, search), k1=k1, k2=k2, weight=weight
    ).whole()

    wanted = reciprocal_distances(
        [*queries.tolist(), *references.tolist()], [*range(9)], [*range(9, 49)], k1, k2, weight
    )
    np.testing.assert_allclose(found, -np.array(wanted), atol=1e-9)


def test_reranking_with_the_weight_1_orders_by_cosine_and_with_0_by_shared_neighbours() -> None:
    given = made(12)

    by_vectors, shared = (
        reciprocal(given, k1=6, k2=2, weight=weight).whole() for weight in (1.0, 0.0)
    )
    images = [*given.queries.tolist(), *given.references.tolist()]
    wanted = -np.array(reciprocal_distances(images, [*range(7)], [*range(7, 31)], 6, 2, 0.0))

    np.testing.assert_array_equal(
        np.argsort(-by_vectors, axis=1), np.argsort(-cosines(given), axis=1)
    )
    np.testing.assert_allclose(shared, wanted, atol=1e-9)
    assert ((shared <= 0) & (shared >= -1)).all()
    assert len(np.unique(shared)) > 7


def test_a_query_among_the_references_is_one_image_when_neighbours_are_counted() -> None:
    references = made(13, references=12).references
    among = Descriptors(references, references, search, own_references=np.arange(12))

    found = reciprocal(among, k1=4, k2=2, weight=0.3).whole()

    wanted = reciprocal_distances(references.tolist(), [*range(12)], [*range(12)], 4, 2, 0.3)
    np.testing.assert_allclose(found, -np.array(wanted), atol=1e-9)


def test_more_duplicates_than_neighbours_leave_every_image_near_itself() -> None:
    references = np.tile([[1.0, 0.2]], (30, 1))
    references[-1] = [0.1, 1.0]

    found = reciprocal(
        Descriptors(np.array([[1.0, 0.2], [0.1, 1.0]]), references, search), k1=3, k2=1
    ).whole()

    assert np.isfinite(found).all()
    assert found[0].argmax() < 29
    assert found[1].argmax() == 29


def test_other_queries_change_a_reranking() -> None:
    given = made(14, references=12)
    alone = Descriptors(given.queries[:1], given.references, search)

    assert not np.allclose(reciprocal(alone, k1=4).whole(), reciprocal(given, k1=4).whole()[:1])
    assert TRANSFORMS["reciprocal"].transductive == "queries"


def test_rows_of_a_reranking_are_the_same_whichever_are_read_together() -> None:
    found = reciprocal(made(15), k1=4)

    pieces = np.concatenate([found.rows(start, start + 2) for start in range(0, 7, 2)])

    np.testing.assert_allclose(pieces, found.whole(), atol=1e-15)


# ---- chains, names, what is refused
# ---------------------------------------------------------------------------------------


def test_a_chain_does_one_after_the_other_and_ends_in_scores_where_one_makes_them() -> None:
    given = made(16)
    steps = [
        parse_transform(text)
        for text in ("whitening(dimensions=4)", "query-expansion(k=2)", "reciprocal(k1=4)")
    ]

    found = chain(steps, given)

    wanted = reciprocal(query_expansion(whitening(given, dimensions=4), k=2), k1=4).whole()
    assert isinstance(found, Transformed)
    np.testing.assert_array_equal(found.whole(), wanted)
    assert chain([], given) is given


def test_a_transform_of_scores_works_on_the_cosines_at_the_end_of_a_chain() -> None:
    given = made(17)
    soft = parse_transform("dual-softmax(temperature=0.1)")

    found = chain([parse_transform("query-expansion(k=2)"), soft], given)

    assert isinstance(found, Transformed)
    np.testing.assert_array_equal(found.whole(), soft(cosines(query_expansion(given, k=2))).whole())


def test_descriptors_cannot_be_changed_once_they_are_scores() -> None:
    with pytest.raises(
        BadUsage, match=r"query-expansion\(k=2\) works on descriptors, .* name it earlier"
    ):
        chain(
            [parse_transform("reciprocal(k1=4)"), parse_transform("query-expansion(k=2)")], made(18)
        )


@pytest.mark.parametrize("name", [*ON_DESCRIPTORS, "reciprocal"])
def test_scores_are_refused_by_what_works_on_descriptors(name: str) -> None:
    with pytest.raises(BadUsage, match=f"{name} works on descriptors and not on scores"):
        parse_transform(name)(np.eye(3))


@pytest.mark.parametrize("name", ON_DESCRIPTORS)
def test_vectors_keep_their_precision_and_have_length_1(name: str) -> None:
    given = made(19)
    single = replace(
        given,
        queries=given.queries.astype(np.float32),
        references=given.references.astype(np.float32),
    )

    found = chain([parse_transform(name)], single)

    assert isinstance(found, Descriptors)
    changed = (
        found.references if name in ("database-augmentation", "instance-average") else found.queries
    )
    assert changed.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(changed, axis=1), 1.0, atol=1e-6)


@pytest.mark.parametrize("name", [*ON_DESCRIPTORS, "reciprocal"])
def test_what_was_given_stays_as_it_is_and_bad_vectors_are_named(name: str) -> None:
    given = made(20)
    before = given.queries.tobytes(), given.references.tobytes()
    zero, broken = given.references.copy(), given.references.copy()
    zero[7], broken[3, 2] = 0.0, math.nan

    chain([parse_transform(name)], given)

    assert (given.queries.tobytes(), given.references.tobytes()) == before
    with pytest.raises(BadInput, match=r"references: row 7 \(from 0\) is a zero vector"):
        chain([parse_transform(name)], replace(given, references=zero))
    with pytest.raises(BadScore, match=r"references: row 3, column 2 \(from 0\) is nan"):
        chain([parse_transform(name)], replace(given, references=broken))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("query-expansion(k=0)", "k=0: expected an integer from 1"),
        ("query-expansion(k=1.5)", "k=1.5: expected an integer"),
        ("database-augmentation(alpha=-1)", "alpha=-1: expected a finite number from 0"),
        ("instance-average(k=-1)", "k=-1: expected an integer from 0"),
        ("whitening(power=-0.5)", "power=-0.5"),
        ("whitening(dimensions=True)", "dimensions=True: expected an integer from 0"),
        ("reciprocal(k2=0)", "k2=0: expected an integer from 1"),
        ("reciprocal(weight=1.5)", "weight=1.5: expected a number from 0 to 1"),
    ],
)
def test_parameters_out_of_range_are_refused(text: str, says: str) -> None:
    with pytest.raises(BadUsage, match=says):
        chain([parse_transform(text)], made(21))


def test_vectors_of_another_model_are_refused() -> None:
    given = made(22)

    with pytest.raises(BadInput, match="queries have 3 dimensions, references 5"):
        Descriptors(given.queries[:, :3], given.references, search)
    with pytest.raises(BadInput, match="vectors to learn from have 2 dimensions, references 5"):
        Descriptors(given.queries, given.references, search, learn=np.eye(2))


def test_neighbours_found_by_any_exact_backend_make_the_same_descriptors() -> None:
    given = made(23)
    plain = Descriptors(
        given.queries,
        given.references,
        lambda queries, items, *, k: search(queries, items, k=k, query_block=2),
    )

    assert query_expansion(plain).queries.tobytes() == query_expansion(given).queries.tobytes()
