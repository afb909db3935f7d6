"""METEOR: pairs a second, by exact matches and stems against NLTK and the authors' jar, by all stages against the jar.

Each candidate with its own reference, no text twice (what most people do: every text is tokenised, stemmed and used
once), and all texts of a context with each other (what triangle ranks need: every text is used many times).
"""

from __future__ import annotations

import gzip
import importlib.util
import json
import os
import random
import shutil
import subprocess
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from recapture.lexical.meteor_tokens import meteor_tokens
from recapture.pairs.metrics.meteor import meteor
from recapture.similarity.scorer import Scorer
from recapture.similarity.sentence_meteor import METRIC as SIMILARITY

from .timing import ratio, seconds, side_by_side

ROUNDS = 7
WHO = ("a man", "a woman", "the little girl", "two boys", "a dog", "the cat", "a group of people", "an old man")
DOES = ("is riding", "rides", "stands next to", "is standing by", "looks at", "is looking at", "runs after", "holds")
WHAT = ("a horse", "the red bike", "a tree", "a small table", "the ball", "two balloons", "a kite", "the other dog")
WHERE = (
    "in the park",
    "on a sunny day",
    "near the beach",
    "in front of a house",
    "while the sun shines",
    "on the grass",
)


def captions(groups: int, size: int = 24, seed: int = 0) -> list[list[str]]:
    """Groups of made-up captions that share some of their words, as captions of one picture do."""
    rng = random.Random(seed)
    made = []
    for _ in range(groups):
        parts = [rng.sample(choices, 3) for choices in (WHO, DOES, WHAT, WHERE)]
        made.append([" ".join(rng.choice(part) for part in parts).capitalize() + "." for _ in range(size)])
    return made


def real_captions(groups: int, size: int = 24) -> list[list[str]]:
    file = Path(os.environ.get("RECAPTURE_DATA", ""), "abstract48s", "contexts.jsonl.gz")
    if not file.is_file():
        return []
    with gzip.open(file, "rt", encoding="utf-8") as stream:
        return [json.loads(line)["references"][:size] for line, _ in zip(stream, range(groups), strict=False)]


def aligned_captions() -> list[tuple[str, str]]:
    """(hypothesis, reference): of every picture its candidate and one reference."""
    file = Path(os.environ.get("RECAPTURE_DATA", ""), "captions_coco1000", "captions.jsonl.gz")
    if not file.is_file():
        return []
    with gzip.open(file, "rt", encoding="utf-8") as stream:
        rows = [json.loads(line) for line in stream]
    return distinct((row["candidates"][0], row["references"][0]) for row in rows)


def translations() -> list[tuple[str, str]]:
    file = Path(os.environ.get("RECAPTURE_DATA", ""), "wmt17_to_english", "segment_da.jsonl")
    if not file.is_file():
        return []
    rows = map(json.loads, file.read_text("utf-8").splitlines())
    return distinct((row["hyp"], row["reference"]) for row in rows)


def made_up(count: int = 3000) -> list[tuple[str, str]]:
    from .bertscore import made_up_sentences

    references, systems = made_up_sentences(count, 1)
    return distinct(zip(systems["system 0"], references, strict=True))


