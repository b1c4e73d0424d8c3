"""Explain what a measure means."""

import sys

from rankwell import reporting
from rankwell.files import explanations
from rankwell.reporting.options import Output


def explain(name: str, /) -> Output:
    """Explain what a measure means.

    Shows every meaning that the name has anywhere, each with formula, source and a worked
    example.

      rankwell explain nDCG@10
      rankwell explain 'hit rate'

    Parameters
    ----------
    name
        A measure (nDCG@10), another tool's word for one (ndcg_cut_10), a word that means several
        things (Recall@5), a figure of a whole collection (nAUC), or a function of your own
        (./my_measures.py:first).
    """
    terminal = reporting.terminal_of(sys.stdout)
    lines = [
        line if line.startswith("  >>>") else reporting.folded(line, terminal, "  ")
        for line in str(explanations.explain(name)).split("\n")
    ]
    return Output(text="\n".join(lines))
