"""Kneser-Ney models against the formula written out with dictionaries, worked examples and NLTK."""

import gzip
import json
import math
import random
from collections import Counter, defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recapture.errors import InputError
from recapture.lexical.kneser_ney import KneserNey, word_tokens

few = settings(max_examples=40, deadline=None)
START, END, UNKNOWN = ("start",), ("end",), ("unknown",)  # no token is a tuple


class Formula:
    """Chen and Goodman (1999), interpolated Kneser-Ney with one discount an order, straight from its definition."""

    def __init__(self, texts, order, tokenize):
        self.order, self.tokenize = order, tokenize
        lines = [[START] * (order - 1) + list(tokenize(text)) + [END] for text in texts]
        self.vocabulary = {word for line in lines for word in line if word != START} | {END, UNKNOWN}
        seen = {k: Counter() for k in range(1, order + 1)}
        for line in lines:
            for end in range(order - 1, len(line)):
                for k in range(1, order + 1):
                    seen[k][tuple(line[end - k + 1 : end + 1])] += 1
        self.count = {order: dict(seen[order])}
        for k in range(1, order):
            before = defaultdict(set)
            for longer in seen[k + 1]:
                before[longer[1:]].add(longer[0])
            self.count[k] = {ngram: len(words) for ngram, words in before.items()}
        self.after = {k: defaultdict(dict) for k in self.count}
        self.discount = {}
        for k, counts in self.count.items():
            for ngram, count in counts.items():
                self.after[k][ngram[:-1]][ngram[-1]] = count
            once, twice = (sum(count == times for count in counts.values()) for times in (1, 2))
            self.discount[k] = once / (once + 2 * twice) if once * twice else 0.75

    def p(self, word, history):
        k = len(history) + 1
        lower = self.p(word, history[1:]) if history else 1 / len(self.vocabulary)
        follow = self.after[k].get(tuple(history))
        if not follow:
            return lower
        total = sum(follow.values())
        share = max(follow.get(word, 0) - self.discount[k], 0) / total
        return share + self.discount[k] * len(follow) / total * lower

    def line(self, tokens):
        return [START] * (self.order - 1) + [word if word in self.vocabulary else UNKNOWN for word in tokens]

    def nats(self, text):
        line = [*self.line(self.tokenize(text)), END]
        ends = range(self.order - 1, len(line))
        return -math.fsum(math.log(self.p(line[end], line[end - self.order + 1 : end])) for end in ends)


def random_texts(seed, count, words="a b c d e f g the dog", longest=9):
    rng = random.Random(seed)
    chosen = words.split()
    return [" ".join(rng.choices(chosen, k=rng.randint(0, longest))) for _ in range(count)]


def check(model, oracle, texts):
    found = model.cross_entropy(texts)
    np.testing.assert_allclose(found.nats, [oracle.nats(text) for text in texts], rtol=1e-12)
    assert found.tokens.tolist() == [len(oracle.tokenize(text)) + 1 for text in texts]


@few
@given(seed=st.integers(0, 10_000), order=st.integers(1, 5), count=st.integers(1, 30))
def test_random_texts_as_by_the_formula(seed, order, count):
    training, others = random_texts(seed, count), random_texts(seed + 1, 12, "a b c d dog new words z")
    model, oracle = KneserNey(training, order), Formula(training, order, str.split)
    assert model.discounts == pytest.approx([oracle.discount[k] for k in range(1, order + 1)], rel=1e-15)
    assert model.vocabulary == len(oracle.vocabulary)
    check(model, oracle, others + training)


