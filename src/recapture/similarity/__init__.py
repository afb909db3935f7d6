"""Scores between two texts: one metric, one file, one declaration."""
