"""Candidates against their own references, pair by pair: one metric, one file, one declaration."""
