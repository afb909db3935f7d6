"""Numbers and arrays that come in from outside, checked here and nowhere else.

Public functions are decorated with `plain_arguments`: whatever kind of number a caller has (NumPy's, torch's, an array
of no dimensions) is Python's own from there on, which cannot overflow. The checks then say what a parameter may be, and
return it.
"""

from __future__ import annotations

import functools
import inspect
import math
import os
import re
from collections.abc import Callable, Container, Iterable, Mapping
from typing import Any, TypeVar

import numpy as np

from .errors import InputError, first_line, shown

Function = TypeVar("Function", bound=Callable[..., Any])

MOST_OF_ANYTHING = 1_000_000
"""Resamples, clusters, quantiles: what takes years or all memory is a slip of the keyboard."""
MOST_SPLITS = 100_000
"""Subsamples and splits, each of which is measured."""
MOST_CLUSTERINGS = 10_000
LONGEST_NGRAM = 1_000
"""Tokens or characters."""
_BITS = 1_023
"""Whole numbers beyond do not fit a float (and of some thousand digits Python refuses to print them)."""
_DIGITS = 300
DEEPEST = 100
"""Levels of records inside each other: whoever follows many more of them down reaches the end of Python's stack."""
_TIMES = (np.timedelta64, np.datetime64)
"""To NumPy a span of time is a whole number; to us it is none."""


_FLAG, _TEXT, _OTHER = {"bool", "None"}, {"str", "None"}, {""}
"""Annotations of which the kind is plain to see."""


def plain_arguments(function: Function) -> Function:
    """A public function whose arguments are plain: NumPy's and torch's single numbers become Python's at the door.

    What is annotated as a flag or a text, and nothing else, has to be one.
    """
    parameters = inspect.signature(function).parameters
    names = list(parameters)
    kinds = {name: set(str(parameter.annotation).split(" | ")) for name, parameter in parameters.items()}

    def checked(value: Any, name: str) -> Any:
        value = plain_value(value, name)
        if kinds.get(name, _OTHER) <= _FLAG:
            check_flag(name, value)
        elif kinds.get(name, _OTHER) <= _TEXT and not (value is None or isinstance(value, str)):
            raise InputError(f"{name} must be a text, not {shown(value)}")
        return value

    @functools.wraps(function)
    def with_plain(*args: Any, **kwargs: Any) -> Any:
        places = [checked(value, names[min(at, len(names) - 1)]) for at, value in enumerate(args)]
        return function(*places, **{name: checked(value, name) for name, value in kwargs.items()})

    return with_plain  # type: ignore[return-value]


def plain_value(value: Any, name: str = "a number") -> Any:
    """A single number (or flag, or text) of NumPy or torch as Python's own; anything else as it is."""
    if value is None or type(value) in (str, bool, float):
        return value
    if isinstance(value, int):
        if value.bit_length() > _BITS:
            raise InputError(f"{name} is a whole number of about {_digits(value):,} digits: that is too large")
        return value if isinstance(value, bool) else int(value)
    if isinstance(value, np.ndarray) and type(value) is np.ndarray and not value.ndim:
        value = value[()]
    if isinstance(value, np.generic):
        return _of_numpy(value)
    if is_torch(value) and not value.ndim:
        return _of_torch(value, name)
    return float(value) if isinstance(value, float) else value


def plain(value: Any) -> Any:
    """Content of only dict, list, str, int, float, bool and None, whatever it was made of."""
    if isinstance(value, Mapping):
        return {str(key): plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(inner) for inner in value]
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    return value


def _of_numpy(value: np.generic) -> Any:
    if isinstance(value, np.floating):
        with np.errstate(over="ignore"):
            return float(value)  # item() leaves a longdouble what it is
    known = isinstance(value, (np.integer, np.bool_, np.str_)) and not isinstance(value, _TIMES)
    return value.item() if known else value


def _of_torch(value: Any, name: str) -> Any:
    try:
        return value.item()
    except (RuntimeError, NotImplementedError, TypeError, ValueError) as error:  # such as meta, which holds no number
        raise InputError(f"{name} is a tensor without a number that could be read: {first_line(error)}") from None


def _digits(value: int) -> int:
    return int(value.bit_length() * math.log10(2)) + 1


