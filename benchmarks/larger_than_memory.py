"""Peak memory of plans for files in several formats, and of reading texts that nobody could hold.

    python -m benchmarks larger_than_memory
    RECAPTURE_ROWS=20000 RECAPTURE_LINES=100000 python -m benchmarks larger_than_memory

Each step is a process of its own. Held: what the process itself holds, at its peak, beyond what it holds after its
libraries are loaded. With pages: the same with pages of mapped files, which the system takes back when it needs them.
Of a plan one part of each kind is made (all parts of a kind are alike), the others are filled with zeros, and all are
merged. The candidate's lines are a hundredth of the reference's.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

ROWS, DIMENSIONS = int(os.environ.get("RECAPTURE_ROWS", "200000")), 384
LINES = int(os.environ.get("RECAPTURE_LINES", "10000000"))
PARTS = 100
_AT_ONCE = 10_000
_CHILD = """
import sys, threading, time
import numpy as np
import recapture as rc
import benchmarks.larger_than_memory as here
rc.mark_evaluate(np.eye(9), np.eye(9) + 1)
try:
    import pyarrow.parquet
except ImportError:
    pass

def now(*keys):
    lines = [line for line in open("/proc/self/status") if line.startswith(keys)]
    return sum(int(line.split()[1]) for line in lines) / 1000

open("/proc/self/clear_refs", "w").write("5")
held = most = now("RssAnon")
whole = now("VmRSS")
done = False
def watch():
    global most
    while not done:
        most = max(most, now("RssAnon"))
        time.sleep(0.005)
