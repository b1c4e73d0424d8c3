"""Oracles: every measure once more, as plain loops read straight off its definition.

No NumPy and no rankwell: an oracle must fail for different reasons than the code it checks.
A `ranking` is the list of item ids of one query in final order; `grades` holds the judged items only.
A negative grade means "pooled but not judged" and acts as unjudged; `math.nan` means "query not counted".
"""
