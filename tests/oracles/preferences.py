"""Preference measures of trec_eval (Carterette, Bennett, Chickering and Dumais 2008; Buckley 2008).

`judgments` holds rows (group, subgroup, item, level). Within a subgroup an item of higher level is
preferred to one
of lower level. If a group has several subgroups its preferences also chain: a over b and b over c
give a over c.
A preference is fulfilled if its better item is retrieved and the other is ranked below it or not
retrieved.
It is 'ret' if both items are retrieved, 'imp' (implied) if one is, 'none' if neither is.

trec_eval breaks equal scores by item id *ascending* here, descending everywhere else; the ranking
is given resolved.
"""

from collections.abc import Iterable
from functools import lru_cache

from oracles.grading import Ranking

Row = tuple[str, str, str, float]
Judgments = list[Row]
Rows = tuple[Row, ...]
Pair = tuple[str, str]
Ranks = dict[str, int]
Outcomes = dict[str, tuple[int, int]]

ALL, IMPLIED, RETRIEVED = ("ret", "imp", "none"), ("ret", "imp"), ("ret",)


def by_group(judgments: Judgments) -> list[Rows]:
    """The rows of each group."""
    groups: dict[str, Judgments] = {}
    for row in judgments:
        groups.setdefault(row[0], []).append(row)
    return [tuple(rows) for rows in groups.values()]


def has_subgroups(rows: Rows) -> bool:
    """Whether the group's rows fall into several subgroups."""
    return len({row[1] for row in rows}) > 1


@lru_cache(maxsize=4)
def preferences(rows: Rows) -> set[Pair]:
    """The (better, worse) pairs of one group, chained if it has several subgroups; cached, there
    may be many.
    """
    pairs = {
        (better, worse)
        for _, subgroup, better, level in rows
        for _, other_subgroup, worse, other_level in rows
        if level > other_level and subgroup == other_subgroup
    }
    return chained(pairs) if has_subgroups(rows) else pairs


def chained(pairs: set[Pair]) -> set[Pair]:
    """The pairs and all that follow from a over b and b over c; a contradiction is refused, as
    trec_eval does.
    """
    closed = set(pairs)
    grew = True
    while grew:
        below: dict[str, set[str]] = {}
        for better, worse in closed:
            below.setdefault(better, set()).add(worse)
        longer = {(a, c) for a, b in closed for c in below.get(b, ())}
        grew = not longer <= closed
        closed |= longer
    if any(better == worse for better, worse in closed):
        raise ValueError("contradicting preferences within a group")
    return closed


def ranks(ranking: Ranking) -> Ranks:
    """The rank of each item."""
    return {item: rank for rank, item in enumerate(ranking, start=1)}


def kind(pair: Pair, rank: Ranks) -> str:
    """'ret', 'imp' or 'none': how many of the two items are retrieved."""
    return ("none", "imp", "ret")[(pair[0] in rank) + (pair[1] in rank)]


def is_fulfilled(pair: Pair, rank: Ranks) -> bool:
    """Whether the better item is retrieved, and above the other one if that is retrieved too."""
    better, worse = pair
    if better not in rank:
        return False
    return worse not in rank or rank[better] < rank[worse]


def outcomes(pairs: Iterable[Pair], ranking: Ranking) -> Outcomes:
    """Of each kind how many preferences are fulfilled and how many there are."""
    rank = ranks(ranking)
    fulfilled = dict.fromkeys(ALL, 0)
    possible = dict.fromkeys(ALL, 0)
    for pair in pairs:
        which = kind(pair, rank)
        possible[which] += 1
        fulfilled[which] += is_fulfilled(pair, rank)
    return {which: (fulfilled[which], possible[which]) for which in ALL}


@lru_cache(maxsize=4)
def group_outcomes(rows: Rows, ranking: tuple[str, ...]) -> Outcomes:
    """The outcomes of all preferences of a group; cached like them."""
    return outcomes(preferences(rows), list(ranking))


def tally(found: Outcomes, kinds: tuple[str, ...]) -> tuple[int, int]:
    """Fulfilled and possible preferences of these kinds."""
    return sum(found[which][0] for which in kinds), sum(found[which][1] for which in kinds)


def tallies(
    ranking: Ranking, judgments: Judgments, kinds: tuple[str, ...]
) -> list[tuple[int, int]]:
    """The tally of each group."""
    return [tally(group_outcomes(rows, tuple(ranking)), kinds) for rows in by_group(judgments)]


