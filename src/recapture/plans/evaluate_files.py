"""From files to results by plans: made in one storage, run by some engine, merged; one call."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from hashlib import blake2b
from pathlib import Path
from typing import Any

from ..checks import path_of, plain_arguments
from ..errors import InputError
from ..geometry.devices import check_there
from ..sets.table import SetResults
from .places import place_of
from .planned_work import RAY, check_engine, made_folder, make_plan, merge_plan, run_whole
from .tile_plan import FILE, TilePlan

PathLike = str | os.PathLike[str]


@plain_arguments
def evaluate_files(
    reference: PathLike,
    candidates: PathLike | Mapping[str, PathLike],
    storage: PathLike,
    metrics: str | Iterable[str] | None = None,
    k: int | None = None,
    *,
    engine: str = "local",
    address: str | None = None,
    device: str | None = None,
    offline: bool | None = None,
    **planning: Any,
) -> SetResults:
    """How close sets in files are to a reference set in a file, by metrics of neighbourhoods: plan, run, merge in one.

    What is interrupted goes on where it stopped when it is called again. What is found of the reference alone, vectors
    of texts and radii, is found once for all candidates where it is cut into the same parts.

    Parameters
    ----------
    reference : str or path
        A file, by path or URL; see `make_plan`.
    candidates : str or path, or mapping of str to such
        One candidate, or several by name.
    storage : str or path
        A folder, or a URL that fsspec knows, for a plan of each candidate; it is made. With a cluster all nodes have to
        see it.
    metrics, k
        As for `make_plan`.
    engine, address, device, offline
        As for `run_plan`; offline also for `make_plan`.
    **planning
        Whatever else `make_plan` takes, such as `parts` and `field`.

    Returns
    -------
    SetResults
        What `evaluate` has for the same sets without its ceiling, to the last digit.

    Raises
    ------
    InputError
        Where metrics cannot be planned, and where `make_plan`, `run_plan` or `merge_plan` would refuse something.

    See Also
    --------
    evaluate : for sets that fit into memory; has human bands, p-values and intervals.

    Examples
    --------
    >>> import numpy as np
    >>> import recapture as rc
    >>> human, model = np.random.default_rng(0).standard_normal((2, 300, 8))
    >>> np.save("human.npy", human)
    >>> np.save("model.npy", model)
    >>> results = rc.evaluate_files("human.npy", {"model": "model.npy"}, "kept", k=3, parts=2)
    >>> results["model"]["mark-evaluate"].counts == rc.mark_evaluate(human, model, k=3).counts
    True
    """
    if isinstance(candidates, (list, tuple)):
        raise InputError('several candidates are given by name, such as {"a": "a.npy", "b": "b.npy"}, not as a list')
    named = candidates if isinstance(candidates, Mapping) else {Path(path_of(candidates)).name: candidates}
    if not named:
        raise InputError("there is no candidate")
    check_engine(engine, address)
    if device is not None and engine != RAY:  # before plans are made, which would be in the way of others
        check_there(device)
    place = place_of(path_of(storage, "the storage"))
    chosen = list(metrics) if isinstance(metrics, Iterable) and not isinstance(metrics, str) else metrics
    folders = {str(name): str(place / _folder_name(str(name))) for name in named}
    with made_folder(place):
        if (place / FILE).is_file():
            raise InputError(f"{place} is the folder of a plan: name another storage")
        for name, path in named.items():  # all are looked through before any work
            called = str(name)
            make_plan(reference, path, folders[called], chosen, k, candidate_name=called, offline=offline, **planning)
    plans = [TilePlan.opened(place_of(folder)) for folder in folders.values()]
    for plan in plans:
        run_whole(plan, None if plan is plans[0] else plans[0], device, offline, engine, address)
    results = None
    for folder in folders.values():
        merged = merge_plan(folder)
        if results is not None:
            inputs = {**results.inputs, **merged.inputs}
            results |= merged
            results.inputs = inputs
        else:
            results = merged
    assert results is not None
    return results


def _folder_name(candidate: str) -> str:
    """Any name may be a candidate's; what tells it from others is its digest."""
    told = re.sub(r"[^A-Za-z0-9_-]+", "-", candidate).strip("-")[:40]
    return f"{told or 'candidate'}-{blake2b(candidate.encode('utf-8', 'backslashreplace'), digest_size=4).hexdigest()}"
