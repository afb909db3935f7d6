"""Train a small causal language model, then let it write: samples by temperature and by top-p beside people's texts.

    python -m training.causal --corpus FOLDER --scenes contexts.jsonl.gz --output lm_samples --weights OUT

See README.md here for the recipe and the files it writes.
"""

from __future__ import annotations

import argparse
import contextlib
import copy
import gzip
import hashlib
import json
import math
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file

from training.causal_data import (
    AND,
    END,
    PAD,
    Pieces,
    Prompt,
    Scene,
    SceneRows,
    Stream,
    prose_prompts,
    read_heldout,
    read_scenes,
    scene_prompts,
    split_scenes,
)
from training.causal_model import CausalModel
from training.causal_sampling import Ending, Setting, draw
from training.data import read_paragraphs

TEMPERATURES = (0.1, 0.3, 0.5, 0.7, 0.9, 1.0, 1.2, 1.5)
TOP_P = (0.1, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95)
PAPER_TOP_P, PAPER_TOP_K = 0.9, 20
"""What the paper on distribution-aware metrics freezes for nucleus sampling at all temperatures (its A.8)."""


@dataclass(frozen=True)
class Recipe:
    """All that the samples depend on, but for texts and device."""

    seed: int = 1
    vocabulary: int = 16_384
    layers: int = 8
    width: int = 512
    heads: int = 8
    length: int = 256
    dropout: float = 0.15
    epochs: int = 12
    """Over the corpus; the epoch that foretells paragraphs set apart best is kept."""
    rows: int = 128
    """A step."""
    learning_rate: float = 1e-3
    scene_epochs: int = 30
    scene_rows: int = 64
    scene_rate: float = 3e-4
    """Of the model that has read the corpus; one that has not starts anew, at `learning_rate`."""
    warmup: float = 0.05
    weight_decay: float = 0.1
    clip: float = 1.0
    checked_share: float = 0.01
    """Of the paragraphs, set apart to choose the epoch by."""
    checked_scenes: int = 20
    held_scenes: int = 120
    shown: int = 5
    """Descriptions of a scene that the model reads; the others are the human side."""
    prompt_words: int = 20
    words: int = 30
    """Of a continuation, people's and the model's."""
    prose_tokens: int = 80
    scene_tokens: int = 48
    prose_samples: int = 4
    scene_samples: int = 10
    beams: int = 8
    chunk: int = 2048
    """Texts drawn at once; another number draws other texts."""
    prompts: int = 0
    """Of each task; 0: all."""


def settings_of(recipe: Recipe) -> list[Setting]:
    """Every way texts are drawn: by temperature, by temperature as the paper's nucleus, by top-p, and the likeliest."""
    plain = [Setting(temperature) for temperature in TEMPERATURES]
    nucleus = [Setting(temperature, PAPER_TOP_P, PAPER_TOP_K) for temperature in TEMPERATURES]
    by_share = [Setting(1.0, share) for share in TOP_P]
    likeliest = [Setting(search="greedy"), Setting(search="beam", beams=recipe.beams)]
    return [*plain, *nucleus, *by_share, *likeliest]


def read_recipe(path: Path | None) -> Recipe:
    given = json.loads(path.read_text(encoding="utf-8")) if path else {}
    unknown = set(given) - {field.name for field in fields(Recipe)}
    if unknown:
        raise SystemExit(f"{path}: no setting is called {sorted(unknown)[0]!r}")
    return Recipe(**given)


class Report:
    """What happened: printed as it happens, kept as one file."""

    def __init__(self) -> None:
        self.begun = time.monotonic()
        self.events: list[dict[str, Any]] = []

    def __call__(self, **event: Any) -> None:
        event = {name: round(value, 5) if isinstance(value, float) else value for name, value in event.items()}
        self.events.append(event | {"at": round(time.monotonic() - self.begun, 1)})
        print(json.dumps(self.events[-1]), flush=True)


