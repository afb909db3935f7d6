"""A baseline in one file: vectors of people's texts and of a system's, what made them, and how to compare with them.

A safetensors file with two arrays, `reference` and `system`, and a description in its header. It holds vectors, not
texts; what is compared with it later has to come from the same encoder and is measured with the same settings.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from types import NoneType
from typing import TYPE_CHECKING, Any

import numpy as np

from ..checks import path_of, plain, plain_arguments
from ..errors import InputError, shown
from ..files import check_writable, whole_files
from ..geometry.devices import on_device
from ..geometry.sparse_rows import SparseRows
from ..representations.vectors import asked_encoding, vectors_of
from ..sets.declaration import METRICS, usual_metrics
from ..sets.evaluate import PreparedSets, prepare_sets
from ..sets.grouping import Labelled, Sized
from ..sets.pair import check_k
from ..texts.json_values import parsed
from ..texts.reading import Source
from ..versions import VERSION

if TYPE_CHECKING:
    from ..representations.encoder import EncoderLike
    from ..representations.vector_cache import VectorCache
    from ..representations.vectors import SampleSet

FORMAT = "recapture baseline"
SCHEMA = 1
"""Of the description: grows when a reader of the old one would misread the new one."""
HOLDS = "vectors of people's texts and of a system's texts; no texts, but vectors may tell of them"
_LENGTH = 8
"""Bytes before the header that say how long it is."""
_LONGEST_HEADER = 100_000_000
"""Bytes of a header, as the format has it."""
LIBRARIES = ("torch", "transformers", "sentence-transformers", "numpy", "tokenizers")
"""Parts of an encoder's identity that change vectors by rounding alone."""


@dataclass(frozen=True)
class KeptSettings:
    """How to compare with a baseline."""

    metrics: tuple[str, ...]
    usual: bool
    """Whether these are the metrics that are taken where none are named."""
    k: int | None
    options: Mapping[str, Any]
    paired: bool


@dataclass(frozen=True)
class StoredBaseline:
    """What the file holds."""

    reference: np.ndarray
    system: np.ndarray
    name: str
    reference_name: str
    encoder: Mapping[str, Any] | None
    """What made the vectors; None where they came ready."""
    settings: KeptSettings
    reference_groups: list[Any] | None
    groups: list[Any] | None
    path: str = ""

    def check_encoder(self, identity: Mapping[str, Any] | None) -> list[str]:
        """Refuse vectors of another space, by saying what differs; returns what there is to note."""
        if (identity is None) != (self.encoder is None):
            here, there = ("texts", "ready vectors") if self.encoder is None else ("ready vectors", "texts")
            raise InputError(f"the baseline {self.path} was made from {there}, but the systems are {here}")
        if identity is None or self.encoder is None:
            return []
        theirs, ours = plain(self.encoder), plain(identity)
        different = [key for key in {**theirs, **ours} if theirs.get(key) != ours.get(key)]
        decisive = [key for key in different if key not in LIBRARIES]
        if decisive:
            decisive = ["encoder"] if "encoder" in decisive else decisive  # all else follows from it
            told = ", ".join(f"{key} {shown(theirs.get(key))}, not {shown(ours.get(key))}" for key in decisive)
            raise InputError(f"the baseline {self.path} was made with another encoder: {told}", options=["encoder"])
        told = ", ".join(f"{key} {theirs.get(key)}, here {ours.get(key)}" for key in different)
        return [f"the baseline was made with {told}: vectors may differ by rounding"] if different else []

    def chosen(
        self, metrics: Any, k: int | None, options: Mapping[str, Any] | None, paired: bool
    ) -> tuple[list[str], int | None, dict[str, Any], bool]:
        """Its settings; what a caller asks for instead is refused by saying what differs."""
        own = self.settings
        asked = None if metrics is None else tuple(metric.name for metric in METRICS.choose(metrics))
        for name, given, kept in (
            ("metrics", asked, own.metrics),
            ("k", k, own.k),
            ("options", plain(options) if options else None, plain(own.options)),
            ("paired", paired or None, own.paired),
        ):
            if given is not None and given != kept:
                raise InputError(
                    f"the baseline {self.path} was made with other settings: {name} {_words(kept)}, not {_words(given)}"
                )
        return list(own.metrics), own.k, dict(own.options), own.paired


def _words(value: Any) -> str:
    if isinstance(value, (tuple, list)):
        return ", ".join(map(str, value))
    return "each metric's own" if value is None else shown(value)


