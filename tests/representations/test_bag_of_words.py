from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from recapture.errors import InputError
from recapture.representations.encode import encode
from recapture.representations.encoder import resolve_encoder
from recapture.representations.encoders.bag_of_words import BagOfWords, words
from recapture.representations.vectors import vectors_of

TEXTS = ["The cat and the dog.", "A dog! A dog?", "", "Don't — the CAT doesn’t"]


def test_most_frequent_first_then_by_alphabet() -> None:
    # Counted by hand: dog 3, the 3, a 2, cat 2, and 1, doesn’t 1, don't 1.
    assert BagOfWords().fit(TEXTS).vocabulary == ["dog", "the", "a", "cat", "and", "doesn’t", "don't"]


def test_counts_by_hand() -> None:
    # Columns: dog, the, a, cat, and, doesn’t, don't.
    expected = [[1, 2, 0, 1, 1, 0, 0], [2, 0, 2, 0, 0, 0, 0], [0] * 7, [0, 1, 0, 1, 0, 1, 1]]
    vectors = encode(TEXTS, "bag-of-words")
    assert vectors.dtype == np.float32
    np.testing.assert_array_equal(vectors, expected)


def test_counts_agree_with_scikit_learn() -> None:
    # Outside oracle: CountVectorizer with the same words and the documented pattern.
    scikit_learn = pytest.importorskip("sklearn.feature_extraction.text", reason="scikit-learn is not installed")

    random = np.random.default_rng(1)
    vocabulary = [f"wort{number}" for number in range(300)] + ["naïve", "straße", "ждать", "猫", "it's"]
    texts = [" ".join(random.choice(vocabulary, 40)).title() for _ in range(200)]
    bag = BagOfWords().fit(texts)
    oracle = scikit_learn.CountVectorizer(vocabulary=bag.vocabulary, token_pattern=r"\w+(?:['’]\w+)*")
    np.testing.assert_array_equal(encode(texts, bag), oracle.transform(texts).toarray())


def test_at_most_five_thousand_words() -> None:
    # The first five thousand words occur twice, the others once.
    texts = [f"w{number:04d}" for number in range(6000)] + [" ".join(f"w{number:04d}" for number in range(5000))]
    bag = BagOfWords().fit(texts)
    assert bag.vocabulary == [f"w{number:04d}" for number in range(5000)]
    assert bag.encode_batch(["w0001 w5500"]).sum() == 1


def test_words_are_lower_case_and_composed() -> None:
    assert words("E\u0301COLE snake_case x2 'quoted'") == ["école", "snake_case", "x2", "quoted"]


def test_fit_learns_from_the_reference_only_and_leaves_the_original_alone() -> None:
    empty = resolve_encoder("bag-of-words")
    fitted = empty.fit(["red red green"])
    np.testing.assert_array_equal(encode(["green blue", "red"], fitted), [[0, 1], [1, 0]])
    assert "revision" not in empty.identity()
    assert fitted.identity()["revision"] == BagOfWords().fit(["green red red"]).identity()["revision"]
    assert fitted.identity()["revision"] != BagOfWords().fit(["red green green"]).identity()["revision"]
    assert not fitted.cacheable


def test_unfitted_object_and_wordless_texts_are_refused() -> None:
    with pytest.raises(InputError, match="fit"):
        encode(["one"], BagOfWords())
    with pytest.raises(InputError, match="no words"):
        encode(["", "..."], "bag-of-words")
    with pytest.raises(InputError, match="pooling"):
        encode(["one"], "bag-of-words", pooling="mean")


@pytest.mark.slow
def test_needs_no_torch() -> None:
    script = (
        "import sys; from recapture.representations.encode import encode; encode(['a b'], 'bag-of-words');"
        "print(sorted({'torch', 'transformers', 'sentence_transformers', 'huggingface_hub'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_an_array_of_zeros_that_no_machine_should_hold_is_refused(monkeypatch) -> None:
    import recapture.representations.encode as module

    monkeypatch.setattr(module, "_LARGEST_ARRAY", 4 * 4 * 7 - 1)
    with pytest.raises(InputError, match=r"counts of 7 words in 4 texts are an array of 0\.0 GiB"):
        encode(TEXTS, "bag-of-words")
    assert encode(TEXTS[:3], "bag-of-words").shape == (3, 5)


def test_texts_become_counts_without_zeros_for_metrics() -> None:
    from recapture.geometry.sparse_rows import SparseRows

    encoded = vectors_of([TEXTS, TEXTS[:2]], ["reference", "candidate"], "bag-of-words")
    assert all(isinstance(rows, SparseRows) for rows in encoded.sets)
    assert [rows.matrix.nnz for rows in encoded.sets] == [10, 6]  # other than 0 in the table above
    np.testing.assert_array_equal(np.asarray(encoded.sets[0]), encode(TEXTS, "bag-of-words"))


def test_texts_that_share_no_word_are_told() -> None:
    # Without blanks between words a text is one word: all are equally far apart, and nothing can be told.
    apart = [f"这是第{number}个句子" for number in range(20)]
    reference, candidate = vectors_of([apart, apart[::-1]], ["reference", "candidate"], "bag-of-words").notes
    for notes, name in ((reference, "reference"), (candidate, "candidate")):
        assert sum(f"20 of 20 texts of {name} share no word with any other" in note for note in notes) == 1
    human = ["the cat sat", "a cat ran", "the dog sat", "a dog ran"]
    of_half, of_more = vectors_of(
        [human * 3, ["sun", "moon", "night", *human * 2]], ["reference", "candidate"], "bag-of-words"
    ).notes
    assert not [note for note in of_half if "share no word" in note]
    assert [note for note in of_more if note.startswith("3 of 11 texts of candidate share no word")]
    assert [note for note in of_more if note.endswith("it does not see how texts differ in them")]
