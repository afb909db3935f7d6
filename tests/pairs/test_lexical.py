"""Lexical metrics of aligned texts against sacrebleu and rouge-score, called directly, and worked examples."""

import gzip
import json
import logging
import math
import random
from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rouge_score.rouge_scorer import RougeScorer
from sacrebleu.metrics import BLEU, CHRF, TER

from recapture.errors import InputError
from recapture.lexical.kneser_ney import KneserNey
from recapture.pairs.declaration import list_pair_metrics
from recapture.pairs.evaluate import evaluate_pairs
from recapture.pairs.metrics.bleu import bleu
from recapture.pairs.metrics.chrf import chrf
from recapture.pairs.metrics.cider import cider
from recapture.pairs.metrics.cross_entropy import cross_entropy
from recapture.pairs.metrics.meteor import meteor
from recapture.pairs.metrics.rouge import rouge
from recapture.pairs.metrics.ter import ter

few = settings(max_examples=20, deadline=None)
WORDS = ["the", "a", "Dog", "dogs", "cat", "runs", "running", "quickly", ",", ".", "on", "don't", "grass-fed", "(red)"]
WORDS += ["3.5", "balls", "München"]


def corpus(seed, items=12, most=4):
    """Candidates with a varying number of references; some are much like one of them."""
    rng = random.Random(seed)

    def text(longest=14):
        return " ".join(rng.choices(WORDS, k=rng.randint(1, longest)))

    references = [[text() for _ in range(rng.randint(1, most))] for _ in range(items)]
    candidates = []
    for group in references:
        words = rng.choice(group).split()
        rng.shuffle(words)
        candidates.append(rng.choice([text(), group[0], f"{group[-1]} {text(4)}", " ".join(words)]))
    return references, candidates


def streams(references):
    """sacrebleu's form: all first references, all second ones, with None where there is none."""
    longest = max(map(len, references))
    return [[group[k] if k < len(group) else None for group in references] for k in range(longest)]


def sacrebleu_says(make, references, candidates, **of_items):
    """Corpus number, item numbers and signature."""
    whole, alone = make(), make(**of_items)
    total = whole.corpus_score(candidates, streams(references)).score / 100
    items = [alone.sentence_score(text, group).score / 100 for text, group in zip(candidates, references, strict=True)]
    return total, items, str(whole.get_signature())


CASES = [
    (bleu, BLEU, {}, {"effective_order": True}),
    (bleu, BLEU, {"lowercase": True, "tokenize": "intl"}, {"effective_order": True}),
    (bleu, BLEU, {"tokenize": "char"}, {"effective_order": True}),
    (chrf, CHRF, {}, {}),
    (chrf, CHRF, {"word_order": 2}, {}),
    (chrf, CHRF, {"char_order": 4, "beta": 1, "lowercase": True}, {}),
    (ter, TER, {}, {}),
    (ter, TER, {"normalized": True, "case_sensitive": True}, {}),
    (ter, TER, {"no_punct": True}, {}),
]


@pytest.mark.slow
@pytest.mark.parametrize(("function", "peer", "options", "of_items"), CASES)
@few
@given(seed=st.integers(0, 10_000), most=st.sampled_from([1, 4]))
def test_as_sacrebleu(function, peer, options, of_items, seed, most):
    references, candidates = corpus(seed, most=most)
    result = function(references, candidates, **options)
    total, items, signature = sacrebleu_says(lambda **more: peer(**options, **more), references, candidates, **of_items)
    np.testing.assert_allclose(result.scores, items, rtol=0, atol=1e-12)
    assert result.value == pytest.approx(total, abs=1e-12)
    assert result.signature["sacrebleu"] == signature
    assert "sacrebleu" in result.signature["versions"]
    assert result.direction == ("lower" if peer is TER else "higher")
    assert result.range == (0, math.inf if peer is TER else 1)


