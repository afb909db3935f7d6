"""Commands are killed at random moments, run again, and must then have written what an undisturbed run writes.

    python tests/attack/kill.py --kills 100 --seed 0

A killed process cannot tidy up: what it leaves is what a power cut or a full memory leaves. Each trial begins in an
empty folder with an empty cache, kills its command (SIGKILL) one to three times, lets it finish, and compares exit
code, standard output and every file with those of an undisturbed run, byte for byte. Hidden files, which a kill may
leave beside an output while it is written, do not count. Most of a short command is loading: three kills of four fall
after its work has begun, as far as files tell (its first part, cache or journal), at a random moment of the rest.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

WORDS = [
    "a",
    "the",
    "cat",
    "dog",
    "boat",
    "net",
    "map",
    "rain",
    "ran",
    "sat",
    "sold",
    "saw",
    "home",
    "mat",
    "we",
    "ate",
]


_SEVERAL = "import json, sys; from recapture.cli.app import run; sys.exit(max(map(run, json.loads(sys.argv[1]))))"


class Outcome(NamedTuple):
    code: int
    output: bytes
    files: dict[str, bytes]


class Trial(NamedTuple):
    name: str
    arguments: Sequence[str]
    later: Sequence[Sequence[str]] = ()
    """Commands that follow in the same process."""
    seen: Callable[[Path, Path], str] = lambda _, __: "other"
    """From the working folder and the cache to what it was at when it was killed, as far as files tell."""


def of_a_plan(work: Path, _: Path) -> str:
    """By the parts that are there."""
    there = [path.name for path in (work / "planned").glob("*.part")] if (work / "planned").exists() else []
    for stage, doing in (("counts", "tiles"), ("radii", "tiles"), ("rows", "encoding"), ("vectors", "encoding")):
        if any(name.startswith(stage) for name in there):
            return doing
    if not (work / "planned" / "plan.json").exists():
        return "planning"
    return "encoding" if (work / "planned" / "lines.npy").exists() else "tiles"  # its first part


def of_a_cache(_: Path, cache: Path) -> str:
    return "cache writes" if any(cache.glob("*.sqlite*")) else "before the cache"


def of_a_journal(_: Path, cache: Path) -> str:
    return "journal writes" if any((cache / "runs").glob("*")) else "before the journal"


BEFORE = ("planning", "before the cache", "before the journal")


TRIALS = (
    Trial("score", ["score", "-r", "../human.txt", "-c", "../model.txt", "--encoder", "../vectors.txt", "-o", "s.md"],
          seen=of_a_cache),
    Trial("contexts", ["contexts", "../contexts.jsonl", "--metrics", "trm-meteor,meteor,cider", "--per-item", "i.jsonl",
                       "-o", "totals.md"], seen=of_a_journal),
    Trial("embed", ["embed", "../many.txt", "--encoder", "../vectors.txt", "-o", "vectors.npz"], seen=of_a_cache),
    Trial("large", ["embed", "../large.txt", "--encoder", "../vectors.txt", "-o", "vectors.npy"], seen=of_a_cache),
    Trial("plan", ["plan", "-r", "../human.npy", "-c", "../model.npz", "-o", "planned", "--parts", "15"],
          [["run", "planned"], ["merge", "planned", "--arrays", "-o", "merged.json"]], of_a_plan),
    Trial("shares", ["plan", "-r", "../human.npy", "-c", "../model.npz", "-o", "planned", "--parts", "15"],
          [["run", "planned", "2/3", "--wait", "1min"], ["run", "planned", "1/3"], ["run", "planned", "3/3"],
           ["merge", "planned", "--arrays", "-o", "merged.json"]], of_a_plan),
    Trial("texts", ["plan", "-r", "../many.txt", "-c", "../model.txt", "--encoder", "../vectors.txt", "-o", "planned",
                    "--parts", "15"],
          [["run", "planned"], ["merge", "planned", "--arrays", "-o", "merged.json"]], of_a_plan),
    Trial("reproduce", ["reproduce", "word-swap", "--made-up", "--encoder", "bag-of-words", "-o", "pages"],
          seen=of_a_journal),
)  # fmt: skip


def make_inputs(folder: Path, contexts: int = 90) -> None:
    """Texts, word vectors and contexts that are the same every time."""
    rng = random.Random("inputs")

    def text() -> str:
        return " ".join(rng.choices(WORDS, k=rng.randint(4, 12)))

    for name in ("human", "model"):
        (folder / f"{name}.txt").write_text("".join(f"{text()}\n" for _ in range(300)))
    (folder / "many.txt").write_text("".join(f"{text()}\n" for _ in range(3_000)))
    # More lines than are encoded at once, of few texts.
    few = [" ".join(rng.choices(WORDS, k=24)) for _ in range(400)]
    (folder / "large.txt").write_text(
        "".join(f"{few[place % 400 if place < 66_000 else -1]}\n" for place in range(70_000))
    )
    reference, candidate = np.random.default_rng(1).standard_normal((2, 2_500, 32)).round(2)
    np.save(folder / "human.npy", reference)
    np.savez(folder / "model.npz", embeddings=candidate)
    rows = (" ".join([word, *(f"{rng.gauss(0, 1):.4f}" for _ in range(20))]) for word in WORDS)
    (folder / "vectors.txt").write_text("".join(f"{row}\n" for row in rows))
    records = (
        {"id": str(number), "references": [text() for _ in range(5)], "candidates": [text() for _ in range(5)]}
        for number in range(contexts)
    )
    (folder / "contexts.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))


def start(trial: Trial, work: Path) -> subprocess.Popen[bytes]:
    environment = {**os.environ, "RECAPTURE_CACHE": str(work.parent / f"{work.name}-cache"), "OMP_NUM_THREADS": "1"}
    program = ["-c", _SEVERAL, json.dumps([trial.arguments, *trial.later])] if trial.later else ["-m", "recapture"]
    return subprocess.Popen(
        [sys.executable, *program, *(() if trial.later else trial.arguments)],
        cwd=work, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    )  # fmt: skip


def finish(trial: Trial, work: Path) -> Outcome:
    process = start(trial, work)
    output, _ = process.communicate()
    files = {
        str(path.relative_to(work)): path.read_bytes()
        for path in sorted(work.rglob("*"))
        if path.is_file() and not path.name.startswith(".")
    }
    return Outcome(process.returncode, output, files)


def kill(trial: Trial, work: Path, after: float, *, of_work: bool) -> str | None:
    """What it was at when it was killed; None where it had ended. after: seconds since it, or its work, began."""
    process, cache = start(trial, work), work.parent / f"{work.name}-cache"
    while of_work and process.poll() is None and trial.seen(work, cache) in BEFORE:
        time.sleep(0.0005)
    try:
        process.communicate(timeout=after)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        return trial.seen(work, cache)
    return None


def campaign(
    folder: Path, kills: int, seed: int, trials: Sequence[Trial] = TRIALS, say: Callable[[str], None] = print
) -> int:
    """Kill so many processes in all; how many reruns were compared. Raises AssertionError where one differs."""
    rng = random.Random(seed)
    make_inputs(folder)
    expected: dict[str, tuple[Outcome, float]] = {}
    for trial in trials:
        work = folder / f"{trial.name}-undisturbed"
        work.mkdir()
        begin = time.monotonic()
        outcome = finish(trial, work)
        expected[trial.name] = outcome, time.monotonic() - begin
        assert outcome.code == 0 and outcome.files, f"{trial.name} does not run undisturbed"
        say(f"{trial.name}: {expected[trial.name][1]:.1f} s undisturbed, {len(outcome.files)} files")
    killed = compared = 0
    moments_of: Counter[str] = Counter()
    while killed < kills:
        trial = trials[compared % len(trials)]
        work = folder / f"{trial.name}-{compared}"
        work.mkdir()
        outcome, takes = expected[trial.name]
        moments = []
        for _ in range(min(rng.randint(1, 3), kills - killed)):
            of_work = rng.random() < 0.75
            moments.append(round(rng.uniform(0, takes / 2 if of_work else takes), 4))
            hit = kill(trial, work, moments[-1], of_work=of_work)
            if hit is None:  # faster than it was, now that others leave the machine alone or parts are kept
                takes *= 0.8
            else:
                killed += 1
                moments_of[hit] += 1
        expected[trial.name] = outcome, takes
        found = finish(trial, work)
        compared += 1
        where = f"{trial.name}, seed {seed}, killed after {moments} s"
        assert found.code == outcome.code, f"{where}: exit code {found.code}"
        assert found.output == outcome.output, f"{where}: other output"
        assert found.files.keys() == outcome.files.keys(), f"{where}: files {sorted(found.files)}"
        other = [name for name in found.files if found.files[name] != outcome.files[name]]
        assert not other, f"{where}: other content in {other}"
        say(f"{killed} kills, {compared} reruns alike ({where})")
        shutil.rmtree(work)
        shutil.rmtree(folder / f"{work.name}-cache", ignore_errors=True)
    say("killed at " + ", ".join(f"{what} {times}" for what, times in moments_of.most_common()))
    return compared


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("names", nargs="*", help="trials; all of them unless named")
    given = parser.parse_args()
    trials = [trial for trial in TRIALS if trial.name in (given.names or [each.name for each in TRIALS])]
    with tempfile.TemporaryDirectory(prefix="recapture-kill-") as folder:
        compared = campaign(Path(folder), given.kills, given.seed, trials)
    print(f"{given.kills} kills: all {compared} reruns wrote what undisturbed runs write")


if __name__ == "__main__":
    main()
