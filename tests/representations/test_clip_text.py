"""The text tower of CLIP: a tiny random model, in each of the four layouts that such folders have."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from recapture.errors import InputError
from recapture.representations.encode import encode
from recapture.representations.encoder import resolve_encoder
from recapture.representations.folder import problem

LONGEST = 20
TEXTS = ["a cat", "", "the dog sat on the mat , and then the very long text was cut", "naïve 猫", "cat"]


@pytest.fixture(scope="session")
def tiny_clip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A plain transformers folder: two towers, a tokenizer of single bytes, a picture processor."""
    for library in ("torch", "transformers", "sentence_transformers", "PIL"):
        pytest.importorskip(library, reason="needs recapture[models] and pillow")
    import torch
    from tokenizers.pre_tokenizers import ByteLevel
    from transformers import CLIPConfig, CLIPModel, CLIPTokenizer

    folder = tmp_path_factory.mktemp("models") / "tiny-clip"
    letters = sorted(ByteLevel.alphabet())
    marks = ["<|startoftext|>", "<|endoftext|>"]
    vocabulary = {token: number for number, token in enumerate([*letters, *(f"{x}</w>" for x in letters), *marks])}
    # Without a limit of its own, so that the model's has to be found.
    CLIPTokenizer(vocab=vocabulary, merges=[]).save_pretrained(folder)
    end = vocabulary["<|endoftext|>"]
    text = {
        "vocab_size": len(vocabulary),
        "hidden_size": 16,
        "intermediate_size": 32,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "max_position_embeddings": LONGEST,
        "bos_token_id": end - 1,
        "eos_token_id": end,
        "pad_token_id": end,
        "projection_dim": 12,
    }
    vision = {
        "hidden_size": 8,
        "intermediate_size": 8,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "image_size": 8,
        "patch_size": 4,
    }
    torch.manual_seed(5)
    model = CLIPModel(CLIPConfig(text_config=text, vision_config=vision, projection_dim=12))
    for weights in model.text_model.parameters():
        torch.nn.init.normal_(weights, std=0.5)  # wide, so that texts differ clearly
    model.save_pretrained(folder)
    processor = {"image_processor_type": "CLIPImageProcessor", "size": {"shortest_edge": 8}}
    processor |= {"crop_size": {"height": 8, "width": 8}}
    (folder / "preprocessor_config.json").write_text(json.dumps(processor))
    return folder


@pytest.fixture(params=["plain", "older", "newer", "tower"])
def clip(request: pytest.FixtureRequest, tiny_clip: Path, tmp_path: Path) -> Path:
    folder = tmp_path / "tiny-clip"
    if request.param == "plain":
        return tiny_clip
    if request.param == "newer":  # as the installed release writes them
        from sentence_transformers import SentenceTransformer

        SentenceTransformer(str(tiny_clip), local_files_only=True).save(str(folder), create_model_card=False)
        return folder
    if request.param == "tower":  # without the half for pictures
        from transformers import CLIPTextModelWithProjection

        return tower_alone(CLIPTextModelWithProjection, tiny_clip, folder)
    # clip-ViT-B-32 and its kin on the hub
    shutil.copytree(tiny_clip, folder / "0_CLIPModel")
    module = {"idx": 0, "name": "0", "path": "0_CLIPModel", "type": "sentence_transformers.models.CLIPModel"}
    (folder / "modules.json").write_text(json.dumps([module]))
    return folder


def tower_alone(kind: Any, tiny_clip: Path, folder: Path) -> Path:
    from transformers import AutoTokenizer

    kind.from_pretrained(tiny_clip).save_pretrained(folder)
    AutoTokenizer.from_pretrained(tiny_clip).save_pretrained(folder)
    return folder


