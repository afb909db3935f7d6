"""Prints the figures of docs that are neither timings nor results of a study. About five minutes of one core.

    python docs/measure_metrics.py [mauve] [sizes] [capture] [words] [copies] [jar]

Without names all of them but the last, which takes some minutes. Parts that want real texts read the folders
ghostbuster, abstract48s, brown_genres, captions_coco1000, webnlg2020_en and wmt17_to_english in the folder that
RECAPTURE_DATA names, and are left out where it is not set; `words` and `jar` also want pycocoevalcap, which brings the
authors' program of METEOR with its tables, and `jar` wants Java.
"""

from __future__ import annotations

import gzip
import importlib.util
import json
import os
import random
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import recapture as rc
from recapture.lexical.wordnet import find_wordnet
from recapture.population import capture_m0
from recapture.texts.copies import copies

CLUSTERINGS = 32
LEVEL = 0.95


def rows(file: str) -> list[dict[str, Any]]:
    """The lines of a data file; none where the folder is not there."""
    path = Path(os.environ.get("RECAPTURE_DATA") or "none") / file
    if not path.is_file():
        print(f"  left out: there is no {file} in RECAPTURE_DATA")
        return []
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def sentence_like(count: int, shift: float, seed: int) -> np.ndarray:
    """Made-up vectors of 20 topics, of which the second set has other shares."""
    rng = np.random.default_rng(seed)
    topics = np.random.default_rng(7).standard_normal((20, 64))
    shares = np.exp(shift * np.linspace(-1, 1, 20))
    return topics[rng.choice(20, count, p=shares / shares.sum())] + 1.5 * rng.standard_normal((count, 64))


def pairs_of_sets() -> Iterator[tuple[str, Any, Any]]:
    for count in (120, 300, 1000):
        yield f"made up, one distribution, {count}", sentence_like(count, 0, 1), sentence_like(count, 0, 2)
        yield f"made up, other shares, {count}", sentence_like(count, 0, 1), sentence_like(count, 1, 2)
    stories: dict[str, list[str]] = {}
    for row in rows("ghostbuster/wp.jsonl.gz"):
        stories.setdefault(row["source"], []).append(row["text"])
    if not stories:
        return
    vectors = {name: rc.encode(stories[name], offline=True) for name in ("human", "gpt", "claude")}
    for count in (120, 300, 500, 1000):
        human, second = vectors["human"][:count], vectors["human"][count : 2 * count]
        if len(second) == count:
            yield f"Ghostbuster, human and human, {count}", human, second
        for name in ("gpt", "claude"):
            yield f"Ghostbuster, human and {name}, {count}", human, vectors[name][-count:]


def mauve() -> None:
    print("MAUVE: what seeds move. One clustering's standard deviation, that of a mean of 8, half of a 95 % interval")
    found = []
    for name, reference, candidate in pairs_of_sets():
        one = rc.mauve(reference, candidate, clusterings=CLUSTERINGS)
        result = rc.mauve(reference, candidate, interval=LEVEL)
        low, high = result.intervals["value"]
        # Of the standard error, not of the interval as printed, which ends at 1.
        half = max(high - result.value, result.value - low)
        of_one = one.spread["value"]
        found.append((of_one, of_one / np.sqrt(8), half))
        print(f"  {name} each: MAUVE {one.value:.3f}; {of_one:.3f}, {of_one / np.sqrt(8):.3f}, {half:.3f}", flush=True)
    for what, column in zip(("one clustering", "mean of 8", "half-width"), zip(*found, strict=True), strict=True):
        print(f"  {what}: {min(column):.3f} to {max(column):.3f}")
    print(f"  the seeds' part / the interval's half-width: at most {max(eight / half for _, eight, half in found):.2f}")


