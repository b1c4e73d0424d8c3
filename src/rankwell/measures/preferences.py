"""Preference measures: how many of the stated preferences a ranking fulfils.

A preference of one item over another is fulfilled if the better item is retrieved, and above the
other if that is retrieved too. Measures end in Ret where only preferences between two retrieved
items count, in Imp where one retrieved item is enough; the others count all. trec_eval breaks equal
scores by id ascending here, and descending everywhere else.
"""

from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from rankwell.data.preferences import PlacedGroup, PreferenceRankings, Tally, count_true, tally
from rankwell.data.registry import COUNT, Function, measure
from rankwell.data.tables import Bools, Floats, ratio

Kind = Literal["all", "one", "both"]

_SOURCE = "Carterette, Bennett, Chickering and Dumais 2008, Here or there; trec_eval "


def _prefs(name: str, word: str, **keywords: Any) -> Callable[[Function], Function]:
    """Registers a measure that trec_eval calls by this word."""
    return measure(name, source=f"{_SOURCE}{word}, Buckley 2008", aliases=word, **keywords)


def _of(counts: Tally, kind: Kind) -> Floats:
    """The counts of the preferences that a kind of measure looks at: all, with one item retrieved
    or more, with both.
    """
    return (
        counts.both_retrieved
        + (counts.one_retrieved if kind != "both" else 0.0)
        + (counts.none_retrieved if kind == "all" else 0.0)
    )


def _pooled(preferences: PreferenceRankings, kind: Kind) -> Floats:
    return ratio(*(preferences.sum_groups(_of(counts, kind)) for counts in preferences.tallies))


def _over_groups(preferences: PreferenceRankings, kind: Kind) -> Floats:
    shares = ratio(*(_of(counts, kind) for counts in preferences.tallies))
    return ratio(preferences.sum_groups(shares), np.diff(preferences.group_offsets))


def _over_pairs(preferences: PreferenceRankings, kind: Kind) -> Floats:
    return ratio(*(_of(counts, kind) for counts in preferences.pairs))


@_prefs(
    "PrefsNumPoss",
    "prefs_num_prefs_poss",
    scale=COUNT,
    summary="sum",
    exempt={"empty": "what is preferred does not depend on the ranking"},
)
def prefs_num_poss(preferences: PreferenceRankings) -> Floats:
    """Number of stated preferences, whether their items are retrieved or not.

    Number of preferences, for how much the judgments state:

        PrefsNumPoss = preferences, added up over the queries

    >>> from rankwell import preference_rankings
    >>> view = preference_rankings(
    ...     {"q": {"ann": {"0": {"a": 2, "b": 1, "c": 0}}}}, {"q": {"b": 2.0, "a": 1.0}}
    ... )
    >>> prefs_num_poss(view).tolist()
    [3.0]
    """
    return preferences.sum_groups(_of(preferences.tallies[1], "all"))


@_prefs("PrefsNumFul", "prefs_num_prefs_ful", scale=COUNT._replace(better="higher"), summary="sum")
def prefs_num_ful(preferences: PreferenceRankings) -> Floats:
    """Number of stated preferences that the ranking fulfils.

    Number of fulfilled preferences, for how many preferences a run gets right:

        PrefsNumFul = fulfilled preferences, added up over the queries

    >>> from rankwell import preference_rankings
    >>> view = preference_rankings(
    ...     {"q": {"ann": {"0": {"a": 2, "b": 1, "c": 0}}}}, {"q": {"b": 2.0, "a": 1.0}}
    ... )
    >>> prefs_num_ful(view).tolist()
    [2.0]
    """
    return preferences.sum_groups(_of(preferences.tallies[0], "all"))


@_prefs(
    "PrefsNumFulRet",
    "prefs_num_prefs_ful_ret",
    scale=COUNT._replace(better="higher"),
    summary="sum",
)
def prefs_num_ful_ret(preferences: PreferenceRankings) -> Floats:
    """Number of fulfilled preferences between two retrieved items.

    Number of fulfilled preferences among retrieved items, for short lists:

        PrefsNumFulRet = fulfilled preferences between two retrieved items, over all queries

    >>> from rankwell import preference_rankings
    >>> view = preference_rankings(
    ...     {"q": {"ann": {"0": {"a": 2, "b": 1, "c": 0}}}}, {"q": {"a": 2.0, "b": 1.0}}
    ... )
    >>> prefs_num_ful_ret(view).tolist()
    [1.0]
    """
    return preferences.sum_groups(_of(preferences.tallies[0], "both"))


