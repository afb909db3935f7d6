"""The body of a masked language model, with the work that no masked token needs left out.

Two savings, each only where a short trial against the body as it came gives the same vectors:

- The last layer of a BERT-like stack answers in the masked place alone: of the other places only keys and values are
  needed, which is a sixth of the layer.
- On x86 processors the weights of linear layers are laid out once as oneDNN multiplies them, in place of at every call.
  It is the same product in float32.
"""

from __future__ import annotations

import platform
from typing import Any

CLOSE = 1e-4
"""How far vectors may differ in a trial, of the largest number: rounding in float32 is a hundredth of that."""
_TRIAL_LENGTHS = (9, 6)
_PROJECTION_BYTES = 128 << 20
"""Vocabulary projections up to this size are packed: it takes a copy, since their weights are the word embeddings."""


class MaskedBody:
    """(ids, mask, places) -> the last layer's vectors in those places."""

    def __init__(self, body: Any, on_cpu: bool) -> None:
        self.body = body
        self._last: Any = None
        expected = self._trial()
        if _is_bert_like(body):
            whole = body.encoder.layer
            self._last, body.encoder.layer = whole[-1], whole[:-1]
            try:
                fine = _same(expected, self._trial())
            except (RuntimeError, AttributeError, TypeError, ValueError, IndexError):  # a layer of another kind
                fine = False
            if not fine:
                self._last, body.encoder.layer = None, whole
        if on_cpu and _can_pack():
            self._pack(expected)

    def __call__(self, ids: Any, mask: Any, places: Any) -> Any:
        """mask: None where no row is filled up."""
        import torch

        states = self.body(input_ids=ids, attention_mask=mask).last_hidden_state
        rows = torch.arange(len(ids), device=ids.device)
        if self._last is None:
            return states[rows, places]
        return _answer(self._last, states, states[rows, places][:, None], mask)[:, 0]

    def _trial(self) -> Any:
        """Vectors for two rows of made-up tokens, one of them filled up."""
        import torch

        device = next(self.body.parameters()).device
        longest = max(_TRIAL_LENGTHS)
        ids = torch.arange(7, 7 + 2 * longest, device=device).reshape(2, longest) % self.body.config.vocab_size
        mask = torch.tensor([[int(at < length) for at in range(longest)] for length in _TRIAL_LENGTHS], device=device)
        with torch.inference_mode():
            return self(ids, mask, torch.tensor([length - 2 for length in _TRIAL_LENGTHS], device=device))

    def _pack(self, expected: Any) -> None:
        kind = _packed_linear()
        replaced = [
            (module, name, child)
            for part in (self.body, self._last)
            if part is not None
            for module in part.modules()
            for name, child in module.named_children()
            if _is_plain_linear(child)
        ]
        for module, name, child in replaced:
            setattr(module, name, kind(child))
        try:
            fine = _same(expected, self._trial())
        except (RuntimeError, AttributeError, TypeError):  # a family that looks into its linear layers
            fine = False
        if not fine:
            for module, name, child in replaced:
                setattr(module, name, child)


def fast_projection(projection: Any, on_cpu: bool) -> Any:
    """The vocabulary projection, packed where that is worth its memory: few rows at a time meet many weights."""
    import torch

    weight = projection.weight
    if not (on_cpu and _can_pack() and _is_plain_linear(projection) and weight.nbytes <= _PROJECTION_BYTES):
        return projection
    packed = _packed_linear()(projection)
    with torch.inference_mode():
        probe = torch.linspace(-1, 1, 2 * weight.shape[1]).reshape(2, -1)
        return packed if _same(projection(probe), packed(probe)) else projection


def _is_bert_like(body: Any) -> bool:
    layers = getattr(getattr(body, "encoder", None), "layer", None)
    if layers is None or len(layers) < 2:
        return False
    last = layers[-1]
    own = getattr(getattr(last, "attention", None), "self", None)
    names = ("query", "key", "value", "num_attention_heads", "attention_head_size")
    return (
        all(hasattr(own, name) for name in names)
        and hasattr(last.attention, "output")
        and hasattr(last, "intermediate")
        and hasattr(last, "output")
    )


def _answer(layer: Any, states: Any, chosen: Any, mask: Any) -> Any:
    """What a BERT layer makes of the chosen places, (rows, 1, width), which look at all states."""
    import torch

    own = layer.attention.self

    def heads(projected: Any) -> Any:
        return projected.view(len(projected), -1, own.num_attention_heads, own.attention_head_size).transpose(1, 2)

    seen = torch.nn.functional.scaled_dot_product_attention(
        heads(own.query(chosen)),
        heads(own.key(states)),
        heads(own.value(states)),
        attn_mask=None if mask is None else mask[:, None, None, :].bool(),
    )
    attended = layer.attention.output(seen.transpose(1, 2).flatten(2), chosen)
    return layer.output(layer.intermediate(attended), attended)


def _same(expected: Any, actual: Any) -> bool:
    return bool(((expected - actual).abs() <= CLOSE * expected.abs().max()).all())


def _can_pack() -> bool:
    import torch

    wanted = platform.machine().lower() in ("x86_64", "amd64")
    library: Any = torch.backends.mkldnn
    known = torch.ops.mkldnn if library.is_available() else None
    return wanted and all(hasattr(known, name) for name in ("_reorder_linear_weight", "_linear_pointwise"))


def _is_plain_linear(module: Any) -> bool:
    import torch

    return type(module) is torch.nn.Linear and module.weight.dtype == torch.float32


def _packed_linear() -> Any:
    import torch

    class PackedLinear(torch.nn.Module):
        def __init__(self, plain: Any) -> None:
            super().__init__()
            self._packed = torch.ops.mkldnn._reorder_linear_weight(plain.weight.detach())
            self._bias = None if plain.bias is None else plain.bias.detach()

        def forward(self, rows: Any) -> Any:
            return torch.ops.mkldnn._linear_pointwise(rows, self._packed, self._bias, "none", [], "")

    return PackedLinear
