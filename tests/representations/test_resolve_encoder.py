from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from recapture.errors import InputError
from recapture.representations.encoder import Encoder, FunctionEncoder, list_encoders, resolve_encoder
from recapture.representations.encoders.bag_of_words import BagOfWords


def ones(texts: list[str]) -> np.ndarray:
    return np.ones((len(texts), 2))


def test_every_kind_is_declared_once() -> None:
    assert [kind.name for kind in list_encoders()] == ["bag-of-words", "sentence-transformers", "word-vectors"]
    assert all(kind.description for kind in list_encoders())


def test_objects_stay_what_they_are() -> None:
    bag = BagOfWords()
    assert resolve_encoder(bag) is bag
    assert isinstance(bag, Encoder)


def test_functions_become_encoders() -> None:
    encoder = resolve_encoder(ones)
    assert isinstance(encoder, FunctionEncoder)
    assert isinstance(encoder, Encoder)
    assert encoder.identity()["encoder"] == "ones"
    assert encoder.fit(["a"]) is encoder
    assert not encoder.cacheable


def test_unusable_encoders() -> None:
    for wrong in (3, BagOfWords, ["bag-of-words"]):
        with pytest.raises(InputError, match="a name, a folder, a function or an Encoder"):
            resolve_encoder(wrong)  # type: ignore[arg-type]


def test_options_are_not_silently_lost() -> None:
    for encoder in (ones, BagOfWords()):
        with pytest.raises(InputError, match="by name"):
            resolve_encoder(encoder, pooling="mean")
        with pytest.raises(InputError, match="by name"):
            resolve_encoder(encoder, device="cpu")


def test_path_objects_mean_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, no_network: list[str]) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="no such folder"):
        resolve_encoder(Path("bag-of-words"))
    assert no_network == []
