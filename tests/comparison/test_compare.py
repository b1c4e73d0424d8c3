"""Comparing systems: pairing by query, verdicts in words, groups, clusters, and the order of
systems.
"""

import json
import re
import subprocess
import sys
import tracemalloc
from dataclasses import replace

import numpy as np
import pytest

from rankwell.comparison.data import Attribute, Origin
from rankwell.data.tables import Values
from rankwell.errors import BadInput, BadUsage, NothingToEvaluate, UnknownName
from rankwell.reporting.difference_tables import difference_text
from rankwell.results import compare_values
from rankwell.stats import on_exact_grid
from rankwell.stats.paired_tests import paired_t, sign_test, wilcoxon
from rankwell.stats.system_comparisons import benjamini_hochberg, holm
from rankwell.stats.verdicts import Family, MeasuredDifference, verdict


def values_of(run, measure, values, *, queries=None, unit="share", weights=None, summary="mean"):
    names = queries or [f"q{place:03}" for place in range(len(values))]
    table = np.array(values, dtype=np.float64)
    return Values(run, measure, measure, unit, summary, tuple(names), table, weights)


def two_systems(n=120, *, lift=0.04, seed=0, measures=("nDCG@10", "RR")):
    """A and B on the same queries, B higher by about `lift`."""
    random = np.random.default_rng(seed)
    found = []
    for measure in measures:
        base = random.beta(2, 2, n) * 0.8
        found.append(values_of("A", measure, base.round(3)))
        found.append(
            values_of("B", measure, (base + random.normal(lift, 0.08, n)).clip(0, 1).round(3))
        )
    return found


def row_of(result, measure="nDCG@10", rows="differences"):
    return next(row for row in getattr(result, rows) if row["of"] == measure)


def test_a_difference_is_that_of_the_queries_that_count_for_both():
    first = values_of("A", "AP", [0.1, 0.5, np.nan, 0.2], queries=["a", "b", "c", "d"])
    second = values_of("B", "AP", [0.9, 0.4, 0.7], queries=["d", "a", "c"])

    result = compare_values([first, second], intervals="none")

    row = row_of(result, "AP")
    # d: 0.9 - 0.2, a: 0.4 - 0.1; b is missing from B, c is not counted in A.
    assert row["mean"] == pytest.approx((0.7 + 0.3) / 2)
    assert (row["mean_run"], row["mean_against"]) == (pytest.approx(0.65), pytest.approx(0.15))
    assert (row["n"], row["wins"], row["ties"], row["losses"]) == (2, 2, 0, 0)
    assert "AP: 2 queries count for only one of B and A, and are left out" in result.findings


def test_pairs_and_attributes_are_plain_tuples():
    kinds = {f"q{place:03}": "text" if place < 20 else "image" for place in range(40)}
    values = two_systems(40, measures=("AP",))

    result = compare_values(
        values, pairs=[("A", "B")], group=("kind", kinds), cluster=("kind", kinds), intervals="none"
    )

    assert [(row["run"], row["against"]) for row in result.differences] == [("A", "B")]
    assert [row["group"] for row in result.groups] == ["kind = image", "kind = text"]
    assert (result.rules["group"], result.rules["cluster"]) == ("kind", "kind")


@pytest.mark.parametrize("test", ["randomisation", "t", "wilcoxon", "sign", "bootstrap"])
def test_no_test_sees_a_query_that_only_one_system_counts(test):
    first, second = (values.values.copy() for values in two_systems(40, measures=("AP",)))
    counted = [row for row in range(40) if row not in (3, 8)]
    first[3], second[8] = np.nan, np.nan
    names = [f"q{row:03}" for row in counted]

    found = compare_values([values_of("A", "AP", first), values_of("B", "AP", second)], test=test)
    expected = compare_values(
        [
            values_of("A", "AP", first[counted], queries=names),
            values_of("B", "AP", second[counted], queries=names),
        ],
        test=test,
    )

    assert row_of(found, "AP")["n"] == 38
    assert row_of(found, "AP") == row_of(expected, "AP")


