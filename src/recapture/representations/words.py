"""Contextual word-piece vectors: every layer that is asked for, of any transformer."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np

from ..checks import is_whole
from ..declarations import installed_version
from ..errors import InputError, shown
from ..geometry.devices import accelerator_beside, tried_with, within_memory
from ..progress import Progress
from .attention import ready_attention
from .batches import CPU_TOKENS, GPU_TOKENS, token_batches
from .encoder import DEFAULT_ENCODER
from .kept import Kept
from .loading import check_device, in_one_sentence, load_pretrained, room_of, transformer_folder, usable_device
from .locate import Wanted, find_weights
from .pieces import Pieces, Tokenizer, room_for
from .precision import checked_dtype
from .weight_files import read_settings
from .windows import windows

Found = TypeVar("Found")

PURPOSE = "the encoder"
_WANTED = Wanted("encoder", (DEFAULT_ENCODER,))
_KEPT_BYTES = 512 << 20
_COUNTS = ("num_hidden_layers", "n_layers", "n_layer")


class TextWords(NamedTuple):
    """One text: `before` special tokens, its own pieces, `behind` special tokens."""

    ids: np.ndarray
    """(tokens,) with the special tokens."""
    before: int
    behind: int
    vectors: Any
    """(layers, tokens, width) float32, layers as `WordStore.layers` lists them: an array, or a tensor on the store's
    accelerator."""

    @property
    def own(self) -> slice:
        """The text's own pieces among its tokens."""
        return slice(self.before, len(self.ids) - self.behind)


class DeviceWords(NamedTuple):
    """Several texts on an accelerator, one below the other."""

    vectors: Any
    """(tokens, layers, width) tensor, special tokens among them."""
    first: np.ndarray
    """Where each text begins."""
    sizes: np.ndarray
    """How many tokens it has."""
    before: np.ndarray
    """How many special tokens stand before its own pieces."""
    own: np.ndarray
    """How many own pieces it has."""


