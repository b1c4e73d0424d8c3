"""Estimators of the value of a policy, one family a file."""
