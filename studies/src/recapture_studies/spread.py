"""How far numbers lie apart from encoder to encoder, and whether a paper's number lies among them."""

from __future__ import annotations

import math
from collections.abc import Mapping

from .rated import shown


def spread(values: Mapping[str, float], printed: float) -> str:
    """In words, as tables print numbers; nothing where fewer than two encoders have one, or the paper has none.

    values: by encoder (a model, its layers, its pooling).
    """
    known = [round(value, 3) for value in values.values() if not math.isnan(value)]
    if len(known) < 2 or printed is None or math.isnan(printed):
        return ""
    inside = min(known) <= round(printed, 3) <= max(known)
    ends = f"{shown(min(known))} to {shown(max(known))}"
    where = "inside" if inside else "outside"
    return f"ours {ends} over {len(known)} encoders; the paper's {shown(printed)} lies {where}"


def spreads(by_name: Mapping[str, Mapping[str, float]], printed: Mapping[str, float]) -> str:
    """Of several numbers: those that both sides have."""
    told = {name: spread(values, printed[name]) for name, values in by_name.items() if name in printed}
    return "; ".join(f"{name}: {words}" for name, words in told.items() if words)


def last_layers(count: int) -> str:
    """How much of an encoder is read."""
    return "the last layer" if count == 1 else f"the last {count} layers"
