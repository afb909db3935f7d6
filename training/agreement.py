"""How well InfoLM with given weights agrees with people, segment by segment, on WMT17: what the weights are chosen by.

    python -m training.agreement WEIGHTS [WEIGHTS ...] --segments segment_da.jsonl [--base DIR] [--unescape]

Prints, for every measure and temperature, with and without idf, the mean over language pairs of Pearson's correlation
with the human score (sign turned, so that higher is better). Meant for a GPU, where it takes seconds a file; the
library itself gives the same numbers (`recapture.infolm`), more slowly.
"""

from __future__ import annotations

import argparse
import html
import json
import math
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

if not __package__:
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from training.base import base_folder
from training.data import CLS, MASK, SEP, Tokeniser
from training.evaluate import load_shipped, pick_device
from training.model import MaskedModel, layout

TEMPERATURES = (0.25, 0.5, 1.0, 2.0, 4.0, 10.0)
LONGEST = 510


def measures(p: Tensor, q: Tensor) -> dict[str, Tensor]:
    """Every measure of rows of log-probabilities, those with a parameter at 1/2."""
    a, b = p.exp(), q.exp()
    kl, lk = (a * (p - q)).sum(1), (b * (q - p)).sum(1)
    affinity = torch.logsumexp((p + q) / 2, 1)
    mixed = torch.logsumexp(p + q / 2, 1)
    gamma = torch.logsumexp(p * 1.5, 1) / 0.75 + torch.logsumexp(q * 1.5, 1) / 1.5 - mixed * 2
    return {
        "kl": kl,
        "jeffreys": (kl + lk) / 2,
        "alpha(.5)": 4 * (1 - affinity.exp()),
        "renyi(.5)": -2 * affinity,
        "ab(.5,.5)": -4 * affinity,
        "gamma(.5)": gamma,
        "l1": (a - b).abs().sum(1),
        "l2": (a - b).square().sum(1).sqrt(),
        "linf": (a - b).abs().amax(1),
        "fisher_rao": 2 / math.pi * affinity.exp().clamp(max=1).arccos(),
    }


@torch.no_grad()
def distributions(model: MaskedModel, ids: list[int], weights: list[Tensor], device: torch.device) -> Tensor:
    """(weightings x temperatures, vocabulary): log of the weighted mean distribution of one text's tokens."""
    rows = torch.tensor([CLS, *ids, SEP], device=device).repeat(len(ids), 1)
    places = torch.arange(len(ids), device=device)
    rows[places, places + 1] = MASK
    logits = model(rows, *layout(rows), places * rows.shape[1] + places + 1)[:, : model.vocabulary]
    made = []
    for temperature in TEMPERATURES:
        logs = (logits / temperature).log_softmax(1)
        made += [torch.logsumexp(logs + weight.log()[:, None], 0) for weight in weights]
    return torch.stack(made)


def agreement(model: MaskedModel, segments: list[dict], tokeniser: Tokeniser, device: torch.device) -> dict:
    """{(measure, temperature, weighting): mean correlation over language pairs}"""
    found: dict[tuple, list[float]] = {}
    for pair in sorted({segment["lp"] for segment in segments}):
        chosen = [segment for segment in segments if segment["lp"] == pair]
        texts = list(dict.fromkeys(text for each in chosen for text in (each["reference"], each["hyp"])))
        pieces = dict(zip(texts, (ids.tolist()[:LONGEST] for ids in tokeniser.encode(texts)), strict=True))
        counts = Counter(piece for each in chosen for piece in set(pieces[each["reference"]]))
        known = {}
        for text, ids in pieces.items():
            idf = torch.tensor([math.log((len(chosen) + 1) / (counts[piece] + 1)) for piece in ids], device=device)
            equal = torch.full_like(idf, 1 / max(1, len(ids)))
            known[text] = distributions(model, ids, [idf / idf.sum() if idf.sum() > 0 else equal, equal], device)
        human = np.array([each["human_da"] for each in chosen])
        scores: dict[tuple, list[Tensor]] = {}
        for start in range(0, len(chosen), 40):
            some = chosen[start : start + 40]
            sides = [torch.stack([known[each[side]] for each in some]).double() for side in ("reference", "hyp")]
            for at in range(sides[0].shape[1]):
                for name, values in measures(sides[0][:, at], sides[1][:, at]).items():
                    key = (name, TEMPERATURES[at // 2], ("idf", "equal")[at % 2])
                    scores.setdefault(key, []).append(values)
        for key, parts in scores.items():
            values = torch.cat(parts).cpu().numpy()
            found.setdefault(key, []).append(float(-np.corrcoef(values, human)[0, 1]))
    return {key: float(np.mean(values)) for key, values in found.items()}


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Segment-level agreement of InfoLM with people on WMT17.")
    parser.add_argument("weights", type=Path, nargs="+")
    parser.add_argument("--segments", type=Path, required=True)
    parser.add_argument("--base")
    parser.add_argument("--device")
    parser.add_argument("--unescape", action="store_true", help="turn &apos; and its like into characters")
    parser.add_argument("--limit", type=int, help="only so many segments of each language pair")
    given = parser.parse_args(arguments)
    base, device = base_folder(given.base), pick_device(given.device)
    segments = [json.loads(line) for line in given.segments.read_text("utf-8").splitlines()]
    if given.limit:
        seen: Counter[str] = Counter()
        segments = [each for each in segments if seen.update([each["lp"]]) or seen[each["lp"]] <= given.limit]
    if given.unescape:
        segments = [{**each, **{side: html.unescape(each[side]) for side in ("reference", "hyp")}} for each in segments]
    for path in given.weights:
        found = agreement(load_shipped(path, base, device), segments, Tokeniser(base), device)
        names = list(dict.fromkeys(name for name, _, _ in found))
        for weighting in ("idf", "equal"):
            heads = "".join(f"{f'T={each:g}':>9}" for each in TEMPERATURES)
            print(f"{path.parent.name + ' ' + weighting:24}{heads}")
            for name in names:
                row = "".join(f"{found[name, each, weighting]:9.4f}" for each in TEMPERATURES)
                print(f"{name:24}{row}", flush=True)


if __name__ == "__main__":
    main()
