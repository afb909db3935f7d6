"""Mean and covariance of triangle ranks over all labellings: against every labelling, counted in fractions."""

import itertools

import numpy as np
import pytest
from brute_force import all_credits, shares

from recapture.geometry import triangle_moments as module
from recapture.geometry.parallel import engine
from recapture.geometry.triangle_moments import triangle_moments


def square(rng, points, symmetric, most=9):
    made = rng.integers(0, most, (points, points))
    made = made + made.T if symmetric else made
    np.fill_diagonal(made, 0)
    return made


def every_labelling(distances, n):
    """(labellings, 6) shares and (labellings, points) who is a candidate, by definition."""
    points = len(distances)
    earned = all_credits(distances.tolist(), "split")
    rows, labels = [], []
    for candidates in itertools.combinations(range(points), points - n):
        references = [point for point in range(points) if point not in candidates]
        both = shares(earned, candidates, references) + shares(earned, references, candidates)
        rows.append([float(share) for share in both])
        labels.append([point in candidates for point in range(points)])
    return np.array(rows), np.array(labels, float)


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("n, m", [(4, 4), (5, 3), (3, 5), (2, 4)])
def test_against_every_labelling(n, m, symmetric):
    rng = np.random.default_rng([n, m, symmetric])
    distances = square(rng, n + m, symmetric)
    rows, labels = every_labelling(distances, n)
    found = triangle_moments(distances.astype(float), n)
    assert found.centre == pytest.approx(rows.mean(axis=0), abs=1e-13)
    assert found.covariance == pytest.approx(np.cov(rows.T, bias=True), abs=1e-13)
    # The best fit by a sum over single points, by least squares.
    centred = labels - labels.mean(axis=0)
    fitted = centred @ np.linalg.lstsq(centred, rows - rows.mean(axis=0), rcond=None)[0]
    assert found.linear == pytest.approx(fitted.T @ fitted / len(rows), abs=1e-13)


def test_the_mean_is_a_third_exactly_where_distances_are_symmetric():
    """Each edge of a triangle is the within edge of one of its three corners: three ranks for three edges."""
    rng = np.random.default_rng(0)
    assert triangle_moments(square(rng, 30, True).astype(float), 12).centre == pytest.approx(1 / 3, abs=1e-15)
    assert np.abs(triangle_moments(square(rng, 30, False).astype(float), 12).centre - 1 / 3).max() > 1e-3


def test_one_candidate_has_triangles_one_way_alone():
    distances = square(np.random.default_rng(1), 7, True)
    earned = all_credits(distances.tolist(), "split")
    rows = [shares(earned, [one], [other for other in range(7) if other != one]) for one in range(7)]
    found = triangle_moments(distances.astype(float), 6)
    assert found.covariance[:3, :3] == pytest.approx(np.cov(np.array(rows, float).T, bias=True), abs=1e-13)
    assert not found.covariance[3:].any()


@pytest.mark.parametrize("symmetric", [True, False])
def test_no_result_depends_on_tiles_and_threads(monkeypatch, symmetric):
    distances = square(np.random.default_rng(2), 23, symmetric).astype(float)
    expected = triangle_moments(distances, 10)
    for cells, threads in ((1, 1), (50, 3), (1 << 20, 2)):
        monkeypatch.setattr(module, "_CELLS", cells)
        with engine(threads=threads):
            found = triangle_moments(distances, 10)
        assert all(np.array_equal(*pair) for pair in zip(found, expected, strict=True))
