"""Experiments of the papers on data at hand: one study, one file, one declaration."""