def pooled(ranking: Ranking, judgments: Judgments, kinds: tuple[str, ...]) -> float:
    """Fulfilled over possible, summed over the groups; 0 if none is possible."""
    counts = tallies(ranking, judgments, kinds)
    possible = sum(count[1] for count in counts)
    return sum(count[0] for count in counts) / possible if possible else 0.0


def averaged(ranking: Ranking, judgments: Judgments, kinds: tuple[str, ...]) -> float:
    """Mean over the groups of fulfilled over possible, a group without possible ones counting 0."""
    counts = tallies(ranking, judgments, kinds)
    shares = [fulfilled / possible if possible else 0.0 for fulfilled, possible in counts]
    return sum(shares) / len(shares) if shares else 0.0


def per_pair(ranking: Ranking, judgments: Judgments, kinds: tuple[str, ...]) -> float:
    """Mean over the pairs of items somebody prefers one of, of the share of groups whose preference
    is fulfilled.
    """
    rank = ranks(ranking)
    stated: dict[Pair, int] = {}
    fulfilled: dict[Pair, int] = {}
    for rows in by_group(judgments):
        for better, worse in preferences(rows):
            if kind((better, worse), rank) in kinds:
                items = (better, worse) if better < worse else (worse, better)
                stated[items] = stated.get(items, 0) + 1
                fulfilled[items] = fulfilled.get(items, 0) + is_fulfilled((better, worse), rank)
    shares = [fulfilled[items] / groups for items, groups in stated.items()]
    return sum(shares) / len(shares) if shares else 0.0


def PrefsNumPoss(ranking: Ranking, judgments: Judgments) -> float:
    """All preferences of all groups, retrieved or not (prefs_num_prefs_poss); summed over
    queries.
    """
    return float(sum(possible for _, possible in tallies(ranking, judgments, ALL)))


def PrefsNumFul(ranking: Ranking, judgments: Judgments) -> float:
    """Fulfilled preferences of all groups (prefs_num_prefs_ful); summed over queries."""
    return float(sum(fulfilled for fulfilled, _ in tallies(ranking, judgments, ALL)))


def PrefsNumFulRet(ranking: Ranking, judgments: Judgments) -> float:
    """Fulfilled preferences between retrieved items (prefs_num_prefs_ful_ret); summed over
    queries.
    """
    return float(sum(fulfilled for fulfilled, _ in tallies(ranking, judgments, RETRIEVED)))


def PrefsSimp(ranking: Ranking, judgments: Judgments) -> float:
    """Fulfilled over all preferences, groups pooled; 0 without preferences (prefs_simp)."""
    return pooled(ranking, judgments, ALL)


def PrefsSimpImp(ranking: Ranking, judgments: Judgments) -> float:
    """PrefsSimp over the preferences with at least one item retrieved (prefs_simp_imp)."""
    return pooled(ranking, judgments, IMPLIED)


def PrefsSimpRet(ranking: Ranking, judgments: Judgments) -> float:
    """PrefsSimp over the preferences with both items retrieved (prefs_simp_ret)."""
    return pooled(ranking, judgments, RETRIEVED)


def PrefsAvgjg(ranking: Ranking, judgments: Judgments) -> float:
    """Mean over the groups of fulfilled over all preferences (prefs_avgjg)."""
    return averaged(ranking, judgments, ALL)


def PrefsAvgjgImp(ranking: Ranking, judgments: Judgments) -> float:
    """PrefsAvgjg over the preferences with at least one item retrieved (prefs_avgjg_imp)."""
    return averaged(ranking, judgments, IMPLIED)


def PrefsAvgjgRet(ranking: Ranking, judgments: Judgments) -> float:
    """PrefsAvgjg over the preferences with both items retrieved (prefs_avgjg_ret)."""
    return averaged(ranking, judgments, RETRIEVED)


def PrefsPair(ranking: Ranking, judgments: Judgments) -> float:
    """Mean over the stated pairs of items of the share of groups satisfied; 0 if not retrieved
    (prefs_pair).
    """
    return per_pair(ranking, judgments, ALL)


def PrefsPairImp(ranking: Ranking, judgments: Judgments) -> float:
    """PrefsPair over the pairs with at least one item retrieved (prefs_pair_imp)."""
    return per_pair(ranking, judgments, IMPLIED)


def PrefsPairRet(ranking: Ranking, judgments: Judgments) -> float:
    """PrefsPair over the pairs with both items retrieved (prefs_pair_ret)."""
    return per_pair(ranking, judgments, RETRIEVED)