@pytest.mark.slow
@pytest.mark.parametrize(("function", "peer", "options", "of_items"), CASES)
def test_more_items_than_are_counted_together(function, peer, options, of_items):
    references, candidates = corpus(5, items=230, most=2)
    total, items, signature = sacrebleu_says(lambda **more: peer(**options, **more), references, candidates, **of_items)
    result = function(references, candidates, **options)
    np.testing.assert_allclose(result.scores, items, rtol=0, atol=1e-12)
    assert result.value == pytest.approx(total, abs=1e-12)
    assert result.signature["sacrebleu"] == signature


@pytest.mark.parametrize(("function", "peer"), [(bleu, BLEU), (chrf, CHRF), (ter, TER)])
def test_empty_texts_score_worst_and_count_in_the_corpus(function, peer):
    references = [["a dog runs home today", ""], "the cat sat on the mat", "", "all of these words match"]
    candidates = ["a dog runs home", " ", "a bird sings here", "all of these words match"]
    result = function(references, candidates)
    # TER has no worst score: an empty text has none.
    worst, fate = (np.nan, "without a score of their own") if peer is TER else (0, "scored worst")
    np.testing.assert_array_equal(result.scores[1:], [worst, worst, 0 if peer is TER else 1])
    # The empty reference of the first item is left out; elsewhere the corpus has what it has.
    spread = [["a dog runs home today", "the cat sat on the mat", "", "all of these words match"]]
    assert result.value == pytest.approx(peer().corpus_score(candidates, spread).score / 100, abs=1e-12)
    assert result.warnings == (
        f"1 of 5 texts of reference is empty: {fate}",
        "1 of 5 texts of reference is empty: ignored, since others of the same item are not",
        f"1 of 4 texts of candidate is empty: {fate}",
    )


def test_nothing_to_translate_has_no_edit_rate():
    nothing = ter(["", " "], ["", "a"])
    assert nothing.scores[0] == 0  # two empty texts: no edit
    assert np.isnan(nothing.scores[1])
    assert nothing.value == 0
    assert np.isnan(ter([" "], ["a"]).value)


def test_known_scores():
    # BLEU by hand: p = 5/6, 3/5, 1/4 and, smoothed, 1 / (2 x 3); no brevity penalty.
    result = bleu(["the cat sat on the mat"], ["the cat lay on the mat"])
    assert result.value == pytest.approx((5 / 6 * 3 / 5 * 1 / 4 * 1 / 6) ** 0.25, abs=1e-12)
    # TER: one run of words moved; one word inserted and one replaced in four.
    assert ter(["a b c d e"], ["d e a b c"]).value == pytest.approx(1 / 5, abs=1e-15)
    assert ter(["a b c d"], ["a x c d e"]).value == pytest.approx(2 / 4, abs=1e-15)
    # ROUGE: all three words shared, of the pairs "the dog", in order "the dog" or "the the".
    result = rouge(["the cat the dog"], ["the dog the"])
    assert (result.rouge1_precision, result.rouge1_recall) == (1, 0.75)
    assert result.rouge1 == pytest.approx(2 * 0.75 / 1.75)
    assert (result.rouge2_precision, result.rouge2_recall) == (0.5, 1 / 3)
    assert (result.rougeL_precision, result.rougeL_recall) == (2 / 3, 0.5)


@pytest.mark.slow
@pytest.mark.parametrize("stemmer", [False, True])
@few
@given(seed=st.integers(0, 10_000))
def test_as_rouge_score(stemmer, seed):
    references, candidates = corpus(seed)
    result = rouge(references, candidates, stemmer=stemmer)
    kinds = ["rouge1", "rouge2", "rougeL"]
    peer = RougeScorer(kinds, use_stemmer=stemmer)
    found = [peer.score_multi(group, text) for group, text in zip(references, candidates, strict=True)]
    for kind in kinds:
        for name, number in (("", "fmeasure"), ("_precision", "precision"), ("_recall", "recall")):
            expected = [getattr(each[kind], number) for each in found]
            # The best F1 may be reached by two references whose precision and recall differ: rouge-score's first.
            assert result.arrays[f"{kind}{name}_scores"].tolist() == expected
            assert result.values[kind + name] == pytest.approx(np.mean(expected), abs=1e-12)
    assert list(result.values)[:3] == kinds
    assert result.signature["stemmer"] is stemmer