@pytest.mark.slow
@pytest.mark.parametrize(
    "options",
    [
        {},
        pytest.param({"correction": "max-t"}, marks=pytest.mark.server),
        pytest.param({"test": "bootstrap"}, marks=pytest.mark.server),
    ],
)
def test_memory_does_not_grow_with_the_number_of_pairs(options):
    random = np.random.default_rng(3)
    values = [values_of(f"s{run}", "AP", random.random(20).round(3)) for run in range(80)]

    tracemalloc.start()
    result = compare_values(values, resamples=2_000, **options)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    # 3,160 pairs; the sums of all of them over all resamples alone take 48 MiB.
    assert len(result.differences) == 80 * 79 // 2
    assert peak < 80 << 20


def test_texts_of_files_do_not_steer_a_terminal(tmp_path):
    odd = "x\x1b[31mred\x07\u202e"
    rows = [(f"q{place}", place % 2) for place in range(4)]
    (tmp_path / "qrels").write_text("".join(f"{query} 0 d1 1\n" for query, _ in rows))
    runs = [tmp_path / f"{odd}.run", tmp_path / "b.run"]
    for run in runs:
        run.write_text("".join(f"{query} Q0 d{place} 1 1.0 t\n" for query, place in rows))
    texts = tmp_path / "texts.jsonl"
    texts.write_text(
        "".join(
            json.dumps({"_id": query, "text": odd, "kind": odd + str(place)}) + "\n"
            for query, place in rows
        )
    )
    shared = [
        sys.executable,
        "-m",
        "rankwell",
        "compare",
        str(tmp_path / "qrels"),
        *map(str, runs),
        "--queries",
        str(texts),
    ]

    for options in (
        ["--group", "kind"],
        ["--group", odd],
        ["--base\x1b[31m", odd],
        ["--baseline", odd + "\n"],
    ):
        done = subprocess.run([*shared, "-m", "P@1", *options], capture_output=True, check=False)
        assert done.returncode in (0, 2)
        assert b"\\x1b[31m" in done.stdout + done.stderr
        assert (done.stdout + done.stderr).decode().replace("\n", "").isprintable()


def test_a_rounding_error_is_neither_a_win_nor_a_loss():
    result = compare_values(
        [values_of("A", "AP", [0.1 + 0.2] * 3), values_of("B", "AP", [0.3] * 3)]
    )

    assert row_of(result, "AP")["ties"] == 3
    assert row_of(result, "AP")["p"] == 1.0


def test_columns_that_need_a_word_are_explained_below_the_table():
    result = compare_values(two_systems(), power=0.9)
    table = difference_text(result.tables, result.differences, None, result.describe(), "table")
    assert (
        "primary: the first measure, which alone decides the verdict; secondary: tested by "
        "itself; p: two-sided; "
        "effect: the mean difference in standard" in " ".join(table.split())
    )
    assert (
        "detectable: the smallest true difference that n queries show as significant with a "
        "probability of 0.9" in " ".join(table.split())
    )

    one = " ".join(str(compare_values(two_systems(measures=("RR",)))).split())
    assert "primary:" not in one, "with one measure there is nothing to tell apart"
    assert "superscripts" not in one

    three = str(
        compare_values(
            [
                values_of(run, "RR", [n / (place + 7) for place in range(12)])
                for run, n in (("A", 1), ("B", 2), ("C", 3))
            ]
        )
    )
    assert "Superscripts: the systems that this one is significantly better than" in " ".join(
        three.split()
    )
    assert re.search(r"^ +a A +b B +c C\nRR +\S+ +\S+ᵃ +\S+ᵃᵇ$", three, re.MULTILINE)


def test_lower_ranks_are_better():
    random = np.random.default_rng(1)
    ranks = random.integers(5, 50, 80).astype(float)
    first, second = (
        values_of(run, "MnR", ranks + shift, unit="rank") for run, shift in (("A", 0), ("B", -3))
    )
    noise = values_of("B", "MnR", second.values + random.normal(0, 2, 80), unit="rank")

    result = compare_values([first, noise])

    assert row_of(result, "MnR")["mean"] < 0
    assert row_of(result, "MnR")["wins"] > row_of(result, "MnR")["losses"]
    assert result.verdicts[0].startswith("B is better than A: -")
    assert "ranks by MnR" in result.verdicts[0]
    low, high = map(float, re.search(r"CI (\S+) to (\S+),", result.verdicts[0]).groups())
    assert low < row_of(result, "MnR")["mean"] < high < 0


