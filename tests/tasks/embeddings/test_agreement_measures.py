"""Agreement with a reference: published and hand-worked figures, chance levels by trying every
order, and what is refused.
"""

import itertools
import math
from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
import pytest
from scipy import stats

import rankwell as rw
from rankwell.conventions import CONVENTIONS
from rankwell.data.registry import MEASURES, Measure, parse_measure
from rankwell.errors import BadInput, BadScore, BadUsage, DuplicateItem
from rankwell.tasks.embeddings.evaluation import cuts_gold
from rankwell.tasks.embeddings.ranking_pairs import Listed, RankingPairs, chance_level

SOURCE = [7, 23, 156, 89, 42]
WORDS = CONVENTIONS["scholar-stream"].words


def value(text: str, reference: Any, candidate: Any, **options: Any) -> float:
    """A measure of two lists, or of the second one judged by the first."""
    measure = parse_measure(text, WORDS)
    pairs = rw.ranking_pairs(reference, candidate, **options)
    view = pairs if measure.entry.view is RankingPairs else pairs.judged()
    return float(measure(view)[0])


# ---- the source's examples
# --------------------------------------------------------------------------------------------------


def test_recall_of_the_source_is_the_overlap_over_k():
    assert value("Recall@5", SOURCE, [7, 89, 12, 23, 99]) == 0.6


def test_ndcg_of_the_source_has_an_ideal_of_as_many_terms_as_are_relevant():
    ndcg = value("NDCG@5", [7, 23, 156], [7, 99, 23, 156, 12])

    assert ndcg == pytest.approx(
        (1 + 1 / 2 + 1 / math.log2(5)) / (1 + 1 / math.log2(3) + 1 / 2), abs=1e-15
    )
    assert round(ndcg, 3) == 0.906


def test_mrr_of_the_source_is_0_without_a_hit():
    assert value("MRR@5", SOURCE, [99, 7, 23]) == 0.5
    assert value("MRR@1", SOURCE, [99, 7, 23]) == 0.0


def test_map_of_the_source_divides_by_hits_and_average_precision_by_all_that_is_relevant():
    candidate = [7, 99, 23, 156, 12]

    assert value("MAP@5", SOURCE, candidate) == pytest.approx((1 + 2 / 3 + 3 / 4) / 3, abs=1e-15)
    assert value("AP@5", SOURCE, candidate) == pytest.approx((1 + 2 / 3 + 3 / 4) / 5, abs=1e-15)
    assert value("MAP@5", SOURCE, [1, 2, 3]) == 0.0


def test_the_convention_cuts_the_gold_at_k_and_keeps_the_words_of_the_source():
    source, default = CONVENTIONS["scholar-stream"], CONVENTIONS["rankwell"]

    assert (cuts_gold(source), cuts_gold(default), source.population_sd) == (True, False, True)
    assert source.defaults[:5] == ("Recall@1", "NDCG@1", "MRR@1", "MAP@1", "Recall@3")


def naive(reference: list[int], candidate: list[int], k: int) -> dict[str, float]:
    """The source's four measures, read off its description."""
    gold, hits = set(reference[:k]), [item in set(reference[:k]) for item in candidate[:k]]
    precisions = [sum(hits[: place + 1]) / (place + 1) for place, hit in enumerate(hits) if hit]
    ideal = sum(1 / math.log2(place + 2) for place in range(min(k, len(gold))))
    return {
        "Recall": sum(hits) / k,
        "NDCG": sum(hit / math.log2(place + 2) for place, hit in enumerate(hits)) / ideal,
        "MRR": next((1 / (place + 1) for place, hit in enumerate(hits) if hit), 0.0),
        "MAP": sum(precisions) / len(precisions) if precisions else 0.0,
    }


