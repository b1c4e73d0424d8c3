"""Interleaving: lists and credit against exhaustion and a peer, fairness of a run against itself,
and what is refused.
"""

import json
import random
from collections import Counter
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest

import rankwell as rw
from oracles import interleaving as oracle
from rankwell.data.catalogue import result_kind
from rankwell.errors import BadInput, BadUsage, DuplicateItem, NothingToEvaluate
from rankwell.tasks.clicks.preference import (
    CreditFunction,
    InterleavedList,
    InterleavingOptions,
    Method,
    allowed_lists,
    balanced,
    credit,
    optimised,
    probabilistic,
    team_draft,
)
from tasks.clicks import smallest

PEERS = json.loads(
    (Path(__file__).parents[2] / "golden" / "logs.json").read_text(encoding="utf-8")
)["cases"]["interleaved"]
METHODS: tuple[Method, ...] = get_args(Method)
A, B = "abcdef", "cafbge"


def pairs(seed: int) -> tuple[list[str], list[str]]:
    """Two rankings that share some of their items."""
    rng = random.Random(seed)
    return rng.sample("abcdefg", 5), rng.sample("abcdefg", 5)


def shown_as(method: Method, items: Any, marks: Any) -> InterleavedList:
    """A list of two runs."""
    return InterleavedList("q", "q", method, ("one", "two"), tuple(items), tuple(marks))


def clicks_on(n: int) -> list[tuple[int, ...]]:
    """All sets of places of a list."""
    return [each for size in range(n + 1) for each in combinations(range(n), size)]


# ---- against exhaustion
# --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(6))
def test_balanced_lists_and_their_credit_agree_with_the_oracle(seed: int):
    a, b = pairs(seed)
    for first in (0, 1):
        items, ranks = balanced(a, b, 4, first=first)
        assert tuple(items) == oracle.balanced(a, b, 4, first)
        for clicks in clicks_on(4):
            found = credit(shown_as("balanced", items, ranks), clicks)
            assert (found.first, found.second) == oracle.balanced_credit(a, b, tuple(items), clicks)


def test_team_draft_shows_every_list_as_often_as_the_oracle():
    a, b = pairs(1)
    expected = {(shown, teams): chance for shown, teams, chance in oracle.team_drafts(a, b, 4)}
    assert sum(expected.values()) == 1

    draw = np.random.Generator(np.random.PCG64(0))
    found = Counter(
        (tuple(items), tuple(teams))
        for items, teams in (team_draft(a, b, 4, draw) for _ in range(2000))
    )

    assert set(found) == set(expected)
    assert all(abs(found[each] / 2000 - chance) < 0.04 for each, chance in expected.items())


def test_probabilistic_shows_every_list_as_often_as_the_oracle():
    a, b = ["a", "b", "c"], ["c", "a", "d"]
    expected = oracle.probabilistic(a, b, 2, 2)
    assert sum(expected.values()) == 1

    draw = np.random.Generator(np.random.PCG64(0))
    found = Counter(tuple(probabilistic(a, b, 2, draw, tau=2.0)[0]) for _ in range(2000))

    assert set(found) <= set(expected)
    assert all(abs(found[each] / 2000 - chance) < 0.04 for each, chance in expected.items())


@pytest.mark.parametrize("seed", range(3))
def test_probabilistic_credit_is_that_over_all_teams(seed: int):
    a, b = pairs(seed)
    items, shares = probabilistic(a, b, 4, np.random.Generator(np.random.PCG64(seed)))

    for clicks in clicks_on(4):
        first, second, wins = oracle.probabilistic_credit(a, b, tuple(items), clicks, 3)
        found = credit(shown_as("probabilistic", items, shares), clicks)
        assert tuple(found) == pytest.approx((float(first), float(second), float(wins)), abs=1e-12)


@pytest.mark.parametrize("seed", range(6))
def test_optimised_interleaving_allows_the_lists_of_the_oracle(seed: int):
    a, b = pairs(seed)

    found = allowed_lists(a[:4], b[:4])

    assert len(set(found)) == len(found)
    assert set(found) == oracle.allowed(a[:4], b[:4])


@pytest.mark.parametrize("function", get_args(CreditFunction))
@pytest.mark.parametrize("seed", range(4))
def test_optimised_interleaving_is_unbiased_at_every_rank(seed: int, function: CreditFunction):
    a, b = pairs(seed)

    found = optimised(a, b, credit=function)

    assert found is not None
    assert found.probabilities.sum() == pytest.approx(1)
    assert (found.probabilities >= 0).all()
    assert found.probabilities @ found.credits == pytest.approx(np.zeros(5), abs=1e-7)


