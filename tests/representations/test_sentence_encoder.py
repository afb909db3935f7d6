"""Real models: a tiny random one against pooling by hand, and all-MiniLM-L6-v2 against plain transformers."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from recapture.errors import InputError
from recapture.representations.encode import encode
from recapture.representations.encoder import resolve_encoder
from recapture.representations.vector_cache import VectorCache

SHORT = ["the cat sat on the mat .", "", "a red dog", "the dog ran under a green tree and then sat .", "unknown", "cat"]
VARIED = [
    " ".join(["The committee met again"] + ["and talked about the weather in March"] * (number % 5) + [str(number)])
    for number in range(30)
]


def pool(folder: Path, texts: list[str], how: str) -> np.ndarray:
    """Outside oracle: hidden states from transformers, one text at a time and so without padding, pooled in float64."""
    import torch
    from transformers import AutoModel, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModel.from_pretrained(folder, dtype=torch.float32).eval()
    rows = []
    for text in texts:
        with torch.no_grad():
            output = model(**tokenizer(text, return_tensors="pt", truncation=True, max_length=256))
        tokens = output.last_hidden_state[0].double().numpy()
        rows.append({"mean": tokens.mean(axis=0), "max": tokens.max(axis=0), "cls": tokens[0]}[how])
    return np.array(rows)


def normalised(vectors: np.ndarray) -> np.ndarray:
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


@pytest.mark.parametrize("how", ["mean", "max", "cls"])
def test_pooling_of_a_plain_folder(how: str, tiny_bert: Path) -> None:
    vectors = encode(SHORT, tiny_bert, pooling=how, cache=False)
    np.testing.assert_allclose(vectors, pool(tiny_bert, SHORT, how), atol=1e-5)
    assert resolve_encoder(tiny_bert, pooling=how).identity()["pooling"] == how


def test_plain_folder_gets_the_mean(tiny_bert: Path) -> None:
    np.testing.assert_allclose(encode(SHORT, tiny_bert, cache=False), pool(tiny_bert, SHORT, "mean"), atol=1e-5)
    assert resolve_encoder(tiny_bert).identity()["pooling"] == "mean"


@pytest.mark.parametrize("how", [None, "mean", "max", "cls"])
def test_other_modules_are_kept(how: str | None, with_modules: Callable[..., Path]) -> None:
    folder = with_modules("whole", "Pooling", "Dense", "Normalize", pooling={"pooling_mode_cls_token": True})
    from safetensors.numpy import load_file

    dense = load_file(folder / "2_Dense" / "model.safetensors")
    # By hand: the folder's own pooling is cls; then tanh(Wx + b), then unit length.
    pooled = pool(folder, SHORT, how or "cls")
    expected = normalised(np.tanh(pooled @ dense["linear.weight"].T.astype(float) + dense["linear.bias"]))
    np.testing.assert_allclose(encode(SHORT, folder, pooling=how, cache=False), expected, atol=1e-5)
    assert resolve_encoder(folder, pooling=how).identity()["pooling"] == (how or "cls")


def test_joined_poolings(with_modules: Callable[..., Path]) -> None:
    both = {"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": True}
    folder = with_modules("joined", "Pooling", pooling=both)
    expected = np.hstack([pool(folder, SHORT, "cls"), pool(folder, SHORT, "mean")])
    np.testing.assert_allclose(encode(SHORT, folder, cache=False), expected, atol=1e-5)
    # One of them alone fits where nothing comes after, and only there.
    np.testing.assert_allclose(encode(SHORT, folder, pooling="max", cache=False), pool(folder, SHORT, "max"), atol=1e-5)
    followed = with_modules("followed", "Pooling", "Dense", pooling=both)
    with pytest.raises(InputError, match="joins several poolings"):
        encode(SHORT, followed, pooling="max", cache=False)


def test_poolings_have_their_own_cache_entries(tiny_bert: Path) -> None:
    mean, largest = (encode(SHORT, tiny_bert, pooling=how) for how in ("mean", "max"))
    assert not np.allclose(mean, largest)
    assert VectorCache().summary().entries == 2 * len(SHORT)
    np.testing.assert_array_equal(encode(SHORT, tiny_bert, pooling="max"), largest)


def test_changed_weights_change_the_revision(tiny_bert: Path, with_modules: Callable[..., Path]) -> None:
    folder = with_modules("copy", "Pooling")
    before = resolve_encoder(folder).identity()["revision"]
    tokenizer = folder / "tokenizer_config.json"
    tokenizer.write_text(tokenizer.read_text() + "\n")
    assert resolve_encoder(folder).identity()["revision"] != before


def test_half_precision_weights_are_computed_in_float32(tiny_bert: Path, tmp_path: Path) -> None:
    import torch
    from transformers import AutoModel, AutoTokenizer

    folder = tmp_path / "half"
    AutoModel.from_pretrained(tiny_bert, dtype=torch.float16).save_pretrained(folder)
    AutoTokenizer.from_pretrained(tiny_bert).save_pretrained(folder)
    np.testing.assert_allclose(encode(SHORT, folder, cache=False), pool(folder, SHORT, "mean"), atol=1e-5)


def test_empty_texts_of_a_decoder(tmp_path: Path) -> None:
    pytest.importorskip("sentence_transformers", reason="needs recapture[models]")
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import GPT2Config, GPT2Model, PreTrainedTokenizerFast

    letters = {letter: number for number, letter in enumerate(sorted(pre_tokenizers.ByteLevel.alphabet()))}
    tokenizer = Tokenizer(models.BPE(vocab={**letters, "<end>": len(letters)}, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="<end>").save_pretrained(tmp_path)
    torch.manual_seed(1)
    end = len(letters)
    settings = GPT2Config(
        vocab_size=end + 1, n_embd=16, n_layer=1, n_head=2, n_positions=64, bos_token_id=end, eos_token_id=end
    )
    GPT2Model(settings).save_pretrained(tmp_path)
    texts = ["", "a", "some words", ""]
    vectors = encode(texts, tmp_path, cache=False)
    # An empty text has no tokens here; it is encoded as the end-of-text token.
    np.testing.assert_allclose(vectors, pool(tmp_path, ["<end>", "a", "some words", "<end>"], "mean"), atol=1e-5)
    np.testing.assert_allclose(encode(texts, tmp_path, cache=False, batch_size=1), vectors, atol=1e-5)


@pytest.mark.parametrize("fast", [True, False])
def test_texts_of_which_a_tokenizer_makes_nothing(
    fast: bool, plain_words: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are encoded as an unknown word, where the tokenizer knows no end of a text; in whatever company they are."""
    from recapture.representations.encoder_batches import EncoderBatches

    if not fast:
        monkeypatch.setattr(EncoderBatches, "fits", lambda _: False)
    expected = pool(plain_words, ["[UNK]"], "mean")[0]
    for text in ("", " ", "\u200b", "\x00", "\u0301 \u200d"):
        for texts in ([text], [text, "the cat sat"], [text, text + "\u200b"]):
            np.testing.assert_allclose(encode(texts, plain_words, cache=False)[0], expected, atol=1e-5)
    kept = ["\u4e2d", "?", "\u200bcat"]
    np.testing.assert_allclose(
        encode(kept, plain_words, cache=False), pool(plain_words, ["zebra", "?", "cat"], "mean"), atol=1e-5
    )