@contextlib.contextmanager
def _half(device: torch.device) -> Iterator[None]:
    """bfloat16 on a GPU; plain floats elsewhere."""
    with torch.autocast("cuda", torch.bfloat16) if device.type == "cuda" else contextlib.nullcontext():
        yield


def _on(rows: np.ndarray, device: torch.device) -> torch.Tensor:
    return torch.from_numpy(np.ascontiguousarray(rows)).long().to(device)


@torch.no_grad()
def mean_loss(model: CausalModel, rows: np.ndarray, device: torch.device, many: int = 64) -> float:
    model.eval()
    total, count = 0.0, 0
    for start in range(0, len(rows), many):
        ids = _on(rows[start : start + many], device)
        with _half(device):
            loss, tokens = model.loss(ids, ids[:, 1:], PAD)
        total, count = total + loss.item(), count + int(tokens)
    return total / count


def fit(
    model: CausalModel, source: Stream | SceneRows, checked: np.ndarray, epochs: int, rows: int, rate: float,
    recipe: Recipe, device: torch.device, report: Report, name: str,
) -> None:  # fmt: skip
    """AdamW with a warm-up and a cosine; the model ends with the weights of the epoch that does best on `checked`."""
    matrices = [weight for weight in model.parameters() if weight.ndim > 1]
    others = [weight for weight in model.parameters() if weight.ndim < 2]
    groups = [{"params": matrices, "weight_decay": recipe.weight_decay}, {"params": others, "weight_decay": 0.0}]
    adam = torch.optim.AdamW(groups, lr=rate, betas=(0.9, 0.98), fused=device.type == "cuda")
    steps = epochs * math.ceil(len(source.epoch(recipe.seed, 0)) / rows)
    warm = max(1, round(recipe.warmup * steps))
    best, kept, step = math.inf, {}, 0
    for epoch in range(epochs):
        model.train()
        drawn = source.epoch(recipe.seed, epoch)
        summed, counted = torch.zeros((), device=device), torch.zeros((), device=device)
        for start in range(0, len(drawn), rows):
            done = min(1.0, max(0.0, (step - warm) / max(1, steps - warm)))
            for group in adam.param_groups:
                group["lr"] = rate * min((step + 1) / warm, (1 + math.cos(math.pi * done)) / 2)
            ids = _on(drawn[start : start + rows], device)
            with _half(device):
                loss, tokens = model.loss(ids, ids[:, 1:], PAD)
            (loss / tokens).backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), recipe.clip)
            adam.step()
            adam.zero_grad(set_to_none=True)
            summed += loss.detach()
            counted += tokens
            step += 1
        now = mean_loss(model, checked, device)
        report(training=name, epoch=epoch + 1, steps=step, loss=float(summed / counted), checked=now)
        if now < best:
            best, kept = now, {key: value.detach().clone() for key, value in model.state_dict().items()}
    model.load_state_dict(kept)
    model.eval()


def stage(folder: Path, name: str, identity: str, model: CausalModel, train: Callable[[], None]) -> None:
    """Train, or take the weights that the same recipe and texts have made before."""
    path = folder / f"{name}.safetensors"
    if path.is_file():
        with safe_open(path, "pt") as file:
            same = (file.metadata() or {}).get("identity") == identity
        if same:
            model.load_state_dict(load_file(path))
            model.eval()
            return
    train()
    part = path.with_suffix(".part")
    save_file(
        {key: value.cpu().contiguous() for key, value in model.state_dict().items()}, part, {"identity": identity}
    )
    part.replace(path)


