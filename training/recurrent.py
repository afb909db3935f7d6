"""Train a recurrent sentence encoder in InferSent's manner: word-piece vectors, a bidirectional LSTM, the maximum.

    python -m training.recurrent --corpus train.txt.xz --heldout heldout.tsv --output DIR

No labels: of two sentences that follow each other the one is to find the other among all of the batch (as in Logeswaran
and Lee, 2018) and among copies of them whose words are out of order, since finding a topic alone needs no order. The
encoder lies in DIR/recurrent-lstm as a sentence-transformers folder (safetensors and JSON), which recapture takes
wherever an encoder is asked for.

`--stop-after SECONDS` saves and ends early; the same command with `--resume` goes on as if nothing had happened.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from safetensors.torch import save_file
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, normalize
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

if not __package__:
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from training import checkpoint
from training.adjacent import PAD, SPECIAL, Neighbours, read_held_out, read_neighbours
from training.evaluate import pick_device
from training.optimise import Average, optimiser, scale
from training.train import Counters, Log, mixed

ENCODER = "recurrent-lstm"


@dataclass(frozen=True)
class Recipe:
    """One run."""

    steps: int = 4000
    rows: int = 512  # pairs a step
    pieces: int = 24_000  # in the vocabulary, at most
    longest: int = 64  # pieces of a sentence, in training
    width: int = 256  # of a piece's vector
    hidden: int = 512  # of either direction
    temperature: float = 0.05
    dropout: float = 0.1  # of pieces' vectors and of what the LSTM says of each
    learning_rate: float = 2e-3
    warmup: float = 0.05
    schedule: str = "cosine"
    final: float = 0.0
    betas: tuple[float, float] = (0.9, 0.98)
    weight_decay: float = 0.01
    clip: float = 1.0
    average: float = 0.998
    seed: int = 1
    log_every: int = 100
    evaluate_every: int = 1000

    def as_json(self) -> str:
        return json.dumps(asdict(self), sort_keys=True)


class Recurrent(nn.Module):
    """Rows of pieces -> vectors of length 1, twice `hidden` wide."""

    def __init__(self, vocabulary: int, recipe: Recipe) -> None:
        super().__init__()
        self.emb_layer = nn.Embedding(vocabulary, recipe.width, padding_idx=PAD)
        self.encoder = nn.LSTM(recipe.width, recipe.hidden, bidirectional=True, batch_first=True)
        self.dropout = nn.Dropout(recipe.dropout)
        nn.init.normal_(self.emb_layer.weight, std=0.1)
        with torch.no_grad():
            self.emb_layer.weight[PAD] = 0

    def forward(self, rows: Tensor, lengths: Tensor) -> Tensor:
        """lengths: on the CPU, where the packing wants them."""
        packed = pack_padded_sequence(
            self.dropout(self.emb_layer(rows)), lengths, batch_first=True, enforce_sorted=False
        )
        states, _ = pad_packed_sequence(self.encoder(packed)[0], batch_first=True)
        beyond = torch.arange(states.shape[1], device=rows.device) >= lengths.to(rows.device)[:, None]
        return normalize(self.dropout(states).masked_fill(beyond[..., None], -1e9).amax(dim=1))


def out_of_order(rows: Tensor, words: Tensor, lengths: Tensor, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Copies whose words have moved, few or many places, and which of the copies differ from their originals.

    Pieces of one word stay together; the marks at both ends stay where they are.
    """
    count, longest = rows.shape
    reach = 1.5 + 6 * torch.rand((count, 1), generator=generator)
    noise = reach * torch.rand((count, longest), generator=generator)
    key = words + noise.to(rows.device).gather(1, words.long())
    place = torch.arange(longest, device=rows.device)
    fixed = (place == 0) | (place >= lengths.to(rows.device)[:, None] - 1)
    key = torch.where(fixed, torch.where(place == 0, -1.0, 1e6), key)
    moved = rows.gather(1, key.sort(dim=1, stable=True).indices)
    return moved, (moved != rows).any(dim=1)


class Batch(NamedTuple):
    first: Tensor
    first_lengths: Tensor
    second: Tensor
    second_lengths: Tensor
    moved: Tensor
    """`second` out of order."""
    differs: Tensor