def levels(rows: Rows) -> dict[str, float]:
    """The level of each item of a group, the last one if several subgroups name it."""
    return {item: level for _, _, item, level in sorted(rows, key=lambda row: row[1])}


def in_order(items: Iterable[str], ranking: Ranking) -> list[str]:
    """Items as ranked, those not retrieved last by id."""
    chosen = set(items)
    return [item for item in ranking if item in chosen] + sorted(chosen - set(ranking))


def without(dropped: set[str], rows: Rows) -> list[Pair]:
    """The preferences of a group that name no dropped item."""
    return [
        (better, worse)
        for better, worse in preferences(rows)
        if better not in dropped and worse not in dropped
    ]


def balanced(rows: Rows, ranking: Ranking, *, ret: bool, quirk: bool) -> tuple[float, float]:
    """Fulfilled and possible preferences of a group as if it had as many non-relevant (level 0) as
    relevant items.

    Too few: the missing ones count as judged and not retrieved. Too many: only the first ones in
    rank order count.
    With `ret` all of this is restricted to retrieved items.
    """
    level, found = levels(rows), set(ranking)
    all_relevant = [item for item in level if level[item] > 0]
    relevant = [item for item in all_relevant if item in found or not ret]
    other = in_order(
        [item for item in level if level[item] <= 0 and (item in found or not ret)], ranking
    )
    kinds = RETRIEVED if ret else ALL
    missing = len(relevant) - len(other)
    if missing >= 0:
        fulfilled, possible = tally(group_outcomes(rows, tuple(ranking)), kinds)
        retrieved = sum(item in found for item in relevant)
        owed = len(all_relevant) if quirk else len(relevant)
        return fulfilled + retrieved * missing, possible + owed * missing
    if not quirk:
        dropped = set(other[len(relevant) :])
        return tally(outcomes(without(dropped, rows), ranking), kinds)
    if has_subgroups(rows):
        # trec_eval keeps as many as there are relevant items, retrieved or not, and only level 0 is
        # dropped.
        zeros = [item for item in other if level[item] == 0]
        dropped = set(zeros[len(all_relevant) :])
        return tally(outcomes(without(dropped, rows), ranking), kinds)
    # trec_eval compares *every* item with the kept ones, the non-relevant among themselves and with
    # themselves too.
    lowest = min(level.values())
    last = [item for item in other if level[item] == lowest]
    kept = last[: len(relevant)]
    pairs_above = [pair for pair in preferences(rows) if level[pair[1]] > lowest]
    fulfilled, possible = tally(outcomes(pairs_above, ranking), kinds)
    place = ranks(in_order([item for item in level if item in found or not ret], ranking))
    for better in place:
        for worse in kept:
            possible += 1
            fulfilled += better in found and place[better] < place[worse]
    return fulfilled, possible


def balanced_mean(ranking: Ranking, judgments: Judgments, *, ret: bool, quirk: bool) -> float:
    """Mean over the groups of the balanced share; with `quirk` 0 as soon as one group has nothing
    possible.
    """
    shares = []
    for rows in by_group(judgments):
        fulfilled, possible = balanced(rows, ranking, ret=ret, quirk=quirk)
        if possible == 0 and quirk:
            return 0.0  # 0 / 0 in C: the sum is not a number, so it is not above 0 and the value stays 0.  # noqa: E501
        shares.append(fulfilled / possible if possible else 0.0)
    return sum(shares) / len(shares) if shares else 0.0


def PrefsAvgjgRnonrel(ranking: Ranking, judgments: Judgments, *, quirk: bool = True) -> float:
    """PrefsAvgjg as if each group had as many non-relevant as relevant items (prefs_avgjg_Rnonrel).

    quirk reproduces trec_eval: with too many non-relevant items in a group without subgroups it
    counts each kept one
    against all others of level 0 and against itself, and a group without preferences makes the
    value 0. Levels below
    0 beside level 0 are undefined there (it may read past the lowest class); here only the lowest
    class is kept from.
    """
    return balanced_mean(ranking, judgments, ret=False, quirk=quirk)


def PrefsAvgjgRnonrelRet(ranking: Ranking, judgments: Judgments, *, quirk: bool = True) -> float:
    """PrefsAvgjgRnonrel among the retrieved items (prefs_avgjg_Rnonrel_ret).

    quirk adds to PrefsAvgjgRnonrel's that filled-up non-relevant items are owed to all relevant
    items, not only the
    retrieved ones.
    """
    return balanced_mean(ranking, judgments, ret=True, quirk=quirk)
