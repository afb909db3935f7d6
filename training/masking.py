"""Which tokens of a batch are hidden: a fixed number, drawn without replacement, all on the device, no waiting."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from training.data import CLS, MASK, SPECIAL
from training.model import layout
from training.settings import Settings


class Batch(NamedTuple):
    inputs: Tensor
    segments: Tensor
    positions: Tensor
    chosen: Tensor  # places in the flattened rows
    targets: Tensor
    weights: Tensor  # 0 where a place had to be filled because too few tokens could be hidden


def masks_per_batch(packing: np.ndarray, settings: Settings) -> int:
    """The expected number of masks, rounded up to a multiple of 64 where there are many (static shapes)."""
    real = ~np.isin(packing, SPECIAL)
    rate = (settings.mask_low + settings.mask_high) / 2
    per_row = real.sum() / len(packing) * rate * (1 - settings.single_share)
    per_row += (packing == CLS).sum() / len(packing) * settings.single_share
    count = max(1, round(per_row * settings.rows))
    return count if count < 640 else -(-count // 64) * 64


def hidable(vocabulary: int, device: torch.device) -> Tensor:
    """Per token id: may it be hidden?"""
    allowed = torch.ones(vocabulary, dtype=torch.bool)
    allowed[list(SPECIAL)] = False
    return allowed.to(device)


def draw(ids: Tensor, count: int, allowed: Tensor, settings: Settings) -> Batch:
    """Hide `count` tokens of the rows, with PyTorch's global random numbers.

    Every paragraph draws a rate r; every token u, uniform. The tokens of smallest u / r are hidden, which is "u < r"
    with the threshold moved a little so that the count is exact.
    """
    segments, positions = layout(ids)
    rows, length = ids.shape
    real = allowed[ids]
    rate = torch.rand(rows, length + 1, device=ids.device) * (settings.mask_high - settings.mask_low)
    noise = torch.rand(rows, length, device=ids.device, dtype=torch.float64)
    order = noise / (rate + settings.mask_low).gather(1, segments)
    if settings.single_share > 0:
        single = (torch.rand(rows, length + 1, device=ids.device) < settings.single_share).gather(1, segments)
        least = torch.full((rows, length + 1), 2.0, device=ids.device, dtype=torch.float64)
        least.scatter_reduce_(1, segments, noise.masked_fill(~real, 2.0), "amin")
        only = torch.where(noise == least.gather(1, segments), -1.0, torch.inf)
        order = torch.where(single, only, order)
    order = order.masked_fill(~real, torch.inf).flatten()
    values, chosen = order.topk(min(count, order.numel()), largest=False, sorted=False)
    usable = values.isfinite()
    flat = ids.flatten()
    targets = flat[chosen].long()
    shown = torch.full_like(targets, MASK)
    if settings.keep_share > 0 or settings.random_share > 0:
        luck = torch.rand(chosen.shape, device=ids.device)
        other = torch.randint(len(allowed), chosen.shape, device=ids.device)
        shown = torch.where(luck < settings.keep_share + settings.random_share, other, shown)
        shown = torch.where(luck < settings.keep_share, targets, shown)
    shown = torch.where(usable, shown, targets).to(flat.dtype)
    inputs = flat.scatter(0, chosen, shown).view(rows, length)
    return Batch(inputs, segments, positions, chosen, targets, usable.float())
