"""Mark-Evaluate against the paper's theorems, settled check values and counts by brute force."""

import math

import numpy as np
import oracles
import pytest

import recapture as rc
from recapture.geometry.content_order import content_order
from recapture.sets.metrics.mark_evaluate import estimates

X = np.random.RandomState(0).randn(200, 8)
Y = np.random.RandomState(1).randn(150, 8) * 1.3 + 0.7


def test_settled_values_at_k1():
    """Values computed independently for these seeds when the formulas were settled."""
    result = rc.mark_evaluate(X, Y)
    assert (result.counts["x"], result.counts["y"]) == (40, 136)
    # C_total = (k + 1) P + a + b
    assert 2 * 350 + result.counts["a"] + result.counts["b"] == 989
    estimates = result.estimates
    assert estimates["petersen"] == pytest.approx(390.0, abs=1e-9)
    assert estimates["schnabel_quality"] == pytest.approx(439.953271, abs=5e-7)
    assert estimates["schnabel_diversity"] == pytest.approx(407.881137, abs=5e-7)
    assert estimates["capture"] == 376
    scores = (result.petersen, result.quality, result.diversity, result.capture)
    assert scores == pytest.approx((0.885714, 0.742991, 0.834625, 0.925714), abs=5e-7)


def test_settled_values_at_k3():
    estimates = rc.mark_evaluate(X, Y, k=3).estimates
    assert estimates["petersen"] == pytest.approx(356.391837, abs=5e-7)
    assert estimates["schnabel_quality"] == pytest.approx(377.066667, abs=5e-7)
    assert estimates["schnabel_diversity"] == pytest.approx(356.923077, abs=5e-7)
    assert estimates["capture"] == 350


@pytest.mark.parametrize("k", [1, 2, 3])
def test_equal_sets_score_exactly_one(k):
    """Theorems A.1 to A.3; the paper shows the last one for n = 10."""
    few = X[:10]
    result = rc.mark_evaluate(few, few[::-1].copy(), k=k)
    assert dict(result.values) == {"petersen": 1.0, "quality": 1.0, "diversity": 1.0, "capture": 1.0}
    assert set(result.estimates.values()) == {20}
    many = rc.mark_evaluate(X, X[::-1].copy(), k=k)
    assert (many.petersen, many.quality, many.diversity) == (1, 1, 1)


def test_capture_of_large_equal_sets_stays_below_one_at_k1():
    """Theorem A.3 does not hold for every n: C = 4 P captures spread over N animals at random leave N e^(-4 P / N)
    unseen, so the likelihood peaks near the root r = 1.0198 of 1 - 1/r = e^(-4/r), a score of .980, as n grows.
    """
    rng = np.random.default_rng(4)
    points = rng.standard_normal((1500, 8))
    result = rc.mark_evaluate(points, points)
    assert result.counts["a"] == result.counts["b"] == 3000
    assert result.capture == pytest.approx(0.980, abs=0.001)
    assert rc.mark_evaluate(points, points, k=3).capture == 1


def test_the_papers_four_points():
    points = np.array([[1, 1], [2, 2], [5, 5], [6, 6]])
    result = rc.mark_evaluate(points, points)
    assert set(result.estimates.values()) == {8}
    assert 2 * 8 + result.counts["a"] + result.counts["b"] == 32  # C_total


@pytest.mark.parametrize("k", [1, 2, 4])
def test_schnabel_follows_the_papers_loop(k):
    """Mark and recapture one candidate at a time, in a random order, counting each capture once per sphere."""
    rng = np.random.default_rng(3)
    reference, candidate = rng.standard_normal((40, 3)), rng.standard_normal((30, 3)) * 1.4
    in_reference, in_candidate = oracles.memberships(reference, candidate, k)
    own = oracles.squared_distances(candidate, candidate)
    marked = set(np.flatnonzero(in_reference.any(axis=0)))
    captures = recaptures = 0
    for centre in rng.permutation(len(candidate)):
        caught = set(np.argsort(own[centre], kind="stable")[: k + 1])
        references_caught = int(in_candidate[:, centre].sum())
        captures += len(caught) + references_caught
        recaptures += len(caught & marked) + references_caught
        marked |= caught
    expected = (len(reference) + len(candidate)) * captures / recaptures
    assert rc.mark_evaluate(reference, candidate, k=k).estimates["schnabel_quality"] == pytest.approx(expected)


def test_sets_that_never_meet_score_their_floor():
    far = X + 1e3
    for k, result in rc.mark_evaluate_sweep(X, far, [1, 2, 3, 5]).items():
        assert result.petersen == 0 and math.isinf(result.estimates["petersen"])
        assert result.quality == pytest.approx(1 - 1 / k)  # math of two disjoint sets: P^ = P (k + 1) / k
        assert result.diversity == pytest.approx(1 - 1 / k)
        assert dict(result.values) == dict(result.floors)
        assert all(value in (0, None) for value in result.adjusted.values())


def test_floors_of_capture():
    """About .745 at k = 1 and within .021 of 1 at k = 3, for large sets."""
    floors = {k: estimates(10_000, 10_000, k, x=0, y=0, a=0, b=0)["capture"] / 20_000 for k in (1, 3)}
    assert 2 - floors[1] == pytest.approx(0.745, abs=5e-4)
    assert 0.979 <= 2 - floors[3] < 1


def test_petersen_identity():
    """P^ - P = (n - y)(m - x) / (x + y)."""
    result = rc.mark_evaluate(X, Y)
    x, y = result.counts["x"], result.counts["y"]
    assert result.estimates["petersen"] - 350 == pytest.approx((200 - y) * (150 - x) / (x + y))


