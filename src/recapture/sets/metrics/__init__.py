"""Metrics of two sets: one metric, one file, one declaration."""
