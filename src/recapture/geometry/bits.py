"""Sixty-four yes-or-no answers in one machine word: packing, and adding up whole columns of them.

A number per answer is held bit by bit ("planes"): the first word has the ones of all 64 numbers, the next their twos,
and so on. Adding is then a few logical operations for 64 numbers at once.
"""

from __future__ import annotations

import numpy as np

WORD = 64
# Below this many rows, unpacking is cheaper than folding on.
_FEW_ROWS = 16

Planes = list[np.ndarray]


def pack(flags: np.ndarray) -> np.ndarray:
    """(answers, ...) bool -> (words, ...) uint64; answers that fill no whole word are followed by noes."""
    # Whole lines at a time, which is several times as fast as taking the answers of one place together.
    answers, places = flags.view(np.uint8), flags.shape[1:]
    octets = np.zeros((-(-len(flags) // 8), *places), np.uint8)
    for bit in range(8):
        part = answers[bit::8]
        octets[: len(part)] |= part << bit
    words = np.zeros((-(-len(flags) // WORD), *places), np.uint64)
    for octet in range(8):
        part = octets[octet::8]
        words[: len(part)] |= part.astype(np.uint64) << np.uint64(8 * octet)
    return words


def unpack(words: np.ndarray) -> np.ndarray:
    """(...) uint64 -> (..., 64) uint8, each 0 or 1."""
    return np.unpackbits(np.ascontiguousarray(words)[..., None].view(np.uint8), axis=-1, bitorder="little")


def add(left: Planes, right: Planes) -> Planes:
    """Sums of numbers held bit by bit."""
    if len(left) < len(right):
        left, right = right, left
    total = []
    carry: np.ndarray | None = None
    for place, plane in enumerate(left):
        if place < len(right):
            other = right[place]
            if carry is None:
                total.append(plane ^ other)
                carry = plane & other
            else:
                half = plane ^ other
                total.append(half ^ carry)
                carry &= half
                carry |= plane & other
        elif carry is not None:
            total.append(plane ^ carry)
            carry = plane & carry
    return total if carry is None else [*total, carry]


def fold(planes: Planes, least: int = 1) -> Planes:
    """Sums over the first axis, until at most `least` rows are left."""
    while len(planes[0]) > least:
        if len(planes[0]) % 2:
            planes = [np.concatenate([plane, np.zeros_like(plane[:1])]) for plane in planes]
        half = len(planes[0]) // 2
        planes = add([plane[:half] for plane in planes], [plane[half:] for plane in planes])
    return planes


def sums(planes: Planes) -> np.ndarray:
    """(rows, ...) numbers held bit by bit -> (..., 64) int64, their sums over the rows."""
    folded = fold(planes, _FEW_ROWS)
    total = np.zeros((*planes[0].shape[1:], WORD), np.int64)
    for place, plane in enumerate(folded):
        total += unpack(plane).sum(axis=0, dtype=np.int64) << place
    return total