def test_random_embeddings_give_what_the_naive_algorithm_gives():
    generator = np.random.default_rng(5)
    models = [generator.normal(size=(60, width)) for width in (12, 5)]
    unit = [model / np.linalg.norm(model, axis=1, keepdims=True) for model in models]
    lists = []
    for vectors in unit:
        scores = vectors @ vectors.T
        np.fill_diagonal(scores, -np.inf)
        lists.append(np.argsort(-scores, axis=1)[:, :10])
    pairs = rw.ranking_pairs(
        {query: row.tolist() for query, row in enumerate(lists[0])},
        dict(enumerate(lists[1].tolist())),
    )

    for k, word in itertools.product((1, 3, 5, 10), ("Recall", "NDCG", "MRR", "MAP")):
        values = parse_measure(f"{word}@{k}", WORDS)(pairs.judged(k))
        expected = [
            naive(lists[0][int(query)].tolist(), lists[1][int(query)].tolist(), k)[word]
            for query in pairs.queries
        ]
        assert values.tolist() == pytest.approx(expected, abs=1e-12), (word, k)


# ---- rank-biased overlap
# --------------------------------------------------------------------------------------------------

ABC = ["a", "b", "c"]


def rbo(reference: Any, candidate: Any, kind: str, p: float = 0.9, ties: str = "order") -> float:
    return value(f"RBO(p={p},kind={kind},ties={ties})", reference, candidate)


def test_equal_lists_agree_wholly_as_far_as_they_are_seen():
    # Of the depths beyond 3, none need agree but for the 3 of d common items that stay.
    rest = 0.9**3
    least = 1 - rest + 0.1 / 0.9 * 3 * (-math.log(0.1) - sum(0.9**d / d for d in (1, 2, 3)))

    assert rbo(ABC, ABC, "ext") == pytest.approx(1, abs=1e-15)
    assert rbo(ABC, ABC, "min") == pytest.approx(least, abs=1e-15)
    assert rbo(ABC, ABC, "res") == pytest.approx(1 - least, abs=1e-15)
    assert rbo(ABC, ABC, "truncated") == pytest.approx(1, abs=1e-15)


def test_disjoint_lists_share_nothing_yet():
    other = ["x", "y", "z"]

    assert [rbo(ABC, other, kind) for kind in ("ext", "min", "truncated")] == [0, 0, 0]
    # At best the lists catch up two items a depth from the fourth on, and agree wholly from the
    # sixth.
    assert rbo(ABC, other, "res") == pytest.approx(
        0.1 * (0.9**3 * 2 / 4 + 0.9**4 * 4 / 5) + 0.9**5, abs=1e-15
    )


def test_uneven_lists_do_not_depend_on_which_is_shorter():
    short, long = ["a", "b"], ["b", "x", "a", "y"]
    # Overlaps 0, 1, 2 and 2; half of the first two is common, and of what the short list lacks half
    # is held to be.
    expected = 0.5 * (0 + 0.5 / 2 + 0.25 * 2.5 / 3 + 0.125 * 3 / 4) + 3 / 4 * 0.5**4

    for kind in ("ext", "min", "res", "truncated"):
        assert rbo(short, long, kind, p=0.5) == pytest.approx(
            rbo(long, short, kind, p=0.5), abs=1e-15
        )
    assert rbo(short, long, "ext", p=0.5) == pytest.approx(expected, abs=1e-15)


def test_tied_items_share_the_first_of_their_ranks_when_asked():
    tied = {"a": 2.0, "b": 2.0, "c": 1.0}
    # The first prefix of the tied list holds a and b: 2 · 1 / 3 of it and {a} is common.
    expected = 0.5 * (2 / 3 + 0.5 * 1 + 0.25 * 1) + 0.5**3

    assert rbo(tied, ABC, "ext", p=0.5, ties="shared") == pytest.approx(expected, abs=1e-15)
    assert rbo(tied, tied, "ext", p=0.5, ties="shared") == pytest.approx(1, abs=1e-15)
    assert rbo(ABC, ABC, "ext", p=0.5, ties="shared") == pytest.approx(1, abs=1e-15)


def test_an_empty_list_agrees_with_none_and_two_empty_lists_are_not_counted():
    assert rbo(ABC, [], "ext") == 0
    assert rbo(ABC, [], "res") == pytest.approx(1, abs=1e-15)
    for text in (
        "RBO",
        "RBO(kind=min)",
        "RBO(kind=res)",
        "RBO(kind=truncated)",
        "AO",
        "Jaccard@3",
        "Overlap@3",
    ):
        assert math.isnan(value(text, [], [])), text


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (ABC, ["a", "c", "b"], 0.86),
        (["a", "b"], ["b", "a"], 0.33),
        (["a", "b", "c", "d"], ["a", "b"], 0.92),
        (ABC, ABC, 1.0),
    ],
)
def test_the_truncated_overlap_is_that_of_opensearch_to_two_decimals(
    first: list[str], second: list[str], expected: float
):
    assert round(value("rbo50", first, second), 2) == expected


