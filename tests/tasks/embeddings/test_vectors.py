"""The panel of sanity before any number: every figure against its definition over full matrices,
every fault found by name.
"""

import math
from pathlib import Path

import numpy as np
import pytest

from rankwell import reporting
from rankwell.data.matrices import Embeddings
from rankwell.io.matrices import read_embeddings
from rankwell.tasks.embeddings.vectors import vector_panel


def drawn(*shape: int, seed: int = 11) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape)


SPREAD = drawn(60, 9).astype(np.float32) + np.linspace(0, 3, 9, dtype=np.float32)


def panel_of(vectors: np.ndarray, **options: object) -> dict[str, object]:
    return vector_panel({"m": Embeddings(None, vectors)}, **options).rows[0]


def mean_cosine(vectors: np.ndarray) -> float:
    """Oracle: every pair, one after the other."""
    rows = [[float(x) for x in row] for row in vectors]
    found = []
    for one in range(len(rows)):
        for two in range(one):
            product = sum(x * y for x, y in zip(rows[one], rows[two], strict=True))
            found.append(product / math.hypot(*rows[one]) / math.hypot(*rows[two]))
    return sum(found) / len(found)


def effective_rank(vectors: np.ndarray) -> float:
    """Oracle: the singular values themselves, from the whole centred matrix."""
    values = np.linalg.svd(
        vectors.astype(np.float64) - vectors.astype(np.float64).mean(axis=0), compute_uv=False
    )
    shares = [value / values.sum() for value in values if value > 1e-12 * values[0]]
    return math.exp(-sum(share * math.log(share) for share in shares))


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64])
def test_the_figures_are_those_of_their_definitions(kind: type):
    vectors = SPREAD.astype(kind)
    row = panel_of(vectors)
    norms = sorted(math.hypot(*map(float, vector)) for vector in vectors)

    assert (row["vectors"], row["dimensions"], row["type"]) == (60, 9, np.dtype(kind).name)
    assert (row["nan"], row["infinite"], row["zero"], row["duplicates"], row["same_as"]) == (
        0,
        0,
        0,
        0,
        None,
    )
    assert row["norm_min"] == pytest.approx(norms[0], rel=1e-9)
    assert row["norm_median"] == pytest.approx((norms[29] + norms[30]) / 2, rel=1e-9)
    assert row["norm_max"] == pytest.approx(norms[-1], rel=1e-9)
    assert row["mean_similarity"] == pytest.approx(mean_cosine(vectors), rel=1e-9)
    assert row["effective_rank"] == pytest.approx(effective_rank(vectors), rel=1e-9)


def test_the_effective_rank_of_known_spectra_is_known():
    axes = np.eye(6, dtype=np.float32)
    plus_minus = np.concatenate([axes[:4], -axes[:4]])
    line = np.outer(np.arange(5.0), [1.0, 2.0, 3.0])

    assert panel_of(plus_minus)["effective_rank"] == pytest.approx(4, abs=1e-9)
    assert panel_of(line)["effective_rank"] == pytest.approx(1, abs=1e-9)
    assert panel_of(np.ones((4, 3)))["effective_rank"] is None
    assert panel_of(np.ones((1, 3)))["effective_rank"] is None
    assert panel_of(plus_minus, spectrum=False)["effective_rank"] is None


def test_fewer_vectors_than_dimensions_have_the_rank_of_their_differences():
    few = drawn(4, 50).astype(np.float32)

    assert panel_of(few)["effective_rank"] == pytest.approx(effective_rank(few), rel=1e-6)
    assert panel_of(few)["effective_rank"] < 3.001


@pytest.mark.parametrize("block", [1, 7, 1000])
def test_blocks_of_any_size_show_the_same(block: int):
    vectors = SPREAD.copy()
    vectors[5] = vectors[50] = vectors[1]
    vectors[9] = 0
    vectors[3, 2] = np.nan

    shown, whole = (
        vector_panel({"m": Embeddings(None, vectors)}, block=block),
        vector_panel({"m": Embeddings(None, vectors)}),
    )

    assert shown.findings == whole.findings
    for name, value in whole.rows[0].items():
        assert shown.rows[0][name] == (
            pytest.approx(value, rel=1e-9) if isinstance(value, float) else value
        ), name


