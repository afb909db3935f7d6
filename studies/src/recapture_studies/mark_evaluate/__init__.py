"""Mordido and Meinel 2020, Mark-Evaluate: Assessing Language Generation using Population Estimation Methods."""