def test_a_persistence_outside_its_range_is_refused():
    for p in (0.0, 1.0, -0.1):
        with pytest.raises(BadUsage, match="between 0 and 1"):
            rbo(ABC, ABC, "ext", p=p)


# ---- order and space
# --------------------------------------------------------------------------------------------------


def test_spearman_on_the_common_and_on_all_items_is_scipys():
    generator = np.random.default_rng(1)
    sims = [dict(enumerate(generator.normal(size=30).tolist())) for _ in range(2)]
    ranks = [stats.rankdata([-each[item] for item in range(30)]) for each in sims]
    pairs = rw.ranking_pairs(*sims, depth=12)
    both, either = [
        np.flatnonzero(op(ranks[0] <= 8, ranks[1] <= 8)) for op in (np.logical_and, np.logical_or)
    ]

    for text, items in (("Spearman@8", both), ("SpearmanUnion@8", either)):
        expected = stats.spearmanr(ranks[0][items], ranks[1][items]).statistic
        assert float(parse_measure(text)(pairs)[0]) == pytest.approx(expected, abs=1e-12)


def test_fewer_than_two_common_items_have_no_order():
    for text in ("Spearman", "TauAP"):
        assert math.isnan(value(text, ABC, ["a", "x", "y"])), text
    assert value("TauAP", ABC, ["c", "b", "a"]) == -1.0
    # Nobody says where x stands for the reference.
    assert math.isnan(value("SpearmanUnion", ABC, ["a", "x", "y"]))


def test_ap_correlation_weighs_the_top_and_takes_the_reference_as_the_truth():
    # Below b stand a, which it should not, then c and d: 0, then 2 of 2, then 3 of 3.
    assert value("TauAP", ["a", "b", "c", "d"], ["b", "a", "c", "d"]) == pytest.approx(
        2 * (0 + 1 + 1) / 3 - 1
    )
    assert value("TauAP", ["a", "b", "c", "d"], ["a", "b", "d", "c"]) == pytest.approx(
        2 * (1 + 1 + 2 / 3) / 3 - 1
    )


def test_the_first_item_has_its_exact_rank_where_it_is_known_and_ranks_last_where_not():
    assert value("MedR_first", ABC, ["x", "y", "z", "a"], depth=2) == 4
    assert value("MnR_first", ABC, ["x", "y"], n_candidates=100) == 101
    assert math.isnan(value("MnR_first(missing=skip)", ABC, ["x", "y"]))


def test_a_tolerance_counts_items_by_what_the_reference_thinks_of_them():
    reference = {"a": 0.9, "b": 0.8, "c": 0.8, "d": 0.795, "e": 0.1}

    assert value("EpsRecall@2", reference, ["b", "a"], depth=2) == 1.0  # b ties with the second, c
    assert value("EpsRecall(eps=0.01)@2", reference, ["d", "e"], depth=2) == 0.5
    assert value("Overlap@2", reference, ["d", "e"], depth=2) == 0.0
    assert value("Margin(eps=0.01)@2", reference, []) == 2.0
    # Lists of ids say nothing of similarities.
    assert math.isnan(value("EpsRecall@2", ABC, ["a", "b"]))


def test_ten_copies_of_the_best_item_are_refused_and_count_once():
    with pytest.raises(DuplicateItem, match="'a' twice"):
        rw.ranking_pairs(ABC, ["a"] * 10)
    assert value("Overlap@10", [f"i{n}" for n in range(10)], ["i0"]) == 0.1


def test_trustworthiness_is_lost_by_new_neighbours_and_continuity_by_lost_ones():
    # Of 9 points the candidate's nearest is the reference's last: the worst that can be.
    reference = [str(item) for item in range(8)]
    far, moved = ["7", *reference[:7]], ["1", *reference[2:], "0"]

    assert value("Trustworthiness@1", reference, far) == 0.0
    assert value("Continuity@1", reference, far) == pytest.approx(1 - 1 / 7)
    assert value("Trustworthiness@1", reference, moved) == pytest.approx(1 - 1 / 7)
    assert value("Continuity@1", reference, moved) == 0.0
    assert math.isnan(value("Trustworthiness@5", reference, far))  # 5 is not below half of 9


