"""METEOR with exact and stem matches: pairs of captions a second, against NLTK and the authors' jar."""

from __future__ import annotations

import gzip
import importlib.util
import json
import os
import random
import shutil
import subprocess
import time
from pathlib import Path

from recapture.lexical.meteor_tokens import meteor_tokens
from recapture.similarity.sentence_meteor import METRIC as SIMILARITY

from .timing import ratio, seconds, side_by_side

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


class NoSynonyms:
    """In place of NLTK's WordNet, whose data has to be downloaded: no word has a synset."""

    def synsets(self, _word: str) -> list:
        return []


def by_nltk(groups: list[list[list[str]]]) -> None:
    from nltk.translate.meteor_score import single_meteor_score

    none = NoSynonyms()
    for group in groups:
        for hypothesis in group:
            for reference in group:
                single_meteor_score(reference, hypothesis, wordnet=none)


def jar_seconds(pairs: list[tuple[str, str]]) -> float | None:
    """Seconds of the jar, reading pairs from standard input as pycocoevalcap does; its start is taken off."""
    found = importlib.util.find_spec("pycocoevalcap")
    if not shutil.which("java") or not found or not found.submodule_search_locations:
        return None
    file = Path(next(iter(found.submodule_search_locations)), "meteor", "meteor-1.5.jar")
    command = ["java", "-Xmx2G", "-jar", str(file), "-", "-", "-stdio", "-l", "en", "-norm", "-m", "exact stem"]
    taken = []
    for some in (pairs[:1], pairs):
        lines = "".join(f"SCORE ||| {reference} ||| {hypothesis}\n" for hypothesis, reference in some)
        start = time.perf_counter()
        subprocess.run(command, input=lines, capture_output=True, text=True, check=True)
        taken.append(time.perf_counter() - start)
    return taken[1] - taken[0]


def main() -> None:
    for what, groups in (("made-up captions", captions(12)), ("abstract48s captions", real_captions(12))):
        if not groups:
            continue
        pairs = [(hypothesis, reference) for group in groups for hypothesis in group for reference in group]
        print(f"METEOR, exact and stem, {what}: {len(pairs):,} pairs within groups of {len(groups[0])}")
        tokens = [[meteor_tokens(text) for text in group] for group in groups]
        # A new scorer each time: texts are tokenised and words stemmed within the time taken. NLTK gets tokens.
        best = side_by_side(
            {
                "ours": lambda groups=groups: SIMILARITY.scorer().squares(groups),
                "nltk": lambda tokens=tokens: by_nltk(tokens),
            },
            3,
        )
        seconds(f"recapture, {len(pairs) / best['ours']:,.0f} pairs a second", best["ours"])
        seconds(f"NLTK without synonyms, {len(pairs) / best['nltk']:,.0f} pairs a second", best["nltk"])
        jar = jar_seconds(pairs)
        if jar:
            seconds(f"METEOR 1.5 jar (counts only), {len(pairs) / jar:,.0f} pairs a second", jar)
        ratio("NLTK / recapture", best["nltk"] / best["ours"], "at least 1")
