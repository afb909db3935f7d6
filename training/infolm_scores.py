"""InfoLM's scores of summaries at every setting of a grid, for the study summary-parameters; best on a GPU.

    python -m training.infolm_scores --data DATA --output OUT/scores.tar.xz --device cuda --workers 8

DATA holds `realsumm` (docs/studies.md). Unpack the result in the folder `scores` of the cache, and the study finds it:
names of files say what was scored, not where. Nothing is drawn at random.
"""

from __future__ import annotations

import argparse
import sys
import tarfile
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path


def _jobs(data: Path, quick: bool) -> list[tuple[str, str]]:
    """Part and task, by name."""
    from recapture_studies import study
    from recapture_studies.infolm import summary_parameters

    setup = study.Setup(data, quick=quick, encoding={"offline": True})
    return [
        (part.name, task.label)
        for part in summary_parameters.parameter_parts(setup)
        for task in part.tasks
        if task.metric == "infolm"
    ]


def _score(job: tuple[str, str], data: Path, folder: Path, device: str, quick: bool) -> str:
    from recapture_studies import item_scores, study
    from recapture_studies.infolm import summary_parameters

    start = time.perf_counter()
    setup = study.Setup(data, quick=quick, encoding={"offline": True})
    for part in summary_parameters.parameter_parts(setup):
        chosen = [task for task in part.tasks if (part.name, task.label) == job]
        if chosen:
            item_scores.fill([replace(part, tasks=chosen)], device=device, offline=True, folder=folder)
    return f"{' '.join(job)}: {time.perf_counter() - start:.0f} s"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--output", type=Path, required=True, help="a .tar.xz file")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--quick", action="store_true", help="three documents and four systems, to try it")
    given = parser.parse_args(arguments)
    jobs = _jobs(given.data, given.quick)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with ProcessPoolExecutor(given.workers, mp_context=get_context("spawn")) as pool:
            waiting = [pool.submit(_score, job, given.data, folder, given.device, given.quick) for job in jobs]
            for each in waiting:
                print(each.result(), flush=True)
        with tarfile.open(given.output, "w:xz") as packed:
            for file in sorted(folder.iterdir()):
                packed.add(file, file.name)
    print(f"{len(jobs)} jobs in {given.output}", file=sys.stderr)


if __name__ == "__main__":
    main()
