"""Steps of a study spread over processes, each step by itself: how many processes there are changes no number."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from typing import Any

import recapture as rc

from .progress import progress_bar

Work = Callable[[str], Any]
"""From a step's key to its value, which JSON can say; of a class at the top of a module, so that it can be sent."""
Told = Callable[[str], None]
_ONE_THREAD = {"RECAPTURE_THREADS": "1", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
"""Processes are as many as cores already."""
_WAITING = 2
"""Steps handed out before a process is free for them; few, since an end of time waits for them."""
_TOLD = 50
"""Steps from one sentence about how far the work is to the next."""
_work: Work | None = None
"""What this process does, where it is one of many."""


def spread_steps(
    steps: rc.Journal,
    keys: Sequence[str],
    work: Work,
    jobs: int,
    title: str,
    *,
    until: float = float("inf"),
    tell: Told = lambda words: None,
) -> dict[str, Any]:
    """The values by key, in the order of the keys; kept one by one as they are made, and not made again.

    No step is begun after `until`, a time of `time.monotonic`: what is missing then is not in the answer, and the next
    call goes on from there.
    """
    begun = time.monotonic()
    known = steps.finished()
    missing = [key for key in keys if key not in known]
    tell(f"{len(keys) - len(missing)} of {len(keys)} steps are done")
    spread = _in_processes if jobs > 1 and len(missing) > 1 else _in_this_one
    made = spread(_in_time(missing, until), work, min(jobs, len(missing)))
    with progress_bar(title, len(missing), "step") as progress, contextlib.closing(made):
        for done, (key, value) in enumerate(made, 1):
            known[key] = steps.get(key, lambda value=value: value)  # type: ignore[misc]
            progress.advance()
            if done % _TOLD == 0:
                tell(f"{done} of {len(missing)} steps, {time.monotonic() - begun:.0f} s")
    return {key: known[key] for key in keys if key in known}


def _in_time(keys: Sequence[str], until: float) -> Iterator[str]:
    for key in keys:
        if time.monotonic() > until:
            return
        yield key


def _in_this_one(keys: Iterator[str], work: Work, _: int) -> Generator[tuple[str, Any], None, None]:
    for key in keys:
        yield key, work(key)


def _in_processes(keys: Iterator[str], work: Work, jobs: int) -> Generator[tuple[str, Any], None, None]:
    from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
    from itertools import islice
    from multiprocessing import get_context

    with one_thread():
        # Started anew, not forked: a fork of a process that has threads may wait for ever.
        pool = ProcessPoolExecutor(jobs, get_context("spawn"), initializer=_begin, initargs=(work,))
        try:
            running: dict[Future[Any], str] = {}
            while True:
                for key in islice(keys, jobs + _WAITING - len(running)):
                    running[pool.submit(_do, key)] = key
                if not running:
                    return
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    yield running.pop(future), future.result()
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def _begin(work: Work) -> None:
    global _work
    _work = work


def _do(key: str) -> Any:
    assert _work is not None
    return _work(key)


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    """Of recapture, and of processes that begin meanwhile also of the libraries."""
    before = {name: os.environ.get(name) for name in _ONE_THREAD}
    os.environ.update(_ONE_THREAD)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
