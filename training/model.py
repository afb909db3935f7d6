"""A lean BERT with a masked-language-model head; weights load from and export to transformers' names."""

from __future__ import annotations

import contextlib

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812 (everybody's name for it)

from training.data import CLS, PAD

_FUSED = ("query", "key", "value")
_BLOCK = {
    "mixed": "attention.output.dense",
    "mixed_norm": "attention.output.LayerNorm",
    "wide": "intermediate.dense",
    "narrow": "output.dense",
    "narrow_norm": "output.LayerNorm",
}
_OUTER = {
    "words.weight": "bert.embeddings.word_embeddings.weight",
    "places.weight": "bert.embeddings.position_embeddings.weight",
    "kinds.weight": "bert.embeddings.token_type_embeddings.weight",
    "norm.weight": "bert.embeddings.LayerNorm.weight",
    "norm.bias": "bert.embeddings.LayerNorm.bias",
    "head.weight": "cls.predictions.transform.dense.weight",
    "head.bias": "cls.predictions.transform.dense.bias",
    "head_norm.weight": "cls.predictions.transform.LayerNorm.weight",
    "head_norm.bias": "cls.predictions.transform.LayerNorm.bias",
    "bias": "cls.predictions.bias",
}


def layout(ids: Tensor) -> tuple[Tensor, Tensor]:
    """Segment and position of every token of packed rows; padding is a segment of its own (number `length`)."""
    length = ids.shape[1]
    first = ids == CLS
    places = torch.arange(length, device=ids.device).expand_as(ids)
    positions = places - torch.where(first, places, 0).cummax(1).values
    segments = (first.cumsum(1) - 1).masked_fill(ids == PAD, length)
    return segments, positions


class Block(nn.Module):
    def __init__(self, width: int, heads: int, inner: int, eps: float) -> None:
        super().__init__()
        self.heads = heads
        self.fused = nn.Linear(width, 3 * width)
        self.mixed, self.mixed_norm = nn.Linear(width, width), nn.LayerNorm(width, eps=eps)
        self.wide, self.narrow = nn.Linear(width, inner), nn.Linear(inner, width)
        self.narrow_norm = nn.LayerNorm(width, eps=eps)

    def forward(self, x: Tensor, allowed: Tensor, dropout: float, attention_dropout: float) -> Tensor:
        rows, length, width = x.shape
        query, key, value = (
            self.fused(x).view(rows, length, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4).unbind(0)
        )
        seen = F.scaled_dot_product_attention(query, key, value, attn_mask=allowed, dropout_p=attention_dropout)
        seen = self.mixed(seen.transpose(1, 2).reshape(rows, length, width))
        x = self.mixed_norm(x + F.dropout(seen, dropout, dropout > 0))
        deep = self.narrow(F.gelu(self.wide(x)))
        return self.narrow_norm(x + F.dropout(deep, dropout, dropout > 0))


class MaskedModel(nn.Module):
    """`config` is transformers' config.json as a dictionary."""

    def __init__(self, config: dict, dropout: float = 0.0, attention_dropout: float = 0.0, efficient: bool = False):
        super().__init__()
        if config.get("hidden_act", "gelu") != "gelu":
            raise SystemExit(f"hidden_act {config['hidden_act']!r} is not known here, only gelu")
        width, eps = config["hidden_size"], config.get("layer_norm_eps", 1e-12)
        self.vocabulary = config["vocab_size"]
        self.dropout, self.attention_dropout, self.efficient = dropout, attention_dropout, efficient
        self.words = nn.Embedding(self.vocabulary, width)
        self.places = nn.Embedding(config["max_position_embeddings"], width)
        self.kinds = nn.Embedding(config["type_vocab_size"], width)
        self.norm = nn.LayerNorm(width, eps=eps)
        self.blocks = nn.ModuleList(
            Block(width, config["num_attention_heads"], config["intermediate_size"], eps)
            for _ in range(config["num_hidden_layers"])
        )
        self.head, self.head_norm = nn.Linear(width, width), nn.LayerNorm(width, eps=eps)
        self.bias = nn.Parameter(torch.zeros(self.vocabulary))
        with torch.no_grad():
            self.head.weight.copy_(torch.eye(width))
            self.head.bias.zero_()

    def choose_trained(self, train_layers: str | int) -> None:
        """Head always, word embeddings never, the layers as asked; the other embeddings only with "all"."""
        count = {"all": len(self.blocks), "none": 0}.get(train_layers, train_layers)
        self.requires_grad_(False)
        for part in (self.head, self.head_norm, *self.blocks[len(self.blocks) - count :]):
            part.requires_grad_(True)
        self.bias.requires_grad_(True)
        if train_layers == "all":
            for part in (self.places, self.kinds, self.norm):
                part.requires_grad_(True)

    def forward(self, ids: Tensor, segments: Tensor, positions: Tensor, chosen: Tensor) -> Tensor:
        """Logits (float32) at the chosen places of the flattened rows.

        The vocabulary is padded to a multiple of 64, which matrix units want; the places added never win.
        """
        dropout, attention_dropout = (self.dropout, self.attention_dropout) if self.training else (0.0, 0.0)
        allowed = segments[:, None, :, None] == segments[:, None, None, :]
        x = self.norm(self.words(ids) + self.places(positions) + self.kinds.weight[0])
        x = F.dropout(x, dropout, dropout > 0)
        with _kernels(self.efficient and ids.is_cuda):
            for block in self.blocks:
                x = block(x, allowed, dropout, attention_dropout)
        x = x.flatten(0, 1)[chosen]
        x = self.head_norm(F.gelu(self.head(x)))
        extra = -self.vocabulary % 64
        logits = F.linear(x, F.pad(self.words.weight, (0, 0, 0, extra)))
        return logits.float() + F.pad(self.bias, (0, extra), value=-1e4)

    def load_named(self, weights: dict[str, Tensor], strict: bool = True) -> None:
        """Take weights under transformers' names; with `strict` every one must be there."""
        own = {}
        for name in self.state_dict():
            places = _names(name)
            missing = [place for place in places if place not in weights]
            if missing and strict:
                raise SystemExit(f"the weights lack {missing[0]}")
            if not missing:
                own[name] = torch.cat([weights[place].float() for place in places])
        self.load_state_dict(own, strict=False)

    def named(self) -> dict[str, Tensor]:
        """All weights under transformers' names."""
        result = {}
        for name, tensor in self.state_dict().items():
            places = _names(name)
            result |= dict(zip(places, tensor.chunk(len(places)), strict=True))
        return result


def _kernels(efficient: bool) -> contextlib.AbstractContextManager:
    if not efficient:
        return contextlib.nullcontext()
    from torch.nn.attention import SDPBackend, sdpa_kernel

    return sdpa_kernel([SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH])


def _names(own: str) -> list[str]:
    """transformers' name or names (one fused matrix is three of theirs) of one of our weights."""
    if own in _OUTER:
        return [_OUTER[own]]
    _, number, part, kind = own.split(".")
    start = f"bert.encoder.layer.{number}."
    if part == "fused":
        return [f"{start}attention.self.{each}.{kind}" for each in _FUSED]
    return [f"{start}{_BLOCK[part]}.{kind}"]
