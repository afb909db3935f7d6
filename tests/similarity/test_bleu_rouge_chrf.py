"""Sentence BLEU and chrF against sacrebleu, ROUGE-L against rouge-score, pair by pair."""

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rouge_score.rouge_scorer import RougeScorer
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF

from recapture.errors import InputError
from recapture.similarity.scorer import METRICS

WORDS = [
    *("The", "the", "dog", "dogs", "cat", "runs", "running", "on", "grass,", "ball.", "red-hot", "isn't", "3.5"),
    *("naïve", "犬", "(", ")", "!", " ", ""),
]
few = settings(max_examples=30, deadline=None)


def texts(seed, count, longest=12):
    rng = random.Random(seed)
    return [" ".join(rng.choices(WORDS, k=rng.randint(0, longest))) for _ in range(count)]


def table(rows, columns, score):
    return [[score(row, column) for column in columns] for row in rows]


def nothing(text):
    return not text.strip()


@few
@given(
    seed=st.integers(0, 10_000),
    options=st.sampled_from([{}, {"lowercase": True}, {"tokenize": "char"}, {"tokenize": "intl"}]),
)
def test_bleu_as_sacrebleu(seed, options):
    oracle = BLEU(effective_order=True, **options)
    rows, columns = texts(seed, 5), texts(seed + 1, 4)
    columns[0] = rows[0]

    def score(row, column):
        # Said in the docs: two texts without tokens are equal.
        return 1 if nothing(row) and nothing(column) else oracle.sentence_score(row, [column]).score / 100

    made = METRICS.find("sentence-bleu").scorer(**options).cross(rows, columns)
    np.testing.assert_allclose(made, table(rows, columns, score), rtol=1e-9, atol=1e-12)


@few
@given(
    seed=st.integers(0, 10_000),
    options=st.sampled_from([{}, {"lowercase": True}, {"char_order": 3, "beta": 1}]),
)
def test_chrf_as_sacrebleu(seed, options):
    oracle = CHRF(**options)
    rows, columns = texts(seed, 5), texts(seed + 1, 4)
    columns[0] = rows[0]

    def score(row, column):
        return 1 if nothing(row) and nothing(column) else oracle.sentence_score(row, [column]).score / 100

    made = METRICS.find("chrf").scorer(**options).cross(rows, columns)
    np.testing.assert_allclose(made, table(rows, columns, score), rtol=1e-9, atol=1e-12)


@pytest.mark.slow
@few
@given(seed=st.integers(0, 10_000), stemmer=st.booleans())
def test_rouge_l_as_rouge_score(seed, stemmer):
    oracle = RougeScorer(["rougeL"], use_stemmer=stemmer)
    rows, columns = texts(seed, 5, 90), texts(seed + 1, 4)
    columns[0] = rows[0]

    def score(row, column):
        # Said in the docs: a text is equal to itself even where rouge-score finds no token in it.
        return 1 if row == column else oracle.score(column, row)["rougeL"].fmeasure

    scorer = METRICS.find("rouge_l").scorer(stemmer=stemmer)
    np.testing.assert_allclose(scorer.cross(rows, columns), table(rows, columns, score), rtol=1e-9, atol=1e-12)
    together = [*rows, *columns]
    np.testing.assert_allclose(scorer.squares([together])[0], table(together, together, score), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", ["sentence-bleu", "chrf", "rouge-l"])
@pytest.mark.parametrize("text", ["", " ", "word", "two words", "three words here", "犬", "a b c d e f g h", "?"])
def test_identity_is_exact(name, text):
    assert METRICS.find(name).scorer().cross([text], [text]).tolist() == [[1.0]]


def test_rouge_l_does_not_take_two_unreadable_texts_for_equal():
    assert METRICS.find("rouge-l").scorer().cross(["犬"], ["猫"]).tolist() == [[0.0]]


def test_signatures_are_sacrebleus():
    metric = BLEU(effective_order=True)
    metric.sentence_score("a", ["a"])
    assert METRICS.find("sentence-bleu").scorer().settings["sacrebleu"] == str(metric.get_signature())
    metric = CHRF()
    metric.sentence_score("a", ["a"])
    assert METRICS.find("chrf").scorer().settings["sacrebleu"] == str(metric.get_signature())


@pytest.mark.parametrize(
    ("name", "options", "complaint"),
    [
        ("sentence-bleu", {"tokenize": "13b"}, "no tokenizer '13b': did you mean 13a"),
        ("chrf", {"char_order": 0}, "char_order must be"),
        ("chrf", {"beta": 0.5}, "beta must be"),
        ("rouge-l", {"stemmer": "porter"}, "stemmer must be"),
    ],
)
def test_bad_options(name, options, complaint):
    with pytest.raises(InputError, match=complaint):
        METRICS.find(name).scorer(**options)
