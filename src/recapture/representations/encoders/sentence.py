"""Sentence encoders, through the sentence-transformers library."""

from __future__ import annotations

import contextlib
import importlib
import threading
import warnings
from collections.abc import Generator, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ...declarations import installed_version
from ...errors import InputError, nearest_names, shown
from ...geometry.devices import DeviceMemoryError, tried_with, within_memory
from ..attention import ready_attention
from ..batches import CHARACTERS
from ..encoder import DEFAULT_ENCODER, EncoderKind, EncoderOptions
from ..encoder_batches import EncoderBatches, TextVectors, in_order, no_token_at_all, shortage, with_stand_in
from ..facts import MadeFor, TextFacts
from ..folder import (
    card_languages,
    default_prompt,
    is_text_tower,
    lowers_case,
    modules,
    pooling_mode,
    token_limit,
    tower_folder,
)
from ..loading import (
    Loaded,
    check_device,
    check_layers,
    check_vocabulary,
    in_one_sentence,
    loading,
    missing_weights,
    quiet,
    usable_device,
)
from ..locate import INSTALL_HINT, Weights, find_weights
from ..long_texts import LongTexts
from ..piece_counts import PieceCounter
from ..pieces import Pieces, parts, room_for
from ..scripts import scripts_of
from ..tokenizer_probe import check_tokenizer
from ..weight_files import check_numbers, read_settings, tensors, weight_files

POOLINGS = ("mean", "max", "cls")
# What has been measured of models, see docs/encoders.md. Their cards say the same where they are at hand.
MINILM = MadeFor("English", 256, "nearly blind", scripts_of(["en"]))
_MEASURED = {"sentence-transformers/all-MiniLM-L6-v2": MINILM}
_PROJECTION = "text_projection.weight"
"""Where CLIP's text tower keeps the step into the room that texts and pictures share."""
_LIBRARIES = ("sentence-transformers", "transformers", "torch")
_LIBRARY_BATCH = 32
_PROBES = ("a", "  A b \n", "The river rose twice, said Ann; 12 boats were lost.")
"""Of different lengths, with capitals and with blanks around: a library may change these before it cuts a text."""
_ONE_AT_A_TIME = threading.RLock()
"""For threads that share an encoder: it is loaded once. And the library tells its tokenizer at every call how to cut
off and to fill up: threads would do so in the midst of each other's calls."""


