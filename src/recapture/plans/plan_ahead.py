"""What a plan of two large files takes, before it is made."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any

import numpy as np

from ..errors import InputError
from ..sets.evaluate import work_of_evaluate
from ..sets.work_ahead import COPIES, Clock, SetWork, WorkAhead, resident
from ..texts.reading import Source, chosen_format, read_together, vector_blocks
from .planned_work import planned_metrics
from .tile_plan import cuts_of

_LONGER = 1.4
"""A plan's time beside that of one process: each pair of one side is looked at from both of its rows."""
_HELD, _A_ROW = 200e6, 160
"""Bytes that a part holds, whatever the size of the files, and for each of their rows."""
_KEPT_A_ROW = 40
"""Bytes of all parts for each row of either file, about: radii, numbers and flags."""


def plan_ahead(
    reference: str,
    candidate: str,
    metrics: str | Iterable[str] | None = None,
    k: int | None = None,
    *,
    parts: int | None = None,
    field: str | None = None,
    format: str | None = None,  # noqa: A002 - as make_plan has it
    clock: Clock = time.perf_counter,
    **encoding: Any,
) -> WorkAhead:
    """Time of all parts in one process, memory of one process, and disk of the plan's folder."""
    names = planned_metrics(metrics)
    opened = [_opened(path, field, format) for path in (reference, candidate)]
    sets: list[Any] = opened
    if any(each is None for each in opened):
        sets = [samples.content for samples in read_together((reference, candidate), (format, format), field=field)]
    given = {"references": sets[0], "candidates": {"candidate": sets[1]}, "metrics": names, "k": k, "ceiling": False}
    given |= {name: own for name, own in encoding.items() if own}
    texts = opened[0] is None and not hasattr(sets[0], "shape")
    # Parts neither look into the cache nor fill it.
    work = SetWork(work_of_evaluate({**given, "cache": False} if texts else given), clock=clock)
    if work.learns:
        raise InputError("this encoder learns from texts, which parts of a plan cannot: encode both files first")
    alone = work.at(work.size)
    rows = [len(each) for each in sets]
    cuts = cuts_of(max(rows), parts)
    of_rows = [min(cuts, many) for many in rows]
    many, kinds = sum(of_rows) + of_rows[0], "radii of both sides, then counts"
    if not texts:
        # Files that are not read where they lie are copied.
        copied = sum(0 if mapped is not None else each.nbytes for mapped, each in zip(opened, sets, strict=True))
    else:
        many, kinds = many + sum(of_rows) + 2, f"vectors, {kinds}"
        copied = 2 * 4 * work.dimensions * sum(rows)  # in parts, and in one file a side
    disk = int(_KEPT_A_ROW * sum(rows) + copied)
    done = {name: each for name, each in alone.seconds.items() if name != COPIES}
    seconds = {name: each if name == "encoding" else _LONGER * each for name, each in done.items()}
    facts = {**alone.facts, "parts": f"{many:,}: {kinds}"}
    held = resident() + _HELD + _A_ROW * sum(rows)
    return WorkAhead(seconds, facts, held, disk, alone.measured, "in the plan's folder")


def _opened(path: str, field: str | None, form: str | None) -> np.ndarray | None:
    """Vectors read where they lie; None: texts, or a kind of file that is copied."""
    known = chosen_format(Source(path), form)
    if known.is_text:
        return None
    found = vector_blocks(Source(path), known.name, field if known.has_fields else None)
    return None if found is None else found.mapped
