"""Functions from a caller: built-in ones, partial ones, methods and classes work wherever a function is taken."""

import functools
import json
import re

import numpy as np
import pytest

import recapture as rc
from recapture.declarations import function_name

REFERENCES = [["a red dog runs", "the dog ran"], "two cats sat on a mat", "it rained all day long"]
CANDIDATES = ["a red dog ran", "two cats sat", "it rained all day long"]


class Cut:
    def __call__(self, text):
        return text.split()

    def at_blanks(self, text):
        return text.split()


SPLITTERS = {
    "str.split": str.split,
    "partial of str.split": functools.partial(str.split, sep=None),
    "Pattern.findall": re.compile(r"\S+").findall,
    "Cut": Cut(),
    "Cut.at_blanks": Cut().at_blanks,
}
EACH = pytest.mark.parametrize("name", SPLITTERS)


def by_def(text):
    return text.split()


@EACH
@pytest.mark.parametrize("metric", ["meteor", "cider", "cross-entropy"])
def test_tokenizers_of_aligned_texts(metric, name):
    options = {metric: {"tokenize": SPLITTERS[name]}}
    found = rc.evaluate_pairs(REFERENCES, CANDIDATES, metric, options=options)["candidate"][metric]
    plain = rc.evaluate_pairs(REFERENCES, CANDIDATES, metric, options={metric: {"tokenize": by_def}})["candidate"]
    assert found.values == plain[metric].values
    assert found.signature["tokenize"] == name
    json.dumps(found.to_dict())


@EACH
def test_tokenizers_of_contexts_and_tables(name):
    contexts = [
        {"id": str(at), "references": ["a dog. ran", "a dog"], "candidates": [text, "a cat."]}
        for at, text in enumerate(CANDIDATES)
    ]
    asked = ["trm-cider", "cider", "trm-meteor"]
    found, plain = (
        rc.evaluate_contexts(contexts, asked, options={"cider": {"tokenize": how}, "meteor": {"tokenize": how}})
        for how in (SPLITTERS[name], by_def)
    )
    assert [each["scores"] for each in found.contexts] == [each["scores"] for each in plain.contexts]
    groups = [each["references"] for each in contexts]
    table = rc.DocumentFrequencies.from_references(groups, tokenize=SPLITTERS[name])
    assert table.count("dog.") == 3
    assert rc.distinct_n(["no means no"], 1, tokenize=SPLITTERS[name]) == {1: 2 / 3}
    scores = rc.pairwise_scores(CANDIDATES, ["a dog"], "cider", df=table, tokenize=SPLITTERS[name])
    np.testing.assert_array_equal(scores, rc.pairwise_scores(CANDIDATES, ["a dog"], "cider", df=table, tokenize=by_def))


def test_document_frequencies_of_contexts_are_counted_in_the_words_that_are_scored():
    """str.split has "dog." for a word of its own, in 1 of 2 contexts; caption tokens would know "dog", in both."""
    contexts = [
        {"id": "1", "references": ["x y z dog.", "x y z dog."], "candidates": ["x y z dog."]},
        {"id": "2", "references": ["dog p q r", "dog p q r"], "candidates": ["dog p q r"]},
    ]
    table = rc.DocumentFrequencies.from_references([each["references"] for each in contexts], tokenize=str.split)
    given, own = (
        rc.evaluate_contexts(contexts, "cider", options={"cider": {"tokenize": str.split, **more}})
        for more in ({"df": table}, {})
    )
    assert [each["scores"] for each in own.contexts] == [each["scores"] for each in given.contexts]


@pytest.mark.parametrize("stemmer", [str.lower, functools.partial(str.rstrip, "s"), str.casefold, str])
def test_stemmers(stemmer):
    result = rc.meteor(["Red dog"], ["red dog"], tokenize=str.split, stemmer=stemmer)
    assert 0 < result.value <= 1
    assert result.signature["stemmer"] == function_name(stemmer)


def characters(texts):
    return np.array([[len(text), text.count("a") + 1] for text in texts], float)


def test_encoders_and_distances():
    encoder, distance = functools.partial(characters), functools.partial(_apart, power=1)
    np.testing.assert_array_equal(rc.encode(CANDIDATES, encoder), characters(CANDIDATES))
    assert rc.resolve_encoder(encoder).name == "partial of characters"
    found = rc.triangle_rank(["a", "bb"], ["ccc"], distance)
    assert found.signature["distance"] == "partial of _apart"


def _apart(one, other, power):
    return abs(len(one) - len(other)) ** power


@pytest.mark.parametrize(
    ("function", "name"),
    [
        (len, "len"),
        (str.split, "str.split"),
        ("a b".split, "str.split"),
        (functools.partial(functools.partial(max, 1), 2), "partial of max"),
        (functools.partial(by_def), "partial of by_def"),
        (list, "list"),
        (Cut(), "Cut"),
    ],
)
def test_names(function, name):
    assert function_name(function) == name
