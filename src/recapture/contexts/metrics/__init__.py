"""Metrics of contexts: one family, one file, one declaration."""
