"""Judged runs -> results: the only place that decides ties, counted queries, ceilings, chance,
units, notes and detail rows.
"""
