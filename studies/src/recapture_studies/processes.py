"""Steps of a study spread over processes, each step by itself: how many processes there are changes no number."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Generator, Iterator, Sequence
from typing import Any

import recapture as rc

from .progress import progress_bar

Work = Callable[[str], Any]
"""From a step's key to its value, which JSON can say; of a class at the top of a module, so that it can be sent."""
_ONE_THREAD = {"RECAPTURE_THREADS": "1", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
"""Processes are as many as cores already."""
_work: Work | None = None
"""What this process does, where it is one of many."""


def spread_steps(steps: rc.Journal, keys: Sequence[str], work: Work, jobs: int, title: str) -> list[Any]:
    """The values of all keys, in their order; kept one by one as they are made, and not made again."""
    known = steps.finished()
    missing = [key for key in keys if key not in known]
    spread = _in_processes if jobs > 1 and len(missing) > 1 else _in_this_one
    with progress_bar(title, len(missing), "run") as progress, contextlib.closing(spread(missing, work, jobs)) as made:
        for key, value in made:
            known[key] = steps.get(key, lambda value=value: value)  # type: ignore[misc]
            progress.advance()
    return [known[key] for key in keys]


def _in_this_one(keys: Sequence[str], work: Work, _: int) -> Generator[tuple[str, Any], None, None]:
    for key in keys:
        yield key, work(key)


def _in_processes(keys: Sequence[str], work: Work, jobs: int) -> Generator[tuple[str, Any], None, None]:
    from concurrent.futures import ProcessPoolExecutor, as_completed
    from multiprocessing import get_context

    with _environment(_ONE_THREAD):
        # Started anew, not forked: a fork of a process that has threads may wait for ever.
        pool = ProcessPoolExecutor(min(jobs, len(keys)), get_context("spawn"), initializer=_begin, initargs=(work,))
        try:
            waiting = {pool.submit(_do, key): key for key in keys}
            for done in as_completed(waiting):
                yield waiting[done], done.result()
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def _begin(work: Work) -> None:
    global _work
    _work = work


def _do(key: str) -> Any:
    assert _work is not None
    return _work(key)


@contextlib.contextmanager
def _environment(values: dict[str, str]) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
