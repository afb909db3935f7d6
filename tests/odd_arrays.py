"""Arrays of odd kinds, each beside the same values as float64 (None: it must be refused)."""

from __future__ import annotations

import array
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

LIMIT = 90
"""Values above are the ones that a kind masks, or makes NaN."""


class Odd(NamedTuple):
    """One kind: from an array of whole numbers from 0 to 99 to the odd thing and what it means."""

    make: Callable[[np.ndarray], Any]
    means: Callable[[np.ndarray], np.ndarray] | None


def _same(x: np.ndarray) -> np.ndarray:
    return x


def _holes(x: np.ndarray) -> np.ndarray:
    return np.where(x > LIMIT, np.nan, x)


def _as(kind: str) -> Odd:
    return Odd(lambda x: x.astype(kind), _same)


def _long(x: np.ndarray) -> np.ndarray:
    return np.asarray(x.astype(np.int64) * 2**56 + 1)


def _longdouble(x: np.ndarray) -> np.ndarray:
    return x.astype(np.longdouble)


KINDS = "int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 longdouble >f8 >i2 >f4"
NUMPY = {kind: _as(kind) for kind in KINDS.split()}
"""Whole numbers up to 99 fit into all of them."""
TABLES = {
    **NUMPY,
    "Fortran's order": Odd(np.asfortranarray, _same),
    "a view with a stride": Odd(lambda x: np.repeat(x, 2, axis=0)[::2], _same),
    "a view backwards": Odd(lambda x: x[::-1].copy()[::-1], _same),
    "read-only": Odd(lambda x: np.frombuffer(x.tobytes()).reshape(x.shape), _same),
    "matrix": Odd(np.matrix, _same),
    "lists": Odd(lambda x: x.tolist(), _same),
    "a list of rows": Odd(list, _same),
    "array.array rows": Odd(lambda x: [array.array("d", row) for row in x], _same),
    "memoryview": Odd(lambda x: memoryview(np.ascontiguousarray(x)), _same),
    "memoryview of a kind Python cannot list": Odd(lambda x: memoryview(np.ascontiguousarray(_longdouble(x))), _same),
    "nothing masked": Odd(np.ma.array, _same),
    "beyond float32": Odd(lambda x: x * 1e60, lambda x: x * 1e60),
    "below float32": Odd(lambda x: x * 1e-60, lambda x: x * 1e-60),
    "whole numbers beyond float64's": Odd(_long, lambda x: _long(x).astype(float)),
    "masked": Odd(lambda x: np.ma.array(x, mask=x > LIMIT), None),
    "masked rows": Odd(lambda x: [np.ma.array(row, mask=row > LIMIT) for row in x], None),
    "masked rows of whole numbers": Odd(lambda x: [np.ma.array(row.astype(int), mask=row > LIMIT) for row in x], None),
    "complex": Odd(lambda x: x + 1j, None),
    "dates": Odd(lambda x: x.astype("datetime64[s]"), None),
    "times": Odd(lambda x: x.astype(np.int64).astype("timedelta64[s]"), None),
    "bytes": Odd(lambda x: x.astype("S8"), None),
    "NaN": Odd(_holes, None),
    "infinity": Odd(lambda x: np.where(x > LIMIT, np.inf, x), None),
    "infinity as float16": Odd(lambda x: (x * 1e4).astype(np.float16), None),
    "too large": Odd(lambda x: x * 1e200, None),
    "tiny": Odd(lambda x: x * 1e-200, lambda x: x * 1e-200),
    "too large for float64": Odd(lambda x: _longdouble(x) * np.longdouble("1e400"), None),
    "numbers of 400 digits": Odd(lambda x: [[10**400] * x.shape[1]] * len(x), None),
    "decimals": Odd(lambda x: [[Decimal(1)] * x.shape[1]] * len(x), None),
    "fractions": Odd(lambda x: [[Fraction(1, 3)] * x.shape[1]] * len(x), None),
    "ragged": Odd(lambda x: [[1], [1, 2]], None),
    "no rows": Odd(lambda x: x[:0], None),
    "no columns": Odd(lambda x: x[:, :0], None),
    "a vector": Odd(lambda x: x[:, 0], None),
    "three dimensions": Odd(lambda x: x[None], None),
    "array.array": Odd(lambda x: array.array("d", x.ravel()), None),
    "one number": Odd(lambda x: 5, None),
    "an array without dimensions": Odd(lambda x: np.array(5.0), None),
    "masked records": Odd(lambda x: np.ma.array(np.rec.fromarrays(x.T), mask=[tuple(row > LIMIT) for row in x]), None),
}  # fmt: skip
"""For two sets of samples."""