@_prefs("PrefsSimp", "prefs_simp")
def prefs_simp(preferences: PreferenceRankings) -> Floats:
    """The share of all preferences that are fulfilled, pooled over groups; 0 if there are no
    preferences.

    Simple preferences, for judgments that say which of two items is better:

        PrefsSimp = (fulfilled preferences) / (preferences)

    >>> from rankwell import preference_rankings
    >>> view = preference_rankings(
    ...     {"q": {"ann": {"0": {"a": 2, "b": 1}}}}, {"q": {"b": 2.0, "a": 1.0}}
    ... )
    >>> prefs_simp(view).tolist()
    [0.0]
    """
    return _pooled(preferences, "all")


@_prefs("PrefsSimpImp", "prefs_simp_imp")
def prefs_simp_imp(preferences: PreferenceRankings) -> Floats:
    """The share of fulfilled preferences among those with at least one item retrieved, pooled over
    groups.

    Simple preferences with a retrieved item, for lists that may miss the better item:

        PrefsSimpImp = (fulfilled preferences) / (preferences with at least one retrieved item)

    >>> from rankwell import preference_rankings
    >>> view = preference_rankings(
    ...     {"q": {"ann": {"0": {"a": 2, "b": 1, "c": 0}}}}, {"q": {"b": 1.0}}
    ... )
    >>> prefs_simp_imp(view).tolist()
    [0.5]
    """
    return _pooled(preferences, "one")


@_prefs("PrefsSimpRet", "prefs_simp_ret")
def prefs_simp_ret(preferences: PreferenceRankings) -> Floats:
    """The share of fulfilled preferences among those between two retrieved items, pooled over
    groups.

    Simple preferences among retrieved items, for short lists:

        PrefsSimpRet = (fulfilled preferences) / (preferences between two retrieved items)

    >>> from rankwell import preference_rankings
    >>> view = preference_rankings(
    ...     {"q": {"ann": {"0": {"a": 2, "b": 1, "c": 0}}}}, {"q": {"a": 2.0, "b": 1.0}}
    ... )
    >>> prefs_simp_ret(view).tolist()
    [1.0]
    """
    return _pooled(preferences, "both")


@_prefs("PrefsAvgjg", "prefs_avgjg")
def prefs_over_groups(preferences: PreferenceRankings) -> Floats:
    """The mean over groups of the share of fulfilled preferences; a group without preferences
    counts as 0.

    Preferences over judgment groups, for giving each judge the same weight:

        PrefsAvgjg = mean over the groups of (fulfilled preferences) / (preferences)

    >>> from rankwell import preference_rankings
    >>> two = {"ann": {"0": {"a": 1, "b": 0}}, "bob": {"0": {"b": 1, "a": 0}}}
    >>> prefs_over_groups(preference_rankings({"q": two}, {"q": {"a": 2.0, "b": 1.0}})).tolist()
    [0.5]
    """
    return _over_groups(preferences, "all")


@_prefs("PrefsAvgjgImp", "prefs_avgjg_imp")
def prefs_over_groups_imp(preferences: PreferenceRankings) -> Floats:
    """The mean over groups of the share of fulfilled preferences among those with at least one item
    retrieved.

    Preferences over judgment groups with a retrieved item, for lists that may miss the better item:

        PrefsAvgjgImp = PrefsAvgjg over the preferences with at least one retrieved item

    >>> from rankwell import preference_rankings
    >>> two = {"ann": {"0": {"a": 1, "b": 0}}, "bob": {"0": {"c": 1, "a": 0}}}
    >>> prefs_over_groups_imp(preference_rankings({"q": two}, {"q": {"a": 2.0}})).tolist()
    [0.5]
    """
    return _over_groups(preferences, "one")


