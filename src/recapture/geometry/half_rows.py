"""Rows in half precision whose products bound squared distances, with a proved margin.

Write x for a centred and scaled row, x^ for the same row in half precision and r_x for the length of x - x^, which is
computed. By Cauchy and Schwarz, for any t > 0,

    |x.y - x^.y^| <= r_x |y| + |x^| r_y <= m_x + m_y,     m_x = r_x^2 / (2 t) + t max(|x|, |x^|)^2 / 2.

The product p that comes out is wrong by at most g |x^| |y^|, g = n 2^-22 (`half_products`). With
term(x) = |x|^2 / 2 - m_x - g |x^|^2 / 2,

    |x - y|^2 <= T   implies   p >= term(x) + term(y) - T / 2:

what falls short of that is further away than T and never looked at again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .half_products import SUMS, half_kind

_RESIDUAL = 2.0**-12
"""t above: about the residual of a row of length 1, where both summands of m_x are equal."""
_LAST = 2.0**-21
"""Of float32 arithmetic after the product, relative to |x|^2."""
_ROWS = 1 << 16
WIDTH = 64
"""Rows are padded with zeros to a multiple of so many numbers."""


@dataclass(frozen=True)
class HalfRows:
    """One set in half precision."""

    half: Any
    """(rows, padded dimensions) float16, or float32 where torch has no fast half precision (on a processor)"""
    term: Any
    """(rows,) float32, rounded down"""
    scale: float

    def threshold(self, squared: Any) -> Any:
        """(rows,) float32: a product below this and the other row's term proves a distance above `squared`."""
        import torch

        reach = squared * (self.scale * self.scale / 2)
        limit = self.term.double() - reach
        # Rounded down, with room for the subtraction in float32.
        limit = limit - (2.0**-22) * (self.term.double().abs() + reach)
        return torch.where(torch.isinf(squared), torch.full_like(limit, -torch.inf), limit).float()


def half_rows(values: Any, centre: Any, scale: float) -> HalfRows:
    """values: (rows, dimensions) on a device. centre: float64."""
    import torch

    rows, dimensions = values.shape
    width = -(-dimensions // WIDTH) * WIDTH
    kind = half_kind(values.device)
    half = torch.zeros((rows, width), dtype=kind, device=values.device)
    term = torch.empty(rows, dtype=torch.float32, device=values.device)
    sums = (width + 16) * SUMS
    for start in range(0, rows, _ROWS):
        part = slice(start, min(start + _ROWS, rows))
        exact = (values[part].double() - centre) * scale
        rounded = exact.to(kind)
        half[part, :dimensions] = rounded
        back = rounded.double()
        residual = (exact - back).square().sum(1)
        own, other = exact.square().sum(1), back.square().sum(1)
        longest = torch.maximum(own, other)
        margin = residual / (2 * _RESIDUAL) + _RESIDUAL / 2 * longest + (sums / 2 + _LAST) * longest
        # 1e-30: a length that vanishes even squared; nothing is lost by looking at such a pair.
        term[part] = torch.nextafter((own / 2 - margin - 1e-30).float(), torch.tensor(-torch.inf, device=values.device))
    return HalfRows(half, term, scale)
