"""Write the file that ships: float16, every weight but the word embeddings, the held-out figures of that very file.

    python -m training.export WEIGHTS --heldout heldout.tsv [--base DIR] [--device cpu] [--parts]

measures an exported file again (after a run with a float16 copy of the base model, say) and notes the figures in it.
Parts are joined again with `cat WEIGHTS.part* > WEIGHTS`.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file

if not __package__:
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from training.base import NAME, WORDS, base_folder, base_hash
from training.evaluate import Figures, Question, held_out, load_shipped, pick_device, read_questions, table
from training.model import MaskedModel

FILE = "masked-lm.safetensors"
FORMAT = "1"
LICENCE = "CC BY-SA 4.0"
LARGEST = 24_000_000
PART = 15 * 2**20


def write(path: Path, model: MaskedModel, base: Path, steps: int, corpus_hash: str) -> None:
    """The file without figures; more than LARGEST bytes are an error."""
    weights = {name: tensor.half().cpu().contiguous() for name, tensor in model.named().items() if name != WORDS}
    notes = {
        "format_version": FORMAT,
        "base_model": NAME,
        "base_blake2b": base_hash(base),
        "steps": str(steps),
        "corpus_blake2b": corpus_hash,
        "licence": LICENCE,
    }
    save(path, weights, notes)


def measure(path: Path, base: Path, questions: list[Question], device: torch.device) -> dict[str, Figures]:
    """Load the file back, measure it, note perplexity and top-1 in it."""
    figures = held_out(load_shipped(path, base, device), questions, device)
    with safe_open(path, "pt") as file:
        notes = dict(file.metadata())
    total = figures["total"]
    notes |= {"perplexity": f"{total.perplexity:.4f}", "top1": f"{total.top1:.5f}"}
    save(path, load_file(path), notes)
    return figures


def split(path: Path, size: int = PART) -> list[Path]:
    """Parts of at most `size` bytes beside the file, NAME.part0, NAME.part1 ..."""
    data = path.read_bytes()
    parts = []
    for number, start in enumerate(range(0, len(data), size)):
        part = path.with_name(f"{path.name}.part{number}")
        part.write_bytes(data[start : start + size])
        parts.append(part)
    return parts


def save(path: Path, weights: dict[str, torch.Tensor], notes: dict[str, str]) -> None:
    if not all(tensor.isfinite().all() for tensor in weights.values()):
        raise SystemExit(f"{path}: a weight is not finite in float16")
    beside = path.with_name(path.name + ".new")
    save_file(weights, beside, {"format": "pt", **notes})
    if beside.stat().st_size > LARGEST:
        raise SystemExit(f"{beside} has {beside.stat().st_size:,} bytes; at most {LARGEST:,} may ship")
    beside.chmod(0o644)
    beside.replace(path)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Measure a shipped file and note the figures in it.")
    parser.add_argument("weights", type=Path)
    parser.add_argument("--heldout", type=Path, default=Path("heldout.tsv"))
    parser.add_argument("--base")
    parser.add_argument("--device")
    parser.add_argument("--parts", action="store_true", help="also split the file into parts under 16 MiB")
    given = parser.parse_args(arguments)
    base = base_folder(given.base)
    print(table(measure(given.weights, base, read_questions(given.heldout, base), pick_device(given.device))))
    if given.parts:
        print(*split(given.weights), sep="\n")


if __name__ == "__main__":
    main()