def test_the_verdict_names_difference_interval_p_value_and_correction():
    result = compare_values(two_systems(measures=("nDCG@10", "RR", "AP")))

    row = row_of(result)
    assert result.verdicts == (
        f"B is better than A: {row['mean']:+.3f} nDCG@10 (95% CI "
        f"{row['ci_low']:.3f} to {row['ci_high']:.3f}, "
        "p < 0.0001); also better by the secondary measures RR and AP.",
    )


def test_a_difference_that_is_not_shown_is_not_called_one():
    result = compare_values(two_systems(40, lift=0.0, measures=("AP",)))

    row = row_of(result, "AP")
    assert not row["decisive"]
    assert result.verdicts[0].startswith(
        f"No significant difference between B and A: {row['mean']:+.3f} AP (95% CI "
    )
    assert (
        f"with 40 queries a true difference of about {row['detectable']:.3f} is significant "
        "80% of the time" in result.verdicts[0]
    )


def test_a_test_without_a_p_value_is_not_called_insignificant():
    found = [values_of("A", "RR", [1.0] * 30), values_of("B", "RR", [0.5] * 30)]

    result = compare_values(found, test="t")

    for (said,) in (result.verdicts, result.headlines):
        assert said.startswith(
            "This test cannot judge B and A: -0.500 RR (95% CI -0.500 to -0.500); it has no p-value"
        )
        assert "significant" not in said


def test_a_difference_larger_than_the_measure_allows_is_not_called_detectable():
    two = [values_of("A", "AP", np.array([0.0, 0.9])), values_of("B", "AP", np.array([0.5, 0.2]))]

    result = compare_values(two)

    assert row_of(result, "AP")["detectable"] is None
    assert "a true difference" not in result.verdicts[0]


def test_a_group_has_a_verdict_of_its_own_and_a_small_one_a_warning():
    random = np.random.default_rng(3)
    base = random.random(161).round(2)
    better = base + np.where(np.arange(161) < 100, 0.2, 0.0) + random.normal(0, 0.15, 161)
    kinds = {
        f"q{place:03}": "image" if place < 100 else "text" if place < 149 else "sound"
        for place in range(161)
    }

    result = compare_values(
        [values_of("A", "AP", base), values_of("B", "AP", better)],
        group=Attribute("type", kinds),
        correction="holm",
    )

    rows = {row["group"]: row for row in result.groups}
    assert list(rows) == ["type = image", "type = sound", "type = text"]
    assert [row["n"] for row in rows.values()] == [100, 12, 49]
    assert [row["decisive"] for row in rows.values()] == [True, False, False]
    assert (
        "no significant difference for type = sound (n = 12, small) and type = text (n = 49, small)"
        in result.verdicts[0]
    )
    assert any(
        "groups of fewer than 50 queries" in note and "sound (n = 12)" in note
        for note in result.findings
    )
    # The groups are a family of their own: the smallest of three p-values counts three times.
    assert rows["type = image"]["p_adjusted"] == pytest.approx(3 * rows["type = image"]["p"])


def test_queries_without_the_attribute_are_a_group_too():
    result = compare_values(
        two_systems(60), group=Attribute("type", {f"q{place:03}": "text" for place in range(40)})
    )

    assert {row["group"]: row["n"] for row in result.groups} == {
        "type = text": 40,
        "type not given": 20,
    }


def test_many_different_numbers_are_cut_in_quarters():
    lengths = {f"q{place:03}": str(place) for place in range(100)}

    result = compare_values(two_systems(100, measures=("AP",)), group=Attribute("length", lengths))

    assert [(row["group"], row["n"]) for row in result.groups] == [
        ("length at most 24", 25),
        ("length above 24 to 49", 25),
        ("length above 49 to 74", 25),
        ("length above 74 to 99", 25),
    ]


