"""Learning-rate schedule, parameter groups and the moving average of the weights."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator

import torch
from torch import Tensor, nn

from training.settings import Settings


def scale(done: float, settings: Settings) -> float:
    """The learning rate as a share of its highest, when this share of the budget is done."""
    if done < settings.warmup:
        return done / settings.warmup
    left = min(1.0, (1 - done) / (1 - settings.warmup)) if settings.warmup < 1 else 1.0
    left = max(0.0, left)
    shape = left if settings.schedule == "linear" else (1 - math.cos(math.pi * left)) / 2
    return settings.final + (1 - settings.final) * shape


def optimiser(model: nn.Module, settings: Settings, fused: bool) -> torch.optim.AdamW:
    """AdamW; matrices decay; biases, norms and embeddings do not."""
    plain, decayed = [], []
    for name, weight in model.named_parameters():
        if weight.requires_grad:
            matrix = weight.ndim > 1 and not name.startswith(("places", "kinds"))
            (decayed if matrix else plain).append(weight)
    groups = [{"params": decayed, "weight_decay": settings.weight_decay}, {"params": plain, "weight_decay": 0.0}]
    return torch.optim.AdamW(groups, lr=settings.learning_rate, betas=settings.betas, eps=1e-8, fused=fused)


class Average:
    """An exponential moving average of the trained weights; young averages follow faster."""

    def __init__(self, model: nn.Module, decay: float) -> None:
        self.decay = decay
        self.names = [name for name, weight in model.named_parameters() if weight.requires_grad]
        self.trained = [weight for weight in model.parameters() if weight.requires_grad]
        self.weights: list[Tensor] = [weight.detach().clone() for weight in self.trained]

    @torch.no_grad()
    def update(self, step: int) -> None:
        decay = min(self.decay, (1 + step) / (10 + step)) if self.decay else 0.0
        torch._foreach_lerp_(self.weights, self.trained, 1 - decay)

    @contextlib.contextmanager
    def in_place(self) -> Iterator[None]:
        """Within, the model holds the averaged weights."""
        with torch.no_grad():
            kept = [weight.detach().clone() for weight in self.trained]
            torch._foreach_copy_(self.trained, self.weights)
        try:
            yield
        finally:
            with torch.no_grad():
                torch._foreach_copy_(self.trained, kept)
