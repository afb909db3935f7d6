"""A small causal language model in plain PyTorch, with a store of keys and values for sampling."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812 (everybody's name for it)


class Store:
    """Keys and values of what was read, layer by layer; places that are padding are never looked at."""

    def __init__(self, layers: int, seen: Tensor, more: int) -> None:
        """seen: (rows, length), False where a row of prompts is padded on its left. more: tokens still to come."""
        rows, self.length = seen.shape
        self.seen = torch.cat([seen, seen.new_ones(rows, more)], 1)
        self.filled = 0
        self._keys: list[Tensor | None] = [None] * layers
        self._values: list[Tensor | None] = [None] * layers

    def add(self, layer: int, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        """All keys and values of a layer, with these as the last."""
        rows, heads, count, width = key.shape
        keys, values = self._keys[layer], self._values[layer]
        if keys is None or values is None:
            room = (rows, heads, self.seen.shape[1], width)
            keys = self._keys[layer] = key.new_zeros(room)
            values = self._values[layer] = value.new_zeros(room)
        end = self.filled + count
        keys[:, :, self.filled : end], values[:, :, self.filled : end] = key, value
        return keys[:, :, :end], values[:, :, :end]

    def choose(self, rows: Tensor) -> None:
        """Go on with these rows, in this order; a row may be taken several times."""
        self.seen = self.seen[rows]
        self._keys = [None if each is None else each[rows] for each in self._keys]
        self._values = [None if each is None else each[rows] for each in self._values]


class Layer(nn.Module):
    def __init__(self, width: int, heads: int, dropout: float) -> None:
        super().__init__()
        self.heads, self.dropout = heads, dropout
        self.before_looking, self.before_thinking = nn.LayerNorm(width), nn.LayerNorm(width)
        self.fused, self.mixed = nn.Linear(width, 3 * width, bias=False), nn.Linear(width, width, bias=False)
        self.wide, self.narrow = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x: Tensor, number: int, store: Store | None, allowed: Tensor | None) -> Tensor:
        rows, length, width = x.shape
        parts = self.fused(self.before_looking(x)).view(rows, length, 3, self.heads, width // self.heads)
        query, key, value = parts.permute(2, 0, 3, 1, 4).unbind(0)
        if store is not None:
            key, value = store.add(number, key, value)
        dropout = self.dropout if self.training else 0.0
        looked = F.scaled_dot_product_attention(
            query, key, value, attn_mask=allowed, dropout_p=dropout, is_causal=allowed is None
        )
        x = x + F.dropout(self.mixed(looked.transpose(1, 2).reshape(rows, length, width)), dropout, dropout > 0)
        return x + F.dropout(self.narrow(F.gelu(self.wide(self.before_thinking(x)))), dropout, dropout > 0)


class CausalModel(nn.Module):
    """The word embeddings are the output layer, too."""

    def __init__(self, vocabulary: int, layers: int, width: int, heads: int, length: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.vocabulary, self.length, self.dropout = vocabulary, length, dropout
        self.words, self.places = nn.Embedding(vocabulary, width), nn.Embedding(length, width)
        self.layers = nn.ModuleList(Layer(width, heads, dropout) for _ in range(layers))
        self.norm = nn.LayerNorm(width)
        for name, weight in self.named_parameters():
            if weight.ndim > 1:
                deep = name.endswith(("mixed.weight", "narrow.weight"))
                nn.init.normal_(weight, std=0.02 / (math.sqrt(2 * layers) if deep else 1.0))

    def forward(self, ids: Tensor, store: Store | None = None) -> Tensor:
        """Vectors (rows, length, width) from which `scores` foretells the token after each."""
        rows, length = ids.shape
        if store is None:
            places, allowed = torch.arange(length, device=ids.device).expand(rows, length), None
        else:
            end = store.filled + length
            # A row counts its places from its own first token, wherever padding put that.
            places = (store.seen[:, :end].cumsum(1) - 1).clamp(min=0)[:, store.filled :]
            before = torch.ones(length, end, dtype=torch.bool, device=ids.device).tril(store.filled)
            allowed = before & store.seen[:, None, None, :end]
            # What stands in padding is never read, but a row of the mask without any place would be no number.
            allowed = allowed | torch.eye(length, end, dtype=torch.bool, device=ids.device).roll(store.filled, 1)
        x = self.words(ids) + self.places(places)
        x = F.dropout(x, self.dropout, self.training and self.dropout > 0)
        for number, layer in enumerate(self.layers):
            x = layer(x, number, store, allowed)
        if store is not None:
            store.filled += length
        return self.norm(x)

    def scores(self, x: Tensor) -> Tensor:
        return F.linear(x, self.words.weight)

    def loss(self, ids: Tensor, wanted: Tensor, pad: int) -> tuple[Tensor, Tensor]:
        """Sum of the negative log-likelihoods (nats) of the tokens wanted, and how many they are.

        wanted: ids without their first column, `pad` where a token does not count.
        """
        guessed = self.scores(self(ids[:, :-1])).flatten(0, 1)
        total = F.cross_entropy(guessed.float(), wanted.flatten(), ignore_index=pad, reduction="sum")
        return total, (wanted != pad).sum()
