"""How far metrics agree with people: score matrices, coefficients, intervals and tests."""