def with_tokenizer(folder: Path, kind: str, **named: str) -> Path:
    """Give a model a tokenizer that makes nothing of some texts that people see."""
    from tokenizers import Regex, Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    if kind == "letters alone":  # it knows no token for what is unknown
        letters = {letter: number for number, letter in enumerate("acdeghosty", 5)}
        tokenizer = Tokenizer(models.BPE(vocab={**letters, "[PAD]": 0, "[SEP]": 3}, merges=[]))
    else:
        own = Tokenizer.from_file(str(folder / "tokenizer.json")).get_vocab()
        tokenizer = Tokenizer(models.WordLevel(own, unk_token="[UNK]"))
        tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex(r"\W+"), "removed")
    tokens = PreTrainedTokenizerFast(tokenizer_object=tokenizer, pad_token="[PAD]", **named)
    tokens.save_pretrained(folder)
    return folder


@pytest.mark.parametrize("fast", [True, False])
@pytest.mark.parametrize("prompt", ["", "say "])
@pytest.mark.parametrize("kind", ["letters alone", "no marks"])
def test_visible_texts_of_which_a_tokenizer_makes_nothing(
    kind: str, prompt: str, fast: bool, with_modules: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are encoded as an empty text, whatever stands beside them; so none of them is told from another."""
    from recapture.representations.encoder_batches import EncoderBatches

    if not fast:
        monkeypatch.setattr(EncoderBatches, "fits", lambda _: False)
    folder = with_tokenizer(with_modules("model", "Pooling"), kind, eos_token="[SEP]")
    if prompt:
        (folder / "config_sentence_transformers.json").write_text(
            json.dumps({"prompts": {"ask": prompt}, "default_prompt_name": "ask"})
        )
    (expected,) = pool(folder, [f"{prompt}[SEP]"], "mean")
    for text in ("", "?!", "-", "\U0001f642"):
        for texts in ([text], [text, "the cat"], ["a dog", text, text * 2]):
            vectors = encode(texts, folder, cache=False)
            np.testing.assert_allclose(vectors[texts.index(text)], expected, atol=1e-5)
    found = encode(["the cat", "?!"], folder, cache=False)[0]
    np.testing.assert_allclose(found, pool(folder, [f"{prompt}the cat"], "mean")[0], atol=1e-5)


@pytest.mark.parametrize("fast", [True, False])
def test_nothing_stands_for_a_text_without_tokens(
    fast: bool, with_modules: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    from recapture.representations.encoder_batches import EncoderBatches

    if not fast:
        monkeypatch.setattr(EncoderBatches, "fits", lambda _: False)
    folder = with_tokenizer(with_modules("model", "Pooling"), "letters alone")
    assert encode(["the cat"], folder, cache=False).any()
    for texts in (["?!"], ["the cat", "?!"]):
        with pytest.raises(InputError, match="makes no token of an empty text"):
            encode(texts, folder, cache=False)
    (folder / "config_sentence_transformers.json").write_text(
        json.dumps({"prompts": {"ask": "say "}, "default_prompt_name": "ask"})
    )  # of which the tokenizer makes something, so that an empty text is the prompt alone
    np.testing.assert_allclose(
        encode(["?!", "the cat"], folder, cache=False)[0], pool(folder, ["say "], "mean")[0], atol=1e-5
    )


def test_wrong_pooling_names(tiny_bert: Path, with_modules: Callable[..., Path]) -> None:
    with pytest.raises(InputError, match="did you mean mean"):
        encode(SHORT, tiny_bert, pooling="meen")
    with pytest.raises(InputError, match="no pooling step"):
        encode(SHORT, with_modules("poolless", "Normalize"), pooling="mean")


def test_unavailable_devices(tiny_bert: Path) -> None:
    import torch

    wrong = ["gpu0", "meta"] + ([] if torch.cuda.is_available() else ["cuda", "cuda:1"])
    for device in wrong:
        with pytest.raises(InputError, match=f"device '{device}' cannot be used here"):
            encode(SHORT, tiny_bert, device=device, cache=False)
    assert encode(SHORT, tiny_bert, device="cpu", cache=False).shape == (len(SHORT), 32)


@pytest.mark.parametrize(
    ("cuda", "mps", "expected"), [(True, True, "cuda"), (False, True, "mps"), (False, False, "cpu")]
)
def test_device_is_the_best_there_is(cuda: bool, mps: bool, expected: str, monkeypatch: pytest.MonkeyPatch) -> None:
    torch = pytest.importorskip("torch", reason="needs recapture[models]")
    from recapture.representations.loading import usable_device

    monkeypatch.setattr(torch.cuda, "is_available", lambda: cuda)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: mps)
    assert usable_device(None) == expected


def test_broken_weights_are_one_clear_error(with_modules: Callable[..., Path]) -> None:
    folder = with_modules("broken", "Pooling")
    (folder / "model.safetensors").write_bytes(b"not safetensors")
    with pytest.raises(InputError, match=r"model\.safetensors is damaged") as caught:
        encode(SHORT, folder, cache=False)
    assert "\n" not in str(caught.value)


def test_missing_weights_are_an_error(with_modules: Callable[..., Path]) -> None:
    """The library would go on with random numbers in their place; a missing pooler, which nothing uses, is fine."""
    from safetensors.torch import load_file, save_file

    for lost, fine in (("layer.1.", False), ("pooler", True)):
        folder = with_modules(f"without-{lost.strip('.')}", "Pooling")
        weights = {name: value for name, value in load_file(folder / "model.safetensors").items() if lost not in name}
        save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
        if fine:
            assert np.isfinite(encode(SHORT, folder, cache=False)).all()
        else:
            with pytest.raises(InputError, match=r"no weights for encoder\.layer\.1\..* and \d+ more"):
                encode(SHORT, folder, cache=False)


def test_a_models_own_code_is_not_run(with_modules: Callable[..., Path], tmp_path: Path) -> None:
    folder = with_modules("coded", "Pooling")
    listing = folder / "modules.json"
    listing.write_text(listing.read_text().replace("sentence_transformers.models.Pooling", "evil.Pooling"))
    (folder / "evil.py").write_text(f"open({str(tmp_path / 'was here')!r}, 'w')")
    with pytest.raises(InputError, match="asks for code of its own"):
        encode(SHORT, folder, cache=False)
    assert not (tmp_path / "was here").exists()


def test_loading_is_local_and_safe(tiny_bert: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import sentence_transformers

    given: dict[str, Any] = {}

    def refuse(folder: str, **settings: Any) -> None:
        given.update(settings, folder=folder)
        raise OSError("seen enough")

    monkeypatch.setattr(sentence_transformers, "SentenceTransformer", refuse)
    with pytest.raises(InputError, match="seen enough"):
        encode(SHORT, tiny_bert, device="cpu", cache=False)
    assert given["folder"] == str(tiny_bert)
    assert given["local_files_only"] is True
    assert given["trust_remote_code"] is False
    assert given["model_kwargs"] == {"use_safetensors": True}


def test_missing_libraries(tiny_bert: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(InputError, match=r'pip install "recapture\[models\]".*bag-of-words'):
        encode(SHORT, tiny_bert, cache=False)


def test_logging_and_bars_are_as_before(tiny_bert: Path) -> None:
    from transformers.utils import logging as transformers_logging

    own = logging.getLogger("sentence_transformers")
    before = (own.level, transformers_logging.get_verbosity(), transformers_logging.is_progress_bar_enabled())
    encode(SHORT, tiny_bert, cache=False)
    after = (own.level, transformers_logging.get_verbosity(), transformers_logging.is_progress_bar_enabled())
    assert after == before


# all-MiniLM-L6-v2 from the weights package.


@pytest.mark.slow
def test_minilm_agrees_with_plain_transformers(needs_minilm: None) -> None:
    from recapture.representations.locate import find_weights

    texts = [*VARIED[:12], "", "naïve café — 猫"]
    # Its card: mean over tokens, then unit length.
    expected = normalised(pool(find_weights("all-MiniLM-L6-v2").folder, texts, "mean"))
    np.testing.assert_allclose(encode(texts, cache=False), expected, atol=1e-5)


def test_minilm_knows_a_paraphrase(needs_minilm: None) -> None:
    texts = [
        "A man is playing a guitar on the street.",
        "Someone strums a guitar outdoors.",
        "Interest rates were raised by the central bank.",
    ]
    vectors = encode(texts, "sentence-transformers/all-MiniLM-L6-v2").astype(float)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    likeness = vectors @ vectors.T
    assert likeness[0, 1] > 0.5 > 0.2 > max(likeness[0, 2], likeness[1, 2])


@pytest.mark.slow
def test_minilm_does_not_depend_on_batches_or_order(needs_minilm: None) -> None:
    encoder = resolve_encoder()
    together = encode(VARIED, encoder, batch_size=64, cache=False)
    for batch_size in (1, 7):
        np.testing.assert_allclose(encode(VARIED, encoder, batch_size=batch_size, cache=False), together, atol=1e-5)
    order = np.random.default_rng(2).permutation(len(VARIED))
    assert not np.array_equal(order[order], np.arange(len(order)))  # not its own inverse
    shuffled = encode([VARIED[place] for place in order], encoder, batch_size=7, cache=False)
    np.testing.assert_allclose(shuffled, together[order], atol=1e-5)


@pytest.mark.parametrize("offline", [True, None])
def test_minilm_needs_no_network(needs_minilm: None, offline: bool | None, no_network: list[str]) -> None:
    assert encode(["a", "b"], offline=offline, cache=False).shape == (2, 384)
    assert no_network == []


def test_hub_snapshots_need_no_network(tiny_bert: Path, hub_cache: Path, no_network: list[str]) -> None:
    import shutil

    commit = "f" * 40
    shutil.copytree(tiny_bert, hub_cache / "models--owner--tiny" / "snapshots" / commit)
    (hub_cache / "models--owner--tiny" / "refs").mkdir()
    (hub_cache / "models--owner--tiny" / "refs" / "main").write_text(commit)
    np.testing.assert_allclose(encode(SHORT, "owner/tiny"), pool(tiny_bert, SHORT, "mean"), atol=1e-5)
    assert resolve_encoder("owner/tiny").identity()["revision"].startswith(commit)
    assert no_network == []


def run_python(script: str, **environment: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, env={**os.environ, **environment}
    )


@pytest.mark.slow
def test_silent_at_first_and_without_torch_when_cached(needs_minilm: None) -> None:
    script = (
        "import sys; from recapture.representations.encode import encode; v = encode(['b', 'a', '', 'b']);"
        "print(sorted({'torch', 'transformers', 'sentence_transformers'} & set(sys.modules)), v.shape)"
    )
    first, second = run_python(script), run_python(script)
    assert first.stdout == "['sentence_transformers', 'torch', 'transformers'] (4, 384)\n"
    assert second.stdout == "[] (4, 384)\n"
    assert first.stderr == second.stderr == ""


def test_identity_names_all_that_matters(needs_minilm: None) -> None:
    from importlib.metadata import version

    identity = resolve_encoder().identity()
    assert resolve_encoder("sentence-transformers/all-MiniLM-L6-v2").identity() == identity
    assert len(identity.pop("revision")) == 32
    assert identity == {
        "encoder": "sentence-transformers/all-MiniLM-L6-v2",
        "kind": "sentence-transformers",
        "pooling": "mean",
        "long texts": "windows",
        "dtype": "float32",
        **{library: version(library) for library in ("sentence-transformers", "transformers", "torch")},
    }