@torch.no_grad()
def likelihood(
    model: CausalModel, texts: Sequence[tuple[Sequence[int], Sequence[int]]], device: torch.device, many: int = 32
) -> np.ndarray:
    """Of every (what is read, what is foretold): nats and tokens."""
    made = np.zeros((len(texts), 2))
    order = sorted(range(len(texts)), key=lambda at: len(texts[at][0]) + len(texts[at][1]))
    for start in range(0, len(order), many):
        at = order[start : start + many]
        longest = max(len(texts[n][0]) + len(texts[n][1]) for n in at)
        ids = np.full((len(at), longest), PAD)
        wanted = np.full((len(at), longest - 1), PAD)
        for row, n in enumerate(at):
            before, after = texts[n]
            ids[row, : len(before) + len(after)] = [*before, *after]
            wanted[row, len(before) - 1 : len(before) + len(after) - 1] = after
            made[n, 1] = len(after)
        rows, goal = _on(ids, device), _on(wanted, device)
        with _half(device):
            guessed = model.scores(model(rows[:, :-1]))
        loss = torch.nn.functional.cross_entropy(
            guessed.float().transpose(1, 2), goal, ignore_index=PAD, reduction="none"
        )
        made[at, 0] = loss.sum(1).double().cpu().numpy()
    return made


def perplexities(
    nats: np.ndarray, groups: Sequence[str], words: Sequence[int], sizes: Sequence[int]
) -> dict[str, dict[str, float]]:
    """By group and in all: perplexity of a token and of a word, and bits of a byte."""
    by_group: dict[str, list[int]] = defaultdict(list)
    for at, group in enumerate(groups):
        by_group[group].append(at)
    by_group["all"] = list(range(len(groups)))
    made = {}
    for group, at in by_group.items():
        total, tokens = nats[at].sum(0)
        many_words, many_bytes = (sum(each[n] for n in at) for each in (words, sizes))
        made[group] = {
            "texts": len(at),
            "token": round(math.exp(total / tokens), 3),
            "word": round(math.exp(min(50.0, total / many_words)), 2),
            "bits_a_byte": round(total / many_bytes / math.log(2), 4),
        }
    return made