watching = threading.Thread(target=watch)
watching.start()
begun = time.perf_counter()
getattr(here, sys.argv[1])(*sys.argv[2:])
took = time.perf_counter() - begun
done = True
watching.join()
print(most - held, now("VmHWM") - whole, took)
"""


def measured(title: str, step: str, *given: object) -> None:
    command = [sys.executable, "-c", _CHILD, step, *map(str, given)]
    child = subprocess.run(command, capture_output=True, text=True, check=False)
    if child.returncode:
        raise SystemExit(child.stderr)
    held, pages, took = map(float, child.stdout.split())
    print(f"  {title:<44} held {held:7.0f} MB   with pages {pages:7.0f} MB   {took:7.1f} s", flush=True)


# Steps


def plan_vectors(reference: str, candidate: str, folder: str) -> None:
    import recapture as rc

    rc.make_plan(reference, candidate, folder, parts=PARTS)


def one_part(folder: str, stage: str) -> None:
    from recapture.plans.planned_parts import PlannedParts
    from recapture.plans.tile_plan import TilePlan

    plan = TilePlan.opened(Path(folder))
    PlannedParts(plan).make(plan.parts[stage][0])


def score(reference: str, candidate: str) -> None:
    """What `recapture score` reads."""
    import recapture as rc

    sets = rc.read(reference), rc.read(candidate)
    assert all(len(each) == ROWS for each in sets)


def plan_texts(reference: str, candidate: str, encoder: str, folder: str) -> None:
    import recapture as rc

    rc.make_plan(reference, candidate, folder, parts=1000, encoder=encoder)


def encode_parts(folder: str, count: str) -> None:
    from recapture.plans.phases import VECTORS
    from recapture.plans.planned_parts import PlannedParts
    from recapture.plans.tile_plan import TilePlan

    plan = TilePlan.opened(Path(folder))
    work = PlannedParts(plan)
    for part in plan.parts[VECTORS[0]][-int(count) :]:
        work.make(part)


def merge(folder: str) -> None:
    import recapture as rc

    rc.merge_plan(folder)


# Files


def save_vectors(folder: Path) -> dict[str, list[Path]]:
    """Both sides as .npy, and the same numbers in other formats."""
    made: dict[str, list[Path]] = {}
    for seed, side in enumerate(("human", "model")):
        rng, path = np.random.default_rng(seed), folder / f"{side}.npy"
        values = np.lib.format.open_memmap(path, "w+", np.float32, (ROWS, DIMENSIONS))
        for start in range(0, ROWS, _AT_ONCE):
            values[start : start + _AT_ONCE] = rng.standard_normal((min(_AT_ONCE, ROWS - start), DIMENSIONS))
        values.flush()
        made.setdefault("npy", []).append(path)
        from safetensors.numpy import save_file

        made.setdefault("safetensors", []).append(folder / f"{side}.safetensors")
        save_file({"embeddings": np.asarray(values)}, made["safetensors"][-1])
        try:
            import pyarrow as pa
            import pyarrow.parquet as pq
        except ImportError:
            continue
        column = pa.FixedSizeListArray.from_arrays(pa.array(np.asarray(values).reshape(-1)), DIMENSIONS)
        table = pa.table({"embeddings": column})
        made.setdefault("parquet", []).append(folder / f"{side}.parquet")
        pq.write_table(table, made["parquet"][-1], compression="none", use_dictionary=False)
        made.setdefault("arrow", []).append(folder / f"{side}.arrow")
        with pa.ipc.new_file(made["arrow"][-1], table.schema) as sink:
            sink.write_table(table)
    return made


def save_texts(path: Path, lines: int, seed: int) -> None:
    """Lines of six to eleven words of 1,000, nearly all of them different."""
    rng = np.random.default_rng(seed)
    words = [f"w{number}" for number in range(1000)]
    some = [" ".join(rng.choice(words, length)) for length in rng.integers(5, 11, 100_000)]
    with path.open("w", encoding="utf-8") as stream:
        for start in range(0, lines, len(some)):
            first = words[start // len(some) % 1000]
            stream.writelines(f"{first} {line}\n" for line in some[: lines - start])


def fill(folder: Path) -> None:
    """Parts that were not made, with zeros."""
    from recapture.plans.tile_plan import TilePlan

    plan = TilePlan.opened(folder)
    for parts in plan.parts.values():
        for part in parts:
            if plan.read(part) is None:
                expected = plan._expected(part)
                plan.keep(part, {name: np.zeros(kind.shape, kind.dtype) for name, kind in expected.items()})


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="recapture-larger-") as name:
        folder = Path(name)
        begun = time.perf_counter()
        formats = save_vectors(folder)
        size = ROWS * DIMENSIONS * 4 / 1e6
        print(
            f"\n{ROWS:,} v {ROWS:,} x {DIMENSIONS}, {size:,.0f} MB a side (made in {time.perf_counter() - begun:.0f} s)"
        )
        for form, paths in formats.items():
            measured(f"read by score, {form}", "score", *paths)
            measured(f"plan, {form}", "plan_vectors", *paths, folder / f"planned {form}")
        for stage in ("radii-reference", "radii-candidate"):
            measured(f"one part of {stage}", "one_part", folder / "planned npy", stage)
        fill(folder / "planned npy")
        next((folder / "planned npy").glob("counts-0001.part")).unlink()
        measured("one part of counts", "one_part", folder / "planned npy", "counts")
        measured("merge", "merge", folder / "planned npy")
    with tempfile.TemporaryDirectory(prefix="recapture-larger-") as name:
        folder = Path(name)
        paths = folder / "human.txt", folder / "model.txt"
        counts = LINES, LINES // 100
        for seed, path in enumerate(paths):
            save_texts(path, counts[seed], seed)
        rng = np.random.default_rng(3)
        rows = (" ".join([f"w{number}", *map(str, rng.standard_normal(50).round(3))]) for number in range(1000))
        (folder / "words.txt").write_text("".join(f"{row}\n" for row in rows))
        print(f"\n{counts[0]:,} v {counts[1]:,} lines, {paths[0].stat().st_size / 1e6:,.0f} MB the reference")
        measured("plan (both files read once)", "plan_texts", *paths, folder / "words.txt", folder / "planned")
        measured("the last three of 1,000 parts of vectors", "encode_parts", folder / "planned", 3)


if __name__ == "__main__":
    main()
