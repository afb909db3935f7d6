"""The number types that a model may be asked to compute in."""

from __future__ import annotations

from typing import Any

from ..errors import InputError, shown

DTYPES = {
    "float32": "float32",
    "fp32": "float32",
    "float16": "float16",
    "fp16": "float16",
    "bfloat16": "bfloat16",
    "bf16": "bfloat16",
}
"""Names that are taken, and the one that each means."""


def checked_dtype(wanted: Any) -> str | None:
    """torch's name of a number type; None or auto: the usual one of the model and the device."""
    if wanted is None or wanted == "auto":
        return None
    if not isinstance(wanted, str) or wanted not in DTYPES:
        raise InputError(f"dtype must be auto, float32, float16 or bfloat16 (bf16), not {shown(wanted)}")
    return DTYPES[wanted]
