"""Train the masked language model that ships.

    python -m training.train training/configs/ship.json --corpus train.txt.xz --heldout heldout.tsv --output DIR

`--stop-after SECONDS` saves and ends early; the same command with `--resume` goes on as if nothing had happened.
`--seconds N` (for exploring) takes the learning-rate schedule from the time spent instead of the steps.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

if not __package__:
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from training import checkpoint, export
from training.base import base_config, base_folder, base_hash, base_weights
from training.data import Corpus, read_corpus
from training.evaluate import Question, held_out, pick_device, read_questions, table
from training.masking import Batch, draw, hidable, masks_per_batch
from training.model import MaskedModel
from training.optimise import Average, optimiser, scale
from training.settings import Settings, read_settings


@dataclass
class Counters:
    step: int = 0
    seconds: float = 0.0  # spent training, set-up not counted
    tokens: int = 0  # seen, padding not counted


class Log:
    """JSON lines in DIR/log.jsonl, and the same on the terminal."""

    def __init__(self, folder: Path, go_on: bool) -> None:
        self._path = folder / "log.jsonl"
        if not go_on:
            self._path.write_text("", encoding="utf-8")

    def __call__(self, **entry: object) -> None:
        line = json.dumps({key: round(value, 6) if isinstance(value, float) else value for key, value in entry.items()})
        print(line, flush=True)
        with self._path.open("a", encoding="utf-8") as file:
            file.write(line + "\n")


class Batches:
    """Batch number s of a corpus that lies on the device: the same for the same seed, wherever a run was resumed."""

    def __init__(self, corpus: Corpus, settings: Settings, device: torch.device, vocabulary: int) -> None:
        self._rows = [torch.from_numpy(packing).to(device) for packing in corpus.packings]
        self._settings, self._device = settings, device
        self._count = masks_per_batch(corpus.packings[0], settings)
        self._allowed = hidable(vocabulary, device)
        self._epoch, self._order = -1, torch.empty(0)
        self.per_epoch = max(1, min(map(len, self._rows)) // settings.rows)

    def __getitem__(self, step: int) -> Batch:
        epoch, place = divmod(step, self.per_epoch)
        rows = self._rows[epoch % len(self._rows)]
        if epoch != self._epoch:
            torch.manual_seed(mixed(self._settings.seed, 1, epoch))
            self._epoch, self._order = epoch, torch.randperm(len(rows), device=self._device)
        wanted = torch.arange(self._settings.rows, device=self._device) + place * self._settings.rows
        torch.manual_seed(mixed(self._settings.seed, 2, step))
        return draw(rows[self._order[wanted % len(rows)]], self._count, self._allowed, self._settings)


def mixed(seed: int, purpose: int, number: int) -> int:
    """A seed of its own for each purpose and number."""
    return (seed * 4 + purpose) * 2**40 + number


def loss_of(model: MaskedModel, bfloat16: bool, batch: Batch) -> Tensor:
    """Mean cross-entropy at the hidden tokens, in float32."""
    with torch.autocast(batch.inputs.device.type, torch.bfloat16, enabled=bfloat16):
        logits = model(batch.inputs, batch.segments, batch.positions, batch.chosen)
    each = cross_entropy(logits.float(), batch.targets, reduction="none")
    return (each * batch.weights).sum() / batch.weights.sum().clamp(min=1)


def loss_function(model: MaskedModel, settings: Settings, batch: Batch, log: Log) -> Callable[[Batch], Tensor]:
    """`loss_of`, compiled where that works on this machine; one step is tried, its gradients are thrown away."""

    def plain(*tensors: Tensor) -> Tensor:
        return loss_of(model, settings.bfloat16, Batch(*tensors))

    function = plain
    if settings.compile:
        started = time.monotonic()
        try:
            function = torch.compile(plain, dynamic=False)
            function(*batch).backward()
        except Exception as error:  # whatever is missing on this machine, the run goes on
            torch._dynamo.reset()
            log(event="not compiled", reason=f"{type(error).__name__}: {str(error)[:300]}")
            function = plain
        else:
            log(event="compiled", seconds=time.monotonic() - started)
        model.zero_grad(set_to_none=True)
    return lambda batch: function(*batch)


def new_model(base: Path, corpus: Corpus, settings: Settings) -> MaskedModel:
    """The base encoder with a head that starts as the identity."""
    model = MaskedModel(
        base_config(base), settings.dropout, settings.attention_dropout, settings.attention == "efficient"
    )
    model.load_named(base_weights(base), strict=False)
    if settings.bias == "unigram":
        counts = torch.from_numpy(corpus.counts).double() + 1
        with torch.no_grad():
            model.bias.copy_((counts / counts.sum()).log())
    model.choose_trained(settings.train_layers)
    return model


def train(
    settings: Settings,
    corpus_path: Path,
    heldout: Path | None,
    output: Path,
    base: Path,
    device: torch.device,
    seconds: float | None = None,
    stop_after: float | None = None,
    resume: bool = False,
) -> bool:
    """Run to the end (True: the file that ships lies in `output`) or until `stop_after` (False)."""
    begun = time.monotonic()
    output.mkdir(parents=True, exist_ok=True)
    log = Log(output, resume)
    config = base_config(base)
    corpus = read_corpus(corpus_path, base, settings.length, settings.packings, config["vocab_size"], settings.seed)
    questions = read_questions(heldout, base) if heldout else []
    model = new_model(base, corpus, settings).to(device).train()
    batches = Batches(corpus, settings, device, config["vocab_size"])
    adam = optimiser(model, settings, fused=device.type == "cuda")
    average = Average(model, settings.average)
    identity = {"settings": settings.as_json(), "corpus": corpus.digest, "base": base_hash(base), "seconds": seconds}
    counters = Counters(**checkpoint.load(output, average, adam, identity)) if resume else Counters()
    trained = sum(weight.numel() for weight in average.trained)
    log(event="start", rows=len(corpus.packings[0]), fill=corpus.fill, steps_per_epoch=batches.per_epoch,
        trained=trained, device=str(device), step=counters.step, set_up=time.monotonic() - begun)  # fmt: skip
    find_loss = loss_function(model, settings, batches[counters.step], log)
    tokens_per_step = round(settings.rows * settings.length * corpus.fill)

    loop_begun, seconds_before = time.monotonic(), counters.seconds
    total, since = torch.zeros((), device=device), (counters.step, loop_begun)
    stopped = False
    while True:
        counters.seconds = seconds_before + time.monotonic() - loop_begun
        done = counters.seconds / seconds if seconds else counters.step / settings.steps
        if done >= 1 or stopped:
            break
        rate = settings.learning_rate * scale(done, settings)
        for group in adam.param_groups:
            group["lr"] = rate
        loss = find_loss(batches[counters.step])
        loss.backward()
        torch.nn.utils.clip_grad_norm_(average.trained, settings.clip)
        adam.step()
        adam.zero_grad(set_to_none=True)
        average.update(counters.step)
        total += loss.detach()
        counters.step += 1
        counters.tokens += tokens_per_step
        if counters.step % settings.log_every == 0:
            steps, mean = counters.step - since[0], total.item() / (counters.step - since[0])
            now = time.monotonic()
            speed = round(steps * tokens_per_step / (now - since[1]))
            log(step=counters.step, tokens=counters.tokens, loss=mean, lr=rate,
                seconds=seconds_before + now - loop_begun, tokens_per_s=speed)  # fmt: skip
            total.zero_()
            since = (counters.step, now)
        if settings.evaluate_every and counters.step % settings.evaluate_every == 0:
            _look(model, average, questions, device, counters, log)
            counters.seconds = seconds_before + time.monotonic() - loop_begun
            checkpoint.save(output, average, adam, vars(counters), identity)
        stopped = stop_after is not None and time.monotonic() - begun >= stop_after
    checkpoint.save(output, average, adam, vars(counters), identity)
    if done < 1:
        log(event="stopped", step=counters.step, seconds=counters.seconds)
        return False
    _finish(model, average, questions, device, counters, output, base, corpus, log)
    return True


def _look(
    model: MaskedModel, average: Average, questions: list[Question], device: torch.device, counters: Counters, log: Log
) -> None:
    """Held-out figures on the way; nothing is chosen by them."""
    if questions:
        with average.in_place():
            figures = held_out(model, questions, device)["total"]
        log(event="held-out", step=counters.step, perplexity=figures.perplexity, top1=figures.top1)


def _finish(
    model: MaskedModel, average: Average, questions: list[Question], device: torch.device, counters: Counters,
    output: Path, base: Path, corpus: Corpus, log: Log,
) -> None:  # fmt: skip
    path = output / export.FILE
    with average.in_place():
        export.write(path, model, base, counters.step, corpus.digest)
    if questions:
        figures = export.measure(path, base, questions, device)
        print(table(figures), flush=True)
        total = figures["total"]
        log(event="final", step=counters.step, seconds=counters.seconds, perplexity=total.perplexity,
            top1=total.top1, bytes=path.stat().st_size)  # fmt: skip
    else:
        log(event="final", step=counters.step, seconds=counters.seconds, bytes=path.stat().st_size)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Train the masked language model that ships.")
    parser.add_argument("config", type=Path)
    parser.add_argument("--corpus", type=Path, default=Path("train.txt.xz"))
    parser.add_argument("--heldout", type=Path)
    parser.add_argument("--output", type=Path, default=Path("training-output"))
    parser.add_argument("--base", help="folder of the base encoder; the installed package's unless given")
    parser.add_argument("--device")
    parser.add_argument("--seconds", type=float, help="a budget of training time instead of the config's steps")
    parser.add_argument("--stop-after", type=float, help="save and end when the program has run this many seconds")
    parser.add_argument("--resume", action="store_true")
    parser.add_argument("--parts", action="store_true", help="split the result into parts under 16 MiB")
    given = parser.parse_args(arguments)
    finished = train(
        read_settings(given.config), given.corpus, given.heldout, given.output, base_folder(given.base),
        pick_device(given.device), given.seconds, given.stop_after, given.resume,
    )  # fmt: skip
    if finished and given.parts:
        print(*export.split(given.output / export.FILE), sep="\n")


if __name__ == "__main__":
    main()
