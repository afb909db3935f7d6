"""The default encoder for machines where its package is not installed: its real tokenizer, and weights of its shape.

    python -m benchmarks.made_encoder build/encoder            # where the package is: settings and tokenizer, 0.7 MB
    python -m benchmarks.made_encoder build/encoder float16    # its weights, too, in half the bytes: 46 MB

Where weights are not there, random ones of the same shape are made: they are as fast and say nothing.
"""

from __future__ import annotations

import json
import random
import shutil
import sys
from itertools import islice
from pathlib import Path
from typing import Any

TRAVELS = Path(__file__).parent.parent / "build" / "encoder"
_FILES = ("config.json", "sentence_bert_config.json", "tokenizer.json", "tokenizer_config.json", "vocab.txt")


def folder(temporary: str | Path) -> tuple[str, str]:
    """A sentence-transformers folder of the default encoder, and what its weights are."""
    from recapture.errors import InputError
    from recapture.representations.locate import find_weights

    try:
        return str(find_weights("all-MiniLM-L6-v2", True).folder), "all-MiniLM-L6-v2"
    except InputError:
        if not (TRAVELS / "tokenizer.json").is_file():
            sys.exit(f"neither the default encoder's package nor {TRAVELS} is here ({__doc__})")
    if (TRAVELS / "model.safetensors").is_file():
        return str(TRAVELS), "all-MiniLM-L6-v2, weights in float16 on disk"
    made = Path(temporary) / "encoder"
    if not (made / "model.safetensors").is_file():
        shutil.copytree(TRAVELS, made)
        _random_weights(made)
    return str(made), "all-MiniLM-L6-v2's shape, random weights"


def _random_weights(made: Path) -> None:
    import torch
    from transformers import BertConfig, BertModel

    torch.manual_seed(0)
    BertModel(BertConfig(**json.loads((made / "config.json").read_text("utf-8")))).save_pretrained(made)


def write(target: Path, dtype: str | None) -> None:
    from recapture.representations.locate import find_weights

    source = find_weights("all-MiniLM-L6-v2", True).folder
    (target / "1_Pooling").mkdir(parents=True, exist_ok=True)
    for name in (*_FILES, "modules.json", "1_Pooling/config.json"):
        shutil.copyfile(source / name, target / name)
    if dtype:
        import torch
        from safetensors.torch import load_file, save_file

        weights = load_file(source / "model.safetensors")
        kind = getattr(torch, dtype)
        save_file(
            {name: each.to(kind) if each.is_floating_point() else each for name, each in weights.items()},
            target / "model.safetensors",
            {"format": "pt"},
        )


def sentences(model: str, count: int, words: tuple[int, int] = (5, 60), seed: int = 0) -> list[str]:
    """Texts without copyright: words of the tokenizer's list, the first ones more often, as real texts have them."""
    rng = random.Random(seed)
    content: dict[str, Any] = json.loads((Path(model) / "tokenizer.json").read_text("utf-8"))
    known = content["model"]["vocab"]
    listed = sorted((word for word in known if word.isascii() and word.isalpha() and len(word) > 1), key=known.get)
    listed = listed[:12_000]
    common = [1 / (rank + 20) for rank in range(len(listed))]
    low, high = words
    # Most texts are short and a few long.
    lengths = [low + int((high - low) * rng.random() ** 2) for _ in range(count)]
    drawn = iter(rng.choices(listed, common, k=sum(lengths)))
    return [" ".join(islice(drawn, length)).capitalize() + "." for length in lengths]


if __name__ == "__main__":
    written = Path(sys.argv[1])
    write(written, sys.argv[2] if len(sys.argv) > 2 else None)
    print(f"{written}: {sum(file.stat().st_size for file in written.rglob('*') if file.is_file()):,} bytes")