class SentenceEncoder:
    """A pretrained encoder. PyTorch is imported and weights are loaded when the first text is encoded.

    truncate: cut texts that are longer than the model takes at once; else their vectors are made of windows over all of
    them (`long_texts` says how).
    """

    cacheable = True

    def __init__(
        self,
        weights: Weights,
        pooling: str | None = None,
        device: str | None = None,
        truncate: bool = False,
        dtype: str | None = None,
    ) -> None:
        check_device(device)
        own_pooling = pooling_mode(weights.folder)
        if pooling is not None and own_pooling is None:
            raise InputError(
                f"the encoder {weights.name} has no pooling step, so its pooling cannot be {shown(pooling)}"
            )
        self.name = weights.name
        self._weights = weights
        self._pooling = pooling or own_pooling
        # A plain folder is given the mean even where the library would choose something else (decoders).
        plain = modules(weights.folder) is None and own_pooling is not None
        self._replaces_pooling = pooling is not None or plain
        self._device = device
        self._truncate = truncate
        self._dtype = dtype or "float32"
        if self._dtype != "float32" and tower_folder(weights.folder) is None:
            raise InputError(f"the encoder {weights.name} has no transformer, so dtype cannot be {shown(dtype)}")
        if device is not None and device != "auto":
            self._check_int8(device)
        self._limit = token_limit(weights.folder)
        self._counter: PieceCounter | None = None
        self._long: LongTexts | None = None
        self._batches: EncoderBatches | None = None
        self._prompt = ""
        self._model: Any = None
        self._stand_in = ""

    @property
    def made_for(self) -> MadeFor:
        known = _MEASURED.get(self.name)
        if known is not None:
            return known._replace(length=self._limit)
        codes = card_languages(self._weights.folder)
        languages = ", ".join(codes[:5]) + (f" and {len(codes) - 5} more" if len(codes) > 5 else "")
        return MadeFor(languages or "languages unknown", self._limit, "unknown", scripts_of(codes))

    def identity(self) -> dict[str, str]:
        # Where the model has no limit, nothing depends on what is done with longer texts.
        long = {"long texts": "cut" if self._truncate else "windows"} if self._limit else {}
        return {
            "encoder": self.name,
            "kind": "sentence-transformers",
            "revision": self._weights.revision,
            "pooling": self._pooling or "none",
            **long,
            "dtype": self._dtype,
            **{library: installed_version(library) for library in _LIBRARIES},
        }

    def fit(self, texts: Sequence[str]) -> SentenceEncoder:
        return self

    def facts(self, texts: Sequence[str]) -> TextFacts:
        """From the tokenizer alone, so that they are right where all vectors come from the cache, too."""
        tower = tower_folder(self._weights.folder)
        if tower is None:
            return TextFacts()
        if self._counter is None:
            try:
                self._counter = PieceCounter(
                    Weights(self.name, tower, self._weights.commit), lower_case=lowers_case(tower)
                )
            except ImportError:  # vectors from the cache, on a machine without the libraries that made them
                return TextFacts()
        prompt = default_prompt(self._weights.folder)
        pieces, unknown, special = self._counter.count([prompt + text for text in texts] if prompt else texts)
        if prompt:  # pieces that the model adds take room, but they are not the text's
            own, _, _ = self._counter.count([prompt])
            special += int(own[0])
            pieces = np.maximum(pieces - own[0], 0)
        share = float(unknown.sum() / max(1, pieces.sum()))
        if self._limit is None:
            return TextFacts(None, None, share)
        beyond = np.maximum(pieces + special - self._limit, 0)
        unseen = float(beyond.sum() / max(1, pieces.sum())) if self._truncate else 0.0
        return TextFacts(int(np.count_nonzero(beyond)), unseen, share)

    def effort(self, text: str) -> int:
        """Tokens that go through the model, about. Windows overlap by half."""
        tokens = len(text) // CHARACTERS + 1
        if self._limit is None or tokens <= self._limit:
            return tokens
        return self._limit if self._truncate else 2 * tokens

    def encode_batch(self, texts: list[str]) -> np.ndarray:
        return in_order(self.encode_batches(texts))

    def encode_batches(self, texts: Sequence[str], rows: int | None = None) -> Iterator[TextVectors]:
        """Vectors of all texts, in the order in which they are made, in batches by tokens; texts of like length should
        stand together. rows: the most texts, or windows of long ones, that go through the model together.
        """
        wanted = self._device  # another thread may leave it meanwhile
        is_left = np.ones(len(texts), bool)
        with contextlib.closing(self._made(texts, rows)) as batches:
            while made := tried_with(wanted, partial(next, batches, ())):
                is_left[made.places] = False
                yield made
        if made is None:  # nobody asked for a device whose memory does not suffice: the processor makes the rest
            self._leave_device()
            left = np.flatnonzero(is_left)
            for made in self._made([texts[place] for place in left.tolist()], rows):
                yield TextVectors(left[made.places], made.vectors)

    def _made(self, texts: Sequence[str], rows: int | None) -> Generator[TextVectors, None, None]:
        with _ONE_AT_A_TIME:
            if self._model is None:
                self._load()
            batches = self._batches
        if self._stand_in:
            # Some releases of the library strip blanks, so that nothing is left of them.
            texts = [text if text.strip() else self._stand_in for text in texts]
        if self._dtype == "int8":  # inputs are rounded on the scale of the largest of all rows: no text but its own
            rows = 1
        if batches is not None:
            yield from batches.run(texts, rows)
            return
        size = at_once = rows or _LIBRARY_BATCH

        def made(together: int) -> np.ndarray:
            nonlocal at_once
            vectors = self._by_library(batch, together)
            at_once = together  # where memory did not suffice for more, it will not for the next batch either
            return vectors

        for start in range(0, len(texts), size):
            with _ONE_AT_A_TIME:
                batch = self._with_stand_in(list(texts[start : start + size]))
                vectors = within_memory(made, at_once, 1, shortage(self.name, self._model.device, "a text"))
            yield TextVectors(np.arange(start, start + len(batch)), vectors)

    def _with_stand_in(self, texts: list[str]) -> list[str]:
        """Texts, but another one for each of which the library would make nothing, or, beside others, zeros."""
        if not self._stand_in:
            return texts
        tokens = self._tokens(texts)
        if all(tokens):
            return texts
        if not all(self._tokens([_prompt_of(self._model)[0] + self._stand_in])):
            raise no_token_at_all(self.name)
        return with_stand_in(texts, tokens, self._stand_in)

    def _tokens(self, texts: list[str]) -> list[int]:
        """How many the tokenizer makes of each."""
        with quiet():
            return [len(ids) for ids in self._model.tokenizer(texts, verbose=False)["input_ids"]]

    def _leave_device(self) -> None:
        """From now on the processor computes, in the same number type."""
        with _ONE_AT_A_TIME:
            if self._device != "cpu":
                self._model = self._batches = self._long = None
                self._device = "cpu"
                self._load()

    def _by_library(self, texts: list[str], rows: int) -> np.ndarray:
        """Vectors of a batch of texts; at most `rows` texts or windows go through the model together."""
        long = self._beyond(texts)
        if len(long) < len(texts):
            # The whole batch, so that a short text's vector does not depend, in its last digits, on what is done with
            # the long ones.
            vectors = self._as_they_are(texts, rows)
        if self._long is None or not long:
            return vectors
        whole = self._long.vectors(list(long.values()), rows)
        if len(long) == len(texts):
            return whole
        vectors[list(long)] = whole
        return vectors

    def _beyond(self, texts: list[str]) -> dict[int, Pieces]:
        """The texts that need windows, by place."""
        if self._long is None:
            return {}
        with quiet():
            cut = self._model.tokenizer(
                [self._prompt + text for text in texts],
                padding=False,
                truncation=False,
                return_special_tokens_mask=True,
                return_attention_mask=False,
                verbose=False,
            )
        rows = zip(cut["input_ids"], cut["special_tokens_mask"], strict=True)
        long = {place: parts(*row) for place, row in enumerate(rows) if len(row[0]) > (self._limit or 0)}
        if long and "message" in (getattr(self._model[0], "modality_config", None) or {}):
            raise InputError(
                f"the encoder {self.name} writes texts into a form of its own and takes at most {self._limit} pieces: "
                "shorten the texts or ask for truncate"
            )
        return long

    def _as_they_are(self, texts: list[str], rows: int) -> np.ndarray:
        with quiet(), ready_attention():
            vectors = self._model.encode(texts, batch_size=rows, show_progress_bar=False, convert_to_numpy=True)
        return np.array(vectors, np.float32)

    def _load(self) -> None:
        try:
            from sentence_transformers import SentenceTransformer
        except ImportError as error:
            raise InputError(
                f"the encoder {self.name} needs PyTorch and sentence-transformers ({error}): {INSTALL_HINT}"
            ) from None
        device = usable_device(self._device)
        self._check_int8(device)
        name = f"the encoder {self.name}"
        with in_one_sentence(f"{name} in {self._weights.folder} cannot be loaded"), loading(name) as loaded:
            self._weights.revision  # noqa: B018 - of the files before they are read
            for module in modules(self._weights.folder) or ():
                check_numbers(module.folder)
            check_numbers(self._weights.folder)
            # Always a folder, always local: nothing here may ask the hub, run a model's own code or unpickle.
            model = SentenceTransformer(
                str(self._weights.folder),
                device=device,
                trust_remote_code=False,
                local_files_only=True,
                model_kwargs={"use_safetensors": True},
            ).float()
        self._check_whole(loaded)
        self._weights.check_unchanged()
        if self._replaces_pooling:
            self._replace_pooling(model)
        if is_text_tower(self._weights.folder):
            with in_one_sentence(f"{name} in {self._weights.folder} has a projection that does not fit it"):
                _pool_as_clip(model, self._weights.folder)
        _keep_to_texts(model[0])
        tokenizer = getattr(model, "tokenizer", None)
        with in_one_sentence(f"{name} in {self._weights.folder} has a tokenizer that cannot be used"):
            self._stand_in = _prepare_tokenizer(tokenizer)
            check_tokenizer(tokenizer, name)
            for each in loaded:
                check_vocabulary(tokenizer, each.model, name)
        if self._limit is not None:
            # The library does not see that some models have fewer positions than their settings say.
            model.max_seq_length = self._limit = min(self._limit, model.max_seq_length or self._limit)
            self._check_room(model.tokenizer)
            self._long = None if self._truncate else self._for_long_texts(model, self._limit)
        model.eval()
        with in_one_sentence(f"{name} in {self._weights.folder} cannot encode a text"), quiet(), ready_attention():
            expected = np.asarray(model.encode(list(_PROBES), show_progress_bar=False, convert_to_numpy=True))
            self._batches = self._by_tokens(model, expected)
            if self._dtype != "float32":
                _compute_in(model[0], self._dtype)
                model.encode(list(_PROBES), show_progress_bar=False)
        self._model = model

    def _check_int8(self, device: str) -> None:
        if self._dtype == "int8" and not device.startswith("cpu"):
            raise InputError(f"dtype int8 is for processors, not for device {shown(device)}: bfloat16 is fast there")

    def _by_tokens(self, model: Any, expected: np.ndarray) -> EncoderBatches | None:
        """The faster way; None where it would not give the probes the vectors that the library gives them."""
        if not EncoderBatches.fits(model):
            return None
        try:
            batches = self._made_batches(model)
            return batches if batches.agrees(list(_PROBES), expected) else None
        except DeviceMemoryError:
            raise
        except Exception:  # whatever it is, the library has just encoded these texts
            return None

    def _made_batches(self, model: Any) -> EncoderBatches:
        prompt, tokens = _prompt_of(model)
        marked = model.tokenizer("a", return_special_tokens_mask=True)
        around = parts(marked["input_ids"], marked["special_tokens_mask"])
        return EncoderBatches(
            model,
            self.name,
            limit=self._limit,
            long=self._long,
            prompt=prompt,
            prompt_tokens=tokens - len(around.behind) if prompt else 0,
            stand_in=self._stand_in,
        )

    def _check_whole(self, loaded: list[Loaded]) -> None:
        if not loaded and tower_folder(self._weights.folder) is not None:
            raise InputError(f"the encoder {self.name} was loaded without an account of its weights")
        for each in loaded:
            # What makes one vector of a text itself may do so by its pooler.
            missing = missing_weights(each, pooler=self._pooling is None)
            if missing:
                more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
                raise InputError(
                    f"the encoder {self.name} has no weights for {missing[0]}{more}; the library would make them up"
                )
            check_layers(each, f"the encoder {self.name}")

    def _check_room(self, tokenizer: Any) -> None:
        """A model that has no room for a piece would give all texts the same vector."""
        with in_one_sentence(f"the encoder {self.name} has a tokenizer that cannot be used"), quiet():
            marked = tokenizer("a", return_special_tokens_mask=True)
            around = parts(marked["input_ids"], marked["special_tokens_mask"])
        room_for(around, self._limit or 0, f"the encoder {self.name}")

    def _for_long_texts(self, model: Any, limit: int) -> LongTexts:
        self._prompt, prompt = _prompt_of(model)
        marked = model.tokenizer("a", return_special_tokens_mask=True)
        around = parts(marked["input_ids"], marked["special_tokens_mask"])
        if limit - prompt - len(around.before) - len(around.behind) < 1:
            raise InputError(
                f"the encoder {self.name} takes at most {limit} pieces at once, which leaves no room for a text beside "
                "the pieces it adds"
            )
        pooling = next((module for module in model if type(module).__name__ == "Pooling"), None)
        return LongTexts(
            model,
            limit,
            (self._pooling or "").split("+"),
            segments="token_type_ids" in marked,
            prompt=prompt - len(around.behind) if prompt else 0,
            pooled=getattr(pooling, "include_prompt", True),
        )

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


