"""Memory grows with tiles, never with n x m."""

import tracemalloc

import numpy as np
import pytest

from recapture.geometry.overlap import overlap
from recapture.geometry.parallel import engine
from recapture.geometry.points import PointSet


def peak_of(rows, **options):
    rng = np.random.default_rng(1)
    reference, candidate = (rng.standard_normal((rows, 16), dtype=np.float32) for _ in range(2))
    with engine(**options):
        overlap(PointSet(reference[:100]), PointSet(candidate[:100]), (1,))  # libraries load
        tracemalloc.start()
        try:
            overlap(PointSet(reference), PointSet(candidate), (1, 3, 5))
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()


@pytest.mark.slow
def test_peak_is_far_below_the_distance_matrix():
    rows = 6000
    assert peak_of(rows, threads=2) < rows * rows * 4 / 3  # a single n x m float32 matrix is 144 MB


@pytest.mark.slow
def test_peak_grows_with_rows_not_with_their_square():
    # Four times the rows: linear parts grow fourfold, an n x m matrix would grow sixteenfold.
    small, large = peak_of(2000, tile=256, threads=1), peak_of(8000, tile=256, threads=1)
    assert large < 5 * small