def test_texts_without_latin_letters_are_named():
    result = rouge(["собака бежит", "a dog", ["кот", "a cat"]], ["собака бежит", "...", "a cat"])
    assert result.rouge1_scores.tolist() == [0, 0, 1]
    assert result.warnings == ("2 of 3 pairs could not be compared: scored worst",)


def test_tokenised_candidates_are_named_not_logged(caplog):
    with caplog.at_level(logging.WARNING):
        result = bleu(["a dog runs ."] * 120, ["the dog runs ."] * 120)
    assert not caplog.records
    assert result.warnings == (
        "120 candidates end in a full stop after a space: BLEU expects texts that are not tokenised",
    )
    assert not bleu(["a dog runs."] * 120, ["the dog runs."] * 120).warnings


@pytest.mark.slow
def test_several_systems_are_scored_as_each_alone():
    references, candidates = corpus(3)
    systems = {"one": candidates, "two": [group[0] for group in references], "three": candidates[::-1]}
    names = ["bleu", "chrf", "ter", "rouge", "meteor", "cider", "cross-entropy"]
    together = evaluate_pairs(references, systems, names)
    for function, name in zip((bleu, chrf, ter, rouge, meteor, cider, cross_entropy), names, strict=True):
        by_system = function(references, systems)
        assert list(by_system) == list(systems)
        for system, texts in systems.items():
            alone = function(references, texts)
            for result in (by_system[system], together[system][name]):
                assert result.values == alone.values
                assert result.signature == alone.signature
                assert all(
                    np.array_equal(result.arrays[key], alone.arrays[key], equal_nan=True) for key in alone.arrays
                )
            json.dumps(alone.to_dict(arrays=True))
    assert bleu(references, systems)["two"].value == chrf(references, systems)["two"].value == 1


@pytest.mark.parametrize("function", [bleu, chrf, ter, rouge, meteor, cross_entropy])
def test_the_order_of_items_does_not_matter(function):
    references, candidates = corpus(11, items=40)
    order = np.random.default_rng(2).permutation(40)
    result = function(references, candidates)
    again = function([references[i] for i in order], [candidates[i] for i in order])
    assert again.values == result.values
    for name, scores in result.arrays.items():
        assert again.arrays[name].tolist() == scores[order].tolist()


def test_declarations_are_found():
    known = list_pair_metrics()
    for name in ("bleu", "chrf", "ter", "rouge", "meteor", "cider", "cross-entropy"):
        assert known[name].name == name


def test_means_over_references_where_there_is_a_choice():
    references, candidates = [["a dog runs home", "two cats sleep"]], ["a dog runs home"]
    assert meteor(references, candidates).value == 1
    mean = meteor(references, candidates, over_references="mean")
    assert mean.value == 0.5  # nothing in common with the other
    assert mean.signature["over_references"] == "mean"
    groups = [*references, ["some other words stand here"]]
    texts = [*candidates, "nothing"]
    best, usual = cider(groups, texts, over_references="best"), cider(groups, texts)
    assert best.scores[0] == pytest.approx(2 * usual.scores[0]) == pytest.approx(10)


# Cross-entropy


def test_worked_cross_entropy():
    # One text "a", order 1: a and its end once each, D = .75 (there is no count of 2), three types in V:
    # p(a) = p(end) = .25 / 2 + .75 / 3 = .375, any other word .25.
    result = cross_entropy(["a"], ["b a"], order=1)
    assert result.forward == pytest.approx(-(math.log(0.25) + 2 * math.log(0.375)) / 3, rel=1e-14)
    # "b a": three tokens once each, four types in V: .25 / 3 + .75 / 4 each.
    assert result.reverse == pytest.approx(-math.log(0.25 / 3 + 0.75 / 4), rel=1e-14)
    assert result.direction == "lower"
    assert result.range == (0, math.inf)
    assert (result.signature["order"], result.signature["tokenize"]) == (1, "words")