def _prompt_of(model: Any) -> tuple[str, int]:
    """What the model puts before every text, and the number of its tokens with special ones around it."""
    prompts = getattr(model, "prompts", None) or {}
    prompt = prompts.get(getattr(model, "default_prompt_name", None)) or ""
    return prompt, len(model.tokenizer(prompt)["input_ids"]) if prompt else 0


def _compute_in(tower: Any, dtype: str) -> None:
    """Let a transformer compute in another number type; steps behind it, such as pooling, get float32 from it."""
    import torch

    if dtype == "int8":
        _round_weights(tower)
        return

    def in_float32(_: Any, __: Any, features: dict[str, Any]) -> dict[str, Any]:
        made = ("token_embeddings", "sentence_embedding")
        return {
            name: value.float() if name in made and torch.is_tensor(value) else value
            for name, value in features.items()
        }

    tower.to(getattr(torch, dtype))
    tower.register_forward_hook(in_float32)


def _round_weights(tower: Any) -> None:
    """Linear layers with weights of 8 bits, each output with its own scale; their inputs are rounded as they come."""
    import torch

    try:
        quantization: Any = importlib.import_module("torch.ao.quantization")
        round_layers, scales = quantization.quantize_dynamic, quantization.per_channel_dynamic_qconfig
    except (ImportError, AttributeError):
        raise InputError(f"this release of PyTorch ({torch.__version__}) can no longer compute in int8") from None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that a later release will do without
        round_layers(tower, {torch.nn.Linear: scales}, dtype=torch.qint8, inplace=True)