def sizes() -> None:
    print("Mark-Evaluate, one distribution in 16 dimensions, mean over 20 draws")
    for n, m in ((1000, 1000), (1000, 100)):
        drawn = []
        for seed in range(20):
            rng = np.random.default_rng(seed)
            result = rc.mark_evaluate(rng.standard_normal((n, 16)), rng.standard_normal((m, 16)), k=1)
            drawn.append((result.quality, result.diversity))
        quality, diversity = np.mean(drawn, axis=0)
        print(f"  {n} v {m}: quality {quality:.2f}, diversity {diversity:.2f}")


def capture() -> None:
    print("CAPTURE's score of sets that never meet and of equal sets, by k and the size of both together")
    for k in range(1, 6):
        said = []
        for total in (20, 10**7):
            # Each sample is caught by its own sphere and those of its k nearest; with an equal set, twice as often.
            apart, equal = (1 - (capture_m0(total, each * (k + 1) * total) - total) / total for each in (1, 2))
            said.append(f"{total:,}: never meet {apart:.3f}, equal {equal:.4f}")
        print(f"  k = {k}; " + "; ".join(said))


def words() -> None:
    print("METEOR: the list of function words here against that of the authors' program")
    found = importlib.util.find_spec("pycocoevalcap")
    groups = [row["references"] for row in rows("abstract48s/contexts.jsonl.gz")]
    if not groups or not found or not found.submodule_search_locations:
        print("  left out: it wants pycocoevalcap and abstract48s")
        return
    with zipfile.ZipFile(Path(next(iter(found.submodule_search_locations)), "meteor", "meteor-1.5.jar")) as jar:
        theirs = jar.read("function/english.words").decode().split("\n")
    rng = random.Random(0)
    pairs = [(rng.choice(group), rng.choice(group)) for group in groups for _ in range(4)]
    pairs += [(rng.choice(group), rng.choice(rng.choice(groups))) for group in groups]
    references, candidates = [reference for _, reference in pairs], [candidate for candidate, _ in pairs]
    own = rc.meteor(references, candidates).scores
    jars = rc.meteor(references, candidates, function_words=theirs).scores
    apart = np.abs(own - jars)
    print(
        f"  {len(pairs):,} pairs of captions: {apart.mean():.4f} on average, {apart.max():.3f} at most, correlation "
        f"{np.corrcoef(own, jars)[0, 1]:.4f}"
    )


Item = tuple[str, list[str]]
"""A candidate and its references."""


class Jar:
    """The authors' program as pycocoevalcap calls it, or with further options."""

    def __init__(self, file: Path, *options: str) -> None:
        command = ["java", "-Xmx2G", "-jar", str(file), "-", "-", "-stdio", "-l", "en", "-norm", *options]
        self._program = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8")

    def scores(self, items: list[Item]) -> tuple[np.ndarray, float]:
        """One score for each item, and the one of all together."""
        counts = [self._ask(" ||| ".join(["SCORE", *references, candidate])) for candidate, references in items]
        self._say(" ||| ".join(["EVAL", *counts]))
        each = np.array([float(self._answer()) for _ in items])
        return each, float(self._answer())

    def close(self) -> None:
        self._program.communicate()

    def _ask(self, line: str) -> str:
        self._say(line)
        return self._answer()

    def _say(self, line: str) -> None:
        stream = self._program.stdin
        assert stream is not None
        stream.write(line + "\n")
        stream.flush()

    def _answer(self) -> str:
        stream = self._program.stdout
        assert stream is not None
        return stream.readline().strip()


def jar_file() -> Path | None:
    """The authors' program, where pycocoevalcap is installed and there is Java."""
    found = importlib.util.find_spec("pycocoevalcap")
    if not shutil.which("java") or not found or not found.submodule_search_locations:
        return None
    file = Path(next(iter(found.submodule_search_locations)), "meteor", "meteor-1.5.jar")
    return file if file.is_file() else None


