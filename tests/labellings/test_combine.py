"""Many p-values made into one, or into decisions: against SciPy, and against the definitions written out."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import recapture as rc

PVALUES = st.lists(st.floats(1e-12, 1.0), min_size=1, max_size=30)


def test_harmonic_mean_of_the_settled_example():
    """[.01, .02, .3, .5]: raw .0257511 by hand, corrected .0294160 by Wilson's Eq. 4 (the harmonicmeanp package)."""
    raw, corrected = rc.harmonic_mean_p([0.01, 0.02, 0.3, 0.5])
    assert raw == pytest.approx(0.0257511, abs=5e-8)
    assert corrected == pytest.approx(0.0294160, abs=5e-8)


@pytest.mark.parametrize("pvalues", [[0.01, 0.02, 0.3, 0.5], [0.2, 0.7], [1e-3] * 50, [1 / 252, 1.0, 0.5, 0.3, 0.3]])
def test_harmonic_mean_against_the_limit_law_by_quadrature(pvalues):
    """Wilson (2019), Eq. 4: density (1 / pi s) int_0^oo exp(-t (x - mu) / s - (2 / pi) t ln t) sin(2 t) dt, integrated
    over x from the mean of 1/p to infinity: divided by t / s."""
    raw, corrected = rc.harmonic_mean_p(pvalues)
    mean = sum(1 / Fraction(p) for p in pvalues) / len(pvalues)
    assert raw == pytest.approx(float(1 / mean), rel=1e-12)
    z = (float(mean) - mpmath.log(len(pvalues)) - 0.874367) / (mpmath.pi / 2)
    tail = mpmath.quad(
        lambda t: mpmath.exp(-z * t - 2 / mpmath.pi * t * mpmath.log(t)) * mpmath.sin(2 * t) / (mpmath.pi * t),
        [0, 0.01, 0.1, 0.25, 0.5, 1, 2, 4, 8, 16, 32],
    )
    assert corrected == pytest.approx(float(tail), rel=1e-6)


def test_one_p_value_stands_for_itself():
    assert rc.harmonic_mean_p([0.03]) == (0.03, 0.03)
    assert rc.fisher([0.03]) == pytest.approx(0.03)
    assert rc.holm([0.03]).tolist() == rc.benjamini_hochberg([0.03]).tolist() == [0.03]


def test_the_smallest_numbers_there_are():
    """1/p is infinite below 5.6e-309."""
    raw, corrected = rc.harmonic_mean_p([1e-310, 0.5])
    assert raw == pytest.approx(2e-310, rel=1e-6) and 0 <= corrected < 1e-300
    assert 0 <= rc.fisher([5e-324, 5e-324]) < 1e-300


@given(PVALUES)
def test_fisher_against_scipy(pvalues):
    assert rc.fisher(pvalues) == pytest.approx(stats.combine_pvalues(pvalues, method="fisher").pvalue, rel=1e-9)


@given(PVALUES)
def test_benjamini_hochberg_against_scipy(pvalues):
    np.testing.assert_allclose(rc.benjamini_hochberg(pvalues), stats.false_discovery_control(pvalues), rtol=1e-12)


@given(PVALUES, st.sampled_from([0.001, 0.01, 0.05, 0.2, 0.5]))
def test_holm_steps_down_as_the_paper_says(pvalues, level):
    """Holm (1979): from the smallest p on, reject while p <= level / (tests left); then stop."""
    rejected = set()
    for done, index in enumerate(sorted(range(len(pvalues)), key=pvalues.__getitem__)):
        if pvalues[index] * (len(pvalues) - done) > level:
            break
        rejected.add(index)
    found = {index for index, p in enumerate(rc.holm(pvalues)) if p <= level}
    # Equal p-values are rejected together or not at all: Holm's loop stops at the first of them or takes all.
    assert found == rejected


def test_holm_by_hand():
    """Sorted .01 .02 .03 .04: x4 x3 x2 x1 = .04 .06 .06 .04, then never falling: .04 .06 .06 .06."""
    assert rc.holm([0.04, 0.01, 0.03, 0.02]) == pytest.approx([0.06, 0.04, 0.06, 0.06])
    assert rc.holm([0.5, 0.9, 0.7]).tolist() == [1, 1, 1]


def test_benjamini_and_hochberg_s_own_example():
    """Benjamini and Hochberg (1995), Section 3.2: 15 p-values, at .05 four are rejected (Bonferroni, Holm: three)."""
    p = [
        0.0001,
        0.0004,
        0.0019,
        0.0095,
        0.0201,
        0.0278,
        0.0298,
        0.0344,
        0.0459,
        0.3240,
        0.4262,
        0.5719,
        0.6528,
        0.7590,
        1.0,
    ]
    assert np.count_nonzero(rc.benjamini_hochberg(p) <= 0.05) == 4
    assert np.count_nonzero(rc.holm(p) <= 0.05) == 3


@given(PVALUES)
def test_adjusted_never_below_given_and_never_above_1(pvalues):
    for adjusted in (rc.holm(pvalues), rc.benjamini_hochberg(pvalues)):
        assert ((adjusted >= np.array(pvalues) * (1 - 1e-12)) & (adjusted <= 1)).all()
    assert (rc.benjamini_hochberg(pvalues) <= rc.holm(pvalues) * (1 + 1e-12)).all()


@pytest.mark.slow
def test_under_no_effect_the_corrected_mean_keeps_its_level():
    """Independent uniform p-values: share of corrected <= .05, 4,000 runs of 10 tests; raw exceeds it (Wilson 2019)."""
    runs = np.random.default_rng(0).uniform(size=(4000, 10))
    raw, corrected = np.array([rc.harmonic_mean_p(run) for run in runs]).T
    margin = 3 * math.sqrt(0.05 * 0.95 / len(runs))
    assert abs(np.mean(corrected <= 0.05) - 0.05) < margin
    assert np.mean(raw <= 0.05) > 0.05 + margin


@pytest.mark.parametrize("name", ["harmonic_mean_p", "fisher", "holm", "benjamini_hochberg"])
@pytest.mark.parametrize(
    "wrong, words",
    [
        ([], "at least one"),
        ([[0.1, 0.2]], "a list"),
        ([0.1, 0.0], "p-value 2 is 0"),
        ([0.1, 1.01], "p-value 2 is 1.01"),
        ([-0.1], "p-value 1 is -0.1"),
        ([0.5, float("nan")], "p-value 2 is nan"),
        (["a"], "numbers"),
        (0.05, "a list"),
        (None, "a list"),
    ],
)
def test_what_is_no_p_value(name, wrong, words):
    with pytest.raises(rc.InputError, match=words):
        getattr(rc, name)(wrong)


def test_generators_and_arrays_will_do():
    p = [0.01, 0.2, 0.5]
    assert rc.fisher(x for x in p) == rc.fisher(np.array(p)) == rc.fisher(tuple(p)) == rc.fisher(p)