def test_queries_of_one_cluster_count_as_one():
    random = np.random.default_rng(4)
    shift = np.repeat(random.normal(0.05, 0.2, 30), 10)
    base = random.random(300)
    values = [values_of("A", "AP", base), values_of("B", "AP", base + shift)]
    documents = Attribute("document", {f"q{place:03}": f"d{place // 10}" for place in range(300)})

    alone, together = compare_values(values), compare_values(values, cluster=documents)

    width = [
        row["ci_high"] - row["ci_low"] for row in (row_of(alone, "AP"), row_of(together, "AP"))
    ]
    assert width[1] > 2.5 * width[0]
    assert row_of(together, "AP")["p"] > row_of(alone, "AP")["p"]
    assert row_of(together, "AP")["clusters"] == 30
    assert row_of(together, "AP")["mean"] == pytest.approx(row_of(alone, "AP")["mean"])


def test_a_query_without_a_cluster_is_named():
    with pytest.raises(BadInput, match="query 'q001' has no value of 'document'"):
        compare_values(two_systems(), cluster=Attribute("document", {"q000": "d"}))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"correction": "max-t", "test": "t"}, "max-T comes from sign flips"),
        (
            {"test": "wilcoxon", "cluster": Attribute("d", {})},
            "the wilcoxon test assumes independent queries",
        ),
        (
            {"correction": "tukey", "cluster": Attribute("d", {})},
            "Tukey's test assumes independent queries",
        ),
        ({"level": 1.0}, "the confidence level is"),
        ({"power": 0.01}, r"the power is 0\.01"),
        ({"resamples": 0}, "resamples=0"),
    ],
)
def test_options_that_do_not_go_together_are_refused(options, message):
    with pytest.raises(BadUsage, match=message):
        compare_values(two_systems(), **options)


def test_what_cannot_be_compared_is_refused():
    alone = values_of("A", "AP", [0.5])

    with pytest.raises(BadUsage, match="'A' alone is compared with nothing"):
        compare_values([alone])
    with pytest.raises(BadInput, match="'A', 'B' have no measure in common"):
        compare_values([alone, values_of("B", "RR", [0.5])])
    with pytest.raises(UnknownName, match="unknown run 'C'"):
        compare_values(two_systems(), baseline="C")
    with pytest.raises(UnknownName, match=r"no measure 'nDCG@11' .*did you mean 'nDCG@10'"):
        compare_values(two_systems(), measures=["nDCG@11"])
    with pytest.raises(BadInput, match="different units"):
        compare_values([alone, values_of("B", "AP", [50.0], unit="percent")])


def test_runs_without_a_common_query_are_nothing_to_evaluate():
    with pytest.raises(NothingToEvaluate, match="no query counts for two of 'A', 'B'"):
        compare_values(
            [values_of("A", "AP", [0.5], queries=["a"]), values_of("B", "AP", [0.5], queries=["b"])]
        )


def test_other_spellings_of_a_measure_choose_it_too():
    result = compare_values(two_systems(), measures=["ndcg_cut.10"])

    assert [row["of"] for row in result.differences] == ["nDCG@10"]


TESTS = ("randomisation", "t", "wilcoxon", "sign", "bootstrap")


@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize("correction", ["holm", "bh", "none"])
@pytest.mark.parametrize("family", ["primary", "all"])
def test_every_test_goes_with_every_correction(test, correction, family):
    result = compare_values(
        two_systems(), test=test, correction=correction, family=family, resamples=400
    )

    rows = result.differences
    corrected = {"holm": holm, "bh": benjamini_hochberg, "none": list}[correction](
        [row["p"] for row in rows]
    )
    if family == "primary":
        # Of a single pair each measure is a family of one test.
        corrected = [row["p"] for row in rows]
    assert [row["p_adjusted"] for row in rows] == pytest.approx(corrected)
    assert all(0 < row["p"] <= row["p_adjusted"] <= 1 for row in rows)
    assert all(row["decisive"] == (row["p_adjusted"] <= 0.05) for row in rows)


