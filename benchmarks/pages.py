"""Pages of 20,000 texts: how long they take to make, how large they are, and when they answer in Chromium."""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import recapture as rc
from recapture.page.page_parts import Page, Paged, page_of

from .timing import embeddings, ratio, seconds
from .which_texts import made_up

_TESTS = Path(__file__).resolve().parents[1] / "tests"
_LARGEST = 5_000_000
_ANSWERS = 3.0
"""Seconds until the map answers."""


def main(rows: int = 20_000) -> None:
    texts = {name: made_up(rows // 4, seed) for seed, name in enumerate(("human", "a", "b", "c"))}
    rows_of = embeddings(4 * (rows // 4), seed=3)
    known = dict(zip((text for own in texts.values() for text in own), rows_of, strict=True))

    def encode(own: list[str]) -> np.ndarray:
        return np.stack([known[text] for text in own])

    people = texts.pop("human")
    both = [*texts["b"], *texts["c"]]
    scored = rc.evaluate(people, texts, "precision-recall", encode, ceiling=False, cache=False)
    found = rc.diagnose([*people, *texts["a"]], both, encoder=encode, cache=False)
    print(f"pages of {rows:,} texts")
    with tempfile.TemporaryDirectory() as folder:
        for name, result in (("three systems beside people", scored), ("inspect", found)):
            _page(name, result, Path(folder) / "page.html")


def _page(name: str, result: Paged, path: Path) -> None:
    start = time.perf_counter()
    page: Page = page_of(result)
    seconds(f"{name}: parts of the page, its map among them", time.perf_counter() - start)
    start = time.perf_counter()
    page.write(path)
    seconds(f"{name}: written", time.perf_counter() - start)
    ratio(f"{name}: size, of 5 MB", path.stat().st_size / _LARGEST, "below 1")
    sys.path.insert(0, str(_TESTS))
    from chromium import browser, found

    if found() is None:
        print("  no Chromium is installed: when the page answers was not measured")
        return
    with browser() as opened:
        tab = opened.tab()
        tab.look()
        tab.send("Performance.enable", timeDomain="threadTicks")
        start = time.perf_counter()
        tab.open(path)
        tab.wait("document.documentElement.dataset.ready === 'yes'", 120)
        answered = time.perf_counter() - start
        metrics = {each["name"]: each["value"] for each in tab.send("Performance.getMetrics")["metrics"]}
    seconds(f"{name}: answers in Chromium, by the clock", answered)
    seconds(f"{name}: work of the page's own thread", metrics["TaskDuration"])
    ratio(f"{name}: by the clock, of 3 s", answered / _ANSWERS, "below 1 where nothing else runs")
