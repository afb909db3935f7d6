"""All settings of a training run, read from a JSON file."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields
from pathlib import Path


@dataclass(frozen=True)
class Settings:
    """One run. Shares and rates are between 0 and 1."""

    steps: int = 12_000
    train_layers: str | int = "all"  # "all", the last N layers, or "none": the head alone
    rows: int = 1024  # rows a step
    length: int = 128  # tokens a row, [CLS] and [SEP] included
    packings: int = 4  # how many ways long paragraphs are cut, taken in turn, one an epoch
    learning_rate: float = 1e-3
    warmup: float = 0.03  # share of the budget
    schedule: str = "cosine"  # or "linear"
    final: float = 0.0  # learning rate at the end, as a share of the highest
    betas: tuple[float, float] = (0.9, 0.98)
    weight_decay: float = 0.01
    clip: float = 1.0
    dropout: float = 0.0
    attention_dropout: float = 0.0
    mask_low: float = 0.03  # each paragraph draws its masking rate between these two
    mask_high: float = 0.20
    single_share: float = 0.0  # paragraphs with exactly one mask
    keep_share: float = 0.0  # chosen tokens that stay as they are
    random_share: float = 0.0  # chosen tokens replaced by any other
    average: float = 0.999  # decay of the moving average of the weights; 0 turns it off
    bias: str = "unigram"  # or "zero": where the vocabulary bias starts
    compile: bool = True
    bfloat16: bool = True
    attention: str = "efficient"  # or "auto": which of PyTorch's attention kernels may serve on a GPU
    seed: int = 1
    log_every: int = 100
    evaluate_every: int = 2000  # held-out figures and a checkpoint on the way; 0: only at the end

    def as_json(self) -> str:
        return json.dumps(asdict(self), sort_keys=True)


def read_settings(path: Path) -> Settings:
    """Settings of a JSON file; names nobody knows are an error."""
    given = json.loads(path.read_text(encoding="utf-8"))
    unknown = set(given) - {field.name for field in fields(Settings)}
    if unknown:
        raise SystemExit(f"{path}: no setting is called {sorted(unknown)[0]!r}")
    if "betas" in given:
        given["betas"] = tuple(given["betas"])
    settings = Settings(**given)
    choices = {"schedule": ("cosine", "linear"), "bias": ("unigram", "zero"), "attention": ("efficient", "auto")}
    for name, allowed in choices.items():
        if getattr(settings, name) not in allowed:
            raise SystemExit(f"{path}: {name} is one of {', '.join(allowed)}, not {getattr(settings, name)!r}")
    if not (isinstance(settings.train_layers, int) or settings.train_layers in ("all", "none")):
        raise SystemExit(f"{path}: train_layers is all, none or a number, not {settings.train_layers!r}")
    return settings
