"""Loading a masked language model: one of the package recapture-weights, or any of the Hugging Face families."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..declarations import installed_version
from ..errors import InputError
from ..geometry.devices import tried_with
from .attention import ready_attention
from .encoder import DEFAULT_ENCODER
from .loading import check_device, in_one_sentence, load_pretrained, room_of, transformer_folder, usable_device
from .locate import Wanted, Weights, find_weights
from .masked_body import MaskedBody, fast_projection
from .pieces import Tokenizer
from .precision import checked_dtype
from .shipped import HEAD, SHIPPED, load_shipped, shipped_file, shipped_revision
from .weight_files import read_settings

PURPOSE = "the masked language model"
_WANTED = Wanted("masked language model", SHIPPED)
_USE = f"use {HEAD} (the default) or a masked language model such as bert-base-uncased"


class MaskedModel:
    """A pretrained masked language model. PyTorch is imported and weights are loaded at the first text."""

    def __init__(self, weights: Weights, name: str, device: str | None = None, dtype: str | None = None) -> None:
        check_device(device)
        self._wanted_dtype = checked_dtype(dtype)
        self.name = name
        self._weights = weights
        self._wanted_device = device

    def identity(self) -> dict[str, str]:
        """Everything the vectors depend on apart from the text."""
        return {**self._identity, "dtype": self._dtype_name}

    @functools.cached_property
    def _identity(self) -> dict[str, str]:
        revision = self._weights.revision
        if self.name in SHIPPED:
            revision += "+" + shipped_revision()
        return {
            "encoder": self.name,
            "kind": "masked language model",
            "revision": revision,
            **{library: installed_version(library) for library in ("transformers", "torch")},
        }

    @functools.cached_property
    def tokenizer(self) -> Tokenizer:
        tokenizer = Tokenizer(self._weights, PURPOSE)
        if tokenizer.mask is None:
            raise InputError(f"{PURPOSE} {self.name} has no mask token, so it cannot say what stands in a gap: {_USE}")
        return tokenizer

    @functools.cached_property
    def _device(self) -> str:
        return usable_device(self._wanted_device)

    @property
    def on_cpu(self) -> bool:
        return self._device == "cpu"

    @property
    def device(self) -> str:
        """torch's name of where it computes."""
        return self._device

    @property
    def wanted_device(self) -> str | None:
        """What was asked for; None: nothing."""
        return self._wanted_device

    def leave_device(self) -> None:
        """From now on the processor computes, in the same number type; weights are loaded again at the next text."""
        self._wanted_dtype = self._dtype_name
        self._wanted_device = "cpu"
        for made in ("_device", "_parts", "_projection"):
            self.__dict__.pop(made, None)

    @property
    def _dtype_name(self) -> str:
        usual = "float16" if self._device.startswith("cuda") else "float32"
        return self._wanted_dtype or usual

    @contextlib.contextmanager
    def computing(self, reduced: bool = True) -> Iterator[None]:
        """Within: products in the model's number type; reduced=False: all in float32."""
        import torch

        half = torch.bfloat16 if self._dtype_name == "bfloat16" else torch.float16
        kind = self._device.split(":")[0]
        with (
            torch.inference_mode(),
            torch.autocast(kind, half) if reduced and self._dtype_name != "float32" else contextlib.nullcontext(),
            ready_attention() if kind == "cuda" else contextlib.nullcontext(),
        ):
            yield

    @functools.cached_property
    def _parts(self) -> tuple[Any, Any, Any]:
        """The body, the whole model with a stand-in for its body, and the vocabulary projection."""
        model = self._load()
        self.tokenizer.check_fits(model, f"{PURPOSE} {self.name}")
        with in_one_sentence(f"{PURPOSE} {self.name} in {self._weights.folder} cannot be used"):
            model.float().eval()
            projection, body = model.get_output_embeddings(), model.base_model
            if projection is None or body is model:
                raise InputError(f"{PURPOSE} {self.name} ({type(model).__name__}) has no head of a known form: {_USE}")

            def placed() -> MaskedBody:
                model.to(self._device)
                return MaskedBody(body, self.on_cpu and self._dtype_name == "float32")

            tried = tried_with(self._wanted_device, placed)
            if tried is None:
                self.leave_device()
                tried = placed()
            setattr(model, model.base_model_prefix, _stand_in())
            return tried, model, projection

    @functools.cached_property
    def _projection(self) -> Any:
        return fast_projection(self._parts[2], self.on_cpu)

    @functools.cached_property
    def room(self) -> int:
        """The most tokens it takes at once, special ones included."""
        with in_one_sentence(f"{PURPOSE} {self.name} in {self._weights.folder} has no known number of places"):
            return room_of(self._parts[0].body)

    @property
    def width(self) -> int:
        return int(self._parts[2].weight.shape[1])

    @property
    def vocabulary(self) -> int:
        return int(self._parts[2].weight.shape[0])

    def head_vectors(self, rows: Sequence[Sequence[int]], places: Sequence[int]) -> np.ndarray:
        """(rows, width) float32: each row's token in its place is masked; the head's vector there."""
        import torch

        width = max(map(len, rows))
        ids = np.full((len(rows), width), self.tokenizer.pad, np.int64)
        for at, row in enumerate(rows):
            ids[at, : len(row)] = row
        ids[np.arange(len(rows)), list(places)] = self.tokenizer.mask or 0
        lengths = np.array([len(row) for row in rows])
        tensors = [torch.from_numpy(array).to(self._device) for array in (ids, np.array(places, np.int64))]
        mask = None
        if lengths.min() < width:  # attention is faster without
            mask = torch.from_numpy((np.arange(width) < lengths[:, None]).astype(np.int64)).to(self._device)

        def vectors(reduced: bool) -> Any:
            with self.computing(reduced):
                return self.head_tensor(tensors[0], mask, tensors[1])

        at_masks = vectors(reduced=True)
        if not bool(torch.isfinite(at_masks).all()):  # too large for half precision
            at_masks = vectors(reduced=False)
        answer: np.ndarray = at_masks.cpu().numpy()
        if not np.isfinite(answer).all():
            raise InputError(f"{PURPOSE} {self.name} gives infinity or no number for a text")
        return answer

    def head_tensor(self, ids: Any, mask: Any, places: Any) -> Any:
        """(rows, width) float32 tensor, from tensors of rows that have their masks in these places; mask: None where
        no row is filled up. Call it within `computing`; nothing waits for the device.
        """
        body, model, projection = self._parts
        return _head(model, projection, body(ids, mask, places)).float()

    def logits(self, vectors: np.ndarray) -> Any:
        """(rows, vocabulary) float32 tensor, from head vectors."""
        import torch

        return self.logits_there(torch.from_numpy(np.ascontiguousarray(vectors)).to(self._device))

    def logits_there(self, vectors: Any) -> Any:
        """The same from a tensor on the model's device."""
        import torch

        with torch.inference_mode():
            scores = self._projection(vectors)
        return scores.float()

    def _load(self) -> Any:
        if self.name in SHIPPED:
            return load_shipped(self.name, self._weights)
        try:
            model, missing = load_pretrained("AutoModelForMaskedLM", self._weights, PURPOSE)
        except InputError as error:
            if "Unrecognized configuration class" not in str(error):
                raise
            kind = read_kind(self._weights)
            raise InputError(f"{self.name} is a model of kind {kind}, not a masked language model: {_USE}") from None
        if missing:
            raise InputError(
                f"{self.name} has no masked-language-model head (it lacks weights for {missing[0]}): {_USE}"
            )
        return model