@few
@given(seed=st.integers(0, 10_000), order=st.integers(1, 5))
def test_probabilities_after_any_history_sum_to_one(seed, order):
    training = random_texts(seed, 12)
    model, oracle = KneserNey(training, order), Formula(training, order, str.split)
    rng = random.Random(seed)
    for history in [[], ["unseen"], *(rng.choices([*model.words, "unseen"], k=rng.randint(1, 6)) for _ in range(8))]:
        found = model.following(history)
        assert len(found) == model.vocabulary
        assert math.fsum(found) == pytest.approx(1, abs=1e-12)
        line = oracle.line(history)
        expected = [oracle.p(word, line[len(line) - order + 1 :]) for word in [*model.words, END, UNKNOWN]]
        np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_worked_example():
    # By hand. Bigrams: start-a twice, a-b, a-c, b-end, c-end once: D_2 = 4 / (4 + 2). Words before a, b, c: one each;
    # before the end: two. D_1 = 3 / (3 + 2). V = 5, so the lowest order's uniform part is .6 x 4 / 5 / 5 = .096.
    model = KneserNey(["a b", "A  C"], 2)
    assert model.discounts == pytest.approx((3 / 5, 2 / 3))
    assert model.words == ["a", "b", "c"]
    low = {"a": 0.176, "b": 0.176, "c": 0.176, "end": 0.376, "unknown": 0.096}
    start = [4 / 3 / 2 + low["a"] / 3, low["b"] / 3, low["c"] / 3, low["end"] / 3, low["unknown"] / 3]
    np.testing.assert_allclose(model.following([]), start, rtol=1e-14)
    after_a = [2 / 3 * low["a"], *[1 / 6 + 2 / 3 * low["b"]] * 2, 2 / 3 * low["end"], 2 / 3 * low["unknown"]]
    np.testing.assert_allclose(model.following(["a"]), after_a, rtol=1e-14)
    # An unseen history backs off fully.
    np.testing.assert_allclose(model.following(["x"]), list(low.values()), rtol=1e-14)
    found = model.cross_entropy(["a x", ""])
    expected = [-math.log(start[0]) - math.log(after_a[4]) - math.log(low["end"]), -math.log(start[3])]
    np.testing.assert_allclose(found.nats, expected, rtol=1e-14)
    assert found.tokens.tolist() == [3, 1]
    np.testing.assert_allclose(found.per_text, np.array(expected) / [3, 1], rtol=1e-14)
    assert found.per_token == pytest.approx(sum(expected) / 4, rel=1e-14)


def test_unigrams_are_discounted_frequencies():
    # a 3, b 2, end 2, c 1: n1 = 1, n2 = 2, D = 1/5, N = 4 of V = 5 types, 8 tokens.
    model = KneserNey(["a a b c", "a b"], 1)
    uniform = 0.2 * 4 / 8 / 5
    np.testing.assert_allclose(
        model.following(["whatever"]),
        [2.8 / 8 + uniform, 1.8 / 8 + uniform, 0.8 / 8 + uniform, 1.8 / 8 + uniform, uniform],
        rtol=1e-14,
    )


@pytest.mark.parametrize("texts", [["a"], [""], ["", ""], ["a a a a"], ["a b", "a b"], ["x y z"] * 3])
@pytest.mark.parametrize("order", [1, 2, 3, 5])
def test_few_or_regular_texts_leave_room_for_the_unknown(texts, order):
    model = KneserNey(texts, order)
    assert all(0 < discount < 1 for discount in model.discounts)
    found = model.cross_entropy([*texts, "something else", ""])
    assert np.all(np.isfinite(found.nats) & (found.nats > 0))
    check(model, Formula(texts, order, str.split), [*texts, "something else", ""])


@pytest.mark.parametrize("discount", [0.1, 0.75])
def test_bigrams_as_nltk_with_its_discount(discount):
    """NLTK: one discount for all orders (.1), none at the lowest, so that unknown words have probability 0.

    Given its discounts, all known words agree. At order 3 it also predicts its own start marks, of which there are
    two, so its numbers do not sum to 1 there.
    """
    pytest.importorskip("nltk")
    from nltk.lm import KneserNeyInterpolated
    from nltk.lm.preprocessing import padded_everygram_pipeline

    training = random_texts(7, 40)
    peer = KneserNeyInterpolated(2, discount=discount)
    peer.fit(*padded_everygram_pipeline(2, [text.split() for text in training]))
    model = KneserNey(training, 2, discounts=[0.0, discount])
    for history in [None, *model.words]:
        expected = [peer.score(word, [history or "<s>"]) for word in [*model.words, "</s>"]]
        np.testing.assert_allclose(model.following([history] if history else [])[:-1], expected, rtol=1e-12)
        assert model.following([history] if history else [])[-1] == 0
    assert model.cross_entropy(["a unheard"]).nats.tolist() == [math.inf]


