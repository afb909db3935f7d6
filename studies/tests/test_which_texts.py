"""The study of lists of single texts: its damage is what it says, and its shares are counted right."""

import math

import numpy as np
import pytest

from recapture_studies.made_up import build
from recapture_studies.own_checks import which_texts
from recapture_studies.own_checks.which_texts import QUICK, precision_and_recall
from recapture_studies.study import Setup


@pytest.fixture(scope="module")
def pool(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    build(folder)
    return which_texts._pool(Setup(folder, quick=True, encoder="bag-of-words", encoding={"cache": False}), QUICK)


def test_precision_and_recall_by_hand():
    """(should be listed, listed, rightly so): 3 + 1 of 4 + 4 listed are right, of 6 + 2 that should be."""
    assert precision_and_recall([[6, 4, 3], [2, 4, 1]]) == (0.5, 0.5)
    assert math.isnan(precision_and_recall([[5, 0, 0]])[0]) and precision_and_recall([[5, 0, 0]])[1] == 0


def test_damage_is_what_it_says(pool):
    brown, genre = set(pool.texts), dict(zip(pool.texts, pool.genre, strict=True))
    kinds = set()
    for kind, much, damage in which_texts._damages(pool, QUICK, np.random.default_rng(3)):
        kinds.add(kind)
        people, model = set(damage.reference), damage.candidate
        truth = next(iter(damage.truth.values()))
        planted = [model[place] for place in sorted(truth)] if "lost" not in damage.truth else []
        if kind == "copies planted":
            assert set(planted) <= people and not people & set(model[len(planted) :])
        elif kind == "copies without one word":
            assert all(len(text.split()) == 7 for text in planted) and not people & set(model)
        elif kind == "texts repeated":
            assert all(model.count(text) > 1 for text in planted)
            assert all(model.count(text) == 1 for place, text in enumerate(model) if place not in truth)
        elif kind.endswith("put in"):
            assert len(truth) == int({"5%": 0.05, "20%": 0.2}[much] * len(model))
            assert not set(planted) & {*pool.texts, *pool.captions}
            assert {*model[len(planted) :], *people} <= set(pool.captions)
        elif kind == "topic removed":
            assert {place for place, text in enumerate(damage.reference) if text in brown} == truth
            assert not brown & set(model)
        else:
            gone = {genre[damage.reference[place]] for place in truth}
            assert len(gone) <= 3 and not gone & {genre[text] for text in model} and not set(model) & people
    assert len(kinds) == 7


def test_lists_are_read_by_their_names(pool):
    """Half of the candidate is copied, one text is there six times."""
    people = pool.texts[:40]
    model = [*people[:20], *[pool.texts[100]] * 6, *pool.texts[60:74]]
    found = which_texts.rc.diagnose(people, model, encoder=pool.encoder, cache=False)
    assert set(range(20)) <= which_texts._listed(found, "copied")
    assert which_texts._listed(found, "repeated") >= set(range(20, 26))
    assert which_texts._listed(found, "clusters") <= set(range(40))
