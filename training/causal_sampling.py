"""Texts from a causal language model: by sampling (temperature, top-k, top-p), greedily, and by beam search."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from training.causal_model import CausalModel, Store


@dataclass(frozen=True)
class Setting:
    """One way to draw texts. Temperature first, then the most likely tokens by top-k, then by top-p."""

    temperature: float = 1.0
    top_p: float = 1.0
    top_k: int = 0
    """0: all tokens."""
    search: str = "sampling"
    """or greedy, or beam."""
    beams: int = 0

    def record(self) -> dict[str, object]:
        """Fields of the samples' file; those that change nothing are left out."""
        if self.search != "sampling":
            return {"search": self.search, **({"beams": self.beams} if self.search == "beam" else {})}
        cut = {"top_p": self.top_p} if self.top_p < 1 else {}
        return {"temperature": self.temperature, **cut, **({"top_k": self.top_k} if self.top_k else {})}


@dataclass(frozen=True)
class Ending:
    """How long a text may be, which tokens end it, and which may not stand in it."""

    length: int
    stops: tuple[int, ...]
    never: tuple[int, ...]
    never_first: tuple[int, ...]


def chances(scores: Tensor, setting: Setting) -> Tensor:
    """Probabilities (rows, vocabulary) of the next token."""
    scores = scores.float() / setting.temperature
    if setting.top_k and setting.top_k < scores.shape[1]:
        least = scores.topk(setting.top_k).values[:, -1:]
        scores = scores.masked_fill(scores < least, -torch.inf)
    share = scores.softmax(1)
    if setting.top_p >= 1:
        return share
    ordered, order = share.sort(1, descending=True)
    # The smallest set whose probability reaches top-p: a token stays while those before it do not reach it.
    kept = ordered.masked_fill(ordered.cumsum(1) - ordered >= setting.top_p, 0.0)
    return torch.zeros_like(share).scatter(1, order, kept)


def _started(model: CausalModel, prompts: Sequence[Sequence[int]], more: int) -> tuple[Store, Tensor]:
    """Prompts read at once, and the scores of the token after each."""
    device = model.words.weight.device
    longest = max(map(len, prompts))
    ids = torch.zeros(len(prompts), longest, dtype=torch.long)
    seen = torch.zeros(len(prompts), longest, dtype=torch.bool)
    for row, prompt in enumerate(prompts):
        ids[row, longest - len(prompt) :] = torch.tensor(prompt)
        seen[row, longest - len(prompt) :] = True
    store = Store(len(model.layers), seen.to(device), more)
    return store, model.scores(model(ids.to(device), store)[:, -1]).float()


def _forbid(scores: Tensor, ending: Ending, first: bool) -> Tensor:
    never = [*ending.never, *(ending.never_first if first else ())]
    scores[:, never] = -torch.inf
    return scores


@torch.no_grad()
def draw(
    model: CausalModel, prompts: Sequence[Sequence[int]], setting: Setting, ending: Ending, seed: int
) -> list[list[int]]:
    """One text for each prompt, without the token that ends it. The same seed gives the same texts on one device."""
    if setting.search == "beam":
        return _beam(model, prompts, setting.beams, ending)
    generator = torch.Generator(model.words.weight.device).manual_seed(seed)
    store, scores = _started(model, prompts, ending.length)
    stops = torch.tensor(ending.stops, device=scores.device)
    over = torch.zeros(len(prompts), dtype=torch.bool, device=scores.device)
    taken, alive = [], []
    for place in range(ending.length):
        scores = _forbid(scores, ending, place == 0)
        if setting.search == "greedy":
            token = scores.argmax(1)
        else:
            token = chances(scores, setting).multinomial(1, generator=generator)[:, 0]
        over = over | torch.isin(token, stops)
        taken.append(token)
        alive.append(~over)
        if place + 1 == ending.length or (place % 8 == 7 and bool(over.all())):
            break
        scores = model.scores(model(token[:, None], store)[:, -1]).float()
    tokens, lives = torch.stack(taken, 1).tolist(), torch.stack(alive, 1).sum(1).tolist()
    return [row[:count] for row, count in zip(tokens, lives, strict=True)]


def _beam(model: CausalModel, prompts: Sequence[Sequence[int]], beams: int, ending: Ending) -> list[list[int]]:
    """The most likely of the texts that a beam of this width finds, by the sum of its tokens' log-likelihoods."""
    store, scores = _started(model, prompts, ending.length)
    device, rows = scores.device, len(prompts)
    first = torch.arange(rows, device=device).repeat_interleave(beams)
    store.choose(first)
    scores = scores[first]
    vocabulary = scores.shape[1]
    total = torch.full((rows, beams), -torch.inf, device=device)
    total[:, 0] = 0.0  # all beams of a prompt start alike: only one counts
    stops = torch.tensor(ending.stops, device=device)
    over = torch.zeros(rows * beams, dtype=torch.bool, device=device)
    tokens = torch.zeros(rows * beams, 0, dtype=torch.long, device=device)
    filler = ending.stops[0] if ending.stops else 0
    for place in range(ending.length):
        steps = _forbid(scores, ending, place == 0).log_softmax(1)
        # A text that has ended goes on as it is, for nothing.
        steps[over] = -torch.inf
        steps[over, filler] = 0.0
        best, at = (total[:, :, None] + steps.view(rows, beams, vocabulary)).flatten(1).topk(beams, 1)
        total = best
        origin = (at // vocabulary + torch.arange(rows, device=device)[:, None] * beams).flatten()
        token = (at % vocabulary).flatten()
        tokens = torch.cat([tokens[origin], token[:, None]], 1)
        over = over[origin] | torch.isin(token, stops)
        if place + 1 == ending.length or bool(over.all()):
            break
        store.choose(origin)
        scores = model.scores(model(token[:, None], store)[:, -1]).float()
    found = tokens.view(rows, beams, -1)[:, 0].tolist()  # topk puts the best first
    stop = set(ending.stops)
    return [row[: next((n for n, token in enumerate(row) if token in stop), len(row))] for row in found]
