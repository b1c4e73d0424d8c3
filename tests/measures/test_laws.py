"""Laws that every measure of judged rankings obeys, tried on small worlds that hypothesis makes,
and shrinks where one fails.
"""

import itertools
from collections.abc import Iterator
from random import Random

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from make import shuffled
from rankwell.data.registry import MEASURES, Measure
from variants import JUDGED, Pairs, by_query, join, simplest

ITEMS = st.sampled_from(["a", "b", "c", "d", "e", "f", "g", "h", "ö", "\udce9"])
GRADED = st.dictionaries(ITEMS, st.sampled_from([-1.0, 0.0, 0.5, 1.0, 2.0, 3.0]), max_size=7)
SCORED = st.dictionaries(ITEMS, st.sampled_from([-1.5, 0.0, 0.25, 1e-3, 7.0]), max_size=8)
QUERIES = st.sampled_from(["1", "2", "10", "q", "ü"])
WORLDS = st.dictionaries(QUERIES, st.tuples(GRADED, st.none() | SCORED), min_size=1, max_size=4)
EXAMPLES = settings(max_examples=60, deadline=None, derandomize=True)


def classical(law: str = "") -> Iterator[Measure]:
    """The measures of judged rankings that do not declare an exemption from the law, each plain and
    at small cut-offs.
    """
    for name in JUDGED:
        if law not in MEASURES[name].exempt:
            base = simplest(MEASURES[name])
            yield from dict.fromkeys(
                [base, *(base.with_parameters(k=k) for k in (1, 2, 4) if base.accepts("k"))]
            )


@EXAMPLES
@given(WORLDS, st.randoms(use_true_random=False))
def test_shuffled_rows_renamed_queries_and_split_blocks_give_the_same_bytes(
    pairs: Pairs, random: Random
) -> None:
    view = join(pairs)
    mixed = join(
        {
            query: tuple(each if each is None else shuffled(each, random) for each in pairs[query])
            for query in pairs
        }
    )
    renamed = {query: f"{chr(0x7A - index)}{query}" for index, query in enumerate(pairs)}
    other = join({renamed[query]: each for query, each in pairs.items()})
    cut = random.randint(0, len(pairs))
    for measure in classical():
        values = measure(view)
        halves = [
            measure(view.take(np.arange(cut))),
            measure(view.take(np.arange(cut, len(pairs)))),
        ]

        assert measure(mixed).tobytes() == values.tobytes(), str(measure)
        assert np.concatenate(halves).tobytes() == values.tobytes(), str(measure)
        wanted = {renamed[query]: value for query, value in by_query(view, values).items()}
        assert by_query(other, measure(other)) == wanted, str(measure)


@EXAMPLES
@given(GRADED, st.lists(ITEMS, min_size=1, unique=True), st.randoms(use_true_random=False))
def test_a_constant_scorer_gains_nothing_by_the_order_of_its_rows(
    graded: dict[str, float], listed: list[str], random: Random
) -> None:
    mixed = random.sample(listed, len(listed))
    worlds = {"q": (graded, dict.fromkeys(listed, 1.0))}, {"q": (graded, dict.fromkeys(mixed, 1.0))}
    first, second = map(join, worlds)
    spread, worst, best = (
        join(worlds[0], ties) for ties in ("expected", "pessimistic", "optimistic")
    )
    for measure in classical("swap for the better"):
        assert measure(first).tobytes() == measure(second).tobytes(), str(measure)
        expected = measure.entry.expected
        if expected is not None and measure.entry.better == "higher":
            middle = expected(spread, **dict(measure.arguments))[0]
            assert measure(worst)[0] - 1e-12 <= middle <= measure(best)[0] + 1e-12, str(measure)
            assert middle == expected(join(worlds[1], "expected"), **dict(measure.arguments))[0]


def test_expected_rbp_is_the_same_in_any_order_of_tied_rows():
    graded = {"a": 1.0, "d": 0.5, "e": 1.0}
    measure = MEASURES["RBP"]
    values = {
        measure.expected(join({"q": (graded, dict.fromkeys(order, 1.0))}, "expected")).tobytes()
        for order in itertools.permutations("abcdefg")
    }

    assert len(values) == 1


@EXAMPLES
@given(GRADED, SCORED)
def test_unjudged_items_after_the_last_one_change_nothing(
    graded: dict[str, float], scored: dict[str, float]
) -> None:
    view, longer = (
        join({"q": (graded, each)})
        for each in (scored, {**scored, "x": -8.0, "y": -9.0, "z": -9.0})
    )
    for measure in classical("unjudged tail"):
        assert measure(longer).tobytes() == measure(view).tobytes(), str(measure)


@EXAMPLES
@given(GRADED, st.lists(ITEMS, unique=True))
def test_moving_a_better_item_up_never_hurts(graded: dict[str, float], listed: list[str]) -> None:
    worth = [max(graded.get(item, 0.0), 0.0) for item in listed]
    lists = [listed]
    for up, down in itertools.combinations(range(len(listed)), 2):
        if worth[down] >= 1 and worth[down] > worth[up]:
            swapped = list(listed)
            swapped[up], swapped[down] = listed[down], listed[up]
            lists.append(swapped)
    view = join(
        {
            f"{number:03}": (graded, {item: -float(rank) for rank, item in enumerate(each)})
            for number, each in enumerate(lists)
        }
    )
    for measure in classical("swap for the better"):
        if measure.entry.better == "higher":
            values = measure(view)
            assert not (values < values[0] - 1e-12).any(), (str(measure), values)
