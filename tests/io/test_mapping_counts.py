"""Where scores stand among those of a mapping: the compiled way and NumPy's, against counting in
plain Python.
"""

import struct
from types import MappingProxyType

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rankwell
from rankwell import judged_rankings
from rankwell._native import native
from rankwell.data.tables import Judgments
from rankwell.errors import BadInput, UnknownName
from rankwell.io import formats as files
from rankwell.io.mapping import _FEW as FEW
from rankwell.io.mapping import place_scores

NUMBERS = st.one_of(
    st.sampled_from(
        [
            0.0,
            -0.0,
            1.0,
            1,
            True,
            0.1,
            1e300,
            -1e300,
            3.4028235677973366e38,
            16777217,
            2**70,
            1 + 1e-9,
        ]
    ),
    st.integers(-5, 5),
    st.floats(allow_nan=False, allow_infinity=False),
    st.floats(allow_nan=False, allow_infinity=False).map(np.float64),
)


def in_single(number: float) -> float:
    try:
        return struct.unpack("f", struct.pack("f", number))[0]
    except OverflowError:
        return float("inf") if number > 0 else float("-inf")


@pytest.fixture(params=["compiled", "numpy"])
def way(request, monkeypatch):
    if request.param == "numpy":
        monkeypatch.setattr(native, "library", None)
    elif native.library is None:
        pytest.skip("there is no compiled kernel here")
    return request.param


def counts(mappings, items, *, single):
    placed = place_scores(mappings, items, single=single)
    return (
        None
        if placed is None
        else [column.tolist() for column in (placed.above, placed.tied, placed.scores)]
    )


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.dictionaries(st.integers(0, 40), NUMBERS, max_size=40), min_size=1, max_size=4),
    st.booleans(),
    st.data(),
)
def test_counts_are_those_of_plain_python(mappings, single, data):
    items = [
        data.draw(st.lists(st.sampled_from(list(each)), unique=True)) if each else []
        for each in mappings
    ]
    above, tied, own = list[int](), list[int](), list[float]()
    for mapping, wanted in zip(mappings, items, strict=True):
        values = {
            item: in_single(float(value)) if single else float(value)
            for item, value in mapping.items()
        }
        for item in wanted:
            above.append(sum(value > values[item] for value in values.values()))
            tied.append(sum(value == values[item] for value in values.values()))
            own.append(values[item])

    library, found = native.library, []
    for each in (library, None):
        native.library = each
        try:
            found.append(counts(mappings, items, single=single))
        finally:
            native.library = library

    assert found == [[above, tied, own]] * 2


@pytest.mark.parametrize(
    "odd", [float("nan"), float("inf"), -float("inf"), "1.5", None, 10**400, b"1", [1.0], 1j]
)
@pytest.mark.parametrize("asked", ["a", "odd"])
def test_a_value_that_is_not_a_finite_number_is_refused(way, odd, asked):
    assert counts([{"b": 1.0}, {"a": 1.0, "odd": odd}], [["b"], [asked]], single=False) is None


def test_numbers_of_numpy_and_other_mappings_count(way):
    mapping = {"a": np.float32(0.5), "b": 0.25, "c": np.int64(1)}

    assert counts([mapping], [["a"]], single=False) == [[1], [1], [0.5]]
    assert counts([MappingProxyType({"a": 2.0, "b": 3.0})], [["a", "b"]], single=False) == [
        [1, 0],
        [1, 1],
        [2.0, 3.0],
    ]


@pytest.mark.parametrize("asked", [1, FEW, FEW + 1, 200])
def test_many_and_few_items_are_counted_alike(way, asked):
    mapping = {item: float(item % 50) for item in range(200)}

    above, tied, own = counts([mapping] * 70, [range(asked)] * 70, single=False)

    assert above == [4 * (49 - item % 50) for item in range(asked)] * 70
    assert tied == [4] * asked * 70
    assert own == [item % 50 for item in range(asked)] * 70


@pytest.mark.parametrize("judged", [["a"], ["a", "7"], [*"a7", *map(str, range(10, 40))]])
def test_every_id_of_a_mapping_is_read_as_text_and_not_only_the_first(way, judged):
    run = {"q": {"a": 1.0, 7: 2.0, **{str(place): 3.0 for place in range(10, 40)}}}
    truth = Judgments.from_dict({"q": dict.fromkeys(judged, 1)})

    hits = files.find_hits(run, truth).hits

    assert (
        hits.above.tolist()
        == files.find_hits(
            {"q": {str(item): score for item, score in run["q"].items()}}, truth
        ).hits.above.tolist()
    )
    assert len(hits.row) == len(judged)
    with pytest.raises(BadInput, match="ids of items are of several types"):
        judged_rankings(truth, run)


def test_arrays_that_do_not_fit_are_refused():
    if native.library is None:
        pytest.skip("there is no compiled kernel here")
    own, counted = np.zeros(2), np.zeros(2, dtype=np.int64)
    for first, size in ((1, 2), (-1, 1), (0, 3), (0, -1)):
        with pytest.raises(ValueError, match="do not fit"):
            native.library.mapping_counts({}, own, counted, counted.copy(), first, size, False)


def test_a_tie_rule_that_is_not_there_is_refused():
    run = {"q": {"a": 1.0}}
    with pytest.raises(UnknownName, match="unknown tie rule 'zzz'; choose one of id-desc, "):
        rankwell.judged_rankings({"q": {"a": 1}}, run, ties="zzz")
    for join, judgments in (
        (rankwell.group_rankings, {"q": {"alice": {"a": 1}}}),
        (rankwell.intent_rankings, {"q": {"car": {"a": 1}}}),
        (rankwell.preference_rankings, {"q": {"alice": {"one": {"a": 1}}}}),
    ):
        assert join(judgments, run, ties="input") is not None
        for ties in ("zzz", "error", "expected"):
            with pytest.raises(UnknownName, match=f"{ties}'; choose one of id-desc, id-asc, input"):
                join(judgments, run, ties=ties)
