"""Texts in, vectors out: each distinct text once, in batches of similar length, from the cache where it is known."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, cast

import numpy as np

from ..checks import check_count, numbers_of, plain_arguments
from ..errors import InputError
from ..geometry.sparse_rows import Rows, SparseRows
from ..progress import Progress
from ..texts.objects import checked_entries, may_hold_texts, samples_of
from .batches import CHARACTERS
from .encoder import Encoder, EncoderLike, resolve_encoder
from .text_order import LongestFirst
from .vector_cache import VectorCache

# Written to the cache together; what an interrupted run has finished of these is not made again.
CHUNK = 256
_LARGEST_ARRAY = 8 * 2**30
_MOST_AT_ONCE = 100_000
_USUAL_BATCH = 32


@plain_arguments
def encode(
    texts: Iterable[str],
    encoder: EncoderLike | None = None,
    *,
    pooling: str | None = None,
    device: str | None = None,
    batch_size: int | None = None,
    offline: bool | None = None,
    truncate: bool = False,
    dtype: str | None = None,
    cache: bool | str | os.PathLike[str] | VectorCache = True,
) -> np.ndarray:
    """Vectors of texts.

    Parameters
    ----------
    texts : iterable of str
        At least one text; repeated ones are encoded once.
    encoder : str, path, callable or Encoder, optional
        A name (of the Hugging Face hub, or bag-of-words), a folder of weights, a file of word vectors, a function from
        a list of texts to an array, or an encoder itself; None: all-MiniLM-L6-v2. An encoder given by name learns from
        these very texts, if it learns at all; one given as an object is used as it is.
    pooling : {"mean", "max", "cls"}, optional
        How a sentence encoder makes one vector of those of its tokens (None: its own way).
    device : str, optional
        Where a model runs, such as "cpu" or "cuda" (None: the best there is).
    batch_size : int, optional
        The most texts, or windows of long texts, that go through a model together (None: as many as make about 1,000
        tokens on a processor and 65,536 on other devices; an encoder of your own gets 32 texts).
    offline : bool, optional
        Whether to leave the Hugging Face hub alone (None: as RECAPTURE_OFFLINE or HF_HUB_OFFLINE says).
    truncate : bool, default False
        Cut texts that are longer than a sentence encoder takes at once (all-MiniLM-L6-v2: 256 pieces), instead of using
        windows over all of them.
    dtype : {"float32", "float16", "bfloat16", "int8"}, optional
        The number type a model computes in (None: float32). bfloat16 is faster where the hardware has it, int8 on
        processors, and scores move a little; the cache keeps their vectors apart.
    cache : bool, str or path, default True
        Whether to keep vectors on disk, or the folder to keep them in (True: `cache_folder()`).

    Returns
    -------
    numpy.ndarray
        One float32 row per text, in the order of the texts. Of word counts that is a number for every word of the
        vocabulary and every text, 20 KB a text; metrics that are given texts never make it.

    See Also
    --------
    resolve_encoder : an encoder to be used several times.

    Examples
    --------
    >>> import recapture as rc
    >>> rc.encode(["a cat sat", "a dog"], "bag-of-words", cache=False).sum(axis=1).tolist()
    [3.0, 2.0]
    """
    rows = encode_rows(
        texts,
        encoder,
        pooling=pooling,
        device=device,
        batch_size=batch_size,
        offline=offline,
        truncate=truncate,
        dtype=dtype,
        cache=cache,
    )
    return as_array(rows)


def as_array(rows: Rows) -> np.ndarray:
    """Word counts with all their zeros, unless there are too many of them for any machine's good."""
    texts, words = rows.shape
    size = texts * words * rows.dtype.itemsize
    if isinstance(rows, SparseRows) and size > _LARGEST_ARRAY:
        raise InputError(
            f"counts of {words:,} words in {texts:,} texts are an array of {size / 2**30:.1f} GiB, nearly all zeros "
            f"(at most {_LARGEST_ARRAY / 2**30:.0f} GiB are made): encode parts of the texts, or give metrics the "
            "texts themselves, which they count without the zeros"
        )
    return np.asarray(rows)


def encode_rows(
    texts: Iterable[str],
    encoder: EncoderLike | None = None,
    *,
    pooling: str | None = None,
    device: str | None = None,
    batch_size: int | None = None,
    offline: bool | None = None,
    truncate: bool = False,
    dtype: str | None = None,
    cache: bool | str | os.PathLike[str] | VectorCache = True,
) -> Rows:
    """As `encode`, but counts stay without their zeros: an encoder that has them gives them by `encode_counts`."""
    listed = checked_texts(texts)
    batch_size = check_batch_size(batch_size)
    chosen = resolve_encoder(encoder, pooling=pooling, device=device, offline=offline, truncate=truncate, dtype=dtype)
    if encoder is None or isinstance(encoder, (str, os.PathLike)):
        chosen = chosen.fit(listed)
    counts = getattr(chosen, "encode_counts", None)
    if counts is not None:
        return cast(SparseRows, counts(listed))
    store = None
    if cache is not False and chosen.cacheable:
        store = cache if isinstance(cache, VectorCache) else VectorCache(None if cache is True else cache)
    return _Encoding(listed, chosen, store).run(batch_size)


def check_batch_size(batch_size: Any) -> int | None:
    return None if batch_size is None else check_count("the batch size", batch_size, 1, _MOST_AT_ONCE)


