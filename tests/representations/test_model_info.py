"""What a metric would use under a name, without loading it."""

import json

import pytest

import recapture as rc


def test_counts_have_no_model():
    assert rc.model_info("bag-of-words")["encoder"] == "bag-of-words"


def test_words_and_masked_models(tiny_bert):
    words, masked = (
        rc.model_info(tiny_bert, "words", device="cpu"),
        rc.model_info(str(tiny_bert), "masked", device="cpu"),
    )
    layers = json.loads((tiny_bert / "config.json").read_text())["num_hidden_layers"]
    assert words["layers"] == layers and words["device"] == masked["device"] == "cpu"
    assert words["encoder"] == masked["encoder"] == tiny_bert.name
    result = rc.bertscore(["the cat sat"], ["a cat sat"], encoder=str(tiny_bert), device="cpu")
    assert result.signature["encoder"]["revision"] == words["revision"]


def test_the_number_type_is_that_of_the_device(tiny_bert, monkeypatch):
    """A machine with a GPU: half precision there, as InfoLM has it, and float32 on the processor."""
    from recapture.representations import masked_model

    monkeypatch.setattr(masked_model, "usable_device", lambda wanted: wanted or "cuda")
    for device, kind in ((None, "float16"), ("cpu", "float32")):
        about = rc.model_info(tiny_bert, "masked", device=device)
        assert (about["device"], about["dtype"]) == (device or "cuda", kind)


def test_unknown_kind():
    with pytest.raises(rc.InputError, match="did you mean words"):
        rc.model_info(kind="word")


def test_an_encoder_to_use_again():
    counts = rc.resolve_encoder("bag-of-words").fit(["a cat sat", "a dog ran"])
    assert rc.encode(["cat", "zebra"], counts).sum(axis=1).tolist() == [1, 0]
