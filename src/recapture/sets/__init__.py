"""Two sets: one or several candidate sets against one reference set.

`declaration` says what a metric is, `metrics` has one file for each, `evaluate` runs them, `uncertainty` says how sure
the numbers are, `table` shows them.
"""