def write_samples(
    path: Path, name: str, model: CausalModel, prompts: Sequence[Prompt], ending: Ending, samples: int, words: int,
    pieces: Pieces, recipe: Recipe, report: Report, again: bool,
) -> None:  # fmt: skip
    """One line a prompt; texts that one file holds of several models follow each other (`again`)."""
    lines = [
        {"id": each.id, "group": each.group, "model": name, "prompt": each.prompt, "human": each.human, "samples": []}
        for each in prompts
    ]
    device = model.words.weight.device
    for number, setting in enumerate(settings_of(recipe)):
        many = 1 if setting.search != "sampling" else samples
        wanted = [each.ids for each in prompts for _ in range(many)]
        chunk = max(1, recipe.chunk // max(1, setting.beams))
        texts: list[str] = []
        for start in range(0, len(wanted), chunk):
            seed = int(np.random.SeedSequence([recipe.seed, number, start]).generate_state(1)[0])
            with _half(device):
                drawn = draw(model, wanted[start : start + chunk], setting, ending, seed)
            texts += [" ".join(text.split()[:words]) for text in pieces.decode(drawn)]
        for at, line in enumerate(lines):
            line["samples"].append({**setting.record(), "texts": texts[at * many : (at + 1) * many]})
        report(sampled=name, setting=setting.record(), texts=len(texts), example=texts[0][:100])
    content = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    before = gzip.decompress(path.read_bytes()) if again else b""
    path.write_bytes(gzip.compress(before + content.encode(), mtime=0))


def read_texts(corpus: Path, recipe: Recipe) -> tuple[list[str], list[str], str]:
    """Paragraphs to train on, paragraphs to choose the epoch by, and the content hash of all."""
    source = next((corpus / name for name in ("train.txt.xz", "train.txt") if (corpus / name).is_file()), None)
    if source is None or not (corpus / "heldout.tsv").is_file():
        raise SystemExit(f"{corpus} should hold train.txt.xz (a paragraph a line) and heldout.tsv (source, tab, text)")
    paragraphs, digest = read_paragraphs(source)
    order = np.random.default_rng(recipe.seed).permutation(len(paragraphs))
    apart = max(1, round(recipe.checked_share * len(paragraphs)))
    checked, trained = ([paragraphs[at] for at in part] for part in (order[:apart], order[apart:]))
    return trained, checked, digest


class Work:
    """What all steps share."""

    def __init__(self, recipe: Recipe, corpus: Path, output: Path, weights: Path, device: torch.device) -> None:
        self.recipe, self.corpus, self.output, self.weights, self.device = recipe, corpus, output, weights, device
        self.report = Report()
        self.scores: dict[str, Any] = {}
        for folder in (output, weights):
            folder.mkdir(parents=True, exist_ok=True)
        trained, checked, digest = read_texts(corpus, recipe)
        self.identity = json.dumps({"recipe": asdict(recipe), "corpus": digest}, sort_keys=True)
        self.pieces = Pieces(trained, recipe.vocabulary)
        self.pieces.save(weights / "pieces.json")
        self.stream = Stream(self.pieces.encode(trained), recipe.length)
        self.checked = Stream(self.pieces.encode(checked), recipe.length).epoch(recipe.seed, 0)
        self.report(paragraphs=len(trained), tokens=self.stream.tokens, pieces=self.pieces.size, corpus=digest,
                    device=str(device))  # fmt: skip
        self.held = read_heldout(corpus / "heldout.tsv")

    def new_model(self) -> CausalModel:
        recipe = self.recipe
        torch.manual_seed(recipe.seed)
        shape = (recipe.layers, recipe.width, recipe.heads, recipe.length, recipe.dropout)
        return CausalModel(-(-self.pieces.size // 64) * 64, *shape).to(self.device)  # matrix units want multiples of 64

    @property
    def no_pieces(self) -> tuple[int, ...]:
        """Numbers that only fill the vocabulary up."""
        return tuple(range(self.pieces.size, -(-self.pieces.size // 64) * 64))

    def measured(
        self, name: str, model: CausalModel, texts: Sequence[tuple[str, str, Sequence[int], Sequence[int]]]
    ) -> None:
        """texts: group, text, what is read, what is foretold."""
        nats = likelihood(model, [(before, after) for *_, before, after in texts], self.device)
        found = perplexities(
            nats, [group for group, *_ in texts], [len(text.split()) for _, text, *_ in texts],
            [len(text.encode()) for _, text, *_ in texts],
        )  # fmt: skip
        self.scores[name] = found
        self.report(perplexity=name, **found["all"])

    def train_prose(self) -> CausalModel:
        model, recipe = self.new_model(), self.recipe
        self.report(parameters=sum(weight.numel() for weight in model.parameters()))

        def train() -> None:
            fit(model, self.stream, self.checked, recipe.epochs, recipe.rows, recipe.learning_rate, recipe, self.device,
                self.report, "prose")  # fmt: skip

        stage(self.weights, "prose", self.identity, model, train)
        whole = [[*each, END] for each in self.pieces.encode([text for _, text in self.held])]
        ids = [each[: recipe.length - 1] for each in whole]  # of a long paragraph what can be read at once, without end
        cut = self.pieces.decode(ids)
        groups = [group for group, _ in self.held]
        self.measured("prose", model, [(*pair, [END], each) for *pair, each in zip(groups, cut, ids, strict=True)])
        return model

    def write_prose(self, model: CausalModel) -> None:
        recipe = self.recipe
        ending = Ending(recipe.prose_tokens, (), (PAD, END, AND, *self.no_pieces), self.pieces.blank)
        prompts = prose_prompts(self.held, self.pieces, recipe.prompt_words, recipe.words)[: recipe.prompts or None]
        prompts = [each for each in prompts if len(each.ids) + recipe.prose_tokens <= recipe.length]
        write_samples(self.output / "prose.jsonl.gz", "corpus", model, prompts, ending, recipe.prose_samples,
                      recipe.words, self.pieces, recipe, self.report, again=False)  # fmt: skip

    def scenes(self, path: Path, prose: CausalModel) -> None:
        """Two models of scenes: one that has read the corpus before, one that has not."""
        recipe, pieces = self.recipe, self.pieces
        described = read_scenes(path)
        content = hashlib.blake2b(json.dumps(described).encode(), digest_size=16).hexdigest()
        listed = [Scene(name, texts, pieces.encode(texts)) for name, texts in described]
        trained, checked, held = split_scenes(listed, recipe.held_scenes, recipe.checked_scenes, recipe.seed)
        rows = SceneRows(trained, recipe.length)
        check = SceneRows(checked, recipe.length).epoch(recipe.seed, 0)
        asked = scene_prompts(held, recipe.shown, recipe.seed)[: recipe.prompts or None]
        asked = [each for each in asked if len(each.ids) + recipe.scene_tokens <= recipe.length]
        self.report(scenes=len(trained), tokens=rows.tokens, asked=len(asked))
        ending = Ending(recipe.scene_tokens, (AND, END), (PAD, *self.no_pieces), (AND, END, *pieces.blank))
        beside = [
            ("scenes", text, each.ids, [*ids, AND])
            for each in asked
            for text, ids in zip(each.human, pieces.encode(each.human), strict=True)
            if len(each.ids) + len(ids) < recipe.length
        ]
        for number, (name, model, rate) in enumerate((
            ("corpus, then scenes", copy.deepcopy(prose), recipe.scene_rate),
            ("scenes alone", self.new_model(), recipe.learning_rate),
        )):  # fmt: skip

            def train(model: CausalModel = model, rate: float = rate, name: str = name) -> None:
                torch.manual_seed(recipe.seed)
                fit(model, rows, check, recipe.scene_epochs, recipe.scene_rows, rate, recipe, self.device, self.report,
                    name)  # fmt: skip

            stage(self.weights, name.replace(", ", "-").replace(" ", "-"), self.identity + content, model, train)
            self.measured(name, model, beside)
            write_samples(self.output / "scenes.jsonl.gz", name, model, asked, ending, recipe.scene_samples, 10**6,
                          pieces, recipe, self.report, again=number > 0)  # fmt: skip

    def write_report(self) -> None:
        made = {
            "recipe": asdict(self.recipe),
            "device": torch.cuda.get_device_name() if self.device.type == "cuda" else "cpu",
            "torch": torch.__version__,
            "perplexity": self.scores,
            # Texts are never part of what is committed.
            "events": [{key: each for key, each in event.items() if key != "example"} for event in self.report.events],
        }
        (self.output / "report.json").write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")


def run(
    recipe: Recipe, corpus: Path, scenes: Path | None, output: Path, weights: Path, device: torch.device
) -> None:  # fmt: skip
    """All of it: train, measure, write; what takes longest to write comes last."""
    work = Work(recipe, corpus, output, weights, device)
    model = work.train_prose()
    if scenes:
        work.scenes(scenes, model)
        work.write_report()
    work.write_prose(model)
    work.report(done=True)
    work.write_report()


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--config", type=Path, help="JSON with the settings that differ from the recipe")
    parser.add_argument("--corpus", type=Path, required=True, help="folder with train.txt.xz and heldout.tsv")
    parser.add_argument("--scenes", type=Path, help="abstract48s/contexts.jsonl.gz: id, references")
    parser.add_argument("--output", type=Path, default=Path("lm_samples"), help="folder for samples and report")
    parser.add_argument("--weights", type=Path, default=Path("training-output/causal"), help="folder for weights")
    parser.add_argument("--device")
    given = parser.parse_args(arguments)
    device = torch.device(given.device or ("cuda" if torch.cuda.is_available() else "cpu"))
    run(read_recipe(given.config), given.corpus, given.scenes, given.output, given.weights, device)


if __name__ == "__main__":
    main()
