"""`recapture embed`: texts to a file of vectors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import numpy as np

from ..errors import InputError
from ..texts import Samples, read_together
from .options import (
    check_targets,
    chosen_encoding,
    dry_run_option,
    encoding_options,
    foretell,
    input_options,
    say,
)

_SUFFIXES = (".npy", ".npz", ".safetensors")


@click.command()
@click.argument("file")
@click.option("--output", "-o", required=True, metavar="FILE", help="A .npy, .npz or .safetensors file.")
@input_options
@encoding_options
@click.option("--fit", metavar="FILE", help="Texts that bag-of-words takes its words from (default: the same FILE).")
@dry_run_option
def embed(
    file: str,
    output: str,
    field: str | None,
    input_format: str | None,
    encoder: str | None,
    fit: str | None,
    dry_run: bool,
    **encoding: Any,
) -> None:
    """Turn the texts of FILE (- for stdin) into vectors that `recapture score` reads back.

    \b
    Examples:
      recapture embed human.txt --output human.npy
      recapture embed model.jsonl --field text --encoder sentence-transformers/all-mpnet-base-v2 -o model.safetensors
      recapture embed model.txt --encoder bag-of-words --fit human.txt -o model.npz
    """
    from ..files import whole_file
    from ..representations.encode import as_array
    from ..representations.vectors import vectors_of

    if fit and encoder != "bag-of-words":
        raise InputError("--fit goes with --encoder bag-of-words: other encoders do not learn")
    if Path(output).suffix.lower() not in _SUFFIXES:
        raise InputError(f"cannot write {output}: the name must end in {', '.join(_SUFFIXES)}")
    check_targets(output)
    if (
        not (fit or dry_run)
        and Path(output).suffix.lower() == ".npy"
        and _streamed(file, output, field, input_format, encoder, chosen_encoding(**encoding))
    ):
        return
    paths = [fit, file] if fit else [file]
    sets = [_texts(samples) for samples in read_together(paths, [input_format] * len(paths), field=field)]
    if dry_run:
        from ..sets.work_ahead import encoding_ahead

        foretell(encoding_ahead(sets[-1], encoder, chosen_encoding(**encoding)), "table")
        return
    encoded = vectors_of(sets, paths, encoder, **chosen_encoding(**encoding))
    for note in (note for notes in encoded.notes for note in notes):
        say(note)
    vectors = as_array(encoded.sets[-1])
    with whole_file(output) as temporary:
        _save(temporary, vectors)
    if encoder == "bag-of-words" and not fit:
        say(
            f"the words counted are those of {file}: vectors of another file can be compared with these only if its "
            f"words are the same (--fit {file})"
        )
    rows, dimensions = vectors.shape
    say(f"wrote {output}: {rows:,} vectors of {dimensions} dimensions")


def _streamed(
    file: str, output: str, field: str | None, input_format: str | None, encoder: str | None, encoding: dict[str, Any]
) -> bool:
    """Whether the file holds so many texts that they were encoded some at a time."""
    from ..files import whole_file
    from ..representations.embedded_files import HELD, may_be_large, write_vectors
    from ..representations.encoder import resolve_encoder
    from ..texts.text_index import indexed

    asked = may_be_large(file, field, input_format)
    if asked is None:
        return False
    names = ("pooling", "device", "offline", "truncate", "dtype")
    of_encoder = {name: encoding.pop(name) for name in names if name in encoding}
    chosen = resolve_encoder(encoder, **of_encoder)
    if chosen.fit(["a"]) is not chosen:  # it learns, from all of them
        return False
    with indexed([asked]) as index:
        if index.sizes[0] <= HELD:
            return False
        for note in index.notes:
            say(note)
        with whole_file(output) as temporary:
            rows, dimensions = write_vectors(asked, index, chosen, temporary, **encoding)
    say(f"wrote {output}: {rows:,} vectors of {dimensions} dimensions")
    return True


def _texts(samples: Samples) -> tuple[str, ...]:
    if samples.texts is None:
        raise InputError(f"{samples.source} holds vectors, not texts")
    for note in samples.notes:
        say(note)
    return samples.texts


def _save(path: Path, vectors: np.ndarray) -> None:
    with path.open("wb") as file:
        if path.suffix.lower() == ".npy":
            np.save(file, vectors, allow_pickle=False)
        elif path.suffix.lower() == ".npz":
            np.savez(file, embeddings=vectors)
        else:
            from safetensors.numpy import save

            file.write(save({"embeddings": np.ascontiguousarray(vectors)}))