@pytest.mark.parametrize("order", [1, 3])
def test_cross_entropy_is_what_the_models_say(order):
    references, candidates = corpus(21, items=30)
    flat = [text for group in references for text in group]
    result = cross_entropy(references, candidates, order=order)
    there = KneserNey(flat, order).cross_entropy(candidates)
    back = KneserNey(candidates, order)
    assert result.forward == pytest.approx(there.nats.sum() / there.tokens.sum(), rel=1e-13)
    np.testing.assert_allclose(result.forward_scores, there.nats / there.tokens, rtol=1e-13)
    costs = back.cross_entropy(flat)
    assert result.reverse == pytest.approx(costs.nats.sum() / costs.tokens.sum(), rel=1e-13)
    of_items = [back.cross_entropy(group) for group in references]
    np.testing.assert_allclose(result.reverse_scores, [np.mean(each.per_text) for each in of_items], rtol=1e-13)
    assert result.sizes == {"reference": len(flat), "candidate": 30}


def test_sets_of_different_sizes():
    references, candidates = corpus(4, items=20, most=1)
    flat = [group[0] for group in references]
    for fewer in (candidates[:13], (text for text in candidates[:13])):
        result = cross_entropy(flat, fewer, order=2)
        assert (len(result.forward_scores), len(result.reverse_scores)) == (13, 20)
        assert result.sizes == {"reference": 20, "candidate": 13}
    turned = cross_entropy(candidates[:13], flat, order=2)
    assert (turned.forward, turned.reverse) == (result.reverse, result.forward)
    assert turned.forward_scores.tolist() == result.reverse_scores.tolist()
    # The same form as for as many of each.
    equal = cross_entropy(flat, candidates, order=2)
    assert equal.signature == result.signature
    assert list(equal.to_dict(arrays=True)) == list(result.to_dict(arrays=True))
    systems = cross_entropy(flat, {"all": candidates, "some": candidates[:13]}, order=2)
    assert systems["some"].values == result.values
    assert systems["all"].values == equal.values
    json.dumps(systems["some"].to_dict(arrays=True))


def test_empty_texts_are_left_out_of_cross_entropy():
    filled = cross_entropy(["a b", "b c"], ["a c", "b a"])
    result = cross_entropy(["a b", "", "b c"], ["a c", " ", "b a"])
    assert result.values == filled.values
    assert np.isnan(result.forward_scores[1])
    assert "1 of 3 texts of candidate is empty: without a score of their own" in result.warnings
    sets = cross_entropy(["a b", "", ["b c", ""]], ["a c", "b a"])
    assert sets.values == filled.values
    assert sets.warnings == ("2 of 4 texts of reference are empty: left out",)
    nothing = cross_entropy(["a b"], [""])
    assert math.isnan(nothing.forward)
    assert math.isnan(nothing.reverse)


# Bad input


@pytest.mark.parametrize(
    ("function", "options", "complaint"),
    [
        (bleu, {"tokenize": "13b"}, "BLEU has no tokenizer '13b'"),
        (bleu, {"lowercase": "yes"}, "lowercase must be true or false, not 'yes'"),
        (chrf, {"word_order": -1}, "word_order must be a whole number of at least 0, not -1"),
        (chrf, {"beta": 0}, "beta must be"),
        (chrf, {"char_order": 2.5}, "char_order must be"),
        (chrf, {"lowercase": 1}, "lowercase must be"),
        (ter, {"no_punct": 0}, "no_punct must be true or false, not 0"),
        (rouge, {"stemmer": "porter"}, "stemmer must be true or false, not 'porter'"),
        (cider, {"sigma": 0}, "sigma must be"),
        (cider, {"tokenize": "13a"}, "tokenize must be a function"),
        (cider, {"over_references": "most"}, "over_references is best or mean"),
        (cross_entropy, {"order": 0}, "order must be a whole number from 1 to 5"),
        (cross_entropy, {"tokenize": "13a"}, "tokenize must be a function"),
    ],
)
def test_bad_options(function, options, complaint):
    with pytest.raises(InputError, match=complaint):
        function(["a b", "c"], ["a", "b"], **options)


