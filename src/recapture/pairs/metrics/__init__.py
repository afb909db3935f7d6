"""Metrics of aligned texts: one metric, one file, one declaration."""