def read_kind(weights: Weights) -> str:
    return str(read_settings(weights.folder / "config.json").get("model_type", "unknown"))


class _HeadVectors(Exception):  # noqa: N818 - no error: it carries vectors out of the model
    def __init__(self, vectors: Any) -> None:
        self.vectors = vectors


def _head(model: Any, projection: Any, states: Any) -> Any:
    """What reaches the vocabulary projection when the body gives these states: whatever the family calls its head."""

    def take(_: Any, inputs: tuple[Any, ...]) -> None:
        raise _HeadVectors(inputs[0])

    prefix = getattr(model, model.base_model_prefix)
    prefix.states = states[:, None]
    hook = projection.register_forward_pre_hook(take)
    try:
        model(input_ids=None)
    except _HeadVectors as carried:
        return carried.vectors[:, 0]
    finally:
        hook.remove()
        prefix.states = None
    raise InputError("the masked language model's head does not end in its vocabulary projection")


def _stand_in() -> Any:
    """A body that answers with states made before."""
    import torch
    from transformers.modeling_outputs import BaseModelOutput

    class StandIn(torch.nn.Module):
        states: Any = None

        def forward(self, *_: Any, **__: Any) -> Any:
            return BaseModelOutput(last_hidden_state=self.states)

    return StandIn()


def find_masked_model(
    name: str | None = None, *, device: str | None = None, dtype: str | None = None, offline: bool | None = None
) -> MaskedModel:
    """A model of the package recapture-weights (by default its head), a local folder, or a Hugging Face name."""
    name = HEAD if name is None else name
    if name in SHIPPED:
        shipped_file()  # raises an error where the package is missing, before other weights are looked for
    weights = transformer_folder(find_weights(DEFAULT_ENCODER if name in SHIPPED else name, offline, _WANTED))
    return MaskedModel(weights, name if name in SHIPPED else weights.name, device, dtype)
