"""Williams' test against published and other programs' values."""

import math

import numpy as np
import pytest

from recapture.agreement.statistics.williams import williams_test
from recapture.errors import InputError


def test_the_example_that_is_worked_out():
    """(.6, .4, .5, n = 50): t = 1.7051, one-sided p = .0474 (t of 47 degrees of freedom); by the formula term by term:
    K = 1 - .36 - .16 - .25 + .24 = .47, t = .2 sqrt(49 x 1.5 / (.94 x 49 / 47 + .25 x .125))."""
    found = williams_test(0.6, 0.4, 0.5, 50)
    assert found.statistic == pytest.approx(1.7051, abs=5e-5)
    assert found.statistic == pytest.approx(0.2 * math.sqrt(73.5 / (0.94 * 49 / 47 + 0.03125)), abs=1e-12)
    assert found.pvalue == pytest.approx(0.0474, abs=5e-5)
    assert found.dof == 47
    assert williams_test(0.6, 0.4, 0.5, 50, "two-sided").pvalue == pytest.approx(2 * found.pvalue, rel=1e-12)
    assert williams_test(0.6, 0.4, 0.5, 50, "less").pvalue == pytest.approx(1 - found.pvalue, rel=1e-12)


@pytest.mark.parametrize(
    "correlations, n, two_sided, greater",
    [  # nlpstats 0.0.1, williams_test on the made-up scores of made_up.scores: system (6) and global level (240)
        (
            (0.9825699065411604, 0.9432349852957885, 0.961513863671425),
            6,
            0.27922579276029447,
            0.13961289638014723,
        ),
        ((1.0, 0.8285714285714287, 0.8285714285714287), 6, 0.004094876532974808, 0.002047438266487404),
        (
            (0.6418843479157634, 0.35682190356776944, 0.2304405572806928),
            240,
            8.154484014618524e-06,
            4.077242007309262e-06,
        ),
        (
            (0.4524407252440726, 0.25181311018131103, 0.14776847977684798),
            240,
            0.008683325987929329,
            0.0043416629939646645,
        ),
    ],
)
def test_pvalues_of_nlpstats(correlations, n, two_sided, greater):
    assert williams_test(*correlations, n, "two-sided").pvalue == pytest.approx(two_sided, rel=1e-8)
    assert williams_test(*correlations, n, "greater").pvalue == pytest.approx(greater, rel=1e-8)


def test_value_of_mt_metrics_eval():
    """stats_test.py, WilliamsSigDiffTest.testSigDiff: p = .019 one-sided."""
    gold, first, second = [1, 2, 3, 4, 5], [1.1, 2, 3.1, 4, 5.1], [1.5, 2, 3.1, 4, 5.5]
    r12, r13, r23 = (np.corrcoef(*pair)[0, 1] for pair in ((gold, first), (gold, second), (first, second)))
    assert williams_test(r12, r13, r23, 5).pvalue == pytest.approx(0.019, abs=5e-4)


def test_symmetry():
    one, other = williams_test(0.7, 0.2, 0.3, 12, "two-sided"), williams_test(0.2, 0.7, 0.3, 12, "two-sided")
    assert one.statistic == -other.statistic and one.pvalue == other.pvalue
    assert williams_test(0.2, 0.7, 0.3, 12, "less").pvalue == williams_test(0.7, 0.2, 0.3, 12, "greater").pvalue


def test_degenerate_correlations():
    same = williams_test(0.8, 0.8, 1.0, 10, "two-sided")
    assert (same.statistic, same.pvalue) == (0.0, 1.0)
    assert williams_test(0.8, 0.8, 1.0, 10, "greater").pvalue == 0.5
    # Rounding between a metric and itself on another scale is no difference.
    assert williams_test(0.8, 0.8 - 1e-15, 1 - 2e-16, 10).statistic == 0.0
    # People's scores themselves: K = 0, the rest of the formula is (1 - r) sqrt((n - 1)(1 + r)) / sqrt(r'^2 (1 - r)^3).
    perfect = williams_test(1.0, 0.5, 0.5, 10)
    assert perfect.statistic == pytest.approx(0.5 * math.sqrt(9 * 1.5) / math.sqrt(0.75**2 * 0.5**3), rel=1e-12)
    # K = 0 and r12 = -r13: no spread is left.
    sure = williams_test(math.sqrt(0.5), -math.sqrt(0.5), 0.0, 10)
    assert sure.statistic > 1e6 and 0 < sure.pvalue < 1e-30
    assert williams_test(0.9, 0.1, 0.2, 100_000).pvalue > 0


def test_bad_input():
    with pytest.raises(InputError, match="at least four systems, but there are 3"):
        williams_test(0.5, 0.4, 0.3, 3)
    with pytest.raises(InputError, match="between -1 and 1"):
        williams_test(1.5, 0.4, 0.3, 9)
    with pytest.raises(InputError, match="between -1 and 1"):
        williams_test(math.nan, 0.4, 0.3, 9)
    with pytest.raises(InputError, match="no three variables"):
        williams_test(0.9, -0.9, 0.9, 9)
    with pytest.raises(InputError, match="mirror image"):
        williams_test(0.4, -0.4, -1.0, 9)
    for number in ("10", 10.5, None, True):
        with pytest.raises(InputError, match="n must be a whole number of systems"):
            williams_test(0.5, 0.4, 0.3, number)
    with pytest.raises(InputError, match="r12 must be a correlation"):
        williams_test("x", 0.4, 0.3, 9)
    with pytest.raises(InputError, match="unknown alternative"):
        williams_test(0.4, 0.3, 0.2, 9, "both")
