"""Work on a device in pieces that fit into its memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import numpy as np

from ..errors import InputError

Found = TypeVar("Found")


def within_memory(work: Callable[[int], Found], sizes: Iterable[int]) -> Found:
    """What `work` finds with the first of these sizes (the largest first) for which the device has memory enough."""
    import torch

    for size in sizes:
        try:
            return work(size)
        except torch.OutOfMemoryError:
            pass  # outside of this block nothing holds what was made on the way
        torch.cuda.empty_cache()
    raise InputError("the device has too little free memory for these sets: use another one, or the processor")


def to_device(values: np.ndarray, device: Any) -> Any:
    """An array as a tensor there."""
    import torch

    # torch warns of arrays that must not be written to, such as files that are read where they lie.
    return torch.as_tensor(values if values.flags.writeable else values.copy()).to(device)
