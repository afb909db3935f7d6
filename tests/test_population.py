"""Population estimators against theorems, published ecology results and many-digit arithmetic."""

import math

import mpmath
import pytest

from recapture import population


def log_likelihood(n, marked, captures, occasions):
    """L(N) term by term in 60 digits."""
    with mpmath.workdps(60):
        n, captures, total = mpmath.mpf(n), mpmath.mpf(captures), mpmath.mpf(occasions) * n
        free = total - captures
        value = mpmath.loggamma(n + 1) - mpmath.loggamma(n - marked + 1) + captures * mpmath.log(captures)
        value += (free * mpmath.log(free) if free > 0 else 0) - total * mpmath.log(total)
        return value


def test_likelihood_values_of_theorem_a3():
    # Mark-Evaluate, Theorem A.3: n = m = 10, k = 1, equal sets: C = 80, T = P = 20; about -158 and -159.
    assert float(log_likelihood(20, 20, 80, 20)) == pytest.approx(-157.8254, abs=5e-5)
    assert float(log_likelihood(21, 20, 80, 20)) == pytest.approx(-159.1232, abs=5e-5)
    assert population.log_likelihood_step(20, 20, 80, 20) == pytest.approx(-159.1232 + 157.8254, abs=1e-4)
    assert population.capture_m0(20, 80) == 20


@pytest.mark.parametrize("marked", [4, 7, 20, 55])
def test_capture_is_the_best_whole_number(marked):
    """A walk over all N in many digits, for captures from a bare 2 P up to the most there can be."""
    for captures in sorted({2 * marked, 2 * marked + 1, 3 * marked, marked * marked // 2, marked * marked}):
        if not 2 * marked <= captures <= marked * marked:
            continue
        walk = range(marked, 3 * marked)
        best = max(walk, key=lambda n: (log_likelihood(n, marked, captures, marked), -n))
        assert population.capture_m0(marked, captures) == best, (marked, captures)


@pytest.mark.parametrize(
    "marked, captures", [(10**7, 2 * 10**7 + 7), (10**6, 2 * 10**6 + 123_456), (777_777, 1_600_001)]
)
def test_capture_of_large_populations(marked, captures):
    found = population.capture_m0(marked, captures)
    if marked == 10**7:
        assert found == 12_550_005  # settled value for P = 10^7, C = 2 P + 7
    around = [log_likelihood(found + move, marked, captures, marked) for move in (-1, 0, 1)]
    assert around[1] > around[0] and around[1] >= around[2]


def test_capture_bisects(monkeypatch):
    # A walk from P to the estimate would take 2.5 million steps.
    steps = []
    real = population.log_likelihood_step
    monkeypatch.setattr(population, "log_likelihood_step", lambda *given: steps.append(given) or real(*given))
    population.capture_m0(10**7, 2 * 10**7 + 7)
    assert len(steps) < 100


def test_capture_of_snowshoe_hares():
    # Cormack 1989 / Agresti 1994: 68 hares, 145 captures, 6 occasions; M0 by integer search in R: 75.
    assert population.capture_m0(68, 145, 6) == 75


@pytest.mark.parametrize(
    "marked, caught, recaptured, size",
    [
        (346, 184, 49, 1299.265306),  # FSA (R), mrClosed example
        (196, 90, 9, 1960),  # FSA (R), BluegillJL
        (948, 421, 167, 2389.868263),  # Seber 1982 p. 107, Krebs Box 2.1
        (500, 149, 7, 10642.857143),  # Seber 2002 Tables 3.7-3.8
    ],
)
def test_petersen_of_the_ecologists(marked, caught, recaptured, size):
    assert population.petersen(marked, caught, recaptured) == pytest.approx(size, abs=5e-7)


def test_nothing_recaptured_is_infinite_and_scores_zero():
    assert population.petersen(10, 10, 0) == math.inf
    assert population.score(20, math.inf) == 0


def test_score_is_clipped_and_symmetric_about_the_truth():
    assert population.score(100, 100) == 1
    assert population.score(100, 90) == population.score(100, 110) == pytest.approx(0.9)
    assert population.score(100, 1000) == 0
