"""Word-piece vectors: tokens, windows, batches and layers."""

from __future__ import annotations

import functools
import json
import shutil
import types
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recapture.errors import InputError
from recapture.geometry.parallel import engine
from recapture.representations import words as module
from recapture.representations.batches import token_batches
from recapture.representations.kept import Kept
from recapture.representations.locate import find_weights
from recapture.representations.pieces import Tokenizer
from recapture.representations.windows import windows
from recapture.representations.words import WordStore

TEXTS = ["the cat sat on the mat .", "a dog", "Green", "then the red dog ran under a tree and sat", "the zebra was red"]
LONG = " ".join(["the red cat sat under a green tree and then the dog ran"] * 12)[:-4]  # 155 tokens, room for 64
SHORT = " ".join(LONG.split()[:60])


@functools.cache
def loaded(folder: Path) -> tuple[Any, Any]:
    from transformers import AutoModel, AutoTokenizer

    return AutoTokenizer.from_pretrained(folder), AutoModel.from_pretrained(folder).eval()


def alone(folder: Path, ids: list[int]) -> np.ndarray:
    """(layers, tokens, width) by the library itself, one text at a time."""
    import torch

    with torch.no_grad():
        states = loaded(folder)[1](torch.tensor([ids]), output_hidden_states=True).hidden_states
    return np.stack([state[0].numpy() for state in states])


def tokens(folder: Path, text: str) -> list[int]:
    return loaded(folder)[0](text)["input_ids"]


# Windows


@given(st.integers(0, 400), st.integers(1, 70))
def test_every_token_is_kept_once(count: int, room: int) -> None:
    made = windows(count, room)
    assert [place for part in made for place in range(part.first, part.last)] == list(range(count))
    for part in made:
        assert 0 <= part.start <= part.first <= part.last <= part.stop <= count
        assert part.stop - part.start <= room
    assert len(made) == 1 or all(part.stop - part.start == room for part in made)


@given(st.integers(1, 400), st.integers(4, 70))
def test_kept_tokens_see_both_sides(count: int, room: int) -> None:
    for part in windows(count, room):
        assert part.start == 0 or part.first - part.start >= room // 4
        assert part.stop == count or part.stop - part.last >= room // 4


@given(st.integers(0, 70), st.integers(0, 20))
def test_a_text_that_fits_is_one_window(count: int, more: int) -> None:
    assert windows(count, max(1, count + more)) == [(0, count, 0, count)]


# Batches and memory


@given(st.lists(st.integers(1, 60), max_size=80), st.integers(1, 300))
def test_batches_hold_every_row_once_within_the_budget(lengths: list[int], budget: int) -> None:
    batches = list(token_batches(lengths, budget))
    assert sorted(place for batch in batches for place in batch) == list(range(len(lengths)))
    for batch in batches:
        assert len(batch) == 1 or len(batch) * max(lengths[place] for place in batch) <= budget


def test_oldest_entries_make_room_and_the_newest_stay() -> None:
    kept: Kept[str, bytes] = Kept(len, 10)
    for name in "abc":
        assert kept.missing([name]) == [name]
        kept.put(name, b"1234")
        kept.make_room(1)
    assert kept.missing(["a", "b", "c"]) == ["a"]
    kept.missing(["b"])  # used again, so c is now the oldest
    kept.put("d", b"1234")
    kept.make_room(1)
    assert kept.missing(["b", "c", "d"]) == ["c"]
    kept.put("e", b"1" * 50)
    kept.make_room(1)
    assert kept.missing(["b", "d", "e"]) == ["b", "d"]


def test_what_is_held_stays_until_it_is_released() -> None:
    kept: Kept[str, bytes] = Kept(len, 10)
    kept.put("a", b"1234")
    kept.hold(["a", "b"])
    kept.hold(["b"])
    for name in "bcdef":
        kept.put(name, b"1234")
        kept.make_room(1)
    assert kept.missing([*"abcdef"]) == ["c", "d"]
    assert (kept["a"], kept["b"], kept["f"]) == (b"1234",) * 3
    kept.release(["b"])
    kept.make_room(1)
    assert kept.missing(["a", "b"]) == []
    kept.release(["a", "b"])  # now the newest of those that may go
    kept.make_room(1)
    assert kept.missing([*"abef"]) == ["e", "f"]


def test_no_more_is_held_than_may_be() -> None:
    kept: Kept[str, bytes] = Kept(len, 4, most_held=8)
    kept.hold("abcd")
    for name in "abcd":
        kept.put(name, b"1234")
        kept.make_room(1)
    assert kept.missing([*"abcd"]) == ["c"]


# Pieces