def torch_tables() -> dict[str, Odd]:
    """The same kinds of torch."""
    import torch

    def tensor(x: np.ndarray) -> Any:
        return torch.tensor(np.ascontiguousarray(x))

    def eight(x: np.ndarray) -> Any:
        return tensor(x).to(torch.float8_e4m3fn)

    return {
        "float64": Odd(tensor, _same),
        "bfloat16": Odd(lambda x: tensor(x).bfloat16(), _same),  # 8 bits hold whole numbers up to 256
        "float8": Odd(eight, lambda x: eight(x).double().numpy()),
        "uint16": Odd(lambda x: tensor(x).to(torch.uint16), _same),
        "gradients": Odd(lambda x: tensor(x).requires_grad_(), _same),
        "a parameter": Odd(lambda x: torch.nn.Parameter(tensor(x)), _same),
        "rows with gradients": Odd(lambda x: list(tensor(x).requires_grad_()), _same),
        "rows of bfloat16": Odd(lambda x: list(tensor(x).bfloat16()), _same),
        "negated without a copy": Odd(lambda x: torch._neg_view(tensor(-x)), _same),
        "sparse": Odd(lambda x: tensor(x).to_sparse(), None),
        "sparse rows": Odd(lambda x: [row.to_sparse() for row in tensor(x)], None),
        "csr": Odd(lambda x: tensor(x).to_sparse_csr(), None),
        "meta": Odd(lambda x: tensor(x).to("meta"), None),
        "quantised": Odd(lambda x: torch.quantize_per_tensor(tensor(x).float(), 1.0, 0, torch.quint8), None),
        "complex": Odd(lambda x: tensor(x) + 1j, None),
        "nested": Odd(lambda x: torch.nested.nested_tensor([tensor(x), tensor(x)]), None),
    }


SCORES = {
    **NUMPY,
    "lists": Odd(lambda x: x.tolist(), _same),
    "objects": Odd(lambda x: x.astype(object), _same),
    "decimals": Odd(np.vectorize(Decimal, otypes=[object]), _same),
    "None": Odd(lambda x: np.where(x > LIMIT, None, x.astype(object)), _holes),
    "NaN": Odd(_holes, _holes),
    "infinity": Odd(lambda x: np.where(x > LIMIT, np.inf, x), _holes),
    "masked": Odd(lambda x: np.ma.array(x, mask=x > LIMIT), _holes),
    "masked whole numbers": Odd(lambda x: np.ma.array(x.astype(int), mask=x > LIMIT), _holes),
    "masked rows": Odd(lambda x: [np.ma.array(row, mask=row > LIMIT) for row in x], _holes),
    "huge": Odd(lambda x: x * 1e300, lambda x: x * 1e300),
    "numbers of 400 digits": Odd(lambda x: np.where(x > 5, 10**400, x.astype(object)), None),
    "complex": Odd(lambda x: x + 1j, None),
    "complex objects": Odd(lambda x: (x + 1j).astype(object), None),
    "texts": Odd(lambda x: x.astype(str), None),
    "texts as objects": Odd(lambda x: x.astype(str).astype(object), None),
    "dates": Odd(lambda x: x.astype("datetime64[s]"), None),
    "times": Odd(lambda x: x.astype(np.int64).astype("timedelta64[s]"), None),
    "ragged": Odd(lambda x: [[1], [1, 2]], None),
    "nothing": Odd(lambda x: None, None),
    "one text": Odd(lambda x: "abc", None),
    "bytes": Odd(lambda x: b"abc", None),
    "one number": Odd(lambda x: 5, None),
    "three dimensions": Odd(lambda x: x[None], None),
    "records": Odd(lambda x: np.rec.fromarrays(x.T), None),
}  # fmt: skip
"""For scores and ratings, where what is missing is left out."""
