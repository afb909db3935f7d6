"""The masked language models of recapture-weights: found, small enough, as their card says, able to guess words."""

import hashlib
import json
import re
import sys
from importlib.metadata import requires
from pathlib import Path

import pytest

from recapture.errors import InputError
from recapture.representations import shipped
from recapture.representations.locate import Weights
from recapture.representations.masked_model import find_masked_model


def held_out_figures(name):
    """By source of the held-out texts, as training noted it: tokens asked for, perplexity, share guessed right."""
    from safetensors import safe_open

    with safe_open(str(shipped.shipped_file()), "numpy") as file:  # only the notes are read: that needs no torch
        notes = dict(file.metadata() or {})
    return json.loads(notes["head_only_held_out" if name == shipped.HEAD else "held_out"])


ROOT = Path(__file__).parents[2]
CARD = (ROOT / "weights" / "README.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def models(default_masked_model):
    return {name: find_masked_model(name, device="cpu", offline=True) for name in shipped.SHIPPED}


def guesses(model, text, count=5):
    """The likeliest words for [MASK], best first."""
    (pieces,) = model.tokenizer.pieces([text])
    ids = [*pieces.before, *pieces.own, *pieces.behind]
    logits = model.logits(model.head_vectors([ids], [ids.index(model.tokenizer.mask)]))[0]
    return model.tokenizer.words(logits.topk(count).indices.tolist())


@pytest.fixture
def stand_in(tmp_path, monkeypatch):
    """A folder of the package's name, first on the path; importing it would fail."""
    folder = tmp_path / "site" / "recapture_weights"
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text("raise RuntimeError('must not be imported')")
    monkeypatch.syspath_prepend(folder.parent)
    monkeypatch.delitem(sys.modules, "recapture_weights", raising=False)  # another test may have imported the real one
    return folder


def test_found_by_its_package_which_is_not_imported(stand_in):
    file = stand_in / "recapture-minilm.safetensors"
    head, numbers = b'{"__metadata__":{"note":"any"}}', b"numbers"
    file.write_bytes(len(head).to_bytes(8, "little") + head + numbers)
    assert shipped.shipped_file() == file
    assert shipped.shipped_revision() == hashlib.blake2b(numbers, digest_size=16).hexdigest()


def test_nothing_recapture_needs_is_the_package_of_no_index():
    """An extra with its name would make pip look for it on PyPI."""
    assert not [need for need in requires("recapture") or () if "weights" in need.lower()]


def test_size(default_masked_model):
    assert shipped.shipped_file().stat().st_size <= 24_000_000


def test_weights_are_those_of_the_evidence(default_masked_model):
    """The pages of evidence name the revision they were made with, behind the encoder's."""
    page = (ROOT / "docs" / "evidence" / "webnlg.md").read_text(encoding="utf-8")
    assert set(re.findall(r"\| recapture-minilm-\w+ \| \w+\+(\w+) \|", page)) == {shipped.shipped_revision()}


@pytest.mark.slow
def test_the_trained_one_guesses_words(models):
    """What any English reader would put there."""
    model = models[shipped.MLM]
    assert guesses(model, "She opened the [MASK] and went into the house.")[0] == "door"
    assert "king" in guesses(model, "The queen and the [MASK] ruled the country together.")
    assert guesses(model, "He has lived there [MASK] 1990.")[0] == "since"


@pytest.mark.slow
def test_both_share_their_words(models):
    """The word embeddings are the encoder's own, in both models."""
    from safetensors.torch import load_file

    folder = models[shipped.HEAD]._weights.folder
    words = load_file(str(folder / "model.safetensors"))["embeddings.word_embeddings.weight"]
    for model in models.values():
        whole = shipped.load_shipped(model.name, model._weights)
        assert (whole.get_input_embeddings().weight == words).all()
        assert whole.get_output_embeddings().weight is whole.get_input_embeddings().weight


@pytest.mark.slow
def test_the_head_stands_on_the_encoder_itself(models):
    """Its body gives the vectors that the encoder's own model class gives."""
    import torch
    from transformers import AutoModel

    model = models[shipped.HEAD]
    encoder = AutoModel.from_pretrained(str(model._weights.folder), local_files_only=True).eval()
    ours = shipped.load_shipped(model.name, model._weights).eval().bert
    ids = torch.tensor([[101, 1996, 4937, 2938, 102]])
    with torch.no_grad():
        assert torch.equal(ours(ids).last_hidden_state, encoder(ids).last_hidden_state)


@pytest.mark.parametrize(("name", "column"), [(shipped.MLM, 1), (shipped.HEAD, 3)])
def test_card_says_what_the_file_notes(default_masked_model, name, column):
    figures = held_out_figures(name)
    for source, (tokens, perplexity, top1) in figures.items():
        (row,) = re.findall(rf"^\| {source} \| (.*) \|$", CARD, re.MULTILINE)[-1:]
        cells = row.split(" | ")
        assert cells[0] == f"{tokens:,}"
        assert cells[column] == (f"{perplexity:.2f}" if name == shipped.MLM else f"{perplexity:.0f}")
        assert cells[column + 1] == f"{100 * top1:.1f} %"


def test_bars_of_the_trained_one(default_masked_model):
    """Asked of the model before it was made: perplexity at most 15, top-1 at least 49 %."""
    _, perplexity, top1 = held_out_figures(shipped.MLM)["total"]
    assert perplexity <= 15
    assert top1 >= 0.49


@pytest.mark.slow
def test_perplexity_through_the_library(models, data_folder):
    """150 places of the held-out texts, one masked at a time: within three standard errors of the noted figure."""
    import math
    import random

    import torch

    heldout = data_folder.parent / "corpus" / "heldout.tsv"
    if not heldout.is_file():
        pytest.skip("the held-out texts are not beside the evaluation data")
    model = models[shipped.MLM]
    draw = random.Random(1)
    lines = [line.split("\t")[1] for line in heldout.read_text(encoding="utf-8").splitlines()]
    losses = []
    for pieces in model.tokenizer.pieces(draw.sample(lines, 150)):
        ids = [*pieces.before, *pieces.own[:126], *pieces.behind]
        place = draw.randrange(1, len(ids) - 1)
        logits = model.logits(model.head_vectors([ids], [place]))[0].double()
        losses.append(float(torch.logsumexp(logits, 0) - logits[ids[place]]))
    mean = math.fsum(losses) / len(losses)
    error = math.sqrt(sum((loss - mean) ** 2 for loss in losses)) / len(losses)
    noted = math.log(held_out_figures(shipped.MLM)["total"][1])
    assert abs(mean - noted) < 3 * error
    assert error < 0.3


@pytest.mark.traced
@pytest.mark.slow
def test_other_weights_of_the_same_name_are_refused(models, tmp_path):
    import shutil

    from safetensors.torch import load_file, save_file

    source = models[shipped.HEAD]._weights.folder
    for file in source.glob("*.json"):
        shutil.copy(file, tmp_path)
    tensors = load_file(str(source / "model.safetensors"))
    tensors["embeddings.LayerNorm.bias"] += 1
    save_file(tensors, str(tmp_path / "model.safetensors"))
    with pytest.raises(InputError, match=r"other weights.*recapture\[offline\]"):
        shipped.load_shipped(shipped.MLM, Weights("all-MiniLM-L6-v2", tmp_path))


def test_a_lost_file_is_said(stand_in):
    with pytest.raises(InputError, match=r"lacks .*recapture-minilm\.safetensors: run pip install \./weights in"):
        shipped.shipped_revision()
