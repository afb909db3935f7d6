"""Which device looks for neighbours: the processor's threads, or one of torch's that counts the same integers."""

from __future__ import annotations

import functools
import importlib.util
import re
from collections.abc import Callable
from typing import Any, TypeVar

from ..errors import InputError, shown
from .parallel import engine, engine_options

Function = TypeVar("Function", bound=Callable[..., Any])

_WORTH = 1 << 30
"""Pairs of samples from which a device that is there is taken unasked: below, loading torch takes longer."""
_CUDA = re.compile(r"cuda(?::\d{1,3})?")
KNOWN = re.compile(r"auto|(?:cpu|cuda|mps|xpu|hpu|npu|mlu|xla)(?::\d{1,3})?")
"""torch's names; only CUDA's looks for neighbours, others encode."""


def on_device(function: Function) -> Function:
    """A public function whose `device` also says where neighbours are looked for."""

    @functools.wraps(function)
    def there(*args: Any, **kwargs: Any) -> Any:
        device = kwargs.get("device")
        if device is None:
            return function(*args, **kwargs)
        check_there(device)
        with engine(device=device):
            return function(*args, **kwargs)

    return there  # type: ignore[return-value]


def check_kind(device: Any) -> None:
    """Refuse what is no device anywhere."""
    if not isinstance(device, str) or not KNOWN.fullmatch(device):
        raise InputError(f"device {shown(device)} cannot be used here: no such kind of device is known")


def check_there(device: Any) -> None:
    """Refuse what is no device, and a GPU that is not there. Other kinds are for encoders, which look at them."""
    check_kind(device)
    if not _CUDA.fullmatch(device):
        return
    if importlib.util.find_spec("torch") is None:
        raise InputError(f"device {shown(device)} cannot be used here: PyTorch is not installed (extra 'models')")
    import torch

    if not torch.cuda.is_available():
        raise InputError(f"device {shown(device)} cannot be used here: PyTorch finds no CUDA device")
    if ":" in device and int(device.split(":")[1]) >= torch.cuda.device_count():
        there = torch.cuda.device_count()
        raise InputError(f"device {shown(device)} cannot be used here: there {'is' if there == 1 else 'are'} {there}")


def accelerator_for(rows: int, columns: int) -> str | None:
    """torch's name of the device for sets of these sizes; None: the threads."""
    options = engine_options()
    if options.accelerator is not None:
        return options.accelerator
    if options.device == "auto":
        return "cuda" if rows * columns >= _WORTH and _cuda_is_there() else None
    return options.device if _CUDA.fullmatch(options.device) else None


@functools.lru_cache(maxsize=1)
def _cuda_is_there() -> bool:
    if importlib.util.find_spec("torch") is None:
        return False
    import torch

    return bool(torch.cuda.is_available())