@on_device
@plain_arguments
def save_baseline(
    path: str | os.PathLike[str],
    reference: SampleSet,
    system: SampleSet,
    metrics: str | Iterable[str] | None = None,
    encoder: EncoderLike | None = None,
    k: int | None = None,
    *,
    name: str = "baseline",
    reference_groups: Labelled | None = None,
    groups: Labelled | None = None,
    paired: bool = False,
    options: Mapping[str, Mapping[str, Any]] | None = None,
    pooling: str | None = None,
    device: str | None = None,
    batch_size: int | None = None,
    offline: bool | None = None,
    truncate: bool = False,
    dtype: str | None = None,
    cache: bool | str | os.PathLike[str] | VectorCache | None = None,
    reference_name: str = "reference",
) -> Path:
    """Keep people's texts and a system's, as vectors, in one file that later systems are compared with.

    Parameters
    ----------
    path : str or path
        The file, whose name ends in .safetensors. It holds vectors, not texts; vectors may tell of texts.
    reference : list of str or array of shape (samples, dimensions)
        People's texts, or ready vectors.
    system : list of str or array
        The texts or vectors of the system that others will be held against.
    metrics, encoder, k, options
        As for `compare`: what later comparisons are made with.
    name : str, default "baseline"
        What later comparisons call the system.
    reference_groups, groups, paired
        As for `compare`.
    pooling, device, batch_size, offline, truncate, dtype, cache, reference_name
        As for `evaluate`.

    Returns
    -------
    pathlib.Path
        The file.

    See Also
    --------
    compare : takes the file as `baseline`.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> import recapture as rc
    >>> people, old, new = np.random.default_rng(0).standard_normal((3, 100, 8))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     kept = rc.save_baseline(f"{folder}/old.safetensors", people, old, "mmd", name="old")
    ...     compared = rc.compare(None, {"new": new + 1}, baseline=kept)
    >>> compared.gate("worse", baseline="old").failed
    True
    """
    target = path_of(path, "a baseline")
    if not target.endswith(".safetensors"):
        raise InputError(f"cannot write {target}: the name of a baseline ends in .safetensors")
    if not isinstance(name, str) or not name:
        raise InputError(f"the name of a baseline must be a text, not {shown(name)}")
    check_writable(target)
    encoding = asked_encoding(pooling, device, batch_size, offline, cache, truncate, dtype)
    systems: dict[str, Any] = {name: system}
    prepared = prepare_sets(
        reference,
        systems,
        usual_metrics() if metrics is None else metrics,
        encoder,
        k,
        blind=False,
        reference_groups=reference_groups,
        candidate_groups=None if groups is None else {name: groups},
        paired=paired,
        options=options,
        reference_name=reference_name,
        encoding=encoding,
    )
    if k is not None:
        sides = (prepared.reference, prepared.candidates[name])
        check_k(k, *(Sized(points.name, len(points)) for points in sides))  # as later comparisons would
    if prepared.identity is not None and "learnt from" in prepared.identity:
        raise InputError(
            f"{prepared.identity['encoder']} learns from the texts that are compared, so its vectors cannot be kept: "
            "name an encoder that does not learn",
            options=["encoder"],
        )
    kept = StoredBaseline(
        _rows(prepared.reference.values),
        _rows(prepared.candidates[name].values),
        name,
        reference_name,
        prepared.identity,
        KeptSettings(tuple(job.metric.name for job in prepared.jobs), metrics is None, k, dict(options or {}), paired),
        None if reference_groups is None else list(reference_groups),
        None if groups is None else list(groups),
    )
    with whole_files({target: _written(kept)}):
        return Path(target)


def _rows(values: Any) -> np.ndarray:
    if isinstance(values, SparseRows):
        raise InputError("word counts cannot be kept as a baseline: give vectors, or another encoder")
    return np.ascontiguousarray(values)


def _written(kept: StoredBaseline) -> bytes:
    from safetensors.numpy import save

    described = {
        "schema": SCHEMA,
        "recapture": VERSION,
        "holds": HOLDS,
        "name": kept.name,
        "reference": kept.reference_name,
        "encoder": kept.encoder,
        "settings": asdict(kept.settings),
        "reference_groups": kept.reference_groups,
        "groups": kept.groups,
    }
    words = {"format": FORMAT, "holds": HOLDS, "description": json.dumps(plain(described), sort_keys=True)}
    return bytes(save({"reference": kept.reference, "system": kept.system}, words))


def is_stored_baseline(path: str) -> bool:
    """Whether this is a file that `save_baseline` wrote; what cannot be read, or only once (a pipe), is not."""
    if not os.path.isfile(path):  # noqa: PTH113 - "-" and names that no path can be
        return False
    try:
        with Source(path).opened() as stream:
            start = stream.read(_LENGTH)
            size = min(int.from_bytes(start, "little"), _LONGEST_HEADER)
            return _header(start + stream.read(size)).get("format") == FORMAT
    except InputError:
        return False