def distinct(pairs: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """The pairs of which neither text was there before."""
    seen: set[str] = set()
    kept = []
    for pair in pairs:
        if seen.isdisjoint(pair):
            seen.update(pair)
            kept.append(pair)
    return kept


class NoSynonyms:
    """In place of NLTK's WordNet, whose data has to be downloaded: no word has a synset."""

    def synsets(self, _word: str) -> list:
        return []


def by_nltk(pairs: Iterable[tuple[list[str], list[str]]]) -> None:
    from nltk.translate.meteor_score import single_meteor_score

    none = NoSynonyms()
    for hypothesis, reference in pairs:
        single_meteor_score(reference, hypothesis, wordnet=none)


def jar_file() -> Path | None:
    """The authors' program with its tables, as pycocoevalcap brings it."""
    found = importlib.util.find_spec("pycocoevalcap")
    if not found or not found.submodule_search_locations:
        return None
    file = Path(next(iter(found.submodule_search_locations)), "meteor", "meteor-1.5.jar")
    return file if file.is_file() else None


def jar_seconds(pairs: list[tuple[str, str]], *stages: str) -> float | None:
    """Seconds of the jar, reading pairs from standard input as pycocoevalcap does; its start is taken off."""
    file = jar_file()
    if not shutil.which("java") or not file:
        return None
    command = ["java", "-Xmx2G", "-jar", str(file), "-", "-", "-stdio", "-l", "en", "-norm", *stages]
    taken = []
    for some in (pairs[:1], pairs):
        lines = "".join(f"SCORE ||| {reference} ||| {hypothesis}\n" for hypothesis, reference in some)
        start = time.perf_counter()
        subprocess.run(command, input=lines, capture_output=True, text=True, check=True)
        taken.append(time.perf_counter() - start)
    return taken[1] - taken[0]


def compare(what: str, pairs: list[tuple[str, str]], ours: Callable[[], object], bar: str) -> None:
    """Ours starts from texts, with a new scorer each time: tokens and stems are within the time taken. NLTK gets
    tokens, made before the clock starts, and no synonyms, which would slow it down."""
    print(f"METEOR, exact and stem, {what}: {len(pairs):,} pairs")
    tokens = [(meteor_tokens(hypothesis), meteor_tokens(reference)) for hypothesis, reference in pairs]
    best = side_by_side({"ours": ours, "nltk": lambda: by_nltk(tokens)}, ROUNDS)
    seconds(f"recapture, {len(pairs) / best['ours']:,.0f} pairs a second", best["ours"])
    seconds(f"NLTK, tokens given, without synonyms, {len(pairs) / best['nltk']:,.0f} pairs a second", best["nltk"])
    jar = jar_seconds(pairs, "-m", "exact stem")
    if jar:
        seconds(f"METEOR 1.5 jar (counts only), {len(pairs) / jar:,.0f} pairs a second", jar)
    ratio("NLTK / recapture", best["nltk"] / best["ours"], bar)


def compare_all_stages(what: str, pairs: list[tuple[str, str]], score: Callable[[Scorer], object]) -> None:
    """Ours starts from texts, too, but tables are read before, as the jar's start is taken off."""
    print(f"METEOR, exact, stem, synonym and paraphrase, {what}: {len(pairs):,} pairs")
    file = jar_file()
    if not file:
        print("  left out: it wants pycocoevalcap, which brings METEOR's tables")
        return
    start = time.perf_counter()
    SIMILARITY.scorer(jar=file).cross(["a"], ["b"])
    seconds("recapture, reading the tables (once in a process)", time.perf_counter() - start)
    taken = []
    for _ in range(3):
        scorer = SIMILARITY.scorer(jar=file)
        scorer.cross(["a"], ["b"])
        start = time.perf_counter()
        score(scorer)
        taken.append(time.perf_counter() - start)
    seconds(f"recapture, {len(pairs) / min(taken):,.0f} pairs a second", min(taken))
    jar = jar_seconds(pairs)
    if jar:
        seconds(f"METEOR 1.5 jar (counts only), {len(pairs) / jar:,.0f} pairs a second", jar)
        ratio("jar / recapture", jar / min(taken), "none: see README")


def main() -> None:
    for what, pairs in (
        ("made-up sentences, each with its own reference", made_up()),
        ("WMT17 translations, each with its own reference", translations()),
        ("COCO captions, each with its own reference", aligned_captions()),
    ):
        if pairs:
            references, candidates = [reference for _, reference in pairs], [hypothesis for hypothesis, _ in pairs]
            compare(what, pairs, lambda r=references, c=candidates: meteor(r, c), "none: see README")
    for what, groups in (("made-up captions", captions(12)), ("abstract48s captions", real_captions(12))):
        if groups:
            pairs = [(hypothesis, reference) for group in groups for hypothesis in group for reference in group]
            what = f"{what}, all within groups of {len(groups[0])}"
            compare(what, pairs, lambda groups=groups: SIMILARITY.scorer().squares(groups), "at least 5")
    for what, pairs in (
        ("WMT17 translations, each with its own reference", translations()),
        ("COCO captions, each with its own reference", aligned_captions()),
    ):
        if pairs:
            aligned = [(reference, hypothesis) for hypothesis, reference in pairs]
            compare_all_stages(what, pairs, lambda scorer, aligned=aligned: scorer.pairs(aligned))
    groups = real_captions(12)
    if groups:
        pairs = [(hypothesis, reference) for group in groups for hypothesis in group for reference in group]
        what = f"abstract48s captions, all within groups of {len(groups[0])}"
        compare_all_stages(what, pairs, lambda scorer: scorer.squares(groups))
