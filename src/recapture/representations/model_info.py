"""Which weights a metric would use, without loading them."""

from __future__ import annotations

import os
from typing import Any, Literal

from ..checks import is_one_of, plain_arguments
from ..errors import InputError, nearest_names, shown

_KINDS = ("sentences", "words", "masked")


@plain_arguments
def model_info(
    model: str | os.PathLike[str] | None = None,
    kind: Literal["sentences", "words", "masked"] = "sentences",
    *,
    device: str | None = None,
    offline: bool | None = None,
) -> dict[str, Any]:
    """What a metric would use under this name; nothing is loaded.

    Parameters
    ----------
    model : str or path, optional
        A name or a folder; None: the default one.
    kind : {"sentences", "words", "masked"}, default "sentences"
        sentences (vectors of whole texts, as `encode` makes), words (vectors of word pieces, as BERTScore uses) or
        masked (a masked language model, as InfoLM uses).
    device, offline
        As for `encode`.

    Returns
    -------
    dict
        encoder (the name), kind, revision, dtype (the number type) and versions of libraries, as in the signatures of
        results; for words and masked also device; for words layers, how many there are.

    Examples
    --------
    >>> import recapture as rc
    >>> rc.model_info("bag-of-words")["dtype"]
    'float32'
    """
    if not is_one_of(kind, _KINDS):
        raise InputError(f"unknown kind of model {shown(kind)}: {nearest_names(kind, _KINDS)}")
    if kind == "sentences":
        from .encoder import resolve_encoder

        return dict(resolve_encoder(model, device=device, offline=offline).identity())
    name = None if model is None else str(model)
    if kind == "words":
        from .loading import usable_device
        from .words import WordStore

        store = WordStore(name, offline=offline)
        return {**store.identity(), "layers": store.layer_count, "device": usable_device(device)}
    from .masked_model import find_masked_model

    masked = find_masked_model(name, device=device, offline=offline)  # its number type depends on the device
    return {**masked.identity(), "device": masked.device}
