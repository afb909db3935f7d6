"""Order, repeats, batches, checks and the cache, with an encoder whose answers are known."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recapture.errors import InputError
from recapture.representations.encode import CHUNK, encode
from recapture.representations.text_order import LongestFirst
from recapture.representations.vector_cache import VectorCache


def letters(text: str) -> list[float]:
    """A vector that can be told by looking at the text."""
    return [float(len(text)), float(text.count("a")), float(sum(map(ord, text)) % 1009)]


class Letters:
    name = "letters"
    cacheable = True

    def __init__(self, revision: str = "1") -> None:
        self.revision = revision
        self.batches: list[list[str]] = []

    def identity(self) -> dict[str, str]:
        return {"encoder": self.name, "kind": "test", "revision": self.revision}

    def fit(self, texts: Sequence[str]) -> Letters:
        raise AssertionError("an encoder given as an object is used as it is")

    def encode_batch(self, texts: list[str]) -> np.ndarray:
        self.batches.append(texts)
        return np.array([letters(text) for text in texts], np.float32)

    @property
    def seen(self) -> list[str]:
        return [text for batch in self.batches for text in batch]


SENTENCES = [f"sentence {'a' * (number * 7 % 13)} {number}" for number in range(100)] + [""]


@pytest.mark.parametrize("batch_size", [1, 7, 64])
@pytest.mark.parametrize("cache", [True, False])
def test_rows_follow_their_texts_through_any_shuffle(batch_size: int, cache: bool) -> None:
    shift = np.roll(np.arange(len(SENTENCES)), 1)
    random = np.random.default_rng(5).permutation(len(SENTENCES))
    for order in (shift, random):
        assert not np.array_equal(order[order], np.arange(len(order)))  # not its own inverse
        texts = [SENTENCES[place] for place in order]
        vectors = encode(texts, Letters(), batch_size=batch_size, cache=cache)
        assert vectors.dtype == np.float32
        np.testing.assert_array_equal(vectors, [letters(text) for text in texts])


def test_half_cached_texts_keep_their_rows() -> None:
    encode(SENTENCES[::3], Letters())
    texts = [SENTENCES[place] for place in np.random.default_rng(6).permutation(len(SENTENCES))]
    encoder = Letters()
    np.testing.assert_array_equal(encode(texts, encoder), [letters(text) for text in texts])
    assert sorted(encoder.seen) == sorted(set(SENTENCES) - set(SENTENCES[::3]))


def test_repeats_are_encoded_once() -> None:
    encoder = Letters()
    texts = ["b", "a", "b", "", "a", "b", ""]
    np.testing.assert_array_equal(encode(texts, encoder, cache=False), [letters(text) for text in texts])
    assert sorted(encoder.seen) == ["", "a", "b"]


def test_many_repeats_span_several_parts() -> None:
    texts = [SENTENCES[number % 7] for number in range(2 * CHUNK + 5)]
    np.testing.assert_array_equal(encode(texts, Letters(), cache=False), [letters(text) for text in texts])


def test_an_encoder_that_forgets_a_text_is_told_so() -> None:
    class Forgetful(Letters):
        def encode_batches(self, texts: Any, rows: Any) -> Any:
            yield [0, 2], self.encode_batch([texts[0], texts[2]])

    with pytest.raises(InputError, match="the encoder letters gave no vector for text 0"):
        encode(["long", "longest", "a", "longest"], Forgetful())


def test_batches_hold_texts_of_similar_length_in_any_order_given() -> None:
    one, other = Letters(), Letters()
    encode(SENTENCES, one, batch_size=8, cache=False)
    encode(SENTENCES[::-1], other, batch_size=8, cache=False)
    assert one.batches == other.batches
    lengths = [len(text) for text in one.seen]
    assert lengths == sorted(lengths, reverse=True)
    assert max(map(len, one.batches)) == 8


def test_second_run_encodes_nothing() -> None:
    first = encode(SENTENCES, Letters())
    encoder = Letters()
    np.testing.assert_array_equal(encode(SENTENCES, encoder), first)
    assert encoder.batches == []


def test_identity_is_part_of_the_key() -> None:
    encode(["a"], Letters("1"))
    changed = Letters("2")
    encode(["a"], changed)
    assert changed.seen == ["a"]


def test_cache_can_be_off_or_elsewhere(tmp_path: Path) -> None:
    encode(["a"], Letters(), cache=False)
    assert not (tmp_path / "cache").exists()
    encode(["a"], Letters(), cache=tmp_path / "elsewhere")
    assert not (tmp_path / "cache").exists()
    assert VectorCache(tmp_path / "elsewhere").summary().entries == 1
    encoder = Letters()
    encode(["a"], encoder, cache=VectorCache(tmp_path / "elsewhere"))
    assert encoder.seen == []


def test_an_interrupted_run_is_resumed() -> None:
    texts = [f"text {number}" for number in range(CHUNK + 50)]

    class Interrupted(Letters):
        def encode_batch(self, texts: list[str]) -> np.ndarray:
            if len(self.seen) >= CHUNK:
                raise KeyboardInterrupt
            return super().encode_batch(texts)

    with pytest.raises(KeyboardInterrupt):
        encode(texts, Interrupted())
    encoder = Letters()
    np.testing.assert_array_equal(encode(texts, encoder), [letters(text) for text in texts])
    assert len(encoder.seen) == 50


def test_a_damaged_entry_is_made_again(tmp_path: Path) -> None:
    import sqlite3

    first = encode(SENTENCES, Letters())
    with sqlite3.connect(VectorCache().path) as db:
        (row, blob) = db.execute("SELECT rowid, vector FROM vectors LIMIT 1 OFFSET 40").fetchone()
        flipped = bytes([blob[0] ^ 0x10]) + blob[1:]
        db.execute("UPDATE vectors SET vector = ? WHERE rowid = ?", (flipped, row))
    db.close()
    for expected in (1, 0):  # made once, then replaced for good
        encoder = Letters()
        np.testing.assert_array_equal(encode(SENTENCES, encoder), first)
        assert len(encoder.seen) == expected


def test_texts_are_checked() -> None:
    with pytest.raises(InputError, match="text 2 is not a string but int"):
        encode(["a", "b", 3, None], Letters())  # type: ignore[list-item]
    with pytest.raises(InputError, match="single"):
        encode("one text", Letters())
    with pytest.raises(InputError, match="no texts"):
        encode([], Letters())
    with pytest.raises(InputError, match="text 1 is not valid Unicode"):
        encode(["a", "\ud83d"], Letters())
    with pytest.raises(InputError, match="batch size"):
        encode(["a"], Letters(), batch_size=0)


def test_any_iterable_of_texts_will_do() -> None:
    expected = [letters("b"), letters("aa")]
    for texts in (("b", "aa"), iter(["b", "aa"]), np.array(["b", "aa"])):
        np.testing.assert_array_equal(encode(texts, Letters()), expected)


def one_nan(texts: list[str]) -> np.ndarray:
    vectors = np.ones((len(texts), 2))
    vectors[[text == "bad" for text in texts]] = np.nan
    return vectors


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda texts: np.ones(len(texts)), r"shape \(3,\)"),
        (lambda texts: np.ones((1, 4)), r"3 texts .* shape \(1, 4\)"),
        (lambda texts: np.ones((len(texts), 0)), "shape"),
        (lambda texts: [["x"]] * len(texts), "array of numbers"),
        (one_nan, "infinity or no number for text 1"),
        (lambda texts: np.full((len(texts), 2), 1e300), "infinity or no number for text 0"),
        (lambda texts: None, "shape"),
    ],
)
def test_vectors_are_checked(function: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        encode(["something longer", "bad", "x"], function)


def test_width_must_stay_the_same() -> None:
    with pytest.raises(InputError, match="length"):
        encode(["aa", "b"], lambda texts: np.ones((len(texts), len(texts[0]))), batch_size=1)


def test_functions_are_not_cached(tmp_path: Path) -> None:
    np.testing.assert_array_equal(
        encode(["a", "bb"], lambda texts: [[len(text), 1] for text in texts]), [[1, 1], [2, 1]]
    )
    assert not (tmp_path / "cache").exists()


@given(st.lists(st.text("abcé", max_size=4), max_size=40, unique=True), st.data())
def test_longest_first_then_by_alphabet(texts: list[str], data: st.DataObject) -> None:
    chosen = data.draw(st.lists(st.sampled_from(range(len(texts))), unique=True)) if texts else []
    expected = sorted((texts[at] for at in chosen), key=lambda text: (-len(text), text))
    ordered = LongestFirst(texts, np.array(chosen, np.int64))
    some = data.draw(st.integers(0, len(chosen)))
    assert ordered[:some] == expected[:some]  # though the rest is not yet sorted
    assert [texts[at] for at in ordered.positions[:some]] == expected[:some]
    assert list(ordered) == expected and len(ordered) == len(expected)
    assert [ordered[at] for at in range(-len(chosen), len(chosen))] == expected * 2


def test_ties_are_sorted_as_they_are_asked_for() -> None:
    ordered = LongestFirst(["b", "a", "dd", "cc", "eee"], np.arange(5))
    assert ordered[0] == "eee" and ordered.positions.tolist() == [4, 2, 3, 0, 1]
    assert ordered[1:2] == ["cc"] and ordered.positions.tolist() == [4, 3, 2, 0, 1]
    assert list(ordered) == ["eee", "cc", "dd", "a", "b"]