def test_every_test_is_the_requested_one():
    values = two_systems(lift=0.01, measures=("AP",))
    differences = values[1].values - values[0].values

    p = {test: row_of(compare_values(values, test=test), "AP")["p"] for test in TESTS}

    assert p["t"] == pytest.approx(paired_t(differences).p)
    assert p["wilcoxon"] == pytest.approx(wilcoxon(on_exact_grid(differences)))
    assert p["sign"] == pytest.approx(sign_test(on_exact_grid(differences)).p)
    assert len(set(p.values())) == len(p)


def test_the_baseline_is_what_all_others_are_held_against():
    values = [
        values_of(run, "AP", np.random.default_rng(place).random(30))
        for place, run in enumerate("ABCD")
    ]

    against = [
        (row["run"], row["against"]) for row in compare_values(values, baseline="C").differences
    ]
    every = [(row["run"], row["against"]) for row in compare_values(values).differences]

    assert against == [("A", "C"), ("B", "C"), ("D", "C")]
    assert every == [("B", "A"), ("C", "A"), ("D", "A"), ("C", "B"), ("D", "B"), ("D", "C")]


def ladder(n=150, systems=4, step=0.05, seed=6):
    random = np.random.default_rng(seed)
    base = random.beta(2, 2, n) * 0.7
    return [
        values_of(name, measure, (base + step * place + random.normal(0, 0.08, n)).round(4))
        for measure in ("nDCG@10", "AP")
        for place, name in enumerate("ABCDEFGH"[:systems])
    ]


def test_the_leader_of_many_systems_is_named_with_those_that_do_not_differ_significantly():
    values = [
        *ladder(),
        *(
            values_of("E", each.measure, each.values + 0.0001)
            for each in ladder()
            if each.run == "D"
        ),
    ]

    result = compare_values(values, correction="tukey")

    (sentence,) = result.verdicts
    assert sentence.startswith("E leads by nDCG@10 (")
    assert (
        "is better than C, B and A; there is no significant difference from D; Tukey's HSD "
        "over 5 systems." in sentence
    )
    beaten = {
        row["run"]: row["better_than"] for row in result.systems if row["measure"] == "nDCG@10"
    }
    assert beaten == {"A": "", "B": "A", "C": "A, B", "D": "A, B, C", "E": "A, B, C"}


@pytest.mark.parametrize("correction", ["holm", "bh", "max-t", "tukey"])
def test_a_measure_is_judged_alike_whatever_others_are_evaluated(correction):
    random = np.random.default_rng(4)
    values = [
        values_of(run, "AP", random.random(40) + 0.1 * place) for place, run in enumerate("ABCD")
    ]
    others = [
        values_of(run, measure, random.random(40)) for measure in ("RR", "P@5") for run in "ABCD"
    ]

    alone, first, last = (
        compare_values(each, correction=correction)
        for each in (values, [*values, *others], [*others, *values])
    )

    rows = [
        [row for row in result.differences if row["of"] == "AP"] for result in (alone, first, last)
    ]
    assert (
        [row["p_adjusted"] for row in rows[0]]
        == [row["p_adjusted"] for row in rows[1]]
        == [row["p_adjusted"] for row in rows[2]]
    )
    assert [{row["role"] for row in each} for each in rows] == [
        {"primary"},
        {"primary"},
        {"secondary"},
    ]
    assert alone.verdicts == first.verdicts
    assert first.rules["family"] == "primary"
    if correction == "holm":
        assert alone.verdicts[0].endswith("; Holm over 6 pairs.")
        assert (
            compare_values([*values, *others], family="all")
            .verdicts[0]
            .endswith("; Holm over 6 pairs × 3 measures.")
        )


