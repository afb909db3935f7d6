"""What goes to a device: every row of every text once, against a loop that writes them down one by one."""

from __future__ import annotations

import random
from collections import Counter

import numpy as np
import pytest

from recapture.representations.masked_device import Windows, batches, runs
from recapture.representations.pieces import Pieces

torch = pytest.importorskip("torch", reason="needs recapture[models]")


def test_runs_are_those_of_a_loop() -> None:
    rng = np.random.default_rng(0)
    for size in (0, 1, 7):
        starts, counts = rng.integers(0, 50, size), rng.integers(0, 4, size)
        expected = [start + at for start, count in zip(starts, counts, strict=True) for at in range(count)]
        assert runs(starts, counts).tolist() == expected


@pytest.mark.parametrize("batch_tokens", [1, 30, 10_000])
@pytest.mark.parametrize("texts", [0, 1, 40])
def test_batches_hold_every_row_of_a_loop(texts: int, batch_tokens: int) -> None:
    """Texts with different special tokens around them, with none of their own, and in overlapping windows."""
    rng = random.Random(texts)
    pieces: list[Pieces] = []
    places: list[tuple[int, int, int, int]] = []
    expected: Counter[tuple[tuple[int, ...], int, int]] = Counter()
    starts, done = [], 0
    for text in range(texts):
        own = tuple(rng.choices(range(100, 999), k=rng.randint(0, 9)))
        before, behind = (tuple(rng.choices(range(9), k=rng.randint(0, 2))) for _ in range(2))
        middle = rng.randint(0, len(own))
        windows = [(0, len(own), 0, middle), (min(1, middle), len(own), middle, len(own))]
        starts.append(done)
        for start, stop, first, last in windows:
            pieces.append(Pieces(before, own[start:stop], behind))
            places.append((text, start, first, last))
            for piece in range(first, last):
                row = (*before, *own[start:stop], *behind)
                expected[row, len(before) + piece - start, done + piece] += 1
        done += len(own)
    columns = np.array(places, np.int64).reshape(-1, 4).T
    found: Counter[tuple[tuple[int, ...], int, int]] = Counter()
    lengths = []
    for ids, window, place, target in batches(
        Windows(pieces, *columns), np.array(starts, np.int64), batch_tokens, torch.device("cpu")
    ):
        rows = ids[window]
        assert rows.numel() <= max(batch_tokens, rows.shape[1])
        lengths.append(rows.shape[1])
        found.update(zip(map(tuple, rows.tolist()), place.tolist(), target.tolist(), strict=True))
    assert found == expected
    assert lengths == sorted(lengths, reverse=True)