def test_pieces_are_the_tokenizers(tiny_bert: Path) -> None:
    made = Tokenizer(find_weights(str(tiny_bert)), "the encoder").pieces(TEXTS)
    for text, piece in zip(TEXTS, made, strict=True):
        assert [*piece.before, *piece.own, *piece.behind] == tokens(tiny_bert, text)
        assert (piece.before, piece.behind) == ((2,), (3,))


def test_pieces_of_blank_and_odd_texts(tiny_bert: Path) -> None:
    tokenizer = Tokenizer(find_weights(str(tiny_bert)), "the encoder")
    blank, padded, plain, written = tokenizer.pieces(["  \n", "  a dog ", "a dog", "[SEP] cat [CLS]"])
    assert blank == ((2,), (), (3,))
    assert padded == plain
    assert (written.before, written.own[0], written.own[-1], written.behind) == ((2,), 3, 2, (3,))
    assert tokenizer.words(plain.own) == ["a", "dog"]


def test_pieces_are_never_cut(tiny_bert: Path) -> None:
    (piece,) = Tokenizer(find_weights(str(tiny_bert)), "the encoder").pieces([LONG])
    assert len(piece.own) == len(LONG.split()) == 155


# Vectors


@pytest.mark.parametrize("layers", [[0], [1], [2], [0, 2], [0, 1, 2]])
@pytest.mark.parametrize("batch_tokens", [1, 20, None])
def test_vectors_are_the_models_own(tiny_bert: Path, layers: list[int], batch_tokens: int | None) -> None:
    store = WordStore(str(tiny_bert), batch_tokens=batch_tokens)
    store.want(layers)
    store.ensure(TEXTS)
    assert store.layers == layers
    for text in TEXTS:
        made = store[text]
        assert made.ids.tolist() == tokens(tiny_bert, text)
        assert made.vectors.dtype == np.float32
        np.testing.assert_allclose(made.vectors, alone(tiny_bert, made.ids.tolist())[layers], atol=1e-5)
        np.testing.assert_array_equal(store.stacked(text, layers[-1:]), made.vectors[-1:, 1:-1])


@pytest.mark.parametrize("accelerator", [None, "cpu"])
def test_texts_of_which_a_tokenizer_makes_nothing(plain_words: Path, accelerator: str | None) -> None:
    with engine(accelerator=accelerator):
        for texts in (["\u200b"], ["\u200b", "\u0301"], ["\u200b", "the cat"]):
            store = WordStore(str(plain_words))
            store.want([1, 2])
            store.ensure(texts)
            assert [tuple(store[text].vectors.shape) for text in texts] == [
                (2, len(text.split()) if "cat" in text else 0, 32) for text in texts
            ]


def test_half_precision_is_said_and_near(tiny_bert: Path) -> None:
    """As the library computes it in bfloat16, one text at a time."""
    import torch

    store = WordStore(str(tiny_bert), dtype="bf16")
    store.want([2])
    store.ensure(TEXTS)
    assert store.identity()["dtype"] == "bfloat16"
    model = loaded(tiny_bert)[1].bfloat16()
    try:
        for text in TEXTS:
            with torch.no_grad():
                expected = model(torch.tensor([tokens(tiny_bert, text)])).last_hidden_state[0].float().numpy()
            found = store[text].vectors[0]
            assert found.dtype == np.float32
            np.testing.assert_allclose(found, expected, atol=0.1)  # 8 bits of numbers up to 4, in another order
    finally:
        model.float()
        loaded.cache_clear()  # rounded weights stay rounded


def test_layers_may_be_wanted_later(tiny_bert: Path) -> None:
    """Also deeper ones, though the model was cut off above."""
    store = WordStore(str(tiny_bert))
    store.want([0])
    store.ensure(TEXTS)
    store.want([2])
    store.ensure(TEXTS)
    assert store.layers == [0, 2]
    for text in TEXTS:
        np.testing.assert_allclose(store[text].vectors, alone(tiny_bert, tokens(tiny_bert, text))[[0, 2]], atol=1e-5)


def test_order_of_texts_does_not_matter(tiny_bert: Path) -> None:
    forth, back = WordStore(str(tiny_bert)), WordStore(str(tiny_bert))
    for store, texts in ((forth, TEXTS), (back, TEXTS[::-1])):
        store.want([2])
        store.ensure(texts)
    for text in TEXTS:
        np.testing.assert_array_equal(forth[text].vectors, back[text].vectors)