def is_whole(value: Any) -> bool:
    """Whether this is a whole number; True and False are none."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, (bool, np.bool_, *_TIMES))


def is_number(value: Any) -> bool:
    """Whether this is a real number, infinity and NaN included; True and False are none."""
    return is_whole(value) or isinstance(value, (float, np.floating))


def check_flag(name: str, value: Any) -> None:
    """True or false, also as 1 or 0; None where nothing was said."""
    if not (value is None or (isinstance(value, int) and value in (0, 1))):
        raise InputError(f"{name} must be true or false, not {shown(value)}")


def check_function(name: str, value: Any, what: str) -> None:
    if not callable(value):
        raise InputError(f"{name} must be a function {what}, not {shown(value)}")


def is_one_of(value: Any, known: Container[str]) -> bool:
    """Whether this is a name, and known."""
    return isinstance(value, str) and value in known


def path_of(path: Any, what: str = "a file") -> str:
    """The path of a file as text, from a text or a path."""
    found = os.fspath(path) if isinstance(path, (str, os.PathLike)) else None
    if not isinstance(found, str):
        raise InputError(f"{what} is named by a text or a path, not by {shown(path)}")
    return found


def check_seed(seed: Any) -> int:
    seed = plain_value(seed, "seed")
    if not is_whole(seed) or seed < 0:
        raise InputError(f"seed must be a whole number of at least 0, not {shown(seed)}")
    return int(seed)


def check_level(interval: Any) -> float | None:
    """The level of an interval, such as 0.95; None where none was asked for."""
    interval = plain_value(interval, "interval")
    if interval is None or interval is False:
        return None
    if not is_number(interval) or not 0 < interval < 1:
        raise InputError(f"interval must be a level between 0 and 1 such as 0.95, not {shown(interval)}")
    return float(interval)


def check_draws(name: str, value: Any, usual: int, what: str) -> int:
    """How often to draw: True means the usual number, a number that many, False never. what: is drawn."""
    value = plain_value(value, name)
    if isinstance(value, bool):
        return usual if value else 0
    if not is_whole(value) or value < 0:
        raise InputError(f"{name} must be true, false or a number of {what}, not {shown(value)}")
    return _at_most(name, int(value), MOST_SPLITS)


def check_count(name: str, value: Any, least: int, most: int | None = None) -> int:
    value = plain_value(value, name)
    if not is_whole(value) or value < least:
        raise InputError(f"{name} must be a whole number of at least {least}, not {shown(value)}")
    return _at_most(name, int(value), most)


def _at_most(name: str, value: int, most: int | None) -> int:
    if most is not None and value > most:
        raise InputError(f"{name} is at most {most:,}, not {value:,}")
    return value


def check_number(
    name: str,
    value: Any,
    least: float = -math.inf,
    most: float = math.inf,
    *,
    above: float | None = None,
    what: str = "",
) -> float:
    """A finite number from `least` to `most`, or above a bound. what: the sentence's words for that."""
    value = plain_value(value, name)
    fits = is_number(value) and math.isfinite(value) and least <= value <= most
    if not fits or (above is not None and not value > above):
        raise InputError(f"{name} must be {what or _range(least, most, above)}, not {shown(value)}")
    return float(value)


def _range(least: float, most: float, above: float | None) -> str:
    low = f" above {above:g}" if above is not None else f" of at least {least:g}" if least > -math.inf else ""
    high = f"{' and' if low else ' of'} at most {most:g}" if most < math.inf else ""
    return f"a number{low}{high}"


