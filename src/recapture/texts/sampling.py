"""A seeded choice of texts where a set has more than are wanted."""

from __future__ import annotations

import numpy as np


def sample_places(count: int, size: int | None, seed: int) -> np.ndarray:
    """Which of `count` entries to take so that at most `size` are left: places in rising order, without repeats.

    They depend on these three numbers alone: neither on the texts nor on other sets. Sets with as many entries keep the
    same places, so what belongs together (texts of one prompt, labels of groups) stays together.
    """
    if size is None or count <= size:
        return np.arange(count)
    return np.sort(np.random.default_rng(seed).choice(count, size, replace=False))
