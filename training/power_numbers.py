"""Do the measuring of the study power on a machine with many cores, which needs neither texts nor an encoder.

    python -m training.power_numbers --texts DATA               # once, where the texts are: encodes, says where
    python -m training.power_numbers power-0123.npz --jobs 16   # anywhere: numbers of all comparisons, in minutes

The first makes the file of vectors (power-*.npz, float16) in the cache folder, under `studies`. The second appends
numbers to power-*.jsonl beside its file, and goes on where it stopped. Copy that one back beside the vectors:
`recapture reproduce power` then finds everything done.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import recapture as rc
from recapture_studies.own_checks.power_draws import costs, measure_all
from recapture_studies.own_checks.power_texts import prepared, read_store
from recapture_studies.study import Setup


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("vectors", type=Path, nargs="?")
    parser.add_argument("--texts", type=Path, help="the folder that holds the data folders: make the vectors, no more")
    parser.add_argument("--encoder")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--stop-after", type=float, default=float("inf"), metavar="SECONDS")
    given = parser.parse_args(arguments)
    if given.texts is not None:
        setup = Setup(given.texts, quick=given.quick, encoder=given.encoder, encoding={"offline": True})
        _, journal = prepared(setup)
        assert journal.path is not None
        print(journal.path.with_suffix(".npz"))
        return 0
    if given.vectors is None:
        parser.error("name the file of vectors, or the folder of texts to make it from")
    begun = time.monotonic()
    store = read_store(given.vectors)
    if store is None:
        parser.error(f"{given.vectors} is no file of vectors that this program made")
    journal = rc.Journal(given.vectors.with_suffix(".jsonl"))

    def tell(words: str) -> None:
        print(f"{time.monotonic() - begun:6.0f} s  {words}", flush=True)

    # Costs first, while nothing else is running.
    tell(f"milliseconds: {costs(store, journal)}")
    left = given.stop_after - (time.monotonic() - begun)
    found = measure_all(store, journal, given.jobs, left, tell)
    tell("stopped: go on with the same command" if found is None else "all done")
    return 1 if found is None else 0


if __name__ == "__main__":
    raise SystemExit(main())