def typed_number(text: str) -> int | str:
    """The whole number that plain digits say; else the text itself, which no check takes for a number."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= _DIGITS else shortened(text)


def shortened(text: str, most: int = 60) -> str:
    """Something long as a message shows it."""
    return text if len(text) <= most else f"{text[:most]}... ({len(text):,} characters)"


def array_of(values: Any, name: str, what: str = "a rectangular table of numbers") -> np.ndarray:
    """The array behind whatever a caller has (NumPy, torch, a buffer, nested lists), in its own type.

    Missing values of a masked array are NaN (masked whole numbers: float64). What cannot be made an array is refused.
    """
    if type(values) is np.ndarray:
        return values
    if isinstance(values, (list, tuple)):
        if any(map(_is_odd, set(map(type, values)))):  # a look at every entry of a long list of numbers would take long
            values = [_entry(row, name, what) for row in values]
    elif is_torch(values):
        return _tensor(values, name)
    elif isinstance(values, np.ma.MaskedArray):
        return _unmasked(values)
    try:
        return np.asarray(values)
    except (TypeError, ValueError, RuntimeError, NotImplementedError, OverflowError, BufferError) as error:
        raise InputError(f"{name} must be {what}: {first_line(error)}") from None


def numbers_of(values: Any, name: str, what: str = "numbers, in rows of one length") -> np.ndarray:
    """An array of float64, NaN where a value is missing (None, masked); refused where something is no real number."""
    array = array_of(values, name, what)
    if array.dtype.kind == "O":
        if any(isinstance(value, (str, bytes, complex, np.complexfloating, *_TIMES)) for value in array.flat):
            raise InputError(f"{name} must be {what}")
        try:
            return array.astype(np.float64)
        except (TypeError, ValueError, OverflowError, RuntimeError) as error:
            raise InputError(f"{name} must be {what}: {first_line(error)}") from None
    if array.dtype.kind not in "fiub":
        raise InputError(f"{name} must be {what}, not {array.dtype}")
    with np.errstate(over="ignore"):
        return np.asarray(array, np.float64)


def _is_odd(kind: type) -> bool:
    return issubclass(kind, (list, tuple, np.ma.MaskedArray)) or _of_torch_kind(kind)


def _entry(row: Any, name: str, what: str) -> Any:
    """One row of a list: NumPy would read a tensor number by number, and forget or warn of what is masked."""
    if row is np.ma.masked:
        return np.nan
    if isinstance(row, np.ma.MaskedArray) or is_torch(row):
        return array_of(row, name, what)
    if isinstance(row, (list, tuple)) and any(map(_is_odd, set(map(type, row)))):
        return [_entry(part, name, what) for part in row]
    return row


def _of_torch_kind(kind: type) -> bool:
    return kind.__module__.partition(".")[0] == "torch" and hasattr(kind, "detach")


def is_torch(values: Any) -> bool:
    return _of_torch_kind(type(values))


def _tensor(values: Any, name: str) -> np.ndarray:
    layout = str(values.layout).removeprefix("torch.")
    if values.is_meta:
        raise InputError(f"{name} is a meta tensor, which has a shape but no numbers")
    if values.is_quantized:
        raise InputError(f"{name} is a quantised tensor: give its dequantize()")
    if values.is_nested:
        raise InputError(f"{name} is a nested tensor: give one of its parts")
    if layout != "strided":
        raise InputError(f"{name} is a tensor of the layout {layout}: give its to_dense()")
    try:
        values = values.detach().cpu()
        if values.dtype.is_floating_point and str(values.dtype) not in ("torch.float16", "torch.float64"):
            values = values.float()  # NumPy has neither bfloat16 nor the types of 8 bits; float32 holds them exactly
        array: np.ndarray = values.resolve_conj().resolve_neg().numpy()
    except (RuntimeError, NotImplementedError, TypeError, ValueError) as error:
        raise InputError(f"{name} is a tensor that cannot be read: {first_line(error)}") from None
    return array


def _unmasked(values: np.ma.MaskedArray[Any, Any]) -> np.ndarray:
    hidden = np.ma.getmaskarray(values)
    if not (hidden.dtype.names or hidden.any()):
        return np.asarray(values.data)
    kind = values.dtype.kind
    if kind in "iub":
        return np.where(hidden, np.nan, values.data)
    return np.asarray(values.filled(np.nan if kind in "fcO" else None))


def each_count(name: str, values: Any, least: int, most: int | None = None) -> list[int]:
    """Whole numbers given one by one or as a list."""
    values = plain_value(values, name)
    several = isinstance(values, Iterable) and not isinstance(values, (str, bytes)) and getattr(values, "ndim", 1) != 0
    listed = list(values) if several else [values]
    return [check_count(name, value, least, most) for value in listed]


_UNITS = {"s": 1.0, "sec": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "d": 86400.0}
_PART = re.compile(r"(\d+(?:\.\d+)?)\s*([a-z]+)\s*")


def seconds_of(given: Any, what: str = "a budget", *, may_be_0: bool = False) -> float:
    """Seconds of a time such as 90s, 10min, 2h or 1h30min; a plain number is seconds. what: to call it."""
    above = "0 or a time" if may_be_0 else "a time above 0"
    wanted = f"{what} is {above} such as 90s, 10min, 2h or 1h30min, not {shown(given)}"
    if may_be_0 and isinstance(given, str) and given.strip() == "0":
        return 0.0
    if isinstance(given, (int, float)) and not isinstance(given, bool):
        try:
            seconds = float(given)
        except OverflowError:
            raise InputError(wanted) from None
    elif isinstance(given, str):
        text = given.strip().lower()
        found = _PART.findall(text)
        if not found or "".join(_PART.split(text)[::3]).strip() or any(unit not in _UNITS for _, unit in found):
            raise InputError(wanted)
        seconds = sum(float(number) * _UNITS[unit] for number, unit in found)
    else:
        raise InputError(wanted)
    if not (math.isfinite(seconds) and (seconds > 0 or (may_be_0 and seconds == 0))):
        raise InputError(wanted)
    return seconds