@_prefs("PrefsAvgjgRet", "prefs_avgjg_ret")
def prefs_over_groups_ret(preferences: PreferenceRankings) -> Floats:
    """The mean over groups of the share of fulfilled preferences among those between two retrieved
    items.

    Preferences over judgment groups among retrieved items, for short lists:

        PrefsAvgjgRet = PrefsAvgjg over the preferences between two retrieved items

    >>> from rankwell import preference_rankings
    >>> two = {"ann": {"0": {"a": 1, "b": 0}}, "bob": {"0": {"c": 1, "a": 0}}}
    >>> prefs_over_groups_ret(preference_rankings({"q": two}, {"q": {"a": 2.0, "b": 1.0}})).tolist()
    [0.5]
    """
    return _over_groups(preferences, "both")


@_prefs("PrefsPair", "prefs_pair")
def prefs_pair(preferences: PreferenceRankings) -> Floats:
    """The mean, over pairs of items with a stated preference, of the share of groups whose
    preference is fulfilled.

    Preferences by pair, for pairs that several people judged:

        PrefsPair = mean over the pairs of (groups whose preference is fulfilled)
                                        / (groups with a preference)

    >>> from rankwell import preference_rankings
    >>> three = {name: {"0": {"a": 1, "b": 0}} for name in ("ann", "bob")} | {
    ...     "eve": {"0": {"b": 1, "a": 0}}
    ... }
    >>> prefs_pair(preference_rankings({"q": three}, {"q": {"b": 2.0, "a": 1.0}})).round(4).tolist()
    [0.3333]
    """
    return _over_pairs(preferences, "all")


@_prefs("PrefsPairImp", "prefs_pair_imp")
def prefs_pair_imp(preferences: PreferenceRankings) -> Floats:
    """The mean, over stated pairs with at least one item retrieved, of the share of groups whose
    preference is fulfilled.

    Preferences by pair with a retrieved item, for lists that may miss the better item:

        PrefsPairImp = PrefsPair over the pairs with at least one retrieved item

    >>> from rankwell import preference_rankings
    >>> view = preference_rankings(
    ...     {"q": {"ann": {"0": {"a": 2, "b": 1, "c": 0}}}}, {"q": {"b": 1.0}}
    ... )
    >>> prefs_pair_imp(view).tolist()
    [0.5]
    """
    return _over_pairs(preferences, "one")


@_prefs("PrefsPairRet", "prefs_pair_ret")
def prefs_pair_ret(preferences: PreferenceRankings) -> Floats:
    """The mean, over stated pairs of retrieved items, of the share of groups whose preference is
    fulfilled.

    Preferences by pair among retrieved items, for short lists:

        PrefsPairRet = PrefsPair over the pairs of two retrieved items

    >>> from rankwell import preference_rankings
    >>> view = preference_rankings(
    ...     {"q": {"ann": {"0": {"a": 2, "b": 1, "c": 0}}}}, {"q": {"a": 2.0, "b": 1.0}}
    ... )
    >>> prefs_pair_ret(view).tolist()
    [1.0]
    """
    return _over_pairs(preferences, "both")


def _counted(better: Bools, n_retrieved: int, ret: bool) -> tuple[int, int]:
    fulfilled, possible = tally(better, n_retrieved)
    return (fulfilled[0], possible[0]) if ret else (sum(fulfilled), sum(possible))


def _balanced(group: PlacedGroup, *, ret: bool, quirk: bool) -> tuple[int, int]:
    """Fulfilled and possible preferences of a group as if it had as many items of level 0 as of
    higher ones.
    """
    in_list = np.arange(len(group.levels)) < group.n_retrieved
    is_counted = in_list if ret else np.ones_like(in_list)
    relevant = (group.levels > 0) & is_counted
    irrelevant = (group.levels <= 0) & is_counted
    missing = count_true(relevant) - count_true(irrelevant)
    n_relevant = count_true(group.levels > 0)
    if missing >= 0:
        fulfilled, possible = _counted(group.better, group.n_retrieved, ret)
        owed = n_relevant if quirk else count_true(relevant)
        return fulfilled + count_true(relevant & in_list) * missing, possible + owed * missing
    if quirk and not group.chained:
        return _as_trec_eval(group, is_counted, relevant, irrelevant, ret)
    # trec_eval keeps as many as there are relevant items, retrieved or not, and drops items of
    # level 0 only.
    droppable, enough = irrelevant, count_true(relevant)
    if quirk:
        droppable, enough = (group.levels == 0) & is_counted, n_relevant
    kept_rows = np.flatnonzero(~(droppable & (np.cumsum(droppable) > enough)))
    return _counted(group.better[np.ix_(kept_rows, kept_rows)], count_true(in_list[kept_rows]), ret)


