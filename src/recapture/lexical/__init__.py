"""Texts as words and n-grams: what the lexical metrics share."""