# ---- chance
# --------------------------------------------------------------------------------------------------

N, DEPTH = 6, 4
RELEVANCE = (
    "P@3",
    "R@3",
    "AP@3",
    "AP(denom='found')@3",
    "AP(denom='min')@3",
    "RR@3",
    "nDCG@3",
    "Success@3",
)


@cache
def all_orders() -> RankingPairs:
    """The reference's similarities beside every order of the candidates, the lists four deep."""
    names = [str(item) for item in range(N)]
    reference = {item: 1.0 - place / 10 for place, item in enumerate(names)}
    orders = itertools.permutations(names)
    return rw.ranking_pairs(
        dict.fromkeys(map(str, range(720)), reference), dict(enumerate(orders)), depth=DEPTH
    )


def with_chance() -> Iterator[Measure]:
    for name in MEASURES:
        entry = MEASURES[name]
        if entry.view is RankingPairs and entry.chance is not None:
            base = Measure(name, (("k", 3),) if "k" in entry.parameters else ())
            yield base
            yield from (
                base.with_parameters(kind=kind)
                for kind in ("min", "truncated")
                if base.accepts("kind")
            )
            yield from (base.with_parameters(k=k) for k in (1, 2) if base.accepts("k"))


@pytest.mark.parametrize("measure", list(with_chance()), ids=str)
def test_a_chance_level_is_the_mean_over_every_order_of_the_candidates(measure: Measure):
    pairs = all_orders()
    values, levels = measure(pairs), chance_level(measure, pairs)

    if np.isnan(values).all():
        assert np.isnan(levels).all()
    else:
        assert levels.tolist() == pytest.approx([float(np.nanmean(values))] * 720, abs=1e-12)


@pytest.mark.parametrize("text", RELEVANCE)
@pytest.mark.parametrize("gold", [1, 2, 3, 4])
def test_the_chance_level_of_a_judged_measure_is_its_mean_over_every_order(text: str, gold: int):
    pairs = all_orders()
    measure = parse_measure(text)

    assert chance_level(measure, pairs, gold_depth=gold)[0] == pytest.approx(
        measure(pairs.judged(gold)).mean(), abs=1e-12
    )


def test_graded_gains_have_their_own_chance_level():
    pairs = all_orders()
    for gains in ("reciprocal-rank", "similarity"):
        values = parse_measure("nDCG@3")(pairs.judged(3, gains))
        assert chance_level(parse_measure("nDCG@3"), pairs, gold_depth=3, gains=gains)[
            7
        ] == pytest.approx(values.mean(), abs=1e-12)


def test_precision_by_chance_is_the_depth_and_overlap_the_cut_off_over_the_candidates():
    pairs = rw.ranking_pairs(list(range(10)), list(range(5, 15)), n_candidates=4999)

    assert chance_level(parse_measure("P@3"), pairs, gold_depth=10).tolist() == pytest.approx(
        [10 / 4999], abs=1e-15
    )
    assert chance_level(parse_measure("Overlap@3"), pairs).tolist() == pytest.approx(
        [3 / 4999], abs=1e-15
    )


def test_what_has_no_closed_form_has_no_chance_level():
    pairs = rw.ranking_pairs(ABC, ABC)

    for text in ("RBO(kind=res)", "RBO(ties=shared)", "Margin@2", "Bpref"):
        assert np.isnan(chance_level(parse_measure(text), pairs)).all(), text


# ---- the view
# --------------------------------------------------------------------------------------------------


def table(rows: list[list[int]]) -> Listed:
    positions = np.array(rows, dtype=np.int64)
    return Listed(positions, np.where(positions >= 0, -positions / 10, np.nan))