def _header(content: bytes) -> Mapping[str, Any]:
    """What the header says beside where arrays are; empty where there is nothing such."""
    size = int.from_bytes(content[:_LENGTH], "little")
    try:
        header = json.loads(content[_LENGTH : _LENGTH + size])
    except (ValueError, RecursionError):
        return {}
    said = header.get("__metadata__") if isinstance(header, dict) else None
    return said if isinstance(said, dict) else {}


def read_baseline(path: str | os.PathLike[str]) -> StoredBaseline:
    """The baseline of a file that `save_baseline` wrote."""
    source = Source(path_of(path, "a baseline"))
    content = source.content()
    said = _header(content)
    if said.get("format") != FORMAT:
        raise InputError(f"{source.name} is no stored baseline: make one of people's texts and a system's")
    from safetensors import SafetensorError
    from safetensors.numpy import load

    try:
        arrays = load(content)
    except (SafetensorError, ValueError, KeyError) as error:
        raise InputError(f"{source.name} is cut off or damaged: {error}") from None
    described = parsed(str(said.get("description")), source.name)
    if isinstance(described, dict) and described.get("schema") != SCHEMA:
        raise InputError(
            f"{source.name} is a baseline of schema {described.get('schema')}, written by recapture "
            f"{described.get('recapture')}; this is {VERSION}, which reads schema {SCHEMA}"
        )
    try:
        own = described["settings"]
        settings = KeptSettings(tuple(own["metrics"]), own["usual"], own["k"], own["options"], own["paired"])
        kept = StoredBaseline(
            arrays["reference"],
            arrays["system"],
            described["name"],
            described["reference"],
            described["encoder"],
            settings,
            described["reference_groups"],
            described["groups"],
            source.name,
        )
    except (KeyError, TypeError, AttributeError):
        raise InputError(f"{source.name} is damaged: its description lacks what a baseline has") from None
    for what, value, kinds in (
        ("name", kept.name, str),
        ("reference", kept.reference_name, str),
        ("encoder", kept.encoder, (dict, NoneType)),
        ("options", settings.options, dict),
        ("usual", settings.usual, bool),
        ("paired", settings.paired, bool),
        ("k", settings.k, (int, NoneType)),
    ):
        if not isinstance(value, kinds):
            raise InputError(f"{source.name} is damaged: {what} is {shown(value)} in its description")
    return kept


def prepared_beside(
    baseline: str | os.PathLike[str] | StoredBaseline,
    systems: Mapping[str, Any],
    metrics: Any,
    encoder: Any,
    k: int | None,
    groups: Mapping[str, Labelled] | Labelled | None,
    paired: bool,
    options: Mapping[str, Any] | None,
    encoding: Mapping[str, Any],
) -> tuple[PreparedSets, bool]:
    """Systems beside what a baseline holds, in one space, and whether its metrics are the usual ones."""
    kept = baseline if isinstance(baseline, StoredBaseline) else read_baseline(baseline)
    if kept.name in systems:
        raise InputError(f"two systems are called {kept.name!r}: one of them is the baseline's")
    metrics, k, own_options, paired = kept.chosen(metrics, k, options, paired)
    labels = [f"candidate {name!r}" for name in systems]
    encoded = vectors_of(list(systems.values()), labels, encoder, **encoding)
    noted = kept.check_encoder(encoded.identity)
    labelled: dict[str, Any] | None = None
    if groups is not None or kept.groups is not None:
        if groups is not None and not isinstance(groups, Mapping) and len(systems) > 1:
            raise InputError("groups of several candidates are a mapping from name to labels")
        given = groups if isinstance(groups, Mapping) else dict.fromkeys(systems, groups)
        labelled = {**given, **({} if kept.groups is None else {kept.name: kept.groups})}
    prepared = prepare_sets(
        kept.reference,
        {**dict(zip(systems, encoded.sets, strict=True)), kept.name: kept.system},
        metrics,
        None,
        k,
        blind=True,
        reference_groups=kept.reference_groups,
        candidate_groups=labelled,
        paired=paired,
        options=own_options or None,
        reference_name=kept.reference_name,
    )
    said = {name: [*notes, *noted] for name, notes in prepared.notes.items()}
    for name, notes in zip(systems, encoded.notes, strict=True):
        said[name] += notes
    return replace(prepared, identity=encoded.identity, made_for=encoded.made_for, notes=said), kept.settings.usual