@pytest.mark.parametrize("family", ["primary", "all"])
@pytest.mark.parametrize("correction", ["holm", "max-t"])
def test_measures_with_the_same_values_on_every_query_count_once(family, correction):
    values = two_systems(measures=("nDCG@10", "RR"))
    twins = [replace(each, measure="MRR", label="MRR") for each in values if each.measure == "RR"]

    result = compare_values([*values, *twins], family=family, correction=correction)
    without = compare_values(values, family=family, correction=correction)

    assert result.verdicts == without.verdicts
    assert [row["role"] for row in result.differences][-1] == "repeated"
    assert (
        row_of(result, "MRR")["p_adjusted"]
        == row_of(result, "RR")["p_adjusted"]
        == row_of(without, "RR")["p_adjusted"]
    )
    assert "MRR: the same values as RR on every query; the two count as one" in result.findings
    three = [replace(each, run="C", values=each.values * 0.9) for each in values if each.run == "A"]
    three += [replace(each, measure="MRR", label="MRR") for each in three if each.measure == "RR"]
    ranked = compare_values([*values, *twins, *three])
    assert {row["tasks"] for row in ranked.borda} == {2}
    assert [row["measure"] for row in ranked.mean_ranks] == ["nDCG@10", "RR"]


@pytest.mark.parametrize("runs", ["AB", "ABC"])
def test_a_measure_without_a_better_direction_is_never_tested(runs):
    random = np.random.default_rng(2)
    counts = [
        values_of(run, "Judged@10", random.random(60) * (place + 1) / 3)
        for place, run in enumerate(runs)
    ]
    tested = [
        values_of(run, "AP", random.random(60) / 2 + 0.2 * place) for place, run in enumerate(runs)
    ]

    result = compare_values([*counts, *tested])

    assert [row["role"] for row in result.differences if row["of"] == "AP"] == ["primary"] * (
        len(runs) * (len(runs) - 1) // 2
    )
    for row in (row for row in result.differences if row["of"] == "Judged@10"):
        assert (row["role"], row["decisive"]) == ("descriptive", False)
        assert {
            row[name]
            for name in ("p", "p_adjusted", "wins", "losses", "ties", "effect_size", "detectable")
        } == {None}
    assert "Judged@10: neither higher nor lower values are better; not tested" in result.findings
    assert all("Judged" not in sentence for sentence in result.verdicts)
    assert all(row["measure"] == "AP" for row in result.tables.get("systems", ()))
    alone = compare_values(counts)
    assert alone.verdicts == (
        "Nothing is tested: neither higher nor lower values of Judged@10 are better.",
    )
    assert "systems" not in alone.tables


def test_superscripts_bars_and_verdict_are_of_one_comparison():
    random = np.random.default_rng(7)
    base = random.random(60)
    values = [
        values_of(run, "AP", base + random.normal(0.05 * place, 0.25, 60))
        for place, run in enumerate("ABCD")
    ]

    result = compare_values(values)

    apart = {frozenset((row["run"], row["against"])): row["decisive"] for row in result.differences}
    assert len(set(apart.values())) == 2
    beaten = {row["run"]: row["better_than"].split(", ") for row in result.systems}
    (ranks,) = result.mean_ranks
    for pair, decisive in apart.items():
        one, other = pair
        assert decisive == (other in beaten[one] or one in beaten[other])
        assert not (decisive and any(pair <= set(bar) for bar in ranks["not_told_apart"]))


def test_orders_of_systems_by_measures_and_groups_are_compared():
    result = compare_values(
        ladder(), group=Attribute("half", {f"q{place:03}": str(place % 2) for place in range(150)})
    )

    assert [(row["first"], row["second"]) for row in result.orders] == [
        ("nDCG@10", "AP"),
        ("nDCG@10", "nDCG@10, half = 0"),
        ("nDCG@10", "nDCG@10, half = 1"),
    ]
    assert [row["tau"] for row in result.orders] == [1.0, 1.0, 1.0]
    assert [(row["run"], row["points"]) for row in result.borda] == [
        ("D", 6.0),
        ("C", 4.0),
        ("B", 2.0),
        ("A", 0.0),
    ]
    assert [list(row["mean_ranks"]) for row in result.mean_ranks] == [["A", "B", "C", "D"]] * 2


def test_two_systems_have_no_order_of_systems():
    result = compare_values(two_systems())

    assert set(result.tables) == {"verdicts"}


