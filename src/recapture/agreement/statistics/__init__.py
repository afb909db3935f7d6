"""Numbers from scores and ratings: coefficients, intervals, tests between metrics, sweeps of settings."""
