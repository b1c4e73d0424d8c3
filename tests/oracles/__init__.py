"""Oracles: every measure once more, as plain loops read straight off its definition.

No NumPy and no rankwell: an oracle must fail for different reasons than the code it checks.
A `ranking` is the list of item ids of one query in final order; `grades` holds the judged items
only.
A negative grade is a judgment and never relevant; trec_eval, for which it is none, has it left out
of `grades` (except for infAP, where it marks an unjudged item of the pool). `math.nan` means "query
not counted".
"""