class Batches:
    """Batch number s: the same for the same seed, wherever a run was resumed and on whatever device."""

    def __init__(self, data: Neighbours, rows: int, seed: int, device: torch.device) -> None:
        self._data, self._seed, self._device = data, seed, device
        self._rows = torch.from_numpy(data.pieces.rows).to(device)
        self._words = torch.from_numpy(data.pieces.words).to(device)
        self._lengths = torch.from_numpy(data.pieces.lengths)
        self._count = min(rows, len(data.pairs))
        self._epoch, self._order = -1, np.empty(0, np.int64)
        self.per_epoch = len(data.pairs) // self._count

    def __getitem__(self, step: int) -> Batch:
        epoch, place = divmod(step, self.per_epoch)
        if epoch != self._epoch:
            self._epoch = epoch
            self._order = np.random.default_rng([self._seed, epoch]).permutation(len(self._data.pairs))
        pairs = self._data.pairs[self._order[place * self._count : (place + 1) * self._count]]
        return self.of(pairs, mixed(self._seed, 3, step))

    def of(self, pairs: np.ndarray, seed: int) -> Batch:
        at = torch.from_numpy(pairs)
        there = at.to(self._device)
        first, second = self._rows[there[:, 0]], self._rows[there[:, 1]]
        lengths = self._lengths[at[:, 1]]
        generator = torch.Generator().manual_seed(seed)
        moved, differs = out_of_order(second, self._words[there[:, 1]], lengths, generator)
        return Batch(first, self._lengths[at[:, 0]], second, lengths, moved, differs)


class Scores(NamedTuple):
    """Cosines of every first sentence with every second one, and with every second one out of order."""

    whole: Tensor
    moved: Tensor


def scores_of(model: Recurrent, batch: Batch) -> Scores:
    first = model(batch.first, batch.first_lengths)
    both = model(torch.cat([batch.second, batch.moved]), torch.cat([batch.second_lengths] * 2))
    whole, moved = both.chunk(2)
    return Scores(first @ whole.T, first @ moved.T)


def loss_of(model: Recurrent, batch: Batch, temperature: float) -> Tensor:
    """Cross-entropy of finding the neighbour, mean of both directions; copies out of order mislead in one of them."""
    scores = scores_of(model, batch)
    target = torch.arange(len(scores.whole), device=scores.whole.device)
    # A copy that is like its original is no wrong answer.
    moved = scores.moved.masked_fill(~batch.differs[None, :], -torch.inf)
    forwards = cross_entropy(torch.cat([scores.whole, moved], dim=1) / temperature, target)
    return (forwards + cross_entropy(scores.whole.T / temperature, target)) / 2


@torch.no_grad()
def held_out(model: Recurrent, batches: Batches, data: Neighbours, most: int = 1000) -> dict[str, float]:
    """Of the first pairs: how often the neighbour is the nearest, alone and before its copy out of order."""
    training = model.training
    model.eval()
    batch = batches.of(data.pairs[:most], 0)
    scores = scores_of(model, batch)
    model.train(training)
    own, copies = scores.whole.diagonal(), scores.moved.diagonal()
    nearest = scores.whole.argmax(dim=1) == torch.arange(len(own), device=own.device)
    differs = batch.differs
    ahead = (own > copies)[differs].float().mean().item() if differs.any() else float("nan")
    return {"pairs": len(own), "nearest": nearest.float().mean().item(), "before_copy": ahead}


def write_encoder(folder: Path, model: Recurrent, tokenizer: Any, recipe: Recipe) -> None:
    """A sentence-transformers folder: piece vectors, LSTM, maximum, length 1; weights in float16."""
    names = ["WordEmbeddings", "LSTM", "Pooling", "Normalize"]
    parts = [folder / f"{place}_{name}" for place, name in enumerate(names)]
    for part in parts:
        part.mkdir(parents=True, exist_ok=True)
    weights = {name: tensor.detach().half().cpu().contiguous() for name, tensor in model.state_dict().items()}
    for part, begin in zip(parts, ("emb_layer.", "encoder."), strict=False):
        own = {name: tensor for name, tensor in weights.items() if name.startswith(begin)}
        save_file(own, part / "model.safetensors", {"format": "pt"})
    tokenizer.save(str(parts[0] / "tokenizer.json"))
    library = "sentence_transformers.models"
    wrapper = "sentence_transformers.sentence_transformer.modules.tokenizer.word.TransformersTokenizerWrapper"
    pad, unknown, begin, end = SPECIAL
    settings = {
        folder / "modules.json": [
            {"idx": place, "name": str(place), "path": part.name, "type": f"{library}.{name}"}
            for place, (part, name) in enumerate(zip(parts, names, strict=True))
        ],
        parts[0] / "wordembedding_config.json": {
            "tokenizer_class": wrapper, "update_embeddings": False, "max_seq_length": 1_000_000,
        },
        parts[0] / "tokenizer_config.json": {
            "tokenizer_class": "PreTrainedTokenizerFast",
            "pad_token": pad, "unk_token": unknown, "cls_token": begin, "sep_token": end,
        },
        parts[1] / "lstm_config.json": {
            "word_embedding_dimension": recipe.width, "hidden_dim": recipe.hidden, "num_layers": 1, "dropout": 0,
            "bidirectional": True,
        },
        parts[2] / "config.json": {
            "word_embedding_dimension": 2 * recipe.hidden, "pooling_mode_cls_token": False,
            "pooling_mode_mean_tokens": False, "pooling_mode_max_tokens": True,
            "pooling_mode_mean_sqrt_len_tokens": False,
        },
    }  # fmt: skip
    for file, content in settings.items():
        file.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
    (folder / "README.md").write_text("---\nlanguage: en\n---\n\n" + __doc__.split("\n")[0] + "\n", encoding="utf-8")


