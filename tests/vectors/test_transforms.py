"""Transforms of scores: the papers' formulas written plainly, whatever the size of the blocks and
the type of the matrix.
"""

import inspect
import math
import re
from pathlib import Path
from typing import get_args

import numpy as np
import pytest

import rankwell.vectors.transforms as transforms
from rankwell.errors import BadInput, BadScore, BadUsage, UnknownName
from rankwell.vectors.transforms import TRANSFORMS, Transductive, parse_transform
from rankwell.vectors.transforms.hubness import dual_softmax, querybank

Rows = list[list[float]]


def made(seed: int, queries: int, gallery: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(queries, gallery)).round(3)


def naive_dual_softmax(scores: Rows, temperature: float) -> Rows:
    """CAMoE's formula: the score times the softmax over queries, term by term."""
    sums = [
        sum(math.exp(row[item] / temperature) for row in scores) for item in range(len(scores[0]))
    ]
    return [
        [score * math.exp(score / temperature) / sums[item] for item, score in enumerate(row)]
        for row in scores
    ]


def naive_querybank(
    scores: Rows, bank: Rows, beta: float, k: int, dynamic: bool
) -> tuple[Rows, list[bool]]:
    """QB-Norm's formula: the dynamic inverted softmax over an activation set, in plain
    exponentials.
    """
    hubs = {
        item
        for row in bank
        for item in sorted(range(len(row)), key=lambda item, row=row: (-row[item], item))[:k]
    }
    sums = [sum(math.exp(beta * row[item]) for row in bank) for item in range(len(bank[0]))]
    rows, changed = [], []
    for row in scores:
        first = min(range(len(row)), key=lambda item, row=row: (-row[item], item))
        changed.append(not dynamic or first in hubs)
        rows.append(
            [math.exp(beta * score) / sums[item] for item, score in enumerate(row)]
            if changed[-1]
            else row
        )
    return rows, changed


@pytest.mark.parametrize("temperature", [0.05, 1.0, 1000.0])
def test_dual_softmax_is_the_score_times_its_softmax_over_queries(temperature: float) -> None:
    scores = made(1, 23, 17)

    found = dual_softmax(scores, temperature=temperature).whole()

    np.testing.assert_allclose(found, naive_dual_softmax(scores.tolist(), temperature), rtol=1e-12)


@pytest.mark.parametrize("dynamic", [True, False])
@pytest.mark.parametrize("k", [1, 2])
def test_querybank_normalisation_changes_only_queries_that_find_an_activated_item(
    k: int, dynamic: bool
) -> None:
    scores, bank = made(2, 30, 9), made(3, 5, 9)
    scores[4, :] = scores[4, 0]  # All items of a query in one tie.

    found = querybank(scores, bank, beta=2.0, k=k, dynamic=dynamic).whole()
    expected, changed = naive_querybank(scores.tolist(), bank.tolist(), 2.0, k, dynamic)

    assert any(changed)
    assert all(changed) is not dynamic
    for row, wanted, is_changed in zip(found, expected, changed, strict=True):
        np.testing.assert_allclose(np.exp(row) if is_changed else row, wanted, rtol=1e-12)


def test_scores_far_from_zero_neither_overflow_nor_vanish() -> None:
    scores, bank = made(4, 12, 6), made(5, 8, 6)

    far = querybank(scores + 5000.0, bank + 5000.0, beta=20.0, dynamic=False).whole()

    assert np.isfinite(far).all()
    np.testing.assert_allclose(
        far, querybank(scores, bank, beta=20.0, dynamic=False).whole(), atol=1e-6
    )
    assert np.isfinite(dual_softmax(scores + 5000.0, temperature=0.01).whole()).all()


@pytest.mark.parametrize("name", ["dual-softmax", "querybank"])
def test_rows_are_the_same_bytes_whichever_are_read_together(name: str) -> None:
    scores, bank = (
        made(6, 2 * transforms.BLOCK_ROWS + 40, 11),
        made(7, transforms.BLOCK_ROWS + 3, 11),
    )
    found = (
        dual_softmax(scores, temperature=0.1) if name == "dual-softmax" else querybank(scores, bank)
    )

    pieces = [found.rows(start, start + 7) for start in range(0, len(scores), 7)]

    assert np.concatenate(pieces).tobytes() == found.whole().tobytes()
    assert found.shape == scores.shape


def test_what_was_given_stays_as_it_is() -> None:
    scores, bank = made(8, 9, 5), made(9, 4, 5)
    before = scores.copy(), bank.copy()

    dual_softmax(scores, temperature=0.1).whole()
    querybank(scores, bank, dynamic=False).whole()

    np.testing.assert_array_equal(scores, before[0])
    np.testing.assert_array_equal(bank, before[1])


def test_a_memory_mapped_matrix_read_from_either_side_gives_the_same_figures(
    tmp_path: Path,
) -> None:
    scores = made(10, 300, 40).astype(np.float32)
    np.save(tmp_path / "scores.npy", scores)
    mapped = np.load(tmp_path / "scores.npy", mmap_mode="r")

    for one, other in ((scores, mapped), (np.ascontiguousarray(scores.T), mapped.T)):
        plain, lazy = (
            dual_softmax(one, temperature=0.2).whole(),
            dual_softmax(other, temperature=0.2).whole(),
        )
        assert plain.tobytes() == lazy.tobytes()


