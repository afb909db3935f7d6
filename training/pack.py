"""Put the two models that ship into one file: body and head trained, and a head on the base model's own body.

    python -m training.pack FULL HEAD OUTPUT --heldout heldout.tsv [--base DIR] [--device cpu]

Of the second only the head is kept: its body is the base model's. The held-out figures of both are measured from the
new file and noted in it.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from safetensors import safe_open
from safetensors.torch import load_file

if not __package__:
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from training.base import base_folder
from training.evaluate import HEAD_ONLY, held_out, load_shipped, pick_device, read_questions, table
from training.export import save

HEAD = "cls."


def notes_of(path: Path) -> dict[str, str]:
    with safe_open(path, "pt") as file:
        return dict(file.metadata() or {})


def pack(full: Path, head: Path, output: Path, base: Path) -> None:
    """The two in one file; they must have started from one base model and one corpus."""
    from recapture.representations.shipped import tensors_digest

    notes, other = notes_of(full), notes_of(head)
    for name in ("base_blake2b", "corpus_blake2b"):
        if notes.get(name) != other.get(name):
            raise SystemExit(f"{full} and {head} differ in {name}")
    weights = load_file(full)
    weights |= {HEAD_ONLY + name: tensor for name, tensor in load_file(head).items() if name.startswith(HEAD)}
    kept = {name: value for name, value in notes.items() if name not in ("perplexity", "top1")}
    tensors = tensors_digest(load_file(base / "model.safetensors"))
    save(output, weights, {**kept, "head_only_steps": other.get("steps", ""), "base_tensors": tensors})


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Put two trained models into the file that ships.")
    parser.add_argument("full", type=Path)
    parser.add_argument("head", type=Path)
    parser.add_argument("output", type=Path)
    parser.add_argument("--heldout", type=Path, required=True)
    parser.add_argument("--base")
    parser.add_argument("--device")
    given = parser.parse_args(arguments)
    base, device = base_folder(given.base), pick_device(given.device)
    pack(given.full, given.head, given.output, base)
    questions = read_questions(given.heldout, base)
    notes = notes_of(given.output)
    for head_only, start in ((False, ""), (True, "head_only_")):
        figures = held_out(load_shipped(given.output, base, device, head_only), questions, device)
        print(table(figures), flush=True)
        notes[f"{start}held_out"] = json.dumps(
            {name: [each.count, round(each.perplexity, 3), round(each.top1, 5)] for name, each in figures.items()}
        )
    save(given.output, load_file(given.output), notes)


if __name__ == "__main__":
    main()