def train(
    recipe: Recipe,
    corpus: Path,
    heldout: Path | None,
    output: Path,
    device: torch.device,
    stop_after: float | None = None,
    resume: bool = False,
) -> bool:
    """Run to the end (True: the encoder lies in `output`) or until `stop_after` (False)."""
    begun = time.monotonic()
    output.mkdir(parents=True, exist_ok=True)
    log = Log(output, resume)
    data, tokenizer, digest = read_neighbours(corpus, recipe.pieces, recipe.longest)
    asked = read_held_out(heldout, tokenizer, recipe.longest) if heldout else None
    torch.manual_seed(recipe.seed)
    vocabulary = tokenizer.get_vocab_size()
    model = Recurrent(vocabulary, recipe).to(device).train()
    batches = Batches(data, recipe.rows, recipe.seed, device)
    questions = Batches(asked, recipe.rows, recipe.seed, device) if asked else None
    adam = optimiser(model, recipe, fused=device.type == "cuda")
    average = Average(model, recipe.average)
    identity = {"settings": recipe.as_json(), "corpus": digest}
    counters = Counters(**checkpoint.load(output, average, adam, identity)) if resume else Counters()
    weights = sum(weight.numel() for weight in average.trained)
    log(event="start", sentences=len(data.pieces.rows), pairs=len(data.pairs), pieces=vocabulary, weights=weights,
        steps_per_epoch=batches.per_epoch, device=str(device), step=counters.step,
        set_up=time.monotonic() - begun)  # fmt: skip

    def look() -> None:
        if asked and questions:
            with average.in_place():
                log(event="held-out", step=counters.step, **held_out(model, questions, asked))

    loop_begun, before = time.monotonic(), counters.seconds
    total, since = torch.zeros((), device=device), counters.step
    while counters.step < recipe.steps:
        rate = recipe.learning_rate * scale(counters.step / recipe.steps, recipe)
        for group in adam.param_groups:
            group["lr"] = rate
        batch = batches[counters.step]
        torch.manual_seed(mixed(recipe.seed, 2, counters.step))
        loss = loss_of(model, batch, recipe.temperature)
        loss.backward()
        nn.utils.clip_grad_norm_(average.trained, recipe.clip)
        adam.step()
        adam.zero_grad(set_to_none=True)
        average.update(counters.step)
        total += loss.detach()
        counters.step += 1
        counters.tokens += int(batch.first_lengths.sum() + batch.second_lengths.sum())
        counters.seconds = before + time.monotonic() - loop_begun
        if counters.step % recipe.log_every == 0:
            log(step=counters.step, loss=total.item() / (counters.step - since), lr=rate, seconds=counters.seconds)
            total.zero_()
            since = counters.step
        if recipe.evaluate_every and counters.step % recipe.evaluate_every == 0:
            look()
            checkpoint.save(output, average, adam, vars(counters), identity)
        if stop_after is not None and time.monotonic() - begun >= stop_after and counters.step < recipe.steps:
            checkpoint.save(output, average, adam, vars(counters), identity)
            log(event="stopped", step=counters.step, seconds=counters.seconds)
            return False
    with average.in_place():
        write_encoder(output / ENCODER, model, tokenizer, recipe)
        figures = held_out(model, questions, asked) if asked and questions else {}
    log(event="final", step=counters.step, seconds=counters.seconds, tokens=counters.tokens, **figures)
    return True


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Train a recurrent sentence encoder.")
    parser.add_argument("--corpus", type=Path, default=Path("train.txt.xz"))
    parser.add_argument("--heldout", type=Path)
    parser.add_argument("--output", type=Path, default=Path("training-output/recurrent"))
    parser.add_argument("--device")
    parser.add_argument("--stop-after", type=float, help="save and end when the program has run this many seconds")
    parser.add_argument("--resume", action="store_true")
    numbers = [each for each in fields(Recipe) if isinstance(each.default, (int, float))]
    for each in numbers:
        parser.add_argument(f"--{each.name.replace('_', '-')}", type=type(each.default), default=each.default)
    given = vars(parser.parse_args(arguments))
    recipe = Recipe(**{each.name: given[each.name] for each in numbers})
    device = pick_device(given["device"])
    train(recipe, given["corpus"], given["heldout"], given["output"], device, given["stop_after"], given["resume"])


if __name__ == "__main__":
    main()