@pytest.mark.parametrize(
    ("references", "candidates", "complaint"),
    [
        ("a", ["a"], "references must be a list"),
        (["a", "b"], "a", "candidates must be a list"),
        (["a", "b"], [1], "entry 0 of candidates is not a string but int"),
        ([["a"], []], ["a"], "entry 1 of references has no texts"),
        ([], ["a"], "there are no references"),
        (["a", "b"], {}, "the mapping is empty"),
        (["a", "b"], {"x": ["a", 2, "c"]}, "entry 1 of candidate"),
    ],
)
def test_bad_sets(references, candidates, complaint):
    with pytest.raises(InputError, match=complaint):
        cross_entropy(references, candidates)


# Real texts


@pytest.mark.slow
def test_real_texts_with_several_references(data_folder):
    with gzip.open(data_folder / "e2e_dev_multi" / "contexts.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line, _ in zip(lines, range(60), strict=False)]
    references, candidates = [row["references"] for row in rows], [row["candidates"][0] for row in rows]
    # sacrebleu's TER takes a hundredth of a second for each pair.
    for function, peer, of_items, count in (
        (bleu, BLEU, {"effective_order": True}, 60),
        (chrf, CHRF, {}, 60),
        (ter, TER, {}, 3),
    ):
        total, items, _ = sacrebleu_says(peer, references[:count], candidates[:count], **of_items)
        result = function(references[:count], candidates[:count])
        np.testing.assert_allclose(result.scores, items, rtol=0, atol=1e-12)
        assert result.value == pytest.approx(total, abs=1e-12)
    peer = RougeScorer(["rouge1", "rouge2", "rougeL"])
    found = [peer.score_multi(group, text) for group, text in zip(references, candidates, strict=True)]
    result = rouge(references, candidates)
    assert result.rougeL_scores.tolist() == [each["rougeL"].fmeasure for each in found]


@pytest.mark.slow
def test_agreement_with_people_on_realsumm(data_folder):
    # Pearson of system means with human LitePyramid recall: figures of the data's README, made with rouge-score.
    # It does not name the stemmer: with it all eight agree, without it they are up to .023 away.
    folder = data_folder / "realsumm"
    with gzip.open(folder / "documents.jsonl.gz", "rt", encoding="utf-8") as lines:
        documents = {row["doc_id"]: " ".join(row["reference_sents"]) for row in map(json.loads, lines)}
    with gzip.open(folder / "summaries.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    result = rouge(
        [documents[row["doc_id"]] for row in rows], [" ".join(row["summary_sents"]) for row in rows], stemmer=True
    )
    expected = {
        "abs": {"rouge1_recall": 0.912, "rouge2_recall": 0.984, "rouge2": 0.870, "rougeL_recall": 0.973},
        "ext": {"rouge1_recall": 0.722, "rouge2_recall": 0.769, "rouge2": 0.192, "rougeL_recall": 0.771},
    }
    for kind, numbers in expected.items():
        for name, pearson in numbers.items():
            scores, people = defaultdict(list), defaultdict(list)
            for row, score in zip(rows, result.arrays[f"{name}_scores"], strict=True):
                if row["type"] == kind:
                    scores[row["system"]].append(score)
                    people[row["system"]].append(row["litepyramid_recall"])
            means = [[np.mean(texts) for texts in side.values()] for side in (scores, people)]
            assert np.corrcoef(means)[0, 1] == pytest.approx(pearson, abs=6e-4)
