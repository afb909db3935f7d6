"""The files that hold a model's weights, and what their heads say, read without PyTorch.

Only safetensors are ever opened: pickles can run code.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from ..errors import InputError

WHOLE = "model.safetensors"
INDEX = "model.safetensors.index.json"
_PICKLED = {".bin", ".pt", ".pth", ".pkl", ".ckpt", ".pickle"}

_LARGEST_HEAD = 100_000_000
"""Bytes; the library that reads such files has the same limit."""
_FLOATS = {"F64", "F32", "F16", "BF16"}
# Tables of vectors by place, one row for each place; those of pictures and of decoders are other models' business.
_PLACES = re.compile(r"(?:^|\.)(?:position_embeddings|wpe|embed_positions)\.weight$")
_OTHER_TOWERS = re.compile(r"(?:^|\.)(?:vision_model|decoder)\.")


class Tensor(NamedTuple):
    """What the head of a file says about one tensor."""

    name: str
    kind: str
    shape: tuple[int, ...]


def read_json(file: Path) -> Any:
    try:
        return json.loads(file.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"{file} cannot be read as JSON: {error}") from None
    except RecursionError:
        raise InputError(f"{file} cannot be read as JSON: it is nested too deeply") from None


def read_settings(file: Path) -> dict[str, Any]:
    """A JSON object."""
    content = read_json(file)
    if not isinstance(content, dict):
        raise InputError(f"{file} must hold settings by name, not a JSON {type(content).__name__}")
    return content


def fault(folder: Path, sharded: bool) -> str | None:
    """Why the weights in a module's folder cannot be used, or None; sharded: whether they may be in several files."""
    index = folder / INDEX
    if sharded and index.is_file():
        named = read_settings(index).get("weight_map")
        if not isinstance(named, dict) or not named or not all(isinstance(name, str) for name in named.values()):
            return f"has a {INDEX} without names of files"
        for name in sorted(set(named.values())):
            reason = _fault_of_shard(folder, name)
            if reason:
                return f"has a {INDEX} that names {name!r}, {reason}"
        return None
    if (folder / WHOLE).is_file():
        return None
    pickled = sorted(file.name for file in folder.iterdir() if file.suffix in _PICKLED) if folder.is_dir() else []
    if pickled:
        return f"keeps weights in pickle form only ({pickled[0]}), which can run code; safetensors are needed"
    return f"lacks {WHOLE} (weights in other forms are not used)"


def _fault_of_shard(folder: Path, name: str) -> str | None:
    if not is_inside(name):
        return "which is not a file in its own folder"
    if not name.endswith(".safetensors"):
        return "which is no safetensors file"
    file = folder / name
    if not file.is_file():
        return "which it lacks"
    # Links to files are followed, as the hub's cache and users have them: what they lead to is part of the revision. A
    # link to an outer folder on the way is not.
    if not file.parent.resolve().is_relative_to(folder.resolve()):
        return "which is not a file in its own folder"
    return None


def is_inside(path: str) -> bool:
    """Whether a path that a model's file names stays in the model's folder and is not hidden."""
    plain = PurePosixPath(path.replace("\\", "/"))
    return (
        not plain.is_absolute()
        and not re.match(r"[A-Za-z]:", path)
        and not any(part.startswith(".") for part in plain.parts)
        and "\0" not in path
    )


def weight_files(folder: Path) -> list[Path]:
    """The safetensors files of a folder that has no fault, in the order of their names."""
    if (folder / WHOLE).is_file():  # the loading library prefers it, too
        return [folder / WHOLE]
    if (folder / INDEX).is_file():
        return [folder / name for name in sorted(set(read_settings(folder / INDEX)["weight_map"].values()))]
    return []


def tensors(file: Path) -> Iterator[Tensor]:
    """The tensors that the head of a file lists."""
    try:
        with file.open("rb") as content:
            size = int.from_bytes(content.read(8), "little")
            if not 2 <= size <= min(_LARGEST_HEAD, os.fstat(content.fileno()).st_size - 8):
                raise InputError(f"{file} is damaged: its head has no size")
            head = json.loads(content.read(size))
    except (OSError, ValueError, RecursionError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{file} is damaged: its head cannot be read ({type(error).__name__})") from None
    if not isinstance(head, dict):
        raise InputError(f"{file} is damaged: its head lists no tensors")
    for name, about in head.items():
        if name == "__metadata__":
            continue
        if not isinstance(about, dict) or not isinstance(about.get("shape"), list):
            raise InputError(f"{file} is damaged: its head says nothing of {name}")
        yield Tensor(name, str(about.get("dtype")), tuple(about["shape"]))


def check_numbers(folder: Path) -> None:
    """Refuse weights in a rounded form (8 bits and fewer): read as plain numbers they are far from what they mean."""
    for file in weight_files(folder):
        for tensor in tensors(file):
            last = tensor.name.rpartition(".")[2]
            mask = last == "bias" and tensor.kind in ("BOOL", "U8")  # older GPT files keep their masks
            counts = last not in ("weight", "bias") and not tensor.kind.startswith("F")  # numbers of places and such
            if tensor.kind not in _FLOATS and not mask and not counts:
                raise InputError(
                    f"{file} keeps {tensor.name} as numbers of type {tensor.kind}: "
                    "weights are needed as floating-point numbers of at least 16 bits"
                )


def places(folder: Path) -> int | None:
    """Rows of the model's table of places; None where it has none, or where its file cannot be read."""
    try:
        rows = [
            tensor.shape[0]
            for file in weight_files(folder)
            for tensor in tensors(file)
            if _PLACES.search(tensor.name) and len(tensor.shape) == 2 and not _OTHER_TOWERS.search(tensor.name)
        ]
    except InputError:  # whoever loads it will say so
        return None
    return min((row for row in rows if isinstance(row, int) and row > 0), default=None)
