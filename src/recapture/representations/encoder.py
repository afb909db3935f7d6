"""What an encoder is, which kinds exist, and how a name becomes one."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

import numpy as np

from ..checks import array_of, plain_arguments
from ..declarations import declared, function_name
from ..errors import InputError, shown
from ..files import expanded
from .facts import MadeFor
from .precision import checked_dtype

DEFAULT_ENCODER = "all-MiniLM-L6-v2"


@runtime_checkable
class Encoder(Protocol):
    """Turns texts into vectors. Any object with these members will do; inheriting is not needed.

    An encoder may also have `facts(texts)`, which gives `TextFacts`; `made_for`, a `MadeFor`; `notes(texts, name)`,
    which gives sentences about a set's texts; `encode_batches(texts, rows)`, which chooses batches itself (of at most
    so many rows; None: any number) from a sequence of texts, longest first, which need not be a list, and gives the
    places of some texts and their vectors until all are done;
    `encode_counts(texts)`, all rows as `SparseRows`; and `effort(text)`, an estimate of the work in tokens.
    """

    name: str
    cacheable: bool
    """Whether equal identity and equal text always give the same vector, so that it may be kept on disk."""

    def identity(self) -> dict[str, str]:
        """Everything the vectors depend on apart from the text, without loading any model.

        Goes into result signatures and cache keys; `encoder` and `kind` are always there.
        """
        ...

    def fit(self, texts: Sequence[str]) -> Encoder:
        """An encoder that has learnt from the reference texts; the same object where there is nothing to learn."""
        ...

    def encode_batch(self, texts: list[str]) -> np.ndarray:
        """One row per text."""
        ...


EncoderLike = str | os.PathLike[str] | Encoder | Callable[[list[str]], Any]
"""What callers may name as an encoder: a name, a folder or file, an encoder itself, or a function."""


@dataclass(frozen=True)
class EncoderOptions:
    """What a caller may ask of an encoder chosen by name; None leaves the choice to the encoder."""

    pooling: str | None = None
    device: str | None = None
    offline: bool | None = None
    truncate: bool = False
    """Whether to cut texts that are longer than the encoder takes at once; else windows go over all of them."""
    dtype: str | None = None
    """The number type a model computes in; its vectors are float32 in any case."""


@dataclass(frozen=True)
class EncoderKind:
    """The declaration at the end of each file in `encoders`."""

    name: str
    description: str
    make: Callable[[str, EncoderOptions], Encoder]
    any_name: bool = False
    """True for the one kind that takes every name which no other kind has."""
    takes: Callable[[str], bool] | None = None
    """Whether a name that is no kind's own, such as that of a file, means an encoder of this kind."""
    made_for: Mapping[str, MadeFor] = field(default_factory=dict)
    """What encoders of this kind were made for, by name."""


class FunctionEncoder:
    """A caller's own function from a list of texts to an array. Never cached: what it depends on is not known."""

    cacheable = False

    def __init__(self, function: Callable[[list[str]], Any]) -> None:
        self._function = function
        self.name = function_name(function)

    def identity(self) -> dict[str, str]:
        return {"encoder": self.name, "kind": "function", "revision": "unknown"}

    def fit(self, texts: Sequence[str]) -> FunctionEncoder:
        return self

    def encode_batch(self, texts: list[str]) -> np.ndarray:
        return array_of(self._function(texts), f"what the encoder {self.name} gives")


@functools.cache
def _kinds() -> tuple[EncoderKind, ...]:
    return tuple(declared(f"{__package__}.encoders", "KIND", EncoderKind))


def list_encoders() -> list[EncoderKind]:
    """Every declared kind of encoder, by name."""
    return sorted(_kinds(), key=lambda kind: kind.name)


@plain_arguments
def resolve_encoder(
    encoder: EncoderLike | None = None,
    *,
    pooling: str | None = None,
    device: str | None = None,
    offline: bool | None = None,
    truncate: bool = False,
    dtype: str | None = None,
) -> Encoder:
    """The encoder that a name means, to use it several times or to ask what it is.

    Weights are found (and, unless offline, fetched) here, but loaded only when a text has to be encoded.

    Parameters
    ----------
    encoder : str, path, callable or Encoder, optional
        A name, a folder of weights, a file of word vectors, a function, or an encoder itself; None: all-MiniLM-L6-v2.
    pooling, device, offline, truncate, dtype
        As for `encode`.

    Returns
    -------
    Encoder
        It has `name`, `identity()` (all that its vectors depend on) and `fit(texts)`, which gives an encoder that has
        learnt from these texts, if it learns; `encode` and all metrics take it in the place of a name.

    Examples
    --------
    >>> import recapture as rc
    >>> counts = rc.resolve_encoder("bag-of-words").fit(["a cat sat", "a dog ran"])
    >>> rc.encode(["a cat ran", "nothing known"], counts, cache=False).sum(axis=1).tolist()
    [3.0, 0.0]
    """
    options = EncoderOptions(pooling, device, offline, bool(truncate), checked_dtype(dtype, int8=True))
    if encoder is None:
        encoder = DEFAULT_ENCODER
    if isinstance(encoder, os.PathLike):
        encoder = str(expanded(encoder).absolute())  # an absolute name can only mean a folder or a file
    if isinstance(encoder, str):
        return _by_name(encoder, options)
    if isinstance(encoder, type) or not (isinstance(encoder, Encoder) or callable(encoder)):
        raise InputError(f"an encoder is a name, a folder, a function or an Encoder, not {shown(encoder)}")
    if pooling is not None or device is not None or truncate or options.dtype is not None:
        raise InputError(
            "pooling, device, truncate and dtype apply to encoders chosen by name: set them on a given one instead"
        )
    return encoder if isinstance(encoder, Encoder) else FunctionEncoder(encoder)


def _by_name(name: str, options: EncoderOptions) -> Encoder:
    named = [kind for kind in _kinds() if kind.name == name and not kind.any_name]
    taken = [kind for kind in _kinds() if kind.takes and kind.takes(name)]
    open_kinds = [kind for kind in _kinds() if kind.any_name]
    return (named or taken or open_kinds)[0].make(name, options)
