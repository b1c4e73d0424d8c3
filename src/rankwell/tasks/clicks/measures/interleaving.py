"""Figures of clicks on interleaved lists; `preference.py` of the task computes them."""

from rankwell.data.registry import add_figure

_EXAMPLE = """
>>> import rankwell as rw
>>> runs = {"q": ["a", "b"]}, {"q": ["b", "a"]}
>>> lists = rw.interleave(*runs, names=("old", "new"), method="team-draft")
>>> clicks = {"query": ["q"], "item": [lists[0].items[0]]}
>>> found = rw.evaluate_interleaving(lists, clicks, intervals="none")
>>> sorted(row["mean"] for row in found.summary if row["measure"] == "NAME")
[0.0, 1.0]
"""

WINS = add_figure(
    "Wins",
    "share of the impressions in which a run earns more credit for clicks than the other, ties "
    "counting half",
    source="Chapelle, Joachims, Radlinski and Yue 2012, Large-scale validation and analysis of "
    "interleaved search evaluation",
    printed_by=("clicks credit",),
    details="""
Interleaving wins, for which of two runs users prefer:

    Wins = (impressions with more credit + ties / 2) / impressions
"""
    + _EXAMPLE.replace("NAME", "Wins"),
)
CREDIT = add_figure(
    "Credit",
    "mean credit of a run for the clicks on an impression, by the rule of the interleaving method",
    source="Chapelle, Joachims, Radlinski and Yue 2012, Large-scale validation and analysis of "
    "interleaved search evaluation",
    printed_by=("clicks credit",),
    details="""
Interleaving credit, for how many clicks a run earns:

    Credit = mean over the impressions of the credit of the run
"""
    + _EXAMPLE.replace("NAME", "Credit"),
)
