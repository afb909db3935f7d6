"""Run independent tiles on all cores, one BLAS thread each, so that a tile stays in its core's cache."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, TypeVar

from ..checks import check_count, typed_number
from ..progress import Progress

Item = TypeVar("Item")

_LARGEST_TILE = 1 << 16
_MOST_THREADS = 1_024
_AHEAD = 64
"""Tiles handed out for each thread: enough that one slow tile lets no thread stand idle."""


@dataclass(frozen=True)
class EngineOptions:
    """How the work is cut up. No result depends on it."""

    tile: int = 960
    """Rows and columns of one tile of distances; rows of 2^k floats would fall on the same cache lines."""
    threads: int | None = None
    """Worker threads; None: RECAPTURE_THREADS, or else the cores this process may use."""
    device: str = "auto"
    """What the caller asked for; see `devices`."""
    accelerator: str | None = None
    """torch's name of the device that looks for neighbours, whatever was asked for and however few they are."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "tile", check_count("tile", self.tile, 1, _LARGEST_TILE))
        if self.threads is not None:
            object.__setattr__(self, "threads", check_count("threads", self.threads, 1, _MOST_THREADS))

    def thread_count(self) -> int:
        if self.threads is not None:
            return self.threads
        chosen = os.environ.get("RECAPTURE_THREADS", "")
        if chosen:
            return check_count("RECAPTURE_THREADS", typed_number(chosen), 1, _MOST_THREADS)
        if hasattr(os, "sched_getaffinity"):
            return max(1, len(os.sched_getaffinity(0)))
        return os.cpu_count() or 1


_DEFAULT = EngineOptions()
_options: ContextVar[EngineOptions] = ContextVar("recapture_engine_options")


def engine_options() -> EngineOptions:
    return _options.get(_DEFAULT)


@contextlib.contextmanager
def engine(**changes: Any) -> Iterator[EngineOptions]:
    """Use other tile sizes or thread counts inside a `with` block."""
    token = _options.set(replace(engine_options(), **changes))
    try:
        yield engine_options()
    finally:
        _options.reset(token)


def run_tiles(work: Callable[[Item], None], tiles: Sequence[Item], title: str, most_threads: int | None = None) -> None:
    """Call `work` once for every tile, in no promised order, under the caller's options; the first error stops the
    rest.

    most_threads: beyond which work that is largely Python's own goes slower, as its threads wait for each other.
    """
    allowed = engine_options().thread_count()
    threads = min(allowed, len(tiles), most_threads or allowed)
    if threads <= 1:
        limits = one_blas_thread if allowed == 1 else contextlib.nullcontext()
        with limits, Progress(title, len(tiles), "tile") as progress:
            for tile in tiles:
                work(tile)
                progress.advance()
        return
    pool = ThreadPoolExecutor(
        threads, thread_name_prefix="recapture", initializer=_options.set, initargs=(engine_options(),)
    )
    try:
        with one_blas_thread, Progress(title, len(tiles), "tile") as progress:
            waiting: deque[Future[None]] = deque()
            for tile in tiles:
                # Not all are handed out at once: what an error is to stop must not have been begun long before.
                if len(waiting) == _AHEAD * threads:
                    waiting.popleft().result()
                    progress.advance()
                waiting.append(pool.submit(work, tile))
            for future in waiting:
                future.result()
                progress.advance()
    finally:
        # After Ctrl-C or an error the tiles still waiting are dropped, not finished.
        pool.shutdown(wait=True, cancel_futures=True)


def blocks(count: int, size: int) -> list[slice]:
    return [slice(start, min(start + size, count)) for start in range(0, count, size)]


@lru_cache(maxsize=1)
def _controller(modules: int) -> Any:
    """Looking for BLAS among the loaded libraries takes a millisecond: done again only when modules were imported."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


class _OneBlasThread:
    """Limit BLAS to one thread while the main thread is inside. The limit belongs to the whole process, and OpenBLAS
    0.3.31 lets no other thread lift what one has set: callers in other threads leave it alone.
    """

    def __init__(self) -> None:
        self._inside = 0
        self._limit: Any = None

    def __enter__(self) -> None:
        if threading.current_thread() is threading.main_thread():
            self._inside += 1
            if self._inside == 1:
                self._limit = _controller(len(sys.modules)).limit(limits=1, user_api="blas")

    def __exit__(self, *_: object) -> None:
        if threading.current_thread() is threading.main_thread():
            self._inside -= 1
            if self._inside == 0:
                self._limit.restore_original_limits()


one_blas_thread = _OneBlasThread()