# ---- fairness
# --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_a_run_against_itself_is_preferred_by_no_click(method: Method):
    run = {"q": list("abcdef")}
    lists = rw.interleave(run, run, method=method, depth=4, samples=300)
    rng = random.Random(3)

    differences = []
    for each in lists:
        found = credit(each, sorted(rng.sample(range(4), rng.randint(0, 4))))
        differences.append(found.first - found.second)

    if method == "team-draft":
        assert abs(np.mean(differences)) < 3 * np.std(differences) / 300**0.5
    else:
        assert differences == pytest.approx([0] * 300, abs=1e-12)


def test_team_draft_credits_random_clicks_alike_exactly():
    a, b = pairs(2)

    for place in range(4):
        total = Fraction(0)
        for shown, teams, chance in oracle.team_drafts(a, b, 4):
            found = credit(shown_as("team-draft", shown, teams), (place,))
            total += chance * Fraction(found.first - found.second)
        assert total == 0


def test_only_balanced_interleaving_prefers_a_run_moved_by_one_place_for_clicks_at_random():
    a, b, places = list("abc"), list("bca"), range(3)

    def total(shown: InterleavedList) -> float:
        return (
            sum(each.first - each.second for each in (credit(shown, (place,)) for place in places))
            / 3
        )

    lists = [balanced(a, b, 3, first=first) for first in (0, 1)]
    assert sum(total(shown_as("balanced", *each)) for each in lists) / 2 == pytest.approx(-1 / 3)
    drafts = oracle.team_drafts(a, b, 3)
    assert (
        sum(
            float(chance) * total(shown_as("team-draft", shown, teams))
            for shown, teams, chance in drafts
        )
        == 0
    )
    expected = 0.0
    for shown, chance in oracle.probabilistic(a, b, 3, 3).items():
        shares = [
            float(
                sum(
                    each for teams, each in oracle.team_chances(a, b, shown, 3) if teams[place] == 0
                )
            )
            for place in places
        ]
        expected += float(chance) * total(shown_as("probabilistic", shown, shares))
    assert expected == pytest.approx(0, abs=1e-12)


def test_the_order_of_rows_of_clicks_changes_nothing():
    lists = rw.interleave(
        {f"q{n}": list("abc") for n in range(12)}, {f"q{n}": list("cab") for n in range(12)}
    )
    rows = [(each.name, item) for each in lists for item in each.items[:2]]
    other = random.Random(0).sample(rows, len(rows))

    found, again = (
        rw.evaluate_interleaving(
            lists[::step], dict(zip(("query", "item"), zip(*each, strict=True), strict=True))
        )
        for step, each in ((1, rows), (-1, other))
    )

    assert [dict(row) for row in found.differences] == [dict(row) for row in again.differences]


@pytest.mark.parametrize("method", METHODS)
def test_the_better_run_wins(method: Method):
    queries = [f"q{number}" for number in range(40)]
    good, bad = (
        {query: list("xabcdefg") for query in queries},
        {query: list("abcdefgx") for query in queries},
    )
    lists = rw.interleave(good, bad, method=method, depth=5, names=("good", "bad"))
    clicked = [each.query for each in lists if "x" in each.items]

    found = rw.evaluate_interleaving(lists, {"query": clicked, "item": ["x"] * len(clicked)})

    (wins, _) = found.differences
    assert (wins["run"], wins["against"], wins["label"]) == ("bad", "good", "Difference(Wins)")
    assert wins["mean"] < 0
    assert wins["p"] < 0.01