def test_the_order_of_queries_changes_no_byte():
    values = ladder()
    random = np.random.default_rng(0)

    def shuffled(each):
        order = random.permutation(len(each.queries))
        return values_of(
            each.run,
            each.measure,
            each.values[order],
            queries=[each.queries[place] for place in order],
        )

    def text(result):
        return json.dumps(
            [
                result.differences,
                result.groups,
                result.verdicts,
                result.systems,
                result.orders,
                result.mean_ranks,
            ]
        )

    kinds = Attribute("half", {f"q{place:03}": str(place % 2) for place in range(150)})
    options = {"correction": "max-t", "group": kinds, "resamples": 500}

    assert text(compare_values([shuffled(each) for each in values], **options)) == text(
        compare_values(values, **options)
    )
    assert text(compare_values(values, **options)) != text(
        compare_values(values, **(options | {"seed": 1}))
    )


def test_weighted_means_are_compared_as_they_are_averaged():
    weights = np.array([1.0, 4.0, 0.0, 5.0] * 10)
    random = np.random.default_rng(1)
    one, other = random.random(40), random.random(40)

    result = compare_values(
        [values_of("A", "R@5", one, weights=weights), values_of("B", "R@5", other, weights=weights)]
    )

    row = row_of(result, "R@5")
    assert row["mean"] == pytest.approx(float(np.average(other - one, weights=weights)))
    assert row["mean_run"] == pytest.approx(float(np.average(other, weights=weights)))


def test_measures_with_other_summaries_say_what_is_compared():
    ranks = [values_of(run, "MedR", [1.0, 5.0, 3.0], unit="rank", summary="median") for run in "AB"]

    result = compare_values(ranks)

    assert any("MedR sums queries up by their median" in note for note in result.findings)
    assert row_of(result, "MedR")["label"] == "Difference(MedR (mean))"
    assert "MedR (mean)" in result.verdicts[0]
    assert compare_values(ranks, measures="MedR").verdicts == result.verdicts


def test_the_same_measure_in_two_directions_is_two():
    values = two_systems(measures=("R@5", "R@5"))
    facts = [{"direction": "t2v"}] * 2 + [{"direction": "v2t"}] * 2

    result = compare_values(values, row_attributes=facts)

    assert [row["direction"] for row in result.differences] == ["t2v", "v2t"]
    assert result.verdicts[0].startswith("B is better than A: +")
    assert " R@5 (direction t2v) (95% CI " in result.verdicts[0]
    assert result.verdicts[0].endswith(
        "; also better by the secondary measure R@5 (direction v2t)."
    )
    assert [row["direction"] for row in result.summary if row["run"] == "A"] == ["t2v", "v2t"]


def test_pairs_without_a_common_measure_are_not_in_the_family():
    values = [*two_systems(measures=("AP",)), values_of("C", "RR", [0.5] * 60)]

    (said,) = compare_values(values).verdicts

    assert said.startswith("B is better than A: +")
    assert "Holm" not in said


def test_a_run_that_shares_no_measure_is_named_once_and_left_out():
    values = [*two_systems(measures=("AP", "P@5")), values_of("C", "RR", [0.5] * 60)]

    result = compare_values(values)

    assert "not compared, as no other run has their measures: 'C'" in result.findings
    assert not any("missing from some runs" in note for note in result.findings)


def test_measures_that_are_not_requested_are_not_called_missing():
    values = [*two_systems(measures=("AP", "P@5")), values_of("C", "AP", [0.5] * 60)]

    assert any("P@5 of 'A', 'B'" in note for note in compare_values(values).findings)
    assert not any("P@5" in note for note in compare_values(values, measures="AP").findings)


def test_systems_without_a_common_measure_have_no_common_order():
    values = [
        *two_systems(measures=("AP",)),
        *(
            replace(each, run=f"{each.run}2", measure="RR")
            for each in two_systems(measures=("AP",))
        ),
    ]

    result = compare_values(values)

    assert len(result.differences) == 2
    assert "systems" not in result.tables
    assert "borda" not in result.tables


