"""How far apart two distributions over a vocabulary are, from the logarithms of their probabilities."""
