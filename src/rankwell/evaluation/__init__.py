"""Judged runs -> results: the only place that decides ties, counted queries, ceilings, chance,
units, findings and detail rows.
"""
