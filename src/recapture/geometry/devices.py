"""Which device measures sets: the processor's threads, or one of torch's that counts the same integers."""

from __future__ import annotations

import contextvars
import functools
import importlib.util
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, TypeVar

from ..checks import is_torch
from ..errors import InputError, first_line, shown
from .parallel import engine, engine_options

if TYPE_CHECKING:
    import numpy as np

Function = TypeVar("Function", bound=Callable[..., Any])
Found = TypeVar("Found")

_WORTH = 1 << 30
"""Pairs of samples from which a device that is there is taken unasked: below, loading torch takes longer."""
_AUTO = "cuda"
_CUDA = re.compile(r"cuda(?::\d{1,3})?")
KNOWN = re.compile(r"auto|(?:cpu|cuda|mps|xpu|hpu|npu|mlu|xla)(?::\d{1,3})?")
"""torch's names; only CUDA's looks for neighbours, others encode."""

_NO_MEMORY = ("CUDA error: out of memory", "ALLOC_FAILED", "MPS backend out of memory")
"""What torch says where a library of CUDA finds none, such as on a device that others have filled, or Apple's does."""
_OF_SETS = (
    "the device's memory does not suffice for these sets, even in small tiles: use the processor (device 'cpu'), a "
    "plan over files, or a sample"
)
_OF_MODELS = (
    "the device's memory does not suffice for the model and its texts: use the processor (device 'cpu') or another "
    "model"
)


def on_device(function: Function) -> Function:
    """A public function whose `device` also says where neighbours are looked for."""

    @functools.wraps(function)
    def there(*args: Any, **kwargs: Any) -> Any:
        device = kwargs.get("device")
        if device is None or (isinstance(device, str) and device == "auto"):
            # Tensors that lie on a device are looked at there.
            device = _lying_on((*args, *kwargs.values())) or device
        if device is None:
            return function(*args, **kwargs)
        check_there(device)
        with engine(device=device):
            return function(*args, **kwargs)

    return there  # type: ignore[return-value]


def _lying_on(values: Iterable[Any]) -> str | None:
    """The CUDA device of the first tensor among a call's arguments that lies on one."""
    for value in values:
        found = _lying_on(value.values()) if isinstance(value, Mapping) else is_torch(value) and value.device
        if found and _CUDA.fullmatch(str(found)):
            return str(found)
    return None


def within_memory(work: Callable[[int], Found], size: int, least: int, shortage: str = _OF_SETS) -> Found:
    """work(size), again with half the size each time the device's memory does not suffice; below `least` a sentence.

    size: what the memory that `work` takes grows with. shortage: what that sentence says.
    """
    while True:
        try:
            return work(size)
        except RuntimeError as error:
            if not lacks_memory(error):
                raise
            if size // 2 < least:
                raise DeviceMemoryError(f"{shortage} ({first_line(error)})") from None
        # Outside: what an exception knows of the failed work keeps its tensors alive.
        size //= 2
        sys.modules["torch"].cuda.empty_cache()


def lacks_memory(error: BaseException) -> bool:
    """Whether this says that a device's memory does not suffice."""
    torch = sys.modules.get("torch")  # where it was never loaded, no device has said anything
    if torch is None or not isinstance(error, RuntimeError):
        return False
    return isinstance(error, torch.cuda.OutOfMemoryError) or any(said in str(error) for said in _NO_MEMORY)


class DeviceMemoryError(InputError):
    """A device's memory does not suffice."""


def check_kind(device: Any) -> None:
    """Refuse what is no device anywhere."""
    if not isinstance(device, str) or not KNOWN.fullmatch(device):
        raise InputError(
            f"device {shown(device)} cannot be used here: no such kind of device is known "
            "(auto, cpu, cuda, cuda:1, mps)"
        )


def check_there(device: Any) -> None:
    """Refuse what is no device, and one that is not there. Numbers of other kinds than CUDA's, and all of XLA, which a
    package of its own knows alone, are left to encoders.
    """
    check_kind(device)
    kind = device.partition(":")[0]
    if kind in ("auto", "cpu", "xla"):
        return
    if importlib.util.find_spec("torch") is None:
        raise InputError(f"device {shown(device)} cannot be used here: PyTorch is not installed (extra 'models')")
    import torch

    said_by = torch.backends.mps if kind == "mps" else getattr(torch, kind, None)  # None: of a package that is absent
    if said_by is None or not said_by.is_available():
        raise InputError(f"device {shown(device)} cannot be used here: PyTorch finds no {kind.upper()} device")
    if kind == "cuda" and ":" in device and int(device.split(":")[1]) >= torch.cuda.device_count():
        there = torch.cuda.device_count()
        raise InputError(f"device {shown(device)} cannot be used here: there {'is' if there == 1 else 'are'} {there}")


def tried_on(device: str | None, work: Callable[[str], Found], shortage: str = _OF_SETS) -> Found | None:
    """work(device). None, so that the processor does it: there is no device, or nobody asked for one whose memory does
    not suffice, be it for what is halved there (`within_memory`) or for anything else.
    """
    if device is None:
        return None
    try:
        return within_memory(lambda _: work(device), 1, 1, shortage)
    except DeviceMemoryError:
        options = engine_options()
        if options.accelerator is not None or options.device != "auto":  # somebody asked for it
            raise
    return None


def tried_with(wanted: str | None, work: Callable[[], Found]) -> Found | None:
    """The same for what is done where a model computes. wanted: the device that was asked for, if any."""
    with engine(device=wanted or engine_options().device):
        return tried_on(wanted or "auto", lambda _: work(), _OF_MODELS)


def meanwhile(device: str | None, work: Callable[[], Found]) -> Callable[[], Found]:
    """Work of the processor that is done while a device works; without one at once. What comes back waits for it."""
    if device is None:
        found = work()
        return lambda: found
    pool = ThreadPoolExecutor(1, thread_name_prefix="recapture")
    future = pool.submit(contextvars.copy_context().run, work)
    pool.shutdown(wait=False)
    return future.result


def to_device(values: np.ndarray, device: Any) -> Any:
    """An array as a tensor there."""
    import torch

    native = values.dtype.newbyteorder("=")
    # torch knows neither another order of bytes nor arrays that run backwards, and warns of those that must not be
    # written to, such as files that are read where they lie.
    if values.dtype != native or not values.flags.writeable or min(values.strides, default=0) < 0:
        values = values.astype(native, order="C")
    return torch.as_tensor(values).to(device)


def accelerator_for(rows: int, columns: int) -> str | None:
    """torch's name of the device for sets of these sizes; None: the threads."""
    options = engine_options()
    if options.accelerator is not None:
        return options.accelerator
    if options.device == "auto":
        return _AUTO if rows * columns >= _WORTH and _cuda_is_there() else None
    return options.device if _CUDA.fullmatch(options.device) else None


def accelerator_beside(device: str) -> str | None:
    """torch's name of the device that compares what a model makes on `device`; None: the threads."""
    accelerator = engine_options().accelerator
    if accelerator is not None:
        return accelerator
    return device if _CUDA.fullmatch(device) else None


@functools.lru_cache(maxsize=1)
def _cuda_is_there() -> bool:
    if importlib.util.find_spec("torch") is None:
        return False
    try:
        import torch
    except (ImportError, OSError):  # a library that it needs is missing; nobody asked for it
        return False
    return bool(torch.cuda.is_available())