def test_a_measure_without_a_known_direction_is_taken_by_its_unit():
    result = compare_values([values_of(run, "MyRank", [3.0, 4.0], unit="rank") for run in "AB"])

    assert (
        "MyRank does not say which values are better; lower ones are assumed to be"
        in result.findings
    )
    told = compare_values(
        [values_of(run, "MyRank", [3.0, 4.0], unit="rank") for run in "AB"],
        origin=Origin(better={"MyRank": "higher"}),
    )
    assert row_of(told, "MyRank")["better"] == "higher"


def found(
    difference=0.02,
    *,
    decisive=True,
    p=0.002,
    n=200,
    measure="nDCG@10",
    part="",
    interval=(0.01, 0.03),
):
    return MeasuredDifference(
        "B", "A", measure, "share", "higher", difference, interval, p, n, decisive, 0.015, part
    )


def test_sentences_say_where_the_verdict_does_not_hold():
    family = Family("holm", 3, "over 3 measures", secondary=False)

    # The sentence of the issue.
    assert verdict(
        found(0.021, interval=(0.008, 0.034)),
        parts=[found(part="type = text", decisive=False, n=61), found(part="type = image")],
        family=family,
    ) == (
        "B is better than A: +0.021 nDCG@10 (95% CI 0.008 to 0.034, p = 0.0020); "
        "no significant difference for type = text (n = 61); Holm over 3 measures."
    )
    assert verdict(found(), parts=[found(-0.02, part="type = text", n=61)], family=family).endswith(
        "; worse for type = text (n = 61); Holm over 3 measures."
    )
    assert verdict(found(), [found(-0.1, measure="RR")], family=family).endswith(
        "; worse by RR; Holm over 3 measures."
    )
    assert verdict(found(), [found(measure="RR", decisive=False)], family=family).endswith(
        "; no significant difference by RR; Holm over 3 measures."
    )
    assert verdict(
        found(), parts=[found(part="x = 1"), found(part="x = 2")], family=family
    ).endswith("; this holds in all 2 groups; Holm over 3 measures.")
    assert "p < 0.0001" in verdict(found(p=1e-9), family=family)
    assert verdict(found(-0.02, interval=(-0.03, -0.01)), family=family).startswith(
        "B is worse than A: -0.020 nDCG@10 (95% CI -0.030 to -0.010, p = 0.0020)"
    )
    assert (
        verdict(found(None), family=family)
        == "Nothing can be said of B and A: no query counts for both by nDCG@10."
    )
    assert "(n = 4, too few for an interval, p = 0.0020)" in verdict(
        found(interval=None, n=4), family=family
    )
    assert "Holm" not in verdict(found(), family=Family("holm", 1, ""))


def test_a_verdict_says_why_its_test_disagrees_with_its_interval():
    plain = Family("holm", 1, "")
    unclear = found(decisive=False, p=0.0625)

    assert (
        "; the interval excludes 0, but only 5 queries differ, which cannot give a p below "
        "0.0625); " in verdict(unclear._replace(differing=5), family=plain)
    )
    assert "; the interval excludes 0, but the test decides); " in verdict(unclear, family=plain)
    assert "; the interval excludes 0, but" not in verdict(
        found(decisive=False, interval=(-0.01, 0.03)), family=plain
    )
    assert (
        "; the interval, which is not corrected for several tests, excludes 0, but the test "
        "decides); " in verdict(unclear, family=Family("holm", 3, "over 3 pairs"))
    )
    assert "; the interval includes 0, but the test decides" in verdict(
        found(interval=(-0.01, 0.03)), family=plain
    )
    assert "but the test decides" not in verdict(found(), family=plain)


def test_five_queries_that_differ_cannot_decide():
    one = [0.5] * 55 + [0.9] * 5
    values = [values_of("A", "AP", [0.5] * 60), values_of("B", "AP", one)]

    result = compare_values(values)

    assert result.differences[0]["ci_low"] > 0
    assert "only 5 queries differ, which cannot give a p below 0.0625" in result.verdicts[0]
