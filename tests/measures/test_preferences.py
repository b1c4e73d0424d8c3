"""Preferences: what rows state, what follows from them, and trec_eval's own numbers."""

from pathlib import Path
from random import Random

import numpy as np
import pytest

from oracles import preferences as oracles
from rankwell import parse_measure, preference_rankings
from rankwell.data.preferences import PreferenceRankings, Preferences
from rankwell.errors import BadInput, DuplicateItem
from rankwell.io.formats import Request, find_hits
from rankwell.io.trec import read_judgments, read_preferences
from rankwell.measures import preferences as measures
from rankwell.store import Source

NOT_MEASURES = {"runid", "num_q"}


def stated(preferences: Preferences) -> set[tuple[str, str, str]]:
    """(group number, better, worse) of the first query."""
    names = preferences.judgments.items
    return {
        (str(number), names[group.items[row]], names[group.items[column]])
        for number, group in enumerate(preferences.by_group[0])
        for row, column in zip(*(each.tolist() for each in np.nonzero(group.better)), strict=True)
    }


def test_a_subgroup_prefers_every_higher_level_to_every_lower_one() -> None:
    levels = {"1": 3.0, "2": 2.0, "3": 0.0, "4": 6.0, "5": 0.0, "6": 2.0}

    found = stated(Preferences.from_dict({"q": {"u": {"0": levels}}}))

    assert len(found) == 13
    assert ("0", "2", "6") not in found


def test_preferences_of_several_subgroups_chain() -> None:
    # The example in trec_eval's get_prefs.c: 1>2, 1>3, 2>3, 2>4, and so 1>4; nothing between 3 and
    # 4.
    two = {"s1": {"1": 3.0, "2": 2.0, "3": 1.0}, "s2": {"2": 5.0, "4": 4.0}}

    found = stated(Preferences.from_dict({"q": {"u": two}}))

    assert found == {("0", *pair) for pair in ("12", "13", "23", "24", "14")}


def test_a_long_chain_is_followed_to_its_end() -> None:
    links = {str(step): {f"d{step}": 1.0, f"d{step + 1}": 0.5} for step in range(12)}

    assert len(stated(Preferences.from_dict({"q": {"u": links}}))) == 13 * 12 / 2


def test_preferences_that_contradict_within_a_group_are_refused() -> None:
    circle = {"s1": {"a": 2.0, "b": 1.0}, "s2": {"b": 2.0, "c": 1.0}, "s3": {"c": 2.0, "a": 1.0}}

    with pytest.raises(
        BadInput, match=r"query 'q', group 'u': items 'a' and 'b' are each preferred to the other"
    ):
        Preferences.from_dict({"q": {"u": circle}})


def test_groups_may_contradict_each_other() -> None:
    two = {"u": {"0": {"a": 1.0, "b": 0.0}}, "v": {"0": {"b": 1.0, "a": 0.0}}}

    assert stated(Preferences.from_dict({"q": two})) == {("0", "a", "b"), ("1", "b", "a")}


def test_an_item_that_is_relevant_in_one_subgroup_only_is_refused() -> None:
    two = {"s1": {"a": 2.0, "b": 1.0}, "s2": {"a": 2.0, "b": 0.0}}

    with pytest.raises(BadInput, match=r"item 'b' has level 0"):
        Preferences.from_dict({"q": {"u": two}})


def test_an_item_twice_in_a_subgroup_is_refused_with_both_rows() -> None:
    with pytest.raises(
        DuplicateItem,
        match=r"query 'q', group 'u', subgroup '0' names item 'a' twice, in rows 1 and 3",
    ):
        Preferences.from_rows(
            ["q", "q", "q"], ["u"] * 3, ["0"] * 3, ["a", "b", "a"], [1.0, 0.0, 1.0]
        )


def test_a_level_that_is_not_a_finite_number_is_refused() -> None:
    with pytest.raises(BadInput, match=r"query 'q', item 'b': the level is nan"):
        Preferences.from_rows(["q", "q"], ["u"] * 2, ["0"] * 2, ["a", "b"], [1.0, float("nan")])