def real_items(each: int = 3000) -> Iterator[tuple[str, list[Item]]]:
    """Candidates with their references, evenly from each folder; three bars would part texts for the program."""

    def clean(text: str) -> str:
        return re.sub(r"[\r\n]+|\|{3}", " ", text)

    def some(items: list[Item]) -> list[Item]:
        chosen = items[:: max(1, len(items) // each)]
        return [(clean(candidate), list(map(clean, references))) for candidate, references in chosen]

    references = {(row["lp"], row["sid"]): row["reference"] for row in rows("wmt17_to_english/segments.jsonl.gz")}
    outputs = rows("wmt17_to_english/outputs.jsonl.gz")
    yield "WMT17 translations", some([(row["hyp"], [references[row["lp"], row["sid"]]]) for row in outputs])
    several = {row["id"]: row["references"] for row in rows("webnlg2020_en/test_items.jsonl.gz")}
    outputs = rows("webnlg2020_en/outputs.jsonl.gz")
    yield "WebNLG 2020, 1 to 5 references", some([(row["output"], several[row["id"]]) for row in outputs])
    captions = rows("captions_coco1000/captions.jsonl.gz")
    yield "COCO captions, 5 references", some([(row["candidates"][0], row["references"]) for row in captions])
    groups = [row["references"] for row in rows("abstract48s/contexts.jsonl.gz")]
    scenes = [(text, group[:5] + group[6:10]) for group in groups for text in group[10:16]]
    yield "abstract scenes, 9 references", some(scenes)


def jar() -> None:
    print("METEOR: the whole setting (exact, stem, synonym, paraphrase) against the authors' program, -l en -norm")
    file = jar_file()
    if file is None:
        print("  left out: it wants Java and pycocoevalcap")
        return
    program = Jar(file)
    for what, items in real_items():
        if not items:
            continue
        theirs, together = program.scores(items)
        references, candidates = [given for _, given in items], [candidate for candidate, _ in items]
        own = rc.meteor(references, candidates, jar=file).scores
        pooled = rc.corpus_meteor(references, candidates, jar=file).value
        apart = np.abs(own - theirs)
        print(
            f"  {what}: {len(items):,} segments, {np.sum(apart > 1e-12)} differ, {apart.max():.1e} at most; "
            f"the system's number {together:.6f}, ours {pooled - together:+.1e}",
            flush=True,
        )
        for place in np.flatnonzero(apart > 1e-12)[:5].tolist():
            print(f"    item {place}: {theirs[place]!r}, ours {own[place]!r}")
        if find_wordnet():
            apart = np.abs(rc.meteor(references, candidates, jar=file, wordnet="auto").scores - theirs)
            told = f"{np.sum(apart > 1e-12)} differ, {apart.max():.3f} at most"
            print(f"    with the WordNet of this machine in place of the program's synonyms: {told}", flush=True)
    program.close()


def near_copies() -> None:
    print("copies: what is found in Brown")
    sentences = [row["text"] for row in rows("brown_genres/sentences.jsonl.gz")]
    if not sentences:
        return
    rng = random.Random(0)
    rng.shuffle(sentences)
    half = copies(sentences[::2], {"c": sentences[1::2]}).candidates["c"]
    count = len(sentences[1::2])
    print(
        f"  two random halves: copied {100 * half.copied / count:.1f} %, nearly {100 * half.near_copied / count:.1f} %"
    )
    long = [text for text in sentences if len(re.findall(r"\w+", text)) >= 8]
    edited = []
    for text in long:
        changed = text.split()
        changed[rng.randrange(len(changed))] = f"zzz{rng.randrange(10**9)}"
        edited.append(" ".join(changed))
    share = copies(long, {"c": edited}).candidates["c"].near_copied / len(long)
    print(f"  one word exchanged, sentences of at least 8 words: found {100 * share:.1f} %")


PARTS = {"mauve": mauve, "sizes": sizes, "capture": capture, "words": words, "copies": near_copies, "jar": jar}

if __name__ == "__main__":
    wanted = sys.argv[1:] or [name for name in PARTS if name != "jar"]
    unknown = [name for name in wanted if name not in PARTS]
    if unknown:
        sys.exit(f"there is no part {unknown[0]!r}: {', '.join(PARTS)}")
    for name in wanted:
        PARTS[name]()
