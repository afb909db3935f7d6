"""Histograms of many small pairs against a plain loop over coordinates, seed by seed and row by row."""

import math

import numpy as np
import pytest
from test_small import texts

import recapture as rc
from recapture.errors import InputError
from recapture.geometry import small_kmeans as module
from recapture.geometry import small_prd
from recapture.geometry.parallel import engine
from recapture.geometry.small_kmeans import small_kmeans
from recapture.geometry.small_prd import small_histograms


def plain_clustering(samples, clusters, seed):
    """One label a sample. k-means++ with the best of several draws, then Lloyd's steps; distances from differences."""
    rows, inverse, weight = np.unique(samples, axis=0, return_inverse=True, return_counts=True)
    rows, inverse = rows.astype(np.float64), inverse.reshape(-1)
    if len(rows) <= clusters:
        return inverse
    rng = np.random.default_rng(seed)

    def to(centre):
        return ((rows - centre) ** 2).sum(axis=1)

    chosen = [rng.choice(len(rows), p=weight / weight.sum())]
    while len(chosen) < clusters:
        far = np.min([to(rows[each]) for each in chosen], axis=0)
        drawn = rng.choice(len(rows), 2 + int(math.log(clusters)), p=weight * far / (weight * far).sum())
        left = {int(row): float((weight * np.minimum(far, to(rows[row]))).sum()) for row in drawn}
        chosen.append(min(row for row in left if left[row] <= min(left.values()) * (1 + 1e-9)))
    centres = [rows[each] for each in chosen]
    label = np.argmin([to(centre) for centre in centres], axis=0)
    for _ in range(30):
        for number in set(label.tolist()):
            centres[number] = np.average(rows[label == number], axis=0, weights=weight[label == number])
        distance = np.array([to(centre) for centre in centres])
        nearest = distance.argmin(axis=0)
        own = distance[label, np.arange(len(rows))]
        moved = np.where(distance.min(axis=0) < own, nearest, label)
        if (moved == label).all():
            break
        label = moved
    return label[inverse]


def plain_counts(reference, candidate, clusters, seed):
    """(reference count, candidate count) of every cluster that is not empty, sorted."""
    label = plain_clustering(np.concatenate([reference, candidate]), clusters, seed)
    n = len(reference)
    return sorted((int((label[:n] == each).sum()), int((label[n:] == each).sum())) for each in set(label.tolist()))


def found_counts(histograms, number):
    counts = zip(*(side.tolist() for side in histograms.counts(histograms.code[number])), strict=True)
    return sorted(each for each in counts if each != (0, 0))


def problems(seed=0):
    """Texts, plain clouds of several sizes, clumps, repeats, equal sets, sets too small for the clusters."""
    rng = np.random.default_rng(seed)
    sets, pairs = texts(seed + 20, 5, 2, 32)
    # Layers of these texts are translations of each other: distances tie, and rounding would choose centres.
    sets = [each + 0.05 * rng.standard_normal(each.shape, np.float32) for each in sets]
    clouds = [rng.standard_normal((size, 32)).astype(np.float32) for size in (90, 61, 150, 30, 7, 1)]
    clouds.append(np.repeat(clouds[3], 3, axis=0))
    clouds.append(clouds[0][::-1] + np.float32(0.2))
    clumps = rng.standard_normal((6, 32))[rng.integers(0, 6, 140)] + 0.05 * rng.standard_normal((140, 32))
    clouds.append(clumps.astype(np.float32))
    first = len(sets)
    pairs += [(first + i, first + (i + 1) % len(clouds)) for i in range(len(clouds))]
    pairs += [(first, first), (first + 6, first + 3), (first + 4, first + 5), (first + 5, first + 5)]
    return sets + clouds, pairs


@pytest.mark.slow
@pytest.mark.parametrize("clusters", [1, 2, 5, 20])
def test_equals_a_plain_loop(clusters):
    sets, pairs = problems()
    results = small_histograms(sets, pairs, clusters, clusterings=4, seed=3)
    for (i, j), histograms in zip(pairs, results, strict=True):
        different = len(np.unique(np.concatenate([sets[i], sets[j]]), axis=0))
        assert histograms.code.shape == (4, min(clusters, different))
        assert histograms.sizes == (len(sets[i]), len(sets[j]))
        for number in range(4):
            assert found_counts(histograms, number) == plain_counts(sets[i], sets[j], clusters, 3 + number), (i, j)


def test_order_of_rows_pairs_and_company_change_nothing():
    sets, pairs = problems(1)
    expected = small_histograms(sets, pairs, clusterings=3)
    rng = np.random.default_rng(0)
    shuffled = [rng.permutation(each) for each in sets]
    order = rng.permutation(len(pairs))
    for threads in (1, 3):
        with engine(threads=threads):
            others = small_histograms(shuffled, np.array(pairs)[order], clusterings=3)
        for place, number in enumerate(order):
            np.testing.assert_array_equal(others[place].code, expected[number].code)
    for number in (0, 7, 12):
        i, j = pairs[number]
        alone = small_histograms([sets[i], sets[j]], [(0, 1), (1, 0)], clusterings=3)
        np.testing.assert_array_equal(alone[0].code, expected[number].code)
        for each in range(3):
            turned = sorted((b, a) for a, b in found_counts(alone[1], each))
            assert turned == found_counts(expected[number], each)


