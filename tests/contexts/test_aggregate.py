"""Similarity scores averaged over candidates, and how far apart a side's texts are, in plain loops."""

import itertools

import numpy as np
import pytest
from brute_force import aggregate_test, overlap
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import recapture as rc

WORDS = st.text("abcd", min_size=1, max_size=3)


def scores_of(texts, higher=True):
    return [[overlap(a, b) if higher else 1 - overlap(a, b) for b in texts] for a in texts]


@pytest.mark.slow
@pytest.mark.parametrize("metric, rule, higher", [
    ("toy", "best", True), ("toy", "mean", True), ("toy-even", "mean", True),
    ("toy-even", "best", True), ("toy-far", "best", False), ("toy-far", "mean", False),
])  # fmt: skip
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(WORDS, min_size=1, max_size=4), st.lists(WORDS, min_size=1, max_size=4))
def test_value_p_and_null_against_fractions(toys, metric, rule, higher, references, candidates):
    """Where lower is better, the best reference is the one with the lowest score."""
    value, p, values = aggregate_test(scores_of(references + candidates, higher), len(references), rule, higher)
    found = rc.aggregate(references, candidates, metric, over_references=rule, pvalue=True)
    assert found.value == pytest.approx(float(value), abs=1e-12)
    assert found.pvalue == float(p)
    assert found.null[0] == pytest.approx(float(value), abs=1e-12)
    np.testing.assert_allclose(np.sort(found.null), sorted(map(float, values)), atol=1e-12)
    assert found.scores.mean() == pytest.approx(found.value, abs=1e-12) and len(found.scores) == len(candidates)
    assert found.direction == ("higher" if higher else "lower")
    assert found.signature["over_references"] == rule


def test_the_metric_s_own_rule(toys):
    sides = (["ab", "cd"], ["ab", "ad"])
    assert rc.aggregate(*sides, "toy").value == pytest.approx(0.75)  # best references: 1 and 1/2
    assert rc.aggregate(*sides, "toy-even").value == pytest.approx(0.5)  # (1 + 0) / 2 and (1/2 + 1/2) / 2
    assert rc.aggregate(*sides, "toy-far").value == pytest.approx(0.25)
    assert rc.aggregate(*sides, "toy").pvalue is None
    assert rc.aggregate(*sides, "toy", turn=0.5).value == pytest.approx(0.375)


def test_candidates_that_repeat_the_references_are_as_close_as_can_be(toys):
    """Copies score 1, the largest: every partition is at least as far, so p = 1."""
    found = rc.aggregate(["ab", "cd", "ac"], ["ab", "cd", "ac"], "toy", pvalue=True)
    assert (found.value, found.pvalue) == (1, 1)


def test_candidates_far_from_all_references(toys):
    found = rc.aggregate(["aa", "aaa", "a"], ["bb", "bbb"], "toy", pvalue=True)
    assert found.value == 0 and found.pvalue == found.inference["pvalues"]["smallest"]["value"] == 1 / 10


def test_one_reference_will_do_and_sampling_is_seeded(toys):
    assert rc.aggregate(["ab"], ["ab", "ac"], "toy").value == 0.75
    texts = ["".join(pair) for pair in itertools.product("abcde", repeat=2)]
    one, again, other = (rc.aggregate(texts[:12], texts[12:], "toy", pvalue=99, seed=seed) for seed in (0, 0, 1))
    assert np.array_equal(one.null, again.null) and not np.array_equal(one.null, other.null)
    assert one.inference["pvalues"]["method"] == "sampled" and one.inference["pvalues"]["labellings"] == 100


@pytest.mark.parametrize(
    "arguments, options, words",
    [
        ((["ab"], []), {}, "no candidates"),
        (([], ["ab"]), {}, "a reference is needed, but there are none"),
        ((["ab"], [3]), {}, "text 0 of candidates is not a string but int"),
        (("ab", ["ab"]), {}, "references must be a list"),
        ((["ab"], ["ab"]), {"metric": "tony"}, "did you mean toy"),
        ((["ab"], ["ab"]), {"over_references": "min"}, "best or mean, not 'min'"),
        ((["ab"], ["ab"]), {"tern": 1}, "did you mean turn"),
        ((["ab"], ["ab"]), {"pvalue": "always"}, "pvalue must be"),
        ((["ab"], ["ab"]), {"metric": "cider"}, "document frequencies"),
    ],
)
def test_what_cannot_be_averaged(toys, arguments, options, words):
    with pytest.raises(rc.InputError, match=words):
        rc.aggregate(*arguments, **{"metric": "toy", **options})


def test_dispersion_by_hand():
    """On a line: references 0, 1, 5 (distances 1, 5, 4), candidates 2 and 2."""
    points = np.array([0, 1, 5, 2, 2.0])
    found = rc.dispersion([None] * 3, [None] * 2, distance=np.abs(points[:, None] - points))
    assert found == {
        "dispersion": {"reference": pytest.approx(10 / 3), "candidate": 0.0},
        "central": {"reference": 1, "candidate": 0},
    }


def test_a_text_is_at_0_from_itself_whatever_its_score(toys):
    """Of two texts that share no letter both ways are at distance 1; half scores put each at 1/2 from itself."""
    found = rc.dispersion(["a", "b"], ["c", "cd"], distance="toy", turn=0.5)
    assert found["dispersion"] == {"reference": 1.0, "candidate": pytest.approx((0.5 + 0.75) / 2)}


def test_dispersion_of_one_text_is_none():
    found = rc.dispersion([None], [None], distance=np.zeros((2, 2)))
    assert found == {"dispersion": {"reference": None, "candidate": None}, "central": {"reference": 0, "candidate": 0}}


def test_the_central_text_is_the_nearest_as_hypothesis():
    distances = np.array([[0, 1, 1], [9, 0, 2], [9, 9, 0], [0, 0, 0]], dtype=float)
    distances = np.hstack([distances, np.zeros((4, 1))])
    assert rc.dispersion([None] * 3, [None], distance=distances)["central"]["reference"] == 0
    assert rc.dispersion([None] * 3, [None], distance=distances.T)["central"]["reference"] == 2  # 1 + 2 of the columns


def test_equally_central_texts_the_first_wins_whatever_the_order_of_sums():
    """Rows that hold the same numbers in another order: plain sums differ by rounding."""
    numbers = [0.1, 0.2, 0.3, 0.7, 1.1]
    for order in itertools.permutations(range(5)):
        row, other = numbers, [numbers[at] for at in order]
        distances = np.full((8, 8), 50.0)
        distances[0, 2:7], distances[1, 2:7] = row, other
        distances[0, 1] = distances[1, 0] = 0.4
        assert rc.dispersion([None] * 7, [None], distance=distances)["central"]["reference"] == 0