def test_adjusted_scores_take_out_the_floor():
    result = rc.mark_evaluate(X, Y, k=2)
    for name, floor in result.floors.items():
        assert result.adjusted[name] == pytest.approx((result.values[name] - floor) / (1 - floor))


def test_flags_name_the_rows():
    result = rc.mark_evaluate(X, Y, k=2)
    in_reference, in_candidate = oracles.memberships(X, Y, 2)
    np.testing.assert_array_equal(result.candidate_inside, in_reference.any(axis=0))
    np.testing.assert_array_equal(result.reference_inside, in_candidate.any(axis=1))
    assert result.candidate_inside.dtype == bool


def test_sweep_is_the_same_as_one_by_one():
    for k, result in rc.mark_evaluate_sweep(X, Y, range(1, 41)).items():
        assert result.signature["k"] == k
        if k in (1, 2, 17, 40):
            assert result.to_dict(arrays=True) == rc.mark_evaluate(X, Y, k=k).to_dict(arrays=True)


def warned(result, *words):
    return any(all(word in warning for word in words) for warning in result.warnings)


def test_warnings_where_the_number_says_little():
    half = X[:100]
    result = rc.mark_evaluate(X, half)
    assert warned(result, "Petersen", "precision is 1")
    assert warned(result, "quality is saturated")
    assert warned(result, "set sizes differ", "balance")
    assert warned(rc.mark_evaluate(half, X), "Petersen", "recall is 1")
    assert warned(rc.mark_evaluate(X, X + 1e3), "capture is close to its floor")
    assert warned(rc.mark_evaluate(X, X + 1e3, k=40), "capture is 1 even for sets that never meet")
    assert rc.mark_evaluate(X, X + 1e3, k=40).adjusted["capture"] is None
    assert warned(rc.mark_evaluate(X[:30], Y[:30]), "only 30 samples")
    assert warned(rc.mark_evaluate(X[:150], np.repeat(Y[:30], 5, axis=0)), "120 of 150", "repeat")
    quiet = rc.mark_evaluate(X[:150], np.random.RandomState(5).randn(150, 8))
    assert quiet.warnings == ()


def test_unequal_sizes_shift_scores_and_balance_mends_it():
    """One distribution, 16 dimensions, k = 1: 1000 v 1000 gives .82/.82, 1000 v 100 .97/.71, 100 v 1000 .70/.96."""
    rng = np.random.default_rng(11)
    large, small = rng.standard_normal((1000, 16)), rng.standard_normal((100, 16))
    other = rng.standard_normal((1000, 16))
    even = rc.mark_evaluate(large, other)
    assert (even.quality, even.diversity) == pytest.approx((0.82, 0.82), abs=0.03)
    shifted = rc.mark_evaluate(large, small)
    assert (shifted.quality, shifted.diversity) == pytest.approx((0.97, 0.71), abs=0.03)
    turned = rc.mark_evaluate(small, large)
    assert (turned.quality, turned.diversity) == pytest.approx((0.70, 0.96), abs=0.03)
    balanced = rc.mark_evaluate(large, small, balance=20)
    assert abs(balanced.quality - balanced.diversity) < 0.06 < shifted.quality - shifted.diversity
    assert not warned(balanced, "set sizes differ")
    assert balanced.signature["balance"] == {"size": 100, "draws": 20, "seed": 0}
    assert len(balanced.reference_inside) == 1000


def test_balanced_scores_warn_for_themselves():
    """Not of what only the whole sets show: their sizes, or a Petersen score of 1."""
    whole = rc.mark_evaluate(X, X[:100])
    assert warned(whole, "Petersen is 1") and warned(whole, "set sizes differ")
    balanced = rc.mark_evaluate(X, X[:100], balance=5)
    assert balanced.petersen < 1
    assert not warned(balanced, "Petersen is 1") and not warned(balanced, "set sizes differ")
    assert "balance" not in rc.mark_evaluate(X[:100], Y[:100], balance=5).signature  # nothing to balance


def test_balanced_prd_has_the_mean_curve():
    from recapture.sets.metric_functions import measure
    from recapture.sets.metrics.prd import METRIC as PRD

    rng = np.random.default_rng(2)
    order = content_order(X)  # from which subsamples are drawn
    draws = [order[rng.choice(200, 150, replace=False)] for _ in range(2)]
    curves = [measure(PRD, X[rows], Y, seed=2).precision for rows in draws]
    np.testing.assert_allclose(rc.prd(X, Y, balance=2, seed=2).precision, np.mean(curves, axis=0))


def test_balance_is_the_mean_over_seeded_subsamples():
    by_hand = []
    rng = np.random.default_rng(9)
    for _ in range(4):
        rows = content_order(X)[rng.choice(200, 150, replace=False)]  # from which subsamples are drawn
        by_hand.append(rc.mark_evaluate(X[rows], Y).petersen)
    result = rc.mark_evaluate(X, Y, balance=4, seed=9)
    assert result.petersen == pytest.approx(np.mean(by_hand))
    assert result.balance_spread["petersen"] == pytest.approx(np.std(by_hand, ddof=1))
    assert rc.mark_evaluate(X, Y, balance=4, seed=9).petersen == result.petersen
    assert rc.mark_evaluate(X, Y, balance=4, seed=10).petersen != result.petersen


def test_figure_2_falls_to_the_true_population():
    """Paper, Figure 2: estimates fall towards P and scores rise towards 1 as k grows."""
    rng = np.random.default_rng(12)
    sweep = rc.mark_evaluate_sweep(rng.standard_normal((600, 16)), rng.standard_normal((600, 16)), range(1, 41))
    for name in ("petersen", "quality", "diversity", "capture"):
        scores = [sweep[k].values[name] for k in range(1, 41)]
        assert scores[0] < 0.96 and scores[-1] > 0.99
        assert scores == sorted(scores)
