"""k-means: several seeded clusterings of the same rows at once, the same whatever the number of threads.

Sets of few rows are clustered by float32 products (`lloyd`). From many rows on numbers are rounded to a grid on which
products and sums have no rounding errors (`grid_kmeans`), so that the processor's threads and a device
(`device_kmeans`) find the same clusters.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from .device_kmeans import cluster_on
from .devices import accelerator_for, tried_on
from .few_centres import FEW, move_together
from .grid_kmeans import GridClustering, on_grid
from .lloyd import ROWS, STEPS, Clustering, Points
from .parallel import blocks, one_blas_thread, run_tiles
from .sparse_rows import CentredTiles, Rows, SparseRows

DESCRIPTION = f"k-means++ start, at most {STEPS} steps"

# Numbers times clusters below which threads cost more than they save.
_LITTLE = 2**20
_MANY = 2**15
"""Rows from which on clusters are found on a grid: it depends on the rows alone, never on the device."""
_MORE = 256
"""What a row takes beside its products, in centres: where these are few, all of them move in every step."""


def kmeans(rows: Rows | CentredTiles, weight: np.ndarray, clusters: int, seeds: Sequence[int]) -> np.ndarray:
    """(seeds, rows) the cluster of every row in each clustering.

    rows: all different, centred, of a size around 1 (float32). weight: how many samples each stands for.
    """
    assert not isinstance(rows, SparseRows)  # centred, they are not sparse
    if clusters == 1:
        return np.zeros((len(seeds), len(rows)), np.int64)
    if len(rows) <= clusters:
        return np.tile(np.arange(len(rows)), (len(seeds), 1))
    if isinstance(rows, CentredTiles) or len(rows) < _MANY:
        points = Points.of(rows, weight)
        runs = [Clustering(points, clusters, seed) for seed in seeds]
    else:
        grid = on_grid(rows, weight)
        device = accelerator_for(len(rows), len(seeds) * (clusters + _MORE))
        found = tried_on(device, lambda device: cluster_on(device, grid, clusters, seeds))
        if found is not None:
            return found
        runs = [GridClustering(grid, clusters, seed) for seed in seeds]
    grids = [run for run in runs if isinstance(run, GridClustering)]
    with one_blas_thread:  # several would round differently with their number
        if grids and clusters <= FEW:
            run_tiles(lambda run: run.start(), grids, "clustering")
            _all_together([run for run in grids if run.drawing], lambda run: not run.drawing)
            move_together(grids)
        elif len(rows) > ROWS:
            run_tiles(lambda run: run.start(), runs, "clustering")
            _all_together(runs, lambda run: run.finished)
        elif rows.shape[0] * rows.shape[1] * clusters > _LITTLE:
            run_tiles(lambda run: run.complete(), runs, "clustering")
        else:
            for run in runs:
                run.complete()
    return np.stack([run.label for run in runs])


def _all_together(runs: Sequence[Clustering], done: Callable[[Clustering], bool]) -> None:
    def compare(part: slice) -> None:
        # The rows of a tile stay in the core's cache while all clusterings use them.
        rows = runs[0].points.wide[part]
        for run in runs:
            run.compare(part, rows)

    while runs:
        tiles = blocks(len(runs[0].label), min(run.rows_at_once for run in runs))
        run_tiles(compare, tiles, "clustering")
        run_tiles(lambda run: run.advance(), runs, "clustering")
        runs = [run for run in runs if not done(run)]
