"""Where a run stands, as one safetensors file: weights, their average, AdamW's moments, counters."""

from __future__ import annotations

import json
from pathlib import Path

import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file

from training.optimise import Average

NAME = "checkpoint.safetensors"


def save(folder: Path, average: Average, adam: torch.optim.AdamW, counters: dict, identity: dict) -> None:
    """Write the whole file beside its place and move it there: a run that is killed leaves the older one."""
    tensors = {}
    for name, weight, mean in zip(average.names, average.trained, average.weights, strict=True):
        tensors[f"weight.{name}"], tensors[f"average.{name}"] = weight.detach(), mean
        for key, value in adam.state[weight].items():
            tensors[f"{key}.{name}"] = value
    tensors = {name: tensor.cpu().contiguous() for name, tensor in tensors.items()}
    part = folder / (NAME + ".part")
    save_file(tensors, part, {"counters": json.dumps(counters), "identity": json.dumps(identity, sort_keys=True)})
    part.replace(folder / NAME)


def load(folder: Path, average: Average, adam: torch.optim.AdamW, identity: dict) -> dict:
    """Put a saved state back and return its counters; a run with other settings or another corpus is refused."""
    path = folder / NAME
    if not path.is_file():
        raise SystemExit(f"{path} is not there: nothing to resume")
    with safe_open(path, "pt") as file:
        notes = file.metadata()
    before = json.loads(notes["identity"])
    for key in identity:
        if before.get(key) != identity[key]:
            raise SystemExit(f"{path} is of a run with another {key}: {before.get(key)} then, {identity[key]} now")
    tensors = load_file(path)
    with torch.no_grad():
        for name, weight, mean in zip(average.names, average.trained, average.weights, strict=True):
            weight.copy_(tensors[f"weight.{name}"])
            mean.copy_(tensors[f"average.{name}"])
            fused = adam.param_groups[0]["fused"]
            adam.state[weight] = {
                "step": tensors[f"step.{name}"].to(weight.device if fused else "cpu"),
                "exp_avg": tensors[f"exp_avg.{name}"].to(weight.device),
                "exp_avg_sq": tensors[f"exp_avg_sq.{name}"].to(weight.device),
            }
    return json.loads(notes["counters"])