def test_each_text_is_encoded_once(tiny_bert: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows: list[Any] = []
    forward = WordStore._forward
    monkeypatch.setattr(WordStore, "_forward", lambda self, some: rows.extend(some) or forward(self, some))
    store = WordStore(str(tiny_bert))
    store.want([1])
    store.ensure(TEXTS + TEXTS)
    store.ensure(TEXTS[::-1])
    assert len(rows) == len(TEXTS)


def test_a_call_larger_than_memory_stays_whole(tiny_bert: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_KEPT_BYTES", 100)
    store = WordStore(str(tiny_bert))
    store.want([1])
    store.ensure(TEXTS)
    assert all(len(store[text].ids) for text in TEXTS)
    store.ensure(["a cat"])
    with pytest.raises(KeyError):
        store[TEXTS[0]]


# Long texts


def test_long_texts_go_through_in_windows(tiny_bert: Path) -> None:
    """Each token has the vector that the library gives for its window alone."""
    store = WordStore(str(tiny_bert), batch_tokens=130)
    store.want([1, 2])
    store.ensure([LONG, SHORT, *TEXTS])
    assert store.windowed == {LONG}
    assert store.room == 64
    ids = tokens(tiny_bert, LONG)
    made = store[LONG]
    assert made.ids.tolist() == ids
    own = ids[1:-1]
    # By hand: room for 62 beside the two special tokens, so windows begin every 31 tokens, the last at 155 - 62 = 93.
    # Of the 31 tokens that two windows share, each takes the half that lies nearer to its middle.
    expected = []
    for start, first, last in ((0, 0, 47), (31, 47, 78), (62, 78, 109), (93, 109, 155)):
        seen = alone(tiny_bert, [2, *own[start : start + 62], 3])[1:]
        expected.append(seen[:, 1 + first - start : 1 + last - start])
    np.testing.assert_allclose(made.vectors[:, 1:-1], np.concatenate(expected, axis=1), atol=1e-5)
    np.testing.assert_allclose(made.vectors[:, 0], alone(tiny_bert, [2, *own[:62], 3])[1:, 0], atol=1e-5)
    np.testing.assert_allclose(made.vectors[:, -1], alone(tiny_bert, [2, *own[-62:], 3])[1:, -1], atol=1e-5)


def test_vectors_stay_on_a_device_where_they_are_compared_there(tiny_bert: Path) -> None:
    """The same numbers as arrays, in one tensor; the processor takes the part of the device."""
    torch = pytest.importorskip("torch")
    texts, layers = [SHORT, LONG, *TEXTS], [1, 2]
    here = WordStore(str(tiny_bert), device="cpu")
    here.want([0, *layers])
    here.ensure(texts)
    with engine(accelerator="cpu"):
        there = WordStore(str(tiny_bert), device="cpu")
        there.want([0, *layers])
        there.ensure(texts)
        table = there.table(texts, layers)
        assert (here.accelerator, there.accelerator) == (None, "cpu")
    assert there.accelerator == "cpu"  # what was made stays where it is
    assert there.windowed == {LONG}
    for text, first, size, before, own in zip(texts, *table[1:], strict=True):
        assert torch.is_tensor(there[text].vectors)
        whole = here[text].vectors
        np.testing.assert_array_equal(there[text].vectors.numpy(), whole)
        np.testing.assert_array_equal(table.vectors[first : first + size].transpose(0, 1).numpy(), whole[1:])
        np.testing.assert_array_equal(there.stacked(text, [1]), whole[1:2, before : before + own])
        assert (size, before, own) == (whole.shape[1], 1, whole.shape[1] - 2)
    assert len(table.vectors) == table.sizes.sum()


def test_no_attention_is_planned_for_every_shape(tiny_bert: Path) -> None:
    """Of all models that go through here; see `attention`."""
    torch = pytest.importorskip("torch")
    store = WordStore(str(tiny_bert), device="cpu")
    store.want([1])
    store.ensure(["the model is loaded"])
    seen: list[bool] = []
    store._model.register_forward_hook(lambda *_: seen.append(torch.backends.cuda.cudnn_sdp_enabled()))
    before = torch.backends.cuda.cudnn_sdp_enabled()
    store.ensure(TEXTS)
    assert seen and not any(seen)
    assert torch.backends.cuda.cudnn_sdp_enabled() == before


def test_a_device_keeps_and_holds_a_part_of_its_memory(tiny_bert: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    torch = pytest.importorskip("torch")
    memory = {"cuda": 8 << 30, "cuda:1": 80 << 30}
    monkeypatch.setattr(
        torch.cuda, "get_device_properties", lambda device: types.SimpleNamespace(total_memory=memory[device])
    )
    assert [module._room_there(device) for device in memory] == [(1 << 30, 2 << 30), (10 << 30, 20 << 30)]
    monkeypatch.setattr(module, "_room_there", lambda device: (100, 0))  # next to nothing
    with engine(accelerator="cpu"):
        store = WordStore(str(tiny_bert), device="cpu")
        store.want([1])
        store.hold(TEXTS)
        store.ensure(TEXTS)
        store.ensure(["a cat"])
    with pytest.raises(KeyError):
        store[TEXTS[0]]


def with_room(folder: Path, target: Path, room: int, free_of_context: bool = False) -> Path:
    """A copy with more places, of which the first are the old ones; or with all places and all attention at 0."""
    from safetensors.numpy import load_file, save_file

    shutil.copytree(folder, target)
    weights = load_file(target / "model.safetensors")
    (places,) = (name for name in weights if name.endswith("position_embeddings.weight"))
    more = np.random.default_rng(1).normal(size=(room - 64, 32)).astype(np.float32)
    weights[places] = np.concatenate([weights[places], more])
    if free_of_context:
        for name in weights:
            if name == places or ".attention.output.dense." in name:
                weights[name] = np.zeros_like(weights[name])
    save_file(weights, target / "model.safetensors", {"format": "pt"})
    config = json.loads((target / "config.json").read_text("utf-8"))
    (target / "config.json").write_text(json.dumps({**config, "max_position_embeddings": room}), "utf-8")
    return target


def test_larger_models_need_no_windows(tiny_bert: Path, tmp_path: Path) -> None:
    large = with_room(tiny_bert, tmp_path / "large", 200)
    stores = [WordStore(str(folder)) for folder in (tiny_bert, large)]
    for store in stores:
        store.want([2])
        store.ensure([LONG, SHORT])
    assert [len(store.windowed) for store in stores] == [1, 0]
    np.testing.assert_allclose(stores[0][SHORT].vectors, stores[1][SHORT].vectors, atol=1e-5)
    np.testing.assert_allclose(stores[1][LONG].vectors, alone(large, tokens(large, LONG))[[2]], atol=1e-5)
    # Windows are no full context: places and neighbours differ.
    assert np.abs(stores[0][LONG].vectors - stores[1][LONG].vectors).max() > 0.01


def test_windows_equal_full_context_where_context_has_no_say(tiny_bert: Path, tmp_path: Path) -> None:
    small = with_room(tiny_bert, tmp_path / "small", 64, free_of_context=True)
    large = with_room(tiny_bert, tmp_path / "large", 200, free_of_context=True)
    text = " ".join(f"{word} {word}" if place % 7 else word for place, word in enumerate(LONG.split()[:90]))
    stores = [WordStore(str(folder)) for folder in (small, large)]
    for store in stores:
        store.want([0, 1, 2])
        store.ensure([text])
    assert [len(store.windowed) for store in stores] == [1, 0]
    np.testing.assert_allclose(stores[0][text].vectors, stores[1][text].vectors, atol=1e-5)


# Errors


@pytest.mark.parametrize("layer", [-1, 3])
def test_layers_that_are_not_there(tiny_bert: Path, layer: int) -> None:
    with pytest.raises(InputError, match=f"has layers 0 to 2, not {layer}"):
        WordStore(str(tiny_bert)).want([layer])


@pytest.mark.parametrize("count", [0, 3, True, 1.0, "2"])
def test_last_layers_that_are_not_there(tiny_bert: Path, count: Any) -> None:
    with pytest.raises(InputError, match="layers must be a whole number from 1 to 2"):
        WordStore(str(tiny_bert)).want_last(count)


def test_last_layers(tiny_bert: Path) -> None:
    store = WordStore(str(tiny_bert))
    assert store.want_last(1) == [2]
    assert store.want_last(2) == store.layers == [1, 2]


def test_encoders_without_plain_layers_are_refused(tiny_bert: Path, tmp_path: Path) -> None:
    folder = tmp_path / "both"
    shutil.copytree(tiny_bert, folder)
    config = json.loads((folder / "config.json").read_text("utf-8"))
    (folder / "config.json").write_text(json.dumps({**config, "is_encoder_decoder": True}), "utf-8")
    with pytest.raises(InputError, match="is no plain transformer"):
        WordStore(str(folder))


def test_weights_are_never_made_up(tiny_bert: Path, tmp_path: Path) -> None:
    from safetensors.numpy import load_file, save_file

    folder = tmp_path / "half"
    shutil.copytree(tiny_bert, folder)
    weights = load_file(folder / "model.safetensors")
    lost = next(name for name in weights if "layer.1.attention.self.query.weight" in name)
    del weights[lost]
    save_file(weights, folder / "model.safetensors", {"format": "pt"})
    store = WordStore(str(folder))
    store.want([1])
    with pytest.raises(InputError, match=r"has no weights for .*query"):
        store.ensure(TEXTS)
