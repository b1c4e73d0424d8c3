"""Logged data: the value of policies from clicks on what another policy showed, and interleaved
lists.
"""
