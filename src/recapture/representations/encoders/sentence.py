"""Sentence encoders, through the sentence-transformers library."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...declarations import installed_version
from ...errors import InputError, nearest_names
from ..encoder import EncoderKind, EncoderOptions
from ..folder import modules, pooling_mode
from ..loading import quiet, reported_as_missing, usable_device
from ..locate import INSTALL_HINT, Weights, find_weights

POOLINGS = ("mean", "max", "cls")
_LIBRARIES = ("sentence-transformers", "transformers", "torch")


class SentenceEncoder:
    """A pretrained encoder. PyTorch is imported and weights are loaded when the first text is encoded."""

    cacheable = True

    def __init__(self, weights: Weights, pooling: str | None = None, device: str | None = None) -> None:
        own_pooling = pooling_mode(weights.folder)
        if pooling is not None and own_pooling is None:
            raise InputError(f"the encoder {weights.name} has no pooling step, so its pooling cannot be {pooling!r}")
        self.name = weights.name
        self._weights = weights
        self._pooling = pooling or own_pooling
        # A plain folder is given the mean even where the library would choose something else (decoders).
        plain = modules(weights.folder) is None and own_pooling is not None
        self._replaces_pooling = pooling is not None or plain
        self._device = device
        self._model: Any = None
        self._stand_in = ""

    def identity(self) -> dict[str, str]:
        return {
            "encoder": self.name,
            "kind": "sentence-transformers",
            "revision": self._weights.revision,
            "pooling": self._pooling or "none",
            "dtype": "float32",
            **{library: installed_version(library) for library in _LIBRARIES},
        }

    def fit(self, texts: Sequence[str]) -> SentenceEncoder:
        return self

    def encode_batch(self, texts: list[str]) -> np.ndarray:
        if self._model is None:
            self._load()
        if self._stand_in:  # blanks count as nothing: some releases of the library strip them
            texts = [text if text.strip() else self._stand_in for text in texts]
        with quiet():
            vectors = self._model.encode(texts, batch_size=len(texts), show_progress_bar=False, convert_to_numpy=True)
        return np.asarray(vectors, np.float32)

    def _load(self) -> None:
        try:
            from sentence_transformers import SentenceTransformer
        except ImportError as error:
            raise InputError(
                f"the encoder {self.name} needs PyTorch and sentence-transformers ({error}): {INSTALL_HINT}"
            ) from None
        device = usable_device(self._device)
        try:
            with quiet(), reported_as_missing() as missing, warnings.catch_warnings():
                warnings.simplefilter("ignore")
                # Always a folder, always local: nothing here may ask the hub, run a model's own code or unpickle.
                model = SentenceTransformer(
                    str(self._weights.folder),
                    device=device,
                    trust_remote_code=False,
                    local_files_only=True,
                    model_kwargs={"use_safetensors": True},
                ).float()
        except Exception as error:  # a model folder can be wrong in many ways
            reason = f"{type(error).__name__}: {error}".splitlines()[0]
            raise InputError(f"the encoder {self.name} in {self._weights.folder} cannot be loaded: {reason}") from error
        if missing:
            more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
            raise InputError(
                f"the encoder {self.name} has no weights for {missing[0]}{more}; the library would make them up"
            )
        if self._replaces_pooling:
            self._replace_pooling(model)
        _keep_to_texts(model[0])
        self._stand_in = _prepare_tokenizer(getattr(model, "tokenizer", None))
        self._model = model.eval()

    def _replace_pooling(self, model: Any) -> None:
        places = [place for place, module in enumerate(model) if type(module).__name__ == "Pooling"]
        if not places:
            raise InputError(f"the encoder {self.name} gives no vectors per token, so there is nothing to pool")
        old = model[places[0]]
        # The name of the width changed between releases of the library; its place as first argument did not.
        width = getattr(old, "embedding_dimension", None) or old.word_embedding_dimension
        new = type(old)(width, self._pooling)
        if places[0] + 1 < len(model) and new.pooling_output_dimension != old.pooling_output_dimension:
            raise InputError(f"the encoder {self.name} joins several poolings; {self._pooling!r} alone does not fit it")
        new.include_prompt = old.include_prompt
        model[places[0]] = new


def _keep_to_texts(first: Any) -> None:
    """Let a model of texts and pictures, such as CLIP, take nothing but texts.

    The library would fetch the picture where a text is a picture's address or file name. It also looks for the longest
    text in the wrong place.
    """
    ways = getattr(first, "modality_config", None) or {}
    if set(ways) - {"text", "message"}:
        first.modality_config = {way: how for way, how in ways.items() if way in ("text", "message")}
        first.input_formatter.supported_modalities = list(first.modality_config)
    tower = getattr(getattr(first, "config", None), "text_config", None)
    longest = getattr(tower, "max_position_embeddings", None)
    if longest and (first.max_seq_length or longest) >= longest:
        first.max_seq_length = longest


def _prepare_tokenizer(tokenizer: Any) -> str:
    """Let every text through, and say what to encode in place of an empty one.

    Decoders' tokenizers may have no padding token (any will do: padding is masked out) and may make no token at all of
    an empty text, for which the model then has no answer.
    """
    if not callable(tokenizer) or not hasattr(tokenizer, "eos_token"):
        return ""
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token or tokenizer.unk_token
    if tokenizer("")["input_ids"]:
        return ""
    return str(tokenizer.bos_token or tokenizer.eos_token or " ")


def _make(name: str, options: EncoderOptions) -> SentenceEncoder:
    if options.pooling is not None and options.pooling not in POOLINGS:
        raise InputError(f"no pooling called {options.pooling!r}; {nearest_names(options.pooling, POOLINGS)}")
    return SentenceEncoder(find_weights(name, options.offline), options.pooling, options.device)


KIND = EncoderKind(
    "sentence-transformers", "any sentence encoder: a Hugging Face name or a local folder", _make, any_name=True
)
