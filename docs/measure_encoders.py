"""Prints the figures of docs/encoders.md on what all-MiniLM-L6-v2 sees, and of weights/README.md on what its sentence
vectors alone say of translations. About four minutes of one core.

Wants the folders brown_genres, ghostbuster and wmt17_to_english in the folder that RECAPTURE_DATA names.
"""

from __future__ import annotations

import gzip
import json
import os
import random
from pathlib import Path
from typing import Any

import numpy as np

import recapture as rc

CHINESE = [
    "今天早上雾来得太快，我连自己家的大门都看不见了。",
    "昨天晚上雷声在海湾里响了一整夜，可是几乎没有下雨。",
    "图书馆的管理员开始在还回来的书里夹上手写的推荐。",
    "我又错过了七点四十二分的火车，这一次只能怪那只猫。",
]


def rows(file: str) -> list[dict[str, Any]]:
    with gzip.open(Path(os.environ["RECAPTURE_DATA"]) / file, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def shuffled(texts: list[str], blank: str | None = " ") -> list[str]:
    rng = random.Random(0)
    words = [text.split() if blank else list(text) for text in texts]
    return [(blank or "").join(rng.sample(own, len(own))) for own in words]


def show_order(name: str, texts: list[str], blank: str | None = " ") -> None:
    own, mixed = (rc.encode(each, offline=True).astype(float) for each in (texts, shuffled(texts, blank)))
    others = (own @ own.T)[~np.eye(len(own), dtype=bool)]
    likeness = mixed @ own.T
    nearest = (likeness.argmax(axis=1) == np.arange(len(own))).sum()
    print(
        f"{name}: shuffled {likeness.diagonal().mean():.2f}, lowest {likeness.diagonal().min():.2f}, highest "
        f"{likeness.diagonal().max():.2f}; another text {others.mean():.2f}, lowest {others.min():.2f}, highest "
        f"{others.max():.2f}; nearest to its own {nearest} of {len(own)}"
    )


def show_salad(stories: dict[str, list[str]]) -> None:
    """300 human stories against 300 others, as they are, with their words shuffled, and by two models."""
    human = stories["human"]
    sets = {"human": human[300:600], "word salad": shuffled(human[300:600])}
    sets |= {name: stories[name][300:600] for name in ("gpt", "claude")}
    results = rc.evaluate(human[:300], sets, "mauve,precision-recall", offline=True, ceiling=False)
    for name, texts in sets.items():
        mauve, ours = results[name]["mauve"], results[name]["precision-recall"]
        entropy = rc.cross_entropy(human[:300], texts).forward
        print(f"{name}: MAUVE {mauve.value:.2f}, {ours.precision:.2f}, {ours.recall:.2f}; {entropy:.2f} nats per token")


def show_demo(folder: Path) -> None:
    """A text that goes on with bananas, cut and whole; good.txt and its own words shuffled."""
    human, good, salad = ((folder / f"{name}.txt").read_text("utf-8") for name in ("human", "good", "scrambled"))
    start = " ".join(human.split()[:300])
    for truncate in (True, False):
        one, other = rc.encode([start, start + " banana" * 1200], offline=True, truncate=truncate)
        print(f"300 words and the same with bananas, {'cut' if truncate else 'whole'}: {one @ other:.3f}")
    lines = [text.splitlines() for text in (human, good, salad)]
    nats = [rc.cross_entropy(lines[0], candidate).forward for candidate in lines[1:]]
    print(f"good.txt and scrambled.txt: {nats[0]:.2f} and {nats[1]:.2f} nats per token", end="; ")
    print(f"BLEU of one against the other {rc.bleu(lines[1], lines[2]).value:.2f}")


def show_agreement() -> None:
    """Pearson's correlation of the cosine of sentence vectors with people, WMT17's rated segments."""
    file = Path(os.environ["RECAPTURE_DATA"], "wmt17_to_english", "segment_da.jsonl")
    segments = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    sides = (rc.encode([row[side] for row in segments], offline=True) for side in ("reference", "hyp"))
    cosines = np.einsum("ij,ij->i", *sides)
    human = np.array([row["human_da"] for row in segments])
    places: dict[str, list[int]] = {}
    for place, row in enumerate(segments):
        places.setdefault(row["lp"], []).append(place)
    five = [f"{language}-en" for language in ("cs", "de", "ru", "tr", "zh")]
    for what, pairs, most in (("all of five pairs", five, None), ("the first 200 of seven", sorted(places), 200)):
        found = [np.corrcoef(cosines[places[pair][:most]], human[places[pair][:most]])[0, 1] for pair in pairs]
        print(f"cosine of sentence vectors with people, {what}: {np.mean(found):.3f}")


if __name__ == "__main__":
    stories: dict[str, list[str]] = {}
    for row in rows("ghostbuster/wp.jsonl.gz"):
        stories.setdefault(row["source"], []).append(row["text"])
    sentences = [row["text"] for row in rows("brown_genres/sentences.jsonl.gz")]
    sentences = random.Random(1).sample([text for text in sentences if len(text.split()) >= 12], 300)
    demo = Path(__file__).parent.parent / "examples" / "demo" / "human.txt"
    show_order("human.txt", demo.read_text("utf-8").splitlines())
    show_order("Brown", sentences)
    show_order("Ghostbuster", stories["human"][:200])
    show_order("Chinese", CHINESE, blank=None)
    print(f"unknown pieces of the Chinese: {rc.resolve_encoder(offline=True).facts(CHINESE).unknown_pieces:.2f}")
    show_salad(stories)
    show_demo(demo.parent)
    show_agreement()
