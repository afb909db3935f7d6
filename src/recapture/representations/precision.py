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


def checked_dtype(wanted: Any, int8: bool = False) -> str | None:
    """torch's name of a number type; None or auto: the usual one of the model and the device.

    int8: whether that is taken, too: of encoders alone, as it rounds more than masked language models bear.
    """
    if wanted is None:
        return None
    known = {**DTYPES, "auto": None, **({"int8": "int8"} if int8 else {})}
    if not isinstance(wanted, str) or wanted not in known:
        listed = "float16, bfloat16 (bf16) or int8" if int8 else "float16 or bfloat16 (bf16)"
        raise InputError(f"dtype must be auto, float32, {listed}, not {shown(wanted)}")
    return known[wanted]
