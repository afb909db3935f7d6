"""Systems against each other: which is closer to people, and is that sure?

`comparison` holds the answer, `evidence` the statistics that all kinds share; `of_sets`, `of_pairs` and `of_contexts`
gather the evidence for the three ways to compare.
"""