@pytest.mark.parametrize("entries", [1, 1 << 15, 1 << 30])
def test_sets_clustered_together_do_not_mix(monkeypatch, entries):
    """Many pairs of one size, some with repeats, alone or in groups: the same to the last count."""
    rng = np.random.default_rng(5)
    sets = [rng.standard_normal((25, 6)).astype(np.float32) for _ in range(12)]
    for number in (3, 8):
        sets[number][10:] = sets[number][:15]
    sets[5] = 1e6 * sets[5]
    pairs = [(i, (i + 1) % 12) for i in range(12)]
    monkeypatch.setattr(small_prd, "_ENTRIES", entries)
    for (i, j), histograms in zip(pairs, small_histograms(sets, pairs, clusterings=2), strict=True):
        for number in range(2):
            assert found_counts(histograms, number) == plain_counts(sets[i], sets[j], 20, number), (i, j)


def test_equal_sets_have_equal_histograms():
    sets, _ = problems(2)
    for histograms in small_histograms(sets, [(i, i) for i in range(len(sets))]):
        np.testing.assert_array_equal(*histograms.counts(histograms.code))


def plain_f(reference, candidate, beta, angles=1001):
    """The largest F_beta over all angles."""
    best = 0.0
    for angle in np.linspace(1e-10, np.pi / 2 - 1e-10, angles):
        slope = math.tan(angle)
        precision = min(1.0, float(np.minimum(slope * reference, candidate).sum()))
        recall = min(1.0, float(np.minimum(reference, candidate / slope).sum()))
        if precision + recall:
            best = max(best, (1 + beta**2) * precision * recall / (beta**2 * precision + recall))
    return best


@pytest.mark.slow
def test_scores_are_prds():
    """Histograms of all clusterings lead to the numbers of `rc.prd`, and those to the definition's."""
    sets, pairs = problems(3)
    pairs = [(i, j) for i, j in pairs if min(len(sets[i]), len(sets[j])) > 1]  # the metric asks for two samples
    same = 0
    for (i, j), histograms in zip(pairs, small_histograms(sets, pairs), strict=True):
        shares = list(zip(*histograms.shares(slice(None)), strict=True))
        f8, f1_8 = (np.mean([plain_f(*each, beta) for each in shares]) for beta in (8, 1 / 8))
        single = rc.prd(sets[i], sets[j])
        same += (f8, f1_8) == pytest.approx((single.f8, single.f1_8), abs=1e-9)
        # One row of a near-tie in float32 may move one of ten clusterings.
        assert (f8, f1_8) == pytest.approx((single.f8, single.f1_8), abs=0.02)
    assert same >= len(pairs) - 2


def test_sets_without_samples_have_no_answer():
    sets = [np.empty((0, 3), np.float32), np.eye(3, dtype=np.float32)]
    results = small_histograms(sets, [(0, 1), (1, 1), (1, 0), (0, 0)])
    assert [each is None for each in results] == [True, False, True, True]
    assert found_counts(results[1], 0) == [(1, 1)] * 3
    assert small_histograms(sets, []) == []


def test_rows_that_rounding_cannot_tell_apart():
    """Different rows at no computed distance: each is a centre at most once, and every row gets a label."""
    rows = np.zeros((40, 4), np.float32)
    rows[:, 0] = 1
    rows[:, 1] = np.arange(40) * 1e-30
    rows[0] = -1
    for label in small_kmeans([rows], [np.ones(40)], 20, range(5))[0]:
        assert label.shape == (40,) and label.min() >= 0 and label.max() < 20
        assert label[0] not in label[1:]


def test_large_sets_go_to_the_other_k_means(monkeypatch):
    rng = np.random.default_rng(4)
    rows = rng.standard_normal((6, 8))[np.arange(120) % 6] + 0.01 * rng.standard_normal((120, 8))
    expected = small_kmeans([rows.astype(np.float32)], [np.ones(120)], 6, [0])[0, 0]
    monkeypatch.setattr(module, "_MOST_ROWS", 100)
    found = small_kmeans([rows.astype(np.float32)], [np.ones(120)], 6, [0])[0, 0]
    for label in (expected, found):  # clumps far apart: any k-means finds them
        assert len(set(zip(label.tolist(), (np.arange(120) % 6).tolist(), strict=True))) == 6


def test_bad_input_is_named():
    row = np.zeros((3, 2), np.float32)
    for options, message in (({"clusters": 0}, "clusters"), ({"clusterings": 1.5}, "clusterings")):
        with pytest.raises(InputError, match=f"{message} must be a whole number of at least 1"):
            small_histograms([row], [(0, 0)], **options)
