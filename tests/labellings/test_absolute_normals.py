"""Sums of absolute values of normal numbers: against closed forms, integrals over one number, and seeded draws."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from recapture.labellings.absolute_normals import mean_of_absolute_sum, tail_of_absolute_sum

SUM_TO_ZERO = np.array([[1, 0], [0, 1], [-1, -1]])


def beyond_a_hexagon(limit, covariance):
    """P(|x| + |y| + |x + y| >= limit): the largest of three numbers that sum to 0 is as far as the others together, so
    that it is P(max >= limit / 2); y given x is normal, and x is integrated over.
    """
    reach, slope = limit / 2, covariance[0, 1] / covariance[0, 0]
    spread = np.sqrt(covariance[0, 0]), np.sqrt(covariance[1, 1] - slope * covariance[0, 1])

    def outside(x):
        low, high = max(-reach, -reach - x), min(reach, reach - x)
        tails = norm.sf((high - slope * x) / spread[1]) + norm.cdf((low - slope * x) / spread[1])
        return norm.pdf(x, scale=spread[0]) * tails

    inside = sum(quad(outside, *ends, epsabs=0, epsrel=1e-10)[0] for ends in ((-reach, 0), (0, reach)))
    return inside + 2 * norm.sf(reach / spread[0])


@pytest.mark.parametrize("limit", [1, 4, 8, 14])
@pytest.mark.parametrize("covariance", [[[1, -0.3], [-0.3, 1]], [[1, -0.99], [-0.99, 1]], [[0.1, 0.2], [0.2, 3]]])
def test_three_numbers_that_sum_to_zero(covariance, limit):
    covariance = np.array(covariance)
    of_all = SUM_TO_ZERO @ covariance @ SUM_TO_ZERO.T
    expected = beyond_a_hexagon(limit, covariance)
    assert tail_of_absolute_sum(limit, np.zeros(3), of_all) == pytest.approx(
        expected, rel=2e-4 if expected > 1e-3 else 4e-3
    )


@pytest.mark.parametrize("centre", [0.0, 0.4, -3.0])
@pytest.mark.parametrize("limit", [0.5, 2.0, 6.0])
def test_a_single_number(centre, limit):
    expected = norm.sf(limit, centre, 1.5) + norm.cdf(-limit, centre, 1.5)
    found = tail_of_absolute_sum(limit, np.array([centre]), np.array([[2.25]]))
    assert found == pytest.approx(expected, rel=3e-3)
    mean = quad(lambda x: abs(x) * norm.pdf(x, centre, 1.5), -20, 20, points=[0])[0]
    assert mean_of_absolute_sum(np.array([centre]), np.array([[2.25]])) == pytest.approx(mean, rel=1e-6)


@pytest.mark.parametrize("shift", [0, 0.3, 3])
def test_two_triples_off_their_centre(shift):
    """100,000 seeded draws; within four standard errors."""
    rng = np.random.default_rng(round(10 * shift))
    axes = np.zeros((6, 4))
    axes[:3], axes[3:] = SUM_TO_ZERO @ rng.normal(size=(2, 4)), SUM_TO_ZERO @ rng.normal(size=(2, 4))
    centre = shift * np.concatenate([SUM_TO_ZERO @ rng.normal(size=2), SUM_TO_ZERO @ rng.normal(size=2)])
    drawn = np.abs(centre[:, None] + axes @ rng.normal(size=(4, 100_000))).sum(axis=0)
    assert mean_of_absolute_sum(centre, axes @ axes.T) == pytest.approx(
        drawn.mean(), abs=4 * drawn.std() / np.sqrt(drawn.size)
    )
    for share in (0.01, 0.2, 0.8, 0.99):
        limit = np.quantile(drawn, share)
        error = np.sqrt(share * (1 - share) / drawn.size)
        found = tail_of_absolute_sum(limit, centre, axes @ axes.T)
        assert found == pytest.approx(1 - share, abs=4 * error + 2e-4)


def test_what_is_always_reached_or_never():
    covariance = np.zeros((3, 3))
    assert tail_of_absolute_sum(0.0, np.zeros(3), covariance) == 1
    assert tail_of_absolute_sum(1.0, np.zeros(3), covariance) == 0
    assert tail_of_absolute_sum(1.0, np.array([0.5, 0.7, 0]), covariance) == 1
    assert tail_of_absolute_sum(1.0, np.array([0.5, 0.4, 0]), covariance) == 0
    assert mean_of_absolute_sum(np.array([0.5, -0.7, 0]), covariance) == pytest.approx(1.2)