def test_every_fault_is_counted_and_named_with_its_first_row():
    vectors = SPREAD.copy()
    vectors[3, 2], vectors[3, 4], vectors[8, 0] = np.nan, np.nan, -np.inf
    vectors[9] = vectors[12] = 0.0
    vectors[20] = vectors[21] = vectors[2]
    ids = [f"d{row}" for row in range(60)]

    row, warnings = (panel := vector_panel({"m": Embeddings(ids, vectors)})).rows[0], panel.findings

    assert (row["nan"], row["infinite"], row["zero"], row["duplicates"]) == (2, 1, 2, 3)
    assert warnings == (
        "m: 2 numbers are NaN and 1 infinite, the first in row 3 (id 'd3'); no similarity is "
        "defined for them.",
        "m: 2 vectors are zero, the first in row 9 (id 'd9'); their cosine is undefined.",
        "m: 3 vectors are equal to an earlier one; their neighbours are tied.",
    )
    sound = np.delete(vectors, [3, 8, 9, 12], axis=0)
    assert row["mean_similarity"] == pytest.approx(mean_cosine(sound), rel=1e-9)
    assert row["norm_min"] == 0


def test_zeros_of_both_signs_are_the_same_number():
    vectors = np.array([[0.0, 1.0], [-0.0, 1.0], [2.0, 3.0]])

    assert panel_of(vectors)["duplicates"] == 1


def test_vectors_of_signs_are_distinguished():
    signs = np.array(
        [[(row >> bit & 1) * 2.0 - 1 for bit in range(14)] for row in range(1 << 14)],
        dtype=np.float32,
    )

    assert panel_of(signs, spectrum=False)["duplicates"] == 0


def test_identical_arrays_are_found_whatever_their_type_and_shuffled_ones_too():
    models = {
        "first": SPREAD,
        "wider": SPREAD.astype(np.float64),
        "other": -SPREAD,
        "shuffled": SPREAD[::-1],
        "nearly": np.nextafter(SPREAD, np.float32(np.inf)),
    }

    rows, warnings = vector_panel(
        {name: Embeddings(None, vectors) for name, vectors in models.items()}
    )

    assert {row["embeddings"]: row["same_as"] for row in rows} == {
        "first": None,
        "wider": "first",
        "other": None,
        "shuffled": None,
        "nearly": None,
    }
    assert (
        "wider: the same numbers as first, row by row; was one file copied over another?"
        in warnings
    )
    assert "shuffled: the same vectors as first, in another order; are the ids right?" in warnings
    assert not [warning for warning in warnings if warning.startswith(("other", "nearly"))]


def test_collapsed_vectors_are_warned_about():
    collapsed = np.ones((50, 8)) + drawn(50, 8) / 100

    assert any(
        "did the model collapse?" in warning
        for warning in vector_panel({"m": Embeddings(None, collapsed)}).findings
    )
    assert vector_panel({"m": Embeddings(None, SPREAD)}).findings == ()


def test_nothing_but_faults_leaves_the_figures_undefined():
    row = panel_of(np.full((3, 2), np.nan))

    assert (row["nan"], row["norm_min"], row["mean_similarity"], row["effective_rank"]) == (
        6,
        None,
        None,
        None,
    )


def test_a_memory_map_is_read_and_the_rows_can_be_printed(tmp_path: Path):
    np.save(tmp_path / "e.npy", SPREAD)

    panel = vector_panel({"e": read_embeddings(tmp_path / "e.npy")})

    assert "mean similarity" in reporting.render_rows(panel.rows)
    assert panel.rows[0] == panel_of(SPREAD) | {"embeddings": "e"}


def test_a_spectrum_that_would_cost_too_much_is_taken_from_evenly_spaced_vectors(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr("rankwell.tasks.embeddings.vectors._PRODUCTS", 0)
    vectors = drawn(72, 9)

    row = panel_of(vectors)

    assert row["rank_rows"] == 36
    assert row["effective_rank"] == pytest.approx(effective_rank(vectors[::2]), rel=1e-9)