def test_ties_are_broken_by_id_ascending_as_trec_eval_does_with_preferences_alone() -> None:
    leveled = {"q": {"u": {"0": {"a": 1.0, "b": 0.0}}}}

    assert measures.prefs_simp(
        preference_rankings(leveled, {"q": {"a": 1.0, "b": 1.0}})
    ).tolist() == [1.0]


def test_cutting_makes_the_items_below_not_retrieved() -> None:
    leveled, run = (
        {"q": {"u": {"0": {"a": 2.0, "b": 1.0, "c": 0.0}}}},
        {"q": {"c": 3.0, "b": 2.0, "a": 1.0}},
    )
    view = preference_rankings(leveled, run).cut(2)

    assert view.ranks.tolist() == [0, 2, 1]
    assert measures.prefs_num_ful(view).tolist() == [0.0]
    assert measures.prefs_num_ful_ret(
        preference_rankings(leveled, {"q": {"b": 2.0, "c": 1.0}})
    ).tolist() == [1.0]


def random_rows(random: Random) -> list[tuple[str, str, str, float]]:
    """Rows of up to three groups; in a group with subgroups levels agree, as they must."""
    rows = []
    for group in "uvw"[: random.randint(1, 3)]:
        levels = {f"d{item}": float(random.choice((0, 0, 0, 1, 2))) for item in range(12)}
        for subgroup in "123"[: random.choice((1, 1, 3))]:
            rows += [
                (group, subgroup, item, levels[item])
                for item in random.sample(sorted(levels), random.randint(2, 9))
            ]
    return rows


@pytest.mark.parametrize("name", [name for name in vars(oracles) if name.startswith("Prefs")])
def test_a_measure_agrees_with_its_oracle_where_few_are_retrieved_and_many_not_relevant(
    name: str,
) -> None:
    random = Random(name)
    rows = {f"q{number}": random_rows(random) for number in range(40)}
    run = {
        query: {
            f"d{item}": -float(random.random())
            for item in random.sample(range(16), random.randint(0, 16))
        }
        for query in rows
    }
    columns = zip(*[(query, *row) for query, each in rows.items() for row in each], strict=True)
    view = preference_rankings(Preferences.from_rows(*map(list, columns)), run)

    for quirk in ({}, {"quirk": False}) if "Rnonrel" in name else ({},):
        values = parse_measure(name).with_parameters(**quirk)(view)
        wanted = [
            getattr(oracles, name)(
                sorted(run[query], key=lambda item: -run[query][item]), rows[query], **quirk
            )
            for query in view.queries
        ]
        assert values.tolist() == pytest.approx(wanted, abs=1e-12)


@pytest.mark.parametrize(
    ("truth", "run", "expected", "lines"),
    [
        ("prefs.test", "prefs.results.test", "out.test.prefs", 336),
        ("prefs.comment.test", "prefs.results.test", "out.test.prefs", 336),
        ("qrels.test", "results.test", "out.test.qrels_prefs", 42),
    ],
)
def test_the_measures_print_what_trec_eval_prints(
    shared: Path, truth: str, run: str, expected: str, lines: int
) -> None:
    folder = shared / "trec" / "trec_eval_v10"
    source = Source(folder / truth)
    as_preferences = truth.startswith("prefs")
    table = (
        read_preferences(source, Request(comments=True))
        if as_preferences
        else Preferences.from_judgments(read_judgments(source, Request(aspects="groups")))
    )
    hits = find_hits(
        Source(folder / run), table.judgments, format="trec", ties="id-asc", comments=True
    ).hits
    view = PreferenceRankings.join(table, hits)
    values: dict[str, dict[str, float]] = {}
    checked = 0

    for line in (folder / expected).read_text().splitlines():
        name, query, printed = line.rstrip().split("\t")
        name = name.strip()
        if name in NOT_MEASURES or query == "all":
            continue
        if name not in values:
            values[name] = dict(zip(view.queries, parse_measure(name)(view).tolist(), strict=True))
        assert f"{values[name][query]:.4f}" == f"{float(printed):.4f}", (name, query)
        checked += 1

    assert checked == lines
