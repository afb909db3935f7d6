"""Ready embeddings: NumPy's .npy and .npz, and .safetensors. Nothing here ever unpickles."""

from __future__ import annotations

import zipfile

import numpy as np

from ..errors import InputError
from .reading import Format, Samples, Source, pick_field, vector_samples

USUAL_NAMES = ("embeddings", "vectors")
_SAFETENSORS_TYPES = {f"{kind}{8 * size}": f"<{kind.lower()}{size}" for kind in "FIU" for size in (1, 2, 4, 8)}


def _read_npy(source: Source, field: str | None) -> Samples:
    if field is not None:
        raise InputError(f"{source.name} is a single array without names, so it has no field {field!r}")
    with source.opened() as stream:
        return vector_samples(source, np.lib.format.read_array(stream, allow_pickle=False))


def _read_npz(source: Source, field: str | None) -> Samples:
    with source.opened() as stream, zipfile.ZipFile(stream) as archive:
        names = [name.removesuffix(".npy") for name in archive.namelist() if name.endswith(".npy")]
        with archive.open(pick_field(source.name, names, field, USUAL_NAMES) + ".npy") as member:
            return vector_samples(source, np.lib.format.read_array(member, allow_pickle=False))


def _read_safetensors(source: Source, field: str | None) -> Samples:
    import safetensors

    with source.opened() as stream:
        tensors = dict(safetensors.deserialize(stream.read()))  # type: ignore[no-untyped-call]
    name = pick_field(source.name, sorted(tensors), field, USUAL_NAMES)
    kind, data = tensors[name]["dtype"], tensors[name]["data"]
    if kind == "BF16":
        # NumPy has no bfloat16, but it is the upper half of a float32, which holds it exactly.
        flat = (np.frombuffer(data, "<u2").astype("<u4") << 16).view("<f4")
    elif kind in _SAFETENSORS_TYPES:
        flat = np.frombuffer(data, _SAFETENSORS_TYPES[kind])
    else:
        raise InputError(f"{source.name}: tensor {name!r} is of type {kind}, which NumPy cannot hold")
    return vector_samples(source, flat.reshape(tensors[name]["shape"]))


FORMATS = (
    Format("npy", (".npy",), _read_npy, is_text=False, has_fields=False),
    Format("npz", (".npz",), _read_npz, is_text=False),
    Format("safetensors", (".safetensors",), _read_safetensors, is_text=False),
)
