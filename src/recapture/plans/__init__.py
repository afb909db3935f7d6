"""Neighbourhoods of large sets as a plan over files: parts that any machine may do, in any order, and do again."""
