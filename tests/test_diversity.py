"""Self-BLEU against a loop over sacrebleu; distinct n-grams against sets."""

import gzip
import itertools
import json
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.metrics.bleu import BLEU

from recapture.errors import InputError
from recapture.lexical.tokens import caption_tokens
from recapture.similarity.diversity import distinct_n, self_bleu

WORDS = ["the", "The", "dog", "cat", "runs", "on", "grass", ",", "ball.", "red", "isn't"]
few = settings(max_examples=30, deadline=None)


def texts(seed, count):
    rng = random.Random(seed)
    made = [" ".join(rng.choices(WORDS, k=rng.randint(1, 12))) for _ in range(count)]
    return [*made, *rng.choices(made, k=rng.randint(0, 2))]


def looped(listed, **options):
    metric = BLEU(effective_order=True, **options)
    scores = [metric.sentence_score(text, listed[:i] + listed[i + 1 :]).score for i, text in enumerate(listed)]
    return sum(scores) / len(scores) / 100


@few
@given(
    seed=st.integers(0, 10_000),
    count=st.integers(2, 12),
    order=st.integers(1, 5),
    options=st.sampled_from([{}, {"lowercase": True}, {"tokenize": "none"}]),
)
def test_self_bleu_as_a_loop_over_sacrebleu(seed, count, order, options):
    listed = texts(seed, count)
    expected = looped(listed, max_ngram_order=order, **options)
    assert self_bleu(listed, order, **options) == pytest.approx(expected, abs=1e-9)


def test_self_bleu_of_real_captions(data_folder):
    with gzip.open(data_folder / "abstract48s" / "contexts.jsonl.gz", "rt", encoding="utf-8") as lines:
        for line in itertools.islice(lines, 3):
            references = json.loads(line)["references"]
            assert self_bleu(references) == pytest.approx(looped(references), abs=1e-9)


def test_self_bleu_at_its_ends():
    assert self_bleu(["a dog runs home"] * 3) == 1
    assert self_bleu(["a dog runs home", "the cat sits here"]) == 0
    assert self_bleu(["", "a dog"]) == 0


def test_order_of_texts_does_not_matter():
    listed = texts(3, 9)
    assert self_bleu(listed[::-1]) == pytest.approx(self_bleu(listed), rel=1e-12)


@few
@given(seed=st.integers(0, 10_000), count=st.integers(1, 9))
def test_distinct_n_by_sets(seed, count):
    listed = texts(seed, count)
    made = distinct_n(listed, n=(1, 3))
    assert list(made) == [1, 3]
    for n, value in made.items():
        runs = [tuple(tokens[i : i + n]) for tokens in map(caption_tokens, listed) for i in range(len(tokens) - n + 1)]
        assert value == (len(set(runs)) / len(runs) if runs else None)


def test_distinct_n_by_hand():
    # Li et al. 2016: distinct unigrams / tokens = 3/4, distinct bigrams / bigrams = 2/2; n-grams stay inside a text.
    assert distinct_n(["a dog", "a cat"]) == {1: 0.75, 2: 1.0}
    assert distinct_n(["dog", "cat"], n=2) == {2: None}
    assert distinct_n(["A-B a-b"], n=1, tokenize=str.split) == {1: 1.0}


@pytest.mark.parametrize(
    ("call", "complaint"),
    [
        (lambda: self_bleu(["alone"]), "at least two texts"),
        (lambda: self_bleu([]), "no texts"),
        (lambda: self_bleu("one string"), "a list of texts"),
        (lambda: self_bleu(["a", 2]), "text 1 is not a string"),
        (lambda: self_bleu(["a", "b"], 0), "order must be"),
        (lambda: self_bleu(["a", "b"], tokenize="13b"), "no tokenizer"),
        (lambda: distinct_n([]), "no texts"),
        (lambda: distinct_n(["a"], n=()), "names no"),
        (lambda: distinct_n(["a"], n=(1, 0)), "n must be"),
    ],
)
def test_bad_input(call, complaint):
    with pytest.raises(InputError, match=complaint):
        call()