def text_vectors(folder: Path, texts: list[str], cut: bool = False) -> np.ndarray:
    """Outside oracle: transformers' class for the text tower alone, one window at a time and so without padding.

    Each piece counts for the window whose middle is nearest to it, and each window by its pieces.
    """
    import torch
    from transformers import AutoTokenizer, CLIPTextModelWithProjection

    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = CLIPTextModelWithProjection.from_pretrained(folder).eval()
    rows = []
    for text in texts:
        first, *own, last = tokenizer(text)["input_ids"]
        room = LONGEST - 2
        too_long = len(own) > room and not cut
        starts = [*range(0, len(own) - room, room // 2), len(own) - room] if too_long else [0]
        windows = [torch.tensor([[first, *own[start : start + room], last]]) for start in starts]
        with torch.no_grad():
            vectors = [model(input_ids=window).text_embeds[0].double().numpy() for window in windows]
        middles = np.array(starts) + (room - 1) / 2
        nearest = [int(np.argmin(abs(place - middles))) for place in range(len(own))] or [0]
        rows.append(np.average(vectors, axis=0, weights=np.bincount(nearest, minlength=len(starts))))
    return np.array(rows)


@pytest.mark.traced
@pytest.mark.slow
@pytest.mark.parametrize("batch_size", [1, 32])
def test_texts_become_the_towers_vectors(clip: Path, tiny_clip: Path, batch_size: int, no_network: list[str]) -> None:
    vectors = encode(TEXTS, clip, cache=False, batch_size=batch_size)
    assert vectors.shape == (len(TEXTS), 12)
    np.testing.assert_allclose(vectors, text_vectors(tiny_clip, TEXTS), atol=1e-5)
    cut = encode(TEXTS, clip, cache=False, batch_size=batch_size, truncate=True)
    np.testing.assert_allclose(cut, text_vectors(tiny_clip, TEXTS, cut=True), atol=1e-5)
    assert np.abs(cut - vectors).max() > 1e-3
    assert resolve_encoder(clip).facts(TEXTS).beyond_limit == 1
    assert no_network == []


def test_addresses_and_files_of_pictures_are_texts(
    clip: Path, tiny_clip: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, no_network: list[str]
) -> None:
    """The library would fetch the one and open the other."""
    from PIL import Image

    monkeypatch.chdir(tmp_path)
    Image.new("RGB", (8, 8)).save("cat.png")
    texts = ["https://example.com/cat.jpg", "cat.png", "data:image/png;base64,AAAA", "a cat"]
    np.testing.assert_allclose(encode(texts, clip, cache=False), text_vectors(tiny_clip, texts), atol=1e-5)
    assert no_network == []


def test_identity_and_pooling(clip: Path) -> None:
    identity = resolve_encoder(clip).identity()
    assert (identity["encoder"], identity["pooling"]) == ("tiny-clip", "none")
    with pytest.raises(InputError, match="no pooling step"):
        resolve_encoder(clip, pooling="mean")


def test_missing_weights_are_found_without_loading(clip: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(clip, copy)
    (weights,) = copy.rglob("model.safetensors")
    assert problem(copy) is None
    weights.unlink()
    assert "lacks model.safetensors" in (problem(copy) or "")


@pytest.mark.slow
def test_silent(tiny_clip: Path) -> None:
    script = "import sys; from recapture.representations.encode import encode; print(encode(['a'], sys.argv[1]).shape)"
    done = subprocess.run([sys.executable, "-c", script, str(tiny_clip)], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("(1, 12)\n", "")


def test_a_tower_without_projection_gives_the_closing_tokens_vector(tiny_clip: Path, tmp_path: Path) -> None:
    """Outside oracle: transformers' own class, one text at a time."""
    import torch
    from transformers import AutoTokenizer, CLIPTextModel

    folder = tower_alone(CLIPTextModel, tiny_clip, tmp_path / "tower")
    tokenizer, model = AutoTokenizer.from_pretrained(folder), CLIPTextModel.from_pretrained(folder).eval()
    texts = ["a cat", "the dog sat", "naïve 猫", ""]
    with torch.no_grad():
        expected = [model(**tokenizer(text, return_tensors="pt")).pooler_output[0].numpy() for text in texts]
    np.testing.assert_allclose(encode(texts, folder, cache=False), expected, atol=1e-5)


def test_a_projection_that_is_missing_is_named(tiny_clip: Path, tmp_path: Path) -> None:
    from transformers import CLIPTextModel

    folder = tower_alone(CLIPTextModel, tiny_clip, tmp_path / "tower")
    settings = json.loads((folder / "config.json").read_text())
    settings["architectures"] = ["CLIPTextModelWithProjection"]
    (folder / "config.json").write_text(json.dumps(settings))
    with pytest.raises(InputError, match=r"text_projection\.weight"):
        encode(["a cat"], folder, cache=False)
