"""Make what the study wmt17 needs beyond its usual metrics, on a machine with many cores, and a GPU if there is one.

    python -m training.wmt17_scores --data DATA --output MADE [--device cuda] [--workers 14] [--encoder NAME] [--quick]

Word level: BERTScore at the fifth layer from the end, PRD on all segments, Mark-Evaluate of fewer layers. Sentence
level: the study's own numbers and those of other encoders. MADE is then a cache folder: copy its folders `scores` and
`studies` into that of the machine where `recapture reproduce wmt17` runs.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import shutil
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import replace
from pathlib import Path

from recapture_studies import item_scores
from recapture_studies.mark_evaluate import wmt17, wmt17_sentences, wmt17_settings
from recapture_studies.study import Setup

OWN = "the study's own"


def jobs(setup: Setup) -> list[tuple[str, str]]:
    """Language pair, and what to make; long ones first, as far as one knows."""
    labels = [task.label for task in wmt17_settings.settings_tasks(setup)]
    known = wmt17.texts(setup)
    sizes = {pair: len(judged) * len(known.sids[pair]) for pair, judged in known.judged.items()}
    pairs = sorted(sizes, key=lambda pair: -sizes[pair])
    own = [pair for pair in pairs if pair in wmt17.counted(pairs)]
    slow = [label for label in labels if label.startswith("prd")]
    listed = [(pair, label) for label in slow for pair in own] + [(pair, OWN) for pair in pairs]
    rest = [
        *(label for label in labels if label not in slow),
        *(each.title for each in wmt17_settings.SENTENCE_ENCODERS),
    ]
    return listed + [(pair, what) for what in rest for pair in own]


def work(pair: str, what: str, setup: Setup, output: Path) -> float:
    """One job; the seconds it took."""
    begun = time.monotonic()
    # Steps of several processes must not meet in one file: each job has a cache of its own, joined at the end.
    own = output / "jobs" / f"{pair}-{what}".replace(" ", "-").replace("'", "")
    os.environ["RECAPTURE_CACHE"] = str(own)
    encoders = [each for each in wmt17_settings.SENTENCE_ENCODERS if each.title == what]
    if encoders or what == OWN:
        sides = (side for side in wmt17.sides(setup) if side.pair == pair)
        if encoders:
            wmt17_settings.other_sentence_vectors(setup, sides, wmt17.files(setup), encoders)
        else:
            wmt17_sentences.sentence_level(setup, sides, wmt17.files(setup))
    else:
        for part in wmt17.parts(setup):
            if part.name == f"wmt17-{pair}-stored-all":
                tasks = [task for task in part.tasks if task.label == what]
                part = replace(part, tasks=tasks)
                options = {"encoder": setup.encoder, "device": setup.encoding.get("device"), "offline": True}
                item_scores.fill([part], folder=output / "scores", **options)
    return time.monotonic() - begun


def joined(output: Path) -> None:
    """The steps of all jobs in one folder; every line has a checksum of its own, so files can be put together."""
    (output / "studies").mkdir(parents=True, exist_ok=True)
    for path in sorted((output / "jobs").glob("*/studies/*.jsonl")):
        with (output / "studies" / path.name).open("ab") as stream:
            stream.write(path.read_bytes())
    shutil.rmtree(output / "jobs", ignore_errors=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--device")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--encoder")
    parser.add_argument("--quick", action="store_true")
    given = parser.parse_args()
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    encoding = {"offline": True, **({"device": given.device} if given.device else {})}
    setup = Setup(given.data.resolve(), quick=given.quick, encoder=given.encoder, encoding=encoding)
    context = multiprocessing.get_context("spawn")  # a GPU cannot be shared with a copied process
    with ProcessPoolExecutor(given.workers, mp_context=context) as pool:
        running = {pool.submit(work, *job, setup, given.output.resolve()): job for job in jobs(setup)}
        for done in as_completed(running):
            print(f"{done.result():7.1f} s  {' '.join(running[done])}", flush=True)
    joined(given.output)


if __name__ == "__main__":
    main()
