"""Held-out perplexity and top-1 share of a shipped file: one token hidden at a time.

    python -m training.evaluate WEIGHTS --heldout heldout.tsv [--base DIR] [--device cpu]

Each line is "source<TAB>text". A text is cut to its first 126 pieces, 128 with [CLS] and [SEP]; 8 of its tokens (all
where there are fewer; [UNK] is never asked for) are hidden, each alone in a row of its own. Which ones depends on the
seed and the text alone, not on the order of the lines. Perplexity is exp of the mean negative log-likelihood over all
rows.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

if not __package__:
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from training.base import WORDS, base_config, base_folder, base_hash, base_weights
from training.data import CLS, MASK, PAD, SEP, SPECIAL, Tokeniser
from training.model import MaskedModel, layout

LENGTH, PER_LINE, SEED = 128, 8, 0
HEAD_ONLY = "head_only."
"""Weights so named belong to the second model of a file: this head on the base model's own body."""


@dataclass(frozen=True)
class Question:
    source: str
    ids: np.ndarray  # with [CLS] and [SEP], nothing hidden
    place: int

    @property
    def answer(self) -> int:
        return int(self.ids[self.place])


@dataclass(frozen=True)
class Figures:
    count: int
    perplexity: float
    top1: float


def places_asked(text: str, ids: np.ndarray, count: int = PER_LINE, seed: int = SEED) -> list[int]:
    """The places hidden in one line, in order."""
    real = np.flatnonzero(~np.isin(ids, SPECIAL))
    if len(real) <= count:
        return real.tolist()
    digest = hashlib.blake2b(text.encode("utf-8"), digest_size=8).digest()
    rng = np.random.default_rng([seed, int.from_bytes(digest, "little")])
    return sorted(rng.choice(real, size=count, replace=False).tolist())


def read_questions(path: Path, base: Path, length: int = LENGTH) -> list[Question]:
    lines = [line.split("\t", 1) for line in path.read_text(encoding="utf-8").split("\n") if line.strip()]
    bad = next((number for number, line in enumerate(lines, 1) if len(line) != 2), None)
    if bad is not None:
        raise SystemExit(f"{path}: line {bad} (blank ones not counted) has no tab")
    encoded = Tokeniser(base).encode([text for _, text in lines])
    questions = []
    for (source, text), pieces in zip(lines, encoded, strict=True):
        ids = np.concatenate([[CLS], pieces[: length - 2], [SEP]])
        questions += [Question(source, ids, place) for place in places_asked(text, ids)]
    return questions


@torch.no_grad()
def ask(model: MaskedModel, questions: list[Question], device: torch.device) -> tuple[np.ndarray, np.ndarray]:
    """Per question the log-probability (natural) of the answer, and whether it came first; float32 throughout."""
    training = model.training
    model.eval()
    budget = 1 << (18 if device.type == "cuda" else 13)
    order = sorted(range(len(questions)), key=lambda index: len(questions[index].ids))
    scores, hits = np.empty(len(questions)), np.empty(len(questions), bool)
    while order:
        longest = len(questions[order[-1]].ids)
        taken = order[-max(1, budget // longest) :]
        del order[-len(taken) :]
        rows = np.full((len(taken), longest), PAD, np.int64)
        for row, index in enumerate(taken):
            question = questions[index]
            rows[row, : len(question.ids)] = question.ids
            rows[row, question.place] = MASK
        ids = torch.from_numpy(rows).to(device)
        chosen = torch.tensor([row * longest + questions[index].place for row, index in enumerate(taken)])
        answers = torch.tensor([questions[index].answer for index in taken], device=device)
        logits = model(ids, *layout(ids), chosen.to(device))
        likely = logits.log_softmax(1).gather(1, answers[:, None])[:, 0]
        scores[taken] = likely.double().cpu().numpy()
        hits[taken] = (logits.argmax(1) == answers).cpu().numpy()
    model.train(training)
    return scores, hits


def held_out(model: MaskedModel, questions: list[Question], device: torch.device) -> dict[str, Figures]:
    """Figures per source, in alphabetical order, and "total" at the end."""
    scores, hits = ask(model, questions, device)
    sources = np.array([question.source for question in questions])
    result = {}
    for name in [*sorted(set(sources.tolist())), "total"]:
        which = np.ones(len(sources), bool) if name == "total" else sources == name
        result[name] = Figures(int(which.sum()), float(np.exp(-scores[which].mean())), float(hits[which].mean()))
    return result


def table(figures: dict[str, Figures]) -> str:
    lines = [f"{'source':20} {'rows':>7} {'perplexity':>11} {'top-1 %':>8}"]
    for name, each in figures.items():
        lines.append(f"{name:20} {each.count:>7,} {each.perplexity:>11.3f} {100 * each.top1:>8.2f}")
    return "\n".join(lines)


def load_shipped(path: Path, base: Path, device: torch.device, head_only: bool = False) -> MaskedModel:
    """A model of a shipped file; word embeddings come from the base model, whose hash must be the one noted.

    head_only: the head that was trained on the base model's own body, where the file has it.
    """
    from safetensors import safe_open
    from safetensors.torch import load_file

    with safe_open(path, "pt") as file:
        noted = (file.metadata() or {}).get("base_blake2b")
    if noted != base_hash(base):
        raise SystemExit(f"{path} belongs to another base model than {base}")
    model = MaskedModel(base_config(base))
    weights = load_file(path)
    start = HEAD_ONLY if head_only else ""
    own = {name[len(start) :]: tensor for name, tensor in weights.items() if name.startswith(HEAD_ONLY) == head_only}
    model.load_named({**base_weights(base), **own} if head_only else {**own, WORDS: base_weights(base)[WORDS]})
    return model.to(device).eval()


def has_head_only(path: Path) -> bool:
    from safetensors import safe_open

    with safe_open(path, "pt") as file:
        return any(name.startswith(HEAD_ONLY) for name in file.keys())  # noqa: SIM118 - not a dict


def pick_device(given: str | None) -> torch.device:
    return torch.device(given or ("cuda" if torch.cuda.is_available() else "cpu"))


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Held-out single-mask perplexity and top-1 of a shipped file.")
    parser.add_argument("weights", type=Path)
    parser.add_argument("--heldout", type=Path, default=Path("heldout.tsv"))
    parser.add_argument("--base")
    parser.add_argument("--device")
    given = parser.parse_args(arguments)
    base, device = base_folder(given.base), pick_device(given.device)
    questions = read_questions(given.heldout, base)
    for head_only in (False, True) if has_head_only(given.weights) else (False,):
        model = load_shipped(given.weights, base, device, head_only)
        print("head alone trained" if head_only else "body and head trained")
        print(table(held_out(model, questions, device)), flush=True)


if __name__ == "__main__":
    main()
