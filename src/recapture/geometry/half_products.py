"""Products of numbers in half precision whose sums are made in float32.

Products of two such numbers are exact in float32. Sums of n of them, in any order and with truncation (Fasi, Higham,
Mikaitis and Pranesh 2021, Numerical behavior of NVIDIA tensor cores), are wrong by at most n 2^-22 |x| |y|.
"""

from __future__ import annotations

from typing import Any

SUMS = 2.0**-22


def half_kind(device: Any) -> Any:
    """The type for numbers in half precision; on a processor, where torch has no fast one, float32."""
    import torch

    return torch.float16 if torch.device(device).type == "cuda" else torch.float32


def half_product(left: Any, right: Any) -> Any:
    """left @ right.T as float32; numbers are of the type of `half_kind`."""
    import torch

    if left.dtype == torch.float32:
        return left @ right.T
    try:
        return torch.mm(left, right.T, out_dtype=torch.float32)
    except TypeError:  # before torch 2.8; float32, and what TF32 keeps of it, hold the same numbers
        return left.float() @ right.float().T