class WordStore:
    """Word-piece vectors of texts by one encoder, each distinct text encoded once while memory allows.

    `want` the layers first, `ensure` the texts of a batch next, then read `store[text]`.
    """

    def __init__(
        self,
        encoder: str | None = None,
        *,
        device: str | None = None,
        dtype: str | None = None,
        batch_tokens: int | None = None,
        offline: bool | None = None,
    ) -> None:
        if encoder == "bag-of-words":
            raise InputError("bag-of-words has no vectors of single words: name a transformer")
        check_device(device)
        self._dtype = checked_dtype(dtype) or "float32"
        self._weights = transformer_folder(find_weights(encoder or DEFAULT_ENCODER, offline, _WANTED))
        self.name = self._weights.name
        config = read_settings(self._weights.folder / "config.json")
        counts = [config.get(each) for each in _COUNTS]
        if not all(count is None or (isinstance(count, int) and not isinstance(count, bool)) for count in counts):
            raise InputError(f"the encoder {self.name} has a config.json that says nothing of layers")
        self.layer_count = next((int(config[each]) for each in _COUNTS if config.get(each)), 0)
        if self.layer_count < 1 or config.get("is_encoder_decoder"):
            raise InputError(f"the encoder {self.name} is no plain transformer, so it has no layers of word vectors")
        self._device = device
        self._batch_tokens = batch_tokens
        self._wanted: set[int] = set()
        self._tokenizer: Tokenizer | None = None
        self._model: Any = None
        self._depth = 0
        self._room = 0
        self._kept: Kept[str, TextWords] = _kept()
        self._accelerator: str | None = ""
        self._pieces: dict[str, Pieces] = {}
        self.windowed: set[str] = set()
        """Texts longer than the model takes, which went through it in overlapping windows."""

    def identity(self) -> dict[str, str]:
        return {
            "encoder": self.name,
            "kind": "word pieces",
            "revision": self._weights.revision,
            "dtype": self._dtype,
            **{library: installed_version(library) for library in ("transformers", "torch")},
        }

    @property
    def room(self) -> int:
        """The most tokens the model takes at once, special ones included; 0 before it is loaded."""
        return self._room

    @property
    def accelerator(self) -> str | None:
        """torch's name of the device where vectors stay and are compared; None: they are arrays, for the threads."""
        if self._accelerator == "":  # decided once: what was made stays where it is
            here = importlib.util.find_spec("torch") is None  # then nothing can be made, and whoever loads says so
            self._accelerator = None if here else accelerator_beside(usable_device(self._device))
        return self._accelerator

    def compared_there(self, work: Callable[[], Found]) -> Found | None:
        """work() on the accelerator. None, so that the processor does it: there is none, or nobody asked for one whose
        memory does not suffice; from then on all vectors are arrays.
        """
        if self.accelerator is None:
            return None
        found = tried_with(self._device, work)
        if found is None:
            self._leave_device()
        return found

    def _leave_device(self) -> None:
        """Vectors come here. Where they are here already, the model comes, too."""
        if self.accelerator is None:
            self._model, self._device = None, "cpu"
            return
        self._accelerator = None
        self._kept.change(lambda words: words._replace(vectors=words.vectors.cpu().numpy()))
        self._kept.allow(_KEPT_BYTES, None)

    @property
    def layers(self) -> list[int]:
        """The layers kept, in order; 0 is the embedding layer, `layer_count` the last."""
        return sorted(self._wanted)

    def want(self, layers: Iterable[int]) -> None:
        """Keep these layers, too: 0 (embeddings) to `layer_count`; before the first text is encoded, ideally."""
        new = set(layers) - self._wanted
        for layer in new:
            if not 0 <= layer <= self.layer_count:
                raise InputError(f"the encoder {self.name} has layers 0 to {self.layer_count}, not {layer}")
        if new:
            self._wanted |= new
            self._kept = _kept()

    def want_last(self, count: Any) -> list[int]:
        """The last `count` layers, wanted from now on."""
        if not is_whole(count) or not 1 <= count <= self.layer_count:
            raise InputError(
                f"layers must be a whole number from 1 to {self.layer_count}, which {self.name} has, not {shown(count)}"
            )
        last = list(range(self.layer_count - count + 1, self.layer_count + 1))
        self.want(last)
        return last

    def pieces(self, texts: Sequence[str]) -> list[Pieces]:
        """Tokens alone, without vectors: what idf tables need."""
        new = [text for text in dict.fromkeys(texts) if text not in self._pieces]
        if new:
            if self._tokenizer is None:
                self._tokenizer = Tokenizer(self._weights, PURPOSE)
            self._pieces.update(zip(new, self._tokenizer.pieces(new), strict=True))
        return [self._pieces[text] for text in texts]

    def unknown_share(self, texts: Iterable[str]) -> float:
        """Share of unknown pieces in those of the texts that were cut."""
        known = [self._pieces[text] for text in texts if text in self._pieces]
        return self._tokenizer.unknown_share(known) if self._tokenizer is not None else 0.0

    def ensure(self, texts: Sequence[str]) -> None:
        """Encode what is not there yet."""
        distinct = len(set(texts))
        missing = self._kept.missing(texts)
        if missing:
            # By length and alphabet: the batches are the same in whatever order the texts came.
            self._encode(sorted(missing, key=lambda text: (len(text), text)))
            self._kept.make_room(distinct)

    def hold(self, texts: Iterable[str]) -> None:
        """Keep the vectors of these texts, made already or not, until they are released: nothing is encoded twice."""
        self._kept.hold(texts)

    def release(self, texts: Iterable[str]) -> None:
        """Undo `hold` once for each of them."""
        self._kept.release(texts)

    def __getitem__(self, text: str) -> TextWords:
        return self._kept[text]

    def stacked(self, text: str, layers: Sequence[int]) -> np.ndarray:
        """(layers, own pieces, width) as an array: no special tokens."""
        words = self._kept[text]
        places = [self.layers.index(layer) for layer in layers]
        if places == list(range(places[0], places[0] + len(places))):  # nothing to copy
            chosen = words.vectors[places[0] : places[0] + len(places), words.own]
        else:
            chosen = words.vectors[places][:, words.own]
        return np.asarray(chosen if self.accelerator is None else chosen.cpu().numpy())

    def table(self, texts: Sequence[str], layers: Sequence[int]) -> DeviceWords:
        """These texts' vectors where they are, on the accelerator, in one tensor."""
        import torch

        words = [self._kept[text] for text in texts]

        def together(_: int) -> Any:
            vectors = torch.cat([each.vectors.transpose(0, 1) for each in words])
            if list(layers) != self.layers:
                vectors = vectors[:, [self.layers.index(layer) for layer in layers]]
            return vectors

        vectors = within_memory(together, 1, 1)
        sizes, before, behind = np.array([(len(each.ids), each.before, each.behind) for each in words], np.int64).T
        return DeviceWords(vectors, np.cumsum(sizes) - sizes, sizes, before, sizes - before - behind)

    def _encode(self, texts: list[str]) -> None:
        # Nobody asked for a device whose memory does not suffice: less is done there, at last nothing.
        while tried_with(self._device, lambda: self._encoded(texts)) is None:
            self._leave_device()

    def _encoded(self, texts: list[str]) -> bool:
        self._load()
        if self.accelerator is not None:
            self._kept.allow(*_room_there(self.accelerator))
        rows: list[tuple[int, ...]] = []
        cuts = []
        for text, piece in zip(texts, self.pieces(texts), strict=True):
            parts = windows(len(piece.own), room_for(piece, self._room, f"{PURPOSE} {self.name}"))
            if len(parts) > 1:
                self.windowed.add(text)
            cuts.append((text, piece, len(rows), parts))
            rows += [(*piece.before, *piece.own[part.start : part.stop], *piece.behind) for part in parts]
        budget = self._batch_tokens or (CPU_TOKENS if self._on_cpu else GPU_TOKENS)
        by_row = within_memory(lambda tokens: self._by_row(rows, tokens), budget, 1)
        made = {}
        for text, piece, start, parts in cuts:
            vectors = by_row[start] if len(parts) == 1 else _joined(piece, parts, by_row[start : start + len(parts)])
            ids = np.array([*piece.before, *piece.own, *piece.behind], np.int64)
            made[text] = TextWords(ids, len(piece.before), len(piece.behind), vectors)
        for text, words in made.items():  # nothing fails any more
            self._kept.put(text, words)
        return True

    def _by_row(self, rows: list[tuple[int, ...]], budget: int) -> list[Any]:
        by_row: list[Any] = [np.empty(0)] * len(rows)
        with Progress(f"encoding with {self.name}", sum(map(len, rows)), "token") as progress:
            for batch in token_batches([len(row) for row in rows], budget):
                for place, vectors in zip(batch, self._forward([rows[at] for at in batch]), strict=True):
                    by_row[place] = vectors
                progress.advance(sum(len(rows[place]) for place in batch))
        return by_row

    def _forward(self, rows: list[tuple[int, ...]]) -> list[Any]:
        """For each row (layers, tokens, width): an array, or a tensor that stays on the accelerator."""
        return self._parted(self._states(rows), [len(row) for row in rows])

    def _parted(self, states: list[Any], lengths: list[int]) -> list[Any]:
        import torch

        if self.accelerator is None:
            kept: np.ndarray = torch.stack(states, 1).float().cpu().numpy()
            if not np.isfinite(kept).all():
                raise self._not_finite()
            return [kept[place, :, :length].copy() for place, length in enumerate(lengths)]
        places = np.arange(max(lengths)) < np.array(lengths)[:, None]
        real = torch.from_numpy(np.flatnonzero(places)).to(states[0].device)
        tokens = torch.stack([state.flatten(0, 1)[real] for state in states], 1).float().to(self.accelerator)
        if not bool(torch.isfinite(tokens).all()):
            raise self._not_finite()
        return [part.transpose(0, 1) for part in torch.split(tokens, lengths)]

    def _not_finite(self) -> InputError:
        return InputError(f"{PURPOSE} {self.name} gives infinity or no number for a text")

    def _states(self, rows: list[tuple[int, ...]]) -> list[Any]:
        """For each layer kept, a tensor (rows, tokens of the longest row, width)."""
        import torch

        width = max(1, *map(len, rows))  # some tokenizers make no token at all of some texts
        ids = np.full((len(rows), width), self._tokenizer.pad if self._tokenizer else 0, np.int64)
        mask = np.zeros((len(rows), width), np.int64)
        for place, row in enumerate(rows):
            ids[place, : len(row)] = row
            mask[place, : len(row)] = 1
        with torch.inference_mode(), ready_attention():
            tensors = [torch.from_numpy(array).to(self._model.device) for array in (ids, mask)]
            states = self._model(
                input_ids=tensors[0], attention_mask=tensors[1], output_hidden_states=True
            ).hidden_states
            return [states[layer] for layer in self.layers or [0]]

    def _load(self) -> None:
        """The model, cut off behind the last layer that is wanted."""
        depth = max(self._wanted, default=self.layer_count)
        if self._model is not None and self._depth >= depth:
            return
        device = usable_device(self._device)
        model, missing = load_pretrained("AutoModel", self._weights, PURPOSE)
        import torch  # the loader has said so where it is not there

        if missing:
            raise InputError(f"{PURPOSE} {self.name} has no weights for {missing[0]}; the library would make them up")
        name = f"{PURPOSE} {self.name}"
        piece = self.pieces(["a"])[0]
        if self._tokenizer is not None:
            self._tokenizer.check_fits(model, name)
        with in_one_sentence(f"{name} in {self._weights.folder} cannot encode a text"):
            self._depth = _shorten(model, depth, self.layer_count)
            self._room = room_of(model)
            row = (*piece.before, *piece.own, *piece.behind) or (0,)

            def tried(_: int) -> None:
                self._model = model.float().eval().to(device, getattr(torch, self._dtype))
                self._on_cpu = device == "cpu"
                self._parted(self._states([row]), [len(row)])

            within_memory(tried, 1, 1)