# ---- the peer
# --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", PEERS, ids=lambda case: case["method"])
def test_credit_is_that_of_the_package_interleaving(case: dict[str, Any]):
    a, b, items, clicks = case["a"], case["b"], case["items"], case["clicks"]
    ranks = [{item: rank for rank, item in enumerate(each, 1)} for each in (a, b)]
    if case["method"] == "Balanced":
        assert items in [balanced(a, b, len(items), first=first)[0] for first in (0, 1)]
        found = credit(
            shown_as(
                "balanced", items, [(ranks[0].get(each), ranks[1].get(each)) for each in items]
            ),
            clicks,
        )
    elif case["method"] == "TeamDraft":
        found = credit(shown_as("team-draft", items, case["teams"]), clicks)
    elif case["method"] == "Probabilistic":
        chances = oracle.team_chances(a, b, tuple(items), 3)
        shares = [
            float(sum(chance for teams, chance in chances if teams[place] == 0))
            for place in range(len(items))
        ]
        found = credit(shown_as("probabilistic", items, shares), clicks)
        # The package leaves out ties, and does not divide by the probability of the list.
        one, other = (score / case["total"] for score in case["scores"])
        assert found.wins == pytest.approx(one + (1 - one - other) / 2)
        return
    else:
        lists = optimised(a, b)
        assert lists is not None
        assert tuple(items) in lists.item_lists
        found = credit(
            shown_as(
                "optimised", items, lists.credits[lists.item_lists.index(tuple(items))].tolist()
            ),
            clicks,
        )
        assert found.first - found.second == pytest.approx(case["scores"][0] - case["scores"][1])
        return
    assert [found.first, found.second] == case["scores"]


# ---- lists and files
# --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_lists_depend_on_their_query_and_the_seed_alone(method: Method):
    runs = [
        {"q1": list("abcd"), "q2": list("dcba"), "q3": list("bdac")},
        {"q1": list("badc"), "q2": list("abcd"), "q3": list("bcda")},
    ]
    some = [{query: run[query] for query in ("q3", "q1")} for run in runs]

    every, part = (rw.interleave(*each, method=method, samples=3, seed=5) for each in (runs, some))

    assert part == [each for each in every if each.query != "q2"]
    assert [each.name for each in part[:3]] == ["q1#1", "q1#2", "q1#3"]
    assert every != rw.interleave(*runs, method=method, samples=3, seed=6)


def test_ties_are_broken_as_in_every_other_command():
    (found,) = rw.interleave(
        {"q": {"a": 1.0, "b": 1.0}}, {"q": {"a": 1.0, "b": 1.0}}, method="balanced"
    )

    assert found.items == ("b", "a")


@pytest.mark.parametrize("method", METHODS)
def test_files_hold_what_credit_needs(
    method: Method,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    smallest.write(tmp_path)
    monkeypatch.chdir(tmp_path)
    from rankwell.cli import main

    monkeypatch.setattr(
        "sys.argv",
        [
            "rankwell",
            "clicks",
            "interleave",
            "a.run",
            "b.run",
            "-o",
            "lists.jsonl",
            "--method",
            method,
            "--depth",
            "3",
        ],
    )
    assert main() == 0
    lists = rw.interleave("a.run", "b.run", method=method, depth=3, names=("a", "b"))
    clicks = {"query": [each.query for each in lists], "item": [each.items[0] for each in lists]}

    assert str(rw.evaluate_interleaving("lists.jsonl", clicks)) == str(
        rw.evaluate_interleaving(lists, clicks)
    )
    Path("clicks.csv").write_text(
        "query,item\n" + "".join(f"{q},{i}\n" for q, i in zip(*clicks.values(), strict=True))
    )
    monkeypatch.setattr("sys.argv", ["rankwell", "clicks", "credit", "lists.jsonl", "clicks.csv"])
    assert main() == 0
    assert "Wins" in capsys.readouterr().out


def test_impressions_of_one_query_are_flipped_together():
    lists = rw.interleave(
        {f"q{n}": list("ab") for n in range(12)}, {f"q{n}": list("ba") for n in range(12)}
    )
    rows = [(each.name, each.items[0], str(number)) for each in lists for number in range(3)]
    clicks = dict(
        zip(("query", "item", "impression"), map(list, zip(*rows, strict=True)), strict=True)
    )

    found = rw.evaluate_interleaving(lists, clicks)

    assert found.rules["test"] == "randomisation"
    assert found.differences[0]["clusters"] == 12


def test_unclicked_rows_show_a_list_and_others_do_not_count():
    lists = rw.interleave(
        {f"q{n}": list("ab") for n in range(3)}, {f"q{n}": list("ba") for n in range(3)}
    )
    clicks = {"query": ["q0", "q0", "q1"], "item": ["a", "b", "a"], "click": [1, 0, 0]}

    found = rw.evaluate_interleaving(lists, clicks)

    assert found.differences[0]["n"] == 2
    assert "1 of 3 lists have no row in the clicks and do not count" in found.findings
    assert "1 of 2 impressions are ties, 1 of them without a click" in found.findings


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"depth": 0}, "positive integers"),
        ({"samples": 0}, "positive integers"),
        ({"method": "probabilistic(tau=21)"}, "from 0 to 20"),
        ({"method": "probabilistic(tau=x)"}, "takes a number"),
        ({"method": "team-draft(tau=2)"}, "team-draft has no parameter 'tau'"),
        ({"method": "probabilistic(credit=linear)"}, "probabilistic has no parameter 'credit'"),
        ({"method": "optimised(credit=squared)"}, "takes 'inverse' or 'linear'"),
        ({"method": "probabilistic(tau"}, "the form is name"),
        ({"method": "random"}, "team-draft"),
        ({"names": ("x", "x")}, "two different names"),
        ({"depth": 13, "method": "optimised"}, "more than 4096 lists"),
    ],
)
def test_choices_out_of_range_are_refused(given: dict[str, Any], message: str):
    items = [f"d{number}" for number in range(30)]

    with pytest.raises(BadUsage, match=message):
        rw.interleave({"q": items[:15]}, {"q": items[15:]}, **given)
    assert InterleavingOptions().method == "team-draft"