def _pool_as_clip(model: Any, folder: Path) -> None:
    """The vector of the token that ends the text, through the projection where the folder has one: what transformers'
    CLIPTextModel and CLIPTextModelWithProjection give. The library would take the mean of all tokens.
    """
    import torch
    from safetensors import safe_open
    from sentence_transformers.models import Dense

    first = model[0]
    first.modality_config = {"text": {"method": "forward", "method_output_name": "pooler_output"}}
    first.module_output_name = "sentence_embedding"
    for place in range(len(model) - 1, 0, -1):
        del model[place]
    for file in weight_files(folder):
        if any(tensor.name == _PROJECTION for tensor in tensors(file)):
            with safe_open(file, "pt") as content:
                weight = content.get_tensor(_PROJECTION).float()
            step = Dense(weight.shape[1], weight.shape[0], bias=False, activation_function=torch.nn.Identity())
            step.linear.weight.data.copy_(weight)
            model.append(step.to(model.device))
            return
    if "CLIPTextModelWithProjection" in (read_settings(folder / "config.json").get("architectures") or ()):
        raise InputError(f"{folder} should hold {_PROJECTION}, which its weights lack")


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
    return str(tokenizer.bos_token or tokenizer.eos_token or tokenizer.unk_token or " ")


def _make(name: str, options: EncoderOptions) -> SentenceEncoder:
    if options.pooling is not None and options.pooling not in POOLINGS:
        raise InputError(f"no pooling called {shown(options.pooling)}; {nearest_names(options.pooling, POOLINGS)}")
    weights = find_weights(name, options.offline)
    return SentenceEncoder(weights, options.pooling, options.device, options.truncate, options.dtype)


KIND = EncoderKind(
    "sentence-transformers",
    "any sentence encoder: a Hugging Face name or a local folder",
    _make,
    any_name=True,
    made_for={DEFAULT_ENCODER: MINILM},
)
