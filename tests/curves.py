"""MAUVE's curve of two histograms, from the parts the metric itself is made of."""

import numpy as np

from recapture.sets.metrics import mauve


def divergence_curve(reference, candidate, scaling=5.0, weights=25):
    """(candidate, reference) coordinates along the curve, ends included, from two histograms over the same bins."""
    terms = mauve._terms(np.asarray(reference, np.float64), np.asarray(candidate, np.float64), weights)
    candidate_curve, reference_curve = mauve._curve(terms.sum(axis=0)[None], scaling)
    return candidate_curve[0], reference_curve[0]