def test_runs_without_a_query_in_common_are_refused():
    with pytest.raises(NothingToEvaluate, match="no query in common"):
        rw.interleave({"q": ["a"]}, {"r": ["a"]})


LINE = (
    '{"list": "q", "query": "q", "method": "team-draft", "runs": ["a", "b"], "items": ["x", '
    '"y"], "teams": [0, 1]}'
)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "[0, 1]",
            "[0, 2]",
            r"lists.jsonl:1: teams is \[0, 2\]; expected one of each of the 2 items",
        ),
        ("[0, 1]", "[0]", "teams is"),
        (', "teams": [0, 1]', "", "teams is missing"),
        ('["x", "y"]', '["x", "x"]', "items is"),
        ('["a", "b"]', '["a"]', "runs is"),
        ("team-draft", "draft", "method is 'draft'"),
        ("team-draft", "balanced", "ranks is missing"),
        ('"list": "q"', '"list": 1', "list is 1; expected a string"),
        (LINE, "[]", "expected a JSON object"),
        (LINE, "{", "lists.jsonl:1"),
        (LINE, "", "no interleaved list"),
        (LINE, f"{LINE}\n{LINE}", "lists.jsonl:2: the list 'q' appears twice"),
        (
            LINE,
            LINE + "\n" + LINE.replace('"a"', '"c"').replace('list": "q', 'list": "r'),
            "lists of one call",
        ),
    ],
)
def test_bad_lists_are_named_with_their_place(tmp_path: Path, old: str, new: str, message: str):
    (tmp_path / "lists.jsonl").write_text(LINE.replace(old, new), encoding="utf-8")

    with pytest.raises((BadInput, DuplicateItem, NothingToEvaluate), match=message):
        rw.evaluate_interleaving(tmp_path / "lists.jsonl", {"query": ["q"], "item": ["x"]})


@pytest.mark.parametrize(
    ("clicks", "message"),
    [
        (
            {"query": ["r"], "item": ["x"]},
            "'r'; expected the name of one of the 1 lists, such as 'q'",
        ),
        ({"query": ["q"], "item": ["z"]}, "'z'; expected an item of the list 'q'"),
        ({"query": ["q"]}, "no column for the item"),
        (
            {"query": ["q"], "item": ["x"], "click": ["yes"]},
            "'yes'; expected 1 for a clicked item or 0",
        ),
        *(
            (
                {"query": ["q", "q"], "item": ["x", "x"], "click": [1, click]},
                f"row 2, column 'click': {click}; expected 1 for",
            )
            for click in (-1, 2, 0.5)
        ),
    ],
)
def test_bad_clicks_are_named_with_their_row(tmp_path: Path, clicks: dict[str, Any], message: str):
    (tmp_path / "lists.jsonl").write_text(LINE, encoding="utf-8")

    with pytest.raises(BadInput, match=message):
        rw.evaluate_interleaving(tmp_path / "lists.jsonl", clicks)


def test_the_results_of_clicks_count_impressions():
    lists = rw.interleave({"q": ["a", "b"]}, {"q": ["b", "a"]}, names=("old", "new"))
    clicks = {"query": ["q", "q"], "item": ["a", "b"], "impression": ["1", "2"]}

    result = rw.evaluate_interleaving(lists, clicks)

    assert result_kind(result.task).noun == ("impression", "impressions")
    assert result.counts["old"] == {"impressions": 2, "queries": 1}
