"""Scores and ratings by system and input: read from files, matched, and turned so that higher is better."""