def _as_trec_eval(
    group: PlacedGroup, is_counted: Bools, relevant: Bools, irrelevant: Bools, ret: bool
) -> tuple[int, int]:
    """The counts of trec_eval for too few relevant items: *every* item against the non-relevant
    ones kept, themselves too.
    """
    lowest = group.levels.min()
    kept_rows = np.flatnonzero(irrelevant & (group.levels == lowest))[: count_true(relevant)]
    above = group.better & (group.levels > lowest)[None, :]
    fulfilled, possible = _counted(above, group.n_retrieved, ret)
    return fulfilled + int(np.minimum(kept_rows, group.n_retrieved).sum()), possible + count_true(
        is_counted
    ) * len(kept_rows)


def _balanced_mean(preferences: PreferenceRankings, *, ret: bool, quirk: bool) -> Floats:
    counts = [
        _balanced(preferences.placed(group), ret=ret, quirk=quirk)
        for group in range(len(preferences.groups))
    ]
    fulfilled, possible = np.array(counts, dtype=np.float64).reshape(-1, 2).T
    shares = preferences.sum_groups(ratio(fulfilled, possible))
    value = ratio(shares, np.diff(preferences.group_offsets))
    if quirk:
        # 0 / 0 in C makes the sum no number, which is not above 0, so that the value stays 0.
        value[preferences.sum_groups((possible == 0).astype(np.float64)) > 0] = 0.0
    return value


@_prefs("PrefsAvgjgRnonrel", "prefs_avgjg_Rnonrel")
def prefs_balanced(preferences: PreferenceRankings, *, quirk: bool = True) -> Floats:
    """PrefsAvgjg as if each group had as many non-relevant items (level 0) as relevant ones.

    Balanced preferences over judgment groups, for groups with few or many non-relevant items:

        PrefsAvgjgRnonrel = PrefsAvgjg with as many items of level 0 as relevant ones in each group

    Missing non-relevant items count as ranked last. If there are too many, only the first in rank
    order count. quirk: compute as trec_eval does. If there are too many in a group without
    subgroups, trec_eval compares each one that counts with all others of level 0 and with itself; a
    group without preferences makes the value 0.

    >>> from rankwell import preference_rankings
    >>> from rankwell.measures.preferences import prefs_over_groups
    >>> view = preference_rankings(
    ...     {"q": {"ann": {"0": {"a": 1, "b": 0, "c": 0}}}}, {"q": {"b": 3.0, "a": 2.0, "c": 1.0}}
    ... )
    >>> prefs_balanced(view, quirk=False).tolist(), prefs_over_groups(view).tolist()
    ([0.0], [0.5])
    """
    return _balanced_mean(preferences, ret=False, quirk=quirk)


@_prefs("PrefsAvgjgRnonrelRet", "prefs_avgjg_Rnonrel_ret")
def prefs_balanced_ret(preferences: PreferenceRankings, *, quirk: bool = True) -> Floats:
    """PrefsAvgjgRnonrel over the retrieved items only.

    Balanced preferences over judgment groups among retrieved items, for short lists:

        PrefsAvgjgRnonrelRet = PrefsAvgjgRnonrel over the retrieved items

    quirk: compute as trec_eval does, as in PrefsAvgjgRnonrel. In addition, preferences over missing
    non-relevant items are counted as possible for all relevant items, not only for the retrieved
    ones.

    >>> from rankwell import preference_rankings
    >>> view = preference_rankings(
    ...     {"q": {"ann": {"0": {"a": 1, "b": 1, "c": 0}}}}, {"q": {"c": 2.0, "a": 1.0}}
    ... )
    >>> prefs_balanced_ret(view).tolist()
    [0.0]
    """
    return _balanced_mean(preferences, ret=True, quirk=quirk)