def checked_texts(texts: Iterable[str]) -> list[str]:
    """The texts as a list, once it is certain that they are texts."""
    if isinstance(texts, (str, bytes)):
        raise InputError("expected a list of texts, got a single one")
    given = samples_of(texts, "the set of texts")
    if not may_hold_texts(given):
        raise InputError(f"expected a list of texts, got {type(texts).__name__}")
    listed = checked_entries(list(given), "")
    if not listed:
        raise InputError("there are no texts to encode")
    if not all(map(str.isascii, listed)):
        for position, text in enumerate(listed):
            _check_unicode(text, position)
    return listed


def _effort(text: str) -> int:
    return len(text) // CHARACTERS + 1


def _check_unicode(text: str, position: int) -> None:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InputError(f"text {position} is not valid Unicode: it has half of a surrogate pair") from None


class _Encoding:
    """One call of `encode`. Vectors go straight to their text's row; repeats are filled in at the end."""

    def __init__(self, texts: list[str], encoder: Encoder, store: VectorCache | None) -> None:
        self._encoder = encoder
        self._store = store
        self._space = encoder.identity() if store is not None else {}
        self._texts = texts
        self._source = np.arange(len(texts))
        if len(set(texts)) < len(texts):
            first: dict[str, int] = {}
            self._source[:] = [first.setdefault(text, position) for position, text in enumerate(texts)]
        self._first = np.flatnonzero(self._source == np.arange(len(texts)))
        self._vectors = np.empty((len(texts), 0), np.float32)  # as wide as the first vectors, once there are some

    def run(self, batch_size: int | None) -> np.ndarray:
        missing = self._recall()
        ordered = LongestFirst(self._texts, missing)
        # By estimated tokens: the longest texts come first, so that counting texts would promise far too long a wait.
        effort: Callable[[str], int] = getattr(self._encoder, "effort", _effort)
        efforts = np.zeros(len(self._texts), np.int64)
        efforts[missing] = np.fromiter(map(effort, self._at(missing)), np.int64, len(missing))
        is_made = np.ones(len(self._texts), bool)
        is_made[missing] = False
        new: list[int] = []
        with Progress("encoding", int(efforts.sum()), "token") as progress:
            for places, vectors in self._batches(ordered, batch_size):
                positions = ordered.positions[np.asarray(places, np.intp)]
                self._keep(positions, vectors)
                is_made[positions] = True
                progress.advance(int(efforts[positions].sum()))
                if self._store is not None:
                    new += positions.tolist()
                    if len(new) >= CHUNK:
                        self._remember(new)
                        new = []
            self._remember(new)
        if not is_made.all():  # an encoder of somebody's own that chooses its batches
            raise InputError(f"the encoder {self._encoder.name} gave no vector for text {is_made.argmin()}")
        return self._with_repeats()

    def _batches(self, texts: Sequence[str], batch_size: int | None) -> Iterator[tuple[Sequence[int], Any]]:
        own = getattr(self._encoder, "encode_batches", None)
        if own is not None and len(texts):  # nothing is loaded for nothing
            yield from own(texts, batch_size)
            return
        size = batch_size or _USUAL_BATCH
        for start in range(0, len(texts), size):
            batch = list(texts[start : start + size])
            yield range(start, start + len(batch)), self._encoder.encode_batch(batch)

    def _recall(self) -> np.ndarray:
        """Take what the cache has; returns the positions of the texts it does not have."""
        if self._store is None:
            return self._first
        vectors, is_known = self._store.get(self._space, self._at(self._first))
        if is_known.any():
            self._keep(self._first[is_known], vectors)
        return np.asarray(self._first[~is_known])

    def _remember(self, positions: list[int]) -> None:
        if self._store is not None and positions:
            self._store.put(self._space, self._at(positions), self._vectors[positions])

    def _at(self, positions: Sequence[int] | np.ndarray) -> list[str]:
        return [self._texts[position] for position in np.asarray(positions).tolist()]

    def _keep(self, positions: Sequence[int] | np.ndarray, answer: Any) -> None:
        vectors = self._checked(positions, answer)
        if not self._vectors.shape[1]:
            self._vectors = np.empty((len(self._texts), vectors.shape[1]), np.float32)
        if vectors.shape[1] != self._vectors.shape[1]:
            raise InputError(
                f"the encoder {self._encoder.name} gave vectors of length {vectors.shape[1]} and "
                f"of length {self._vectors.shape[1]} (a changed encoder must change its identity, too)"
            )
        self._vectors[positions] = vectors

    def _checked(self, positions: Sequence[int] | np.ndarray, answer: Any) -> np.ndarray:
        name = self._encoder.name
        if type(answer) is np.ndarray and answer.dtype == np.float32:  # as models give them: nothing to convert
            vectors = answer
        else:
            given = numbers_of(answer, f"what the encoder {name} gives", "an array of numbers")
            with np.errstate(over="ignore"):
                vectors = given.astype(np.float32)
        if vectors.ndim != 2 or len(vectors) != len(positions) or not vectors.shape[1]:
            raise InputError(
                f"the encoder {name} must give one vector per text: "
                f"for {len(positions)} texts it gave an array of shape {vectors.shape}"
            )
        wrong = np.flatnonzero(~np.isfinite(vectors).all(axis=1)).tolist()
        if wrong:
            raise InputError(
                f"the encoder {name} gave infinity or no number for text {min(positions[row] for row in wrong)}"
            )
        return vectors

    def _with_repeats(self) -> np.ndarray:
        repeats = np.flatnonzero(self._source != np.arange(len(self._source)))
        for start in range(0, len(repeats), CHUNK):  # in parts: vectors may be long
            part = repeats[start : start + CHUNK]
            self._vectors[part] = self._vectors[self._source[part]]
        return self._vectors
