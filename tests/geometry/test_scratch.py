"""Memory that threads use in turn."""

import contextlib

import numpy as np

from recapture.geometry import scratch
from recapture.geometry.scratch import Scratch, ScratchPool


def test_memory_is_used_again_and_grows():
    scratch = Scratch()
    first = scratch.array("a", (3, 4), np.float32)
    assert first.shape == (3, 4) and first.dtype == np.float32
    assert np.shares_memory(first, scratch.array("a", (2, 5), np.float32))
    assert not np.shares_memory(first, scratch.array("b", (2, 5), np.float32))
    assert scratch.array("a", (5, 5), np.float32).shape == (5, 5)
    first = scratch.zeros("c", (2, 2))
    first += 1
    assert not scratch.zeros("c", (2, 2)).any()


def test_what_is_taken():
    scratch, rows = Scratch(), np.arange(12, dtype=np.float32).reshape(4, 3)
    places = np.array([[3, 0], [2, 2]])
    np.testing.assert_array_equal(scratch.doubled(scratch.taken(rows, places)), rows[places].astype(np.float64))


def test_no_two_share_it():
    pool = ScratchPool(Scratch)
    with pool.one() as one, pool.one() as other:
        assert one is not other
    with pool.one() as again:
        assert again in (one, other)
    assert pool.made == [one, other]
    with contextlib.suppress(KeyError), pool.one():
        raise KeyError
    with pool.one(), pool.one():
        assert len(pool.made) == 2


def test_very_much_is_not_kept(monkeypatch):
    monkeypatch.setattr(scratch, "_MOST", 10)
    own = Scratch()
    assert own.array("rows", (2, 5)).base is not None  # a view of what is kept
    assert own.array("rows", (2, 6)).base is None and own._kept["rows"].size == 10
