"""A worker's share of a plan: its own parts first and then, if it may wait, those of others that nobody is at.

So nobody waits for a worker that is slow, has not begun or was lost, but for the one part that such a worker is at.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterable
from contextlib import nullcontext
from pathlib import Path
from typing import NamedTuple

from ..errors import InputError
from ..geometry.devices import on_device
from ..progress import Progress
from .marks import Marks
from .phases import COUNTS, MissingPartsError, Part, rounds, wanted
from .planned_parts import PlannedParts

_SHORTEST_PAUSE, _LONGEST_PAUSE = 0.1, 15
"""Seconds between two looks for parts of others."""


class PlanRun(NamedTuple):
    """What a worker did."""

    made: list[str]
    """Names of parts that were made now."""
    found: list[str]
    """Those of its share that were there, and whole."""
    missing: list[str]
    """Parts of others that have to be there before it can go on; none where its share is complete."""


@on_device
def run_share(work: PlannedParts, worker: int, workers: int, wait: float, *, device: str | None) -> PlanRun:
    """wait: seconds at most for parts that others are at; 0: such parts, and all others but its own, are left alone."""
    return _Share(work, worker, workers, wait).run()


class _Share:
    def __init__(self, work: PlannedParts, worker: int, workers: int, wait: float) -> None:
        self._work, self._plan = work, work.plan
        self._worker, self._wait = worker, wait
        self._rounds = rounds(self._plan.parts)
        self._own = {part.name for together in self._rounds for part in together[worker - 1 :: workers]}
        # Of one worker, too, if it may wait: others may have been told the same.
        self._marks = Marks(self._plan.folder) if workers > 1 or wait else None
        # Storage elsewhere does not tell who marked a part first: workers without a share begin anywhere.
        alike = workers == 1 and bool(wait) and not isinstance(self._plan.folder, Path)
        self._place = secrets.randbelow(1 << 30) if alike else 0
        self._made: list[str] = []
        self._found: list[str] = []
        self._done = self._plan.done(lambda part: part.name in self._own, discard=True)

    def run(self) -> PlanRun:
        needed = wanted(self._plan.parts, self._done)
        missing: list[str] = []
        for together in self._rounds:
            here = [part for part in together if part.stage in needed]
            try:
                missing = self._complete(here)
            except MissingPartsError as lacking:  # they were damaged since they were made
                damaged = self._plan.named(lacking.names)
                for part in damaged:
                    if not self._plan.is_whole(part):  # somebody may have made it anew
                        self._plan.discard(part)
                missing = self._after_waiting(damaged, self._wait)
                missing = missing or self._complete(here)
            if missing:
                break
        return PlanRun(self._made, self._found, missing)

    def _complete(self, together: list[Part]) -> list[str]:
        """Do what is to be done of a round; names of the parts that are missing for the next one."""
        begun = {*self._made, *self._found}
        self._do([part for part in together if part.name in self._own and part.name not in begun])
        left = [part for part in together if part.name not in self._done]
        if together and together[-1].stage == COUNTS:  # nothing comes after them: own ones alone are waited for
            if self._wait:
                left_to_others = {part.name for part in left} - self._own
                missing = self._after_waiting(left, self._wait, left_to_others)
                return [name for name in missing if name not in left_to_others]
            return []
        return self._after_waiting(left, self._wait)

    def _do(self, parts: list[Part]) -> None:
        with Progress(f"parts of {self._plan.folder.name}", len(parts), "part") as progress:
            for part in _turned(parts, self._place):
                # Somebody else may have made it meanwhile.
                if part.name in self._done or self._plan.is_whole(part):
                    self._found.append(part.name)
                    self._done.add(part.name)
                elif self._marks is None or self._marks.first_free([part.name]) or not self._wait:
                    self._make(part)
                progress.advance()

    def _make(self, part: Part) -> None:
        """One part, marked as long as this worker is at it."""
        with nullcontext() if self._marks is None else self._marks.at(part.name):
            if not self._plan.is_whole(part):  # somebody may have ended it just before
                self._work.make(part)
                self._made.append(part.name)
            elif part.name in self._own:
                self._found.append(part.name)
        self._done.add(part.name)

    def _after_waiting(self, parts: list[Part], wait: float, optional: Iterable[str] = ()) -> list[str]:
        """Names of those of some parts that are not there after waiting for them; what nobody is at is done meanwhile.

        Whoever uses parts proves that they are whole. optional: names of parts that are done, but not waited for.
        """
        todo = {part.name: part for part in _turned(parts, self._worker + self._place)}  # workers begin at other places
        not_awaited, many = {*optional}, len(todo)
        since = time.monotonic()
        with Progress("parts of others", many, "part") as progress:
            while True:
                there, unread = set[str](), None
                try:
                    there = self._plan.look()
                except InputError as error:  # storage that does not answer once is asked again
                    unread = error
                todo = {name: part for name, part in todo.items() if name not in there}
                progress.advance(many - len(todo))
                many = len(todo)
                if wait and self._marks is not None and (name := self._marks.first_free(todo)) is not None:
                    self._make(todo.pop(name))
                    since = time.monotonic()
                    continue
                waited = time.monotonic() - since
                if unread is not None and waited >= wait:
                    raise unread
                if todo.keys() <= not_awaited or waited >= wait:
                    break
                # At most a tenth of a wait, or of a second, is for nothing.
                time.sleep(min(max(_SHORTEST_PAUSE, waited / 10), _LONGEST_PAUSE, wait - waited))
        there = {part.name for part in parts} - todo.keys()
        self._found += sorted(there & self._own - {*self._made, *self._found})  # somebody else has made them
        self._done |= there
        return [part.name for part in parts if part.name in todo]


def _turned(parts: list[Part], place: int) -> list[Part]:
    """Those from a place on, then those before."""
    cut = place % max(1, len(parts))
    return [*parts[cut:], *parts[:cut]]