@pytest.mark.parametrize("name", ["netvlad", "densevlad"])
def test_dual_softmax_lifts_a_matching_task_as_much_as_its_formula_does(
    shared: Path, name: str
) -> None:
    scores = np.load(shared / "vpr" / f"spedtest_{name}_scores.npy")
    found, wanted = (
        dual_softmax(scores, temperature=0.02).whole(),
        np.array(naive_dual_softmax(scores.tolist(), 0.02)),
    )

    def hits(matrix: np.ndarray) -> int:
        return int((matrix.argmax(axis=1) == np.arange(len(matrix))).sum())

    np.testing.assert_allclose(found, wanted, rtol=1e-9)
    assert hits(found) == hits(wanted) > hits(scores)


# ---- names and what each declares
# ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", list(TRANSFORMS))
def test_a_transform_says_what_it_looks_at_and_where_it_comes_from(name: str) -> None:
    entry = TRANSFORMS[name]

    assert entry.transductive in get_args(Transductive)
    assert re.search(r"\b20\d\d\b", entry.source)
    assert ">>>" in (inspect.getdoc(entry.function) or "")
    assert entry.says.endswith(".")


def test_a_transform_is_named_with_its_parameters_and_keeps_them_in_its_text() -> None:
    transform = parse_transform(" querybank(k=2, beta=1.5) ")

    assert str(transform) == "querybank(beta=1.5,k=2)"
    assert str(parse_transform(str(transform))) == str(transform)
    assert transform.describe()["transductive"] == "gallery"
    assert parse_transform("dual-softmax(temperature=0.02)").describe()["transductive"] == "queries"


def test_a_transform_by_name_does_what_its_function_does() -> None:
    scores, bank = made(11, 6, 4), made(12, 3, 4)

    dual = parse_transform("dual-softmax(temperature=0.5)")(scores)
    normalised = parse_transform("querybank(beta=3,dynamic=False)")(scores, bank)

    assert dual.whole().tobytes() == dual_softmax(scores, temperature=0.5).whole().tobytes()
    assert (
        normalised.whole().tobytes()
        == querybank(scores, bank, beta=3, dynamic=False).whole().tobytes()
    )


@pytest.mark.parametrize(
    ("text", "error", "says"),
    [
        ("dual-softmx(temperature=1)", UnknownName, "dual-softmax"),
        ("dual-softmax", BadUsage, "needs temperature"),
        ("dual-softmax(temprature=1)", UnknownName, "temperature"),
        ("dual-softmax(temperature)", BadUsage, "parameter=value"),
        ("dual-softmax(temperature=hot)", BadUsage, "hot"),
        ("dual-softmax(temperature=1", BadUsage, "form"),
        ("querybank(k=1,k=2)", BadUsage, "names the parameter 'k' twice"),
    ],
)
def test_a_text_that_names_no_transform_is_refused(
    text: str, error: type[Exception], says: str
) -> None:
    with pytest.raises(error, match=says):
        parse_transform(text)


def test_a_bank_is_given_where_it_is_needed_and_nowhere_else() -> None:
    scores = made(13, 3, 3)

    with pytest.raises(BadUsage, match="needs a bank"):
        parse_transform("querybank")(scores)
    with pytest.raises(BadUsage, match="no bank"):
        parse_transform("dual-softmax(temperature=1)")(scores, scores)


def test_bad_matrices_and_parameters_are_refused_with_their_place() -> None:
    scores, bank = made(14, 300, 3), made(15, 300, 3)
    broken = bank.copy()
    broken[280, 2] = np.nan

    with pytest.raises(BadScore, match=r"bank: row 280, column 2 \(from 0\) is nan"):
        querybank(scores, broken)
    with pytest.raises(BadScore, match=r"scores: row 280, column 2"):
        dual_softmax(broken, temperature=1.0)
    with pytest.raises(BadInput, match="3 columns and the scores 2"):
        querybank(scores[:, :2], bank)
    with pytest.raises(BadInput, match=r"shape is \(0, 3\)"):
        querybank(scores, bank[:0])
    with pytest.raises(BadInput, match=r"shape is \(3,\)"):
        dual_softmax(scores[0], temperature=1.0)
    for wrong in (0, -1.0, math.nan, math.inf):
        with pytest.raises(BadUsage, match="above 0"):
            dual_softmax(scores, temperature=wrong)
        with pytest.raises(BadUsage, match="above 0"):
            querybank(scores, bank, beta=wrong)
    for wrong in (0, 1.5, math.inf, math.nan):
        with pytest.raises(BadUsage, match="integer from 1"):
            querybank(scores, bank, k=wrong)
    with pytest.raises(BadUsage, match="too large"):
        dual_softmax(scores, temperature=1e-310)
    with pytest.raises(BadUsage, match="too large"):
        querybank(scores, bank, beta=1e305)