@pytest.mark.parametrize("order", [1, 3])
def test_neither_order_nor_company_of_texts_matters(order):
    training, others = random_texts(3, 50), random_texts(4, 33, "a b c d e q r")
    found = KneserNey(training, order).cross_entropy(others)
    shuffled = training.copy()
    random.Random(1).shuffle(shuffled)
    again = KneserNey(iter(shuffled), order)
    assert again.cross_entropy(iter(others)).nats.tolist() == found.nats.tolist()
    assert [again.cross_entropy([text]).nats[0] for text in others] == found.nats.tolist()
    assert again.cross_entropy(others[::-1]).per_token == found.per_token


def test_marks_are_no_words():
    # Words spelt like marks are words: nothing in a text can stand for its own end.
    texts = ["<s> a </s> <unk>", "a </s> b start end unknown"]
    check(KneserNey(texts, 3, tokenize=str.split), Formula(texts, 3, str.split), [*texts, "</s>", "<unk> <s>", ""])


def test_no_texts_to_score():
    found = KneserNey(["a b"]).cross_entropy([])
    assert (len(found.nats), len(found.tokens)) == (0, 0)
    assert math.isnan(found.per_token)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("The dog's  ball,\tred!", ["the", "dog", "'", "s", "ball", ",", "red", "!"]),
        ("Ärger\u00a0über STRASSE…", ["ärger", "über", "strasse", "…"]),
        ("cafe\u0301 café", ["café", "café"]),  # one word, whether its accent is a character of its own or not
        ("हिन्दी में।", ["हिन्दी", "में", "।"]),  # vowel signs do not cut a word
        ("می\u200cخواهم", ["می\u200cخواهم"]),  # nor does the joiner of Persian
        ("Привет, мир 42", ["привет", ",", "мир", "42"]),
        ("", []),
        (" \n", []),
    ],
)
def test_word_tokens(text, tokens):
    assert word_tokens(text) == tokens


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (([],), "no texts to learn"),
        (("abc",), "list of strings, not str"),
        ((3,), "list of strings, not int"),
        ((["a", None],), "text 1 is not a string but NoneType"),
        ((["a"], 0), "order must be a whole number from 1 to 5, not 0"),
        ((["a"], 6), "order must be"),
        ((["a"], True), "order must be"),
        ((["a"], 2.0), "order must be"),
    ],
)
def test_bad_input(arguments, complaint):
    with pytest.raises(InputError, match=complaint):
        KneserNey(*arguments)


@pytest.mark.parametrize("discounts", [[0.5], [0.5, 1.5], [0.5, -0.1], 0.5, [0.5, "x"], [0.5, math.nan]])
def test_bad_discounts(discounts):
    with pytest.raises(InputError, match="discounts must be 2 numbers"):
        KneserNey(["a"], 2, discounts=discounts)


def test_bad_texts_to_score():
    with pytest.raises(InputError, match="text 1 is not a string but int"):
        KneserNey(["a"]).cross_entropy(["b", 3])
    with pytest.raises(InputError, match="tokenize must be a function"):
        KneserNey(["a"], tokenize="13a")


@pytest.mark.slow
def test_real_sentences_as_by_the_formula(data_folder):
    with gzip.open(data_folder / "brown_genres" / "sentences.jsonl.gz", "rt", encoding="utf-8") as lines:
        texts = [json.loads(line)["text"] for line, _ in zip(lines, range(1500), strict=False)]
    for order in (3, 5):
        check(KneserNey(texts[:1000], order), Formula(texts[:1000], order, word_tokens), texts[900:])
