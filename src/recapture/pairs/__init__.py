"""Pairs: every candidate against its own references.

`declaration` says what a metric is, `metrics` has one file for each, `evaluate` runs them, `uncertainty` says how sure
the numbers are, `table` shows them.
"""
