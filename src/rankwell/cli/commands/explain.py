"""Explain a name: every meaning that a measure has anywhere, each with formula, source and a worked
example, or what a finding or a convention means.
"""

import sys

from rankwell import reporting
from rankwell.files import explanations
from rankwell.reporting.options import Output


def explain(name: str, /) -> Output:
    """Explain a name: every meaning that a measure has anywhere, each with formula, source and a
    worked example, or what a finding or a convention means.

    Parameters
    ----------
    name
        A measure (nDCG@10), another tool's word for one (ndcg_cut_10), a word that means several
        things (Recall@5), a figure of a whole collection (nAUC), a function of your own
        (./my_measures.py:first), a finding (unjudged-in-top), or a convention (beir).
    """
    terminal = reporting.terminal_of(sys.stdout)
    lines = [
        line if line.startswith("  >>>") else reporting.folded(line, terminal, "  ")
        for line in str(explanations.explain(name)).split("\n")
    ]
    return Output(text="\n".join(lines))
