"""How tiles are shared out: errors, limits and settings."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import threadpoolctl

from recapture.errors import InputError
from recapture.geometry.overlap import overlap
from recapture.geometry.parallel import engine, engine_options, run_tiles
from recapture.geometry.points import PointSet


def blas_threads():
    return [library["num_threads"] for library in threadpoolctl.threadpool_info() if library["user_api"] == "blas"]


@pytest.mark.slow
def test_callers_in_parallel_agree_and_leave_blas_as_it_was():
    before = blas_threads()
    points = np.random.default_rng(1).standard_normal((600, 20))

    def count(seed):
        with engine(tile=64, threads=3):
            other = np.random.default_rng(seed % 3).standard_normal((500, 20))
            return overlap(PointSet(points), PointSet(other), (2,)).at(2).b

    with ThreadPoolExecutor(6) as pool:
        found = list(pool.map(count, range(18)))
    assert all(len(set(found[start::3])) == 1 for start in range(3))
    assert blas_threads() == before


@pytest.mark.parametrize("threads", [1, 4])
def test_the_first_error_stops_the_rest(threads):
    seen = []

    def work(tile):
        seen.append(tile)
        if tile == 3:
            raise ValueError("tile 3")

    with engine(threads=threads), pytest.raises(ValueError, match="tile 3"):
        run_tiles(work, range(100_000), "test")
    assert len(seen) < 100_000


@pytest.mark.parametrize("threads", [1, 3])
def test_work_sees_the_callers_options(threads):
    """Else a part that is measured in a thread would go to a GPU though the caller asked for the processor."""
    seen = []
    with engine(threads=threads, tile=7, device="cpu") as options:
        run_tiles(lambda _: seen.append(engine_options()), range(9), "test")
    assert seen == [options] * 9


def test_number_of_threads(monkeypatch):
    monkeypatch.setenv("RECAPTURE_THREADS", "3")
    assert engine_options().thread_count() == 3
    with engine(threads=2):
        assert engine_options().thread_count() == 2
    for wrong in ("0", "many", "-1"):
        monkeypatch.setenv("RECAPTURE_THREADS", wrong)
        with pytest.raises(InputError, match="RECAPTURE_THREADS"):
            engine_options().thread_count()


def test_work_that_few_threads_do_best():
    seen = set()

    def work(_):
        seen.add(threading.get_ident())
        time.sleep(0.002)

    with engine(threads=8):
        run_tiles(work, range(40), "few", 3)
    assert len(seen) == 3
