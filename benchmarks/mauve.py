"""MAUVE against mauve-text with its own defaults (one clustering), and the scores of many labellings at once."""

from __future__ import annotations

import logging
import time

import numpy as np

import recapture as rc
from recapture.geometry.labels import Labels
from recapture.geometry.points import PointSet
from recapture.sets.declaration import METRICS
from recapture.sets.pair import Pair

from .timing import embeddings, ratio, run, seconds, side_by_side


def main() -> None:
    _whole_score()
    _labellings()


def _whole_score(rows: int = 10_000, peer_seeds: int = 4) -> None:
    import faiss  # noqa: F401  both libraries are loaded before the clock starts

    import mauve

    logging.getLogger("faiss.loader").setLevel(logging.ERROR)
    a, b = embeddings(rows, seed=1), embeddings(rows, seed=2)

    def peer(seed: int = 25) -> float:
        return float(mauve.compute_mauve(p_features=a, q_features=b, verbose=False, seed=seed).mauve)

    print(f"MAUVE of {rows:,} v {rows:,} vectors, d = 384")
    best = side_by_side({"peer": peer, "ours": lambda: rc.mauve(a, b), "one": lambda: rc.mauve(a, b, clusterings=1)}, 3)
    ours = rc.mauve(a, b)
    theirs = [peer(25 + number) for number in range(peer_seeds)]
    several = f"recapture, {len(ours.by_clustering)} clusterings"
    seconds(f"{several}: mean {ours.value:.4f}, seed spread {ours.spread['value']:.4f}", best["ours"])
    seconds("recapture, 1 clustering", best["one"])
    seconds(
        f"mauve-text, 1 clustering: mean {np.mean(theirs):.4f}, seed spread {np.std(theirs, ddof=1):.4f}", best["peer"]
    )
    ratio(f"mauve-text with its defaults / {several}", best["peer"] / best["ours"], "at least 1")
    ratio("mauve-text with its defaults / recapture, 1 clustering", best["peer"] / best["one"], "at least 2")


def _labellings(rows: int = 2000, count: int = 1000) -> None:
    a, b = embeddings(rows, seed=1), embeddings(rows, seed=2)
    rng = np.random.default_rng(0)
    candidate = np.zeros((count, 2 * rows), bool)
    for each in candidate:
        each[rng.choice(2 * rows, rows, replace=False)] = True
    labels = Labels(~candidate, candidate)
    print(f"{count:,} labellings of {rows:,} v {rows:,} vectors, d = 384")
    for name in ("mauve", "prd"):
        metric = METRICS.find(name)
        pair = Pair(PointSet(a, "reference"), PointSet(b, "candidate"))
        start = time.perf_counter()
        scores = metric.relabel(pair, **metric.defaults)
        seconds(f"{name}: clusterings, once", time.perf_counter() - start)
        seconds(f"{name}: all labellings", min(run(lambda scores=scores: scores(labels)) for _ in range(3)))