def _room_there(accelerator: str) -> tuple[int, int | None]:
    """Bytes to keep and at most to hold on a device: parts of its memory. What is beyond may have to be made again."""
    import torch

    if torch.device(accelerator).type != "cuda":
        return _KEPT_BYTES, None
    memory = torch.cuda.get_device_properties(accelerator).total_memory
    return memory // 8, memory // 4


def _kept() -> Kept[str, TextWords]:
    return Kept(lambda words: words.vectors.nbytes + words.ids.nbytes, _KEPT_BYTES)


def _joined(piece: Pieces, parts: Sequence[Any], by_part: Sequence[Any]) -> Any:
    """Vectors of a long text from its windows."""
    before = len(piece.before)
    own = [
        vectors[:, before + part.first - part.start : before + part.last - part.start]
        for part, vectors in zip(parts, by_part, strict=True)
    ]
    ending = by_part[-1][:, before + parts[-1].stop - parts[-1].start :]
    whole = [by_part[0][:, :before], *own, ending]
    if isinstance(ending, np.ndarray):
        return np.concatenate(whole, axis=1)
    import torch

    return torch.cat(whole, 1)


def _shorten(model: Any, depth: int, count: int) -> int:
    """Drop layers that are not needed, where they are a plain list without a norm behind it; how many are left."""
    for stack in ("encoder", "transformer"):
        layers = getattr(getattr(model, stack, None), "layer", None)
        if depth < count and layers is not None and len(layers) == count:
            del layers[depth:]
            return depth
    return count