def test_two_top_k_tables_make_the_view_that_mappings_make():
    built = RankingPairs.from_top_k(
        ["p", "q"], table([[0, 1, 2], [3, -1, -1]]), table([[2, 4], [3, 0]]), n_candidates=5
    )
    named = rw.ranking_pairs(
        {"p": {0: 0.0, 1: -0.1, 2: -0.2}, "q": {3: -0.3}},
        {"p": {2: -0.2, 4: -0.4}, "q": {3: -0.3, 0: -0.4}},
        n_candidates=5,
    )

    for side in ("reference", "candidate"):
        assert (
            getattr(built, side).other_ranks.tolist() == getattr(named, side).other_ranks.tolist()
        )
        assert getattr(built, side).lengths.tolist() == getattr(named, side).lengths.tolist()
    assert built.reference.other_ranks.tolist() == [0, 0, 1, 1]
    assert built.candidate.other_scores[[0, 2]].tolist() == [-0.2, -0.3]
    assert np.isnan(built.candidate.other_scores[[1, 3]]).all()


def test_exact_ranks_are_taken_for_items_that_the_other_list_lacks():
    reference = table([[0, 1]])._replace(other_ranks=np.array([[5, 1]]))
    pairs = RankingPairs.from_top_k(["q"], reference, table([[1, 2]]), n_candidates=5)

    assert parse_measure("MedR_first")(pairs).tolist() == [5.0]


@pytest.mark.parametrize(
    ("reference", "candidate", "n", "message"),
    [
        (table([[0, -1, 1]]), table([[0]]), 5, "padded with -1 at its end"),
        (table([[0, 1], [0, 1]]), table([[0]]), 5, "one row per query"),
        (table([[0, 1]]), table([[2, 3]]), 3, "need 4 candidates, but there are 3"),
        (
            table([[0, 1]])._replace(other_ranks=np.array([[2, 0]])),
            table([[1, 2]]),
            5,
            "not in the other list",
        ),
        (
            table([[0, 1]])._replace(other_ranks=np.array([[0, 2]])),
            table([[1, 2]]),
            5,
            "rank 1 in the other list",
        ),
        (
            table([[0, 1]])._replace(other_ranks=np.array([[9, 0]])),
            table([[1, 2]]),
            5,
            "need 9 candidates",
        ),
    ],
)
def test_tables_that_contradict_each_other_are_refused(
    reference: Listed, candidate: Listed, n: int, message: str
):
    with pytest.raises(BadInput, match=message):
        RankingPairs.from_top_k(["q"], reference, candidate, n_candidates=n)


def test_an_item_listed_twice_in_a_table_is_refused():
    with pytest.raises(DuplicateItem, match="candidate lists item 3 twice, at ranks 1 and 3"):
        RankingPairs.from_top_k(["q"], table([[0, 1]]), table([[3, 0, 3]]), n_candidates=5)


def test_similarities_order_a_mapping_and_ties_go_by_id_descending():
    pairs = rw.ranking_pairs({"b": 1.0, "a": 1.0, "c": 2.0}, ["c", "b", "a"])

    assert parse_measure("TauAP")(pairs).tolist() == [1.0]


def test_a_measure_of_two_lists_is_not_computed_from_judgments():
    with pytest.raises(
        BadUsage, match=r"Overlap@5 needs two rankings of the same queries.*; .rankwell embeddings"
    ):
        rw.evaluate({"q": {"a": 1}}, {"q": {"a": 1.0}}, ["nDCG@5", "Overlap@5"])


def test_anything_but_a_list_of_ids_is_refused():
    with pytest.raises(BadInput, match="a list of ids"):
        rw.ranking_pairs("abc", ABC)
    with pytest.raises(BadScore, match="nan"):
        rw.ranking_pairs({"a": 1.0, "b": math.nan}, ABC)
    with pytest.raises(BadInput, match="reference's similarities"):
        rw.ranking_pairs(ABC, ABC).judged(gains="similarity")


def test_a_similarity_below_0_gains_nothing_and_the_ideal_is_the_references():
    pairs = rw.ranking_pairs({"a": 0.8, "b": 0.4, "c": -0.5}, ["b", "c"])
    view = pairs.judged(gains="similarity")

    assert view.judged_grades.tolist() == [0.8, 0.4, 0.0]
    assert parse_measure("nDCG@2")(view).tolist() == pytest.approx(
        [0.4 / (0.8 + 0.4 / math.log2(3))]
    )
